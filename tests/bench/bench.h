// SPDX-License-Identifier: MIT
// The project's benchmarks: what a bench is, and the rows that it reports.
//
// Every figure stands beside a peer measured in the same run, or beside a limit of the machine, and
// beside the aim of the project where there is one. Rows of the dynamics carry the certificate of
// the answers that were timed. A bench that cannot run says why on standard error and stops the
// program: half a table would be read as a whole one.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Bench Bench;

typedef enum AimKind {
    AIM_NONE,
    AIM_VALUE_MAX, // the value is to be at most `aim`
    AIM_VALUE_MIN, // … at least
    AIM_RATIO_MAX  // value / peer is to be at most `aim`
} AimKind;

typedef struct BenchRow {
    const char *bench;
    char figure[80];
    double value;
    const char *unit;
    const char *peer; // what stands beside the value, in its unit; NULL: nothing does
    double peer_value;
    AimKind aim_kind;
    double aim;
    double iterations;    // of the solver, mean; 0: not counted
    bool has_certificate; // largest of the answers that were timed
    double e_own, e_ds;
} BenchRow;

// What a bench is handed.
typedef struct BenchRun {
    Bench *bench;
    double seconds; // how long each figure of a bench on the wire is measured, and a solve may take
    const char *files; // folder of problems and scenes for solvers; NULL: those of the tests
    const char *scene; // of curve and rates; NULL: all
    const char *write; // folder in which curve leaves its table and picture; NULL: nowhere
    bool json;         // nothing else goes to standard output
} BenchRun;

// Keeps a copy of the row.
void bench_add(const BenchRun *run, const BenchRow *row);

// Ends the program with a sentence and exit status 1.
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Zeroed memory, the caller's to free; never NULL.
void *bench_memory(size_t count, size_t size);

// Nearest-rank percentile, share in [0, 1]; sorts the values.
double bench_percentile(double *values, size_t count, double share);

// CPU time of this thread [ns]
double bench_cpu_ns(void);

// ---- one file each
void bench_roundtrip(const BenchRun *run);
void bench_pipeline(const BenchRun *run);
void bench_batch(const BenchRun *run);
void bench_groups(const BenchRun *run);
void bench_calls(const BenchRun *run);
void bench_pile(const BenchRun *run);
void bench_stack(const BenchRun *run);
void bench_wall(const BenchRun *run);
void bench_sap(const BenchRun *run);
void bench_solvers(const BenchRun *run);
void bench_scenes(const BenchRun *run);
void bench_curve(const BenchRun *run);
void bench_rates(const BenchRun *run);
void bench_realtime(const BenchRun *run);
void bench_ragdolls(const BenchRun *run);
void bench_shapes(const BenchRun *run);
void bench_bowl(const BenchRun *run);
void bench_rays(const BenchRun *run);
void bench_foundation(const BenchRun *run);
void bench_block(const BenchRun *run);
void bench_chain(const BenchRun *run);
void bench_tree(const BenchRun *run);
void bench_order(const BenchRun *run);
void bench_ldlt(const BenchRun *run);
void bench_certificate(const BenchRun *run);
void bench_drift(const BenchRun *run);
void bench_lanes(const BenchRun *run);
void bench_hash(const BenchRun *run);
void bench_log(const BenchRun *run);
void bench_readers(const BenchRun *run);
void bench_state(const BenchRun *run);
void bench_record(const BenchRun *run);
void bench_neighbours(const BenchRun *run);
void bench_memory_use(const BenchRun *run);
void bench_tls(const BenchRun *run);
void bench_tokens(const BenchRun *run);
