// SPDX-License-Identifier: MIT
// The door: what is refused has changed nothing, what passes has changed all of it.
#include "run/worlds/door.h"

#include "step/snapshot/snapshot.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static const WorldLimits limits = {.body_count_max = 10, .bytes_max = (size_t)1 << 28};
static const double on_ground[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0.1, 1, 0, 0, 0};

typedef struct Fixture {
    Door door;
    Arena arena;
} Fixture;

static Status pass(Fixture *fixture, Input input, Error *error) {
    return door_change(&fixture->door, &input, &fixture->arena, NULL, NULL, error);
}

// A ground and a ball that rests on it.
static Fixture open_door(void) {
    Fixture fixture;
    Error error = {0};
    arena_init(&fixture.arena, 1 << 24);
    ck_assert_int_eq(door_init(&fixture.door, &limits, &error), STATUS_OK);
    const uint32_t kinds[2] = {PRIMITIVE_PLANE, PRIMITIVE_SPHERE},
                   body_kinds[2] = {BODY_STATIC, BODY_DYNAMIC};
    const double sizes[6] = {0, 0, 0, 0.1, 0, 0};
    const uint64_t shapes[2] = {1, 2};
    ck_assert_int_eq(
        pass(&fixture,
             (Input){
                 .kind = INPUT_SHAPES,
                 .shapes = {.shape_count = 2, .primitive_count = 2, .kind = kinds, .size = sizes}},
             &error),
        STATUS_OK);
    ck_assert_int_eq(
        pass(
            &fixture,
            (Input){.kind = INPUT_BODIES,
                    .bodies = {.count = 2, .pose = on_ground, .kind = body_kinds, .shape = shapes}},
            &error),
        STATUS_OK);
    return fixture;
}

static void close_door(Fixture *fixture) {
    door_deinit(&fixture->door);
    arena_deinit(&fixture->arena);
}

static void refuse(Fixture *fixture, Input input, Status status, const char *field) {
    Error error = {0};
    uint64_t hash = snapshot_hash(fixture->door.world);
    ck_assert_int_eq(pass(fixture, input, &error), status);
    ck_assert_str_eq(error.field, field);
    ck_assert_uint_gt(strlen(error.message), 10);
    fixture->door.world->definition_is_hashed = false; // the cache must not hide a change
    ck_assert_uint_eq(snapshot_hash(fixture->door.world), hash);
}

START_TEST(bad_bodies_are_refused_by_column_and_entry) {
    Fixture fixture = open_door();
    double pose[14];
    const struct {
        size_t entry;
        double value;
        const char *field;
    } bad_poses[] = {
        {7, NAN, "pose[7]"}, {9, HUGE_VAL, "pose[9]"}, {1, 1e10, "pose[1]"}, {3, 0.0, "pose[3]"}};
    const double mass[2] = {1.0, 1.0}, inertia[12] = {1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        memcpy(pose, on_ground, sizeof(pose));
        pose[bad_poses[i].entry] = bad_poses[i].value;
        refuse(&fixture,
               (Input){.kind = INPUT_BODIES,
                       .bodies = {.count = 2, .pose = pose, .mass = mass, .inertia = inertia}},
               STATUS_INVALID_ARGUMENT, bad_poses[i].field);
    }
    const double bad_mass[2] = {1.0, -1.0}, no_mass[2] = {0.0, 1.0};
    refuse(&fixture,
           (Input){.kind = INPUT_BODIES,
                   .bodies = {.count = 2, .pose = on_ground, .mass = bad_mass, .inertia = inertia}},
           STATUS_INVALID_ARGUMENT, "mass[1]");
    refuse(&fixture,
           (Input){.kind = INPUT_BODIES,
                   .bodies = {.count = 2, .pose = on_ground, .mass = no_mass, .inertia = inertia}},
           STATUS_INVALID_ARGUMENT, "mass[0]");
    const uint64_t unknown[2] = {2, 3}, plane[2] = {2, 1};
    refuse(
        &fixture,
        (Input){.kind = INPUT_BODIES, .bodies = {.count = 2, .pose = on_ground, .shape = unknown}},
        STATUS_NOT_FOUND, "shape[1]");
    refuse(&fixture,
           (Input){.kind = INPUT_BODIES, .bodies = {.count = 2, .pose = on_ground, .shape = plane}},
           STATUS_INVALID_ARGUMENT, "shape[1]");
    close_door(&fixture);
}
END_TEST

START_TEST(inertia_obeys_the_triangle_inequality_or_is_refused) {
    Fixture fixture = open_door();
    Error error = {0};
    const double mass[1] = {2.0};
    const double rod[6] = {1, 1, 2, 0, 0, 0}; // equality: a thin disc
    ck_assert_int_eq(
        pass(&fixture,
             (Input){.kind = INPUT_BODIES,
                     .bodies = {.count = 1, .pose = on_ground, .mass = mass, .inertia = rod}},
             &error),
        STATUS_OK);
    const double wrong[4][6] = {
        {1, 1, 2.1, 0, 0, 0}, {1, 1, 1, 2, 0, 0}, {-1, 1, 1, 0, 0, 0}, {0, 1, 1, 0, 0, 0}};
    for (size_t i = 0; i < 4; i++) {
        refuse(
            &fixture,
            (Input){.kind = INPUT_BODIES,
                    .bodies = {.count = 1, .pose = on_ground, .mass = mass, .inertia = wrong[i]}},
            STATUS_INVALID_ARGUMENT, "inertia[0]");
    }
    close_door(&fixture);
}
END_TEST

START_TEST(the_limit_of_bodies_is_named) {
    Fixture fixture = open_door();
    double poses[9 * 7];
    for (size_t i = 0; i < 9; i++) {
        memcpy(poses + 7 * i, on_ground, 7 * sizeof(double));
    }
    Error error = {0};
    Input input = {.kind = INPUT_BODIES, .bodies = {.count = 9, .pose = poses}};
    ck_assert_int_eq(pass(&fixture, input, &error), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "--bodies-max"));
    close_door(&fixture);
}
END_TEST

START_TEST(settings_and_bodies_change_together_or_not_at_all) {
    Fixture fixture = open_door();
    const uint64_t unknown[1] = {99}, known[1] = {2};
    SettingsChange change = {.given = CHANGE_TIME_STEP, .value.time_step = 0.5};
    refuse(&fixture,
           (Input){.kind = INPUT_SET,
                   .set = {.settings = change,
                           .update = {.count = 1, .id = unknown, .pose = on_ground}}},
           STATUS_NOT_FOUND, "ids[0]");
    change.value.time_step = 0.0;
    refuse(&fixture,
           (Input){
               .kind = INPUT_SET,
               .set = {.settings = change, .update = {.count = 1, .id = known, .pose = on_ground}}},
           STATUS_INVALID_ARGUMENT, "settings.time_step");
    change = (SettingsChange){.given = CHANGE_INTEGRATOR, .value.integrator = INTEGRATOR_COUNT};
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.integrator");
    change = (SettingsChange){.given = CHANGE_ROTATION, .value.rotation = 77};
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.rotation");
    change = (SettingsChange){.given = CHANGE_RECOVERY_SPEED, .value.recovery_speed = -1.0};
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.recovery_speed");
    change = (SettingsChange){.given = CHANGE_ROTATION, .value.rotation = settings_choice(256)};
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.rotation");
    change = (SettingsChange){.given = CHANGE_SLEEP_SPEED, .value.sleep_speed = NAN};
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.sleep_speed");
    change = (SettingsChange){.given = CHANGE_SLEEP_TIME, .value.sleep_time = -1e-9};
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.sleep_time");
    change = (SettingsChange){.given = CHANGE_PARAMETERS, .parameter_given = 1};
    change.value.parameter[0] = 7.0; // a tolerance above its range
    refuse(&fixture, (Input){.kind = INPUT_SET, .set = {.settings = change}},
           STATUS_INVALID_ARGUMENT, "settings.parameters.mdp.tolerance");
    close_door(&fixture);
}
END_TEST

// The order stays in the fixture's arena.
static StepRun begin_steps(Fixture *fixture, uint64_t steps) {
    Input *order = arena_take(&fixture->arena, sizeof(*order));
    *order = (Input){.kind = INPUT_STEP, .step = {.steps = steps}};
    Error error = {0};
    StepRun run;
    ck_assert_int_eq(door_step_begin(&fixture->door, order, &fixture->arena, &run, &error),
                     STATUS_OK);
    return run;
}

START_TEST(steps_are_counted_and_the_worst_is_kept) {
    Fixture fixture = open_door();
    StepRun run = begin_steps(&fixture, 100);
    Error error = {0};
    ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.arena, UINT64_MAX, NULL, &error),
                     STATUS_OK);
    ck_assert_uint_eq(run.tally.done, 100);
    ck_assert_uint_eq(run.steps_left, 0);
    ck_assert_uint_eq(fixture.door.world->step, 100);
    ck_assert_uint_eq(run.tally.last.contact_count, 1);
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        ck_assert_double_ge(run.tally.worst[i], run.tally.last.certificate.entry[i]);
        ck_assert_uint_ge(run.tally.worst_step[i], 1);
        ck_assert_uint_le(run.tally.worst_step[i], 100);
    }
    close_door(&fixture);
}
END_TEST

START_TEST(a_step_that_fails_is_not_told_as_the_last_one_done) {
    Fixture fixture = open_door();
    StepRun run = begin_steps(&fixture, 2);
    Error error = {0};
    ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.arena, 0, NULL, &error), STATUS_OK);
    ck_assert_uint_eq(run.tally.done, 1);
    StepReport first = run.tally.last;
    ck_assert(first.certificate.converged);
    // a spin whose square is not finite leaves no orientation
    fixture.door.world->velocity[6 + 3] = 1e160;
    ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.arena, 0, NULL, &error),
                     STATUS_FAILED_PRECONDITION);
    ck_assert_uint_eq(run.tally.done, 1);
    ck_assert(run.tally.last.certificate.converged);
    ck_assert_mem_eq(&run.tally.last.energy, &first.energy, sizeof(first.energy));
    ck_assert(!fixture.door.stepper->has_last);
    close_door(&fixture);
}
END_TEST

// What was before is not told of the world that is another by now: its contacts, nor who was near
// whom. What comes next is what a stepper does that has just been made.
START_TEST(a_restored_world_has_no_last_step) {
    Fixture fixture = open_door();
    Door *door = &fixture.door;
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    uint64_t hash[2];
    ck_assert_int_eq(snapshot_write(door->world, &fixture.arena, &bytes, &count, &error),
                     STATUS_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert(!door->stepper->has_last);
        StepRun run = begin_steps(&fixture, 3);
        ck_assert_int_eq(door_step(door, &run, &fixture.arena, UINT64_MAX, NULL, &error),
                         STATUS_OK);
        ck_assert(door->stepper->has_last);
        hash[i] = snapshot_hash(door->world);
        const Input back = {.kind = INPUT_RESTORE,
                            .restore = {.snapshot = bytes, .snapshot_bytes = count}};
        ck_assert_int_eq(pass(&fixture, back, &error), STATUS_OK);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    close_door(&fixture);
}
END_TEST

static bool always(void *context) {
    ++*(int *)context;
    return true;
}

START_TEST(steps_stop_between_two_when_asked_or_out_of_time) {
    Fixture fixture = open_door();
    StepRun run = begin_steps(&fixture, 1000000000u);
    Error error = {0};
    int asked = 0;
    Stop stop = {.asked = always, .context = &asked};
    Context context = {.stop = &stop};
    ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.arena, UINT64_MAX, &context, &error),
                     STATUS_OK);
    ck_assert_int_ge(asked, 1);
    ck_assert_uint_ge(run.tally.done, 1);
    ck_assert_uint_lt(run.tally.done, 1000);
    uint64_t before = run.tally.done;
    ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.arena, 0, NULL, &error), STATUS_OK);
    ck_assert_uint_gt(run.tally.done, before);
    ck_assert_uint_eq(fixture.door.world->step,
                      run.tally.done); // what was done is what the world says
    close_door(&fixture);
}
END_TEST

static TCase *case_door(void) {
    TCase *tcase = tcase_create("door");
    tcase_add_test(tcase, bad_bodies_are_refused_by_column_and_entry);
    tcase_add_test(tcase, inertia_obeys_the_triangle_inequality_or_is_refused);
    tcase_add_test(tcase, the_limit_of_bodies_is_named);
    tcase_add_test(tcase, settings_and_bodies_change_together_or_not_at_all);
    tcase_add_test(tcase, steps_are_counted_and_the_worst_is_kept);
    tcase_add_test(tcase, a_step_that_fails_is_not_told_as_the_last_one_done);
    tcase_add_test(tcase, a_restored_world_has_no_last_step);
    tcase_add_test(tcase, steps_stop_between_two_when_asked_or_out_of_time);
    return tcase;
}

SUITE_MAIN("run/door", case_door)
