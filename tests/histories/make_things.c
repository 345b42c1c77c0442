// SPDX-License-Identifier: MIT
// Materials, shapes and bodies.
#include "histories/make_pieces.h"
#include "histories/make_sunken.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MATERIALS_MAX = 12, SHAPES_MAX = 16, CROWD = 40, PARTS_MAX = 3 };

Input make_materials(Make *make) {
    const uint32_t count = make->world->material_count > MATERIALS_MAX ? 1 : 1 + make_roll(make, 3);
    Material *made = make_column(make, count, sizeof(*made));
    for (uint32_t i = 0; i < count; i++) {
        made[i] = material_default();
        if (make_chance(make, 40)) {
            snprintf(made[i].name, sizeof(made[i].name), "m%u", make_roll(make, 40));
        }
        made[i].friction = make_chance(make, 20) ? 0.0 : make_number(make, 0.05, 2.0, 1e-9, 1e6);
        made[i].restitution = make_chance(make, 60) ? 0.0 : make_uniform(make, 0.0, 1.0);
        if (make_chance(make, 40)) {
            made[i].stiffness = make_number(make, 1e2, 1e7, 1e-6, 1e18);
            made[i].dissipation_time = make_chance(make, 50) ? 0.0 : make_magnitude(make, 1e-4, .1);
            made[i].damping = make_chance(make, 50) ? 0.0 : make_magnitude(make, 0.1, 1e3);
            made[i].hertz_exponent = make_chance(make, 80) ? 1.0 : 1.5;
        }
        uint64_t bits; // so that no other dice fall otherwise
        memcpy(&bits, &made[i].friction, sizeof(bits));
        made[i].priority = bits % 5 == 0 ? (double)(bits / 5 % 5) - 2.0 : 0.0;
    }
    return (Input){.kind = INPUT_MATERIALS, .materials = {.count = count, .material = made}};
}

// ---- shapes

static void put_size(Make *make, PrimitiveKind kind, double *size) {
    for (int k = 0; k < 3; k++) {
        size[k] = make_chance(make, 50) ? 0.1 : make_number(make, 0.03, 0.4, 1e-5, 1e4);
    }
    if (primitive_rows[kind].size_count == 0) {
        size[0] = size[1] = size[2] = 0.0;
    }
}

static void put_local(Make *make, bool is_alone, double *pose) {
    Pose local = {.orientation = quat_identity()};
    if (!is_alone || make_chance(make, 10)) {
        const double reach = make_chance(make, 20) ? 0.0 : 0.15;
        local.position = vec3(make_uniform(make, -reach, reach), make_uniform(make, -reach, reach),
                              make_uniform(make, -reach, reach));
        local.orientation = make_turn(make);
    }
    pose_store(pose, local);
}

static void put_foundations(Make *make, ShapeColumns *shapes) {
    const size_t count = shapes->primitive_count;
    uint32_t *face = make_column(make, count, sizeof(*face));
    uint32_t *cells = make_column(make, count, 2 * sizeof(*cells));
    double *modulus = make_column(make, count, sizeof(double));
    double *depth = make_column(make, count, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        if (shapes->kind[i] == PRIMITIVE_BOX) {
            face[i] = 1 + make_roll(make, FOUNDATION_FACE_COUNT);
            cells[2 * i] = 1 + make_roll(make, 4);
            cells[2 * i + 1] = 1 + make_roll(make, 4);
            modulus[i] = make_magnitude(make, 1e4, 1e8);
            depth[i] = make_magnitude(make, 1e-3, 0.1);
        }
    }
    shapes->foundation_face = face;
    shapes->foundation_cells = cells;
    shapes->foundation_modulus = modulus;
    shapes->foundation_depth = depth;
}

static void put_groups(Make *make, ShapeColumns *shapes) {
    uint32_t *group = make_column(make, shapes->primitive_count, sizeof(*group));
    uint32_t *mask = make_column(make, shapes->primitive_count, sizeof(*mask));
    for (size_t i = 0; i < shapes->primitive_count; i++) {
        group[i] = 1 + make_roll(make, 3);
        mask[i] = make_chance(make, 50) ? UINT32_MAX : make_roll(make, 4);
    }
    shapes->group = group;
    shapes->mask = mask;
}

// Of surfaces; now and then of others, which is refused.
static void put_patches(Make *make, ShapeColumns *shapes) {
    enum { OTHERS = MESH_PATCHES_MAX - 1 };
    uint64_t *material = make_column(make, OTHERS * shapes->primitive_count, sizeof(*material));
    for (size_t i = 0; i < OTHERS * shapes->primitive_count; i++) {
        const bool has_patches =
            primitive_is_surface((PrimitiveKind)shapes->kind[i / OTHERS]) || make_chance(make, 1);
        material[i] = has_patches ? make_roll(make, (uint32_t)make->world->material_count) : 0;
    }
    shapes->patch_material = material;
}

static bool has_surface(const ShapeColumns *shapes) {
    bool has_surface = false;
    for (size_t i = 0; i < shapes->primitive_count; i++) {
        has_surface = has_surface || primitive_is_surface((PrimitiveKind)shapes->kind[i]);
    }
    return has_surface;
}

static void put_optional(Make *make, ShapeColumns *shapes) {
    if (make_chance(make, 60)) {
        uint64_t *material = make_column(make, shapes->primitive_count, sizeof(*material));
        for (size_t i = 0; i < shapes->primitive_count; i++) {
            material[i] = make_roll(make, (uint32_t)make->world->material_count);
        }
        shapes->material = material;
    }
    if (make_chance(make, 40)) {
        double *density = make_column(make, shapes->primitive_count, sizeof(*density));
        for (size_t i = 0; i < shapes->primitive_count; i++) {
            density[i] = make_number(make, 100.0, 1e4, 1e-6, 1e12);
        }
        shapes->density = density;
    }
    if (make_chance(make, 8)) {
        put_foundations(make, shapes);
    }
    if (make_chance(make, 12)) {
        put_groups(make, shapes);
    }
    if (has_surface(shapes) && make_chance(make, 40)) {
        put_patches(make, shapes);
    }
}

// What primitives of a kind may wear, 1 + its index; 0: there is none. Now and then anything.
static uint64_t any_worn(Make *make, bool is_hull) {
    const World *world = make->world;
    const uint32_t there = (uint32_t)world->geometry_count;
    for (uint32_t tries = 0; tries < 4 && there > 0; tries++) {
        const uint32_t at = make_roll(make, there);
        if ((world->geometry[at].geometry->kind == GEOMETRY_HULL) == is_hull ||
            make_chance(make, 1)) {
            return 1 + at;
        }
    }
    return 0;
}

// A hull where the world has one to wear.
static uint32_t any_solid(Make *make, uint64_t *geometry) {
    static const PrimitiveKind solid[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_BOX,
                                          PRIMITIVE_CAPSULE, PRIMITIVE_CYLINDER};
    *geometry = make_chance(make, 30) ? any_worn(make, true) : 0;
    return (uint32_t)(*geometry != 0 ? PRIMITIVE_HULL : solid[make_roll(make, 5)]);
}

// A plane, or, where the world has one, a surface.
static uint32_t any_ground(Make *make, uint64_t *geometry) {
    *geometry = make_chance(make, 70) ? any_worn(make, false) : 0;
    if (*geometry == 0) {
        return PRIMITIVE_PLANE;
    }
    const GeometryKind kind = make->world->geometry[*geometry - 1].geometry->kind;
    return kind == GEOMETRY_HEIGHT_FIELD ? PRIMITIVE_HEIGHT_FIELD : PRIMITIVE_MESH;
}

// A box, a hull or a surface.
static uint32_t any_tile(Make *make, uint64_t *geometry) {
    *geometry = 0;
    const uint32_t how = make_roll(make, 3);
    if (how == 1) {
        *geometry = any_worn(make, true);
        return (uint32_t)(*geometry != 0 ? PRIMITIVE_HULL : PRIMITIVE_BOX);
    }
    const uint32_t ground = how == 2 ? any_ground(make, geometry) : PRIMITIVE_PLANE;
    return (uint32_t)(ground == PRIMITIVE_PLANE ? PRIMITIVE_BOX : ground);
}

Input make_shapes(Make *make) {
    const uint32_t count = make->world->shape_count > SHAPES_MAX ? 1 : 1 + make_roll(make, 4);
    uint32_t *parts = make_column(make, count, sizeof(*parts));
    bool *is_joined = make_column(make, count, sizeof(*is_joined));
    uint32_t *kind = make_column(make, PARTS_MAX * count, sizeof(*kind));
    double *size = make_column(make, PARTS_MAX * count, 3 * sizeof(*size));
    double *pose = make_column(make, PARTS_MAX * count, 7 * sizeof(*pose));
    uint64_t *geometry = make_column(make, PARTS_MAX * count, sizeof(*geometry));
    bool has_geometries = false;
    const bool has_ground = make->world->shape_count > 0;
    size_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_ground = i == 0 && make_chance(make, has_ground ? 20 : 80);
        parts[i] = make_chance(make, is_ground ? 90 : 75) ? 1 : 1 + make_roll(make, PARTS_MAX);
        is_joined[i] = make->scale.is_paved && make_chance(make, 40);
        parts[i] = is_joined[i] ? 1 + make_roll(make, PARTS_MAX) : parts[i];
        for (uint32_t k = 0; k < parts[i]; k++, made++) {
            kind[made] = is_ground && (k == 0 || make_chance(make, 50))
                             ? any_ground(make, &geometry[made])
                             : any_solid(make, &geometry[made]);
            if (is_joined[i]) {
                kind[made] = any_tile(make, &geometry[made]);
            }
            has_geometries = has_geometries || geometry[made] != 0;
            put_size(make, (PrimitiveKind)kind[made], size + 3 * made);
            if (is_joined[i] && kind[made] == PRIMITIVE_BOX) {
                vec3_store(size + 3 * made, pieces_half(make));
            }
            put_local(make, parts[i] == 1, pose + 7 * made);
        }
    }
    ShapeColumns shapes = {.shape_count = count,
                           .primitive_count = made,
                           .primitives_of_shape = made == count ? NULL : parts,
                           .kind = kind,
                           .size = size,
                           .pose = pose,
                           .geometry = has_geometries || make_chance(make, 10) ? geometry : NULL};
    for (size_t i = 0, first = 0; i < count; first += parts[i++]) {
        if (is_joined[i]) {
            pieces_join(make, &shapes, first, parts[i], pose);
        }
    }
    put_optional(make, &shapes);
    return (Input){.kind = INPUT_SHAPES, .shapes = shapes};
}

// ---- bodies

void make_inertia(Make *make, double size, double mass, double *inertia) {
    // of a cuboid with these squares of its sides, so that it can be so
    const double x = size * size * make_magnitude(make, 0.1, 10.0), y = size * size,
                 z = size * size * make_magnitude(make, 0.1, 10.0);
    const Mat3 turn = quat_to_mat3(make_turn(make));
    const double moment[3] = {mass * (y + z) / 3.0, mass * (x + z) / 3.0, mass * (x + y) / 3.0};
    const Vec3 axis[3] = {turn.c0, turn.c1, turn.c2};
    memset(inertia, 0, 6 * sizeof(*inertia));
    for (int k = 0; k < 3; k++) {
        const Vec3 a = axis[k];
        const double entry[6] = {a.x * a.x, a.y * a.y, a.z * a.z, a.x * a.y, a.x * a.z, a.y * a.z};
        for (int i = 0; i < 6; i++) {
            inertia[i] += moment[k] * entry[i];
        }
    }
}

// Beside, upon or in what is there.
static void put_pose(Make *make, double *pose) {
    const World *world = make->world;
    Vec3 at = vec3(make_uniform(make, -0.6, 0.6), make_uniform(make, -0.6, 0.6),
                   make_uniform(make, 0.0, 1.2));
    if (world->body_count > 0 && make_chance(make, 45)) {
        const uint32_t near = make_roll(make, world->body_count);
        at = vec3_add(vec3_load(world->pose + 7 * (size_t)near),
                      vec3(0.0, 0.0, make_chance(make, 60) ? 0.2 : make_uniform(make, -0.3, 0.3)));
    } else if (make_chance(make, 30)) {
        at = vec3(0.2 * make_roll(make, 4), 0.2 * make_roll(make, 3),
                  0.1 + 0.2 * make_roll(make, 4));
    }
    if (make->mood == MOOD_WILD && make_chance(make, 5)) {
        at = vec3_scale(make_magnitude(make, 1e-6, 1e8), at);
    }
    pose_store(pose, (Pose){.position = at, .orientation = make_turn(make)});
}

static bool is_solid(const Make *make, uint64_t shape) {
    uint32_t index;
    return shape != 0 && world_find_shape(make->world, shape, &index) &&
           !make->world->shape[index].is_unbounded && !make->world->shape[index].is_surface;
}

// A surface may be carried about.
static bool may_move(const Make *make, uint64_t shape) {
    uint32_t index;
    return world_find_shape(make->world, shape, &index) && !make->world->shape[index].is_unbounded;
}

static uint64_t any_shape(Make *make) {
    const World *world = make->world;
    return world->shape_count == 0 || make_chance(make, 10)
               ? 0
               : world->shape[make_roll(make, (uint32_t)world->shape_count)].id;
}

static uint32_t how_many_bodies(Make *make) {
    const uint32_t there = make->world->body_count, most = make->scale.bodies_max;
    if (make_chance(make, 4) && there < most && most > CROWD / 4) {
        return CROWD;
    }
    if (there >= most) {
        return 1;
    }
    const uint32_t count = 1 + make_roll(make, make_chance(make, 15) ? most : 4);
    return count < most - there ? count : most - there;
}

// Masses of all, where some have no solid shape to have one from, or anyhow.
static void put_masses(Make *make, BodyColumns *bodies, bool all_solid) {
    if (all_solid && make_chance(make, 70)) {
        return;
    }
    double *mass = make_column(make, bodies->count, sizeof(*mass));
    double *inertia = make_column(make, bodies->count, 6 * sizeof(*inertia));
    for (uint32_t i = 0; i < bodies->count; i++) {
        mass[i] = make_number(make, 0.1, 20.0, 1e-12, 1e15);
        make_inertia(make, 0.1, mass[i], inertia + 6 * (size_t)i);
    }
    bodies->mass = mass;
    if (!all_solid || make_chance(make, 50)) {
        bodies->inertia = inertia;
    }
}

static void put_body_options(Make *make, BodyColumns *bodies) {
    if (make_chance(make, 40)) {
        double *velocity = make_column(make, bodies->count, 6 * sizeof(*velocity));
        const double size = make_number(make, 0.01, 5.0, 1e-9, 1e6);
        for (uint32_t i = 0; i < 6 * bodies->count; i++) {
            velocity[i] = make_chance(make, 30) ? 0.0 : make_uniform(make, -size, size);
        }
        bodies->velocity = velocity;
    }
    if (make_chance(make, 15)) {
        double *center = make_column(make, bodies->count, 3 * sizeof(*center));
        for (uint32_t i = 0; i < 3 * bodies->count; i++) {
            center[i] = make_uniform(make, -0.1, 0.1);
        }
        bodies->center_of_mass = center;
    }
    if (make_chance(make, 8)) {
        const char **name = make_column(make, bodies->count, sizeof(*name));
        char *text = make_column(make, bodies->count, 8);
        for (uint32_t i = 0; i < bodies->count; i++) {
            snprintf(text + 8 * (size_t)i, 8, "b%u", make_roll(make, 1000));
            name[i] = make_chance(make, 30) ? NULL : text + 8 * (size_t)i;
        }
        bodies->name = name;
    }
}

// A piece of the ground beside the others, or something on them.
static void put_paved(Make *make, Pieces *pieces, uint64_t shape, uint32_t *kind, double *packed) {
    Pose pose = pose_load(packed);
    if (shape == 0 || !may_move(make, shape)) {
        return;
    }
    if (*kind != BODY_DYNAMIC || make_chance(make, 30)) {
        *kind = make_chance(make, 65) ? BODY_STATIC : BODY_KINEMATIC;
        if (!pieces_beside(make, pieces, shape, &pose) && make_chance(make, 80)) {
            pose.orientation = quat_identity();
        }
        pieces_add(pieces, make->world, shape, pose);
    } else if (make_chance(make, 70)) {
        pieces_upon(make, pieces, shape, &pose);
    }
    pose_store(packed, pose);
}

Input make_bodies(Make *make) {
    const uint32_t count = how_many_bodies(make);
    double *pose = make_column(make, count, 7 * sizeof(*pose));
    uint32_t *kind = make_column(make, count, sizeof(*kind));
    uint64_t *shape = make_column(make, count, sizeof(*shape));
    bool all_solid = true;
    Pieces *pieces = make->scale.is_paved ? pieces_of_world(make) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rolled = make_roll(make, 100);
        put_pose(make, pose + 7 * (size_t)i);
        shape[i] = any_shape(make);
        kind[i] = rolled < 80 ? BODY_DYNAMIC : rolled < 90 ? BODY_KINEMATIC : BODY_STATIC;
        if (shape[i] != 0 && !is_solid(make, shape[i]) &&
            !make_chance(make, 1)) { // mostly a ground
            kind[i] =
                may_move(make, shape[i]) && make_chance(make, 30) ? BODY_KINEMATIC : BODY_STATIC;
            if (make_chance(make, 80)) {
                pose_store(pose + 7 * (size_t)i, (Pose){.orientation = quat_identity()});
            }
        }
        Pose sunken;
        if (make->scale.is_sunken && kind[i] == BODY_DYNAMIC &&
            make_sunken_pose(make, shape[i], &sunken)) {
            pose_store(pose + 7 * (size_t)i, sunken);
        } else if (pieces != NULL) {
            put_paved(make, pieces, shape[i], &kind[i], pose + 7 * (size_t)i);
        }
        all_solid = all_solid && (kind[i] != BODY_DYNAMIC || is_solid(make, shape[i]));
    }
    BodyColumns bodies = {.count = count, .pose = pose, .kind = kind, .shape = shape};
    put_masses(make, &bodies, all_solid);
    put_body_options(make, &bodies);
    if (pieces != NULL && make_chance(make, 60)) {
        pieces_slide(make, pieces, &bodies);
    }
    return (Input){.kind = INPUT_BODIES, .bodies = bodies};
}
