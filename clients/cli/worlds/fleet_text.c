// SPDX-License-Identifier: MIT
#include "cli/worlds/fleet_text.h"

#include "cli/text/number.h"
#include "cli/text/fold.h"
#include "cli/text/shown.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <stdio.h>

enum { ADDRESS_COLUMNS = 23, REASON_COLUMNS = 38, FRAME_LINES = 3, WIDTH = 80 };

typedef struct Total {
    double steps, lanes_busy;
    uint64_t lanes, worlds;
} Total;

static Total add_up(const Fleet *fleet) {
    Total total = {0};
    for (size_t i = 0; i < fleet->count; i++) {
        const Moreau__V1__StatsReply *stats = fleet_stats(&fleet->server[i]);
        if (stats != NULL) {
            const FleetRates rates = fleet_rates(&fleet->server[i]);
            total.steps += rates.steps;
            total.lanes_busy += rates.lanes_busy;
            total.lanes += stats->lanes;
            total.worlds += fleet_worlds(stats);
        }
    }
    return total;
}

static Table fit_servers(void) {
    static const TableColumn columns[] = {
        {"server", NULL, ADDRESS_COLUMNS, 0, TABLE_GROWS},
        {"steps/s", NULL, 10, 0, TABLE_RIGHT},
        {"lanes", NULL, 9, 3, TABLE_RIGHT},
        {"memory", NULL, 9, 5, TABLE_RIGHT},
        {"worlds", NULL, 8, 2, TABLE_RIGHT},
        {"doubt", NULL, 7, 1, TABLE_RIGHT},
        {"disk", NULL, 8, 4, TABLE_RIGHT},
    };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, 0);
}

static void print_head(const Fleet *fleet) {
    const Total total = add_up(fleet);
    const size_t lost = fleet_lost_count(fleet);
    char text[2][32];
    fold_printf("%s%s%s steps/s  %.1f of %" PRIu64 " lane%s busy  %s world%s  %zu server%s",
                terminal_style(stdout, STYLE_BOLD), format_count((uint64_t)total.steps, text[0]),
                terminal_style(stdout, STYLE_PLAIN), total.lanes_busy, total.lanes,
                plural(total.lanes), format_count(total.worlds, text[1]), plural(total.worlds),
                fleet->count, plural(fleet->count));
    if (lost > 0) {
        fold_printf(", %s%zu lost%s", terminal_style(stdout, STYLE_BAD), lost,
                    terminal_style(stdout, STYLE_PLAIN));
    }
    fold_printf("\n");
    Table table = fit_servers();
    table_print_head(&table, NULL);
}

static void print_lost(const FleetServer *server) {
    char reason[SHOWN_COLUMN_BYTES], since[32];
    Table table = fit_servers();
    table_cell(&table, 0, STYLE_PLAIN, server->address);
    fold_printf(" %slost%s for %s: %s\n", terminal_style(stdout, STYLE_BAD),
                terminal_style(stdout, STYLE_PLAIN),
                format_seconds(terminal_now_s() - server->lost_s, since),
                shown_cut(server->lost, REASON_COLUMNS, reason));
}

static void print_server(const FleetServer *server) {
    char text[32], doubt[32] = "-", disk[32] = "-";
    Table table = fit_servers();
    table_cell(&table, 0, STYLE_PLAIN, server->address);
    const Moreau__V1__StatsReply *stats = fleet_stats(server);
    if (stats == NULL) {
        fold_printf(" has not answered yet\n");
        return;
    }
    const FleetRates rates = fleet_rates(server);
    if (rates.steps > 0.0) {
        snprintf(doubt, sizeof(doubt), "%.3g %%", 100.0 * rates.doubt);
    }
    if (stats->has_log_bytes) {
        format_bytes(stats->log_bytes, disk);
    }
    table_cell(&table, 1, STYLE_PLAIN, format_count((uint64_t)rates.steps, text));
    table_printf(&table, 2, STYLE_PLAIN, "%.1f/%" PRIu32, rates.lanes_busy, stats->lanes);
    table_cell(&table, 3, STYLE_PLAIN, format_bytes(stats->world_bytes, text));
    table_cell(&table, 4, STYLE_PLAIN, format_count(fleet_worlds(stats), text));
    table_cell(&table, 5, rates.doubt > 0.0 ? STYLE_BAD : STYLE_PLAIN, doubt);
    table_cell(&table, 6, STYLE_PLAIN, disk);
    fold_printf("\n");
}

// Lost ones, or the others; at most so many lines, which are counted down.
static void print_some(const Fleet *fleet, bool is_lost, size_t *lines) {
    for (size_t i = 0; *lines > 0 && i < fleet->count; i++) {
        const FleetServer *server = &fleet->server[i];
        if ((server->lost[0] != '\0') == is_lost) {
            (is_lost ? print_lost : print_server)(server);
            --*lines;
        }
    }
}

void fleet_text_print(const Fleet *fleet, const char *refusal, size_t lines) {
    print_head(fleet);
    size_t rows = lines > FRAME_LINES ? lines - FRAME_LINES : 1;
    const size_t shown = rows < fleet->count ? rows - 1 : fleet->count;
    size_t left = shown;
    print_some(fleet, true, &left);
    print_some(fleet, false, &left);
    if (shown < fleet->count) {
        fold_printf("%-23s and %zu more\n", "", fleet->count - shown);
    }
    if (refusal[0] != '\0') {
        const unsigned columns = terminal_columns(stdout);
        char cut[SHOWN_COLUMN_BYTES];
        fold_printf("%s\n", shown_cut(refusal, columns < WIDTH ? columns : WIDTH, cut));
    }
}

// ---- for programs

static json_t *write_server(const FleetServer *server) {
    json_t *json = json_pack("{s:s}", "server", server->address);
    const Moreau__V1__StatsReply *stats = fleet_stats(server);
    if (server->lost[0] != '\0') {
        json_object_set_new(json, "lost", json_string(server->lost));
        json_object_set_new(json, "lost_for_s", number_json(terminal_now_s() - server->lost_s));
    }
    if (stats != NULL) {
        const FleetRates rates = fleet_rates(server);
        json_object_set_new(json, "steps_per_s", number_json(rates.steps));
        json_object_set_new(json, "lanes_busy", number_json(rates.lanes_busy));
        json_object_set_new(json, "worlds", number_json_whole(fleet_worlds(stats)));
        json_object_set_new(json, "doubt", number_json(rates.doubt));
        json_object_set_new(json, "stats", json_write_ours(&stats->base));
    }
    return json;
}

json_t *fleet_text_write(const Fleet *fleet, const char *path) {
    json_t *servers = json_array();
    for (size_t i = 0; i < fleet->count; i++) {
        json_array_append_new(servers, write_server(&fleet->server[i]));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "fleet", path, "servers", servers, "lost",
                     number_json_whole(fleet_lost_count(fleet)), "steps_per_s",
                     number_json(add_up(fleet).steps));
}
