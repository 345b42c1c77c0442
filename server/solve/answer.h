// SPDX-License-Identifier: MIT
// What a solver hands back: velocities, impulses, and the relations between them that it means to
// have met, which the certificate (certificate.h) holds against it.
#pragma once

#include <stdint.h>

// The relation that a solver claims to have met.
typedef enum RelationKind {
    RELATION_CONE, // (*)  K in gamma _|_ u - shift e_n + R gamma + s mu |u_t + R_t gamma_t| e_n in
                   // K^*
    RELATION_DISSIPATION, // (D)  maximum dissipation
    RELATION_POLYHEDRAL,  // (P)  polyhedral cone of `directions` directions
    RELATION_LAGGED,      // (L)  friction bounded by a lagged normal impulse
    RELATION_PROGRAM      // (Q)  the optimality conditions of the solver's own quadratic program
} RelationKind;

// What a solver meant a contact to obey; zeros are a rigid contact.
typedef struct ContactRelation {
    double bias;                // [m/s]
    double normal_compliance;   // R_n [1/kg]
    double tangent_compliance;  // R_t [1/kg]
    double shift;               // [m/s]
    double s;                   // De Saxce term: 1 exact Coulomb, 0 convex relaxation
    double bound;               // (L): largest tangential impulse [N s]
    double program_gradient[3]; // (Q): grad f - A^T eta of x = gamma/h
    double program_curvature;   // (Q): largest diagonal entry of the contact's block of grad^2 f
    double program_multiplier;  // (Q): eta of the contact's row A x >= q
    double program_slack;       // (Q): (A x - q) of that row
} ContactRelation;

typedef struct RowRelation {
    double bias;       // [m/s]
    double compliance; // R [1/kg]
    double low, high;  // [N s]
    // (Q), as those of a contact; a curvature of 0: the row is no part of a program
    double program_gradient, program_curvature, program_multiplier, program_slack;
} RowRelation;

// A solver's answer, judged by the certificate. All arrays are borrowed from the caller's arena.
typedef struct Answer {
    RelationKind relation;
    uint32_t directions;      // (P)
    double *v;                // [velocity_count]
    double *momentum;         // [velocity_count] J^T gamma + G^T r, made by the judge
    double *contact_impulse;  // [3 contact_count]
    double *row_impulse;      // [row_count]
    ContactRelation *contact; // [contact_count]; NULL: all rigid, with the biases of the problem
    RowRelation *row;         // [row_count]
} Answer;
