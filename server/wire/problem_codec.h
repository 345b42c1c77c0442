// SPDX-License-Identifier: MIT
// Contact problems between columns of the wire and solve/problem.h.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "solve/problem.h"

// Reads and judges the columns: lengths, indices, then problem_check. Every tree becomes dense.
// Lives in the arena and borrows the message's numbers. Blames the keys of the file format, as
// contacts[3].mu.
Status problem_read(const Moreau__V1__ContactProblem *message, Arena *arena,
                    ContactProblem *problem, Error *error);

// The columns of a problem, free trees written out as dense ones, each contact with the bias its
// solver used. NULL when the arena ends.
Moreau__V1__ContactProblem *problem_write(const ContactProblem *problem, Arena *arena);
