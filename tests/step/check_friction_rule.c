// SPDX-License-Identifier: MIT
// What friction two materials have: by the world's rule, by priority, or as a pair of their own. A
// box slides down no slope, but on a plane that stands askew under gravity at right angles to it:
// Coulomb takes mu g h of its speed in every step.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/world_valid.h"

#include <math.h>
#include <string.h>

#define GRAVITY   9.81
#define TIME_STEP 0.005
#define OF_GROUND 0.2
#define OF_BOX    0.8
#define SPEED     4.0
enum { STEPS = 40 };

static const Quat askew = {.w = 0.5, .x = 0.1, .y = -0.7, .z = 0.5};

typedef struct Case {
    FrictionRule rule;
    double priority_of_ground, priority_of_box;
    double pair; // < 0: none
    double friction;
} Case;

static const Case pairings[] = {
    {FRICTION_GEOMETRIC, 0, 0, -1.0, 0.4}, // sqrt(0.2 0.8)
    {FRICTION_MAXIMUM, 0, 0, -1.0, 0.8},   {FRICTION_MINIMUM, 0, 0, -1.0, 0.2},
    {FRICTION_PRODUCT, 0, 0, -1.0, 0.16},  {FRICTION_GEOMETRIC, 1, 0, -1.0, 0.2},
    {FRICTION_MINIMUM, -3, -2, -1.0, 0.8}, {FRICTION_MAXIMUM, 7, 7, -1.0, 0.8},
    {FRICTION_PRODUCT, 0, 0, 0.55, 0.55},  {FRICTION_MAXIMUM, 5, 0, 0.55, 0.55},
    {FRICTION_MAXIMUM, 0, 0, 0.0, 0.0},
};

static Id add_material(Lab *lab, double friction, double priority) {
    Material material = material_default();
    material.friction = friction;
    material.priority = priority;
    Id id = 0;
    Error error = {0};
    ck_assert_int_eq(world_add_materials(lab->world, &material, 1, &id, &error), STATUS_OK);
    return id;
}

static void set_rule(World *world, FrictionRule rule) {
    WorldSettings settings = world->settings;
    settings.friction_rule = (uint8_t)rule;
    world_set_settings(world, &settings);
}

static void set_pair(World *world, uint64_t a, uint64_t b, double friction) {
    const PairUpdate update = {1, &a, &b, &friction};
    Error error = {0};
    ck_assert_int_eq(world_check_pair_update(world, &update, &error), STATUS_OK);
    ck_assert_int_eq(world_reserve_pairs(world, 1, &error), STATUS_OK);
    world_update_pairs(world, &update);
}

static Lab slide(const Case *of) {
    Lab lab = lab_create(0.0, TIME_STEP);
    Quat turn = quat_normalize(askew);
    WorldSettings settings = lab.world->settings;
    settings.gravity = quat_rotate(turn, vec3(0.0, 0.0, -GRAVITY));
    world_set_settings(lab.world, &settings);
    Id ground = add_material(&lab, OF_GROUND, of->priority_of_ground),
       box = add_material(&lab, OF_BOX, of->priority_of_box);
    Id plane = lab_shape(&lab, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0), ground),
       low = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.2, 0.2, 0.05), box);
    lab_body(&lab, plane, BODY_STATIC, (Pose){.orientation = turn}, NULL, 0.0, NULL);
    double velocity[6] = {0};
    vec3_store(velocity, quat_rotate(turn, vec3(SPEED, 0.0, 0.0)));
    lab_body(&lab, low, BODY_DYNAMIC, (Pose){quat_rotate(turn, vec3(0.0, 0.0, 0.05)), turn},
             velocity, 0.0, NULL);
    set_rule(lab.world, of->rule);
    if (of->pair >= 0.0) {
        set_pair(lab.world, box, ground, of->pair);
    }
    return lab;
}

START_TEST(a_box_slows_down_by_the_friction_of_the_two) {
    const Case *of = &pairings[_i];
    Lab lab = slide(of);
    World *copy = lab_copy(&lab);
    ck_assert_uint_eq(snapshot_hash(copy), snapshot_hash(lab.world));
    ck_assert_double_eq(copy->friction_max, lab.world->friction_max);
    world_destroy(copy);
    lab_step(&lab, STEPS);
    const Quat turn = quat_normalize(askew);
    const Vec3 velocity = lab_velocity(&lab, 1);
    const double forward = vec3_dot(velocity, quat_rotate(turn, vec3(1.0, 0.0, 0.0))),
                 aside = vec3_dot(velocity, quat_rotate(turn, vec3(0.0, 1.0, 0.0)));
    // the solver meets its tolerance in every step: 1e-8 of the speeds that gravity makes
    ck_assert_double_eq_tol(forward, SPEED - of->friction * GRAVITY * STEPS * TIME_STEP, 1e-7);
    ck_assert_double_eq_tol(aside, 0.0, 1e-7);
    Defect defect = {0};
    ck_assert(world_is_valid(lab.world, &defect));
    lab_destroy(&lab);
}
END_TEST

// friction_max bounds what may be reached within a step: no pair may have more.
START_TEST(no_pair_has_more_than_the_bound) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    World *world = lab.world; // the built-in material has 0.5
    ck_assert_double_eq(world->friction_max, 0.5);
    add_material(&lab, 3.0, 0.0);
    ck_assert_double_eq(world->friction_max, 3.0);
    set_rule(world, FRICTION_PRODUCT);
    ck_assert_double_eq(world->friction_max, 9.0);
    set_pair(world, 0, 1, 20.0);
    ck_assert_double_eq(world->friction_max, 20.0);
    set_pair(world, 1, 0, 0.25); // the same pair
    ck_assert_uint_eq(world->material_pair_count, 1);
    ck_assert_double_eq(world->friction_max, 9.0);
    ck_assert_double_eq(world_combine_materials(world, 1, 0).friction, 0.25);
    ck_assert_double_eq(world_combine_materials(world, 0, 0).friction, 0.25); // 0.5^2
    add_material(&lab, 1e6, 0.0);
    ck_assert_double_eq(world->friction_max, 1e6); // as much as one may have
    set_rule(world, FRICTION_MINIMUM);
    ck_assert_double_eq(world->friction_max, 1e6); // of two alike
    lab_destroy(&lab);
}
END_TEST

START_TEST(pairs_stand_in_order_and_are_told_apart) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    for (int i = 0; i < 20; i++) {
        add_material(&lab, 0.1, 0.0);
    }
    uint64_t seed = 7;
    double wanted[21][21];
    memset(wanted, 0, sizeof(wanted));
    for (int i = 0; i < 300; i++) {
        const uint32_t a = (uint32_t)lab_random(&seed, 0.0, 21.0),
                       b = (uint32_t)lab_random(&seed, 0.0, 21.0);
        wanted[a][b] = wanted[b][a] = lab_random(&seed, 1.0, 2.0);
        set_pair(lab.world, a, b, wanted[a][b]);
    }
    Defect defect = {0};
    ck_assert(world_is_valid(lab.world, &defect));
    for (uint32_t a = 0; a < 21; a++) {
        for (uint32_t b = 0; b < 21; b++) {
            const double has = world_combine_materials(lab.world, a, b).friction;
            ck_assert(wanted[a][b] == 0.0 ? has < 1.0 : has == wanted[a][b]);
        }
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_cannot_be_is_refused_by_name) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    add_material(&lab, 0.1, 0.0);
    const struct {
        uint64_t a, b;
        double friction;
        const char *field;
        Status status;
    } bad[] = {{2, 0, 0.5, "pair_a[0]", STATUS_NOT_FOUND},
               {1, 7, 0.5, "pair_b[0]", STATUS_NOT_FOUND},
               {1, 1, -0.5, "pair_friction[0]", STATUS_INVALID_ARGUMENT},
               {1, 1, NAN, "pair_friction[0]", STATUS_INVALID_ARGUMENT}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const PairUpdate update = {1, &bad[i].a, &bad[i].b, &bad[i].friction};
        Error error = {0};
        ck_assert_int_eq(world_check_pair_update(lab.world, &update, &error), bad[i].status);
        ck_assert_str_eq(error.field, bad[i].field);
    }
    Error error = {0};
    ck_assert_int_eq(world_reserve_pairs(lab.world, MATERIAL_PAIR_COUNT_MAX + 1, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    Material half = material_default();
    half.priority = 0.5;
    Id id;
    ck_assert_int_eq(world_add_materials(lab.world, &half, 1, &id, &error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "materials[0].priority");
    lab_destroy(&lab);
}
END_TEST

static TCase *case_friction_rule(void) {
    TCase *tcase = tcase_create("friction_rule");
    tcase_add_loop_test(tcase, a_box_slows_down_by_the_friction_of_the_two, 0,
                        sizeof(pairings) / sizeof(pairings[0]));
    tcase_add_test(tcase, no_pair_has_more_than_the_bound);
    tcase_add_test(tcase, pairs_stand_in_order_and_are_told_apart);
    tcase_add_test(tcase, what_cannot_be_is_refused_by_name);
    return tcase;
}

SUITE_MAIN("step/friction_rule", case_friction_rule)
