// SPDX-License-Identifier: MIT
// A tree in its flight (fly.h): what it begins with, and what its functions work in.
#pragma once

#include "base/arena.h"
#include "step/trees/axes.h"
#include "step/trees/tree.h"
#include "world/settings.h"

typedef struct TreeFlight {
    TreeView view; // at the begin of the step
    TreeWork work;
    TreeAxes axes;
    const BodyMass *mass;          // the world's columns
    const double *pose, *velocity; // likewise
    Vec3 gravity;
    double h;
    uint8_t integrator, rotation;
    double *positions, *velocities; // at the begin
    double *wrenches;               // 6 per link
    bool has_wrenches;
    TreeActs acts;            // along the coordinates
    double *armature, *added; // [width] on the diagonal of the mass, and all that is added there
    SpringShare *share;       // [width] where springs are taken, if there are any
    double *pulls;            // [width] where dampers and drives are, if there are any
    double *moved, *moved_springs; // positions to work with; those where springs are taken
    double *matrix, *factor; // [width^2] of a narrow tree: its mass and what is added, factored
    bool is_factored;        // `factor`, or of a wide tree the work's, is of that, as links are
    double kinetic;          // energy at the begin, without armatures [J]
    double *mean, *way, *change, *rest, *springs, *others, *settled; // [width] each, likewise
    bool by_stages;         // it flew so (staged.h); then, [width] each:
    double *moving;         // what brings the tree where its stages do
    double *acting, *rates; // what acts beside springs, and rates, by the mean of these
    TreeWork staged;        // of the links where a stage has them
    double *resist;         // [width] of springs of three turns, in a step that is thrown (axes.h)
    bool is_thrown;         // no step was small enough: tree_carry is to follow
    bool is_held;           // then, by springs of three turns: with the masses of the begin
    bool is_moving;         // links are as tree_flight_return would place and move them, by v
} TreeFlight;

// From here on a matrix and its factor cost more than the passes over links do that stand for them
// (tree_factor, solve/mass_links.h): a chain's step takes 0.84 of the time with a matrix at 24
// hinges, 0.90 at 32, 0.98 at 40, and 1.07 at 48.
enum { TREE_WIDE = 40 };

static inline bool tree_is_wide(const Tree *tree) {
    return tree->width >= TREE_WIDE;
}

// What factors of a narrow tree stand in is not of it.
size_t tree_flight_bytes(const Tree *tree);
void tree_flight_take(TreeFlight *flight, const Tree *tree, unsigned char *at);

// The mass of a narrow tree as its links are placed, and its factor.
void tree_flight_factor(TreeFlight *flight);

// Places links, and weighs them.
void tree_flight_place(TreeFlight *flight, const TreeView *view, const double *positions);
// As at the begin of the step.
void tree_flight_recall(TreeFlight *flight);
// The view with its base as it is after a time.
TreeView tree_flight_later(const TreeFlight *flight, double time);

// What is taken for rounding of an energy, as a share of what there is.
#define TREE_STAGNATED 1e-22

// Of the energy of a correction that shrinks no more, beside that of the motion: whether it is
// rounding.
bool tree_flight_is_rounding(const TreeFlight *flight, double energy, double scale);
