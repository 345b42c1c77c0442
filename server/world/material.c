// SPDX-License-Identifier: MIT
#include "world/material.h"

#include "world/range.h"

#include <math.h>
#include <stdio.h>

Material material_default(void) {
    return (Material){.friction = 0.5, .stiffness = HUGE_VAL, .hertz_exponent = 1.0};
}

// Who is judged: an entry of a list of materials, or of columns of their numbers.
typedef struct Judged {
    bool is_column;
    size_t index;
} Judged;

typedef char Field[64];

static void write_field(const Judged *of, const char *name, Field field) {
    if (of->is_column) {
        snprintf(field, sizeof(Field), "material_%s[%zu]", name, of->index);
    } else {
        snprintf(field, sizeof(Field), "materials[%zu].%s", of->index, name);
    }
}

static Status check_number(RangeKind kind, double value, const char *name, const Judged *of,
                           Error *error) {
    Field field;
    write_field(of, name, field);
    return range_check(kind, value, field, -1, error);
}

// What can be made of square roots.
static Status check_exponent(double exponent, const Judged *of, Error *error) {
    Status status = check_number(RANGE_HERTZ_EXPONENT, exponent, "hertz_exponent", of, error);
    if (status != STATUS_OK || 2.0 * exponent == floor(2.0 * exponent)) {
        return status;
    }
    Field field;
    write_field(of, "hertz_exponent", field);
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "The value %.17g is not a multiple of 0.5: give 1, 1.5, 2, 2.5 or 3.",
                     exponent);
}

static Status check_priority(double priority, const Judged *of, Error *error) {
    Status status = check_number(RANGE_PRIORITY, priority, "priority", of, error);
    if (status != STATUS_OK || priority == floor(priority)) {
        return status;
    }
    Field field;
    write_field(of, "priority", field);
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "The value %.17g is not whole: a priority is.", priority);
}

static Status check(const Material *material, const Judged *of, Error *error) {
    const struct {
        RangeKind kind;
        double value;
        const char *name;
    } numbers[] = {
        {RANGE_FRICTION, material->friction, "friction"},
        {RANGE_RESTITUTION, material->restitution, "restitution"},
        {RANGE_STIFFNESS, material->stiffness, "stiffness"}, // or infinite
        {RANGE_DISSIPATION_TIME, material->dissipation_time, "dissipation_time"},
        {RANGE_DAMPING, material->damping, "damping"},
    };
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i].kind != RANGE_STIFFNESS || numbers[i].value != HUGE_VAL) {
            status = check_number(numbers[i].kind, numbers[i].value, numbers[i].name, of, error);
        }
    }
    status = STATUS_THEN(status, check_exponent(material->hertz_exponent, of, error));
    return STATUS_THEN(status, check_priority(material->priority, of, error));
}

Status material_check(const Material *material, size_t index, Error *error) {
    const Judged of = {.index = index};
    return check(material, &of, error);
}

Status material_check_entry(const Material *material, size_t index, Error *error) {
    const Judged of = {.is_column = true, .index = index};
    return check(material, &of, error);
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

// Of those that give way at all, the larger.
static double combine_exponent(const Material *a, const Material *b) {
    double of_a = isinf(a->stiffness) ? 1.0 : a->hertz_exponent,
           of_b = isinf(b->stiffness) ? 1.0 : b->hertz_exponent;
    return of_a > of_b ? of_a : of_b;
}

// x^p of a multiple of a half
static double power(double x, double p) {
    double product = p == floor(p) ? 1.0 : sqrt(x);
    for (int left = (int)floor(p); left >= 1; left--) { // p is small: see RANGE_HERTZ_EXPONENT
        product *= x;
    }
    return product;
}

// nearer than this nothing is told apart [m]
#define DEPTH_MIN 1e-12

MaterialTangent material_tangent(const Material *material, double gap, double ahead) {
    double p = material->hertz_exponent;
    if (gap < 0.0) {
        double slope = power(-gap, p - 1.0);
        return (MaterialTangent){p * material->stiffness * slope, p * material->damping * slope,
                                 material->stiffness * slope * -gap};
    }
    double slope = power(ahead > DEPTH_MIN ? ahead : DEPTH_MIN, p - 1.0);
    return (MaterialTangent){material->stiffness * slope, material->damping * slope,
                             -material->stiffness * slope * gap};
}

static double combine_friction(double a, double b, FrictionRule rule) {
    switch (rule) {
    case FRICTION_MAXIMUM:
        return a > b ? a : b;
    case FRICTION_MINIMUM:
        return a < b ? a : b;
    case FRICTION_PRODUCT:
        return fmin(a * b, range_get(RANGE_FRICTION)->maximum);
    case FRICTION_GEOMETRIC:
    case FRICTION_RULE_COUNT:
        break;
    }
    return a == b ? a : sqrt(a * b);
}

Material material_combine(const Material *a, const Material *b, FrictionRule rule) {
    if (a->priority != b->priority) {
        Material pair = a->priority > b->priority ? *a : *b;
        pair.name[0] = '\0';
        return pair;
    }
    return (Material){
        .friction = combine_friction(a->friction, b->friction, rule),
        .restitution = a->restitution > b->restitution ? a->restitution : b->restitution,
        .stiffness = in_series(a->stiffness, b->stiffness),
        .dissipation_time = combine_dissipation(a, b),
        .damping = in_series(a->damping, b->damping),
        .hertz_exponent = combine_exponent(a, b),
        .priority = a->priority,
    };
}
