// SPDX-License-Identifier: MIT
#include "bench/contest.h"

#include "bench/overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is collected of one engine; `ns` and `contacts` have an entry for each measured step.
typedef struct Tally {
    double *ns, *contacts;
    size_t step_count;
    double *pose; // of all bodies after the last turn
    Overlap overlap;
    double sweeps, e_own, e_ds; // ours alone: sum; largest
} Tally;

static void run_ours(Scene *scene, uint32_t count, double *ns, double *contacts, Tally *tally) {
    for (uint32_t i = 0; i < count; i++) {
        double begun = bench_cpu_ns();
        scene_step(scene);
        ns[i] = bench_cpu_ns() - begun;
        contacts[i] = scene->report.contact_count;
        const double *entry = scene->report.certificate.entry;
        tally->sweeps += scene->report.iterations;
        tally->e_own = fmax(tally->e_own, entry[CERTIFICATE_OWN]);
        tally->e_ds = fmax(tally->e_ds, entry[CERTIFICATE_DS]);
    }
    memcpy(tally->pose, scene->world->pose, 7 * sizeof(*tally->pose) * scene->world->body_count);
}

static void take_turn(Scene *scene, PeerProcess *peer, uint32_t steps, Tally *tally) {
    double *ns = tally->ns + tally->step_count, *contacts = tally->contacts + tally->step_count;
    if (peer == NULL) {
        run_ours(scene, steps, ns, contacts, tally);
    } else {
        peer_process_run(peer, steps, ns, contacts, tally->pose);
    }
    tally->step_count += steps;
    if (!overlap_add(scene->world, tally->pose, &scene->scratch, &tally->overlap)) {
        bench_fail("memory ended");
    }
}

// What came before was rest.
static void forget(Tally *tally) {
    *tally = (Tally){.ns = tally->ns, .contacts = tally->contacts, .pose = tally->pose};
}

static void measure_motion(const World *world, const double *from, const double *to,
                           ContestFigures *figures) {
    for (uint32_t i = 0; i < world->body_count; i++, from += 7, to += 7) {
        double aside = hypot(to[0] - from[0], to[1] - from[1]);
        figures->sink = fmax(figures->sink, from[2] - to[2]);
        figures->drift = fmax(figures->drift, aside);
        figures->fallen += hypot(aside, to[2] - from[2]) > CONTEST_FALLEN ? 1.0 : 0.0;
    }
}

static void sum_up(const Tally *tally, ContestFigures *figures) {
    double ns = 0.0, contacts = 0.0, steps = (double)tally->step_count;
    for (size_t i = 0; i < tally->step_count; i++) {
        ns += tally->ns[i];
        contacts += tally->contacts[i];
    }
    figures->contacts = contacts / steps;
    figures->contact_ns = contacts > 0.0 ? ns / contacts : 0.0;
    figures->sweeps = tally->sweeps / steps;
    figures->e_own = tally->e_own;
    figures->e_ds = tally->e_ds;
    figures->step_ns = bench_percentile(tally->ns, tally->step_count, 0.5);
    const Overlap *overlap = &tally->overlap;
    figures->overlap_mean = overlap->touching > 0.0 ? overlap->sum / overlap->touching : 0.0;
    figures->overlap_max = overlap->deepest;
}

// Peers stand at the places of their figures; [0] is nobody.
static void start_peers(const Scene *scene, bool is_convex, PeerProcess *peers, Contest *contest) {
    for (PeerIndex i = 0; i < PEER_COUNT; i++) {
        PeerProcess *peer = &peers[contest->count];
        if ((i == PEER_DRAKE) == is_convex && peer_process_start(peer, i, scene)) {
            ContestFigures *figures = &contest->figures[contest->count++];
            figures->peer = i;
            figures->name = peer->name;
        }
    }
}

Contest contest_run(Scene *scene, const ContestPlan *plan) {
    const World *world = scene->world;
    uint32_t measured = plan->turns * plan->steps;
    size_t capacity = plan->rest_steps > measured ? plan->rest_steps : measured;
    Contest contest = {.count = 1};
    PeerProcess peers[1 + PEER_COUNT];
    Tally tallies[1 + PEER_COUNT] = {0};
    if (!plan->is_alone) {
        start_peers(scene, plan->is_convex, peers, &contest);
    }
    size_t pose_bytes = 7 * sizeof(double) * world->body_count;
    double *from = bench_memory(pose_bytes, 1);
    memcpy(from, world->pose, pose_bytes);
    for (size_t k = 0; k < contest.count; k++) {
        tallies[k].ns = bench_memory(capacity, sizeof(double));
        tallies[k].contacts = bench_memory(capacity, sizeof(double));
        tallies[k].pose = bench_memory(pose_bytes, 1);
        take_turn(scene, k == 0 ? NULL : &peers[k], plan->rest_steps, &tallies[k]);
        forget(&tallies[k]);
    }
    for (uint32_t i = 0; i < plan->turns; i++) {
        for (size_t k = 0; k < contest.count; k++) {
            take_turn(scene, k == 0 ? NULL : &peers[k], plan->steps, &tallies[k]);
        }
    }
    for (size_t k = 0; k < contest.count; k++) {
        sum_up(&tallies[k], &contest.figures[k]);
        measure_motion(world, from, tallies[k].pose, &contest.figures[k]);
        free(tallies[k].ns);
        free(tallies[k].contacts);
        free(tallies[k].pose);
        if (k > 0) {
            peer_process_stop(&peers[k]);
        }
    }
    free(from);
    return contest;
}

// ---- rows

static double read_figure(const ContestFigures *figures, const ContestRow *row) {
    double value;
    memcpy(&value, (const char *)figures + row->offset, sizeof(value));
    return value * row->scale;
}

static void add_row(const BenchRun *run, const char *prefix, const Contest *contest,
                    const ContestRow *from) {
    const ContestFigures *ours = &contest->figures[0];
    BenchRow row = {.value = read_figure(ours, from),
                    .unit = from->unit,
                    .aim_kind = from->aim > 0.0 ? AIM_VALUE_MAX : AIM_NONE,
                    .aim = from->aim,
                    .has_certificate = true,
                    .e_own = ours->e_own,
                    .e_ds = ours->e_ds};
    snprintf(row.figure, sizeof(row.figure), "%s: %s", prefix, from->figure);
    bench_add(run, &row);
    for (size_t k = 1; k < contest->count && !from->is_ours; k++) {
        const ContestFigures *theirs = &contest->figures[k];
        row.peer = theirs->name;
        row.peer_value = read_figure(theirs, from);
        row.aim = from->ratio_aim == NULL ? 0.0 : from->ratio_aim[theirs->peer];
        row.aim_kind = row.aim > 0.0 ? AIM_RATIO_MAX : AIM_NONE;
        bench_add(run, &row);
    }
}

void contest_add_rows(const BenchRun *run, const char *prefix, const Contest *contest,
                      const ContestRow *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        add_row(run, prefix, contest, &rows[i]);
    }
}
