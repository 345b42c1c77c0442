// SPDX-License-Identifier: MIT
// A change of a world that is no step, drawn from a number alone: the same one as a call for the
// server and as an input for the reference. It knows nothing of the world that it meets, so it may
// well be refused; then both refuse it, and nothing has changed.
#pragma once

#include "moreau.pb-c.h"
#include "run/worlds/input.h"

enum { EDIT_BODY_MAX = 6 };         // it names bodies and joints 1 … so much
enum { EDIT_HULL_POINTS_MAX = 24 }; // of a hull

typedef enum EditKind {
    EDIT_PUSH, // a velocity
    EDIT_ADD_BODY,
    EDIT_ADD_JOINT, // by coordinates or by rows, between two bodies or to the world
    EDIT_REMOVE_BODY,
    EDIT_REMOVE_JOINT,
    EDIT_MASS,
    EDIT_SLEEP,
    EDIT_SOLVER,
    EDIT_ADD_HULL,  // of points, which may make none
    EDIT_ADD_SHAPE, // that wears one
    EDIT_DRIVE,     // a joint's targets, and what its drive does for them
    EDIT_TURN,      // where a joint of coordinates is, and how fast
    EDIT_KIND_COUNT
} EditKind;

// Its messages point into it: not to be copied.
typedef struct Edit {
    EditKind kind;
    union {
        Moreau__V1__WorldSet set;
        Moreau__V1__WorldAddBodies add_bodies;
        Moreau__V1__WorldAddJoints add_joints;
        Moreau__V1__WorldRemove remove;
        Moreau__V1__WorldAddGeometries add_geometries;
        Moreau__V1__WorldAddShapes add_shapes;
    };
    uint64_t id[2];
    double number[7];
    Moreau__V1__Hull hull, *hulls[1];
    double point[3 * EDIT_HULL_POINTS_MAX];
    Moreau__V1__Primitive__Kind primitive;
    Moreau__V1__Joint__Kind joint;
    protobuf_c_boolean as_rows;
    Moreau__V1__WorldSettings settings;
} Edit;

// The number-th edit, of the world with this id on the server.
void edit_draw(Edit *edit, uint64_t number, uint64_t world);

// Its call, borrowed.
const void *edit_message(const Edit *edit);

// Its input, which borrows from it and from the arena.
Status edit_input(const Edit *edit, Arena *arena, Input *input, Error *error);
