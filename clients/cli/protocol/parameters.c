// SPDX-License-Identifier: MIT
#include "cli/protocol/parameters.h"

#include "cli/json/read.h"
#include "cli/json/write.h"
#include "cli/base/memory.h"
#include "cli/text/nearest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// as Describe has it
enum { LCP_DIRECTIONS_DEFAULT = 8 };

static const ProtobufCFieldDescriptor *find_solver(const char *solver) {
    const ProtobufCMessageDescriptor *all = &moreau__v1__solver_parameters__descriptor;
    return protobuf_c_message_descriptor_get_field_by_name(all, solver);
}

// The field names of a message, or the values of an enum, for a sentence.
static void list_fields(const ProtobufCMessageDescriptor *descriptor, char *names, size_t bytes) {
    names[0] = '\0';
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        size_t used = strlen(names);
        snprintf(names + used, bytes - used, "%s%s", i > 0 ? ", " : "", descriptor->fields[i].name);
    }
}

static void list_values(const ProtobufCEnumDescriptor *descriptor, char *names, size_t bytes) {
    names[0] = '\0';
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        size_t used = strlen(names);
        snprintf(names + used, bytes - used, "%s%s", i > 0 ? ", " : "", descriptor->values[i].name);
    }
}

static bool parse_bool(const char *text, protobuf_c_boolean *value) {
    bool yes =
        strcasecmp(text, "true") == 0 || strcasecmp(text, "on") == 0 || strcmp(text, "1") == 0;
    bool no =
        strcasecmp(text, "false") == 0 || strcasecmp(text, "off") == 0 || strcmp(text, "0") == 0;
    *value = yes;
    return yes || no;
}

static bool parse_uint32(const char *text, uint32_t *value) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= 0.0 && number <= (double)UINT32_MAX) ||
        number != floor(number)) {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

static bool parse_double(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static bool parse_enum(const char *text, const ProtobufCEnumDescriptor *descriptor, void *member) {
    const ProtobufCEnumValue *value = json_find_enum(descriptor, text);
    if (value != NULL) {
        memcpy(member, &value->value, sizeof(value->value));
    }
    return value != NULL;
}

// false, with what was wanted in `expected`, when the text is no value of this field
static bool set_value(const ProtobufCFieldDescriptor *field, const char *text, void *member,
                      char *expected, size_t bytes) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        snprintf(expected, bytes, "a number");
        return parse_double(text, member);
    case PROTOBUF_C_TYPE_UINT32:
        snprintf(expected, bytes, "a whole number from 0");
        return parse_uint32(text, member);
    case PROTOBUF_C_TYPE_BOOL:
        snprintf(expected, bytes, "true or false");
        return parse_bool(text, member);
    case PROTOBUF_C_TYPE_ENUM:
        list_values(field->descriptor, expected, bytes);
        return parse_enum(text, field->descriptor, member);
    default:
        snprintf(expected, bytes, "something that cannot be written on a command line");
        return false;
    }
}

// " (lcp has one)", or which name is near, or "".
static const char *hint_of(const char *key, const ProtobufCMessageDescriptor *parameters,
                           char hint[NEAREST_HINT_BYTES]) {
    const ProtobufCMessageDescriptor *all = &moreau__v1__solver_parameters__descriptor;
    for (unsigned i = 0; i < all->n_fields; i++) {
        if (json_find_field(all->fields[i].descriptor, key) != NULL) {
            snprintf(hint, NEAREST_HINT_BYTES, " (%s has one)", all->fields[i].name);
            return hint;
        }
    }
    Nearest nearest = {.typed = key};
    for (unsigned i = 0; i < parameters->n_fields; i++) {
        nearest_offer(&nearest, parameters->fields[i].name);
    }
    return nearest_hint(&nearest, hint);
}

// `text` as it was typed; its key may begin with the name of its solver, which is `solver`.
static bool set_parameter(const char *solver, const char *text, ProtobufCMessage *message,
                          char *sentence, size_t bytes) {
    char names[512];
    const char *equals = strchr(text, '=');
    char key[64] = "";
    if (equals != NULL) {
        const char *dot = memchr(text, '.', (size_t)(equals - text));
        const char *begin = dot != NULL ? dot + 1 : text;
        snprintf(key, sizeof(key), "%.*s", (int)(equals - begin), begin);
    }
    const ProtobufCFieldDescriptor *field = json_find_field(message->descriptor, key);
    if (equals == NULL) {
        snprintf(sentence, bytes, "--param takes KEY=VALUE, as tolerance=1e-8, not \"%s\"", text);
        return false;
    }
    if (field == NULL) {
        list_fields(message->descriptor, names, sizeof(names));
        char hint[NEAREST_HINT_BYTES];
        snprintf(sentence, bytes, "--param %s: solver %s has no parameter \"%s\"%s; it has %s",
                 text, solver, key, hint_of(key, message->descriptor, hint), names);
        return false;
    }
    if (!set_value(field, equals + 1, (uint8_t *)message + field->offset, names, sizeof(names))) {
        snprintf(sentence, bytes, "--param %s of solver %s takes %s, not \"%s\"", field->name,
                 solver, names, equals + 1);
        return false;
    }
    json_mark_field(message, field);
    return true;
}

// The message of one solver inside `all`, created where it is missing.
static ProtobufCMessage *take_message(const ProtobufCFieldDescriptor *solver,
                                      Moreau__V1__SolverParameters *all) {
    ProtobufCMessage *message;
    memcpy(&message, (uint8_t *)all + solver->offset, sizeof(void *));
    if (message == NULL) {
        const ProtobufCMessageDescriptor *descriptor = solver->descriptor;
        message = memory_take(1, descriptor->sizeof_message);
        protobuf_c_message_init(descriptor, message);
        memcpy((uint8_t *)all + solver->offset, &message, sizeof(void *));
        json_mark_field(&all->base, solver);
    }
    return message;
}

void parameters_solvers(OptionList *solvers) {
    const ProtobufCMessageDescriptor *all = &moreau__v1__solver_parameters__descriptor;
    *solvers = (OptionList){0};
    for (unsigned i = 0; i < all->n_fields && solvers->count < OPTION_LIST_MAX; i++) {
        solvers->item[solvers->count++] = all->fields[i].name;
    }
}

// The solver that a key names, as sap.sigma does; "": it names none.
static const char *named_solver(const char *text, char name[64]) {
    const char *equals = strchr(text, '=');
    const char *dot = equals != NULL ? memchr(text, '.', (size_t)(equals - text)) : NULL;
    snprintf(name, 64, "%.*s", dot != NULL ? (int)(dot - text) : 0, text);
    return name;
}

// false, with a sentence: a key names a solver that is not there, or does not run.
static bool judge_named(const char *text, const OptionList *solvers, char *message, size_t bytes) {
    char name[64], names[256];
    if (named_solver(text, name)[0] == '\0') {
        return true;
    }
    for (size_t i = 0; i < solvers->count; i++) {
        if (strcmp(solvers->item[i], name) == 0) {
            return true;
        }
    }
    if (find_solver(name) == NULL) {
        list_fields(&moreau__v1__solver_parameters__descriptor, names, sizeof(names));
        snprintf(message, bytes, "--param %s: there is no solver \"%s\"; there are %s", text, name,
                 names);
    } else {
        snprintf(message, bytes, "--param %s: solver %s does not run here, but %s%s", text, name,
                 solvers->item[0], solvers->count > 1 ? " and others" : "");
    }
    return false;
}

bool parameters_set(const char *solver, const OptionList *solvers, const OptionList *params,
                    Moreau__V1__SolverParameters **all, char *message, size_t message_bytes) {
    OptionList own = {0};
    for (size_t i = 0; i < params->count; i++) {
        char name[64];
        if (!judge_named(params->item[i], solvers, message, message_bytes)) {
            return false;
        }
        named_solver(params->item[i], name);
        if (name[0] == '\0' || strcmp(name, solver) == 0) {
            own.item[own.count++] = params->item[i];
        }
    }
    if (own.count == 0) {
        return true;
    }
    const ProtobufCFieldDescriptor *field = find_solver(solver);
    if (field == NULL) {
        char names[256];
        list_fields(&moreau__v1__solver_parameters__descriptor, names, sizeof(names));
        snprintf(message, message_bytes,
                 "this tool knows no parameters of a solver \"%s\"; it knows those of %s", solver,
                 names);
        return false;
    }
    if (*all == NULL) {
        *all = memory_take(1, sizeof(**all));
        moreau__v1__solver_parameters__init(*all);
    }
    ProtobufCMessage *target = take_message(field, *all);
    for (size_t i = 0; i < own.count; i++) {
        if (!set_parameter(solver, own.item[i], target, message, message_bytes)) {
            return false;
        }
    }
    return true;
}

bool parameters_read(const char *solver, const JsonText *json, const json_t *value,
                     const char *path, Moreau__V1__SolverParameters **all, JsonError *error) {
    const ProtobufCFieldDescriptor *field = find_solver(solver);
    if (field == NULL) {
        return json_text_refuse(json, path, error,
                                "this tool knows no parameters of a solver \"%s\"", solver);
    }
    ProtobufCMessage *message = json_read_message(json, value, path, field->descriptor, error);
    if (message == NULL) {
        return false;
    }
    *all = memory_take(1, sizeof(**all));
    moreau__v1__solver_parameters__init(*all);
    memcpy((uint8_t *)*all + field->offset, &message, sizeof(void *));
    json_mark_field(&(*all)->base, field);
    return true;
}

// The message of one solver; NULL: nothing is set for it.
static const ProtobufCMessage *find_message(const char *solver,
                                            const Moreau__V1__SolverParameters *all) {
    const ProtobufCFieldDescriptor *field = find_solver(solver);
    const ProtobufCMessage *message = NULL;
    if (all != NULL && field != NULL) {
        memcpy(&message, (const uint8_t *)all + field->offset, sizeof(void *));
    }
    return message;
}

json_t *parameters_write(const char *solver, const Moreau__V1__SolverParameters *all) {
    const ProtobufCMessage *message = find_message(solver, all);
    return message != NULL ? json_write_ours(message) : json_object();
}

uint32_t parameters_iterations(const char *solver, const Moreau__V1__SolverParameters *all) {
    const ProtobufCMessage *message = find_message(solver, all);
    const ProtobufCFieldDescriptor *field =
        message != NULL ? json_find_field(message->descriptor, "max_iterations") : NULL;
    uint32_t iterations = 0;
    if (field != NULL && field->type == PROTOBUF_C_TYPE_UINT32 && json_has_field(message, field)) {
        memcpy(&iterations, (const uint8_t *)message + field->offset, sizeof(iterations));
    }
    return iterations;
}

static const char *model_of_mdp(const Moreau__V1__MdpParameters *mdp) {
    bool is_of_the_paper =
        mdp != NULL && mdp->has_friction &&
        mdp->friction == MOREAU__V1__MDP_PARAMETERS__FRICTION__MAXIMUM_DISSIPATION;
    return is_of_the_paper ? "dissipation" : "coulomb";
}

const char *parameters_model(const char *solver, const Moreau__V1__SolverParameters *all,
                             char text[PARAMETERS_MODEL_BYTES]) {
    if (strcmp(solver, "mdp") == 0) {
        return model_of_mdp(all == NULL ? NULL : all->mdp);
    }
    if (strcmp(solver, "lcp") == 0) {
        const Moreau__V1__LcpParameters *lcp = all == NULL ? NULL : all->lcp;
        snprintf(text, PARAMETERS_MODEL_BYTES, "polyhedral:%" PRIu32,
                 lcp != NULL && lcp->has_directions ? lcp->directions
                                                    : (uint32_t)LCP_DIRECTIONS_DEFAULT);
        return text;
    }
    return solver;
}
