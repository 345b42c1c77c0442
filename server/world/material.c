// SPDX-License-Identifier: MIT
#include "world/material.h"

#include "world/range.h"

#include <math.h>
#include <stdio.h>

Material material_default(void) {
    return (Material){.friction = 0.5, .stiffness = HUGE_VAL};
}

static Status check_number(RangeKind kind, double value, const char *name, size_t index,
                           Error *error) {
    char field[64];
    snprintf(field, sizeof(field), "materials[%zu].%s", index, name);
    return range_check(kind, value, field, -1, error);
}

Status material_check(const Material *material, size_t index, Error *error) {
    Status status = check_number(RANGE_FRICTION, material->friction, "friction", index, error);
    if (status == STATUS_OK) {
        status =
            check_number(RANGE_RESTITUTION, material->restitution, "restitution", index, error);
    }
    if (status == STATUS_OK && material->stiffness != HUGE_VAL) {
        status = check_number(RANGE_STIFFNESS, material->stiffness, "stiffness", index, error);
    }
    if (status == STATUS_OK) {
        status = check_number(RANGE_DISSIPATION_TIME, material->dissipation_time,
                              "dissipation_time", index, error);
    }
    if (status == STATUS_OK) {
        status = check_number(RANGE_DAMPING, material->damping, "damping", index, error);
    }
    return status;
}

// a b / (a + b): two springs, or two dampers, one behind the other
static double in_series(double a, double b) {
    if (isinf(a)) {
        return b;
    }
    if (isinf(b)) {
        return a;
    }
    return a + b > 0.0 ? a * b / (a + b) : 0.0;
}

// (k_b tau_a + k_a tau_b)/(k_a + k_b): the softer side decides
static double combine_dissipation(const Material *a, const Material *b) {
    if (isinf(a->stiffness) && isinf(b->stiffness)) {
        return 0.5 * (a->dissipation_time + b->dissipation_time);
    }
    if (isinf(a->stiffness)) {
        return b->dissipation_time;
    }
    if (isinf(b->stiffness)) {
        return a->dissipation_time;
    }
    return (b->stiffness * a->dissipation_time + a->stiffness * b->dissipation_time) /
           (a->stiffness + b->stiffness);
}

Material material_combine(const Material *a, const Material *b) {
    return (Material){
        .friction = a->friction == b->friction ? a->friction : sqrt(a->friction * b->friction),
        .restitution = a->restitution > b->restitution ? a->restitution : b->restitution,
        .stiffness = in_series(a->stiffness, b->stiffness),
        .dissipation_time = combine_dissipation(a, b),
        .damping = in_series(a->damping, b->damping),
    };
}
