// SPDX-License-Identifier: MIT
// moreau worlds: what is on the server.
#include "cli/cli.h"

#include "cli/json_write.h"
#include "cli/terminal.h"
#include "cli/world_page.h"

#include <inttypes.h>
#include <stdlib.h>

static const char usage[] =
    "moreau worlds: the worlds on the server\n"
    "\n"
    "  moreau worlds [--json]\n"
    "\n"
    "kept: the world stays when its client is gone. faulted: a step would not have\n"
    "been finite; the world steps again when its bodies are set (WorldSet).\n";

static void print_head(uint64_t total) {
    char count[32];
    printf("%s%s world%s%s\n", terminal_style(stdout, STYLE_BOLD), format_count(total, count),
           total == 1 ? "" : "s", terminal_style(stdout, STYLE_PLAIN));
    if (total > 0) {
        printf("%s%12s  %-16s %8s %8s %10s %8s  %s%s\n", terminal_style(stdout, STYLE_DIM), "id",
               "name", "bodies", "contacts", "step", "time", "solver, state",
               terminal_style(stdout, STYLE_PLAIN));
    }
}

static void print_row(const Moreau__V1__WorldInfo *world) {
    printf("%12" PRIu64 "  %-16.16s %8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %8.4g  %s%s%s%s%s\n",
           world->world, world->name != NULL ? world->name : "", world->bodies, world->contacts,
           world->step, world->time, world->solver != NULL ? world->solver : "",
           world->lifetime == MOREAU__V1__WORLD__LIFETIME__SERVER ? ", kept" : "",
           terminal_style(stdout, STYLE_BAD), world->faulted ? ", faulted" : "",
           terminal_style(stdout, STYLE_PLAIN));
}

// Prints the rows, or collects them in `rows` (Nullable).
static void show_page(const Moreau__V1__WorldListReply *page, json_t *rows) {
    for (size_t i = 0; i < page->n_worlds; i++) {
        if (rows != NULL) {
            json_array_append_new(rows, json_write_message(&page->worlds[i]->base));
        } else {
            print_row(page->worlds[i]);
        }
    }
}

int command_worlds(Cli *cli, int argc, char **argv) {
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){NULL, 0}, argc, argv, 0, 0, &words);
    if (status != EXIT_DONE || cli->help || (status = cli_connect(cli)) != EXIT_DONE) {
        return status;
    }
    json_t *rows = cli->json ? json_array() : NULL;
    uint64_t first = 0;
    size_t page_rows;
    do {
        Moreau__V1__Reply *reply = world_page_fetch(cli, first, &status);
        if (reply == NULL) {
            json_decref(rows);
            return status;
        }
        if (first == 0 && rows == NULL) {
            print_head(reply->world_list->total);
        }
        page_rows = reply->world_list->n_worlds;
        first += page_rows;
        show_page(reply->world_list, rows);
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (page_rows == WORLD_PAGE_ROWS);
    if (rows != NULL) {
        json_print(stdout, rows);
        json_decref(rows);
    }
    return EXIT_DONE;
}
