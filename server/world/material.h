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
} Material;

Material material_default(void);

// Judges the numbers; `index` names the material in the error, as materials[2].friction.
Status material_check(const Material *material, size_t index, Error *error);

// The material of a contact (its name is empty). Symmetric.
Material material_combine(const Material *a, const Material *b);
