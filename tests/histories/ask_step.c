// SPDX-License-Identifier: MIT
#include "histories/ask_step.h"

#include "support/harness_judge.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum { JUDGED_CONTACTS_MAX = 60, JUDGED_WIDTH_MAX = 64 };

// What no solver of ours is told, and what is no energy: below it nothing is judged.
static const double rounding_share = 1e-12;

// [J] Positions round by 1e-16 m, which a step of 1e-3 s makes 1e-13 m/s of: of some kilograms,
// 1e-25 J.
static const double energy_floor = 1e-24;

// Of trees of joints, whose mass blocks' condition numbers magnify what is rounded.
static const double tree_rounding_share = 1e-9;

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
    // the mass blocks of trees of joints may be so ill-conditioned that both certificates are right
    return problem->all_free && problem->contact_count <= JUDGED_CONTACTS_MAX;
}

static void judge(Play *play, const ContactProblem *problem, const SolveResult *result) {
    HarnessVerdict verdict;
    const Certificate *c = &result->certificate;
    harness_judge(problem, result, &play->memory, &verdict);
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        const double rounding = k == CERTIFICATE_MOM ? verdict.momentum_rounding : verdict.rounding;
        if (isfinite(verdict.entry[k]) && !(fabs(c->entry[k] - verdict.entry[k]) <= rounding)) {
            play_found(play, PROPERTY_JUDGE, "entry",
                       "entry %d of the certificate is %.17g, and judged again %.17g +- %.3g, of "
                       "%u contacts, %u softened, relation %d",
                       k, c->entry[k], verdict.entry[k], rounding, problem->contact_count,
                       result->softened, (int)result->answer.relation);
        }
    }
    if (!(fabs(c->scale - verdict.scale) <= 1e-12 * verdict.scale)) {
        play_found(play, PROPERTY_JUDGE, "scale", "the scale is %.17g, and judged again %.17g",
                   c->scale, verdict.scale);
    }
    if (c->converged &&
        !(verdict.entry[CERTIFICATE_OWN] <= c->tolerance + verdict.rounding &&
          verdict.cone_claimed <= 1e-12 && verdict.entry[CERTIFICATE_MOM] <= 1e-10)) {
        play_found(play, PROPERTY_JUDGE, "converged",
                   "converged, they say, with own %.3g of %.3g, cone %.3g, momentum %.3g",
                   verdict.entry[CERTIFICATE_OWN], c->tolerance, verdict.cone_claimed,
                   verdict.entry[CERTIFICATE_MOM]);
    }
}

// Where a solver asked for geometry, the problem that it solved is another.
static void see(StepWitness *witness, const ContactProblem *problem, const SolveResult *result) {
    Play *play = ((AskStep *)(void *)witness)->play;
    ContactProblem solved = *problem;
    if (result->contact != NULL) {
        solved.contact = result->contact;
    }
    if (!play->is_calm || !is_small(problem) || !isfinite(result->certificate.scale)) {
        return;
    }
    const ArenaMark mark = arena_mark(&play->memory);
    judge(play, &solved, result);
    arena_reset_to(&play->memory, mark);
}

AskStep ask_step_judge(Play *play) {
    return (AskStep){.witness = {.see = see}, .play = play};
}

// ---- energy

static double energy_of_bodies(const World *world, double h) {
    const double g = vec3_norm(world->settings.gravity);
    double sum = 0.0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const BodyMass *mass = &world->mass[i];
        const Vec3 v = vec3_load(world->velocity + 6 * (size_t)i),
                   w = vec3_load(world->velocity + 6 * (size_t)i + 3);
        if (world->kind[i] != BODY_DYNAMIC) {
            continue;
        }
        const Mat3 turn = quat_to_mat3(pose_load(world->pose + 7 * (size_t)i).orientation);
        const Vec3 own = mat3_tmul_vec(turn, w);
        sum += 0.5 * mass->mass * vec3_dot(v, v) +
               0.5 * vec3_dot(own, sym3_mul_vec(mass->inertia, own)) +
               mass->mass * g * (h * vec3_norm(v) + g * h * h);
    }
    return sum;
}

static double energy_of_springs(const World *world) {
    double sum = 0.0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const uint32_t count = joint_axis_count(joint->axes);
        for (uint32_t k = 0; k < count; k++) {
            const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
            const bool is_turn_of_three = joint_position_count(joint->axes) != count;
            // of three turns the angle is at most half a turn
            const double q =
                is_turn_of_three ? 3.2 : world->joint_position[joint->position_first + k];
            sum += axis->stiffness * (q * q + axis->rest * axis->rest) +
                   0.5 * axis->armature * world->joint_velocity[joint->axis_first + k] *
                       world->joint_velocity[joint->axis_first + k];
        }
    }
    return sum;
}

double ask_step_scale(const World *world, double time_step) {
    return energy_of_bodies(world, time_step) + energy_of_springs(world);
}

bool ask_step_may_gain(const World *world) {
    return world->settings.integrator == INTEGRATOR_EXPLICIT ||
           world->settings.rotation == ROTATION_EXPLICIT;
}

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

bool ask_step_energy(Play *play, const World *world, const StepReport *report, double time_step,
                     double before) {
    const StepEnergy *e = &report->energy;
    // what movers, drives and wrenches do is in the books of contacts, rows and wrenches
    const double scale = before + ask_step_scale(world, time_step) + fabs(e->contact) +
                         fabs(e->row) + fabs(e->applied) + fabs(e->scheme);
    // heights are from the origin, and their own roundings remain
    const double heights = 1e-15 * (fabs(e->before) + fabs(e->after));
    const double share = world->joint_count == 0 ? rounding_share : tree_rounding_share;
    // of trees, what the momentum balance leaves open is what stays unexplained (tree_energy.c)
    const Certificate *c = &report->certificate;
    const double left_open = 10.0 * c->entry[CERTIFICATE_MOM];
    if (!play->is_calm) {
        return true;
    }
    if (c->converged &&
        !(fabs(e->unexplained) <= (share + left_open) * scale + heights + energy_floor)) {
        return play_found(play, PROPERTY_ENERGY, "unexplained",
                          "unexplained %.3g J of %.3g (before %.3g, after %.3g, contact %.3g, row "
                          "%.3g, applied %.3g, scheme %.3g; e_mom %.3g)",
                          e->unexplained, scale, e->before, e->after, e->contact, e->row,
                          e->applied, e->scheme, c->entry[CERTIFICATE_MOM]);
    }
    return ask_step_may_gain(world) || play->is_starved || is_slow(world) ||
           tell_runaway(play, world, report);
}
