// SPDX-License-Identifier: MIT
// Verification of a stored episode: its rows are compared with the sealed definition and seal, its
// chunks counted and followed one by one (log/reader/proof.h), every one opened, every step taken
// again, every hash, frame, key-frame and figure compared, and frames and contacts missed that the
// episode's stride says should be there. What a lossy recording says it dropped is not missed, nor
// what is behind the last inputs of one that was cut off. Key-frames cut it into segments that do
// not need each other, so several workers do them at the same time, each with a player and a reader
// of its own:
//
//   key-frame ──► steps ──► key-frame ──► steps ──► … ──► last step
//   └──── segment 0 ─────────┘└──── segment 1 ────…
//
// A segment ends with the comparison of the key-frame that the next one begins with. Where that one
// is damaged, the segment before goes on over it. What is found does not depend on the workers.
#pragma once

#include "replay/player/player.h"
#include "replay/verify/signed.h"
#include "run/worlds/recorder.h"

enum { VERIFY_DIFFERENCES_MAX = 100 };

typedef struct Verification Verification;

typedef struct VerifyDef {
    Log *log;
    const EpisodeRow *episode; // borrowed for the verification's life
    WorldLimits limits;
    uint64_t first, last;       // steps: first <= last <= the episode's last
    uint32_t worker_count_max;  // >= 1: at most so many players at once
    SceneProc *print_scene;     // Nullable: scenes are not compared
    const uint8_t *seal_public; // Nullable: [SEAL_PUBLIC_BYTES], whose signatures are looked for
    size_t plan_bytes_max;      // what the plan may take: some 400 bytes per chunk
} VerifyDef;

// Plans the segments. FAILED_PRECONDITION: another dynamics version; RESOURCE_EXHAUSTED: too many
// chunks.
Status verify_open(Verification **verification, const VerifyDef *def, Error *error);
void verify_close(Verification *verification); // Nullable; no worker may be at work

// What is verified, by its sealed definition where it has one.
const EpisodeRow *verify_episode(const Verification *verification);

uint32_t verify_worker_count(const Verification *verification); // >= 1

// One worker's turn, on a lane: until `until_ns` (clock_now_ns) has passed or `context` says stop.
// *is_over: there is nothing left for this worker. *progressed false: it was stopped before it had
// done anything. A difference is no error.
Status verify_work(Verification *verification, uint32_t worker, Arena *scratch, uint64_t until_ns,
                   const Context *context, bool *is_over, bool *progressed, Error *error);

// Memory that the plan holds; it does not change.
size_t verify_plan_bytes(const Verification *verification);

// Memory that a worker holds; by whoever has the worker's turn.
size_t verify_worker_bytes(const Verification *verification, uint32_t worker);

// Any thread.
uint64_t verify_steps_done(const Verification *verification);
uint64_t verify_steps_total(const Verification *verification);

typedef struct VerifyResult {
    uint64_t steps; // compared
    uint64_t dropped_steps, unconverged_steps;
    bool is_sealed;         // whoever recorded it closed it; else nobody can tell what came behind
    uint64_t proven_step;   // up to here there are chunks
    SignedResult is_signed; // where that was asked for
    size_t difference_count;
    const PlayerDifference *difference; // the first by step; the verification's
} VerifyResult;

// When every worker is over.
VerifyResult verify_result(Verification *verification);
