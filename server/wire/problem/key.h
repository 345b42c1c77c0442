// SPDX-License-Identifier: MIT
// Where a number of a contact problem's columns stands in the problem's file: contact_motion[7] is
// contacts[2].motion[1] (moreau-problem/1). People have the file, not the columns.
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

// Writes the key of column[index] into `key`. false, and nothing is written: it is no number of a
// tree, contact or row that the other columns tell of, or the columns do not fit each other.
bool problem_key(const Moreau__V1__ContactProblem *problem, const char *column, size_t index,
                 char *key, size_t bytes);
