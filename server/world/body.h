// SPDX-License-Identifier: MIT
// Bodies as columns: how they come in. Every column but `pose` may be NULL, which means the default
// for all.
#pragma once

#include "base/slots.h"
#include "base/status.h"
#include "base/vec.h"
#include "world/shape.h"

#include <math.h>

typedef enum BodyKind { BODY_DYNAMIC, BODY_KINEMATIC, BODY_STATIC, BODY_KIND_COUNT } BodyKind;

typedef struct BodyColumns {
    uint32_t count;
    const double *pose;           // 7: origin of the body, quaternion w x y z
    const double *velocity;       // 6: of the centre of mass, world axes
    const uint32_t *kind;         // BodyKind
    const uint64_t *shape;        // shape id, 0: none
    const double *mass;           // [kg]
    const double *inertia;        // 6: xx yy zz xy xz yz about the centre of mass, body axes
    const double *center_of_mass; // 3, body axes
    const char *const *name;      // NULL entries: nameless
    // Masses are what a world made, of shapes or of other masses, and not only what may be given.
    bool has_made_masses;
} BodyColumns;

// What the world keeps of one body's mass.
typedef struct BodyMass {
    double mass; // 0: kinematic or static
    Vec3 center; // of mass, body axes
    Sym3 inertia, inverse_inertia;
    double thickening; // [kg m^2] added to all moments by a step: 0 but for needles
    bool is_round; // inertia is a multiple of the unit matrix: it looks the same from everywhere
} BodyMass;

// Of a body that has a mass [m]: how far that lies from its centre, as the root of the mean square.
// It says how large a body without a surface is.
static inline double body_gyration_radius(const BodyMass *mass) {
    return sqrt(0.5 * (mass->inertia.xx + mass->inertia.yy + mass->inertia.zz) / mass->mass);
}

// Judges a pose column entry: finite coordinates within range, a quaternion that can be normalised.
// `index` is the body's.
Status body_check_pose(const double pose[7], uint32_t index, Error *error);
// The same of another column of poses.
Status body_check_pose_of(const double pose[7], const char *column, uint32_t index, Error *error);
Status body_check_velocity(const double velocity[6], uint32_t index, Error *error);

// Mass, centre and inertia of body `index` of the columns, from what is given and from its shape
// (NULL: none).
Status body_mass(const BodyColumns *columns, uint32_t index, const Shape *shape, BodyMass *mass,
                 Error *error);

// A mass as it would be with another mass or inertia (either Nullable; the latter 6 numbers) of
// entry `index` of their columns. An inertia that is not given is scaled with the mass.
Status body_change_mass(const BodyMass *now, const double *mass, const double *inertia,
                        uint32_t index, BodyMass *changed, Error *error);
