// SPDX-License-Identifier: MIT
// 100 ragdolls of eleven capsules and ten ball joints that fall on a plane and settle there, joints
// as coordinates and as rows, at several efforts, in turns with Box3D. What holds a joint together
// is measured of everybody's poses by one code. Tables in Markdown, or the same as rows.
#include "bench/bench.h"
#include "bench/knobs.h"
#include "bench/load.h"
#include "bench/peer_process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE MOREAU_SOURCE_DIR "/tests/scenes/moving/ragdolls-100.json"
#define AIM   1.5 // of Box3D's time, with the substeps that it takes unasked

// Two seconds in which all fall and land, three in which nobody is timed, one at rest; all of whole
// turns.
enum { TURN_STEPS = 24, FALL_STEPS = 480, BETWEEN_STEPS = 720, REST_STEPS = 240 };

typedef enum Phase { FALLING, BETWEEN, AT_REST, PHASE_COUNT } Phase;
static const uint32_t phase_steps[PHASE_COUNT] = {FALL_STEPS, BETWEEN_STEPS, REST_STEPS};
static const char *const phase_name[PHASE_COUNT] = {"falling", "", "at rest"};

typedef struct Way {
    const char *name, *parameters;
    WorldEffort effort;
    bool as_rows;
} Way;

#define TEN_SWEEPS "method=gauss_seidel max_iterations=10"

static const Way ways[] = {
    {"trees, fast", "", WORLD_FAST, false},
    {"trees, ten sweeps", TEN_SWEEPS, WORLD_EXACT, false},
    {"trees, balanced", "", WORLD_BALANCED, false},
    {"rows, fast", "", WORLD_FAST, true},
    {"rows, ten sweeps", TEN_SWEEPS, WORLD_EXACT, true},
    {"rows, balanced", "", WORLD_BALANCED, true},
};
static const uint32_t substeps[] = {4, 1}; // of Box3D; the first as it is
enum { WAY_COUNT = sizeof(ways) / sizeof(ways[0]) };
enum { PEERS = sizeof(substeps) / sizeof(substeps[0]), RUNNERS_MAX = WAY_COUNT + PEERS };

typedef struct Tally {
    double ns[BETWEEN_STEPS]; // of each step; no phase has more
    uint32_t count, certified;
    double contacts;      // sum
    double gap;           // the farthest that two anchors of a joint are from each other [m]
    double p50_ns, worst; // when all is over
    double e_own, e_ds;   // largest
} Tally;

typedef struct Runner {
    char name[48];
    bool is_peer;
    Scene scene;         // of ours
    PeerProcess process; // of a peer
    double *pose, *velocity;
    Tally tally[PHASE_COUNT];
} Runner;

// ---- who takes part

static void start_way(Runner *runner, const Way *way) {
    Moreau__V1__Scene *message = load_scene_message(SCENE);
    for (size_t i = 0; i < message->n_joints; i++) {
        message->joints[i]->has_as_rows = true;
        message->joints[i]->as_rows = way->as_rows;
    }
    *runner = (Runner){.scene = load_scene_of(message)};
    moreau__v1__scene__free_unpacked(message, NULL);
    World *world = runner->scene.world;
    WorldSettings settings = world->settings;
    SolverSettings solver = step_solver(&settings);
    if (!knobs_set(&solver, way->parameters)) {
        bench_fail("no parameters %s", way->parameters);
    }
    step_set_solver(&settings, &solver);
    settings.effort = (uint8_t)way->effort;
    world_set_settings(world, &settings);
    snprintf(runner->name, sizeof(runner->name), "%s", way->name);
}

// As the scene stands now. false: it is not there, and that was said.
static bool start_peer(Runner *runner, const Scene *scene, uint32_t work) {
    const size_t body_count = scene->world->body_count;
    *runner = (Runner){.is_peer = true};
    if (!peer_process_start_work(&runner->process, PEER_BOX3D, scene, work)) {
        return false;
    }
    runner->pose = bench_memory(7 * body_count, sizeof(double));
    runner->velocity = bench_memory(6 * body_count, sizeof(double));
    snprintf(runner->name, sizeof(runner->name), "%s, %u substep%s", runner->process.name, work,
             work == 1 ? "" : "s");
    return true;
}

static void stop(Runner *runner) {
    if (!runner->is_peer) {
        scene_destroy(&runner->scene);
        return;
    }
    peer_process_stop(&runner->process);
    free(runner->pose);
    free(runner->velocity);
}

// ---- their turns

static double gap_of(const World *world, const double *pose) {
    double gap = 0.0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        Vec3 anchor[2];
        for (int side = 0; side < 2; side++) {
            const Pose at = pose_load(pose + 7 * (size_t)joint->body[side]);
            anchor[side] = pose_compose(at, joint->frame[side]).position;
        }
        gap = fmax(gap, vec3_norm(vec3_sub(anchor[1], anchor[0])));
    }
    return gap;
}

static void step_ours(Scene *scene, Tally *tally) {
    for (int i = 0; i < TURN_STEPS; i++) {
        const double begun = bench_cpu_ns();
        scene_step(scene);
        tally->ns[tally->count++] = bench_cpu_ns() - begun;
        const StepReport *report = &scene->report;
        tally->contacts += report->contact_count;
        tally->certified += report->certificate.converged;
        tally->e_own = fmax(tally->e_own, report->certificate.entry[CERTIFICATE_OWN]);
        tally->e_ds = fmax(tally->e_ds, report->certificate.entry[CERTIFICATE_DS]);
    }
}

static void step_peer(Runner *runner, Tally *tally) {
    double contacts[TURN_STEPS];
    peer_process_run(&runner->process, TURN_STEPS, &tally->ns[tally->count], contacts,
                     runner->pose);
    peer_process_velocities(&runner->process, runner->velocity);
    for (int i = 0; i < TURN_STEPS; i++) {
        tally->contacts += contacts[i];
    }
    tally->count += TURN_STEPS;
}

// Gaps are looked at when a turn is over.
static void take_turn(Runner *runner, const World *joined, Phase phase) {
    Tally *tally = &runner->tally[phase];
    const double *pose = runner->pose;
    if (runner->is_peer) {
        step_peer(runner, tally);
    } else {
        step_ours(&runner->scene, tally);
        pose = runner->scene.world->pose;
    }
    tally->gap = fmax(tally->gap, gap_of(joined, pose));
}

static void sum_up(Tally *tally) {
    tally->contacts /= tally->count;
    tally->p50_ns = bench_percentile(tally->ns, tally->count, 0.5);
    tally->worst = bench_percentile(tally->ns, tally->count, 1.0);
}

static void play(Runner *runner, size_t count) {
    const World *joined = runner[0].scene.world; // its joints stay what they are
    for (Phase phase = 0; phase < PHASE_COUNT; phase++) {
        for (uint32_t turn = 0; turn < phase_steps[phase] / TURN_STEPS; turn++) {
            for (size_t i = 0; i < count; i++) {
                take_turn(&runner[i], joined, phase);
            }
        }
        for (size_t i = 0; i < count; i++) {
            sum_up(&runner[i].tally[phase]);
        }
    }
}

// ---- what is told

// Of ours: what world and stepper hold; and the step's scratch memory, which worlds share [bytes].
static double held_by(const Scene *scene) {
    const double held = (double)world_bytes(scene->world) + (double)stepper_bytes(scene->stepper);
    return held / scene->world->dynamic_count;
}

static double scratch_of(const Scene *scene) {
    return (double)scene->scratch.peak_bytes / scene->world->dynamic_count;
}

// Nothing where there is nobody to be put beside.
static void print_line(const Runner *runner, const Runner *peer, Phase phase) {
    const Tally *tally = &runner->tally[phase];
    printf("| %s | %.3g | %.3g |", runner->name, tally->p50_ns * 1e-6, tally->worst * 1e-6);
    if (peer != NULL) {
        printf(" %.2f", tally->p50_ns / peer->tally[phase].p50_ns);
    }
    printf(" | %.2g | %.0f |", tally->gap * 1e3, tally->contacts);
    if (runner->is_peer) {
        puts(" | | |");
        return;
    }
    const Scene *scene = &runner->scene;
    printf(" %.0f %% | %.1g | %.3g + %.3g |\n", 100.0 * tally->certified / tally->count,
           tally->e_own, held_by(scene) * 1e-3, scratch_of(scene) * 1e-3);
}

// `peer`: whom times are put beside. Nullable. Memory is that of the end.
static void print_table(const Runner *runner, size_t count, const Runner *peer, Phase phase) {
    printf("| %s | ms a step | worst | of Box3D's | joints apart, mm | contacts | certified | "
           "e_own, worst | kB a body, + scratch |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           phase_name[phase]);
    for (size_t i = 0; i < count; i++) {
        print_line(&runner[i], peer, phase);
    }
    puts("");
}

static void add_time(const BenchRun *run, const Runner *ours, const Runner *peer, Phase phase) {
    const Tally *tally = &ours->tally[phase];
    BenchRow row = {.value = tally->p50_ns * 1e-6,
                    .unit = "ms",
                    .has_certificate = true,
                    .e_own = tally->e_own,
                    .e_ds = tally->e_ds};
    if (peer != NULL) {
        row.peer = peer->process.name;
        row.peer_value = peer->tally[phase].p50_ns * 1e-6;
        row.aim_kind = AIM_RATIO_MAX;
        row.aim = AIM;
    }
    snprintf(row.figure, sizeof(row.figure), "%s, %s: step p50", ours->name, phase_name[phase]);
    bench_add(run, &row);
}

static void add_figure(const BenchRun *run, const Runner *of, Phase phase, const char *what,
                       double value, const char *unit) {
    BenchRow row = {.value = value, .unit = unit};
    snprintf(row.figure, sizeof(row.figure), "%s, %s: %s", of->name, phase_name[phase], what);
    bench_add(run, &row);
}

static void add_phase(const BenchRun *run, const Runner *of, const Runner *peer, Phase phase) {
    const Tally *tally = &of->tally[phase];
    if (of->is_peer) {
        add_figure(run, of, phase, "step p50", tally->p50_ns * 1e-6, "ms");
    } else {
        add_time(run, of, peer, phase);
        add_figure(run, of, phase, "certified", tally->certified, "steps");
    }
    add_figure(run, of, phase, "step worst", tally->worst * 1e-6, "ms");
    add_figure(run, of, phase, "joints apart", tally->gap * 1e3, "mm");
    add_figure(run, of, phase, "contacts", tally->contacts, "");
}

static void add_rows(const BenchRun *run, const Runner *runner, size_t count, const Runner *peer) {
    for (size_t i = 0; i < count; i++) {
        add_phase(run, &runner[i], peer, FALLING);
        add_phase(run, &runner[i], peer, AT_REST);
        if (!runner[i].is_peer) {
            add_figure(run, &runner[i], AT_REST, "held, a body", held_by(&runner[i].scene),
                       "bytes");
            add_figure(run, &runner[i], AT_REST, "scratch, a body", scratch_of(&runner[i].scene),
                       "bytes");
        }
    }
}

void bench_ragdolls(const BenchRun *run) {
    Runner *runner = bench_memory(RUNNERS_MAX, sizeof(*runner));
    size_t count = 0;
    for (; count < WAY_COUNT; count++) {
        start_way(&runner[count], &ways[count]);
    }
    for (size_t i = 0; i < PEERS && start_peer(&runner[count], &runner[0].scene, substeps[i]);
         i++) {
        count++;
    }
    const Runner *peer = count > WAY_COUNT ? &runner[WAY_COUNT] : NULL;
    play(runner, count);
    if (run->json) {
        add_rows(run, runner, count, peer);
    } else {
        print_table(runner, count, peer, FALLING);
        print_table(runner, count, peer, AT_REST);
    }
    for (size_t i = 0; i < count; i++) {
        stop(&runner[i]);
    }
    free(runner);
}
