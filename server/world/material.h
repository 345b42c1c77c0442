// SPDX-License-Identifier: MIT
// Materials: what a surface feels like, and what two of them make of a contact. The combination
// rule stands in the proto, at Material.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { MATERIAL_NAME_BYTES = 64 };  // with its zero
enum { MATERIAL_COUNT_MAX = 4096 }; // per world: they are looked up by name, one after the other
enum { MATERIAL_PAIR_COUNT_MAX = 4096 }; // per world: each that is new moves those behind it

typedef struct Material {
    char
        name[MATERIAL_NAME_BYTES]; // unique in its world; "" for the built-in and for nameless ones
    double friction;
    double restitution;
    double stiffness;        // [N/m], may be infinite (HUGE_VAL)
    double dissipation_time; // [s]
    double damping;          // [N s/m]
    double hertz_exponent;   // p of stiffness d^p; 1, 1.5 … 3; > 1: units per m^p
    double priority;         // whole; of two the numbers of the one with the higher count
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

// What two frictions make of a pair's; the numbers are those of the wire.
typedef enum FrictionRule {
    FRICTION_GEOMETRIC, // sqrt(a b)
    FRICTION_MAXIMUM,
    FRICTION_MINIMUM,
    FRICTION_PRODUCT, // at most what a material may have
    FRICTION_RULE_COUNT
} FrictionRule;

// The material of a contact (its name is empty). Symmetric.
Material material_combine(const Material *a, const Material *b, FrictionRule rule);

// Two materials, by their indices, whose contacts have a friction of their own.
typedef struct MaterialPair {
    uint32_t low, high; // low <= high
    double friction;
} MaterialPair;
