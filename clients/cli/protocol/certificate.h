// SPDX-License-Identifier: MIT
// The entries of the certificate, for people.
#pragma once

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

// Width of the meanings, for tables.
enum { CERTIFICATE_MEANING_COLUMNS = 34 };
