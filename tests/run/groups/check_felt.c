// SPDX-License-Identifier: MIT
// What channels feel of a world's last step, against what mechanics says of it.
#include "group_lab.h"

#include <math.h>

static const double h = 0.005, g = 9.81;

// A turn about no axis of anything.
static Quat askew(void) {
    return quat_normalize((Quat){0.8, 0.3, -0.4, 0.2});
}

static Vec3 in_axes(Quat turn, Vec3 v) {
    return mat3_tmul_vec(quat_to_mat3(turn), v);
}

static void check_near(const double *numbers, Vec3 expected, double tolerance) {
    const double wanted[3] = {expected.x, expected.y, expected.z};
    for (int k = 0; k < 3; k++) {
        ck_assert_msg(fabs(numbers[k] - wanted[k]) <= tolerance, "[%d]: %.17g for %.17g", k,
                      numbers[k], wanted[k]);
    }
}

// Acts on the last body, with nothing.
static GroupLab watch(World *world, const char *acted, const ChannelDef *what, size_t count) {
    const ChannelDef action = of_body(CHANNEL_BODY_FORCE, acted);
    GroupDef def = group_def(1);
    def.action.count = 1;
    def.action.channel = &action;
    def.observation.count = count;
    def.observation.channel = what;
    GroupLab lab = group_lab_create(&def, world);
    group_lab_reset(&lab);
    for (uint32_t k = 0; k < lab.group->observation.column_count; k++) {
        ck_assert(seen(&lab, 0)[k] == 0.0 || what[0].kind == CHANNEL_GYROSCOPE);
    }
    return lab;
}

static void take_steps(GroupLab *lab, int count) {
    const double none[3] = {0};
    for (int i = 0; i < count; i++) {
        group_lab_step(lab, none);
    }
}

static ChannelDef mounted(ChannelKind kind, const char *body, Vec3 place, Quat turn) {
    ChannelDef channel = of_body(kind, body);
    channel.has_mount = true;
    pose_store(channel.mount, (Pose){.position = place, .orientation = turn});
    return channel;
}

// ---- accelerometers and gyroscopes

// A ball that falls and turns, ω constant: f = ω × (ω × r), whatever gravity; at its centre, of a
// ball that does not turn, nothing. In the axes of where it sits.
START_TEST(an_accelerometer_that_falls_feels_its_turning_alone) {
    const Vec3 spin = _i == 0 ? vec3(0.0, 0.0, 0.0) : vec3(3.0, -1.0, 2.0),
               arm = vec3(0.3, 0.1, -0.2);
    const Quat turned = askew(), mount = quat_normalize((Quat){0.5, -0.5, 0.1, 0.7});
    Lab made = lab_create(g, h);
    made.world->settings.gravity = vec3(1.0, -2.0, -9.0);
    const Id ball = lab_shape(&made, PRIMITIVE_SPHERE, vec3(0.5, 0.0, 0.0), 0);
    const double velocity[6] = {1.0, 2.0, 3.0, spin.x, spin.y, spin.z};
    lab_body(&made, ball, BODY_DYNAMIC, (Pose){.orientation = turned}, velocity, 2.0, NULL);
    const ChannelDef what[2] = {mounted(CHANNEL_GYROSCOPE, "#1", arm, mount),
                                mounted(CHANNEL_ACCELEROMETER, "#1", arm, mount)};
    GroupLab lab = watch(take_world(&made), "#1", what, 2);
    const Vec3 own = in_axes(turned, spin);
    check_near(seen(&lab, 0), in_axes(mount, own), 1e-12);
    check_near(seen(&lab, 0) + 3, vec3(0.0, 0.0, 0.0), 0.0);
    for (int i = 0; i < 50; i++) {
        take_steps(&lab, 1);
        check_near(seen(&lab, 0), in_axes(mount, own), 1e-12);
        // velocities of some m/s, rounded and divided by the step
        check_near(seen(&lab, 0) + 3, in_axes(mount, vec3_cross(own, vec3_cross(own, arm))), 1e-12);
    }
    group_lab_destroy(&lab);
}
END_TEST

// A moved body that turns evenly under a gravity that it does not feel: it reads that upwards, in
// its axes as they are halfway through the step. Where a step turns it by w h, ours turns it by
// (w h)^3 / 12 less.
START_TEST(an_accelerometer_reads_in_axes_of_the_middle_of_the_step) {
    const Vec3 spin = vec3(2.0, -1.0, 3.0), pull = vec3(1.0, -2.0, -9.0);
    const double rate = vec3_norm(spin);
    const double velocity[6] = {0.3, 0.0, 0.1, spin.x, spin.y, spin.z};
    Lab made = lab_create(g, h);
    made.world->settings.gravity = pull;
    lab_body(&made, 0, BODY_DYNAMIC, (Pose){.orientation = quat_identity()}, NULL, 1.0,
             (const double[6]){1, 1, 1, 0, 0, 0});
    lab_body(&made, 0, BODY_KINEMATIC, (Pose){.orientation = askew()}, velocity, 0.0, NULL);
    const ChannelDef what[1] = {of_body(CHANNEL_ACCELEROMETER, "#2")};
    GroupLab lab = watch(take_world(&made), "#1", what, 1);
    for (int i = 0; i < 50; i++) {
        take_steps(&lab, 1);
        const double half = 0.5 * rate * (i + 0.5) * h;
        const Vec3 axis = vec3_scale(sin(half) / rate, spin);
        const Quat turned = quat_mul((Quat){cos(half), axis.x, axis.y, axis.z}, askew());
        check_near(seen(&lab, 0), in_axes(turned, vec3_neg(pull)), 1e-3);
    }
    group_lab_destroy(&lab);
}
END_TEST

// At rest it reads g upwards: held askew by a joint, and on ground.
START_TEST(an_accelerometer_at_rest_reads_gravity_upwards) {
    Lab made = lab_create(g, h);
    lab_ground(&made, 0);
    const Id ball = lab_shape(&made, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    const Quat turned = askew();
    lab_body(&made, ball, BODY_DYNAMIC,
             (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = turned}, NULL, 2.0, NULL);
    lab_body(&made, ball, BODY_DYNAMIC,
             (Pose){.position = vec3(2.0, 0.0, 3.0), .orientation = turned}, NULL, 2.0, NULL);
    const uint32_t kind[1] = {JOINT_FIXED};
    const uint64_t a[1] = {0}, b[1] = {3};
    double frame[7];
    pose_store(frame, (Pose){.position = vec3(2.0, 0.0, 3.0), .orientation = turned});
    lab_joints(&made, &(JointColumns){
                          .count = 1, .kind = kind, .body_a = a, .body_b = b, .frame_a = frame});
    const ChannelDef what[2] = {of_body(CHANNEL_ACCELEROMETER, "#2"),
                                of_body(CHANNEL_ACCELEROMETER, "#3")};
    GroupLab lab = watch(take_world(&made), "#2", what, 2);
    take_steps(&lab, 10);
    const Vec3 up = in_axes(turned, vec3(0.0, 0.0, g));
    check_near(seen(&lab, 0), up, 1e-6); // the solver's tolerance
    check_near(seen(&lab, 0) + 3, up, 1e-12);
    group_lab_destroy(&lab);
}
END_TEST

// ---- joints

// A beam of 3 kg that is held askew, its centre of mass at c beside the joint: the joint carries
// the weight, F = -m g and T = -c × m g.
START_TEST(a_fixed_joint_carries_weight_and_moment) {
    const bool is_rows = _i == 1;
    const Quat turned = askew();
    const Vec3 c = vec3(0.4, -0.1, 0.2), pull = vec3(2.0, 1.0, -9.0);
    const double mass = 3.0;
    Lab made = lab_create(g, h);
    made.world->settings.gravity = pull;
    const double inertia[6] = {0.1, 0.2, 0.25, 0, 0, 0};
    lab_body(&made, 0, BODY_DYNAMIC, (Pose){.orientation = turned}, NULL, mass, inertia);
    const uint32_t kind[1] = {JOINT_FIXED}, rows[1] = {is_rows};
    const uint64_t a[1] = {0}, b[1] = {1};
    double at[7], frame[7];
    pose_store(at, (Pose){.position = vec3_neg(quat_rotate(turned, c)), .orientation = turned});
    pose_store(frame, (Pose){.position = vec3_neg(c), .orientation = quat_identity()});
    const char *const name[1] = {"hold"};
    lab_joints(&made, &(JointColumns){.count = 1,
                                      .kind = kind,
                                      .as_rows = rows,
                                      .body_a = a,
                                      .body_b = b,
                                      .frame_a = at,
                                      .frame_b = frame,
                                      .name = name});
    const ChannelDef what[1] = {of_joint(CHANNEL_JOINT_WRENCH, "hold")};
    GroupLab lab = watch(take_world(&made), "#1", what, 1);
    take_steps(&lab, 5);
    const Vec3 up = in_axes(turned, vec3_scale(-mass, pull));
    const double tolerance = is_rows ? 1e-5 : 1e-11;
    check_near(seen(&lab, 0), up, tolerance);
    check_near(seen(&lab, 0) + 3, vec3_cross(c, up), tolerance);
    group_lab_destroy(&lab);
}
END_TEST

// An arm along x of a hinge about y, and on it one on a slider: drives hold both, and what they
// give is the moment of the weights, and the weight along the way.
static World *arm_world(void) {
    Lab made = lab_create(g, h);
    const double inertia[6] = {0.01, 0.02, 0.02, 0, 0, 0}, half = 0.70710678118654757;
    const Vec3 places[2] = {vec3(0.5, 0.0, 0.0), vec3(1.0, 0.0, 0.0)};
    for (int i = 0; i < 2; i++) {
        lab_body(&made, 0, BODY_DYNAMIC,
                 (Pose){.position = places[i], .orientation = quat_identity()}, NULL, 1.0 + i,
                 inertia);
    }
    // z of the hinge along y, of the slider along z
    const uint32_t kind[2] = {JOINT_HINGE, JOINT_SLIDER};
    const uint64_t a[2] = {0, 1}, b[2] = {1, 2};
    const double frame_a[14] = {0, 0, 0, half, -half, 0, 0, 0.5, 0, 0, 1, 0, 0, 0},
                 frame_b[14] = {-0.5, 0, 0, half, -half, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    const double stiffness[2] = {1e5, 1e5}, damping[2] = {1e3, 1e3}, friction[2] = {0.0, 0.0};
    const char *const name[2] = {"hinge", "slider"};
    lab_joints(&made, &(JointColumns){.count = 2,
                                      .axis_count = 2,
                                      .position_count = 2,
                                      .kind = kind,
                                      .body_a = a,
                                      .body_b = b,
                                      .frame_a = frame_a,
                                      .frame_b = frame_b,
                                      .drive_stiffness = stiffness,
                                      .drive_damping = damping,
                                      .friction = friction,
                                      .name = name});
    return take_world(&made);
}

START_TEST(a_drive_that_holds_an_arm_gives_the_moment_of_its_weight) {
    const ChannelDef what[4] = {
        of_joint(CHANNEL_JOINT_TORQUE, "hinge"), of_joint(CHANNEL_JOINT_TORQUE, "slider"),
        of_body(CHANNEL_BODY_POSITION, "#1"), of_body(CHANNEL_BODY_POSITION, "#2")};
    GroupDef def = group_def(1);
    const ChannelDef action = of_body(CHANNEL_BODY_FORCE, "#2");
    def.action.count = 1;
    def.action.channel = &action;
    def.observation.count = 4;
    def.observation.channel = what;
    GroupLab lab = group_lab_create(&def, arm_world());
    group_lab_reset(&lab);
    take_steps(&lab, 2000);
    // about y: r × (0, 0, -m g) is +m g x, and the drive gives as much the other way
    const double *x = seen(&lab, 0);
    ck_assert_double_le(fabs(x[0] + g * (1.0 * x[2] + 2.0 * x[5])), 1e-9);
    ck_assert_double_le(fabs(x[0] + g * 2.5), 1e-2); // it sags
    const double angle = atan2(-x[4], x[2]);
    ck_assert_double_le(fabs(x[1] - 2.0 * g * cos(angle)), 1e-9);
    group_lab_destroy(&lab);
}
END_TEST

// ---- contacts

START_TEST(a_contact_is_told_of_and_of_whom_with) {
    ChannelDef what[6];
    for (int i = 0; i < 3; i++) {
        what[i] = of_body(CHANNEL_CONTACT, "#2");
        what[3 + i] = of_body(CHANNEL_CONTACT_FORCE, "#2");
    }
    what[1].relative = what[4].relative = "#1"; // the ground
    what[2].relative = what[5].relative = "#3"; // far away
    GroupLab lab = watch(ball_world(2.0), "#2", what, 6);
    take_steps(&lab, 3);
    const double *x = seen(&lab, 0);
    ck_assert(x[0] == 1.0 && x[1] == 1.0 && x[2] == 0.0);
    ck_assert_double_le(fabs(x[5] - 20.0), 1e-5);
    ck_assert_mem_eq(x + 3, x + 9, 6 * sizeof(double));
    for (int i = 0; i < 6; i++) {
        ck_assert(x[15 + i] == 0.0);
    }
    const double up[3] = {0.0, 0.0, 40.0};
    for (int i = 0; i < 20; i++) {
        group_lab_step(&lab, up);
    }
    ck_assert(seen(&lab, 0)[0] == 0.0 && seen(&lab, 0)[1] == 0.0);
    group_lab_destroy(&lab);
}
END_TEST

// ---- what is wrong

static void check_wrong(ChannelDef channel, const char *field) {
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "hinge");
    GroupDef def = group_def(1);
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &channel;
    Group *group;
    Error error = {0};
    ck_assert_int_eq(group_create(&def, arm_world(), &group, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
}

START_TEST(what_cannot_be_felt_is_named) {
    ChannelDef channel = mounted(CHANNEL_BODY_SPIN, "#1", vec3(0, 0, 0), quat_identity());
    check_wrong(channel, "observation[0].mount");
    channel = mounted(CHANNEL_GYROSCOPE, "#1", vec3(0, 0, 0), (Quat){0});
    check_wrong(channel, "observation[0].mount");
    channel = of_joint(CHANNEL_JOINT_TORQUE, "elbow");
    check_wrong(channel, "observation[0].joint");
    channel = of_body(CHANNEL_ACCELEROMETER, "#1");
    channel.relative = "#2";
    check_wrong(channel, "observation[0].relative_to");
}
END_TEST

static TCase *case_felt(void) {
    TCase *tcase = tcase_create("felt");
    tcase_add_loop_test(tcase, an_accelerometer_that_falls_feels_its_turning_alone, 0, 2);
    tcase_add_test(tcase, an_accelerometer_reads_in_axes_of_the_middle_of_the_step);
    tcase_add_test(tcase, an_accelerometer_at_rest_reads_gravity_upwards);
    tcase_add_loop_test(tcase, a_fixed_joint_carries_weight_and_moment, 0, 2);
    tcase_add_test(tcase, a_drive_that_holds_an_arm_gives_the_moment_of_its_weight);
    tcase_add_test(tcase, a_contact_is_told_of_and_of_whom_with);
    tcase_add_test(tcase, what_cannot_be_felt_is_named);
    return tcase;
}

SUITE_MAIN("run/groups/felt", case_felt)
