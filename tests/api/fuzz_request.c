// SPDX-License-Identifier: MIT
// Any bytes as a frame: unpacked within the arena, checked, and its scene or contact problem
// judged. A step that is read by hand is what protobuf-c reads.
#include "wire/codec.h"
#include "wire/problem/codec.h"
#include "wire/scene/scene.h"
#include "wire/step_codec.h"
#include "base/assert.h"
#include "moreau.pb-c.h"
#include "solve/solver.h"

#include <stdlib.h>
#include <string.h>

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
        if (problem_codec_read(request->solve->problem, arena, &problem, &error) == STATUS_OK) {
            SolverSettings settings = solver_default(SOLVER_MDP);
            SolveResult result;
            solver_solve(&settings, &problem, &(Context){0}, arena, &result, &error);
        }
    }
}

static uint8_t *pack(const Moreau__V1__Request *request, size_t *count) {
    *count = moreau__v1__request__get_packed_size(request);
    uint8_t *bytes = malloc(*count + 1);
    moreau__v1__request__pack(request, bytes);
    return bytes;
}

static void compare(const uint8_t *bytes, size_t count) {
    Arena arena;
    arena_init(&arena, 65536 + 64 * count);
    bool exhausted;
    const Moreau__V1__Request *step = step_codec_unpack(&arena, bytes, count);
    if (step != NULL) {
        const Moreau__V1__Request *request =
            (const Moreau__V1__Request *)(const void *)codec_unpack(
                &moreau__v1__request__descriptor, &arena, bytes, count, &exhausted);
        Error error;
        ASSERT(request != NULL);
        ASSERT(codec_check((const ProtobufCMessage *)(const void *)request, &error) == STATUS_OK);
        size_t counts[2];
        uint8_t *packed[2] = {pack(step, &counts[0]), pack(request, &counts[1])};
        ASSERT(counts[0] == counts[1] && memcmp(packed[0], packed[1], counts[0]) == 0);
        free(packed[0]);
        free(packed[1]);
    }
    arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    compare(bytes, count);
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
