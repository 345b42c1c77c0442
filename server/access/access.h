// SPDX-License-Identifier: MIT
// Who is let in, and what he may do: everybody (no option), whoever shows the one token of
// --token-file, or the people in the file of --tokens, which is read again on request. A token's
// record stays where it is as long as the server runs, by its name, so that whoever holds it sees
// at once what was taken from it. Loop thread, but for what does not change: names.
#pragma once

#include "access/token_file.h"

typedef struct Access Access;

typedef struct Token {
    char name[TOKEN_NAME_BYTES]; // "": everybody, or whoever has the one token
    bool is_listed;              // false: it is not in the file any more
    uint32_t rights;
    uint64_t version; // other than before: it is another secret, or of another namespace
    char space[TOKEN_NAME_BYTES]; // its namespace …
    uint32_t space_number;        // … as it is counted here, from 1; 0: the server has none
    bool is_uid;
    uint32_t uid;
    uint8_t digest[DIGEST_BYTES];
    Use use; // of --tokens alone
} Token;

// `path`: of --tokens, NULL: none. `secret`: the one token; "": none. NULL, "": everybody may do
// everything.
Status access_create(Access **access, const char *path, const char *secret, Error *error);
void access_destroy(Access *access); // Nullable

// What cannot be read, or is wrong, changes nothing. Without --tokens nothing happens.
Status access_reload(Access *access, Error *error);

// Who shows this; NULL or "": nothing. `uid`: who comes by a Unix socket, NULL: nobody. NULL: he is
// not let in.
Token *access_find(Access *access, const char *secret, const uint32_t *uid);

// The number of a namespace that a token has or had. 0: none of that name.
uint32_t access_space(const Access *access, const char *name);
// NULL: none has the number. It stays where it is.
const char *access_space_name(const Access *access, uint32_t number);

// The index-th of --tokens, by name, also of those that are not there any more; NULL past the last.
Token *access_at(Access *access, size_t index);

bool access_demands(const Access *access);          // somebody is not let in
bool access_has_names(const Access *access);        // --tokens
size_t access_count(const Access *access);          // of tokens
uint32_t access_exposed_mode(const Access *access); // of the file, when others may read it; else 0
