// SPDX-License-Identifier: MIT
// Materials: what a surface feels like, and what two of them make of a contact. The combination
// rule stands in the proto, at Material.
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { MATERIAL_NAME_BYTES = 64 };  // with its zero
enum { MATERIAL_COUNT_MAX = 4096 }; // per world: they are looked up by name, one after the other

typedef struct Material {
    char
        name[MATERIAL_NAME_BYTES]; // unique in its world; "" for the built-in and for nameless ones
    double friction;
    double restitution;
    double stiffness;        // [N/m], may be infinite (HUGE_VAL)
    double dissipation_time; // [s]
    double damping;          // [N s/m]
    double hertz_exponent;   // p of stiffness d^p; 1, 1.5 … 3; > 1: units per m^p
} Material;

// What a contact's spring and damper are at an overlap: the tangent, and the force there.
typedef struct MaterialTangent {
    double stiffness; // [N/m]
    double damping;   // [N s/m]
    double force;     // [N]
} MaterialTangent;

Material material_default(void);

// Judges the numbers; `index` names the material in the error, as materials[2].friction.
Status material_check(const Material *material, size_t index, Error *error);
// The same of an entry of columns: material_friction[2].
Status material_check_entry(const Material *material, size_t index, Error *error);

// Of a law that is not linear, F = stiffness d^p + damping d(d^p)/dt, at the gap of a contact. What
// does not overlap yet has the secant to the overlap that it would come to, so that it is held
// before it is deep; `ahead` is that overlap [m], and may be none.
MaterialTangent material_tangent(const Material *material, double gap, double ahead);

// The material of a contact (its name is empty). Symmetric.
Material material_combine(const Material *a, const Material *b);
