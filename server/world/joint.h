// SPDX-License-Identifier: MIT
// Joints: what of the motion of one body against another is left free. Each has a frame in either
// body; what it leaves free is a set of *axes* of the frame in the first body, a: moves along x, y,
// z, then turns about x, y, z. A kind is no more than a name for such a set, so that a hinge, a
// cylinder and a whole floating base are one thing to whoever steps them:
//
//     pose of b's frame = pose of a's frame . moves . turns
//
// Turns about one axis have one position number, the angle; about two, two angles, the first about
// an axis of a's frame, the second about one of b's; about three, four: a unit quaternion, w x y z.
// Velocity numbers are one per axis: rates of the moves in a's frame, rates of the angles, or, of
// three turns, the angular velocity of b against a in b's frame.
//
// A joint is held in one of two ways: by *coordinates* (bodies and joints make trees, whose state
// is what the joints leave free; nothing can come apart), or by *rows* of the contact problem
// between its two bodies (loops, and whoever asks for them). Distance, gear and tendon are always
// rows. The last two have no bodies: they couple axes of other joints, and act along these.
//
// Of a joint of coordinates, a is the parent and b the child: b is dynamic, and the child of no
// other. So joints of coordinates make trees by themselves, and a loop is a child of two parents or
// a body that is below itself.
//
// Springs keep their energy on average where a step resolves them, and are damped beyond
// (step/trees/spring.h); dampers and drives are implicit, but under the explicit integrator.
//
// The numbers of a joint of coordinates, `joint_position` and `joint_velocity` of the world, are
// the state, and those of its bodies follow. Of a joint of rows it is the other way round: its
// numbers are measured after each step, angles without jumps at half a turn.
#pragma once

#include "base/slots.h"
#include "base/status.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

enum { JOINT_MOVES = 7, JOINT_TURNS = 7 << 3 }; // bits of the axes of Joint

// A kind is a row: its name, the axes that it leaves free, and whether it is always rows. The
// number in snapshots, in inputs and on the wire is the place in this list.
#define JOINT_KIND_MAP(X)                                                                          \
    X(HINGE, 1 << 5, false)                   /* turns about z */                                  \
    X(SLIDER, 1 << 2, false)                  /* moves along z */                                  \
    X(BALL, JOINT_TURNS, false)               /* turns about all */                                \
    X(UNIVERSAL, 3 << 3, false)               /* turns about x of a's frame, then y of b's */      \
    X(FIXED, 0, false)                        /* nothing */                                        \
    X(FREE, JOINT_MOVES | JOINT_TURNS, false) /* everything */                                     \
    X(GENERIC, 0, false)                      /* the axes that it names */                         \
    X(DISTANCE, 0, true)                      /* keeps the two frames' origins apart */            \
    X(GEAR, 0, true)        /* couples the positions of two joints of one axis */                  \
    X(TENDON, 1 << 2, true) /* a sum of positions, as one that moves */

#define X(upper, axes, is_rows) JOINT_##upper,
typedef enum JointKind { JOINT_KIND_MAP(X) JOINT_KIND_COUNT } JointKind;
#undef X

enum { JOINT_AXES_MAX = 6, JOINT_POSITION_MAX = 7 };

#define JOINT_NO_BODY UINT32_MAX // the world itself
#define JOINT_NONE    UINT32_MAX

// Of a world, of the longest way from a tree's root to a leaf, of all velocities of a tree. No
// option changes them.
enum { JOINT_COUNT_MAX = 1000000, TREE_DEPTH_MAX = 2048, TREE_WIDTH_MAX = 4096 };

// What holds, drives and wastes along one axis: [m], [N] of a move, [rad], [N m] of a turn. Of
// three turns limits, rest and targets are of the rotation vector of b's frame against a's.
// Those numbers: name, member, range (range.h), and what says that there is none.
#define JOINT_NUMBER_MAP(X)                                                                        \
    X(LOW, low, JOINT_POSITION, -HUGE_VAL)                                                         \
    X(HIGH, high, JOINT_POSITION, HUGE_VAL)                                                        \
    X(STIFFNESS, stiffness, JOINT_STIFFNESS, 0.0)                                                  \
    X(REST, rest, JOINT_POSITION, 0.0)                                                             \
    X(DAMPING, damping, JOINT_DAMPING, 0.0)                                                        \
    X(FRICTION, friction, JOINT_FRICTION, 0.0)                                                     \
    X(ARMATURE, armature, JOINT_ARMATURE, 0.0)                                                     \
    X(DRIVE_STIFFNESS, drive_stiffness, JOINT_STIFFNESS, 0.0)                                      \
    X(DRIVE_DAMPING, drive_damping, JOINT_DAMPING, 0.0)                                            \
    X(EFFORT_MAX, effort_max, JOINT_EFFORT_MAX, HUGE_VAL)                                          \
    X(STALL_EFFORT, stall_effort, JOINT_STALL_EFFORT, 0.0)                                         \
    X(NO_LOAD_SPEED, no_load_speed, JOINT_NO_LOAD_SPEED, 0.0)                                      \
    X(LAG_TIME, lag_time, JOINT_LAG_TIME, 0.0)                                                     \
    X(DELAY_STEPS, delay_steps, JOINT_DELAY_STEPS, 0.0)

#define X(upper, member, range, none) JOINT_##upper,
typedef enum JointNumber { JOINT_NUMBER_MAP(X) JOINT_NUMBER_COUNT } JointNumber;
#undef X

typedef struct JointAxis {
    double low, high;                      // limits; -HUGE_VAL, HUGE_VAL: none
    double stiffness, rest;                // of a spring, and where it is slack
    double damping;                        // [N s/m]
    double friction;                       // dry: the force up to which it holds
    double armature;                       // inertia added to the axis itself [kg], [kg m^2]
    double drive_stiffness, drive_damping; // of a drive towards its targets
    double effort_max;                     // of the drive; HUGE_VAL: unbounded
    double stall_effort, no_load_speed;    // of a motor (world/motor.h); 0: none
    double lag_time, delay_steps;          // of its commands (world/world_commands.h); 0: none
} JointAxis;

// What a tendon's length has of an axis of a joint: coefficient times its position. Or a gear's
// row, whose length is to be 0.
typedef struct Coupling {
    uint32_t owner;     // the tendon
    uint32_t joint;     // before it
    uint32_t axis;      // of those that the joint leaves free; none of three turns
    double coefficient; // [1], [m/rad]
} Coupling;

typedef struct Joint {
    Id id;
    char *name;          // owned, NULL: nameless
    uint32_t body[2];    // a, b; a may be JOINT_NO_BODY. Of a gear and a tendon both are
    uint32_t partner[2]; // of a gear: the joints that it couples; JOINT_NONE of all others
    uint8_t kind;        // JointKind
    uint8_t axes;        // bits: moves along x, y, z, turns about x, y, z
    bool is_rows;        // else coordinates
    bool collides;       // the two bodies touch each other, too
    Pose frame[2];       // from the body's centre of mass, in its axes; of the world: in world axes
    double ratio;        // gear: position of the second = ratio times that of the first
    double length;       // distance [m]
    double break_force, break_torque;        // of rows [N], [N m]; HUGE_VAL: never
    uint32_t axis_first;                     // in the world's joint axes: as many as it leaves free
    uint32_t position_first;                 // in the world's joint positions
    uint32_t coupling_first, coupling_count; // of a tendon: in the world's couplings
    uint32_t place;                          // only while joints are removed: its index afterwards
} Joint;

// Joints as columns: how they come in. NULL means the default for all, or none.
typedef struct JointColumns {
    uint32_t count;
    size_t axis_count, position_count; // of all of them, as they follow from kinds and axes
    size_t coupling_count;             // of all of them, as coupled_count says
    const uint32_t *kind;              // JointKind
    const uint64_t *body_a, *body_b;   // ids; 0: the world, or none of a gear or tendon
    const uint32_t *axes;              // of generic ones; 0 of others
    const double *frame_a, *frame_b;   // 7 each, from the body's origin; default: there
    const uint32_t *as_rows;           // 1: rows
    const uint32_t *collides;          // 1: the two bodies touch each other
    const uint64_t *joint_a, *joint_b; // ids, of gears; may be of joints before it in the columns
    const uint32_t *coupled_count;     // of tendons: how many axes each couples; 0 of others
    const double *ratio, *length;
    const double *break_force, *break_torque; // default: never
    // per coupling, tendon after tendon
    const uint64_t *coupled;      // ids, as joint_a
    const uint32_t *coupled_axes; // default 0
    const double *coefficients;   // default 1
    // per axis
    const double *low, *high, *stiffness, *rest, *damping, *friction, *armature, *drive_stiffness,
        *drive_damping, *effort_max, *stall_effort, *no_load_speed, *lag_time,
        *delay_steps;       // default: no limits, an unbounded drive, 0 of all else
    const double *velocity; // default: as the bodies move; of rows it is measured
    const double *target, *target_velocity, *effort; // default 0
    // per position; of rows they are measured instead
    const double *position;  // default: as the bodies stand
    const char *const *name; // NULL entries: nameless
} JointColumns;

// Joints to change; columns are NULL where unchanged. Per axis of the joints in their order, and
// per position.
typedef struct JointUpdate {
    size_t count;
    const uint64_t *id;
    size_t axis_count, position_count; // of all of them: what the columns have
    const double *position;
    const double *velocity, *target, *target_velocity, *effort;
    const double *number[JOINT_NUMBER_COUNT]; // what holds, drives and wastes along the axes
} JointUpdate;

// Judges what an axis of a joint of coordinates or of rows is to have; blames the member's name
// behind `prefix`, as joint_low[2].
Status joint_axis_check(const JointAxis *axis, bool is_rows, const char *prefix, size_t entry,
                        Error *error);

double *joint_axis_number(JointAxis *axis, JointNumber number);

// Of kinds that couple axes of other joints and have no bodies.
static inline bool joint_couples(const Joint *joint) {
    return joint->kind == JOINT_GEAR || joint->kind == JOINT_TENDON;
}

static inline uint32_t joint_axis_count(uint8_t axes) {
    uint32_t count = 0;
    for (uint32_t bit = 0; bit < JOINT_AXES_MAX; bit++) {
        count += (uint32_t)axes >> bit & 1;
    }
    return count;
}

// Which of the bits is that of an axis, counted from 0 among those that are left free.
static inline int joint_axis_bit(uint8_t axes, uint32_t axis) {
    int bit = -1;
    for (uint32_t seen = 0; seen <= axis;) {
        bit++;
        seen += (axes >> bit) & 1;
    }
    return bit;
}

// Three turns have four numbers.
static inline uint32_t joint_position_count(uint8_t axes) {
    return joint_axis_count(axes) + ((axes & JOINT_TURNS) == JOINT_TURNS);
}

// Whether an axis has a position number of its own, as those of three turns have not.
static inline bool joint_has_number(uint8_t axes, uint32_t axis) {
    const bool has_three = (axes & JOINT_TURNS) == JOINT_TURNS;
    return axis < joint_axis_count(has_three ? axes & JOINT_MOVES : axes);
}

typedef struct JointKindRow {
    const char *name; // as on the wire
    uint8_t axes;     // of all but generic ones
    bool is_rows;     // always
} JointKindRow;

extern const JointKindRow joint_kind_rows[JOINT_KIND_COUNT];

static inline bool joint_kind_is_rows(JointKind kind) {
    return (unsigned)kind < JOINT_KIND_COUNT && joint_kind_rows[kind].is_rows;
}

// Of all but generic joints; 0 of a kind that there is none of.
static inline uint8_t joint_kind_axes(JointKind kind) {
    return (unsigned)kind < JOINT_KIND_COUNT ? joint_kind_rows[kind].axes : 0;
}

// b's frame in a's, from the position numbers.
Pose joint_transform(uint8_t axes, const double *position);

// The numbers of a pose and a motion of b's frame in a's: what the axes leave out is left out. The
// motion is relative, as seen in a's turning frame, in its axes. Angles lie in [-pi, pi], w >= 0.
void joint_measure_position(uint8_t axes, Pose b_in_a, double *position);
void joint_measure_velocity(uint8_t axes, Pose b_in_a, Vec3 velocity, Vec3 spin, double *rate);

// The rotation vector of three turns: axis times angle, which is at most pi.
Vec3 joint_rotation_vector(Quat turn);
