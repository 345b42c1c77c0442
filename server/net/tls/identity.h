// SPDX-License-Identifier: MIT
// Who a server is under TLS: its certificate with the chain behind it, its key, and, where clients
// must have certificates as well, who may have signed them. Read from files in PEM, checked against
// each other, and never changed: who reads the files again gets another identity, and streams keep
// the one that they began with.
//
// OpenSSL does the cryptography: TLS is no place for code of one's own, and libwebsockets brings
// the same library for the pages. This room asks of it TLS 1.3 alone, without tickets and early
// data, so that nothing that a peer sends is taken twice, and without renegotiation, which TLS 1.3
// does not know.
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlsIdentity TlsIdentity;

typedef struct TlsFiles {
    const char *certificate; // the server's first, then those that lead to a root
    const char *key;
    const char *client_ca; // "": clients need no certificate
} TlsFiles;

enum { TLS_FINGERPRINT_BYTES = sizeof("sha256:") + 64, TLS_DATE_BYTES = 24 };

typedef struct TlsFacts {
    char fingerprint[TLS_FINGERPRINT_BYTES]; // sha256: and 64 digits, of the certificate's DER
    char begins[TLS_DATE_BYTES];             // 2026-01-31T12:00:00Z
    char ends[TLS_DATE_BYTES];
    bool is_early, is_expired; // by this machine's clock
    uint32_t key_mode_exposed; // permissions of the key's file; 0: its owner's alone
} TlsFacts;

Status tls_identity_load(TlsIdentity **identity, const TlsFiles *files, Error *error);
const char *tls_version(void); // "OpenSSL 3.0.19 …"
const TlsFacts *tls_identity_facts(const TlsIdentity *identity);
void tls_identity_free(TlsIdentity *identity); // Nullable
