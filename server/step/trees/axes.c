// SPDX-License-Identifier: MIT
#include "step/trees/axes.h"

#include "base/assert.h"
#include "base/trig.h"
#include "world/settings.h"

#include <string.h>

double tree_share(uint8_t integrator) {
    ASSERT(integrator < INTEGRATOR_COUNT);
    switch ((Integrator)integrator) {
    case INTEGRATOR_EXPLICIT:
        return 0.0;
    case INTEGRATOR_MIDPOINT:
        return 0.5;
    case INTEGRATOR_SYMPLECTIC:
    case INTEGRATOR_IMPLICIT:
    case INTEGRATOR_RK4: // what is pushed
    case INTEGRATOR_VERLET:
    case INTEGRATOR_COUNT:
        break;
    }
    return 1.0;
}

// Q = 1 + 1/2 [phi] + c [phi]^2, c = (1 - (t/2) cot(t/2))/t^2, t = |phi|
Mat3 tree_rotation_rates(Vec3 rotation) {
    const double square = vec3_dot(rotation, rotation), angle = sqrt(square);
    double c = 1.0 / 12.0 + square / 720.0; // the next term is below rounding there
    if (angle > 1e-3) {
        const SinCos half = trig_sin_cos(0.5 * angle);
        c = (1.0 - 0.5 * angle * half.cos / half.sin) / square;
    }
    Vec3 column[3];
    for (int k = 0; k < 3; k++) {
        const Vec3 unit = vec3(k == 0, k == 1, k == 2), turn = vec3_cross(rotation, unit);
        column[k] =
            vec3_add_scaled(vec3_add_scaled(unit, 0.5, turn), c, vec3_cross(rotation, turn));
    }
    return (Mat3){column[0], column[1], column[2]};
}

static const JointAxis *axes_of(const TreeView *view, const TreeAxes *axes, uint32_t link,
                                size_t *first) {
    ASSERT(link < view->tree->link_count);
    *first = view->joint[view->link[link].joint].axis_first;
    return axes->axis + *first;
}

static double pull_along(const TreeAxes *axes, size_t axis) {
    return axes->pulled == NULL ? 0.0 : axes->pulled[axis];
}

static bool is_ball_spring(const TreeLink *link, const JointAxis *axis, uint32_t k) {
    return link->turns == 3 && k >= link->moves && axis[k].stiffness > 0.0;
}

TreeActs tree_axes_act(const TreeView *view, const TreeAxes *axes) {
    TreeActs acts = {.springs = false};
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        size_t first;
        if (view->link[i].joint == TREE_NONE) {
            continue;
        }
        const JointAxis *axis = axes_of(view, axes, i, &first);
        for (uint32_t k = 0; k < tree_link_width(&view->link[i]); k++) {
            acts.pulls = acts.pulls || axis[k].damping > 0.0 || tree_has_drive(&axis[k]) ||
                         motor_is(&axis[k]);
            acts.springs = acts.springs || axis[k].stiffness > 0.0;
            acts.balls = acts.balls || is_ball_spring(&view->link[i], axis, k);
            acts.forces =
                acts.forces || axes->effort[first + k] != 0.0 || pull_along(axes, first + k) != 0.0;
            acts.armatures = acts.armatures || axis[k].armature > 0.0;
        }
    }
    acts.linear = acts.pulls || acts.springs;
    acts.forces = acts.forces || acts.linear;
    return acts;
}

void tree_axes_armature(const TreeView *view, const TreeAxes *axes, double *armature) {
    memset(armature, 0, view->tree->width * sizeof(double));
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        size_t first;
        for (uint32_t k = 0; link->joint != TREE_NONE && k < tree_link_width(link); k++) {
            armature[link->first + k] = axes_of(view, axes, i, &first)[k].armature;
        }
    }
}

void tree_axes_springs(const TreeView *view, const TreeAxes *axes, uint8_t integrator, double h,
                       const double *mobility, SpringShare *springs) {
    ASSERT(integrator < INTEGRATOR_COUNT && h > 0.0);
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        size_t first;
        for (uint32_t k = 0; link->joint != TREE_NONE && k < tree_link_width(link); k++) {
            const double stiffness = axes_of(view, axes, i, &first)[k].stiffness;
            springs[link->first + k] =
                spring_share(integrator, h * h * stiffness * mobility[link->first + k]);
        }
    }
}

void tree_axes_pulls(const TreeView *view, const TreeAxes *axes, uint8_t integrator, double h,
                     const double *mobility, double *pulls) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        size_t first;
        for (uint32_t k = 0; link->joint != TREE_NONE && k < tree_link_width(link); k++) {
            const JointAxis *axis = &axes_of(view, axes, i, &first)[k];
            const double drive = axis->drive_damping + h * axis->drive_stiffness;
            const double slowing = h * (axis->damping + fmax(drive, motor_steepness(axis)));
            pulls[link->first + k] = damper_share(integrator, mobility[link->first + k] * slowing);
        }
    }
}

void tree_axes_mass(const TreeView *view, const TreeAxes *axes, const SpringShare *springs,
                    const double *pulls, double h, double *added) {
    ASSERT(h > 0.0);
    memset(added, 0, view->tree->width * sizeof(double));
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        size_t first;
        if (view->link[i].joint == TREE_NONE) {
            continue;
        }
        const JointAxis *axis = axes_of(view, axes, i, &first);
        for (uint32_t k = 0; k < tree_link_width(&view->link[i]); k++) {
            const bool is_driven = tree_has_free_drive(&axis[k]);
            const double stiffness = is_driven ? axis[k].drive_stiffness : 0.0;
            const double damping = axis[k].damping + (is_driven ? axis[k].drive_damping : 0.0);
            const size_t at = view->link[i].first + k;
            const double time = pulls[at] * h;
            added[at] = axis[k].armature + springs[at].change * h * h * axis[k].stiffness +
                        time * (time * stiffness + damping);
        }
    }
}

void tree_axes_damped(const TreeView *view, const TreeAxes *axes, double h, const double *armature,
                      double *damped) {
    ASSERT(damped != armature);
    memcpy(damped, armature, view->tree->width * sizeof(double));
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        size_t first;
        for (uint32_t k = 0; link->joint != TREE_NONE && k < tree_link_width(link); k++) {
            const JointAxis *axis = &axes_of(view, axes, i, &first)[k];
            const bool is_driven = tree_has_free_drive(axis);
            damped[link->first + k] +=
                h * (axis->damping + (is_driven ? axis->drive_damping : 0.0));
        }
    }
}

double tree_axes_stiffness(const TreeView *view, const TreeAxes *axes, double h,
                           const double *mobility) {
    ASSERT(h > 0.0);
    double sum = 0.0;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        size_t first;
        for (uint32_t k = 0; link->joint != TREE_NONE && k < tree_link_width(link); k++) {
            const JointAxis *axis = &axes_of(view, axes, i, &first)[k];
            const bool is_driven = tree_has_free_drive(axis);
            const double stiffness = axis->stiffness + (is_driven ? axis->drive_stiffness : 0.0),
                         damping = axis->damping + (is_driven ? axis->drive_damping : 0.0);
            sum += mobility[link->first + k] * h * (damping + h * stiffness);
        }
    }
    return sum;
}

// Q^T K Q of three turns, the sizes in each row added up.
static void resist_turns(const JointAxis *axis, Vec3 rotation, double factor, double *resist) {
    const Mat3 rates = tree_rotation_rates(rotation);
    const Vec3 column[3] = {rates.c0, rates.c1, rates.c2};
    for (int i = 0; i < 3; i++) {
        resist[i] = 0.0;
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                sum += axis[k].stiffness * vec3_get(column[i], k) * vec3_get(column[j], k);
            }
            resist[i] += factor * fabs(sum);
        }
    }
}

void tree_axes_resist(const TreeView *view, const TreeAxes *axes, double h, const double *positions,
                      double *resist) {
    ASSERT(h > 0.0);
    memset(resist, 0, view->tree->width * sizeof(double));
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        double turned[JOINT_AXES_MAX];
        size_t first;
        if (link->joint == TREE_NONE || link->turns != 3) {
            continue;
        }
        const JointAxis *axis = axes_of(view, axes, i, &first);
        const double *numbers = tree_axis_positions(link, positions + link->place, turned);
        for (uint32_t k = 0; k < link->moves; k++) {
            resist[link->first + k] = h * h * axis[k].stiffness;
        }
        resist_turns(axis + link->moves, vec3_load(numbers + link->moves), h * h,
                     resist + link->first + link->moves);
    }
}

// Of forces along the numbers of a rotation vector, the torque in b's frame.
static void turn_forces(const TreeLink *link, const double *numbers, double *forces) {
    if (link->turns == 3) {
        const Mat3 rates = tree_rotation_rates(vec3_load(numbers + link->moves));
        vec3_store(forces + link->moves, mat3_tmul_vec(rates, vec3_load(forces + link->moves)));
    }
}

// Of the drive of an axis: what its spring does, and, in `damped`, what is added to all else.
static double drive_force(const JointAxis *axis, const TreeAxes *axes, size_t at, double number,
                          double velocity, double *others) {
    const double pulled = axis->drive_stiffness * (axes->target[at] - number),
                 damped = axis->drive_damping * (axes->target_velocity[at] - velocity);
    if (isinf(axis->effort_max)) {
        *others += damped;
        return pulled;
    }
    const double most = axis->effort_max, asked = pulled + damped;
    *others += asked < -most ? -most : asked > most ? most : asked;
    return 0.0;
}

// Of a motor, as it is there.
static double motor_effort(const JointAxis *axis, const TreeAxes *axes, size_t at, double number,
                           double velocity) {
    const MotorAsk ask = {.force = axis->drive_stiffness * (axes->target[at] - number) +
                                   axis->drive_damping * axes->target_velocity[at] +
                                   axes->effort[at],
                          .slope = axis->drive_damping,
                          .most = motor_most(axis),
                          .stall = axis->stall_effort,
                          .speed = axis->no_load_speed};
    return motor_force(&ask, velocity);
}

// `first`: of its axes among those of the world; `asked`: of the tree.
static void link_forces(const TreeLink *link, const TreeAxes *axes, size_t first,
                        const TreeAsked *asked, double *springs, double *others) {
    double drives[JOINT_AXES_MAX], turned[JOINT_AXES_MAX], turned_springs[JOINT_AXES_MAX];
    const uint32_t width = tree_link_width(link);
    const JointAxis *axis = axes->axis + first;
    const double *velocity = asked->velocities + link->first;
    const double *numbers = tree_axis_positions(link, asked->positions + link->place, turned);
    const double *stretched =
        tree_axis_positions(link, asked->stretched + link->place, turned_springs);
    for (uint32_t k = 0; k < width; k++) {
        springs[k] = -axis[k].stiffness * (stretched[k] - axis[k].rest);
        others[k] = axes->effort[first + k] - axis[k].damping * velocity[k];
        drives[k] = 0.0;
        if (motor_is(&axis[k]) && axes->is_explicit) {
            others[k] = motor_effort(&axis[k], axes, first + k, numbers[k], velocity[k]) -
                        axis[k].damping * velocity[k];
        } else if (tree_has_free_drive(&axis[k]) ||
                   (tree_has_drive(&axis[k]) && axes->is_explicit)) {
            drives[k] = drive_force(&axis[k], axes, first + k, numbers[k], velocity[k], &others[k]);
        }
    }
    turn_forces(link, stretched, springs);
    turn_forces(link, numbers, drives);
    for (uint32_t k = 0; k < width; k++) {
        others[k] += drives[k];
        if (axes->pulled != NULL) {
            others[k] += axes->pulled[first + k];
        }
    }
}

void tree_axes_forces(const TreeView *view, const TreeAxes *axes, const TreeAsked *asked,
                      double *springs, double *others) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        double unasked[JOINT_AXES_MAX];
        double *of_springs = springs == NULL ? unasked : springs + link->first;
        if (link->joint == TREE_NONE) {
            memset(of_springs, 0, JOINT_AXES_MAX * sizeof(double));
            memset(others + link->first, 0, JOINT_AXES_MAX * sizeof(double));
            continue;
        }
        link_forces(link, axes, view->joint[link->joint].axis_first, asked, of_springs,
                    others + link->first);
    }
}

// Adding zero is what the others do to an effort of -0.
void tree_axes_efforts(const TreeView *view, const TreeAxes *axes, double *efforts) {
    ASSERT(view->tree->link_count > 0);
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        if (link->joint == TREE_NONE) {
            memset(efforts + link->first, 0, JOINT_AXES_MAX * sizeof(double));
            continue;
        }
        const size_t first = view->joint[link->joint].axis_first;
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            efforts[link->first + k] = axes->effort[first + k] + pull_along(axes, first + k);
        }
    }
}

TreeStored tree_axes_energy(const TreeView *view, const TreeAxes *axes, const double *positions,
                            const double *velocities) {
    TreeStored stored = {0.0, 0.0};
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        double turned[JOINT_AXES_MAX];
        size_t first;
        if (link->joint == TREE_NONE) {
            continue;
        }
        const JointAxis *axis = axes_of(view, axes, i, &first);
        const double *numbers = tree_axis_positions(link, positions + link->place, turned);
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            const double stretch = numbers[k] - axis[k].rest, v = velocities[link->first + k];
            stored.springs += 0.5 * axis[k].stiffness * stretch * stretch;
            stored.armatures += 0.5 * axis[k].armature * v * v;
        }
    }
    return stored;
}

double tree_axes_swing(const TreeView *view, const TreeAxes *axes, const SpringShare *springs,
                       double h, const double *positions, const double *velocities) {
    double swing = 0.0;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        double turned[JOINT_AXES_MAX], pull[JOINT_AXES_MAX];
        size_t first;
        if (link->joint == TREE_NONE) {
            continue;
        }
        const JointAxis *axis = axes_of(view, axes, i, &first);
        const double *numbers = tree_axis_positions(link, positions + link->place, turned);
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            pull[k] = axis[k].stiffness * (numbers[k] - axis[k].rest);
        }
        turn_forces(link, numbers, pull);
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            const double v = velocities[link->first + k], kept = 1.0 - springs[link->first + k].old;
            swing += kept * 0.5 * h * v * (pull[k] - 0.25 * h * axis[k].stiffness * v);
        }
    }
    return swing;
}

double tree_axes_damping(const TreeView *view, const TreeAxes *axes, const double *velocities,
                         const double *moving) {
    double power = 0.0;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        size_t first;
        for (uint32_t k = 0; link->joint != TREE_NONE && k < tree_link_width(link); k++) {
            const uint32_t at = link->first + k;
            power -= axes_of(view, axes, i, &first)[k].damping * velocities[at] * moving[at];
        }
    }
    return power;
}
