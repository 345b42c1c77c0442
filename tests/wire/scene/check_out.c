// SPDX-License-Identifier: MIT
// A world as a scene, and that as a world again: every scene that there is, as it is made and some
// steps later, gives a world of the same hash, once the first has forgotten what a scene does not
// say; and so it goes on, to the bit. Worlds of programs likewise, with what no scene of people
// has: shared shapes, nameless materials, joints of one name.
#include "wire/scene/out.h"
#include "wire/scene/print.h"

#include "base/assert.h"
#include "step/snapshot/snapshot.h"
#include "step/snapshot/compare.h"
#include "support/heap.h"
#include "support/scene_list.h"
#include "support/scene_world.h"
#include "support/suite.h"
#include "wire/scene/scene.h"
#include "wire/scene/unit.h"
#include "world/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40, STEPS_AFTER = 20, BODIES_MAX = 300 };

// ---- scenes

static SceneList scenes;

// ---- worlds

static Lab make_lab(const Moreau__V1__Scene *scene) {
    Lab lab = lab_create(0.0, 0.01);
    scene_world_make(scene, lab.world, lab.stepper, &lab.scratch);
    arena_reset(&lab.scratch);
    return lab;
}

static void take_steps(Lab *lab, int count) {
    for (int i = 0; i < count; i++) {
        const StepInput input = {.time_step = lab->world->settings.time_step};
        Error error = {0};
        arena_reset(&lab->scratch);
        ck_assert_msg(stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL,
                                  &lab->report, &error) == STATUS_OK,
                      "%s", error.message);
    }
}

// As it comes over the wire.
static Moreau__V1__Scene *export_scene(const World *world) {
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    Moreau__V1__Scene *made = scene_out(world, "exported", &arena);
    ck_assert_ptr_nonnull(made);
    const size_t count = moreau__v1__scene__get_packed_size(made);
    uint8_t *bytes = malloc(count);
    moreau__v1__scene__pack(made, bytes);
    Moreau__V1__Scene *scene = moreau__v1__scene__unpack(NULL, count, bytes);
    free(bytes);
    arena_deinit(&arena);
    ck_assert_ptr_nonnull(scene);
    return scene;
}

static void remove_unused_shapes(World *world) {
    uint64_t unused[BODIES_MAX];
    RemoveOrder order = {.shape = unused};
    for (size_t i = 0; i < world->shape_count; i++) {
        bool is_used = false;
        for (uint32_t body = 0; body < world->body_count; body++) {
            is_used = is_used || world->body_shape[body] == i;
        }
        if (!is_used) {
            unused[order.shape_count++] = world->shape[i].id;
        }
    }
    ck_assert_int_eq(world_remove(world, &order, NULL), STATUS_OK);
}

// What a scene does not say: see WorldScene in the proto.
static void forget(World *world) {
    world->step = 0;
    world->time = (Sum){0};
    world->solver_failures = world->solver_wait = 0;
    world->faulted = false;
    sleep_wake_all(world);
    sleep_forget(world);
    world->memory_count = world->joint_memory_count = 0;
    remove_unused_shapes(world);
    world->body_id_next = world->joint_id_next = world->shape_id_next = 1;
    for (uint32_t i = 0; i < world->body_count; i++) {
        world->body_id[i] = world->body_id_next++;
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        world->joint[i].id = world->joint_id_next++;
    }
    for (size_t i = 0; i < world->shape_count; i++) {
        world->shape[i].id = world->shape_id_next++;
    }
    world->definition_is_hashed = false;
    world->bodies_moved = true;
}

static void must_be_same(Lab *a, Lab *b, const char *what) {
    uint8_t *bytes[2];
    size_t count[2];
    SnapshotDifference difference = {0};
    if (snapshot_hash(a->world) == snapshot_hash(b->world)) {
        return;
    }
    snapshot_write(a->world, &a->scratch, &bytes[0], &count[0], NULL);
    snapshot_write(b->world, &b->scratch, &bytes[1], &count[1], NULL);
    snapshot_compare(bytes[0], count[0], bytes[1], count[1], &difference);
    ck_abort_msg("%s: %s of body %d: %.17g, %.17g", what, difference.quantity, (int)difference.body,
                 difference.expected, difference.found);
}

// The world of the lab, through a scene.
static Lab make_again(const World *world) {
    Moreau__V1__Scene *scene = export_scene(world);
    Lab again = make_lab(scene);
    moreau__v1__scene__free_unpacked(scene, NULL);
    return again;
}

// A scene says where origins are. Where a body's centre of mass is elsewhere, the two coordinates
// may have no number between them that makes the one of the other: then its last bit is another.
static void take_last_bits(Lab *lab, const Lab *again) {
    for (uint32_t i = 0; i < lab->world->body_count; i++) {
        double *at = lab->world->pose + 7 * (size_t)i;
        const double *there = again->world->pose + 7 * (size_t)i;
        const Vec3 center = lab->world->mass[i].center;
        if (vec3_dot(center, center) == 0.0) {
            continue;
        }
        for (uint32_t k = 0; k < 3; k++) {
            ck_assert_double_eq_tol(at[k], there[k], 1e-15); // a rounding of some metres
            at[k] = there[k];
        }
    }
}

START_TEST(every_scene_comes_back_and_goes_on) {
    const char *name = scenes.name[_i];
    Moreau__V1__Scene *scene = scene_file_load(name);
    Lab lab = make_lab(scene), again = make_again(lab.world);
    must_be_same(&lab, &again, name);
    lab_destroy(&again);

    take_steps(&lab, STEPS);
    again = make_again(lab.world);
    forget(lab.world);
    take_last_bits(&lab, &again);
    must_be_same(&lab, &again, name);
    take_steps(&lab, STEPS_AFTER);
    take_steps(&again, STEPS_AFTER);
    must_be_same(&lab, &again, name);
    lab_destroy(&lab);
    lab_destroy(&again);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

// Bodies of programs: shared shapes, of which not every one is used, and centres of mass that are
// no origins. Each body comes back with a shape of its own, and moves on with the same bits but for
// a coordinate's last one.
START_TEST(a_heap_of_a_program_comes_back) {
    Lab lab = heap_create((uint64_t)_i + 1, 24);
    lab_step(&lab, STEPS);
    Lab again = make_again(lab.world);
    ck_assert_uint_eq(again.world->body_count, lab.world->body_count);
    for (uint32_t i = 0; i < lab.world->body_count; i++) {
        const BodyMass *a = &lab.world->mass[i], *b = &again.world->mass[i];
        ck_assert_int_eq(lab.world->kind[i], again.world->kind[i]);
        ck_assert_mem_eq(lab.world->velocity + 6 * (size_t)i, again.world->velocity + 6 * (size_t)i,
                         6 * sizeof(double));
        ck_assert_double_eq(a->mass, b->mass);
        ck_assert_double_eq(a->center.x, b->center.x);
        ck_assert_double_eq(a->inverse_inertia.xy, b->inverse_inertia.xy);
        for (uint32_t k = 0; k < 7; k++) {
            ck_assert_double_eq_tol(lab.world->pose[7 * (size_t)i + k],
                                    again.world->pose[7 * (size_t)i + k],
                                    1e-15); // a rounding of some metres
        }
        const Shape *shape = world_body_shape(lab.world, i),
                    *other = world_body_shape(again.world, i);
        ck_assert_int_eq(shape == NULL, other == NULL);
        for (uint32_t k = 0; shape != NULL && k < shape->primitive_count; k++) {
            const Primitive *left = &lab.world->primitive[shape->primitive_first + k],
                            *right = &again.world->primitive[other->primitive_first + k];
            const Material *of = &lab.world->material[left->material],
                           *is = &again.world->material[right->material];
            ck_assert_int_eq(left->kind, right->kind);
            ck_assert_mem_eq(&left->size, &right->size, sizeof(Vec3));
            ck_assert_double_eq(of->friction, is->friction);
            ck_assert_double_eq(of->restitution, is->restitution);
        }
    }
    lab_destroy(&lab);
    lab_destroy(&again);
}
END_TEST

START_TEST(quaternions_come_back_to_the_bit) {
    uint64_t seed = 3;
    for (int i = 0; i < 1000; i++) {
        double numbers[4];
        for (int k = 0; k < 4; k++) {
            numbers[k] = lab_random(&seed, -1.0, 1.0);
        }
        const Quat unit =
            quat_normalize((Quat){numbers[0], numbers[1], numbers[2], numbers[3] + 1.5});
        const Quat again = quat_normalize(unit_inverse(unit));
        ck_assert_mem_eq(&again, &unit, sizeof(unit));
    }
}
END_TEST

// ---- groups

// Two balls that overlap, written by hand: only where each is in a group that the other's mask
// names do they touch, and so it is once the world has been through a scene of its own.
static const struct {
    const char *a, *b;
    bool touch;
} groups[] = {
    {"", "", true},
    {"\"group\": 2", "", true},
    {"\"group\": 2, \"mask\": 1", "\"mask\": 2", true},
    {"\"group\": 2, \"mask\": 2", "", false},
    {"\"mask\": 0", "", false},
    {"\"group\": 0", "", false},
    {"\"group\": 6, \"mask\": 9", "\"group\": 8, \"mask\": 4", true},
    {"\"group\": 2147483648, \"mask\": 4294967295", "\"mask\": 2147483647", false},
};

START_TEST(groups_of_a_scene_are_those_of_the_world) {
    char text[1024];
    const char *const comma[2] = {groups[_i].a[0] == '\0' ? "" : ",",
                                  groups[_i].b[0] == '\0' ? "" : ","};
    snprintf(text, sizeof(text),
             "{\"bodies\": [{\"shapes\": [{\"sphere\": {\"radius\": 0.1}%s%s}]},"
             "{\"position\": [0.15, 0, 0], \"shapes\": [{\"sphere\": {\"radius\": 0.1}%s%s}]}]}",
             comma[0], groups[_i].a, comma[1], groups[_i].b);
    JsonText json;
    JsonError error = {0};
    ck_assert_msg(json_text_parse(&json, "groups", text, strlen(text), &error), "%s",
                  error.message);
    Moreau__V1__Scene *scene = (Moreau__V1__Scene *)(void *)json_read_message(
        &json, json.root, "", &moreau__v1__scene__descriptor, &error);
    ck_assert_msg(scene != NULL, "%s", error.message);
    json_text_free(&json);
    Lab lab = make_lab(scene), again = make_again(lab.world);
    must_be_same(&lab, &again, "groups");
    take_steps(&lab, 1);
    take_steps(&again, 1);
    ck_assert_uint_eq(lab.report.contact_count, groups[_i].touch);
    ck_assert_uint_eq(again.report.contact_count, groups[_i].touch);
    lab_destroy(&lab);
    lab_destroy(&again);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

// ---- substeps

// From text into a world, out of it and printed.
START_TEST(substeps_go_through_a_scene) {
    const uint32_t substeps = _i == 0 ? 1 : 4;
    char text[64];
    snprintf(text, sizeof(text), "{\"settings\": {\"substeps\": %u}}", substeps);
    JsonText json;
    JsonError error = {0};
    ck_assert_msg(json_text_parse(&json, "substeps", text, strlen(text), &error), "%s",
                  error.message);
    Moreau__V1__Scene *scene = scene_file_read(&json);
    Lab lab = make_lab(scene), again = make_again(lab.world);
    ck_assert_uint_eq(lab.world->settings.substeps, substeps);
    ck_assert_uint_eq(again.world->settings.substeps, substeps);
    must_be_same(&lab, &again, "substeps");
    char printed[4096] = "";
    Sink sink = {.bytes = (uint8_t *)printed};
    scene_print(lab.world, 0, &sink);
    ck_assert_uint_lt(sink.count, sizeof(printed));
    ck_assert_msg(strstr(printed, _i == 0 ? "\"substeps\":1," : "\"substeps\":4,") != NULL, "%s",
                  printed);
    lab_destroy(&lab);
    lab_destroy(&again);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

// ---- names

static Id material(Lab *lab, const char *name) {
    Material made = material_default();
    Id id = 0;
    snprintf(made.name, sizeof(made.name), "%s", name);
    ck_assert_int_eq(world_add_materials(lab->world, &made, 1, &id, NULL), STATUS_OK);
    return id;
}

// Rules, priorities and pairs: of the built-in material, of nameless ones, of one with itself.
START_TEST(frictions_go_through_a_scene) {
    Lab lab = lab_create(0.0, 0.01);
    Material first = material_default(), second = first;
    first.priority = 3.0;
    second.friction = 0.25;
    Id id[2];
    ck_assert_int_eq(world_add_materials(lab.world, &first, 1, &id[0], NULL), STATUS_OK);
    ck_assert_int_eq(world_add_materials(lab.world, &second, 1, &id[1], NULL), STATUS_OK);
    WorldSettings settings = lab.world->settings;
    settings.friction_rule = FRICTION_MINIMUM;
    settings.effort = WORLD_BALANCED; // as a scene's is
    world_set_settings(lab.world, &settings);
    const PairUpdate pairs = {3, (const uint64_t[]){2, 1, 0}, (const uint64_t[]){0, 1, 0},
                              (const double[]){0.75, 0.0, 9.5}};
    ck_assert_int_eq(world_reserve_pairs(lab.world, 3, NULL), STATUS_OK);
    world_update_pairs(lab.world, &pairs);
    Moreau__V1__Scene *scene = export_scene(lab.world);
    ck_assert_uint_eq(scene->n_material_pairs, 3);
    ck_assert_ptr_null(scene->material_pairs[0]->a);
    ck_assert_str_eq(scene->material_pairs[2]->a, scene->materials[0]->name);
    Lab again = make_lab(scene);
    ck_assert_uint_eq(again.world->settings.friction_rule, FRICTION_MINIMUM);
    ck_assert_double_eq(again.world->material[1].priority, 3.0);
    ck_assert_uint_eq(again.world->material_pair_count, 3);
    ck_assert_mem_eq(again.world->material_pair, lab.world->material_pair,
                     3 * sizeof(MaterialPair));
    ck_assert_double_eq(again.world->friction_max, 9.5);
    moreau__v1__scene__free_unpacked(scene, NULL);
    lab_destroy(&lab);
    lab_destroy(&again);
}
END_TEST

// Bodies without names and one called as a place is; joints of one name; materials without any, of
// which one is used, and one that has the name that it would get.
START_TEST(who_must_be_named_is_named) {
    Lab lab = lab_create(0.0, 0.01);
    const char *const names[4] = {"#1", NULL, NULL, "#0"};
    material(&lab, "");
    const Id used = material(&lab, "");
    material(&lab, "material-1");
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0, 0), used);
    double pose[28] = {0};
    uint64_t shapes[4] = {ball, ball, ball, ball};
    for (size_t i = 0; i < 4; i++) {
        pose[7 * i] = (double)i;
        pose[7 * i + 3] = 1.0;
    }
    const BodyColumns bodies = {.count = 4, .pose = pose, .shape = shapes, .name = names};
    Id ids[4];
    ck_assert_int_eq(world_add_bodies(lab.world, &bodies, ids, NULL), STATUS_OK);
    const char *const joint_names[3] = {"elbow", "elbow", NULL};
    const JointColumns joints = {.count = 3,
                                 .axis_count = 2,
                                 .position_count = 2,
                                 .kind = (const uint32_t[]){JOINT_HINGE, JOINT_HINGE, JOINT_GEAR},
                                 .body_a = (const uint64_t[]){1, 2, 0},
                                 .body_b = (const uint64_t[]){2, 3, 0},
                                 .joint_a = (const uint64_t[]){0, 0, 1},
                                 .joint_b = (const uint64_t[]){0, 0, 2},
                                 .name = joint_names};
    ck_assert_int_eq(world_add_joints(lab.world, &joints, ids, NULL), STATUS_OK);

    Moreau__V1__Scene *scene = export_scene(lab.world);
    ck_assert_str_eq(scene->name, "exported");
    ck_assert_ptr_null(scene->materials[0]->name);
    ck_assert_str_eq(scene->materials[1]->name, "material-4"); // 1, and 3 for each that there is
    ck_assert_str_eq(scene->bodies[0]->shapes[0]->material, "material-4");
    ck_assert_str_eq(scene->bodies[0]->name, "#1");
    ck_assert_str_eq(scene->bodies[1]->name, "body-1");
    ck_assert_ptr_null(scene->bodies[2]->name);
    ck_assert_str_eq(scene->joints[0]->name, "elbow");
    ck_assert_str_eq(scene->joints[1]->name, "joint-1");
    ck_assert_ptr_null(scene->joints[2]->name);
    ck_assert_str_eq(scene->joints[1]->body_a, "body-1");
    ck_assert_str_eq(scene->joints[1]->body_b, "#2");
    ck_assert_str_eq(scene->joints[2]->joint_b, "joint-1");
    Lab again = make_lab(scene);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(again.world->joint[i].body[0], lab.world->joint[i].body[0]);
        ck_assert_uint_eq(again.world->joint[i].body[1], lab.world->joint[i].body[1]);
        ck_assert_uint_eq(again.world->joint[i].partner[1], lab.world->joint[i].partner[1]);
    }
    moreau__v1__scene__free_unpacked(scene, NULL);
    lab_destroy(&lab);
    lab_destroy(&again);
}
END_TEST

// ---- joints that only programs make so

static void must_have_same_joints(const World *a, const World *b) {
    ck_assert_uint_eq(a->joint_count, b->joint_count);
    for (size_t i = 0; i < a->joint_count; i++) {
        const Joint *left = &a->joint[i], *right = &b->joint[i];
        ck_assert_uint_eq(left->kind, right->kind);
        ck_assert_uint_eq(left->axes, right->axes);
        ck_assert_int_eq(left->is_rows, right->is_rows);
        ck_assert_int_eq(left->collides, right->collides);
        ck_assert_mem_eq(left->frame, right->frame, sizeof(left->frame));
        ck_assert_double_eq(left->ratio, right->ratio);
        ck_assert_double_eq(left->length, right->length);
        ck_assert_uint_eq(left->coupling_count, right->coupling_count);
        ck_assert_double_eq(left->break_force, right->break_force);
        ck_assert_double_eq(left->break_torque, right->break_torque);
    }
    ck_assert_uint_eq(a->coupling_count, b->coupling_count);
    ck_assert_mem_eq(a->coupling, b->coupling, a->coupling_count * sizeof(Coupling));
}

static void add_bodies(Lab *lab) {
    const uint32_t kind[1] = {PRIMITIVE_SPHERE}, group[1] = {6}, mask[1] = {9};
    const ShapeColumns shape = {.shape_count = 1,
                                .primitive_count = 1,
                                .kind = kind,
                                .size = (const double[]){0.1, 0, 0},
                                .group = group,
                                .mask = mask};
    Id id;
    ck_assert_int_eq(world_add_shapes(lab->world, &shape, &id, NULL), STATUS_OK);
    for (int i = 0; i < 4; i++) {
        const double velocity[6] = {0, 0, 0, 0.3, 0.1 * i, 0.2};
        const double pose[7] = {0.31 * i, 0.1, 0.7, 1, 0, 0, 0};
        const BodyColumns body = {.count = 1,
                                  .pose = pose,
                                  .velocity = velocity,
                                  .shape = &id,
                                  .mass = (const double[]){1.0 + 0.1 * i},
                                  .center_of_mass = (const double[]){0.7 / 3, 0.1 * i, -0.7}};
        Id body_id;
        ck_assert_int_eq(world_add_bodies(lab->world, &body, &body_id, NULL), STATUS_OK);
    }
}

// A wheel of rows, a ball of coordinates that stands somewhere, what breaks, a rope, a hinge, a
// gear of that and the wheel, and a tendon of the wheel and what breaks; infinite and finite
// limits.
static void add_joints(Lab *lab) {
    const double none = HUGE_VAL;
    double frames[49];
    uint64_t seed = 7;
    for (int i = 0; i < 49; i++) {
        frames[i] = lab_random(&seed, -1.0, 1.0);
    }
    const JointColumns columns = {
        .count = 7,
        .axis_count = 8,
        .position_count = 9,
        .coupling_count = 3,
        .kind = (const uint32_t[]){JOINT_HINGE, JOINT_BALL, JOINT_GENERIC, JOINT_DISTANCE,
                                   JOINT_HINGE, JOINT_GEAR, JOINT_TENDON},
        .body_a = (const uint64_t[]){0, 0, 2, 3, 1, 0, 0},
        .body_b = (const uint64_t[]){1, 2, 3, 4, 3, 0, 0},
        .axes = (const uint32_t[]){0, 0, 9, 0, 0, 0, 0},
        .frame_a = frames,
        .as_rows = (const uint32_t[]){1, 0, 1, 0, 1, 0, 0},
        .collides = (const uint32_t[]){0, 1, 0, 0, 0, 0, 0},
        .joint_a = (const uint64_t[]){0, 0, 0, 0, 0, 1, 0},
        .joint_b = (const uint64_t[]){0, 0, 0, 0, 0, 5, 0},
        .ratio = (const double[]){1, 1, 1, 1, 1, -2.5, 1},
        .length = (const double[]){1, 1, 1, 0.4, 1, 1, 1},
        .break_force = (const double[]){none, none, 1e15, none, none, none, none},
        .coupled_count = (const uint32_t[]){0, 0, 0, 0, 0, 0, 3},
        .coupled = (const uint64_t[]){1, 3, 3},
        .coupled_axes = (const uint32_t[]){0, 1, 0},
        .coefficients = (const double[]){0.1, -0.7, 1e-3},
        .low = (const double[]){-none, -1, -none, -2, -none, -0.5, -none, -90},
        .effort_max = (const double[]){none, 3, 4, 5, none, none, none, 6},
        .drive_damping = (const double[]){9, 1, 1, 1, 0, 0, 0, 0.1},
        .stall_effort = (const double[]){0, 7, 8, 9, 0, 0, 0, 0},
        .no_load_speed = (const double[]){0, 3, 0, 2, 0, 0, 0, 0},
        .lag_time = (const double[]){0.1, 0, 0, 0.2, 0, 0, 0, 0.3},
        .delay_steps = (const double[]){2, 0, 1, 0, 0, 0, 3, 1},
        .target_velocity = (const double[]){40, 1, 2, 3, 0, 0, 0, 1},
        .name = (const char *const[]){"wheel", NULL, NULL, "rope", "second", NULL, "tendon"}};
    lab_joints(lab, &columns);
}

START_TEST(joints_of_a_program_come_back) {
    Lab lab = lab_create(9.81, 0.01);
    add_bodies(&lab);
    add_joints(&lab);
    take_steps(&lab, STEPS);
    lab.world->joint_position[0] += 6.0 * 3.141592653589793; // three turns
    world_follow_bodies(lab.world);                          // of the tendon, too
    Lab again = make_again(lab.world), third = make_again(again.world);
    must_be_same(&again, &third, "joints");
    must_have_same_joints(lab.world, again.world);
    ck_assert_uint_eq(again.world->primitive[3].group, 6);
    ck_assert_uint_eq(again.world->primitive[3].mask, 9);
    const size_t axes = lab.world->joint_axis_count;
    ck_assert_mem_eq(lab.world->joint_axis, again.world->joint_axis, axes * sizeof(JointAxis));
    // centres of mass lie as far off as the bodies are from the origin: a last bit is lost
    for (size_t i = 0; i < (size_t)4 * 7; i++) {
        ck_assert_double_eq_tol(lab.world->pose[i], again.world->pose[i], 1e-15);
    }
    for (size_t i = 0; i < lab.world->joint_position_count; i++) {
        ck_assert_double_eq_tol(lab.world->joint_position[i], again.world->joint_position[i],
                                1e-13);
    }
    lab_destroy(&lab);
    lab_destroy(&again);
    lab_destroy(&third);
}
END_TEST

static TCase *case_scene_out(void) {
    TCase *tcase = tcase_create("scene_out");
    tcase_set_timeout(tcase, 60.0);
    scene_list_add(&scenes, "");
    scene_list_add(&scenes, "joints/");
    scene_list_add(&scenes, "shapes/");
    tcase_add_loop_test(tcase, every_scene_comes_back_and_goes_on, 0, scenes.count);
    tcase_add_loop_test(tcase, a_heap_of_a_program_comes_back, 0, 4);
    tcase_add_test(tcase, quaternions_come_back_to_the_bit);
    tcase_add_loop_test(tcase, groups_of_a_scene_are_those_of_the_world, 0,
                        sizeof(groups) / sizeof(groups[0]));
    tcase_add_loop_test(tcase, substeps_go_through_a_scene, 0, 2);
    tcase_add_test(tcase, frictions_go_through_a_scene);
    tcase_add_test(tcase, who_must_be_named_is_named);
    tcase_add_test(tcase, joints_of_a_program_come_back);
    return tcase;
}

SUITE_MAIN("wire/scene_out", case_scene_out)
