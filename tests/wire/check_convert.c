// SPDX-License-Identifier: MIT
// A setting is a row, and whatever carries settings carries every row: messages, inputs, snapshots.
// The tests walk the table, so a setting that is new is tested by being there.
#include "wire/convert.h"

#include "run/worlds/apply.h"
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/range.h"

#include <stdio.h>
#include <string.h>

// Another value than that by default, which the checks let through.
static void set_other(WorldSettings *settings, const Setting *row) {
    void *at = setting_at(settings, row);
    switch (row->type) {
    case SETTING_IS_VECTOR:
        *(Vec3 *)at = vec3(1.0, -2.0, 3.0);
        break;
    case SETTING_IS_NUMBER:
        *(double *)at = range_get((RangeKind)row->range)->maximum / 4.0;
        break;
    case SETTING_IS_COUNT:
        *(uint32_t *)at = (uint32_t)range_get((RangeKind)row->range)->maximum;
        break;
    case SETTING_IS_CHOICE:
        *(uint8_t *)at = (uint8_t)(row->range - 1);
        break;
    case SETTING_IS_FLAG:
        *(bool *)at = row->initial[0] == 0.0;
        break;
    }
    ck_assert(!setting_is_initial(settings, row));
    ck_assert_int_eq(settings_check(settings, NULL), STATUS_OK);
}

START_TEST(every_field_is_a_row_and_every_row_a_field_of_its_type) {
    const ProtobufCMessageDescriptor *message = &moreau__v1__world_settings__descriptor;
    unsigned rows = 0;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const Setting *row = setting_get((SettingKind)i);
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message, row->name);
        ck_assert_msg(field != NULL, "%s is no field", row->name);
        ck_assert_int_eq(field->label, row->type == SETTING_IS_VECTOR ? PROTOBUF_C_LABEL_REPEATED
                                                                      : PROTOBUF_C_LABEL_OPTIONAL);
        ck_assert_int_eq(field->type, row->type == SETTING_IS_CHOICE  ? PROTOBUF_C_TYPE_ENUM
                                      : row->type == SETTING_IS_FLAG  ? PROTOBUF_C_TYPE_BOOL
                                      : row->type == SETTING_IS_COUNT ? PROTOBUF_C_TYPE_UINT32
                                                                      : PROTOBUF_C_TYPE_DOUBLE);
        rows++;
    }
    ck_assert_uint_eq(message->n_fields, rows + 3); // solver, parameters, bounds
}
END_TEST

START_TEST(choices_are_told_as_the_wire_has_them) {
    const Setting *row = setting_get((SettingKind)_i);
    if (row->type != SETTING_IS_CHOICE) {
        return;
    }
    const ProtobufCEnumDescriptor *choice = protobuf_c_message_descriptor_get_field_by_name(
                                                &moreau__v1__world_settings__descriptor, row->name)
                                                ->descriptor;
    ck_assert_int_eq((int)choice->n_values, row->range);
    char told[256] = "";
    for (unsigned i = 0; i < choice->n_values; i++) {
        const size_t used = strlen(told);
        snprintf(told + used, sizeof(told) - used, "%s%s %d", i == 0 ? "" : ", ",
                 choice->values[i].name, choice->values[i].value);
    }
    ck_assert_str_eq(told, row->choices);
}
END_TEST

START_TEST(bits_and_sections_are_given_once) {
    uint32_t bits = CHANGE_SOLVER | CHANGE_PARAMETERS | CHANGE_BOUNDS;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const Setting *row = setting_get((SettingKind)i);
        ck_assert_uint_eq(bits & row->bit, 0);
        bits |= row->bit;
        for (int k = 0; k < i && row->section > 18; k++) {
            ck_assert_uint_ne(row->section, setting_get((SettingKind)k)->section);
        }
    }
}
END_TEST

START_TEST(a_setting_comes_back_from_a_message_and_from_an_input) {
    const Setting *row = setting_get((SettingKind)_i);
    WorldSettings settings = settings_default();
    set_other(&settings, row);
    settings.solver = SOLVER_MDP;
    Arena arena;
    arena_init(&arena, 1 << 20);
    Input input = {.kind = INPUT_SET}, decoded;
    Error error = {0};
    const Moreau__V1__WorldSettings *message = convert_settings_out(&settings, &arena);
    ck_assert_int_eq(convert_settings(message, &input.set.settings, &error), STATUS_OK);
    ck_assert_uint_eq(input.set.settings.given & row->bit, row->bit);
    Sink counter = {0};
    input_encode(&input, &counter);
    Sink sink = {.bytes = arena_take(&arena, counter.count)};
    input_encode(&input, &sink);
    const InputBytes bytes = {.bytes = sink.bytes, .count = sink.count};
    ck_assert_int_eq(input_decode(bytes, &arena, &decoded, &error), STATUS_OK);
    ck_assert(settings_are_same(&decoded.set.settings.value, &settings));
    arena_deinit(&arena);
}
END_TEST

// and is not lost where it is given alone
START_TEST(a_setting_that_is_given_alone_changes_alone) {
    const Setting *row = setting_get((SettingKind)_i);
    Lab lab = lab_create(9.81, 0.01);
    WorldSettings expected = lab.world->settings;
    set_other(&expected, row);
    Input input = {.kind = INPUT_SET, .set.settings = {.given = row->bit}};
    setting_copy(&input.set.settings.value, &expected, row);
    Arena arena;
    arena_init(&arena, 1 << 20);
    Error error = {0};
    ck_assert_msg(apply_change(lab.world, lab.stepper, &input, &arena, NULL, NULL, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    ck_assert(settings_are_same(&lab.world->settings, &expected));
    arena_deinit(&arena);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_setting_is_part_of_the_state_and_of_snapshots) {
    const Setting *row = setting_get((SettingKind)_i);
    Lab lab = lab_create(9.81, 0.01);
    const uint64_t before = snapshot_hash(lab.world);
    WorldSettings settings = lab.world->settings;
    set_other(&settings, row);
    world_set_settings(lab.world, &settings);
    ck_assert_uint_ne(snapshot_hash(lab.world), before);
    Arena arena;
    arena_init(&arena, 1 << 20);
    uint8_t *bytes;
    size_t count;
    World *same = NULL;
    ck_assert_int_eq(snapshot_write(lab.world, &arena, &bytes, &count, NULL), STATUS_OK);
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &same, NULL), STATUS_OK);
    ck_assert(settings_are_same(&same->settings, &settings));
    world_destroy(same);
    arena_deinit(&arena);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_convert(void) {
    TCase *tcase = tcase_create("convert");
    tcase_add_test(tcase, every_field_is_a_row_and_every_row_a_field_of_its_type);
    tcase_add_loop_test(tcase, choices_are_told_as_the_wire_has_them, 0, SETTING_COUNT);
    tcase_add_test(tcase, bits_and_sections_are_given_once);
    tcase_add_loop_test(tcase, a_setting_comes_back_from_a_message_and_from_an_input, 0,
                        SETTING_COUNT);
    tcase_add_loop_test(tcase, a_setting_that_is_given_alone_changes_alone, 0, SETTING_COUNT);
    tcase_add_loop_test(tcase, a_setting_is_part_of_the_state_and_of_snapshots, 0, SETTING_COUNT);
    return tcase;
}

SUITE_MAIN("wire/convert", case_convert)
