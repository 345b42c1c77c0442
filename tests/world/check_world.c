// SPDX-License-Identifier: MIT
// What a world is made of: materials and their combination, ids, names, masses, all-or-nothing
// additions.
#include "world/world.h"

#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 28};

static Material make_material(double friction, double restitution, double stiffness, double tau,
                              double damping) {
    return (Material){.friction = friction,
                      .restitution = restitution,
                      .stiffness = stiffness,
                      .dissipation_time = tau,
                      .damping = damping};
}

START_TEST(two_materials_combine_as_the_protocol_says) {
    Material a = make_material(0.4, 0.1, 1e5, 0.01, 200.0),
             b = make_material(0.9, 0.6, 3e5, 0.03, 600.0);
    Material pair = material_combine(&a, &b, FRICTION_GEOMETRIC),
             swapped = material_combine(&b, &a, FRICTION_GEOMETRIC);
    ck_assert_double_eq_tol(pair.friction, sqrt(0.36), 1e-15);
    ck_assert_double_eq(pair.restitution, 0.6);
    ck_assert_double_eq_tol(pair.stiffness, 1e5 * 3e5 / 4e5, 1e-9);
    ck_assert_double_eq_tol(pair.dissipation_time, (3e5 * 0.01 + 1e5 * 0.03) / 4e5, 1e-15);
    ck_assert_double_eq_tol(pair.damping, 200.0 * 600.0 / 800.0, 1e-12);
    ck_assert_mem_eq(&pair, &swapped, sizeof(pair)); // to the bit
}
END_TEST

START_TEST(a_rigid_side_leaves_the_other_its_compliance) {
    Material rigid = material_default(), soft = make_material(0.5, 0.0, 1e4, 0.02, 50.0);
    Material pair = material_combine(&rigid, &soft, FRICTION_GEOMETRIC);
    ck_assert_double_eq(pair.stiffness, 1e4);
    ck_assert_double_eq(pair.dissipation_time, 0.02);
    ck_assert(isinf(material_combine(&rigid, &rigid, FRICTION_GEOMETRIC).stiffness));
    Material undamped = make_material(0.5, 0.0, 1e4, 0.0, 0.0);
    // of Hertz contacts: the larger exponent of what gives way; a tangent, or a secant ahead
    Material hertz = undamped, stiff = material_default();
    hertz.stiffness = 1e6;
    hertz.damping = 100.0;
    hertz.hertz_exponent = 1.5;
    stiff.hertz_exponent = 2.0; // of nothing
    ck_assert_double_eq(material_combine(&hertz, &stiff, FRICTION_GEOMETRIC).hertz_exponent, 1.5);
    ck_assert_double_eq(material_combine(&stiff, &hertz, FRICTION_GEOMETRIC).stiffness, 1e6);
    MaterialTangent deep = material_tangent(&hertz, -0.01, 0.5),
                    above = material_tangent(&hertz, 0.01, 0.04);
    ck_assert_double_eq_tol(deep.stiffness, 1.5e5, 1e-9);
    ck_assert_double_eq_tol(deep.damping, 15.0, 1e-12);
    ck_assert_double_eq_tol(deep.force, 1e3, 1e-10);
    ck_assert_double_eq_tol(above.stiffness, 2e5, 1e-9);
    ck_assert_double_eq_tol(above.force, -2e3, 1e-10);
    ck_assert_double_eq(material_combine(&undamped, &undamped, FRICTION_GEOMETRIC).damping,
                        0.0); // not 0/0
}
END_TEST

START_TEST(ids_of_a_fresh_world_count_from_one) {
    World *world = world_create(&limits);
    Material materials[2] = {material_default(), material_default()};
    memcpy(materials[0].name, "wood", 5);
    Id ids[2];
    Error error = {0};
    ck_assert_int_eq(world_add_materials(world, materials, 2, ids, &error), STATUS_OK);
    ck_assert_uint_eq(ids[0], 1);
    ck_assert_uint_eq(ids[1], 2);
    ck_assert_int_eq(world_add_materials(world, materials, 1, ids, &error), STATUS_ALREADY_EXISTS);
    ck_assert_ptr_nonnull(strstr(error.message, "wood"));
    const uint32_t kinds[2] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX};
    const double sizes[6] = {0.5, 0, 0, 1, 1, 1};
    ShapeColumns shapes = {.shape_count = 2, .primitive_count = 2, .kind = kinds, .size = sizes};
    ck_assert_int_eq(world_add_shapes(world, &shapes, ids, &error), STATUS_OK);
    ck_assert_uint_eq(ids[1], 2);
    const double poses[14] = {0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 2, 0, 0, 0};
    BodyColumns bodies = {.count = 2, .pose = poses, .shape = ids};
    Id body_ids[2];
    ck_assert_int_eq(world_add_bodies(world, &bodies, body_ids, &error), STATUS_OK);
    ck_assert_uint_eq(body_ids[0], 1);
    ck_assert_uint_eq(body_ids[1], 2);
    ck_assert_double_eq(world->pose[7 + 3], 1.0); // the quaternion came with length 2
    world_destroy(world);
}
END_TEST

// What decides between two bodies by their sizes is not to see what was given beside them.
START_TEST(sizes_that_a_kind_does_not_have_are_forgotten) {
    const uint32_t kind[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_PLANE, PRIMITIVE_CAPSULE};
    const double given[] = {0.1, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.1, 0.5, 9.0},
                 kept[] = {0.1, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.1, 0.5, 0.0};
    const ShapeColumns shapes = {
        .shape_count = 4, .primitive_count = 4, .kind = kind, .size = given};
    World *world = world_create(&(WorldLimits){.body_count_max = 10, .bytes_max = 1 << 20});
    Id ids[4];
    ck_assert_int_eq(world_add_shapes(world, &shapes, ids, NULL), STATUS_OK);
    for (size_t i = 0; i < 4; i++) {
        double size[3];
        vec3_store(size, world->primitive[i].size);
        ck_assert_mem_eq(size, kept + 3 * i, sizeof(size));
    }
    world_destroy(world);
}
END_TEST

START_TEST(mass_and_inertia_come_from_the_shape_or_are_scaled_to_the_mass) {
    World *world = world_create(&limits);
    const uint32_t kinds[1] = {PRIMITIVE_BOX};
    const double sizes[3] = {0.5, 1.0, 1.5}, density[1] = {2.0};
    ShapeColumns shapes = {
        .shape_count = 1, .primitive_count = 1, .kind = kinds, .size = sizes, .density = density};
    Id shape, ids[1];
    Error error = {0};
    ck_assert_int_eq(world_add_shapes(world, &shapes, &shape, &error), STATUS_OK);
    const double pose[7] = {0, 0, 0, 1, 0, 0, 0}, mass[1] = {24.0};
    BodyColumns bodies = {.count = 1, .pose = pose, .shape = &shape};
    ck_assert_int_eq(world_add_bodies(world, &bodies, ids, &error), STATUS_OK);
    bodies.mass = mass;
    ck_assert_int_eq(world_add_bodies(world, &bodies, ids, &error), STATUS_OK);
    // 1 x 2 x 3 m at 2 kg/m^3: 12 kg, Ixx = m (2^2 + 3^2)/12
    ck_assert_double_eq_tol(world->mass[0].mass, 12.0, 1e-14);
    ck_assert_double_eq_tol(world->mass[0].inertia.xx, 13.0, 1e-13);
    ck_assert_double_eq_tol(world->mass[1].inertia.xx, 26.0, 1e-13);
    ck_assert_double_eq_tol(world->mass[1].inverse_inertia.xx, 1.0 / 26.0, 1e-15);
    world_destroy(world);
}
END_TEST

// A ball of 1000 km at 1 kg/m^3 is 4.2e18 kg; at 0.2 it is 8.4e17, with 0.4 m r^2 = 3.4e29 kg m^2,
// and about a point two radii away, as a centre of mass is given, ten times that.
START_TEST(what_follows_from_shapes_is_what_may_be_given) {
    World *world = world_create(&limits);
    const uint32_t kind[2] = {PRIMITIVE_SPHERE, PRIMITIVE_SPHERE};
    const double size[6] = {1e6, 0, 0, 1e6, 0, 0}, density[2] = {1.0, 0.2};
    const ShapeColumns shapes = {
        .shape_count = 2, .primitive_count = 2, .kind = kind, .size = size, .density = density};
    Id shape[2], id;
    Error error = {0};
    ck_assert_int_eq(world_add_shapes(world, &shapes, shape, &error), STATUS_OK);
    const double pose[7] = {0, 0, 0, 1, 0, 0, 0}, aside[3] = {2e6, 0, 0}, mass[1] = {1e18};
    BodyColumns bodies = {.count = 1, .pose = pose, .shape = &shape[0]};
    ck_assert_int_eq(world_add_bodies(world, &bodies, &id, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "mass[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "1e18"));
    bodies.shape = &shape[1];
    bodies.center_of_mass = aside;
    ck_assert_int_eq(world_add_bodies(world, &bodies, &id, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inertia[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "1e30"));
    ck_assert_uint_eq(world->body_count, 0);
    bodies.center_of_mass = NULL;
    ck_assert_int_eq(world_add_bodies(world, &bodies, &id, &error), STATUS_OK);
    // so much that a mass may be, and the inertia with it: 4e29
    BodyUpdate update = {.count = 1, .id = &id, .mass = mass};
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_OK);
    ck_assert_double_eq_tol(world->mass[0].inertia.xx, 4e29, 1e16);
    // an inertia of that ball with a millionth of its mass, and the mass alone brought back
    const double light[1] = {1e12}, round[6] = {4e29, 4e29, 4e29, 0, 0, 0};
    update.mass = light;
    update.inertia = round;
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_OK);
    update.mass = mass;
    update.inertia = NULL;
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inertia[0]");
    ck_assert_double_eq(world->mass[0].mass, 1e12);
    world_destroy(world);
}
END_TEST

START_TEST(the_origin_of_a_body_is_told_though_its_centre_is_kept) {
    World *world = world_create(&limits);
    const double pose[7] = {1, 2, 3, 0.5, 0.5, 0.5, 0.5}, center[3] = {0.1, 0.2, -0.3};
    const double mass[1] = {1.0}, inertia[6] = {1, 1, 1, 0, 0, 0};
    BodyColumns bodies = {
        .count = 1, .pose = pose, .mass = mass, .inertia = inertia, .center_of_mass = center};
    Id id;
    Error error = {0};
    ck_assert_int_eq(world_add_bodies(world, &bodies, &id, &error), STATUS_OK);
    // this turn takes x to y, y to z, z to x
    ck_assert_double_eq_tol(world->pose[0], 1.0 - 0.3, 1e-15);
    ck_assert_double_eq_tol(world->pose[1], 2.0 + 0.1, 1e-15);
    ck_assert_double_eq_tol(world->pose[2], 3.0 + 0.2, 1e-15);
    double told[7];
    world_body_pose(world, 0, told);
    for (int i = 0; i < 7; i++) {
        ck_assert_double_eq_tol(told[i], pose[i], 1e-15);
    }
    world_destroy(world);
}
END_TEST

START_TEST(bodies_are_added_all_or_none) {
    World *world = world_create(&limits);
    const double poses[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const double mass[2] = {1, 1}, inertia[12] = {1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    BodyColumns bodies = {.count = 2, .pose = poses, .mass = mass, .inertia = inertia};
    Id ids[2];
    Error error = {0};
    ck_assert_int_eq(world_add_bodies(world, &bodies, ids, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "pose[10]");
    ck_assert_uint_eq(world->body_count, 0);
    ck_assert_uint_eq(world->body_id_next, 1);
    world_destroy(world);
}
END_TEST

START_TEST(moving_a_body_forgets_its_impulses_alone) {
    World *world = world_create(&limits);
    double poses[21] = {0};
    const double mass[3] = {1, 1, 1};
    double inertia[18] = {0};
    for (size_t i = 0; i < 3; i++) {
        poses[7 * i + 3] = 1.0;
        inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1.0;
    }
    BodyColumns bodies = {.count = 3, .pose = poses, .mass = mass, .inertia = inertia};
    Id ids[3];
    Error error = {0};
    ck_assert_int_eq(world_add_bodies(world, &bodies, ids, &error), STATUS_OK);
    world->memory = calloc(2, sizeof(ContactMemory));
    world->memory_capacity = world->memory_count = 2;
    world->memory[0] = (ContactMemory){.a = 0, .b = 1, .impulse = {1, 0, 0}};
    world->memory[1] = (ContactMemory){.a = 1, .b = 2, .impulse = {2, 0, 0}};
    const uint64_t moved[1] = {ids[0]};
    BodyUpdate update = {.count = 1, .id = moved, .pose = poses};
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_OK);
    ck_assert_uint_eq(world->memory_count, 1);
    ck_assert_double_eq(world->memory[0].impulse[0], 2.0);
    world_destroy(world);
}
END_TEST

enum { MANY = 7 };

// MANY bodies, body i at x = i with mass i + 1 and name "i"; 5 is static, the centre of 6 is moved.
static World *make_many(void) {
    static const char *const names[MANY] = {"0", "1", "2", "3", "4", "5", "6"};
    World *world = world_create(&limits);
    double poses[7 * MANY] = {0}, mass[MANY], inertia[6 * MANY] = {0}, center[3 * MANY] = {0};
    uint32_t kinds[MANY] = {0};
    for (size_t i = 0; i < MANY; i++) {
        poses[7 * i] = (double)i;
        poses[7 * i + 3] = 1.0;
        mass[i] = (double)i + 1.0;
        inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1.0;
    }
    kinds[5] = BODY_STATIC;
    center[3 * 6] = 0.5;
    BodyColumns bodies = {.count = MANY,
                          .pose = poses,
                          .kind = kinds,
                          .mass = mass,
                          .inertia = inertia,
                          .center_of_mass = center,
                          .name = names};
    Id ids[MANY];
    Error error = {0};
    ck_assert_msg(world_add_bodies(world, &bodies, ids, &error) == STATUS_OK, "%s", error.message);
    return world;
}

// Body `index` is what was added as number `origin`.
static void expect_body(const World *world, uint32_t index, uint32_t origin) {
    char name[16];
    snprintf(name, sizeof(name), "%u", origin);
    ck_assert_uint_eq(world->body_id[index], origin + 1);
    ck_assert_str_eq(world->body_name[index], name);
    ck_assert_uint_eq(world->kind[index], origin == 5 ? BODY_STATIC : BODY_DYNAMIC);
    ck_assert_double_eq(world->mass[index].mass, origin == 5 ? 0.0 : origin + 1.0);
    ck_assert_double_eq(world->pose[7 * (size_t)index], origin == 6 ? 6.5 : origin);
    uint32_t found;
    ck_assert(world_find_body(world, origin + 1, &found));
    ck_assert_uint_eq(found, index);
}

START_TEST(bodies_that_stay_keep_ids_columns_and_order) {
    for (uint32_t chosen = 0; chosen < 1u << MANY; chosen++) {
        World *world = make_many();
        uint32_t gone[MANY], count = 0, dynamic = 0, index = 0;
        for (uint32_t i = 0; i < MANY; i++) {
            if (chosen >> i & 1) {
                gone[count++] = i;
            }
        }
        world_remove_bodies(world, gone, count);
        ck_assert_uint_eq(world->body_count, MANY - count);
        ck_assert_uint_eq(world_removed_count(world), count);
        for (uint32_t i = 0; i < MANY; i++) {
            uint32_t found;
            if (chosen >> i & 1) {
                ck_assert(!world_find_body(world, i + 1, &found));
            } else {
                expect_body(world, index++, i);
                dynamic += i != 5;
            }
        }
        ck_assert_uint_eq(world->dynamic_count, dynamic);
        ck_assert(world->has_center == !(chosen >> 6 & 1));
        world_destroy(world);
    }
}
END_TEST

START_TEST(an_id_is_never_given_again) {
    World *world = make_many();
    world_remove_bodies(world, (const uint32_t[]){0, 6}, 2);
    const double pose[7] = {0, 0, 0, 1}, mass = 1.0, inertia[6] = {1, 1, 1};
    BodyColumns body = {.count = 1, .pose = pose, .mass = &mass, .inertia = inertia};
    Id id;
    Error error = {0};
    ck_assert_int_eq(world_add_bodies(world, &body, &id, &error), STATUS_OK);
    ck_assert_uint_eq(id, MANY + 1);
    uint32_t found;
    ck_assert(world_find_body(world, id, &found));
    ck_assert_uint_eq(found, MANY - 2);
    const Id nobodys[] = {0, 1, 7, MANY + 2, (Id)1 << 32 | 2, UINT64_MAX};
    for (size_t i = 0; i < sizeof(nobodys) / sizeof(nobodys[0]); i++) {
        ck_assert(!world_find_body(world, nobodys[i], &found));
    }
    world_destroy(world);
}
END_TEST

START_TEST(a_body_that_is_gone_is_named_as_such) {
    World *world = make_many();
    world_remove_bodies(world, (const uint32_t[]){3}, 1);
    const uint64_t gone = 4, never = 44;
    const double pose[7] = {0, 0, 0, 1};
    Error error = {0};
    BodyUpdate update = {.count = 1, .id = &gone, .pose = pose};
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_NOT_FOUND);
    ck_assert_str_eq(error.field, "ids[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "Body 4 is gone"));
    update.id = &never;
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "No body has the id 44"));
    world_destroy(world);
}
END_TEST

START_TEST(impulses_between_those_that_stay_are_remembered) {
    World *world = make_many();
    static const uint32_t pairs[][2] = {{0, 1}, {0, 6}, {1, 2}, {1, 4}, {3, 4}, {4, 6}};
    enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };
    world->memory = calloc(PAIRS, sizeof(ContactMemory));
    world->memory_capacity = world->memory_count = PAIRS;
    for (uint32_t i = 0; i < PAIRS; i++) {
        world->memory[i] = (ContactMemory){
            .a = pairs[i][0], .b = pairs[i][1], .feature = i, .impulse = {i + 1.0, 0, 0}};
    }
    world_remove_bodies(world, (const uint32_t[]){2, 3}, 2);
    static const ContactMemory left[] = {{.a = 0, .b = 1, .feature = 0, .impulse = {1, 0, 0}},
                                         {.a = 0, .b = 4, .feature = 1, .impulse = {2, 0, 0}},
                                         {.a = 1, .b = 2, .feature = 3, .impulse = {4, 0, 0}},
                                         {.a = 2, .b = 4, .feature = 5, .impulse = {6, 0, 0}}};
    ck_assert_uint_eq(world->memory_count, 4);
    ck_assert_mem_eq(world->memory, left, sizeof(left));
    world_destroy(world);
}
END_TEST

START_TEST(bounds_that_hold_nothing_are_refused) {
    WorldSettings settings = settings_default();
    settings.has_bounds = true;
    settings.bounds_lower = vec3(-1.0, -1.0, -1.0);
    settings.bounds_upper = vec3(1.0, 1.0, 1.0);
    Error error = {0};
    ck_assert_int_eq(settings_check(&settings, &error), STATUS_OK);
    static const double bad[] = {-1.0, -2.0, NAN, INFINITY, -INFINITY, 2e9};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        WorldSettings wrong = settings;
        wrong.bounds_upper.y = bad[i];
        ck_assert_int_eq(settings_check(&wrong, &error), STATUS_INVALID_ARGUMENT);
        ck_assert_str_eq(error.field, "settings.bounds.upper[1]");
    }
    settings.bounds_lower.z = NAN;
    ck_assert_int_eq(settings_check(&settings, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "settings.bounds.lower[2]");
}
END_TEST

// Two worlds that differ in names alone: in memory, too, by their letters and their ends.
START_TEST(names_are_part_of_what_a_world_holds) {
    World *world[2];
    const char *const of_bodies[2] = {"four", NULL}, *const of_joints[1] = {"sixsix"};
    const double pose[14] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, mass[2] = {1, 1},
                 inertia[12] = {1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    for (int i = 0; i < 2; i++) {
        world[i] = world_create(&limits);
        BodyColumns bodies = {.count = 2, .pose = pose, .mass = mass, .inertia = inertia};
        JointColumns joint = {
            .count = 1, .kind = (const uint32_t[]){JOINT_FIXED}, .body_b = (const uint64_t[]){1}};
        bodies.name = i == 1 ? of_bodies : NULL;
        joint.name = i == 1 ? of_joints : NULL;
        Id id[2];
        ck_assert_int_eq(world_add_bodies(world[i], &bodies, id, NULL), STATUS_OK);
        ck_assert_int_eq(world_add_joints(world[i], &joint, id, NULL), STATUS_OK);
    }
    ck_assert_uint_eq(world_bytes(world[1]), world_bytes(world[0]) + 5 + 7);
    for (int i = 0; i < 2; i++) {
        world_remove_bodies(world[i], (const uint32_t[]){0}, 1);
    }
    ck_assert_uint_eq(world_bytes(world[1]), world_bytes(world[0]));
    world_destroy(world[0]);
    world_destroy(world[1]);
}
END_TEST

static TCase *case_world(void) {
    TCase *tcase = tcase_create("world");
    tcase_add_test(tcase, two_materials_combine_as_the_protocol_says);
    tcase_add_test(tcase, a_rigid_side_leaves_the_other_its_compliance);
    tcase_add_test(tcase, ids_of_a_fresh_world_count_from_one);
    tcase_add_test(tcase, sizes_that_a_kind_does_not_have_are_forgotten);
    tcase_add_test(tcase, mass_and_inertia_come_from_the_shape_or_are_scaled_to_the_mass);
    tcase_add_test(tcase, what_follows_from_shapes_is_what_may_be_given);
    tcase_add_test(tcase, the_origin_of_a_body_is_told_though_its_centre_is_kept);
    tcase_add_test(tcase, bodies_are_added_all_or_none);
    tcase_add_test(tcase, moving_a_body_forgets_its_impulses_alone);
    tcase_add_test(tcase, bodies_that_stay_keep_ids_columns_and_order);
    tcase_add_test(tcase, an_id_is_never_given_again);
    tcase_add_test(tcase, a_body_that_is_gone_is_named_as_such);
    tcase_add_test(tcase, impulses_between_those_that_stay_are_remembered);
    tcase_add_test(tcase, bounds_that_hold_nothing_are_refused);
    tcase_add_test(tcase, names_are_part_of_what_a_world_holds);
    return tcase;
}

SUITE_MAIN("world/world", case_world)
