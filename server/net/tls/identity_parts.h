// SPDX-License-Identifier: MIT
// What the files of this room share.
#pragma once

#include "net/tls/identity.h"

#include <openssl/ssl.h>

struct TlsIdentity {
    SSL_CTX *context; // streams hold it, too
    TlsFacts facts;
};

// Digits of the SHA-256 of a certificate's DER, behind "sha256:".
bool tls_print_fingerprint(const X509 *certificate, char text[TLS_FINGERPRINT_BYTES]);

// What OpenSSL says of its last failure on this thread; forgets it.
const char *tls_last_error(void);

// Counts KeyUpdates (stream.c).
void tls_count_message(int is_written, int version, int content, const void *bytes, size_t count,
                       SSL *ssl, void *stream);
