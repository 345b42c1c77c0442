// SPDX-License-Identifier: MIT
// What free bodies add to A_ii, the normal and both tangents of a contact side by side in a vector
// of four. Numbers are those of the formulas one by one: no sum is taken in another order than by
// hand.
#pragma once

#include "base/assert.h"
#include "base/simd.h"
#include "solve/mass.h"

// The rows of A_ii: nn tt oo, and nt no to.
typedef struct MassLanes {
    Simd own, mixed;
} MassLanes;

// The normal and the tangents of a contact.
INLINE Simd3 frame_of(const ProblemContact *contact) {
    const Vec3 n = contact->normal, t = contact->tangent[0], o = contact->tangent[1];
    return (Simd3){{n.x, t.x, o.x, 0.0}, {n.y, t.y, o.y, 0.0}, {n.z, t.z, o.z, 0.0}};
}

INLINE Simd broadcast(double x) {
    return (Simd){x, x, x, x};
}

// Of nt, no and to the first and the second.
INLINE Simd first_of(Simd x) {
    return (Simd){x[0], x[0], x[1], x[3]};
}

INLINE Simd second_of(Simd x) {
    return (Simd){x[1], x[2], x[2], x[3]};
}

INLINE bool is_isotropic(const Sym3 *m) {
    return m->xx == m->yy && m->xx == m->zz && m->xy == 0.0 && m->xz == 0.0 && m->yz == 0.0;
}

// F^T (E/m + j (|arm|^2 E - arm arm^T)) F: what the product below comes to when I^-1 = j E
INLINE void add_round_side(const FreeMass *of, Simd3 frame, Simd3 arm, MassLanes *lanes) {
    const Simd j = broadcast(of->inverse_inertia.xx), along = simd3_dot(frame, arm);
    const Simd square = along * along;
    const Simd one = {square[1], square[0], square[0], 0.0},
               other = {square[2], square[2], square[1], 0.0};
    lanes->own += broadcast(of->inverse_mass) + j * (one + other);
    lanes->mixed -= j * first_of(along) * second_of(along);
}

// F^T (E/m - R I^-1 R) F of one free body, R = skew(arm)
INLINE void add_free_side(const FreeMass *of, Simd3 frame, Vec3 at, MassLanes *lanes) {
    const Simd3 arm = {broadcast(at.x), broadcast(at.y), broadcast(at.z)};
    if (is_isotropic(&of->inverse_inertia)) {
        add_round_side(of, frame, arm, lanes);
        return;
    }
    const Sym3 *m = &of->inverse_inertia;
    const Simd xy = broadcast(m->xy), xz = broadcast(m->xz), yz = broadcast(m->yz);
    const Simd3 turn = simd3_cross(arm, frame);
    const Simd3 spin = {broadcast(m->xx) * turn.x + xy * turn.y + xz * turn.z,
                        xy * turn.x + broadcast(m->yy) * turn.y + yz * turn.z,
                        xz * turn.x + yz * turn.y + broadcast(m->zz) * turn.z};
    lanes->own += broadcast(of->inverse_mass) + simd3_dot(spin, turn);
    lanes->mixed += first_of(spin.x) * second_of(turn.x) + first_of(spin.y) * second_of(turn.y) +
                    first_of(spin.z) * second_of(turn.z);
}

INLINE MassBlock block_of(MassLanes lanes) {
    return (MassBlock){.nn = lanes.own[0],
                       .nt = lanes.mixed[0],
                       .no = lanes.mixed[1],
                       .tt = lanes.own[1],
                       .to = lanes.mixed[2],
                       .oo = lanes.own[2]};
}

// The blocks of contacts of a problem in which all trees are free.
INLINE void add_free_contacts(const ProblemMass *mass, const uint32_t *contact, uint32_t count) {
    const ContactProblem *problem = mass->problem;
    ASSERT(problem->all_free);
    for (uint32_t i = 0; i < count; i++) {
        const ProblemContact *c = &problem->contact[contact[i]];
        const Simd3 frame = frame_of(c);
        MassLanes lanes = {broadcast(0.0), broadcast(0.0)};
        for (int s = 0; s < 2; s++) {
            if (c->side[s].tree != PROBLEM_NO_TREE) {
                add_free_side(&problem->free[c->side[s].tree], frame, c->side[s].arm, &lanes);
            }
        }
        mass->block[contact[i]] = block_of(lanes);
    }
}
