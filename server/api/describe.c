// SPDX-License-Identifier: MIT
// What Welcome and Describe say of the server: its limits, calls, solvers and checked numbers. In
// Describe they are rows of one list, of which as many are told as a frame holds; Welcome, which
// has no second part, leaves out what rows mean where they would not fit.
#include "api/describe.h"

#include "api/span.h"
#include "solve/solver.h"
#include "world/range.h"

#include <stdint.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while answering.");
}

// `count` messages and the array of pointers to them, initialised.
static void **take_messages(Arena *arena, size_t count,
                            const ProtobufCMessageDescriptor *descriptor) {
    void **list = arena_take_array(arena, count, sizeof(void *));
    char *messages = arena_take_array(arena, count, descriptor->sizeof_message);
    if (list == NULL || messages == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = messages + i * descriptor->sizeof_message;
        descriptor->message_init(list[i]);
    }
    return list;
}

Moreau__V1__Limit **describe_limits(Request *request, size_t *count) {
    const ApiDef *def = &request->api->def;
    Moreau__V1__Limit **list = (Moreau__V1__Limit **)take_messages(
        &request->arena, def->limit_count, &moreau__v1__limit__descriptor);
    for (size_t i = 0; list != NULL && i < def->limit_count; i++) {
        list[i]->name = (char *)def->limits[i].name;
        list[i]->has_value = 1;
        list[i]->value = def->limits[i].value;
        list[i]->unit = (char *)def->limits[i].unit;
        list[i]->meaning = (char *)def->limits[i].meaning;
    }
    *count = list == NULL ? 0 : def->limit_count;
    return list;
}

char **describe_rights(Request *request, uint32_t rights, size_t *count) {
    size_t total = 0;
    uint32_t right;
    while (rights_name(total, &right) != NULL) {
        total++;
    }
    char **list = arena_take_array(&request->arena, total, sizeof(*list));
    *count = 0;
    for (size_t i = 0; list != NULL && i < total; i++) {
        char *name = (char *)rights_name(i, &right);
        if (rights & right) {
            list[(*count)++] = name;
        }
    }
    return list;
}

Moreau__V1__CallInfo **describe_calls(Request *request, size_t *count) {
    size_t total = 0;
    while (command_at(total) != NULL) {
        total++;
    }
    Moreau__V1__CallInfo **list = (Moreau__V1__CallInfo **)take_messages(
        &request->arena, total, &moreau__v1__call_info__descriptor);
    for (size_t i = 0; list != NULL && i < total; i++) {
        const Command *command = command_at(i);
        list[i]->name = (char *)command->name;
        list[i]->has_field = list[i]->has_mutates = 1;
        list[i]->field = (uint32_t)command->field;
        list[i]->mutates = (command->flags & COMMAND_MUTATES) != 0;
        list[i]->meaning = (char *)command->meaning;
        list[i]->rights = describe_rights(request, command->rights, &list[i]->n_rights);
    }
    *count = list == NULL ? 0 : total;
    return list;
}

static void describe_parameter(const ParameterRow *row, Moreau__V1__ParameterInfo *info) {
    info->name = (char *)row->name;
    info->unit = (char *)row->unit;
    // what is 0 need not be said: all solvers together fit into the least frame
    info->has_minimum = row->minimum != 0.0;
    info->has_maximum = row->maximum != 0.0;
    info->has_default_value = row->default_value != 0.0;
    info->has_solve_default = row->solve_default != 0.0;
    info->minimum = row->minimum;
    info->maximum = row->maximum;
    info->default_value = row->default_value;
    info->solve_default = row->solve_default;
    info->meaning = (char *)row->meaning;
    for (info->choices = (char **)row->choices;
         row->choices != NULL && row->choices[info->n_choices] != NULL;) {
        info->n_choices++;
    }
}

Moreau__V1__SolverInfo **describe_solvers(Request *request, size_t *count) {
    Moreau__V1__SolverInfo **list = (Moreau__V1__SolverInfo **)take_messages(
        &request->arena, SOLVER_COUNT, &moreau__v1__solver_info__descriptor);
    for (int i = 0; list != NULL && i < SOLVER_COUNT; i++) {
        const Solver *solver = solver_get((SolverKind)i);
        list[i]->name = (char *)solver->name;
        list[i]->meaning = (char *)solver->meaning;
        list[i]->parameters = (Moreau__V1__ParameterInfo **)take_messages(
            &request->arena, solver->parameter_count, &moreau__v1__parameter_info__descriptor);
        if (list[i]->parameters == NULL) {
            return NULL;
        }
        list[i]->n_parameters = solver->parameter_count;
        for (uint32_t k = 0; k < solver->parameter_count; k++) {
            describe_parameter(&solver->parameters[k], list[i]->parameters[k]);
        }
    }
    *count = list == NULL ? 0 : SOLVER_COUNT;
    return list;
}

static Moreau__V1__FieldInfo **describe_fields(Request *request, size_t *count) {
    Moreau__V1__FieldInfo **list = (Moreau__V1__FieldInfo **)take_messages(
        &request->arena, RANGE_COUNT, &moreau__v1__field_info__descriptor);
    for (int i = 0; list != NULL && i < RANGE_COUNT; i++) {
        const Range *range = range_get((RangeKind)i);
        list[i]->path = (char *)range->path;
        list[i]->unit = (char *)range->unit;
        list[i]->has_minimum = range->minimum != 0.0;
        list[i]->has_maximum = 1;
        list[i]->has_exclusive = range->exclusive;
        list[i]->minimum = range->minimum;
        list[i]->maximum = range->maximum;
        list[i]->exclusive = range->exclusive;
        list[i]->meaning = (char *)range->meaning;
    }
    *count = list == NULL ? 0 : RANGE_COUNT;
    return list;
}

// ---- Welcome

// What a frame holds beside the result: the id of the request, the time, the status.
enum { REPLY_HEAD_BYTES = 128 };

void describe_fit(Request *request, Moreau__V1__Welcome *message) {
    const size_t fitting = request->api->def.frame_bytes_max - REPLY_HEAD_BYTES;
    if (moreau__v1__welcome__get_packed_size(message) <= fitting) {
        return;
    }
    for (size_t i = 0; i < message->n_limits; i++) {
        message->limits[i]->meaning = NULL;
    }
    for (size_t i = 0; i < message->n_calls; i++) {
        message->calls[i]->meaning = NULL;
    }
    for (size_t i = 0; i < message->n_solvers; i++) {
        Moreau__V1__SolverInfo *solver = message->solvers[i];
        for (size_t k = 0; k < solver->n_parameters; k++) {
            solver->parameters[k]->meaning = NULL;
        }
    }
}

// ---- Describe

// The rows of one of the four lists that lie in the range, which counts from the first list's first
// row on, as long as they fit.
typedef struct Window {
    uint64_t first, end; // of the rows asked for
    uint64_t seen;       // rows before the list
    size_t bytes_left;
    bool is_full;
} Window;

static void cut(Window *window, void *list, size_t *count) {
    const ProtobufCMessage **rows = list;
    enum { ROW_HEAD_BYTES = 6 }; // tag and length
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const uint64_t index = window->seen + i;
        if (index < window->first || index >= window->end || window->is_full) {
            continue;
        }
        const size_t bytes = protobuf_c_message_get_packed_size(rows[i]) + ROW_HEAD_BYTES;
        window->is_full = bytes > window->bytes_left;
        if (!window->is_full) {
            window->bytes_left -= bytes;
            rows[kept++] = rows[i];
        }
    }
    window->seen += *count;
    *count = kept;
}

Status command_describe(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Moreau__V1__Describe *asked = request->message->describe;
    Moreau__V1__DescribeReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__describe_reply__init(message);
    message->limits = describe_limits(request, &message->n_limits);
    message->calls = describe_calls(request, &message->n_calls);
    message->solvers = describe_solvers(request, &message->n_solvers);
    message->fields = describe_fields(request, &message->n_fields);
    if (message->limits == NULL || message->calls == NULL || message->solvers == NULL ||
        message->fields == NULL) {
        return out_of_memory(error);
    }
    message->has_total = 1;
    message->total = message->n_limits + message->n_calls + message->n_solvers + message->n_fields;
    const Span span = span_of(asked->first, asked->has_count, asked->count, message->total);
    Window window = {.first = span.first,
                     .end = span.first + span.count,
                     .bytes_left = request->api->def.frame_bytes_max - REPLY_HEAD_BYTES};
    cut(&window, message->limits, &message->n_limits);
    cut(&window, message->calls, &message->n_calls);
    cut(&window, message->solvers, &message->n_solvers);
    cut(&window, message->fields, &message->n_fields);
    reply->result_case = MOREAU__V1__REPLY__RESULT_DESCRIBE;
    reply->describe = message;
    return STATUS_OK;
}
