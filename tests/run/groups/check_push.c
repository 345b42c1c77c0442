// SPDX-License-Identifier: MIT
// Pushes at random moments: what they give is what bodies get, they come as often as they should,
// from everywhere, and a world goes on with those that are under way.
#include "run/groups/group_frame.h"

#include "base/philox.h"

#include <math.h>

#define PI 3.14159265358979323846
#define H  0.004 // [s] of a substep

enum { WORLDS = 5, SUBSTEPS = 3, STEPS = 60, SHOVED = 1 };

static const PushDef shove = {.body = "#2",
                              .probability = 0.2,
                              .steps = 4,
                              .axes = PUSH_AXES_ALL,
                              .force_low = 2.0,
                              .force_high = 30.0,
                              .torque_low = 0.1,
                              .torque_high = 0.5};

// Two balls that nothing holds, the second turned as no axis is and on its way.
static World *balls(void) {
    Lab lab = lab_create(0.0, H);
    const Pose far = {vec3(9.0, 0.0, 0.0), quat_identity()},
               askew = {vec3(0.3, -0.2, 0.7), quat_normalize((Quat){0.53, 0.21, -0.6, 0.4})};
    const double own[6] = {0.02, 0.02, 0.02, 0, 0, 0}, rate[6] = {1.0, 2.0, -3.0, 0.4, 0.5, 0.6};
    lab_body(&lab, 0, BODY_DYNAMIC, far, NULL, 1.0, own);
    lab_body(&lab, 0, BODY_DYNAMIC, askew, rate, 1.7, own);
    return take_world(&lab);
}

static ChannelDef action, what;

static GroupDef pushed_def(const PushDef *push, size_t count) {
    action = of_body(CHANNEL_BODY_FORCE, "#1");
    what = of_body(CHANNEL_BODY_VELOCITY, "#2");
    GroupDef def = group_def(WORLDS);
    def.first_world = 3;
    def.action.count = 1, def.action.channel = &action;
    def.observation.count = 1, def.observation.channel = &what;
    def.substeps = SUBSTEPS;
    def.push = push;
    def.push_count = count;
    return def;
}

static const double idle[3 * WORLDS];

static void step(GroupLab *lab, int count, bool backwards) {
    for (int i = 0; i < count; i++) {
        lab->call =
            (GroupCall){.verb = GROUP_STEP, .count = lab->group->count, .action_double = idle};
        group_lab_run(lab, backwards);
    }
}

// ---- what is drawn, by what the header says of it

typedef struct Drawn {
    bool begins;
    Vec3 force, torque;
} Drawn;

static Vec3 on_sphere(Philox *stream) {
    const double z = 2.0 * philox_uniform(stream) - 1.0, turn = 2.0 * PI * philox_uniform(stream);
    return vec3(sqrt(1.0 - z * z) * cos(turn), sqrt(1.0 - z * z) * sin(turn), z);
}

static Drawn draw(const PushDef *def, uint64_t n, uint64_t seed, uint64_t world, uint64_t episode,
                  uint64_t t) {
    Philox stream = {.key = {seed, world}, .counter = {0, t, episode, 4 + n}, .used = PHILOX_WORDS};
    Drawn drawn = {.begins = philox_uniform(&stream) < def->probability};
    double size = def->force_low + (def->force_high - def->force_low) * philox_uniform(&stream);
    drawn.force = vec3_scale(size, on_sphere(&stream));
    size = def->torque_low + (def->torque_high - def->torque_low) * philox_uniform(&stream);
    drawn.torque = vec3_scale(size, on_sphere(&stream));
    return drawn;
}

// ---- momentum

// The sum of what all that began has given within the first STEPS steps; of forces, or of impulses.
static void sum_of(const PushDef *def, uint64_t world, Vec3 *linear, Vec3 *angular) {
    *linear = *angular = vec3(0.0, 0.0, 0.0);
    for (uint32_t t = 0; t < STEPS; t++) {
        const Drawn drawn = draw(def, 1, 11, world, 0, t);
        const double held = fmin(def->steps, STEPS - t) * SUBSTEPS * H,
                     part = def->is_impulse ? fmin(def->steps, STEPS - t) / def->steps : held;
        if (drawn.begins) {
            *linear = vec3_add_scaled(*linear, part, drawn.force);
            *angular = vec3_add_scaled(*angular, part, drawn.torque);
        }
    }
}

START_TEST(bodies_get_what_pushes_give) {
    PushDef def = shove, both[2] = {shove, shove};
    def.is_impulse = _i == 1;
    both[0].body = "#1";
    both[0].probability = 0.0;
    both[1] = def; // the second draws from a stream of its own
    const GroupDef group = pushed_def(both, 2);
    GroupLab lab = group_lab_create(&group, balls());
    group_lab_reset(&lab);
    step(&lab, STEPS, false);
    for (uint32_t i = 0; i < WORLDS; i++) {
        const World *world = lab.group->world[i].world;
        Vec3 linear, angular;
        sum_of(&def, 3 + i, &linear, &angular);
        ck_assert_double_gt(vec3_norm(linear), 0.1);
        const double *v = world->velocity + 6 * SHOVED;
        const Vec3 gained = vec3_scale(1.7, vec3_sub(vec3_load(v), vec3(1.0, 2.0, -3.0))),
                   turned = vec3_scale(0.02, vec3_sub(vec3_load(v + 3), vec3(0.4, 0.5, 0.6)));
        // a rounding of some tens a substep
        ck_assert_double_le(vec3_norm(vec3_sub(gained, linear)), 1e-12 * (1 + vec3_norm(linear)));
        ck_assert_double_le(vec3_norm(vec3_sub(turned, angular)), 1e-12 * (1 + vec3_norm(angular)));
        ck_assert(world->velocity[0] == 0.0 && world->velocity[3] == 0.0); // of the first ball
    }
    group_lab_destroy(&lab);
}
END_TEST

// ---- how often, and from where

enum { MANY = 400000 };

static PushMoment moment_at(uint64_t step) {
    return (PushMoment){
        .seed = 7, .world = step % 200, .episode = 5, .step = step / 200, .time = H};
}

START_TEST(they_come_as_often_as_they_should_from_everywhere) {
    static const double probability[] = {0.001, 0.01, 0.3};
    PushDef def = shove;
    def.probability = probability[_i];
    def.steps = 1;
    def.torque_low = def.torque_high = 0.0;
    double count = 0, size = 0, mean[3] = {0, 0, 0}, square[3] = {0, 0, 0};
    for (uint64_t k = 0; k < MANY; k++) {
        double wrench[6] = {0};
        const PushMoment moment = moment_at(k);
        push_add(&def, 0, &moment, wrench);
        const double is = vec3_norm(vec3_load(wrench));
        count += is > 0.0;
        size += is;
        for (int a = 0; a < 3 && is > 0.0; a++) {
            mean[a] += wrench[a] / is;
            square[a] += wrench[a] * wrench[a] / (is * is);
        }
        ck_assert(is == 0.0 || (is > 2.0 - 1e-12 && is < 30.0 + 1e-12));
        ck_assert(wrench[3] == 0.0 && wrench[4] == 0.0 && wrench[5] == 0.0);
    }
    // within four deviations: of the binomial, of a uniform size, of a direction's component and
    // of its square, whose variance is 1/5 - 1/9
    const double p = def.probability;
    ck_assert_double_le(fabs(count - p * MANY), 4.0 * sqrt(p * (1.0 - p) * MANY));
    ck_assert_double_le(fabs(size / count - 16.0), 4.0 * 28.0 / sqrt(12.0 * count));
    for (int a = 0; a < 3; a++) {
        ck_assert_double_le(fabs(mean[a] / count), 4.0 / sqrt(3.0 * count));
        ck_assert_double_le(fabs(square[a] / count - 1.0 / 3.0), 4.0 * sqrt(4.0 / 45.0 / count));
    }
}
END_TEST

START_TEST(directions_lie_along_the_axes_that_were_named) {
    PushDef def = shove;
    def.probability = 1.0;
    def.steps = 1;
    def.axes = (uint32_t)_i;
    double lowest[3] = {0}, highest[3] = {0};
    for (uint64_t k = 0; k < 2000; k++) {
        double wrench[6] = {0};
        const PushMoment moment = moment_at(k);
        push_add(&def, 2, &moment, wrench);
        ck_assert_double_ge(vec3_norm(vec3_load(wrench)), 2.0 - 1e-12);
        for (int a = 0; a < 3; a++) {
            lowest[a] = fmin(lowest[a], wrench[a]);
            highest[a] = fmax(highest[a], wrench[a]);
            ck_assert((def.axes >> a & 1u) || (wrench[a] == 0.0 && wrench[3 + a] == 0.0));
        }
    }
    for (int a = 0; a < 3; a++) {
        ck_assert(!(def.axes >> a & 1u) || (lowest[a] < -20.0 && highest[a] > 20.0));
    }
}
END_TEST

// ---- the same wherever it goes on

static void expect_same(const GroupLab *one, const GroupLab *other) {
    for (uint32_t i = 0; i < WORLDS; i++) {
        ck_assert_uint_eq(snapshot_hash(one->group->world[i].world),
                          snapshot_hash(other->group->world[i].world));
    }
}

START_TEST(a_world_goes_on_with_what_is_under_way) {
    PushDef two[2] = {shove, shove};
    two[0].steps = 25;
    two[1].body = "#1";
    const GroupDef def = pushed_def(two, 2);
    GroupLab lab = group_lab_create(&def, balls()), back = group_lab_create(&def, balls()),
             late = group_lab_create(&def, balls());
    group_lab_reset(&lab);
    group_lab_reset(&back);
    group_lab_reset(&late);
    step(&lab, STEPS / 2, false);
    step(&back, STEPS / 2, true);
    expect_same(&lab, &back);
    Frame frame = take_frame(lab.group);
    Error error = {0};
    ck_assert_int_eq(put_frame(&late, frame.bytes, frame.count, &error), STATUS_OK);
    free(frame.bytes);
    step(&lab, STEPS / 2, false);
    step(&late, STEPS / 2, true);
    expect_same(&lab, &late);
    // episodes differ, and so do worlds
    const uint64_t hash = snapshot_hash(lab.group->world[0].world);
    ck_assert_uint_ne(hash, snapshot_hash(lab.group->world[1].world));
    group_lab_reset(&lab);
    step(&lab, STEPS, false);
    ck_assert_uint_ne(hash, snapshot_hash(lab.group->world[0].world));
    group_lab_destroy(&lab);
    group_lab_destroy(&back);
    group_lab_destroy(&late);
}
END_TEST

// Beside what the action holds: both are one wrench.
START_TEST(a_push_adds_to_an_action) {
    PushDef def = shove;
    def.body = "#1";
    def.probability = 1.0;
    def.steps = 1;
    const GroupDef group = pushed_def(&def, 1);
    GroupLab lab = group_lab_create(&group, balls());
    group_lab_reset(&lab);
    double push[6] = {0}, held[6];
    lab.group->world[2].action[1] = 5.0;
    const PushMoment moment = {
        .seed = 11, .world = 5, .episode = 0, .step = 0, .time = SUBSTEPS * H};
    push_add(&def, 0, &moment, push);
    group_read_push(lab.group, &lab.group->world[2], held);
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq_tol(held[k], push[k] + (k == 1 ? 5.0 : 0.0), 1e-14);
    }
    ck_assert_uint_eq(lab.group->pushed.count, 1);
    group_lab_destroy(&lab);
}
END_TEST

// ---- what is refused

static const struct {
    const char *field;
    PushDef def;
} refused[] = {
    {"pushes[0].probability",
     {.body = "#1", .probability = NAN, .steps = 1, .axes = 7, .force_high = 1.0}},
    {"pushes[0].probability",
     {.body = "#1", .probability = 1.1, .steps = 1, .axes = 7, .force_high = 1.0}},
    {"pushes[0].steps", {.body = "#1", .steps = 0, .axes = 7, .force_high = 1.0}},
    {"pushes[0].steps", {.body = "#1", .steps = 1001, .axes = 7, .force_high = 1.0}},
    {"pushes[0].axes", {.body = "#1", .steps = 1, .axes = 0, .force_high = 1.0}},
    {"pushes[0].axes", {.body = "#1", .steps = 1, .axes = 8, .force_high = 1.0}},
    {"pushes[0].force_high",
     {.body = "#1", .steps = 1, .axes = 7, .force_low = 2.0, .force_high = 1.0}},
    {"pushes[0].force_high", {.body = "#1", .steps = 1, .axes = 7}},
    {"pushes[0].torque_high", {.body = "#1", .steps = 1, .axes = 7, .torque_high = INFINITY}},
    {"pushes[0].force_high",
     {.body = "#1", .steps = 1, .axes = 7, .is_impulse = true, .force_high = 1e11}},
    {"pushes[0].body", {.body = "#3", .steps = 1, .axes = 7, .force_high = 1.0}},
    {"pushes[0].body_id", {.body_id = 9, .steps = 1, .axes = 7, .force_high = 1.0}},
};

START_TEST(what_is_no_push_is_refused) {
    const GroupDef def = pushed_def(&refused[_i].def, 1);
    Error error = {0};
    Group *group = NULL;
    Status status = group_def_check(&def, &error);
    if (status == STATUS_OK) {
        status = group_create(&def, balls(), &group, &error);
    }
    ck_assert_int_eq(status, STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, refused[_i].field);
}
END_TEST

static TCase *case_push(void) {
    TCase *tcase = tcase_create("push");
    tcase_add_loop_test(tcase, bodies_get_what_pushes_give, 0, 2);
    tcase_add_loop_test(tcase, they_come_as_often_as_they_should_from_everywhere, 0, 3);
    tcase_add_loop_test(tcase, directions_lie_along_the_axes_that_were_named, 1, 8);
    tcase_add_test(tcase, a_world_goes_on_with_what_is_under_way);
    tcase_add_test(tcase, a_push_adds_to_an_action);
    tcase_add_loop_test(tcase, what_is_no_push_is_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    return tcase;
}

SUITE_MAIN("run/groups/push", case_push)
