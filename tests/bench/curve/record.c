// SPDX-License-Identifier: MIT
#include "bench/curve/record.h"

#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

typedef struct Recorder {
    StepWitness witness; // first, so that it is found from that
    Recording *recording;
    double copy_ns; // of the step
} Recorder;

static void *copy(Arena *arena, const void *from, size_t count, size_t size) {
    if (from == NULL) {
        return NULL;
    }
    void *to = arena_take(arena, count * size);
    if (to == NULL) {
        bench_fail("memory ended");
    }
    memcpy(to, from, count * size);
    return to;
}

static ContactProblem copy_problem(const ContactProblem *from, Arena *arena) {
    ContactProblem to = *from;
    to.tree = copy(arena, from->tree, from->tree_count, sizeof(*from->tree));
    to.free = copy(arena, from->free, from->tree_count, sizeof(*from->free));
    to.link = copy(arena, from->link, from->link_count, sizeof(*from->link));
    to.v_free = copy(arena, from->v_free, from->velocity_count, sizeof(*from->v_free));
    to.contact = copy(arena, from->contact, from->contact_count, sizeof(*from->contact));
    to.law = copy(arena, from->law, from->contact_count, sizeof(*from->law));
    to.row = copy(arena, from->row, from->row_count, sizeof(*from->row));
    to.row_block = copy(arena, from->row_block, from->row_block_count, sizeof(*from->row_block));
    to.number = copy(arena, from->number, from->number_count, sizeof(*from->number));
    to.warm_contact = copy(arena, from->warm_contact, 3 * (size_t)from->contact_count,
                           sizeof(*from->warm_contact));
    to.warm_row = copy(arena, from->warm_row, from->row_count, sizeof(*from->warm_row));
    return to;
}

static void see(StepWitness *witness, const ContactProblem *problem, const SolveResult *result) {
    (void)result;
    Recorder *recorder = (Recorder *)(void *)witness;
    Recording *recording = recorder->recording;
    if (problem->contact_count > 0) {
        double begun = bench_cpu_ns();
        recording->problem[recording->count++] = copy_problem(problem, &recording->arena);
        recording->contacts += problem->contact_count;
        recorder->copy_ns = bench_cpu_ns() - begun;
    }
}

// The solver's clock, of the processor like the step's.
static uint64_t cpu_clock(void) {
    return (uint64_t)bench_cpu_ns();
}

// Returns what it took beside solving, and beside being copied.
static double step_once(Scene *scene, Recorder *recorder) {
    StepInput input = {.time_step = scene->world->settings.time_step,
                       .context = scene->context,
                       .witness = &recorder->witness};
    Error error = {0};
    recorder->copy_ns = 0.0;
    double begun = bench_cpu_ns();
    if (stepper_run(scene->stepper, scene->world, &input, &scene->scratch, cpu_clock,
                    &scene->report, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    double ns = bench_cpu_ns() - begun;
    return ns - (double)scene->report.solver_ns - recorder->copy_ns;
}

Recording record_scene(Scene *scene, uint32_t first, uint32_t count) {
    Recording recording = {.count = 0};
    arena_init(&recording.arena, (size_t)1 << 33);
    recording.problem = arena_take(&recording.arena, count * sizeof(*recording.problem));
    if (recording.problem == NULL) {
        bench_fail("memory ended");
    }
    for (uint32_t i = 0; i < first; i++) {
        scene_step(scene);
    }
    Recorder recorder = {.witness = {.see = see}, .recording = &recording};
    double *outside_ns = bench_memory(count, sizeof(*outside_ns));
    for (uint32_t i = 0; i < count; i++) {
        outside_ns[i] = step_once(scene, &recorder);
    }
    recording.outside_ns = bench_percentile(outside_ns, count, 0.5);
    recording.contacts /= recording.count > 0 ? recording.count : 1;
    free(outside_ns);
    return recording;
}

void record_free(Recording *recording) {
    arena_deinit(&recording->arena);
}
