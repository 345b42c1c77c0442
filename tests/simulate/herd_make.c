// SPDX-License-Identifier: MIT
// What a group is made of: channels, noise, parameters, pushes, opinions. Most of what is drawn is
// taken; what is not must be refused by the reference as well.
#include "simulate/herd.h"

#include <stdio.h>

typedef Moreau__V1__GroupChannel HerdChannel;

// What is drawn from, and the template that it is drawn for.
typedef struct Draw {
    HerdMaking *making;
    Dice *dice;
    const World *template;
} Draw;

static double number(Dice *dice, double low, double high) {
    return low + (high - low) * ((double)dice_roll(dice, 65) / 64.0);
}

// ---- channels

// The second body most often, which moves.
static char *draw_name(const Draw *draw, uint64_t count) {
    HerdMaking *making = draw->making;
    char *name = making->name[making->name_count++];
    const uint64_t which =
        dice_chance(draw->dice, 60) ? 2 : 1 + dice_roll(draw->dice, count == 0 ? 1 : count);
    snprintf(name, sizeof(making->name[0]), "#%u", (unsigned)which);
    return name;
}

static char *body_name(const Draw *draw) {
    return draw_name(draw, draw->template->body_count);
}

static HerdChannel *add_channel(const Draw *draw, Moreau__V1__GroupChannel__Kind kind) {
    HerdMaking *making = draw->making;
    HerdChannel *channel = &making->channel[making->channel_count];
    making->list[making->channel_count++] = channel;
    moreau__v1__group_channel__init(channel);
    channel->has_kind = 1;
    channel->kind = kind;
    return channel;
}

static void draw_rays(const Draw *draw, HerdChannel *channel) {
    HerdMaking *making = draw->making;
    const size_t rays = 1 + (size_t)dice_roll(draw->dice, HERD_RAYS);
    for (size_t i = 0; i < 3 * rays; i++) {
        making->ray_way[i] = number(draw->dice, -2.0, 2.0) + 0.01;
        making->ray_origin[i] = number(draw->dice, -0.2, 0.2);
    }
    channel->n_ray_way = 3 * rays;
    channel->ray_way = making->ray_way;
    channel->n_ray_origin = dice_chance(draw->dice, 50) ? 3 * rays : 0;
    channel->ray_origin = making->ray_origin;
    channel->has_ray_heading = 1;
    channel->ray_heading = dice_chance(draw->dice, 40);
}

static void draw_mount(const Draw *draw, HerdChannel *channel) {
    static const double mounts[7] = {0.01, -0.02, 0.03, 0.5, -0.5, 0.5, 0.5};
    channel->n_mount = dice_chance(draw->dice, 60) ? 7 : 0;
    channel->mount = (double *)(uintptr_t)mounts;
}

// Noise, bias and delay of what is told.
static void draw_sensor(const Draw *draw, HerdChannel *channel) {
    Dice *dice = draw->dice;
    channel->has_noise_deviation = dice_chance(dice, 50);
    channel->noise_deviation = number(dice, 0.0, 0.1);
    channel->has_bias_deviation = channel->has_bias_walk = dice_chance(dice, 50);
    channel->bias_deviation = number(dice, 0.0, 0.1);
    channel->bias_walk = number(dice, 0.0, 0.1);
    channel->has_delay = channel->has_delay_max = dice_chance(dice, 50);
    channel->delay = (uint32_t)dice_roll(dice, 4);
    channel->delay_max = channel->delay + (uint32_t)dice_roll(dice, 3);
}

// Of what may be read of any body, or of joints, where there are some.
static Moreau__V1__GroupChannel__Kind draw_kind(const Draw *draw) {
    static const Moreau__V1__GroupChannel__Kind of_bodies[] = {
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_ROTATION,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_VELOCITY,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_SPIN,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_LOCAL_VELOCITY,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_LOCAL_SPIN,
        MOREAU__V1__GROUP_CHANNEL__KIND__CONTACT_FORCE,
        MOREAU__V1__GROUP_CHANNEL__KIND__CONTACT,
        MOREAU__V1__GROUP_CHANNEL__KIND__ACTION,
        MOREAU__V1__GROUP_CHANNEL__KIND__TIME,
        MOREAU__V1__GROUP_CHANNEL__KIND__RAYS,
        MOREAU__V1__GROUP_CHANNEL__KIND__ACCELEROMETER,
        MOREAU__V1__GROUP_CHANNEL__KIND__GYROSCOPE};
    static const Moreau__V1__GroupChannel__Kind of_joints[] = {
        MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_POSITION,
        MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_VELOCITY,
        MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_TORQUE,
        MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_WRENCH};
    if (draw->template->joint_count > 0 && dice_chance(draw->dice, 30)) {
        return of_joints[dice_roll(draw->dice, 4)];
    }
    return of_bodies[dice_roll(draw->dice, sizeof(of_bodies) / sizeof(of_bodies[0]))];
}

static bool is_of_joint(Moreau__V1__GroupChannel__Kind kind) {
    return kind <= MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_VELOCITY ||
           kind == MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_TORQUE ||
           kind == MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_WRENCH;
}

static void draw_read(const Draw *draw) {
    const Moreau__V1__GroupChannel__Kind kind = draw_kind(draw);
    HerdChannel *channel = add_channel(draw, kind);
    if (is_of_joint(kind)) {
        channel->joint = draw_name(draw, draw->template->joint_count);
    } else if (kind != MOREAU__V1__GROUP_CHANNEL__KIND__ACTION &&
               kind != MOREAU__V1__GROUP_CHANNEL__KIND__TIME) {
        channel->body = body_name(draw);
    }
    if (kind == MOREAU__V1__GROUP_CHANNEL__KIND__RAYS) {
        draw_rays(draw, channel);
    } else if (kind == MOREAU__V1__GROUP_CHANNEL__KIND__ACCELEROMETER ||
               kind == MOREAU__V1__GROUP_CHANNEL__KIND__GYROSCOPE) {
        draw_mount(draw, channel);
    } else if ((kind == MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION ||
                kind == MOREAU__V1__GROUP_CHANNEL__KIND__BODY_VELOCITY ||
                kind == MOREAU__V1__GROUP_CHANNEL__KIND__CONTACT_FORCE) &&
               dice_chance(draw->dice, 40)) {
        channel->relative_to = body_name(draw);
    }
    channel->has_scale = channel->has_offset = dice_chance(draw->dice, 20);
    channel->scale = number(draw->dice, -2.0, 2.0);
    channel->offset = number(draw->dice, -1.0, 1.0);
    if (dice_chance(draw->dice, 30)) {
        draw_sensor(draw, channel);
    }
}

// So many in a row of the list. Returns where they begin.
static HerdChannel **draw_reads(const Draw *draw, size_t count) {
    HerdChannel **first = &draw->making->list[draw->making->channel_count];
    for (size_t i = 0; i < count; i++) {
        draw_read(draw);
    }
    return first;
}

// A world ends its episode where the body leaves what is near.
static HerdChannel **draw_bound(const Draw *draw) {
    HerdChannel *channel = add_channel(draw, MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION);
    channel->body = (char *)"#2";
    channel->has_low = channel->has_high = 1;
    channel->high = number(draw->dice, 0.05, 1.0);
    channel->low = -channel->high;
    return &draw->making->list[draw->making->channel_count - 1];
}

// ---- what differs

static void draw_noise(const Draw *draw, size_t at) {
    HerdMaking *making = draw->making;
    Moreau__V1__GroupNoise *noise = &making->noise[at];
    static const Moreau__V1__GroupChannel__Kind kinds[] = {
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_VELOCITY, MOREAU__V1__GROUP_CHANNEL__KIND__BODY_SPIN,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION,
        MOREAU__V1__GROUP_CHANNEL__KIND__BODY_ROTATION};
    moreau__v1__group_noise__init(noise);
    noise->channel = add_channel(draw, kinds[at == 0 ? 0 : dice_roll(draw->dice, 4)]);
    noise->channel->body = (char *)"#2";
    noise->has_distribution = dice_chance(draw->dice, 40);
    noise->distribution = MOREAU__V1__GROUP_NOISE__DISTRIBUTION__GAUSSIAN;
    noise->has_low = noise->has_high = noise->has_deviation = 1;
    noise->low = at == 0 ? -0.5 : 0.0;
    noise->high = at == 0 ? 0.5 : 0.05;
    noise->deviation = at == 0 ? 0.3 : 0.02;
    making->noises[at] = noise;
}

// A number, or several, for each world; those of a body's inertia stay positive definite.
static void draw_parameter(const Draw *draw, size_t at) {
    HerdMaking *making = draw->making;
    Dice *dice = draw->dice;
    Moreau__V1__GroupParameter *parameter = &making->parameter[at];
    static const struct {
        Moreau__V1__GroupParameter__Kind kind;
        size_t numbers;
    } kinds[] = {{MOREAU__V1__GROUP_PARAMETER__KIND__BODY_MASS, 1},
                 {MOREAU__V1__GROUP_PARAMETER__KIND__GRAVITY, 3},
                 {MOREAU__V1__GROUP_PARAMETER__KIND__BODY_POSE, 7},
                 {MOREAU__V1__GROUP_PARAMETER__KIND__BODY_INERTIA, 6},
                 {MOREAU__V1__GROUP_PARAMETER__KIND__BODY_CENTER_OF_MASS, 3},
                 {MOREAU__V1__GROUP_PARAMETER__KIND__JOINT_DAMPING, 1},
                 {MOREAU__V1__GROUP_PARAMETER__KIND__MATERIAL_FRICTION, 1}};
    const uint64_t kind = dice_roll(dice, draw->template->joint_count > 0 ? 7 : 5);
    const size_t numbers = kinds[kind].numbers;
    moreau__v1__group_parameter__init(parameter);
    parameter->has_kind = 1;
    parameter->kind = kinds[kind].kind;
    parameter->body = kind == 1 || kind > 4 ? NULL : (char *)"#2";
    parameter->joint = kind == 5 ? (char *)"#1" : NULL;
    parameter->material = kind == 6 ? (char *)"#1" : NULL;
    for (size_t i = 0; i < HERD_WORLDS * numbers; i++) {
        const size_t k = i % numbers;
        double *value = &making->values[at][i];
        switch (kind) {
        case 1:
            *value = k == 2 ? number(dice, -12.0, -6.0) : number(dice, -1.0, 1.0);
            break;
        case 2:
            *value = k == 3 ? 1.0 : k == 2 ? number(dice, 0.2, 0.4) : k > 3 ? 0.0 : 0.05;
            break;
        case 3:
            *value = k < 3 ? number(dice, 0.02, 0.03) : 0.001;
            break;
        case 4:
            *value = number(dice, -0.02, 0.02);
            break;
        default:
            *value = number(dice, 0.2, 3.0);
        }
    }
    parameter->n_values = HERD_WORLDS * numbers;
    parameter->values = making->values[at];
    making->parameters[at] = parameter;
}

static void draw_push(const Draw *draw) {
    HerdMaking *making = draw->making;
    Dice *dice = draw->dice;
    Moreau__V1__GroupPush *push = &making->push;
    moreau__v1__group_push__init(push);
    push->body = (char *)"#2";
    push->has_probability = push->has_steps = push->has_axes = push->has_impulse = 1;
    push->probability = number(dice, 0.0, 1.0);
    push->steps = (uint32_t)dice_magnitude(dice, 3);
    push->axes = 1 + (uint32_t)dice_roll(dice, 7);
    push->impulse = dice_chance(dice, 30);
    push->has_force_high = push->has_torque_high = 1;
    push->force_high = number(dice, 1.0, 5.0);
    push->torque_high = dice_chance(dice, 40) ? 0.02 : 0.0;
    making->pushes[0] = push;
    making->create.n_pushes = 1;
    making->create.pushes = making->pushes;
}

static void draw_opinion(const Draw *draw) {
    Moreau__V1__GroupOpinion *opinion = &draw->making->opinion;
    moreau__v1__group_opinion__init(opinion);
    opinion->has_share = opinion->has_lag = opinion->has_doubt = 1;
    opinion->share = dice_chance(draw->dice, 85) ? number(draw->dice, 0.1, 1.0) : 0.0;
    opinion->lag = (uint32_t)dice_magnitude(draw->dice, 4);
    opinion->doubt = dice_chance(draw->dice, 50) ? 1e-3 : 1e-12;
    draw->making->create.opinion = opinion;
}

static void draw_record(const Draw *draw) {
    HerdMaking *making = draw->making;
    moreau__v1__group_record__init(&making->record);
    making->record.has_keyframe_steps = 1;
    making->record.keyframe_steps = dice_magnitude(draw->dice, 6);
    making->create.record = &making->record;
}

// ---- the message

static void draw_numbers(const Draw *draw, uint64_t template) {
    Moreau__V1__GroupCreate *create = &draw->making->create;
    Dice *dice = draw->dice;
    create->has_world = create->has_count = create->has_seed = create->has_substeps = 1;
    create->has_step_limit = create->has_autoreset = 1;
    create->world = template;
    create->count = HERD_WORLDS;
    create->seed = dice_bits(dice);
    create->substeps = (uint32_t)dice_magnitude(dice, 3);
    create->step_limit = dice_chance(dice, 70) ? dice_magnitude(dice, 4) : 0;
    create->autoreset = (Moreau__V1__Group__Autoreset)dice_roll(dice, 3);
    create->has_first_world = dice_chance(dice, 30);
    create->first_world = dice_roll(dice, 100);
    create->has_double_precision = dice_chance(dice, 30);
    create->double_precision = 1;
}

// The second body is pushed, and thrown a little as an episode begins.
void herd_draw(HerdMaking *making, Dice *dice, uint64_t template, const World *world) {
    const Draw draw = {making, dice, world};
    Moreau__V1__GroupCreate *create = &making->create;
    moreau__v1__group_create__init(create);
    making->channel_count = making->name_count = 0;
    draw_numbers(&draw, template);
    HerdChannel *force =
        add_channel(&draw, dice_chance(dice, 80) ? MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE
                                                 : MOREAU__V1__GROUP_CHANNEL__KIND__BODY_TORQUE);
    force->body = (char *)"#2";
    force->has_scale = force->kind == MOREAU__V1__GROUP_CHANNEL__KIND__BODY_TORQUE;
    force->scale = 0.01;
    create->n_action = 1;
    create->action = &making->list[0];
    create->n_observation = 1 + (size_t)dice_roll(dice, 4);
    create->observation = draw_reads(&draw, create->n_observation);
    create->n_extra = dice_chance(dice, 40) ? 1 + (size_t)dice_roll(dice, 2) : 0;
    create->extra = draw_reads(&draw, create->n_extra);
    create->n_bounds = dice_chance(dice, 30);
    create->bounds = create->n_bounds > 0 ? draw_bound(&draw) : NULL;
    create->n_noise = 1 + (size_t)dice_chance(dice, 30);
    create->noise = making->noises;
    for (size_t i = 0; i < create->n_noise; i++) {
        draw_noise(&draw, i);
    }
    create->n_parameters = dice_chance(dice, 35) ? 1 + (size_t)dice_roll(dice, 2) : 0;
    create->parameters = making->parameters;
    for (size_t i = 0; i < create->n_parameters; i++) {
        draw_parameter(&draw, i);
    }
    if (dice_chance(dice, 25)) {
        draw_push(&draw);
    }
    if (dice_chance(dice, 40)) {
        draw_opinion(&draw);
    }
    if (dice_chance(dice, 50)) {
        draw_record(&draw);
    }
}
