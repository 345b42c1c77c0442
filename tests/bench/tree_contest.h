// SPDX-License-Identifier: MIT
// A world of trees, stepped by us and by the peers that are there (peers/tree_peer.h), in turns, so
// that all see the same machine. Everyone starts from the same numbers and takes as many steps;
// energies are taken at the end of each turn.
#pragma once

#include "bench/bench.h"
#include "bench/peers/tree_peer.h"
#include "bench/scene.h"

enum { TREE_CONTEST_MUJOCO = 2, TREE_CONTEST_PEERS = 4, TREE_CONTEST_TURNS_MAX = 64 };

typedef struct TreeContestant {
    const char *name; // engine and version; static
    double step_ns;   // CPU time of a step, median of the turns
    double drift;     // how far the energy was from the first turn's begin at most [J]; NaN: unsaid
    double gain;      // … above it
    double contacts;  // mean of the turns' last steps
    double faults;    // steps in which it gave up and began anew
} TreeContestant;

typedef struct TreeContest {
    uint32_t count; // [0]: ours
    TreeContestant of[1 + TREE_CONTEST_PEERS];
    double converged, rows; // ours: share of steps; mean
} TreeContest;

// `steps` of a world, from its start, by a peer, which is ended again. false: it is not there, or
// not for this figure.
bool tree_contest_ask(Scene *scene, uint32_t peer, uint32_t steps, TreePeerAnswer *answer,
                      const char **name);

TreeContest tree_contest_run(Scene *scene, uint32_t turns, uint32_t steps);
