// SPDX-License-Identifier: MIT
// Rows that fast bodies hit, one some steps after the other, go on with the same bits from any of
// these: where a world is restored, and in copies that go their own way from there.
#include "step/snapshot/snapshot.h"
#include "support/shot_row.h"
#include "support/suite.h"

enum { STEPS = 8, CASES = 4 * SHOT_ROW_TURNS }; // asleep or not, divided or not

// Beside the row another, and before it a wall; its shot comes three steps later than the other.
static const double beside = 1.0, later = 0.3;

static void add_second(ShotRowLab *of) {
    const ShotRow *row = &of->row;
    const double pitch = 2.0 * row->half, wall = pitch * row->count + row->room;
    for (uint32_t i = 0; i < row->count; i++) {
        shot_row_add(of, vec3(pitch * i, beside, 0.0));
    }
    const Id shape = lab_shape(&of->lab, PRIMITIVE_BOX, vec3(row->wall_half, 0.3, 0.3), 0);
    lab_body(&of->lab, shape, BODY_STATIC, shot_row_placed(of, vec3(wall, beside, 0.0)), NULL, 0.0,
             NULL);
}

static void shoot_at_second(ShotRowLab *of) {
    const Vec3 v = shot_row_turned(of, vec3(of->row.speed, 0.0, 0.0));
    const double velocity[6] = {v.x, v.y, v.z};
    const Id shape = lab_shape(&of->lab, PRIMITIVE_SPHERE, vec3(SHOT_ROW_SHOT_HALF, 0.0, 0.0), 0);
    lab_body(&of->lab, shape, BODY_DYNAMIC, shot_row_placed(of, vec3(-later, beside, 0.0)),
             velocity, of->row.shot_mass, NULL);
}

static ShotRowLab shoot(int number) {
    ShotRow row = shot_row_default();
    row.turn = number / 4;
    row.restitution = 0.3;
    ShotRowLab of = shot_row_create(&row);
    add_second(&of);
    if (number % 2 == 1) {
        shot_row_sleep(&of);
    }
    lab_divide(&of.lab, number / 2 % 2 == 1 ? 3 : 1);
    shoot_at_second(&of);
    shot_row_shoot(&of);
    return of;
}

START_TEST(a_restored_world_goes_on_with_the_same_bits) {
    ShotRowLab of = shoot(_i), twin = shoot(_i);
    for (int i = 0; i < STEPS; i++) {
        lab_restore(&twin.lab);
        lab_step(&of.lab, 1);
        lab_step(&twin.lab, 1);
        ck_assert_uint_eq(snapshot_hash(of.lab.world), snapshot_hash(twin.lab.world));
        shot_row_check_order(&of, SHOT_ROW_SLOW);
    }
    lab_destroy(&of.lab);
    lab_destroy(&twin.lab);
}
END_TEST

// What a fork does, a copy's second shot, is nothing to the world that it was taken of, nor to its
// stepper; and a fork that does nothing else is that world.
START_TEST(copies_go_their_own_way) {
    for (int at = 0; at < STEPS; at++) {
        ShotRowLab of = shoot(_i), fork = shoot(_i), plain = shoot(_i);
        lab_step(&of.lab, at);
        World *copies[2] = {lab_copy(&of.lab), lab_copy(&of.lab)};
        ShotRowLab *forks[2] = {&fork, &plain};
        for (int k = 0; k < 2; k++) {
            World *old = forks[k]->lab.world;
            forks[k]->lab.world = copies[k]; // which its stepper has not seen
            forks[k]->lab.world->bodies_moved = true;
            copies[k] = old;
        }
        fork.row.gap += 0.2;
        shot_row_shoot(&fork);
        for (int i = at; i < STEPS; i++) {
            lab_step(&fork.lab, 1);
            lab_step(&of.lab, 1);
            lab_step(&plain.lab, 1);
            ck_assert_uint_eq(snapshot_hash(plain.lab.world), snapshot_hash(of.lab.world));
            ck_assert_uint_ne(snapshot_hash(fork.lab.world), snapshot_hash(of.lab.world));
        }
        for (int k = 0; k < 2; k++) {
            world_destroy(copies[k]);
        }
        lab_destroy(&of.lab);
        lab_destroy(&fork.lab);
        lab_destroy(&plain.lab);
    }
}
END_TEST

static TCase *case_copies(void) {
    TCase *tcase = tcase_create("copies");
    tcase_add_loop_test(tcase, a_restored_world_goes_on_with_the_same_bits, 0, CASES);
    tcase_add_loop_test(tcase, copies_go_their_own_way, 0, CASES);
    return tcase;
}

SUITE_MAIN("step/pushes/copies", case_copies)
