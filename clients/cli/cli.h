// SPDX-License-Identifier: MIT
// The tool `moreau`: what all commands share. A command is a row of a table (main.c), parses its
// own options, and returns an exit status. Errors are one sentence on standard error. With --json
// standard output holds one JSON document and nothing else, also after an error: then it has a key
// "error", beside what there was to report, or alone.
#pragma once

#include "cli/json/text.h"
#include "cli/json/write.h"
#include "cli/base/options.h"

#include "moreau.h"
#include "moreau.pb-c.h"

#include <stdbool.h>

typedef enum ExitStatus {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1, // the server, or the input
    EXIT_USAGE = 2,
    EXIT_NO_CONNECTION = 3,
    EXIT_DIFFERENT = 4,   // verify: what is stored is not what the steps give
    EXIT_UNCONVERGED = 5, // run --require-converged: a step did not reach its tolerance
} ExitStatus;

// What people typed for a field of a call: {"first", "--from"}. `field` may be followed by further
// parts of the path; where `shown` ends in a space, the last part follows it.
typedef struct CliField {
    const char *field, *shown;
} CliField;

enum { CLI_FAILURE_BYTES = 2048 };

typedef struct Cli {
    const char *server;     // address; default 127.0.0.1:7667, or MOREAU_SERVER
    const char *token_file; // Nullable
    const char *tls_ca, *tls_fingerprint, *tls_cert, *tls_key; // Nullable
    bool json;
    bool help;
    bool is_verbatim;    // replies keep what a terminal would obey: they are written as data
    const char *program; // argv[0]
    unsigned reconnect_attempts; // of cli_connect's client, after a loss; default 0: none
    int connect_timeout_ms;      // of the same; default 0: the library's
    const CliField *fields;      // borrowed, ended by NULL; Nullable: fields go by their own names
    MoreauClient *client;        // owned; NULL until cli_connect
    MoreauError error;           // of the last call through cli_call
    const char *about;           // Nullable: what cli_fail says first, as one solver of several
    char failure[CLI_FAILURE_BYTES]; // the first sentence of cli_fail; "": none
    MoreauError refusal;             // what it is about; from_server: the server said so
    bool has_printed;                // the one document of --json
    int output_error; // errno of the first write to standard output that failed; 0: none
} Cli;

typedef struct CliCommand {
    const char *name;
    const char *arguments; // as shown behind the name
    const char *meaning;
    int (*run)(Cli *cli, int argc, char **argv);
} CliCommand;

// Options that every command takes.
enum { CLI_GLOBAL_OPTIONS = 8 };
void cli_global_options(Cli *cli, Option options[CLI_GLOBAL_OPTIONS]);

// Parses a command's arguments by its own table and the global ones. Between `words_min` and
// `words_max` positional arguments are wanted. EXIT_DONE to go on; anything else is to be returned
// (help was printed when cli->help is set). `usage` begins with "moreau <command>: " and what it
// is; after an empty line come lines that show how it is written. At its end stand "Examples:",
// which are printed behind the options.
int cli_parse(Cli *cli, const char *usage, OptionTable table, int argc, char **argv,
              size_t words_min, size_t words_max, OptionList *words);

// Connects once. EXIT_DONE, or the exit status after a sentence on standard error.
int cli_connect(Cli *cli);

// The same without a word: the sentence is in `error`.
int cli_try_connect(Cli *cli, MoreauError *error);

// Loads a document; an unreadable file is a usage error, a wrong text is refused. Says so on
// standard error.
int cli_load(Cli *cli, JsonText *json, const char *file);

// Sends a call and unpacks the answer, which is the caller's to free (*reply is NULL when none
// came). EXIT_REFUSED for a status other than OK; nothing is printed then: cli_report_refusal or
// cli_report_error does.
int cli_call(Cli *cli, Moreau__V1__Request *request, Moreau__V1__Reply **reply);

// The same for calls that are answered by events first, each of which is handed to `proc` and is
// borrowed until it returns; false: no more, please. That, and Ctrl-C where interrupt_catch was
// called, cancels the call, which is then answered with status CANCELLED, unless it was done.
int cli_call_events(Cli *cli, Moreau__V1__Request *request, MoreauEventProc *proc, void *context,
                    Moreau__V1__Reply **reply);

// The message of an event, to be freed with moreau__v1__reply__free_unpacked; never NULL.
Moreau__V1__Reply *cli_unpack(const MoreauReply *reply);

// One sentence on standard error about the last failure of cli_call. `source` (Nullable) is the
// document that the call was made of: a field that the server blames is shown with its line, unless
// cli->fields says which option it came from; `prefix` is the path of the document inside the call,
// as "scene".
int cli_report_refusal(Cli *cli, const JsonText *source, const char *prefix);

// The same for a failed call of libmoreau.
int cli_report_failure(Cli *cli);

// "moreau: <sentence>", returns `status`.
int cli_fail(Cli *cli, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Prints the document of --json, with the error if there was one, and lets go of it.
void cli_print(Cli *cli, json_t *document);

// One document of a stream, on a line of its own, which is let go of. false: it cannot be written,
// and nobody will read on. The last one of a stream is printed as cli_print does it.
bool cli_print_line(Cli *cli, json_t *document);
void cli_print_last(Cli *cli, json_t *document);

// Hands to the system what was printed; false when that fails, which cli_finish will say.
bool cli_flush(Cli *cli);

// The end of a command that returned `status`: a document for an error that has none, and the
// connection. Returns the exit status, which is another when the output was lost.
int cli_finish(Cli *cli, int status);

// The commands, each in command_<name>.c.
int command_run(Cli *cli, int argc, char **argv);
int command_solve(Cli *cli, int argc, char **argv);
int command_call(Cli *cli, int argc, char **argv);
int command_worlds(Cli *cli, int argc, char **argv);
int command_episodes(Cli *cli, int argc, char **argv);
int command_replay(Cli *cli, int argc, char **argv);
int command_verify(Cli *cli, int argc, char **argv);
int command_fork(Cli *cli, int argc, char **argv);
int command_compare(Cli *cli, int argc, char **argv);
int command_export(Cli *cli, int argc, char **argv);
int command_snapshot(Cli *cli, int argc, char **argv);
int command_scene(Cli *cli, int argc, char **argv);
int command_token(Cli *cli, int argc, char **argv);
int command_top(Cli *cli, int argc, char **argv);
int command_demo(Cli *cli, int argc, char **argv);
int command_view(Cli *cli, int argc, char **argv);
int command_shot(Cli *cli, int argc, char **argv);
int command_backup(Cli *cli, int argc, char **argv);
int command_bench(Cli *cli, int argc, char **argv);
