// SPDX-License-Identifier: MIT
// Episodes of a group's worlds: how they begin, end and go on, whatever else is in the group.
#include "group_lab.h"

#include "run/groups/group_valid.h"
#include "step/snapshot/snapshot.h"

#include <math.h>

// Cart-poles as Gymnasium has them, of so many steps at most.
static GroupLab cart_poles(uint32_t count, uint64_t first_world, Autoreset autoreset,
                           uint64_t step_limit) {
    static const ChannelKind kinds[2] = {CHANNEL_JOINT_POSITION, CHANNEL_JOINT_VELOCITY};
    static const char *const joints[2] = {"slider", "hinge"};
    ChannelDef seen_channels[4], bounds[2];
    NoiseDef drawn[4];
    for (size_t i = 0; i < 4; i++) {
        seen_channels[i] = of_joint(kinds[i % 2], joints[i / 2]);
        drawn[i] = (NoiseDef){.kind = NOISE_UNIFORM, .low = -0.05, .high = 0.05};
    }
    drawn[2] = (NoiseDef){.kind = NOISE_GAUSSIAN, .mean = 0.1, .deviation = 0.02};
    bounds[0] = within(of_joint(CHANNEL_JOINT_POSITION, "slider"), -2.4, 2.4);
    bounds[1] = within(of_joint(CHANNEL_JOINT_POSITION, "hinge"), -0.2095, 0.2095);
    ChannelDef action = within(of_joint(CHANNEL_JOINT_EFFORT, "slider"), -1.0, 1.0);
    action.scale = 10.0;
    const ChannelDef extra[2] = {{.kind = CHANNEL_TIME, .scale = 1.0},
                                 {.kind = CHANNEL_ACTION, .scale = 1.0}};
    GroupDef def = group_def(count);
    def.first_world = first_world;
    def.action.count = 1;
    def.action.channel = &action;
    def.observation.count = 4;
    def.observation.channel = seen_channels;
    def.extra.count = 2;
    def.extra.channel = extra;
    def.bounds.count = 2;
    def.bounds.channel = bounds;
    def.noise.count = 4;
    def.noise.channel = seen_channels;
    def.drawn = drawn;
    def.autoreset = autoreset;
    def.step_limit = step_limit;
    return group_lab_create(&def, cart_pole_world());
}

// An action for each world that depends on nothing but world and step.
static void fill_actions(double *action, uint32_t count, uint64_t first_world, uint64_t step) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t seed = 1000 * (first_world + i) + step + 1;
        action[i] = lab_random(&seed, -1.0, 1.0);
    }
}

// numpy: key [11, 5], counter [0, 0, 3, 0], the columns uniform, uniform, Gaussian, uniform. One
// rounding of sums here, as the template stands at 0.
START_TEST(an_episode_begins_with_numpys_numbers) {
    static const double drawn[4] = {-0x1.a5206b3e7b400p-11, -0x1.829f13c9158d0p-6,
                                    0x1.99110f5cb5c22p-4, 0x1.a1c0902e80994p-6};
    GroupLab lab = cart_poles(8, 0, AUTORESET_DISABLED, 0);
    for (int k = 0; k < 4; k++) {
        group_lab_reset(&lab); // episodes 0, 1, 2, 3
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_double_le(fabs(seen(&lab, 5)[i] - drawn[i]), 1e-15);
    }
    // the same through its seed, and in a group of its own
    GroupLab alone = cart_poles(1, 5, AUTORESET_DISABLED, 0);
    const uint64_t seed = 11;
    alone.call = (GroupCall){.verb = GROUP_RESET, .count = 1, .seed_count = 1, .seed = &seed};
    group_lab_run(&alone, false);
    for (int k = 0; k < 3; k++) {
        group_lab_reset(&alone);
    }
    ck_assert_mem_eq(seen(&alone, 0), seen(&lab, 5), 4 * sizeof(double));
    group_lab_destroy(&alone);
    group_lab_destroy(&lab);
}
END_TEST

START_TEST(a_reset_takes_seeds_and_starts_of_the_client) {
    GroupLab lab = cart_poles(3, 0, AUTORESET_DISABLED, 0);
    const uint64_t seed[3] = {5, 6, 11};
    lab.call = (GroupCall){.verb = GROUP_RESET, .count = 3, .seed_count = 3, .seed = seed};
    group_lab_run(&lab, false);
    double kept[12];
    memcpy(kept, lab.call.observation, sizeof(kept));
    group_lab_reset(&lab); // on to episode 1 …
    ck_assert_double_ne(seen(&lab, 2)[0], kept[8]);
    lab.call = (GroupCall){.verb = GROUP_RESET, .count = 3, .seed_count = 3, .seed = seed};
    group_lab_run(&lab, false); // … and back to 0
    ck_assert_mem_eq(lab.call.observation, kept, sizeof(kept));

    const uint32_t last = 2;
    const double values[4] = {0.1, 0.2, 0.05, 0.4};
    lab.call = (GroupCall){.verb = GROUP_RESET, .count = 1, .world = &last, .values = values};
    group_lab_run(&lab, false);
    ck_assert_mem_eq(seen(&lab, 0), values, sizeof(values));
    group_lab_destroy(&lab);
}
END_TEST

static World *cart_pole_by(int integrator) {
    World *world = cart_pole_world();
    WorldSettings settings = world->settings;
    settings.integrator = (uint8_t)integrator;
    world_set_settings(world, &settings);
    return world;
}

START_TEST(a_reset_is_the_template_to_the_bit) {
    GroupDef def = group_def(2);
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "slider");
    const ChannelDef what = of_joint(CHANNEL_JOINT_POSITION, "hinge");
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    GroupLab lab = group_lab_create(&def, cart_pole_by(_i));
    const double push[2] = {3.0, -4.0};
    group_lab_reset(&lab);
    for (int i = 0; i < 30; i++) {
        group_lab_step(&lab, push);
    }
    ck_assert_uint_ne(snapshot_hash(lab.group->world[1].world), lab.group->template_hash);
    group_lab_reset(&lab);
    ck_assert_uint_eq(snapshot_hash(lab.group->world[1].world), lab.group->template_hash);
    group_lab_destroy(&lab);
}
END_TEST

// Those that have stages come to elsewhere than any other.
START_TEST(a_world_of_a_group_goes_by_its_integrator) {
    GroupDef def = group_def(1);
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "slider");
    const ChannelDef what = of_joint(CHANNEL_JOINT_POSITION, "hinge");
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    double tilt[INTEGRATOR_COUNT];
    for (int integrator = 0; integrator < INTEGRATOR_COUNT; integrator++) {
        GroupLab lab = group_lab_create(&def, cart_pole_by(integrator));
        const double push = 3.0;
        group_lab_reset(&lab);
        for (int i = 0; i < 30; i++) {
            group_lab_step(&lab, &push);
        }
        tilt[integrator] = seen(&lab, 0)[0];
        for (int other = 0; other < integrator; other++) {
            ck_assert(!integrator_is_staged((uint8_t)integrator) ||
                      tilt[other] != tilt[integrator]);
        }
        group_lab_destroy(&lab);
    }
}
END_TEST

// All rows of 60 steps of some worlds of a group, run in either order.
static void play(uint32_t count, uint64_t first_world, Autoreset autoreset, bool backwards,
                 double *rows) {
    GroupLab lab = cart_poles(count, first_world, autoreset, 25);
    double action[64];
    group_lab_reset(&lab);
    for (uint64_t step = 0; step < 60; step++) {
        fill_actions(action, count, first_world, step);
        lab.call = (GroupCall){.verb = GROUP_STEP, .count = count, .action_double = action};
        group_lab_run(&lab, backwards);
        memcpy(rows + step * count * 4, lab.call.observation, count * 4 * sizeof(double));
    }
    group_lab_destroy(&lab);
}

// Each row and world is alone with itself: neither the order nor the others change a bit.
START_TEST(rows_depend_on_their_own_world_alone) {
    enum { COUNT = 12, ROWS = 60 * COUNT * 4 };
    static double forward[ROWS], backward[ROWS], alone[60 * 4];
    play(COUNT, 100, (Autoreset)_i, false, forward);
    play(COUNT, 100, (Autoreset)_i, true, backward);
    ck_assert_mem_eq(forward, backward, sizeof(forward));
    for (uint32_t world = 0; world < COUNT; world += 5) {
        play(1, 100 + world, (Autoreset)_i, false, alone);
        for (size_t step = 0; step < 60; step++) {
            ck_assert_mem_eq(alone + 4 * step, forward + 4 * (COUNT * step + world),
                             4 * sizeof(double));
        }
    }
}
END_TEST

// A pole that is let fall leaves its bound; then comes what the autoreset says.
START_TEST(an_episode_ends_and_the_next_one_begins) {
    const Autoreset autoreset = (Autoreset)_i;
    GroupLab lab = cart_poles(1, 7, autoreset, 0), next = cart_poles(1, 7, autoreset, 0);
    const double none = 0.0;
    group_lab_reset(&next);
    group_lab_reset(&next); // as episode 1 begins
    group_lab_reset(&lab);
    uint64_t length = 0;
    do {
        group_lab_step(&lab, &none);
        ck_assert_uint_lt(++length, 200);
    } while (lab.call.row[0].ended == 0);

    ck_assert_int_eq(lab.call.row[0].ended, GROUP_TERMINATED);
    ck_assert_uint_eq(lab.call.row[0].episode, 0);
    ck_assert_uint_eq(lab.call.row[0].seed, 11);
    ck_assert_uint_eq(lab.call.row[0].length, length);
    const double *last = row_of(&lab, lab.call.final_observation, 0);
    ck_assert_double_gt(fabs(last[2]), 0.2095);
    ck_assert_double_le(fabs(row_of(&lab, lab.call.final_extra, 0)[0] - 0.02 * (double)length),
                        1e-12);
    const size_t bytes = 4 * sizeof(double);
    if (autoreset == AUTORESET_SAME_STEP) {
        ck_assert_mem_eq(seen(&lab, 0), seen(&next, 0), bytes);
        ck_assert_double_eq(row_of(&lab, lab.call.extra, 0)[0], 0.0);
    } else {
        ck_assert_mem_eq(seen(&lab, 0), last, bytes);
    }
    group_lab_step(&lab, &none);
    ck_assert_int_eq(lab.call.row[0].ended, 0);
    ck_assert_int_eq(lab.call.row[0].has_failed, autoreset == AUTORESET_DISABLED);
    if (autoreset == AUTORESET_NEXT_STEP) {
        ck_assert_mem_eq(seen(&lab, 0), seen(&next, 0), bytes);
    } else if (autoreset == AUTORESET_DISABLED) {
        ck_assert_int_eq(lab.call.error[0].status, STATUS_FAILED_PRECONDITION);
        group_lab_reset(&lab);
        ck_assert_mem_eq(seen(&lab, 0), seen(&next, 0), bytes);
    }
    group_lab_destroy(&lab);
    group_lab_destroy(&next);
}
END_TEST

START_TEST(an_episode_is_truncated_after_its_steps) {
    GroupLab lab = cart_poles(2, 0, AUTORESET_SAME_STEP, 3);
    const double none[2] = {0};
    group_lab_reset(&lab);
    for (int step = 1; step <= 9; step++) {
        group_lab_step(&lab, none);
        ck_assert_int_eq(lab.call.row[1].ended, step % 3 == 0 ? GROUP_TRUNCATED : 0);
        if (step % 3 == 0) {
            ck_assert_uint_eq(lab.call.row[1].episode, (uint64_t)step / 3 - 1);
            ck_assert_uint_eq(lab.call.row[1].length, 3);
        }
    }
    group_lab_destroy(&lab);
}
END_TEST

START_TEST(a_wrong_action_is_refused_and_the_others_step) {
    GroupLab lab = cart_poles(3, 0, AUTORESET_NEXT_STEP, 0), same = cart_poles(3, 0, 0, 0);
    const double wrong[3] = {0.5, _i == 0 ? NAN : HUGE_VAL, -0.5}, right[3] = {0.5, 0.1, -0.5};
    group_lab_reset(&lab);
    group_lab_reset(&same);
    double before[4];
    memcpy(before, seen(&lab, 1), sizeof(before));
    group_lab_step(&lab, wrong);
    group_lab_step(&same, right);
    ck_assert(lab.call.row[1].has_failed && !lab.call.row[0].has_failed);
    ck_assert_int_eq(lab.call.error[1].status, STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(lab.call.error[1].field, "action[0]");
    ck_assert_mem_eq(seen(&lab, 1), before, sizeof(before));
    ck_assert_mem_eq(seen(&lab, 0), seen(&same, 0), sizeof(before));
    ck_assert_mem_eq(seen(&lab, 2), seen(&same, 2), sizeof(before));
    // it goes on as if nothing had been asked
    const uint32_t middle = 1;
    lab.call =
        (GroupCall){.verb = GROUP_STEP, .count = 1, .world = &middle, .action_double = right + 1};
    group_lab_run(&lab, false);
    ck_assert_mem_eq(seen(&lab, 0), seen(&same, 1), sizeof(before));
    group_lab_destroy(&lab);
    group_lab_destroy(&same);
}
END_TEST

START_TEST(an_action_is_clipped_and_scaled) {
    GroupLab lab = cart_poles(1, 0, AUTORESET_NEXT_STEP, 0);
    const double far = 7.0;
    group_lab_reset(&lab);
    group_lab_step(&lab, &far);
    ck_assert_double_eq(lab.group->world[0].world->joint_effort[0], 10.0);
    ck_assert_double_eq(row_of(&lab, lab.call.extra, 0)[1], 1.0); // CHANNEL_ACTION
    group_lab_destroy(&lab);
}
END_TEST

// ---- a ball on the ground

static GroupDef ball_def(const ChannelDef *action, size_t actions, const ChannelDef *what,
                         size_t count) {
    GroupDef def = group_def(1);
    def.action.count = actions;
    def.action.channel = action;
    def.observation.count = count;
    def.observation.channel = what;
    return def;
}

// At rest the ground bears the weight, 20 N; a force along x under the cone is met by friction,
// whose torque is that of the force at the ball's foot: z cross … = 0.1 m (0, -f, 0) on the ball.
START_TEST(contact_forces_bear_the_weight) {
    const ChannelDef action[1] = {of_body(CHANNEL_BODY_FORCE, "#2")};
    const ChannelDef what[1] = {of_body(CHANNEL_CONTACT_FORCE, "#2")};
    GroupDef def = ball_def(action, 1, what, 1);
    def.substeps = 10;
    GroupLab lab = group_lab_create(&def, ball_world(2.0));
    const double none[3] = {0}, down[3] = {0.0, 0.0, -5.0};
    group_lab_reset(&lab);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(seen(&lab, 0)[i], 0.0);
    }
    // the solver's tolerance is of the momentum of a step: 1e-8 of the weight, some of it twice
    group_lab_step(&lab, none);
    ck_assert_double_le(fabs(seen(&lab, 0)[2] - 20.0), 1e-5);
    group_lab_step(&lab, down);
    ck_assert_double_le(fabs(seen(&lab, 0)[2] - 25.0), 1e-5);
    ck_assert_double_le(fabs(seen(&lab, 0)[0]), 1e-5);
    group_lab_destroy(&lab);
}
END_TEST

// The kinematic body moves as told; the ball, seen from it, moves the other way.
START_TEST(what_is_seen_from_another_body_moves_the_other_way) {
    const ChannelDef action[2] = {of_body(CHANNEL_BODY_VELOCITY, "#3"),
                                  of_body(CHANNEL_BODY_SPIN, "#3")};
    ChannelDef what[6] = {
        of_body(CHANNEL_BODY_POSITION, "#2"), of_body(CHANNEL_BODY_VELOCITY, "#2"),
        of_body(CHANNEL_BODY_SPIN, "#2"),     of_body(CHANNEL_BODY_ROTATION, "#2"),
        of_body(CHANNEL_BODY_POSITION, "#3"), of_body(CHANNEL_BODY_LOCAL_SPIN, "#3")};
    for (int i = 0; i < 4; i++) {
        what[i].relative = "#3";
    }
    const GroupDef def = ball_def(action, 2, what, 6);
    GroupLab lab = group_lab_create(&def, ball_world(2.0));
    const double still[6] = {0.5, 0.0, 0.0, 0.0, 0.0, 2.0};
    group_lab_reset(&lab);
    double before[19];
    for (int i = 0; i < 100; i++) {
        memcpy(before, seen(&lab, 0), sizeof(before));
        group_lab_step(&lab, still);
    }
    const double *now = seen(&lab, 0);
    // the place's rate, a central difference of which is off by h^2 w^3 r / 24 < 2e-4
    for (int i = 0; i < 3; i++) {
        const double rate = (now[i] - before[i]) / 0.01, mean = 0.5 * (now[3 + i] + before[3 + i]);
        ck_assert_double_le(fabs(rate - mean), 2e-4);
    }
    ck_assert_double_le(fabs(now[8] + 2.0), 1e-9);
    ck_assert_double_le(fabs(now[13] - 1.5), 1e-9); // 1 m + 0.5 m/s 1 s
    ck_assert_double_le(fabs(now[18] - 2.0), 1e-12);
    ck_assert_double_ge(now[9], 0.0); // w
    group_lab_destroy(&lab);
}
END_TEST

// ---- worlds that lose something, or fail

START_TEST(a_world_that_loses_a_body_ends_and_is_whole_again) {
    const ChannelDef action[1] = {of_body(CHANNEL_BODY_FORCE, "#2")};
    const ChannelDef what[1] = {of_body(CHANNEL_BODY_POSITION, "#2")};
    GroupDef def = ball_def(action, 1, what, 1);
    def.substeps = 500;
    World *template = ball_world(2.0);
    WorldSettings settings = template->settings;
    settings.has_bounds = true;
    settings.bounds_lower = vec3(-1.0, -10.0, -10.0);
    settings.bounds_upper = vec3(1.5, 10.0, 10.0);
    world_set_settings(template, &settings);
    GroupLab lab = group_lab_create(&def, template);
    const double hard[3] = {200.0, 0.0, 0.0};
    group_lab_reset(&lab);
    group_lab_step(&lab, hard);
    ck_assert_int_eq(lab.call.row[0].ended, GROUP_TERMINATED);
    ck_assert_uint_eq(lab.group->world[0].world->body_count, 2);
    ck_assert_uint_lt(lab.group->world[0].substep, 500); // it ended there
    ck_assert_double_eq(seen(&lab, 0)[0], 0.0);          // what is gone
    group_lab_step(&lab, hard);
    ck_assert_uint_eq(snapshot_hash(lab.group->world[0].world), lab.group->template_hash);
    ck_assert_double_eq(seen(&lab, 0)[2], 0.1);
    group_lab_destroy(&lab);
}
END_TEST

// 1e18 N on 1e-24 kg for 10 ms are 1e40 m/s, which no float holds.
START_TEST(a_world_that_cannot_be_told_ends_and_says_why) {
    const ChannelDef action[1] = {of_body(CHANNEL_BODY_FORCE, "#2")};
    const ChannelDef what[1] = {of_body(CHANNEL_BODY_VELOCITY, "#2")};
    GroupDef def = ball_def(action, 1, what, 1);
    def.autoreset = (Autoreset)_i;
    GroupLab lab = group_lab_create(&def, ball_world(1e-24));
    const double none[3] = {0}, hard[3] = {0.0, 0.0, 1e18};
    group_lab_reset(&lab);
    group_lab_step(&lab, none);
    const uint64_t before = snapshot_hash(lab.group->world[0].world);
    group_lab_step(&lab, hard);
    ck_assert(lab.call.row[0].has_failed && lab.call.row[0].has_faulted);
    ck_assert_int_eq(lab.call.error[0].status, STATUS_FAILED_PRECONDITION);
    ck_assert_int_eq(lab.call.row[0].ended, GROUP_TRUNCATED);
    ck_assert_uint_eq(lab.call.row[0].length, 1);
    if (def.autoreset == AUTORESET_DISABLED) {
        ck_assert_uint_ne(snapshot_hash(lab.group->world[0].world), lab.group->template_hash);
        group_lab_step(&lab, none);
        ck_assert(lab.call.row[0].has_failed && lab.call.row[0].ended == 0);
        group_lab_reset(&lab);
    } else if (def.autoreset == AUTORESET_NEXT_STEP) {
        group_lab_step(&lab, none);
    }
    ck_assert_int_eq(lab.call.row[0].has_failed, def.autoreset == AUTORESET_SAME_STEP);
    ck_assert_uint_eq(snapshot_hash(lab.group->world[0].world), lab.group->template_hash);
    ck_assert_uint_ne(before, lab.group->template_hash);
    group_lab_destroy(&lab);
}
END_TEST

// ---- worlds that differ

// A mass m under 8 N for 0.1 s of rest goes as fast as 0.8 / m, whatever else; and begins where it
// is told to, again and again, also once it was made anew.
START_TEST(worlds_differ_in_mass_and_start) {
    const ChannelDef action[1] = {of_body(CHANNEL_BODY_FORCE, "#2")};
    const ChannelDef what[2] = {of_body(CHANNEL_BODY_VELOCITY, "#2"),
                                of_body(CHANNEL_BODY_POSITION, "#2")};
    const double mass[3] = {0.5, 2.0, 8.0};
    double pose[21] = {0};
    for (int i = 0; i < 3; i++) {
        pose[7 * i + 1] = i;
        pose[7 * i + 2] = 5.0;
        pose[7 * i + 3] = 1.0;
    }
    const double gravity[9] = {0};
    const GroupParameterDef own[3] = {
        {.kind = GROUP_PARAMETER_BODY_MASS, .name = "#2", .count = 3, .values = mass},
        {.kind = GROUP_PARAMETER_BODY_POSE, .name = "#2", .count = 21, .values = pose},
        {.kind = GROUP_PARAMETER_GRAVITY, .count = 9, .values = gravity}};
    World *template = ball_world(2.0);
    WorldSettings settings = template->settings;
    settings.has_bounds = true;
    settings.bounds_lower = vec3(-9.0, -9.0, -9.0);
    settings.bounds_upper = vec3(9.0, 9.0, 9.0);
    world_set_settings(template, &settings);
    GroupDef def = ball_def(action, 1, what, 2);
    def.count = 3;
    def.substeps = 10;
    def.parameter_count = 3;
    def.parameter = own;
    GroupLab lab = group_lab_create(&def, template);
    const double push[9] = {8.0, 0, 0, 8.0, 0, 0, 8.0, 0, 0};
    const double far[9] = {1e6, 0, 0, 1e6, 0, 0, 1e6, 0, 0};
    for (int round = 0; round < 3; round++) {
        group_lab_reset(&lab);
        for (size_t i = 0; i < 3; i++) {
            ck_assert_double_eq(seen(&lab, i)[4], (double)i);
            ck_assert_double_eq(seen(&lab, i)[5], 5.0);
        }
        group_lab_step(&lab, push);
        for (size_t i = 0; i < 3; i++) { // ten sums of velocities of up to 1.6 m/s
            ck_assert_double_le(fabs(seen(&lab, i)[0] - 0.8 / mass[i]), 1e-14);
        }
        group_lab_step(&lab, far); // out of the bounds
        ck_assert_uint_eq(lab.group->world[0].world->body_count, 2);
    }
    group_lab_destroy(&lab);
}
END_TEST

// Hinges of other damping slow down otherwise: damped alone, by exp(-c t / I) of the pole's inertia
// about the hinge of a cart that is as good as fixed.
START_TEST(worlds_differ_in_what_holds_their_joints) {
    GroupDef def = group_def(2);
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "slider");
    const ChannelDef what = of_joint(CHANNEL_JOINT_VELOCITY, "hinge");
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    def.noise.count = 1;
    def.noise.channel = &what;
    const NoiseDef one = {.low = 1.0, .high = 1.0};
    def.drawn = &one;
    def.substeps = 50;
    def.time_step = 1e-3;
    const double damping[2] = {0.0, 0.1}, mass[2] = {1e9, 1e9}, gravity[6] = {0};
    const GroupParameterDef own[3] = {
        {.kind = (GroupParameterKind)(GROUP_PARAMETER_JOINT_LOW + (int)JOINT_DAMPING),
         .name = "hinge",
         .count = 2,
         .values = damping},
        {.kind = GROUP_PARAMETER_BODY_MASS, .name = "#1", .count = 2, .values = mass},
        {.kind = GROUP_PARAMETER_GRAVITY, .count = 6, .values = gravity}};
    def.parameter_count = 3;
    def.parameter = own;
    GroupLab lab = group_lab_create(&def, cart_pole_world());
    const double none[2] = {0};
    group_lab_reset(&lab);
    group_lab_step(&lab, none);
    ck_assert_double_le(fabs(seen(&lab, 0)[0] - 1.0), 1e-6);
    // 1 / (1 + c h / I) to the 50 is off by c^2 h t / (2 I^2) = 0.0225 of the whole
    ck_assert_double_le(fabs(seen(&lab, 1)[0] - exp(-0.1 * 0.05 / (0.1 / 3.0))), 0.0225);
    ck_assert_double_lt(seen(&lab, 1)[0], 0.9);
    group_lab_destroy(&lab);
}
END_TEST

static void refuse_parameter(GroupParameterDef own, const char *field) {
    const ChannelDef action[1] = {of_body(CHANNEL_BODY_FORCE, "#2")};
    const ChannelDef what[1] = {of_body(CHANNEL_BODY_POSITION, "#2")};
    GroupDef def = ball_def(action, 1, what, 1);
    def.parameter_count = 1;
    def.parameter = &own;
    Group *group;
    Error error = {0};
    Status status = group_create(&def, ball_world(2.0), &group, &error);
    if (status == STATUS_OK) {
        status = group_add_world(group, 0, &error);
        group_destroy(group);
    }
    ck_assert_int_ne(status, STATUS_OK);
    ck_assert_str_eq(error.field, field);
}

START_TEST(numbers_that_no_world_can_have_are_refused) {
    const double wrong[7] = {-1.0};
    refuse_parameter((GroupParameterDef){.name = "#2", .count = 1, .values = wrong},
                     "parameters[0].values[0]");
    refuse_parameter((GroupParameterDef){.name = "#2", .count = 2, .values = wrong},
                     "parameters[0].values");
    refuse_parameter((GroupParameterDef){.name = "wheel", .count = 1, .values = wrong},
                     "parameters[0].body");
    refuse_parameter((GroupParameterDef){.id = 77, .count = 1, .values = wrong},
                     "parameters[0].body_id");
    refuse_parameter(
        (GroupParameterDef){
            .kind = GROUP_PARAMETER_MATERIAL_FRICTION, .name = "ice", .count = 1, .values = wrong},
        "parameters[0].material");
    refuse_parameter(
        (GroupParameterDef){
            .kind = GROUP_PARAMETER_JOINT_POSITION, .name = "#1", .count = 1, .values = wrong},
        "parameters[0].joint");
    refuse_parameter(
        (GroupParameterDef){
            .kind = GROUP_PARAMETER_BODY_POSE, .name = "#2", .count = 7, .values = wrong},
        "parameters[0].values[0]"); // a quaternion of no length
}
END_TEST

// ---- stopping

typedef struct Countdown {
    int left;
} Countdown;

static bool is_over(void *context) {
    Countdown *countdown = context;
    return countdown->left-- <= 0;
}

// A step that is put aside again and again comes to the same as one that is not.
START_TEST(a_step_in_pieces_is_the_same_step) {
    GroupDef def = group_def(1);
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "slider");
    const ChannelDef what = of_joint(CHANNEL_JOINT_POSITION, "hinge");
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    def.substeps = 200;
    GroupLab whole = group_lab_create(&def, cart_pole_by(_i)),
             pieces = group_lab_create(&def, cart_pole_by(_i));
    const double push = 0.3;
    group_lab_reset(&whole);
    group_lab_reset(&pieces);
    group_lab_step(&whole, &push);
    GroupCall *call = &pieces.call;
    *call =
        (GroupCall){.group = pieces.group, .verb = GROUP_STEP, .count = 1, .action_double = &push};
    arena_reset(&pieces.memory);
    ck_assert(group_call_take(call, &pieces.memory));
    Countdown countdown = {0};
    const Stop stop = {.asked = is_over, .context = &countdown};
    const Context context = {.stop = &stop};
    int pieces_taken = 1;
    for (countdown.left = 1; !group_run_row(call, 0, &pieces.scratch, &context);
         countdown.left = 1) {
        pieces_taken++;
    }
    ck_assert_int_gt(pieces_taken, 3);
    ck_assert_uint_eq(snapshot_hash(pieces.group->world[0].world),
                      snapshot_hash(whole.group->world[0].world));
    ck_assert_mem_eq(seen(&pieces, 0), seen(&whole, 0), sizeof(double));

    // given up in the middle its episode is over; before it was begun it is as it was
    const Error why = {.status = STATUS_CANCELLED};
    arena_reset(&pieces.memory);
    ck_assert(group_call_take(call, &pieces.memory));
    group_give_up_row(call, 0, &why, &pieces.scratch);
    ck_assert(call->row[0].has_failed && call->row[0].ended == 0);
    arena_reset(&pieces.memory);
    ck_assert(group_call_take(call, &pieces.memory));
    countdown.left = 1;
    ck_assert(!group_run_row(call, 0, &pieces.scratch, &context));
    group_give_up_row(call, 0, &why, &pieces.scratch);
    ck_assert_int_eq(call->row[0].ended, GROUP_TRUNCATED);
    group_lab_destroy(&whole);
    group_lab_destroy(&pieces);
}
END_TEST

// What a deadline did to a step is done again by its number of substeps: to the world, and to what
// comes behind it.
START_TEST(a_step_that_was_cut_is_cut_again) {
    GroupDef def = group_def(1);
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "slider");
    const ChannelDef what = of_joint(CHANNEL_JOINT_POSITION, "hinge");
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    def.substeps = 100;
    def.autoreset = (Autoreset)_i;
    GroupLab cut = group_lab_create(&def, cart_pole_world()),
             again = group_lab_create(&def, cart_pole_world());
    const double push = 0.3;
    group_lab_reset(&cut);
    group_lab_reset(&again);
    cut.call = again.call = (GroupCall){.group = cut.group,
                                        .verb = GROUP_STEP,
                                        .count = 1,
                                        .hash_steps = 16,
                                        .action_double = &push};
    ck_assert(group_call_take(&cut.call, &cut.memory));
    Countdown countdown = {.left = 4};
    const Stop stop = {.asked = is_over, .context = &countdown};
    const Context context = {.stop = &stop};
    ck_assert(!group_run_row(&cut.call, 0, &cut.scratch, &context));
    const uint32_t substeps = cut.group->world[0].substep;
    ck_assert_uint_gt(substeps, 0);
    ck_assert_uint_lt(substeps, def.substeps);
    group_give_up_row(&cut.call, 0, &(Error){.status = STATUS_DEADLINE_EXCEEDED}, &cut.scratch);
    again.call.cut = &substeps;
    group_lab_run(&again, false);
    ck_assert(cut.call.row[0].was_cut && again.call.row[0].was_cut);
    ck_assert_int_eq(again.call.row[0].ended, GROUP_TRUNCATED);
    ck_assert_uint_eq(again.call.row[0].final_hash, cut.call.row[0].final_hash);
    ck_assert_uint_eq(again.call.row[0].hash, cut.call.row[0].hash);
    ck_assert_uint_eq(snapshot_hash(again.group->world[0].world),
                      snapshot_hash(cut.group->world[0].world));
    group_lab_step(&cut, &push);
    group_lab_step(&again, &push);
    ck_assert_mem_eq(seen(&again, 0), seen(&cut, 0), sizeof(double));
    ck_assert_int_eq(again.call.row[0].has_failed, def.autoreset == AUTORESET_DISABLED);
    group_lab_destroy(&cut);
    group_lab_destroy(&again);
}
END_TEST

// Balls of 2 kg, one upon the other: enough to be solved that somebody may stop it.
static World *column_world(void) {
    enum { BALLS = 20 };
    Lab lab = lab_create(10.0, 0.01);
    WorldSettings settings = lab.world->settings;
    const SolverSettings solver = solver_default(SOLVER_LCP);
    step_set_solver(&settings, &solver);
    world_set_settings(lab.world, &settings);
    lab_ground(&lab, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    for (int i = 0; i < BALLS; i++) {
        const Pose pose = {.position = vec3(0.0, 0.0, 0.1 + 0.2 * i),
                           .orientation = quat_identity()};
        lab_body(&lab, ball, BODY_DYNAMIC, pose, NULL, 2.0, NULL);
    }
    return take_world(&lab);
}

// The lowest ball is pushed down with 5 N, in a step that is given up while a substep is solved:
// what its contacts did is what they did in the last substep that there was, before that step or
// in it.
START_TEST(what_was_felt_before_a_stopped_substep_is_felt_behind_it) {
    const ChannelDef action[1] = {of_body(CHANNEL_BODY_FORCE, "#2")};
    const ChannelDef what[1] = {of_body(CHANNEL_CONTACT_FORCE, "#2")};
    GroupDef def = ball_def(action, 1, what, 1);
    def.extra.count = 1;
    def.extra.channel = what;
    def.substeps = 2;
    GroupLab lab = group_lab_create(&def, column_world());
    const uint32_t until = (uint32_t)_i;
    const double none[3] = {0}, down[3] = {0.0, 0.0, -5.0};
    group_lab_reset(&lab);
    group_lab_step(&lab, none);
    Countdown countdown = {0};
    const Stop stop = {.asked = is_over, .context = &countdown};
    const Context context = {.stop = &stop};
    lab.call.action_double = down;
    ck_assert(group_call_take(&lab.call, &lab.memory));
    bool is_done = false;
    int looks = 0;
    do { // one look later each time: it stops at the first one of the second substep
        countdown.left = looks++;
        is_done = group_run_row(&lab.call, 0, &lab.scratch, &context);
    } while (!is_done && lab.group->world[0].substep < until);
    ck_assert(!is_done);
    ck_assert_uint_eq(lab.group->world[0].substep, until);
    group_give_up_row(&lab.call, 0, &(Error){.status = STATUS_CANCELLED}, &lab.scratch);
    ck_assert_int_eq(lab.call.row[0].ended, until > 0 ? GROUP_TRUNCATED : 0);
    ck_assert_double_eq(lab.group->world[0].action[2], down[2]); // in force, whatever was done
    ck_assert_double_le(fabs(seen(&lab, 0)[2] - (until > 0 ? 25.0 : 20.0)), 1e-3);
    ck_assert_mem_eq(row_of(&lab, lab.call.extra, 0), seen(&lab, 0), 6 * sizeof(double));
    group_lab_destroy(&lab);
}
END_TEST

// Without a force nothing happens to a cart-pole that stands: to the bit, and for as long.
START_TEST(without_a_push_what_stands_stands) {
    GroupDef def = group_def(1);
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "slider");
    const ChannelDef what[2] = {of_joint(CHANNEL_JOINT_POSITION, "slider"),
                                of_joint(CHANNEL_JOINT_POSITION, "hinge")};
    def.action.count = 1;
    def.action.channel = &action;
    def.observation.count = 2;
    def.observation.channel = what;
    GroupLab lab = group_lab_create(&def, cart_pole_world());
    const double none = 0.0;
    group_lab_reset(&lab);
    for (int i = 0; i < 50; i++) {
        group_lab_step(&lab, &none);
        // the frames' axes are unit and at right angles to some 1e-16, which gravity sees
        ck_assert_double_le(fabs(seen(&lab, 0)[0]), 1e-12);
        ck_assert_double_le(fabs(seen(&lab, 0)[1]), 1e-12);
    }
    group_lab_destroy(&lab);
}
END_TEST

// Once it has grown: steps, ends and resets of episodes take no more memory.
START_TEST(memory_does_not_grow) {
    GroupLab lab = cart_poles(8, 0, AUTORESET_SAME_STEP, 0);
    double action[8];
    size_t bytes[2] = {0};
    uint32_t ended = 0;
    group_lab_reset(&lab);
    for (uint64_t step = 0; step < 600; step++) {
        fill_actions(action, 8, 0, step);
        group_lab_step(&lab, action);
        for (size_t i = 0; i < 8; i++) {
            ended += lab.call.row[i].ended != 0;
        }
        bytes[step / 300] = group_bytes(lab.group, 0, 8) + lab.scratch.total_bytes;
    }
    ck_assert_uint_gt(ended, 50);
    ck_assert_uint_eq(bytes[1], bytes[0]);
    group_lab_destroy(&lab);
}
END_TEST

static TCase *case_begin(void) {
    TCase *tcase = tcase_create("begin");
    tcase_add_test(tcase, an_episode_begins_with_numpys_numbers);
    tcase_add_test(tcase, a_reset_takes_seeds_and_starts_of_the_client);
    tcase_add_loop_test(tcase, a_reset_is_the_template_to_the_bit, 0, INTEGRATOR_COUNT);
    tcase_add_test(tcase, a_world_of_a_group_goes_by_its_integrator);
    return tcase;
}

static TCase *case_step(void) {
    TCase *tcase = tcase_create("step");
    tcase_add_loop_test(tcase, rows_depend_on_their_own_world_alone, 0, AUTORESET_COUNT);
    tcase_add_loop_test(tcase, an_episode_ends_and_the_next_one_begins, 0, AUTORESET_COUNT);
    tcase_add_test(tcase, an_episode_is_truncated_after_its_steps);
    tcase_add_loop_test(tcase, a_wrong_action_is_refused_and_the_others_step, 0, 2);
    tcase_add_test(tcase, an_action_is_clipped_and_scaled);
    tcase_add_loop_test(tcase, a_step_in_pieces_is_the_same_step, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, what_was_felt_before_a_stopped_substep_is_felt_behind_it, 0, 2);
    tcase_add_loop_test(tcase, a_step_that_was_cut_is_cut_again, 0, AUTORESET_COUNT);
    tcase_add_test(tcase, without_a_push_what_stands_stands);
    tcase_add_test(tcase, memory_does_not_grow);
    return tcase;
}

START_TEST(what_is_wrong_with_a_group_is_named) {
    Defect defect = {0};
    GroupLab lab = cart_poles(3, 0, AUTORESET_SAME_STEP, 0);
    Group *group = lab.group;
    ck_assert(group_is_valid(group, &defect));
    group->observation.channel[1].column_first++;
    ck_assert(!group_is_valid(group, &defect));
    ck_assert_str_eq(defect.thing, "channel");
    ck_assert_uint_eq(defect.index, 1);
    group->observation.channel[1].column_first--;
    group->world[2].substep = group->substeps + 1;
    ck_assert(!group_is_valid(group, &defect));
    ck_assert_uint_eq(defect.index, 2);
    group->world[2].substep = 0;
    group_lab_destroy(&lab);
}
END_TEST

static TCase *case_world(void) {
    TCase *tcase = tcase_create("world");
    tcase_add_test(tcase, what_is_wrong_with_a_group_is_named);
    tcase_add_test(tcase, contact_forces_bear_the_weight);
    tcase_add_test(tcase, what_is_seen_from_another_body_moves_the_other_way);
    tcase_add_test(tcase, a_world_that_loses_a_body_ends_and_is_whole_again);
    tcase_add_test(tcase, worlds_differ_in_mass_and_start);
    tcase_add_test(tcase, worlds_differ_in_what_holds_their_joints);
    tcase_add_test(tcase, numbers_that_no_world_can_have_are_refused);
    tcase_add_loop_test(tcase, a_world_that_cannot_be_told_ends_and_says_why, 0, AUTORESET_COUNT);
    return tcase;
}

SUITE_MAIN("run/group", case_begin, case_step, case_world)
