// SPDX-License-Identifier: MIT
// Patches of surfaces: what slides from a smooth one onto a rough one is braked as their materials
// say, where its corners are, in the closed form of a block that leans forward as it brakes. All of
// it turned as no axis is.
#include "step/snapshot/snapshot.h"
#include "step/step.h"

#include "support/leaning_lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HERTZ = 480, CELLS = 12, SIDE = CELLS + 1 };

static const Vec3 none = {0.0, 0.0, 0.0};
static const Vec3 half = {0.25, 0.15, 0.2};
// of a pair the root of the product: 0.3 and 0.6 under a block of 0.9
static const double of_block = 0.9, of_smooth = 0.1, of_rough = 0.4;

// 12 m by 6 m of cells of a metre by half a one, whose border between smooth and rough is x = 0:
// patch 2 from there on, or all of it patch 0.
typedef struct Ground {
    bool is_mesh, has_patches;
} Ground;

static Id ground_shape(Lab *lab, const Ground *ground, Id material) {
    Vec3 point[SIDE * SIDE];
    uint32_t corner[6 * CELLS * CELLS], *at = corner;
    uint8_t patch[2 * CELLS * CELLS];
    for (uint32_t k = 0; k < SIDE * SIDE; k++) {
        point[k] = vec3((double)(k % SIDE) - 6.0, 0.5 * (double)(k / SIDE) - 3.0, 0.0);
    }
    for (uint32_t k = 0; k < CELLS * CELLS; k++) {
        const uint32_t low = k / CELLS * SIDE + k % CELLS, high = low + SIDE + 1;
        const uint32_t cell[6] = {low, low + 1, high, low, high, low + SIDE};
        memcpy(at, cell, sizeof(cell));
        at += 6;
        const uint8_t own = k % CELLS < CELLS / 2 ? 0 : 2;
        if (ground->is_mesh) {
            patch[2 * k] = patch[2 * k + 1] = own;
        } else {
            patch[k] = own;
        }
    }
    const uint8_t *patches = ground->has_patches ? patch : NULL;
    if (ground->is_mesh) {
        const MeshForm form = {point, SIDE * SIDE, corner, 2 * CELLS * CELLS, false, patches};
        return lab_mesh(lab, &form, material);
    }
    double height[SIDE * SIDE] = {0.0};
    const HeightForm form = {SIDE, SIDE, {1.0, 0.5}, height, patches};
    return lab_heights(lab, &form, material);
}

static void put_ground(Lab *lab, const Ground *ground, Pose pose, Id *block) {
    const Id smooth = lab_material(lab, of_smooth, 0.0), rough = lab_material(lab, of_rough, 0.0);
    *block = lab_material(lab, of_block, 0.0);
    const Id patch[MESH_PATCHES_MAX - 1] = {0, rough};
    lab_set_patches(lab, patch);
    lab_body(lab, ground_shape(lab, ground, smooth), BODY_STATIC, pose, NULL, 0.0, NULL);
}

static Lab ground_lab(const Ground *ground, Id *block) {
    Lab lab = leaning_lab(0.0, HERTZ);
    lab_set(&lab, "tolerance", 1e-12);
    put_ground(&lab, ground, placed(none, quat_identity()), block);
    return lab;
}

// Of a block that slides along x, whose friction is `front` at its front and `back` at its back.
// Braked by F at its bottom, c = half.z below its middle, it leans on its front, l = half.x before
// that: N_f - N_b = F c/l, N_f + N_b = m g and F = front N_f + back N_b give F/m.
static double braking(double front, double back) {
    return 0.5 * gravity * (front + back) / (1.0 - 0.5 * (front - back) * half.z / half.x);
}

static double friction_at(double x) {
    return sqrt(of_block * (x < 0.0 ? of_smooth : of_rough));
}

// In each step, but for those in which a corner goes over the border. What brakes more before its
// middle than behind it is about to turn around, so roundings grow: fast as it is the brakes come
// to 1e-9. That it comes over, leans on its corners alone and goes on is part of it.
START_TEST(a_block_is_braked_by_the_patches_under_its_corners) {
    const Ground ground = {.is_mesh = _i == 0, .has_patches = true};
    Id material;
    Lab lab = ground_lab(&ground, &material);
    const Vec3 speed = turned(vec3(4.0, 0.0, 0.0));
    const double twist[6] = {speed.x, speed.y, speed.z, 0.0, 0.0, 0.0};
    const uint32_t body =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, material), BODY_DYNAMIC,
                 placed(vec3(-1.4, 0.13, half.z), quat_identity()), twist, 0.0, NULL);
    int smooth = 0, between = 0, rough = 0;
    double x = -1.4, v = 4.0;
    while (v > 1.0 && smooth + between + rough < 4 * HERTZ) {
        lab_step(&lab, 1);
        const double next = seen(lab_velocity(&lab, body)).x;
        const double front = x + half.x, back = x - half.x, way = 2.0 * v / HERTZ;
        if (fabs(front) > way && fabs(back) > way) {
            ck_assert_double_eq_tol((v - next) * HERTZ,
                                    braking(friction_at(front), friction_at(back)), 1e-7);
            smooth += front < 0.0;
            between += front > 0.0 && back < 0.0;
            rough += back > 0.0;
        }
        x = seen_position(&lab, body).x;
        v = next;
    }
    ck_assert_int_gt(smooth, 50);
    ck_assert_int_gt(between, 50);
    ck_assert_int_gt(rough, 20);
    ck_assert_double_le(fabs(seen_position(&lab, body).y - 0.13), 1e-5);
    lab_destroy(&lab);
}
END_TEST

// Patches of one material are no patches, to the bit; and of another material they are.
START_TEST(patches_of_one_material_are_none) {
    Vec3 end[3];
    for (int k = 0; k < 3; k++) {
        const Ground ground = {.is_mesh = _i == 0, .has_patches = k > 0};
        Id material;
        Lab lab = ground_lab(&ground, &material);
        if (k == 1) {
            memset(lab.world->primitive[0].patch_material, 0,
                   sizeof(lab.world->primitive[0].patch_material));
        }
        const Vec3 speed = turned(vec3(2.0, 0.7, 0.0)), spin = turned(vec3(3.0, 1.0, 2.0));
        const double twist[6] = {speed.x, speed.y, speed.z, spin.x, spin.y, spin.z};
        const uint32_t body =
            lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, material), BODY_DYNAMIC,
                     placed(vec3(-0.7, -0.4, 0.5), quat_normalize((Quat){0.9, 0.1, 0.3, 0.2})),
                     twist, 0.0, NULL);
        lab_step(&lab, HERTZ);
        end[k] = lab_position(&lab, body);
        lab_destroy(&lab);
    }
    ck_assert_mem_eq(&end[0], &end[1], sizeof(Vec3));
    ck_assert_double_gt(vec3_norm(vec3_sub(end[0], end[2])), 1e-3);
}
END_TEST

// On the border it is of the lower patch, whichever triangle was asked first: a ball that slides
// along it, in the ground's axes, is braked as on the smooth side.
START_TEST(the_border_is_of_the_lower_patch) {
    const Ground ground = {.is_mesh = _i == 0, .has_patches = true};
    Id material;
    Lab lab = lab_create(gravity, 1.0 / HERTZ); // where x = 0 is x = 0, to the bit
    lab_set(&lab, "tolerance", 1e-12);
    put_ground(&lab, &ground, (Pose){none, quat_identity()}, &material);
    const double twist[6] = {0.0, 2.0, 0.0, 0.0, 0.0, 0.0};
    const Pose at = {vec3(0.0, -1.2, 0.1), quat_identity()};
    const uint32_t body =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material),
                 BODY_DYNAMIC, at, twist, 0.0, NULL);
    lab_step(&lab, 10);
    ck_assert_double_eq_tol(2.0 - lab_velocity(&lab, body).y, 10.0 / HERTZ * 0.3 * gravity, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// So is a corner at which a border ends at the surface's rim, on both sides of a strip: on the one
// the rim goes on in the upper patch from there, on the other in the lower one. A plank across it,
// which rests on nothing else there; then the same with the patches the other way round.
START_TEST(a_corner_of_the_rim_is_of_the_lower_patch) {
    const Vec3 point[6] = {vec3(-1.0, -1.0, 0.0), vec3(1.0, -1.0, 0.0), vec3(-1.0, 0.0, 0.0),
                           vec3(1.0, 0.0, 0.0),   vec3(-1.0, 1.0, 0.0), vec3(1.0, 1.0, 0.0)};
    const uint32_t corner[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
    const uint8_t patch[2][4] = {{0, 0, 2, 2}, {2, 2, 0, 0}};
    const MeshForm form = {point, 6, corner, 4, false, patch[_i]};
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    const Id smooth = lab_material(&lab, of_smooth, 0.0), rough = lab_material(&lab, of_rough, 0.0);
    const Id block = lab_material(&lab, of_block, 0.0);
    const Id of_patch[MESH_PATCHES_MAX - 1] = {0, rough};
    lab_set_patches(&lab, of_patch);
    lab_body(&lab, lab_mesh(&lab, &form, smooth), BODY_STATIC, (Pose){none, quat_identity()}, NULL,
             0.0, NULL);
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(1.5, 2.0, 0.1), block), BODY_DYNAMIC,
             (Pose){vec3(0.0, 0.0, 0.1), quat_identity()}, NULL, 0.0, NULL);
    lab_step(&lab, 1);
    int count = 0;
    for (uint32_t i = 0; i < lab.stepper->contact_count; i++) {
        const Vec3 at = lab.stepper->contact[i].point;
        if (fabs(at.y) < 0.1) {
            ck_assert_double_eq_tol(fabs(at.x), 1.0, 1e-9);
            ck_assert_double_eq_tol(lab.stepper->problem.contact[i].mu, 0.3, 1e-12);
            count++;
        }
    }
    ck_assert_int_eq(count, 2);
    lab_destroy(&lab);
}
END_TEST

// A snapshot has them, and goes on as the world does; its bytes tell them in the hash.
START_TEST(a_snapshot_has_patches) {
    const Ground ground = {.is_mesh = _i == 0, .has_patches = true};
    Id material;
    Lab lab = ground_lab(&ground, &material);
    const Vec3 speed = turned(vec3(2.5, 0.4, 0.0));
    const double twist[6] = {speed.x, speed.y, speed.z, 0.0, 0.0, 0.3};
    const uint32_t body =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, material), BODY_DYNAMIC,
                 placed(vec3(-0.8, 0.13, half.z), quat_identity()), twist, 0.0, NULL);
    lab_step(&lab, 20);
    World *copy = lab_copy(&lab);
    ck_assert_uint_eq(copy->primitive[0].patch_material[1], 3);
    ck_assert_uint_eq(mesh_patch(copy->primitive[0].geometry->mesh, 2 * CELLS - 1), 2);
    lab_step(&lab, 200);
    const Vec3 there = lab_position(&lab, body);
    Lab other = lab;
    other.world = copy;
    lab_step(&other, 200);
    const Vec3 again = lab_position(&other, body);
    ck_assert_mem_eq(&there, &again, sizeof(there));
    world_destroy(copy);
    lab_destroy(&lab);
}
END_TEST

// ---- in company

enum { WAYS = 2 * SOLVER_COUNT };

static void choose_way(Lab *lab, int way) {
    const SolverSettings solver = solver_default((SolverKind)(way % SOLVER_COUNT));
    step_set_solver(&lab->world->settings, &solver);
    lab_set(lab, "tolerance", 1e-12);
    lab->world->settings.contact_plane =
        way < SOLVER_COUNT ? CONTACT_PLANE_APPROACH : CONTACT_PLANE_START;
}

static uint32_t throw_block(Lab *lab, Id material, Vec3 at, Vec3 velocity) {
    const Vec3 v = turned(velocity);
    const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
    return lab_body(lab, lab_shape(lab, PRIMITIVE_BOX, half, material), BODY_DYNAMIC,
                    placed(at, quat_identity()), twist, 0.0, NULL);
}

// On a patch it goes as on a plane of that patch's material, under every solver, with planes of the
// motion and of the start; to what a step of sap's is worth (check_surface_company).
START_TEST(a_patch_is_a_plane_of_its_material_under_every_solver) {
    const int way = _i / 2;
    Vec3 at[2], velocity[2];
    for (int k = 0; k < 2; k++) {
        const Ground ground = {.is_mesh = _i % 2 == 0, .has_patches = true};
        Lab lab = leaning_lab(0.0, HERTZ);
        choose_way(&lab, way);
        Id block;
        if (k == 0) {
            put_ground(&lab, &ground, placed(none, quat_identity()), &block);
        } else {
            const Id rough = lab_material(&lab, of_rough, 0.0);
            block = lab_material(&lab, of_block, 0.0);
            lab_body(&lab, lab_shape(&lab, PRIMITIVE_PLANE, none, rough), BODY_STATIC,
                     placed(none, quat_identity()), NULL, 0.0, NULL);
        }
        const uint32_t body =
            throw_block(&lab, block, vec3(0.4, 0.13, half.z), vec3(3.0, 0.2, 0.0));
        lab_step(&lab, HERTZ / 8);
        at[k] = seen_position(&lab, body);
        velocity[k] = seen(lab_velocity(&lab, body));
        lab_destroy(&lab);
    }
    ck_assert_double_lt(velocity[0].x, 2.6); // it was braked, as by 0.6 and not by 0.3
    const double slack = way % SOLVER_COUNT == SOLVER_SAP ? 1e-6 : 1e-9;
    ck_assert_double_le(vec3_norm(vec3_sub(at[1], at[0])), slack);
    ck_assert_double_le(vec3_norm(vec3_sub(velocity[1], velocity[0])), slack);
}
END_TEST

// 6 m by 6 m, all of it of one patch.
static Id one_patch(Lab *lab, bool is_mesh, uint8_t own, Id material) {
    const Vec3 point[4] = {vec3(-3, -3, 0), vec3(3, -3, 0), vec3(3, 3, 0), vec3(-3, 3, 0)};
    const uint32_t corner[6] = {0, 1, 2, 0, 2, 3};
    const uint8_t patch[2] = {own, own};
    const double height[4] = {0};
    const MeshForm mesh = {point, 4, corner, 2, false, patch};
    const HeightForm field = {2, 2, {6.0, 6.0}, height, patch};
    return is_mesh ? lab_mesh(lab, &mesh, material) : lab_heights(lab, &field, material);
}

// From a piece onto its neighbour, each of a patch of its own, a ball that slides goes as over the
// border of two patches of one surface, under every solver. (What lies on both at several points
// may lean on any of them, and so be braked in several ways.)
START_TEST(who_crosses_to_a_piece_of_another_patch_goes_as_over_a_border) {
    const int way = _i / 4;
    const bool is_mesh[2] = {(_i & 1) == 0, (_i & 2) == 0};
    Vec3 at[2], velocity[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        choose_way(&lab, way);
        Id block;
        if (k == 0) {
            const Ground ground = {.is_mesh = is_mesh[0], .has_patches = true};
            put_ground(&lab, &ground, placed(none, quat_identity()), &block);
        } else {
            const Id smooth = lab_material(&lab, of_smooth, 0.0);
            const Id rough = lab_material(&lab, of_rough, 0.0);
            block = lab_material(&lab, of_block, 0.0);
            const Id patch[MESH_PATCHES_MAX - 1] = {smooth, rough};
            lab_set_patches(&lab, patch);
            for (uint8_t side = 0; side < 2; side++) {
                lab_body(&lab, one_patch(&lab, is_mesh[side], (uint8_t)(side + 1), 0), BODY_STATIC,
                         placed(vec3(side == 0 ? -3.0 : 3.0, 0.0, 0.0), quat_identity()), NULL, 0.0,
                         NULL);
            }
        }
        const Vec3 speed = turned(vec3(8.0, 0.1, 0.0));
        const double twist[6] = {speed.x, speed.y, speed.z, 0.0, 0.0, 0.0};
        const uint32_t body = lab_body(
            &lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(half.z, 0, 0), block), BODY_DYNAMIC,
            placed(vec3(-0.8, 0.13, half.z), quat_identity()), twist, 0.0, NULL);
        lab_step(&lab, HERTZ / 4);
        at[k] = seen_position(&lab, body);
        velocity[k] = seen(lab_velocity(&lab, body));
        lab_destroy(&lab);
    }
    ck_assert_double_gt(at[0].x, 0.2);      // it is over
    if (way % SOLVER_COUNT == SOLVER_MDP) { // braked by more than what is smooth; convex ones fly
        ck_assert_double_lt(velocity[0].x, 8.0 - 0.25 * 0.3 * gravity);
    }
    const double slack = way % SOLVER_COUNT == SOLVER_SAP ? 1e-6 : 1e-9;
    ck_assert_double_le(vec3_norm(vec3_sub(at[1], at[0])), slack);
    ck_assert_double_le(vec3_norm(vec3_sub(velocity[1], velocity[0])), slack);
}
END_TEST

// A geometry that nobody wears goes, and those behind it move up: patches are felt as before, to
// the bit.
START_TEST(patches_stay_when_another_geometry_is_removed) {
    Vec3 end[2];
    for (int k = 0; k < 2; k++) {
        const Ground ground = {.is_mesh = _i == 0, .has_patches = true};
        Lab lab = leaning_lab(0.0, HERTZ);
        lab_set_patches(&lab, (const Id[MESH_PATCHES_MAX - 1]){0});
        const Id other = one_patch(&lab, true, 1, 0);
        Id block;
        put_ground(&lab, &ground, placed(none, quat_identity()), &block);
        const uint32_t body =
            throw_block(&lab, block, vec3(-0.5, 0.13, half.z), vec3(3.0, 0.1, 0.0));
        lab_step(&lab, 20);
        if (k == 1) { // whose shape lets go of it, as a removal would want
            uint32_t shape;
            ck_assert(world_find_shape(lab.world, other, &shape));
            Primitive *primitive = &lab.world->primitive[lab.world->shape[shape].primitive_first];
            primitive->kind = PRIMITIVE_PLANE;
            primitive->geometry = NULL;
            primitive->geometry_number = 0;
            const uint32_t first = 0;
            world_remove_geometries(lab.world, &first, 1);
        }
        lab_step(&lab, HERTZ / 2);
        end[k] = lab_position(&lab, body);
        lab_destroy(&lab);
    }
    ck_assert_mem_eq(&end[0], &end[1], sizeof(Vec3));
}
END_TEST

// Who sleeps on a patch of a slope is woken where its material is changed, and slides down at
// g (sin - mu cos); where another patch's is, it stays where it was.
START_TEST(who_sleeps_on_a_patch_feels_its_new_material) {
    const bool is_own = _i / 2 == 0;
    const double sine = 0.4, cosine = sqrt(1.0 - sine * sine);
    const Ground ground = {.is_mesh = _i % 2 == 0, .has_patches = true};
    Lab lab = leaning_lab(sine, HERTZ);
    lab_set(&lab, "tolerance", 1e-12);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    world_set_settings(lab.world, &settings);
    Id block;
    put_ground(&lab, &ground, placed(none, quat_identity()), &block);
    const uint32_t body = throw_block(&lab, block, vec3(1.1, -1.5, half.z), none);
    lab_step(&lab, 2 * HERTZ);
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    const Vec3 slept = seen_position(&lab, body);

    const double friction = 0.1;
    const uint64_t smooth = 1, rough = 2, of = is_own ? rough : smooth; // as put_ground adds them
    const MaterialUpdate update = {.count = 1, .id = &of, .friction = &friction};
    Error error = {0};
    ck_assert_int_eq(world_update_materials(lab.world, &update, &error), STATUS_OK);
    ck_assert(!sleep_is_asleep(lab.world, body));
    const int steps = HERTZ / 4;
    lab_step(&lab, steps);
    const double rate = gravity * (sine - sqrt(friction * of_block) * cosine);
    ck_assert_double_eq_tol(seen(lab_velocity(&lab, body)).y, is_own ? rate * steps / HERTZ : 0.0,
                            1e-8);
    ck_assert(is_own || vec3_norm(vec3_sub(seen_position(&lab, body), slept)) <= 1e-8);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_patches(void) {
    TCase *tcase = tcase_create("patches");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_block_is_braked_by_the_patches_under_its_corners, 0, 2);
    tcase_add_loop_test(tcase, patches_of_one_material_are_none, 0, 2);
    tcase_add_loop_test(tcase, the_border_is_of_the_lower_patch, 0, 2);
    tcase_add_loop_test(tcase, a_corner_of_the_rim_is_of_the_lower_patch, 0, 2);
    tcase_add_loop_test(tcase, a_snapshot_has_patches, 0, 2);
    tcase_add_loop_test(tcase, a_patch_is_a_plane_of_its_material_under_every_solver, 0, 2 * WAYS);
    tcase_add_loop_test(tcase, who_crosses_to_a_piece_of_another_patch_goes_as_over_a_border, 0,
                        4 * WAYS);
    tcase_add_loop_test(tcase, patches_stay_when_another_geometry_is_removed, 0, 2);
    tcase_add_loop_test(tcase, who_sleeps_on_a_patch_feels_its_new_material, 0, 4);
    return tcase;
}

SUITE_MAIN("step/patches", case_patches)
