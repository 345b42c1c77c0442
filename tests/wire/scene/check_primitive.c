// SPDX-License-Identifier: MIT
// A kind of primitive is a row, and scenes know it by that: the tests walk the table, so a kind
// that is new is tested by being there.
#include "wire/scene/primitive.h"

#include "support/suite.h"

#include <string.h>

START_TEST(every_row_is_a_field_and_every_field_of_the_oneof_a_row) {
    const ProtobufCMessageDescriptor *message = &moreau__v1__scene_primitive__descriptor;
    unsigned members = 0;
    for (unsigned i = 0; i < message->n_fields; i++) {
        members += (message->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    }
    ck_assert_uint_eq(members, PRIMITIVE_COUNT);
    for (int kind = 0; kind < PRIMITIVE_COUNT; kind++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message, primitive_rows[kind].key);
        ck_assert_msg(field != NULL, "%s is no field", primitive_rows[kind].key);
    }
}
END_TEST

START_TEST(sizes_are_fields_of_the_message) {
    const PrimitiveRow *row = &primitive_rows[_i];
    const ProtobufCMessageDescriptor *message =
        protobuf_c_message_descriptor_get_field_by_name(&moreau__v1__scene_primitive__descriptor,
                                                        row->key)
            ->descriptor;
    for (uint32_t k = 0; k < row->size_count; k++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message, row->size[k].name);
        ck_assert_msg(field != NULL, "%s.%s is no field", row->key, row->size[k].name);
        ck_assert_int_eq(field->type, PROTOBUF_C_TYPE_DOUBLE);
        ck_assert_int_eq(field->label,
                         row->is_list ? PROTOBUF_C_LABEL_REPEATED : PROTOBUF_C_LABEL_OPTIONAL);
    }
}
END_TEST

START_TEST(what_is_put_comes_back) {
    const PrimitiveRow *row = &primitive_rows[_i];
    const double size[3] = {0.25, 0.5, 0.75};
    double again[3] = {0.0, 0.0, 0.0};
    Moreau__V1__ScenePrimitive primitive = MOREAU__V1__SCENE_PRIMITIVE__INIT;
    PrimitiveKind kind = PRIMITIVE_COUNT;
    Arena arena;
    arena_init(&arena, 1 << 16);
    ck_assert_ptr_null(scene_primitive_of(&primitive, &kind));
    ck_assert(scene_primitive_put((PrimitiveKind)_i, size, &arena, &primitive));
    const ProtobufCMessage *of = scene_primitive_of(&primitive, &kind);
    ck_assert_ptr_nonnull(of);
    ck_assert_int_eq((int)kind, _i);
    ck_assert_int_eq(scene_primitive_read(of, kind, "shapes[0]", again, NULL), STATUS_OK);
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_double_eq(again[k], k < row->size_count ? size[k] : 0.0);
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(a_list_that_is_not_whole_is_blamed_by_its_name) {
    double half[2] = {1.0, 2.0}, size[3];
    Moreau__V1__SceneBox box = MOREAU__V1__SCENE_BOX__INIT;
    box.n_half_extents = 2;
    box.half_extents = half;
    Error error = {0};
    ck_assert_int_eq(
        scene_primitive_read(&box.base, PRIMITIVE_BOX, "bodies[3].shapes[0]", size, &error),
        STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "bodies[3].shapes[0].box.half_extents");
    char name[48];
    scene_primitive_name(PRIMITIVE_BOX, 1, name, sizeof(name));
    ck_assert_str_eq(name, "box.half_extents[1]");
    scene_primitive_name(PRIMITIVE_CAPSULE, 1, name, sizeof(name));
    ck_assert_str_eq(name, "capsule.half_length");
}
END_TEST

static TCase *case_primitive(void) {
    TCase *tcase = tcase_create("primitive");
    tcase_add_test(tcase, every_row_is_a_field_and_every_field_of_the_oneof_a_row);
    tcase_add_loop_test(tcase, sizes_are_fields_of_the_message, 0, PRIMITIVE_COUNT);
    tcase_add_loop_test(tcase, what_is_put_comes_back, 0, PRIMITIVE_COUNT);
    tcase_add_test(tcase, a_list_that_is_not_whole_is_blamed_by_its_name);
    return tcase;
}

SUITE_MAIN("wire/scene/primitive", case_primitive)
