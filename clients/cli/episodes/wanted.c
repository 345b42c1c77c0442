// SPDX-License-Identifier: MIT
#include "cli/episodes/wanted.h"

#include "cli/text/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wanted_has(const WantedBodies *wanted, uint64_t body) {
    for (size_t i = 0; i < wanted->count; i++) {
        if (wanted->body[i] == body) {
            return true;
        }
    }
    return wanted->count == 0;
}

void wanted_look(WantedBodies *wanted, const MoreauFrame *frame) {
    for (size_t i = 0; i < wanted->count; i++) {
        for (size_t k = 0; k < frame->body_count && !wanted->was_seen[i]; k++) {
            wanted->was_seen[i] = frame->ids[k] == wanted->body[i];
        }
    }
}

int wanted_check_seen(Cli *cli, const WantedBodies *wanted) {
    int status = EXIT_DONE;
    for (size_t i = 0; i < wanted->count; i++) {
        if (!wanted->was_seen[i]) {
            status = cli_fail(cli, EXIT_REFUSED, "none of the frames has body %s",
                              wanted->typed->item[i]);
        }
    }
    return status;
}

static bool is_id(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int refuse_name(Cli *cli, const char *name, const MoreauReply *names, size_t count) {
    enum { SHOWN_MAX = 8 };
    char known[512] = "its bodies have none";
    size_t used = 0;
    Nearest nearest = {.typed = name};
    char hint[NEAREST_HINT_BYTES];
    for (size_t i = 0; i < count; i++) {
        nearest_offer(&nearest, moreau_reply_body_name(names, i, NULL));
    }
    for (size_t i = 0; i < count && i < SHOWN_MAX && used < sizeof(known); i++) {
        used +=
            (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                             i == 0 ? "there are " : ", ", moreau_reply_body_name(names, i, NULL));
    }
    return cli_fail(cli, EXIT_USAGE, "no body of the episode has the name \"%s\"%s; %s%s", name,
                    nearest_hint(&nearest, hint), known, count > SHOWN_MAX ? ", ..." : "");
}

static int find_body(Cli *cli, const char *name, const MoreauReply *names, size_t count,
                     uint64_t *body) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(moreau_reply_body_name(names, i, body), name) == 0) {
            return EXIT_DONE;
        }
    }
    return refuse_name(cli, name, names, count);
}

int wanted_find(Cli *cli, const char *episode, WantedBodies *wanted) {
    MoreauReply *names = NULL;
    size_t count = 0;
    int status = EXIT_DONE;
    for (size_t i = 0; i < wanted->typed->count && status == EXIT_DONE; i++) {
        const char *text = wanted->typed->item[i];
        if (is_id(text)) {
            wanted->body[i] = strtoull(text, NULL, 10);
            continue;
        }
        if (names == NULL &&
            moreau_episode_names(cli->client, episode, &names, &count) != MOREAU_OK) {
            return cli_report_failure(cli);
        }
        status = find_body(cli, text, names, count, &wanted->body[i]);
    }
    wanted->count = wanted->typed->count;
    moreau_reply_free(names);
    return status;
}
