// SPDX-License-Identifier: MIT
#include "support/wire_group.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

// Kept within reach, so that no leak is seen where memory lives until the program ends.
typedef struct List {
    struct List *next;
    _Alignas(16) unsigned char items[];
} List;

static List *lists;

static void *new_list(size_t count, size_t bytes) {
    List *made = calloc(1, sizeof(*made) + count * bytes);
    ck_assert_ptr_nonnull(made);
    made->next = lists;
    lists = made;
    return made->items;
}

static double *numbers(size_t count, const double *from) {
    double *list = new_list(count, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        list[i] = from[i];
    }
    return list;
}

static Moreau__V1__SceneBody *body(const char *name, double mass, double height,
                                   const double inertia[6]) {
    const double position[3] = {0.0, 0.0, height};
    Moreau__V1__SceneBody *made = new_list(1, sizeof(*made));
    moreau__v1__scene_body__init(made);
    made->name = (char *)name;
    made->has_mass = 1, made->mass = mass;
    made->n_position = 3, made->position = numbers(3, position);
    made->n_inertia = 6, made->inertia = numbers(6, inertia);
    return made;
}

static Moreau__V1__SceneJoint *joint(const char *name, Moreau__V1__Joint__Kind kind, const char *a,
                                     const char *b, const double axis[3]) {
    const double origin[3] = {0};
    Moreau__V1__SceneJoint *made = new_list(1, sizeof(*made));
    moreau__v1__scene_joint__init(made);
    made->name = (char *)name;
    made->has_kind = 1, made->kind = kind;
    made->body_a = (char *)a, made->body_b = (char *)b;
    made->n_axis = 3, made->axis = numbers(3, axis);
    made->n_anchor = 3, made->anchor = numbers(3, origin);
    return made;
}

static Moreau__V1__Scene *cart_pole(void) {
    static const double gravity[3] = {0.0, 0.0, -9.8}, along[3] = {1.0, 0.0, 0.0},
                        across[3] = {0.0, 1.0, 0.0};
    static const double block[6] = {0.01, 0.01, 0.01, 0.0, 0.0, 0.0};
    static const double rod[6] = {0.1 / 12, 0.1 / 12, 1e-4, 0.0, 0.0, 0.0};
    Moreau__V1__Scene *scene = new_list(1, sizeof(*scene));
    moreau__v1__scene__init(scene);
    scene->name = "cart-pole";
    scene->settings = new_list(1, sizeof(*scene->settings));
    moreau__v1__world_settings__init(scene->settings);
    scene->settings->n_gravity = 3, scene->settings->gravity = numbers(3, gravity);
    scene->settings->has_time_step = 1, scene->settings->time_step = 0.02;
    scene->n_bodies = 2, scene->bodies = new_list(2, sizeof(*scene->bodies));
    scene->bodies[0] = body("cart", 1.0, 0.0, block);
    scene->bodies[1] = body("pole", 0.1, 0.5, rod);
    scene->n_joints = 2, scene->joints = new_list(2, sizeof(*scene->joints));
    scene->joints[0] = joint("slider", MOREAU__V1__JOINT__KIND__SLIDER, NULL, "cart", along);
    scene->joints[1] = joint("hinge", MOREAU__V1__JOINT__KIND__HINGE, "cart", "pole", across);
    return scene;
}

static Moreau__V1__GroupChannel *channel(Moreau__V1__GroupChannel__Kind kind, const char *name) {
    Moreau__V1__GroupChannel *made = new_list(1, sizeof(*made));
    moreau__v1__group_channel__init(made);
    made->has_kind = 1, made->kind = kind;
    made->joint = (char *)name;
    return made;
}

static Moreau__V1__GroupChannel *within(Moreau__V1__GroupChannel *made, double bound) {
    made->has_low = made->has_high = 1;
    made->low = -bound, made->high = bound;
    return made;
}

static Moreau__V1__GroupNoise *noise(Moreau__V1__GroupChannel *of) {
    Moreau__V1__GroupNoise *made = new_list(1, sizeof(*made));
    moreau__v1__group_noise__init(made);
    made->channel = of;
    made->has_low = made->has_high = 1;
    made->low = -0.05, made->high = 0.05;
    return made;
}

Moreau__V1__GroupCreate *wire_group_create_call(uint64_t count) {
    const Moreau__V1__GroupChannel__Kind place = MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_POSITION,
                                         rate = MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_VELOCITY;
    Moreau__V1__GroupCreate *call = new_list(1, sizeof(*call));
    moreau__v1__group_create__init(call);
    call->scene = cart_pole();
    call->has_count = 1, call->count = count;
    call->has_seed = 1, call->seed = 11;
    call->n_action = 1, call->action = new_list(1, sizeof(*call->action));
    call->action[0] = within(channel(MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_EFFORT, "slider"), 1.0);
    call->action[0]->has_scale = 1, call->action[0]->scale = 10.0;
    call->n_observation = call->n_noise = WIRE_GROUP_SEEN;
    call->observation = new_list(WIRE_GROUP_SEEN, sizeof(*call->observation));
    call->noise = new_list(WIRE_GROUP_SEEN, sizeof(*call->noise));
    for (size_t i = 0; i < WIRE_GROUP_SEEN; i++) {
        call->observation[i] = channel(i % 2 == 0 ? place : rate, i < 2 ? "slider" : "hinge");
        call->noise[i] = noise(call->observation[i]);
    }
    call->n_bounds = 2, call->bounds = new_list(2, sizeof(*call->bounds));
    call->bounds[0] = within(channel(place, "slider"), 2.4);
    call->bounds[1] = within(channel(place, "hinge"), 0.2095);
    return call;
}

uint64_t wire_group(WireClient *client, uint64_t count) {
    return wire_accept(client, wire_group_create_call(count))->group_create->group;
}

Moreau__V1__GroupStep wire_group_step_call(uint64_t group, float *action, size_t count) {
    Moreau__V1__GroupStep call = MOREAU__V1__GROUP_STEP__INIT;
    call.has_group = 1, call.group = group;
    call.n_action = count, call.action = action;
    return call;
}

Moreau__V1__GroupReset wire_group_reset_call(uint64_t group) {
    Moreau__V1__GroupReset call = MOREAU__V1__GROUP_RESET__INIT;
    call.has_group = 1, call.group = group;
    return call;
}

const Moreau__V1__GroupStepReply *wire_group_reset(WireClient *client, uint64_t group) {
    const Moreau__V1__GroupReset call = wire_group_reset_call(group);
    return wire_accept(client, &call)->group_step;
}

const Moreau__V1__GroupStepReply *wire_group_step(WireClient *client, uint64_t group, float *action,
                                                  size_t count) {
    const Moreau__V1__GroupStep call = wire_group_step_call(group, action, count);
    return wire_accept(client, &call)->group_step;
}

void wire_group_step_beside(WireClient *client, uint64_t group, size_t count, const char *command,
                            char *said, size_t capacity) {
    FILE *beside = popen(command, "r");
    ck_assert_ptr_nonnull(beside);
    struct pollfd ended = {.fd = fileno(beside), .events = POLLIN};
    float *action = new_list(count, sizeof(*action));
    while (poll(&ended, 1, 0) == 0) {
        wire_group_step(client, group, action, count);
    }
    said[fread(said, 1, capacity - 1, beside)] = '\0';
    ck_assert_int_eq(pclose(beside), 0);
}
