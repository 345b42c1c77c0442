// SPDX-License-Identifier: MIT
#include "step/trees/runge_kutta.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "step/trees/resolve.h"

#include <string.h>

// What the second and third stage may differ by in the energy of their velocities, as a share of
// that of the motion. Of a mode that turns by y in a step that is about y^6/16 of its own: what the
// scheme cannot hold, from y = 2.8 on, shows while it has a hundredth of a percent of the energy.
#define AGREES 0.01

static const double places[4] = {0.0, 0.5, 0.5, 1.0},
                    weights[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};

// What the first stage would make from rest, its forces in `rest`.
static double energy_given(const TreeFlight *flight) {
    double twice = 0.0;
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        twice += flight->change[k] * flight->rest[k];
    }
    return 0.5 * flight->h * flight->h * fabs(twice);
}

static void solve_begin(TreeFlight *flight, double *numbers) {
    tree_flight_factor(flight);
    dense_solve(flight->view.tree->width, flight->factor, numbers);
}

// How `rates` change, in `change`, of links that are placed at `positions`; whether as at the
// begin, whose masses are kept.
static void accelerate(TreeFlight *flight, const TreeView *view, const double *positions,
                       const double *rates, bool is_begin) {
    const uint32_t width = view->tree->width;
    ASSERT(rates != flight->change);
    const TreeMotion motion = {rates, NULL};
    double *change = flight->change;
    tree_forces(view, &motion, flight->gravity, flight->has_wrenches ? flight->wrenches : NULL,
                &flight->work, change);
    for (uint32_t k = 0; k < width; k++) {
        change[k] = -change[k];
    }
    if (flight->acts.forces) {
        const TreeAsked asked = {positions, positions, rates};
        tree_axes_forces(view, &flight->axes, &asked, flight->springs, flight->others);
        for (uint32_t k = 0; k < width; k++) {
            change[k] += flight->springs[k] + flight->others[k];
        }
    }
    if (is_begin) {
        memcpy(flight->rest, change, width * sizeof(double));
    }
    if (is_begin && flight->factor != NULL) {
        solve_begin(flight, change);
        return;
    }
    tree_factor(view, flight->armature, &flight->work);
    tree_solve(view, &flight->work, change);
}

// How the numbers change that the coordinates have moved by, h `way`, at the rates `mean`
// (staged.h): in place of these numbers.
static void undo_turns(TreeFlight *flight) {
    const TreeView *view = &flight->view;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        double *way = flight->way + link->first;
        const double *rates = flight->mean + link->first;
        const Vec3 s = vec3_scale(flight->h, link->turns == 3 ? vec3_load(way + link->moves)
                                                              : vec3(0.0, 0.0, 0.0));
        memcpy(way, rates, tree_link_width(link) * sizeof(double));
        if (link->turns == 3) {
            const Vec3 w = vec3_load(rates + link->moves),
                       turned = vec3_add_scaled(w, 0.5, vec3_cross(s, w));
            vec3_store(way + link->moves, vec3_add_scaled(turned, 0.25 * vec3_dot(s, w), s));
        }
    }
}

// From the stage before, whose rates are in `mean`, moving by `way`, and change by `change`:
// these of the next one, and its links are placed.
static TreeView go_to(TreeFlight *flight, int stage) {
    ASSERT(stage > 0 && stage < 4);
    const double part = places[stage];
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        flight->way[k] *= part;
        flight->mean[k] = flight->velocities[k] + part * flight->h * flight->change[k];
    }
    TreeView view = tree_flight_later(flight, part * flight->h);
    tree_advance(&view, flight->positions, flight->way, flight->h, flight->moved);
    tree_flight_place(flight, &view, flight->moved);
    return view;
}

static void add_stage(TreeFlight *flight, int stage, double *v) {
    ASSERT(v != flight->change);
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        v[k] += weights[stage] * flight->h * flight->change[k];
        flight->moving[k] += weights[stage] * flight->way[k];
    }
    for (uint32_t k = 0; flight->acts.forces && k < flight->view.tree->width; k++) {
        flight->acting[k] += weights[stage] * flight->others[k];
        flight->rates[k] += weights[stage] * flight->mean[k];
    }
}

// Of the second and the third, whose links are placed; `settled` has the changes of the second.
static bool agrees(TreeFlight *flight, double scale) {
    double *apart = flight->settled;
    for (uint32_t k = 0; k < flight->view.tree->width; k++) {
        apart[k] = flight->h * (flight->change[k] - apart[k]);
    }
    const double energy = tree_change_energy(flight, apart);
    return energy <= AGREES * scale || tree_flight_is_rounding(flight, energy, scale);
}

// The energy that there is, and that of what the first stage would make.
static double begin(TreeFlight *flight, double *v) {
    const size_t bytes = flight->view.tree->width * sizeof(double);
    memcpy(flight->mean, flight->velocities, bytes);
    memcpy(flight->way, flight->velocities, bytes);
    memset(flight->moving, 0, bytes);
    memset(flight->acting, 0, bytes);
    memset(flight->rates, 0, bytes);
    accelerate(flight, &flight->view, flight->positions, flight->mean, true);
    add_stage(flight, 0, v);
    return flight->kinetic + energy_given(flight);
}

// Whether all of them may be taken.
static bool go_on(TreeFlight *flight, double scale, double *v) {
    for (int stage = 1; stage < 4; stage++) {
        const TreeView view = go_to(flight, stage);
        accelerate(flight, &view, flight->moved, flight->mean, false);
        undo_turns(flight);
        add_stage(flight, stage, v);
        if (stage == 1) {
            memcpy(flight->settled, flight->change, view.tree->width * sizeof(double));
        }
        if (stage == 2 && !agrees(flight, scale)) {
            return false;
        }
    }
    return tree_turns_little(flight);
}

bool tree_fly_runge_kutta(TreeFlight *flight, double *v) {
    ASSERT(flight->view.tree->width > 0 && flight->h > 0.0);
    const double scale = begin(flight, v);
    tree_change_links(flight);
    const bool is_resolved = go_on(flight, scale, v);
    tree_change_links(flight);
    return is_resolved;
}
