// SPDX-License-Identifier: MIT
// Any bytes as a frame: unpacked within the arena, checked, and its scene or contact problem
// judged.
#include "api/codec.h"
#include "api/problem_codec.h"
#include "api/scene.h"
#include "moreau.pb-c.h"
#include "solve/solver.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void judge(const Moreau__V1__Request *request, Arena *arena) {
    Error error;
    if (request->call_case == MOREAU__V1__REQUEST__CALL_WORLD_CREATE) {
        ScenePlan plan;
        scene_plan(request->world_create->scene, request->world_create->settings, arena, &plan,
                   &error);
    }
    if (request->call_case == MOREAU__V1__REQUEST__CALL_SOLVE && request->solve->problem != NULL) {
        ContactProblem problem;
        if (problem_read(request->solve->problem, arena, &problem, &error) == STATUS_OK) {
            SolverSettings settings = solver_default(SOLVER_MDP);
            SolveResult result;
            solver_solve(&settings, &problem, arena, &result, &error);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Arena arena;
    arena_init(&arena, 65536 + 32 * count);
    bool exhausted;
    Moreau__V1__Request *request = (Moreau__V1__Request *)(void *)codec_unpack(
        &moreau__v1__request__descriptor, &arena, bytes, count, &exhausted);
    Error error;
    if (request != NULL &&
        codec_check((const ProtobufCMessage *)(const void *)request, &error) == STATUS_OK) {
        arena.limit_bytes += (size_t)1 << 26;
        judge(request, &arena);
    }
    arena_deinit(&arena);
    return 0;
}
