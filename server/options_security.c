// SPDX-License-Identifier: MIT
#include "options_security.h"

#include "base/utf8.h"
#include "net/listener.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TOKEN_LINE_BYTES_MAX = 8192 }; // more is not read to tell how long a token is

// ---- what follows from the values together

static Status check_address(const Options *options, const char *name, const char *address,
                            bool *is_exposed, Error *error) {
    bool is_loopback = false;
    Status status = listener_check(address, &is_loopback, error);
    *is_exposed = !is_loopback;
    if (status == STATUS_OK && !is_loopback && options->token_file[0] == '\0' &&
        options->tokens[0] == '\0') {
        return error_set(
            error, STATUS_INVALID_ARGUMENT, name,
            "%s can be reached from other machines: give a --token-file, or --tokens, so that not "
            "everybody can use this server.",
            address);
    }
    if (status == STATUS_OK && !is_loopback && options->tls_cert[0] == '\0' &&
        !options->insecure_plain) {
        return error_set(
            error, STATUS_INVALID_ARGUMENT, name,
            "%s can be reached from other machines: give --tls-cert and --tls-key, so that nobody "
            "in between reads along (--tls-self-signed DIR makes both), or say --insecure-plain.",
            address);
    }
    return status;
}

static Status check_tls(const Options *options, Error *error) {
    const bool has_cert = options->tls_cert[0] != '\0', has_key = options->tls_key[0] != '\0';
    if (has_cert != has_key) {
        return error_set(error, STATUS_INVALID_ARGUMENT, has_cert ? "tls-key" : "tls-cert",
                         "--tls-cert and --tls-key go together: a certificate and its key, which "
                         "may stand in one file.");
    }
    if (options->tls_client_ca[0] != '\0' && !has_cert) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "tls-client-ca",
                         "tls-client-ca is about clients that come by TLS: give --tls-cert and "
                         "--tls-key.");
    }
    return STATUS_OK;
}

static Status check_tokens(const Options *options, Error *error) {
    return options->tokens[0] != '\0' && options->token_file[0] != '\0'
               ? error_set(error, STATUS_INVALID_ARGUMENT, "tokens",
                           "tokens and token-file exclude each other: the token of the latter may "
                           "do everything, as one with the right admin in the former may.")
               : STATUS_OK;
}

static Status check_seal(const Options *options, Error *error) {
    return options->seal_key[0] != '\0' && options->db[0] == '\0'
               ? error_set(error, STATUS_INVALID_ARGUMENT, "seal-key",
                           "seal-key signs what goes into a file of episodes: give it with --db "
                           "FILE.")
               : STATUS_OK;
}

static Status check_exposure(Options *options, Error *error) {
    Status status = STATUS_OK;
    if (options->viewer[0] != '\0' && options->http[0] == '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, "viewer",
                         "viewer is the page that --http shows: say where, as --http "
                         "127.0.0.1:8080.");
    }
    bool is_exposed;
    for (size_t i = 0; i < options->listen_count && status == STATUS_OK; i++) {
        status = check_address(options, "listen", options->listen[i], &is_exposed, error);
    }
    if (status == STATUS_OK && options->http[0] != '\0') {
        status = check_address(options, "http", options->http, &options->http_is_exposed, error);
    }
    return status;
}

Status options_check_security(Options *options, Error *error) {
    Status status = check_tls(options, error);
    status = STATUS_THEN(status, check_tokens(options, error));
    status = STATUS_THEN(status, check_seal(options, error));
    return STATUS_THEN(status, check_exposure(options, error));
}

// ---- the token

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static Status fail_token(const Options *options, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, "token-file", "%.200s %s", options->token_file,
                     why);
}

static Status fail_token_length(const Options *options, size_t bytes, bool is_whole, Error *error) {
    char why[160];
    snprintf(why, sizeof(why),
             "holds a token of %s%zu bytes; no client could show it, as a text of the protocol has "
             "at most %d.",
             is_whole ? "" : "more than ", bytes, OPTIONS_TOKEN_BYTES_MAX);
    return fail_token(options, why, error);
}

// The permissions of a file that others than its owner may use; 0: its owner alone, or a pipe.
static uint32_t exposed_mode(FILE *file) {
    struct stat info;
    bool is_file = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
    bool is_exposed = is_file && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    return is_exposed ? info.st_mode & ~(uint32_t)S_IFMT : 0;
}

// The first line without the spaces around it.
static Status read_token_to(Options *options, char line[TOKEN_LINE_BYTES_MAX], Error *error) {
    FILE *file = fopen(options->token_file, "re");
    if (file == NULL) {
        return fail_token(options, "cannot be read.", error);
    }
    setvbuf(file, NULL, _IONBF, 0); // it would keep a copy
    size_t count = fread(line, 1, TOKEN_LINE_BYTES_MAX, file);
    bool failed = ferror(file) != 0;
    options->token_mode_exposed = exposed_mode(file);
    fclose(file);
    if (failed) {
        return fail_token(options, "cannot be read.", error);
    }
    const char *newline = memchr(line, '\n', count);
    const char *begin = line;
    const char *end = newline == NULL ? line + count : newline;
    while (begin < end && is_space(*begin)) {
        begin++;
    }
    while (end > begin && is_space(end[-1])) {
        end--;
    }
    size_t bytes = (size_t)(end - begin);
    if (bytes == 0) {
        return fail_token(options, "has no token in its first line.", error);
    }
    if (bytes > OPTIONS_TOKEN_BYTES_MAX) {
        bool is_whole = newline != NULL || count < TOKEN_LINE_BYTES_MAX;
        return fail_token_length(options, bytes, is_whole, error);
    }
    if (memchr(begin, '\0', bytes) != NULL) {
        return fail_token(options, "holds a zero byte in its token.", error);
    }
    if (utf8_count((const uint8_t *)begin, bytes) != bytes) {
        return fail_token(
            options, "holds a token that is no UTF-8, as every text of the protocol is.", error);
    }
    memcpy(options->token, begin, bytes);
    options->token[bytes] = '\0';
    return STATUS_OK;
}

Status options_read_token(Options *options, Error *error) {
    char line[TOKEN_LINE_BYTES_MAX];
    const Status status = read_token_to(options, line, error);
    explicit_bzero(line, sizeof(line));
    return status;
}
