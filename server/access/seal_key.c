// SPDX-License-Identifier: MIT
#include "access/seal_key.h"

#include "base/hex.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16384 }; // a key in PEM has some hundred

struct SealKey {
    EVP_PKEY *pair; // the library wipes it
    uint8_t public_half[SEAL_PUBLIC_BYTES];
};

static Status fail(const char *option, const char *path, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, option, "%.300s %s.", path, why);
}

// ---- files

static Status check_mode(const char *option, const char *path, int fd, bool is_secret,
                         Error *error) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return fail(option, path, "is no file", error);
    }
    if (is_secret && (info.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return fail(option, path,
                    "may be read by everybody, or changed by others than its owner: whoever has "
                    "this key can sign what never was (chmod 600)",
                    error);
    }
    return STATUS_OK;
}

// Of a file that is as small as a key is.
static Status read_text(const char *option, const char *path, bool is_secret,
                        char text[FILE_BYTES_MAX], size_t *count, Error *error) {
    // a pipe that nobody writes into would hold the start up
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option, "%.300s cannot be read: %s.", path,
                         strerror(errno));
    }
    Status status = check_mode(option, path, fd, is_secret, error);
    *count = 0;
    ssize_t more = 1;
    while (status == STATUS_OK && more > 0 && *count < FILE_BYTES_MAX) {
        more = read(fd, text + *count, FILE_BYTES_MAX - *count);
        *count += more > 0 ? (size_t)more : 0;
    }
    close(fd);
    if (status == STATUS_OK && (more < 0 || *count == FILE_BYTES_MAX)) {
        status = fail(option, path, more < 0 ? "cannot be read" : "is too long for a key", error);
    }
    return status;
}

// A key that asks for a passphrase would ask the terminal.
static int refuse_passphrase(char *text, int capacity, int is_writing, void *context) {
    (void)text, (void)capacity, (void)is_writing, (void)context;
    return -1;
}

// ---- the pair

static bool take_public(const EVP_PKEY *key, uint8_t bytes[SEAL_PUBLIC_BYTES]) {
    size_t count = SEAL_PUBLIC_BYTES;
    return key != NULL && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
           EVP_PKEY_get_raw_public_key(key, bytes, &count) == 1 && count == SEAL_PUBLIC_BYTES;
}

static EVP_PKEY *parse(const char *text, size_t count, bool is_secret) {
    BIO *memory = BIO_new_mem_buf(text, (int)count);
    EVP_PKEY *key = memory == NULL ? NULL
                    : is_secret    ? PEM_read_bio_PrivateKey(memory, NULL, refuse_passphrase, NULL)
                                   : PEM_read_bio_PUBKEY(memory, NULL, refuse_passphrase, NULL);
    BIO_free(memory);
    if (key == NULL) {
        ERR_clear_error(); // the next failure is not to be taken for this one
    }
    return key;
}

Status seal_key_read(const char *path, SealKey **key, Error *error) {
    char text[FILE_BYTES_MAX];
    size_t count = 0;
    SealKey *taken = calloc(1, sizeof(*taken));
    if (taken == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "seal-key", "Memory ended.");
    }
    Status status = read_text("seal-key", path, true, text, &count, error);
    if (status == STATUS_OK) {
        taken->pair = parse(text, count, true);
        if (!take_public(taken->pair, taken->public_half)) {
            status = fail("seal-key", path,
                          "holds no Ed25519 key in PEM without a passphrase: moreau-server "
                          "--seal-new DIR makes one",
                          error);
        }
    }
    explicit_bzero(text, sizeof(text));
    if (status != STATUS_OK) {
        seal_key_free(taken);
        return status;
    }
    *key = taken;
    return STATUS_OK;
}

void seal_key_free(SealKey *key) {
    if (key != NULL) {
        EVP_PKEY_free(key->pair);
        free(key);
    }
}

const uint8_t *seal_key_public(const SealKey *key) {
    return key->public_half;
}

bool seal_key_sign(const SealKey *key, const void *message, size_t count,
                   uint8_t signature[SEAL_SIGNATURE_BYTES]) {
    size_t length = SEAL_SIGNATURE_BYTES;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool is_signed = context != NULL &&
                           EVP_DigestSignInit(context, NULL, NULL, NULL, key->pair) == 1 &&
                           EVP_DigestSign(context, signature, &length, message, count) == 1 &&
                           length == SEAL_SIGNATURE_BYTES;
    EVP_MD_CTX_free(context);
    return is_signed;
}

// ---- the public half

Status seal_public_read(const char *path, uint8_t key[SEAL_PUBLIC_BYTES], Error *error) {
    char text[FILE_BYTES_MAX];
    size_t count = 0;
    Status status = read_text("seal-pub", path, false, text, &count, error);
    if (status != STATUS_OK) {
        return status;
    }
    char digits[SEAL_PUBLIC_TEXT_BYTES] = "";
    size_t length = 0;
    while (length < count && length + 1 < sizeof(digits) &&
           strchr(" \t\r\n", text[length]) == NULL) {
        digits[length] = text[length];
        length++;
    }
    const bool ends = length == count || strchr(" \t\r\n", text[length]) != NULL;
    if (ends && length == 2 * (size_t)SEAL_PUBLIC_BYTES &&
        hex_read(digits, SEAL_PUBLIC_BYTES, key)) {
        return STATUS_OK;
    }
    EVP_PKEY *parsed = parse(text, count, false);
    const bool is_key = take_public(parsed, key);
    EVP_PKEY_free(parsed);
    return is_key ? STATUS_OK
                  : fail("seal-pub", path,
                         "holds no public Ed25519 key, in PEM or as 64 hexadecimal digits: "
                         "seal.pub, which moreau-server --seal-new DIR makes beside the key, does",
                         error);
}

bool seal_public_verifies(const uint8_t key[SEAL_PUBLIC_BYTES], const void *message, size_t count,
                          const uint8_t signature[SEAL_SIGNATURE_BYTES]) {
    EVP_PKEY *public_half =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, SEAL_PUBLIC_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool is_right =
        public_half != NULL && context != NULL &&
        EVP_DigestVerifyInit(context, NULL, NULL, NULL, public_half) == 1 &&
        EVP_DigestVerify(context, signature, SEAL_SIGNATURE_BYTES, message, count) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_half);
    return is_right;
}
