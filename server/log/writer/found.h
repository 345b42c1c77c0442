// SPDX-License-Identifier: MIT
// What is signed of a recording that nobody ended (format/signature.h): as it was found.
#pragma once

#include "base/arena.h"
#include "log/format/definition.h"
#include "log/format/signature.h"
#include "log/writer/writer.h"

// Reads all chunks of a recording. *is_signed: each is whole and in its place, and a live signature
// of the writer's key is among them, and each of these is of what stands before it. Whoever has the
// file could else have a server sign what was never recorded. Then `chains` (the arena's) is what
// all of them are now, that of all first.
Status found_look(Writer *writer, int64_t recording, const RecordingDef *def, Arena *arena,
                  bool *is_signed, SignedChain **chains, size_t *count, Error *error);
