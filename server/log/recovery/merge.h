// SPDX-License-Identifier: MIT
// `moreau-server --merge OUT IN…`: the recordings of several files in one. Chunks are taken over as
// they are, byte for byte, and rows follow from them.
//
// What both files have of a recording must be the same chunks; where one chain is longer, it goes
// on. Another sound chunk in the same place, or more chunks than a seal counts, refuse that
// recording alone. Nothing is sealed: what is open in all of them stays open, and a later merge
// brings the rest. Pins are those of any; what is being deleted, in either, is left out.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdio.h>

// `out`: made when it is not there, and afterwards one file; no server may have it, or any of the
// others, open. A sentence per refusal, and one per file, go to `says`.
// NOT_FOUND, FAILED_PRECONDITION and others name the file that cannot be merged, and say what to
// do: nothing is written of it, and what was merged before it stays. DATA_LOSS: recordings were
// refused, or chunks are damaged.
Status merge_files(const char *out, const char *const *in, size_t count, FILE *says, Error *error);
