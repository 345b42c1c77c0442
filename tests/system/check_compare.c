// SPDX-License-Identifier: MIT
// EpisodeCompare over real sockets: the same settings give the same bits, other ones what closed
// forms say, whatever the number of lanes; and what cannot be compared is refused by name.
#include "log/format/chunk.h"
#include "support/suite.h"
#include "support/wire_compare.h"
#include "support/wire_episode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { STEPS = 150, KEYFRAME_STEPS = 20, STRIDE = 7, LONG_STEPS = 20000 };
static const double h = 1.0 / 240.0, g = 9.81;

static WireDepot depot;
static WireEpisode episode;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// ---- recordings

static uint64_t begin(uint64_t world) {
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_keyframe_steps = 1;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    return world;
}

static void push(uint64_t world, uint64_t body, double force, uint64_t steps) {
    double wrench[6] = {force};
    Moreau__V1__WorldStep step = wire_step_call(&world, steps);
    step.n_wrench_body = 1, step.wrench_body = &body;
    step.n_wrench = 6, step.wrench = wrench;
    wire_accept(depot.client, &step);
}

static void throw(uint64_t world, uint64_t body) {
    double velocity[6] = {1.0, 0.5, 2.0, 0.1, 0.2, 0.3};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_ids = 1, set.ids = &body;
    set.n_velocity = 6, set.velocity = velocity;
    wire_accept(depot.client, &set);
}

static void use_solver(uint64_t world, const char *solver) {
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    settings.solver = (char *)solver;
    set.has_world = 1, set.world = world;
    set.settings = &settings;
    wire_accept(depot.client, &set);
}

// A tower that is pushed, falls, is thrown, and has another solver in its last third.
static void record_tower(uint64_t steps) {
    uint64_t world = begin(wire_world(depot.client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id);
    push(world, 3, 40.0, steps / 3);
    throw(world, 2);
    wire_step(depot.client, world, steps / 3);
    use_solver(world, "lcp");
    wire_step(depot.client, world, steps - 2 * (steps / 3));
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, steps);
}

static uint64_t world_with(double x, double z) {
    double gravity[3] = {x, 0.0, z};
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    settings.n_gravity = 3, settings.gravity = gravity;
    create.settings = &settings;
    return wire_accept(depot.client, &create)->world_create->world;
}

// A body of 1 kg that touches nothing.
static uint64_t free_world(double gravity) {
    uint64_t world = world_with(0.0, -gravity);
    double pose[7] = {0.0, 0.0, 0.0, 1.0}, mass = 1.0;
    double inertia[6] = {0.1, 0.1, 0.1};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1, bodies.world = world;
    bodies.n_pose = 7, bodies.pose = pose;
    bodies.n_mass = 1, bodies.mass = &mass;
    bodies.n_inertia = 6, bodies.inertia = inertia;
    wire_accept(depot.client, &bodies);
    return world;
}

// A box that rests on a plane whose slope is gravity's.
static uint64_t slope_world(double slope, double friction) {
    uint64_t world = world_with(g * sin(slope), -g * cos(slope));
    Moreau__V1__Material material = MOREAU__V1__MATERIAL__INIT, *list = &material;
    Moreau__V1__WorldAddMaterials materials = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    material.has_friction = 1, material.friction = friction;
    materials.has_world = 1, materials.world = world;
    materials.n_materials = 1, materials.materials = &list;
    uint64_t id = wire_accept(depot.client, &materials)->world_add->ids[0];
    Moreau__V1__Primitive__Kind kind[] = {MOREAU__V1__PRIMITIVE__KIND__PLANE,
                                          MOREAU__V1__PRIMITIVE__KIND__BOX};
    double size[] = {0, 0, 0, 0.2, 0.2, 0.05};
    uint64_t of[] = {id, id}, shape[] = {1, 2};
    Moreau__V1__WorldAddShapes shapes = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shapes.has_world = 1, shapes.world = world;
    shapes.n_kind = 2, shapes.kind = kind;
    shapes.n_size = 6, shapes.size = size;
    shapes.n_material = 2, shapes.material = of;
    wire_accept(depot.client, &shapes);
    Moreau__V1__Body__Kind kinds[] = {MOREAU__V1__BODY__KIND__STATIC,
                                      MOREAU__V1__BODY__KIND__DYNAMIC};
    double pose[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0.05, 1, 0, 0, 0};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1, bodies.world = world;
    bodies.n_pose = 14, bodies.pose = pose;
    bodies.n_kind = 2, bodies.kind = kinds;
    bodies.n_shape = 2, bodies.shape = shape;
    wire_accept(depot.client, &bodies);
    return world;
}

// ---- asking

// So many variants that change nothing, yet.
static void ask(WireCompare *asked, size_t count) {
    wire_compare_ask(asked, episode.id, count, STRIDE);
}

static const Moreau__V1__EpisodeCompareReply *compare(const WireCompare *asked) {
    return wire_compare(depot.client, asked);
}

// ---- what is the same

static void expect_same_columns(const Moreau__V1__CertificateColumns *a,
                                const Moreau__V1__CertificateColumns *b) {
    ck_assert_double_eq(a->e_mom[0], b->e_mom[0]);
    ck_assert_double_eq(a->e_ds[0], b->e_ds[0]);
    ck_assert_double_eq(a->e_own[0], b->e_own[0]);
    ck_assert_double_eq(a->penetration[0], b->penetration[0]);
}

START_TEST(the_same_settings_give_the_same_bits) {
    record_tower(STEPS);
    WireCompare asked;
    ask(&asked, 1);
    asked.variant[0].settings = NULL; // as good as empty ones
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    const Moreau__V1__EpisodeRun *was = reply->runs[0], *is = reply->runs[1];
    ck_assert_uint_eq(reply->first, 0);
    ck_assert_uint_eq(reply->last, STEPS);
    ck_assert_str_eq(is->solver, "mdp");
    ck_assert_uint_eq(is->steps, STEPS);
    ck_assert_uint_eq(is->compared, STEPS + 1);
    ck_assert_double_eq(is->distance, 0.0);
    ck_assert_double_eq(is->angle, 0.0);
    ck_assert(!is->has_apart_step && !is->has_differs_step && !is->has_hash_step);
    ck_assert_ptr_null(is->ended);
    ck_assert_uint_eq(is->overridden, 0);
    expect_same_columns(was->worst, is->worst);
    expect_same_columns(was->mean, is->mean);
    ck_assert_uint_eq(was->unconverged_steps, is->unconverged_steps);
    ck_assert_uint_gt(was->contacts_max, 0);
    // behind every 7th step, and the last
    ck_assert_uint_eq(is->n_sample_step, STEPS / STRIDE + 2);
    ck_assert_uint_eq(was->n_sample_step, is->n_sample_step);
    for (size_t i = 0; i < is->n_sample_step; i++) {
        ck_assert_uint_eq(is->sample_step[i], i * STRIDE < STEPS ? i * STRIDE : STEPS);
        ck_assert_uint_eq(is->sample_own_step[i], is->sample_step[i]);
        ck_assert_double_eq_tol(is->sample_time[i], (double)is->sample_step[i] * h, 1e-12);
        ck_assert_double_eq(is->sample_energy[i], was->sample_energy[i]);
        ck_assert_double_eq(is->sample_distance[i], 0.0);
    }
}
END_TEST

// Neither end is at a key-frame, and the solver is another by then.
START_TEST(a_range_is_compared_alone) {
    record_tower(STEPS);
    WireCompare asked;
    ask(&asked, 1);
    asked.call.has_first = asked.call.has_last = 1;
    asked.call.first = 113, asked.call.last = 131;
    const Moreau__V1__EpisodeRun *is = compare(&asked)->runs[1];
    ck_assert_str_eq(is->solver, "lcp");
    ck_assert_uint_eq(is->compared, 19);
    ck_assert(!is->has_hash_step);
    ck_assert_uint_eq(is->sample_step[0], 113);
    ck_assert_uint_eq(is->sample_step[is->n_sample_step - 1], 131);
}
END_TEST

START_TEST(the_table_does_not_depend_on_the_lanes) {
    static const char *const options[] = {"--workers 1", "--workers 2", "--workers 7"};
    static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap"};
    static char first[1 << 15], again[1 << 15];
    record_tower(STEPS);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        wire_depot_stop(&depot);
        wire_depot_restart(&depot, options[i]);
        WireCompare asked;
        ask(&asked, 4);
        for (size_t k = 0; k < 4; k++) {
            asked.settings[k].solver = (char *)solvers[k];
        }
        wire_compare_tell(compare(&asked), i == 0 ? first : again, sizeof(first));
        ck_assert(i == 0 || strcmp(first, again) == 0);
    }
}
END_TEST

// ---- closed forms

// Symplectic Euler leaves g t h/2 beside the parabola: two time steps are g t (h - h')/2 apart.
START_TEST(a_free_fall_is_apart_by_what_the_integrator_leaves) {
    uint64_t world = begin(free_world(g));
    wire_step(depot.client, world, 240);
    wire_stop_recording(depot.client, world);
    static const double factor[] = {0.5, 2.0, 1.0 / 3.0, 1.5};
    WireCompare asked;
    ask(&asked, 4);
    asked.call.stride = 6;
    for (size_t i = 0; i < 4; i++) {
        wire_compare_time_step(&asked, i, h * factor[i]);
    }
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    for (size_t i = 0; i < 4; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i + 1];
        ck_assert_uint_eq(run->steps, (uint64_t)llround(240 / factor[i]));
        ck_assert_uint_eq(run->compared, i == 1 ? 121 : i == 3 ? 81 : 241);
        ck_assert_uint_eq(run->n_sample_step, 41);
        for (size_t k = 0; k < run->n_sample_step; k++) {
            double apart = g * run->sample_time[k] * h * fabs(1.0 - factor[i]) / 2.0;
            // rounding of some hundred sums of numbers up to 10
            ck_assert_double_eq_tol(run->sample_distance[k], apart, 1e-12);
        }
        ck_assert_uint_eq(run->distance_step, 240);
        // 1 mm, at the first time at which both have a step
        double crossed = 0.001 / (g * h * fabs(1.0 - factor[i]) / 2.0) / h;
        ck_assert_uint_ge(run->apart_step, (uint64_t)crossed);
        ck_assert_uint_le(run->apart_step, (uint64_t)crossed + 3);
    }
}
END_TEST

// Convex friction glides h mu v above the plane where it slides at v. What lifts it so far is an
// impulse, and the friction of that is mu of it along the slope: together sqrt(1 + mu^2) h mu v.
START_TEST(a_box_that_slides_is_launched_by_convex_friction) {
    const double slope = 0.5, mu = 0.2, steps = 200.0;
    const double a = g * (sin(slope) - mu * cos(slope));
    uint64_t world = begin(slope_world(slope, mu));
    wire_step(depot.client, world, (uint64_t)steps);
    wire_stop_recording(depot.client, world);
    WireCompare asked;
    ask(&asked, 1);
    asked.settings[0].solver = (char *)"ccp";
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    const Moreau__V1__EpisodeRun *was = reply->runs[0], *is = reply->runs[1];
    ck_assert_ptr_null(was->launch);
    ck_assert_str_eq(is->solver, "ccp");
    ck_assert_uint_eq(is->launch_step, (uint64_t)steps);
    // what one step changes, and half of it for where in the step it stands
    const double step_change = 1.5 * mu * a * h;
    ck_assert_double_eq_tol(is->launch->speed[0], mu * a * steps * h, step_change);
    ck_assert_double_eq_tol(is->launch->gliding[0], h * mu * a * steps * h, h * step_change);
    for (size_t k = 0; k < is->n_sample_step; k++) {
        double apart = sqrt(1.0 + mu * mu) * h * mu * a * is->sample_time[k];
        ck_assert_double_eq_tol(is->sample_distance[k], apart, h * step_change);
    }
    ck_assert_uint_eq(is->differs_step, 1);
    ck_assert_uint_eq(is->hash_step, 0); // the solver is part of the state
}
END_TEST

// One newton more in each step; what was pushed is the same on every clock.
START_TEST(wrenches_add_the_same_momentum_on_every_clock) {
    enum { PUSHES = 12 };
    uint64_t world = begin(free_world(0.0));
    for (int i = 0; i < PUSHES; i++) {
        push(world, 1, i + 1.0, 1);
    }
    wire_stop_recording(depot.client, world);
    static const double factor[] = {0.5, 2.0, 1.5, 12.0};
    static const uint64_t every[] = {1, 2, 3, 12}; // steps of the recording from meeting to meeting
    WireCompare asked;
    ask(&asked, 4);
    asked.call.stride = 1;
    asked.call.has_record = asked.call.record = 1;
    for (size_t i = 0; i < 4; i++) {
        wire_compare_time_step(&asked, i, h * factor[i]);
    }
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    char id[4][WIRE_EPISODE_ID_BYTES];
    for (size_t i = 0; i < 4; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i + 1];
        snprintf(id[i], sizeof(id[i]), "%s", run->episode);
        ck_assert_uint_eq(run->n_sample_step, PUSHES / every[i] + 1);
        for (size_t k = 0; k < run->n_sample_step; k++) {
            double pushed = (double)run->sample_step[k];
            double momentum = h * pushed * (pushed + 1.0) / 2.0;
            ck_assert_uint_eq(run->sample_step[k], k * every[i]);
            ck_assert_double_eq_tol(run->sample_energy[k], momentum * momentum / 2.0, 1e-15);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        wire_expect_verified(depot.client, id[i], (uint64_t)llround(PUSHES / factor[i]));
    }
}
END_TEST

// ---- what rules, and what ends

START_TEST(what_a_variant_says_rules_over_the_recording) {
    record_tower(STEPS);
    WireCompare asked;
    ask(&asked, 2);
    asked.settings[0].solver = (char *)"mdp";
    asked.settings[1].solver = (char *)"lcp";
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    // the recording is of mdp up to where it takes lcp
    ck_assert_uint_eq(reply->runs[1]->overridden, 1);
    ck_assert_uint_gt(reply->runs[1]->differs_step, 2 * (uint64_t)(STEPS / 3));
    ck_assert_uint_eq(reply->runs[1]->hash_step, reply->runs[1]->differs_step);
    ck_assert_uint_eq(reply->runs[2]->overridden, 1);
    ck_assert_uint_lt(reply->runs[2]->differs_step, STEPS / 3);
}
END_TEST

START_TEST(a_change_inside_of_a_step_ends_that_variant_alone) {
    uint64_t world = begin(free_world(g));
    wire_step(depot.client, world, 5);
    throw(world, 1);
    wire_step(depot.client, world, 5);
    wire_stop_recording(depot.client, world);
    WireCompare asked;
    ask(&asked, 3);
    asked.call.stride = 1;
    wire_compare_time_step(&asked, 0, 2.0 * h);
    wire_compare_time_step(&asked, 1, 5.0 * h);
    wire_compare_time_step(&asked, 2, 0.5 * h);
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    const Moreau__V1__EpisodeRun *ended = reply->runs[1];
    ck_assert_ptr_nonnull(ended->ended);
    ck_assert_ptr_nonnull(strstr(ended->ended, "time step"));
    ck_assert_uint_eq(ended->ended_step, 5);
    ck_assert_uint_eq(ended->steps, 2);
    ck_assert_uint_eq(ended->compared, 3);
    ck_assert_ptr_null(reply->runs[2]->ended);
    ck_assert_uint_eq(reply->runs[2]->steps, 2);
    ck_assert_ptr_null(reply->runs[3]->ended);
    ck_assert_uint_eq(reply->runs[3]->steps, 20);
}
END_TEST

// What the recording does to a body that has left the variant's bounds is refused there.
START_TEST(an_input_that_a_variant_cannot_take_ends_it) {
    uint64_t world = begin(free_world(g));
    push(world, 1, 1.0, 100);
    throw(world, 1);
    wire_step(depot.client, world, 5);
    wire_stop_recording(depot.client, world);
    double lower[3] = {-1.0, -1.0, -0.1}, upper[3] = {1.0, 1.0, 1.0};
    Moreau__V1__Bounds bounds = MOREAU__V1__BOUNDS__INIT;
    bounds.n_lower = bounds.n_upper = 3;
    bounds.lower = lower, bounds.upper = upper;
    WireCompare asked;
    ask(&asked, 2);
    asked.settings[0].bounds = &bounds;
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    const Moreau__V1__EpisodeRun *ended = reply->runs[1];
    ck_assert_uint_eq(ended->ended_step, 100);
    ck_assert_uint_eq(ended->steps, 100);
    ck_assert_uint_eq(ended->removed, 1);
    // g t (t + h)/2 passes 0.1 m there
    ck_assert_uint_eq(ended->bodies_step, 34);
    ck_assert_uint_eq(ended->differs_step, 34);
    ck_assert_ptr_null(reply->runs[2]->ended);
}
END_TEST

// Explicit Euler lets a spin grow without end, which fails; the recording's own mean does not.
START_TEST(a_step_that_fails_ends_that_variant_alone) {
    uint64_t world = begin(free_world(0.0));
    double inertia[6] = {0.1, 0.2, 0.25}, velocity[6] = {0, 0, 0, 900.0, 800.0, 700.0};
    uint64_t body = 1;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_ids = 1, set.ids = &body;
    set.n_velocity = 6, set.velocity = velocity;
    set.n_mass = 1, set.mass = (double[]){1.0};
    set.n_inertia = 6, set.inertia = inertia;
    wire_accept(depot.client, &set);
    wire_step(depot.client, world, 60);
    wire_stop_recording(depot.client, world);
    WireCompare asked;
    ask(&asked, 2);
    asked.call.has_record = asked.call.record = 1;
    asked.settings[0].has_rotation = 1;
    asked.settings[0].rotation = MOREAU__V1__ROTATION__KIND__EXPLICIT;
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    const Moreau__V1__EpisodeRun *ended = reply->runs[1];
    ck_assert_ptr_nonnull(ended->ended);
    ck_assert_uint_lt(ended->ended_step, 60);
    ck_assert_uint_eq(ended->steps, ended->ended_step);
    ck_assert_uint_eq(ended->compared, ended->steps + 1);
    ck_assert_ptr_null(reply->runs[2]->ended);
    ck_assert(!reply->runs[2]->has_hash_step);
    uint64_t steps = ended->steps;
    char id[WIRE_EPISODE_ID_BYTES];
    snprintf(id, sizeof(id), "%s", ended->episode);
    wire_expect_verified(depot.client, id, steps);
}
END_TEST

// ---- recordings of variants

START_TEST(variants_become_episodes_that_know_where_they_come_from) {
    record_tower(STEPS);
    char *labels[] = {"again"};
    WireCompare asked;
    ask(&asked, 2);
    asked.call.has_record = asked.call.record = 1;
    asked.call.has_first = 1, asked.call.first = 31;
    asked.call.n_labels = 1, asked.call.labels = labels;
    asked.settings[1].solver = (char *)"ccp";
    asked.variant[1].name = (char *)"convex";
    const Moreau__V1__EpisodeCompareReply *reply = compare(&asked);
    char id[2][WIRE_EPISODE_ID_BYTES], name[64];
    ck_assert_ptr_null(reply->runs[0]->episode);
    snprintf(id[0], sizeof(id[0]), "%s", reply->runs[1]->episode);
    snprintf(id[1], sizeof(id[1]), "%s", reply->runs[2]->episode);
    ck_assert_str_eq(reply->runs[2]->name, "convex");
    snprintf(name, sizeof(name), "%s-1", wire_describe(depot.client, episode.id)->name);
    for (size_t i = 0; i < 2; i++) {
        const Moreau__V1__EpisodeInfo *info = wire_describe(depot.client, id[i]);
        ck_assert_str_eq(info->name, i == 0 ? name : "convex");
        ck_assert_str_eq(info->solver, i == 0 ? "mdp" : "ccp");
        ck_assert_str_eq(info->labels[0], "again");
        ck_assert_str_eq(info->parent, episode.id);
        ck_assert_uint_eq(info->parent_step, 31);
        ck_assert_int_eq(info->content, MOREAU__V1__EPISODE__CONTENT__FRAMES);
        ck_assert_uint_eq(info->stride, STRIDE);
        ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__COMPLETE);
        wire_expect_verified(depot.client, id[i], STEPS - 31);
    }
}
END_TEST

START_TEST(a_comparison_that_is_given_up_leaves_whole_episodes) {
    record_tower(LONG_STEPS);
    WireCompare asked;
    ask(&asked, 2);
    asked.call.stride = 1000;
    asked.call.has_record = asked.call.record = 1;
    asked.variant[0].name = (char *)"given up";
    uint64_t id = wire_submit(depot.client, &asked.call);
    // the first event comes after 100 ms; so many steps take several times that
    const Moreau__V1__Reply *event = wire_receive(depot.client);
    ck_assert(event->event);
    ck_assert_int_eq(event->result_case, MOREAU__V1__REPLY__RESULT_COMPARE_PROGRESS);
    ck_assert_uint_eq(event->compare_progress->steps_total, LONG_STEPS);
    ck_assert_uint_gt(event->compare_progress->steps_done, 0);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(depot.client, &cancel);
    wire_expect(wire_await(depot.client, id, NULL, NULL), CODE(CANCELLED), NULL);
    wire_depot_stop(&depot); // which writes all that is left of it
    wire_depot_restart(&depot, "");
    const Moreau__V1__EpisodeInfo *info = wire_describe(depot.client, "given up");
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__WORLD_DESTROYED);
    ck_assert_uint_gt(info->steps, 0);
    wire_expect_verified(depot.client, "given up", info->steps);
}
END_TEST

START_TEST(a_deadline_ends_it) {
    record_tower(LONG_STEPS);
    WireCompare asked;
    ask(&asked, 1);
    asked.call.stride = 1000;
    Moreau__V1__Request request = wire_request(&asked.call);
    request.has_deadline_ms = 1;
    request.deadline_ms = 5; // far less than so many steps take
    uint64_t id = wire_submit_request(depot.client, &request);
    wire_expect(wire_await(depot.client, id, NULL, NULL), CODE(DEADLINE_EXCEEDED), "deadline_ms");
    wire_ping(depot.client);
}
END_TEST

// ---- what is refused

START_TEST(bad_arguments_are_refused_by_name) {
    record_tower(STEPS);
    WireCompare asked;
    ask(&asked, 0);
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "variants");
    ask(&asked, 17);
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "variants");
    ask(&asked, 1);
    asked.call.episode = (char *)"nobody";
    wire_refuse(depot.client, &asked.call, CODE(NOT_FOUND), "episode");
    asked.call.episode = NULL;
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "episode");
    ask(&asked, 1);
    asked.call.stride = 0;
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "stride");
    ask(&asked, 1);
    asked.call.has_threshold = 1, asked.call.threshold = -1.0;
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "threshold");
    ask(&asked, 1);
    asked.call.has_first = asked.call.has_last = 1;
    asked.call.first = 2, asked.call.last = 1;
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "last");
    asked.call.last = STEPS + 1;
    wire_refuse(depot.client, &asked.call, CODE(OUT_OF_RANGE), "last");
    asked.call.has_last = 0, asked.call.first = STEPS + 1;
    wire_refuse(depot.client, &asked.call, CODE(OUT_OF_RANGE), "first");
    ask(&asked, 1);
    asked.variant[0].name = (char *)"";
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "variants[0].name");
}
END_TEST

START_TEST(bad_settings_are_refused_by_variant_and_name) {
    record_tower(STEPS);
    WireCompare asked;
    ask(&asked, 2);
    asked.settings[1].solver = (char *)"pgs";
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "variants[1].settings.solver");
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    mdp.has_tolerance = 1, mdp.tolerance = -1.0;
    parameters.mdp = &mdp;
    ask(&asked, 2);
    asked.settings[1].parameters = &parameters;
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT),
                "variants[1].settings.parameters.mdp.tolerance");
    mdp.tolerance = 1e-6;
    asked.settings[1].solver = (char *)"lcp"; // whose parameters these are not
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT),
                "variants[1].settings.parameters");
    static const double steps[] = {0.0, -1.0, 11.0, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        ask(&asked, 2);
        wire_compare_time_step(&asked, 1, steps[i]);
        wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT),
                    "variants[1].settings.time_step");
    }
    // no whole numbers of steps up to 1000 meet
    static const double strange[] = {0.0041667, 1e-6, 5.0};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        ask(&asked, 2);
        wire_compare_time_step(&asked, 1, strange[i]);
        const Moreau__V1__Reply *reply = wire_refuse(
            depot.client, &asked.call, CODE(INVALID_ARGUMENT), "variants[1].settings.time_step");
        ck_assert_ptr_nonnull(strstr(reply->status->message, "same times"));
    }
}
END_TEST

// Samples of 16 bytes and more are too many for a frame: nothing is stepped, or recorded.
START_TEST(more_samples_than_a_frame_holds_are_refused_before_any_work) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--frame-bytes-max 8192");
    record_tower(STEPS);
    WireCompare asked;
    ask(&asked, 1);
    asked.call.stride = 1;
    asked.call.has_record = asked.call.record = 1;
    wire_refuse(depot.client, &asked.call, CODE(RESOURCE_EXHAUSTED), "stride");
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    ck_assert_uint_eq(wire_accept(depot.client, &list)->episode_list->total, 1);
    asked.call.stride = 10;
    compare(&asked);
}
END_TEST

START_TEST(a_damaged_recording_is_compared_where_it_is_sound) {
    record_tower(STEPS);
    wire_depot_stop(&depot);
    // a chunk ends with a hash, however few steps of a slow machine it has
    wire_depot_flip(&depot, wire_depot_chunk(&depot, CHUNK_INPUTS, 3), -1, _i == 1);
    wire_depot_restart(&depot, "");
    WireCompare asked;
    ask(&asked, 1);
    wire_refuse(depot.client, &asked.call, CODE(DATA_LOSS), "episode");
    asked.call.has_last = 1, asked.call.last = 2 * (uint64_t)KEYFRAME_STEPS;
    ck_assert_uint_eq(compare(&asked)->runs[1]->compared, 2 * (uint64_t)KEYFRAME_STEPS + 1);
}
END_TEST

START_TEST(an_episode_of_another_dynamics_version_is_not_compared) {
    record_tower(STEPS);
    wire_depot_stop(&depot);
    wire_depot_age(&depot, 4711);
    wire_depot_restart(&depot, "");
    WireCompare asked;
    ask(&asked, 1);
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &asked.call, CODE(FAILED_PRECONDITION), "episode");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "4711"));
}
END_TEST

static TCase *case_compare(void) {
    TCase *tcase = tcase_create("compare");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, the_same_settings_give_the_same_bits);
    tcase_add_test(tcase, a_range_is_compared_alone);
    tcase_add_test(tcase, the_table_does_not_depend_on_the_lanes);
    tcase_add_test(tcase, a_free_fall_is_apart_by_what_the_integrator_leaves);
    tcase_add_test(tcase, a_box_that_slides_is_launched_by_convex_friction);
    tcase_add_test(tcase, wrenches_add_the_same_momentum_on_every_clock);
    tcase_add_test(tcase, what_a_variant_says_rules_over_the_recording);
    tcase_add_test(tcase, a_change_inside_of_a_step_ends_that_variant_alone);
    tcase_add_test(tcase, an_input_that_a_variant_cannot_take_ends_it);
    tcase_add_test(tcase, a_step_that_fails_ends_that_variant_alone);
    tcase_add_test(tcase, variants_become_episodes_that_know_where_they_come_from);
    tcase_add_test(tcase, a_comparison_that_is_given_up_leaves_whole_episodes);
    tcase_add_test(tcase, a_deadline_ends_it);
    return tcase;
}

static TCase *case_refused(void) {
    TCase *tcase = tcase_create("refused");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, bad_arguments_are_refused_by_name);
    tcase_add_test(tcase, bad_settings_are_refused_by_variant_and_name);
    tcase_add_test(tcase, more_samples_than_a_frame_holds_are_refused_before_any_work);
    tcase_add_loop_test(tcase, a_damaged_recording_is_compared_where_it_is_sound, 0, 2);
    tcase_add_test(tcase, an_episode_of_another_dynamics_version_is_not_compared);
    return tcase;
}

SUITE_MAIN("system/compare", case_compare, case_refused)
