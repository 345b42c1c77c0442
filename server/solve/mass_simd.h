// SPDX-License-Identifier: MIT
// What free bodies add to A_ii: of one contact with its normal and both tangents side by side in a
// vector of four, or of four contacts side by side. Numbers are those of the formulas one by one,
// either way: no sum is taken in another order than by hand.
#pragma once

#include "base/assert.h"
#include "solve/contact_simd.h"
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

// ---- one contact

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

// ---- four contacts side by side

_Static_assert(SIMD_COUNT == 4, "a block is written as four numbers and two");

// What free bodies have of their mass, one in each place.
typedef struct FreeColumns {
    Simd inverse_mass, xx, yy, zz, xy, xz, yz; // the inverse inertia
} FreeColumns;

// Offsets in a FreeMass, as numbers.
enum { FREE_INVERSE_MASS = 1, FREE_INVERSE_INERTIA = 8 };
_Static_assert(offsetof(FreeMass, inverse_mass) == FREE_INVERSE_MASS * sizeof(double), "");
_Static_assert(offsetof(FreeMass, inverse_inertia) == FREE_INVERSE_INERTIA * sizeof(double), "");
_Static_assert(offsetof(Sym3, yz) == 5 * sizeof(double), "");

INLINE FreeColumns free_columns(const double *const free[SIMD_COUNT]) {
    const SimdRows low = simd_rows(free, FREE_INVERSE_INERTIA),
                   high = simd_rows(free, FREE_INVERSE_INERTIA + 2);
    return (FreeColumns){.inverse_mass = SIMD_OF(free, [FREE_INVERSE_MASS]),
                         .xx = low.p,
                         .yy = low.q,
                         .zz = low.r,
                         .xy = low.s,
                         .xz = high.r,
                         .yz = high.s};
}

// A free body's mass as numbers, or none.
INLINE const double *free_numbers(const FreeMass *free, uint32_t tree) {
    static const FreeMass none = {.mass = 0.0};
    return (const double *)(tree == PROBLEM_NO_TREE ? &none : &free[tree]);
}

typedef struct Blocks {
    Simd nn, nt, no, tt, to, oo;
} Blocks;

INLINE SimdMask are_isotropic(const FreeColumns *m) {
    return (m->xx == m->yy) & (m->xx == m->zz) & (m->xy == 0.0) & (m->xz == 0.0) & (m->yz == 0.0);
}

INLINE Blocks round_sides(const FreeColumns *of, const ContactColumns *c, Simd3 arm) {
    const Simd n = simd3_dot(c->normal, arm), t = simd3_dot(c->tangent, arm),
               o = simd3_dot(c->other, arm);
    const Simd nn = n * n, tt = t * t, oo = o * o, j = of->xx, w = of->inverse_mass;
    return (Blocks){.nn = w + j * (tt + oo),
                    .nt = -(j * n * t),
                    .no = -(j * n * o),
                    .tt = w + j * (nn + oo),
                    .to = -(j * t * o),
                    .oo = w + j * (nn + tt)};
}

INLINE Simd3 multiply(const FreeColumns *of, Simd3 turn) {
    return (Simd3){of->xx * turn.x + of->xy * turn.y + of->xz * turn.z,
                   of->xy * turn.x + of->yy * turn.y + of->yz * turn.z,
                   of->xz * turn.x + of->yz * turn.y + of->zz * turn.z};
}

INLINE Blocks any_sides(const FreeColumns *of, const ContactColumns *c, Simd3 arm) {
    const Simd3 turn_n = simd3_cross(arm, c->normal), turn_t = simd3_cross(arm, c->tangent),
                turn_o = simd3_cross(arm, c->other);
    const Simd3 spin_n = multiply(of, turn_n), spin_t = multiply(of, turn_t),
                spin_o = multiply(of, turn_o);
    return (Blocks){.nn = of->inverse_mass + simd3_dot(spin_n, turn_n),
                    .nt = simd3_dot(spin_n, turn_t),
                    .no = simd3_dot(spin_n, turn_o),
                    .tt = of->inverse_mass + simd3_dot(spin_t, turn_t),
                    .to = simd3_dot(spin_t, turn_o),
                    .oo = of->inverse_mass + simd3_dot(spin_o, turn_o)};
}

INLINE Blocks choose_blocks(SimdMask mask, Blocks a, Blocks b) {
    return (Blocks){simd_choose(mask, a.nn, b.nn), simd_choose(mask, a.nt, b.nt),
                    simd_choose(mask, a.no, b.no), simd_choose(mask, a.tt, b.tt),
                    simd_choose(mask, a.to, b.to), simd_choose(mask, a.oo, b.oo)};
}

// What the sides of one kind add; where there is no body, zeros.
INLINE Blocks sides(const double *const free[SIMD_COUNT], const ContactColumns *c, Simd3 arm) {
    const FreeColumns of = free_columns(free);
    const SimdMask is_round = are_isotropic(&of);
    if (!simd_any(~is_round)) {
        return round_sides(&of, c, arm);
    }
    const Blocks any = any_sides(&of, c, arm);
    return simd_any(is_round) ? choose_blocks(is_round, round_sides(&of, c, arm), any) : any;
}

INLINE void write_block(MassBlock *block, Simd first, double to, double oo) {
    double *at = (double *)block;
    *(SimdAnywhere *)at = first;
    at[4] = to;
    at[5] = oo;
}

INLINE void write_blocks(Blocks of, const uint32_t *contact, MassBlock *block) {
    simd_transpose(&of.nn, &of.nt, &of.no, &of.tt);
    write_block(&block[contact[0]], of.nn, of.to[0], of.oo[0]);
    write_block(&block[contact[1]], of.nt, of.to[1], of.oo[1]);
    write_block(&block[contact[2]], of.no, of.to[2], of.oo[2]);
    write_block(&block[contact[3]], of.tt, of.to[3], of.oo[3]);
}

INLINE void add_four(const ProblemMass *mass, const uint32_t *contact) {
    VALIDATE(mass->problem->all_free);
    const FreeMass *free = mass->problem->free;
    const ProblemContact *all = mass->problem->contact;
    const ProblemContact *of[SIMD_COUNT] = {&all[contact[0]], &all[contact[1]], &all[contact[2]],
                                            &all[contact[3]]};
    const double *const number[SIMD_COUNT] = {(const double *)of[0], (const double *)of[1],
                                              (const double *)of[2], (const double *)of[3]};
    const double *const a[SIMD_COUNT] = {
        free_numbers(free, of[0]->side[0].tree), free_numbers(free, of[1]->side[0].tree),
        free_numbers(free, of[2]->side[0].tree), free_numbers(free, of[3]->side[0].tree)};
    const double *const b[SIMD_COUNT] = {
        free_numbers(free, of[0]->side[1].tree), free_numbers(free, of[1]->side[1].tree),
        free_numbers(free, of[2]->side[1].tree), free_numbers(free, of[3]->side[1].tree)};
    const ContactColumns c = contact_columns(number);
    const Blocks of_a = sides(a, &c, c.arm_a), of_b = sides(b, &c, c.arm_b);
    const Simd zero = simd_all(0.0); // no sum is -0
    write_blocks((Blocks){of_a.nn + of_b.nn, zero + of_a.nt + of_b.nt, zero + of_a.no + of_b.no,
                          of_a.tt + of_b.tt, zero + of_a.to + of_b.to, of_a.oo + of_b.oo},
                 contact, mass->block);
}

// The blocks of contacts of a problem in which all trees are free.
INLINE void add_free_contacts(const ProblemMass *mass, const uint32_t *contact, uint32_t count) {
    const ContactProblem *problem = mass->problem;
    ASSERT(problem->all_free);
    const uint32_t fours = count / SIMD_COUNT * SIMD_COUNT;
    for (uint32_t i = 0; i < fours; i += SIMD_COUNT) {
        add_four(mass, contact + i);
    }
    for (uint32_t i = fours; i < count; i++) {
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
