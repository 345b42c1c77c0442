// SPDX-License-Identifier: MIT
#include "cli/runs/recording.h"

#include "cli/episodes/episode_text.h"
#include "cli/json/read.h"
#include "cli/text/terminal.h"

#include <stdio.h>

// The content that --record asks for; NULL: there is none of that name.
static const ProtobufCEnumValue *find_content(const RecordingOptions *options) {
    const char *name = options->content[0] != '\0' ? options->content : "inputs";
    return json_find_enum(&moreau__v1__episode__content__descriptor, name);
}

int recording_check(Cli *cli, const RecordingOptions *options) {
    if (options->content == NULL) {
        bool is_given = options->name != NULL || options->stride > 0 || options->labels.count > 0 ||
                        options->lossy || options->events;
        return is_given ? cli_fail(cli, EXIT_USAGE,
                                   "--episode-name, --stride, --label, --lossy and --events are "
                                   "about an episode: give --record, too")
                        : EXIT_DONE;
    }
    const ProtobufCEnumValue *content = find_content(options);
    if (content == NULL) {
        return cli_fail(cli, EXIT_USAGE, "--record=%s: record inputs, frames or contacts",
                        options->content);
    }
    if (options->stride > 0 && content->value == MOREAU__V1__EPISODE__CONTENT__INPUTS) {
        return cli_fail(cli, EXIT_USAGE,
                        "--stride is about frames: give --record=frames or "
                        "--record=contacts");
    }
    if (options->lossy && options->events) {
        return cli_fail(cli, EXIT_USAGE,
                        "--events follow from every step, and --lossy may lose some: give one of "
                        "the two");
    }
    return EXIT_DONE;
}

int recording_start(Cli *cli, const RecordingOptions *options, uint64_t world) {
    if (options->content == NULL) {
        return EXIT_DONE;
    }
    static const CliField typed[] = {{"name", "--episode-name"},
                                     {"labels", "--label"},
                                     {"stride", "--stride"},
                                     {"events", "--events"},
                                     {NULL, NULL}};
    cli->fields = typed;
    MoreauRecord record = moreau_record_default();
    record.world = world;
    record.name = options->name;
    record.labels = options->labels.item;
    record.label_count = options->labels.count;
    record.content = (MoreauContent)find_content(options)->value;
    record.stride = options->stride > 0 ? options->stride : 1;
    record.lossy = options->lossy;
    record.events = options->events;
    return moreau_record_start(cli->client, &record, NULL) == MOREAU_OK ? EXIT_DONE
                                                                        : cli_report_failure(cli);
}

int recording_stop(Cli *cli, const RecordingOptions *options, uint64_t world,
                   Moreau__V1__Reply **reply) {
    *reply = NULL;
    if (options->content == NULL || !moreau_is_connected(cli->client)) {
        return EXIT_DONE;
    }
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1;
    stop.world = world;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_STOP;
    request.episode_stop = &stop;
    return episode_ask(cli, &request, reply);
}

void recording_print(const Moreau__V1__EpisodeInfo *episode) {
    char id[EPISODE_SHORT_BYTES];
    episode_short(episode, id);
    printf("\n%sepisode %s%s %s: moreau replay %s, moreau verify %s\n",
           terminal_style(stdout, STYLE_BOLD), id, terminal_style(stdout, STYLE_PLAIN),
           episode_name(episode), id, id);
    episode_print_look(episode, UINT64_MAX);
}
