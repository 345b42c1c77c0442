// SPDX-License-Identifier: MIT
// Quads of points are filled one after the other, each from what its places have in the problem.
#include "solve/mdp/pack.h"

#include "base/assert.h"
#include "solve/mdp/point_fill.h"

#include <string.h>

enum { EMPTY = UINT8_MAX }; // every byte of a place without a contact

// Of a contact of two trees.
static uint32_t island_of(const uint32_t *of_tree, uint32_t a, uint32_t b) {
    return of_tree[a != PROBLEM_NO_TREE ? a : b];
}

// Which contact stands in which place, and in which order sums are taken.
static void list_places(const MdpPack *pack, const MdpGroup *group, const MdpSpan *span) {
    const Islands *islands = &pack->judge->islands;
    const uint32_t first = group->first[MDP_POINT] * MDP_QUAD;
    uint32_t before = UINT32_MAX; // the island of the contact before: none
    memset(pack->point_contact + (size_t)MDP_QUAD * span->begin, EMPTY,
           (size_t)MDP_QUAD * (span->end - span->begin) * sizeof(*pack->point_contact));
    for (uint32_t i = span->note_begin; i < span->note_end; i++) {
        const uint32_t place = pack->order[i], slot = pack->slot[place] + first,
                       *tree = pack->pair[place].tree,
                       island = island_of(islands->of_tree, tree[0], tree[1]);
        pack->slot[place] = slot;
        pack->point_contact[slot] = islands->contact[place];
        pack->note[i] = slot | (island == before ? 0 : MDP_NOTE_BEGINS);
        before = island;
    }
}

// What is filled in, and from where: borrowed.
typedef struct Filling {
    const ProblemContact *contact;
    const MassBlock *block;
    const double *impulse, *v_scale;
    const uint32_t *of_tree;
    uint32_t island_begin, nobody;
} Filling;

static Filling filling_of(const MdpPack *pack, const MdpGroup *group, uint32_t nobody) {
    const Judge *judge = pack->judge;
    return (Filling){.contact = pack->problem->contact,
                     .block = mass_contact_block(&judge->mass, 0),
                     .impulse = judge->result->answer.contact_impulse,
                     .v_scale = judge->scale.v_scale,
                     .of_tree = judge->islands.of_tree,
                     .island_begin = group->island_begin,
                     .nobody = nobody};
}

// Places without a contact are between nobody and nobody, and approach each other never.
static const ProblemContact nothing = {.bias = 1.0};
static const MassBlock no_block = {.nn = 0.0};
static const double no_impulse[3] = {0.0, 0.0, 0.0};

static void leave_place(const Filling *filling, MdpPointQuad *quad, MdpPointSource *from,
                        uint32_t place) {
    quad->a[place] = quad->b[place] = filling->nobody;
    from->contact[place] = (const double *)&nothing;
    from->block[place] = (const double *)&no_block;
    from->impulse[place] = no_impulse;
    from->v_scale.at[place] = 1.0;
}

static void take_place(const Filling *filling, uint32_t contact, MdpPointQuad *quad,
                       MdpPointSource *from, uint32_t place) {
    const ProblemContact *c = &filling->contact[contact];
    const uint32_t a = c->side[0].tree, b = c->side[1].tree;
    const uint32_t island = island_of(filling->of_tree, a, b);
    quad->a[place] = a == PROBLEM_NO_TREE ? filling->nobody : a;
    quad->b[place] = b == PROBLEM_NO_TREE ? filling->nobody : b;
    quad->island[place] = island - filling->island_begin;
    quad->has_own |= a == b;
    from->contact[place] = (const double *)c;
    from->block[place] = (const double *)&filling->block[contact];
    from->impulse[place] = filling->impulse + 3 * (size_t)contact;
    from->v_scale.at[place] = filling->v_scale[island];
}

static void make_regular(const Filling *filling, uint32_t contact, MdpPointQuad *quad,
                         uint32_t place) {
    const MdpBlock block = mdp_pack_block(&filling->block[contact], 0.0);
    quad->block[0].at[place] = block.nn;
    quad->block[3].at[place] = block.tt;
    quad->block[5].at[place] = block.oo;
}

// Empty places are of the island of the first that is filled.
static void find_islands(MdpPointQuad *quad, unsigned filled) {
    ASSERT(filled != 0);
    const uint32_t island = quad->island[__builtin_ctz(filled)];
    for (uint32_t place = 0; place < MDP_QUAD; place++) {
        quad->island[place] = (filled >> place & 1u) == 0 ? island : quad->island[place];
        quad->is_mixed |= quad->island[place] != island;
    }
}

static void fill_quad(const Filling *filling, const uint32_t contact[MDP_QUAD],
                      MdpPointQuad *quad) {
    MdpPointSource from;
    unsigned filled = 0;
    quad->is_mixed = quad->has_own = false;
    for (uint32_t place = 0; place < MDP_QUAD; place++) {
        quad->has_plan[place] = false;
        if (contact[place] == PROBLEM_NO_TREE) {
            leave_place(filling, quad, &from, place);
        } else {
            take_place(filling, contact[place], quad, &from, place);
            filled |= 1u << place;
        }
    }
    find_islands(quad, filled);
    const unsigned singular = mdp_point_fill(&from, quad) & filled;
    for (uint32_t place = 0; place < MDP_QUAD && singular != 0; place++) {
        if ((singular >> place & 1u) != 0) {
            make_regular(filling, contact[place], quad, place);
        }
    }
}

void mdp_pack_fill_points(const MdpPack *pack, const MdpGroup *group, const MdpSpan *span,
                          uint32_t nobody) {
    ASSERT(span->begin < span->end);
    ASSERT(nobody >= pack->problem->tree_count);
    const Filling filling = filling_of(pack, group, nobody);
    list_places(pack, group, span);
    for (uint32_t i = span->begin; i < span->end; i++) {
        fill_quad(&filling, pack->point_contact + (size_t)MDP_QUAD * i, &pack->points.quad[i]);
    }
    mdp_point_close(pack->points.quad, span->begin, span->end);
}
