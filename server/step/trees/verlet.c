// SPDX-License-Identifier: MIT
#include "step/trees/verlet.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "step/trees/resolve.h"

#include <string.h>

// Energies of corrections: how each is to be less than the one before, and the last one that is
// made, as a share of the motion's. What it leaves is less by what they shrink, and by h w again.
enum { STEPS_MAX = 40 };
#define SHRINKS 0.25
#define SETTLED 1e-18

// What the two halves of a step may change velocities by in another way, in their energy, as a
// share of that of the motion: of a mode that turns by y in a step it is y^4/4 of its own.
#define AGREES 0.25

// ---- momenta and slopes

// At rates u, of links that are placed at `positions`.
static void evaluate(TreeFlight *flight, const TreeView *view, const double *positions,
                     double *momentum, double *slope) {
    const double *u = flight->moving;
    tree_move(view, u, flight->work.frame);
    tree_momenta(view, flight->gravity, flight->has_wrenches ? flight->wrenches : NULL,
                 &flight->work, momentum, slope);
    for (uint32_t k = 0; k < view->tree->width; k++) {
        momentum[k] += flight->armature[k] * u[k];
    }
    if (flight->acts.forces) {
        const TreeAsked asked = {positions, positions, u};
        tree_axes_forces(view, &flight->axes, &asked, flight->springs, flight->others);
        for (uint32_t k = 0; k < view->tree->width; k++) {
            slope[k] += flight->springs[k] + flight->others[k];
            flight->acting[k] += 0.5 * flight->others[k];
        }
    }
}

// Both ends: momenta in `mean` and `rest`, slopes in `way` and v. Links are those of the stage, at
// the end, whose view it is.
static TreeView evaluate_ends(TreeFlight *flight, double *v) {
    memset(flight->acting, 0, flight->view.tree->width * sizeof(double));
    evaluate(flight, &flight->view, flight->positions, flight->mean, flight->way);
    const TreeView view = tree_flight_later(flight, flight->h);
    tree_advance(&view, flight->positions, flight->moving, flight->h, flight->moved);
    tree_change_links(flight);
    tree_flight_place(flight, &view, flight->moved);
    evaluate(flight, &view, flight->moved, flight->rest, v);
    return view;
}

// Adds to `sum` what B(-h u)^T of the mean momentum is beside that, of three turns, `square` of
// it, and `across` times s x m.
static void add_turns(const TreeFlight *flight, double across, double square, double *sum) {
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        const TreeLink *link = &flight->view.link[i];
        const uint32_t at = link->first + link->moves;
        if (link->turns == 3) {
            const Vec3 s = vec3_scale(flight->h, vec3_load(flight->moving + at)),
                       m = vec3_scale(0.5, vec3_add(vec3_load(flight->mean + at),
                                                    vec3_load(flight->rest + at)));
            const Vec3 turned = vec3_add_scaled(vec3_load(sum + at), across, vec3_cross(s, m));
            vec3_store(sum + at, vec3_add_scaled(turned, square * 0.25 * vec3_dot(s, m), s));
        }
    }
}

// ---- the rates in between

// A step of Newton's towards them, in `change`; its energy. The momentum at the begin is in
// `settled`, and links are as there.
static double ask_correction(TreeFlight *flight) {
    double *step = flight->change, energy = 0.0;
    double *left = flight->springs; // its forces are in the slopes
    const uint32_t width = flight->view.tree->width;
    for (uint32_t k = 0; k < width; k++) {
        left[k] = 0.5 * (flight->mean[k] + flight->rest[k]) - 0.5 * flight->h * flight->way[k] -
                  flight->settled[k];
    }
    add_turns(flight, 0.5, 1.0, left);
    memcpy(step, left, width * sizeof(double));
    tree_solve(&flight->view, &flight->work, step);
    for (uint32_t k = 0; k < width; k++) {
        energy += step[k] * left[k];
    }
    return fabs(energy);
}

// Momentum and mass of the begin, and the factor that corrections are made with: dampers are taken
// at the rates in between, twice by half a step.
static void begin(TreeFlight *flight) {
    const size_t bytes = flight->view.tree->width * sizeof(double);
    memcpy(flight->moving, flight->velocities, bytes);
    memset(flight->acting, 0, bytes);
    evaluate(flight, &flight->view, flight->positions, flight->settled, flight->way);
    if (flight->factor != NULL) {
        tree_flight_factor(flight);
    }
    tree_axes_damped(&flight->view, &flight->axes, 0.5 * flight->h, flight->armature,
                     flight->resist);
    tree_factor(&flight->view, flight->resist, &flight->work);
}

// Corrections until they are little. Links are those of the stage then, whose view it is, and
// `moving` has been corrected by `change` since they were asked. false: they do not shrink, and
// links are as at the begin.
static bool settle(TreeFlight *flight, TreeView *view, double *scale, double *v) {
    double before = HUGE_VAL;
    *scale = flight->kinetic;
    for (int i = 0; i < STEPS_MAX; i++) {
        *view = evaluate_ends(flight, v);
        tree_change_links(flight);
        const double energy = ask_correction(flight);
        for (uint32_t k = 0; k < flight->view.tree->width; k++) {
            flight->moving[k] -= flight->change[k];
        }
        *scale += i == 0 ? energy : 0.0;
        if (energy <= SETTLED * *scale) {
            return true;
        }
        if (!(energy <= SHRINKS * before)) {
            return tree_flight_is_rounding(flight, energy, *scale);
        }
        before = energy;
    }
    return false;
}

// ---- the velocities after

static void end(TreeFlight *flight, const TreeView *view, double *v) {
    const uint32_t width = view->tree->width;
    for (uint32_t k = 0; k < width; k++) {
        v[k] = flight->settled[k] + 0.5 * flight->h * (flight->way[k] + v[k]) - flight->rest[k];
    }
    add_turns(flight, -1.0, 0.0, v);
    tree_factor(view, flight->armature, &flight->work);
    tree_solve(view, &flight->work, v);
    for (uint32_t k = 0; k < width; k++) {
        v[k] += flight->moving[k] + flight->change[k];
    }
}

static bool agrees(TreeFlight *flight, const double *v, double scale) {
    double *apart = flight->settled;
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        apart[k] = v[k] - flight->moving[k] - (flight->moving[k] - flight->velocities[k]);
    }
    const double energy = tree_change_energy(flight, apart);
    return energy <= AGREES * scale || tree_flight_is_rounding(flight, energy, scale);
}

bool tree_fly_verlet(TreeFlight *flight, double *v) {
    ASSERT(flight->view.tree->width > 0 && flight->h > 0.0);
    TreeView view = flight->view;
    double scale;
    begin(flight);
    if (!settle(flight, &view, &scale, v)) {
        return false;
    }
    tree_change_links(flight);
    const bool is_slow = tree_turns_little(flight);
    end(flight, &view, v);
    const bool is_resolved = is_slow && agrees(flight, v, scale);
    tree_change_links(flight);
    if (flight->factor == NULL) {
        tree_factor(&flight->view, flight->added, &flight->work);
    }
    memcpy(flight->rates, flight->moving, view.tree->width * sizeof(double));
    return is_resolved;
}
