// SPDX-License-Identifier: MIT
// What holds along a coordinate of a tree, and only so far as it must or is able to, as rows of the
// problem, x the coordinate and v its rate:
//
//     limit     x + h v >= low, by an impulse >= 0; and the upper one likewise
//     friction  v = 0, by an impulse of at most h f to either side
//     drive     v + bias + R r = 0 with R = 1/((s h)^2 k + s h d), the spring and damper towards
//               the targets as the integrator takes it (step/trees/axes.h), by at most h effort_max
//     motor     likewise each part of what it gives (motor.h), v what the integrator takes it by
//
// Under the explicit integrator a drive's force is that of the begin of the step, and no row.
// A limit is a row where the free motion comes near it, as contacts are: within the margin, which
// is one of radians as well, and twice what it moves in the step.
#include "base/assert.h"
#include "step/joints/rows.h"
#include "step/rows/rows.h"

// Parts of a joint that are rows: of each axis.
enum { PART_LOW, PART_HIGH, PART_FRICTION, PART_DRIVE, PART_COUNT };
// And behind those of all axes, of each one its motor's.
enum { PART_MOTORS = PART_COUNT * JOINT_AXES_MAX };

// An axis of a joint in a step.
typedef struct RowAxis {
    StepState *state;
    const StepTree *tree;
    const TreeLink *link;
    const JointAxis *axis;
    uint32_t joint, index; // of the axis in the joint
    double position;       // [m], [rad]
    Vec3 rates;            // of one of three turns: of the position, per spin in b's frame
} RowAxis;

// The row's derivative along the coordinates, times `sign`; of the position, or of the rate itself.
static bool add_block(const RowAxis *of, ProblemRow *row, double sign, bool of_position) {
    double *block = rows_add_block(of->state, row, of->tree->problem);
    if (block == NULL) {
        return false;
    }
    const TreeLink *link = of->link;
    if (of_position && link->turns == 3 && of->index >= link->moves) {
        vec3_store(block + link->first + link->moves, vec3_scale(sign, of->rates));
    } else {
        block[link->first + of->index] = sign;
    }
    return true;
}

static double free_rate(const RowAxis *of) {
    const ProblemTree *tree = &of->state->tree[of->tree->problem];
    const double *v = of->state->v_free + tree->first + of->link->first;
    return of->link->turns == 3 && of->index >= of->link->moves
               ? vec3_dot(of->rates, vec3_load(v + of->link->moves))
               : v[of->index];
}

static bool add_limit(const RowAxis *of, uint32_t part) {
    const StepState *state = of->state;
    const double sign = part == PART_LOW ? 1.0 : -1.0;
    const double gap = sign * (of->position - (part == PART_LOW ? of->axis->low : of->axis->high));
    const double h = state->input->time_step;
    const double reach = state->world->settings.margin + 2.0 * h * fabs(free_rate(of));
    if (!(gap <= reach)) {
        return true;
    }
    ProblemRow *row = rows_add(of->state, of->joint, PART_COUNT * of->index + part);
    if (row == NULL) {
        return false;
    }
    rows_limit(state, row, gap);
    return add_block(of, row, sign, true);
}

static bool add_friction(const RowAxis *of) {
    const double most = of->state->input->time_step * of->axis->friction;
    ProblemRow *row = rows_add(of->state, of->joint, PART_COUNT * of->index + PART_FRICTION);
    if (row == NULL) {
        return false;
    }
    row->low = -most;
    row->high = most;
    return add_block(of, row, 1.0, false);
}

static bool add_drive(const RowAxis *of) {
    const StepState *state = of->state;
    const JointAxis *axis = of->axis;
    const TreeFlight *flight = &of->tree->flight;
    const size_t at = state->world->joint[of->joint].axis_first + of->index;
    const uint32_t coordinate = of->link->first + of->index;
    const double share = flight->pulls[coordinate], h = flight->h, time = share * h;
    const double rate = flight->velocities[coordinate];
    const double way = h * (1.0 - share) * rate; // what the old rate has of it
    const double stretch = state->command.target[at] - of->position - share * way;
    const double slip = state->command.target_velocity[at] - (1.0 - share) * rate;
    const double stiff = time * (time * axis->drive_stiffness + axis->drive_damping);
    ProblemRow *row = rows_add(of->state, of->joint, PART_COUNT * of->index + PART_DRIVE);
    if (row == NULL) {
        return false;
    }
    rows_last(state)->kind = STEP_ROW_DRIVES;
    row->low = -h * axis->effort_max;
    row->high = h * axis->effort_max;
    row->has_compliance = true;
    row->compliance = 1.0 / stiff;
    row->bias = -h * (axis->drive_stiffness * stretch + axis->drive_damping * slip) / stiff;
    return add_block(of, row, 1.0, false);
}

// What the motor of an axis is asked for in the step, by the rate that the integrator takes it by.
static MotorAsk motor_ask(const RowAxis *of, double time) {
    const StepCommands *command = &of->state->command;
    const JointAxis *axis = of->axis;
    const size_t at = of->state->world->joint[of->joint].axis_first + of->index;
    MotorAsk ask = {.force = command->effort[at],
                    .most = motor_most(axis),
                    .stall = axis->stall_effort,
                    .speed = axis->no_load_speed};
    if (joint_rows_feel(axis->drive_stiffness, axis->drive_damping)) {
        ask.slope = time * axis->drive_stiffness + axis->drive_damping;
        ask.force += axis->drive_stiffness * (command->target[at] - of->position) +
                     axis->drive_damping * command->target_velocity[at];
    }
    return ask;
}

static bool add_motor_part(const RowAxis *of, uint32_t kind, const MotorPart *part) {
    const TreeFlight *flight = &of->tree->flight;
    const uint32_t coordinate = of->link->first + of->index;
    const double share = flight->pulls[coordinate], h = flight->h;
    const double kept = (1.0 - share) * flight->velocities[coordinate]; // of the old rate
    ProblemRow *row = rows_add(of->state, of->joint, PART_MOTORS + MOTOR_PARTS * of->index + kind);
    if (row == NULL) {
        return false;
    }
    rows_last(of->state)->kind = STEP_ROW_DRIVES;
    row->low = h * part->low;
    row->high = h * part->high;
    row->has_compliance = true;
    row->compliance = 1.0 / (h * share * part->slope);
    row->bias = -(part->zero - kept) / share;
    return add_block(of, row, 1.0, false);
}

static bool has_rows_of_motor(const World *world, const JointAxis *axis) {
    return motor_is(axis) && !motor_is_force(axis) &&
           world->settings.integrator != INTEGRATOR_EXPLICIT;
}

static bool add_motor(const RowAxis *of) {
    const uint32_t coordinate = of->link->first + of->index;
    const MotorAsk ask = motor_ask(of, of->tree->flight.pulls[coordinate] * of->tree->flight.h);
    MotorPart parts[MOTOR_PARTS];
    motor_parts(&ask, parts);
    for (uint32_t i = 0; i < MOTOR_PARTS; i++) {
        if (joint_rows_feel(0.0, parts[i].slope) && !add_motor_part(of, i, &parts[i])) {
            return false;
        }
    }
    return true;
}

static bool has_row_of_drive(const World *world, const JointAxis *axis) {
    return tree_has_bounded_drive(axis) && world->settings.integrator != INTEGRATOR_EXPLICIT &&
           joint_rows_feel(axis->drive_stiffness, axis->drive_damping);
}

// Whether anything may hold along one of the axes of a joint.
static bool may_hold(const World *world, const Joint *joint, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
        if (!isinf(axis->low) || !isinf(axis->high) || axis->friction != 0.0 ||
            has_row_of_drive(world, axis) || has_rows_of_motor(world, axis)) {
            return true;
        }
    }
    return false;
}

static bool add_axis(const RowAxis *of) {
    const JointAxis *axis = of->axis;
    const bool is_driven = has_row_of_drive(of->state->world, axis);
    return (isinf(axis->low) || add_limit(of, PART_LOW)) &&
           (isinf(axis->high) || add_limit(of, PART_HIGH)) &&
           (axis->friction == 0.0 || add_friction(of)) && (!is_driven || add_drive(of));
}

static Vec3 row_of(const Mat3 *m, uint32_t k) {
    ASSERT(k < 3);
    const int at = (int)k;
    return vec3(vec3_get(m->c0, at), vec3_get(m->c1, at), vec3_get(m->c2, at));
}

bool tree_rows_add(StepState *state, uint32_t joint) {
    ASSERT(joint < state->world->joint_count && !state->world->joint[joint].is_rows);
    const World *world = state->world;
    const Joint *of = &world->joint[joint];
    const StepTree *tree = stage_tree(state, of->body[1]);
    const TreeLink *link = &tree->flight.view.link[world->trees->link_of_body[of->body[1]]];
    if (!may_hold(world, of, tree_link_width(link))) {
        return true;
    }
    double turned[JOINT_AXES_MAX];
    const double *numbers = tree_axis_positions(link, tree->flight.positions + link->place, turned);
    Mat3 rates = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (link->turns == 3) {
        rates = tree_rotation_rates(vec3_load(numbers + link->moves));
    }
    RowAxis axes[JOINT_AXES_MAX];
    for (uint32_t k = 0; k < tree_link_width(link); k++) {
        axes[k] = (RowAxis){.state = state,
                            .tree = tree,
                            .link = link,
                            .axis = &world->joint_axis[of->axis_first + k],
                            .joint = joint,
                            .index = k,
                            .position = numbers[k],
                            .rates = row_of(&rates, k < link->moves ? 0 : k - link->moves)};
        if (!add_axis(&axes[k])) {
            return false;
        }
    }
    for (uint32_t k = 0; k < tree_link_width(link); k++) {
        if (has_rows_of_motor(world, axes[k].axis) && !add_motor(&axes[k])) {
            return false;
        }
    }
    return true;
}
