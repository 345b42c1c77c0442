// SPDX-License-Identifier: MIT
// Steps that throw somebody, and do not come to their end: whichever of their rounds they come to,
// they have not happened, and the step that is taken then is the one that was not given up.
#include "step/snapshot/snapshot.h"
#include "support/shot_row.h"
#include "support/suite.h"

enum { CASES = 4, ROWS = 40 }; // asleep or not, divided or not

// Rows beside each other before walls, each of which a shot hits in this step.
static ShotRowLab make_rows(int number) {
    ShotRow row = shot_row_default();
    row.turn = 2;
    ShotRowLab of = shot_row_create(&row);
    const double pitch = 2.0 * row.half;
    const Id wall = lab_shape(&of.lab, PRIMITIVE_BOX, vec3(0.002, 0.1, 0.1), 0),
             shot = lab_shape(&of.lab, PRIMITIVE_SPHERE, vec3(SHOT_ROW_SHOT_HALF, 0.0, 0.0), 0);
    for (int i = 1; i < ROWS; i++) {
        for (uint32_t k = 0; k < row.count; k++) {
            shot_row_add(&of, vec3(pitch * k, 0.5 * i, 0.0));
        }
        lab_body(&of.lab, wall, BODY_STATIC,
                 shot_row_placed(&of, vec3(pitch * row.count + 0.03, 0.5 * i, 0.0)), NULL, 0.0,
                 NULL);
    }
    if (number % 2 == 1) {
        shot_row_sleep(&of);
    }
    lab_divide(&of.lab, number / 2 == 1 ? 3 : 1);
    const Vec3 v = shot_row_turned(&of, vec3(row.speed, 0.0, 0.0));
    const double velocity[6] = {v.x, v.y, v.z};
    for (int i = 1; i < ROWS; i++) {
        lab_body(&of.lab, shot, BODY_DYNAMIC, shot_row_placed(&of, vec3(-0.05, 0.5 * i, 0.0)),
                 velocity, row.shot_mass, NULL);
    }
    shot_row_shoot(&of);
    return of;
}

static Status try_step(ShotRowLab *of, const Context *context) {
    const StepInput input = {.time_step = 1.0 / of->row.hertz, .context = *context};
    Lab *lab = &of->lab;
    Error error = {0};
    return stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL, &lab->report, &error);
}

static uint64_t hash_after(int number) {
    ShotRowLab of = make_rows(number);
    lab_step(&of.lab, 1);
    shot_row_check_order(&of, SHOT_ROW_NOISE);
    const uint64_t hash = snapshot_hash(of.lab.world);
    lab_destroy(&of.lab);
    return hash;
}

START_TEST(memory_that_ends_in_any_round_leaves_the_world_as_it_was) {
    const uint64_t expected = hash_after(_i);
    uint32_t failed = 0;
    bool is_done = false;
    for (size_t limit = 1 << 14; !is_done; limit += limit / 8) {
        ShotRowLab of = make_rows(_i);
        const uint64_t hash = snapshot_hash(of.lab.world);
        arena_deinit(&of.lab.scratch);
        arena_init(&of.lab.scratch, limit);
        const Status status = try_step(&of, &(Context){0});
        is_done = status == STATUS_OK;
        if (!is_done) {
            ck_assert_int_eq(status, STATUS_RESOURCE_EXHAUSTED);
        }
        ck_assert_uint_eq(snapshot_hash(of.lab.world), is_done ? expected : hash);
        failed += !is_done;
        lab_destroy(&of.lab);
    }
    ck_assert_uint_gt(failed, 3);
}
END_TEST

typedef struct StopCounter {
    uint32_t count, last; // says yes at the last
} StopCounter;

static bool ask(void *context) {
    StopCounter *asker = context;
    return ++asker->count == asker->last;
}

START_TEST(a_step_that_is_given_up_in_any_round_has_not_happened) {
    const uint64_t expected = hash_after(_i);
    ShotRowLab of = make_rows(_i);
    const uint64_t hash = snapshot_hash(of.lab.world);
    StopCounter asker = {.last = 1};
    const Stop stop = {.asked = ask, .context = &asker};
    const Context context = {.stop = &stop};
    Status status;
    while ((status = try_step(&of, &context)) == STATUS_ABORTED) {
        ck_assert_uint_eq(snapshot_hash(of.lab.world), hash);
        asker = (StopCounter){.last = asker.last + 1};
    }
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert_uint_gt(asker.last, 2); // in the solve of either round
    ck_assert_uint_eq(snapshot_hash(of.lab.world), expected);
    lab_destroy(&of.lab);
}
END_TEST

static TCase *case_failing(void) {
    TCase *tcase = tcase_create("failing");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, memory_that_ends_in_any_round_leaves_the_world_as_it_was, 0, CASES);
    tcase_add_loop_test(tcase, a_step_that_is_given_up_in_any_round_has_not_happened, 0, CASES);
    return tcase;
}

SUITE_MAIN("step/pushes/failing", case_failing)
