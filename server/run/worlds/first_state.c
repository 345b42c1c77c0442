// SPDX-License-Identifier: MIT
#include "run/worlds/first_state.h"

#include "base/bytes.h"
#include "solve/solver.h"

const char *first_state_differs(const RecordingDef *def, const World *world, double time_step) {
    const struct {
        const char *name;
        bool is_same;
    } numbers[] = {
        {"recording.body_count", def->body_count == world->body_count},
        {"recording.world_step", def->world_step == world->step},
        {"recording.world_time", bytes_same_double(def->world_time, world->time.value)},
        {"recording.time_step", bytes_same_double(def->time_step, time_step)},
        {"recording.solver",
         strcmp(def->solver, solver_get((SolverKind)world->settings.solver)->name) == 0},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!numbers[i].is_same) {
            return numbers[i].name;
        }
    }
    return NULL;
}
