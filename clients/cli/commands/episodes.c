// SPDX-License-Identifier: MIT
// moreau episodes: what was recorded.
#include "cli/cli.h"

#include "access/seal_key.h"
#include "base/hex.h"
#include "cli/episodes/episode_text.h"
#include "cli/json/read.h"
#include "cli/json/write.h"
#include "cli/text/fold.h"
#include "cli/text/terminal.h"
#include "cli/episodes/touch_text.h"
#include "cli/text/when.h"
#include "cli/episodes/where.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau episodes: what was recorded\n"
    "\n"
    "  moreau episodes [options]            a table, the newest first\n"
    "  moreau episodes EPISODE              everything about one\n"
    "  moreau episodes EPISODE --touches    which bodies touched in it, and how hard:\n"
    "                                       of one without --events its steps are\n"
    "                                       taken again\n"
    "  moreau episodes EPISODE --pin        no rule of retention deletes it, nor\n"
    "                                       --delete; --unpin: not any more\n"
    "  moreau episodes --delete EPISODE     remove one\n"
    "\n"
    "EPISODE is an id, its first digits (at least 4), or a name that only one has.\n"
    "WHEN is 2026-11-21, \"2026-11-21 14:05\" (local time), or how long ago: 90s,\n"
    "15min, 2h, 3d.\n"
    "CONDITION is some of these, with \"and\" between them; BODY is a name, in quotes\n"
    "where it has blanks, or # and an id:\n"
    "  contact between BODY and BODY        they touched; also: contact of BODY\n"
    "  contact ... after STEP before STEP   and that began between these steps\n"
    "  contact ... faster than SPEED        and they met faster than that [m/s]\n"
    "  impact of BODY > IMPULSE             it was hit harder in a step [N s]; also:\n"
    "                                       between BODY and BODY\n"
    "  unconverged, launched, broken        it has steps in which that happened\n"
    "  name ~ TEXT, label = TEXT, solver = TEXT, client = TEXT, state = STATE\n"
    "Contacts and impacts are known of episodes recorded with --events.\n"
    "\n"
    "--rank doubtful lists episodes of groups that were made with an opinion, those\n"
    "first that earned most of their return in steps with bad certificates.\n"
    "\n"
    "Examples:\n"
    "  moreau episodes --label night --since 2h\n"
    "  moreau episodes demo\n"
    "  moreau episodes --where 'contact between ball and cup and unconverged'\n"
    "  moreau episodes --json --limit 1 | jq -r '.[0].episode'\n";

enum { PAGE_ROWS = 1000, ROWS_DEFAULT = 100 };
// of each kind: what a server gives at most, and what a screen holds
enum { HIGHLIGHTS_ALL = 10000, HIGHLIGHTS_SHOWN = 5 };

static const CliField typed[] = {
    {"episode", "EPISODE"},       {"name", "--name"},     {"label", "--label"},
    {"solver", "--solver"},       {"client", "--client"}, {"since", "--since"},
    {"recording", "--recording"}, {"touches", "--where"}, {NULL, NULL}};

typedef struct EpisodeOptions {
    const char *name, *label, *solver, *client, *state, *since, *recording, *where, *rank, *removed;
    bool pins, unpins, touches;
    uint64_t limit;
} EpisodeOptions;

// The options as the call has them. `where` is freed in any case.
static int fill_list(Cli *cli, const EpisodeOptions *options, Where *where,
                     Moreau__V1__EpisodeList *list) {
    list->name = (char *)options->name;
    list->label = (char *)options->label;
    list->solver = (char *)options->solver;
    list->client = (char *)options->client;
    list->recording = (char *)options->recording;
    if (options->state != NULL) {
        const ProtobufCEnumValue *state =
            json_find_enum(&moreau__v1__episode__state__descriptor, options->state);
        if (state == NULL) {
            return cli_fail(cli, EXIT_USAGE,
                            "--state %s: an episode is recording, complete, world_destroyed or "
                            "interrupted",
                            options->state);
        }
        list->has_state = 1;
        list->state = (Moreau__V1__Episode__State)state->value;
    }
    if (options->rank != NULL) {
        const ProtobufCEnumValue *rank =
            json_find_enum(&moreau__v1__episode__rank__descriptor, options->rank);
        if (rank == NULL) {
            return cli_fail(cli, EXIT_USAGE, "--rank %s: newest, or doubtful", options->rank);
        }
        list->has_rank = 1;
        list->rank = (Moreau__V1__Episode__Rank)rank->value;
    }
    if (options->since != NULL) {
        list->has_since = 1;
        if (!when_parse(options->since, when_now(), &list->since)) {
            return cli_fail(cli, EXIT_USAGE,
                            "--since %s: give a date, as 2026-11-21 or \"2026-11-21 14:05\", or "
                            "how long ago, as 15min, 2h or 3d",
                            options->since);
        }
    }
    char message[WHERE_MESSAGE_BYTES];
    if (options->where != NULL && !where_parse(options->where, where, list, message)) {
        return cli_fail(cli, EXIT_USAGE, "--where, %s", message);
    }
    return EXIT_DONE;
}

// Asks for one page; NULL, after a sentence, when it is refused.
static Moreau__V1__Reply *fetch_page(Cli *cli, Moreau__V1__EpisodeList *list, int *status) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_LIST;
    request.episode_list = list;
    Moreau__V1__Reply *reply;
    *status = cli_call(cli, &request, &reply);
    if (*status != EXIT_DONE) {
        *status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_LIST) {
        *status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no list of episodes");
    } else {
        return reply;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return NULL;
}

static void print_count(const Moreau__V1__EpisodeListReply *page, uint64_t limit, bool is_ranked) {
    const uint64_t total = page->total;
    char text[2][32];
    fold_printf("%s%s episode%s%s", terminal_style(stdout, STYLE_BOLD),
                format_count(total, text[0]), plural(total), terminal_style(stdout, STYLE_PLAIN));
    if (total > limit) {
        fold_printf("; the %s %s (--limit N shows more)", is_ranked ? "first" : "newest",
                    format_count(limit, text[1]));
    }
    fold_printf("\n");
    if (page->unknown > 0) {
        fold_printf("%s more %s recorded without --events: whether these touched nobody noted\n",
                    format_count(page->unknown, text[0]), page->unknown == 1 ? "was" : "were");
    }
    if (total > 0) {
        episode_print_head();
    }
}

// Prints the rows, or collects them in `rows` (Nullable).
static void show_page(const Moreau__V1__EpisodeListReply *page, bool is_last, json_t *rows) {
    for (size_t i = 0; i < page->n_episodes; i++) {
        if (rows != NULL) {
            json_array_append_new(rows, json_write_ours(&page->episodes[i]->base));
        } else if (page->episodes[i]->damage != NULL) {
            fold_printf("%s\n", page->episodes[i]->damage);
        } else {
            episode_print_row(page->episodes[i]);
        }
    }
    if (rows == NULL && is_last && page->n_episodes > 0 && page->episodes[0]->damage == NULL) {
        fold_printf("\n");
        episode_print_look(page->episodes[0], UINT64_MAX);
    }
}

static int show_pages(Cli *cli, Moreau__V1__EpisodeList *asked, uint64_t limit) {
    Moreau__V1__EpisodeList list = *asked;
    int status = cli_connect(cli);
    if (status != EXIT_DONE) {
        return status;
    }
    const bool is_ranked = list.rank == MOREAU__V1__EPISODE__RANK__DOUBTFUL;
    json_t *rows = cli->json ? json_array() : NULL;
    list.has_first = list.has_count = 1;
    uint64_t got, total;
    bool is_last;
    do {
        uint64_t left = limit - list.first;
        list.count = left < PAGE_ROWS ? left : PAGE_ROWS;
        Moreau__V1__Reply *reply = fetch_page(cli, &list, &status);
        if (reply == NULL) {
            json_decref(rows);
            return status;
        }
        if (list.first == 0 && rows == NULL) {
            print_count(reply->episode_list, limit, is_ranked);
        }
        got = reply->episode_list->n_episodes;
        total = reply->episode_list->total;
        list.first += got;
        is_last = got == 0 || list.first >= limit || list.first >= total;
        show_page(reply->episode_list, is_last, rows);
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (!is_last);
    if (rows != NULL) {
        cli_print(cli, rows);
    }
    return EXIT_DONE;
}

static int show_list(Cli *cli, const EpisodeOptions *options) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    Where where = {0};
    int status = fill_list(cli, options, &where, &list);
    if (status == EXIT_DONE) {
        status = show_pages(cli, &list, options->limit > 0 ? options->limit : ROWS_DEFAULT);
    }
    where_free(&where);
    return status;
}

static int show_touches(Cli *cli, const char *name, const EpisodeOptions *options) {
    int status = cli_connect(cli);
    return status != EXIT_DONE
               ? status
               : touches_show(cli, name, options->limit > 0 ? options->limit : ROWS_DEFAULT);
}

static json_t *write_one(const Moreau__V1__EpisodeDescribeReply *reply) {
    json_t *document = json_write_ours(&reply->episode->base), *highlights = json_array();
    for (size_t i = 0; i < reply->n_highlights; i++) {
        json_array_append_new(highlights, json_write_ours(&reply->highlights[i]->base));
    }
    json_object_set_new(document, "highlights", highlights);
    if (reply->signature != NULL) {
        json_object_set_new(document, "signature", json_write_ours(&reply->signature->base));
    }
    return document;
}

// Nullable: nobody.
static void print_signature(const Moreau__V1__EpisodeSignature *signature) {
    char key[SEAL_PUBLIC_TEXT_BYTES];
    if (signature == NULL || signature->key.len != SEAL_PUBLIC_BYTES) {
        return;
    }
    hex_text(signature->key.data, SEAL_PUBLIC_BYTES, key);
    fold_printf("  signed       %s step %" PRIu64 " by %s, so the file says: moreau verify "
                "--seal-pub looks whether that is so\n",
                signature->how == MOREAU__V1__EPISODE_SIGNATURE__HOW__FOUND  ? "as it was found, to"
                : signature->how == MOREAU__V1__EPISODE_SIGNATURE__HOW__LAST ? "to its end,"
                                                                             : "up to",
                signature->step, key);
}

static int show_one(Cli *cli, const char *name) {
    Moreau__V1__Reply *reply;
    int status = cli_connect(cli);
    uint64_t highlights = cli->json ? HIGHLIGHTS_ALL : HIGHLIGHTS_SHOWN;
    if (status != EXIT_DONE ||
        (status = episode_describe(cli, name, highlights, &reply)) != EXIT_DONE) {
        return status;
    }
    if (cli->json) {
        cli_print(cli, write_one(reply->episode_describe));
    } else {
        episode_print(reply->episode_describe->episode);
        print_signature(reply->episode_describe->signature);
        episode_print_launch(reply->episode_describe);
        episode_print_broken(reply->episode_describe);
        episode_print_open(reply->episode_describe);
        episode_print_look(reply->episode_describe->episode, UINT64_MAX);
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
    return EXIT_DONE;
}

// Says what is gone, which is known only before.
static int remove_one(Cli *cli, const char *name) {
    Moreau__V1__Reply *reply;
    int status = cli_connect(cli);
    if (status != EXIT_DONE || (status = episode_describe(cli, name, 0, &reply)) != EXIT_DONE) {
        return status;
    }
    const Moreau__V1__EpisodeInfo *episode = reply->episode_describe->episode;
    if (moreau_episode_delete(cli->client, episode->episode) != MOREAU_OK) {
        status = cli_report_failure(cli);
    } else if (cli->json) {
        cli_print(cli, json_write_ours(&episode->base));
    } else {
        char id[EPISODE_SHORT_BYTES];
        char text[32];
        episode_short(episode, id);
        fold_printf("deleted episode %s %s, %s\n", id, episode_name(episode),
                    format_bytes(episode->bytes, text));
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
    return status;
}

static int pin_one(Cli *cli, const char *name, bool pinned) {
    Moreau__V1__Reply *reply;
    int status = cli_connect(cli);
    if (status != EXIT_DONE || (status = episode_describe(cli, name, 0, &reply)) != EXIT_DONE) {
        return status;
    }
    Moreau__V1__EpisodeInfo *episode = reply->episode_describe->episode;
    episode->pinned = pinned; // when all goes well
    if (moreau_episode_pin(cli->client, episode->episode, pinned) != MOREAU_OK) {
        status = cli_report_failure(cli);
    } else if (cli->json) {
        cli_print(cli, json_write_ours(&episode->base));
    } else {
        char id[EPISODE_SHORT_BYTES];
        episode_short(episode, id);
        fold_printf("%s episode %s %s\n", pinned ? "pinned" : "unpinned", id,
                    episode_name(episode));
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
    return status;
}

static int check_words(Cli *cli, const EpisodeOptions *options, const OptionList *words) {
    bool pins = options->pins || options->unpins;
    if (options->removed != NULL && words->count > 0) {
        return cli_fail(cli, EXIT_USAGE, "--delete takes one episode; what is \"%s\" for?",
                        words->item[0]);
    }
    if ((options->pins && options->unpins) || (pins && options->removed != NULL)) {
        return cli_fail(cli, EXIT_USAGE, "give one of --pin, --unpin and --delete");
    }
    if (pins && words->count == 0) {
        return cli_fail(cli, EXIT_USAGE, "which episode? moreau episodes EPISODE %s",
                        options->pins ? "--pin" : "--unpin");
    }
    return EXIT_DONE;
}

int command_episodes(Cli *cli, int argc, char **argv) {
    EpisodeOptions options = {0};
    const Option table[] = {
        {"--name", OPTION_TEXT, &options.name, "TEXT", "part of the name"},
        {"--label", OPTION_TEXT, &options.label, "LABEL", "one of the labels"},
        {"--solver", OPTION_TEXT, &options.solver, "NAME", "at the start"},
        {"--client", OPTION_TEXT, &options.client, "NAME", "the program that recorded it"},
        {"--state", OPTION_TEXT, &options.state, "STATE",
         "recording, complete, world_destroyed, ..."},
        {"--since", OPTION_TEXT, &options.since, "WHEN", "begun then or later"},
        {"--recording", OPTION_TEXT, &options.recording, "ID",
         "of a group: the id of any of its episodes"},
        {"--where", OPTION_TEXT, &options.where, "CONDITION", "what happened in it"},
        {"--rank", OPTION_TEXT, &options.rank, "ORDER",
         "newest; doubtful: return earned in bad steps"},
        {"--touches", OPTION_FLAG, &options.touches, NULL, "of EPISODE: which bodies touched"},
        {"--limit", OPTION_COUNT, &options.limit, "N", "at most so many rows; default 100"},
        {"--pin", OPTION_FLAG, &options.pins, NULL, "keep it"},
        {"--unpin", OPTION_FLAG, &options.unpins, NULL, "let it go again"},
        {"--delete", OPTION_TEXT, &options.removed, "EPISODE", "remove it from the file"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 0, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if ((status = check_words(cli, &options, &words)) != EXIT_DONE) {
        return status;
    }
    if (options.touches && (words.count == 0 || options.removed != NULL)) {
        return cli_fail(cli, EXIT_USAGE, "--touches is about one episode: name it");
    }
    cli->fields = typed;
    if (options.removed != NULL) {
        return remove_one(cli, options.removed);
    }
    if (options.pins || options.unpins) {
        return pin_one(cli, words.item[0], options.pins);
    }
    if (options.touches) {
        return show_touches(cli, words.item[0], &options);
    }
    return words.count > 0 ? show_one(cli, words.item[0]) : show_list(cli, &options);
}
