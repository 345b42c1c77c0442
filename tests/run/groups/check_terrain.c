// SPDX-License-Identifier: MIT
// Worlds of one group that stand on different terrains: by a parameter, by chance, by a reset's
// values; each as a world that has always stood there, turned as no axis is.
#include "run/groups/group_frame.h"
#include "world/sleep.h"

#include <math.h>

enum { WORLDS = 3, TERRAINS = 3, FALL_STEPS = 150, GROUND = 0, BALL = 1 };

#define DEEPER 0.25 // [m] each terrain than the one before
#define RADIUS 0.1  // [m]
#define LIFT   0.01 // [m] of the ball over the first terrain, at the beginning

static Pose base_pose(void) {
    return (Pose){vec3(0.3, -0.2, 0.7), quat_normalize((Quat){0.53, 0.21, -0.6, 0.4})};
}

static Pose placed(Vec3 at) {
    return pose_compose(base_pose(), (Pose){at, quat_identity()});
}

// A square about the body's origin, so deep under it.
static const Geometry *flat(GeometryShelf *shelf, double half, double depth) {
    static const uint32_t corner[6] = {0, 1, 2, 0, 2, 3};
    static const MeshNames names = {"points", "triangles", "patches"};
    const Vec3 point[4] = {vec3(-half, -half, -depth), vec3(half, -half, -depth),
                           vec3(half, half, -depth), vec3(-half, half, -depth)};
    const MeshForm form = {point, 4, corner, 2, false, NULL};
    const Geometry *geometry = NULL;
    Error error = {0};
    ck_assert_msg(geometry_of_mesh(shelf, &form, &names, &geometry, &error) == STATUS_OK, "%s",
                  error.message);
    return geometry;
}

// Of another kind.
static const Geometry *heights(GeometryShelf *shelf) {
    static const double height[4] = {0.0, 0.0, 0.0, 0.0};
    static const MeshNames names = {"heights", "spacing", "patches"};
    const HeightForm form = {.columns = 2, .rows = 2, .spacing = {1.0, 1.0}, .height = height};
    const Geometry *geometry = NULL;
    Error error = {0};
    ck_assert_msg(geometry_of_heights(shelf, &form, &names, &geometry, &error) == STATUS_OK, "%s",
                  error.message);
    return geometry;
}

enum { OTHER_KIND = TERRAINS, TOO_SMALL, GEOMETRIES };

// Ground that wears one of three terrains, or what the ball misses; a ball over it, and a kinematic
// body that touches nothing. The lab stays with the shelf.
static Lab terrain_lab(uint64_t worn, bool sleeps) {
    Lab lab = lab_create(10.0, 0.01);
    const Geometry *list[GEOMETRIES];
    for (int k = 0; k < TERRAINS; k++) {
        list[k] = flat(lab.shelf, 10.0, k * DEEPER);
    }
    list[OTHER_KIND] = heights(lab.shelf);
    list[TOO_SMALL] = flat(lab.shelf, 0.2, 0.0);
    Id id[GEOMETRIES], shape;
    Error error = {0};
    ck_assert_int_eq(world_add_geometries(lab.world, list, GEOMETRIES, id, &error), STATUS_OK);
    for (int k = 0; k < GEOMETRIES; k++) {
        geometry_drop(list[k]);
    }
    const uint32_t kind = PRIMITIVE_MESH;
    const double size[3] = {0};
    const ShapeColumns columns = {
        .shape_count = 1, .primitive_count = 1, .kind = &kind, .size = size, .geometry = &worn};
    ck_assert_msg(world_add_shapes(lab.world, &columns, &shape, &error) == STATUS_OK, "%s",
                  error.message);
    WorldSettings settings = lab.world->settings;
    settings.gravity = quat_rotate(base_pose().orientation, vec3(0.0, 0.0, -10.0));
    settings.sleep_speed = sleeps ? 1e-3 : 0.0;
    world_set_settings(lab.world, &settings);
    const Vec3 none = vec3(0.0, 0.0, 0.0);
    lab_body(&lab, shape, BODY_STATIC, placed(none), NULL, 0.0, NULL);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(RADIUS, 0.0, 0.0), 0);
    lab_body(&lab, ball, BODY_DYNAMIC, placed(vec3(0.4, 0.3, RADIUS + (sleeps ? 0.0 : LIFT))), NULL,
             1.0, NULL);
    lab_body(&lab, 0, BODY_KINEMATIC, placed(vec3(5.0, 5.0, 5.0)), NULL, 0.0, NULL);
    return lab;
}

// Its height over where the first terrain is.
static double height_of(const World *world) {
    const Vec3 at = vec3_load(world->pose + 7 * (size_t)BALL);
    const Mat3 axes = quat_to_mat3(base_pose().orientation);
    return mat3_tmul_vec(axes, vec3_sub(at, base_pose().position)).z;
}

static double rest_height(double geometry) {
    return RADIUS - DEEPER * (geometry - 1.0);
}

static ChannelDef what[2], action, disturbed;

static GroupDef terrain_def(void) {
    action = of_body(CHANNEL_BODY_VELOCITY, "#3");
    what[0] = of_body(CHANNEL_BODY_GEOMETRY, "#1");
    what[1] = of_body(CHANNEL_BODY_POSITION, "#2");
    GroupDef def = group_def(WORLDS);
    def.action.count = 1, def.action.channel = &action;
    def.observation.count = 2, def.observation.channel = what;
    return def;
}

static GroupDef random_def(void) {
    static const NoiseDef drawn = {.kind = NOISE_UNIFORM, .low = 0.0, .high = TERRAINS};
    GroupDef def = terrain_def();
    disturbed = of_body(CHANNEL_BODY_GEOMETRY, "#1");
    def.noise.count = 1, def.noise.channel = &disturbed;
    def.drawn = &drawn;
    return def;
}

// The group takes the lab's world over.
static GroupLab group_of(const GroupDef *def, Lab *lab) {
    World *template = lab->world;
    lab->world = NULL;
    return group_lab_create(def, template);
}

static void step(GroupLab *group, int steps) {
    static const double still[3 * WORLDS];
    for (int i = 0; i < steps; i++) {
        group_lab_step(group, still);
    }
}

// The hash of a world that stood on that terrain from the first.
static uint64_t hash_alone(uint64_t worn, int steps) {
    Lab lab = terrain_lab(worn, false);
    lab_step(&lab, steps);
    const uint64_t hash = snapshot_hash(lab.world);
    lab_destroy(&lab);
    return hash;
}

// A ball comes to rest with no rebound: its last step leaves the gap that rounding makes of numbers
// of 1 m.
#define RESTS 1e-12

START_TEST(a_parameter_says_on_what_each_world_stands) {
    static const double worn[WORLDS] = {2.0, 1.0, 3.0};
    Lab lab = terrain_lab(1, false);
    const GroupParameterDef given = {
        .kind = GROUP_PARAMETER_BODY_GEOMETRY, .name = "#1", .count = WORLDS, .values = worn};
    GroupDef def = terrain_def();
    def.parameter_count = 1, def.parameter = &given;
    GroupLab group = group_of(&def, &lab);
    for (int episode = 0; episode < 3; episode++) {
        group_lab_reset(&group);
        step(&group, FALL_STEPS);
        for (uint32_t i = 0; i < WORLDS; i++) {
            World *world = group.group->world[i].world;
            ck_assert_double_eq(seen(&group, i)[0], worn[i]);
            ck_assert_double_le(fabs(height_of(world) - rest_height(worn[i])), RESTS);
            ck_assert_uint_eq(snapshot_hash(world), hash_alone((uint64_t)worn[i], FALL_STEPS));
        }
    }
    group_lab_destroy(&group);
    lab_destroy(&lab);
}
END_TEST

// Where it rested on the first terrain and slept, it falls onto the others.
START_TEST(what_sleeps_in_the_template_wakes_on_other_ground) {
    static const double worn[WORLDS] = {2.0, 1.0, 3.0};
    Lab lab = terrain_lab(1, true);
    lab_step(&lab, 300);
    ck_assert(lab.world->sleep != NULL && lab.world->sleep->asleep_count > 0);
    const GroupParameterDef given = {
        .kind = GROUP_PARAMETER_BODY_GEOMETRY, .name = "#1", .count = WORLDS, .values = worn};
    GroupDef def = terrain_def();
    def.parameter_count = 1, def.parameter = &given;
    GroupLab group = group_of(&def, &lab);
    group_lab_reset(&group);
    for (uint32_t i = 0; i < WORLDS; i++) {
        const World *world = group.group->world[i].world;
        ck_assert_uint_eq(world->sleep->asleep_count, worn[i] == 1.0 ? 1 : 0);
    }
    step(&group, FALL_STEPS);
    for (uint32_t i = 0; i < WORLDS; i++) {
        const World *world = group.group->world[i].world;
        ck_assert_double_le(fabs(height_of(world) - rest_height(worn[i])), RESTS);
    }
    group_lab_destroy(&group);
    lab_destroy(&lab);
}
END_TEST

START_TEST(chance_takes_the_terrain_that_the_stream_draws) {
    Lab lab = terrain_lab(1, false);
    const GroupDef def = random_def();
    GroupLab group = group_of(&def, &lab);
    uint32_t seen_of[TERRAINS] = {0};
    for (uint64_t episode = 0; episode < 8; episode++) {
        group_lab_reset(&group);
        for (uint32_t i = 0; i < WORLDS; i++) {
            Philox stream = philox_stream(def.seed, i, episode);
            const double number = 1.0 + floor(TERRAINS * philox_uniform(&stream));
            ck_assert_double_eq(seen(&group, i)[0], number);
            seen_of[(int)number - 1]++;
        }
        step(&group, FALL_STEPS);
        for (uint32_t i = 0; i < WORLDS; i++) {
            const double height = height_of(group.group->world[i].world);
            ck_assert_double_le(fabs(height - rest_height(seen(&group, i)[0])), RESTS);
        }
    }
    for (int k = 0; k < TERRAINS; k++) {
        ck_assert_uint_gt(seen_of[k], 0);
    }
    group_lab_destroy(&group);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_reset_chooses_terrains_by_its_values) {
    static const double further[WORLDS] = {2.0, 0.0, 1.75}; // the last is rounded down
    static const double wrong[WORLDS] = {0.0, 3.0, -1.0};   // a height field; no geometry
    Lab lab = terrain_lab(1, false);
    const GroupDef def = random_def();
    GroupLab group = group_of(&def, &lab);
    group.call = (GroupCall){.verb = GROUP_RESET, .count = WORLDS, .values = further};
    group_lab_run(&group, false);
    for (uint32_t i = 0; i < WORLDS; i++) {
        ck_assert_double_eq(seen(&group, i)[0], 1.0 + floor(further[i]));
    }
    step(&group, FALL_STEPS);
    for (uint32_t i = 0; i < WORLDS; i++) {
        const double height = height_of(group.group->world[i].world);
        ck_assert_double_le(fabs(height - rest_height(seen(&group, i)[0])), RESTS);
    }
    group.call = (GroupCall){.verb = GROUP_RESET, .count = WORLDS, .values = wrong};
    group_lab_run(&group, false);
    for (uint32_t i = 0; i < WORLDS; i++) {
        ck_assert_int_eq(group.call.row[i].has_failed, i > 0);
        ck_assert(i == 0 || strcmp(group.call.error[i].field, "values") == 0);
    }
    ck_assert_ptr_nonnull(strstr(group.call.error[1].message, "MESH"));
    ck_assert_ptr_nonnull(strstr(group.call.error[2].message, "no id of a geometry"));
    group_lab_reset(&group); // and goes on
    ck_assert(!group.call.row[1].has_failed && !group.call.row[2].has_failed);
    group_lab_destroy(&group);
    lab_destroy(&lab);
}
END_TEST

// In the middle of a fall, by a key-frame, into a group whose worlds stood elsewhere.
START_TEST(a_key_frame_brings_the_terrain_along) {
    Lab lab = terrain_lab(1, false), other = terrain_lab(1, false);
    GroupDef def = random_def();
    GroupLab group = group_of(&def, &lab);
    group_lab_reset(&group);
    step(&group, 17);
    GroupLab again = group_of(&def, &other);
    static const double further[WORLDS] = {1.0, 1.0, 1.0};
    again.call = (GroupCall){.verb = GROUP_RESET, .count = WORLDS, .values = further};
    group_lab_run(&again, false);
    const Frame frame = take_frame(group.group);
    Error error = {0};
    ck_assert_msg(put_frame(&again, frame.bytes, frame.count, &error) == STATUS_OK, "%s",
                  error.message);
    free(frame.bytes);
    step(&group, FALL_STEPS);
    step(&again, FALL_STEPS);
    for (uint32_t i = 0; i < WORLDS; i++) {
        ck_assert_mem_eq(seen(&group, i), seen(&again, i), 4 * sizeof(double));
        ck_assert_uint_eq(snapshot_hash(group.group->world[i].world),
                          snapshot_hash(again.group->world[i].world));
    }
    group_lab_destroy(&group);
    group_lab_destroy(&again);
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// The ball falls past the first one, and would past the other, were it taken to be as wide.
START_TEST(wider_ground_is_met_where_it_was_not_before) {
    Lab lab = terrain_lab(1 + TOO_SMALL, false), same = terrain_lab(1 + TOO_SMALL, false);
    Lab wide = terrain_lab(3, false);
    Error error = {0};
    lab_step(&lab, 20);
    lab_step(&same, 20);
    ck_assert_double_lt(height_of(lab.world), RADIUS);
    ck_assert_int_eq(world_wear(lab.world, GROUND, 3, &error), STATUS_OK);
    lab_step(&lab, FALL_STEPS);
    ck_assert_double_le(fabs(height_of(lab.world) - rest_height(3.0)), RESTS);
    ck_assert(world_copy_state(same.world, wide.world));
    lab_step(&same, FALL_STEPS);
    ck_assert_double_le(fabs(height_of(same.world) - rest_height(3.0)), RESTS);
    ck_assert_double_eq(same.world->shape[0].radius, wide.world->shape[0].radius);
    lab_destroy(&lab);
    lab_destroy(&same);
    lab_destroy(&wide);
}
END_TEST

// Nothing that a world keeps beside its snapshot is of the ground before.
static void expect_as_its_snapshot(Lab *lab, int steps) {
    Lab again = lab_create(10.0, 0.01);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    world_destroy(again.world);
    const ArenaMark mark = arena_mark(&lab->scratch);
    ck_assert_int_eq(snapshot_write(lab->world, &lab->scratch, &bytes, &count, &error), STATUS_OK);
    const WorldLimits limits = {
        .body_count_max = 10, .bytes_max = (size_t)1 << 24, .shelf = again.shelf};
    ck_assert_int_eq(snapshot_read(bytes, count, &limits, &again.world, &error), STATUS_OK);
    arena_reset_to(&lab->scratch, mark);
    ck_assert_uint_eq(snapshot_hash(lab->world), snapshot_hash(again.world));
    lab_step(lab, steps);
    lab_step(&again, steps);
    ck_assert_uint_eq(snapshot_hash(lab->world), snapshot_hash(again.world));
    lab_destroy(&again);
}

START_TEST(ground_that_changes_under_a_ball_leaves_nothing_behind) {
    Lab lab = terrain_lab(2, false), template = terrain_lab(2, false);
    Error error = {0};
    lab_step(&lab, FALL_STEPS);
    ck_assert_uint_gt(lab.world->memory_count, 0);
    const uint64_t before = snapshot_hash(lab.world);
    ck_assert_int_eq(world_wear(lab.world, GROUND, 2, &error), STATUS_OK);
    ck_assert_uint_eq(snapshot_hash(lab.world), before); // it wears that one
    ck_assert_uint_gt(lab.world->memory_count, 0);
    ck_assert_int_eq(world_wear(lab.world, GROUND, 3, &error), STATUS_OK);
    ck_assert_uint_eq(lab.world->memory_count, 0);
    ck_assert_uint_ne(snapshot_hash(lab.world), before);
    expect_as_its_snapshot(&lab, 3);
    ck_assert_int_eq(world_wear(lab.world, GROUND, 1, &error), STATUS_OK); // over its head
    expect_as_its_snapshot(&lab, FALL_STEPS);
    ck_assert(world_copy_state(lab.world, template.world));
    expect_as_its_snapshot(&lab, FALL_STEPS);
    ck_assert_double_le(fabs(height_of(lab.world) - rest_height(2.0)), RESTS);
    lab_destroy(&lab);
    lab_destroy(&template);
}
END_TEST

static const struct {
    const char *body;
    double value;
    const char *field, *says;
} wrong_ones[] = {
    {"#1", 0.0, "parameters[0].values[1]", "no id of a geometry"},
    {"#1", 1.5, "parameters[0].values[1]", "1.5 is no id"},
    {"#1", 6.0, "parameters[0].values[1]", "6 is no id"},
    {"#1", 4.0, "parameters[0].values[1]", "MESH"},
    {"#1", NAN, "parameters[0].values[1]", "nan is no id"},
    {"#2", 1.0, "parameters[0].body", "one primitive that wears one"},
    {"#3", 1.0, "parameters[0].body", "one primitive that wears one"},
};

START_TEST(what_cannot_be_worn_is_refused) {
    Lab lab = terrain_lab(1, false);
    const double values[WORLDS] = {1.0, wrong_ones[_i].value, 1.0};
    const GroupParameterDef given = {.kind = GROUP_PARAMETER_BODY_GEOMETRY,
                                     .name = wrong_ones[_i].body,
                                     .count = WORLDS,
                                     .values = values};
    GroupDef def = terrain_def();
    def.parameter_count = 1, def.parameter = &given;
    Group *group = NULL;
    Error error = {0};
    World *template = lab.world;
    lab.world = NULL;
    ck_assert_int_ne(group_create(&def, template, &group, &error), STATUS_OK);
    ck_assert_str_eq(error.field, wrong_ones[_i].field);
    ck_assert_msg(strstr(error.message, wrong_ones[_i].says) != NULL, "%s", error.message);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_terrain(void) {
    TCase *tcase = tcase_create("terrain");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, a_parameter_says_on_what_each_world_stands);
    tcase_add_test(tcase, what_sleeps_in_the_template_wakes_on_other_ground);
    tcase_add_test(tcase, chance_takes_the_terrain_that_the_stream_draws);
    tcase_add_test(tcase, a_reset_chooses_terrains_by_its_values);
    tcase_add_test(tcase, a_key_frame_brings_the_terrain_along);
    tcase_add_test(tcase, wider_ground_is_met_where_it_was_not_before);
    tcase_add_test(tcase, ground_that_changes_under_a_ball_leaves_nothing_behind);
    tcase_add_loop_test(tcase, what_cannot_be_worn_is_refused, 0,
                        (int)(sizeof(wrong_ones) / sizeof(wrong_ones[0])));
    return tcase;
}

SUITE_MAIN("run/terrain", case_terrain)
