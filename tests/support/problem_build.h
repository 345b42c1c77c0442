// SPDX-License-Identifier: MIT
// Contact problems made by hand, for tests: trees, contacts and rows are added one by one, up to
// the limits below. Also the same problem with every free body written as a dense tree, and a small
// stream of numbers to make random problems from.
#pragma once

#include "base/arena.h"
#include "solve/problem.h"

enum {
    PROBLEM_BUILD_TREES = 1024,
    PROBLEM_BUILD_CONTACTS = 8192,
    PROBLEM_BUILD_ROWS = 4096,
    PROBLEM_BUILD_LINKS = 4096,
    PROBLEM_BUILD_NUMBERS = 1 << 17
};

typedef struct ProblemBuild {
    ContactProblem problem; // its arrays are the ones below
    Arena arena;            // owned
    ProblemTree *tree;
    FreeMass *free;
    ProblemLink *link;
    double *v_free;
    ProblemContact *contact;
    ContactLaw *law;
    ProblemRow *row;
    RowBlock *row_block;
    double *number;
} ProblemBuild;

// time step 0.01 s, gravity 9.81 m/s^2, nothing else
void problem_build_init(ProblemBuild *build);
void problem_build_deinit(ProblemBuild *build);

// All return the tree's index; v_free has 6 or `width` numbers, `mass` width x width.
uint32_t problem_build_free(ProblemBuild *build, double mass, Sym3 inertia, const double *v_free);
uint32_t problem_build_dense(ProblemBuild *build, uint32_t width, const double *mass,
                             const double *v_free);

// A link as it is added: `parent` is counted in the tree, `first` comes of those before.
typedef struct ProblemBuildLink {
    uint32_t parent, count;
    double mass;
    Sym3 inertia;
    Vec3 center;
    double motion[PROBLEM_LINK_VELOCITIES * 6];
    double added[PROBLEM_LINK_VELOCITIES * PROBLEM_LINK_VELOCITIES]; // count x count
} ProblemBuildLink;

// A tree of links; v_free has as many numbers as they have velocities.
uint32_t problem_build_links(ProblemBuild *build, uint32_t count, const ProblemBuildLink *link,
                             const double *v_free);

// Random links: some fixed to their parent, some without mass, some springy; at most six for each
// of `count`.
uint32_t problem_build_random_links(ProblemBuild *build, uint64_t *state, uint32_t count);

// A contact with no sides yet, frame from the normal. Borrowed until the build ends.
ProblemContact *problem_build_contact(ProblemBuild *build, Vec3 normal, double mu, double bias);
void problem_build_side(ProblemContact *contact, int side, uint32_t tree, Vec3 arm);
void problem_build_dense_side(ProblemBuild *build, ProblemContact *contact, int side, uint32_t tree,
                              const double *jacobian);

// A row with no blocks yet; blocks are added to the newest row.
ProblemRow *problem_build_row(ProblemBuild *build, double low, double high, double bias);
void problem_build_block(ProblemBuild *build, uint32_t tree, const double *jacobian);

// `dense`, just made, becomes `from` with dense trees alone.
void problem_build_densify(const ContactProblem *from, ProblemBuild *dense);

// A random number in [-1, 1); the state must not be 0.
double problem_build_random(uint64_t *state);

// A random symmetric positive definite matrix, at most 66 wide, of eigenvalues of at least `least`.
void problem_build_random_mass(uint64_t *state, uint32_t width, double least, double *mass);

// Random free bodies, some of them round, with contacts among them and with the ground.
void problem_build_random_bodies(ProblemBuild *build, uint64_t *state, uint32_t bodies,
                                 uint32_t contacts);
