// SPDX-License-Identifier: MIT
#include "world/body.h"

#include "world/range.h"

#include <math.h>
#include <stdio.h>

Status body_check_pose_of(const double pose[7], const char *column, uint32_t index, Error *error) {
    for (uint32_t i = 0; i < 3; i++) {
        Status status = range_check(RANGE_POSITION, pose[i], column, (int64_t)index * 7 + i, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    double norm = 0.0;
    for (int i = 3; i < 7; i++) {
        norm += pose[i] * pose[i];
    }
    // the bounds keep the square root and the division exact enough to normalise; NaN fails
    if (!(norm >= 1e-12 && norm <= 1e12)) {
        char field[64];
        snprintf(field, sizeof(field), "%s[%llu]", column, (unsigned long long)index * 7 + 3);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "The quaternion (w x y z) has length %.3g; it is normalised on receipt, "
                         "but must not be zero.",
                         norm >= 0.0 ? sqrt(norm) : norm);
    }
    return STATUS_OK;
}

Status body_check_pose(const double pose[7], uint32_t index, Error *error) {
    return body_check_pose_of(pose, "pose", index, error);
}

Status body_check_velocity(const double velocity[6], uint32_t index, Error *error) {
    for (uint32_t i = 0; i < 6; i++) {
        RangeKind kind = i < 3 ? RANGE_LINEAR_VELOCITY : RANGE_ANGULAR_VELOCITY;
        Status status = range_check(kind, velocity[i], "velocity", (int64_t)index * 6 + i, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static bool is_positive(Sym3 a) {
    return a.xx > 0.0 && a.xx * a.yy - a.xy * a.xy > 0.0 && sym3_determinant(a) > 0.0;
}

// Positive semidefinite, by elimination with the largest pivot first, which rounds by parts of the
// whole: a determinant of a needle's tensor is nothing but rounding where two of its moments are.
static bool is_semidefinite(Sym3 a) {
    if (a.yy > a.xx && a.yy >= a.zz) {
        a = (Sym3){a.yy, a.xx, a.zz, a.xy, a.yz, a.xz};
    } else if (a.zz > a.xx) {
        a = (Sym3){a.zz, a.yy, a.xx, a.yz, a.xz, a.xy};
    }
    if (!(a.xx > 0.0)) {
        return a.xx == 0.0 && a.yy == 0.0 && a.zz == 0.0 && a.xy == 0.0 && a.xz == 0.0 &&
               a.yz == 0.0;
    }
    const double yy = a.yy - a.xy / a.xx * a.xy, zz = a.zz - a.xz / a.xx * a.xz,
                 yz = a.yz - a.xy / a.xx * a.xz;
    return yy >= 0.0 && zz >= 0.0 && yy * zz - yz * yz >= 0.0;
}

// Positive definite, and no principal moment larger than the sum of the other two: the tensor E
// tr/2 - I must be positive semidefinite. Equality is legal (a thin disc), so the test allows
// rounding; and of a needle that was made of a shape, the smallest moment may be all rounding.
static bool inertia_is_physical(Sym3 inertia, bool is_made) {
    double trace = inertia.xx + inertia.yy + inertia.zz;
    double half = 0.5 * trace, slack = 1e-9 * trace, thicker = is_made ? slack : 0.0;
    const Sym3 thick = {inertia.xx + thicker, inertia.yy + thicker, inertia.zz + thicker,
                        inertia.xy,           inertia.xz,           inertia.yz};
    const Sym3 rest = {half - inertia.xx + slack,
                       half - inertia.yy + slack,
                       half - inertia.zz + slack,
                       -inertia.xy,
                       -inertia.xz,
                       -inertia.yz};
    return is_positive(thick) && is_semidefinite(rest);
}

static Status blame(Error *error, const char *column, uint64_t entry, const char *why) {
    char field[64];
    snprintf(field, sizeof(field), "%s[%llu]", column, (unsigned long long)entry);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s", why);
}

static Status check_inertia(const double given[6], uint32_t index, Sym3 *inertia, Error *error) {
    for (uint32_t i = 0; i < 6; i++) {
        Status status =
            range_check(RANGE_INERTIA, given[i], "inertia", (int64_t)index * 6 + i, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *inertia = (Sym3){given[0], given[1], given[2], given[3], given[4], given[5]};
    if (!inertia_is_physical(*inertia, false)) {
        return blame(error, "inertia", (uint64_t)index * 6,
                     "The inertia must be positive definite, with no principal moment larger than "
                     "the sum of the other two.");
    }
    return STATUS_OK;
}

static Sym3 scale_inertia(Sym3 i, double s) {
    return (Sym3){s * i.xx, s * i.yy, s * i.zz, s * i.xy, s * i.xz, s * i.yz};
}

// The tensor about `to` of mass m whose tensor about its centre `from` is given.
static Sym3 move_inertia(Sym3 inertia, double mass, Vec3 from, Vec3 to) {
    Vec3 d = vec3_sub(to, from);
    double square = vec3_dot(d, d);
    return (Sym3){inertia.xx + mass * (square - d.x * d.x),
                  inertia.yy + mass * (square - d.y * d.y),
                  inertia.zz + mass * (square - d.z * d.z),
                  inertia.xy - mass * d.x * d.y,
                  inertia.xz - mass * d.x * d.z,
                  inertia.yz - mass * d.y * d.z};
}

// Mass and inertia as a world made them: finish_mass has the last word.
static Status take_made(const BodyColumns *columns, uint32_t index, BodyMass *mass, Error *error) {
    const double *six = columns->inertia + 6 * (size_t)index;
    mass->mass = columns->mass[index];
    mass->inertia = (Sym3){six[0], six[1], six[2], six[3], six[4], six[5]};
    return mass->mass > 0.0 && inertia_is_physical(mass->inertia, true)
               ? STATUS_OK
               : blame(error, "mass", index, "No body has this mass and inertia.");
}

static Status given_center(const BodyColumns *columns, uint32_t index, Vec3 *center, Error *error) {
    for (uint32_t i = 0; i < 3; i++) {
        double value = columns->center_of_mass[3 * (size_t)index + i];
        Status status =
            range_check(RANGE_POSITION, value, "center_of_mass", (int64_t)index * 3 + i, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *center = vec3_load(columns->center_of_mass + 3 * (size_t)index);
    return STATUS_OK;
}

// What follows from shapes or from another mass is within the ranges of what is given, so that the
// scene of a world can say it.
static Status check_mass_of_shapes(double mass, uint32_t index, Error *error) {
    return range_holds(RANGE_MASS, mass)
               ? STATUS_OK
               : blame(error, "mass", index,
                       "The densities of its shapes make the body's mass: no body has more than "
                       "1e18 kg. Give it a mass, or its shapes lower densities.");
}

static Status check_inertia_of_mass(Sym3 inertia, uint32_t index, Error *error) {
    const double largest = range_get(RANGE_INERTIA)->maximum;
    // of a positive tensor no entry is larger than those of the diagonal
    return inertia.xx <= largest && inertia.yy <= largest && inertia.zz <= largest
               ? STATUS_OK
               : blame(error, "inertia", (uint64_t)index * 6,
                       "The body's inertia follows from its mass and its shapes: no body has more "
                       "than 1e30 kg m^2. Give it an inertia, or less mass.");
}

// A moment below this share of the trace is lost where the tensor is seen in axes that are not its
// own: rounding is 2e-16 of the trace there, and the inverse is still right to a part in 1,000.
#define MOMENT_SHARE_MIN 1e-12

// What brings the smallest moment of a needle up to that share. The other two are then half the
// trace each, to that share, and the smallest is the determinant over their product; for other
// bodies this is less than their smallest moment.
static double needle_thickening(Sym3 inertia) {
    double trace = inertia.xx + inertia.yy + inertia.zz;
    double least = 4.0 * (sym3_determinant(inertia) / trace) / trace;
    return fmax(MOMENT_SHARE_MIN * trace - least, 0.0);
}

// What follows from mass and inertia; `is_given`: the latter, by entry `index` of a column.
static Status finish_mass(BodyMass *mass, bool is_given, uint32_t index, Error *error) {
    mass->inverse_inertia = sym3_inverse(mass->inertia);
    Sym3 i = mass->inertia, inverse = mass->inverse_inertia;
    mass->thickening = needle_thickening(mass->inertia);
    mass->is_round = i.xx == i.yy && i.yy == i.zz && i.xy == 0.0 && i.xz == 0.0 && i.yz == 0.0;
    double sum = inverse.xx + inverse.yy + inverse.zz;
    return sum > 0.0 && isfinite(sum) && isfinite(1.0 / mass->mass)
               ? STATUS_OK
               : blame(error, is_given ? "inertia" : "mass", (uint64_t)index * (is_given ? 6 : 1),
                       "Mass and inertia are so small or so large that their inverse is no finite "
                       "number.");
}

static bool has_volume(const Shape *shape) {
    return shape != NULL && !shape->is_unbounded && shape->volume_mass > 0.0;
}

static Status take_mass(const BodyColumns *columns, uint32_t index, const Shape *shape,
                        BodyMass *mass, Error *error) {
    if (columns->mass != NULL) {
        mass->mass = columns->mass[index];
        return range_check(RANGE_MASS, mass->mass, "mass", index, error);
    }
    if (!has_volume(shape)) {
        return blame(error, "mass", index, "A dynamic body without a solid shape needs a mass.");
    }
    mass->mass = shape->volume_mass;
    return check_mass_of_shapes(mass->mass, index, error);
}

static Status take_inertia(const BodyColumns *columns, uint32_t index, const Shape *shape,
                           BodyMass *mass, Error *error) {
    if (columns->inertia != NULL) {
        return check_inertia(columns->inertia + 6 * (size_t)index, index, &mass->inertia, error);
    }
    if (!has_volume(shape)) {
        return blame(error, "inertia", (uint64_t)index * 6,
                     "A dynamic body without a solid shape needs an inertia.");
    }
    mass->inertia = scale_inertia(shape->inertia, mass->mass / shape->volume_mass);
    if (columns->center_of_mass != NULL) {
        mass->inertia = move_inertia(mass->inertia, mass->mass, shape->center, mass->center);
    } else {
        mass->center = shape->center;
    }
    return check_inertia_of_mass(mass->inertia, index, error);
}

static Status dynamic_mass(const BodyColumns *columns, uint32_t index, const Shape *shape,
                           BodyMass *mass, Error *error) {
    const bool is_made = columns->has_made_masses;
    Status status = is_made ? take_made(columns, index, mass, error)
                            : take_mass(columns, index, shape, mass, error);
    status = STATUS_THEN_IF(status, !is_made, take_inertia(columns, index, shape, mass, error));
    return STATUS_THEN(status, finish_mass(mass, columns->inertia != NULL, index, error));
}

Status body_change_mass(const BodyMass *now, const double *mass, const double *inertia,
                        uint32_t index, BodyMass *changed, Error *error) {
    *changed = *now;
    Status status = STATUS_OK;
    if (mass != NULL) {
        changed->mass = *mass;
        status = range_check(RANGE_MASS, *mass, "mass", index, error);
    }
    if (status == STATUS_OK && inertia != NULL) {
        status = check_inertia(inertia, index, &changed->inertia, error);
    } else if (status == STATUS_OK) {
        changed->inertia = scale_inertia(now->inertia, changed->mass / now->mass);
        status = check_inertia_of_mass(changed->inertia, index, error);
    }
    return STATUS_THEN(status, finish_mass(changed, inertia != NULL, index, error));
}

Status body_mass(const BodyColumns *columns, uint32_t index, const Shape *shape, BodyMass *mass,
                 Error *error) {
    *mass = (BodyMass){0};
    uint32_t kind = columns->kind == NULL ? BODY_DYNAMIC : columns->kind[index];
    if (kind >= BODY_KIND_COUNT) {
        return blame(error, "kind", index, "No such body kind: DYNAMIC 0, KINEMATIC 1, STATIC 2.");
    }
    if (shape != NULL && shape->is_unbounded && kind != BODY_STATIC) {
        return blame(error, "shape", index,
                     "A plane fills half of space: only a static body can carry it.");
    }
    if (shape != NULL && shape->is_surface && kind == BODY_DYNAMIC) {
        return blame(error, "shape", index,
                     "A mesh or a height field is a surface without mass: static and kinematic "
                     "bodies can carry it. Give a dynamic body the hulls of its parts.");
    }
    if (columns->center_of_mass != NULL) {
        Status status = given_center(columns, index, &mass->center, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return kind == BODY_DYNAMIC ? dynamic_mass(columns, index, shape, mass, error) : STATUS_OK;
}
