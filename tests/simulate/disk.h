// SPDX-License-Identifier: MIT
// The disk under SQLite: it can be full, fail, be slow, and lose its power.
//
// What SQLite writes goes to real files, as the system would show them to the next process. Beside
// that, disk.c keeps for each file what has been synced and, in order, what has not: when the power
// goes, each piece of what was not synced survives or not, in parts of a sector, as the seed says.
// That a file exists or was removed is never lost.
#pragma once

#include "simulate/dice.h"

typedef void DiskAtOperation(uint64_t operation);

// Takes SQLite's system calls. `at_operation` (which may end the process) comes before each change
// of a file. Before the first open.
void disk_begin(uint64_t seed, DiskAtOperation *at_operation);

// From now on the faults that the seed has for this disk may come; a seed may have none.
void disk_allow_faults(void);
bool disk_has_faults(void); // that one has come

// Makes the files what a disk without power would show when it has it again.
void disk_lose_power(void);
