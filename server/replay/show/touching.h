// SPDX-License-Identifier: MIT
// Who touched whom in an episode of which nobody noted it: a player (player.h) steps all of it
// again, and what a recorder would have noted (run/worlds/touches.h) is kept. Of an episode of a
// group the same is found of its world's steps, and told in steps of the episode.
#pragma once

#include "replay/player/player.h"

typedef struct Touching Touching;

// `episode` is borrowed until touching_close. FAILED_PRECONDITION: another dynamics version.
Status touching_open(Touching **touching, Log *log, const EpisodeRow *episode,
                     const WorldLimits *limits, Error *error);
void touching_close(Touching *touching); // Nullable

// Goes on until `until_ns` (clock_now_ns) has passed or `context` says stop. *is_over: at the end.
// *progressed false: it was stopped before it had done anything. DATA_LOSS: the recording is not
// what its steps give, or has lost some.
Status touching_work(Touching *touching, Arena *scratch, uint64_t until_ns, const Context *context,
                     bool *is_over, bool *progressed, Error *error);

size_t touching_bytes(const Touching *touching);        // memory held
uint64_t touching_steps_done(const Touching *touching); // of the episode

// Once it is over: what log_reader_touches would give, in the arena. RESOURCE_EXHAUSTED when that
// ends.
Status touching_rows(const Touching *touching, const TouchQuery *query, Arena *arena,
                     TouchRows *rows, Error *error);
