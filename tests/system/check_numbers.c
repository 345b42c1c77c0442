// SPDX-License-Identifier: MIT
// Masses, materials and what joints are like, set over the wire while a world is recorded: read
// back, replayed from the recording, verified, and refused by the names of what is wrong.
#include "support/suite.h"
#include "support/wire_episode.h"

#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// A heap on the ground, and a pendulum of the last body.
static uint64_t make_world(void) {
    const WireWorld world = wire_world(depot.client, 6, 5, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Moreau__V1__Material rough = MOREAU__V1__MATERIAL__INIT, *materials[1] = {&rough};
    rough.name = "rough";
    rough.has_friction = 1, rough.friction = 0.9;
    Moreau__V1__WorldAddMaterials add = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    add.has_world = 1, add.world = world.id;
    add.n_materials = 1, add.materials = materials;
    wire_accept(depot.client, &add);
    Moreau__V1__Joint__Kind kind[1] = {MOREAU__V1__JOINT__KIND__HINGE};
    uint64_t body[1] = {world.body_count};
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    double frame[7] = {0, 0, 3, 1, 0, 0, 0};
    joints.has_world = 1, joints.world = world.id;
    joints.n_kind = 1, joints.kind = kind;
    joints.n_body_b = 1, joints.body_b = body;
    joints.n_frame_a = 7, joints.frame_a = frame;
    wire_accept(depot.client, &joints);
    return world.id;
}

static Moreau__V1__WorldSet set_call(uint64_t world) {
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    return set;
}

// The numbers of a call; what is in it is borrowed from here.
typedef struct Numbers {
    uint64_t ids[2], materials[1], shapes[2], of_shape[2], joints[1];
    double mass[2], friction[1], stiffness[1], drive[1], damping[1], high[1];
    Moreau__V1__WorldSet set;
} Numbers;

static void fill(Numbers *n, uint64_t world) {
    *n = (Numbers){.ids = {2, 3},
                   .materials = {1},
                   .shapes = {1, 3},
                   .of_shape = {1, 1},
                   .joints = {1},
                   .mass = {2.5, 0.75},
                   .friction = {0.2},
                   .stiffness = {0.0},
                   .drive = {40.0},
                   .damping = {3.0},
                   .high = {1e18},
                   .set = set_call(world)};
    Moreau__V1__WorldSet *set = &n->set;
    set->n_ids = set->n_mass = 2, set->ids = n->ids, set->mass = n->mass;
    set->n_materials = 1, set->materials = n->materials;
    set->n_material_friction = 1, set->material_friction = n->friction;
    set->n_material_stiffness = 1, set->material_stiffness = n->stiffness;
    set->n_shapes = set->n_shape_material = 2, set->shapes = n->shapes;
    set->shape_material = n->of_shape;
    set->n_joints = 1, set->joints = n->joints;
    set->n_joint_drive_stiffness = 1, set->joint_drive_stiffness = n->drive;
    set->n_joint_drive_damping = 1, set->joint_drive_damping = n->damping;
    set->n_joint_high = 1, set->joint_high = n->high;
}

static const Moreau__V1__WorldGetReply *get(uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1, call.world = world;
    call.has_definition = call.definition = call.has_joints = call.joints = 1;
    return wire_accept(depot.client, &call)->world_get;
}

START_TEST(numbers_are_set_recorded_and_verified) {
    const uint64_t world = make_world();
    const double inertia = get(world)->inertia[6];
    const double mass = get(world)->mass[1];
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    const WireEpisode episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, 40);
    const uint64_t before = wire_hash(depot.client, world);
    Numbers numbers;
    fill(&numbers, world);
    wire_accept(depot.client, &numbers.set);
    ck_assert_uint_ne(wire_hash(depot.client, world), before);
    const Moreau__V1__WorldGetReply *got = get(world);
    ck_assert_double_eq(got->mass[1], 2.5);
    ck_assert_double_eq(got->mass[2], 0.75);
    ck_assert_double_eq_tol(got->inertia[6], inertia * 2.5 / mass, 1e-15 * inertia);
    ck_assert_double_eq(got->joint_definition->drive_stiffness[0], 40.0);
    ck_assert_double_eq(got->joint_definition->drive_damping[0], 3.0);
    ck_assert_double_eq(got->joint_definition->high[0], 1e18);
    wire_step(depot.client, world, 40);
    wire_stop_recording(depot.client, world);
    wire_expect_verified(depot.client, episode.id, 80);
}
END_TEST

// A call that asks for one wrong thing beside right ones changes nothing.
static void must_be_refused(uint64_t world, const Numbers *numbers, Moreau__V1__Status__Code code,
                            const char *field) {
    const uint64_t before = wire_hash(depot.client, world);
    wire_refuse(depot.client, &numbers->set, code, field);
    ck_assert_uint_eq(wire_hash(depot.client, world), before);
}

START_TEST(what_is_wrong_is_named) {
    const uint64_t world = make_world();
    Numbers n;
    fill(&n, world);
    n.set.n_mass = 1;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "mass");
    fill(&n, world);
    n.set.n_material_friction = 2, n.set.material_friction = n.mass;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "material_friction");
    fill(&n, world);
    n.set.n_shape_material = 1;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "shape_material");
    fill(&n, world);
    n.set.n_joint_drive_damping = 2, n.set.joint_drive_damping = n.mass;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "joint_drive_damping");
    fill(&n, world);
    n.set.n_joints = 0;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "joints");
    fill(&n, world);
    n.ids[1] = 1; // the ground
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "ids[1]");
    fill(&n, world);
    n.friction[0] = -1.0;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "material_friction[0]");
    fill(&n, world);
    n.of_shape[1] = 7;
    must_be_refused(world, &n, CODE(NOT_FOUND), "shape_material[1]");
    fill(&n, world);
    n.drive[0] = 1e300;
    must_be_refused(world, &n, CODE(INVALID_ARGUMENT), "joint_drive_stiffness[0]");
    fill(&n, world);
    wire_accept(depot.client, &n.set);
}
END_TEST

static TCase *case_numbers(void) {
    TCase *tcase = tcase_create("numbers");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, numbers_are_set_recorded_and_verified);
    tcase_add_test(tcase, what_is_wrong_is_named);
    return tcase;
}

SUITE_MAIN("system/numbers", case_numbers)
