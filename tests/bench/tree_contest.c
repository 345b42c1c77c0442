// SPDX-License-Identifier: MIT
#include "bench/tree_contest.h"

#include "bench/child.h"
#include "bench/figure.h"

#include <math.h>
#include <string.h>

static const char *const programs[TREE_CONTEST_PEERS] = {"mujoco-pypi-tree", "mujoco-tree",
                                                         "bullet-tree", "ode-tree"};

typedef struct Peer {
    Child child;
    TreeContestant *to;
    double ns[TREE_CONTEST_TURNS_MAX], energy; // per step of each turn; at the start
} Peer;

// false: it is not there, or not for this figure; why not has been said on standard error.
static bool start(Peer *peer, uint32_t index, const Figure *figure) {
    const char *program = programs[index];
    char path[CHILD_PATH_BYTES];
    TreePeerGreeting greeting;
    if (!child_find(program, path)) {
        fprintf(stderr, "  without %s: its program was not built\n", program);
        return false;
    }
    child_start(&peer->child, path, NULL);
    FILE *to = peer->child.to;
    fwrite(&figure->scene, sizeof(figure->scene), 1, to);
    fwrite(figure->link, sizeof(*figure->link), figure->scene.link_count, to);
    fwrite(figure->shape, sizeof(*figure->shape), figure->scene.shape_count, to);
    fwrite(figure->text, 1, figure->scene.text_bytes, to);
    fflush(to);
    const bool is_there = fread(&greeting, sizeof(greeting), 1, peer->child.from) == 1;
    if (!is_there || greeting.refusal[0] != '\0') {
        fprintf(stderr, "  without %s: %.*s\n", program, (int)sizeof(greeting.refusal),
                is_there ? greeting.refusal : "it ended");
        child_kill(&peer->child);
        return false;
    }
    static char names[TREE_CONTEST_PEERS][sizeof(greeting.name)];
    snprintf(names[index], sizeof(names[index]), "%.*s", (int)sizeof(greeting.name) - 1,
             greeting.name);
    peer->to->name = names[index];
    return true;
}

static TreePeerAnswer ask(Peer *peer, uint32_t steps) {
    TreePeerAnswer answer;
    fwrite(&steps, sizeof(steps), 1, peer->child.to);
    fflush(peer->child.to);
    if (fread(&answer, sizeof(answer), 1, peer->child.from) != 1) {
        bench_fail("%s has ended", peer->to->name);
    }
    return answer;
}

static void note(TreeContestant *to, double energy, double first) {
    to->drift = fmax(to->drift, fabs(energy - first));
    to->gain = fmax(to->gain, energy - first);
}

static void run_turn(Peer *peer, uint32_t turn, uint32_t steps) {
    const TreePeerAnswer answer = ask(peer, steps);
    peer->ns[turn] = answer.ns / steps;
    peer->to->contacts += answer.contacts;
    peer->to->faults = answer.faults;
    note(peer->to, answer.energy, peer->energy);
}

// CPU time of a step; the energy before the first of them, where it is asked for.
static double step_ours(Scene *scene, uint32_t steps, double *energy, TreeContest *contest) {
    const double begun = bench_cpu_ns();
    for (uint32_t i = 0; i < steps; i++) {
        scene_step(scene);
        if (energy != NULL && i == 0) {
            *energy = scene->report.energy.before;
        }
        contest->converged += scene->report.certificate.converged;
        contest->rows += scene->report.row_count;
    }
    return (bench_cpu_ns() - begun) / steps;
}

bool tree_contest_ask(Scene *scene, uint32_t peer, uint32_t steps, TreePeerAnswer *answer,
                      const char **name) {
    Figure figure = figure_of(scene);
    TreeContestant to = {.name = ""};
    Peer of = {.to = &to};
    const bool is_there = start(&of, peer, &figure);
    if (is_there) {
        *answer = ask(&of, steps);
        *name = to.name;
        child_stop(&of.child);
    }
    figure_free(&figure);
    return is_there;
}

TreeContest tree_contest_run(Scene *scene, uint32_t turns, uint32_t steps) {
    TreeContest contest = {.count = 1, .of[0].name = "Moreau"};
    Figure figure = figure_of(scene);
    Peer peer[TREE_CONTEST_PEERS];
    uint32_t peers = 0;
    for (uint32_t i = 0; i < TREE_CONTEST_PEERS; i++) {
        peer[peers] = (Peer){.to = &contest.of[contest.count]};
        if (start(&peer[peers], i, &figure)) {
            peer[peers].energy = ask(&peer[peers], 0).energy;
            peers++;
            contest.count++;
        }
    }
    double ns[TREE_CONTEST_TURNS_MAX], first = 0.0;
    for (uint32_t turn = 0; turn < turns; turn++) {
        ns[turn] = step_ours(scene, steps, turn == 0 ? &first : NULL, &contest);
        contest.of[0].contacts += scene->report.contact_count;
        note(&contest.of[0], scene->report.energy.after, first);
        for (uint32_t i = 0; i < peers; i++) {
            run_turn(&peer[i], turn, steps);
        }
    }
    contest.of[0].step_ns = bench_percentile(ns, turns, 0.5);
    contest.of[0].contacts /= turns;
    for (uint32_t i = 0; i < peers; i++) {
        peer[i].to->step_ns = bench_percentile(peer[i].ns, turns, 0.5);
        peer[i].to->contacts /= turns;
        child_stop(&peer[i].child);
    }
    contest.converged /= (double)turns * steps;
    contest.rows /= (double)turns * steps;
    figure_free(&figure);
    return contest;
}
