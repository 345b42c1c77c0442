// SPDX-License-Identifier: MIT
#include "bench/cart_poles.h"

#include "bench/bench.h"

#include <stdlib.h>

static void set_channel(Moreau__V1__GroupChannel *channel, Moreau__V1__GroupChannel__Kind kind,
                        const char *joint, double bound) {
    moreau__v1__group_channel__init(channel);
    channel->has_kind = 1;
    channel->kind = kind;
    channel->joint = (char *)joint;
    channel->has_low = channel->has_high = bound > 0.0;
    channel->low = -bound;
    channel->high = bound;
}

CartPoles *cart_poles_wish(Moreau__V1__Scene *scene, uint32_t count) {
    const Moreau__V1__GroupChannel__Kind place = MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_POSITION,
                                         rate = MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_VELOCITY;
    CartPoles *wish = bench_memory(1, sizeof(*wish));
    Moreau__V1__GroupCreate *create = &wish->create;
    moreau__v1__group_create__init(create);
    create->scene = scene;
    create->has_lifetime = create->has_count = create->has_step_limit = create->has_autoreset = 1;
    create->lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    create->count = count;
    create->step_limit = 500;
    create->autoreset = MOREAU__V1__GROUP__AUTORESET__SAME_STEP;
    set_channel(&wish->action, MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_EFFORT, "rail", 1.0);
    wish->action.has_scale = 1;
    wish->action.scale = 10.0;
    wish->action_list[0] = &wish->action;
    set_channel(&wish->bound[0], place, "rail", 2.4);
    set_channel(&wish->bound[1], place, "hinge", 0.2095);
    for (size_t i = 0; i < CART_POLES_SEEN; i++) {
        set_channel(&wish->seen[i], i % 2 == 0 ? place : rate, i < 2 ? "rail" : "hinge", 0.0);
        moreau__v1__group_noise__init(&wish->noise[i]);
        wish->noise[i].channel = &wish->seen[i];
        wish->noise[i].has_low = wish->noise[i].has_high = 1;
        wish->noise[i].low = -0.05;
        wish->noise[i].high = 0.05;
        wish->seen_list[i] = &wish->seen[i];
        wish->noise_list[i] = &wish->noise[i];
    }
    wish->bound_list[0] = &wish->bound[0];
    wish->bound_list[1] = &wish->bound[1];
    create->n_action = 1, create->action = wish->action_list;
    create->n_observation = CART_POLES_SEEN, create->observation = wish->seen_list;
    create->n_noise = CART_POLES_SEEN, create->noise = wish->noise_list;
    create->n_bounds = 2, create->bounds = wish->bound_list;
    return wish;
}

uint64_t cart_poles_create(Probe *probe, CartPoles *wish) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = 1;
    request.id = 2;
    request.call_case = MOREAU__V1__REQUEST__CALL_GROUP_CREATE;
    request.group_create = &wish->create;
    ProbeFrame frame = probe_frame(&request);
    const uint8_t *body;
    const size_t bytes = probe_exchange(probe, &frame, &body);
    Moreau__V1__Reply *reply = moreau__v1__reply__unpack(NULL, bytes, body);
    if (reply == NULL || reply->result_case != MOREAU__V1__REPLY__RESULT_GROUP_CREATE) {
        bench_fail("no group: %s", reply == NULL ? "no reply" : reply->status->message);
    }
    const uint64_t group = reply->group_create->group;
    moreau__v1__reply__free_unpacked(reply, NULL);
    free(frame.bytes);
    return group;
}

float *cart_poles_actions(uint32_t count, size_t turns) {
    float *actions = bench_memory(turns * count, sizeof(*actions));
    uint64_t state = 88172645463325252;
    for (size_t i = 0; i < turns * count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        actions[i] = (float)((double)(state >> 11) * 0x1p-52 - 1.0);
    }
    return actions;
}

ProbeFrame cart_poles_step_frame(uint64_t group, uint32_t count, float *actions) {
    Moreau__V1__GroupStep step = MOREAU__V1__GROUP_STEP__INIT;
    step.has_group = 1;
    step.group = group;
    step.n_action = count;
    step.action = actions;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = 1;
    request.id = 3;
    request.call_case = MOREAU__V1__REQUEST__CALL_GROUP_STEP;
    request.group_step = &step;
    return probe_frame(&request);
}

ProbeFrame cart_poles_read_frame(uint64_t group) {
    Moreau__V1__GroupRead read = MOREAU__V1__GROUP_READ__INIT;
    read.has_group = 1;
    read.group = group;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = 1;
    request.id = 3;
    request.call_case = MOREAU__V1__REQUEST__CALL_GROUP_READ;
    request.group_read = &read;
    return probe_frame(&request);
}
