// SPDX-License-Identifier: MIT
// moreau: the command-line tool. Finds the command in the table below and hands over.
#include "cli/cli.h"

#include "cli/text/fold.h"
#include "cli/text/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const CliCommand commands[] = {
    {"demo", "", "something to look at, from nothing", command_demo},
    {"run", "SCENE.json", "play a scene: step it, show progress, report", command_run},
    {"solve", "PROBLEM.json", "solve one contact problem, or save a world's", command_solve},
    {"call", "METHOD '{json}'", "any call of the protocol", command_call},
    {"episodes", "[EPISODE]", "what was recorded", command_episodes},
    {"replay", "EPISODE", "what happened in an episode, frame by frame", command_replay},
    {"verify", "EPISODE", "step an episode again and compare every bit", command_verify},
    {"fork", "EPISODE", "a live world of what was there at a step", command_fork},
    {"compare", "EPISODE", "its inputs again, under other solvers", command_compare},
    {"export", "EPISODE", "an episode as a page that shows it", command_export},
    {"view", "THING", "the page, open where the thing is", command_view},
    {"shot", "EPISODE", "a picture or a video of an episode", command_shot},
    {"backup", "NAME", "a sound copy of the server's file", command_backup},
    {"snapshot", "take WORLD FILE", "save a world to a file; restore, clone", command_snapshot},
    {"scene", "WORLD", "a world as a scene", command_scene},
    {"worlds", "", "the worlds on the server", command_worlds},
    {"top", "", "a live view of the server", command_top},
    {"token", "new|list|revoke", "who may do what on a server", command_token},
    {"bench", "[NAME]...", "the project's benchmarks", command_bench},
};

static void print_help(OptionTable global) {
    fold_page("moreau: drive a Moreau contact-dynamics server\n\n");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        char left[64];
        snprintf(left, sizeof(left), "moreau %s %s", commands[i].name, commands[i].arguments);
        fold_printf("  %-33s %s\n", left, commands[i].meaning);
    }
    puts("\nEverywhere:");
    options_print(global);
    fold_page("  --version                the version of this tool\n\nWithout --server the address "
              "is MOREAU_SERVER, or 127.0.0.1:7667;\n"
              "at a tls:// address without any --tls- option, MOREAU_TLS_CA, _FINGERPRINT, _CERT\n"
              "and _KEY stand for them.\n"
              "moreau COMMAND --help says more about each.\n"
              "\n"
              "With --json standard output holds one JSON document and nothing else (replay and\n"
              "call print one per line where there are many). Whole numbers are numbers there,\n"
              "but for state hashes, whose 64 bits many readers would cut: they are strings. Only\n"
              "call writes as protobuf does. After an error the document has the key \"error\",\n"
              "beside what there was to report or alone: {\"error\": {\"message\": ...}}, with\n"
              "\"status\" and \"field\" where the server said so.\n"
              "\n"
              "Exit status: 0 done; 1 refused by the server, or a file is wrong; 2 usage; 3 no\n"
              "connection; 4 verify found a difference; 5 a step did not converge (moreau run\n"
              "--require-converged).\n"
              "\n"
              "Examples:\n"
              "  moreau-server --db episodes.db &\n"
              "  moreau run falling.json --steps 720 --record --episode-name demo\n"
              "  moreau replay demo --stride 60\n"
              "  moreau verify demo\n"
              "  moreau call Stats\n");
}

static const CliCommand *find_command(const char *name) {
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int refuse_command(Cli *cli, const char *name) {
    char hint[NEAREST_HINT_BYTES];
    Nearest nearest = {.typed = name};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        nearest_offer(&nearest, commands[i].name);
    }
    return cli_fail(cli, EXIT_USAGE, "there is no command \"%s\"%s; moreau --help shows them", name,
                    nearest_hint(&nearest, hint));
}

// A wrong option before it may have kept --json from being seen.
static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            return true;
        }
    }
    return false;
}

static int dispatch(Cli *cli, int argc, char **argv) {
    Option options[CLI_GLOBAL_OPTIONS + 1];
    bool version = false;
    cli_global_options(cli, options);
    options[CLI_GLOBAL_OPTIONS] = (Option){"--version", OPTION_FLAG, &version, NULL, ""};
    OptionTable table = {options, CLI_GLOBAL_OPTIONS + 1};
    OptionTable global = {options, CLI_GLOBAL_OPTIONS};
    OptionList words = {0};
    char message[256];
    int used = options_parse(&table, 1, argc, argv, true, &words, message, sizeof(message));
    if (used < 0) {
        return cli_fail(cli, EXIT_USAGE, "%s; see moreau --help", message);
    }
    if (version) {
        printf("moreau %s\n", moreau_version());
        return EXIT_DONE;
    }
    if (used == argc) {
        print_help(global);
        return cli->help ? EXIT_DONE : EXIT_USAGE;
    }
    const CliCommand *command = find_command(argv[used]);
    if (command == NULL) {
        return refuse_command(cli, argv[used]);
    }
    return command->run(cli, argc - used - 1, argv + used + 1);
}

int main(int argc, char **argv) {
    const char *server = getenv("MOREAU_SERVER");
    Cli cli = {.server = server != NULL && server[0] != '\0' ? server : "127.0.0.1:7667",
               .program = argc > 0 ? argv[0] : "moreau"};
    int status = dispatch(&cli, argc > 0 ? argc - 1 : 0, argv + 1);
    cli.json = cli.json || (status == EXIT_USAGE && wants_json(argc, argv));
    return cli_finish(&cli, status);
}
