// SPDX-License-Identifier: MIT
#include "world/shape.h"

#include "base/assert.h"
#include "world/range.h"

#include <stdio.h>

static const double quaternion_norm_slack = 1e-9; // as of bodies: callers normalise

// written so that NaN fails too
static bool is_positive(double value) {
    return value > 0.0 && isfinite(value);
}

static Status check_pose(Pose pose, uint32_t index, Error *error) {
    double packed[7];
    pose_store(packed, pose);
    for (uint32_t k = 0; k < 7; k++) {
        // position: the range of coordinates; orientation: finite, its norm is judged below
        if (k < 3 ? !range_holds(RANGE_POSITION, packed[k]) : !isfinite(packed[k])) {
            return range_check(RANGE_POSITION, packed[k], "pose", 7 * (int64_t)index + k, error);
        }
    }
    double norm = quat_norm(pose.orientation);
    if (!(fabs(norm - 1.0) <= quaternion_norm_slack)) {
        char field[32];
        snprintf(field, sizeof(field), "pose[%u]", 7 * index + 3);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "an orientation must be a unit quaternion; its norm is %g", norm);
    }
    return STATUS_OK;
}

// sizes and densities may each be legal and their product still overflow or vanish
static Status check_mass(const PrimitiveRow *row, const Primitive *primitive, uint32_t index,
                         Error *error) {
    Status status = range_check(RANGE_DENSITY, primitive->density, "density", index, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (row->volume == NULL) {
        return STATUS_OK;
    }
    double mass = primitive->density * row->volume(primitive);
    Sym3 gyration = row->gyration(primitive);
    if (!is_positive(mass) || !is_positive(mass * gyration.xx) ||
        !is_positive(mass * gyration.yy) || !is_positive(mass * gyration.zz)) {
        char field[32];
        snprintf(field, sizeof(field), "density[%u]", index);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "size and density give no mass and inertia that a double can hold");
    }
    return STATUS_OK;
}

static Status check_cells(const Foundation *foundation, uint32_t index, Error *error) {
    char field[64];
    uint64_t cells = (uint64_t)foundation->cells[0] * foundation->cells[1];
    bool is_empty = foundation->cells[0] == 0 || foundation->cells[1] == 0;
    snprintf(field, sizeof(field), "foundation_cells[%llu]", 2ULL * index);
    if (is_empty) {
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "A foundation has at least one cell each way.");
    }
    if (cells > FOUNDATION_CELLS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "A foundation has at most %d cells, not %llu x %llu: give it larger ones.",
                         FOUNDATION_CELLS_MAX, (unsigned long long)foundation->cells[0],
                         (unsigned long long)foundation->cells[1]);
    }
    return STATUS_OK;
}

static Status check_foundation(const Primitive *primitive, uint32_t index, Error *error) {
    const Foundation *of = &primitive->foundation;
    char field[64];
    snprintf(field, sizeof(field), "foundation_face[%u]", index);
    if (of->face == 0) {
        return STATUS_OK;
    }
    if (of->face > FOUNDATION_FACE_COUNT) {
        return error_set(error, STATUS_INVALID_ARGUMENT, field, "There is no face %u of a box.",
                         of->face);
    }
    if (primitive->kind != PRIMITIVE_BOX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "Only a box has faces for a foundation.");
    }
    Status status = check_cells(of, index, error);
    status = STATUS_THEN(status, range_check(RANGE_FOUNDATION_MODULUS, of->modulus,
                                             "foundation_modulus", index, error));
    status = STATUS_THEN(
        status, range_check(RANGE_FOUNDATION_DEPTH, of->depth, "foundation_depth", index, error));
    return STATUS_THEN(status, range_check(RANGE_FOUNDATION_DAMPING, of->damping,
                                           "foundation_damping", index, error));
}

static Status blame_geometry(const Primitive *primitive, const PrimitiveRow *row, uint32_t index,
                             Error *error) {
    char field[32];
    snprintf(field, sizeof(field), "geometry[%u]", index);
    return primitive->geometry == NULL
               ? error_set(error, STATUS_INVALID_ARGUMENT, field,
                           "A primitive of kind %s wears a geometry: name one of this world's.",
                           row->name)
               : error_set(error, STATUS_INVALID_ARGUMENT, field,
                           "A primitive of kind %s wears no geometry, or none of this kind.",
                           row->name);
}

Status primitive_check(const Primitive *primitive, uint32_t index, Error *error) {
    if ((unsigned)primitive->kind >= PRIMITIVE_COUNT) {
        char field[32];
        snprintf(field, sizeof(field), "kind[%u]", index);
        return error_set(error, STATUS_INVALID_ARGUMENT, field, "no such kind of primitive");
    }
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    if (row->geometry != (primitive->geometry == NULL ? 0 : primitive->geometry->kind)) {
        return blame_geometry(primitive, row, index, error);
    }
    for (uint32_t k = 0; k < row->size_count; k++) {
        double size = vec3_get(primitive->size, (int)k);
        Status status =
            range_check((RangeKind)row->size[k].range, size, "size", 3 * (int64_t)index + k, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    Status status = check_pose(primitive->local, index, error);
    status = STATUS_THEN(status, check_mass(row, primitive, index, error));
    return STATUS_THEN(status, check_foundation(primitive, index, error));
}

void primitive_forget_sizes(Primitive *primitive) {
    double size[3];
    vec3_store(size, primitive->size);
    for (uint32_t k = primitive_rows[primitive->kind].size_count; k < 3; k++) {
        size[k] = 0.0;
    }
    primitive->size = vec3_load(size);
}

double foundation_stiffness(const Primitive *box) {
    const Foundation *of = &box->foundation;
    uint32_t axis = (of->face - 1) / 2;
    double area =
        4.0 * vec3_get(box->size, (int)(axis + 1) % 3) * vec3_get(box->size, (int)(axis + 2) % 3);
    return of->modulus * area / (of->depth * ((double)of->cells[0] * (double)of->cells[1]));
}

// Adds the inertia of `mass` at `offset` from the axes' origin: mass (|d|^2 1 - d d^T).
static void add_point_inertia(Sym3 *inertia, double mass, Vec3 offset) {
    Vec3 d = offset;
    inertia->xx += mass * (d.y * d.y + d.z * d.z);
    inertia->yy += mass * (d.x * d.x + d.z * d.z);
    inertia->zz += mass * (d.x * d.x + d.y * d.y);
    inertia->xy -= mass * d.x * d.y;
    inertia->xz -= mass * d.x * d.z;
    inertia->yz -= mass * d.y * d.z;
}

static void add_own_inertia(Sym3 *inertia, double mass, Sym3 gyration, Quat orientation) {
    Sym3 own = {mass * gyration.xx, mass * gyration.yy, mass * gyration.zz,
                mass * gyration.xy, mass * gyration.xz, mass * gyration.yz};
    own = sym3_rotate(quat_to_mat3(orientation), own);
    inertia->xx += own.xx;
    inertia->yy += own.yy;
    inertia->zz += own.zz;
    inertia->xy += own.xy;
    inertia->xz += own.xz;
    inertia->yz += own.yz;
}

static void set_massless(Shape *shape) {
    shape->volume_mass = 0.0;
    shape->center = vec3(0.0, 0.0, 0.0);
    shape->inertia = (Sym3){0};
}

// Mass, centre, and inertia about it: each primitive's own, and as a point where it is (parallel
// axes).
static void weigh(Shape *shape, const Primitive *own) {
    double mass = 0.0;
    Vec3 moment = vec3(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        double m = own[i].density * primitive_rows[own[i].kind].volume(&own[i]);
        mass += m;
        moment = vec3_add_scaled(moment, m, primitive_center(&own[i], own[i].local));
    }
    Vec3 center = vec3_scale(1.0 / mass, moment);
    Sym3 inertia = {0};
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        const PrimitiveRow *row = &primitive_rows[own[i].kind];
        double m = own[i].density * row->volume(&own[i]);
        add_own_inertia(&inertia, m, row->gyration(&own[i]), own[i].local.orientation);
        add_point_inertia(&inertia, m, vec3_sub(primitive_center(&own[i], own[i].local), center));
    }
    shape->volume_mass = mass;
    shape->center = center;
    shape->inertia = inertia;
}

void shape_measure(Shape *shape, const Primitive *primitives) {
    const Primitive *own = primitives + shape->primitive_first;
    ASSERT(shape->primitive_count > 0);
    shape->is_unbounded = shape->is_surface = false;
    shape->radius = 0.0;
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        if (primitive_is_unbounded(own[i].kind)) {
            shape->is_unbounded = true;
            continue;
        }
        shape->is_surface = shape->is_surface || primitive_is_surface(own[i].kind);
        double far_point =
            vec3_norm(own[i].local.position) + primitive_rows[own[i].kind].reach(&own[i]);
        shape->radius = far_point > shape->radius ? far_point : shape->radius;
    }
    shape->radius = shape->is_unbounded ? HUGE_VAL : shape->radius;
    if (shape->is_unbounded || shape->is_surface) {
        set_massless(shape);
    } else {
        weigh(shape, own);
    }
}

double primitive_thickness(const Primitive *primitive) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    return row->thickness == NULL ? HUGE_VAL : row->thickness(primitive);
}

double primitive_length(const Primitive *primitive) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    return row->length == NULL ? HUGE_VAL : row->length(primitive);
}

Vec3 primitive_center(const Primitive *primitive, Pose pose) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    return row->center == NULL ? pose.position : pose_apply(pose, row->center(primitive));
}

double primitive_span(const Primitive *primitive) {
    return primitive->geometry == NULL ? vec3_norm(primitive->size)
                                       : primitive_rows[primitive->kind].reach(primitive);
}

double primitive_face(const Primitive *primitive) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    return row->face == NULL ? HUGE_VAL : row->face(primitive);
}

// A plane's half-space is bounded on one side only, and only where its normal is an axis to the
// last bit; that is the common ground plane, and knowing its top spares the narrow phase everything
// that flies above it.
static void bound_plane(Pose pose, Vec3 *lower, Vec3 *upper) {
    Vec3 n = quat_to_mat3(pose.orientation).c2;
    Vec3 p = pose.position;
    *lower = vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
    *upper = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    if (n.y == 0.0 && n.z == 0.0) {
        *(n.x > 0.0 ? &upper->x : &lower->x) = p.x;
    } else if (n.x == 0.0 && n.z == 0.0) {
        *(n.y > 0.0 ? &upper->y : &lower->y) = p.y;
    } else if (n.x == 0.0 && n.y == 0.0) {
        *(n.z > 0.0 ? &upper->z : &lower->z) = p.z;
    }
}

void primitive_bounds(const Primitive *primitive, Pose pose, Vec3 *lower, Vec3 *upper) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    if (row->bounds != NULL) {
        row->bounds(primitive, quat_to_mat3(pose.orientation), lower, upper);
        *lower = vec3_add(pose.position, *lower);
        *upper = vec3_add(pose.position, *upper);
        return;
    }
    if (row->extent == NULL) {
        bound_plane(pose, lower, upper);
        return;
    }
    const bool turns = primitive->kind != PRIMITIVE_SPHERE; // which most of a large world are
    const Quat turned = turns ? pose.orientation : quat_identity();
    Vec3 extent = row->extent(primitive, quat_to_mat3(turned));
    *lower = vec3_sub(pose.position, extent);
    *upper = vec3_add(pose.position, extent);
}
