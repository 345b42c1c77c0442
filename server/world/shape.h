// SPDX-License-Identifier: MIT
// Shapes: one or several convex primitives (primitive.h) at local poses, shared by bodies.
#pragma once

#include "base/status.h"
#include "base/vec.h"
#include "world/primitive.h"

#include <stddef.h>
#include <stdint.h>

#define PRIMITIVE_GROUP_DEFAULT 1u
#define PRIMITIVE_MASK_DEFAULT  UINT32_MAX

typedef struct Shape {
    uint32_t primitive_first, primitive_count; // in the world's primitives
    bool is_unbounded;                         // has a plane
    bool is_surface;                           // has triangles, which have no mass
    uint32_t id;                               // in its world, never given again
    double volume_mass; // [kg] from the densities; 0 when unbounded or a surface
    Vec3 center;        // centre of that mass, body axes [m]
    Sym3 inertia;       // about it, body axes [kg m^2]
    double
        radius; // of the ball around the body's origin that holds it [m]; infinite when unbounded
} Shape;

// Each is in a group that the other collides with.
static inline bool primitives_collide(const Primitive *a, const Primitive *b) {
    return (a->group & b->mask) != 0 && (b->group & a->mask) != 0;
}

// Judges numbers from outside; `field` names the column, as size[4].
Status primitive_check(const Primitive *primitive, uint32_t index, Error *error);

// Those of its three sizes that its kind does not have, whatever was given for them, become 0.
void primitive_forget_sizes(Primitive *primitive);

// Mass, centre, inertia and radius of a shape whose primitives have passed the check. `primitives`
// are all of the world's; the shape's range of them, which must be set and not empty, is read.
// Where primitives overlap, each counts with its whole mass.
void shape_measure(Shape *shape, const Primitive *primitives);

// Of one cell [N/m].
double foundation_stiffness(const Primitive *box);
// Lengths of a primitive [m], infinite of a plane: the largest ball in it; half the longest way
// along its axes; half of how far it goes on across its contacts.
double primitive_thickness(const Primitive *primitive);
double primitive_length(const Primitive *primitive);
double primitive_face(const Primitive *primitive);
// The centre of its mass, and of that ball, of a primitive at a pose.
Vec3 primitive_center(const Primitive *primitive, Pose pose);
// How far it reaches, more or less: of those with sizes their norm [m].
double primitive_span(const Primitive *primitive);

// Lowest and highest coordinates of a primitive at a pose (of the primitive, in the world). A plane
// is infinite, but for the one side of a plane whose normal is exactly a world axis.
void primitive_bounds(const Primitive *primitive, Pose pose, Vec3 *lower, Vec3 *upper);
