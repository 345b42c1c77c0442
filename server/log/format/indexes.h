// SPDX-License-Identifier: MIT
// Whether the file's indexes lead to its rows. A bit that flips in an index makes no row wrong, and
// lists and questions that go along it miss rows without a word: so rows are asked for, one by one,
// as somebody would who looks for them.
#pragma once

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whose rows they are: in order by id, all of one recording, or all that there are.
typedef enum IndexScope {
    INDEX_OF_RECORDING,
    INDEX_OF_EPISODE,
    INDEX_OF_CHUNK,
    INDEX_OF_TOUCHES,
    INDEX_OF_ALL
} IndexScope;

enum { INDEX_COUNT = 13 };

// Statements of one connection, made when they are needed. Zero is none.
typedef struct Indexes {
    sqlite3_stmt *statement[INDEX_COUNT];
} Indexes;

typedef struct IndexBite {
    int64_t last;     // row id, or recording, up to which it went
    bool is_end;      // there was nothing above
    uint64_t missing; // rows to which the index does not lead
} IndexBite;

const char *index_name(size_t index);
IndexScope index_scope(size_t index);
void indexes_deinit(Indexes *indexes);

// Asks for the rows above `above` and up to `until`, `rows` of them where they have ids, in one
// transaction.
// DATA_LOSS: it, or its table, cannot be read.
Status indexes_look(Indexes *indexes, sqlite3 *db, size_t index, int64_t above, int64_t until,
                    int64_t rows, IndexBite *bite, Error *error);

enum { INTEGRITY_FINDS = 10000 };

// What SQLite finds, going through all of the file.
typedef struct Integrity {
    size_t count;         // of finds, INTEGRITY_FINDS at most
    bool is_indexes_only; // trees are whole, and all finds are of rows that indexes miss
    bool is_damaged[INDEX_COUNT];
    char first[200];
} Integrity;

// `say` Nullable: each find goes there.
Status integrity_check(sqlite3 *db, Integrity *integrity, void (*say)(const char *, void *),
                       void *context, Error *error);
