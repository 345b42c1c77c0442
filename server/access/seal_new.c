// SPDX-License-Identifier: MIT
#include "access/seal_new.h"

#include "access/seal_key.h"
#include "base/hex.h"
#include "os/new_file.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

enum { PATH_BYTES = 600 };
static const char option[] = "seal-new";

static bool write_key(const void *context, FILE *file, FILE *public_file) {
    const EVP_PKEY *key = context;
    return PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 &&
           PEM_write_PUBKEY(public_file, key) == 1;
}

static void print_result(FILE *out, const EVP_PKEY *key, const char *key_path,
                         const char *public_path) {
    uint8_t bytes[SEAL_PUBLIC_BYTES] = {0};
    char text[SEAL_PUBLIC_TEXT_BYTES];
    size_t count = sizeof(bytes);
    EVP_PKEY_get_raw_public_key(key, bytes, &count);
    hex_text(bytes, sizeof(bytes), text);
    fprintf(out,
            "key         %s, for its owner's eyes alone: whoever has it can sign what never was\n"
            "public key  %s, %s\n\n"
            "The server:       moreau-server --db FILE --seal-key %s\n"
            "Who is to check:  moreau verify EPISODE --seal-pub %s\n",
            key_path, public_path, text, key_path, public_path);
}

Status seal_new(const char *folder, FILE *out, Error *error) {
    char key_path[PATH_BYTES], public_path[PATH_BYTES];
    Status status = new_folder(folder, option, "the key and its public half", error);
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(key_path, sizeof(key_path), "%s/seal.key", folder);
    snprintf(public_path, sizeof(public_path), "%s/seal.pub", folder);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (key == NULL) {
        status = error_set(error, STATUS_INTERNAL, option, "OpenSSL makes no key.");
    }
    status = STATUS_THEN(status, new_pair(key_path, public_path, write_key, key, option, error));
    if (status == STATUS_OK) {
        print_result(out, key, key_path, public_path);
    }
    EVP_PKEY_free(key);
    return status;
}
