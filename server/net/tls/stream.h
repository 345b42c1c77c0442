// SPDX-License-Identifier: MIT
// One connection's side of TLS: records in, bytes up; bytes down, records out. Knows no socket:
// what is read is handed to it, and what it writes it hands to a callback, so that it keeps no
// record but the one whose end has not come.
//
// One thread at a time; which one may change, under its owner's lock.
#pragma once

#include "net/tls/identity.h"

#include <stddef.h>

typedef struct TlsStream TlsStream;

typedef enum TlsResult {
    TLS_WENT_ON, // shaken hands; or bytes are there
    TLS_WAITS,   // for more records
    TLS_ENDED,   // the peer has said that nothing more comes
    TLS_FAILED   // tls_stream_why; the peer has been told
} TlsResult;

enum { TLS_RECORD_BYTES = 16384 };     // of a record's content, at most …
enum { TLS_RECORD_MORE_BYTES = 1024 }; // … and what stands around it
enum { TLS_HEADER_BYTES = 5 };

// What a stream takes of memory while hands are shaken, and afterwards (measured, with OpenSSL 3.0)
enum { TLS_SHAKING_BYTES = 28672, TLS_OPEN_BYTES = 14336 };

typedef struct TlsOutput {
    // takes all, or whoever owns the stream gives it up
    void (*write)(void *context, const uint8_t *bytes, size_t count);
    void *context;
} TlsOutput;

// Records that were read; they are taken off the front.
typedef struct TlsInput {
    const uint8_t *bytes;
    size_t count;
} TlsInput;

// NULL: no memory. The identity may be freed afterwards.
TlsStream *tls_stream_create(const TlsIdentity *identity, TlsOutput output);
void tls_stream_free(TlsStream *stream); // Nullable

// Does these bytes begin a record of a greeting, or could they still? What else comes first is
// another protocol.
bool tls_begins(const uint8_t *bytes, size_t count);
// How many bytes at the start are whole records. (Of one that is not whole a stream would keep a
// part, and nobody could tell any more where the next one begins.)
size_t tls_whole_records(const uint8_t *bytes, size_t count);

// The handshake, as far as `input` brings it.
TlsResult tls_stream_shake(TlsStream *stream, TlsInput *input);

// Content of at most one record: *count > 0 with TLS_WENT_ON. All of `input` is used up once it
// says TLS_WAITS.
TlsResult tls_stream_read(TlsStream *stream, TlsInput *input, uint8_t *bytes, size_t capacity,
                          size_t *count);

// One record; count ≤ TLS_RECORD_BYTES.
bool tls_stream_write(TlsStream *stream, const uint8_t *bytes, size_t count);

// Tells the peer that nothing more comes.
void tls_stream_end(TlsStream *stream);

// Why it failed, a sentence that lives as long as the stream.
const char *tls_stream_why(const TlsStream *stream);

// What it holds of memory, about.
size_t tls_stream_bytes(const TlsStream *stream);
