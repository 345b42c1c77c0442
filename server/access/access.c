// SPDX-License-Identifier: MIT
#include "access/access.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct Access {
    char *path;    // owned; NULL: none
    Token **token; // [all] owned, by name; all that ever were in the file
    size_t all;
    size_t count; // of them, that are in it now
    Token single; // everybody's, or of --token-file
    bool demands; // … which must be shown
    char **space; // [space_count] owned, as their texts; all that ever were
    size_t space_count;
    uint64_t versions;
    uint32_t exposed_mode;
};

// ---- the file

static Status fail(const Access *access, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, "tokens", "%.150s %.220s", access->path, why);
}

// Whoever may write it may give himself any right.
static Status check_mode(Access *access, int fd, Error *error) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return fail(access, "is no file.", error);
    }
    if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        return fail(access, "can be written by others than its owner: chmod 600.", error);
    }
    const bool is_exposed = (info.st_mode & (S_IRGRP | S_IROTH)) != 0;
    access->exposed_mode = is_exposed ? info.st_mode & ~(uint32_t)S_IFMT : 0;
    return STATUS_OK;
}

static Status read_text(Access *access, char *text, size_t *bytes, Error *error) {
    const int fd = open(access->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fail(access, "cannot be read.", error);
    }
    Status status = check_mode(access, fd, error);
    ssize_t count = 1;
    for (*bytes = 0; status == STATUS_OK && *bytes <= TOKEN_FILE_BYTES_MAX && count > 0;) {
        count = read(fd, text + *bytes, (size_t)TOKEN_FILE_BYTES_MAX + 1 - *bytes);
        *bytes += count > 0 ? (size_t)count : 0;
    }
    close(fd);
    return status != STATUS_OK ? status
           : count < 0         ? fail(access, "cannot be read.", error)
                               : STATUS_OK;
}

static Status read_file(Access *access, TokenFile *file, Error *error) {
    char *text = malloc((size_t)TOKEN_FILE_BYTES_MAX + 1);
    size_t bytes = 0;
    Error inner = {0};
    if (text == NULL) {
        return fail(access, "cannot be read: memory ended.", error);
    }
    Status status = read_text(access, text, &bytes, error);
    if (status == STATUS_OK && token_file_parse(text, bytes, file, &inner) != STATUS_OK) {
        status = fail(access, inner.message, error);
    }
    free(text);
    return status;
}

// ---- the tokens

static int by_name(const void *name, const void *token) {
    return strcmp(name, (*(Token *const *)token)->name);
}

static int in_order(const void *a, const void *b) {
    return strcmp((*(Token *const *)a)->name, (*(Token *const *)b)->name);
}

static bool has_name(const Access *access, size_t count, const char *name) {
    return count > 0 && bsearch(name, access->token, count, sizeof(Token *), by_name) != NULL;
}

// So that taking over what was read cannot fail half-way.
static Status make_missing(Access *access, const TokenFile *file, Error *error) {
    const size_t before = access->all;
    Token **token = realloc(access->token, (before + file->count + 1) * sizeof(*token));
    if (token == NULL) {
        return fail(access, "cannot be taken over: memory ended.", error);
    }
    access->token = token;
    for (size_t i = 0; i < file->count; i++) {
        if (has_name(access, before, file->row[i].name)) {
            continue;
        }
        Token *made = calloc(1, sizeof(*made));
        if (made == NULL) {
            break;
        }
        memcpy(made->name, file->row[i].name, sizeof(made->name));
        made->use.name = made->name;
        made->use.number = (uint32_t)access->all + 1;
        use_set_limits(&made->use, &USE_LIMITS_NONE);
        token[access->all++] = made;
    }
    qsort(token, access->all, sizeof(*token), in_order);
    for (size_t i = 0; i < file->count; i++) {
        if (!has_name(access, access->all, file->row[i].name)) {
            return fail(access, "cannot be taken over: memory ended.", error);
        }
    }
    return STATUS_OK;
}

// ---- namespaces

uint32_t access_space(const Access *access, const char *name) {
    for (size_t i = 0; i < access->space_count; i++) {
        if (strcmp(access->space[i], name) == 0) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

const char *access_space_name(const Access *access, uint32_t number) {
    return number >= 1 && number <= access->space_count ? access->space[number - 1] : NULL;
}

// Numbers are kept: what was made in a namespace waits there for whoever gets it again.
static Status make_spaces(Access *access, const TokenFile *file, Error *error) {
    char **space = realloc(access->space, (access->space_count + file->count + 1) * sizeof(*space));
    if (space == NULL) {
        return fail(access, "cannot be taken over: memory ended.", error);
    }
    access->space = space;
    for (size_t i = 0; i < file->count; i++) {
        if (access_space(access, file->row[i].space) != 0) {
            continue;
        }
        space[access->space_count] = strdup(file->row[i].space);
        if (space[access->space_count] == NULL) {
            return fail(access, "cannot be taken over: memory ended.", error);
        }
        access->space_count++;
    }
    return STATUS_OK;
}

static bool is_same(const Token *token, const TokenRow *row) {
    return token->is_uid == row->is_uid && token->uid == row->uid &&
           digest_equals(token->digest, row->digest) && strcmp(token->space, row->space) == 0;
}

static void take_over(Access *access, const TokenFile *file) {
    for (size_t i = 0; i < access->all; i++) {
        Token *token = access->token[i];
        const TokenRow *row = token_file_find(file, token->name);
        token->is_listed = row != NULL;
        token->rights = row == NULL ? RIGHTS_NONE : row->rights;
        if (row == NULL || !is_same(token, row)) {
            token->version = ++access->versions;
        }
        if (row != NULL) {
            token->is_uid = row->is_uid;
            token->uid = row->uid;
            memcpy(token->digest, row->digest, sizeof(token->digest));
            memcpy(token->space, row->space, sizeof(token->space));
            token->space_number = access_space(access, row->space);
            use_set_limits(&token->use, &row->limits);
        }
    }
    access->count = file->count;
}

Status access_reload(Access *access, Error *error) {
    TokenFile file = {0};
    if (access->path == NULL) {
        return STATUS_OK;
    }
    Status status = read_file(access, &file, error);
    status = STATUS_THEN(status, make_spaces(access, &file, error));
    status = STATUS_THEN(status, make_missing(access, &file, error));
    if (status == STATUS_OK) {
        take_over(access, &file);
    }
    token_file_free(&file);
    return status;
}

Status access_create(Access **access, const char *path, const char *secret, Error *error) {
    Access *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    *access = made;
    made->single.rights = RIGHTS_ALL;
    made->demands = path != NULL || secret[0] != '\0';
    if (path == NULL) {
        return !made->demands || digest_of(secret, strlen(secret), made->single.digest)
                   ? STATUS_OK
                   : error_set(error, STATUS_INTERNAL, "", "The library knows no SHA-256.");
    }
    made->path = strdup(path);
    return made->path == NULL
               ? error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.")
               : access_reload(made, error);
}

void access_destroy(Access *access) {
    if (access == NULL) {
        return;
    }
    for (size_t i = 0; i < access->all; i++) {
        free(access->token[i]);
    }
    free(access->token);
    for (size_t i = 0; i < access->space_count; i++) {
        free(access->space[i]);
    }
    free(access->space);
    free(access->path);
    free(access);
}

static bool is_meant(const Token *token, const uint8_t *digest, const uint32_t *uid) {
    return digest != NULL ? !token->is_uid && digest_equals(token->digest, digest)
                          : token->is_uid && uid != NULL && token->uid == *uid;
}

// Looks at all of them, whoever it is.
static Token *find(const Access *access, const uint8_t *digest, const uint32_t *uid) {
    Token *found = NULL;
    for (size_t i = 0; i < access->all; i++) {
        Token *token = access->token[i];
        found = token->is_listed && is_meant(token, digest, uid) ? token : found;
    }
    return found;
}

Token *access_find(Access *access, const char *secret, const uint32_t *uid) {
    uint8_t digest[DIGEST_BYTES];
    if (!access->demands) {
        return &access->single;
    }
    if (secret == NULL || secret[0] == '\0') {
        return find(access, NULL, uid);
    }
    if (!digest_of(secret, strlen(secret), digest)) {
        return NULL;
    }
    if (access->path != NULL) {
        return find(access, digest, NULL);
    }
    return digest_equals(access->single.digest, digest) ? &access->single : NULL;
}

Token *access_at(Access *access, size_t index) {
    return index < access->all ? access->token[index] : NULL;
}

bool access_demands(const Access *access) {
    return access->demands;
}

bool access_has_names(const Access *access) {
    return access->path != NULL;
}

size_t access_count(const Access *access) {
    return access->count;
}

uint32_t access_exposed_mode(const Access *access) {
    return access->exposed_mode;
}
