// SPDX-License-Identifier: MIT
// Groups of Gymnasium's cart-pole, which begins anew in the step in which it has fallen, as benches
// on the wire ask for them.
#pragma once

#include "bench/probe.h"

#include "moreau.pb-c.h"

enum { CART_POLES_SEEN = 4 };

typedef struct CartPoles {
    Moreau__V1__GroupCreate create;
    Moreau__V1__GroupChannel action, seen[CART_POLES_SEEN], bound[2];
    Moreau__V1__GroupNoise noise[CART_POLES_SEEN];
    Moreau__V1__GroupChannel *action_list[1], *seen_list[CART_POLES_SEEN], *bound_list[2];
    Moreau__V1__GroupNoise *noise_list[CART_POLES_SEEN];
} CartPoles;

// The caller's to free; the scene is borrowed.
CartPoles *cart_poles_wish(Moreau__V1__Scene *scene, uint32_t count);

// The group's id.
uint64_t cart_poles_create(Probe *probe, CartPoles *wish);

// `turns` times a random number in [-1, 1) for each; the caller's to free.
float *cart_poles_actions(uint32_t count, size_t turns);

// GroupStep and GroupRead of all.
ProbeFrame cart_poles_step_frame(uint64_t group, uint32_t count, float *actions);
ProbeFrame cart_poles_read_frame(uint64_t group);
