// SPDX-License-Identifier: MIT
// moreau call: any call of the protocol, from JSON to JSON.
#include "cli/cli.h"

#include "cli/json/read.h"
#include "cli/json/write.h"
#include "cli/protocol/methods.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau call: any call of the protocol, JSON in and JSON out\n"
    "\n"
    "  moreau call METHOD ['{json}' | @FILE | -]\n"
    "  moreau call [--list]          the calls and their fields\n"
    "  moreau call NAME --help       the fields of a call or of any other message, or\n"
    "                                the values of an enum, as WorldStep, SceneBody,\n"
    "                                Body.Kind\n"
    "\n"
    "Field names are those of moreau.proto, camelCase is accepted too. 64-bit\n"
    "integers may be numbers or strings and are printed as strings; enums go by\n"
    "name, bytes as base64. Calls that are answered by events first (EpisodeReplay,\n"
    "EpisodeVerify, Subscribe) print one document per line: {\"event\": ...} for\n"
    "each, then the result. A call that is refused prints\n"
    "{\"status\": ..., \"error\": ...}, with\n"
    "\"result\" where it was done in part.\n"
    "\n"
    "Examples:\n"
    "  moreau call Ping\n"
    "  moreau call WorldCreate '{\"scene\": {}, \"lifetime\": \"SERVER\"}'\n"
    "  moreau call WorldStep '{\"worlds\": [1], \"steps\": 240}'\n"
    "  moreau call WorldAddBodies @bodies.json\n"
    "  moreau call WorldGet '{\"world\": 1, \"bodies\": true}' | jq .pose\n";

// The server's own words, from row `first` on; NULL when it cannot be reached.
static Moreau__V1__Reply *fetch_rows(Cli *cli, size_t first) {
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    describe.has_first = 1;
    describe.first = first;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_DESCRIBE;
    request.describe = &describe;
    Moreau__V1__Reply *reply = NULL;
    cli_call(cli, &request, &reply);
    if (reply != NULL && reply->result_case != MOREAU__V1__REPLY__RESULT_DESCRIBE) {
        moreau__v1__reply__free_unpacked(reply, NULL);
        return NULL;
    }
    return reply;
}

// The calls among them, which come in as many parts as it takes, into `all`. A server that cannot
// be reached is no reason not to list them.
static void fetch_calls(Cli *cli, Moreau__V1__DescribeReply *all) {
    MoreauError error;
    if (cli_try_connect(cli, &error) != EXIT_DONE) {
        return;
    }
    size_t rows = 0;
    for (size_t came = 1; came > 0;) {
        Moreau__V1__Reply *reply = fetch_rows(cli, rows);
        if (reply == NULL) {
            return;
        }
        Moreau__V1__DescribeReply *part = reply->describe;
        came = part->n_limits + part->n_calls + part->n_solvers + part->n_fields;
        rows += came;
        const bool is_all = rows >= part->total;
        void *grown = realloc(all->calls, (all->n_calls + part->n_calls) * sizeof(void *) + 1);
        if (grown != NULL) {
            all->calls = grown;
            memcpy(all->calls + all->n_calls, part->calls, part->n_calls * sizeof(void *));
            all->n_calls += part->n_calls;
            part->n_calls = 0; // they are `all`'s now
        }
        moreau__v1__reply__free_unpacked(reply, NULL);
        if (grown == NULL || is_all) {
            return;
        }
    }
}

static int list_methods(Cli *cli) {
    Moreau__V1__DescribeReply all = MOREAU__V1__DESCRIBE_REPLY__INIT;
    fetch_calls(cli, &all);
    if (cli->json) {
        cli_print(cli, method_write_list(&all));
    } else {
        method_list(&all);
    }
    for (size_t i = 0; i < all.n_calls; i++) {
        moreau__v1__call_info__free_unpacked(all.calls[i], NULL);
    }
    free(all.calls);
    return EXIT_DONE;
}

// The JSON argument, a file, or standard input; {} without any.
static int load_body(Cli *cli, const OptionList *words, JsonText *json) {
    const char *body = words->count > 1 ? words->item[1] : "{}";
    if (strcmp(body, "-") == 0 || body[0] == '@') {
        return cli_load(cli, json, body[0] == '@' ? body + 1 : body);
    }
    JsonError error;
    if (json_text_parse(json, "argument", body, strlen(body), &error)) {
        return EXIT_DONE;
    }
    return cli_fail(cli, EXIT_REFUSED, "%s", error.message);
}

// What an answer holds; NULL: nothing.
static const ProtobufCMessage *result_of(const Moreau__V1__Reply *reply) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
        reply->base.descriptor, (unsigned)reply->result_case);
    if (reply->result_case == MOREAU__V1__REPLY__RESULT__NOT_SET || field == NULL) {
        return NULL;
    }
    const ProtobufCMessage *message;
    memcpy(&message, (const uint8_t *)reply + field->offset, sizeof(void *));
    return message;
}

static json_t *write_result(const Moreau__V1__Reply *reply) {
    const ProtobufCMessage *message = result_of(reply);
    return message != NULL ? json_write_message(message) : NULL;
}

// The result alone, or {"status", "result"} when the call did not go well. A new reference.
static json_t *write_reply(const Moreau__V1__Reply *reply, bool is_done) {
    json_t *result = write_result(reply);
    if (is_done) {
        return result != NULL ? result : json_object();
    }
    json_t *document = json_object();
    if (reply->status != NULL) {
        json_object_set_new(document, "status", json_write_message(&reply->status->base));
    }
    if (result != NULL) {
        json_object_set_new(document, "result", result);
    }
    return document;
}

typedef struct Calling {
    Cli *cli;
    bool had_events;
} Calling;

// An event is a line of its own, and from then on so is the rest.
static bool print_event(void *context, const MoreauReply *event) {
    Calling *calling = context;
    calling->had_events = true;
    Moreau__V1__Reply *message = cli_unpack(event);
    json_t *result = write_result(message);
    json_t *line = json_object();
    json_object_set_new(line, "event", result != NULL ? result : json_object());
    moreau__v1__reply__free_unpacked(message, NULL);
    return cli_print_line(calling->cli, line);
}

// A batch is answered OK though worlds failed in it: who calls about them wants to know.
static int judge_failures(Cli *cli, const Moreau__V1__Reply *reply) {
    const ProtobufCMessage *result = result_of(reply);
    const ProtobufCFieldDescriptor *field =
        result == NULL
            ? NULL
            : protobuf_c_message_descriptor_get_field_by_name(result->descriptor, "failures");
    if (field == NULL || field->descriptor != &moreau__v1__status__descriptor) {
        return EXIT_DONE;
    }
    size_t count;
    Moreau__V1__Status *const *failures;
    memcpy(&count, (const uint8_t *)result + field->quantifier_offset, sizeof(count));
    memcpy(&failures, (const uint8_t *)result + field->offset, sizeof(failures));
    if (count == 0) {
        return EXIT_DONE;
    }
    const Moreau__V1__Status *first = failures[0];
    char rest[64] = "";
    if (count > 1) {
        snprintf(rest, sizeof(rest), " (and %zu more: see failures)", count - 1);
    }
    return cli_fail(cli, EXIT_REFUSED, "world %" PRIu64 " failed: %s%s", first->world,
                    first->message != NULL ? first->message : "the server does not say why", rest);
}

static int send_method(Cli *cli, const ProtobufCFieldDescriptor *method, ProtobufCMessage *message,
                       const JsonText *source, uint32_t deadline_ms) {
    int status = cli_connect(cli);
    if (status != EXIT_DONE) {
        return status;
    }
    moreau_set_deadline(cli->client, deadline_ms);
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    memcpy((uint8_t *)&request + method->offset, &message, sizeof(void *));
    json_mark_field(&request.base, method);
    Moreau__V1__Reply *reply;
    Calling calling = {.cli = cli};
    status = cli_call_events(cli, &request, print_event, &calling, &reply);
    if (cli->output_error != 0) { // cancelled, because nobody can read it
        status = EXIT_REFUSED;
    } else if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, source, "");
    }
    if (reply != NULL) {
        json_t *document = write_reply(reply, status == EXIT_DONE);
        status = status == EXIT_DONE ? judge_failures(cli, reply) : status;
        (calling.had_events ? cli_print_last : cli_print)(cli, document);
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static int call_method(Cli *cli, const ProtobufCFieldDescriptor *method, const OptionList *words,
                       uint32_t deadline_ms) {
    JsonText json;
    int status = load_body(cli, words, &json);
    if (status != EXIT_DONE) {
        return status;
    }
    JsonError error;
    ProtobufCMessage *message = json_read_message(&json, json.root, "", method->descriptor, &error);
    if (message == NULL) {
        status = cli_fail(cli, EXIT_REFUSED, "%s", error.message);
    } else {
        status = send_method(cli, method, message, &json, deadline_ms);
        protobuf_c_message_free_unpacked(message, NULL);
    }
    json_text_free(&json);
    return status;
}

// ---- what there is

// A call, a message or an enum, by its name.
static int explain(Cli *cli, const char *name) {
    Schema schema;
    schema_collect(&schema);
    const ProtobufCFieldDescriptor *method = method_find(name);
    const ProtobufCMessageDescriptor *message = schema_find_message(&schema, name);
    const ProtobufCEnumDescriptor *enumeration = schema_find_enum(&schema, name);
    if (method != NULL) {
        method_explain(method);
    } else if (message != NULL) {
        method_explain_message(&schema, message);
    } else if (enumeration != NULL) {
        method_explain_enum(&schema, enumeration);
    } else {
        char hint[NEAREST_HINT_BYTES];
        method_nearest(name, &schema, hint);
        return cli_fail(cli, EXIT_USAGE,
                        "the protocol has no call, message or enum \"%s\"%s; moreau call --list "
                        "shows the calls",
                        name, hint);
    }
    return EXIT_DONE;
}

static int refuse_method(Cli *cli, const char *name) {
    Schema schema;
    schema_collect(&schema);
    if (schema_find_message(&schema, name) != NULL || schema_find_enum(&schema, name) != NULL) {
        return cli_fail(cli, EXIT_USAGE,
                        "%s is a part of messages and cannot be called; moreau call %s --help "
                        "shows what it holds",
                        name, name);
    }
    char hint[NEAREST_HINT_BYTES];
    method_nearest(name, NULL, hint);
    return cli_fail(cli, EXIT_USAGE, "there is no call \"%s\"%s; moreau call --list shows them",
                    name, hint);
}

int command_call(Cli *cli, int argc, char **argv) {
    bool list = false;
    uint64_t deadline_ms = 0;
    const Option options[] = {
        {"--list", OPTION_FLAG, &list, NULL, "the calls and their fields"},
        {"--deadline-ms", OPTION_COUNT, &deadline_ms, "N", "let the server stop after so long"},
    };
    OptionTable table = {options, sizeof(options) / sizeof(options[0])};
    cli->is_verbatim = true;
    OptionList words = {0};

    // NAME --help is about the name, so the words are needed before the help is printed
    bool wants_help = cli->help;
    for (int i = 0; i < argc; i++) {
        wants_help = wants_help || strcmp(argv[i], "--help") == 0;
    }
    if (wants_help && argc > 0 && argv[0][0] != '-') {
        return explain(cli, argv[0]);
    }
    int status = cli_parse(cli, usage, table, argc, argv, 0, 2, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (list || words.count == 0) {
        return list_methods(cli);
    }
    const ProtobufCFieldDescriptor *method = method_find(words.item[0]);
    if (method == NULL) {
        return refuse_method(cli, words.item[0]);
    }
    if (deadline_ms > UINT32_MAX) {
        return cli_fail(cli, EXIT_USAGE, "--deadline-ms takes at most %u", UINT32_MAX);
    }
    return call_method(cli, method, &words, (uint32_t)deadline_ms);
}
