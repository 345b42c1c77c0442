// SPDX-License-Identifier: MIT
#include "support/net_authority.h"

#include "base/assert.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 256 };

static FILE *open_file(const char *folder, const char *name, const char *ending, const char *how) {
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s.%s", folder, name, ending);
    FILE *file = fopen(path, how);
    ASSERT(file != NULL);
    return file;
}

static X509 *read_certificate(const char *folder, const char *name) {
    FILE *file = open_file(folder, name, "pem", "r");
    X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    ASSERT(certificate != NULL);
    return certificate;
}

static EVP_PKEY *read_key(const char *folder, const char *name) {
    FILE *file = open_file(folder, name, "key", "r");
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    ASSERT(key != NULL);
    return key;
}

static void add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    ASSERT(extension != NULL);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

static void fill(X509 *certificate, X509 *issuer, const CertificateDef *def) {
    static long serial = 1;
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), def->begins_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate), def->ends_s);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)def->name, -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
    add_extension(certificate, issuer, NID_basic_constraints,
                  def->is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    add_extension(certificate, issuer, NID_key_usage,
                  def->is_authority ? "critical,keyCertSign" : "critical,digitalSignature");
    add_extension(certificate, issuer, NID_subject_key_identifier, "hash");
    if (issuer != certificate) {
        add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
    }
    if (def->for_whom != NULL) {
        add_extension(certificate, issuer, NID_subject_alt_name, def->for_whom);
    }
}

void net_certify(const char *folder, const CertificateDef *def) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    ASSERT(key != NULL && certificate != NULL);
    X509_set_pubkey(certificate, key);
    X509 *issuer = def->issuer == NULL ? certificate : read_certificate(folder, def->issuer);
    EVP_PKEY *issuer_key = def->issuer == NULL ? key : read_key(folder, def->issuer);
    fill(certificate, issuer, def);
    ASSERT(X509_sign(certificate, issuer_key, EVP_sha256()) > 0);
    FILE *file = open_file(folder, def->name, "pem", "w");
    PEM_write_X509(file, certificate);
    fclose(file);
    file = open_file(folder, def->name, "key", "w");
    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
    if (issuer != certificate) {
        X509_free(issuer);
        EVP_PKEY_free(issuer_key);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
}

void net_append(const char *folder, const char *name, const char *behind) {
    X509 *certificate = read_certificate(folder, behind);
    FILE *file = open_file(folder, name, "pem", "a");
    PEM_write_X509(file, certificate);
    fclose(file);
    X509_free(certificate);
}

void net_fingerprint(const char *folder, const char *name, char text[80]) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    X509 *certificate = read_certificate(folder, name);
    X509_digest(certificate, EVP_sha256(), digest, &count);
    X509_free(certificate);
    strcpy(text, "sha256:");
    for (unsigned i = 0; i < count; i++) {
        snprintf(text + 7 + 2 * i, 3, "%02x", digest[i]);
    }
}

void net_certify_all(const char *folder) {
    static const char here[] = "DNS:localhost,IP:127.0.0.1";
    const long past = -NET_DAY_S, future = NET_DAY_S;
    const CertificateDef defs[] = {
        {"root", NULL, true, NULL, past, future},
        {"middle", "root", true, NULL, past, future},
        {"good", "middle", false, here, past, future},
        {"bare", "middle", false, here, past, future},
        {"expired", "middle", false, here, 2 * past, past},
        {"early", "middle", false, here, future, 2 * future},
        {"elsewhere", "middle", false, "DNS:elsewhere.example", past, future},
        {"own", NULL, false, here, past, future},
    };
    for (size_t i = 0; i < sizeof(defs) / sizeof(defs[0]); i++) {
        net_certify(folder, &defs[i]);
    }
    const char *const whole[] = {"good", "expired", "early", "elsewhere"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        net_append(folder, whole[i], "middle");
    }
}
