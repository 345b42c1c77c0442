// SPDX-License-Identifier: MIT
#include "step/tree_fly.h"

#include <string.h>

// A step leaves a share of some h w of the error. Where it leaves more of its energy than this, a
// tree turns too far in a step for what is implicit in its velocities alone to keep energies: it is
// thrown. A body alone keeps them anyhow.
enum { STEPS_MAX = 40 };
#define SHRINKS       0.01
#define SHRINKS_ALONE 0.25

// Energies of corrections, as shares of that of the motion: 1e-8 of a velocity, after which at most
// a tenth of that is left, far below what the step itself is wrong by; of a body alone, which is to
// be what a free body is, all but rounding; and what is taken for rounding where it shrinks no
// more.
#define SETTLED       1e-16
#define SETTLED_ALONE 1e-30
#define STAGNATED     1e-22

// ---- memory

size_t tree_flight_bytes(const Tree *tree) {
    const size_t width = tree->width, positions = tree->position_count;
    return tree_work_bytes(tree) +
           (2 * positions + 9 * width + 6 * (size_t)tree->link_count) * sizeof(double);
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
        flight->mean[k] = flight->rotation == ROTATION_EXPLICIT   ? v0
                          : flight->rotation == ROTATION_IMPLICIT ? v[k]
                                                                  : 0.5 * (v0 + v[k]);
        flight->way[k] = v0 + share * (v[k] - v0);
        flight->change[k] = (v[k] - v0) / h;
        flight->mean[k] = products ? flight->mean[k] : 0.0;
    }
    TreeView view = flight->view;
    if (moves_masses(flight) || flight->has_forces) {
        tree_advance(&view, flight->positions, flight->way, share * h, flight->moved);
    }
    if (moves_masses(flight)) {
        view = base_later(flight, share * h);
        place(flight, &view, flight->moved);
    }
    tree_move(&view, flight->mean, flight->work.frame);
    tree_accelerate(&view, flight->mean, flight->change, &flight->work);
    tree_forces(&view, flight->gravity, flight->has_wrenches ? flight->wrenches : NULL,
                &flight->work, flight->rest);
    if (flight->has_forces) {
        tree_axes_forces(&view, &flight->axes, flight->moved, flight->way, flight->springs,
                         flight->others);
    }
    for (uint32_t k = 0; k < width; k++) {
        const double forces = flight->has_forces ? flight->springs[k] + flight->others[k] : 0.0;
        flight->rest[k] = h * (flight->rest[k] - forces + flight->armature[k] * flight->change[k]);
    }
}

void tree_flight_load(TreeFlight *flight, const double *v) {
    find_rest(flight, v, true);
}

// ---- steps

// The energy of the correction that the rest asks for; v is corrected.
static double correct(TreeFlight *flight, double *v) {
    const uint32_t width = flight->view.tree->width;
    double *step = flight->change, energy = 0.0;
    memcpy(step, flight->rest, width * sizeof(double));
    tree_solve(&flight->view, &flight->work, step);
    for (uint32_t k = 0; k < width; k++) {
        energy += step[k] * flight->rest[k];
        v[k] -= step[k];
    }
    return fabs(energy);
}

// Takes steps until they are rounding. false: they do not shrink; written so that NaN is that.
static bool settle(TreeFlight *flight, double *v) {
    const bool is_linear = flight->rotation == ROTATION_EXPLICIT && !moves_masses(flight);
    const bool is_alone = flight->view.tree->link_count == 1;
    const double shrinks = is_alone ? SHRINKS_ALONE : SHRINKS,
                 settled = is_alone ? SETTLED_ALONE : SETTLED;
    double before = HUGE_VAL, scale = 0.0;
    for (int i = 0; i < STEPS_MAX; i++) {
        find_rest(flight, v, true);
        if (i == 0 || (i == 1 && moves_masses(flight))) {
            tree_factor(&flight->view, flight->added, &flight->work);
        }
        scale = fmax(scale, tree_kinetic_energy(&flight->view, &flight->work));
        const double energy = correct(flight, v);
        scale = i == 0 ? scale + energy : scale;
        if (is_linear || energy <= settled * scale) {
            return true;
        }
        if (!(energy <= shrinks * before)) {
            return energy <= STAGNATED * scale;
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
    flight->is_thrown = !settle(flight, v);
    if (flight->is_thrown) {
        memcpy(v, flight->velocities, width * sizeof(double));
        place(flight, view, flight->positions);
        find_rest(flight, v, false);
        tree_factor(view, flight->added, &flight->work);
        correct(flight, v);
    }
}

void tree_flight_return(TreeFlight *flight, const double *velocities) {
    if (moves_masses(flight)) {
        place(flight, &flight->view, flight->positions);
    }
    tree_move(&flight->view, velocities, flight->work.frame);
}

// ---- where no step is small enough

void tree_carry(TreeFlight *flight, const TreeView *there, const double *positions,
                double *velocities) {
    const uint32_t count = there->tree->link_count, width = there->tree->width;
    TreeWork *work = &flight->work;
    place(flight, &flight->view, flight->positions);
    tree_move(&flight->view, velocities, work->frame);
    for (uint32_t i = 0; i < count; i++) { // spins turn with their bodies
        const TreeFrame *frame = &work->frame[i];
        const Mat3 axes = quat_to_mat3(frame->orientation);
        work->change[i] = (TreePair){frame->velocity, mat3_tmul_vec(axes, frame->spin)};
    }
    place(flight, there, positions);
    memset(flight->rest, 0, width * sizeof(double));
    tree_move(there, flight->rest, work->frame); // what the base does by itself
    for (uint32_t i = 0; i < count; i++) {
        const TreeFrame *frame = &work->frame[i];
        const Vec3 spin = quat_rotate(frame->orientation, work->change[i].angular),
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
