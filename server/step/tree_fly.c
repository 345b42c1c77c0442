// SPDX-License-Identifier: MIT
#include "step/tree_fly.h"

#include <string.h>

// Steps with the mass matrix for derivative leave a share of some h w of the error; one that leaves
// more than a quarter is not worth taking. Newton's own leave its square.
enum { STEPS_MAX = 40, NEWTON_STEPS_MAX = 12 };
#define SHRINKS 0.25

// Energies of corrections, as shares of that of the motion: 1e-15 of a velocity, which is rounding;
// and what is taken for rounding where it shrinks no more.
#define SETTLED   1e-30
#define STAGNATED 1e-22

// ---- memory

size_t tree_flight_bytes(const Tree *tree) {
    const size_t width = tree->width, positions = tree->position_count;
    const size_t newton = width <= TREE_NEWTON_WIDTH_MAX ? width * (width + 3) : 0;
    return tree_work_bytes(tree) +
           (2 * positions + 9 * width + 6 * tree->link_count + newton) * sizeof(double);
}

static double *take(unsigned char **at, size_t count) {
    double *part = (double *)(void *)*at;
    *at += count * sizeof(double);
    return part;
}

void tree_flight_take(TreeFlight *flight, const Tree *tree, unsigned char *at) {
    const size_t width = tree->width;
    tree_work_take(&flight->work, tree, at);
    at += tree_work_bytes(tree);
    flight->positions = take(&at, tree->position_count);
    flight->moved = take(&at, tree->position_count);
    flight->wrenches = take(&at, 6 * (size_t)tree->link_count);
    double **const columns[] = {&flight->velocities, &flight->armature, &flight->added,
                                &flight->mean,       &flight->way,      &flight->change,
                                &flight->rest,       &flight->springs,  &flight->others};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        *columns[i] = take(&at, width);
    }
    flight->newton = width <= TREE_NEWTON_WIDTH_MAX ? take(&at, width * (width + 3)) : NULL;
}

// ---- what is left over

static bool moves_masses(const TreeFlight *flight) {
    return flight->integrator == INTEGRATOR_MIDPOINT || flight->integrator == INTEGRATOR_IMPLICIT;
}

static void place(TreeFlight *flight, const TreeView *view, const double *positions) {
    tree_place(view, positions, flight->work.frame);
    tree_weigh(view, flight->mass, &flight->work);
}

static TreeView base_later(const TreeFlight *flight, double time) {
    TreeView view = flight->view;
    view.base.position = vec3_add_scaled(view.base.position, time, view.base_velocity);
    view.base.orientation = quat_turn(view.base.orientation, view.base_spin, time);
    return view;
}

// h times what the motion to v takes beyond the forces that there are; links are placed and moving.
// `products` false: the velocity products are left out.
static void find_rest(TreeFlight *flight, const double *v, bool products) {
    const double h = flight->h, share = tree_share(flight->integrator);
    const uint32_t width = flight->view.tree->width;
    for (uint32_t k = 0; k < width; k++) {
        const double v0 = flight->velocities[k];
        flight->mean[k] = flight->rotation == ROTATION_EXPLICIT ? v0 : 0.5 * (v0 + v[k]);
        flight->way[k] = v0 + share * (v[k] - v0);
        flight->change[k] = (v[k] - v0) / h;
        flight->mean[k] = products ? flight->mean[k] : 0.0;
    }
    TreeView view = flight->view;
    tree_advance(&view, flight->positions, flight->way, share * h, flight->moved);
    if (moves_masses(flight)) {
        view = base_later(flight, share * h);
        place(flight, &view, flight->moved);
    }
    tree_move(&view, flight->mean, flight->work.frame);
    tree_accelerate(&view, flight->mean, flight->change, &flight->work);
    tree_forces(&view, flight->gravity, flight->has_wrenches ? flight->wrenches : NULL,
                &flight->work, flight->rest);
    tree_axes_forces(&view, &flight->axes, flight->moved, flight->way, flight->springs,
                     flight->others);
    for (uint32_t k = 0; k < width; k++) {
        const double forces = flight->springs[k] + flight->others[k];
        flight->rest[k] = h * (flight->rest[k] - forces + flight->armature[k] * flight->change[k]);
    }
}

// ---- steps

// The energy of the correction that the rest asks for; v is corrected.
static double correct(TreeFlight *flight, bool is_newton, double *v) {
    const uint32_t width = flight->view.tree->width;
    double *step = flight->change, energy = 0.0;
    memcpy(step, flight->rest, width * sizeof(double));
    if (is_newton) {
        tree_newton(flight, step);
    } else {
        tree_solve(&flight->view, &flight->work, step);
    }
    for (uint32_t k = 0; k < width; k++) {
        energy += step[k] * flight->rest[k];
        v[k] -= step[k];
    }
    return fabs(energy);
}

// Takes steps until they are rounding. false: they do not shrink; written so that NaN is that.
static bool settle(TreeFlight *flight, bool is_newton, double *v) {
    const bool is_linear = flight->rotation == ROTATION_EXPLICIT && !moves_masses(flight);
    double before = HUGE_VAL, scale = 0.0;
    const int steps_max = is_newton ? NEWTON_STEPS_MAX : STEPS_MAX;
    for (int i = 0; i < steps_max; i++) {
        find_rest(flight, v, true);
        if (i == 0 || (i == 1 && moves_masses(flight))) {
            tree_factor(&flight->view, flight->added, &flight->work);
        }
        scale = fmax(scale, tree_kinetic_energy(&flight->view, &flight->work));
        const double energy = correct(flight, is_newton, v);
        scale = i == 0 ? scale + energy : scale;
        if (is_linear || energy <= SETTLED * scale) {
            return true;
        }
        if (!(energy <= SHRINKS * before)) {
            if (energy <= STAGNATED * scale) {
                return true;
            }
            if (!is_newton || !isfinite(energy)) {
                return false;
            }
        }
        before = energy;
    }
    return before <= STAGNATED * scale;
}

void tree_fly(TreeFlight *flight, double *v) {
    const TreeView *view = &flight->view;
    const uint32_t width = view->tree->width;
    tree_axes_mass(view, &flight->axes, 0.0, flight->h, flight->armature);
    tree_axes_mass(view, &flight->axes, tree_share(flight->integrator), flight->h, flight->added);
    memcpy(v, flight->velocities, width * sizeof(double));
    place(flight, view, flight->positions);
    bool is_settled = settle(flight, false, v);
    if (!is_settled && flight->newton != NULL) {
        memcpy(v, flight->velocities, width * sizeof(double));
        is_settled = settle(flight, true, v);
    }
    if (!is_settled) { // as a body's spin: for this step its motion does not bend itself
        memcpy(v, flight->velocities, width * sizeof(double));
        place(flight, view, flight->positions);
        find_rest(flight, v, false);
        tree_factor(view, flight->added, &flight->work);
        correct(flight, false, v);
    }
}

void tree_flight_return(TreeFlight *flight, const double *velocities) {
    if (moves_masses(flight)) {
        place(flight, &flight->view, flight->positions);
    }
    tree_move(&flight->view, velocities, flight->work.frame);
}
