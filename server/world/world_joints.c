// SPDX-License-Identifier: MIT
// The joints of a world: added all or none, found, measured, removed.
#include "world/world.h"

#include "base/array.h"
#include "base/assert.h"
#include "world/range.h"
#include "world/sleep.h"
#include "world/world_commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- memory

enum { AXIS_BYTES = sizeof(JointAxis) + 4 * sizeof(double), POSITION_BYTES = sizeof(double) };

size_t world_joint_bytes(const World *world) {
    return world->joint_capacity * sizeof(Joint) + world->joint_axis_capacity * (size_t)AXIS_BYTES +
           world->joint_position_capacity * (size_t)POSITION_BYTES +
           world->joint_under_way_capacity * sizeof(double) +
           world->coupling_capacity * sizeof(Coupling);
}

void world_free_joints(World *world) {
    for (size_t i = 0; i < world->joint_count; i++) {
        free(world->joint[i].name);
    }
    free(world->joint);
    free(world->joint_axis);
    free(world->joint_velocity);
    free(world->joint_target_velocity);
    free(world->joint_effort);
    free(world->joint_target);
    free(world->joint_position);
    free(world->joint_under_way);
    free(world->coupling);
}

static Status out_of_memory(const World *world, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The memory budget of %zu bytes (option --memory-bytes-max) is used up.",
                     world->limits.bytes_max);
}

// All columns of the axes grow alike, from one capacity.
bool world_reserve_joint_axes(World *world, size_t count) {
    size_t capacity = world->joint_axis_capacity;
    double **const columns[] = {&world->joint_velocity, &world->joint_target_velocity,
                                &world->joint_effort, &world->joint_target};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        capacity = world->joint_axis_capacity;
        if (!ARRAY_RESERVE(*columns[i], capacity, count)) {
            return false;
        }
    }
    return ARRAY_RESERVE(world->joint_axis, world->joint_axis_capacity, count);
}

// What there was room for.
typedef struct Room {
    size_t joints, axes, positions, under_way, couplings;
} Room;

static Room room_of(const World *world) {
    return (Room){world->joint_capacity, world->joint_axis_capacity, world->joint_position_capacity,
                  world->joint_under_way_capacity, world->coupling_capacity};
}

// A call that is refused leaves no memory behind.
static void give_back(World *world, Room before) {
    size_t capacity = world->joint_axis_capacity;
    double **const columns[] = {&world->joint_velocity, &world->joint_target_velocity,
                                &world->joint_effort, &world->joint_target};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        capacity = world->joint_axis_capacity;
        ARRAY_GIVE_BACK(*columns[i], capacity, before.axes);
    }
    ARRAY_GIVE_BACK(world->joint_axis, world->joint_axis_capacity, before.axes);
    ARRAY_GIVE_BACK(world->joint, world->joint_capacity, before.joints);
    ARRAY_GIVE_BACK(world->joint_position, world->joint_position_capacity, before.positions);
    ARRAY_GIVE_BACK(world->coupling, world->coupling_capacity, before.couplings);
    capacity = world->joint_under_way_capacity;
    ARRAY_GIVE_BACK(world->joint_under_way, capacity, before.under_way);
    world->joint_under_way_capacity = (uint32_t)capacity;
}

static Status reserve(World *world, const JointColumns *columns, Error *error) {
    if (columns->count > JOINT_COUNT_MAX - world->joint_count) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "kind",
                         "A world has at most %d joints, which no option changes; it has %zu and "
                         "was asked to take %u more.",
                         JOINT_COUNT_MAX, world->joint_count, columns->count);
    }
    const size_t more = columns->count * sizeof(Joint) + columns->axis_count * (size_t)AXIS_BYTES +
                        columns->position_count * (size_t)POSITION_BYTES +
                        columns->coupling_count * sizeof(Coupling);
    if (more > world->limits.bytes_max || world_bytes(world) > world->limits.bytes_max - more ||
        !ARRAY_RESERVE(world->joint, world->joint_capacity, world->joint_count + columns->count) ||
        !world_reserve_joint_axes(world, world->joint_axis_count + columns->axis_count) ||
        !ARRAY_RESERVE(world->joint_position, world->joint_position_capacity,
                       world->joint_position_count + columns->position_count) ||
        !ARRAY_RESERVE(world->coupling, world->coupling_capacity,
                       world->coupling_count + columns->coupling_count)) {
        return out_of_memory(world, error);
    }
    return STATUS_OK;
}

// ---- one joint of the columns

static Status blame(Error *error, Status status, const char *column, size_t entry,
                    const char *why) {
    char field[64];
    snprintf(field, sizeof(field), "%s[%zu]", column, entry);
    return error_set(error, status, field, "%s", why);
}

static Status blame_input(Error *error, const char *column, size_t entry, const char *why) {
    return blame(error, STATUS_INVALID_ARGUMENT, column, entry, why);
}

static uint64_t entry_of(const uint64_t *column, uint32_t i) {
    return column == NULL ? 0 : column[i];
}

static double number_of(const double *column, size_t i, double otherwise) {
    return column == NULL ? otherwise : column[i];
}

static Status blame_kind(uint32_t i, Error *error) {
    char known[256] = "No such joint: ";
    for (int kind = 0; kind < JOINT_KIND_COUNT; kind++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s %d", kind == 0 ? "" : ", ",
                 joint_kind_rows[kind].name, kind);
    }
    const size_t used = strlen(known);
    snprintf(known + used, sizeof(known) - used, ".");
    return blame_input(error, "kind", i, known);
}

static Status load_kind(World *world, const JointColumns *columns, uint32_t i, Joint *joint,
                        Error *error) {
    (void)world;
    if (columns->kind[i] >= JOINT_KIND_COUNT) {
        return blame_kind(i, error);
    }
    const JointKind kind = (JointKind)columns->kind[i];
    const uint32_t asked = columns->axes == NULL ? 0 : columns->axes[i];
    joint->kind = (uint8_t)kind;
    joint->axes = joint_kind_axes(kind);
    if (kind == JOINT_GENERIC) {
        if (asked == 0 || asked >= 1 << JOINT_AXES_MAX) {
            return blame_input(error, "axes", i,
                               "A generic joint names the axes that it leaves free: 1, 2, 4 of "
                               "moves along x, y, z, 8, 16, 32 of turns about them; a sum of 1 to "
                               "63. For none there is FIXED.");
        }
        joint->axes = (uint8_t)asked;
    } else if (asked != 0 && asked != joint->axes) {
        return blame_input(error, "axes", i,
                           "The kind says which axes are free: leave it 0, or ask for GENERIC.");
    }
    if ((columns->as_rows != NULL && columns->as_rows[i] > 1) ||
        (columns->collides != NULL && columns->collides[i] > 1)) {
        const bool is_rows = columns->as_rows != NULL && columns->as_rows[i] > 1;
        return blame_input(error, is_rows ? "as_rows" : "collides", i, "It must be 0 or 1.");
    }
    joint->is_rows =
        joint_kind_is_rows(kind) || (columns->as_rows != NULL && columns->as_rows[i] != 0);
    joint->collides = columns->collides != NULL && columns->collides[i] != 0;
    return STATUS_OK;
}

static Status load_bodies(World *world, const JointColumns *columns, uint32_t i, Joint *joint,
                          Error *error) {
    static const char *const column[2] = {"body_a", "body_b"};
    const uint64_t id[2] = {entry_of(columns->body_a, i), entry_of(columns->body_b, i)};
    bool is_held[2];
    for (int s = 0; s < 2; s++) {
        joint->body[s] = JOINT_NO_BODY;
        char field[64];
        snprintf(field, sizeof(field), "%s[%u]", column[s], i);
        if (id[s] != 0 && !world_find_body(world, id[s], &joint->body[s])) {
            return world_blame_body(world, id[s], field, error);
        }
        is_held[s] = joint->body[s] == JOINT_NO_BODY || world->kind[joint->body[s]] != BODY_DYNAMIC;
    }
    if (joint_couples(joint)) {
        const int s = id[0] == 0;
        return id[0] == 0 && id[1] == 0
                   ? STATUS_OK
                   : blame_input(error, column[s], i,
                                 joint->kind == JOINT_GEAR
                                     ? "A gear couples joints (joint_a, joint_b), not bodies."
                                     : "A tendon couples joints (coupled), not bodies.");
    }
    if (id[1] == 0) {
        return blame_input(error, "body_b", i,
                           "A joint needs a body b; the world (0) can only be a.");
    }
    if (id[0] == id[1]) {
        return blame_input(error, "body_b", i, "A joint is between two bodies: a and b are one.");
    }
    if (is_held[0] && is_held[1]) {
        return blame_input(error, "body_b", i,
                           "Nothing moves either body: one of the two must be dynamic.");
    }
    if (!joint->is_rows && is_held[1]) {
        return blame_input(error, "body_b", i,
                           "The child of a joint of coordinates must be dynamic: swap a and b, or "
                           "ask for as_rows.");
    }
    return STATUS_OK;
}

static Status load_partners(World *world, const JointColumns *columns, uint32_t i, Joint *joint,
                            Error *error) {
    static const char *const column[2] = {"joint_a", "joint_b"};
    const uint64_t id[2] = {entry_of(columns->joint_a, i), entry_of(columns->joint_b, i)};
    for (int s = 0; s < 2; s++) {
        joint->partner[s] = JOINT_NONE;
        if (joint->kind != JOINT_GEAR) {
            if (id[s] != 0) {
                return blame_input(error, column[s], i, "Only a gear couples joints.");
            }
            continue;
        }
        const Joint *partner = world_find_coupled(world, id[s], i, &joint->partner[s]);
        if (partner == NULL) {
            return blame(error, STATUS_NOT_FOUND, column[s], i,
                         "No joint has this id; a gear comes after the joints that it couples.");
        }
        if (joint_axis_count(partner->axes) != 1 || joint_couples(partner)) {
            return blame_input(error, column[s], i,
                               "A gear couples joints with one free axis each, and no tendons.");
        }
    }
    if (joint->kind == JOINT_GEAR && id[0] == id[1]) {
        return blame_input(error, "joint_b", i, "A gear couples two joints: these are one.");
    }
    return STATUS_OK;
}

static Status load_frames(World *world, const JointColumns *columns, uint32_t i, Joint *joint,
                          Error *error) {
    static const char *const column[2] = {"frame_a", "frame_b"};
    const double *const given[2] = {columns->frame_a, columns->frame_b};
    for (int s = 0; s < 2; s++) {
        joint->frame[s] = (Pose){.orientation = quat_identity()};
        if (given[s] != NULL) {
            const double *frame = given[s] + 7 * (size_t)i;
            Status status = body_check_pose_of(frame, column[s], i, error);
            if (status != STATUS_OK) {
                return status;
            }
            joint->frame[s] = pose_load(frame);
            joint->frame[s].orientation = quat_normalize(joint->frame[s].orientation);
        }
        if (joint->body[s] != JOINT_NO_BODY) {
            joint->frame[s].position =
                vec3_sub(joint->frame[s].position, world->mass[joint->body[s]].center);
        }
    }
    return STATUS_OK;
}

// What only some kinds have must not be asked of the others.
static Status load_numbers(World *world, const JointColumns *columns, uint32_t i, Joint *joint,
                           Error *error) {
    (void)world;
    joint->ratio = number_of(columns->ratio, i, 1.0);
    joint->length = number_of(columns->length, i, 1.0);
    joint->break_force = number_of(columns->break_force, i, HUGE_VAL);
    joint->break_torque = number_of(columns->break_torque, i, HUGE_VAL);
    const struct {
        RangeKind range;
        const char *column;
        double value;
    } checks[4] = {{RANGE_JOINT_RATIO, "ratio", joint->ratio},
                   {RANGE_JOINT_LENGTH, "length", joint->length},
                   {RANGE_JOINT_BREAK, "break_force", joint->break_force},
                   {RANGE_JOINT_BREAK, "break_torque", joint->break_torque}};
    for (int k = 0; k < 4; k++) {
        const bool is_unbounded = k >= 2 && checks[k].value == HUGE_VAL;
        Status status = is_unbounded ? STATUS_OK
                                     : range_check(checks[k].range, checks[k].value,
                                                   checks[k].column, i, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (k >= 2 && !is_unbounded && !joint->is_rows) {
            return blame_input(error, checks[k].column, i,
                               "Only joints of rows break: ask for as_rows.");
        }
    }
    return STATUS_OK;
}

// ---- the axes of one joint

static Status load_axis(const JointColumns *columns, size_t at, const Joint *joint, JointAxis *axis,
                        Error *error) {
#define X(upper, member, range, none) .member = number_of(columns->member, at, none),
    *axis = (JointAxis){JOINT_NUMBER_MAP(X)};
#undef X
    return joint_axis_check(axis, joint->is_rows, "", at, error);
}

static Status check_state(const JointColumns *columns, Error *error) {
    const RangeColumn ranges[] = {
        {RANGE_JOINT_VELOCITY, columns->velocity, "velocity"},
        {RANGE_JOINT_POSITION, columns->target, "target"},
        {RANGE_JOINT_VELOCITY, columns->target_velocity, "target_velocity"},
        {RANGE_JOINT_EFFORT, columns->effort, "effort"},
    };
    return range_check_columns(ranges, 4, columns->axis_count, error);
}

Status world_check_joint_position(uint8_t axes, const double *position, const char *column,
                                  size_t first, Error *error) {
    const uint32_t count = joint_position_count(axes);
    const bool is_quaternion = (axes & JOINT_TURNS) == JOINT_TURNS;
    const uint32_t plain = is_quaternion ? count - 4 : count;
    for (uint32_t i = 0; i < plain; i++) {
        Status status =
            range_check(RANGE_JOINT_POSITION, position[i], column, (int64_t)(first + i), error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    double norm = 0.0;
    for (uint32_t i = plain; i < count; i++) {
        norm += position[i] * position[i];
    }
    // as of a body's orientation; NaN fails
    return !is_quaternion || (norm >= 1e-12 && norm <= 1e12)
               ? STATUS_OK
               : blame_input(error, column, first + plain,
                             "The quaternion (w x y z) of three turns is normalised on receipt, "
                             "but must not be zero.");
}

typedef Status LoadPart(World *world, const JointColumns *columns, uint32_t i, Joint *joint,
                        Error *error);
static LoadPart *const parts_of_joint[] = {load_kind, load_bodies, load_partners, load_frames,
                                           load_numbers};

static Status load_joint(World *world, const JointColumns *columns, uint32_t i, size_t *axes,
                         size_t *positions, size_t *couplings, Error *error) {
    Joint *joint = &world->joint[world->joint_count + i];
    *joint = (Joint){.id = world->joint_id_next + i};
    Status status = STATUS_OK;
    for (size_t k = 0;
         status == STATUS_OK && k < sizeof(parts_of_joint) / sizeof(parts_of_joint[0]); k++) {
        status = parts_of_joint[k](world, columns, i, joint, error);
    }
    status = STATUS_THEN(status, world_load_couplings(world, columns, i, *couplings, joint, error));
    const uint32_t axis_count = joint_axis_count(joint->axes);
    const uint32_t position_count = joint_position_count(joint->axes);
    if (status == STATUS_OK && (axis_count > columns->axis_count - *axes ||
                                position_count > columns->position_count - *positions)) {
        status = blame_input(error, "kind", i,
                             "The joints leave more axes free than the columns of axes have.");
    }
    joint->axis_first = (uint32_t)(world->joint_axis_count + *axes);
    joint->position_first = (uint32_t)(world->joint_position_count + *positions);
    for (uint32_t k = 0; status == STATUS_OK && k < axis_count; k++) {
        status =
            load_axis(columns, *axes + k, joint, &world->joint_axis[joint->axis_first + k], error);
    }
    // a quaternion of rows says nothing: what is measured has no turns to count
    if (status == STATUS_OK && columns->position != NULL) {
        const bool is_measured = joint->is_rows && (joint->axes & JOINT_TURNS) == JOINT_TURNS;
        status = world_check_joint_position(is_measured ? joint->axes & JOINT_MOVES : joint->axes,
                                            columns->position + *positions, "position", *positions,
                                            error);
    }
    *axes += axis_count;
    *positions += position_count;
    *couplings += joint->coupling_count;
    return status;
}

// ---- trees

// What the joints of coordinates make of the bodies; per body.
typedef struct Forest {
    uint32_t *joint; // that it is the child of, JOINT_NONE: a root
    uint32_t *depth; // joints above it, and one more; 0: not yet known
    uint32_t *root;
    uint32_t *width; // of a root: the velocities of its tree
    uint32_t *way;   // the bodies above one, upwards
} Forest;

static bool open_forest(Forest *forest, uint32_t count, uint32_t **block) {
    *block = malloc(5 * ((size_t)count + 1) * sizeof(uint32_t));
    if (*block == NULL) {
        return false;
    }
    uint32_t *at = *block;
    uint32_t **const parts[5] = {&forest->joint, &forest->depth, &forest->root, &forest->width,
                                 &forest->way};
    for (int i = 0; i < 5; i++) {
        *parts[i] = at;
        memset(at, i == 0 ? 0xff : 0, count * sizeof(uint32_t));
        at += count;
    }
    return true;
}

static bool is_dynamic(const World *world, uint32_t body) {
    return body != JOINT_NO_BODY && world->kind[body] == BODY_DYNAMIC;
}

// Hangs the children of the joints from `first` to `end` on their parents.
static Status hang(const World *world, Forest *forest, size_t first, size_t end, Error *error) {
    for (size_t i = first; i < end; i++) {
        const Joint *joint = &world->joint[i];
        if (joint->is_rows) {
            continue;
        }
        uint32_t *of_child = &forest->joint[joint->body[1]];
        if (*of_child != JOINT_NONE) {
            char why[192];
            snprintf(why, sizeof(why),
                     "This body hangs by joint %llu already, so this one closes a loop or must be "
                     "turned round (swap a and b); ask for as_rows to close a loop.",
                     (unsigned long long)world->joint[*of_child].id);
            return blame_input(error, "body_b", i - world->joint_count, why);
        }
        *of_child = (uint32_t)i;
    }
    return STATUS_OK;
}

// Depth and root of a body and of all above it; false: it is below itself.
static bool climb(const World *world, Forest *forest, uint32_t body) {
    uint32_t steps = 0;
    uint32_t depth = 0, root = body;
    for (uint32_t at = body;; at = world->joint[forest->joint[at]].body[0]) {
        if (forest->depth[at] != 0) {
            depth = forest->depth[at];
            root = forest->root[at];
            break;
        }
        if (steps > 0 && at == body) {
            return false;
        }
        forest->way[steps++] = at;
        root = at;
        if (forest->joint[at] == JOINT_NONE ||
            !is_dynamic(world, world->joint[forest->joint[at]].body[0])) {
            break;
        }
        if (steps == world->body_count) {
            return false;
        }
    }
    while (steps > 0) {
        const uint32_t at = forest->way[--steps];
        forest->depth[at] = ++depth;
        forest->root[at] = root;
        const uint32_t joint = forest->joint[at];
        forest->width[root] += joint == JOINT_NONE ? 6 : joint_axis_count(world->joint[joint].axes);
    }
    return true;
}

// Of the joints of a loop that `body` is in or below, the one that came last and closed it.
static uint32_t last_of_loop(const World *world, const Forest *forest, uint32_t body) {
    for (uint32_t i = 0; i < world->body_count; i++) { // then it is in the loop for certain
        body = world->joint[forest->joint[body]].body[0];
    }
    uint32_t last = forest->joint[body];
    for (uint32_t at = world->joint[last].body[0]; at != body;) {
        const uint32_t joint = forest->joint[at];
        last = joint > last ? joint : last;
        at = world->joint[joint].body[0];
    }
    return last;
}

static Status check_tree(const World *world, Forest *forest, const Joint *joint, Error *error) {
    return climb(world, forest, joint->body[1])
               ? STATUS_OK
               : blame_input(error, "body_b",
                             last_of_loop(world, forest, joint->body[1]) - world->joint_count,
                             "The joint closes a loop: a hangs below b. Ask for as_rows.");
}

static Status check_size(const World *world, const Forest *forest, uint32_t body, Error *error) {
    const uint32_t depth = forest->depth[body], width = forest->width[forest->root[body]];
    const uint32_t joint = forest->joint[body];
    if (depth <= TREE_DEPTH_MAX && width <= TREE_WIDTH_MAX) {
        return STATUS_OK;
    }
    char field[64] = "body_b";
    if (joint != JOINT_NONE && joint >= world->joint_count) {
        snprintf(field, sizeof(field), "body_b[%zu]", joint - world->joint_count);
    }
    return depth > TREE_DEPTH_MAX
               ? error_set(error, STATUS_RESOURCE_EXHAUSTED, field,
                           "Body %llu would be %u bodies below the root of its tree: a tree is at "
                           "most %d deep (limit TREE_DEPTH_MAX, which no option changes).",
                           (unsigned long long)world->body_id[body], depth, TREE_DEPTH_MAX)
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, field,
                           "The tree of body %llu would have %u velocities: a tree has at most %d "
                           "(limit TREE_WIDTH_MAX, which no option changes).",
                           (unsigned long long)world->body_id[body], width, TREE_WIDTH_MAX);
}

Status world_check_trees(const World *world, uint32_t count, Error *error) {
    uint32_t *block = NULL;
    Forest forest;
    if (!open_forest(&forest, world->body_count, &block)) {
        return out_of_memory(world, error);
    }
    Status status = hang(world, &forest, 0, world->joint_count, error);
    ASSERT(status == STATUS_OK);
    status = hang(world, &forest, world->joint_count, world->joint_count + count, error);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        const Joint *joint = &world->joint[world->joint_count + i];
        if (!joint->is_rows) {
            status = check_tree(world, &forest, joint, error);
        }
    }
    for (uint32_t body = 0; status == STATUS_OK && body < world->body_count; body++) {
        if (forest.joint[body] != JOINT_NONE) {
            bool is_sound = climb(world, &forest, body);
            ASSERT(is_sound);
            status = check_size(world, &forest, body, error);
        }
    }
    free(block);
    return status;
}

// ---- numbers

static Vec3 center_of(const World *world, uint32_t body) {
    return vec3_load(world->pose + 7 * (size_t)body);
}

static Vec3 point_velocity(const World *world, uint32_t body, Vec3 point, Vec3 *spin) {
    if (body == JOINT_NO_BODY) {
        *spin = vec3(0.0, 0.0, 0.0);
        return *spin;
    }
    const double *v = world->velocity + 6 * (size_t)body;
    *spin = vec3_load(v + 3);
    return vec3_add(vec3_load(v), vec3_cross(*spin, vec3_sub(point, center_of(world, body))));
}

Pose world_joint_frame(const World *world, const Joint *joint, int side) {
    const uint32_t body = joint->body[side];
    return body == JOINT_NO_BODY
               ? joint->frame[side]
               : pose_compose(pose_load(world->pose + 7 * (size_t)body), joint->frame[side]);
}

static Quat conjugate(Quat q) {
    return (Quat){q.w, -q.x, -q.y, -q.z};
}

void world_measure_joint(const World *world, const Joint *joint, double *position,
                         double *velocity) {
    if (joint->kind == JOINT_TENDON) {
        world_measure_tendon(world, joint, position, velocity);
        return;
    }
    const Pose a = world_joint_frame(world, joint, 0), b = world_joint_frame(world, joint, 1);
    const Mat3 axes = quat_to_mat3(a.orientation);
    const Pose relative = {mat3_tmul_vec(axes, vec3_sub(b.position, a.position)),
                           quat_mul(conjugate(a.orientation), b.orientation)};
    Vec3 spin[2];
    const Vec3 at_a = point_velocity(world, joint->body[0], b.position, &spin[0]);
    const Vec3 at_b = point_velocity(world, joint->body[1], b.position, &spin[1]);
    joint_measure_position(joint->axes, relative, position);
    joint_measure_velocity(joint->axes, relative, mat3_tmul_vec(axes, vec3_sub(at_b, at_a)),
                           mat3_tmul_vec(axes, vec3_sub(spin[1], spin[0])), velocity);
}

// Angles as they were or half a turn from there at most, so that a wheel counts its turns.
static void unwind(uint8_t axes, const double *before, double *position) {
    const double turn = 2.0 * 3.141592653589793;
    const uint32_t moves = joint_axis_count(axes & JOINT_MOVES);
    const uint32_t turns = joint_axis_count(axes & JOINT_TURNS);
    for (uint32_t i = moves; turns < 3 && i < moves + turns; i++) {
        position[i] += turn * floor((before[i] - position[i]) / turn + 0.5);
    }
}

void world_follow_joint(const World *world, const Joint *joint, const double *before,
                        double *position) {
    double rates[JOINT_AXES_MAX];
    world_measure_joint(world, joint, position, rates);
    unwind(joint->axes, before, position);
}

static void limit_numbers(double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        numbers[i] = clamp_to(numbers[i], (double)FLT_MAX);
    }
}

void world_follow_bodies(World *world) {
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (!joint->is_rows || joint->axes == 0) {
            continue;
        }
        double position[JOINT_POSITION_MAX];
        double *kept = world->joint_position + joint->position_first;
        double *rates = world->joint_velocity + joint->axis_first;
        world_measure_joint(world, joint, position, rates);
        unwind(joint->axes, kept, position);
        memcpy(kept, position, joint_position_count(joint->axes) * sizeof(double));
        limit_numbers(kept, joint_position_count(joint->axes));
        limit_numbers(rates, joint_axis_count(joint->axes));
    }
}

// The state of a new joint; `axes`, `positions`: where it stands in the columns.
static void start(World *world, const JointColumns *columns, const Joint *joint) {
    const size_t axes = joint->axis_first - world->joint_axis_count;
    const size_t positions = joint->position_first - world->joint_position_count;
    const uint32_t axis_count = joint_axis_count(joint->axes);
    const uint32_t position_count = joint_position_count(joint->axes);
    double *position = world->joint_position + joint->position_first;
    double *velocity = world->joint_velocity + joint->axis_first;
    world_measure_joint(world, joint, position, velocity);
    if (columns->position != NULL && joint->is_rows) {
        unwind(joint->axes, columns->position + positions, position);
    } else if (columns->position != NULL && position_count > 0) {
        memcpy(position, columns->position + positions, position_count * sizeof(double));
        world_normalize_joint_position(joint->axes, position);
    }
    if (columns->velocity != NULL && !joint->is_rows && axis_count > 0) {
        memcpy(velocity, columns->velocity + axes, axis_count * sizeof(double));
    }
    for (uint32_t k = 0; k < axis_count; k++) {
        const size_t at = joint->axis_first + k;
        world->joint_target[at] = number_of(columns->target, axes + k, 0.0);
        world->joint_target_velocity[at] = number_of(columns->target_velocity, axes + k, 0.0);
        world->joint_effort[at] = number_of(columns->effort, axes + k, 0.0);
    }
}

void world_normalize_joint_position(uint8_t axes, double *position) {
    if ((axes & JOINT_TURNS) == JOINT_TURNS) {
        double *q = position + joint_axis_count(axes & JOINT_MOVES);
        const Quat unit = quat_normalize((Quat){q[0], q[1], q[2], q[3]});
        q[0] = unit.w;
        q[1] = unit.x;
        q[2] = unit.y;
        q[3] = unit.z;
    }
}

// ---- adding

static bool load_names(World *world, const JointColumns *columns) {
    for (uint32_t i = 0; columns->name != NULL && i < columns->count; i++) {
        if (columns->name[i] == NULL || columns->name[i][0] == '\0') {
            continue;
        }
        Joint *joint = &world->joint[world->joint_count + i];
        joint->name = world_keep_name(world, columns->name[i]);
        if (joint->name == NULL) {
            for (uint32_t j = 0; j < i; j++) {
                world_drop_name(world, world->joint[world->joint_count + j].name);
            }
            return false;
        }
    }
    return true;
}

// Before the bodies of new joints are moved. What couples joints holds those of all of them.
static void disturb(World *world, const Joint *joint) {
    for (uint32_t i = 0; world->sleep != NULL && i < world_joint_end_count(joint); i++) {
        const uint32_t body = world_joint_end(world, joint, i);
        if (body != JOINT_NO_BODY) {
            sleep_disturb(world, &body, 1, true);
        }
    }
}

// Reads all of the columns into the entries behind the last joint, and judges them.
static Status load(World *world, const JointColumns *columns, Error *error) {
    Status status = STATUS_OK;
    size_t axes = 0, positions = 0, couplings = 0;
    for (uint32_t i = 0; status == STATUS_OK && i < columns->count; i++) {
        status = load_joint(world, columns, i, &axes, &positions, &couplings, error);
    }
    if (status == STATUS_OK && couplings != columns->coupling_count) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "coupled_count",
                           "Tendons couple %zu axes; the columns of couplings are of %zu.",
                           couplings, columns->coupling_count);
    }
    if (status == STATUS_OK &&
        (axes != columns->axis_count || positions != columns->position_count)) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "kind",
                           "The joints leave %zu axes free with %zu positions; the columns are of "
                           "%zu and %zu.",
                           axes, positions, columns->axis_count, columns->position_count);
    }
    status = STATUS_THEN(status, check_state(columns, error));
    return STATUS_THEN(status, world_check_trees(world, columns->count, error));
}

Status world_add_joints(World *world, const JointColumns *columns, Id *ids, Error *error) {
    const Room before = room_of(world);
    Status status = reserve(world, columns, error);
    status = STATUS_THEN(status, load(world, columns, error));
    status = STATUS_THEN(
        status,
        world_reserve_under_way(
            world,
            world_count_under_way(world->joint_axis, world->joint_axis_count + columns->axis_count),
            error));
    if (status == STATUS_OK &&
        (!world_reserve_trees(world, world->body_count, world->joint_count + columns->count) ||
         !load_names(world, columns))) {
        status = out_of_memory(world, error);
    }
    if (status != STATUS_OK) {
        give_back(world, before);
        return status;
    }
    // nothing can fail any more: the entries become joints
    for (uint32_t i = 0; i < columns->count; i++) {
        Joint *joint = &world->joint[world->joint_count + i];
        ids[i] = joint->id;
        disturb(world, joint);
        start(world, columns, joint);
    }
    world_start_commands(world, columns->axis_count);
    world->joint_count += columns->count;
    world->joint_id_next += columns->count;
    world->joint_axis_count += columns->axis_count;
    world->joint_position_count += columns->position_count;
    world->coupling_count += columns->coupling_count;
    world->definition_is_hashed = false;
    world->bodies_moved = true;
    world_joints_changed(world);
    return STATUS_OK;
}

void world_joints_changed(World *world) {
    world->joint_memory_count = 0; // a cold start is always right
    world_build_trees(world);
    world_settle_joints(world);
}

// ---- finding

uint64_t world_removed_joint_count(const World *world) {
    return world->joint_id_next - 1 - world->joint_count;
}

bool world_find_joint(const World *world, Id id, uint32_t *joint) {
    // as of bodies: ids begin at 1 and rise
    size_t low = 0, high = id < world->joint_count ? (size_t)id : world->joint_count;
    if (high > 0 && world->joint[high - 1].id == id) {
        *joint = (uint32_t)high - 1;
        return true;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (world->joint[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == world->joint_count || world->joint[low].id != id) {
        return false;
    }
    *joint = (uint32_t)low;
    return true;
}

Status world_blame_joint(const World *world, Id id, const char *field, Error *error) {
    bool was_there = id > 0 && id < world->joint_id_next;
    return error_set(error, STATUS_NOT_FOUND, field,
                     was_there ? "Joint %llu is gone: it was removed, or broke."
                               : "No joint has the id %llu in this world.",
                     (unsigned long long)id);
}

uint32_t world_joint_of_child(const World *world, uint32_t body) {
    const uint32_t tree = tree_of_body(world->trees, body);
    return tree == TREE_NONE
               ? JOINT_NONE
               : world->trees
                     ->link[world->trees->tree[tree].link_first + world->trees->link_of_body[body]]
                     .joint;
}

// ---- removing

enum { GONE = 0 }; // the id of a joint that is being taken out

// Moves the columns of a joint's axes and positions down to these places.
static void move_columns(World *world, const Joint *joint, size_t axis, size_t position) {
    const size_t axes = joint_axis_count(joint->axes);
    double *const columns[] = {world->joint_velocity, world->joint_target_velocity,
                               world->joint_effort, world->joint_target};
    for (size_t i = 0; axes > 0 && i < sizeof(columns) / sizeof(columns[0]); i++) {
        memmove(columns[i] + axis, columns[i] + joint->axis_first, axes * sizeof(double));
    }
    if (axes > 0) {
        memmove(world->joint_axis + axis, world->joint_axis + joint->axis_first,
                axes * sizeof(JointAxis));
        memmove(world->joint_position + position, world->joint_position + joint->position_first,
                joint_position_count(joint->axes) * sizeof(double));
    }
}

// Moves what its commands have under way from `from` down to `to`, before its axes are; how much.
static size_t move_under_way(World *world, const Joint *joint, size_t from, size_t to) {
    const size_t count =
        world_count_under_way(world->joint_axis + joint->axis_first, joint_axis_count(joint->axes));
    if (count > 0) {
        memmove(world->joint_under_way + to, world->joint_under_way + from, count * sizeof(double));
    }
    return count;
}

// Takes out the joints that are marked as gone, and with them what couples one, which comes after
// those that it couples.
static void take_out(World *world) {
    Joint *joints = world->joint;
    size_t kept = 0, axis = 0, position = 0, had = 0, has = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < world->joint_count; i++) {
        Joint *joint = &joints[i];
        for (uint32_t k = 0; k < world_coupling_count(joint); k++) {
            const uint32_t of = world_coupling(world, joint, k).joint;
            joint->id = joints[of].place == JOINT_NONE ? GONE : joint->id;
        }
        for (int s = 0; s < 2 && joint->kind == JOINT_GEAR; s++) {
            joint->partner[s] = joints[joint->partner[s]].place;
        }
        joint->place = joint->id == GONE ? JOINT_NONE : place++;
    }
    world_move_couplings(world);
    for (size_t i = 0; i < world->joint_count; i++) {
        Joint joint = joints[i];
        const size_t under_way = move_under_way(world, &joint, had, has);
        had += under_way;
        if (joint.id == GONE) {
            world_drop_name(world, joint.name);
            continue;
        }
        has += under_way;
        move_columns(world, &joint, axis, position);
        joint.axis_first = (uint32_t)axis;
        joint.position_first = (uint32_t)position;
        axis += joint_axis_count(joint.axes);
        position += joint_position_count(joint.axes);
        joints[kept++] = joint;
    }
    world->joint_count = kept;
    world->joint_axis_count = axis;
    world->joint_position_count = position;
    world->definition_is_hashed = false;
    world->bodies_moved = true;
}

// What hung by a joint of coordinates has an orientation that is a product of others; that of a
// body for itself is unit, as reading and turning it leave it.
static void let_go(World *world, const Joint *joint) {
    if (!joint->is_rows) {
        double *packed = world->pose + 7 * (size_t)joint->body[1];
        Pose pose = pose_load(packed);
        pose.orientation = quat_normalize(pose.orientation);
        pose_store(packed, pose);
    }
}

void world_remove_joints(World *world, const uint32_t *joints, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(joints[i] < world->joint_count);
        disturb(world, &world->joint[joints[i]]);
        let_go(world, &world->joint[joints[i]]);
        world->joint[joints[i]].id = GONE;
    }
    if (count > 0) {
        take_out(world);
        world_joints_changed(world);
    }
}

void world_remove_joints_of(World *world, const uint32_t *bodies, uint32_t count) {
    bool has_any = false;
    for (size_t i = 0; i < world->joint_count; i++) {
        Joint *joint = &world->joint[i];
        const Joint before = *joint;
        for (int s = 0; s < 2; s++) {
            bool is_gone = false;
            if (joint->body[s] != JOINT_NO_BODY) {
                joint->body[s] -= world_count_below(bodies, count, joint->body[s], &is_gone);
            }
            joint->id = is_gone ? GONE : joint->id;
        }
        if (joint->id == GONE) {
            let_go(world, &before);
            has_any = true;
        }
    }
    if (has_any) {
        take_out(world);
    }
}
