// SPDX-License-Identifier: MIT
#include "step/trees/flight.h"

#include "base/assert.h"
#include "solve/dense/dense.h"

#include <string.h>

// ---- memory

size_t tree_flight_bytes(const Tree *tree) {
    ASSERT(tree->link_count > 0);
    const size_t width = tree->width, positions = tree->position_count;
    return 2 * tree_work_bytes(tree) +
           (3 * positions + 15 * width + 6 * (size_t)tree->link_count) * sizeof(double) +
           width * sizeof(SpringShare);
}

static double *take(unsigned char **at, size_t count) {
    double *part = (double *)(void *)*at;
    *at += count * sizeof(double);
    return part;
}

void tree_flight_take(TreeFlight *flight, const Tree *tree, unsigned char *at) {
    ASSERT(tree->link_count > 0);
    const size_t width = tree->width;
    tree_work_take(&flight->work, tree, at);
    at += tree_work_bytes(tree);
    tree_work_take(&flight->staged, tree, at);
    at += tree_work_bytes(tree);
    flight->positions = take(&at, tree->position_count);
    flight->moved = take(&at, tree->position_count);
    flight->moved_springs = take(&at, tree->position_count);
    flight->share = (SpringShare *)(void *)at; // of doubles
    at += width * sizeof(SpringShare);
    flight->wrenches = take(&at, 6 * (size_t)tree->link_count);
    double **const columns[] = {
        &flight->velocities, &flight->armature, &flight->added,   &flight->mean,   &flight->way,
        &flight->change,     &flight->rest,     &flight->springs, &flight->others, &flight->pulls,
        &flight->settled,    &flight->resist,   &flight->moving,  &flight->acting, &flight->rates};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        *columns[i] = take(&at, width);
    }
}

void tree_flight_factor(TreeFlight *flight) {
    ASSERT(flight->matrix != NULL && flight->factor != NULL);
    tree_mass_matrix(&flight->view, flight->added, &flight->work, flight->matrix);
    flight->is_factored = dense_factor(flight->view.tree->width, flight->matrix, -HUGE_VAL,
                                       flight->factor); // NaN shows where it is judged
}

// ---- where it is

void tree_flight_place(TreeFlight *flight, const TreeView *view, const double *positions) {
    tree_place(view, positions, flight->work.frame);
    tree_weigh(view, flight->mass, &flight->work);
}

void tree_flight_recall(TreeFlight *flight) {
    tree_recall(&flight->view, flight->pose, flight->velocity, flight->work.frame);
    tree_weigh(&flight->view, flight->mass, &flight->work);
}

TreeView tree_flight_later(const TreeFlight *flight, double time) {
    ASSERT(time >= 0.0);
    TreeView view = flight->view;
    view.base.position = vec3_add_scaled(view.base.position, time, view.base_velocity);
    view.base.orientation = quat_turn(view.base.orientation, view.base_spin, time);
    return view;
}

// [J] What gravity and wrenches would make of the links in this step if nothing held them: they may
// cancel but for roundings of that.
static double energy_of_forces(const TreeFlight *flight) {
    double sum = 0.0;
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        const BodyMass *mass = &flight->mass[flight->view.link[i].body];
        const double *wrench = flight->has_wrenches ? flight->wrenches + 6 * (size_t)i : NULL;
        double change = flight->h * vec3_norm(flight->gravity);
        if (wrench != NULL) {
            const Vec3 torque = vec3_load(wrench + 3);
            const Sym3 inverse = sym3_inverse(mass->inertia);
            change += flight->h * vec3_norm(vec3_load(wrench)) / mass->mass;
            sum += 0.5 * flight->h * flight->h * vec3_dot(torque, torque) *
                   (inverse.xx + inverse.yy + inverse.zz);
        }
        sum += 0.5 * mass->mass * change * change;
    }
    return sum;
}

// Of a correction that shrinks no more, beside what there is.
bool tree_flight_is_rounding(const TreeFlight *flight, double energy, double scale) {
    return energy <= TREE_STAGNATED * scale || energy <= TREE_STAGNATED * energy_of_forces(flight);
}
