// SPDX-License-Identifier: MIT
// The energy book of a step (certificate.md, "Energy"). With vbar = (v0 + v1)/2:
//
//     E1 - E0 = W_contact + W_row + W_applied + W_drive + W_scheme + unexplained
//     W_contact = sum gamma . (J vbar + motion),   W_applied = h F_np . vbar
//     W_drive   = what drives, efforts and bodies that are moved do: of the latter - gamma . motion
//     W_scheme  = (U1 - U0) + h F_pot . vbar + h F_gyro . vbar - what bodies that fall asleep lose
//     unexplained = vbar . (M (v1 - v*) - J^T gamma - G^T r)
//
// U is of the weight and of springs, of rows too. The last is made so, and not of the others: what
// a world's place is worth is no measure of how well its numbers are known. That is
//
//     S = kinetic and spring energy before and after + sum m |g| (h |v1| + |g| h^2)
//         + |W_applied| + |W_drive|
//
// Of the scheme's work the *swing* comes back within a period: the change of h/2 dU/dx . v where
// the new velocity moves the positions, for the energy less that is what the scheme keeps, to first
// order. Of weights under symplectic and implicit, of springs where they are not damped (spring.h).
//
// The gyroscopic torque is what the free motion did to a spin beside its wrenches (spin.c); where
// it is taken at vbar itself, it does no work. All in world axes of the old orientation: the new
// state is what the body carries along, and has the same energy.
//
// For free bodies `unexplained` is rounding; it grows only if velocities, impulses and forces do
// not belong together.
#include "step/stages.h"

#include "base/assert.h"

#include <string.h>

static Vec3 mean(const double *a, const double *b) {
    return vec3_scale(0.5, vec3_add(vec3_load(a), vec3_load(b)));
}

// Kinetic energy; the rotation about its own axis leaves a body's spin energy the same in the old
// and in the new orientation. A round body has no products of inertia, whose zeros add nothing.
static inline double kinetic(const FreeMass *mass, bool is_round, const double *v) {
    const Vec3 linear = vec3_load(v), w = vec3_load(v + 3);
    const Sym3 *of = &mass->inertia;
    const Vec3 turned =
        is_round ? vec3(of->xx * w.x, of->yy * w.y, of->zz * w.z) : sym3_mul_vec(*of, w);
    return 0.5 * (mass->mass * vec3_dot(linear, linear) + vec3_dot(w, turned));
}

static inline void add_weight(const StepState *state, uint8_t integrator, double mass,
                              const double *before, const double *after, StepEnergy *energy) {
    VALIDATE(mass >= 0.0);
    const Vec3 g = state->world->settings.gravity;
    const double h = state->input->time_step, size = state->stepper->problem.gravity;
    energy->scale += mass * size * h * (vec3_norm(vec3_load(after)) + size * h);
    if (integrator == INTEGRATOR_SYMPLECTIC || integrator == INTEGRATOR_IMPLICIT) {
        energy->swing -=
            0.5 * h * mass * vec3_dot(g, vec3_sub(vec3_load(after), vec3_load(before)));
    }
}

void energy_add_weight(const StepState *state, uint8_t integrator, double mass,
                       const double *before, const double *after, StepEnergy *energy) {
    add_weight(state, integrator, mass, before, after, energy);
}

// Whether nothing has changed the velocity of a body since it flew: then contacts and rows have
// added zeros. By their bits: what differs in a zero's sign is asked in full.
static bool is_untouched(const double *momentum, const double *v, const double *v_free) {
    for (int k = 0; k < 6; k++) {
        uint64_t given, after, before;
        memcpy(&given, momentum + k, sizeof(given));
        memcpy(&after, v + k, sizeof(after));
        memcpy(&before, v_free + k, sizeof(before));
        if ((given | (after ^ before)) != 0) {
            return false;
        }
    }
    return true;
}

// What contacts and rows together do to this body; the rows' share is taken out of it in the end
// (rows.c).
static void add_solved(const StepState *state, uint32_t tree, const double *v0, const double *v1,
                       StepEnergy *energy) {
    const FreeMass *mass = &state->free[tree];
    const double *momentum = state->result.answer.momentum + 6 * (size_t)tree,
                 *v_free = state->v_free + 6 * (size_t)tree;
    if (is_untouched(momentum, v1, v_free)) {
        return;
    }
    const double work = vec3_dot(vec3_load(momentum), mean(v0, v1)) +
                        vec3_dot(vec3_load(momentum + 3), mean(v0 + 3, v1 + 3));
    const Vec3 pushed = vec3_scale(mass->mass, vec3_sub(vec3_load(v1), vec3_load(v_free))),
               turned =
                   sym3_mul_vec(mass->inertia, vec3_sub(vec3_load(v1 + 3), vec3_load(v_free + 3)));
    energy->contact += work;
    energy->unexplained +=
        vec3_dot(pushed, mean(v0, v1)) + vec3_dot(turned, mean(v0 + 3, v1 + 3)) - work;
}

void energy_add_body(const StepState *state, uint32_t tree, StepEnergy *energy) {
    VALIDATE(tree < state->free_count);
    VALIDATE(state->free[tree].mass > 0.0);
    const World *world = state->world;
    uint32_t body = state->body_of_tree[tree];
    const FreeMass *mass = &state->free[tree];
    const double *v0 = world->velocity + 6 * (size_t)body,
                 *v1 = state->stepper->v + 6 * (size_t)tree;
    Vec3 weight = vec3_scale(mass->mass, world->settings.gravity);
    Vec3 x0 = vec3_load(world->pose + 7 * (size_t)body),
         x1 = vec3_load(state->pose_new + 7 * (size_t)body);
    double h = state->input->time_step;

    const bool is_round = world->mass[body].is_round;
    const double moving = kinetic(mass, is_round, v0), moves = kinetic(mass, is_round, v1);
    energy->before += moving - vec3_dot(weight, x0);
    energy->after += moves - vec3_dot(weight, x1);
    add_weight(state, stage_integrator(state, tree), mass->mass, v0, v1, energy);
    energy->scale += moving + moves;
    double scheme = h * vec3_dot(weight, mean(v0, v1)) - vec3_dot(weight, vec3_sub(x1, x0));
    if (!is_round) {
        // with the torques of the wrenches, which are taken out again where they are booked
        Vec3 change = vec3_sub(vec3_load(state->v_free + 6 * (size_t)tree + 3), vec3_load(v0 + 3));
        scheme += vec3_dot(sym3_mul_vec(mass->inertia, change), mean(v0 + 3, v1 + 3));
    }
    energy->scheme += scheme;
    add_solved(state, tree, v0, v1, energy);
}

double energy_height(const World *world, uint32_t body) {
    ASSERT(body < world->body_count);
    Vec3 weight = vec3_scale(world->mass[body].mass, world->settings.gravity);
    return vec3_dot(weight, vec3_load(world->pose + 7 * (size_t)body));
}

// It stays where it is.
void energy_add_sleeper(const StepState *state, uint32_t body, StepEnergy *energy) {
    VALIDATE(body < state->world->body_count);
    energy->before -= state->height[body];
    energy->after -= state->height[body];
}

// What is left of its motion ends here, by nobody's work but the scheme's.
void energy_fall_asleep(const StepState *state, uint32_t tree, StepEnergy *energy) {
    ASSERT(tree < state->tree_count);
    const double lost =
        tree < state->free_count
            ? kinetic(&state->free[tree], false, state->stepper->v + 6 * (size_t)tree)
            : energy_of_motion(state, stage_tree(state, state->body_of_tree[tree]));
    energy->after -= lost;
    energy->scheme -= lost;
}

static void add_wrench(const StepState *state, size_t i, StepEnergy *energy) {
    ASSERT(state->input->wrench_body[i] < state->world->body_count);
    uint32_t body = state->input->wrench_body[i];
    uint32_t tree = state->stepper->tree_of_body[body];
    if (tree >= state->free_count) {
        return; // what they do to trees of joints is booked there
    }
    const double *wrench = state->input->wrench + 6 * i;
    const double *v0 = state->world->velocity + 6 * (size_t)body,
                 *v1 = state->stepper->v + 6 * (size_t)tree;
    double h = state->input->time_step;
    double turning = h * vec3_dot(vec3_load(wrench + 3), mean(v0 + 3, v1 + 3));
    energy->applied += h * vec3_dot(vec3_load(wrench), mean(v0, v1)) + turning;
    energy->scheme -= state->world->mass[body].is_round ? 0.0 : turning;
}

void energy_end(const StepState *state, StepEnergy *energy) {
    for (size_t i = 0; i < state->input->wrench_count; i++) {
        add_wrench(state, i, energy);
    }
    energy->scale += fabs(energy->applied) + fabs(energy->drive);
}
