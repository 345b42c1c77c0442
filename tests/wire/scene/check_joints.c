// SPDX-License-Identifier: MIT
// Joints of scenes: names, anchors and axes become columns; what is wrong is blamed by its own
// path; and what is printed says all of it.
#include "wire/scene/parts.h"

#include "run/worlds/apply.h"
#include "support/suite.h"
#include "wire/joints.h"
#include "wire/scene/print.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 28};

// Three bodies: `low` at (0, 0, 1); `up` at (0, 0, 3), a quarter turned about z, with a centre of
// mass of its own; one without a name.
typedef struct Draft {
    Moreau__V1__Scene scene;
    Moreau__V1__SceneBody body[3], *bodies[3];
    Moreau__V1__SceneJoint joint[3], *joints[3];
    double mass[6];
} Draft;

static double low_at[3] = {0, 0, 1}, up_at[3] = {0, 0, 3}, up_turn[4] = {1, 0, 0, 1},
              center[3] = {0.1, 0, 0}, beside[3] = {2, 0, 0}, inertia[6] = {1, 1, 1, 0, 0, 0};

static void draft_init(Draft *draft, size_t joints) {
    moreau__v1__scene__init(&draft->scene);
    for (int i = 0; i < 3; i++) {
        Moreau__V1__SceneBody *body = draft->bodies[i] = &draft->body[i];
        moreau__v1__scene_body__init(body);
        body->name = i == 0 ? (char *)"low" : i == 1 ? (char *)"up" : NULL;
        body->n_position = 3;
        body->position = i == 0 ? low_at : i == 1 ? up_at : beside;
        body->has_mass = 1, body->mass = 1;
        body->n_inertia = 6, body->inertia = inertia;
        draft->joints[i] = &draft->joint[i];
        moreau__v1__scene_joint__init(&draft->joint[i]);
    }
    draft->body[1].n_orientation = 4, draft->body[1].orientation = up_turn;
    draft->body[1].n_center_of_mass = 3, draft->body[1].center_of_mass = center;
    draft->scene.n_bodies = 3, draft->scene.bodies = draft->bodies;
    draft->scene.n_joints = joints, draft->scene.joints = draft->joints;
    draft->joint[0].body_a = (char *)"low";
    draft->joint[0].body_b = (char *)"up";
    draft->joint[0].name = (char *)"hinge";
}

// The world that a scene makes; NULL: it is refused, as the error says.
static World *make(const Draft *draft, Error *error) {
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    World *world;
    Stepper *stepper;
    ck_assert_int_eq(apply_create(&limits, &world, &stepper, error), STATUS_OK);
    ScenePlan plan;
    Status status = scene_plan(&draft->scene, NULL, &arena, &plan, error);
    for (size_t i = 0; status == STATUS_OK && i < plan.input_count; i++) {
        status = apply_change(world, stepper, &plan.input[i], &arena, NULL, NULL, error);
        if (status != STATUS_OK) {
            scene_translate(&plan, i, error);
        }
    }
    stepper_destroy(stepper);
    arena_deinit(&arena);
    if (status != STATUS_OK) {
        world_destroy(world);
        return NULL;
    }
    return world;
}

static void expect_near(Vec3 found, Vec3 wanted) {
    ck_assert_double_eq_tol(vec3_norm(vec3_sub(found, wanted)), 0.0, 1e-14);
}

// Where the two frames are and where their z and x point, in the world, whatever the bodies' turns
// and centres of mass.
START_TEST(anchors_and_axes_are_of_the_world) {
    Draft draft;
    draft_init(&draft, 1);
    double anchor[3] = {0.5, 0.25, 2}, axis[3] = {0, 2, 0}, axis_x[3] = {3, 7, 0};
    draft.joint[0].n_anchor = draft.joint[0].n_axis = draft.joint[0].n_axis_x = 3;
    draft.joint[0].anchor = anchor;
    draft.joint[0].axis = axis;
    draft.joint[0].axis_x = axis_x;
    Error error = {0};
    World *world = make(&draft, &error);
    ck_assert_msg(world != NULL, "%s: %s", error.field, error.message);
    for (int s = 0; s < 2; s++) {
        const Pose frame = world_joint_frame(world, &world->joint[0], s);
        expect_near(frame.position, vec3(0.5, 0.25, 2));
        expect_near(quat_rotate(frame.orientation, vec3(0, 0, 1)), vec3(0, 1, 0));
        expect_near(quat_rotate(frame.orientation, vec3(1, 0, 0)), vec3(1, 0, 0));
    }
    ck_assert_double_eq_tol(world->joint_position[0], 0.0, 1e-15);
    world_destroy(world);
}
END_TEST

START_TEST(a_distance_is_as_the_scene_has_it) {
    Draft draft;
    draft_init(&draft, 1);
    draft.joint[0].has_kind = 1, draft.joint[0].kind = MOREAU__V1__JOINT__KIND__DISTANCE;
    double anchor[3] = {0, 0, 1}, anchor_b[3] = {3, 0, 5};
    draft.joint[0].n_anchor = 3, draft.joint[0].anchor = anchor;
    draft.joint[0].n_anchor_b = 3, draft.joint[0].anchor_b = anchor_b;
    Error error = {0};
    World *world = make(&draft, &error);
    ck_assert_msg(world != NULL, "%s: %s", error.field, error.message);
    ck_assert_double_eq(world->joint[0].length, 5.0);
    ck_assert(world->joint[0].is_rows);
    expect_near(world_joint_frame(world, &world->joint[0], 1).position, vec3(3, 0, 5));
    world_destroy(world);
}
END_TEST

START_TEST(one_number_is_for_all_axes_and_1e18_for_none) {
    Draft draft;
    draft_init(&draft, 2);
    draft.joint[0].has_kind = 1, draft.joint[0].kind = MOREAU__V1__JOINT__KIND__BALL;
    double damping[1] = {0.5}, low[3] = {-1e18, -1, -2}, position[1] = {0.25}, most[1] = {1e18};
    draft.joint[0].n_damping = 1, draft.joint[0].damping = damping;
    draft.joint[0].n_low = 3, draft.joint[0].low = low;
    draft.joint[0].n_effort_max = 1, draft.joint[0].effort_max = most;
    draft.joint[1].body_b = (char *)"#2"; // the one without a name
    draft.joint[1].n_position = 1, draft.joint[1].position = position;
    Error error = {0};
    World *world = make(&draft, &error);
    ck_assert_msg(world != NULL, "%s: %s", error.field, error.message);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(world->joint_axis[i].damping, 0.5);
        ck_assert(world->joint_axis[i].effort_max == HUGE_VAL);
    }
    ck_assert(world->joint_axis[0].low == -HUGE_VAL);
    ck_assert_double_eq(world->joint_axis[2].low, -2.0);
    ck_assert_uint_eq(world->joint[1].body[1], 2);
    ck_assert_double_eq(world->joint_position[4], 0.25);
    world_destroy(world);
}
END_TEST

// ---- blame

static double three[3] = {1, 2, 3}, none[3], nine[1] = {9}, huge[1] = {1e300}, minus[1] = {-1},
              frame[7] = {0, 0, 0, 0, 0, 0, 0};
static Moreau__V1__Joint__Axis turn_x[1] = {MOREAU__V1__JOINT__AXIS__TURN_X};

static void no_such_body(Draft *d) {
    d->joint[1].body_b = (char *)"upper";
}
static void no_body(Draft *d) {
    d->joint[1].body_b = NULL;
}
static void one_body(Draft *d) {
    d->joint[1].body_a = d->joint[1].body_b;
}
static void loop(Draft *d) {
    d->joint[1].body_a = (char *)"up";
    d->joint[1].body_b = (char *)"low";
}
static void zero_axis(Draft *d) {
    d->joint[1].n_axis = 3, d->joint[1].axis = none;
}
static void along_axis(Draft *d) {
    static double z[3] = {0, 0, 5};
    d->joint[1].n_axis_x = 3, d->joint[1].axis_x = z;
}
static void short_anchor(Draft *d) {
    d->joint[1].n_anchor = 1, d->joint[1].anchor = nine;
}
static void one_frame(Draft *d) {
    d->joint[1].n_frame_a = 7, d->joint[1].frame_a = frame;
}
static void zero_frame(Draft *d) {
    d->joint[1].n_frame_a = d->joint[1].n_frame_b = 7;
    d->joint[1].frame_a = d->joint[1].frame_b = frame;
}
static void axes_of_hinge(Draft *d) {
    d->joint[1].n_axes = 1, d->joint[1].axes = turn_x;
}
static void no_axes(Draft *d) {
    d->joint[1].has_kind = 1, d->joint[1].kind = MOREAU__V1__JOINT__KIND__GENERIC;
}
static void three_of_one(Draft *d) {
    d->joint[1].n_damping = 3, d->joint[1].damping = three;
}
static void low_above_high(Draft *d) {
    d->joint[1].n_low = 1, d->joint[1].low = nine;
    d->joint[1].n_high = 1, d->joint[1].high = minus;
}
static void huge_gain(Draft *d) {
    d->joint[1].n_drive_stiffness = 1, d->joint[1].drive_stiffness = huge;
}
static void negative_armature(Draft *d) {
    d->joint[1].n_armature = 1, d->joint[1].armature = minus;
}
static void same_name(Draft *d) {
    d->joint[1].name = d->joint[0].name;
}
static void no_such_joint(Draft *d) {
    d->joint[1].has_kind = 1, d->joint[1].kind = MOREAU__V1__JOINT__KIND__GEAR;
    d->joint[1].body_b = NULL;
    d->joint[1].joint_a = (char *)"knee";
}

static void make_tendon(Draft *d, const char *of) {
    static char *coupled[2];
    coupled[0] = (char *)"#0";
    coupled[1] = (char *)of;
    d->joint[0].has_kind = 1, d->joint[0].kind = MOREAU__V1__JOINT__KIND__HINGE;
    d->joint[1].has_kind = 1, d->joint[1].kind = MOREAU__V1__JOINT__KIND__TENDON;
    d->joint[1].body_b = NULL;
    d->joint[1].n_coupled = 2, d->joint[1].coupled = coupled;
}

static void no_such_coupled(Draft *d) {
    make_tendon(d, "knee");
}

static void coupled_later(Draft *d) {
    make_tendon(d, "#1");
}

static void one_coefficient(Draft *d) {
    static double one[1] = {1.0};
    make_tendon(d, "#0");
    d->joint[1].n_coefficients = 1, d->joint[1].coefficients = one;
}

static void no_such_axis(Draft *d) {
    static uint32_t axes[2] = {0, 1};
    make_tendon(d, "#0");
    d->joint[1].n_coupled_axes = 2, d->joint[1].coupled_axes = axes;
}

static void couples_nothing(Draft *d) {
    make_tendon(d, "#0");
    d->joint[1].n_coupled = 0;
}

static const struct {
    void (*spoil)(Draft *draft); // its second joint, which is a hinge from the world to the third
    const char *field, *says;
} bads[] = {
    {no_such_body, "scene.joints[1].body_b", "no body called upper"},
    {no_body, "scene.joints[1].body_b", "needs a body b"},
    {one_body, "scene.joints[1].body_b", "are one"},
    {loop, "scene.joints[1].body_b", "loop"},
    {zero_axis, "scene.joints[1].axis", "somewhere"},
    {along_axis, "scene.joints[1].axis_x", "not along"},
    {short_anchor, "scene.joints[1].anchor", "3 numbers"},
    {one_frame, "scene.joints[1].frame_a", "both frames"},
    {zero_frame, "scene.joints[1].frame_a", "must not be zero"},
    {axes_of_hinge, "scene.joints[1].axes", "GENERIC"},
    {no_axes, "scene.joints[1].axes", "names the axes"},
    {three_of_one, "scene.joints[1].damping", "1 numbers"},
    {low_above_high, "scene.joints[1].low[0]", "above"},
    {huge_gain, "scene.joints[1].drive_stiffness[0]", "1e+300"},
    {negative_armature, "scene.joints[1].armature[0]", "out of range"},
    {same_name, "scene.joints[1].name", "Two joints"},
    {no_such_joint, "scene.joints[1].joint_a", "no joint called knee"},
    {no_such_coupled, "scene.joints[1].coupled", "no joint called knee"},
    {coupled_later, "scene.joints[1].coupled[1]", "comes after"},
    {one_coefficient, "scene.joints[1].coefficients", "2 numbers"},
    {no_such_axis, "scene.joints[1].coupled_axes[1]", "counted from 0"},
    {couples_nothing, "scene.joints[1].coupled", "one axis of a joint at least"},
};

START_TEST(what_is_wrong_is_blamed_by_its_path) {
    Draft draft;
    draft_init(&draft, 2);
    draft.joint[0].has_kind = 1, draft.joint[0].kind = MOREAU__V1__JOINT__KIND__BALL;
    draft.joint[1].body_b = (char *)"#2";
    Error error = {0};
    World *world = make(&draft, &error);
    ck_assert_msg(world != NULL, "%s: %s", error.field, error.message);
    world_destroy(world);
    bads[_i].spoil(&draft);
    ck_assert_ptr_null(make(&draft, &error));
    ck_assert_str_eq(error.field, bads[_i].field);
    ck_assert_msg(strstr(error.message, bads[_i].says) != NULL, "%s", error.message);
}
END_TEST

// ---- print

START_TEST(what_is_printed_says_all_of_a_joint) {
    Draft draft;
    draft_init(&draft, 2);
    Moreau__V1__Joint__Axis axes[2] = {MOREAU__V1__JOINT__AXIS__MOVE_Y,
                                       MOREAU__V1__JOINT__AXIS__TURN_X};
    double high[2] = {1, 1e18}, force = 7;
    draft.joint[0].has_kind = 1, draft.joint[0].kind = MOREAU__V1__JOINT__KIND__GENERIC;
    draft.joint[0].n_axes = 2, draft.joint[0].axes = axes;
    draft.joint[0].n_high = 2, draft.joint[0].high = high;
    draft.joint[1].body_b = (char *)"#2";
    draft.joint[1].has_as_rows = draft.joint[1].as_rows = 1;
    draft.joint[1].has_break_force = 1, draft.joint[1].break_force = force;
    Error error = {0};
    World *world = make(&draft, &error);
    ck_assert_msg(world != NULL, "%s: %s", error.field, error.message);
    Sink counter = {0};
    scene_print(world, 0, &counter);
    char *text = malloc(counter.count + 1);
    Sink sink = {.bytes = (uint8_t *)text};
    scene_print(world, 0, &sink);
    text[sink.count] = '\0';
    json_error_t wrong;
    json_t *scene = json_loads(text, 0, &wrong);
    ck_assert_msg(scene != NULL, "%s in: %s", wrong.text, text);
    json_t *joints = json_object_get(scene, "joints");
    const json_t *first = json_array_get(joints, 0), *second = json_array_get(joints, 1);
    ck_assert_str_eq(json_string_value(json_object_get(first, "name")), "hinge");
    ck_assert_str_eq(json_string_value(json_object_get(first, "kind")), "GENERIC");
    ck_assert_str_eq(json_string_value(json_object_get(first, "body_a")), "low");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(first, "axes"), 1)),
                     "TURN_X");
    ck_assert_double_eq(json_number_value(json_array_get(json_object_get(first, "high"), 1)), 1e18);
    ck_assert_uint_eq(json_array_size(json_object_get(first, "frame_b")), 7);
    ck_assert_ptr_nonnull(json_object_get(first, "position"));
    ck_assert_ptr_null(json_object_get(first, "as_rows"));
    ck_assert_str_eq(json_string_value(json_object_get(second, "body_b")), "#2");
    ck_assert_ptr_null(json_object_get(second, "body_a"));
    ck_assert(json_is_true(json_object_get(second, "as_rows")));
    ck_assert_double_eq(json_number_value(json_object_get(second, "break_force")), force);
    ck_assert_ptr_null(json_object_get(second, "position")); // of rows: the bodies'
    json_decref(scene);
    free(text);
    world_destroy(world);
}
END_TEST

static TCase *case_joints(void) {
    TCase *tcase = tcase_create("joints");
    tcase_add_test(tcase, anchors_and_axes_are_of_the_world);
    tcase_add_test(tcase, a_distance_is_as_the_scene_has_it);
    tcase_add_test(tcase, one_number_is_for_all_axes_and_1e18_for_none);
    tcase_add_loop_test(tcase, what_is_wrong_is_blamed_by_its_path, 0,
                        sizeof(bads) / sizeof(bads[0]));
    tcase_add_test(tcase, what_is_printed_says_all_of_a_joint);
    return tcase;
}

SUITE_MAIN("wire/scene_joints", case_joints)
