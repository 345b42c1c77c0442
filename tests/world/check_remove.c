// SPDX-License-Identifier: MIT
// Bodies and shapes that are removed from outside: what stays is as it was, and what is refused has
// changed nothing.
#include "step/snapshot/snapshot.h"
#include "world/sleep.h"
#include "world/world_valid.h"

#include "support/hull_build.h"
#include "support/lab.h"
#include "support/suite.h"

#include <string.h>

enum { BALLS = 5 };

// Ground, and balls that lie on it, of shapes 2, 3 … with radii of their own.
static Lab make_lab(void) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, 0);
    for (int i = 0; i < BALLS; i++) {
        double r = 0.1 + 0.01 * i;
        Id shape = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(r, 0.0, 0.0), 0);
        lab_body(&lab, shape, BODY_DYNAMIC,
                 (Pose){.position = vec3(i, 0.0, r), .orientation = quat_identity()}, NULL, 1.0,
                 NULL);
    }
    lab_step(&lab, 10);
    return lab;
}

static Status try_remove(Lab *lab, RemoveOrder order, Error *error) {
    *error = (Error){0};
    return world_remove(lab->world, &order, error);
}

START_TEST(what_stays_keeps_its_place) {
    Lab lab = make_lab();
    Error error;
    const uint64_t bodies[2] = {5, 3}, shapes[2] = {3, 5}; // balls 3 and 1, in any order
    Vec3 before[BALLS];
    for (uint32_t i = 0; i < BALLS; i++) {
        before[i] = lab_position(&lab, 1 + i);
    }
    ck_assert_int_eq(
        try_remove(&lab, (RemoveOrder){2, bodies, 2, shapes, 0, NULL, 0, NULL}, &error), STATUS_OK);
    World *world = lab.world;
    ck_assert_uint_eq(world->body_count, 4);
    ck_assert_uint_eq(world->shape_count, 4);
    ck_assert_uint_eq(world->primitive_count, 4);
    ck_assert_uint_eq(world->dynamic_count, 3);
    ck_assert_uint_eq(world_removed_count(world), 2);
    const uint32_t kept[3] = {0, 2, 4};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t body;
        ck_assert(world_find_body(world, 2 + kept[i], &body));
        ck_assert_uint_eq(body, 1 + i);
        ck_assert_double_eq(lab_position(&lab, body).x, before[kept[i]].x);
        const Shape *shape = world_body_shape(world, body);
        ck_assert_uint_eq(shape->id, 2 + kept[i]);
        ck_assert_double_eq(world->primitive[shape->primitive_first].size.x, 0.1 + 0.01 * kept[i]);
    }
    ck_assert_uint_eq(world->memory_count, 3); // impulses of the three that lie
    // ids are never given again, also after a snapshot
    lab_restore(&lab);
    ck_assert_uint_eq(lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0), 7);
    uint32_t body =
        lab_body(&lab, 6, BODY_DYNAMIC, (Pose){.orientation = quat_identity()}, NULL, 1.0, NULL);
    ck_assert_uint_eq(lab.world->body_id[body], 7);
    ck_assert_uint_eq(world_body_shape(lab.world, body)->id, 6);
    lab_step(&lab, 10);
    lab_destroy(&lab);
}
END_TEST

// What is left is a world that never had the others, but for the ids.
START_TEST(a_world_goes_on_as_if_they_had_never_been) {
    Lab lab = lab_create(9.81, 1.0 / 240.0), other = lab_create(9.81, 1.0 / 240.0);
    Id shape = 0;
    for (int k = 0; k < 2; k++) {
        Lab *one = k == 0 ? &lab : &other;
        lab_ground(one, 0);
        shape = lab_shape(one, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
        lab_body(one, shape, BODY_DYNAMIC, (Pose){vec3(0.0, 0.0, 0.3), quat_identity()}, NULL, 1.0,
                 NULL);
    }
    lab_body(&lab, shape, BODY_DYNAMIC, (Pose){vec3(5.0, 0.0, 0.2), quat_identity()}, NULL, 1.0,
             NULL);
    lab_step(&lab, 60);
    lab_step(&other, 60);
    Error error;
    const uint64_t body = 3;
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){1, &body, 0, NULL, 0, NULL, 0, NULL}, &error),
                     STATUS_OK);
    lab_step(&lab, 60);
    lab_step(&other, 60);
    ck_assert_mem_eq(lab.world->pose, other.world->pose, 14 * sizeof(double));
    ck_assert_mem_eq(lab.world->velocity, other.world->velocity, 12 * sizeof(double));
    ck_assert_uint_ne(snapshot_hash(lab.world), snapshot_hash(other.world)); // the next id
    other.world->body_id_next++;
    other.world->definition_is_hashed = false;
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(other.world));
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

static const uint64_t ids[] = {2, 99, 0, 3, 3};
static const struct {
    RemoveOrder order;
    Status status;
    const char *field;
} mistakes[] = {
    {{2, ids, 0, NULL, 0, NULL, 0, NULL}, STATUS_NOT_FOUND, "bodies[1]"},
    {{3, ids, 0, NULL, 0, NULL, 0, NULL}, STATUS_NOT_FOUND, "bodies[1]"},
    {{1, ids + 2, 0, NULL, 0, NULL, 0, NULL}, STATUS_NOT_FOUND, "bodies[0]"},
    {{2, ids + 3, 0, NULL, 0, NULL, 0, NULL}, STATUS_INVALID_ARGUMENT, "bodies[1]"},
    {{1, ids, 2, ids, 0, NULL, 0, NULL}, STATUS_NOT_FOUND, "shapes[1]"},
    {{1, ids, 2, ids + 3, 0, NULL, 0, NULL}, STATUS_INVALID_ARGUMENT, "shapes[1]"},
    {{0, NULL, 1, ids, 0, NULL, 0, NULL}, STATUS_FAILED_PRECONDITION, "shapes[0]"},
    {{1, ids, 1, ids + 3, 0, NULL, 0, NULL}, STATUS_FAILED_PRECONDITION, "shapes[0]"},
};

START_TEST(a_mistake_is_named_and_changes_nothing) {
    Lab lab = make_lab();
    uint64_t hash = snapshot_hash(lab.world);
    Error error;
    ck_assert_int_eq(try_remove(&lab, mistakes[_i].order, &error), mistakes[_i].status);
    ck_assert_str_eq(error.field, mistakes[_i].field);
    ck_assert_uint_gt(strlen(error.message), 0);
    lab.world->definition_is_hashed = false;
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_body_that_a_joint_holds_stays) {
    Lab lab = make_lab();
    Error error = {0};
    const uint32_t kind = JOINT_HINGE;
    const uint64_t held = 3, other = 4;
    JointColumns columns = {.count = 1, .axis_count = 1, .position_count = 1, .kind = &kind};
    columns.body_b = &held;
    Id joint;
    ck_assert_msg(world_add_joints(lab.world, &columns, &joint, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    uint64_t hash = snapshot_hash(lab.world);
    const uint64_t both[2] = {other, held};
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){2, both, 0, NULL, 0, NULL, 0, NULL}, &error),
                     STATUS_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "bodies[1]");
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){1, &other, 0, NULL, 0, NULL, 0, NULL}, &error),
                     STATUS_OK);
    lab_step(&lab, 5);
    lab_destroy(&lab);
}
END_TEST

// A fault is of bodies: where some go the world may step again.
START_TEST(a_fault_goes_with_bodies_alone) {
    Lab lab = make_lab();
    Error error;
    const Id unused = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(1.0, 0.0, 0.0), 0);
    const uint64_t body[1] = {2}, shape[1] = {unused};
    lab.world->faulted = true;
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){0, NULL, 1, shape, 0, NULL, 0, NULL}, &error),
                     STATUS_OK);
    ck_assert(lab.world->faulted);
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){1, body, 0, NULL, 0, NULL, 0, NULL}, &error),
                     STATUS_OK);
    ck_assert(!lab.world->faulted);
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_rested_on_it_wakes) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab.world->settings.sleep_speed = 0.05;
    lab.world->settings.sleep_time = 0.1;
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.5), 0);
    const double heights[2] = {-0.5, 0.5};
    for (int i = 0; i < 2; i++) { // two towers of a fixed box and another
        for (int k = 0; k < 2; k++) {
            lab_body(&lab, box, k == 0 ? BODY_STATIC : BODY_DYNAMIC,
                     (Pose){vec3(5.0 * i, 0.0, heights[k]), quat_identity()}, NULL,
                     k == 0 ? 0.0 : 1.0, NULL);
        }
    }
    lab_step(&lab, 240);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    Error error;
    const uint64_t fixed = 1;
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){1, &fixed, 0, NULL, 0, NULL, 0, NULL}, &error),
                     STATUS_OK);
    ck_assert_uint_eq(sleep_count(lab.world), 1);
    lab_step(&lab, 24);
    // a tenth of a second of falling: h^2 g n (n + 1) / 2
    ck_assert_double_eq_tol(lab_position(&lab, 0).z, 0.5 - 9.81 * 300.0 / 240.0 / 240.0, 1e-6);
    ck_assert_double_eq_tol(lab_position(&lab, 2).z, 0.5, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// ---- geometries

enum { PRISMS = 4 };

// Prisms of three, four … sides over ground, each a geometry, a shape and a body of its own.
static Lab prism_lab(void) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, 0);
    for (int i = 0; i < PRISMS; i++) {
        const Hull *hull = hull_of_prism(3 + (uint32_t)i, 0.2, 0.1);
        const HullForm form = hull_form(hull);
        const Id shape = lab_hull(&lab, &form, 0);
        hull_free(hull);
        lab_body(&lab, shape, BODY_DYNAMIC,
                 (Pose){.position = vec3(i, 0.0, 0.1), .orientation = quat_identity()}, NULL, 1.0,
                 NULL);
    }
    lab_step(&lab, 10);
    return lab;
}

static Id prism_geometry(Lab *lab, uint32_t sides) {
    static const HullNames names = {"hull.points", "hull.faces"};
    const Geometry *geometry = NULL;
    Error error = {0};
    Id id = 0;
    const Hull *hull = hull_of_prism(sides, 0.2, 0.1);
    const HullForm form = hull_form(hull);
    ck_assert_int_eq(geometry_of_hull(lab->shelf, &form, form.face_first[form.face_count], &names,
                                      &geometry, &error),
                     STATUS_OK);
    hull_free(hull);
    ck_assert_int_eq(world_add_geometries(lab->world, &geometry, 1, &id, &error), STATUS_OK);
    geometry_drop(geometry);
    return id;
}

// Those that stay keep their ids and who wears them; what a snapshot says comes back, and steps on.
static void expect_as_read_back(Lab *lab) {
    Lab again = lab_create(9.81, 1.0 / 240.0);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    world_destroy(again.world);
    const ArenaMark mark = arena_mark(&lab->scratch);
    ck_assert_int_eq(snapshot_write(lab->world, &lab->scratch, &bytes, &count, &error), STATUS_OK);
    const WorldLimits limits = {
        .body_count_max = 10, .bytes_max = (size_t)1 << 24, .shelf = again.shelf};
    ck_assert_msg(snapshot_read(bytes, count, &limits, &again.world, &error) == STATUS_OK, "%s",
                  error.message);
    arena_reset_to(&lab->scratch, mark);
    ck_assert_uint_eq(snapshot_hash(lab->world), snapshot_hash(again.world));
    lab_step(lab, 20);
    lab_step(&again, 20);
    ck_assert_uint_eq(snapshot_hash(lab->world), snapshot_hash(again.world));
    ck_assert_uint_eq(prism_geometry(&again, 9), lab->world->geometry_id_next);
    lab_destroy(&again);
}

START_TEST(geometries_go_with_the_last_that_wears_them) {
    Lab lab = prism_lab();
    Error error;
    const uint64_t body = 3, shape = 3, geometry = 2; // the prism of four sides
    const Geometry *held = geometry_hold(lab.world->geometry[1].geometry);
    const uint64_t before = snapshot_hash(lab.world);
    ck_assert_int_eq(
        try_remove(&lab, (RemoveOrder){.geometry_count = 1, .geometry = &geometry}, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "geometries[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "Shape 3 wears this geometry"));
    ck_assert_uint_eq(snapshot_hash(lab.world), before);
    const RemoveOrder all = {1, &body, 1, &shape, 0, NULL, 1, &geometry};
    ck_assert_msg(try_remove(&lab, all, &error) == STATUS_OK, "%s", error.message);
    World *world = lab.world;
    ck_assert_uint_eq(world->geometry_count, PRISMS - 1);
    const uint32_t kept[PRISMS - 1] = {1, 3, 4};
    for (uint32_t i = 0; i < PRISMS - 1; i++) {
        uint32_t index;
        ck_assert(world_find_geometry(world, kept[i], &index));
        ck_assert_uint_eq(index, i);
        const Primitive *primitive = &world->primitive[1 + i]; // behind the ground
        ck_assert_uint_eq(primitive->geometry_number, i + 1);
        ck_assert_ptr_eq(primitive->geometry, world->geometry[i].geometry);
        ck_assert_uint_eq(primitive->geometry->hull->vertex_count, 2 * (2 + kept[i]));
    }
    Defect defect;
    ck_assert(world_is_valid(world, &defect));
    expect_as_read_back(&lab);
    // its id is not given again; the next one is behind all
    ck_assert_int_eq(
        try_remove(&lab, (RemoveOrder){.geometry_count = 1, .geometry = &geometry}, &error),
        STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "Geometry 2 was removed"));
    ck_assert_uint_eq(prism_geometry(&lab, 8), PRISMS + 1);
    geometry_drop(held);
    lab_destroy(&lab);
}
END_TEST

START_TEST(all_geometries_may_go) {
    Lab lab = prism_lab();
    Error error;
    const uint64_t bodies[PRISMS] = {5, 4, 3, 2}, shapes[PRISMS] = {2, 3, 4, 5};
    const uint64_t geometries[PRISMS] = {4, 1, 2, 3};
    const uint8_t *digest = lab.world->geometry[0].digest;
    uint8_t name[SHA256_BYTES];
    memcpy(name, digest, sizeof(name));
    const RemoveOrder all = {PRISMS, bodies, PRISMS, shapes, 0, NULL, PRISMS, geometries};
    ck_assert_int_eq(try_remove(&lab, all, &error), STATUS_OK);
    ck_assert_uint_eq(lab.world->geometry_count, 0);
    ck_assert_ptr_null(geometry_find(lab.shelf, name)); // nobody holds it any more
    expect_as_read_back(&lab);
    const uint64_t twice[2] = {1, 1};
    ck_assert_uint_eq(prism_geometry(&lab, 3), PRISMS + 1);
    ck_assert_int_eq(
        try_remove(&lab, (RemoveOrder){.geometry_count = 2, .geometry = twice}, &error),
        STATUS_NOT_FOUND);
    const uint64_t last[2] = {PRISMS + 1, PRISMS + 1};
    ck_assert_int_eq(try_remove(&lab, (RemoveOrder){.geometry_count = 2, .geometry = last}, &error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "geometries[1]");
    lab_destroy(&lab);
}
END_TEST

static TCase *case_remove(void) {
    TCase *tcase = tcase_create("remove");
    tcase_add_test(tcase, what_stays_keeps_its_place);
    tcase_add_test(tcase, a_world_goes_on_as_if_they_had_never_been);
    tcase_add_loop_test(tcase, a_mistake_is_named_and_changes_nothing, 0,
                        sizeof(mistakes) / sizeof(mistakes[0]));
    tcase_add_test(tcase, a_body_that_a_joint_holds_stays);
    tcase_add_test(tcase, a_fault_goes_with_bodies_alone);
    tcase_add_test(tcase, what_rested_on_it_wakes);
    tcase_add_test(tcase, geometries_go_with_the_last_that_wears_them);
    tcase_add_test(tcase, all_geometries_may_go);
    return tcase;
}

SUITE_MAIN("world/remove", case_remove)
