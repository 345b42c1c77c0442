// SPDX-License-Identifier: MIT
#include "simulate/edit.h"

#include "api/hulls.h"
#include "simulate/dice.h"
#include "wire/joints.h"
#include "wire/scene/geometry.h"
#include "wire/set.h"

#include <math.h>

static double draw(Dice *dice, double low, double high) {
    return low + (high - low) * ((double)(dice_bits(dice) >> 11) * 0x1p-53);
}

static uint64_t draw_id(Dice *dice) {
    return 1 + dice_roll(dice, EDIT_BODY_MAX);
}

// ---- of each kind

static void begin_set(Edit *edit, uint64_t world) {
    moreau__v1__world_set__init(&edit->set);
    edit->set.has_world = 1;
    edit->set.world = world;
}

static void begin_remove(Edit *edit, uint64_t world) {
    moreau__v1__world_remove__init(&edit->remove);
    edit->remove.has_world = 1;
    edit->remove.world = world;
}

// Of the second body most often, which is there and moves.
static void draw_push(Edit *edit, Dice *dice, uint64_t world) {
    begin_set(edit, world);
    edit->id[0] = dice_chance(dice, 70) ? 2 : draw_id(dice);
    edit->set.n_ids = 1;
    edit->set.ids = edit->id;
    for (size_t i = 0; i < 6; i++) {
        edit->number[i] = draw(dice, -1.0, 1.0);
    }
    edit->set.n_velocity = 6;
    edit->set.velocity = edit->number;
}

static void draw_body(Edit *edit, Dice *dice, uint64_t world) {
    moreau__v1__world_add_bodies__init(&edit->add_bodies);
    edit->add_bodies.has_world = 1;
    edit->add_bodies.world = world;
    for (size_t i = 0; i < 3; i++) {
        edit->number[i] = draw(dice, 0.0, 0.5) + (i == 2 ? 0.3 : 0.0);
    }
    for (size_t i = 3; i < 7; i++) {
        edit->number[i] = draw(dice, -1.0, 1.0);
    }
    edit->id[0] = 2 + dice_roll(dice, dice_chance(dice, 50) ? 2 : 4); // a ball, a box, perhaps more
    edit->add_bodies.n_pose = 7;
    edit->add_bodies.pose = edit->number;
    edit->add_bodies.n_shape = 1;
    edit->add_bodies.shape = edit->id;
}

static void draw_joint(Edit *edit, Dice *dice, uint64_t world) {
    static const Moreau__V1__Joint__Kind kinds[] = {
        MOREAU__V1__JOINT__KIND__FIXED, MOREAU__V1__JOINT__KIND__HINGE,
        MOREAU__V1__JOINT__KIND__BALL, MOREAU__V1__JOINT__KIND__SLIDER};
    moreau__v1__world_add_joints__init(&edit->add_joints);
    edit->add_joints.has_world = 1;
    edit->add_joints.world = world;
    edit->joint = kinds[dice_roll(dice, 4)];
    edit->as_rows = dice_chance(dice, 40);
    edit->id[0] = dice_chance(dice, 50) ? 0 : draw_id(dice); // 0: the world
    edit->id[1] = draw_id(dice);
    edit->add_joints.n_kind = edit->add_joints.n_body_a = edit->add_joints.n_body_b = 1;
    edit->add_joints.kind = &edit->joint;
    edit->add_joints.body_a = &edit->id[0];
    edit->add_joints.body_b = &edit->id[1];
    edit->add_joints.n_as_rows = 1;
    edit->add_joints.as_rows = &edit->as_rows;
}

static void draw_removed_body(Edit *edit, Dice *dice, uint64_t world) {
    begin_remove(edit, world);
    edit->id[0] = draw_id(dice);
    edit->remove.n_bodies = 1;
    edit->remove.bodies = edit->id;
}

static void draw_removed_joint(Edit *edit, Dice *dice, uint64_t world) {
    begin_remove(edit, world);
    edit->id[0] = 1 + dice_roll(dice, 3);
    edit->remove.n_joints = 1;
    edit->remove.joints = edit->id;
}

static void draw_mass(Edit *edit, Dice *dice, uint64_t world) {
    begin_set(edit, world);
    edit->id[0] = draw_id(dice);
    edit->set.n_ids = 1;
    edit->set.ids = edit->id;
    edit->number[0] = draw(dice, -0.2, 5.0); // below zero it is refused
    edit->set.n_mass = 1;
    edit->set.mass = edit->number;
}

static void draw_sleep(Edit *edit, Dice *dice, uint64_t world) {
    begin_set(edit, world);
    moreau__v1__world_settings__init(&edit->settings);
    edit->settings.has_sleep_speed = edit->settings.has_sleep_time = 1;
    edit->settings.sleep_speed = dice_chance(dice, 70) ? 0.05 : 0.0;
    edit->settings.sleep_time = draw(dice, 0.0, 0.1);
    edit->set.settings = &edit->settings;
}

static void draw_solver(Edit *edit, Dice *dice, uint64_t world) {
    static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap", "compliant", "none"};
    begin_set(edit, world);
    moreau__v1__world_settings__init(&edit->settings);
    edit->settings.solver = (char *)(uintptr_t)solvers[dice_roll(dice, 6)];
    edit->set.settings = &edit->settings;
}

// Some are too few, or all in one plane, or none.
static void draw_hull(Edit *edit, Dice *dice, uint64_t world) {
    moreau__v1__world_add_geometries__init(&edit->add_geometries);
    moreau__v1__hull__init(&edit->hull);
    const bool is_flat = dice_chance(dice, 5);
    edit->hull.n_points = 3 * (3 + dice_roll(dice, EDIT_HULL_POINTS_MAX - 2));
    for (size_t i = 0; i < edit->hull.n_points; i++) {
        edit->point[i] = is_flat && i % 3 == 2 ? 0.0 : draw(dice, -0.1, 0.1);
    }
    if (dice_chance(dice, 5)) {
        edit->point[dice_roll(dice, 9)] = NAN; // of the first three, which there always are
    }
    if (dice_chance(dice, 20)) {
        edit->hull.has_vertices_max = 1;
        edit->hull.vertices_max = (uint32_t)(3 + dice_roll(dice, 8));
    }
    edit->hull.points = edit->point;
    edit->hulls[0] = &edit->hull;
    edit->add_geometries.has_world = 1;
    edit->add_geometries.world = world;
    edit->add_geometries.n_hulls = 1;
    edit->add_geometries.hulls = edit->hulls;
}

// Of one that is there, perhaps.
static void draw_shape(Edit *edit, Dice *dice, uint64_t world) {
    moreau__v1__world_add_shapes__init(&edit->add_shapes);
    edit->primitive = MOREAU__V1__PRIMITIVE__KIND__HULL;
    edit->id[0] = 1 + dice_roll(dice, 2);
    edit->add_shapes.has_world = 1;
    edit->add_shapes.world = world;
    edit->add_shapes.n_kind = edit->add_shapes.n_geometry = 1;
    edit->add_shapes.kind = &edit->primitive;
    edit->add_shapes.geometry = edit->id;
    edit->add_shapes.n_size = 3;
    edit->add_shapes.size = edit->number;
}

static void begin_joint(Edit *edit, Dice *dice, uint64_t world) {
    begin_set(edit, world);
    edit->id[0] = dice_chance(dice, 70) ? 1 : 1 + dice_roll(dice, 3);
    edit->set.n_joints = 1;
    edit->set.joints = edit->id;
}

// Of one axis: joints of none, and of three, refuse it. One in three waits, or lags behind.
static void draw_drive(Edit *edit, Dice *dice, uint64_t world) {
    Moreau__V1__WorldSet *set = &edit->set;
    begin_joint(edit, dice, world);
    edit->number[0] = draw(dice, -0.5, 0.5);
    edit->number[1] = draw(dice, -1.0, 1.0);
    edit->number[2] = draw(dice, 0.0, 200.0);
    edit->number[3] = draw(dice, -0.1, 20.0); // below zero it is refused
    edit->number[4] = draw(dice, -1.0, 1.0);
    set->n_joint_target = set->n_joint_target_velocity = set->n_joint_effort = 1;
    set->joint_target = &edit->number[0];
    set->joint_target_velocity = &edit->number[1];
    set->joint_effort = &edit->number[4];
    if (dice_chance(dice, 70)) {
        set->n_joint_drive_stiffness = set->n_joint_drive_damping = 1;
        set->joint_drive_stiffness = &edit->number[2];
        set->joint_drive_damping = &edit->number[3];
    }
    if (dice_chance(dice, 30)) {
        edit->number[5] = draw(dice, 0.0, 0.05);
        edit->number[6] = (double)dice_roll(dice, 4);
        set->n_joint_lag_time = set->n_joint_delay_steps = 1;
        set->joint_lag_time = &edit->number[5];
        set->joint_delay_steps = &edit->number[6];
    }
}

static void draw_turn(Edit *edit, Dice *dice, uint64_t world) {
    begin_joint(edit, dice, world);
    edit->number[0] = draw(dice, -0.3, 0.3);
    edit->number[1] = draw(dice, -1.0, 1.0);
    edit->set.n_joint_position = dice_chance(dice, 60);
    edit->set.joint_position = &edit->number[0];
    edit->set.n_joint_velocity = 1;
    edit->set.joint_velocity = &edit->number[1];
}

typedef void EditDraw(Edit *edit, Dice *dice, uint64_t world);

static const struct {
    EditDraw *draw;
    uint64_t weight;
} kinds[EDIT_KIND_COUNT] = {
    [EDIT_PUSH] = {draw_push, 30},
    [EDIT_ADD_BODY] = {draw_body, 12},
    [EDIT_ADD_JOINT] = {draw_joint, 18},
    [EDIT_REMOVE_BODY] = {draw_removed_body, 10},
    [EDIT_REMOVE_JOINT] = {draw_removed_joint, 10},
    [EDIT_MASS] = {draw_mass, 6},
    [EDIT_SLEEP] = {draw_sleep, 8},
    [EDIT_SOLVER] = {draw_solver, 6},
    [EDIT_ADD_HULL] = {draw_hull, 10},
    [EDIT_ADD_SHAPE] = {draw_shape, 10},
    [EDIT_DRIVE] = {draw_drive, 24},
    [EDIT_TURN] = {draw_turn, 6},
};

void edit_draw(Edit *edit, uint64_t number, uint64_t world) {
    Dice dice = {number};
    uint64_t weight = 0;
    for (size_t i = 0; i < EDIT_KIND_COUNT; i++) {
        weight += kinds[i].weight;
    }
    uint64_t roll = dice_roll(&dice, weight);
    EditKind kind = 0;
    while (roll >= kinds[kind].weight) {
        roll -= kinds[kind++].weight;
    }
    *edit = (Edit){.kind = kind};
    kinds[kind].draw(edit, &dice, world);
}

// ---- as a call, as an input

const void *edit_message(const Edit *edit) {
    switch (edit->kind) {
    case EDIT_ADD_BODY:
        return &edit->add_bodies;
    case EDIT_ADD_JOINT:
        return &edit->add_joints;
    case EDIT_REMOVE_BODY:
    case EDIT_REMOVE_JOINT:
        return &edit->remove;
    case EDIT_ADD_HULL:
        return &edit->add_geometries;
    case EDIT_ADD_SHAPE:
        return &edit->add_shapes;
    default:
        return &edit->set;
    }
}

// Built of its points, as a lane does it.
static Status hull_input(const Edit *edit, Arena *arena, Input *input, Error *error) {
    *input = (Input){.kind = INPUT_GEOMETRIES};
    Status status = wire_geometries(&edit->add_geometries, arena, &input->geometries, error);
    return STATUS_THEN(status, hulls_build(input, arena, error));
}

Status edit_input(const Edit *edit, Arena *arena, Input *input, Error *error) {
    switch (edit->kind) {
    case EDIT_ADD_BODY:
        *input = (Input){
            .kind = INPUT_BODIES,
            .bodies = {.count = 1, .pose = edit->add_bodies.pose, .shape = edit->add_bodies.shape}};
        return STATUS_OK;
    case EDIT_ADD_HULL:
        return hull_input(edit, arena, input, error);
    case EDIT_ADD_SHAPE:
        *input = (Input){.kind = INPUT_SHAPES,
                         .shapes = {.shape_count = 1,
                                    .primitive_count = 1,
                                    .kind = (const uint32_t *)edit->add_shapes.kind,
                                    .size = edit->add_shapes.size,
                                    .geometry = edit->add_shapes.geometry}};
        return STATUS_OK;
    case EDIT_ADD_JOINT:
        *input = (Input){.kind = INPUT_JOINTS};
        return joints_columns(&edit->add_joints, arena, &input->joints, error);
    case EDIT_REMOVE_BODY:
    case EDIT_REMOVE_JOINT:
        *input = (Input){.kind = INPUT_REMOVE,
                         .remove = {.body_count = edit->remove.n_bodies,
                                    .body = edit->remove.bodies,
                                    .joint_count = edit->remove.n_joints,
                                    .joint = edit->remove.joints}};
        return STATUS_OK;
    default:
        *input = (Input){.kind = INPUT_SET};
        return set_order(&edit->set, arena, &input->set, error);
    }
}
