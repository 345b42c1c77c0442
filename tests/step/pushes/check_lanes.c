// SPDX-License-Identifier: MIT
// Many rows that fast bodies hit in one world, over several blocks of bodies: whoever does the
// blocks, and in whatever order, its bits are those of one lane.
#include "step/snapshot/snapshot.h"
#include "support/crew.h"
#include "support/shot_row.h"
#include "support/suite.h"

enum { ROWS = 90, STEPS = 5 };
static const uint32_t lanes[] = {1, 2, 7};
enum { LANES = 3, CASES = 2 * 2 * LANES }; // asleep or not, divided or not

// Beside each other, each before a wall of its own; some are too short to throw anybody.
static ShotRowLab make_rows(int number) {
    ShotRow row = shot_row_default();
    row.turn = 1;
    ShotRowLab of = shot_row_create(&row);
    const Id wall = lab_shape(&of.lab, PRIMITIVE_BOX, vec3(0.002, 0.1, 0.1), 0);
    const double pitch = 2.0 * row.half;
    for (int i = 1; i < ROWS; i++) {
        const int count = 1 + i % 7;
        for (int k = 0; k < count; k++) {
            shot_row_add(&of, vec3(pitch * k, 0.5 * i, 0.0));
        }
        lab_body(&of.lab, wall, BODY_STATIC,
                 shot_row_placed(&of, vec3(pitch * count + 0.03, 0.5 * i, 0.0)), NULL, 0.0, NULL);
    }
    if (number % 2 == 1) {
        shot_row_sleep(&of);
    }
    lab_divide(&of.lab, number / 2 % 2 == 1 ? 3 : 1);
    const Id shot = lab_shape(&of.lab, PRIMITIVE_SPHERE, vec3(0.02, 0.0, 0.0), 0);
    for (int i = 1; i < ROWS; i++) {
        const Vec3 v = shot_row_turned(&of, vec3(15.0 + 0.1 * i, 0.0, 0.0));
        const double velocity[6] = {v.x, v.y, v.z};
        lab_body(&of.lab, shot, BODY_DYNAMIC, shot_row_placed(&of, vec3(-0.05, 0.5 * i, 0.0)),
                 velocity, row.shot_mass, NULL);
    }
    shot_row_shoot(&of);
    return of;
}

START_TEST(any_number_of_lanes_gives_the_same_bits) {
    ShotRowLab alone = make_rows(_i), of = make_rows(_i);
    Crew *crew = crew_create(lanes[_i / 4], (uint64_t)_i);
    of.lab.context.tasks = crew_tasks(crew);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&alone.lab, 1);
        lab_step(&of.lab, 1);
        ck_assert_uint_eq(snapshot_hash(of.lab.world), snapshot_hash(alone.lab.world));
        ck_assert_mem_eq(&of.lab.report.energy, &alone.lab.report.energy, sizeof(StepEnergy));
        ck_assert_uint_eq(of.lab.report.contact_count, alone.lab.report.contact_count);
        shot_row_check_order(&of, SHOT_ROW_NOISE);
    }
    crew_destroy(crew);
    lab_destroy(&of.lab);
    lab_destroy(&alone.lab);
}
END_TEST

static TCase *case_lanes(void) {
    TCase *tcase = tcase_create("lanes");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, any_number_of_lanes_gives_the_same_bits, 0, CASES);
    return tcase;
}

SUITE_MAIN("step/pushes/lanes", case_lanes)
