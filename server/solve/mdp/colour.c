// SPDX-License-Identifier: MIT
#include "solve/mdp/colour.h"

#include "base/assert.h"

// the lowest colour that neither tree has met; `used` holds a bit per colour and tree
static uint8_t take_colour(uint64_t *used, MdpPair pair) {
    uint64_t taken = 0;
    for (int s = 0; s < 2; s++) {
        taken |= pair.tree[s] == PROBLEM_NO_TREE ? 0 : used[pair.tree[s]];
    }
    uint64_t last = (uint64_t)1 << (MDP_COLOUR_MAX - 1);
    uint8_t colour = (uint8_t)__builtin_ctzll(~taken | last);
    for (int s = 0; s < 2; s++) {
        if (pair.tree[s] != PROBLEM_NO_TREE) {
            used[pair.tree[s]] |= (uint64_t)1 << colour;
        }
    }
    return colour;
}

uint32_t mdp_colour_find(const MdpPair *pair, const uint8_t *kind, uint32_t begin, uint32_t end,
                         uint64_t *used, uint8_t *colour) {
    ASSERT(begin <= end);
    MdpPair unit = {{PROBLEM_NO_TREE, PROBLEM_NO_TREE}}; // the one before: at first none
    uint8_t of_unit = 0;
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; i++) {
        if (kind[i] == MDP_NONE) {
            continue;
        }
        if (!mdp_colour_is_unit(unit, pair[i])) {
            unit = pair[i];
            of_unit = take_colour(used, unit);
            count = of_unit + 1u > count ? of_unit + 1u : count;
        }
        colour[i] = of_unit;
    }
    return count;
}
