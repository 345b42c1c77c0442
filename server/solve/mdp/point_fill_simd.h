// SPDX-License-Identifier: MIT
// What contacts of the problem have, number by number in a quad of points, SIMD_COUNT contacts at a
// time: the file that includes this says how many.
#pragma once

#include "solve/contact_simd.h"
#include "solve/mdp/body_simd.h"
#include "solve/mdp/point_fill.h"

_Static_assert(sizeof(MassBlock) == MDP_BLOCK_NUMBERS * sizeof(double), "");

INLINE void fill_contacts(const double *const contact[SIMD_COUNT], int first, MdpPointQuad *quad) {
    const ContactColumns of = contact_columns(contact);
    store3(&quad->arm_a, first, of.arm_a);
    store3(&quad->arm_b, first, of.arm_b);
    store3(&quad->frame[0], first, of.normal);
    store3(&quad->frame[1], first, of.tangent);
    store3(&quad->frame[2], first, of.other);
    simd_store(quad->mu.at + first, of.mu);
    simd_store(quad->offset[0].at + first, of.motion_n + of.bias);
    simd_store(quad->offset[1].at + first, of.motion_t);
    simd_store(quad->offset[2].at + first, of.motion_o);
}

// Returns where they are surely regular.
INLINE SimdMask fill_blocks(const double *const block[SIMD_COUNT], Simd v_scale, int first,
                            MdpPointQuad *quad) {
    const SimdRows low = simd_rows(block, 0), high = simd_rows(block, MDP_BLOCK_NUMBERS - 4);
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
    return simd_bits(~is_regular) << first;
}

INLINE unsigned fill_quad(const MdpPointSource *from, MdpPointQuad *quad) {
    unsigned places = fill_places(from, 0, quad);
    if (SIMD_COUNT < MDP_QUAD) {
        places |= fill_places(from, MDP_QUAD - SIMD_COUNT, quad);
    }
    return places;
}
