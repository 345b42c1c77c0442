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
// between its two bodies (loops, and whoever asks for them). Distance and gear are always rows.
#pragma once

#include "base/slots.h"
#include "base/status.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

// The numbers are those of the wire.
typedef enum JointKind {
    JOINT_HINGE,     // turns about z
    JOINT_SLIDER,    // moves along z
    JOINT_BALL,      // turns about all
    JOINT_UNIVERSAL, // turns about x of a's frame, then y of b's
    JOINT_FIXED,     // nothing
    JOINT_FREE,      // everything
    JOINT_GENERIC,   // the axes that it names
    JOINT_DISTANCE,  // keeps the two frames' origins apart (rows)
    JOINT_GEAR,      // couples the positions of two joints with one axis each (rows)
    JOINT_KIND_COUNT
} JointKind;

enum { JOINT_AXES_MAX = 6, JOINT_POSITION_MAX = 7 };
enum { JOINT_MOVES = 7, JOINT_TURNS = 7 << 3 }; // bits of the axes of Joint

#define JOINT_NO_BODY UINT32_MAX // the world itself

// What holds, drives and wastes along one axis: [m], [N] of a move, [rad], [N m] of a turn.
typedef struct JointAxis {
    double low, high;                      // limits; -HUGE_VAL, HUGE_VAL: none
    double stiffness, rest;                // of a spring, and where it is slack
    double damping;                        // [N s/m]
    double friction;                       // dry: the force up to which it holds
    double armature;                       // inertia added to the axis itself [kg], [kg m^2]
    double drive_stiffness, drive_damping; // of a drive towards its targets
    double effort_max;                     // of the drive; HUGE_VAL: unbounded
} JointAxis;

typedef struct Joint {
    uint32_t body[2]; // a, b; a may be JOINT_NO_BODY
    uint8_t kind;     // JointKind
    uint8_t axes;     // bits: moves along x, y, z, turns about x, y, z
    bool is_rows;     // else coordinates
    bool collides;    // the two bodies touch each other, too
    Pose frame[2];    // from the body's centre of mass, in its axes; of the world: in world axes
    double ratio;     // gear: position of the second = ratio times that of the first
    double length;    // distance [m]
    double break_force, break_torque; // of rows [N], [N m]; HUGE_VAL: never
    uint32_t axis_first;              // in the world's joint axes: as many as it leaves free
} Joint;

static inline uint32_t joint_axis_count(uint8_t axes) {
    uint32_t count = 0;
    for (uint8_t bit = 1; bit < 1 << JOINT_AXES_MAX; bit = (uint8_t)(bit << 1)) {
        count += (axes & bit) != 0;
    }
    return count;
}

// Three turns have four numbers.
static inline uint32_t joint_position_count(uint8_t axes) {
    return joint_axis_count(axes) + ((axes & JOINT_TURNS) == JOINT_TURNS);
}

static inline uint8_t joint_kind_axes(JointKind kind) {
    switch (kind) {
    case JOINT_HINGE:
        return 1 << 5;
    case JOINT_SLIDER:
        return 1 << 2;
    case JOINT_BALL:
        return JOINT_TURNS;
    case JOINT_UNIVERSAL:
        return 3 << 3;
    case JOINT_FREE:
        return JOINT_MOVES | JOINT_TURNS;
    case JOINT_FIXED:
    case JOINT_GENERIC:
    case JOINT_DISTANCE:
    case JOINT_GEAR:
    case JOINT_KIND_COUNT:
        break;
    }
    return 0;
}
