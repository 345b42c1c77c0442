// SPDX-License-Identifier: MIT
#include "net/tls/identity.h"

#include "base/assert.h"
#include "base/hex.h"
#include "net/tls/identity_parts.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// The first is half as costly as the second where processors know AES; the third is for clients
// whose do not.
static const char suites[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

const char *tls_last_error(void) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason == NULL ? "no reason is given" : reason;
}

bool tls_print_fingerprint(const X509 *certificate, char text[TLS_FINGERPRINT_BYTES]) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    if (X509_digest(certificate, EVP_sha256(), digest, &count) != 1) {
        return false;
    }
    ASSERT(count == 32);
    const int prefix = snprintf(text, TLS_FINGERPRINT_BYTES, "sha256:");
    hex_text(digest, count, text + prefix);
    return true;
}

static void print_date(const ASN1_TIME *date, char text[TLS_DATE_BYTES]) {
    struct tm parts = {0};
    if (ASN1_TIME_to_tm(date, &parts) != 1 ||
        strftime(text, TLS_DATE_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        snprintf(text, TLS_DATE_BYTES, "unknown");
    }
}

static Status fail(const char *option, const char *file, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, option, "%.200s %s.", file, why);
}

// Why a file cannot be opened; NULL: it can.
static const char *unreadable(const char *file) {
    FILE *opened = fopen(file, "re");
    if (opened == NULL) {
        return strerror(errno);
    }
    fclose(opened);
    return NULL;
}

static Status check_readable(const char *option, const char *file, Error *error) {
    const char *why = unreadable(file);
    return why == NULL ? STATUS_OK
                       : error_set(error, STATUS_INVALID_ARGUMENT, option,
                                   "%.200s cannot be read: %s.", file, why);
}

// A key that asks for a passphrase would ask the terminal, and a server has none.
static int refuse_passphrase(char *text, int capacity, int is_writing, void *is_asked) {
    (void)text, (void)capacity, (void)is_writing;
    *(bool *)is_asked = true;
    return -1;
}

static Status load_pair(SSL_CTX *context, const TlsFiles *files, Error *error) {
    bool is_asked = false;
    Status status = check_readable("tls-cert", files->certificate, error);
    status = STATUS_THEN(status, check_readable("tls-key", files->key, error));
    if (status != STATUS_OK) {
        return status;
    }
    if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1) {
        return fail("tls-cert", files->certificate,
                    "holds no certificate in PEM that a server can show", error);
    }
    SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &is_asked);
    bool has_key = SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (is_asked) {
        return fail("tls-key", files->key,
                    "is a key behind a passphrase, which nobody could type into a server: give "
                    "one without",
                    error);
    }
    // OpenSSL compares the two when the key comes second; which of both failed stands in its error
    if (!has_key && ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "tls-key",
                         "The key in %.150s does not belong to the certificate in %.150s.",
                         files->key, files->certificate);
    }
    if (!has_key) {
        return fail("tls-key", files->key, "holds no private key in PEM", error);
    }
    if (SSL_CTX_check_private_key(context) != 1) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "tls-key",
                         "The key in %.150s does not belong to the certificate in %.150s.",
                         files->key, files->certificate);
    }
    return STATUS_OK;
}

static Status load_client_ca(SSL_CTX *context, const char *file, Error *error) {
    if (file[0] == '\0') {
        return STATUS_OK;
    }
    Status status = check_readable("tls-client-ca", file, error);
    if (status != STATUS_OK) {
        return status;
    }
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(file);
    if (names == NULL || SSL_CTX_load_verify_file(context, file) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fail("tls-client-ca", file, "holds no certificate in PEM that could sign others",
                    error);
    }
    SSL_CTX_set_client_CA_list(context, names);
    // what is in the file is trusted as it stands, also where another has signed it
    X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return STATUS_OK;
}

static void collect_facts(TlsIdentity *identity, const TlsFiles *files) {
    TlsFacts *facts = &identity->facts;
    const X509 *certificate = SSL_CTX_get0_certificate(identity->context);
    tls_print_fingerprint(certificate, facts->fingerprint);
    print_date(X509_get0_notBefore(certificate), facts->begins);
    print_date(X509_get0_notAfter(certificate), facts->ends);
    facts->is_early = X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0;
    facts->is_expired = X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
    struct stat info;
    bool is_file = stat(files->key, &info) == 0 && S_ISREG(info.st_mode);
    bool is_exposed = is_file && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    facts->key_mode_exposed = is_exposed ? info.st_mode & ~(uint32_t)S_IFMT : 0;
}

static void limit_protocol(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, suites);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_early_data(context, 0);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_msg_callback(context, tls_count_message);
}

Status tls_identity_load(TlsIdentity **result, const TlsFiles *files, Error *error) {
    ASSERT(files->certificate[0] != '\0' && files->key[0] != '\0');
    ERR_clear_error();
    TlsIdentity *identity = calloc(1, sizeof(*identity));
    SSL_CTX *context = identity == NULL ? NULL : SSL_CTX_new(TLS_server_method());
    if (context == NULL) {
        free(identity);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "tls-cert", "No memory for TLS.");
    }
    identity->context = context;
    limit_protocol(context);
    Status status = load_pair(context, files, error);
    status = STATUS_THEN(status, load_client_ca(context, files->client_ca, error));
    ERR_clear_error();
    if (status != STATUS_OK) {
        tls_identity_free(identity);
        return status;
    }
    collect_facts(identity, files);
    ASSERT(identity->facts.fingerprint[0] != '\0');
    *result = identity;
    return STATUS_OK;
}

const char *tls_version(void) {
    return OpenSSL_version(OPENSSL_VERSION);
}

const TlsFacts *tls_identity_facts(const TlsIdentity *identity) {
    return &identity->facts;
}

void tls_identity_free(TlsIdentity *identity) {
    if (identity != NULL) {
        SSL_CTX_free(identity->context);
        free(identity);
    }
}
