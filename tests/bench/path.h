// SPDX-License-Identifier: MIT
// What so many lanes could make of a step at best: its *path*, which is what one thread does alone
// and, of each call of tasks, what the lane with the most has to do, each block going to whoever is
// free first. Blocks are done one after the other and timed; steps that are the same work are laid
// over each other, and of each part the quickest time counts. So other programs on the machine
// change little of it, and neither handing over, nor waiting, nor caches that lanes share are in
// it: what is measured on lanes falls short of it by these.
#pragma once

#include "base/tasks.h"

typedef struct Path Path;

Path *path_create(void);
void path_destroy(Path *path);

// For the steps between path_begin and path_end. All of them must hand over the same blocks.
const Tasks *path_tasks(const Path *path);
void path_begin(Path *path);
void path_end(Path *path);

// Of a step [ns]; 1: all of it.
double path_time(const Path *path, uint32_t lanes);
// … of what no block holds.
double path_alone(const Path *path);
uint32_t path_calls(const Path *path);
