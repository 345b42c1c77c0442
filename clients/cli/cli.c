// SPDX-License-Identifier: MIT
#include "cli/cli.h"

#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/shown_message.h"
#include "cli/text/fold.h"
#include "cli/text/shown.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LISTEN_MS = 100 };                                    // how soon Ctrl-C is heard
enum { TOKEN_BYTES_MAX = 255, TOKEN_LINE_BYTES_MAX = 8192 }; // as a server reads its file
enum { SHOWN_BYTES = 320 };                                  // a server's field, as it was typed

void cli_global_options(Cli *cli, Option options[CLI_GLOBAL_OPTIONS]) {
    const Option table[CLI_GLOBAL_OPTIONS] = {
        {"--server", OPTION_TEXT, &cli->server, "ADDR",
         "host:port, [v6]:port, tls://host:port or unix:PATH"},
        {"--token-file", OPTION_TEXT, &cli->token_file, "FILE",
         "file that holds the server's token"},
        {"--tls-ca", OPTION_TEXT, &cli->tls_ca, "FILE",
         "tls://: who may have signed the server's certificate"},
        {"--tls-fingerprint", OPTION_TEXT, &cli->tls_fingerprint, "SHA256",
         "tls://: of its certificate itself"},
        {"--tls-cert", OPTION_TEXT, &cli->tls_cert, "FILE",
         "tls://: our own certificate, where it wants one"},
        {"--tls-key", OPTION_TEXT, &cli->tls_key, "FILE", "tls://: its key"},
        {"--json", OPTION_FLAG, &cli->json, NULL, "one JSON document on standard output"},
        {"--help", OPTION_FLAG, &cli->help, NULL, "this text"},
    };
    memcpy(options, table, sizeof(table));
}

int cli_fail(Cli *cli, int status, const char *format, ...) {
    char sentence[sizeof(cli->failure)];
    bool is_about = cli->about != NULL;
    int used = snprintf(sentence, sizeof(sentence), "%s%s", is_about ? cli->about : "",
                        is_about ? ": " : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence + used, sizeof(sentence) - (size_t)used, format, arguments);
    va_end(arguments);
    char shown[2 * sizeof(sentence)];
    fprintf(stderr, "moreau: %s\n", shown_text(sentence, shown, sizeof(shown)));
    if (cli->failure[0] == '\0') {
        memcpy(cli->failure, sentence, sizeof(sentence));
    }
    return status;
}

// ---- what is printed

// What the first sentence is about, for --json.
static void keep_refusal(Cli *cli, const MoreauError *error) {
    if (cli->failure[0] == '\0') {
        cli->refusal = *error;
    }
}

// {"message"}, and what the server said, if it did.
static json_t *write_failure(const Cli *cli) {
    json_t *error = json_object();
    json_object_set_new(error, "message", json_string(cli->failure));
    if (cli->refusal.from_server) {
        json_object_set_new(error, "status", json_string(moreau_status_name(cli->refusal.status)));
        if (cli->refusal.field[0] != '\0') {
            json_object_set_new(error, "field", json_string(cli->refusal.field));
        }
    }
    return error;
}

bool cli_flush(Cli *cli) {
    // what was lost before leaves a mark on the stream, but no reason
    errno = 0;
    bool is_lost = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (is_lost && cli->output_error == 0) {
        cli->output_error = errno != 0 ? errno : ENOSPC; // the usual one
    }
    return cli->output_error == 0;
}

static void add_failure(Cli *cli, json_t *document) {
    if (cli->failure[0] != '\0') {
        json_object_set_new(document, "error", write_failure(cli));
    }
    cli->has_printed = true;
}

void cli_print(Cli *cli, json_t *document) {
    add_failure(cli, document);
    json_print(stdout, document);
    json_decref(document);
    cli_flush(cli);
}

void cli_print_last(Cli *cli, json_t *document) {
    add_failure(cli, document);
    cli_print_line(cli, document);
}

bool cli_print_line(Cli *cli, json_t *document) {
    json_print_line(stdout, document);
    json_decref(document);
    return cli_flush(cli);
}

static void disconnect(Cli *cli) {
    moreau_disconnect(cli->client);
    cli->client = NULL;
}

int cli_finish(Cli *cli, int status) {
    if (cli->json && !cli->has_printed && cli->failure[0] != '\0') {
        cli_print_last(cli, json_object());
    }
    disconnect(cli);
    if (cli_flush(cli)) {
        return status;
    }
    return cli_fail(cli, EXIT_REFUSED, "cannot write to standard output: %s",
                    strerror(cli->output_error));
}

// ---- options

// "moreau <command>", which a usage begins with.
static int name_columns(const char *usage) {
    return (int)strcspn(usage, ":");
}

// The first line of a usage that shows how the command is written, without what follows behind it.
static int fail_missing(Cli *cli, const char *usage) {
    const char *line = strstr(usage, "\n  ") + 3;
    int columns = (int)strcspn(line, "\n");
    const char *gap = strstr(line, "   ");
    if (gap != NULL && gap - line < columns) {
        columns = (int)(gap - line);
    }
    return cli_fail(cli, EXIT_USAGE, "an argument is missing: %.*s; see %.*s --help", columns, line,
                    name_columns(usage), usage);
}

int cli_parse(Cli *cli, const char *usage, OptionTable table, int argc, char **argv,
              size_t words_min, size_t words_max, OptionList *words) {
    Option global[CLI_GLOBAL_OPTIONS];
    cli_global_options(cli, global);
    OptionTable tables[2] = {table, {global, CLI_GLOBAL_OPTIONS}};
    char message[256];
    if (options_parse(tables, 2, argc, argv, false, words, message, sizeof(message)) < 0) {
        return cli_fail(cli, EXIT_USAGE, "%s; see %.*s --help", message, name_columns(usage),
                        usage);
    }
    if (cli->help) {
        const char *examples = strstr(usage, "\nExamples:\n");
        char *about = memory_copy(usage);
        about[examples - usage] = '\0';
        fold_page(about);
        free(about);
        if (table.count > 0) {
            puts("\nOptions:");
            options_print(table);
        }
        puts("\nEverywhere:");
        options_print(tables[1]);
        fold_page(examples);
        return EXIT_DONE;
    }
    if (words->count < words_min) {
        return fail_missing(cli, usage);
    }
    if (words->count > words_max) {
        return cli_fail(cli, EXIT_USAGE, "what is \"%s\" for? See %.*s --help",
                        words->item[words_max], name_columns(usage), usage);
    }
    return EXIT_DONE;
}

static void warn_of_mode(const char *file, FILE *stream) {
    struct stat info;
    if (fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode) &&
        (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        fprintf(stderr,
                "moreau: warning: others may use the token file %s (mode %04o): chmod 600 %s\n",
                file, (unsigned)(info.st_mode & 07777), file);
    }
}

// Leaves the first line, without the white space around it.
static void trim_token(char *line) {
    line[strcspn(line, "\n")] = '\0';
    size_t first = strspn(line, " \t\r"), count = strlen(line);
    while (count > first && isspace((unsigned char)line[count - 1])) {
        count--;
    }
    memmove(line, line + first, count - first);
    line[count - first] = '\0';
}

// The token in the file's first line; NULL, with a sentence in `error`, when there is none.
static char *load_token(const char *file, MoreauError *error) {
    FILE *stream = fopen(file, "rb");
    if (stream == NULL) {
        snprintf(error->message, sizeof(error->message), "cannot read the token file %s: %s", file,
                 strerror(errno));
        return NULL;
    }
    char *token = memory_take(TOKEN_LINE_BYTES_MAX, 1);
    size_t count = fread(token, 1, TOKEN_LINE_BYTES_MAX - 1, stream);
    token[count] = '\0';
    warn_of_mode(file, stream);
    fclose(stream);
    trim_token(token);
    size_t bytes = strlen(token);
    if (bytes > 0 && bytes <= TOKEN_BYTES_MAX) {
        return token;
    }
    free(token);
    if (bytes == 0) {
        snprintf(error->message, sizeof(error->message),
                 "the token file %s has no token in its first line", file);
    } else {
        snprintf(error->message, sizeof(error->message),
                 "the token file %s holds a token of %zu bytes; a token has at most %d", file,
                 bytes, TOKEN_BYTES_MAX);
    }
    return NULL;
}

static const char *given(const char *name) {
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

// What nobody says is taken from where the address may have come from, the environment.
static void set_trust(const Cli *cli, MoreauOptions *options) {
    options->tls_ca = cli->tls_ca;
    options->tls_fingerprint = cli->tls_fingerprint;
    options->tls_cert = cli->tls_cert;
    options->tls_key = cli->tls_key;
    const bool says = cli->tls_ca != NULL || cli->tls_fingerprint != NULL ||
                      cli->tls_cert != NULL || cli->tls_key != NULL;
    if (!says && strncmp(cli->server, "tls://", strlen("tls://")) == 0) {
        options->tls_ca = given("MOREAU_TLS_CA");
        options->tls_fingerprint = given("MOREAU_TLS_FINGERPRINT");
        options->tls_cert = given("MOREAU_TLS_CERT");
        options->tls_key = given("MOREAU_TLS_KEY");
    }
}

int cli_try_connect(Cli *cli, MoreauError *error) {
    *error = (MoreauError){0};
    if (cli->client != NULL) {
        return EXIT_DONE;
    }
    MoreauOptions options = moreau_options_default();
    options.client_name = "moreau";
    set_trust(cli, &options);
    options.reconnect.attempts = cli->reconnect_attempts;
    if (cli->connect_timeout_ms > 0) {
        options.connect_timeout_ms = cli->connect_timeout_ms;
    }
    char *token = NULL;
    if (cli->token_file != NULL) {
        token = load_token(cli->token_file, error);
        if (token == NULL) {
            return EXIT_USAGE;
        }
        options.token = token;
    }
    MoreauStatus status = moreau_connect(cli->server, &options, &cli->client, error);
    free(token);
    if (status == MOREAU_OK) {
        return EXIT_DONE;
    }
    if (error->from_server) {
        return EXIT_REFUSED;
    }
    return status == MOREAU_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_NO_CONNECTION;
}

int cli_connect(Cli *cli) {
    MoreauError error;
    int status = cli_try_connect(cli, &error);
    if (status == EXIT_DONE) {
        return EXIT_DONE;
    }
    keep_refusal(cli, &error);
    return cli_fail(cli, status, "%s", error.message);
}

int cli_load(Cli *cli, JsonText *json, const char *file) {
    JsonError error;
    if (json_text_load(json, file, &error)) {
        return EXIT_DONE;
    }
    return cli_fail(cli, error.is_unreadable ? EXIT_USAGE : EXIT_REFUSED, "%s", error.message);
}

static void *pack_request(const Moreau__V1__Request *request, size_t *count) {
    *count = moreau__v1__request__get_packed_size(request);
    uint8_t *bytes = memory_take(*count, 1);
    moreau__v1__request__pack(request, bytes);
    return bytes;
}

Moreau__V1__Reply *cli_unpack(const MoreauReply *reply) {
    // the client has unpacked the same bytes before
    size_t count;
    const void *body = moreau_reply_bytes(reply, &count);
    return memory_must(moreau__v1__reply__unpack(NULL, count, body));
}

// Hands out the answer (Nullable) of a call that went as cli->error says.
static int finish_call(const Cli *cli, MoreauReply *answer, Moreau__V1__Reply **reply) {
    if (answer == NULL) {
        return moreau_is_connected(cli->client) ? EXIT_REFUSED : EXIT_NO_CONNECTION;
    }
    *reply = cli_unpack(answer);
    if (!cli->json && !cli->is_verbatim) {
        shown_message(&(*reply)->base);
    }
    moreau_reply_free(answer);
    return cli->error.status == MOREAU_OK ? EXIT_DONE : EXIT_REFUSED;
}

int cli_call(Cli *cli, Moreau__V1__Request *request, Moreau__V1__Reply **reply) {
    *reply = NULL;
    size_t count;
    void *bytes = pack_request(request, &count);
    MoreauReply *answer;
    moreau_call(cli->client, bytes, count, &answer);
    cli->error = *moreau_error(cli->client);
    free(bytes);
    return finish_call(cli, answer, reply);
}

// The next answer to what was submitted; NULL, with the reason in cli->error, when the connection
// is lost. Asks for the end of request `id` once when Ctrl-C is pressed meanwhile.
static MoreauReply *await_answer(Cli *cli, uint64_t id, bool *is_cancelled) {
    MoreauReply *answer;
    for (;;) {
        MoreauStatus status = moreau_receive(cli->client, LISTEN_MS, &answer);
        if (status == MOREAU_OK) {
            return answer;
        }
        if (!moreau_is_connected(cli->client)) {
            cli->error = *moreau_error(cli->client);
            return NULL;
        }
        if (interrupt_wanted() && !*is_cancelled) {
            *is_cancelled = true;
            moreau_cancel(cli->client, id, NULL);
        }
    }
}

int cli_call_events(Cli *cli, Moreau__V1__Request *request, MoreauEventProc *proc, void *context,
                    Moreau__V1__Reply **reply) {
    *reply = NULL;
    size_t count;
    void *bytes = pack_request(request, &count);
    uint64_t id;
    MoreauStatus status = moreau_submit(cli->client, bytes, count, &id);
    cli->error = *moreau_error(cli->client);
    free(bytes);
    MoreauReply *answer = NULL;
    bool is_cancelled = false;
    while (status == MOREAU_OK && (answer = await_answer(cli, id, &is_cancelled)) != NULL &&
           moreau_reply_is_event(answer)) {
        // what was on its way when the call was cancelled is not shown any more
        if (!is_cancelled && (!proc(context, answer) || interrupt_wanted())) {
            is_cancelled = true;
            moreau_cancel(cli->client, id, NULL);
        }
        moreau_reply_free(answer);
        answer = NULL;
    }
    if (answer != NULL) {
        moreau_reply_status(answer, &cli->error);
    }
    return finish_call(cli, answer, reply);
}

// The part of the server's field path that lies inside the document; NULL when the field is
// elsewhere.
static const char *path_in_source(const char *field, const char *prefix) {
    size_t count = strlen(prefix);
    if (count == 0) {
        return field;
    }
    bool is_inside =
        strncmp(field, prefix, count) == 0 && (field[count] == '.' || field[count] == '[');
    return is_inside ? field + count + (field[count] == '.') : NULL;
}

// Servers may start a sentence with the path that is printed anyway.
static const char *skip_path(const char *message, const char *path) {
    size_t count = strlen(path);
    return strncmp(message, path, count) == 0 && strncmp(message + count, ": ", 2) == 0
               ? message + count + 2
               : message;
}

// What people typed for a field that the server blames; "": nothing that is known. Writes into
// `shown`, returns it.
static const char *typed_for(const Cli *cli, const char *field, char shown[SHOWN_BYTES]) {
    shown[0] = '\0';
    for (const CliField *each = cli->fields; each != NULL && each->field != NULL; each++) {
        if (strcmp(field, each->field) == 0 || path_in_source(field, each->field) != NULL) {
            const char *last = strrchr(field, '.');
            bool is_open = each->shown[strlen(each->shown) - 1] == ' ';
            snprintf(shown, SHOWN_BYTES, "%s%s", each->shown,
                     is_open && last != NULL ? last + 1 : "");
            break;
        }
    }
    return shown;
}

int cli_report_refusal(Cli *cli, const JsonText *source, const char *prefix) {
    const MoreauError *error = &cli->error;
    keep_refusal(cli, error);
    int status =
        moreau_is_connected(cli->client) || error->from_server ? EXIT_REFUSED : EXIT_NO_CONNECTION;
    const char *field = error->field;
    const char *message = skip_path(error->message, field);
    char shown[SHOWN_BYTES];
    if (field[0] == '\0') {
        return cli_fail(cli, status, "%s", error->message);
    }
    if (typed_for(cli, field, shown)[0] != '\0') {
        return cli_fail(cli, status, "%s: %s", shown, message);
    }
    const char *path = source != NULL ? path_in_source(field, prefix) : NULL;
    if (path == NULL) {
        return cli_fail(cli, status, "%s: %s", field, message);
    }
    JsonError located;
    json_text_refuse(source, path, &located, "%s", skip_path(error->message, path));
    return cli_fail(cli, status, "%s", located.message);
}

int cli_report_failure(Cli *cli) {
    cli->error = *moreau_error(cli->client);
    return cli_report_refusal(cli, NULL, "");
}
