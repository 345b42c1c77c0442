// SPDX-License-Identifier: MIT
// Certificates for tests of TLS, made with OpenSSL and written as PEM: FOLDER/NAME.pem and
// FOLDER/NAME.key.
#pragma once

#include <stdbool.h>

typedef struct CertificateDef {
    const char *name;
    const char *issuer; // the name of one made before; NULL: itself
    bool is_authority;
    const char *for_whom;  // as "DNS:localhost,IP:127.0.0.1"; NULL: nobody
    long begins_s, ends_s; // from now
} CertificateDef;

enum { NET_DAY_S = 86400 };

void net_certify(const char *folder, const CertificateDef *def);

// FOLDER/NAME.pem becomes what it was, and behind it FOLDER/BEHIND.pem.
void net_append(const char *folder, const char *name, const char *behind);

// "sha256:…" of the first certificate in FOLDER/NAME.pem.
void net_fingerprint(const char *folder, const char *name, char text[80]);

// What tests of TLS need of all kinds: "root"; "middle", which it has signed; and, signed by middle
// and for localhost and 127.0.0.1 where nothing else is said: "good", with middle behind it,
// "bare", without, "expired", "early", "elsewhere" (for another name); and "own", by itself.
void net_certify_all(const char *folder);
