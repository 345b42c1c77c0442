// SPDX-License-Identifier: MIT
// One scene, stepped by us and by the peers that are there, in turns, so that all see the same
// machine; and the rows that say how everyone did.
//
// All start from the same poses and velocities and take the same number of steps. CPU times are of
// single steps; contacts are counted by each engine for itself; everything about poses is measured
// by one code.
#pragma once

#include "bench/bench.h"
#include "bench/peer_process.h"
#include "bench/scene.h"

#define CONTEST_FALLEN 0.1 // [m] half a box

typedef struct ContestPlan {
    uint32_t rest_steps;   // before measuring: everyone gets used to the scene
    uint32_t turns, steps; // measured: so many turns of so many steps
    bool is_alone;         // no peers
    bool is_convex;        // beside Drake, whose contact is that of sap, and not beside the others
} ContestPlan;

typedef struct ContestFigures {
    PeerIndex peer;                   // not of [0]
    const char *name;                 // of the peer; static
    double step_ns;                   // median
    double contacts, contact_ns;      // mean of a step; mean CPU time of one
    double overlap_mean, overlap_max; // of the poses after each turn [m]
    double sink, drift; // how far some body went down, and sideways, from where it was at first [m]
    double fallen;      // bodies that are more than CONTEST_FALLEN away from there
    double sweeps, e_own, e_ds; // ours alone: mean of a step; largest
} ContestFigures;

typedef struct Contest {
    size_t count;                           // 1 + peers
    ContestFigures figures[1 + PEER_COUNT]; // [0]: ours
} Contest;

// A figure as rows: ours, and ours once more beside each peer's.
typedef struct ContestRow {
    const char *figure;
    size_t offset; // of the double in ContestFigures
    double scale;  // to `unit`
    const char *unit;
    double aim;              // largest value wanted; 0: none
    const double *ratio_aim; // largest ratio wanted to each peer; 0: none. NULL: to nobody
    bool is_ours;            // peers have nothing like it
} ContestRow;

Contest contest_run(Scene *scene, const ContestPlan *plan);

// `prefix` goes before the names of the figures.
void contest_add_rows(const BenchRun *run, const char *prefix, const Contest *contest,
                      const ContestRow *rows, size_t count);
