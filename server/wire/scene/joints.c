// SPDX-License-Identifier: MIT
#include "wire/scene/parts.h"

#include "base/trig.h"
#include "wire/joints.h"
#include "wire/scene/name_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "scene",
                     "The scene needs more memory than one request may take, which is some frames "
                     "(option --frame-bytes-max).");
}

static Status blame(Error *error, Status status, size_t joint, const char *name, const char *why) {
    char field[96];
    snprintf(field, sizeof(field), "scene.joints[%zu].%s", joint, name);
    return error_set(error, status, field, "%s", why);
}

static Status blame_input(Error *error, size_t joint, const char *name, const char *why) {
    return blame(error, STATUS_INVALID_ARGUMENT, joint, name, why);
}

// ---- names

// Bodies and joints by their names.
typedef struct Names {
    NameList body, joint;
} Names;

static Status list_names(const Moreau__V1__Scene *scene, Arena *arena, Names *names, Error *error) {
    if (!name_list_begin(&names->body, scene->n_bodies, arena) ||
        !name_list_begin(&names->joint, scene->n_joints, arena)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < scene->n_bodies; i++) {
        name_list_add(&names->body, scene->bodies[i]->name, i);
    }
    for (size_t i = 0; i < scene->n_joints; i++) {
        name_list_add(&names->joint, scene->joints[i]->name, i);
    }
    name_list_sort(&names->body);
    name_list_sort(&names->joint);
    const NameEntry *second = name_list_double(&names->joint);
    char why[128];
    if (second != NULL) {
        snprintf(why, sizeof(why), "Two joints are called %.64s.", second->name);
    }
    return second == NULL ? STATUS_OK
                          : blame(error, STATUS_ALREADY_EXISTS, second->index, "name", why);
}

// A name, or #2 where nothing is called so. A fresh world counts its things from 1. 0: none given.
static Status find_id(const NameList *list, size_t things, const char *name, size_t joint,
                      const char *field, uint64_t *id, Error *error) {
    *id = 0;
    if (name == NULL || name[0] == '\0') {
        return STATUS_OK;
    }
    const NameEntry *found = name_list_find(list, name);
    if (found != NULL) {
        *id = found->index + 1;
        return STATUS_OK;
    }
    char *end = NULL;
    const unsigned long number = name[0] == '#' ? strtoul(name + 1, &end, 10) : 0;
    if (end != NULL && end != name + 1 && *end == '\0' && number < things) {
        *id = number + 1;
        return STATUS_OK;
    }
    char why[128];
    snprintf(why, sizeof(why), "The scene has no %s called %.64s.",
             field[0] == 'b' ? "body" : "joint", name);
    return blame(error, STATUS_NOT_FOUND, joint, field, why);
}

// ---- frames

Quat scene_turn_from_z(Vec3 n) {
    if (n.z < -0.999999) {
        return (Quat){0.0, 1.0, 0.0, 0.0}; // half a turn about x: z goes down
    }
    return quat_normalize((Quat){1.0 + n.z, -n.y, n.x, 0.0});
}

static Status check_list(size_t count, size_t wanted, size_t joint, const char *name,
                         Error *error) {
    char why[64];
    snprintf(why, sizeof(why), "This needs %zu numbers, got %zu.", wanted, count);
    return count == 0 || count == wanted ? STATUS_OK : blame_input(error, joint, name, why);
}

static bool is_direction(Vec3 v) {
    const double length = vec3_norm(v);
    return length > 1e-9 && length < 1e9;
}

// Of the frames, in the world.
static Status read_orientation(const Moreau__V1__SceneJoint *joint, size_t index, Quat *turn,
                               Error *error) {
    const Vec3 axis = joint->n_axis == 3 ? vec3_load(joint->axis) : vec3(0.0, 0.0, 1.0);
    if (!is_direction(axis)) {
        return blame_input(error, index, "axis", "An axis must point somewhere.");
    }
    *turn = scene_turn_from_z(vec3_scale(1.0 / vec3_norm(axis), axis));
    if (joint->n_axis_x != 3) {
        return STATUS_OK;
    }
    // as x and y of that frame see it
    const Vec3 x = mat3_tmul_vec(quat_to_mat3(*turn), vec3_load(joint->axis_x));
    if (!is_direction(vec3(x.x, x.y, 0.0))) {
        return blame_input(error, index, "axis_x",
                           "It must point somewhere, and not along `axis`.");
    }
    const SinCos half = trig_sin_cos(0.5 * trig_atan2(x.y, x.x));
    *turn = quat_mul(*turn, (Quat){half.cos, 0.0, 0.0, half.sin});
    return STATUS_OK;
}

static Pose body_pose(const Moreau__V1__SceneBody *body) {
    Pose pose = {.orientation = quat_identity()};
    if (body->n_position == 3) {
        pose.position = vec3_load(body->position);
    }
    if (body->n_orientation == 4) {
        const double *q = body->orientation;
        const Quat given = {q[0], q[1], q[2], q[3]};
        const double norm = quat_norm(given);
        // what cannot be normalised was refused with the body, or will be
        pose.orientation = norm > 1e-6 && norm < 1e6 ? quat_normalize(given) : quat_identity();
    }
    return pose;
}

// `frame` in the world, as seen from the body that an id names.
static void store_in_body(const Moreau__V1__Scene *scene, uint64_t id, Pose frame, double *packed) {
    if (id != 0) {
        const Pose body = body_pose(scene->bodies[id - 1]);
        const Quat q = body.orientation, back = {q.w, -q.x, -q.y, -q.z};
        frame = (Pose){mat3_tmul_vec(quat_to_mat3(q), vec3_sub(frame.position, body.position)),
                       quat_mul(back, frame.orientation)};
    }
    pose_store(packed, frame);
}

static Status check_frames(const Moreau__V1__SceneJoint *joint, size_t index, Error *error) {
    const struct {
        size_t count, wanted;
        const char *name;
    } lists[] = {{joint->n_anchor, 3, "anchor"},   {joint->n_anchor_b, 3, "anchor_b"},
                 {joint->n_axis, 3, "axis"},       {joint->n_axis_x, 3, "axis_x"},
                 {joint->n_frame_a, 7, "frame_a"}, {joint->n_frame_b, 7, "frame_b"}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        Status status = check_list(lists[i].count, lists[i].wanted, index, lists[i].name, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    const bool has_frames = joint->n_frame_a > 0 || joint->n_frame_b > 0;
    const bool has_anchor =
        joint->n_anchor > 0 || joint->n_anchor_b > 0 || joint->n_axis > 0 || joint->n_axis_x > 0;
    if (has_frames && (has_anchor || joint->n_frame_a == 0 || joint->n_frame_b == 0)) {
        return blame_input(error, index, joint->n_frame_a > 0 ? "frame_a" : "frame_b",
                           "Give both frames, or an anchor and axes instead.");
    }
    if (joint->n_anchor_b > 0 && joint->kind != MOREAU__V1__JOINT__KIND__DISTANCE) {
        return blame_input(error, index, "anchor_b",
                           "Only of DISTANCE the two frames lie apart: give frames.");
    }
    return STATUS_OK;
}

// ---- columns

typedef struct Columns {
    uint32_t *kind, *axes, *as_rows, *collides;
    uint64_t *body[2], *joint[2];
    double *frame[2], *ratio, *length, *break_force, *break_torque;
    const char **name;
    double *axis[18]; // in the order of axis_lists
    double *position;
    uint64_t *coupled;
    uint32_t *coupled_axes;
    double *coefficients;
    uint32_t *coupled_count;
    uint32_t *axis_at, *position_at, *coupling_at; // per joint: where its own begin
} Columns;

static Status read_frames(const Moreau__V1__Scene *scene, size_t index, Columns *columns,
                          Error *error) {
    const Moreau__V1__SceneJoint *joint = scene->joints[index];
    double *a = columns->frame[0] + 7 * index, *b = columns->frame[1] + 7 * index;
    Status status = check_frames(joint, index, error);
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t id[2] = {columns->body[0][index], columns->body[1][index]};
    double apart = 0.0;
    if (joint->n_frame_a == 7) {
        memcpy(a, joint->frame_a, 7 * sizeof(double));
        memcpy(b, joint->frame_b, 7 * sizeof(double));
    } else {
        Pose frame = {.orientation = quat_identity()};
        const Vec3 origin =
            id[1] == 0 ? frame.position : body_pose(scene->bodies[id[1] - 1]).position;
        frame.position = joint->n_anchor == 3 ? vec3_load(joint->anchor) : origin;
        status = read_orientation(joint, index, &frame.orientation, error);
        store_in_body(scene, id[0], frame, a);
        if (joint->kind == MOREAU__V1__JOINT__KIND__DISTANCE) {
            const Vec3 at = joint->n_anchor_b == 3 ? vec3_load(joint->anchor_b) : origin;
            apart = vec3_norm(vec3_sub(at, frame.position));
            frame.position = at;
        }
        store_in_body(scene, id[1], frame, b);
    }
    columns->length[index] = joint->has_length ? joint->length : apart > 0.0 ? apart : 1.0;
    return status;
}

typedef struct AxisList {
    const char *name;
    size_t count;
    const double *values;
    double otherwise, none;
} AxisList;

enum { AXIS_LISTS = 18, AXIS_ACTUATORS = 14 }; // the latter: from there on

static void list_axis(const Moreau__V1__SceneJoint *j, AxisList lists[AXIS_LISTS]) {
    const AxisList all[AXIS_LISTS] = {
        {"low", j->n_low, j->low, -HUGE_VAL, -JOINTS_NONE},
        {"high", j->n_high, j->high, HUGE_VAL, JOINTS_NONE},
        {"stiffness", j->n_stiffness, j->stiffness, 0.0, HUGE_VAL},
        {"rest", j->n_rest, j->rest, 0.0, HUGE_VAL},
        {"damping", j->n_damping, j->damping, 0.0, HUGE_VAL},
        {"friction", j->n_friction, j->friction, 0.0, HUGE_VAL},
        {"armature", j->n_armature, j->armature, 0.0, HUGE_VAL},
        {"drive_stiffness", j->n_drive_stiffness, j->drive_stiffness, 0.0, HUGE_VAL},
        {"drive_damping", j->n_drive_damping, j->drive_damping, 0.0, HUGE_VAL},
        {"effort_max", j->n_effort_max, j->effort_max, HUGE_VAL, JOINTS_NONE},
        {"velocity", j->n_velocity, j->velocity, 0.0, HUGE_VAL},
        {"target", j->n_target, j->target, 0.0, HUGE_VAL},
        {"target_velocity", j->n_target_velocity, j->target_velocity, 0.0, HUGE_VAL},
        {"effort", j->n_effort, j->effort, 0.0, HUGE_VAL},
        {"stall_effort", j->n_stall_effort, j->stall_effort, 0.0, HUGE_VAL},
        {"no_load_speed", j->n_no_load_speed, j->no_load_speed, 0.0, HUGE_VAL},
        {"lag_time", j->n_lag_time, j->lag_time, 0.0, HUGE_VAL},
        {"delay_steps", j->n_delay_steps, j->delay_steps, 0.0, HUGE_VAL},
    };
    memcpy(lists, all, sizeof(all));
}

static uint8_t axes_of(const Moreau__V1__SceneJoint *joint) {
    uint8_t axes = joint_kind_axes((JointKind)joint->kind);
    for (size_t i = 0; joint->kind == MOREAU__V1__JOINT__KIND__GENERIC && i < joint->n_axes; i++) {
        axes = (uint8_t)(axes | 1u << joint->axes[i]);
    }
    return axes;
}

static Status read_axes(const Moreau__V1__SceneJoint *joint, size_t index, Columns *columns,
                        Error *error) {
    const uint32_t count = joint_axis_count(axes_of(joint));
    const uint32_t positions = joint_position_count(axes_of(joint));
    AxisList lists[AXIS_LISTS];
    list_axis(joint, lists);
    for (int k = 0; k < AXIS_LISTS; k++) {
        const AxisList *list = &lists[k];
        if (list->count > 1 || (list->count == 1 && count == 0)) {
            Status status = check_list(list->count, count, index, list->name, error);
            if (status != STATUS_OK) {
                return status;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            double value = list->otherwise;
            if (list->count > 0) {
                value = list->values[list->count == 1 ? 0 : i];
                value = value == list->none ? list->otherwise : value;
            }
            columns->axis[k][columns->axis_at[index] + i] = value;
        }
    }
    Status status = check_list(joint->n_position, positions, index, "position", error);
    for (uint32_t i = 0; status == STATUS_OK && i < joint->n_position; i++) {
        columns->position[columns->position_at[index] + i] = joint->position[i];
    }
    return status;
}

static double breaks_at(protobuf_c_boolean is_given, double value) {
    return !is_given || value == JOINTS_NONE ? HUGE_VAL : value;
}

// Of each that a tendon couples a name, and an axis and a coefficient, or none of either.
static Status read_couplings(const Moreau__V1__Scene *scene, size_t index, const Names *names,
                             Columns *columns, Error *error) {
    const Moreau__V1__SceneJoint *joint = scene->joints[index];
    const size_t count = joint->n_coupled, first = columns->coupling_at[index];
    Status status = check_list(joint->n_coupled_axes, count, index, "coupled_axes", error);
    status =
        STATUS_THEN(status, check_list(joint->n_coefficients, count, index, "coefficients", error));
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = find_id(&names->joint, scene->n_joints, joint->coupled[i], index, "coupled",
                         &columns->coupled[first + i], error);
        columns->coupled_axes[first + i] = joint->n_coupled_axes > 0 ? joint->coupled_axes[i] : 0;
        columns->coefficients[first + i] = joint->n_coefficients > 0 ? joint->coefficients[i] : 1.0;
    }
    columns->coupled_count[index] = (uint32_t)count;
    return status;
}

static Status read_joint(const Moreau__V1__Scene *scene, size_t index, const Names *names,
                         Columns *columns, Error *error) {
    const Moreau__V1__SceneJoint *joint = scene->joints[index];
    Status status = find_id(&names->body, scene->n_bodies, joint->body_a, index, "body_a",
                            &columns->body[0][index], error);
    status = STATUS_THEN(status, find_id(&names->body, scene->n_bodies, joint->body_b, index,
                                         "body_b", &columns->body[1][index], error));
    status = STATUS_THEN(status, find_id(&names->joint, scene->n_joints, joint->joint_a, index,
                                         "joint_a", &columns->joint[0][index], error));
    status = STATUS_THEN(status, find_id(&names->joint, scene->n_joints, joint->joint_b, index,
                                         "joint_b", &columns->joint[1][index], error));
    status = STATUS_THEN(status, read_couplings(scene, index, names, columns, error));
    if (status == STATUS_OK && joint->n_axes > 0 &&
        joint->kind != MOREAU__V1__JOINT__KIND__GENERIC) {
        status = blame_input(error, index, "axes", "Only a GENERIC joint names its axes.");
    }
    status = STATUS_THEN(status, read_frames(scene, index, columns, error));
    columns->kind[index] = (uint32_t)joint->kind;
    columns->axes[index] = joint->kind == MOREAU__V1__JOINT__KIND__GENERIC ? axes_of(joint) : 0;
    columns->as_rows[index] = joint->as_rows != 0;
    columns->collides[index] = joint->collides != 0;
    columns->ratio[index] = joint->has_ratio ? joint->ratio : 1.0;
    columns->break_force[index] = breaks_at(joint->has_break_force, joint->break_force);
    columns->break_torque[index] = breaks_at(joint->has_break_torque, joint->break_torque);
    columns->name[index] = joint->name;
    return STATUS_THEN(status, read_axes(joint, index, columns, error));
}

// ---- the plan

static bool take_columns(Columns *c, size_t n, size_t axes, size_t positions, size_t couplings,
                         Arena *arena) {
    uint32_t **const words[] = {&c->kind,    &c->axes,        &c->as_rows,     &c->collides,
                                &c->axis_at, &c->position_at, &c->coupling_at, &c->coupled_count};
    uint64_t **const ids[] = {&c->body[0], &c->body[1], &c->joint[0], &c->joint[1]};
    double **const numbers[] = {&c->ratio, &c->length, &c->break_force, &c->break_torque};
    bool all = true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        *words[i] = arena_take_array(arena, n + 1, sizeof(uint32_t));
        all = all && *words[i] != NULL;
    }
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        *ids[i] = arena_take_array(arena, n, sizeof(uint64_t));
        all = all && *ids[i] != NULL;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *numbers[i] = arena_take_array(arena, n, sizeof(double));
        all = all && *numbers[i] != NULL;
    }
    for (int k = 0; k < AXIS_LISTS; k++) {
        c->axis[k] = arena_take_array(arena, axes, sizeof(double));
        all = all && c->axis[k] != NULL;
    }
    for (int s = 0; s < 2; s++) {
        c->frame[s] = arena_take_array(arena, n, 7 * sizeof(double));
        all = all && c->frame[s] != NULL;
    }
    c->position = arena_take_array(arena, positions, sizeof(double));
    c->name = arena_take_array(arena, n, sizeof(char *));
    c->coupled = arena_take_array(arena, couplings + 1, sizeof(uint64_t));
    c->coupled_axes = arena_take_array(arena, couplings + 1, sizeof(uint32_t));
    c->coefficients = arena_take_array(arena, couplings + 1, sizeof(double));
    return all && c->coupled != NULL && c->coupled_axes != NULL && c->coefficients != NULL &&
           c->position != NULL && c->name != NULL;
}

// Joints that give the same go into one input, as a column is given for all or for none.
static unsigned given_by(const Moreau__V1__SceneJoint *joint) {
    AxisList lists[AXIS_LISTS];
    unsigned given = (joint->n_position > 0 ? 1u : 0u) | (joint->n_velocity > 0 ? 2u : 0u);
    list_axis(joint, lists);
    for (int k = AXIS_ACTUATORS; k < AXIS_LISTS; k++) {
        given |= lists[k].count > 0 ? 4u : 0u;
    }
    return given;
}

// Columns of actuators, which scenes without any have not.
static void give_actuators(const Columns *c, size_t axis, JointColumns *joints) {
    joints->stall_effort = c->axis[AXIS_ACTUATORS] + axis;
    joints->no_load_speed = c->axis[AXIS_ACTUATORS + 1] + axis;
    joints->lag_time = c->axis[AXIS_ACTUATORS + 2] + axis;
    joints->delay_steps = c->axis[AXIS_ACTUATORS + 3] + axis;
}

static Input make_input(const Columns *c, size_t first, size_t end, unsigned given) {
    const size_t axis = c->axis_at[first], position = c->position_at[first];
    Input input = {.kind = INPUT_JOINTS,
                   .joints = {.count = (uint32_t)(end - first),
                              .axis_count = c->axis_at[end] - axis,
                              .position_count = c->position_at[end] - position,
                              .kind = c->kind + first,
                              .body_a = c->body[0] + first,
                              .body_b = c->body[1] + first,
                              .axes = c->axes + first,
                              .frame_a = c->frame[0] + 7 * first,
                              .frame_b = c->frame[1] + 7 * first,
                              .as_rows = c->as_rows + first,
                              .collides = c->collides + first,
                              .joint_a = c->joint[0] + first,
                              .joint_b = c->joint[1] + first,
                              .ratio = c->ratio + first,
                              .length = c->length + first,
                              .break_force = c->break_force + first,
                              .break_torque = c->break_torque + first,
                              .low = c->axis[0] + axis,
                              .high = c->axis[1] + axis,
                              .stiffness = c->axis[2] + axis,
                              .rest = c->axis[3] + axis,
                              .damping = c->axis[4] + axis,
                              .friction = c->axis[5] + axis,
                              .armature = c->axis[6] + axis,
                              .drive_stiffness = c->axis[7] + axis,
                              .drive_damping = c->axis[8] + axis,
                              .effort_max = c->axis[9] + axis,
                              .velocity = given & 2u ? c->axis[10] + axis : NULL,
                              .target = c->axis[11] + axis,
                              .target_velocity = c->axis[12] + axis,
                              .effort = c->axis[13] + axis,
                              .position = given & 1u ? c->position + position : NULL,
                              .name = c->name + first}};
    if (given & 4u) {
        give_actuators(c, axis, &input.joints);
    }
    const size_t coupling = c->coupling_at[first];
    if (c->coupling_at[end] > coupling) {
        input.joints.coupling_count = c->coupling_at[end] - coupling;
        input.joints.coupled_count = c->coupled_count + first;
        input.joints.coupled = c->coupled + coupling;
        input.joints.coupled_axes = c->coupled_axes + coupling;
        input.joints.coefficients = c->coefficients + coupling;
    }
    return input;
}

Status scene_plan_joints(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                         Error *error) {
    const size_t n = scene->n_joints;
    size_t axes = 0, positions = 0, couplings = 0;
    for (size_t i = 0; i < n; i++) {
        couplings += scene->joints[i]->n_coupled;
        axes += joint_axis_count(axes_of(scene->joints[i]));
        positions += joint_position_count(axes_of(scene->joints[i]));
    }
    Columns columns;
    Names names;
    if (!take_columns(&columns, n, axes, positions, couplings, arena)) {
        return out_of_memory(error);
    }
    Status status = list_names(scene, arena, &names, error);
    columns.axis_at[0] = columns.position_at[0] = columns.coupling_at[0] = 0;
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        const uint8_t free_axes = axes_of(scene->joints[i]);
        columns.axis_at[i + 1] = columns.axis_at[i] + joint_axis_count(free_axes);
        columns.coupling_at[i + 1] = columns.coupling_at[i] + (uint32_t)scene->joints[i]->n_coupled;
        columns.position_at[i + 1] = columns.position_at[i] + joint_position_count(free_axes);
        status = read_joint(scene, i, &names, &columns, error);
    }
    for (size_t first = 0, end; status == STATUS_OK && first < n; first = end) {
        end = first + 1;
        while (end < n && given_by(scene->joints[end]) == given_by(scene->joints[first])) {
            end++;
        }
        plan->first_item[plan->input_count] = (uint32_t)first;
        plan->input[plan->input_count++] =
            make_input(&columns, first, end, given_by(scene->joints[first]));
    }
    return status;
}

// ---- blame

// The joint of an axis, or of a position, counted from the first joint of an input.
static size_t joint_of(const ScenePlan *plan, size_t first, size_t at, bool is_position,
                       size_t *part) {
    for (size_t i = first; i < plan->scene->n_joints; i++) {
        const uint8_t axes = axes_of(plan->scene->joints[i]);
        const size_t count = is_position ? joint_position_count(axes) : joint_axis_count(axes);
        if (at < count) {
            *part = at;
            return i;
        }
        at -= count;
    }
    *part = 0;
    return first;
}

// The joint of a coupling, counted likewise.
static size_t owner_of(const ScenePlan *plan, size_t first, size_t at, size_t *part) {
    size_t joint = first;
    while (joint + 1 < plan->scene->n_joints && at >= plan->scene->joints[joint]->n_coupled) {
        at -= plan->scene->joints[joint]->n_coupled;
        joint++;
    }
    *part = at;
    return joint;
}

void scene_translate_joint(const ScenePlan *plan, size_t input, Error *error) {
    const char *bracket = strchr(error->field, '[');
    char name[32] = "";
    if (bracket == NULL || (size_t)(bracket - error->field) >= sizeof(name)) {
        snprintf(error->field, sizeof(error->field), "scene.joints");
        return;
    }
    memcpy(name, error->field, (size_t)(bracket - error->field));
    const size_t at = strtoul(bracket + 1, NULL, 10), first = plan->first_item[input];
    AxisList lists[AXIS_LISTS];
    list_axis(plan->scene->joints[first], lists);
    bool is_axis = strcmp(name, "position") == 0;
    for (int k = 0; k < AXIS_LISTS; k++) {
        is_axis = is_axis || strcmp(name, lists[k].name) == 0;
    }
    const bool is_coupling = strcmp(name, "coupled") == 0 || strcmp(name, "coupled_axes") == 0 ||
                             strcmp(name, "coefficients") == 0;
    size_t part = 0, joint = first + at;
    if (is_axis || is_coupling) {
        joint = is_axis ? joint_of(plan, first, at, strcmp(name, "position") == 0, &part)
                        : owner_of(plan, first, at, &part);
        snprintf(error->field, sizeof(error->field), "scene.joints[%zu].%s[%zu]", joint, name,
                 part);
        return;
    }
    const bool is_frame = strncmp(name, "frame_", 6) == 0;
    joint = is_frame ? first + at / 7 : joint;
    const bool has_frame =
        joint < plan->scene->n_joints && plan->scene->joints[joint]->n_frame_a > 0;
    snprintf(error->field, sizeof(error->field), "scene.joints[%zu].%s", joint,
             is_frame && !has_frame               ? "anchor"
             : strcmp(name, "coupled_count") == 0 ? "coupled"
                                                  : name);
}
