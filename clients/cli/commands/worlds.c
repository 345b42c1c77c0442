// SPDX-License-Identifier: MIT
// moreau worlds: what is on the server, worlds and groups of them.
#include "cli/cli.h"

#include "cli/json/write.h"
#include "cli/text/fold.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/worlds/find.h"
#include "cli/worlds/page.h"

#include <inttypes.h>
#include <stdlib.h>

static const char usage[] =
    "moreau worlds: the worlds on the server, and its groups of worlds\n"
    "\n"
    "  moreau worlds [--json]              a table of each\n"
    "  moreau worlds --destroy WORLD       end one, whoever made it\n"
    "\n"
    "WORLD is an id or a name. kept: the world stays when its client is gone.\n"
    "faulted: a step would not have been finite; the world steps again when its\n"
    "bodies are set (WorldSet). A group that is recorded goes on from its recording,\n"
    "also when the server was killed (GroupCreate). With --json the groups stand\n"
    "behind the worlds, with a `group` in place of a `world`.\n"
    "\n"
    "Examples:\n"
    "  moreau worlds\n"
    "  moreau worlds --destroy falling\n"
    "  moreau worlds --json | jq '.[] | select(.faulted) | .world'\n";

enum { TAIL_COLUMNS = 2 + 10 }; // "mdp, kept", and most states

static Table fit_worlds(void) {
    static const TableColumn columns[] = {
        {"id", NULL, 12, 0, TABLE_RIGHT},    {"name", NULL, 16, 0, TABLE_NAME},
        {"bodies", NULL, 8, 3, TABLE_RIGHT}, {"contacts", NULL, 8, 4, TABLE_RIGHT},
        {"step", NULL, 10, 1, TABLE_RIGHT},  {"time", NULL, 8, 2, TABLE_RIGHT},
    };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, TAIL_COLUMNS);
}

static void print_head(uint64_t total) {
    char count[32];
    fold_printf("%s%s world%s%s\n", terminal_style(stdout, STYLE_BOLD), format_count(total, count),
                plural(total), terminal_style(stdout, STYLE_PLAIN));
    if (total > 0) {
        Table table = fit_worlds();
        table_print_head(&table, "  solver, state");
    }
}

static void print_row(const Moreau__V1__WorldInfo *world) {
    Table table = fit_worlds();
    table_printf(&table, 0, STYLE_PLAIN, "%" PRIu64, world->world);
    table_cell(&table, 1, STYLE_PLAIN, world->name != NULL ? world->name : "");
    table_printf(&table, 2, STYLE_PLAIN, "%" PRIu64, world->bodies);
    table_printf(&table, 3, STYLE_PLAIN, "%" PRIu64, world->contacts);
    table_printf(&table, 4, STYLE_PLAIN, "%" PRIu64, world->step);
    table_printf(&table, 5, STYLE_PLAIN, "%.4g", world->time + 0.0);
    fold_printf("  %s%s%s%s%s%s%s\n", world->solver != NULL ? world->solver : "",
                world->lifetime == MOREAU__V1__WORLD__LIFETIME__SERVER ? ", kept" : "",
                world->token != NULL ? ", of " : "", world->token != NULL ? world->token : "",
                terminal_style(stdout, STYLE_BAD), world->faulted ? ", faulted" : "",
                terminal_style(stdout, STYLE_PLAIN));
}

// Prints the rows, or collects them in `rows` (Nullable).
static void show_page(const Moreau__V1__WorldListReply *page, json_t *rows) {
    for (size_t i = 0; i < page->n_worlds; i++) {
        if (rows != NULL) {
            json_array_append_new(rows, json_write_ours(&page->worlds[i]->base));
        } else {
            print_row(page->worlds[i]);
        }
    }
}

// ---- groups

static Table fit_groups(void) {
    static const TableColumn columns[] = {
        {"id", NULL, 12, 0, TABLE_RIGHT},    {"name", NULL, 16, 0, TABLE_NAME},
        {"worlds", NULL, 8, 1, TABLE_RIGHT}, {"bodies", NULL, 8, 4, TABLE_RIGHT},
        {"steps", NULL, 10, 2, TABLE_RIGHT}, {"episodes", NULL, 8, 3, TABLE_RIGHT},
    };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, TAIL_COLUMNS);
}

static void print_group_head(uint64_t total) {
    char count[32];
    fold_printf("%s%s group%s%s\n", terminal_style(stdout, STYLE_BOLD), format_count(total, count),
                plural(total), terminal_style(stdout, STYLE_PLAIN));
    Table table = fit_groups();
    table_print_head(&table, "  state, recording");
}

static void print_group(const Moreau__V1__GroupInfo *group) {
    const bool is_kept = group->lifetime == MOREAU__V1__WORLD__LIFETIME__SERVER;
    Table table = fit_groups();
    table_printf(&table, 0, STYLE_PLAIN, "%" PRIu64, group->group);
    table_cell(&table, 1, STYLE_PLAIN, group->name != NULL ? group->name : "");
    table_printf(&table, 2, STYLE_PLAIN, "%" PRIu64, group->count);
    table_printf(&table, 3, STYLE_PLAIN, "%" PRIu64, group->bodies);
    table_printf(&table, 4, STYLE_PLAIN, "%" PRIu64, group->steps);
    table_printf(&table, 5, STYLE_PLAIN, "%" PRIu64, group->episodes);
    fold_printf("  %s%s%s\n", is_kept ? "kept" : "",
                is_kept && group->recording != NULL ? ", " : "",
                group->recording != NULL ? group->recording : "");
    if (group->recording_ended != NULL) {
        fold_printf("%s%12s  not recorded any more: %s%s\n", terminal_style(stdout, STYLE_BAD), "",
                    group->recording_ended, terminal_style(stdout, STYLE_PLAIN));
    }
}

// Prints the groups, or collects them in `rows` (Nullable).
static int list_groups(Cli *cli, json_t *rows) {
    uint64_t first = 0;
    size_t count;
    do {
        int status;
        Moreau__V1__Reply *reply = group_page_fetch(cli, first, &status);
        if (reply == NULL) {
            return status;
        }
        const Moreau__V1__GroupListReply *page = reply->group_list;
        count = page->n_groups;
        if (first == 0 && count > 0 && rows == NULL) {
            print_group_head(page->total);
        }
        for (size_t i = 0; i < count; i++) {
            if (rows != NULL) {
                json_array_append_new(rows, json_write_ours(&page->groups[i]->base));
            } else {
                print_group(page->groups[i]);
            }
        }
        first += count;
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (count == GROUP_PAGE_ROWS);
    return EXIT_DONE;
}

static int list_all(Cli *cli) {
    json_t *rows = cli->json ? json_array() : NULL;
    uint64_t first = 0;
    size_t page_rows;
    do {
        int status;
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
    const int status = list_groups(cli, rows);
    if (rows != NULL && status == EXIT_DONE) {
        cli_print(cli, rows);
    } else {
        json_decref(rows);
    }
    return status;
}

// Says what is gone, which is known only before.
static int destroy_world(Cli *cli, const char *text) {
    FoundWorld found;
    int status = world_find(cli, text, &found);
    if (status != EXIT_DONE) {
        return status;
    }
    const Moreau__V1__WorldInfo *world = found.info;
    if (moreau_world_destroy(cli->client, world->world) != MOREAU_OK) {
        status = cli_report_failure(cli);
    } else if (cli->json) {
        cli_print(cli, json_write_ours(&world->base));
    } else {
        char counts[2][32];
        fold_printf("destroyed world %" PRIu64 " %s: %s %s, after %s step%s\n", world->world,
                    world->name != NULL ? world->name : "", format_count(world->bodies, counts[0]),
                    world->bodies == 1 ? "body" : "bodies", format_count(world->step, counts[1]),
                    plural(world->step));
    }
    world_find_free(&found);
    return status;
}

int command_worlds(Cli *cli, int argc, char **argv) {
    const char *destroyed = NULL;
    const Option options[] = {
        {"--destroy", OPTION_TEXT, &destroyed, "WORLD", "end this world, by its id or name"}};
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){options, 1}, argc, argv, 0, 0, &words);
    if (status != EXIT_DONE || cli->help || (status = cli_connect(cli)) != EXIT_DONE) {
        return status;
    }
    return destroyed != NULL ? destroy_world(cli, destroyed) : list_all(cli);
}
