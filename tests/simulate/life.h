// SPDX-License-Identifier: MIT
// One life of a server: a process in which the whole server runs in the simulation, with its
// clients, until it is stopped, killed, or loses its power.
#pragma once

#include "simulate/history.h"

typedef struct LifeDef {
    uint64_t seed;      // of this life
    const char *folder; // of the file, the socket and the logs
    History *history;   // in memory that all lives share
    size_t number;      // of the life
    bool is_last;       // no faults, no clients: the judge looks at what is there
} LifeDef;

enum { LIFE_EXIT_ENDED = 0, LIFE_EXIT_KILLED = 71 }; // any other: something was found

// In a process of its own, which should exit with the result.
int life_run(const LifeDef *def);
