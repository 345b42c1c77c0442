// SPDX-License-Identifier: MIT
// Whether a chunk is one that a recording has, as chunk.h says: of what is about to be sealed, or
// was opened.
#pragma once

#include "base/defect.h"
#include "log/format/chunk.h"

bool chunk_is_valid(const Chunk *chunk, Defect *defect);
