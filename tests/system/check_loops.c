// SPDX-License-Identifier: MIT
// Loops of free bodies that rows close, and loops that trees of joints are on, from end to end: a
// slider-crank whose frames have the errors of floats turns as it must, and what was recorded of it
// verifies, forks, and is stepped again under every solver; its snapshots and clones go on with the
// same bits, also where a joint of it breaks; and so do the worlds of a group, over all ends of
// episodes.
#include "support/linkage.h"
#include "support/suite.h"
#include "support/wire_compare.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_STEP (1.0 / 480) // [s]
#define RATE      6.0         // [rad/s]
#define OFF       2e-7        // of numbers that are written as floats
enum { STEPS = 150, KEYFRAME_STEPS = 40, AFTER = 20, ROUND = 500 };
enum { MOTOR = 1, WEAK = 3 }; // ids of joints

// ---- the loops

typedef struct Loop {
    const char *name;
    bool is_tree;       // the crank turns by a coordinate, and the loop goes through its tree
    int bob;            // whom a pendulum hangs on, by a coordinate; -1: nobody
    double break_force; // of the rod's pin at the slider; 0: it holds
    uint32_t rows;      // of its problem, while it is whole
} Loop;

static const Loop loops[] = {{"of free bodies", false, -1, 0.0, 20},
                             {"through the crank's tree", true, -1, 0.0, 15},
                             {"through the rod's tree", false, ROD, 0.0, 20},
                             {"through two trees", true, SLIDER, 0.0, 12},
                             {"that breaks", false, -1, 15.0, 20},
                             {"through two trees, that breaks", true, SLIDER, 19.0, 12}};
enum { LOOPS = sizeof(loops) / sizeof(loops[0]) };

// From an angle past a dead point.
static SliderCrank crank_of(const Loop *loop) {
    return (SliderCrank){
        .r = 0.3, .l = 0.8, .angle = 2.0, .rate = RATE, .off = OFF, .is_tree = loop->is_tree};
}

static Lab make_lab(const Loop *loop) {
    const SliderCrank of = crank_of(loop);
    Lab lab = make_slider_crank(SOLVER_MDP, TIME_STEP, &of);
    lab.world->joint[WEAK - 1].break_force = loop->break_force > 0.0 ? loop->break_force : HUGE_VAL;
    if (loop->bob >= 0) {
        const Vec3 at = place_of(&lab, (uint32_t)loop->bob),
                   v = in_plane(lab_velocity(&lab, (uint32_t)loop->bob));
        const Bar bar = {.x = {at.x, at.x + 0.3},
                         .y = {at.y, at.y - 0.2},
                         .vx = {v.x, v.x},
                         .vy = {v.y, v.y},
                         .mass = 0.7,
                         .moment = 0.02};
        const Pin pin = {.kind = JOINT_HINGE,
                         .a = loop->bob,
                         .b = add_bar(&lab, &bar),
                         .x = at.x,
                         .y = at.y,
                         .is_tree = true};
        uint64_t seed = 23;
        add_pin(&lab, &pin, 0.0, &seed);
    }
    return lab;
}

// ---- over the wire

enum { BODIES_MAX = 4, JOINTS_MAX = 5 };

static void send_bodies(WireClient *client, uint64_t world, const World *from) {
    double mass[BODIES_MAX], inertia[6 * BODIES_MAX] = {0};
    ck_assert_uint_le(from->body_count, BODIES_MAX);
    for (uint32_t i = 0; i < from->body_count; i++) {
        mass[i] = from->mass[i].mass;
        inertia[(size_t)6 * i] = from->mass[i].inertia.xx;
        inertia[(size_t)6 * i + 1] = from->mass[i].inertia.yy;
        inertia[(size_t)6 * i + 2] = from->mass[i].inertia.zz;
    }
    Moreau__V1__WorldAddBodies call = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    call.has_world = 1, call.world = world;
    call.n_pose = (size_t)7 * from->body_count, call.pose = from->pose;
    call.n_velocity = (size_t)6 * from->body_count, call.velocity = from->velocity;
    call.n_mass = from->body_count, call.mass = mass;
    call.n_inertia = (size_t)6 * from->body_count, call.inertia = inertia;
    wire_accept(client, &call);
}

// Body i has the id i + 1.
static void send_joints(WireClient *client, uint64_t world, const World *from) {
    Moreau__V1__Joint__Kind kind[JOINTS_MAX];
    uint64_t body[2][JOINTS_MAX];
    double frame[2][7 * JOINTS_MAX], break_force[JOINTS_MAX];
    protobuf_c_boolean as_rows[JOINTS_MAX];
    const size_t count = from->joint_count;
    ck_assert_uint_le(count, JOINTS_MAX);
    for (size_t i = 0; i < count; i++) {
        const Joint *joint = &from->joint[i];
        kind[i] = joint->kind == JOINT_SLIDER ? MOREAU__V1__JOINT__KIND__SLIDER
                                              : MOREAU__V1__JOINT__KIND__HINGE;
        as_rows[i] = joint->is_rows;
        break_force[i] = fmin(joint->break_force, 1e18);
        for (int side = 0; side < 2; side++) {
            body[side][i] =
                joint->body[side] == JOINT_NO_BODY ? 0 : (uint64_t)joint->body[side] + 1;
            pose_store(frame[side] + 7 * i, joint->frame[side]);
        }
    }
    Moreau__V1__WorldAddJoints call = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    call.has_world = 1, call.world = world;
    call.n_kind = count, call.kind = kind;
    call.n_body_a = count, call.body_a = body[0];
    call.n_body_b = count, call.body_b = body[1];
    call.n_frame_a = 7 * count, call.frame_a = frame[0];
    call.n_frame_b = 7 * count, call.frame_b = frame[1];
    call.n_as_rows = count, call.as_rows = as_rows;
    call.n_break_force = count, call.break_force = break_force;
    wire_accept(client, &call);
}

static uint64_t make_world_with(WireClient *client, const Loop *loop, const char *solver) {
    double gravity[3] = {0};
    Lab lab = make_lab(loop);
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.n_gravity = 3, settings.gravity = gravity;
    settings.has_time_step = 1, settings.time_step = TIME_STEP;
    settings.solver = (char *)solver;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    const uint64_t world = wire_accept(client, &create)->world_create->world;
    send_bodies(client, world, lab.world);
    send_joints(client, world, lab.world);
    lab_destroy(&lab);
    return world;
}

static uint64_t make_world(WireClient *client, const Loop *loop) {
    return make_world_with(client, loop, NULL);
}

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// ---- how it moves

// Of all bodies, as they move in the plane [J].
static double kinetic(const World *of, const double *velocity) {
    double sum = 0.0;
    for (uint32_t i = 0; i < of->body_count; i++, velocity += 6) {
        const Vec3 v = vec3(velocity[0], velocity[1], velocity[2]),
                   w = vec3(velocity[3], velocity[4], velocity[5]);
        const double turns = in_plane(w).z;
        sum += 0.5 * (of->mass[i].mass * vec3_dot(v, v) + of->mass[i].inertia.zz * turns * turns);
    }
    return sum;
}

// Whoever closes the loop, the slider is where the crank's angle puts it, and all of it keeps its
// energy, a loop that breaks, too. Where nobody hangs on it, the crank turns as that lets it.
// A step sees the joints where they are as it begins: by r (w h)^2/2 = 2e-5 m they come apart in
// it, four of them, and energies are of velocities half a step from their places: w h/2 = 0.6 %.
START_TEST(it_turns_as_it_must) {
    const Loop *loop = &loops[_i];
    const SliderCrank of = crank_of(loop);
    Lab lab = make_lab(loop);
    World *model = lab.world;
    const double energy = kinetic(model, model->velocity),
                 of_loop = RATE * RATE * whole_moment(&of, of.angle);
    const size_t joints = model->joint_count;
    uint64_t world = make_world(depot.client, loop);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.has_joint_positions = step.joint_positions = 1;
    step.has_joint_velocities = step.joint_velocities = 1;
    step.has_poses = step.poses = 1;
    step.has_velocities = step.velocities = 1;
    bool is_whole = true;
    for (int i = 0; i < STEPS; i++) {
        const Moreau__V1__WorldStepReply *reply = wire_accept(depot.client, &step)->world_step;
        ck_assert_uint_eq(reply->n_failures, 0);
        ck_assert_uint_eq(reply->n_pose, (size_t)7 * model->body_count);
        ck_assert_double_eq_tol(kinetic(model, reply->velocity), energy, 2e-3 * energy);
        is_whole = is_whole && reply->joint_count[0] == joints;
        if (!is_whole) {
            continue;
        }
        memcpy(model->pose, reply->pose, reply->n_pose * sizeof(double));
        const double angle = of.angle + reply->joint_position[0], rate = reply->joint_velocity[0];
        ck_assert_double_eq_tol(place_of(&lab, SLIDER).x, slider_place(&of, angle), 2e-4);
        if (loop->bob < 0) {
            ck_assert_double_eq_tol(rate * rate * whole_moment(&of, angle), of_loop,
                                    0.02 * of_loop);
        }
    }
    ck_assert_int_eq(is_whole, loop->break_force == 0.0);
    lab_destroy(&lab);
}
END_TEST

// The same under every solver, once round, and so through both dead points; all of it is solved,
// and keeps its energy but for half a step's way. Bodies move in the plane, where no joint has a
// force across it, nor a moment but about what is across: but for what frames are off by, taken
// back in a step, of 5 kg m (OFF/h^2): 0.24 N, at 1 m at most. Under sap and compliant, whose rows
// yield, those that repeat each other are strained against each other by as much times their
// stiffness. A loop has three rows to spare; a joint between trees of joints alone leaves its own
// out, and those of free bodies share what they bear.
START_TEST(under_every_solver_it_goes_round) {
    const Loop *loop = &loops[_i % LOOPS];
    const SolverKind solver = (SolverKind)(_i / LOOPS);
    if (loop->break_force > 0.0) {
        return; // when, depends on what a solver takes back at once
    }
    const SliderCrank of = crank_of(loop);
    Lab lab = make_lab(loop);
    World *model = lab.world;
    const double energy = kinetic(model, model->velocity);
    uint64_t world = make_world_with(depot.client, loop, solver_get(solver)->name);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.has_joint_positions = step.joint_positions = 1;
    step.has_joint_wrenches = step.joint_wrenches = 1;
    step.has_poses = step.poses = 1;
    step.has_velocities = step.velocities = 1;
    double angle = of.angle;
    for (int i = 0; i < ROUND; i++) {
        const Moreau__V1__WorldStepReply *reply = wire_accept(depot.client, &step)->world_step;
        ck_assert_uint_eq(reply->n_pose, (size_t)7 * model->body_count);
        ck_assert(reply->reports->converged[0]);
        ck_assert_uint_eq(reply->reports->rows[0], loop->rows);
        memcpy(model->pose, reply->pose, reply->n_pose * sizeof(double));
        angle = of.angle + reply->joint_position[0];
        ck_assert_double_eq_tol(place_of(&lab, SLIDER).x, slider_place(&of, angle), 3e-4);
        ck_assert_double_eq_tol(kinetic(model, reply->velocity), energy, 4e-3 * energy);
        for (size_t k = 0; k < 4 && solver != SOLVER_SAP && solver != SOLVER_COMPLIANT; k++) {
            const double *wrench = reply->joint_wrench + 6 * k;
            const Vec3 force = in_plane(vec3(wrench[0], wrench[1], wrench[2])),
                       moment = in_plane(vec3(wrench[3], wrench[4], wrench[5]));
            ck_assert_double_le(fabs(force.z), 0.5);
            ck_assert_double_le(hypot(moment.x, moment.y), 0.5);
        }
    }
    ck_assert_double_ge(angle, of.angle + 1.9 * M_PI);
    lab_destroy(&lab);
}
END_TEST

// ---- what is recorded

static WireEpisode episode;
static uint64_t hash[STEPS + 1]; // of the world that was recorded
static int broke_at;             // 0: it did not

// The motor is told something on the way.
static void record(const Loop *loop) {
    uint64_t world = make_world(depot.client, loop), motor = MOTOR;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_keyframe_steps = 1;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    hash[0] = wire_hash(depot.client, world);
    broke_at = 0;
    for (int i = 0; i < STEPS; i++) {
        double effort = 0.5 * (i % 7) - 1.0;
        Moreau__V1__WorldStep step = wire_step_call(&world, 1);
        step.n_joints = 1, step.joints = &motor;
        step.n_joint_effort = 1, step.joint_effort = &effort;
        const Moreau__V1__StepReports *reports =
            wire_accept(depot.client, &step)->world_step->reports;
        broke_at = reports->n_broken_joints > 0 && broke_at == 0 ? i + 1 : broke_at;
        hash[i + 1] = wire_hash(depot.client, world);
    }
    ck_assert_int_eq(broke_at > 3 && broke_at<STEPS, loop->break_force> 0.0);
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, STEPS);
    wire_destroy(depot.client, world);
}

static void restart(const char *options) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, options);
}

START_TEST(what_was_recorded_verifies) {
    record(&loops[_i]);
    wire_expect_verified(depot.client, episode.id, STEPS);
    restart("--workers 3");
    wire_expect_verified(depot.client, episode.id, STEPS);
}
END_TEST

// Efforts are held until they are told anew, as the recording tells them in every step.
static void go_on(uint64_t world, uint64_t from) {
    uint64_t motor = MOTOR;
    for (uint64_t i = from; i < from + AFTER && i < STEPS; i++) {
        double effort = 0.5 * (double)(i % 7) - 1.0;
        Moreau__V1__WorldStep step = wire_step_call(&world, 1);
        step.n_joints = 1, step.joints = &motor;
        step.n_joint_effort = 1, step.joint_effort = &effort;
        wire_accept(depot.client, &step);
        ck_assert_uint_eq(wire_hash(depot.client, world), hash[i + 1]);
    }
}

// Also over the step in which it breaks.
START_TEST(a_fork_goes_on_as_the_world_did) {
    record(&loops[_i]);
    restart("--workers 1");
    const uint64_t from[] = {0, KEYFRAME_STEPS + 3, STEPS - AFTER,
                             broke_at > 0 ? (uint64_t)broke_at - 3 : KEYFRAME_STEPS};
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        Moreau__V1__EpisodeFork call = MOREAU__V1__EPISODE_FORK__INIT;
        call.episode = episode.id;
        call.has_step = 1, call.step = from[i];
        const Moreau__V1__EpisodeForkReply *fork = wire_accept(depot.client, &call)->episode_fork;
        const uint64_t world = fork->world;
        ck_assert_uint_eq(fork->hash, hash[from[i]]);
        go_on(world, from[i]);
    }
}
END_TEST

// As recorded it is the same to the bit; under every other solver, and divided, it gets to its end,
// converges, and has as many joints that break.
START_TEST(under_every_solver_it_gets_to_its_end) {
    const Loop *loop = &loops[_i];
    record(loop);
    WireCompare asked;
    wire_compare_ask(&asked, episode.id, 2 + SOLVER_COUNT, 10);
    for (int kind = 0; kind < SOLVER_COUNT; kind++) {
        asked.settings[1 + kind].solver = (char *)solver_get((SolverKind)kind)->name;
    }
    asked.settings[1 + SOLVER_COUNT].has_substeps = 1;
    asked.settings[1 + SOLVER_COUNT].substeps = 4;
    const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
    ck_assert_uint_eq(reply->n_runs, 3 + SOLVER_COUNT);
    ck_assert(!reply->runs[1]->has_hash_step);
    for (size_t i = 1; i < reply->n_runs; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i];
        ck_assert_msg(run->ended == NULL, "%s: %s", run->solver, run->ended);
        ck_assert_uint_eq(run->steps, STEPS);
        ck_assert_uint_eq(run->unconverged_steps, 0);
        ck_assert_uint_eq(run->broken, broke_at > 0);
    }
}
END_TEST

// ---- snapshots

static uint64_t take(WireClient *client, uint64_t world) {
    Moreau__V1__SnapshotTake call = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    call.has_world = 1, call.world = world;
    return wire_accept(client, &call)->snapshot_take->snapshot;
}

static uint64_t restore(WireClient *client, uint64_t world, uint64_t snapshot) {
    Moreau__V1__SnapshotRestore call = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    call.has_world = call.has_snapshot = 1;
    call.world = world, call.snapshot = snapshot;
    return wire_accept(client, &call)->snapshot_restore->hash;
}

// Before whatever breaks, breaks: behind it all have broken alike. The other world was another.
START_TEST(snapshots_and_clones_go_on_alike) {
    enum { BEFORE = 17 };
    const Loop *loop = &loops[_i];
    const uint64_t world = make_world(depot.client, loop);
    const uint64_t other = make_world(depot.client, &loops[(_i + 1) % LOOPS]);
    wire_step(depot.client, other, 5);
    wire_step(depot.client, world, BEFORE);
    const uint64_t snapshot = take(depot.client, world), before = wire_hash(depot.client, world);
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = 1, clone.world = world;
    clone.has_count = 1, clone.count = 1;
    const uint64_t twin = wire_accept(depot.client, &clone)->snapshot_clone->worlds[0];
    const WireBytes bytes = wire_snapshot_read(depot.client, snapshot, 1000);
    ck_assert_uint_eq(restore(depot.client, other, snapshot), before);
    wire_step(depot.client, world, STEPS - BEFORE);
    wire_step(depot.client, twin, STEPS - BEFORE);
    wire_step(depot.client, other, STEPS - BEFORE);
    const uint64_t after = wire_hash(depot.client, world);
    ck_assert_uint_eq(wire_hash(depot.client, twin), after);
    ck_assert_uint_eq(wire_hash(depot.client, other), after);
    restart("--workers 1");
    const uint64_t later = make_world(depot.client, &loops[(_i + 2) % LOOPS]);
    ck_assert_uint_eq(restore(depot.client, later, wire_snapshot_upload(depot.client, bytes, 777)),
                      before);
    wire_step(depot.client, later, STEPS - BEFORE);
    ck_assert_uint_eq(wire_hash(depot.client, later), after);
    free(bytes.data);
}
END_TEST

// ---- groups

enum { WORLDS = 6, GROUP_STEPS = 90, SUBSTEPS = 4, LIMIT = 22, SEEN = 5 };

typedef struct Columns {
    Moreau__V1__GroupChannel action, seen[3], bound, kick;
    Moreau__V1__GroupChannel *actions, *seens[3], *bounds;
    Moreau__V1__GroupNoise noise, *noises;
    Moreau__V1__GroupRecord record;
} Columns;

static void of_motor(Moreau__V1__GroupChannel *channel, Moreau__V1__GroupChannel__Kind kind) {
    moreau__v1__group_channel__init(channel);
    channel->has_kind = 1, channel->kind = kind;
    channel->has_joint_id = 1, channel->joint_id = MOTOR;
}

static void of_slider(Moreau__V1__GroupChannel *channel, Moreau__V1__GroupChannel__Kind kind) {
    moreau__v1__group_channel__init(channel);
    channel->has_kind = 1, channel->kind = kind;
    channel->has_body_id = 1, channel->body_id = SLIDER + 1;
}

static void keep_within(Moreau__V1__GroupChannel *channel, double bound) {
    channel->has_low = channel->has_high = 1;
    channel->low = -bound, channel->high = bound;
}

// The motor is driven; the crank's angle and rate are seen, and where the slider is, which is
// kicked this way and that as an episode begins. It ends where the crank has come far, or where a
// joint breaks, or after so many steps.
static Moreau__V1__GroupCreate group_call(uint64_t world, double kick, bool is_same_step,
                                          Columns *columns) {
    of_motor(&columns->action, MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_EFFORT);
    keep_within(&columns->action, 1.0);
    columns->action.has_scale = 1, columns->action.scale = 20.0;
    of_motor(&columns->seen[0], MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_POSITION);
    of_motor(&columns->seen[1], MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_VELOCITY);
    of_slider(&columns->seen[2], MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION);
    of_motor(&columns->bound, MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_POSITION);
    keep_within(&columns->bound, 1.0);
    of_slider(&columns->kick, MOREAU__V1__GROUP_CHANNEL__KIND__BODY_VELOCITY);
    moreau__v1__group_noise__init(&columns->noise);
    columns->noise.channel = &columns->kick;
    columns->noise.has_low = columns->noise.has_high = 1;
    columns->noise.low = -kick, columns->noise.high = kick;
    moreau__v1__group_record__init(&columns->record);
    columns->record.has_keyframe_steps = 1, columns->record.keyframe_steps = 30;
    columns->actions = &columns->action;
    columns->bounds = &columns->bound;
    columns->noises = &columns->noise;
    for (int i = 0; i < 3; i++) {
        columns->seens[i] = &columns->seen[i];
    }
    Moreau__V1__GroupCreate call = MOREAU__V1__GROUP_CREATE__INIT;
    call.has_world = 1, call.world = world;
    call.has_count = 1, call.count = WORLDS;
    call.has_seed = 1, call.seed = 5;
    call.has_substeps = 1, call.substeps = SUBSTEPS;
    call.has_step_limit = 1, call.step_limit = LIMIT;
    call.has_autoreset = 1;
    call.autoreset = is_same_step ? MOREAU__V1__GROUP__AUTORESET__SAME_STEP
                                  : MOREAU__V1__GROUP__AUTORESET__NEXT_STEP;
    call.has_double_precision = 1, call.double_precision = 1;
    call.n_action = 1, call.action = &columns->actions;
    call.n_observation = 3, call.observation = columns->seens;
    call.n_bounds = 1, call.bounds = &columns->bounds;
    call.n_noise = 1, call.noise = &columns->noises;
    call.record = &columns->record;
    return call;
}

typedef struct Table {
    double seen[GROUP_STEPS + 1][WORLDS][SEEN];
    bool has_ended[GROUP_STEPS + 1][WORLDS];
    uint64_t ended, terminated;
} Table;

static void keep(Table *table, size_t step, const Moreau__V1__GroupStepReply *reply) {
    ck_assert_uint_eq(reply->n_observation_double, (size_t)WORLDS * SEEN);
    ck_assert_uint_eq(reply->n_failures, 0);
    memcpy(table->seen[step], reply->observation_double, sizeof(table->seen[step]));
    for (size_t i = 0; i < reply->n_final_world; i++) {
        table->has_ended[step][reply->final_world[i]] = true;
    }
    for (size_t i = 0; i < reply->terminated.len; i++) {
        table->terminated += (uint64_t)__builtin_popcount(reply->terminated.data[i]);
    }
    table->ended += reply->n_final_world;
}

static void play(uint64_t group, Table *table) {
    memset(table, 0, sizeof(*table));
    keep(table, 0, wire_group_reset(depot.client, group));
    for (size_t step = 0; step < GROUP_STEPS; step++) {
        float action[WORLDS];
        for (size_t i = 0; i < WORLDS; i++) {
            action[i] = (float)((i * 7 + step * 3) % 5) / 2.0f - (i < 3 ? 0.6f : 1.4f);
        }
        keep(table, step + 1, wire_group_step(depot.client, group, action, WORLDS));
    }
}

static void expect_all_verified(const char *recording) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    call.recording = (char *)recording;
    const Moreau__V1__EpisodeListReply *list = wire_accept(depot.client, &call)->episode_list;
    char id[GROUP_STEPS * WORLDS][WIRE_EPISODE_ID_BYTES];
    uint64_t steps[GROUP_STEPS * WORLDS];
    const size_t count = list->n_episodes;
    ck_assert_uint_ge(count, WORLDS);
    for (size_t i = 0; i < count; i++) {
        memcpy(id[i], list->episodes[i]->episode, sizeof(id[i]));
        steps[i] = list->episodes[i]->steps;
    }
    for (size_t i = 0; i < count; i++) {
        wire_expect_verified(depot.client, id[i], steps[i]);
    }
}

// In every world, in every episode, the slider is where its crank's angle puts it (as above, at
// rates up to half as large again); what was recorded of it verifies; and on another server, of one
// worker, where nothing is recorded, all of it is the same to the bit.
START_TEST(the_worlds_of_a_group_turn_as_they_must) {
    static Table first, second;
    const Loop *loop = &loops[_i];
    const SliderCrank of = crank_of(loop);
    // what breaks is not to break of the kick itself, in one step: of m v/h = 2 N
    const double kick = loop->break_force > 0.0 ? 0.002 : 0.2; // [m/s]
    Columns columns;
    Moreau__V1__GroupCreate call =
        group_call(make_world(depot.client, loop), kick, _i % 2 == 1, &columns);
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, &call)->group_create;
    const uint64_t group = reply->group;
    char recording[WIRE_EPISODE_ID_BYTES];
    memcpy(recording, reply->recording, sizeof(recording));
    play(group, &first);
    const double origin = in_plane(plane_point(0.0, 0.0, 0.0)).x;
    for (size_t step = 0; step <= GROUP_STEPS; step++) {
        for (size_t i = 0; i < WORLDS; i++) {
            const double *seen = first.seen[step][i];
            const double place = in_plane(vec3(seen[2], seen[3], seen[4])).x - origin;
            if (!first.has_ended[step][i]) {
                ck_assert_double_eq_tol(place, slider_place(&of, of.angle + seen[0]), 4e-4);
            }
        }
    }
    ck_assert_uint_gt(first.ended, (uint64_t)3 * WORLDS);
    ck_assert_uint_gt(first.terminated, 0);
    ck_assert_int_eq(first.terminated < first.ended, loop->break_force == 0.0);

    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    wire_accept(depot.client, &destroy);
    expect_all_verified(recording);
    restart("--workers 1");
    call.world = make_world(depot.client, loop);
    call.record = NULL;
    play(wire_accept(depot.client, &call)->group_create->group, &second);
    ck_assert_mem_eq(first.seen, second.seen, sizeof(first.seen));
    ck_assert_mem_eq(first.has_ended, second.has_ended, sizeof(first.has_ended));
}
END_TEST

static TCase *case_loops(void) {
    TCase *tcase = tcase_create("loops");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, under_every_solver_it_goes_round, 0, LOOPS * SOLVER_COUNT);
    tcase_add_loop_test(tcase, it_turns_as_it_must, 0, LOOPS);
    tcase_add_loop_test(tcase, what_was_recorded_verifies, 0, LOOPS);
    tcase_add_loop_test(tcase, a_fork_goes_on_as_the_world_did, 0, LOOPS);
    tcase_add_loop_test(tcase, under_every_solver_it_gets_to_its_end, 0, LOOPS);
    tcase_add_loop_test(tcase, snapshots_and_clones_go_on_alike, 0, LOOPS);
    tcase_add_loop_test(tcase, the_worlds_of_a_group_turn_as_they_must, 0, LOOPS);
    return tcase;
}

SUITE_MAIN("system/loops", case_loops)
