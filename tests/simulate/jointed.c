// SPDX-License-Identifier: MIT
#include "simulate/jointed.h"

#include "simulate/dice.h"

#include <math.h>
#include <string.h>

static double draw(Dice *dice, double low, double high) {
    return low + (high - low) * ((double)(dice_bits(dice) >> 11) * 0x1p-53);
}

// Where body b stands, turned alike in both: nobody turns as a world begins.
static void draw_frames(Jointed *jointed, Dice *dice, const ModelStart *start, size_t joint) {
    double *of_a = jointed->frame[0] + 7 * joint, *of_b = jointed->frame[1] + 7 * joint;
    const uint64_t a = jointed->body[0][joint], b = jointed->body[1][joint];
    double length = 0.0;
    for (size_t i = 0; i < 3; i++) {
        of_a[i] = start->pose[7 * (b - 1) + i] - (a == 0 ? 0.0 : start->pose[7 * (a - 1) + i]);
        of_b[i] = 0.0;
    }
    for (size_t i = 3; i < 7; i++) {
        of_a[i] = draw(dice, 0.1, 1.0);
        length += of_a[i] * of_a[i];
    }
    for (size_t i = 3; i < 7; i++) {
        of_b[i] = of_a[i] /= sqrt(length);
    }
}

static void draw_joint(Jointed *jointed, Dice *dice, const ModelStart *start, uint64_t a,
                       uint64_t b) {
    static const struct {
        Moreau__V1__Joint__Kind kind;
        size_t axes;
    } kinds[] = {{MOREAU__V1__JOINT__KIND__HINGE, 1},
                 {MOREAU__V1__JOINT__KIND__SLIDER, 1},
                 {MOREAU__V1__JOINT__KIND__BALL, 3},
                 {MOREAU__V1__JOINT__KIND__HINGE, 1},
                 {MOREAU__V1__JOINT__KIND__FIXED, 0}};
    const size_t which = dice_roll(dice, sizeof(kinds) / sizeof(kinds[0]));
    const size_t joint = jointed->add.n_kind++;
    jointed->kind[joint] = kinds[which].kind;
    jointed->body[0][joint] = a;
    jointed->body[1][joint] = b;
    jointed->as_rows[joint] = dice_chance(dice, 40);
    draw_frames(jointed, dice, start, joint);
    for (size_t i = 0; i < kinds[which].axes; i++) {
        const size_t axis = jointed->add.n_target++;
        const bool is_driven = kinds[which].axes == 1 && dice_chance(dice, 60);
        jointed->stiffness[axis] = is_driven ? draw(dice, 0.0, 100.0) : 0.0;
        jointed->damping[axis] = is_driven ? draw(dice, 0.0, 10.0) : 0.0;
        jointed->target[axis] = is_driven ? draw(dice, -0.3, 0.3) : 0.0;
        jointed->target_velocity[axis] = is_driven ? draw(dice, -1.0, 1.0) : 0.0;
    }
}

// One hangs from the world, or two from each other, or both.
void jointed_draw(Jointed *jointed, uint64_t seed, uint64_t world) {
    const ModelStart start = model_start(seed);
    Dice dice = dice_make(seed, 7);
    Moreau__V1__WorldAddJoints *add = &jointed->add;
    memset(jointed, 0, sizeof(*jointed));
    moreau__v1__world_add_joints__init(add);
    add->has_world = 1;
    add->world = world;
    if (!dice_chance(&dice, 45)) {
        return;
    }
    const bool is_pair = start.count > 2 && dice_chance(&dice, 60);
    if (!is_pair || dice_chance(&dice, 50)) {
        draw_joint(jointed, &dice, &start, 0, 2);
    }
    if (is_pair) {
        draw_joint(jointed, &dice, &start, 2, 3);
    }
    add->n_body_a = add->n_body_b = add->n_as_rows = add->n_kind;
    add->n_frame_a = add->n_frame_b = 7 * add->n_kind;
    add->n_drive_stiffness = add->n_drive_damping = add->n_target_velocity = add->n_target;
    add->kind = jointed->kind;
    add->body_a = jointed->body[0];
    add->body_b = jointed->body[1];
    add->as_rows = jointed->as_rows;
    add->frame_a = jointed->frame[0];
    add->frame_b = jointed->frame[1];
    add->drive_stiffness = jointed->stiffness;
    add->drive_damping = jointed->damping;
    add->target = jointed->target;
    add->target_velocity = jointed->target_velocity;
}
