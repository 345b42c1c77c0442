// SPDX-License-Identifier: MIT
// moreau call: any call of the protocol, from JSON to JSON.
#include "cli/cli.h"

#include "cli/json_read.h"
#include "cli/json_write.h"
#include "cli/methods.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "moreau call: any call of the protocol, JSON in and JSON out\n"
    "\n"
    "  moreau call METHOD ['{json}' | @FILE | -]\n"
    "  moreau call [--list]          the calls and their fields\n"
    "  moreau call METHOD --help     the fields of one call\n"
    "\n"
    "Field names are those of moreau.proto, camelCase is accepted too. 64-bit\n"
    "integers may be numbers or strings and are printed as strings; enums go by\n"
    "name, bytes as base64. Calls that are answered by events first (EpisodeReplay,\n"
    "EpisodeVerify) print one document per line: {\"event\": ...} for each, then the\n"
    "result.\n"
    "\n"
    "  moreau call WorldStep '{\"worlds\": [1], \"steps\": 240}'\n";

// The server's own words on its calls; NULL when it cannot be reached, which is no reason not to
// list them.
static Moreau__V1__Reply *fetch_description(Cli *cli) {
    MoreauError error;
    if (cli_try_connect(cli, &error) != EXIT_DONE) {
        return NULL;
    }
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_DESCRIBE;
    request.describe = &describe;
    Moreau__V1__Reply *reply;
    cli_call(cli, &request, &reply);
    return reply;
}

static int list_methods(Cli *cli) {
    Moreau__V1__Reply *reply = fetch_description(cli);
    const Moreau__V1__DescribeReply *describe =
        reply != NULL && reply->result_case == MOREAU__V1__REPLY__RESULT_DESCRIBE ? reply->describe
                                                                                  : NULL;
    if (cli->json) {
        json_t *list = method_write_list(describe);
        json_print(stdout, list);
        json_decref(list);
    } else {
        method_list(describe);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return EXIT_DONE;
}

// The JSON argument, a file, or standard input; {} without any.
static int load_body(const OptionList *words, JsonText *json) {
    const char *body = words->count > 1 ? words->item[1] : "{}";
    if (strcmp(body, "-") == 0 || body[0] == '@') {
        return cli_load(json, body[0] == '@' ? body + 1 : body);
    }
    JsonError error;
    if (json_text_parse(json, "argument", body, strlen(body), &error)) {
        return EXIT_DONE;
    }
    return cli_fail(EXIT_REFUSED, "%s", error.message);
}

// What an answer holds; NULL: nothing.
static json_t *write_result(const Moreau__V1__Reply *reply) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
        reply->base.descriptor, (unsigned)reply->result_case);
    if (reply->result_case == MOREAU__V1__REPLY__RESULT__NOT_SET || field == NULL) {
        return NULL;
    }
    const ProtobufCMessage *message;
    memcpy(&message, (const uint8_t *)reply + field->offset, sizeof(void *));
    return json_write_message(message);
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

// An event is a line of its own, and from then on so is the rest.
static bool print_event(void *context, const MoreauReply *event) {
    bool *had_events = context;
    *had_events = true;
    Moreau__V1__Reply *message = cli_unpack(event);
    json_t *result = write_result(message);
    json_t *line = json_object();
    json_object_set_new(line, "event", result != NULL ? result : json_object());
    json_print_line(stdout, line);
    fflush(stdout);
    json_decref(line);
    moreau__v1__reply__free_unpacked(message, NULL);
    return true;
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
    bool had_events = false;
    status = cli_call_events(cli, &request, print_event, &had_events, &reply);
    if (reply != NULL) {
        json_t *document = write_reply(reply, status == EXIT_DONE);
        (had_events ? json_print_line : json_print)(stdout, document);
        json_decref(document);
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status == EXIT_DONE ? EXIT_DONE : cli_report_refusal(cli, source, "");
}

static int call_method(Cli *cli, const ProtobufCFieldDescriptor *method, const OptionList *words,
                       uint32_t deadline_ms) {
    JsonText json;
    int status = load_body(words, &json);
    if (status != EXIT_DONE) {
        return status;
    }
    JsonError error;
    ProtobufCMessage *message = json_read_message(&json, json.root, "", method->descriptor, &error);
    if (message == NULL) {
        status = cli_fail(EXIT_REFUSED, "%s", error.message);
    } else {
        status = send_method(cli, method, message, &json, deadline_ms);
        protobuf_c_message_free_unpacked(message, NULL);
    }
    json_text_free(&json);
    return status;
}

int command_call(Cli *cli, int argc, char **argv) {
    bool list = false;
    uint64_t deadline_ms = 0;
    const Option options[] = {
        {"--list", OPTION_FLAG, &list, NULL, "the calls and their fields"},
        {"--deadline-ms", OPTION_COUNT, &deadline_ms, "N", "let the server stop after so long"},
    };
    OptionTable table = {options, sizeof(options) / sizeof(options[0])};
    OptionList words = {0};

    // METHOD --help is about the method, so the words are needed before the help is printed
    bool help_before = cli->help;
    for (int i = 0; i < argc; i++) {
        help_before = help_before || strcmp(argv[i], "--help") == 0;
    }
    const ProtobufCFieldDescriptor *method = argc > 0 ? method_find(argv[0]) : NULL;
    if (help_before && method != NULL) {
        method_explain(method);
        return EXIT_DONE;
    }
    int status = cli_parse(cli, usage, table, argc, argv, 0, 2, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (list || words.count == 0) {
        return list_methods(cli);
    }
    method = method_find(words.item[0]);
    if (method == NULL) {
        return cli_fail(EXIT_USAGE, "there is no call %s; moreau call --list shows them",
                        words.item[0]);
    }
    if (deadline_ms > UINT32_MAX) {
        return cli_fail(EXIT_USAGE, "--deadline-ms takes at most %u", UINT32_MAX);
    }
    return call_method(cli, method, &words, (uint32_t)deadline_ms);
}
