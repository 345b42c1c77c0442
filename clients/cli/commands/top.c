// SPDX-License-Identifier: MIT
// moreau top: a live view of the server, its busiest worlds first, or of all servers of a fleet.
#include "cli/cli.h"

#include "cli/text/number.h"
#include "cli/text/fold.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/worlds/fleet_text.h"
#include "cli/worlds/sample.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <time.h>

static const char usage[] =
    "moreau top: a live view of the server, its groups, and its busiest worlds first\n"
    "\n"
    "  moreau top [--once] [--json] [--interval SECONDS]\n"
    "  moreau top --fleet FILE [--once] [--json] [--interval SECONDS]\n"
    "\n"
    "The view is renewed every second. Rates are those of the interval before. --once\n"
    "prints one view and ends, and so does a standard output that is no terminal;\n"
    "--json prints one view with up to 10,000 worlds. A server that records shows how\n"
    "large its file is, with its write-ahead log, and how many recordings are under\n"
    "way. The steps of a group are those of its worlds together.\n"
    "\n"
    "--fleet shows a line for each server that a file names, an address a line, as\n"
    "moreau_sim.Fleet reads it: steps, how many of its lanes were busy (looked at ten\n"
    "times a second), memory, worlds (those of groups, too), doubt (of the steps, how\n"
    "many did not converge), and the size of its file. Who is lost is said first, and\n"
    "asked for again. The file is read again for each view; while it is half written,\n"
    "the servers that it named before are shown.\n"
    "\n"
    "Examples:\n"
    "  moreau top\n"
    "  moreau top --once --interval 5\n"
    "  moreau top --json | jq .per_s.steps\n"
    "  moreau top --fleet servers.txt\n";

enum { WORLDS_WITHOUT_TERMINAL = 20, GROUPS_SHOWN_MAX = 10 };

static void sleep_for(double seconds) {
    double whole = floor(seconds);
    struct timespec left = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (seconds - whole))};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

// ---- for people

static void print_log(const Moreau__V1__StatsReply *s) {
    if (!s->has_log_bytes) {
        return;
    }
    char text[32];
    fold_printf("file %s  %" PRIu64 " recording%s under way\n", format_bytes(s->log_bytes, text),
                s->recordings, plural(s->recordings));
}

// 3 of 8, or 3 where there is no limit.
static void print_share(const char *value, bool is_limited, const char *limit, const char *what) {
    fold_printf("  %s%s%s %s", value, is_limited ? " of " : "", is_limited ? limit : "", what);
}

static void print_tokens(const Moreau__V1__StatsReply *s) {
    for (size_t i = 0; i < s->n_tokens; i++) {
        const Moreau__V1__TokenUse *use = s->tokens[i];
        char text[8][32];
        fold_printf("token %s (%s)", use->name, use->namespace_);
        print_share(format_count(use->worlds, text[0]), use->has_worlds_max,
                    format_count(use->worlds_max, text[1]), "worlds");
        print_share(format_bytes(use->bytes, text[2]), use->has_bytes_max,
                    format_bytes(use->bytes_max, text[3]), "memory");
        print_share(format_count(use->requests, text[4]), use->has_requests_max,
                    format_count(use->requests_max, text[5]), "requests");
        if (use->has_lanes_max) {
            print_share(format_count(use->lanes, text[6]), true,
                        format_count(use->lanes_max, text[7]), "lanes");
        }
        fold_printf(use->refused > 0 ? "  %" PRIu64 " refused\n" : "\n", use->refused);
    }
}

static Table fit_groups(void) {
    static const TableColumn columns[] = {
        {"group", NULL, 12, 0, TABLE_RIGHT},      {"name", NULL, 16, 0, TABLE_NAME},
        {"steps/s", NULL, 10, 1, TABLE_RIGHT},    {"worlds", NULL, 8, 2, TABLE_RIGHT},
        {"episodes/s", NULL, 10, 3, TABLE_RIGHT}, {"memory", NULL, 9, 4, TABLE_RIGHT},
    };
    enum { RECORDING_COLUMNS = 2 + 8 };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, RECORDING_COLUMNS);
}

static Table fit_worlds(void) {
    static const TableColumn columns[] = {
        {"id", NULL, 12, 0, TABLE_RIGHT},      {"name", NULL, 16, 0, TABLE_NAME},
        {"steps/s", NULL, 10, 1, TABLE_RIGHT}, {"bodies", NULL, 8, 2, TABLE_RIGHT},
        {"contacts", NULL, 8, 3, TABLE_RIGHT}, {"memory", NULL, 9, 4, TABLE_RIGHT},
    };
    enum { SOLVER_COLUMNS = 2 + 7 };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, SOLVER_COLUMNS);
}

// As many as there may be.
static void print_groups(const Sample *sample) {
    if (sample->group_count == 0) {
        return;
    }
    Table table = fit_groups();
    table_print_head(&table, "  recording");
    size_t shown = sample->group_count < GROUPS_SHOWN_MAX ? sample->group_count : GROUPS_SHOWN_MAX;
    for (size_t i = 0; i < shown; i++) {
        const SampleGroup *group = &sample->group[i];
        const Moreau__V1__GroupInfo *info = group->info;
        char text[32];
        table_printf(&table, 0, STYLE_PLAIN, "%" PRIu64, info->group);
        table_cell(&table, 1, STYLE_PLAIN, info->name != NULL ? info->name : "");
        table_cell(&table, 2, STYLE_PLAIN, format_count((uint64_t)group->steps_rate, text));
        table_printf(&table, 3, STYLE_PLAIN, "%" PRIu64, info->count);
        table_cell(&table, 4, STYLE_PLAIN, format_count((uint64_t)group->episodes_rate, text));
        table_cell(&table, 5, STYLE_PLAIN, format_bytes(info->bytes, text));
        fold_printf("  %.8s\n", info->recording != NULL ? info->recording : "");
    }
    if (shown < sample->group_count) {
        fold_printf("%12s  and %zu more\n", "", sample->group_count - shown);
    }
}

static void print_server(Cli *cli, const Sample *sample, const SampleRates *rates) {
    const Moreau__V1__StatsReply *s = sample->stats;
    const char *bold = terminal_style(stdout, STYLE_BOLD),
               *plain = terminal_style(stdout, STYLE_PLAIN),
               *bad = terminal_style(stdout, STYLE_BAD);
    char text[3][32];
    fold_printf("%s%s%s  up %s  %" PRIu32 " lane%s  %" PRIu64 " connection%s\n", bold, cli->server,
                plain, format_seconds(s->uptime_s, text[0]), s->lanes, plural(s->lanes),
                s->connections, plural(s->connections));
    fold_printf("%s%s%s steps/s  solver %s/step  %s%.3g%s/s unconverged  %s%" PRIu64 "%s faulted\n",
                bold, format_count((uint64_t)rates->steps, text[0]), plain,
                format_seconds(rates->solver_time, text[1]), rates->unconverged > 0.0 ? bad : "",
                rates->unconverged, plain, s->faulted_steps > 0 ? bad : "", s->faulted_steps,
                plain);
    fold_printf("%s requests/s  %.3g/s failed  %" PRIu64 " under way  %" PRIu64 " job%s  %" PRIu64
                " world%s waiting\n",
                format_count((uint64_t)rates->requests, text[0]), rates->failed,
                s->requests_under_way, s->jobs, plural(s->jobs), s->waiting_worlds,
                plural(s->waiting_worlds));
    fold_printf("in %s/s  out %s/s  %" PRIu64 " slow client%s cut  memory %s\n",
                format_bytes((uint64_t)rates->bytes_in, text[0]),
                format_bytes((uint64_t)rates->bytes_out, text[1]), s->slow_clients,
                plural(s->slow_clients), format_bytes(s->world_bytes, text[2]));
    print_log(s);
    print_tokens(s);
    char counts[3][32];
    fold_printf("%s world%s  %s bod%s  %s contact%s", format_count(s->world_count, counts[0]),
                plural(s->world_count), format_count(s->bodies, counts[1]),
                s->bodies == 1 ? "y" : "ies", format_count(s->contacts, counts[2]),
                plural(s->contacts));
    if (sample->world_total > sample->world_count) {
        fold_printf("  (below: of the first %zu worlds)", sample->world_count);
    }
    fold_printf("\n");
    print_groups(sample);
    Table table = fit_worlds();
    table_print_head(&table, "  solver");
}

static void print_world(const SampleWorld *world) {
    char text[32];
    Table table = fit_worlds();
    table_printf(&table, 0, STYLE_PLAIN, "%" PRIu64, world->id);
    table_cell(&table, 1, STYLE_PLAIN, world->name);
    table_cell(&table, 2, STYLE_PLAIN, format_count((uint64_t)world->steps_rate, text));
    table_printf(&table, 3, STYLE_PLAIN, "%" PRIu64, world->bodies);
    table_printf(&table, 4, STYLE_PLAIN, "%" PRIu64, world->contacts);
    table_cell(&table, 5, STYLE_PLAIN, format_bytes(world->bytes, text));
    fold_printf("  %s%s%s%s\n", world->solver, terminal_style(stdout, STYLE_BAD),
                world->faulted ? " faulted" : "", terminal_style(stdout, STYLE_PLAIN));
}

static void print_view(Cli *cli, const Sample *sample, const SampleRates *rates) {
    size_t rows = WORLDS_WITHOUT_TERMINAL;
    const size_t before = fold_lines();
    print_server(cli, sample, rates);
    const size_t head = fold_lines() - before;
    if (terminal_is_watched(stdout)) {
        const size_t lines = terminal_lines(stdout);
        rows = lines > head + 1 ? lines - head - 1 : 0;
    }
    for (size_t i = 0; i < sample->world_count && i < rows; i++) {
        print_world(&sample->world[i]);
    }
}

// ---- for programs

// As `moreau worlds --json` shows it, and the rate.
static json_t *world_json(const SampleWorld *world) {
    Moreau__V1__WorldInfo info = MOREAU__V1__WORLD_INFO__INIT;
    info.has_world = info.has_bodies = info.has_contacts = info.has_step = 1;
    info.has_time = info.has_bytes = info.has_faulted = 1;
    info.world = world->id;
    info.name = (char *)world->name;
    info.bodies = world->bodies;
    info.contacts = world->contacts;
    info.step = world->step;
    info.time = world->time;
    info.bytes = world->bytes;
    info.faulted = world->faulted;
    info.solver = (char *)world->solver;
    json_t *json = json_write_ours(&info.base);
    json_object_set_new(json, "steps_per_s", number_json(world->steps_rate));
    return json;
}

// As `moreau worlds --json` shows it, and the rates.
static json_t *group_json(const SampleGroup *group) {
    json_t *json = json_write_ours(&group->info->base);
    json_object_set_new(json, "steps_per_s", number_json(group->steps_rate));
    json_object_set_new(json, "episodes_per_s", number_json(group->episodes_rate));
    return json;
}

static void print_json(Cli *cli, const Sample *sample, const SampleRates *rates) {
    json_t *worlds = json_array();
    for (size_t i = 0; i < sample->world_count; i++) {
        json_array_append_new(worlds, world_json(&sample->world[i]));
    }
    json_t *groups = json_array();
    for (size_t i = 0; i < sample->group_count; i++) {
        json_array_append_new(groups, group_json(&sample->group[i]));
    }
    json_t *rate =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "steps", number_json(rates->steps),
                  "unconverged_steps", number_json(rates->unconverged), "faulted_steps",
                  number_json(rates->faulted), "requests", number_json(rates->requests),
                  "failed_requests", number_json(rates->failed), "bytes_in",
                  number_json(rates->bytes_in), "bytes_out", number_json(rates->bytes_out));
    json_t *view =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "stats", json_write_ours(&sample->stats->base),
                  "per_s", rate, "solver_time_per_step", number_json(rates->solver_time), "groups",
                  groups, "worlds", worlds);
    cli_print(cli, view);
}

// ---- the command

// Shows one view after another, until the server is gone.
static int watch(Cli *cli, bool once, double interval_s) {
    Sample before, now;
    int status = sample_take(cli, &before);
    while (status == EXIT_DONE) {
        sleep_for(interval_s);
        status = sample_take(cli, &now);
        if (status != EXIT_DONE) {
            break;
        }
        SampleRates rates = sample_compare(&before, &now);
        if (cli->json) {
            print_json(cli, &now, &rates);
        } else {
            fputs(once ? "" : "\033[H\033[J", stdout);
            print_view(cli, &now, &rates);
        }
        sample_free(&before);
        before = now;
        if (!cli_flush(cli) || once) {
            break;
        }
    }
    sample_free(&before);
    return status;
}

// ---- a fleet

static void print_fleet(Cli *cli, const Fleet *fleet, const char *path, bool once,
                        const char *refusal) {
    if (cli->json) {
        cli_print(cli, fleet_text_write(fleet, path));
        return;
    }
    fputs(once ? "" : "\033[H\033[J", stdout);
    fleet_text_print(fleet, refusal, once ? FLEET_SERVERS_MAX : terminal_lines(stdout));
}

// Shows one view after another, whoever is lost. The first one follows a look at all of them.
static int watch_fleet(Cli *cli, const char *path, bool once, double interval_s) {
    Fleet fleet = {.cli = cli};
    FleetFile file;
    char refusal[512] = "";
    if (!fleet_file_read(&file, path, refusal, sizeof(refusal))) {
        return cli_fail(cli, EXIT_USAGE, "%s", refusal);
    }
    fleet_renew(&fleet, &file);
    fleet_file_free(&file);
    fleet_watch(&fleet, terminal_now_s() + 0.1); // the first look, which rates are counted from
    int status;
    do {
        fleet_begin(&fleet);
        fleet_watch(&fleet, terminal_now_s() + interval_s);
        status = fleet_lost_count(&fleet) < fleet.count || !once
                     ? EXIT_DONE
                     : cli_fail(cli, EXIT_NO_CONNECTION, "no server of %s answers", path);
        print_fleet(cli, &fleet, path, once, refusal);
        refusal[0] = '\0';
        if (!once && fleet_file_read(&file, path, refusal, sizeof(refusal))) {
            fleet_renew(&fleet, &file);
            fleet_file_free(&file);
        }
    } while (cli_flush(cli) && !once);
    fleet_free(&fleet);
    return status;
}

int command_top(Cli *cli, int argc, char **argv) {
    bool once = false;
    double interval_s = 1.0;
    const char *fleet = NULL;
    const Option options[] = {
        {"--once", OPTION_FLAG, &once, NULL, "print one view and end"},
        {"--interval", OPTION_NUMBER, &interval_s, "SECONDS", "between two views; default 1"},
        {"--fleet", OPTION_TEXT, &fleet, "FILE", "all servers that it names, an address a line"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){options, 3}, argc, argv, 0, 0, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (interval_s > 86400.0) {
        return cli_fail(cli, EXIT_USAGE, "--interval is at most a day, 86400 seconds");
    }
    once = once || cli->json || !terminal_is_watched(stdout);
    if (fleet != NULL) {
        return watch_fleet(cli, fleet, once, interval_s);
    }
    status = cli_connect(cli);
    return status == EXIT_DONE ? watch(cli, once, interval_s) : status;
}
