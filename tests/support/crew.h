// SPDX-License-Identifier: MIT
// Threads that are lent to Tasks, for tests of rooms that have no pool of lanes. As unkind as the
// contract allows: the blocks of every call are dealt to all threads in an order that a seed
// shuffles, so what depends on the order of blocks, or on who does them, shows.
#pragma once

#include "base/tasks.h"

typedef struct Crew Crew;

enum { CREW_LANES_MAX = 16 };

// `lane_count` (1 … CREW_LANES_MAX) with whoever calls tasks_run: one thread less is started. Fails
// the test when that fails.
Crew *crew_create(uint32_t lane_count, uint64_t seed);
void crew_destroy(Crew *crew);

// Borrowed until crew_destroy; for one thread at a time.
const Tasks *crew_tasks(const Crew *crew);
