// SPDX-License-Identifier: MIT
#include "support/net_tls_client.h"

#include "base/assert.h"
#include "net/frame.h"

#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int take_alert(void) {
    const unsigned long error = ERR_peek_last_error();
    const int reason = ERR_GET_REASON(error);
    ERR_clear_error();
    return reason > SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : 0;
}

static SSL_CTX *make_context(const TlsClientDef *def) {
    char path[256], key[256];
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    snprintf(path, sizeof(path), "%s/root.pem", def->folder);
    ASSERT(context != NULL && SSL_CTX_load_verify_file(context, path) == 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
    if (def->version_max != 0) {
        SSL_CTX_set_max_proto_version(context, def->version_max);
    }
    if (def->own != NULL) {
        snprintf(path, sizeof(path), "%s/%s.pem", def->folder, def->own);
        snprintf(key, sizeof(key), "%s/%s.key", def->folder, def->own);
        ASSERT(SSL_CTX_use_certificate_chain_file(context, path) == 1 &&
               SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1);
    }
    return context;
}

TlsClient net_tls_connect(const char *address, const TlsClientDef *def) {
    signal(SIGPIPE, SIG_IGN); // OpenSSL's sockets raise it
    TlsClient client = {.fd = def->reads_narrowly ? net_client_connect_narrow(address)
                                                  : net_client_connect(address)};
    if (client.fd < 0) {
        return client;
    }
    SSL_CTX *context = make_context(def);
    client.ssl = SSL_new(context);
    SSL_CTX_free(context);
    SSL_set_fd(client.ssl, client.fd);
    ERR_clear_error();
    if (SSL_connect(client.ssl) != 1) {
        client.alert = take_alert();
        SSL_free(client.ssl);
        client.ssl = NULL;
    }
    return client;
}

void net_tls_close(TlsClient *client) {
    SSL_free(client->ssl);
    if (client->fd >= 0) {
        close(client->fd);
    }
    *client = (TlsClient){.fd = -1};
}

static bool write_all(TlsClient *client, const uint8_t *bytes, size_t count) {
    size_t written = 0;
    return count == 0 || (SSL_write_ex(client->ssl, bytes, count, &written) == 1);
}

bool net_tls_send_frame(TlsClient *client, const void *body, size_t body_bytes) {
    uint8_t header[FRAME_HEADER_BYTES];
    frame_header(header, body_bytes);
    return client->ssl != NULL && write_all(client, header, sizeof(header)) &&
           write_all(client, body, body_bytes);
}

static bool read_all(TlsClient *client, uint8_t *bytes, size_t count) {
    while (count > 0) {
        size_t got = 0;
        ERR_clear_error();
        if (SSL_read_ex(client->ssl, bytes, count, &got) != 1) {
            client->alert = take_alert();
            return false;
        }
        bytes += got;
        count -= got;
    }
    return true;
}

long net_tls_receive_frame(TlsClient *client, void *body, size_t capacity) {
    uint8_t header[FRAME_HEADER_BYTES];
    if (client->ssl == NULL || !read_all(client, header, sizeof(header))) {
        return -1;
    }
    const size_t count =
        (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
    ASSERT(count <= capacity);
    return read_all(client, body, count) ? (long)count : -1;
}
