// SPDX-License-Identifier: MIT
#include "histories/ask_step.h"

#include "histories/ask_disturbed.h"
#include "histories/ask_energy.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum { JUDGED_CONTACTS_MAX = 60, JUDGED_WIDTH_MAX = 64 };

// Of S; what the answer's own roundings add to it is in ask_energy.c.
static const double unexplained_share = 1e-12;

// [J] Positions round by 1e-16 m, which a step of 1e-3 s makes 1e-13 m/s of: of some kilograms,
// 1e-25 J.
static const double energy_floor = 1e-24;

// No calm world's points are faster: forces of 1e3 N, masses of 0.01 kg and histories of some
// seconds come to 1e5 m/s, and no one of them has them all.
static const double calm_speed_max = 1e5;

// ---- the second certificate

static bool is_small(const ContactProblem *problem) {
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        if (problem->tree[i].width > JUDGED_WIDTH_MAX) {
            return false;
        }
    }
    return problem->contact_count <= JUDGED_CONTACTS_MAX;
}

static void judge(Play *play, const ContactProblem *problem, const SolveResult *result,
                  const HarnessVerdict *verdict) {
    const Certificate *c = &result->certificate;
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        // V, which entries are divided by, is no better than its terms either
        const double rounding = k == CERTIFICATE_MOM
                                    ? verdict->momentum_rounding
                                    : verdict->rounding * (1.0 + verdict->entry[k]);
        if (isfinite(verdict->entry[k]) && !(fabs(c->entry[k] - verdict->entry[k]) <= rounding)) {
            play_found(play, PROPERTY_JUDGE, "entry",
                       "entry %d of the certificate is %.17g, and judged again %.17g +- %.3g, of "
                       "%u contacts, %u softened, relation %d",
                       k, c->entry[k], verdict->entry[k], rounding, problem->contact_count,
                       result->softened, (int)result->answer.relation);
        }
    }
    // of slow bodies, whose motions cancel at a contact, it is no better than its terms
    const double of_scale = fmax(1e-12, verdict->rounding);
    if (!(fabs(c->scale - verdict->scale) <= of_scale * verdict->scale)) {
        play_found(play, PROPERTY_JUDGE, "scale", "the scale is %.17g, and judged again %.17g",
                   c->scale, verdict->scale);
    }
    if (c->converged && !(verdict->entry[CERTIFICATE_OWN] <= c->tolerance + verdict->rounding &&
                          verdict->cone_claimed <= 1e-12 &&
                          verdict->entry[CERTIFICATE_MOM] <= 1e-10 + verdict->momentum_rounding)) {
        play_found(play, PROPERTY_JUDGE, "converged",
                   "converged, they say, with own %.3g of %.3g, cone %.3g, momentum %.3g",
                   verdict->entry[CERTIFICATE_OWN], c->tolerance, verdict->cone_claimed,
                   verdict->entry[CERTIFICATE_MOM]);
    }
}

// One answer in so many is disturbed, and judged once more.
enum { DISTURBED_ONE_IN = 8 };

static void judge_disturbed(Play *play, const ContactProblem *problem, const SolveResult *result) {
    if (play->tally.steps % DISTURBED_ONE_IN == 0 && problem->all_free) {
        HarnessVerdict verdict;
        const SolveResult other = ask_disturbed(problem, result, play->tally.steps, &play->memory);
        harness_judge(problem, &other, &play->memory, &verdict);
        judge(play, problem, &other, &verdict);
    }
}

// And one in so many is what a balanced effort has to be no worse than: what a fast one leaves.
enum { EFFORTS_ONE_IN = 4 };

static double left_open(Play *play, const ContactProblem *problem, EffortKind effort) {
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.effort.kind = (uint8_t)effort;
    SolveResult result;
    Status status = solver_solve(&settings, problem, &(Context){0}, &play->memory, &result, NULL);
    return status != STATUS_OK || result.certificate.converged
               ? 0.0
               : result.certificate.entry[CERTIFICATE_OWN];
}

static void compare_efforts(Play *play, const ContactProblem *problem) {
    if (play->tally.steps % EFFORTS_ONE_IN != 0) {
        return;
    }
    ArenaMark mark = arena_mark(&play->memory);
    const double fast = left_open(play, problem, EFFORT_FAST),
                 balanced = left_open(play, problem, EFFORT_BALANCED);
    if (isfinite(fast) && !(balanced <= fast)) {
        play_found(play, PROPERTY_JUDGE, "effort",
                   "a balanced effort leaves %.17g open, and a fast one %.17g", balanced, fast);
    }
    arena_reset_to(&play->memory, mark);
}

// Where a solver asked for geometry, the problem that it solved is another.
static void see(StepWitness *witness, const ContactProblem *problem, const SolveResult *result) {
    AskStep *ask = (AskStep *)(void *)witness;
    Play *play = ask->play;
    ContactProblem solved = *problem;
    if (result->contact != NULL) {
        solved.contact = result->contact;
    }
    if (!play->is_calm || !is_small(problem) || !isfinite(result->certificate.scale)) {
        return;
    }
    const ArenaMark mark = arena_mark(&play->memory);
    HarnessVerdict verdict;
    harness_judge(&solved, result, &play->memory, &verdict);
    // the mass blocks of trees of joints may be so ill-conditioned that both are right
    if (problem->all_free) {
        judge(play, &solved, result, &verdict);
    }
    judge_disturbed(play, &solved, result);
    compare_efforts(play, &solved);
    const double rounding =
        ask_energy_rounding(ask->world, problem, result, verdict.rest, &play->memory);
    // of bodies alone the share of S is enough
    ask->rounding = rounding < HUGE_VAL || !problem->all_free ? rounding : 0.0;
    ask->scale += ask_energy_of_motion(problem, result, &play->memory);
    play->gains =
        play->gains || ask_energy_is_at_odds(problem, result->certificate.scale, &play->memory);
    arena_reset_to(&play->memory, mark);
}

AskStep ask_step_begin(Play *play, const World *world, double time_step) {
    play->gains = play->gains || ask_energy_gains(world, time_step);
    return (AskStep){.witness = {.see = see},
                     .play = play,
                     .world = world,
                     .time_step = time_step,
                     .scale = ask_energy_scale(world, time_step),
                     .rounding = HUGE_VAL};
}

// ---- energy

static bool is_slow(const World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (vec3_norm(vec3_load(world->velocity + 6 * (size_t)i)) > calm_speed_max) {
            return false;
        }
    }
    return true;
}

// By what it came in its last step, under which solver, and whether it was solved: so that what is
// known of one hides no other.
static bool tell_runaway(Play *play, const World *world, const StepReport *report) {
    const StepEnergy *e = &report->energy;
    const double books[] = {e->contact, e->row, e->drive, e->scheme, e->applied};
    static const char *const names[] = {"contacts", "rows", "drives", "scheme", "wrenches"};
    size_t most = 0;
    for (size_t i = 1; i < sizeof(books) / sizeof(books[0]); i++) {
        most = books[i] > books[most] ? i : most;
    }
    char place[96];
    snprintf(place, sizeof(place), "runaway by %s%s under %s, %s", names[most],
             world->trees != NULL && world->trees->tree_count > 0 ? " beside trees" : "",
             solver_get(step_solver(&world->settings).kind)->name,
             report->certificate.converged ? "converged" : "open");
    return play_found(play, PROPERTY_ENERGY, place, "faster than %g m/s, from numbers of every day",
                      calm_speed_max);
}

// S, of the step's begin and end; the work of wrenches, drives and movers with it. What a scheme
// gains by itself, contacts may take at once: then both stand in the book, and neither in the
// energies of the begin and the end.
static double scale_of(const AskStep *ask, const StepEnergy *e) {
    return ask->scale + ask_energy_scale(ask->world, ask->time_step) + fabs(e->applied) +
           fabs(e->drive) + (ask->play->gains ? fabs(e->scheme) : 0.0);
}

bool ask_step_end(const AskStep *ask, const StepReport *report) {
    const StepEnergy *e = &report->energy;
    const double scale = scale_of(ask, e);
    Play *play = ask->play;
    if (!play->is_calm) {
        return true;
    }
    if (ask->rounding < HUGE_VAL &&
        !(fabs(e->unexplained) <= unexplained_share * scale + ask->rounding + energy_floor)) {
        return play_found(play, PROPERTY_ENERGY, "unexplained",
                          "unexplained %.3g J of %.3g and roundings of %.3g (before %.3g, after "
                          "%.3g, contact %.3g, row %.3g, applied %.3g, scheme %.3g; e_mom %.3g)",
                          e->unexplained, scale, ask->rounding, e->before, e->after, e->contact,
                          e->row, e->applied, e->scheme,
                          report->certificate.entry[CERTIFICATE_MOM]);
    }
    return play->gains || play->is_starved || is_slow(ask->world) ||
           tell_runaway(play, ask->world, report);
}
