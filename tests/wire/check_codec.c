// SPDX-License-Identifier: MIT
// Messages in and out of bytes: what every message must obey, and how much memory unpacking may
// take.
#include "wire/codec.h"
#include "support/suite.h"

#include "moreau.pb-c.h"

#include <math.h>
#include <string.h>

// ---- checks

static void expect_blame(const ProtobufCMessage *message, const char *field) {
    Error error = {0};
    ck_assert_int_eq(codec_check(message, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
}

START_TEST(a_bad_number_is_found_wherever_it_stands) {
    double numbers[1000] = {0};
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.n_pose = 1000;
    add.pose = numbers;
    Error error = {0};
    ck_assert_int_eq(codec_check(&add.base, &error), STATUS_OK);
    numbers[617] = NAN;
    expect_blame(&add.base, "pose[617]");
    numbers[617] = 0.0;
    numbers[999] = -INFINITY;
    expect_blame(&add.base, "pose[999]");
    numbers[0] = INFINITY; // the first is blamed, and two infinities do not cancel
    expect_blame(&add.base, "pose[0]");
}
END_TEST

START_TEST(finite_numbers_whose_sum_is_not_are_legal) {
    double numbers[] = {1.7e308, 1.7e308, 1.7e308, -1.7e308, 5e-324};
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.n_pose = 5;
    add.pose = numbers;
    Error error = {0};
    ck_assert_int_eq(codec_check(&add.base, &error), STATUS_OK);
}
END_TEST

START_TEST(the_path_leads_through_repeated_and_nested_messages) {
    Moreau__V1__SceneSphere sphere = MOREAU__V1__SCENE_SPHERE__INIT;
    Moreau__V1__ScenePrimitive shape = MOREAU__V1__SCENE_PRIMITIVE__INIT;
    Moreau__V1__ScenePrimitive *shapes[] = {&shape};
    Moreau__V1__SceneBody plain = MOREAU__V1__SCENE_BODY__INIT, body = MOREAU__V1__SCENE_BODY__INIT;
    Moreau__V1__SceneBody *bodies[] = {&plain, &plain, &plain, &body};
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    shape.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_SPHERE;
    shape.sphere = &sphere;
    body.n_shapes = 1;
    body.shapes = shapes;
    scene.n_bodies = 4;
    scene.bodies = bodies;
    create.scene = &scene;
    sphere.radius = NAN; // absent, so nobody looks at it
    Error error = {0};
    ck_assert_int_eq(codec_check(&create.base, &error), STATUS_OK);
    sphere.has_radius = 1;
    expect_blame(&create.base, "scene.bodies[3].shapes[0].sphere.radius");
}
END_TEST

START_TEST(a_number_that_is_no_value_of_its_enum_is_refused) {
    Moreau__V1__Body__Kind kinds[] = {MOREAU__V1__BODY__KIND__STATIC, (Moreau__V1__Body__Kind)17};
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.n_kind = 2;
    add.kind = kinds;
    expect_blame(&add.base, "kind[1]");
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.has_lifetime = 1;
    create.lifetime = (Moreau__V1__World__Lifetime)-1;
    expect_blame(&create.base, "lifetime");
}
END_TEST

START_TEST(texts_have_a_length_and_only_about_a_longer_one) {
    char text[CODEC_ABOUT_BYTES_MAX + 2];
    memset(text, 'x', sizeof(text));
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    Error error = {0};
    text[CODEC_ABOUT_BYTES_MAX] = '\0';
    scene.about = text;
    ck_assert_int_eq(codec_check(&scene.base, &error), STATUS_OK);
    scene.name = text;
    expect_blame(&scene.base, "name");
    text[CODEC_TEXT_BYTES_MAX] = '\0';
    ck_assert_int_eq(codec_check(&scene.base, &error), STATUS_OK);
    text[CODEC_TEXT_BYTES_MAX] = 'x';
    text[CODEC_ABOUT_BYTES_MAX] = 'x';
    text[CODEC_ABOUT_BYTES_MAX + 1] = '\0';
    scene.name = NULL;
    expect_blame(&scene.base, "about");
}
END_TEST

// ---- memory

enum { PARTS = 2000 };

// A scene of empty bodies, two bytes each.
static size_t write_scene(uint8_t *bytes) {
    for (size_t i = 0; i < PARTS; i++) {
        bytes[2 * i] = 0x2a; // Scene.bodies, length 0
        bytes[2 * i + 1] = 0;
    }
    return 2 * (size_t)PARTS;
}

START_TEST(unpacking_takes_no_more_than_the_arena_allows) {
    static uint8_t bytes[2 * PARTS];
    size_t count = write_scene(bytes);
    size_t refused = 0, accepted = 0;
    for (size_t limit = 1024; limit < (size_t)8 << 20; limit *= 2) {
        Arena arena;
        bool exhausted = false;
        arena_init(&arena, limit);
        const Moreau__V1__Scene *scene = (Moreau__V1__Scene *)(void *)codec_unpack(
            &moreau__v1__scene__descriptor, &arena, bytes, count, &exhausted);
        ck_assert_uint_le(arena.total_bytes, limit);
        ck_assert_int_eq(exhausted, scene == NULL);
        refused += scene == NULL;
        accepted += scene != NULL;
        ck_assert(scene == NULL || scene->n_bodies == PARTS);
        arena_deinit(&arena);
    }
    ck_assert(refused > 0 && accepted > 0);
}
END_TEST

START_TEST(malformed_bytes_are_not_taken_for_a_lack_of_memory) {
    static const uint8_t bytes[] = {0x2a, 0x7f, 0x00};
    Arena arena;
    bool exhausted = true;
    arena_init(&arena, 1 << 20);
    ck_assert_ptr_null(
        codec_unpack(&moreau__v1__scene__descriptor, &arena, bytes, sizeof(bytes), &exhausted));
    ck_assert(!exhausted);
    arena_deinit(&arena);
}
END_TEST

static TCase *case_text(void) {
    TCase *tcase = tcase_create("text");
    tcase_add_test(tcase, texts_have_a_length_and_only_about_a_longer_one);
    return tcase;
}

static TCase *case_checks(void) {
    TCase *tcase = tcase_create("checks");
    tcase_add_test(tcase, a_bad_number_is_found_wherever_it_stands);
    tcase_add_test(tcase, finite_numbers_whose_sum_is_not_are_legal);
    tcase_add_test(tcase, the_path_leads_through_repeated_and_nested_messages);
    tcase_add_test(tcase, a_number_that_is_no_value_of_its_enum_is_refused);
    return tcase;
}

static TCase *case_memory(void) {
    TCase *tcase = tcase_create("memory");
    tcase_add_test(tcase, unpacking_takes_no_more_than_the_arena_allows);
    tcase_add_test(tcase, malformed_bytes_are_not_taken_for_a_lack_of_memory);
    return tcase;
}

SUITE_MAIN("api/codec", case_text, case_checks, case_memory)
