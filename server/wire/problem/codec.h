// SPDX-License-Identifier: MIT
// Contact problems between columns of the wire and solve/problem.h.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "solve/problem.h"

// Reads and judges the columns: lengths, indices, then problem_check. Lives in the arena, borrows
// numbers of the message. Blames the keys of the file format, as contacts[3].mu, or a column.
Status problem_codec_read(const Moreau__V1__ContactProblem *message, Arena *arena,
                          ContactProblem *problem, Error *error);

// The columns of a problem: read again, the same numbers to the last bit, but for what the rigid
// bias holds already (restitution), and for the arms of sides on the ground, which nothing reads.
// Every contact must move something, and every row. Borrows free velocities and start impulses.
// NULL when the arena ends.
Moreau__V1__ContactProblem *problem_codec_write(const ContactProblem *problem, Arena *arena);
