// SPDX-License-Identifier: MIT
#include "access/token_file.h"

#include "base/hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digest_prefix[] = "sha256:";
static const char uid_prefix[] = "uid:";

// A part of the text; what a reader is at.
typedef struct Word {
    const char *at;
    size_t bytes;
} Word;

typedef struct Reader {
    const char *text;
    size_t bytes, at;
    size_t line; // number of the one that was read last
    size_t capacity;
    TokenFile *file;
    Error *error;
} Reader;

// ---- names

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool token_file_takes_name(const char *name) {
    const size_t bytes = strlen(name);
    bool takes = bytes > 0 && bytes < TOKEN_NAME_BYTES && is_plain(name[0]);
    for (size_t i = 0; i < bytes && takes; i++) {
        takes = is_plain(name[i]) || name[i] == '.' || name[i] == '_' || name[i] == '-';
    }
    return takes;
}

// Of digits alone, without zeros in front that would make two names of one number.
static bool read_number(const char *at, size_t bytes, uint64_t maximum, uint64_t *number) {
    if (bytes == 0 || (bytes > 1 && at[0] == '0')) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] < '0' || at[i] > '9') {
            return false;
        }
        const uint64_t digit = (uint64_t)(at[i] - '0');
        if (value > (maximum - digit) / 10) {
            return false;
        }
        value = 10 * value + digit;
    }
    *number = value;
    return true;
}

bool token_file_is_uid(const char *name, uint32_t *uid) {
    uint64_t number;
    const size_t prefix = sizeof(uid_prefix) - 1;
    if (strncmp(name, uid_prefix, prefix) != 0 ||
        !read_number(name + prefix, strlen(name + prefix), UINT32_MAX - 1, &number)) {
        return false;
    }
    *uid = (uint32_t)number;
    return true;
}

// ---- lines

// The next line without its newline; `has_newline`: it had one. false: none is left.
static bool next_line(Reader *reader, Word *line, bool *has_newline) {
    if (reader->at == reader->bytes) {
        return false;
    }
    const char *begin = reader->text + reader->at;
    const char *newline = memchr(begin, '\n', reader->bytes - reader->at);
    *has_newline = newline != NULL;
    line->at = begin;
    line->bytes = newline == NULL ? reader->bytes - reader->at : (size_t)(newline - begin);
    reader->at += line->bytes + (newline != NULL);
    reader->line++;
    return true;
}

// The next word of a line, which goes on behind it. No bytes: none is left.
static Word next_word(Word *line) {
    while (line->bytes > 0 && (*line->at == ' ' || *line->at == '\t')) {
        line->at++, line->bytes--;
    }
    Word word = {.at = line->at};
    while (line->bytes > 0 && *line->at != ' ' && *line->at != '\t') {
        line->at++, line->bytes--, word.bytes++;
    }
    return word;
}

static bool equals(Word word, const char *text) {
    return word.bytes == strlen(text) && memcmp(word.at, text, word.bytes) == 0;
}

static Status fail(const Reader *reader, const char *why) {
    return error_set(reader->error, STATUS_INVALID_ARGUMENT, "tokens", "Line %zu %s", reader->line,
                     why);
}

// ---- a row

static bool copy_name(Word word, char name[TOKEN_NAME_BYTES]) {
    if (word.bytes == 0 || word.bytes >= TOKEN_NAME_BYTES) {
        return false;
    }
    memcpy(name, word.at, word.bytes);
    name[word.bytes] = '\0';
    return memchr(name, '\0', word.bytes) == NULL;
}

static Status read_name(const Reader *reader, Word word, TokenRow *row) {
    if (!copy_name(word, row->name)) {
        return fail(reader, "begins with no name of at most 63 bytes.");
    }
    row->is_uid = token_file_is_uid(row->name, &row->uid);
    return row->is_uid || token_file_takes_name(row->name)
               ? STATUS_OK
               : fail(reader, "has a name of other signs than letters, digits and . _ - (or uid:N, "
                              "for a user on Unix sockets).");
}

// In lower case alone: a row has one spelling.
static bool read_lower_hex(const char *text, uint8_t digest[DIGEST_BYTES]) {
    char again[2 * DIGEST_BYTES + 1];
    if (!hex_read(text, DIGEST_BYTES, digest)) {
        return false;
    }
    hex_text(digest, DIGEST_BYTES, again);
    return memcmp(text, again, 2 * (size_t)DIGEST_BYTES) == 0;
}

static Status read_digest(const Reader *reader, Word word, TokenRow *row) {
    const size_t prefix = sizeof(digest_prefix) - 1;
    if (row->is_uid) {
        return equals(word, "-") ? STATUS_OK
                                 : fail(reader, "must have - behind uid:N, which shows no token.");
    }
    return word.bytes == prefix + 2 * (size_t)DIGEST_BYTES &&
                   memcmp(word.at, digest_prefix, prefix) == 0 &&
                   read_lower_hex(word.at + prefix, row->digest)
               ? STATUS_OK
               : fail(reader, "has no sha256: and 64 hexadecimal digits in lower case behind its "
                              "name.");
}

#define LIMIT_MAX (UINT64_C(1) << 60)

static const TokenWord limit_words[] = {
    {"worlds", offsetof(UseLimits, worlds), false, LIMIT_MAX,
     "worlds at once, those of groups too"},
    {"bytes", offsetof(UseLimits, bytes), true, LIMIT_MAX,
     "memory of worlds, groups and snapshots"},
    {"requests", offsetof(UseLimits, requests), false, LIMIT_MAX, "requests under way at once"},
    {"log", offsetof(UseLimits, log_bytes), true, LIMIT_MAX,
     "bytes of its namespace in the file of episodes"},
    {"episodes", offsetof(UseLimits, episodes), false, LIMIT_MAX,
     "episodes of its namespace in the file"},
    {"lanes", offsetof(UseLimits, lanes), false, USE_LANES_MAX,
     "lanes that work for it at once; what is beyond waits"},
    {"weight", offsetof(UseLimits, weight), false, USE_WEIGHT_MAX,
     "turns on the lanes for each of another token's"},
};

enum { WORD_COUNT = sizeof(limit_words) / sizeof(limit_words[0]) };

const TokenWord *token_file_word(size_t index) {
    return index < WORD_COUNT ? &limit_words[index] : NULL;
}

static uint64_t *limit_of(UseLimits *limits, const TokenWord *word) {
    return (uint64_t *)(void *)((char *)limits + word->offset);
}

bool token_file_read_limit(const TokenWord *word, const char *text, size_t bytes, uint64_t *value) {
    static const char units[] = "KMGT";
    const char *unit = bytes > 0 ? memchr(units, text[bytes - 1], sizeof(units) - 1) : NULL;
    const unsigned shift = word->is_bytes && unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    const uint64_t maximum = word->maximum;
    uint64_t number;
    if (!read_number(text, bytes - (shift > 0), maximum >> shift, &number) || number == 0) {
        return false;
    }
    *value = number << shift;
    return true;
}

static bool begins(Word word, const char *name, Word *value) {
    const size_t length = strlen(name);
    if (word.bytes <= length || memcmp(word.at, name, length) != 0 || word.at[length] != '=') {
        return false;
    }
    *value = (Word){word.at + length + 1, word.bytes - length - 1};
    return true;
}

static Status read_limit(const Reader *reader, const TokenWord *word, Word value, TokenRow *row) {
    uint64_t *limit = limit_of(&row->limits, word);
    char why[96], most[24];
    if (*limit != USE_NO_LIMIT) {
        snprintf(why, sizeof(why), "has %s= twice.", word->name);
        return fail(reader, why);
    }
    if (token_file_read_limit(word, value.at, value.bytes, limit)) {
        return STATUS_OK;
    }
    snprintf(most, sizeof(most), "%llu", (unsigned long long)word->maximum);
    snprintf(why, sizeof(why), "has no number from 1 to %s behind %s=%s.",
             word->maximum == LIMIT_MAX ? "2^60" : most, word->name,
             word->is_bytes ? " (which may end in K, M, G or T)" : "");
    return fail(reader, why);
}

static Status read_setting(const Reader *reader, Word word, TokenRow *row) {
    Word value;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (begins(word, limit_words[i].name, &value)) {
            return read_limit(reader, &limit_words[i], value, row);
        }
    }
    if (begins(word, "namespace", &value)) {
        if (row->space[0] != '\0') {
            return fail(reader, "has namespace= twice.");
        }
        return copy_name(value, row->space) && token_file_takes_name(row->space)
                   ? STATUS_OK
                   : fail(reader, "has a namespace of other signs than letters, digits and . _ -, "
                                  "or of more than 63 bytes.");
    }
    return fail(reader, "has a word behind its rights that this server does not know: there are "
                        "namespace=NAME, worlds=N, bytes=N, requests=N, log=N, "
                        "episodes=N, lanes=N and weight=N.");
}

static Status read_row(const Reader *reader, Word line, TokenRow *row) {
    *row = (TokenRow){
        .begin = (size_t)(line.at - reader->text), .end = reader->at, .limits = USE_LIMITS_NONE};
    Status status = read_name(reader, next_word(&line), row);
    status = STATUS_THEN(status, read_digest(reader, next_word(&line), row));
    if (status != STATUS_OK) {
        return status;
    }
    const Word rights = next_word(&line);
    if (rights.bytes == 0 || !rights_parse(rights.at, rights.bytes, &row->rights)) {
        return fail(reader, "has no rights behind its digest: some of watch, step, record, delete "
                            "and admin, once each, with commas between them, or none.");
    }
    for (Word word; status == STATUS_OK && (word = next_word(&line)).bytes > 0;) {
        status = read_setting(reader, word, row);
    }
    if (row->space[0] == '\0') {
        snprintf(row->space, sizeof(row->space), "%s", TOKEN_SPACE_DEFAULT);
    }
    return status;
}

static Status add_row(Reader *reader, Word line) {
    TokenFile *file = reader->file;
    if (file->count == reader->capacity) {
        const size_t capacity = reader->capacity == 0 ? 16 : 2 * reader->capacity;
        TokenRow *row = realloc(file->row, capacity * sizeof(*row));
        if (row == NULL) {
            return error_set(reader->error, STATUS_RESOURCE_EXHAUSTED, "tokens",
                             "Memory ended while reading tokens.");
        }
        file->row = row;
        reader->capacity = capacity;
    }
    const Status status = read_row(reader, line, &file->row[file->count]);
    file->count += status == STATUS_OK;
    return status;
}

// ---- the whole

// "# end 2".
static bool is_end(Word line, uint64_t *count) {
    const Word mark = next_word(&line), word = next_word(&line), number = next_word(&line);
    return equals(mark, "#") && equals(word, "end") && next_word(&line).bytes == 0 &&
           read_number(number.at, number.bytes, UINT64_MAX, count);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const TokenRow *)a)->name, ((const TokenRow *)b)->name);
}

static int by_digest(const void *a, const void *b) {
    const TokenRow *one = *(const TokenRow *const *)a, *other = *(const TokenRow *const *)b;
    return one->is_uid != other->is_uid ? (one->is_uid ? 1 : -1)
                                        : memcmp(one->digest, other->digest, DIGEST_BYTES);
}

static Status fail_twice(const Reader *reader, const TokenRow *row, const char *what) {
    return error_set(reader->error, STATUS_INVALID_ARGUMENT, "tokens",
                     "%s stands in it twice, once as %s.", what, row->name);
}

// A token that were two people's.
static Status check_digests(const Reader *reader) {
    const TokenFile *file = reader->file;
    const TokenRow **order = calloc(file->count + 1, sizeof(*order));
    if (order == NULL) {
        return error_set(reader->error, STATUS_RESOURCE_EXHAUSTED, "tokens",
                         "Memory ended while reading tokens.");
    }
    for (size_t i = 0; i < file->count; i++) {
        order[i] = &file->row[i];
    }
    Status status = STATUS_OK;
    qsort(order, file->count, sizeof(*order), by_digest);
    for (size_t i = 1; i < file->count && status == STATUS_OK; i++) {
        if (!order[i]->is_uid && by_digest(&order[i - 1], &order[i]) == 0) {
            status = fail_twice(reader, order[i], "A token");
        }
    }
    free(order);
    return status;
}

static Status check_rows(const Reader *reader) {
    TokenFile *file = reader->file;
    if (file->count == 0) {
        return STATUS_OK;
    }
    qsort(file->row, file->count, sizeof(*file->row), by_name);
    for (size_t i = 1; i < file->count; i++) {
        if (strcmp(file->row[i - 1].name, file->row[i].name) == 0) {
            return fail_twice(reader, &file->row[i], "A name");
        }
    }
    return check_digests(reader);
}

static Status fail_end(const Reader *reader, bool has_end, uint64_t count) {
    if (!has_end) {
        return error_set(reader->error, STATUS_INVALID_ARGUMENT, "tokens",
                         "Its last line is no # end COUNT: half of it is missing, as while it is "
                         "being written.");
    }
    return error_set(reader->error, STATUS_INVALID_ARGUMENT, "tokens",
                     "Its last line says %" PRIu64 " tokens, and it holds %zu: a part of it is "
                     "missing, or was edited by hand without the count.",
                     count, reader->file->count);
}

static Status read_lines(Reader *reader) {
    Word line;
    bool has_newline;
    uint64_t count = 0;
    if (!next_line(reader, &line, &has_newline) || !equals(line, TOKEN_FILE_HEAD)) {
        return error_set(reader->error, STATUS_INVALID_ARGUMENT, "tokens",
                         "Its first line is not \"%s\": it is no file of tokens.", TOKEN_FILE_HEAD);
    }
    for (size_t begin; begin = reader->at, next_line(reader, &line, &has_newline);) {
        Word words = line;
        const Word first = next_word(&words);
        if (is_end(line, &count)) {
            reader->file->end = begin;
            return reader->at < reader->bytes     ? fail(reader, "ends the file, and more follows.")
                   : count != reader->file->count ? fail_end(reader, true, count)
                                                  : check_rows(reader);
        }
        if (memchr(line.at, '\0', line.bytes) != NULL || memchr(line.at, '\r', line.bytes)) {
            return fail(reader, "holds a zero byte or a carriage return.");
        }
        if (first.bytes == 0 || first.at[0] == '#') {
            continue;
        }
        if (!has_newline) {
            break;
        }
        if (add_row(reader, line) != STATUS_OK) {
            return reader->error->status;
        }
    }
    return fail_end(reader, false, 0);
}

Status token_file_parse(const char *text, size_t bytes, TokenFile *file, Error *error) {
    Reader reader = {.text = text, .bytes = bytes, .file = file, .error = error};
    *file = (TokenFile){0};
    const Status status =
        bytes > TOKEN_FILE_BYTES_MAX
            ? error_set(error, STATUS_INVALID_ARGUMENT, "tokens",
                        "It is longer than %d bytes, which is enough for some 7,000 tokens.",
                        TOKEN_FILE_BYTES_MAX)
            : read_lines(&reader);
    if (status != STATUS_OK) {
        token_file_free(file);
    }
    return status;
}

void token_file_free(TokenFile *file) {
    free(file->row);
    *file = (TokenFile){0};
}

static int by_given_name(const void *name, const void *row) {
    return strcmp(name, ((const TokenRow *)row)->name);
}

const TokenRow *token_file_find(const TokenFile *file, const char *name) {
    return file->count == 0
               ? NULL
               : bsearch(name, file->row, file->count, sizeof(*file->row), by_given_name);
}

size_t token_file_print(const TokenRow *row, char line[TOKEN_LINE_BYTES]) {
    char digest[sizeof(digest_prefix) + 2 * (size_t)DIGEST_BYTES] = "-", rights[RIGHTS_TEXT_BYTES];
    if (!row->is_uid) {
        memcpy(digest, digest_prefix, sizeof(digest_prefix));
        hex_text(row->digest, DIGEST_BYTES, digest + sizeof(digest_prefix) - 1);
    }
    rights_print(row->rights, rights);
    int length = snprintf(line, TOKEN_LINE_BYTES, "%s %s %s", row->name, digest, rights);
    if (strcmp(row->space, TOKEN_SPACE_DEFAULT) != 0) {
        length +=
            snprintf(line + length, TOKEN_LINE_BYTES - (size_t)length, " namespace=%s", row->space);
    }
    for (size_t i = 0; i < WORD_COUNT; i++) {
        UseLimits limits = row->limits;
        const uint64_t limit = *limit_of(&limits, &limit_words[i]);
        if (limit != USE_NO_LIMIT) {
            length += snprintf(line + length, TOKEN_LINE_BYTES - (size_t)length, " %s=%" PRIu64,
                               limit_words[i].name, limit);
        }
    }
    length += snprintf(line + length, TOKEN_LINE_BYTES - (size_t)length, "\n");
    return (size_t)length;
}
