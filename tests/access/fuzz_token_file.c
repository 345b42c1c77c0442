// SPDX-License-Identifier: MIT
// Fuzz target: a file of tokens. What is read is sound, and what is printed of it is read as the
// same.
#include "access/token_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds) {
        abort();
    }
}

static void read_again(const TokenRow *row) {
    char line[TOKEN_LINE_BYTES], text[TOKEN_LINE_BYTES + 64];
    TokenFile file;
    Error error = {0};
    const size_t bytes = token_file_print(row, line);
    demand(bytes < sizeof(line) && line[bytes - 1] == '\n');
    const int length = snprintf(text, sizeof(text), "%s\n%s# end 1\n", TOKEN_FILE_HEAD, line);
    demand(token_file_parse(text, (size_t)length, &file, &error) == STATUS_OK);
    const TokenRow *again = &file.row[0];
    demand(strcmp(again->name, row->name) == 0 && strcmp(again->space, row->space) == 0);
    demand(again->rights == row->rights && again->is_uid == row->is_uid && again->uid == row->uid);
    demand(digest_equals(again->digest, row->digest));
    token_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    TokenFile file;
    Error error = {0};
    char *text = malloc(size + 1); // so that reading past the end is seen
    demand(text != NULL);
    memcpy(text, data, size);
    text = realloc(text, size > 0 ? size : 1);
    if (token_file_parse(text, size, &file, &error) == STATUS_OK) {
        for (size_t i = 0; i < file.count; i++) {
            const TokenRow *row = &file.row[i];
            demand(row->begin < row->end && row->end <= file.end && file.end < size);
            demand(token_file_find(&file, row->name) == row);
            read_again(row);
        }
        token_file_free(&file);
    } else {
        demand(error.message[0] != '\0');
    }
    free(text);
    return 0;
}
