// SPDX-License-Identifier: MIT
#include "net/tls/self_signed.h"

#include "net/tls/identity_parts.h"
#include "os/new_file.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// As long as the authorities of the Web once let theirs hold: long enough for a laboratory, and its
// clock may be an hour behind.
enum { DAYS = 825, DAY_S = 86400, EARLY_S = 3600, SERIAL_BITS = 127 };
static const char option[] = "tls-self-signed";
enum { PATH_BYTES = 600, NAMES_BYTES = 2048, HOST_BYTES = 256 };

// ---- for whom

static void add_name(char names[NAMES_BYTES], const char *kind, const char *name) {
    char entry[HOST_BYTES + 16];
    snprintf(entry, sizeof(entry), "%s:%s", kind, name);
    size_t bytes = strlen(names);
    if (bytes + strlen(entry) + 2 < NAMES_BYTES) { // a machine of very many addresses has the rest
        snprintf(names + bytes, NAMES_BYTES - bytes, "%s%s", bytes == 0 ? "" : ",", entry);
    }
}

// OpenSSL reads the names as a list: a host's name that could be more than one entry is left out.
static bool is_plain(const char *name) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    return name[0] != '\0' && name[strspn(name, letters)] == '\0';
}

static void add_address(char names[NAMES_BYTES], const struct sockaddr *address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text,
                  sizeof(text));
    } else if (address->sa_family == AF_INET6) {
        const struct in6_addr *host =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        if (!IN6_IS_ADDR_LINKLOCAL(host)) {
            inet_ntop(AF_INET6, host, text, sizeof(text));
        }
    }
    if (text[0] != '\0') {
        add_name(names, "IP", text);
    }
}

// This machine by all its names.
static void collect_names(char host[HOST_BYTES], char names[NAMES_BYTES]) {
    struct ifaddrs *all = NULL;
    names[0] = '\0';
    if (gethostname(host, HOST_BYTES) != 0 || !is_plain(host) ||
        memchr(host, '\0', HOST_BYTES) == NULL) {
        snprintf(host, HOST_BYTES, "localhost");
    }
    add_name(names, "DNS", "localhost");
    if (strcmp(host, "localhost") != 0) {
        add_name(names, "DNS", host);
    }
    if (getifaddrs(&all) == 0) {
        for (const struct ifaddrs *each = all; each != NULL; each = each->ifa_next) {
            if (each->ifa_addr != NULL) {
                add_address(names, each->ifa_addr);
            }
        }
        freeifaddrs(all);
    }
}

// ---- the certificate

static bool add_extension(X509 *certificate, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    bool added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool set_serial(X509 *certificate) {
    BIGNUM *number = BN_new();
    bool is_set = number != NULL &&
                  BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
                  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return is_set;
}

static bool set_name(X509 *certificate, const char *host) {
    char common[65]; // X.509 allows no more
    snprintf(common, sizeof(common), "%.64s", host);
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)"Moreau", -1,
                                      -1, 0) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common, -1,
                                      -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1;
}

static bool fill(X509 *certificate, EVP_PKEY *key, const char *host, const char *names) {
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -EARLY_S) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), (long)DAYS * DAY_S) != NULL &&
           X509_set_pubkey(certificate, key) == 1 && set_name(certificate, host) &&
           add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
           add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
           add_extension(certificate, NID_subject_key_identifier, "hash") &&
           add_extension(certificate, NID_subject_alt_name, names) &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

// ---- files

typedef struct Made {
    X509 *certificate;
    EVP_PKEY *key;
} Made;

static bool write_made(const void *context, FILE *file, FILE *public_file) {
    const Made *made = context;
    return PEM_write_PrivateKey(file, made->key, NULL, NULL, 0, NULL, NULL) == 1 &&
           PEM_write_X509(public_file, made->certificate) == 1;
}

// ---- what is said

// "DNS:a,IP:b" as "a, b"
static void print_names(FILE *out, const char *names) {
    for (const char *at = names; *at != '\0';) {
        const char *name = strchr(at, ':') + 1;
        size_t bytes = strcspn(name, ",");
        fprintf(out, "%s%.*s", at == names ? "" : ", ", (int)bytes, name);
        at = name + bytes + (name[bytes] == ',' ? 1 : 0);
    }
}

static void print_result(FILE *out, const X509 *certificate, const char *host, const char *names,
                         const char *certificate_path, const char *key_path) {
    char fingerprint[TLS_FINGERPRINT_BYTES] = "";
    struct tm ends = {0};
    char day[16] = "";
    tls_print_fingerprint(certificate, fingerprint);
    ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &ends);
    strftime(day, sizeof(day), "%Y-%m-%d", &ends);
    fprintf(out, "certificate  %s, until %s, for ", certificate_path, day);
    print_names(out, names);
    fprintf(out, "\nkey          %s, for its owner's eyes alone\nfingerprint  %s\n\n", key_path,
            fingerprint);
    fprintf(out,
            "The server:  moreau-server --listen 0.0.0.0:7667 --token-file FILE --tls-cert %s "
            "--tls-key %s\n"
            "Its clients: moreau --server tls://%s:7667 --tls-fingerprint %s --token-file FILE …\n",
            certificate_path, key_path, host, fingerprint);
}

// ---- all together

Status tls_self_signed(const char *folder, FILE *out, Error *error) {
    char certificate_path[PATH_BYTES], key_path[PATH_BYTES], host[HOST_BYTES], names[NAMES_BYTES];
    Status status = new_folder(folder, option, "the certificate and its key", error);
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(certificate_path, sizeof(certificate_path), "%s/cert.pem", folder);
    snprintf(key_path, sizeof(key_path), "%s/key.pem", folder);
    collect_names(host, names);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    if (key == NULL || certificate == NULL || !fill(certificate, key, host, names)) {
        status = error_set(error, STATUS_INTERNAL, "tls-self-signed",
                           "OpenSSL makes no certificate: %s.", tls_last_error());
    }
    status = STATUS_THEN(status, new_pair(key_path, certificate_path, write_made,
                                          &(Made){certificate, key}, option, error));
    if (status == STATUS_OK) {
        print_result(out, certificate, host, names, certificate_path, key_path);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return status;
}
