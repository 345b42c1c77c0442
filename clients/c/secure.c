// SPDX-License-Identifier: MIT
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DIGEST_BYTES = 32, HOST_BYTES = 256, NAMES_BYTES = 200, DAY_BYTES = 32 };
enum { ALERT_INTERNAL_ERROR = 80 };

static const char scheme[] = "tls://";

struct Secure {
    SSL_CTX *context; // of all connections of a client
    SSL *ssl;         // NULL: there is no connection
    X509 *refused; // the certificate that does not hold, of those that were shown; owned, Nullable
};

bool secure_is_asked(const char *address, const char **rest) {
    bool is_asked = strncmp(address, scheme, sizeof(scheme) - 1) == 0;
    *rest = is_asked ? address + sizeof(scheme) - 1 : address;
    return is_asked;
}

// ---- a socket that raises no signal, which OpenSSL's own does (SIGPIPE)

static int read_socket(BIO *bio, char *bytes, int count) {
    ssize_t got = recv((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, 0);
    BIO_clear_retry_flags(bio);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        BIO_set_retry_read(bio);
    }
    return (int)got;
}

static int write_socket(BIO *bio, const char *bytes, int count) {
    ssize_t sent = send((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        BIO_set_retry_write(bio);
    }
    return (int)sent;
}

static long control_socket(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static BIO_METHOD *socket_method; // as long as the process
static pthread_once_t socket_once = PTHREAD_ONCE_INIT;

static void make_method(void) {
    socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "moreau socket");
    if (socket_method != NULL) {
        BIO_meth_set_read(socket_method, read_socket);
        BIO_meth_set_write(socket_method, write_socket);
        BIO_meth_set_ctrl(socket_method, control_socket);
    }
}

static BIO *make_bio(int fd) {
    pthread_once(&socket_once, make_method);
    BIO *bio = socket_method == NULL ? NULL : BIO_new(socket_method);
    if (bio != NULL) {
        BIO_set_data(bio, (void *)(intptr_t)fd);
        BIO_set_init(bio, 1);
    }
    return bio;
}

// ---- fingerprints

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// "sha256:" and 64 digits, of which pairs may stand apart with colons, as openssl prints them.
static bool parse_fingerprint(const char *text, uint8_t digest[DIGEST_BYTES]) {
    static const char prefix[] = "sha256:";
    text += strncmp(text, prefix, sizeof(prefix) - 1) == 0 ? sizeof(prefix) - 1 : 0;
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        text += i > 0 && *text == ':' ? 1 : 0;
        int high = digit_of(text[0]), low = high < 0 ? -1 : digit_of(text[1]);
        if (low < 0) {
            return false;
        }
        digest[i] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    return *text == '\0';
}

static void print_fingerprint(const X509 *certificate, char text[2 * DIGEST_BYTES + 1]) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    text[0] = '\0';
    if (X509_digest(certificate, EVP_sha256(), digest, &count) == 1 && count == DIGEST_BYTES) {
        for (size_t i = 0; i < DIGEST_BYTES; i++) {
            snprintf(text + 2 * i, 3, "%02x", digest[i]);
        }
    }
}

static bool has_fingerprint(const X509 *certificate, const uint8_t wanted[DIGEST_BYTES]) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    return X509_digest(certificate, EVP_sha256(), digest, &count) == 1 && count == DIGEST_BYTES &&
           memcmp(digest, wanted, DIGEST_BYTES) == 0;
}

// ---- whom we trust

// Where systems keep the roots of all, beside where this library's OpenSSL looks: a program that
// brings its own OpenSSL along was built on another system.
static void load_system_roots(SSL_CTX *context) {
    static const char *const files[] = {
        "/etc/ssl/certs/ca-certificates.crt",                // Debian, Arch
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, Red Hat
        "/etc/ssl/ca-bundle.pem",                            // SUSE
        "/etc/ssl/cert.pem",                                 // Alpine
    };
    SSL_CTX_set_default_verify_paths(context);
    const char *own = getenv(X509_get_default_cert_file_env());
    if (access(own != NULL ? own : X509_get_default_cert_file(), R_OK) == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (SSL_CTX_load_verify_file(context, files[i]) == 1) {
            break;
        }
    }
    ERR_clear_error();
}

static MoreauStatus refuse(MoreauClient *client, const char *format, const char *file) {
    return client_lose(client, MOREAU_INVALID_ARGUMENT, format, file);
}

static int refuse_passphrase(char *text, int capacity, int is_writing, void *context) {
    (void)text, (void)capacity, (void)is_writing, (void)context;
    return -1;
}

static MoreauStatus load_own(MoreauClient *client, SSL_CTX *context) {
    const MoreauOptions *options = &client->options;
    const char *certificate = options->tls_cert;
    const char *key = options->tls_key != NULL ? options->tls_key : certificate;
    if (certificate == NULL) {
        return options->tls_key == NULL
                   ? MOREAU_OK
                   : refuse(client, "the key %s needs the certificate that it belongs to",
                            options->tls_key);
    }
    SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) {
        return refuse(client, "%s holds no certificate in PEM", certificate);
    }
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        return refuse(client,
                      "%s holds no private key in PEM that belongs to the certificate and has no "
                      "passphrase",
                      key);
    }
    return MOREAU_OK;
}

// Once hands are not shaken OpenSSL has forgotten which it was.
static int keep_refused(int holds, X509_STORE_CTX *store) {
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    Secure *secure = SSL_get_app_data(ssl);
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    if (holds == 0 && secure->refused == NULL && certificate != NULL) {
        X509_up_ref(certificate);
        secure->refused = certificate;
    }
    return holds;
}

static MoreauStatus load_trust(MoreauClient *client, SSL_CTX *context) {
    const MoreauOptions *options = &client->options;
    uint8_t digest[DIGEST_BYTES];
    if (options->tls_fingerprint != NULL && !parse_fingerprint(options->tls_fingerprint, digest)) {
        return refuse(client,
                      "\"%.120s\" is no fingerprint: write sha256: and 64 digits, as the server "
                      "says when it starts",
                      options->tls_fingerprint);
    }
    if (options->tls_ca != NULL && SSL_CTX_load_verify_file(context, options->tls_ca) != 1) {
        return refuse(client, "%s holds no certificate in PEM", options->tls_ca);
    }
    if (options->tls_ca == NULL && options->tls_fingerprint == NULL) {
        load_system_roots(context);
    } else {
        // what is in the file is trusted as it stands, also where another has signed it
        X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
    }
    bool goes_by_chain = options->tls_ca != NULL || options->tls_fingerprint == NULL;
    SSL_CTX_set_verify(context, goes_by_chain ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                       goes_by_chain ? keep_refused : NULL);
    return load_own(client, context);
}

static MoreauStatus make_context(MoreauClient *client) {
    if (client->tls != NULL) {
        return MOREAU_OK;
    }
    ERR_clear_error();
    client->tls = calloc(1, sizeof(*client->tls));
    SSL_CTX *context = client->tls == NULL ? NULL : SSL_CTX_new(TLS_client_method());
    if (context == NULL) {
        secure_deinit(client);
        return client_lose(client, MOREAU_RESOURCE_EXHAUSTED, "no memory for TLS");
    }
    client->tls->context = context;
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    // a frame says how long it is: where a stream ends tells nothing that could be forged
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    MoreauStatus status = load_trust(client, context);
    ERR_clear_error();
    if (status != MOREAU_OK) {
        secure_deinit(client);
    }
    return status;
}

// ---- what is wrong with a certificate

static void print_day(const ASN1_TIME *time, char text[DAY_BYTES]) {
    struct tm parts = {0};
    if (ASN1_TIME_to_tm(time, &parts) != 1 ||
        strftime(text, DAY_BYTES, "%Y-%m-%d %H:%M UTC", &parts) == 0) {
        snprintf(text, DAY_BYTES, "an unknown date");
    }
}

static void append(char names[NAMES_BYTES], const char *name, size_t count) {
    size_t used = strlen(names);
    const char *between = used == 0 ? "" : ", ";
    if (used + strlen(between) + count < NAMES_BYTES - 4) {
        snprintf(names + used, NAMES_BYTES - used, "%s%.*s", between, (int)count, name);
    } else if (used > 0 && names[used - 1] != '.') {
        snprintf(names + used, NAMES_BYTES - used, " …");
    }
}

// Whose it is, as it says itself.
static void print_names(const X509 *certificate, char names[NAMES_BYTES]) {
    GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    names[0] = '\0';
    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(all, i);
        char text[INET6_ADDRSTRLEN] = "";
        if (name->type == GEN_DNS) {
            append(names, (const char *)ASN1_STRING_get0_data(name->d.dNSName),
                   (size_t)ASN1_STRING_length(name->d.dNSName));
        } else if (name->type == GEN_IPADD) {
            bool is_v4 = ASN1_STRING_length(name->d.iPAddress) == 4;
            inet_ntop(is_v4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text,
                      sizeof(text));
            append(names, text, strlen(text));
        }
    }
    GENERAL_NAMES_free(all);
    if (names[0] == '\0') {
        snprintf(names, NAMES_BYTES, "no name");
    }
}

static MoreauStatus __attribute__((format(printf, 2, 3)))
distrust(MoreauClient *client, const char *format, ...) {
    char why[sizeof(client->error.message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    return client_lose(client, MOREAU_UNAUTHENTICATED, "%s", why);
}

static MoreauStatus tell_date(MoreauClient *client, const X509 *certificate, bool is_expired) {
    char day[DAY_BYTES];
    print_day(is_expired ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate), day);
    return distrust(client, "the certificate of %s %s %s, by this machine's clock", client->address,
                    is_expired ? "has expired on" : "does not hold before", day);
}

static MoreauStatus tell_verdict(MoreauClient *client, const X509 *certificate, long verdict) {
    char names[NAMES_BYTES], found[2 * DIGEST_BYTES + 1];
    const char *address = client->address;
    switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return tell_date(client, certificate, verdict == X509_V_ERR_CERT_HAS_EXPIRED);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        print_names(certificate, names);
        return distrust(client, "the certificate of %s is for %s: connect by such a name", address,
                        names);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        print_fingerprint(certificate, found);
        return distrust(client,
                        "the certificate of %s is signed by nobody but itself: trust it by its "
                        "file (--tls-ca FILE), or by its fingerprint, if that is sha256:%s "
                        "(--tls-fingerprint)",
                        address, found);
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return distrust(client,
                        "the certificate of %s is signed by an authority that this machine does "
                        "not know: give that one's certificate (--tls-ca FILE)",
                        address);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return distrust(client,
                        "the certificate of %s leads to no authority that this machine knows: give "
                        "that one's certificate (--tls-ca FILE), or have the server send those in "
                        "between",
                        address);
    default:
        return distrust(client, "the certificate of %s does not hold: %s", address,
                        X509_verify_cert_error_string(verdict));
    }
}

// ---- what else went wrong

// What the server said in an alert; 0: nothing.
static int alert_of(unsigned long error) {
    int reason = ERR_GET_REASON(error);
    bool is_alert = ERR_GET_LIB(error) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET;
    return is_alert ? reason - SSL_AD_REASON_OFFSET : 0;
}

static MoreauStatus tell_failure(MoreauClient *client, int wanted, int why) {
    const unsigned long error = ERR_peek_last_error();
    const int alert = alert_of(error);
    const char *address = client->address, *reason = ERR_reason_error_string(error);
    ERR_clear_error();
    if (wanted == SSL_ERROR_SSL && ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER) {
        return client_lose(client, MOREAU_FAILED_PRECONDITION,
                           "the server at %s speaks no TLS: it was started without --tls-cert, or "
                           "another program listens there",
                           address);
    }
    if (alert == SSL_AD_CERTIFICATE_REQUIRED) {
        return distrust(client,
                        "the server at %s wants a certificate of its clients: give one "
                        "(--tls-cert FILE, --tls-key FILE)",
                        address);
    }
    if (alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_BAD_CERTIFICATE ||
        alert == SSL_AD_CERTIFICATE_EXPIRED || alert == SSL_AD_CERTIFICATE_UNKNOWN ||
        alert == SSL_AD_UNSUPPORTED_CERTIFICATE) {
        return distrust(client, "the server at %s does not accept our certificate: %s", address,
                        SSL_alert_desc_string_long(alert));
    }
    if (alert == SSL_AD_PROTOCOL_VERSION) {
        return client_lose(client, MOREAU_FAILED_PRECONDITION,
                           "the server at %s does not speak TLS 1.3, which is all that this client "
                           "does",
                           address);
    }
    if (alert == ALERT_INTERNAL_ERROR) {
        return client_lose(client, MOREAU_UNAVAILABLE,
                           "the server at %s has no room for another connection", address);
    }
    if (wanted == SSL_ERROR_SYSCALL || wanted == SSL_ERROR_ZERO_RETURN) {
        return client_lose(client, MOREAU_UNAVAILABLE,
                           "the server at %s closed the connection during TLS%s%s", address,
                           why == 0 ? "" : ": ", why == 0 ? "" : strerror(why));
    }
    return client_lose(client, MOREAU_UNAVAILABLE, "TLS with %s failed: %s", address,
                       reason == NULL ? "no reason is given" : reason);
}

// ---- shaking hands

static bool set_name(SSL *ssl, const char *address) {
    char host[HOST_BYTES];
    const char *rest, *colon;
    secure_is_asked(address, &rest);
    colon = strrchr(rest, ':');
    bool is_bracketed = colon != NULL && rest[0] == '[' && colon - rest >= 2 && colon[-1] == ']';
    size_t count = colon == NULL ? 0 : (size_t)(colon - rest) - (is_bracketed ? 2 : 0);
    if (count == 0 || count >= sizeof(host)) {
        return false;
    }
    memcpy(host, rest + (is_bracketed ? 1 : 0), count);
    host[count] = '\0';
    uint8_t number[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, number) == 1 || inet_pton(AF_INET6, host, number) == 1) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    }
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static MoreauStatus wait_for(MoreauClient *client, short events, int64_t give_up_ms) {
    struct pollfd entry = {client->fd, events, 0};
    int wait_ms = -1;
    if (give_up_ms >= 0) {
        int64_t left_ms = give_up_ms - client_now_ms();
        wait_ms = left_ms > 0 ? (int)left_ms : 0;
    }
    int ready = poll(&entry, 1, wait_ms);
    return ready != 0 ? MOREAU_OK
                      : client_lose(client, MOREAU_DEADLINE_EXCEEDED,
                                    "TLS with %s was not ready in time", client->address);
}

static MoreauStatus shake(MoreauClient *client, int64_t give_up_ms) {
    SSL *ssl = client->tls->ssl;
    for (;;) {
        ERR_clear_error();
        errno = 0;
        int result = SSL_connect(ssl), wanted = SSL_get_error(ssl, result), why = errno;
        MoreauStatus status = MOREAU_OK;
        switch (wanted) {
        case SSL_ERROR_NONE:
            return MOREAU_OK;
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
            status = wait_for(client, wanted == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, give_up_ms);
            break;
        default: {
            long verdict = SSL_get_verify_result(ssl);
            const X509 *certificate = client->tls->refused;
            status = verdict != X509_V_OK && certificate != NULL
                         ? tell_verdict(client, certificate, verdict)
                         : tell_failure(client, wanted, why);
        }
        }
        if (status != MOREAU_OK) {
            return status;
        }
    }
}

static MoreauStatus check_fingerprint(MoreauClient *client) {
    uint8_t wanted[DIGEST_BYTES];
    char found[2 * DIGEST_BYTES + 1];
    const char *fingerprint = client->options.tls_fingerprint;
    if (fingerprint == NULL) {
        return MOREAU_OK;
    }
    const X509 *certificate = SSL_get0_peer_certificate(client->tls->ssl);
    if (certificate != NULL && parse_fingerprint(fingerprint, wanted) &&
        has_fingerprint(certificate, wanted)) {
        return MOREAU_OK;
    }
    found[0] = '\0';
    if (certificate != NULL) {
        print_fingerprint(certificate, found);
    }
    return distrust(client,
                    "the certificate of %s is another one than is trusted: its fingerprint is "
                    "sha256:%s",
                    client->address, found);
}

MoreauStatus secure_open(MoreauClient *client, int64_t give_up_ms) {
    MoreauStatus status = make_context(client);
    if (status != MOREAU_OK) {
        return status;
    }
    client->tls->ssl = SSL_new(client->tls->context);
    BIO *bio = client->tls->ssl == NULL ? NULL : make_bio(client->fd);
    if (bio == NULL || !set_name(client->tls->ssl, client->address)) {
        BIO_free(bio);
        return client_lose(client, MOREAU_RESOURCE_EXHAUSTED, "no memory for TLS");
    }
    SSL_set_bio(client->tls->ssl, bio, bio);
    SSL_set_app_data(client->tls->ssl, client->tls);
    status = shake(client, give_up_ms);
    return status == MOREAU_OK ? check_fingerprint(client) : status;
}

// ---- bytes

static ssize_t judge(MoreauClient *client, int result, size_t count) {
    const int why = errno, wanted = SSL_get_error(client->tls->ssl, result);
    switch (wanted) {
    case SSL_ERROR_NONE:
        return (ssize_t)count;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_SYSCALL:
        errno = why != 0 ? why : ECONNRESET;
        return -1;
    default:
        tell_failure(client, wanted, why);
        return SECURE_LOST;
    }
}

ssize_t secure_receive(MoreauClient *client, void *bytes, size_t count) {
    size_t got = 0;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_read_ex(client->tls->ssl, bytes, count, &got);
    return judge(client, result, got);
}

ssize_t secure_send(MoreauClient *client, const void *bytes, size_t count) {
    size_t sent = 0;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_write_ex(client->tls->ssl, bytes, count, &sent);
    return judge(client, result, sent);
}

size_t secure_pending(const MoreauClient *client) {
    return (size_t)SSL_pending(client->tls->ssl);
}

void secure_close(MoreauClient *client) {
    if (client->tls != NULL) {
        SSL_free(client->tls->ssl);
        client->tls->ssl = NULL;
        X509_free(client->tls->refused);
        client->tls->refused = NULL;
    }
}

void secure_deinit(MoreauClient *client) {
    secure_close(client);
    if (client->tls != NULL) {
        SSL_CTX_free(client->tls->context);
        free(client->tls);
        client->tls = NULL;
    }
}
