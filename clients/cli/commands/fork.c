// SPDX-License-Identifier: MIT
// moreau fork: a live world that goes on from where an episode was.
#include "cli/cli.h"

#include "cli/text/number.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static const char usage[] =
    "moreau fork: a live world made of what an episode's was behind a step\n"
    "\n"
    "  moreau fork EPISODE [options]\n"
    "\n"
    "The world goes on as it is told to, and its recordings name the episode and the\n"
    "step that they come from. It stays on the server until\n"
    "moreau worlds --destroy WORLD.\n"
    "\n"
    "Examples:\n"
    "  moreau fork demo --at 240\n"
    "  moreau fork 3e9f0a8d --at 1000 --name again\n";

static const CliField typed[] = {
    {"episode", "EPISODE"}, {"step", "--at"}, {"name", "--name"}, {NULL, NULL}};

#define NOT_GIVEN UINT64_MAX

static void print_fork(Cli *cli, const Moreau__V1__EpisodeForkReply *fork) {
    if (cli->json) {
        cli_print(cli,
                  json_pack("{s:o,s:s,s:s,s:o,s:o,s:o,s:o}", "world",
                            number_json_whole(fork->world), "name", fork->name, "parent",
                            fork->parent, "step", number_json_whole(fork->step), "world_step",
                            number_json_whole(fork->world_step), "bodies",
                            number_json_whole(fork->bodies), "hash", number_json_hash(fork->hash)));
        return;
    }
    printf("world %" PRIu64 ", %s: %" PRIu64 " bod%s as behind step %" PRIu64 " of episode %.8s\n",
           fork->world, fork->name, fork->bodies, fork->bodies == 1 ? "y" : "ies", fork->step,
           fork->parent);
}

int command_fork(Cli *cli, int argc, char **argv) {
    uint64_t step = NOT_GIVEN;
    const char *name = NULL;
    const Option table[] = {
        {"--at", OPTION_INDEX, &step, "STEP", "of the episode; default: its last"},
        {"--name", OPTION_TEXT, &name, "NAME", "of the world; default: world-N"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    cli->fields = typed;
    status = cli_connect(cli);
    if (status != EXIT_DONE) {
        return status;
    }
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)words.item[0];
    fork.has_step = step != NOT_GIVEN;
    fork.step = step;
    fork.name = (char *)name;
    fork.has_lifetime = 1;
    fork.lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_FORK;
    request.episode_fork = &fork;
    Moreau__V1__Reply *reply;
    status = cli_call(cli, &request, &reply);
    if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_FORK ||
               reply->episode_fork->name == NULL || reply->episode_fork->parent == NULL) {
        status = cli_fail(cli, EXIT_REFUSED, "the server's answer says nothing of the world");
    } else {
        print_fork(cli, reply->episode_fork);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}
