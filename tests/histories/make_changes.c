// SPDX-License-Identifier: MIT
// What changes a world: settings, solvers, numbers of bodies, joints and surfaces; what is taken
// out; and steps.
#include "histories/make.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

enum { SOME_MAX = 4, ITERATIONS_MAX = 400 };

// ---- settings

static void put_parameters(Make *make, SettingsChange *change, SolverKind solver) {
    const Solver *row = solver_get(solver);
    change->parameter_solver = solver;
    for (uint32_t i = 0; i < row->parameter_count; i++) {
        const ParameterRow *p = &row->parameters[i];
        const bool is_patience = i == SOLVER_MAX_ITERATIONS;
        if (!make_chance(make, is_patience ? 40 : 12)) {
            continue;
        }
        double value = make_chance(make, 60) && p->default_value > 0.0
                           ? p->default_value * make_magnitude(make, 0.1, 10.0)
                           : make_uniform(make, p->minimum, fmin(p->maximum, p->minimum + 1e3));
        value = fmax(p->minimum, fmin(p->maximum, value));
        if (p->kind == PARAMETER_BOOL || p->kind == PARAMETER_CHOICE) {
            value = p->minimum + make_roll(make, (uint32_t)(p->maximum - p->minimum) + 1);
        } else if (p->kind == PARAMETER_COUNT || p->kind == PARAMETER_EVEN) {
            value = fmax(p->minimum, fmin(floor(value), ITERATIONS_MAX));
            value -= p->kind == PARAMETER_EVEN ? fmod(value, 2.0) : 0.0;
        }
        change->parameter_given |= 1u << i;
        change->value.parameter[i] = value;
    }
    if (change->parameter_given != 0) {
        change->given |= CHANGE_PARAMETERS;
    }
}

static uint32_t budget_of(const Solver *solver) {
    uint32_t at = 0;
    while (strcmp(solver->parameters[at].name, "budget") != 0) {
        at++;
        ASSERT(at < solver->parameter_count);
    }
    return at;
}

// A solver that is chosen gets the history's budget with it, and no more patience than that.
static void put_budget(const Make *make, SettingsChange *change, SolverKind kind) {
    const uint32_t budget = budget_of(solver_get(kind));
    if (make->scale.budget > 0.0) {
        change->given |= CHANGE_PARAMETERS;
        change->parameter_solver = kind;
        change->parameter_given |= 1u << budget | 1u << SOLVER_MAX_ITERATIONS;
        change->value.parameter[budget] = make->scale.budget;
        change->value.parameter[SOLVER_MAX_ITERATIONS] = make->scale.iterations;
    }
}

static void put_choices(Make *make, SettingsChange *change, uint64_t percent) {
    if (make_chance(make, percent / 2)) {
        change->given |= CHANGE_INTEGRATOR;
        change->value.integrator = (uint8_t)make_roll(make, INTEGRATOR_COUNT);
    }
    if (make_chance(make, percent / 2)) {
        change->given |= CHANGE_ROTATION;
        change->value.rotation = (uint8_t)make_roll(make, ROTATION_COUNT);
    }
    if (make_chance(make, percent / 2)) {
        change->given |= CHANGE_CONTACT_PLANE;
        change->value.contact_plane = (uint8_t)make_roll(make, CONTACT_PLANE_COUNT);
    }
    if (make_chance(make, percent / 2)) {
        change->given |= CHANGE_JOINT_PROJECTION;
        change->value.joint_projection = make_chance(make, 60);
    }
    if (change->given & CHANGE_TIME_STEP) { // of its bits, so that no other dice fall otherwise
        uint64_t bits;
        memcpy(&bits, &change->value.time_step, sizeof(bits));
        change->given |= CHANGE_EFFORT;
        change->value.effort = (uint8_t)(bits % WORLD_EFFORT_COUNT);
        change->given |= CHANGE_FRICTION_RULE;
        change->value.friction_rule = (uint8_t)(bits / 8 % FRICTION_RULE_COUNT);
        change->given |= CHANGE_FLUID_DENSITY | CHANGE_FLUID_VISCOSITY;
        change->value.fluid_density = bits / 32 % 3 == 0 ? (double)(bits / 128 % 2000) : 0.0;
        change->value.fluid_viscosity = bits / 32 % 5 == 0 ? (double)(bits / 256 % 64) : 0.0;
        change->given |= CHANGE_SUBSTEPS;
        change->value.substeps =
            bits / 512 % 3 == 0 ? 1 + (uint32_t)(bits / 2048 % SUBSTEPS_MAX) : 1;
    }
    SolverKind solver = (SolverKind)make->world->settings.solver;
    if (make_chance(make, percent)) {
        change->given |= CHANGE_SOLVER;
        solver = (SolverKind)make_roll(make, SOLVER_COUNT);
        change->value.solver = solver;
    }
    if (make_chance(make, percent / 2)) {
        put_parameters(make, change, solver);
    }
    if (change->given & CHANGE_SOLVER || make->world->step == 0) {
        put_budget(make, change, solver);
    }
}

static void put_sleep(Make *make, SettingsChange *change) {
    static const double speeds[] = {0.0, 0.05, 0.05, 1.0, 1e6};
    static const double times[] = {0.0, 0.0, 0.02, 0.5};
    change->given |= CHANGE_SLEEP_SPEED | CHANGE_SLEEP_TIME;
    change->value.sleep_speed = speeds[make_roll(make, 5)];
    change->value.sleep_time = times[make_roll(make, 4)];
}

static void put_bounds(Make *make, SettingsChange *change) {
    change->given |= CHANGE_BOUNDS;
    change->value.has_bounds = make_chance(make, 60);
    if (change->value.has_bounds) {
        const double reach = make_magnitude(make, 0.3, 10.0);
        change->value.bounds_lower = vec3(-reach, -reach, -reach * make_uniform(make, 0.0, 1.0));
        change->value.bounds_upper = vec3(reach, reach, reach);
    }
}

static void put_gravity(Make *make, SettingsChange *change) {
    change->given |= CHANGE_GRAVITY;
    if (make_chance(make, 60)) {
        change->value.gravity = vec3(0.0, 0.0, make_chance(make, 30) ? 0.0 : -9.81);
        return;
    }
    const double size = make_number(make, 0.1, 20.0, 1e-6, 1e5);
    change->value.gravity = vec3(make_uniform(make, -size, size), make_uniform(make, -size, size),
                                 make_uniform(make, -size, size));
}

Input make_settings(Make *make, uint64_t percent) {
    SettingsChange change = {0};
    if (make_chance(make, percent)) {
        put_gravity(make, &change);
    }
    if (make_chance(make, percent)) {
        change.given |= CHANGE_TIME_STEP;
        change.value.time_step = make_number(make, 1e-3, 0.02, 1e-9, 10.0);
    }
    if (make_chance(make, percent / 2)) {
        change.given |= CHANGE_MARGIN;
        change.value.margin =
            make_chance(make, 30) ? 0.0 : make_number(make, 1e-4, 0.01, 1e-9, 10.0);
    }
    if (make_chance(make, percent / 3)) {
        change.given |= CHANGE_RESTITUTION_THRESHOLD;
        change.value.restitution_threshold = make_uniform(make, 0.0, 0.5);
    }
    if (make_chance(make, percent / 3)) {
        change.given |= CHANGE_RECOVERY_SPEED;
        change.value.recovery_speed =
            make_chance(make, 30) ? 1e9 : make_magnitude(make, 0.01, 10.0);
    }
    if (make_chance(make, percent)) {
        put_sleep(make, &change);
    }
    if (make_chance(make, percent / 3)) {
        put_bounds(make, &change);
    }
    put_choices(make, &change, percent);
    return (Input){.kind = INPUT_SET, .set = {.settings = change}};
}

// ---- numbers of things

static void put_bodies(Make *make, BodyUpdate *update) {
    const World *world = make->world;
    uint32_t chosen[SOME_MAX];
    const uint32_t count = make_some(make, world->body_count, 1 + make_roll(make, 3), chosen);
    uint64_t *id = make_column(make, count + 1, sizeof(*id));
    double *pose = make_column(make, count + 1, 7 * sizeof(*pose));
    double *velocity = make_column(make, count + 1, 6 * sizeof(*velocity));
    double *mass = make_column(make, count + 1, sizeof(*mass));
    double *inertia = make_column(make, count + 1, 6 * sizeof(*inertia));
    const double size = make_number(make, 0.01, 3.0, 1e-9, 1e6);
    bool all_dynamic = true;
    for (uint32_t i = 0; i < count; i++) {
        id[i] = world->body_id[chosen[i]];
        world_body_pose(world, chosen[i], pose + 7 * (size_t)i);
        for (uint32_t k = 0; k < 3; k++) {
            pose[7 * (size_t)i + k] += make_uniform(make, -0.2, 0.2);
        }
        for (uint32_t k = 0; k < 6; k++) {
            velocity[6 * (size_t)i + k] = make_uniform(make, -size, size);
        }
        mass[i] = make_number(make, 0.1, 20.0, 1e-12, 1e15);
        make_inertia(make, 0.1, mass[i], inertia + 6 * (size_t)i);
        all_dynamic = all_dynamic && world->kind[chosen[i]] == BODY_DYNAMIC;
    }
    *update = (BodyUpdate){.count = count, .id = id};
    update->pose = make_chance(make, 40) ? pose : NULL;
    update->velocity = make_chance(make, 50) ? velocity : NULL;
    update->mass = all_dynamic && make_chance(make, 30) ? mass : NULL;
    update->inertia = all_dynamic && make_chance(make, 20) ? inertia : NULL;
    if (count > 1 && make_chance(make, 4)) { // one body twice
        id[1] = id[0];
    }
}

static double *some_numbers(Make *make, size_t count, uint64_t percent, double low, double high) {
    if (!make_chance(make, percent)) {
        return NULL;
    }
    double *column = make_column(make, count + 1, sizeof(*column));
    for (size_t i = 0; i < count; i++) {
        column[i] = make_uniform(make, low, high);
    }
    return column;
}

static void put_positions(Make *make, const uint32_t *chosen, JointUpdate *update) {
    const World *world = make->world;
    double *position = make_column(make, update->position_count + 1, sizeof(*position));
    size_t at = 0;
    for (size_t i = 0; i < update->count; i++) {
        const Joint *joint = &world->joint[chosen[i]];
        for (uint32_t k = 0; k < joint_position_count(joint->axes); k++) {
            position[at++] =
                world->joint_position[joint->position_first + k] + make_uniform(make, -0.3, 0.3);
        }
    }
    update->position = position;
}

static bool is_of_coordinates(int number) {
    return number == JOINT_ARMATURE || number == JOINT_STALL_EFFORT;
}

static void make_whole(double *column, size_t count) {
    for (size_t i = 0; column != NULL && i < count; i++) {
        column[i] = floor(column[i]);
    }
}

// What the axes are like.
static void put_numbers(Make *make, size_t axes, bool has_rows, JointUpdate *update) {
    static const double span[JOINT_NUMBER_COUNT][2] = {
        [JOINT_LOW] = {-1.5, 0.0},       [JOINT_HIGH] = {0.0, 1.5},
        [JOINT_STIFFNESS] = {0.0, 1e3},  [JOINT_REST] = {-1.0, 1.0},
        [JOINT_DAMPING] = {0.0, 20.0},   [JOINT_FRICTION] = {0.0, 10.0},
        [JOINT_ARMATURE] = {0.0, 1.0},   [JOINT_DRIVE_STIFFNESS] = {0.0, 500.0},
        [JOINT_DRIVE_DAMPING] = {0, 50}, [JOINT_EFFORT_MAX] = {0.0, 100.0},
        [JOINT_STALL_EFFORT] = {0, 100}, [JOINT_NO_LOAD_SPEED] = {0.1, 30.0},
        [JOINT_LAG_TIME] = {0.0, 0.5},   [JOINT_DELAY_STEPS] = {0.0, 9.0}};
    const bool is_limited = make_chance(make, 15);
    for (int k = 0; k < JOINT_NUMBER_COUNT; k++) {
        uint64_t percent = is_of_coordinates(k) && has_rows ? 0 : 8;
        if (k == JOINT_LOW || k == JOINT_HIGH) {
            percent = is_limited ? 100 : 0;
        } else if (k == JOINT_NO_LOAD_SPEED) { // of a motor
            percent = update->number[JOINT_STALL_EFFORT] == NULL ? 0 : 60;
        }
        double *column = some_numbers(make, axes, percent, span[k][0], span[k][1]);
        if (k == JOINT_DELAY_STEPS) {
            make_whole(column, axes);
        }
        update->number[k] = column;
    }
}

// Joints of rows have no numbers that can be set, and only those of coordinates armature and
// motors.
static void put_joints(Make *make, JointUpdate *update) {
    const World *world = make->world;
    uint32_t chosen[SOME_MAX];
    const uint32_t count =
        make_some(make, (uint32_t)world->joint_count, 1 + make_roll(make, 3), chosen);
    uint64_t *id = make_column(make, count + 1, sizeof(*id));
    bool has_rows = false;
    *update = (JointUpdate){.count = count, .id = id};
    for (uint32_t i = 0; i < count; i++) {
        const Joint *joint = &world->joint[chosen[i]];
        id[i] = joint->id;
        has_rows = has_rows || joint->is_rows;
        update->axis_count += joint_axis_count(joint->axes);
        update->position_count += joint_position_count(joint->axes);
    }
    const size_t axes = update->axis_count;
    if (!has_rows && make_chance(make, 25)) {
        put_positions(make, chosen, update);
    }
    update->velocity = has_rows ? NULL : some_numbers(make, axes, 25, -3.0, 3.0);
    update->target = some_numbers(make, axes, 35, -1.5, 1.5);
    update->target_velocity = some_numbers(make, axes, 25, -2.0, 2.0);
    update->effort = some_numbers(make, axes, 30, -10.0, 10.0);
    put_numbers(make, axes, has_rows, update);
}

static void put_materials(Make *make, MaterialUpdate *update) {
    const uint32_t there = (uint32_t)make->world->material_count - 1;
    uint32_t chosen[SOME_MAX];
    const uint32_t count = make_some(make, there, 1 + make_roll(make, 2), chosen);
    uint64_t *id = make_column(make, count + 1, sizeof(*id));
    for (uint32_t i = 0; i < count; i++) {
        id[i] = chosen[i] + 1;
    }
    *update = (MaterialUpdate){.count = count, .id = id};
    update->friction = some_numbers(make, count, 60, 0.0, 1.5);
    update->restitution = some_numbers(make, count, 30, 0.0, 1.0);
    update->stiffness = some_numbers(make, count, 30, 1e3, 1e6);
    update->dissipation_time = some_numbers(make, count, 20, 0.0, 0.1);
    update->damping = some_numbers(make, count, 20, 0.0, 1e3);
}

static void put_shapes(Make *make, ShapeUpdate *update) {
    const World *world = make->world;
    uint32_t chosen[SOME_MAX];
    const uint32_t count =
        make_some(make, (uint32_t)world->shape_count, 1 + make_roll(make, 2), chosen);
    uint64_t *id = make_column(make, count + 1, sizeof(*id));
    size_t primitives = 0;
    for (uint32_t i = 0; i < count; i++) {
        id[i] = world->shape[chosen[i]].id;
        primitives += world->shape[chosen[i]].primitive_count;
    }
    uint64_t *material = make_column(make, primitives + 1, sizeof(*material));
    for (size_t i = 0; i < primitives; i++) {
        material[i] = make_roll(make, (uint32_t)world->material_count);
    }
    *update = (ShapeUpdate){
        .count = count, .id = id, .primitive_count = primitives, .material = material};
}

// Any two materials, the built-in one among them, or one with itself: of the bits of a friction, so
// that no other dice fall otherwise.
static void put_pairs(Make *make, const MaterialUpdate *materials, PairUpdate *update) {
    const size_t count = materials->friction == NULL ? 0 : materials->count;
    uint64_t *a = make_column(make, count + 1, sizeof(*a)),
             *b = make_column(make, count + 1, sizeof(*b));
    double *friction = make_column(make, count + 1, sizeof(*friction));
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &materials->friction[i], sizeof(bits));
        a[i] = bits % make->world->material_count;
        b[i] = bits / 64 % make->world->material_count;
        friction[i] = (double)(bits % 16) / 10.0;
    }
    *update = (PairUpdate){.count = count, .a = a, .b = b, .friction = friction};
}

Input make_set(Make *make) {
    Input input = make_chance(make, 40) ? make_settings(make, 20) : (Input){.kind = INPUT_SET};
    if (make->world->body_count > 0 && make_chance(make, 45)) {
        put_bodies(make, &input.set.update);
    }
    if (make->world->joint_count > 0 && make_chance(make, 45)) {
        put_joints(make, &input.set.joints);
    }
    if (make->world->material_count > 1 && make_chance(make, 15)) {
        put_materials(make, &input.set.materials);
        put_pairs(make, &input.set.materials, &input.set.pairs);
    }
    if (make->world->shape_count > 0 && make_chance(make, 10)) {
        put_shapes(make, &input.set.shapes);
    }
    return input;
}

// ---- what goes

static uint64_t *some_ids(Make *make, uint32_t there, uint32_t most, size_t *count,
                          uint32_t *chosen) {
    *count = make_some(make, there, make_roll(make, most + 1), chosen);
    return make_column(make, *count + 1, sizeof(uint64_t));
}

static bool is_worn(const World *world, uint32_t shape) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (world->body_shape[i] == shape) {
            return true;
        }
    }
    return false;
}

static bool geometry_is_worn(const World *world, uint32_t geometry) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        if (world->primitive[i].geometry_number == geometry + 1) {
            return true;
        }
    }
    return false;
}

static void put_geometries(Make *make, RemoveOrder *order) {
    const World *world = make->world;
    uint32_t chosen[SOME_MAX];
    uint64_t *ids = some_ids(make, (uint32_t)world->geometry_count, make_roll(make, 3),
                             &order->geometry_count, chosen);
    size_t kept = 0;
    for (size_t i = 0; i < order->geometry_count; i++) {
        if (!geometry_is_worn(world, chosen[i]) || make_chance(make, 10)) {
            ids[kept++] = world->geometry[chosen[i]].id;
        }
    }
    order->geometry_count = kept;
    order->geometry = ids;
}

Input make_remove(Make *make) {
    const World *world = make->world;
    uint32_t chosen[SOME_MAX];
    RemoveOrder order = {0};
    uint64_t *ids =
        some_ids(make, world->body_count, make_roll(make, 3), &order.body_count, chosen);
    for (size_t i = 0; i < order.body_count; i++) {
        ids[i] = world->body_id[chosen[i]];
    }
    order.body = ids;
    ids = some_ids(make, (uint32_t)world->joint_count, 2, &order.joint_count, chosen);
    for (size_t i = 0; i < order.joint_count; i++) {
        ids[i] = world->joint[chosen[i]].id;
    }
    order.joint = ids;
    ids = some_ids(make, (uint32_t)world->shape_count, make_roll(make, 2), &order.shape_count,
                   chosen);
    size_t kept = 0;
    for (size_t i = 0; i < order.shape_count; i++) {
        if (!is_worn(world, chosen[i]) || make_chance(make, 5)) {
            ids[kept++] = world->shape[chosen[i]].id;
        }
    }
    order.shape_count = kept;
    order.shape = ids;
    if (world->geometry_count > 0) {
        put_geometries(make, &order);
    }
    return (Input){.kind = INPUT_REMOVE, .remove = order};
}

// ---- steps

Input make_step(Make *make) {
    StepOrder order = {.steps = make_chance(make, 50)  ? 1
                                : make_chance(make, 4) ? 120
                                                       : 1 + make_roll(make, 12)};
    if (make->scale.is_brisk) {
        order.steps = 1 + order.steps % 2;
    }
    if (make_chance(make, 8)) {
        order.time_step = make_number(make, 1e-3, 0.02, 1e-9, 10.0);
    }
    if (make->world->body_count > 0 && make_chance(make, 25)) {
        uint32_t chosen[SOME_MAX];
        order.wrench_count =
            make_some(make, make->world->body_count, 1 + make_roll(make, 3), chosen);
        uint64_t *id = make_column(make, order.wrench_count, sizeof(*id));
        double *wrench = make_column(make, order.wrench_count, 6 * sizeof(*wrench));
        const double size = make_number(make, 0.1, 100.0, 1e-9, 1e15);
        for (size_t i = 0; i < 6 * order.wrench_count; i++) {
            id[i / 6] = make->world->body_id[chosen[i / 6]];
            wrench[i] = make_uniform(make, -size, size);
        }
        order.wrench_body = id;
        order.wrench = wrench;
    }
    return (Input){.kind = INPUT_STEP, .step = order};
}
