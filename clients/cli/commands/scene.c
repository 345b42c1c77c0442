// SPDX-License-Identifier: MIT
// moreau scene: a world as a scene file.
#include "cli/cli.h"

#include "cli/json/write.h"
#include "cli/worlds/find.h"

static const char usage[] =
    "moreau scene: what a world is now, as a scene file\n"
    "\n"
    "  moreau scene WORLD > FILE.json\n"
    "\n"
    "WORLD is an id or a name. moreau run FILE.json goes on from there, with all\n"
    "bodies, shapes, materials, joints and settings, but at step 0, and without the\n"
    "impulses that a step starts from; moreau snapshot keeps those, too.\n"
    "\n"
    "Examples:\n"
    "  moreau scene falling > there.json\n"
    "  moreau scene 1 | jq '.materials[].friction'\n"
    "  moreau scene robot | jq '.joints[] | {name, kind, low, high}'\n";

int command_scene(Cli *cli, int argc, char **argv) {
    cli->is_verbatim = true;
    OptionList words = {0};
    Moreau__V1__WorldScene call = MOREAU__V1__WORLD_SCENE__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__Reply *reply;
    int status = cli_parse(cli, usage, (OptionTable){NULL, 0}, argc, argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help || (status = cli_connect(cli)) != EXIT_DONE ||
        (status = world_find_id(cli, words.item[0], false, &call.world)) != EXIT_DONE) {
        return status;
    }
    call.has_world = 1;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_SCENE;
    request.world_scene = &call;
    status = cli_call(cli, &request, &reply);
    if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_WORLD_SCENE ||
               reply->world_scene->scene == NULL) {
        status = cli_fail(cli, EXIT_REFUSED, "the server's answer has no scene");
    } else {
        cli_print(cli, json_write_message(&reply->world_scene->scene->base));
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}
