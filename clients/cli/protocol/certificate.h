// SPDX-License-Identifier: MIT
// The entries of the certificate, for people.
#pragma once

#include "cli/text/table.h"

#include <stddef.h>
#include <stdint.h>

// A few words on what an entry measures; "" for one this tool does not know.
const char *certificate_meaning(const char *entry);

// The entry's name as people write it: e_ds is e_DS.
const char *certificate_name(const char *entry);

// The entry's key in our documents: e_DS, as problem files have it.
const char *certificate_key(const char *entry);

// What an answer of lcp took, as LEMKE, and in words; "" for a rung this tool does not know.
const char *certificate_rung(int rung);
const char *certificate_rung_meaning(int rung);

// Why the work on an island ended, as STALLED, and in words; "" for one this tool does not know.
const char *certificate_reason(int reason);
const char *certificate_reason_meaning(int reason);

// A table of entries: the first two columns, which are their names and meanings, then its own.
// Where there is no room for the meanings, which go at `rank`, the title stands above it.
#define CERTIFICATE_TITLE "certificate (0 is perfect)"
enum { CERTIFICATE_MEANING_COLUMNS = 34 };
#define CERTIFICATE_COLUMNS(rank)                                                                  \
    {"", NULL, 8, 0, TABLE_LEFT}, {                                                                \
        CERTIFICATE_TITLE, NULL, CERTIFICATE_MEANING_COLUMNS, rank, TABLE_LEFT                     \
    }
Table certificate_table(const TableColumn *head, size_t count);
void certificate_cells(Table *table, const char *entry);
