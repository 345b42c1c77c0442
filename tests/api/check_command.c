// SPDX-License-Identifier: MIT
// The tables that must agree with the protocol: a row for every call, a parameter row for every
// field of a solver's message, and the other way round.
#include "api/command.h"
#include "solve/solver.h"
#include "support/suite.h"

#include <ctype.h>
#include <string.h>

// The fields of Request's oneof.
static bool is_call(const ProtobufCFieldDescriptor *field) {
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

// world_step becomes WorldStep.
static void write_name(const char *field, char *name) {
    bool starts_word = true;
    for (; *field != '\0'; field++) {
        if (*field == '_') {
            starts_word = true;
            continue;
        }
        *name++ = (char)(starts_word ? toupper((unsigned char)*field) : *field);
        starts_word = false;
    }
    *name = '\0';
}

START_TEST(every_call_of_the_protocol_has_a_row_with_its_name) {
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    size_t calls = 0, rows = 0;
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &request->fields[i];
        if (!is_call(field)) {
            continue;
        }
        char name[64];
        write_name(field->name, name);
        const Command *row = command_find((Moreau__V1__Request__CallCase)field->id);
        ck_assert_msg(row != NULL, "call %s has no row", field->name);
        ck_assert_str_eq(row->name, name);
        ck_assert_str_eq(((const ProtobufCMessageDescriptor *)field->descriptor)->short_name, name);
        calls++;
    }
    while (command_at(rows) != NULL) {
        rows++;
    }
    ck_assert_uint_eq(rows, calls);
    ck_assert_ptr_null(command_find((Moreau__V1__Request__CallCase)9999));
}
END_TEST

START_TEST(rows_stand_in_the_order_of_the_protocol) {
    for (size_t i = 1; command_at(i) != NULL; i++) {
        ck_assert_int_gt(command_at(i)->field, command_at(i - 1)->field);
    }
}
END_TEST

static const ProtobufCFieldDescriptor *field_of(const Command *row, const char *name) {
    const ProtobufCFieldDescriptor *call =
        protobuf_c_message_descriptor_get_field(&moreau__v1__request__descriptor, row->field);
    return protobuf_c_message_descriptor_get_field_by_name(call->descriptor, name);
}

START_TEST(a_row_that_works_on_a_world_or_group_knows_where_its_id_stands) {
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const Command *row = command_at(i);
        const bool is_group = row->flags & COMMAND_GROUP;
        if (row->place != PLACE_WORLD && !is_group) {
            continue;
        }
        const ProtobufCFieldDescriptor *world = field_of(row, is_group ? "group" : "world");
        ck_assert_msg(world != NULL, "%s names none", row->name);
        ck_assert_int_eq(world->type, PROTOBUF_C_TYPE_UINT64);
        ck_assert_uint_eq(row->world_offset, world->offset);
    }
}
END_TEST

// So one that is refused has its turn. What is part of no world's queue has none.
START_TEST(a_row_that_finds_its_worlds_itself_knows_where_they_are_named) {
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const Command *row = command_at(i);
        if (row->place == PLACE_WORLD || row->flags & COMMAND_GROUP) {
            continue;
        }
        const bool has_turn = row->place == PLACE_OWN && !(row->flags & COMMAND_BACKGROUND);
        const ProtobufCFieldDescriptor *world = has_turn ? field_of(row, "world") : NULL,
                                       *worlds = has_turn ? field_of(row, "worlds") : NULL;
        const bool is_list = worlds != NULL && worlds->label == PROTOBUF_C_LABEL_REPEATED;
        ck_assert_msg(is_list == ((row->flags & COMMAND_LIST) != 0), "%s", row->name);
        if (is_list) { // their number, and right behind it where they are
            ck_assert_uint_eq(row->world_offset, worlds->quantifier_offset);
            ck_assert_uint_eq(worlds->offset, worlds->quantifier_offset + sizeof(size_t));
        } else {
            ck_assert_msg(row->world_offset == (world == NULL ? 0 : world->offset), "%s",
                          row->name);
        }
    }
}
END_TEST

START_TEST(every_row_has_what_its_place_calls) {
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const Command *row = command_at(i);
        ck_assert_uint_gt(strlen(row->meaning), 10);
        if (row->field == MOREAU__V1__REQUEST__CALL_HELLO) {
            continue; // answered by the session, before any row is called
        }
        ck_assert(row->place == PLACE_OWN || row->work != NULL);
        ck_assert(row->place != PLACE_OWN || row->prepare != NULL);
        ck_assert(row->place != PLACE_LOOP || row->prepare == NULL);
    }
}
END_TEST

START_TEST(calls_stand_in_one_place_of_the_request) {
    // request.c and the tests take any call's message from where Ping's stands
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        if (is_call(&request->fields[i])) {
            ck_assert_uint_eq(request->fields[i].offset, offsetof(Moreau__V1__Request, ping));
        }
    }
}
END_TEST

// ---- parameters

static const ProtobufCMessageDescriptor *parameters_of(const Solver *solver) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(
        &moreau__v1__solver_parameters__descriptor, solver->name);
    ck_assert_msg(field != NULL, "SolverParameters has no field %s", solver->name);
    return field->descriptor;
}

static void expect_type(const ParameterRow *row, const ProtobufCFieldDescriptor *field) {
    static const ProtobufCType types[] = {
        [PARAMETER_NUMBER] = PROTOBUF_C_TYPE_DOUBLE, [PARAMETER_COUNT] = PROTOBUF_C_TYPE_UINT32,
        [PARAMETER_EVEN] = PROTOBUF_C_TYPE_UINT32,   [PARAMETER_BOOL] = PROTOBUF_C_TYPE_BOOL,
        [PARAMETER_CHOICE] = PROTOBUF_C_TYPE_ENUM,
    };
    ck_assert_msg(field->type == types[row->kind], "%s has another type in the protocol",
                  row->name);
    ck_assert_int_eq(field->label, PROTOBUF_C_LABEL_OPTIONAL);
    if (row->kind != PARAMETER_CHOICE) {
        return;
    }
    const ProtobufCEnumDescriptor *values = field->descriptor;
    for (unsigned i = 0; i < values->n_values; i++) {
        const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(values, (int)i);
        ck_assert_ptr_nonnull(value); // numbered from 0, as choices are
        ck_assert_ptr_nonnull(row->choices[i]);
        for (size_t k = 0; value->name[k] != '\0'; k++) {
            ck_assert_int_eq(toupper((unsigned char)row->choices[i][k]), value->name[k]);
        }
    }
    ck_assert_ptr_null(row->choices[values->n_values]);
}

START_TEST(a_solver_and_its_message_have_the_same_parameters) {
    const Solver *solver = solver_get((SolverKind)_i);
    const ProtobufCMessageDescriptor *message = parameters_of(solver);
    ck_assert_uint_eq(message->n_fields, solver->parameter_count);
    ck_assert_uint_le(solver->parameter_count, SOLVER_PARAMETER_MAX);
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const ParameterRow *row = &solver->parameters[i];
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message, row->name);
        ck_assert_msg(field != NULL, "%s has no field %s", message->name, row->name);
        expect_type(row, field);
        ck_assert(row->minimum <= row->default_value && row->default_value <= row->maximum);
        ck_assert(row->minimum <= row->solve_default && row->solve_default <= row->maximum);
    }
}
END_TEST

START_TEST(every_message_of_parameters_has_its_solver) {
    const ProtobufCMessageDescriptor *all = &moreau__v1__solver_parameters__descriptor;
    ck_assert_uint_eq(all->n_fields, SOLVER_COUNT);
    for (unsigned i = 0; i < all->n_fields; i++) {
        SolverKind kind;
        ck_assert_msg(solver_find(all->fields[i].name, &kind), "no solver is called %s",
                      all->fields[i].name);
    }
}
END_TEST

static TCase *case_commands(void) {
    TCase *tcase = tcase_create("commands");
    tcase_add_test(tcase, every_call_of_the_protocol_has_a_row_with_its_name);
    tcase_add_test(tcase, rows_stand_in_the_order_of_the_protocol);
    tcase_add_test(tcase, a_row_that_works_on_a_world_or_group_knows_where_its_id_stands);
    tcase_add_test(tcase, a_row_that_finds_its_worlds_itself_knows_where_they_are_named);
    tcase_add_test(tcase, every_row_has_what_its_place_calls);
    tcase_add_test(tcase, calls_stand_in_one_place_of_the_request);
    return tcase;
}

static TCase *case_parameters(void) {
    TCase *tcase = tcase_create("parameters");
    tcase_add_loop_test(tcase, a_solver_and_its_message_have_the_same_parameters, 0, SOLVER_COUNT);
    tcase_add_test(tcase, every_message_of_parameters_has_its_solver);
    return tcase;
}

SUITE_MAIN("api/command", case_commands, case_parameters)
