// SPDX-License-Identifier: MIT
// A world printed as a scene is read back as the same bodies, whoever made it; and only what is
// printed is counted.
#include "wire/scene/print.h"

#include "moreau.pb-c.h"
#include "support/heap.h"
#include "support/suite.h"

#include <jansson.h>
#include <string.h>

// What is printed, owned by the caller.
static char *print(const World *world, uint32_t first) {
    Sink sink = {0};
    scene_print(world, first, &sink);
    char *text = malloc(sink.count + 1);
    Sink writing = {.bytes = (uint8_t *)text};
    scene_print(world, first, &writing);
    ck_assert_uint_eq(writing.count, sink.count);
    text[sink.count] = '\0';
    return text;
}

static json_t *parse(const World *world, uint32_t first) {
    json_error_t error;
    char *text = print(world, first);
    json_t *json = json_loads(text, 0, &error);
    ck_assert_msg(json != NULL, "%s in: %s", error.text, text);
    free(text);
    return json;
}

START_TEST(a_heap_is_json_with_every_body_in_its_place) {
    Lab lab = heap_create(3, 12);
    lab_step(&lab, 30);
    json_t *scene = parse(lab.world, 0);
    json_t *bodies = json_object_get(scene, "bodies");
    ck_assert_uint_eq(json_array_size(bodies), lab.world->body_count);
    for (uint32_t i = 0; i < lab.world->body_count; i++) {
        double pose[7];
        world_body_pose(lab.world, i, pose);
        json_t *body = json_array_get(bodies, i);
        json_t *position = json_object_get(body, "position");
        for (size_t k = 0; position != NULL && k < 3; k++) { // to the last bit
            ck_assert_double_eq(json_number_value(json_array_get(position, k)), pose[k]);
        }
        ck_assert(position != NULL || (pose[0] == 0.0 && pose[1] == 0.0 && pose[2] == 0.0));
        bool is_dynamic = lab.world->kind[i] == BODY_DYNAMIC;
        ck_assert_int_eq(json_object_get(body, "mass") != NULL, is_dynamic);
        const Shape *shape = world_body_shape(lab.world, i);
        ck_assert_uint_eq(json_array_size(json_object_get(body, "shapes")),
                          shape == NULL ? 0 : shape->primitive_count);
    }
    ck_assert_uint_eq(json_array_size(json_object_get(scene, "materials")),
                      lab.world->material_count - 1);
    ck_assert_str_eq(
        json_string_value(json_object_get(json_object_get(scene, "settings"), "solver")), "mdp");
    json_decref(scene);
    lab_destroy(&lab);
}
END_TEST

// by the message itself, so that a setting that is new is not forgotten
START_TEST(a_scene_names_every_setting) {
    Lab lab = lab_create(9.81, 0.01);
    lab.world->settings.integrator = INTEGRATOR_MIDPOINT;
    lab.world->settings.has_bounds = true;
    json_t *scene = parse(lab.world, 0), *settings = json_object_get(scene, "settings");
    const ProtobufCMessageDescriptor *message = &moreau__v1__world_settings__descriptor;
    for (unsigned i = 0; i < message->n_fields; i++) {
        const char *name = message->fields[i].name;
        ck_assert_msg(json_object_get(settings, name) != NULL, "%s is missing", name);
    }
    ck_assert_str_eq(json_string_value(json_object_get(settings, "integrator")), "MIDPOINT");
    json_decref(scene);
    lab_destroy(&lab);
}
END_TEST

START_TEST(later_bodies_are_printed_alone) {
    Lab lab = heap_create(3, 5);
    json_t *scene = parse(lab.world, lab.world->body_count - 2);
    ck_assert_uint_eq(json_array_size(json_object_get(scene, "bodies")), 2);
    json_decref(scene);
    scene = parse(lab.world, lab.world->body_count);
    ck_assert_uint_eq(json_array_size(json_object_get(scene, "bodies")), 0);
    json_decref(scene);
    lab_destroy(&lab);
}
END_TEST

START_TEST(names_with_quotes_and_control_letters_stay_what_they_are) {
    static const char *const names[] = {"a \"quoted\" \\ name", "line\nbreak\x01",
                                        "f\xc3\xbc\xc3\x9f"};
    Lab lab = lab_create(9.81, 0.01);
    Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    for (size_t i = 0; i < 3; i++) {
        const double pose[7] = {(double)i, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0};
        BodyColumns columns = {.count = 1, .pose = pose, .shape = &ball, .name = &names[i]};
        Id id;
        ck_assert_int_eq(world_add_bodies(lab.world, &columns, &id, NULL), STATUS_OK);
    }
    json_t *scene = parse(lab.world, 0);
    for (size_t i = 0; i < 3; i++) {
        json_t *body = json_array_get(json_object_get(scene, "bodies"), i);
        ck_assert_str_eq(json_string_value(json_object_get(body, "name")), names[i]);
    }
    json_decref(scene);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_scene_print(void) {
    TCase *tcase = tcase_create("scene_print");
    tcase_add_test(tcase, a_heap_is_json_with_every_body_in_its_place);
    tcase_add_test(tcase, a_scene_names_every_setting);
    tcase_add_test(tcase, later_bodies_are_printed_alone);
    tcase_add_test(tcase, names_with_quotes_and_control_letters_stay_what_they_are);
    return tcase;
}

SUITE_MAIN("wire/scene_print", case_scene_print)
