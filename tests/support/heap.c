// SPDX-License-Identifier: MIT
#include "support/heap.h"

#include <check.h>

// One number after the other: the order in which a call's arguments are computed is the compiler's.
static Quat random_turn(uint64_t *seed) {
    double w = lab_random(seed, 0.1, 1.0), x = lab_random(seed, -1.0, 1.0);
    double y = lab_random(seed, -1.0, 1.0), z = lab_random(seed, -1.0, 1.0);
    return quat_normalize((Quat){w, x, y, z});
}

// A box and a ball at its end: the centre of mass is neither's.
static Id hammer_shape(Lab *lab, Id material) {
    const uint32_t count = 2, kinds[2] = {PRIMITIVE_BOX, PRIMITIVE_SPHERE};
    const double sizes[6] = {0.12, 0.03, 0.03, 0.06, 0.0, 0.0};
    const double poses[14] = {0.0,  0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
                              0.13, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    const uint64_t materials[2] = {material, 0};
    const double densities[2] = {600.0, 3000.0};
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = 2,
                            .primitives_of_shape = &count,
                            .kind = kinds,
                            .size = sizes,
                            .pose = poses,
                            .material = materials,
                            .density = densities};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab->world, &columns, &id, &error) == STATUS_OK, "%s",
                  error.message);
    return id;
}

Lab heap_create(uint64_t seed, int body_count) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab.world->settings.margin = settings_default().margin;
    Id wood = lab_material(&lab, 0.5, 0.0), rubber = lab_material(&lab, 0.9, 0.4);
    lab_ground(&lab, wood);
    double push[6] = {0.05, 0.0, 0.0, 0.0, 0.0, 0.1};
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.05, 1.0, 0.5), wood), BODY_KINEMATIC,
             (Pose){.position = vec3(-0.6, 0.0, 0.5), .orientation = quat_identity()}, push, 0.0,
             NULL);
    Id shapes[4] = {lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.08, 0.0, 0.0), rubber),
                    lab_shape(&lab, PRIMITIVE_BOX, vec3(0.07, 0.09, 0.06), wood),
                    hammer_shape(&lab, rubber),
                    lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.05, 0.0, 0.0), wood)};
    for (int i = 0; i < body_count; i++) {
        double x = lab_random(&seed, -0.4, 0.4), y = lab_random(&seed, -0.4, 0.4);
        Pose pose = {.position = vec3(x, y, 0.2 + 0.08 * i), .orientation = random_turn(&seed)};
        double velocity[6];
        for (int k = 0; k < 6; k++) {
            velocity[k] = lab_random(&seed, -0.5, 0.5);
        }
        lab_body(&lab, shapes[i % 4], BODY_DYNAMIC, pose, velocity, 0.0, NULL);
    }
    return lab;
}
