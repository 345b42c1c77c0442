// SPDX-License-Identifier: MIT
// What contacts of the problem have, number by number in a quad of points, SIMD_COUNT contacts at a
// time: the file that includes this says how many.
#pragma once

#include "solve/mdp/body_simd.h"
#include "solve/mdp/point_fill.h"

#include <stddef.h>

// A contact as numbers, four of which are read at once: where they begin.
enum {
    CONTACT_SIDE_A = 0, // its tree, and the arm
    CONTACT_SIDE_B = 4,
    CONTACT_NORMAL = 8,    // … and the first number of the frame
    CONTACT_FRAME = 12,    // four more of it
    CONTACT_FRICTION = 16, // between the last of the frame and the gap
    CONTACT_BIAS = 19      // … and the motion
};

#define NUMBER_OF(member) (offsetof(ProblemContact, member) / sizeof(double))
_Static_assert(NUMBER_OF(side[0].arm) == CONTACT_SIDE_A + 1, "");
_Static_assert(NUMBER_OF(side[1].arm) == CONTACT_SIDE_B + 1, "");
_Static_assert(NUMBER_OF(normal) == CONTACT_NORMAL, "");
_Static_assert(NUMBER_OF(tangent[0]) == CONTACT_NORMAL + 3, "");
_Static_assert(NUMBER_OF(tangent[1].z) == CONTACT_FRICTION, "");
_Static_assert(NUMBER_OF(mu) == CONTACT_FRICTION + 1, "");
_Static_assert(NUMBER_OF(bias) == CONTACT_BIAS, "");
_Static_assert(NUMBER_OF(motion) == CONTACT_BIAS + 1, "");
_Static_assert(sizeof(MassBlock) == MDP_BLOCK_NUMBERS * sizeof(double), "");

INLINE void fill_contacts(const double *const contact[SIMD_COUNT], int first, MdpPointQuad *quad) {
    SimdRows of = load_rows(contact, CONTACT_SIDE_A);
    store3(&quad->arm_a, first, (Simd3){of.q, of.r, of.s});
    of = load_rows(contact, CONTACT_SIDE_B);
    store3(&quad->arm_b, first, (Simd3){of.q, of.r, of.s});
    of = load_rows(contact, CONTACT_NORMAL);
    store3(&quad->frame[0], first, (Simd3){of.p, of.q, of.r});
    simd_store(quad->frame[1].x.at + first, of.s);
    of = load_rows(contact, CONTACT_FRAME);
    simd_store(quad->frame[1].y.at + first, of.p);
    simd_store(quad->frame[1].z.at + first, of.q);
    simd_store(quad->frame[2].x.at + first, of.r);
    simd_store(quad->frame[2].y.at + first, of.s);
    of = load_rows(contact, CONTACT_FRICTION);
    simd_store(quad->frame[2].z.at + first, of.p);
    simd_store(quad->mu.at + first, of.q);
    of = load_rows(contact, CONTACT_BIAS);
    simd_store(quad->offset[0].at + first, of.q + of.p);
    simd_store(quad->offset[1].at + first, of.r);
    simd_store(quad->offset[2].at + first, of.s);
}

// Returns where they are surely regular.
INLINE SimdMask fill_blocks(const double *const block[SIMD_COUNT], Simd v_scale, int first,
                            MdpPointQuad *quad) {
    const SimdRows low = load_rows(block, 0), high = load_rows(block, MDP_BLOCK_NUMBERS - 4);
    const Simd nn = low.p, nt = low.q, no = low.r, tt = low.s, to = high.r, oo = high.s;
    simd_store(quad->block[0].at + first, nn);
    simd_store(quad->block[1].at + first, nt);
    simd_store(quad->block[2].at + first, no);
    simd_store(quad->block[3].at + first, tt);
    simd_store(quad->block[4].at + first, to);
    simd_store(quad->block[5].at + first, oo);
    Simd w = (nn + tt + oo) / simd_all(3.0), share = w / v_scale;
    simd_store(quad->weight.at + first, share * share);
    Simd determinant =
        nn * (tt * oo - to * to) - nt * (nt * oo - to * no) + no * (nt * to - tt * no);
    return determinant > simd_all(MDP_REGULAR_SHARE) * w * w * w;
}

INLINE void fill_impulses(const double *const impulse[SIMD_COUNT], int first, MdpPointQuad *quad) {
    const Simd none = simd_all(0.0);
    simd_store(quad->impulse[0].at + first, SIMD_OF(impulse, [0]));
    simd_store(quad->impulse[1].at + first, SIMD_OF(impulse, [1]));
    simd_store(quad->impulse[2].at + first, SIMD_OF(impulse, [2]));
    simd_store(quad->before[0].at + first, none);
    simd_store(quad->before[1].at + first, none);
    simd_store(quad->before[2].at + first, none);
}

INLINE unsigned fill_places(const MdpPointSource *from, int first, MdpPointQuad *quad) {
    fill_contacts(from->contact + first, first, quad);
    fill_impulses(from->impulse + first, first, quad);
    SimdMask is_regular =
        fill_blocks(from->block + first, simd_load(from->v_scale.at + first), first, quad);
    return bits_of(~is_regular) << first;
}

INLINE unsigned fill_quad(const MdpPointSource *from, MdpPointQuad *quad) {
    unsigned places = fill_places(from, 0, quad);
    if (SIMD_COUNT < MDP_QUAD) {
        places |= fill_places(from, MDP_QUAD - SIMD_COUNT, quad);
    }
    return places;
}
