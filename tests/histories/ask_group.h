// SPDX-License-Identifier: MIT
// What is asked of groups: of one whose template is a world, with some calls on it, both by chance.
// Beside it go the group that its recorded code makes, its rows in the opposite order, made anew of
// a key-frame or of the group's save now and then; and the group of one of its worlds alone. Some
// steps are given up behind some of their substeps, and the others end theirs there, too. Rows and
// states are the same to the bit, numbers are finite, what is read or refused changes nothing,
// worlds are as large as they say and take their snapshots back, and a step of a row is what the
// door makes of its inputs.
#pragma once

#include "histories/play.h"

// Everything follows from world and seed. false: something was found.
bool ask_group(Play *play, World *world, uint64_t seed);
