// SPDX-License-Identifier: MIT
// What the files of the friction program share.
#pragma once

#include "solve/compliant/cone.h"
#include "solve/compliant/program.h"

typedef enum PartKind {
    PART_NONE,      // it may not push, or moves nothing
    PART_CONTACT,   // cone, or ray where nothing holds; tangents count
    PART_LIMIT,     // a row that pushes one way
    PART_BOUNDED,   // a row whose bounds are given
    PART_BILATERAL, // a spring
    PART_FIXED      // a row with one value alone
} PartKind;

struct ProgramPart {
    PartKind kind;
    uint32_t count; // numbers: 3 or 1
    double sign;    // of a limit that pulls, -1
    double mu;
    double target[3];
    double r[3];   // R
    double weight; // of b^2 / 2
    double own[3]; // of gamma^2 / 2
    double low, high;
    double gamma[3], z[3]; // and their distance from the bounds' multipliers
    double eta, p;         // of what a law asks for at least
    double z_high;         // of the upper bound; z[0] is that of the lower
    // the linearised part: d gamma = -inverse (C J dv + J dy + rho); and its four 3 x 3 matrices in
    // the system, of the first equation v and y, of the second v and y
    double inverse[9], c[3], omega[3], rho[3], local[36];
    CompliantScaling scaling;
    double inside[9];       // the inverse in its basis
    double of_low, of_high; // of a bounded row, z over the distance
    double to[3];           // dz = to - theta d gamma
    double eta_to, p_rest, b_rest;
    double d_gamma[3], dz[3], d_eta, d_p, d_z_high;
};

// Of a constraint; and whole, with its numbers unset, which program_begin_part sets.
PartKind program_part_kind(const NewtonConstraint *c, const CompliantLaw *law);
ProgramPart program_part(const CompliantProgram *p, const NewtonConstraint *c,
                         const CompliantLaw *law);

// How large gamma is where the island's velocities are of size V.
double program_size(const CompliantProgram *p, uint32_t i);

// Inside of all bounds, and multipliers of the size that b would ask for.
void program_begin_part(CompliantProgram *p, uint32_t i);

// J v of a part, with its sign, and p += J^T of.
void program_product(const CompliantProgram *p, uint32_t i, const double *v, double *u);
void program_momentum(const CompliantProgram *p, uint32_t i, const double *of, double *to);

// -eta e_n + weight b, and of a spring -q: what A y is made of.
void program_adjoint(const CompliantProgram *p, uint32_t i, double *of);

// All parts at v and y, towards gaps of `at`.
void program_linearise(CompliantProgram *p, double at);

// The system of linearised parts.
LdltOutcome program_factor(CompliantProgram *p);

// Factors the masses with springs alone; then x becomes what it moves. false: there is no time left
// for the factor, and nothing is to be solved with it.
bool program_factor_masses(CompliantProgram *p);
void program_solve_masses(CompliantProgram *p, double *x);

// Of the factored system: the steps of all, and how far they may go.
double program_find_step(CompliantProgram *p);

// Of one bound, after alpha of the step.
double program_gap(const CompliantProgram *p, double alpha);

void program_walk(CompliantProgram *p, double alpha);
