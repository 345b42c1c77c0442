// SPDX-License-Identifier: MIT
// What contacts of a problem have, number by number, SIMD_COUNT contacts at a time, and how fast
// they move where all trees are free: the file that includes this says how many. Sums are in the
// order of problem.h's, so that all bits are the same but for the sign of zeros.
#pragma once

#include "base/simd.h"
#include "solve/problem.h"

#include <stddef.h>

// A contact as numbers, four of which are read at once: where they begin.
enum {
    CONTACT_SIDE_A = 0, // its tree, and the arm
    CONTACT_SIDE_B = 4,
    CONTACT_NORMAL = 8,    // … and the first number of the tangents
    CONTACT_TANGENT = 12,  // four more of them
    CONTACT_FRICTION = 16, // between the last of them and the gap
    CONTACT_BIAS = 19      // … and the motion
};

#define CONTACT_NUMBER(member) (offsetof(ProblemContact, member) / sizeof(double))
_Static_assert(CONTACT_NUMBER(side[0].arm) == CONTACT_SIDE_A + 1, "");
_Static_assert(CONTACT_NUMBER(side[1].arm) == CONTACT_SIDE_B + 1, "");
_Static_assert(CONTACT_NUMBER(normal) == CONTACT_NORMAL, "");
_Static_assert(CONTACT_NUMBER(tangent[0]) == CONTACT_NORMAL + 3, "");
_Static_assert(CONTACT_NUMBER(tangent[1].z) == CONTACT_FRICTION, "");
_Static_assert(CONTACT_NUMBER(mu) == CONTACT_FRICTION + 1, "");
_Static_assert(CONTACT_NUMBER(bias) == CONTACT_BIAS, "");
_Static_assert(CONTACT_NUMBER(motion) == CONTACT_BIAS + 1, "");

typedef struct ContactColumns {
    Simd3 arm_a, arm_b;
    Simd3 normal, tangent, other; // the frame
    Simd mu, bias;
    Simd motion_n, motion_t, motion_o;
} ContactColumns;

INLINE ContactColumns contact_columns(const double *const contact[SIMD_COUNT]) {
    const SimdRows a = simd_rows(contact, CONTACT_SIDE_A), b = simd_rows(contact, CONTACT_SIDE_B),
                   n = simd_rows(contact, CONTACT_NORMAL), t = simd_rows(contact, CONTACT_TANGENT),
                   f = simd_rows(contact, CONTACT_FRICTION), m = simd_rows(contact, CONTACT_BIAS);
    return (ContactColumns){.arm_a = {a.q, a.r, a.s},
                            .arm_b = {b.q, b.r, b.s},
                            .normal = {n.p, n.q, n.r},
                            .tangent = {n.s, t.p, t.q},
                            .other = {t.r, t.s, f.p},
                            .mu = f.q,
                            .bias = m.p,
                            .motion_n = m.q,
                            .motion_t = m.r,
                            .motion_o = m.s};
}

// A free body's six, or zeros.
INLINE const double *contact_six(const double *v, uint32_t tree) {
    static const double still[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    return tree == PROBLEM_NO_TREE ? still : v + 6 * (size_t)tree;
}

INLINE Simd3 contact_point_velocity(const double *const v[SIMD_COUNT], Simd3 arm) {
    const SimdRows low = simd_rows(v, 0), high = simd_rows(v, 2);
    return simd3_add((Simd3){low.p, low.q, low.r},
                     simd3_cross((Simd3){low.s, high.r, high.s}, arm));
}

// problem_contact_velocity, where all trees are free; `a` and `b` are the velocities of their
// sides.
INLINE Simd3 contact_velocity(const ContactColumns *of, const double *const a[SIMD_COUNT],
                              const double *const b[SIMD_COUNT]) {
    const Simd zero = simd_all(0.0);
    const Simd3 relative =
        simd3_subtract(contact_point_velocity(b, of->arm_b), contact_point_velocity(a, of->arm_a));
    return (Simd3){zero + simd3_dot(of->normal, relative) + of->motion_n,
                   zero + simd3_dot(of->tangent, relative) + of->motion_t,
                   zero + simd3_dot(of->other, relative) + of->motion_o};
}
