// SPDX-License-Identifier: MIT
// What the solution of one contact is made of: its block, what of it never changes, and where it
// may slide.
#pragma once

#include <stdbool.h>

typedef struct MdpBlock {
    double nn, nt, no, tt, to, oo; // A
    double mu;
} MdpBlock;

// Which branch answered: for tests and statistics.
typedef enum MdpBranch { MDP_OPEN, MDP_FRICTIONLESS, MDP_STICK, MDP_GRAZING, MDP_SLIDE } MdpBranch;

// det A over the cube of its mean eigenvalue; above it the condition is below 250
#define MDP_CAREFUL_SHARE 1.35e-2

typedef struct MdpPlan {
    MdpBlock block;
    double inverse[6];    // A^-1: nn nt no tt to oo
    double h11, h12, h22; // Ah: A reduced to the plane a_n.x = b_n
    double h_determinant; // h11 h22 - h12^2
    double kap;           // mu / A_nn
    double eccentricity;  // kap |(A_nt, A_no)| of the conic in that plane
    bool is_isotropic;    // a sphere's block: both laws have the same closed form
    bool is_careful;      // A^-1 as it stands here would lose too many digits
    bool has_one_slide;   // Coulomb's sliding solution is unique, whatever b
} MdpPlan;

// Where slides are looked for: the reduced problem at one b.
typedef struct MdpPlane {
    const MdpPlan *plan; // borrowed
    bool is_coulomb;     // or maximum dissipation
    double b_n;
    double bh1, bh2;
} MdpPlane;

// A point of the plane with its multiplier, and how well it slides.
typedef struct MdpSlide {
    MdpPlane plane;
    double y1, y2, nu;
    double push;     // nu |D| over what slip is made of: negative where it would pull
    double residual; // scaled, largest of the conditions; NaN never counts as small
} MdpSlide;

// The answers that most blocks of a sweep have, under both laws: open, or sticking. False, with x
// as it was: a plan's solve must decide.
static inline bool mdp_plan_is_easy(const MdpPlan *plan, const double b[3], double x[3]) {
    if (b[0] < 0.0) {
        x[0] = x[1] = x[2] = 0.0;
        return true;
    }
    const double *inverse = plan->inverse;
    double n = inverse[0] * b[0] + inverse[1] * b[1] + inverse[2] * b[2];
    double t = inverse[1] * b[0] + inverse[3] * b[1] + inverse[4] * b[2];
    double o = inverse[2] * b[0] + inverse[4] * b[1] + inverse[5] * b[2];
    double bound = plan->block.mu * n;
    if (!(b[0] > 0.0 && bound > 0.0 && t * t + o * o <= bound * bound) || plan->is_careful) {
        return false;
    }
    x[0] = n;
    x[1] = t;
    x[2] = o;
    return true;
}
