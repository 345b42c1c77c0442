// SPDX-License-Identifier: MIT
// The file of --tokens: who may do what. A line per token, between a first line that says what this
// is and a last one that says how many there are, so that half a file is known to be half:
//
//   # moreau tokens 1
//   alice sha256:<64 hex> watch,step namespace=lab
//   uid:1000 - watch
//   # end 2
//
// It is read as a whole or refused as a whole. A token is 256 random bits, so its SHA-256 says
// nothing about it; a name uid:N stands for whoever comes by a Unix socket as that user and shows
// no token. `moreau token` writes such files.
//
// Pure functions over bytes; the paths' owner reads and writes.
#pragma once

#include "access/digest.h"
#include "access/rights.h"
#include "access/use.h"
#include "base/status.h"

enum { TOKEN_NAME_BYTES = 64 };                 // with its zero; of namespaces likewise
enum { TOKEN_FILE_BYTES_MAX = 1 << 20 };        // some 7,000 tokens
enum { TOKEN_LINE_BYTES = 1024 };               // of one token, at most
#define TOKEN_FILE_HEAD     "# moreau tokens 1" // the first line
#define TOKEN_SPACE_DEFAULT "default"           // the namespace of who is given none

typedef struct TokenRow {
    char name[TOKEN_NAME_BYTES];
    bool is_uid; // of a user's, on Unix sockets …
    uint32_t uid;
    uint8_t digest[DIGEST_BYTES]; // … or of what is shown
    uint32_t rights;
    char space[TOKEN_NAME_BYTES]; // its namespace
    UseLimits limits;
    size_t begin, end; // of its line in the text, with its newline
} TokenRow;

typedef struct TokenFile {
    TokenRow *row; // owned; by name
    size_t count;
    size_t end; // where the last line begins
} TokenFile;

// INVALID_ARGUMENT says which line is wrong, and how; then there is nothing to free.
Status token_file_parse(const char *text, size_t bytes, TokenFile *file, Error *error);
void token_file_free(TokenFile *file);

// NULL: no such name.
const TokenRow *token_file_find(const TokenFile *file, const char *name);

// The line of a row, with its newline; its bytes.
size_t token_file_print(const TokenRow *row, char line[TOKEN_LINE_BYTES]);

// Letters, digits, and . _ - inside.
bool token_file_takes_name(const char *name);

// The index-th word that sets a limit, from 0, and where it stands; NULL past the last.
typedef struct TokenWord {
    const char *name;
    size_t offset; // in UseLimits
    bool is_bytes; // may end in K, M, G or T
    uint64_t maximum;
    const char *meaning;
} TokenWord;

const TokenWord *token_file_word(size_t index);

// Of such a word. false: it is no number of its range.
bool token_file_read_limit(const TokenWord *word, const char *text, size_t bytes, uint64_t *value);

// Of a name uid:N.
bool token_file_is_uid(const char *name, uint32_t *uid);
