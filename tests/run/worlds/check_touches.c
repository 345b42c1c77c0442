// SPDX-License-Identifier: MIT
// Who touches whom, step by step: of bounces, rolling, resting and sleeping everything is known
// beforehand, and what a chunk tells leads whoever takes it up to the same.
#include "run/worlds/touches.h"

#include "support/heap.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81; // [m/s^2]

// What the chunks told: the last word on each touch.
typedef struct Told {
    Touch touch[256];
    size_t count;
} Told;

static void hear(Told *told, const Touch *touch) {
    size_t i = 0;
    while (i < told->count && (touch_compare(&told->touch[i], touch) != 0 ||
                               told->touch[i].first_step != touch->first_step)) {
        i++;
    }
    ck_assert_uint_lt(i, sizeof(told->touch) / sizeof(told->touch[0]));
    told->touch[i] = *touch;
    told->count += i == told->count;
}

// Writes a chunk and reads it back.
static void tell(Touches *touches, bool is_complete, uint64_t step, Told *told) {
    EventsBody body;
    EventsChunk events;
    Error error = {0};
    ck_assert(touches_tell(touches, is_complete, &body));
    size_t count = events_write(&body, NULL);
    uint8_t *bytes = malloc(count);
    ck_assert_uint_eq(events_write(&body, bytes), count);
    const Chunk chunk = {
        .kind = CHUNK_EVENTS, .last_step = step, .body = bytes, .body_bytes = count};
    ck_assert_msg(events_open(&chunk, &events, &error) == STATUS_OK, "%s", error.message);
    for (size_t i = 0; i < events.changed_count; i++) {
        const Touch touch = events_get(&events, i);
        hear(told, &touch);
    }
    touches_told(touches);
    free(bytes);
}

// Steps on, with a chunk every `chunk_steps`.
static void watch(Lab *lab, Touches *touches, uint64_t *step, int count, int chunk_steps,
                  Told *told) {
    for (int i = 0; i < count; i++) {
        lab_step(lab, 1);
        ck_assert(touches_add(touches, lab->world, lab->stepper, ++*step));
        if ((i + 1) % chunk_steps == 0 || i + 1 == count) {
            tell(touches, false, *step, told);
        }
    }
}

static int compare_begins(const void *left, const void *right) {
    const Touch *a = left, *b = right;
    return a->first_step != b->first_step ? (a->first_step < b->first_step ? -1 : 1)
                                          : touch_compare(a, b);
}

static void sort(Told *told) {
    qsort(told->touch, told->count, sizeof(told->touch[0]), compare_begins);
}

static void set_solver(Lab *lab, SolverKind kind) {
    WorldSettings settings = lab->world->settings;
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&settings, &solver);
    world_set_settings(lab->world, &settings);
}

static Pose at(double x, double y, double z) {
    return (Pose){.position = {x, y, z}, .orientation = {1.0, 0.0, 0.0, 0.0}};
}

static void close_all(Lab *lab, Touches *touches) {
    touches_deinit(touches);
    lab_destroy(lab);
}

// ---- bounces

static const SolverKind bouncing[] = {SOLVER_MDP, SOLVER_LCP, SOLVER_CCP}; // who know restitution

// A ball of mass m is dropped from height z above touching, with restitution e. It meets the ground
// at t_1 = sqrt(2 z/g) with v_1 = sqrt(2 g z), and again at t_(k+1) = t_k + 2 e v_k/g with v_(k+1)
// = e v_k; each push is m (1 + e) v_k. Steps of symplectic Euler meet it up to a step early or
// late, so that each speed is up to 2 g h off, of which e is left in the next: within
// 2 g h/(1 - e) in all, and each flight is within two steps of its length and what that changes it
// by. The push carries the weight of the step that it takes, m g h, and e of that as well.
START_TEST(a_ball_bounces_as_often_and_as_hard_as_it_must) {
    const double h = 1e-3, e = 0.5, m = 2.0, z = 1.0, radius = 0.1;
    Lab lab = lab_create(gravity, h);
    set_solver(&lab, bouncing[_i]);
    const Id bouncy = lab_material(&lab, 0.3, e);
    lab_ground(&lab, bouncy);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, (Vec3){radius, 0.0, 0.0}, bouncy);
    lab_body(&lab, ball, BODY_DYNAMIC, at(0.0, 0.0, z + radius), NULL, m, NULL);
    Touches touches = {0};
    Told told = {0};
    uint64_t step = 0;
    watch(&lab, &touches, &step, 1300, 100, &told);
    sort(&told);
    const double speed_error = 2.0 * gravity * h / (1.0 - e);
    double time = sqrt(2.0 * z / gravity), speed = sqrt(2.0 * gravity * z), late = 2.0 * h;
    ck_assert_uint_ge(told.count, 4);
    for (size_t k = 0; k < 4; k++) {
        const Touch *touch = &told.touch[k];
        ck_assert(touch->body == 1 && touch->other == 2);
        ck_assert_double_eq_tol((double)touch->first_step * h, time, late);
        ck_assert_double_eq_tol(touch->approach, speed, speed_error);
        ck_assert_double_eq_tol(touch->hardest, m * (1.0 + e) * touch->approach,
                                m * (1.0 + e) * gravity * h);
        ck_assert(touch->is_over && touch->last_step == touch->first_step);
        ck_assert(touch->hardest_step == touch->first_step);
        ck_assert(touch->hardest == touch->first_impulse);
        time += 2.0 * e * speed / gravity;
        late += 2.0 * h + 2.0 * e * speed_error / gravity;
        speed *= e;
    }
    close_all(&lab, &touches);
}
END_TEST

// ---- resting

static const SolverKind all[] = {SOLVER_MDP, SOLVER_LCP, SOLVER_CCP, SOLVER_SAP, SOLVER_COMPLIANT};

// A box that stands on the ground touches it from the first step on, once, and without an end. What
// it bears is its weight, m g h in every step: within a thousandth of it for the rigid ones, whose
// tolerance is a millionth of the problem's speeds, which are g h or more. Compliant ground is
// pressed in first, and pushes back harder than that while it swings in: within a twentieth.
START_TEST(a_box_at_rest_touches_once_and_for_good) {
    const double h = 1.0 / 240.0, m = 3.0;
    const bool is_rigid = all[_i] != SOLVER_SAP && all[_i] != SOLVER_COMPLIANT;
    Lab lab = lab_create(gravity, h);
    set_solver(&lab, all[_i]);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, (Vec3){0.1, 0.2, 0.15}, 0);
    lab_body(&lab, box, BODY_DYNAMIC, at(0.0, 0.0, 0.15), NULL, m, NULL);
    Touches touches = {0};
    Told told = {0};
    uint64_t step = 0;
    watch(&lab, &touches, &step, 400, 37, &told);
    ck_assert_uint_eq(told.count, 1);
    const Touch *touch = &told.touch[0];
    ck_assert(!touch->is_over && touch->first_step == 1);
    ck_assert_double_eq(touch->approach, 0.0);
    ck_assert_double_eq_tol(touch->hardest, m * gravity * h,
                            (is_rigid ? 1e-3 : 0.05) * m * gravity * h);
    ck_assert_uint_eq(touches.open_count, 1);
    ck_assert_uint_eq(touches.open[0].touch.last_step, 400);
    close_all(&lab, &touches);
}
END_TEST

// ---- rolling

// A ball rolls at 1 m/s over the seam of two tiles, which both could bear it as long as they are in
// reach: it stands on one of them in every step, and leaves the first one before its middle is a
// radius behind the seam.
START_TEST(a_ball_leaves_one_tile_for_the_next) {
    const double h = 0.004, radius = 0.1, begin = -0.3;
    Lab lab = lab_create(gravity, h);
    const Id tile = lab_shape(&lab, PRIMITIVE_BOX, (Vec3){0.5, 0.5, 0.1}, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, (Vec3){radius, 0.0, 0.0}, 0);
    const double velocity[6] = {1.0, 0.0, 0.0, 0.0, 1.0 / radius, 0.0};
    lab_body(&lab, tile, BODY_STATIC, at(-0.5, 0.0, -0.1), NULL, 0.0, NULL);
    lab_body(&lab, tile, BODY_STATIC, at(0.5, 0.0, -0.1), NULL, 0.0, NULL);
    lab_body(&lab, ball, BODY_DYNAMIC, at(begin, 0.0, radius), velocity, 1.0, NULL);
    Touches touches = {0};
    Told told = {0};
    uint64_t step = 0;
    watch(&lab, &touches, &step, 150, 10, &told);
    sort(&told);
    ck_assert_uint_eq(told.count, 2);
    const Touch *left = &told.touch[0], *right = &told.touch[1];
    ck_assert(left->body == 1 && right->body == 2 && left->other == 3 && right->other == 3);
    ck_assert(left->is_over && !right->is_over && left->first_step == 1);
    ck_assert_uint_eq(right->first_step, left->last_step + 1);
    const double x = begin + (double)left->last_step * h;
    ck_assert(x >= 0.0 && x < radius);
    close_all(&lab, &touches);
}
END_TEST

// ---- what goes, and what sleeps

START_TEST(a_body_that_goes_ends_its_touches) {
    Lab lab = lab_create(gravity, 1.0 / 240.0);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, (Vec3){0.1, 0.1, 0.1}, 0);
    for (int i = 0; i < 2; i++) {
        lab_body(&lab, box, BODY_DYNAMIC, at(0.0, 0.0, 0.1 + 0.2 * i), NULL, 1.0, NULL);
    }
    Touches touches = {0};
    Told told = {0};
    uint64_t step = 0;
    watch(&lab, &touches, &step, 20, 20, &told);
    ck_assert_uint_eq(touches.open_count, 2);
    const Id upper = 3;
    world_remove_bodies(lab.world, &(uint32_t){2}, 1);
    stepper_reset(lab.stepper);
    watch(&lab, &touches, &step, 1, 1, &told);
    sort(&told);
    ck_assert_uint_eq(told.count, 2);
    ck_assert(!told.touch[0].is_over && told.touch[0].other == 2);
    ck_assert(told.touch[1].is_over && told.touch[1].other == upper);
    ck_assert_uint_eq(told.touch[1].last_step, 20);
    close_all(&lab, &touches);
}
END_TEST

// A box that comes down on two tiles at once begins two touches in one step, and so does the ground
// below them: each body is named once, with the name that it has.
START_TEST(a_body_that_begins_several_touches_is_named_once) {
    static const char *const names[] = {"ground", "left", "right", "lid"};
    Lab lab = lab_create(gravity, 1.0 / 240.0);
    lab_ground(&lab, 0);
    const Id tile = lab_shape(&lab, PRIMITIVE_BOX, (Vec3){0.1, 0.1, 0.1}, 0);
    const Id lid = lab_shape(&lab, PRIMITIVE_BOX, (Vec3){0.3, 0.1, 0.1}, 0);
    lab_body(&lab, tile, BODY_DYNAMIC, at(-0.2, 0.0, 0.1), NULL, 1.0, NULL);
    lab_body(&lab, tile, BODY_DYNAMIC, at(0.2, 0.0, 0.1), NULL, 1.0, NULL);
    lab_body(&lab, lid, BODY_DYNAMIC, at(0.0, 0.0, 0.3), NULL, 1.0, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        free(lab.world->body_name[i]);
        lab.world->body_name[i] = strdup(names[i]);
    }
    Touches touches = {0};
    lab_step(&lab, 1);
    ck_assert(touches_add(&touches, lab.world, lab.stepper, 1));
    ck_assert_uint_eq(touches.open_count, 4); // two on the ground, two below the lid
    EventsBody body;
    ck_assert(touches_tell(&touches, false, &body));
    ck_assert_uint_eq(body.name_count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(body.names[i].body, i + 1);
        ck_assert_uint_eq(body.names[i].bytes, strlen(names[i]));
        ck_assert_mem_eq(body.names[i].text, names[i], strlen(names[i]));
    }
    close_all(&lab, &touches);
}
END_TEST

// Two boxes on each other sleep from the first step on: they have no contacts any more, and touch.
// What wakes and carries one off ends that.
START_TEST(sleepers_keep_their_touches) {
    Lab lab = lab_create(gravity, 1.0 / 240.0);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = 0.0;
    world_set_settings(lab.world, &settings);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, (Vec3){0.1, 0.1, 0.1}, 0);
    for (int i = 0; i < 2; i++) {
        lab_body(&lab, box, BODY_DYNAMIC, at(0.0, 0.0, 0.1 + 0.2 * i), NULL, 1.0, NULL);
    }
    Touches touches = {0};
    Told told = {0};
    uint64_t step = 0;
    watch(&lab, &touches, &step, 50, 7, &told);
    ck_assert_uint_eq(lab.stepper->contact_count, 0);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    ck_assert_uint_eq(told.count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert(!told.touch[i].is_over && told.touch[i].first_step == 1);
        ck_assert_uint_eq(touches.open[i].touch.last_step, 50);
    }
    const double up[6] = {0.0, 0.0, 3.0, 0.0, 0.0, 0.0};
    const uint32_t upper = 2;
    memcpy(lab.world->velocity + 6 * (size_t)upper, up, sizeof(up));
    sleep_disturb(lab.world, &upper, 1, false);
    watch(&lab, &touches, &step, 10, 10, &told);
    sort(&told);
    ck_assert_uint_eq(told.count, 2);
    ck_assert(!told.touch[0].is_over); // lower on the ground
    ck_assert(told.touch[1].is_over && told.touch[1].last_step <= 51);
    close_all(&lab, &touches);
}
END_TEST

// ---- flicker

// A world whose contacts are made by hand: who pushes in which step is known.
typedef struct Script {
    const char *pushes; // one letter per step: # pushes, o has a contact without a gap, . neither
    size_t touches;
    uint64_t first, last; // of the first touch; last 0: it is not over
} Script;

static const Script scripts[] = {
    {"..###..", 1, 3, 5},  {"#.#.#.##", 1, 1, 0}, {"#..#", 2, 1, 1},
    {"ooo#o#oo", 1, 4, 0}, {"oooo", 0, 0, 0},     {"#ooo.ooo..", 1, 1, 8},
};

START_TEST(one_step_without_is_forgiven_and_two_are_not) {
    const Script *script = &scripts[_i];
    const double h = 0.01;
    Lab lab = lab_create(gravity, h);
    lab_ground(&lab, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, (Vec3){0.1, 0.0, 0.0}, 0);
    lab_body(&lab, ball, BODY_DYNAMIC, at(0.0, 0.0, 0.1), NULL, 1.0, NULL);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 1);
    Touches touches = {0};
    Told told = {0};
    const double noise = TOUCH_PUSH_SHARE * gravity * h; // of 1 kg [N s]
    const double gap = TOUCH_GAP_SHARE * gravity * h * h;
    for (uint64_t step = 1; script->pushes[step - 1] != '\0'; step++) {
        const char letter = script->pushes[step - 1];
        lab.stepper->impulse[0] = letter == '#' ? 1.01 * noise : 0.99 * noise;
        lab.stepper->problem_contact[0].gap = letter == 'o' ? gap : 1.01 * gap;
        ck_assert(touches_add(&touches, lab.world, lab.stepper, step));
        tell(&touches, false, step, &told);
    }
    sort(&told);
    ck_assert_uint_eq(told.count, script->touches);
    if (told.count > 0) {
        ck_assert_uint_eq(told.touch[0].first_step, script->first);
        ck_assert_uint_eq(told.touch[0].is_over ? told.touch[0].last_step : 0, script->last);
    }
    close_all(&lab, &touches);
}
END_TEST

// Of pushes 2, 5, 3, 5 and 4 the second is the hardest, and the fourth no harder.
START_TEST(the_hardest_push_is_the_first_that_hard) {
    static const double pushes[] = {2.0, 5.0, 3.0, 5.0, 4.0}; // [N s]
    Lab lab = lab_create(gravity, 0.01);
    lab_ground(&lab, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, (Vec3){0.1, 0.0, 0.0}, 0);
    lab_body(&lab, ball, BODY_DYNAMIC, at(0.0, 0.0, 0.1), NULL, 1.0, NULL);
    lab_step(&lab, 1);
    Touches touches = {0};
    Told told = {0};
    for (uint64_t step = 1; step <= sizeof(pushes) / sizeof(pushes[0]); step++) {
        lab.stepper->impulse[0] = pushes[step - 1];
        ck_assert(touches_add(&touches, lab.world, lab.stepper, step));
        tell(&touches, false, step, &told);
    }
    ck_assert_uint_eq(told.count, 1);
    ck_assert_double_eq(told.touch[0].first_impulse, 2.0);
    ck_assert_double_eq(told.touch[0].hardest, 5.0);
    ck_assert_uint_eq(told.touch[0].hardest_step, 2);
    close_all(&lab, &touches);
}
END_TEST

// ---- chunks

// Whoever takes up what a complete chunk says tells the same as who was there all the time,
// whatever the chunks; and all of it is the same however often it is told.
START_TEST(a_complete_chunk_is_enough_to_go_on) {
    Lab lab = heap_create(11, 25);
    Touches whole = {0}, second = {0};
    Told told = {0}, again = {0}, rarely = {0};
    Touches rare = {0};
    bool is_followed = false;
    for (uint64_t step = 1; step <= 240; step++) {
        lab_step(&lab, 1);
        ck_assert(touches_add(&whole, lab.world, lab.stepper, step));
        ck_assert(touches_add(&rare, lab.world, lab.stepper, step));
        ck_assert(!is_followed || touches_add(&second, lab.world, lab.stepper, step));
        if (step == 100) {
            EventsBody body;
            EventsChunk events;
            Error error = {0};
            ck_assert(touches_tell(&whole, true, &body));
            uint8_t *bytes = malloc(events_write(&body, NULL));
            const Chunk chunk = {.kind = CHUNK_EVENTS,
                                 .last_step = step,
                                 .body = bytes,
                                 .body_bytes = events_write(&body, bytes)};
            ck_assert_int_eq(events_open(&chunk, &events, &error), STATUS_OK);
            ck_assert_uint_gt(events.changed_count + events.unchanged_count, 5);
            for (size_t i = 0; i < events.changed_count; i++) {
                const Touch touch = events_get(&events, i);
                hear(&told, &touch);
            }
            ck_assert(touches_resume(&second, &events));
            touches_told(&whole);
            free(bytes);
            again = told;
            is_followed = true;
        } else if (step % 9 == 0) {
            tell(&whole, false, step, &told);
            if (is_followed) {
                tell(&second, false, step, &again);
            }
        }
    }
    tell(&whole, false, 240, &told);
    tell(&second, false, 240, &again);
    tell(&rare, true, 240, &rarely);
    sort(&told);
    sort(&again);
    sort(&rarely);
    ck_assert_uint_gt(told.count, 20);
    ck_assert_uint_eq(again.count, told.count);
    ck_assert_uint_eq(rarely.count, told.count);
    for (size_t i = 0; i < told.count; i++) { // of the open ones, how long so far may differ
        const Touch *touch = &told.touch[i];
        ck_assert_uint_eq(again.touch[i].is_over, touch->is_over);
        ck_assert_uint_eq(rarely.touch[i].is_over, touch->is_over);
        ck_assert(touch_compare(&again.touch[i], touch) == 0);
        ck_assert(touch_compare(&rarely.touch[i], touch) == 0);
        ck_assert_uint_eq(again.touch[i].first_step, touch->first_step);
        ck_assert_uint_eq(rarely.touch[i].hardest_step, touch->hardest_step);
        ck_assert_double_eq(again.touch[i].hardest, touch->hardest);
        ck_assert_double_eq(rarely.touch[i].hardest, touch->hardest);
        ck_assert(!touch->is_over || again.touch[i].last_step == touch->last_step);
    }
    touches_deinit(&second);
    touches_deinit(&rare);
    close_all(&lab, &whole);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static TCase *case_touches(void) {
    TCase *tcase = tcase_create("touches");
    tcase_add_loop_test(tcase, a_ball_bounces_as_often_and_as_hard_as_it_must, 0, COUNT(bouncing));
    tcase_add_loop_test(tcase, a_box_at_rest_touches_once_and_for_good, 0, COUNT(all));
    tcase_add_test(tcase, a_ball_leaves_one_tile_for_the_next);
    tcase_add_test(tcase, a_body_that_goes_ends_its_touches);
    tcase_add_test(tcase, a_body_that_begins_several_touches_is_named_once);
    tcase_add_test(tcase, sleepers_keep_their_touches);
    tcase_add_loop_test(tcase, one_step_without_is_forgiven_and_two_are_not, 0, COUNT(scripts));
    tcase_add_test(tcase, the_hardest_push_is_the_first_that_hard);
    tcase_add_test(tcase, a_complete_chunk_is_enough_to_go_on);
    return tcase;
}

SUITE_MAIN("run/touches", case_touches)
