// SPDX-License-Identifier: MIT
// Histories as JSON, as they stand in the corpus: {"about": …, "deeds": [{"shapes": {…}}, …]}, one
// object for each deed, named after its input with the columns that are given, or {"take": 0}.
// Numbers that JSON does not have are texts: "inf", "-inf", "nan".
#pragma once

#include "histories/history.h"

#include <jansson.h>

json_t *text_of_deed(const Deed *deed);
// What it points to is the arena's. false: it is none.
bool text_read_deed(const json_t *text, Arena *arena, Deed *deed);

// "deeds" of a history. NULL: they are none.
json_t *text_of_history(const History *history);
bool text_read_history(const json_t *text, Arena *arena, History *history);
