// SPDX-License-Identifier: MIT
#include "step/trees/fly.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "step/trees/staged.h"

#include <string.h>

// A step leaves a share of some h w of the error. Where it leaves more of its energy than this, a
// tree turns too far in a step for what is implicit in its velocities alone to keep energies: it is
// thrown. A body alone keeps them anyhow.
enum { STEPS_MAX = 40 };
#define SHRINKS       0.01
#define SHRINKS_ALONE 0.25

// Energies of corrections, as shares of that of the motion: what the step that would follow, as
// much smaller than this one as this is than the one before, may correct: 1e-8 of a velocity, far
// below what the step itself is wrong by; 1e-10 where that is of second order, or the root floats,
// whose turning keeps its energy under every integrator; of a body alone, which is to be what a
// free body is, all but rounding.
#define SETTLED       1e-16
#define SETTLED_FREE  1e-20
#define SETTLED_ALONE 1e-33

// ---- what is left over

static bool moves_masses(const TreeFlight *flight) {
    return !flight->is_held &&
           (flight->integrator == INTEGRATOR_MIDPOINT || flight->integrator == INTEGRATOR_IMPLICIT);
}

void tree_flight_pull(TreeFlight *flight, const double *v, double *rates) {
    ASSERT(!(flight->h <= 0.0));
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        const double v0 = flight->velocities[k];
        rates[k] = v0 + flight->pulls[k] * (v[k] - v0);
        flight->springs[k] = flight->pulls[k] * rates[k];
    }
    tree_advance(&flight->view, flight->positions, flight->springs, flight->h, flight->moved);
}

// Takes forces that are linear from the rest, on the way to v; `way` and `moved` are there, and are
// lost; `change` is not.
static void act_along(TreeFlight *flight, const double *v) {
    const TreeView *view = &flight->view;
    if (flight->integrator == INTEGRATOR_MIDPOINT) {
        tree_flight_pull(flight, v, flight->way); // elsewhere it is one for all
    }
    TreeAsked asked = {flight->moved, flight->moved, flight->way};
    if (flight->acts.springs) {
        double *way = flight->springs;
        for (uint32_t k = 0; k < view->tree->width; k++) {
            const double v0 = flight->velocities[k];
            const SpringShare share = flight->share[k];
            way[k] = share.old * v0 + share.change * (v[k] - v0);
        }
        tree_advance(view, flight->positions, way, flight->h, flight->moved_springs);
        asked.stretched = flight->moved_springs;
    }
    tree_axes_forces(view, &flight->axes, &asked, flight->springs, flight->others);
    for (uint32_t k = 0; k < view->tree->width; k++) {
        flight->rest[k] -= flight->springs[k] + flight->others[k];
    }
}

static void push_along(TreeFlight *flight) {
    tree_axes_efforts(&flight->view, &flight->axes, flight->others);
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        flight->rest[k] -= flight->others[k];
    }
}

// h times what the motion to v takes beyond the forces that there are; links are placed. Velocity
// products are taken where `rotation` says; `products` false: the velocity products are left out.
static void find_rest(TreeFlight *flight, const double *v, uint8_t rotation, bool products) {
    ASSERT(rotation < ROTATION_COUNT);
    const double h = flight->h, share = tree_share(flight->integrator);
    const double later = rotation == ROTATION_EXPLICIT   ? 0.0
                         : rotation == ROTATION_IMPLICIT ? 1.0
                                                         : 0.5;
    const uint32_t width = flight->view.tree->width;
    for (uint32_t k = 0; k < width; k++) {
        const double v0 = flight->velocities[k], change = v[k] - v0;
        flight->mean[k] = products ? v0 + later * change : 0.0;
        flight->way[k] = v0 + share * change;
        flight->change[k] = change / h;
    }
    TreeView view = flight->view;
    if (moves_masses(flight) || flight->acts.linear) {
        tree_advance(&view, flight->positions, flight->way, share * h, flight->moved);
    }
    if (moves_masses(flight)) {
        view = tree_flight_later(flight, share * h);
        tree_flight_place(flight, &view, flight->moved);
        flight->is_factored = false;
    }
    const TreeMotion motion = {flight->mean, flight->change};
    tree_forces(&view, &motion, flight->gravity, flight->has_wrenches ? flight->wrenches : NULL,
                &flight->work, flight->rest);
    if (flight->acts.linear) {
        act_along(flight, v);
    } else if (flight->acts.forces) {
        push_along(flight);
    }
    for (uint32_t k = 0; k < width; k++) {
        flight->rest[k] = h * (flight->rest[k] + flight->armature[k] * flight->change[k]);
    }
}

void tree_flight_load(TreeFlight *flight, const double *v) {
    find_rest(flight, v, flight->rotation, true);
}

// ---- steps

// The mass of the links as they are placed.
static void factor(TreeFlight *flight) {
    if (flight->factor != NULL) {
        tree_flight_factor(flight);
        return;
    }
    tree_factor(&flight->view, flight->added, &flight->work);
    flight->is_factored = true;
}

// The energy of the correction that the rest asks for, which comes to stand in `change`.
static double ask_correction(TreeFlight *flight) {
    const uint32_t width = flight->view.tree->width;
    double *step = flight->change, energy = 0.0;
    memcpy(step, flight->rest, width * sizeof(double));
    if (flight->factor == NULL) {
        tree_solve(&flight->view, &flight->work, step);
    } else {
        dense_solve(width, flight->factor, step);
    }
    for (uint32_t k = 0; k < width; k++) {
        energy += step[k] * flight->rest[k];
    }
    return fabs(energy);
}

static double correct(TreeFlight *flight, double *v) {
    const double energy = ask_correction(flight);
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        v[k] -= flight->change[k];
    }
    return energy;
}

static double settled_of(const TreeFlight *flight) {
    const bool is_free =
        flight->integrator == INTEGRATOR_MIDPOINT || flight->view.link[0].joint == TREE_NONE;
    return flight->view.tree->link_count == 1 ? SETTLED_ALONE : is_free ? SETTLED_FREE : SETTLED;
}

// Where velocity products are those of the begin, nothing shrinks by them: whether those at the
// mean would ask for as little more as a second step may, of joined bodies.
static bool is_explicit_enough(TreeFlight *flight, const double *v, double first, double scale) {
    if (flight->view.tree->link_count == 1 || flight->rotation != ROTATION_EXPLICIT) {
        return true;
    }
    find_rest(flight, v, ROTATION_MIDPOINT, true);
    const double energy = ask_correction(flight);
    return energy <= SHRINKS * first || energy <= TREE_STAGNATED * scale;
}

// Takes steps until what the next one would correct is too little. false: they do not shrink;
// written so that NaN is that.
static bool settle(TreeFlight *flight, double *v) {
    const bool is_linear = flight->rotation == ROTATION_EXPLICIT && !moves_masses(flight);
    const bool is_alone = flight->view.tree->link_count == 1;
    const double shrinks = is_alone ? SHRINKS_ALONE : SHRINKS, settled = settled_of(flight);
    double before = HUGE_VAL, first = 0.0, scale = flight->kinetic;
    for (int i = 0; i < STEPS_MAX; i++) {
        find_rest(flight, v, flight->rotation, true);
        if (i == 0 || (i == 1 && moves_masses(flight))) {
            factor(flight);
        }
        const double energy = correct(flight, v);
        scale = i == 0 ? scale + energy : scale;
        const double next = i == 0 ? energy : energy * (energy / before);
        first = i == 0 ? energy : first;
        if (is_linear || next <= settled * scale) {
            return is_explicit_enough(flight, v, first, scale);
        }
        if (!(energy <= shrinks * before)) {
            return tree_flight_is_rounding(flight, energy, scale);
        }
        before = energy;
    }
    return tree_flight_is_rounding(flight, before, scale);
}

// Where springs, dampers and drives are taken, of links as at the begin of the step. What a unit
// impulse does comes to stand in `rest`, where only symplectic asks of springs, and midpoint of the
// others.
static void share_forces(TreeFlight *flight) {
    const TreeView *view = &flight->view;
    memset(flight->share, 0, view->tree->width * sizeof(SpringShare));
    memset(flight->rest, 0, view->tree->width * sizeof(double));
    memset(flight->pulls, 0, view->tree->width * sizeof(double));
    if ((flight->acts.springs && flight->integrator == INTEGRATOR_SYMPLECTIC) ||
        (flight->acts.pulls && flight->integrator == INTEGRATOR_MIDPOINT)) {
        tree_factor(view, flight->armature, &flight->work);
        tree_mobility(view, &flight->work, flight->rest);
    }
    if (flight->acts.springs) {
        tree_axes_springs(view, &flight->axes, flight->integrator, flight->h, flight->rest,
                          flight->share);
    }
    tree_axes_pulls(view, &flight->axes, flight->integrator, flight->h, flight->rest,
                    flight->pulls);
}

static void weigh_axes(TreeFlight *flight) {
    const size_t bytes = flight->view.tree->width * sizeof(double);
    flight->is_factored = false;
    if (flight->acts.armatures) {
        tree_axes_armature(&flight->view, &flight->axes, flight->armature);
    } else {
        memset(flight->armature, 0, bytes);
    }
    memcpy(flight->added, flight->armature, bytes);
    if (integrator_is_staged(flight->integrator)) {
        for (uint32_t k = 0; k < flight->view.tree->width; k++) {
            flight->pulls[k] = 1.0; // of those that are rows
        }
    } else if (flight->acts.linear) {
        share_forces(flight);
        tree_axes_mass(&flight->view, &flight->axes, flight->share, flight->pulls, flight->h,
                       flight->added);
    }
}

// What velocity products may make of the kinetic energy that there is without them.
#define PRODUCT_GAIN 1.25

// Of links that are moved.
static bool is_resolved(const TreeFlight *flight) {
    double fastest = 0.0;
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        const Vec3 spin = flight->work.frame[i].spin;
        const double square = vec3_dot(spin, spin);
        fastest = square > fastest ? square : fastest;
    }
    return flight->h * flight->h * fastest <= TREE_RESOLVED * TREE_RESOLVED;
}

// What a step that is linear adds for springs that couple, with the masses of the begin, in whose
// energy it gains nothing: where velocities would take links by radians, those are of elsewhere.
static void hold_links(TreeFlight *flight) {
    flight->is_held = true;
    flight->is_factored = false;
    tree_flight_recall(flight);
    tree_axes_resist(&flight->view, &flight->axes, flight->h, flight->positions, flight->resist);
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        flight->share[k] = flight->resist[k] > 0.0 ? (SpringShare){0.0, 0.0} : flight->share[k];
    }
    tree_axes_mass(&flight->view, &flight->axes, flight->share, flight->pulls, flight->h,
                   flight->added);
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        flight->added[k] += flight->resist[k];
    }
}

// As it was before that.
static void let_go(TreeFlight *flight) {
    if (flight->is_held) {
        flight->is_held = false;
        tree_flight_recall(flight);
        weigh_axes(flight);
    }
}

// Without velocity products.
static void throw_links(TreeFlight *flight, double *v) {
    const bool is_held = flight->acts.balls && flight->integrator != INTEGRATOR_EXPLICIT;
    memcpy(v, flight->velocities, flight->view.tree->width * sizeof(double));
    if (is_held) {
        hold_links(flight);
    }
    find_rest(flight, v, flight->rotation, false);
    for (uint32_t k = 0; is_held && k < flight->view.tree->width; k++) {
        flight->rest[k] += flight->resist[k] * v[k];
        flight->share[k] = flight->resist[k] > 0.0 ? (SpringShare){1.0, 1.0} : flight->share[k];
    }
    if (!flight->is_factored) {
        factor(flight);
    }
    correct(flight, v);
}

static double energy_with(TreeFlight *flight, const double *v) {
    tree_flight_return(flight, v);
    return tree_kinetic_energy(&flight->view, flight->mass, flight->work.frame);
}

// Velocity products turn momenta by h w of themselves, and do no work as long as that is little:
// beyond, what is settled at once may be an answer to what is no question any more. As of a body
// whose coordinates are of a point beside its centre of mass, h w w r of which is no less for being
// linear. Leaves v, and links, as they were where the products stand, and thrown where they do not.
static bool gains_by_products(TreeFlight *flight, double *v) {
    const size_t bytes = flight->view.tree->width * sizeof(double);
    tree_move(&flight->view, v, flight->work.frame);
    if (is_resolved(flight)) {
        flight->is_moving = !moves_masses(flight);
        return false;
    }
    const double energy = energy_with(flight, v);
    memcpy(flight->settled, v, bytes);
    throw_links(flight, v);
    if (!(energy <= PRODUCT_GAIN * energy_with(flight, v))) {
        if (moves_masses(flight)) {
            throw_links(flight, v); // whose links are back at the begin
        }
        return true;
    }
    memcpy(v, flight->settled, bytes);
    if (flight->is_held || moves_masses(flight)) {
        let_go(flight);
        find_rest(flight, v, flight->rotation, true);
        factor(flight);
    }
    return false;
}

// What stages do not resolve is taken as what is pushed.
static void fall_back(TreeFlight *flight, double *v) {
    flight->integrator = integrator_of_pushed(flight->integrator);
    memcpy(v, flight->velocities, flight->view.tree->width * sizeof(double));
    tree_flight_recall(flight);
    weigh_axes(flight);
}

void tree_fly(TreeFlight *flight, double *v) {
    const TreeView *view = &flight->view;
    const uint32_t width = view->tree->width;
    flight->is_held = flight->is_thrown = flight->by_stages = flight->is_moving = false;
    memcpy(v, flight->velocities, width * sizeof(double));
    tree_flight_recall(flight);
    weigh_axes(flight);
    flight->kinetic = tree_kinetic_energy(view, flight->mass, flight->work.frame);
    if (width == 0) {
        return;
    }
    if (integrator_is_staged(flight->integrator)) {
        flight->by_stages = tree_fly_staged(flight, v);
        if (flight->by_stages) {
            return;
        }
        fall_back(flight, v);
    }
    const bool is_settled = settle(flight, v);
    if (!is_settled) {
        throw_links(flight, v);
    }
    flight->is_thrown = !is_settled || gains_by_products(flight, v);
    if (!flight->is_thrown && flight->factor != NULL && moves_masses(flight)) {
        tree_mass_matrix(view, flight->added, &flight->work, flight->matrix);
        flight->is_factored = false;
    }
}

void tree_flight_return(TreeFlight *flight, const double *velocities) {
    if (moves_masses(flight)) {
        tree_flight_recall(flight);
    }
    tree_move(&flight->view, velocities, flight->work.frame);
}

// ---- where no step is small enough

void tree_carry(TreeFlight *flight, const TreeView *there, const double *positions,
                double *velocities) {
    ASSERT(there->tree->link_count == flight->view.tree->link_count);
    ASSERT(there->tree->width == flight->view.tree->width);
    const uint32_t count = there->tree->link_count, width = there->tree->width;
    TreeWork *work = &flight->work;
    tree_flight_recall(flight);
    tree_move(&flight->view, velocities, work->frame);
    for (uint32_t i = 0; i < count; i++) { // spins turn with their bodies
        const TreeFrame *frame = &work->frame[i];
        work->change[i] = (TreePair){frame->velocity, mat3_tmul_vec(frame->turn, frame->spin)};
    }
    tree_flight_place(flight, there, positions);
    memset(flight->rest, 0, width * sizeof(double));
    tree_move(there, flight->rest, work->frame); // what the base does by itself
    for (uint32_t i = 0; i < count; i++) {
        const TreeFrame *frame = &work->frame[i];
        const Vec3 spin = mat3_mul_vec(frame->turn, work->change[i].angular),
                   v = vec3_sub(work->change[i].linear, frame->velocity);
        work->load[i] = (TreePair){vec3_scale(work->own[i].mass, v),
                                   sym3_mul_vec(work->own[i].inertia, vec3_sub(spin, frame->spin))};
    }
    tree_project(there, work, flight->rest);
    for (uint32_t k = 0; k < width; k++) {
        velocities[k] = flight->rest[k] + flight->armature[k] * velocities[k];
    }
    tree_factor(there, flight->armature, work);
    tree_solve(there, work, velocities);
}
