// SPDX-License-Identifier: MIT
// Scenes of hulls, cylinders, meshes and height fields (tests/bench/make_shape_scenes.py) come to
// what mechanics says of them.
#include "wire/scene/scene.h"

#include "support/campaign.h"
#include "support/scene_world.h"
#include "support/suite.h"
#include "support/turn_scene.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAVITY 9.81 // [m/s^2]

// A scene that plays as it is or turned about no axis in particular; places are told upright.
typedef struct Play {
    Stage stage;
    bool is_turned;
    int step;
} Play;

// Frees the scene.
static Play play_open(Moreau__V1__Scene *scene, bool is_turned) {
    if (is_turned) {
        turn_scene(scene, turn_generic());
    }
    Play play = {.stage = stage_open(scene), .is_turned = is_turned};
    moreau__v1__scene__free_unpacked(scene, NULL);
    return play;
}

static void play_step(Play *play) {
    Stage *stage = &play->stage;
    const StepInput input = {.time_step = stage->world->settings.time_step};
    Error error = {0};
    arena_reset(&stage->arena);
    ck_assert_msg(stepper_run(stage->stepper, stage->world, &input, &stage->arena, NULL,
                              &stage->report, &error) == STATUS_OK,
                  "%s", error.message);
    play->step++;
    // what a velocity is made of holds to rounding, converged or not
    ck_assert_double_le(stage->report.certificate.entry[CERTIFICATE_MOM], 1e-10);
}

static Vec3 upright(const Play *play, Vec3 v) {
    return play->is_turned ? quat_rotate(turn_back(turn_generic()), v) : v;
}

static Vec3 place_of(const Play *play, uint32_t body) {
    return upright(play, vec3_load(play->stage.world->pose + 7 * (size_t)body));
}

static Vec3 velocity_of(const Play *play, uint32_t body) {
    return upright(play, vec3_load(play->stage.world->velocity + 6 * (size_t)body));
}

// An axis of a body's, in the world's.
static Vec3 axis_of(const Play *play, uint32_t body, Vec3 axis) {
    const Pose pose = pose_load(play->stage.world->pose + 7 * (size_t)body);
    Quat was =
        play->is_turned ? quat_mul(turn_back(turn_generic()), pose.orientation) : pose.orientation;
    return quat_rotate(was, axis);
}

// The deepest that any contact of the last step lay when it began [m].
static double deepest(const Play *play) {
    double depth = 0.0;
    for (uint32_t i = 0; i < play->stage.stepper->contact_count; i++) {
        depth = fmax(depth, -play->stage.stepper->problem.contact[i].gap);
    }
    return depth;
}

// Of crowds of bodies that are 0.06 m thick at least, under an effort that leaves steps open: what
// overlaps is not half through, and what is left open is little of what moves.
static void assert_holds(const Play *play) {
    ck_assert_msg(deepest(play) <= 0.03, "step %d: %g m deep", play->step, deepest(play));
    ck_assert_double_le(play->stage.report.certificate.entry[CERTIFICATE_OWN], 0.02);
}

// ---- dominoes

// Domino i leans on i + 1, which is `next` far: the corner at its top is on the other's back,
// h sin(angle - next) = p cos(next) - d. The angle that this is, and how it grows with `next`.
static double lean_of(double next, double h, double d, double p, double *rate) {
    const double sine = (p * cos(next) - d) / h;
    *rate = 1.0 - p * sin(next) / h / sqrt(1.0 - sine * sine);
    return next + asin(sine);
}

enum { CHAIN = 24, FALLS = 40, PARTS = 400 }; // the rest of a chain lies still

typedef struct Chain {
    double potential, inertia; // of a unit of mass, about the foremost one's angle
    double rate[CHAIN];
} Chain;

static Chain chain_at(double angle, int count, double h, double d, double p) {
    Chain chain = {0};
    double rate = 1.0;
    for (int i = 0; i < count; i++) {
        chain.rate[i] = rate;
        chain.potential += GRAVITY * 0.5 * (h * cos(angle) + d * sin(angle));
        chain.inertia += (h * h + d * d) / 3.0 * rate * rate;
        double by;
        angle = lean_of(angle, h, d, p, &by);
        rate *= by;
    }
    return chain;
}

// How long the wave takes from one to the next: feet hinge, what touches slides without friction
// and stays together, so the angle of the foremost one is all that moves, by its energy; a new one
// is hit without bouncing, when of all momentum that along the new motion stays.
static double wave_period(double h, double d, double p) {
    const double inertia = (h * h + d * d) / 3.0, meets = asin((p - d) / h);
    double spin = 1.5 * sqrt(GRAVITY / h), period = 0.0;
    for (int fall = 0; fall < FALLS; fall++) {
        const int count = fall + 1 < CHAIN ? fall + 1 : CHAIN;
        Chain from = chain_at(0.0, count, h, d, p), to = from;
        const double energy = 0.5 * from.inertia * spin * spin + from.potential;
        double before = spin, after = spin;
        period = 0.0;
        for (int i = 1; i <= PARTS; i++, before = after) {
            to = chain_at(meets * i / PARTS, count, h, d, p);
            after = sqrt(2.0 * (energy - to.potential) / to.inertia);
            period += meets / PARTS / (0.5 * (before + after));
        }
        const Chain next = chain_at(0.0, count < CHAIN ? count + 1 : CHAIN, h, d, p);
        double momentum = 0.0;
        for (int i = 1; i < CHAIN && i <= count; i++) {
            momentum += inertia * after * to.rate[i - 1] * next.rate[i];
        }
        spin = momentum / next.inertia;
    }
    return period;
}

enum { DOMINOES = 200, DOMINOES_FEW = 40 };

// In order, each after as long as the wave takes: to 3 %, of which a third is that times are told
// in whole steps of 1/480 s, some 23 a domino, over tens of dominoes far less, and most that feet
// may lift where the neighbour pushes, which the closed form's hinges do not.
START_TEST(dominoes_fall_one_after_the_other) {
    const double h = 0.5, d = 0.06, p = 0.2; // make_shape_scenes.py
    const uint32_t count = campaign_count(1) > 1 ? DOMINOES : DOMINOES_FEW;
    Moreau__V1__Scene *scene = scene_file_load("large/dominoes-200");
    while (scene->n_bodies > 1 + count) {
        moreau__v1__scene_body__free_unpacked(scene->bodies[--scene->n_bodies], NULL);
    }
    Play play = play_open(scene, false);
    const double hertz = 1.0 / play.stage.world->settings.time_step;
    int fell[DOMINOES + 1] = {0};
    uint32_t fallen = 0;
    while (fallen < count) {
        ck_assert_int_lt(play.step, 100 * (int)count);
        play_step(&play);
        // a tenth of a radian is beyond what a blow makes without a fall
        while (fallen < count && axis_of(&play, fallen + 1, vec3(0, 0, 1)).x > 0.1) {
            fell[fallen++] = play.step;
        }
        for (uint32_t k = fallen + 1; k < count; k++) {
            ck_assert_msg(axis_of(&play, k + 1, vec3(0, 0, 1)).x < 0.1, "%u before its turn", k);
        }
    }
    const uint32_t first = count / 3, last = count - 10;
    const double took = (fell[last] - fell[first]) / hertz / (last - first);
    const double wanted = wave_period(h, d, p);
    ck_assert_msg(fabs(took / wanted - 1.0) <= 0.03, "%g s from one to the next, not %g", took,
                  wanted);
    for (int i = 0; i < 480; i++) { // a second
        play_step(&play);
    }
    const double leans = asin((p - d) / h);
    for (uint32_t k = 1; k <= count; k++) {
        const double angle = acos(axis_of(&play, k, vec3(0, 0, 1)).z);
        ck_assert_msg(angle > leans, "domino %u leans by %g", k, angle);
    }
    stage_close(&play.stage);
}
END_TEST

// ---- hourglass

static double glass_radius(double z) {
    static const double profile[][2] = {{-2.3, 1.2}, {-1.4, 1.2}, {-0.1, 0.28},
                                        {0.1, 0.28}, {1.4, 1.2},  {3.2, 1.2}};
    for (int i = 1; i < 6; i++) {
        if (z <= profile[i][0]) {
            const double share = (z - profile[i - 1][0]) / (profile[i][0] - profile[i - 1][0]);
            return profile[i - 1][1] + share * (profile[i][1] - profile[i - 1][1]);
        }
    }
    return 0.0;
}

// The middles of all are in the glass, by as much as the least that any of them is thick, half a
// size, without what overlaps may be. How many are through the neck.
static uint32_t count_through(const Play *play) {
    const double size = 0.06, inside = 0.25 * size;
    const World *world = play->stage.world;
    uint32_t through = 0;
    for (uint32_t body = 1; body < world->body_count; body++) {
        const Vec3 at = place_of(play, body);
        const double off = hypot(at.x, at.y);
        ck_assert_msg(at.z > -2.3 + inside && at.z < 3.2 && off < glass_radius(at.z) - inside,
                      "step %d: body %u at %g %g %g", play->step, body, at.x, at.y, at.z);
        through += at.z < 0.0;
    }
    return through;
}

static double solid_volume(const World *world) {
    double mass = 0.0;
    for (uint32_t body = 1; body < world->body_count; body++) {
        mass += world->mass[body].mass;
    }
    return mass / 1000.0;
}

// Beverloo's law, with the numbers that it has for most grains: what runs through a round opening
// D wide of grains d wide is 0.58 sqrt(g) (D - 1.4 d)^2.5, in bulk, of which six tenths are solid.
static double seconds_to_run_out(double solid) {
    const double opening = 0.56, grain = 0.12, free = opening - 1.4 * grain;
    return solid / 0.6 / (0.58 * sqrt(GRAVITY) * pow(free, 2.5));
}

// Three hundred begin above, and all come through, none sooner than it falls freely from where the
// lowest was, and all in the time that grains take, to a factor of two: there are few of them, of
// six kinds, and they begin as a loose heap. In the gate the first ones come through.
START_TEST(an_hourglass_runs_out_and_loses_nobody) {
    const bool is_whole = campaign_count(1) > 1;
    Play play = play_open(scene_file_load("large/hourglass-300"), false);
    const double h = play.stage.world->settings.time_step;
    double lowest = HUGE_VAL, began = 0.0;
    for (uint32_t body = 1; body < play.stage.world->body_count; body++) {
        lowest = fmin(lowest, place_of(&play, body).z);
    }
    uint32_t through = 0;
    const int most = is_whole ? 3600 : 110;
    while (through < 300 && play.step < most) {
        play_step(&play);
        ck_assert_uint_eq(play.stage.world->body_count, 301);
        assert_holds(&play);
        through = count_through(&play);
        const double seconds = play.step * h;
        ck_assert(through == 0 || 0.5 * GRAVITY * seconds * (seconds + h) >= lowest);
        began = through == 0 ? seconds : began;
    }
    ck_assert_uint_ge(through, is_whole ? 300 : 1);
    const double took = play.step * h - began;
    const double wanted = seconds_to_run_out(solid_volume(play.stage.world));
    ck_assert_msg(!is_whole || (took > 0.5 * wanted && took < 2.0 * wanted), "%g s, not %g", took,
                  wanted);
    stage_close(&play.stage);
}
END_TEST

// ---- marble

static double energy_of(const Play *play, uint32_t body) {
    const World *world = play->stage.world;
    const BodyMass *mass = &world->mass[body];
    const Vec3 v = velocity_of(play, body), w = vec3_load(world->velocity + 6 * (size_t)body + 3);
    return mass->mass * (0.5 * vec3_dot(v, v) + GRAVITY * place_of(play, body).z) +
           0.5 * mass->inertia.xx * vec3_dot(w, w);
}

// Down the channel to its end, where it comes to lie; its energy never grows but by what a residual
// of 1e-6 of V is worth. Upright and turned.
START_TEST(a_marble_rolls_to_the_end_of_its_run) {
    const double bore = 0.12, radius = 0.8, marble = 0.04, drop = 0.2, turns = 2.5;
    Play play = play_open(scene_file_load("shapes/marble-run"), _i != 0);
    const double weight = play.stage.world->mass[1].mass * GRAVITY;
    double before = energy_of(&play, 1), angle = atan2(place_of(&play, 1).y, place_of(&play, 1).x);
    double most = 0.0;
    while (play.step < 12 * 240) {
        play_step(&play);
        ck_assert(play.stage.report.certificate.converged);
        const Vec3 at = place_of(&play, 1);
        const double energy = energy_of(&play, 1), gained = energy - before;
        ck_assert_msg(gained <= 1e-6 * weight * drop, "step %d: %g J more", play.step, gained);
        before = energy;
        // which turn it is in follows from where it was
        const double now = atan2(at.y, at.x);
        angle += remainder(now - angle, 2.0 * M_PI);
        most = fmax(most, angle);
        const double height = -drop * angle / (2.0 * M_PI);
        const double off = hypot(hypot(at.x, at.y) - radius, at.z - height);
        // a chord of the channel lies within it by as much as 1/14 of 220 degrees bend
        ck_assert_msg(off <= bore - marble + 2e-3, "step %d: %g m beside the middle", play.step,
                      off);
    }
    ck_assert_double_gt(most, 2.0 * M_PI * turns - 2.0 * marble / radius);
    // the wall takes what it ran with, and leaves what it turned with, which goes to and fro
    ck_assert_double_le(vec3_norm(velocity_of(&play, 1)), 0.2);
    stage_close(&play.stage);
}
END_TEST

// ---- cars

enum { CHASSIS = 1, WHEELS = 4 };

static void lean_gravity(Moreau__V1__Scene *scene, double slope) {
    const double down = GRAVITY / sqrt(1.0 + slope * slope);
    scene->settings->gravity[0] = -slope * down;
    scene->settings->gravity[1] = 0.0;
    scene->settings->gravity[2] = -down;
}

static double total_mass(const Play *play) {
    double mass = 0.0;
    for (uint32_t body = 0; body <= CHASSIS + WHEELS; body++) {
        mass += play->stage.world->mass[body].mass;
    }
    return mass;
}

// Four wheels that turn at 8 rad/s are set down on a slope. While they slip all of the weight's
// friction drives them: uphill at g (mu cos - sin), until they roll; where that is below 0 the car
// comes down at it, for ever. Upright and turned.
START_TEST(a_car_climbs_as_far_as_friction_goes) {
    static const double share[] = {0.5, 0.95, 1.05, 1.3};
    const double mu = 0.6, slope = mu * share[_i / 2], radius = 0.25; // make_shape_scenes.py
    Moreau__V1__Scene *scene = scene_file_load("shapes/car-slope");
    lean_gravity(scene, slope);
    Play play = play_open(scene, _i % 2 != 0);
    const double h = play.stage.world->settings.time_step;
    const double rate = GRAVITY * (mu - slope) / sqrt(1.0 + slope * slope);
    // four drives of 1e4 N m s/rad hold it, and give way by what they bear
    const double pull = total_mass(&play) * GRAVITY * slope / sqrt(1.0 + slope * slope);
    const double rolls = radius * (8.0 - pull * radius / 4e4);
    const int steps = 240;
    double speed = 0.0, way = 0.0;
    for (int i = 0; i < steps; i++) {
        play_step(&play);
        ck_assert(play.stage.report.certificate.converged);
        speed = fmin(speed + rate * h, rolls);
        way += speed * h;
    }
    const double is = velocity_of(&play, CHASSIS).x, at = place_of(&play, CHASSIS).x;
    // a residual of 1e-6 of V, some metres per second, at every step; and when it stops slipping
    // the drives take their load within a step or two, in which it comes 1e-4 m less far
    ck_assert_msg(fabs(is - speed) <= 1e-5, "%g m/s, not %g", is, speed);
    ck_assert_msg(fabs(at - way) <= (speed < rolls ? 1e-5 : 1e-4), "%g m, not %g", at, way);
    ck_assert_double_eq_tol(place_of(&play, CHASSIS).z, 0.34, 1e-5);
    stage_close(&play.stage);
}
END_TEST

// Over hills of a height field, at the speed of its wheels or less, on its wheels; and nothing is
// deeper in the ground than a step's turning puts it (nothing_sinks_into_hills).
START_TEST(a_car_drives_over_hills) {
    Play play = play_open(scene_file_load("shapes/car-hills"), _i != 0);
    const double rolls = 8.0 * 0.25, h = play.stage.world->settings.time_step;
    const int steps = 960;
    for (int i = 0; i < steps; i++) {
        play_step(&play);
        ck_assert_double_gt(axis_of(&play, CHASSIS, vec3(0, 0, 1)).z, 0.5);
        ck_assert_double_le(deepest(&play), 3e-4);
    }
    const double way = place_of(&play, CHASSIS).x;
    ck_assert_msg(way > 0.6 * rolls * steps * h && way < 1.05 * rolls * steps * h, "%g m", way);
    ck_assert_double_gt(place_of(&play, CHASSIS + WHEELS + 1).z, 0.0); // the ball is on the ground
    stage_close(&play.stage);
}
END_TEST

// ---- bin

// Nobody leaves the bin through its walls, and in the end all lie still in it, in each other by
// less than a thousandth of a size.
START_TEST(two_hundred_parts_come_to_rest_in_a_bin) {
    const bool is_whole = campaign_count(1) > 1;
    const double half = 0.6;
    Play play = play_open(scene_file_load("large/bin-200"), false);
    const World *world = play.stage.world;
    const int steps = is_whole ? 1920 : 100;
    while (play.step < steps) {
        play_step(&play);
        ck_assert_uint_eq(world->body_count, 201);
        assert_holds(&play);
        for (uint32_t body = 1; body < world->body_count; body++) {
            const Vec3 at = place_of(&play, body);
            ck_assert_msg(at.z > 0.0 && fabs(at.x) < half && fabs(at.y) < half,
                          "step %d: body %u at %g %g %g", play.step, body, at.x, at.y, at.z);
        }
    }
    double fastest = 0.0;
    for (uint32_t body = 1; body < world->body_count; body++) {
        fastest = fmax(fastest, vec3_norm(velocity_of(&play, body)));
    }
    if (is_whole) {
        ck_assert_msg(fastest <= 0.01, "%g m/s", fastest);
        ck_assert_msg(deepest(&play) <= 1e-3, "%g m deep", deepest(&play));
    }
    stage_close(&play.stage);
}
END_TEST

static TCase *case_few(void) {
    TCase *tcase = tcase_create("few");
    tcase_set_timeout(tcase, 600.0);
    tcase_add_test(tcase, dominoes_fall_one_after_the_other);
    tcase_add_loop_test(tcase, a_marble_rolls_to_the_end_of_its_run, 0, 2);
    tcase_add_loop_test(tcase, a_car_climbs_as_far_as_friction_goes, 0, 8);
    tcase_add_loop_test(tcase, a_car_drives_over_hills, 0, 2);
    return tcase;
}

static TCase *case_many(void) {
    TCase *tcase = tcase_create("many");
    tcase_set_timeout(tcase, 1200.0);
    tcase_add_test(tcase, an_hourglass_runs_out_and_loses_nobody);
    tcase_add_test(tcase, two_hundred_parts_come_to_rest_in_a_bin);
    return tcase;
}

SUITE_MAIN("wire/shape_scenes", case_few, case_many)
