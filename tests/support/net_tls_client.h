// SPDX-License-Identifier: MIT
// net_client.h under TLS: a blocking client with OpenSSL's own sockets.
#pragma once

#include "support/net_client.h"

#include <openssl/ssl.h>

typedef struct TlsClientDef {
    const char *folder;  // of certificates (net_authority.h)
    const char *own;     // name of its own certificate; NULL: none
    int version_max;     // as TLS1_2_VERSION; 0: any
    bool reads_narrowly; // as net_client_connect_narrow
} TlsClientDef;

typedef struct TlsClient {
    int fd;    // -1: closed
    SSL *ssl;  // NULL: hands were not shaken
    int alert; // that the server sent meanwhile; 0: none
} TlsClient;

// Trusts FOLDER/root.pem.
TlsClient net_tls_connect(const char *address, const TlsClientDef *def);
void net_tls_close(TlsClient *client);

// As those of net_client.h. Reading keeps the alert that ended it.
bool net_tls_send_frame(TlsClient *client, const void *body, size_t body_bytes);
long net_tls_receive_frame(TlsClient *client, void *body, size_t capacity);
