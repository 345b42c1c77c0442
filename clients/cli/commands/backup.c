// SPDX-License-Identifier: MIT
// moreau backup: a sound copy of the file of episodes, made while the server serves.
#include "cli/cli.h"

#include "cli/base/interrupt.h"
#include "cli/text/terminal.h"

#include <stdio.h>

static const char usage[] =
    "moreau backup: a sound copy of the server's file of episodes, while it serves\n"
    "\n"
    "  moreau backup NAME [options]\n"
    "\n"
    "NAME is a plain file name; the copy lies in the folder that the server was\n"
    "started with as --backup-dir, and a server can be started with it as --db.\n"
    "\n"
    "Examples:\n"
    "  moreau backup nightly.db --overwrite\n"
    "  moreau backup \"$(date +%F).db\" --json\n";

static const CliField typed[] = {{"name", "NAME"}, {"overwrite", "--overwrite"}, {NULL, NULL}};

typedef struct BackingUp {
    Progress progress;
    uint64_t bytes_done, bytes_total;
} BackingUp;

static bool show_progress(void *context, const MoreauReply *event) {
    BackingUp *backing = context;
    Moreau__V1__Reply *message = cli_unpack(event);
    if (message->result_case == MOREAU__V1__REPLY__RESULT_BACKUP_PROGRESS) {
        backing->bytes_done = message->backup_progress->bytes_done;
        backing->bytes_total = message->backup_progress->bytes_total;
        progress_show_bytes(&backing->progress, backing->bytes_done, backing->bytes_total);
    }
    moreau__v1__reply__free_unpacked(message, NULL);
    return true;
}

static int conclude(Cli *cli, int status, const Moreau__V1__Reply *reply) {
    if (status != EXIT_DONE && cli->error.status == MOREAU_CANCELLED) {
        return cli_fail(cli, EXIT_REFUSED, "stopped: there is no backup");
    }
    if (status != EXIT_DONE) {
        return cli_report_refusal(cli, NULL, "");
    }
    if (reply->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_BACKUP) {
        return cli_fail(cli, EXIT_REFUSED, "the server's answer holds no backup");
    }
    const Moreau__V1__EpisodeBackupReply *result = reply->episode_backup;
    if (cli->json) {
        cli_print(cli, json_write_ours(&result->base));
    } else {
        char text[2][32];
        printf("%sbacked up%s: %s, %s in %s\n", terminal_style(stdout, STYLE_GOOD),
               terminal_style(stdout, STYLE_PLAIN), result->name,
               format_bytes(result->bytes, text[0]), format_seconds(result->seconds, text[1]));
    }
    return EXIT_DONE;
}

int command_backup(Cli *cli, int argc, char **argv) {
    bool overwrite = false;
    const Option table[] = {
        {"--overwrite", OPTION_FLAG, &overwrite, NULL, "replace a file of that name"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help || (status = cli_connect(cli)) != EXIT_DONE) {
        return status;
    }
    cli->fields = typed;
    Moreau__V1__EpisodeBackup backup = MOREAU__V1__EPISODE_BACKUP__INIT;
    backup.name = (char *)words.item[0];
    backup.has_overwrite = overwrite;
    backup.overwrite = overwrite;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_BACKUP;
    request.episode_backup = &backup;
    BackingUp backing = {0};
    interrupt_catch();
    progress_start(&backing.progress);
    Moreau__V1__Reply *reply;
    status = cli_call_events(cli, &request, show_progress, &backing, &reply);
    progress_stop(&backing.progress);
    status = conclude(cli, status, reply);
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}
