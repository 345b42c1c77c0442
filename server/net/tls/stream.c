// SPDX-License-Identifier: MIT
// OpenSSL reads and writes through a BIO of ours, which is memory: reading takes from what the
// owner holds out just now, writing hands on. (OpenSSL's own memory BIO keeps copies, and its
// largest size for ever.)
#include "net/tls/stream.h"

#include "base/assert.h"
#include "net/tls/identity_parts.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Each KeyUpdate makes us derive keys, and answer: who sends more than these, and one per so many
// bytes beside them, wants our time and not other keys. (OpenSSL's clients send one per 2^24
// records, if any.)
enum { KEY_UPDATES_FREE = 16, KEY_UPDATE_BYTES = 1 << 20 };

enum { CONTENT_HANDSHAKE = 22, MESSAGE_KEY_UPDATE = 24, VERSION_MAJOR = 3 };
enum { WHY_BYTES = 160 };

struct TlsStream {
    SSL *ssl;
    TlsOutput output;
    TlsInput *input; // during a call
    uint64_t received_bytes;
    uint64_t key_update_count;
    bool is_open, is_ended, is_broken;
    char why[WHY_BYTES];
};

// ---- memory that OpenSSL reads and writes

static bool updates_too_often(const TlsStream *stream) {
    return stream->key_update_count > KEY_UPDATES_FREE + stream->received_bytes / KEY_UPDATE_BYTES;
}

static int read_memory(BIO *bio, char *bytes, size_t capacity, size_t *count) {
    TlsStream *stream = BIO_get_data(bio);
    TlsInput *input = stream->input;
    BIO_clear_retry_flags(bio);
    *count = 0;
    if (updates_too_often(stream)) {
        return 0; // it is not read any further
    }
    if (input == NULL || input->count == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    size_t part = input->count < capacity ? input->count : capacity;
    memcpy(bytes, input->bytes, part);
    ASSERT(part > 0 && part <= input->count);
    input->bytes += part;
    input->count -= part;
    stream->received_bytes += part;
    *count = part;
    return 1;
}

static int write_memory(BIO *bio, const char *bytes, size_t count, size_t *written) {
    TlsStream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    stream->output.write(stream->output.context, (const uint8_t *)bytes, count);
    *written = count;
    return 1;
}

static long control_memory(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static BIO_METHOD *memory_method; // as long as the process
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void make_method(void) {
    memory_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "moreau");
    if (memory_method != NULL) {
        BIO_meth_set_read_ex(memory_method, read_memory);
        BIO_meth_set_write_ex(memory_method, write_memory);
        BIO_meth_set_ctrl(memory_method, control_memory);
    }
}

// ---- life

static BIO *make_bio(TlsStream *stream) {
    pthread_once(&memory_once, make_method);
    BIO *bio = memory_method == NULL ? NULL : BIO_new(memory_method);
    if (bio != NULL) {
        BIO_set_data(bio, stream);
        BIO_set_init(bio, 1);
    }
    return bio;
}

TlsStream *tls_stream_create(const TlsIdentity *identity, TlsOutput output) {
    TlsStream *stream = calloc(1, sizeof(*stream));
    if (stream == NULL) {
        return NULL;
    }
    stream->output = output;
    stream->ssl = SSL_new(identity->context);
    BIO *bio = stream->ssl == NULL ? NULL : make_bio(stream);
    if (bio == NULL) {
        tls_stream_free(stream);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_bio(stream->ssl, bio, bio); // the stream's from here on
    SSL_set_msg_callback_arg(stream->ssl, stream);
    SSL_set_accept_state(stream->ssl);
    return stream;
}

void tls_stream_free(TlsStream *stream) {
    if (stream != NULL) {
        SSL_free(stream->ssl);
        free(stream);
    }
}

// ---- records

bool tls_begins(const uint8_t *bytes, size_t count) {
    return (count < 1 || bytes[0] == CONTENT_HANDSHAKE) && (count < 2 || bytes[1] == VERSION_MAJOR);
}

size_t tls_whole_records(const uint8_t *bytes, size_t count) {
    size_t whole = 0;
    while (count - whole >= TLS_HEADER_BYTES) {
        const uint8_t *record = bytes + whole;
        const size_t bytes_more = (size_t)record[3] << 8 | record[4];
        if (count - whole - TLS_HEADER_BYTES < bytes_more) {
            break;
        }
        whole += TLS_HEADER_BYTES + bytes_more;
    }
    ASSERT(whole <= count);
    return whole;
}

void tls_count_message(int is_written, int version, int content, const void *bytes, size_t count,
                       SSL *ssl, void *argument) {
    TlsStream *stream = argument;
    (void)version, (void)ssl;
    if (is_written == 0 && content == CONTENT_HANDSHAKE && count > 0 && stream != NULL &&
        *(const uint8_t *)bytes == MESSAGE_KEY_UPDATE) {
        stream->key_update_count++;
    }
}

// ---- what went wrong

static TlsResult fail(TlsStream *stream) {
    const long verdict = SSL_get_verify_result(stream->ssl);
    if (updates_too_often(stream)) {
        snprintf(stream->why, WHY_BYTES, "it asks for new keys again and again");
    } else if (!stream->is_open && verdict != X509_V_OK) {
        snprintf(stream->why, WHY_BYTES, "its certificate does not hold: %s",
                 X509_verify_cert_error_string(verdict));
    } else {
        snprintf(stream->why, WHY_BYTES, "%s", tls_last_error());
    }
    ERR_clear_error();
    stream->is_broken = true;
    return TLS_FAILED;
}

static TlsResult judge(TlsStream *stream, int result) {
    switch (SSL_get_error(stream->ssl, result)) {
    case SSL_ERROR_NONE:
        return TLS_WENT_ON;
    case SSL_ERROR_WANT_READ:
        return TLS_WAITS;
    case SSL_ERROR_ZERO_RETURN:
        stream->is_ended = true;
        return TLS_ENDED;
    default:
        return fail(stream);
    }
}

TlsResult tls_stream_shake(TlsStream *stream, TlsInput *input) {
    ASSERT(!stream->is_open);
    ERR_clear_error();
    stream->input = input;
    int result = SSL_accept(stream->ssl);
    stream->is_open = result == 1;
    TlsResult judged = judge(stream, result);
    stream->input = NULL;
    return judged;
}

TlsResult tls_stream_read(TlsStream *stream, TlsInput *input, uint8_t *bytes, size_t capacity,
                          size_t *count) {
    ASSERT(stream->is_open);
    *count = 0;
    if (stream->is_ended) {
        return TLS_ENDED;
    }
    ERR_clear_error();
    stream->input = input;
    int result = SSL_read_ex(stream->ssl, bytes, capacity, count);
    TlsResult judged = judge(stream, result);
    stream->input = NULL;
    return judged;
}

bool tls_stream_write(TlsStream *stream, const uint8_t *bytes, size_t count) {
    ASSERT(stream->is_open && count > 0 && count <= TLS_RECORD_BYTES);
    size_t written = 0;
    ERR_clear_error();
    if (SSL_write_ex(stream->ssl, bytes, count, &written) != 1) {
        fail(stream);
        return false;
    }
    return written == count;
}

void tls_stream_end(TlsStream *stream) {
    if (stream->is_open && !stream->is_broken) {
        ERR_clear_error();
        SSL_shutdown(stream->ssl);
        ERR_clear_error();
    }
}

const char *tls_stream_why(const TlsStream *stream) {
    return stream->why;
}

size_t tls_stream_bytes(const TlsStream *stream) {
    if (!stream->is_open) {
        return TLS_SHAKING_BYTES;
    }
    // the record whose end has not come stands in a buffer for the longest
    bool has_piece = SSL_has_pending(stream->ssl) != 0;
    return TLS_OPEN_BYTES + (has_piece ? TLS_RECORD_BYTES + TLS_RECORD_MORE_BYTES : 0);
}
