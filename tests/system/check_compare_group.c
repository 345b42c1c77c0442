// SPDX-License-Identifier: MIT
// EpisodeCompare of episodes of groups: a world that is in no group takes the recorded actions,
// with the same bits under the same settings, whatever drives and pushes it; under other ones it is
// apart by what closed forms say; and what a variant becomes is an episode of a world as any other.
// Beside that EpisodeTouches, which steps such an episode again in the same way.
#include "support/campaign.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_compare.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define KIND(name) MOREAU__V1__GROUP_CHANNEL__KIND__##name

enum { LISTED_MAX = 64, COLUMNS_MAX = 8, WORLDS_MAX = 100 };
static const double g = 9.81;

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// ---- templates

// A plane, and boxes of 0.4 m by given poses.
typedef struct Boxes {
    size_t count;
    Moreau__V1__Body__Kind kind[8];
    double pose[7 * 8];
} Boxes;

static void put(Boxes *boxes, Moreau__V1__Body__Kind kind, double x, double y, double z) {
    const double pose[7] = {x, y, z, 1.0};
    boxes->kind[boxes->count] = kind;
    memcpy(boxes->pose + 7 * boxes->count++, pose, sizeof(pose));
}

static uint64_t world_of(const Boxes *boxes, const Moreau__V1__WorldSettings *settings) {
    static Moreau__V1__Primitive__Kind kinds[] = {MOREAU__V1__PRIMITIVE__KIND__PLANE,
                                                  MOREAU__V1__PRIMITIVE__KIND__BOX};
    static double size[] = {0, 0, 0, 0.2, 0.2, 0.2};
    uint64_t of[] = {0, 0}, shape[9] = {1, 2, 2, 2, 2, 2, 2, 2, 2};
    Moreau__V1__Body__Kind kind[9] = {MOREAU__V1__BODY__KIND__STATIC};
    double pose[7 * 9] = {0, 0, 0, 1};
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = (Moreau__V1__WorldSettings *)settings;
    const uint64_t world = wire_accept(depot.client, &create)->world_create->world;
    Moreau__V1__Material material = MOREAU__V1__MATERIAL__INIT, *list = &material;
    Moreau__V1__WorldAddMaterials materials = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    material.name = "ground";
    materials.has_world = 1, materials.world = world;
    materials.n_materials = 1, materials.materials = &list;
    of[0] = of[1] = wire_accept(depot.client, &materials)->world_add->ids[0];
    Moreau__V1__WorldAddShapes shapes = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shapes.has_world = 1, shapes.world = world;
    shapes.n_kind = 2, shapes.kind = kinds;
    shapes.n_size = 6, shapes.size = size;
    shapes.n_material = 2, shapes.material = of;
    wire_accept(depot.client, &shapes);
    memcpy(kind + 1, boxes->kind, boxes->count * sizeof(*kind));
    memcpy(pose + 7, boxes->pose, 7 * boxes->count * sizeof(*pose));
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1, bodies.world = world;
    bodies.n_kind = bodies.n_shape = boxes->count + 1;
    bodies.kind = kind, bodies.shape = shape;
    bodies.n_pose = 7 * (boxes->count + 1), bodies.pose = pose;
    wire_accept(depot.client, &bodies);
    return world;
}

static Moreau__V1__WorldSettings settings_of(double gravity, double time_step) {
    static double down[3];
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    down[2] = -gravity;
    settings.n_gravity = 3, settings.gravity = down;
    settings.has_time_step = 1, settings.time_step = time_step;
    return settings;
}

// ---- groups

typedef struct Plan {
    Moreau__V1__GroupCreate call;
    Moreau__V1__GroupRecord record;
    Moreau__V1__GroupChannel channel[16], *action[8], *seen[1], *bound[1];
    Moreau__V1__GroupNoise noise, *noises[1];
    Moreau__V1__GroupParameter parameter[2], *parameters[2];
    size_t channels;
} Plan;

static Moreau__V1__GroupChannel *channel_of(Plan *plan, Moreau__V1__GroupChannel__Kind kind,
                                            const char *name, uint32_t axes, double scale) {
    Moreau__V1__GroupChannel *made = &plan->channel[plan->channels++];
    moreau__v1__group_channel__init(made);
    made->has_kind = 1, made->kind = kind;
    *(kind <= KIND(JOINT_VELOCITY) ? &made->joint : &made->body) = (char *)name;
    made->has_axes = axes != 0, made->axes = axes;
    made->has_scale = 1, made->scale = scale;
    return made;
}

static void act(Plan *plan, Moreau__V1__GroupChannel__Kind kind, const char *name, uint32_t axes,
                double scale) {
    plan->action[plan->call.n_action++] = channel_of(plan, kind, name, axes, scale);
}

static void give(Plan *plan, Moreau__V1__GroupParameter__Kind kind, double *values, size_t count) {
    Moreau__V1__GroupParameter *made = &plan->parameter[plan->call.n_parameters];
    moreau__v1__group_parameter__init(made);
    made->has_kind = 1, made->kind = kind;
    made->body = kind == MOREAU__V1__GROUP_PARAMETER__KIND__BODY_MASS ? (char *)"#2" : NULL;
    made->material =
        kind == MOREAU__V1__GROUP_PARAMETER__KIND__MATERIAL_FRICTION ? (char *)"ground" : NULL;
    made->n_values = count, made->values = values;
    plan->parameters[plan->call.n_parameters++] = made;
}

// Of a template; the first box is seen.
static void plan_group(Plan *plan, uint64_t world, uint64_t count) {
    *plan =
        (Plan){.call = MOREAU__V1__GROUP_CREATE__INIT, .record = MOREAU__V1__GROUP_RECORD__INIT};
    plan->record.name = "boxes";
    plan->call.record = &plan->record;
    plan->call.has_world = 1, plan->call.world = world;
    plan->call.has_count = 1, plan->call.count = count;
    plan->call.action = plan->action;
    plan->call.parameters = plan->parameters;
    plan->seen[0] = channel_of(plan, KIND(BODY_POSITION), "#2", 0, 1.0);
    plan->call.n_observation = 1, plan->call.observation = plan->seen;
}

typedef struct Learner {
    uint64_t group, count, columns;
    uint64_t step;
    bool skips;     // one world is left out of every third call, and one is told nonsense
    float constant; // what all actions are; 0: another number each
    char recording[WIRE_EPISODE_ID_BYTES];
} Learner;

static Learner learn(const Moreau__V1__GroupCreate *call, size_t columns) {
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, call)->group_create;
    Learner learner = {.group = reply->group, .count = call->count, .columns = columns};
    memcpy(learner.recording, reply->recording, sizeof(learner.recording));
    return learner;
}

static float action_of(uint64_t number, uint64_t step) {
    const uint64_t mixed = (number * 2654435761u + step * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

static void play(Learner *learner, uint64_t steps) {
    float action[WORLDS_MAX * COLUMNS_MAX];
    uint8_t mask[(WORLDS_MAX + 7) / 8];
    ck_assert_uint_le(learner->count * learner->columns, sizeof(action) / sizeof(*action));
    for (uint64_t k = 0; k < steps; k++, learner->step++) {
        const bool leaves_out = learner->skips && learner->step % 3 == 2;
        const uint64_t first = leaves_out ? 1 : 0;
        const size_t numbers = (learner->count - first) * learner->columns;
        for (size_t i = 0; i < numbers; i++) {
            action[i] = learner->constant != 0.0f ? learner->constant : action_of(i, learner->step);
        }
        if (learner->skips && learner->step % 5 == 4) {
            action[numbers - 1] = NAN;
        }
        Moreau__V1__GroupStep call = wire_group_step_call(learner->group, action, numbers);
        for (uint64_t i = 0; i < sizeof(mask); i++) {
            const unsigned last = (1u << learner->count % 8) - 1;
            mask[i] = (uint8_t)(i < learner->count / 8 ? 0xffu : last);
        }
        mask[0] = (uint8_t)(mask[0] & (leaves_out ? 0xfe : 0xff));
        call.has_mask = leaves_out;
        call.mask = (ProtobufCBinaryData){(learner->count + 7) / 8, mask};
        wire_accept(depot.client, &call);
    }
}

static void destroy(const Learner *learner) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = learner->group;
    wire_accept(depot.client, &call);
}

static Learner cart_poles(uint64_t count, uint64_t steps, Moreau__V1__Group__Autoreset autoreset) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    record.name = "balance";
    Moreau__V1__GroupCreate *call = wire_group_create_call(count);
    call->record = &record;
    call->has_autoreset = 1, call->autoreset = autoreset;
    Learner learner = learn(call, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, steps);
    destroy(&learner);
    return learner;
}

static const Moreau__V1__EpisodeListReply *list_any(const char *recording) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    call.recording = (char *)recording;
    call.has_count = 1, call.count = 10000;
    return wire_accept(depot.client, &call)->episode_list;
}

static const Moreau__V1__EpisodeListReply *list(const char *recording) {
    const Moreau__V1__EpisodeListReply *reply = list_any(recording);
    ck_assert_uint_gt(reply->n_episodes, 0);
    return reply;
}

// The longest episode of a world; `has_ended`: of those that nothing cut short.
static const Moreau__V1__EpisodeInfo *find(const char *recording, uint64_t world, bool has_ended) {
    const Moreau__V1__EpisodeListReply *all = list(recording);
    const Moreau__V1__EpisodeInfo *found = NULL;
    for (size_t i = 0; i < all->n_episodes; i++) {
        const Moreau__V1__EpisodeInfo *info = all->episodes[i];
        if (info->world_index == world && (found == NULL || info->steps > found->steps) &&
            (!has_ended || info->state == MOREAU__V1__EPISODE__STATE__COMPLETE)) {
            found = info;
        }
    }
    ck_assert_ptr_nonnull(found);
    return found;
}

static uint64_t fork_hash(const char *episode, uint64_t step) {
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)episode;
    fork.has_step = 1, fork.step = step;
    const Moreau__V1__EpisodeForkReply *made = wire_accept(depot.client, &fork)->episode_fork;
    wire_destroy(depot.client, made->world);
    return made->hash;
}

// ---- the same

// Every state of the episode is that of a world which took what was recorded of it, and the own
// recording of that world is true and gives them again.
static void expect_the_same(const Moreau__V1__EpisodeInfo *info, uint64_t first,
                            uint64_t substeps) {
    WireCompare asked;
    wire_compare_ask(&asked, info->episode, 1, 4);
    asked.call.has_first = 1, asked.call.first = first;
    asked.call.has_record = asked.call.record = 1;
    const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
    const Moreau__V1__EpisodeRun *was = reply->runs[0], *is = reply->runs[1];
    const uint64_t steps = info->steps - first;
    ck_assert_uint_eq(reply->substeps, substeps);
    ck_assert_uint_eq(reply->last, info->steps);
    ck_assert_ptr_null(is->ended);
    ck_assert_uint_eq(is->compared, steps + 1);
    ck_assert_uint_eq(was->steps, steps * substeps);
    ck_assert_uint_eq(is->steps, steps * substeps);
    ck_assert(!is->has_hash_step && !is->has_differs_step && !is->has_bodies_step);
    ck_assert_double_eq(is->distance, 0.0);
    ck_assert_double_eq(was->energy, is->energy);
    ck_assert_double_eq(was->worst->e_own[0], is->worst->e_own[0]);
    ck_assert_int_eq(was->has_terminated_step, is->has_terminated_step);
    ck_assert_uint_eq(was->terminated_step, is->terminated_step);
    ck_assert_uint_eq(is->sample_own_step[is->n_sample_own_step - 1], info->steps * substeps);
    wire_expect_verified(depot.client, is->episode, steps * substeps);
    const Moreau__V1__EpisodeInfo *made = wire_describe(depot.client, is->episode);
    ck_assert_str_eq(made->parent, info->episode);
    ck_assert_uint_eq(made->parent_step, first);
    ck_assert_uint_eq(made->stride, 4 * substeps);
    for (uint64_t step = first; step <= info->steps; step += 1 + steps / 3) {
        ck_assert_uint_eq(fork_hash(info->episode, step),
                          fork_hash(is->episode, (step - first) * substeps));
    }
}

// Joints are driven by efforts; a bound ends each episode.
START_TEST(the_same_settings_give_the_same_bits) {
    const Learner learner = cart_poles(3, 90, (Moreau__V1__Group__Autoreset)_i);
    const Moreau__V1__EpisodeListReply *all = list(learner.recording);
    ck_assert_uint_gt(all->n_episodes, 6);
    for (size_t i = 0; i < all->n_episodes; i += 2) {
        expect_the_same(all->episodes[i], all->episodes[i]->steps / 2 * (i % 4 == 0), 1);
    }
}
END_TEST

static void join(uint64_t world) {
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    Moreau__V1__Joint__Kind kind[2] = {MOREAU__V1__JOINT__KIND__HINGE,
                                       MOREAU__V1__JOINT__KIND__SLIDER};
    uint64_t a[2] = {4, 0}, b[2] = {5, 6};
    // the hinge's axis is vertical, the slider's is x
    double frame_a[14] = {0.6, 0, 0, 1, 0, 0, 0, 0, 3, 1, M_SQRT1_2, 0, M_SQRT1_2, 0};
    double frame_b[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, M_SQRT1_2, 0, M_SQRT1_2, 0};
    double stiffness[2] = {40.0, 0.0}, damping[2] = {4.0, 0.0};
    joints.has_world = 1, joints.world = world;
    joints.n_kind = 2, joints.kind = kind;
    joints.n_body_a = joints.n_body_b = 2, joints.body_a = a, joints.body_b = b;
    joints.n_frame_a = joints.n_frame_b = 14, joints.frame_a = frame_a, joints.frame_b = frame_b;
    joints.n_drive_stiffness = joints.n_drive_damping = 2;
    joints.drive_stiffness = stiffness, joints.drive_damping = damping;
    wire_accept(depot.client, &joints);
}

// A box that is pushed and turned, one that is moved against it, a third that carries a driven arm
// around, and a slider: everything that an action does, in three substeps.
static void plan_yard(Plan *plan, bool is_joined, bool sleeps) {
    static double mass[3] = {20.0, 40.0, 64.0}, friction[3] = {0.1, 0.3, 0.8};
    Moreau__V1__WorldSettings settings = settings_of(g, 0.005);
    Boxes boxes = {0};
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 0.0, 0.2);
    put(&boxes, MOREAU__V1__BODY__KIND__KINEMATIC, -0.6, 0.0, 0.25);
    put(&boxes, MOREAU__V1__BODY__KIND__KINEMATIC, 3.0, 0.0, 2.0);
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 3.6, 0.0, 2.0);
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 3.0, 1.0);
    settings.has_sleep_speed = sleeps, settings.sleep_speed = 0.05;
    settings.has_sleep_time = sleeps, settings.sleep_time = 0.03;
    const uint64_t world = world_of(&boxes, &settings);
    if (is_joined) {
        join(world);
    }
    plan_group(plan, world, 3);
    plan->call.has_substeps = 1, plan->call.substeps = 3;
    plan->call.has_time_step = 1, plan->call.time_step = 0.004; // not the template's
    plan->call.has_step_limit = 1, plan->call.step_limit = 40;
    give(plan, MOREAU__V1__GROUP_PARAMETER__KIND__BODY_MASS, mass, 3);
    give(plan, MOREAU__V1__GROUP_PARAMETER__KIND__MATERIAL_FRICTION, friction, 3);
    act(plan, KIND(BODY_FORCE), "#2", 3, 300.0);
    act(plan, KIND(BODY_TORQUE), "#2", 4, 20.0);
    act(plan, KIND(BODY_VELOCITY), "#3", 1, 1.0);
    act(plan, KIND(BODY_SPIN), "#4", 4, 2.0);
    if (is_joined) {
        act(plan, KIND(JOINT_TARGET), "#1", 0, 1.0);
        act(plan, KIND(JOINT_EFFORT), "#2", 0, 700.0);
    }
    moreau__v1__group_noise__init(&plan->noise);
    plan->noise.channel = channel_of(plan, KIND(BODY_POSITION), "#2", 3, 1.0);
    plan->noise.has_high = 1, plan->noise.high = 0.1;
    plan->noises[0] = &plan->noise;
    plan->call.n_noise = 1, plan->call.noise = plan->noises;
}

START_TEST(whatever_an_action_does_a_variant_takes_it) {
    Plan plan;
    plan_yard(&plan, _i == 0, _i == 1);
    Learner learner = learn(&plan.call, _i == 0 ? 7 : 5);
    learner.skips = true;
    wire_group_reset(depot.client, learner.group);
    play(&learner, 70);
    destroy(&learner);
    for (uint64_t world = 0; world < 3; world++) {
        const Moreau__V1__EpisodeInfo *info = find(learner.recording, world, false);
        ck_assert_uint_ge(info->steps, 32);
        expect_the_same(info, world == 1 ? 13 : 0, 3);
    }
}
END_TEST

// What is driven does not fall asleep, though it is slow and told the same all the time. Only for
// how long the other body of its joint has been at rest may be told otherwise.
START_TEST(what_is_driven_stays_awake) {
    Plan plan;
    plan_yard(&plan, true, true);
    Learner learner = learn(&plan.call, 7);
    learner.constant = 0.001f; // 0.7 N on 64 kg: 5 mm/s in the end, a tenth of the sleep_speed
    wire_group_reset(depot.client, learner.group);
    play(&learner, 40);
    destroy(&learner);
    WireCompare asked;
    wire_compare_ask(&asked, find(learner.recording, 0, false)->episode, 1, 4);
    asked.call.has_record = asked.call.record = 1;
    const Moreau__V1__EpisodeRun *is = wire_compare(depot.client, &asked)->runs[1];
    ck_assert_uint_eq(is->compared, 41);
    ck_assert(!is->has_differs_step);
    wire_expect_verified(depot.client, is->episode, is->steps);
}
END_TEST

// ---- closed forms

// Symplectic Euler: under another gravity g' the fall is |g - g'| t (t + h)/2 apart, under another
// time step h' it is |a| t |h - h'|/2, of an acceleration that the pushed world's own mass makes.
START_TEST(a_pushed_fall_is_apart_by_what_its_own_mass_says) {
    enum { STEPS = 24, STEP_COUNT = 4 };
    static const double h = 0.01, force = 100.0, step[STEP_COUNT] = {0.005, 0.02 / 3.0, 0.02, 0.04};
    static double mass[2] = {20.0, 40.0};
    const Moreau__V1__WorldSettings settings = settings_of(g, h);
    Boxes boxes = {0};
    Plan plan;
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 0.0, 50.0);
    plan_group(&plan, world_of(&boxes, &settings), 2);
    plan.call.has_substeps = 1, plan.call.substeps = 2;
    give(&plan, MOREAU__V1__GROUP_PARAMETER__KIND__BODY_MASS, mass, 2);
    act(&plan, KIND(BODY_FORCE), "#2", 1, force);
    Learner learner = learn(&plan.call, 1);
    learner.constant = 1.0f;
    wire_group_reset(depot.client, learner.group);
    play(&learner, STEPS);
    destroy(&learner);
    for (uint64_t world = 0; world < 2; world++) {
        const Moreau__V1__EpisodeInfo *info = find(learner.recording, world, false);
        double moon[3] = {0.0, 0.0, -1.62};
        WireCompare asked;
        wire_compare_ask(&asked, info->episode, 1 + STEP_COUNT, 2);
        asked.settings[0].n_gravity = 3, asked.settings[0].gravity = moon;
        for (size_t i = 0; i < STEP_COUNT; i++) {
            wire_compare_time_step(&asked, 1 + i, step[i]);
        }
        asked.call.has_last = 1, asked.call.last = 16;
        const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
        for (size_t i = 0; i < 1 + STEP_COUNT; i++) {
            const Moreau__V1__EpisodeRun *run = reply->runs[1 + i];
            const double own = i == 0 ? h : step[i - 1];
            ck_assert_ptr_null(run->ended);
            ck_assert_double_eq(run->time_step, own);
            ck_assert_uint_eq(run->steps, (uint64_t)llround(16 * 2 * h / own));
            ck_assert_uint_eq(run->n_sample_step, 9);
            for (size_t k = 0; k < 9; k++) {
                const double t = run->sample_time[k];
                const double a = hypot(force / mass[world], g),
                             apart = i == 0 ? (g - 1.62) * t * (t + h) / 2.0
                                            : a * t * fabs(h - own) / 2.0;
                ck_assert_double_eq_tol(t, (double)(k * 4) * h, 1e-12);
                // rounding of a hundred sums of numbers up to 50
                ck_assert_double_eq_tol(run->sample_distance[k], apart, 1e-12);
            }
        }
    }
}
END_TEST

// Convex friction glides h mu v above the plane where it slides at v, and what lifts it so far has
// a friction of mu of it: together sqrt(1 + mu^2) h mu v. With mu the world's own.
START_TEST(a_pushed_box_is_launched_by_its_own_friction) {
    enum { STEPS = 64 };
    static const double h = 0.005, force = 60.0, m = 10.0;
    static double mass[3] = {10.0, 10.0, 10.0}, friction[3] = {0.1, 0.3, 0.5};
    const Moreau__V1__WorldSettings settings = settings_of(g, h);
    Boxes boxes = {0};
    Plan plan;
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 0.0, 0.2);
    plan_group(&plan, world_of(&boxes, &settings), 3);
    plan.call.has_substeps = 1, plan.call.substeps = 2;
    give(&plan, MOREAU__V1__GROUP_PARAMETER__KIND__BODY_MASS, mass, 3);
    give(&plan, MOREAU__V1__GROUP_PARAMETER__KIND__MATERIAL_FRICTION, friction, 3);
    act(&plan, KIND(BODY_FORCE), "#2", 1, force);
    Learner learner = learn(&plan.call, 1);
    learner.constant = 1.0f;
    wire_group_reset(depot.client, learner.group);
    play(&learner, STEPS);
    destroy(&learner);
    for (uint64_t world = 0; world < 3; world++) {
        const double mu = friction[world], a = force / m - mu * g;
        WireCompare asked;
        wire_compare_ask(&asked, find(learner.recording, world, false)->episode, 1, 8);
        asked.settings[0].solver = (char *)"ccp";
        const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
        const Moreau__V1__EpisodeRun *was = reply->runs[0], *is = reply->runs[1];
        ck_assert_str_eq(was->solver, "mdp");
        ck_assert_str_eq(is->solver, "ccp");
        ck_assert_ptr_null(was->launch);
        // what one step changes, and half of it for where in the step it stands
        const double step_change = 1.5 * mu * a * h;
        ck_assert_uint_eq(is->launch_step, (uint64_t)2 * STEPS);
        ck_assert_double_eq_tol(is->launch->speed[0], mu * a * 2 * STEPS * h, step_change);
        for (size_t k = 0; k < is->n_sample_step; k++) {
            const double apart = sqrt(1.0 + mu * mu) * h * mu * a * is->sample_time[k];
            ck_assert_double_eq_tol(is->sample_distance[k], apart, h * step_change);
        }
    }
}
END_TEST

// ---- touches

// A box that falls, bounces, is pushed and slides: a world that does the same is recorded with
// events. Three of its steps are one of the group's, in which a touch is told.
START_TEST(touches_are_those_of_a_world_that_does_the_same) {
    enum { STEPS = 64, SUBSTEPS = 3 };
    static double mass[2] = {20.0, 40.0};
    const Moreau__V1__WorldSettings settings = settings_of(g, 0.005);
    Boxes boxes = {0};
    Plan plan;
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 0.0, 0.7);
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 1.0, 0.0, 0.3);
    plan_group(&plan, world_of(&boxes, &settings), 2);
    plan.call.has_substeps = 1, plan.call.substeps = SUBSTEPS;
    give(&plan, MOREAU__V1__GROUP_PARAMETER__KIND__BODY_MASS, mass, 2);
    act(&plan, KIND(BODY_FORCE), "#2", 1, 400.0);
    Learner learner = learn(&plan.call, 1);
    learner.constant = 1.0f;
    wire_group_reset(depot.client, learner.group);
    play(&learner, STEPS);
    destroy(&learner);
    for (uint64_t world = 0; world < 2; world++) {
        const Moreau__V1__EpisodeInfo *info = find(learner.recording, world, false);
        Moreau__V1__EpisodeTouches call = MOREAU__V1__EPISODE_TOUCHES__INIT;
        call.episode = info->episode;
        wire_refuse(depot.client, &call, CODE(FAILED_PRECONDITION), "episode");
        call.has_simulate = call.simulate = 1;
        const Moreau__V1__EpisodeTouchesReply *told =
            wire_stream(depot.client, &call, NULL, NULL)->episode_touches;
        Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
        fork.episode = info->episode;
        fork.has_step = 1;
        uint64_t same = wire_accept(depot.client, &fork)->episode_fork->world, body = 2;
        Moreau__V1__EpisodeStart start = wire_start_call(same);
        start.has_events = start.events = 1;
        const WireEpisode recorded = wire_record(depot.client, &start);
        double wrench[6] = {400.0};
        Moreau__V1__WorldStep step = wire_step_call(&same, info->steps * SUBSTEPS);
        step.n_wrench_body = 1, step.wrench_body = &body;
        step.n_wrench = 6, step.wrench = wrench;
        wire_accept(depot.client, &step);
        wire_stop_recording(depot.client, same);
        call.episode = (char *)recorded.id;
        const Moreau__V1__EpisodeTouchesReply *rows =
            wire_accept(depot.client, &call)->episode_touches;
        ck_assert(told->simulated && !rows->simulated);
        ck_assert_uint_ge(rows->total, 3);
        ck_assert_uint_eq(told->n_body, rows->n_body);
        for (size_t i = 0; i < rows->n_body; i++) {
            ck_assert_uint_eq(told->body[i], rows->body[i]);
            ck_assert_uint_eq(told->other_body[i], rows->other_body[i]);
            ck_assert_uint_eq(told->first_step[i], (rows->first_step[i] + 2) / SUBSTEPS);
            ck_assert_uint_eq(told->last_step[i], (rows->last_step[i] + 2) / SUBSTEPS);
            ck_assert_uint_eq(told->hardest_step[i], (rows->hardest_step[i] + 2) / SUBSTEPS);
            ck_assert_double_eq(told->hardest_impulse[i], rows->hardest_impulse[i]);
            ck_assert_double_eq(told->approach_speed[i], rows->approach_speed[i]);
        }
    }
}
END_TEST

// ---- where the group's rules would have ended it

// The first step behind which the pole leans by more than its bound; 0: none.
static uint64_t fallen(const char *episode) {
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = (char *)episode;
    const Moreau__V1__EpisodeFrames *frames =
        wire_accept(depot.client, &call)->episode_read->frames;
    for (size_t k = 0; k < frames->n_step; k++) {
        const double *q = frames->pose + 7 * (2 * k + 1) + 3; // of the pole, which turns about y
        if (2.0 * fabs(atan2(q[2], q[0])) > 0.2095) {
            return frames->step[k];
        }
    }
    return 0;
}

START_TEST(a_variant_goes_on_where_its_episode_would_have_ended) {
    static const double gravities[] = {9.8, 40.0, -9.8}; // as it was; falls faster; stands up
    const Learner learner = cart_poles(4, 60, MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    double gravity[3][3] = {{0}};
    for (uint64_t world = 0; world < 4; world++) {
        const Moreau__V1__EpisodeInfo *info = find(learner.recording, world, true);
        WireCompare asked;
        wire_compare_ask(&asked, info->episode, 3, 1);
        asked.call.has_record = asked.call.record = 1;
        for (size_t i = 0; i < 3; i++) {
            gravity[i][2] = -gravities[i];
            asked.settings[i].n_gravity = 3, asked.settings[i].gravity = gravity[i];
        }
        const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
        ck_assert_uint_eq(reply->runs[0]->terminated_step, info->steps);
        for (size_t i = 0; i < 3; i++) {
            const Moreau__V1__EpisodeRun *run = reply->runs[1 + i];
            const uint64_t at = fallen(run->episode);
            ck_assert_uint_eq(run->steps, info->steps);
            ck_assert_uint_eq(run->has_terminated_step ? run->terminated_step : 0, at);
            ck_assert(i == 0 ? at == info->steps : i == 2 ? at == 0 : at < info->steps);
        }
    }
}
END_TEST

// From 50 m down to a bound: of 0.82 m it is behind g t (t + h)/2 at step 41, and with twice the
// time step at 40; of 1 m at step 45, and with a quarter of it not yet.
START_TEST(the_command_tells_where_the_rules_would_have_ended_it) {
    static const struct {
        double depth;
        const char *time_step, *line;
        uint64_t steps;
    } rows[] = {{0.82, "0.02", "0.02 s would have been terminated behind step 40; ", 41},
                {1.0, "0.0025", "0.0025 s would not have been terminated, ", 45}};
    const Moreau__V1__WorldSettings settings = settings_of(g, 0.01);
    Boxes boxes = {0};
    Plan plan;
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 0.0, 50.0);
    plan_group(&plan, world_of(&boxes, &settings), 2);
    act(&plan, KIND(BODY_FORCE), "#2", 1, 1e-6);
    plan.bound[0] = channel_of(&plan, KIND(BODY_POSITION), "#2", 4, 1.0);
    plan.bound[0]->has_low = 1, plan.bound[0]->low = 50.0 - rows[_i].depth;
    plan.call.n_bounds = 1, plan.call.bounds = plan.bound;
    Learner learner = learn(&plan.call, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, rows[_i].steps);
    destroy(&learner);
    const Moreau__V1__EpisodeInfo *info = find(learner.recording, 1, true);
    ck_assert_uint_eq(info->steps, rows[_i].steps);
    char line[256], said[8192];
    snprintf(line, sizeof(line), "moreau compare %s --time-step %s --record", info->episode,
             rows[_i].time_step);
    ck_assert_int_eq(server_shell(depot.server->address[0], line, said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, rows[_i].line) != NULL, "%s", said);
    snprintf(line, sizeof(line), "#episode=%s&with=", info->episode);
    ck_assert_msg(strstr(said, line) != NULL, "%s", said);
    for (const char *at = said, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        ck_assert_int_le(end - at, 120);
    }
}
END_TEST

// ---- going on

// What began before the server stopped begins in the new recording where a key-frame has it.
START_TEST(an_episode_of_a_group_that_goes_on_is_compared) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    record.has_keyframe_steps = 1, record.keyframe_steps = 20;
    Moreau__V1__GroupCreate *call = wire_group_create_call(3);
    call->record = &record;
    call->n_bounds = 0;
    Learner learner = learn(call, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 50);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "");
    Moreau__V1__GroupCreate again = MOREAU__V1__GROUP_CREATE__INIT;
    again.recording = learner.recording;
    again.record = &record;
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, &again)->group_create;
    learner.group = reply->group;
    memcpy(learner.recording, reply->recording, sizeof(learner.recording));
    play(&learner, 50);
    destroy(&learner);
    const Moreau__V1__EpisodeInfo *info = find(learner.recording, 1, false);
    ck_assert_uint_gt(info->parent_step, 0);
    ck_assert_uint_ge(info->steps, 32);
    expect_the_same(info, 0, 1);
    expect_the_same(info, 27, 1);
}
END_TEST

// ---- lanes

START_TEST(the_table_does_not_depend_on_the_lanes) {
    static const char *const options[] = {"--workers 1", "--workers 2", "--workers 7"};
    static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap"};
    static char first[1 << 15], again[1 << 15];
    Plan plan;
    plan_yard(&plan, true, false);
    Learner learner = learn(&plan.call, 7);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 40);
    destroy(&learner);
    const Moreau__V1__EpisodeInfo *info = find(learner.recording, 2, false);
    char episode[WIRE_EPISODE_ID_BYTES];
    memcpy(episode, info->episode, sizeof(episode));
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        wire_depot_stop(&depot);
        wire_depot_restart(&depot, options[i]);
        WireCompare asked;
        wire_compare_ask(&asked, episode, 4, 5);
        for (size_t k = 0; k < 4; k++) {
            asked.settings[k].solver = (char *)solvers[k];
        }
        wire_compare_tell(wire_compare(depot.client, &asked), i == 0 ? first : again,
                          sizeof(first));
        ck_assert(i == 0 || strcmp(first, again) == 0);
    }
}
END_TEST

// ---- what goes wrong

// A step that a deadline cut is none, and neither are its substeps.
static Learner cut_a_step(uint64_t substeps) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    Moreau__V1__GroupCreate *call = wire_group_create_call(20);
    float action[20] = {0};
    call->record = &record;
    call->n_bounds = 0;
    call->has_substeps = 1, call->substeps = (uint32_t)substeps;
    call->has_time_step = 1, call->time_step = 1e-5;
    Learner learner = learn(call, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 2);
    const Moreau__V1__GroupStep step = wire_group_step_call(learner.group, action, 20);
    wire_expect(wire_call_within(depot.client, &step, 10), CODE(DEADLINE_EXCEEDED), "deadline_ms");
    play(&learner, 3);
    destroy(&learner);
    return learner;
}

START_TEST(a_step_that_was_cut_is_none) {
    enum { TRIES = 100 };
    const uint64_t substeps = (uint64_t)campaign_count(2000);
    const Moreau__V1__EpisodeListReply *all;
    int tries = 0;
    do { // on a busy machine the time may be over before anything has begun: then nothing is cut
        const Learner learner = cut_a_step(substeps);
        all = list_any(learner.recording);
    } while (all->n_episodes == 0 && ++tries < TRIES);
    ck_assert_uint_gt(all->n_episodes, 0);
    for (size_t i = 0; i < all->n_episodes; i += 4) {
        WireCompare asked;
        wire_compare_ask(&asked, all->episodes[i]->episode, 1, 1);
        const Moreau__V1__EpisodeRun *is = wire_compare(depot.client, &asked)->runs[1];
        ck_assert_uint_eq(is->steps, substeps * all->episodes[i]->steps);
        ck_assert(!is->has_hash_step);
    }
}
END_TEST

// In the first chunk of calls on the first 64 of 70 worlds, or in their second.
START_TEST(a_damaged_recording_is_compared_where_it_is_sound) {
    enum { WORLDS = 70, CALLS = 300 };
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->record = &record;
    call->n_bounds = 0;
    Learner learner = learn(call, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, CALLS);
    destroy(&learner);
    char mine[WIRE_EPISODE_ID_BYTES], other[WIRE_EPISODE_ID_BYTES];
    memcpy(mine, find(learner.recording, 3, false)->episode, sizeof(mine));
    memcpy(other, find(learner.recording, 66, false)->episode, sizeof(other));
    wire_depot_stop(&depot);
    const char *of = _i < 2 ? "ORDER BY sequence LIMIT 1" : "ORDER BY sequence LIMIT 1 OFFSET 1";
    char sql[256];
    snprintf(sql, sizeof(sql), "SELECT id FROM chunk WHERE kind = 2 AND first_world = 0 %s", of);
    const int64_t chunk = wire_depot_number(&depot, sql);
    snprintf(sql, sizeof(sql), "SELECT first_step FROM chunk WHERE id = %lld", (long long)chunk);
    const uint64_t first = (uint64_t)wire_depot_number(&depot, sql);
    ck_assert(_i < 2 ? first == 0 : first > 16);
    // behind the reset (entry, head, sets; 64 hashes), world 3's first action; the last is a hash
    wire_depot_flip(&depot, chunk, _i < 2 ? 192 + 24 + 72 + 64 * 8 + 24 + 72 + 4 * 3 + 2 : -1,
                    _i == 1);
    wire_depot_restart(&depot, "");
    WireCompare asked;
    wire_compare_ask(&asked, mine, 1, 10);
    // one names the chunk that is broken, the other the step that is not as it was
    const Moreau__V1__Reply *reply = wire_refuse(depot.client, &asked.call, CODE(DATA_LOSS), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, _i == 1 ? "tep 16" : "damaged"));
    if (first > 0) { // a call is the reset
        asked.call.has_last = 1, asked.call.last = first - 1;
        ck_assert_uint_eq(wire_compare(depot.client, &asked)->runs[1]->compared, first);
    }
    wire_compare_ask(&asked, other, 1, 10);
    ck_assert(!wire_compare(depot.client, &asked)->runs[1]->has_hash_step);
}
END_TEST

START_TEST(what_cannot_be_compared_is_refused_by_name) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *call = wire_group_create_call(1);
    call->record = &record;
    Learner learner = learn(call, 1);
    WireCompare asked;
    wire_compare_ask(&asked, learner.recording, 1, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 2); // its first episode still goes on
    wire_refuse(depot.client, &asked.call, CODE(NOT_FOUND), "episode");
    play(&learner, 60);
    destroy(&learner);
    const Moreau__V1__EpisodeInfo *info = find(learner.recording, 0, false);
    wire_compare_ask(&asked, info->episode, 1, 1);
    asked.call.has_first = 1, asked.call.first = info->steps + 1;
    wire_refuse(depot.client, &asked.call, CODE(OUT_OF_RANGE), "first");
    asked.call.first = 0;
    asked.call.has_last = 1, asked.call.last = info->steps + 1;
    wire_refuse(depot.client, &asked.call, CODE(OUT_OF_RANGE), "last");
    asked.call.last = info->steps;
    wire_compare_time_step(&asked, 0, 0.02 / 1001.0);
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT),
                "variants[0].settings.time_step");
    char episode[WIRE_EPISODE_ID_BYTES];
    memcpy(episode, info->episode, sizeof(episode));
    wire_depot_stop(&depot);
    wire_depot_age(&depot, 4711);
    wire_depot_restart(&depot, "");
    wire_compare_ask(&asked, episode, 1, 1);
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &asked.call, CODE(FAILED_PRECONDITION), "episode");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "4711"));
}
END_TEST

// Efforts are set where a step of the group begins, and must come between two steps of the variant.
START_TEST(an_action_inside_of_a_step_ends_that_variant_alone) {
    const Learner learner = cart_poles(1, 60, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    const Moreau__V1__EpisodeInfo *info = find(learner.recording, 0, false);
    WireCompare asked;
    wire_compare_ask(&asked, info->episode, 2, 1);
    wire_compare_time_step(&asked, 0, 0.03);
    wire_compare_time_step(&asked, 1, 0.005);
    const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
    ck_assert_ptr_nonnull(reply->runs[1]->ended);
    ck_assert_ptr_nonnull(strstr(reply->runs[1]->ended, "time step"));
    ck_assert_uint_eq(reply->runs[1]->ended_step, 1);
    ck_assert_ptr_null(reply->runs[2]->ended);
    ck_assert_uint_eq(reply->runs[2]->steps, 4 * info->steps);
}
END_TEST

// Two channels of one body may push it harder than one wrench can: a world of its own refuses that.
START_TEST(a_push_beyond_all_range_ends_a_variant) {
    const Moreau__V1__WorldSettings settings = settings_of(g, 0.01);
    Boxes boxes = {0};
    Plan plan;
    put(&boxes, MOREAU__V1__BODY__KIND__DYNAMIC, 0.0, 0.0, 50.0);
    plan_group(&plan, world_of(&boxes, &settings), 1);
    act(&plan, KIND(BODY_FORCE), "#2", 1, 0.9e18);
    act(&plan, KIND(BODY_FORCE), "#2", 1, 0.9e18);
    Learner learner = learn(&plan.call, 2);
    wire_group_reset(depot.client, learner.group);
    learner.constant = 1e-18f;
    play(&learner, 20);
    learner.constant = 1.0f;
    play(&learner, 1);
    learner.constant = 1e-18f;
    play(&learner, 20);
    destroy(&learner);
    const Moreau__V1__EpisodeInfo *info = find(learner.recording, 0, false);
    ck_assert_uint_ge(info->steps, 32);
    WireCompare asked;
    wire_compare_ask(&asked, info->episode, 1, 1);
    const Moreau__V1__EpisodeRun *run = wire_compare(depot.client, &asked)->runs[1];
    ck_assert_ptr_nonnull(run->ended);
    ck_assert_uint_eq(run->ended_step, 20);
    ck_assert_uint_eq(run->steps, 20);
}
END_TEST

START_TEST(a_deadline_ends_it) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *call = wire_group_create_call(1);
    call->record = &record;
    call->n_bounds = 0;
    call->has_substeps = 1, call->substeps = (uint32_t)campaign_count(20000);
    call->has_time_step = 1, call->time_step = 1e-6;
    Learner learner = learn(call, 1);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 16);
    destroy(&learner);
    WireCompare asked;
    wire_compare_ask(&asked, find(learner.recording, 0, false)->episode, 1, 1);
    Moreau__V1__Request request = wire_request(&asked.call);
    request.has_deadline_ms = 1;
    request.deadline_ms = 5; // far less than so many substeps take
    const uint64_t id = wire_submit_request(depot.client, &request);
    wire_expect(wire_await(depot.client, id, NULL, NULL), CODE(DEADLINE_EXCEEDED), "deadline_ms");
    wire_ping(depot.client);
}
END_TEST

static TCase *case_groups(void) {
    TCase *tcase = tcase_create("groups");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_loop_test(tcase, the_same_settings_give_the_same_bits, 0, 2);
    tcase_add_loop_test(tcase, whatever_an_action_does_a_variant_takes_it, 0, 2);
    tcase_add_test(tcase, what_is_driven_stays_awake);
    tcase_add_test(tcase, a_pushed_fall_is_apart_by_what_its_own_mass_says);
    tcase_add_test(tcase, a_pushed_box_is_launched_by_its_own_friction);
    tcase_add_test(tcase, touches_are_those_of_a_world_that_does_the_same);
    tcase_add_test(tcase, a_variant_goes_on_where_its_episode_would_have_ended);
    tcase_add_loop_test(tcase, the_command_tells_where_the_rules_would_have_ended_it, 0, 2);
    tcase_add_test(tcase, an_episode_of_a_group_that_goes_on_is_compared);
    tcase_add_test(tcase, the_table_does_not_depend_on_the_lanes);
    tcase_add_test(tcase, a_step_that_was_cut_is_none);
    tcase_add_loop_test(tcase, a_damaged_recording_is_compared_where_it_is_sound, 0, 3);
    tcase_add_test(tcase, what_cannot_be_compared_is_refused_by_name);
    tcase_add_test(tcase, an_action_inside_of_a_step_ends_that_variant_alone);
    tcase_add_test(tcase, a_push_beyond_all_range_ends_a_variant);
    tcase_add_test(tcase, a_deadline_ends_it);
    return tcase;
}

SUITE_MAIN("system/compare_group", case_groups)
