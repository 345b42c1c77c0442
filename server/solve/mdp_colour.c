// SPDX-License-Identifier: MIT
#include "solve/mdp_colour.h"

#include "base/assert.h"

// the lowest colour that neither tree has met; `used` holds a bit per colour and tree
static uint8_t take_colour(uint64_t *used, const ContactSide side[2]) {
    uint64_t taken = 0;
    for (int s = 0; s < 2; s++) {
        taken |= side[s].tree == PROBLEM_NO_TREE ? 0 : used[side[s].tree];
    }
    uint64_t last = (uint64_t)1 << (MDP_COLOUR_MAX - 1);
    uint8_t colour = (uint8_t)__builtin_ctzll(~taken | last);
    for (int s = 0; s < 2; s++) {
        if (side[s].tree != PROBLEM_NO_TREE) {
            used[side[s].tree] |= (uint64_t)1 << colour;
        }
    }
    return colour;
}

Status mdp_colour_begin(const ContactProblem *problem, Arena *arena, MdpOrder *order,
                        Error *error) {
    uint32_t count = problem->contact_count;
    *order =
        (MdpOrder){.contact = arena_take_array(arena, count, sizeof(*order->contact)),
                   .goes_on = arena_take_array(arena, count, sizeof(*order->goes_on)),
                   .colour = arena_take_array(arena, count, sizeof(*order->colour)),
                   .used = arena_take_zeroed(arena, problem->tree_count, sizeof(*order->used))};
    if (order->contact == NULL || order->goes_on == NULL || order->colour == NULL ||
        order->used == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the order of the contacts.");
    }
    return STATUS_OK;
}

// colours, counted one place up so that the running sum gives each colour's first
void mdp_colour_add(const ContactProblem *problem, uint32_t begin, uint32_t end, MdpOrder *order) {
    ASSERT(begin <= end);
    ASSERT(end <= problem->contact_count);
    uint8_t *colour = order->colour;
    for (uint32_t i = begin; i < end; i++) {
        const ContactSide *side = problem->contact[i].side;
        order->goes_on[i] = i > 0 && mdp_colour_is_unit(problem, i - 1, i);
        colour[i] = order->goes_on[i] ? colour[i - 1] : take_colour(order->used, side);
        order->first[colour[i] + 1]++;
        order->colour_count =
            colour[i] + 1u > order->colour_count ? colour[i] + 1u : order->colour_count;
    }
}

void mdp_colour_end(const ContactProblem *problem, MdpOrder *order) {
    for (int c = 0; c < MDP_COLOUR_MAX; c++) {
        order->first[c + 1] += order->first[c];
    }
    // a stable counting sort
    uint32_t next[MDP_COLOUR_MAX];
    for (int c = 0; c < MDP_COLOUR_MAX; c++) {
        next[c] = order->first[c];
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        order->contact[next[order->colour[i]]++] = i;
    }
}
