// SPDX-License-Identifier: MIT
#include "cli/worlds/find.h"

#include "cli/text/nearest.h"
#include "cli/worlds/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_BYTES = 256 }; // of a name that is only suggested

typedef struct Search {
    const char *text;
    uint64_t id;           // what the text is as a number; 0: it is a name
    bool or_file;          // it might have been a file
    char near[NEAR_BYTES]; // the name most like it; "": none yet
    size_t distance;       // of `near`
} Search;

static uint64_t parse_id(const char *text) {
    char *end;
    errno = 0;
    uint64_t id = strtoull(text, &end, 10);
    bool is_id = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    return is_id ? id : 0;
}

static void offer_name(Search *search, const char *name) {
    Nearest nearest = {.typed = search->text};
    nearest_offer(&nearest, name);
    if (nearest.name != NULL && (search->near[0] == '\0' || nearest.distance < search->distance)) {
        snprintf(search->near, sizeof(search->near), "%s", name);
        search->distance = nearest.distance;
    }
}

// The world that is meant, if it is on this page.
static const Moreau__V1__WorldInfo *search_page(Search *search,
                                                const Moreau__V1__WorldListReply *page) {
    for (size_t i = 0; i < page->n_worlds; i++) {
        const Moreau__V1__WorldInfo *info = page->worlds[i];
        const char *name = info->name != NULL ? info->name : "";
        if (search->id != 0 ? info->world == search->id : strcmp(name, search->text) == 0) {
            return info;
        }
        offer_name(search, name);
    }
    return NULL;
}

static int refuse(Cli *cli, const Search *search) {
    char hint[NEAREST_HINT_BYTES];
    Nearest nearest = {.typed = search->text};
    if (search->near[0] != '\0') {
        nearest_offer(&nearest, search->near);
    }
    return cli_fail(cli, EXIT_REFUSED,
                    "no %sworld has the id or the name \"%s\"%s; moreau worlds shows them",
                    search->or_file ? "file is there, and no " : "", search->text,
                    nearest_hint(&nearest, hint));
}

static int find(Cli *cli, Search *search, FoundWorld *found) {
    *found = (FoundWorld){0};
    uint64_t first = 0;
    size_t rows;
    do {
        int status;
        found->reply = world_page_fetch(cli, first, &status);
        if (found->reply == NULL) {
            return status;
        }
        rows = found->reply->world_list->n_worlds;
        first += rows;
        found->info = search_page(search, found->reply->world_list);
        if (found->info != NULL) {
            return EXIT_DONE;
        }
        world_find_free(found);
    } while (rows == WORLD_PAGE_ROWS);
    return refuse(cli, search);
}

int world_find(Cli *cli, const char *text, FoundWorld *found) {
    Search search = {.text = text, .id = parse_id(text)};
    return find(cli, &search, found);
}

int world_find_id(Cli *cli, const char *text, bool or_file, uint64_t *id) {
    Search search = {.text = text, .id = parse_id(text), .or_file = or_file};
    *id = search.id;
    if (*id != 0) {
        return EXIT_DONE;
    }
    FoundWorld found;
    int status = find(cli, &search, &found);
    if (found.info != NULL) {
        *id = found.info->world;
        world_find_free(&found);
    }
    return status;
}

void world_find_free(FoundWorld *found) {
    if (found->reply != NULL) {
        moreau__v1__reply__free_unpacked(found->reply, NULL);
    }
    *found = (FoundWorld){0};
}
