// SPDX-License-Identifier: MIT
#include "cli/episodes/body_names.h"

#include "cli/base/memory.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const uint64_t left = ((const BodyName *)a)->id, right = ((const BodyName *)b)->id;
    return (left > right) - (left < right);
}

int body_names_take(Cli *cli, const char *episode, BodyNames *names) {
    *names = (BodyNames){0};
    if (moreau_episode_names(cli->client, episode, &names->reply, &names->count) != MOREAU_OK) {
        return cli_report_failure(cli);
    }
    names->item = memory_take(names->count + 1, sizeof(*names->item));
    for (size_t i = 0; i < names->count; i++) {
        names->item[i].name = moreau_reply_body_name(names->reply, i, &names->item[i].id);
    }
    qsort(names->item, names->count, sizeof(*names->item), compare);
    return EXIT_DONE;
}

void body_names_free(BodyNames *names) {
    free(names->item);
    moreau_reply_free(names->reply);
    *names = (BodyNames){0};
}

const char *body_names_find(const BodyNames *names, uint64_t id) {
    const BodyName wanted = {.id = id};
    const BodyName *found = names->count == 0 ? NULL
                                              : bsearch(&wanted, names->item, names->count,
                                                        sizeof(*names->item), compare);
    return found == NULL ? "" : found->name;
}
