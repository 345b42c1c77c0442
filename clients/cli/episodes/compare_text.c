// SPDX-License-Identifier: MIT
#include "cli/episodes/compare_text.h"

#include "cli/episodes/episode_text.h"
#include "cli/text/fold.h"
#include "cli/text/shown.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { CELL_BYTES = 32 };
// So many variants stand beside each other at most, in 120 columns.
enum { COLUMNS_MAX = 8, COLUMN_WIDTH = 11 };

static const char *cell(bool is_there, double number, const char *format, char text[CELL_BYTES]) {
    if (!is_there) {
        return "-";
    }
    snprintf(text, CELL_BYTES, number == 0.0 ? "%g" : format, number);
    return text;
}

static const char *step_cell(bool is_there, uint64_t step, char text[CELL_BYTES]) {
    if (!is_there) {
        return "-";
    }
    snprintf(text, CELL_BYTES, "%" PRIu64, step);
    return text;
}

// "all", or the share of the steps, rounded down so that one that is missing shows.
static const char *converged_cell(const Moreau__V1__EpisodeRun *run, char text[CELL_BYTES]) {
    if (run->steps == 0 || run->unconverged_steps == 0) {
        return run->steps == 0 ? "-" : "all";
    }
    double done = (double)run->steps;
    double share = (done - (double)run->unconverged_steps) / done;
    snprintf(text, CELL_BYTES, "%.1f %%", floor(1000.0 * share) / 10.0);
    return text;
}

#define FIRST(message, column)                                                                     \
    ((message) != NULL && (message)->n_##column > 0 ? (message)->column[0] : (double)NAN)

// ---- the runs

static Table fit_runs(void) {
    static const TableColumn columns[] = {
        {"run", NULL, 15, 0, TABLE_GROWS},         {"converged", "[steps]", 9, 1, TABLE_RIGHT},
        {"e_DS", "[1]", 7, 2, TABLE_RIGHT},        {"overlap", "[m]", 7, 4, TABLE_RIGHT},
        {"launch", "[m/s]", 7, 6, TABLE_RIGHT},    {"energy", "[J]", 9, 7, TABLE_RIGHT},
        {"solver", "per step", 8, 5, TABLE_RIGHT}, {"apart", "[m]", 8, 0, TABLE_RIGHT},
        {"at step", NULL, 7, 8, TABLE_RIGHT},      {"turned", "[deg]", 7, 9, TABLE_RIGHT},
        {"beyond", "at step", 7, 3, TABLE_RIGHT},
    };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 2, 0);
}

static void print_run(const Moreau__V1__EpisodeRun *run, const char *label, bool is_variant) {
    char text[CELL_BYTES];
    bool is_bad = run->unconverged_steps > 0 || run->ended != NULL;
    double e_ds = FIRST(run->worst, e_ds), overlap = FIRST(run->worst, penetration),
           launch = FIRST(run->launch, speed);
    Table table = fit_runs();
    table_cell(&table, 0, STYLE_PLAIN, label);
    table_cell(&table, 1, is_bad ? STYLE_BAD : STYLE_GOOD, converged_cell(run, text));
    table_cell(&table, 2, STYLE_PLAIN, cell(!isnan(e_ds), e_ds, "%.1e", text));
    table_cell(&table, 3, STYLE_PLAIN, cell(!isnan(overlap), overlap, "%.1e", text));
    table_cell(&table, 4, STYLE_PLAIN, cell(!isnan(launch), launch, "%.1e", text));
    table_cell(&table, 5, STYLE_PLAIN, cell(run->steps > 0, run->energy, "%.4g", text));
    table_cell(&table, 6, STYLE_PLAIN,
               run->steps > 0 ? format_seconds(run->solver_time_mean, text) : "-");
    if (is_variant) {
        const double angle_deg = run->angle * 180.0 / (double)M_PI;
        table_cell(&table, 7, STYLE_PLAIN, cell(true, run->distance, "%.2e", text));
        table_cell(&table, 8, STYLE_PLAIN,
                   step_cell(run->distance > 0.0, run->distance_step, text));
        table_cell(&table, 9, STYLE_PLAIN, cell(true, angle_deg, "%.1e", text));
        table_cell(&table, 10, STYLE_PLAIN, step_cell(run->has_apart_step, run->apart_step, text));
    }
    fold_printf("\n");
}

static void print_runs(const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    Table table = fit_runs();
    table_print_head(&table, NULL);
    table_print_units(&table, NULL);
    for (size_t i = 0; i < reply->n_runs; i++) {
        print_run(reply->runs[i], label[i].text, i > 0);
    }
}

// ---- over time

static size_t sample_count(const Moreau__V1__EpisodeRun *run) {
    return run->n_sample_time < run->n_sample_step ? run->n_sample_time : run->n_sample_step;
}

// The distance at a step; NAN: it was not compared there. Steps rise, and so does *from.
static double distance_at(const Moreau__V1__EpisodeRun *run, uint64_t step, size_t *from) {
    while (*from < run->n_sample_step && run->sample_step[*from] < step) {
        ++*from;
    }
    bool is_there = *from < run->n_sample_step && run->sample_step[*from] == step &&
                    *from < run->n_sample_distance;
    return is_there ? run->sample_distance[*from] : (double)NAN;
}

// How many variants fit beside each other; at least one.
static size_t count_columns(void) {
    enum { STEP_COLUMNS = 20 };
    if (!terminal_is_watched(stdout)) {
        return COLUMNS_MAX;
    }
    const unsigned columns = terminal_columns(stdout);
    const size_t fit = columns > STEP_COLUMNS ? (columns - STEP_COLUMNS) / COLUMN_WIDTH : 0;
    return fit < 1 ? 1 : fit < COLUMNS_MAX ? fit : COLUMNS_MAX;
}

static void print_distances(const Moreau__V1__EpisodeCompareReply *reply,
                            const CompareLabel *label) {
    const size_t room = count_columns();
    const size_t columns = reply->n_runs - 1 < room ? reply->n_runs - 1 : room;
    const Moreau__V1__EpisodeRun *was = reply->runs[0];
    size_t from[COLUMNS_MAX] = {0};
    fold_printf("\n  %sapart [m]:\n  %9s %8s", terminal_style(stdout, STYLE_DIM), "time [s]",
                "step");
    for (size_t k = 0; k < columns; k++) {
        char cut[SHOWN_COLUMN_BYTES];
        shown_cut(label[k + 1].text, COLUMN_WIDTH - 1, cut);
        fold_printf(" %*s%s", (int)(COLUMN_WIDTH - 1 - shown_width(cut)), "", cut);
    }
    fold_printf("%s\n", terminal_style(stdout, STYLE_PLAIN));
    for (size_t i = 0; i < sample_count(was); i++) {
        fold_printf("  %9.4g %8" PRIu64, was->sample_time[i], was->sample_step[i]);
        for (size_t k = 0; k < columns; k++) {
            char text[CELL_BYTES];
            double distance = distance_at(reply->runs[k + 1], was->sample_step[i], &from[k]);
            fold_printf(" %*s", COLUMN_WIDTH - 1, cell(!isnan(distance), distance, "%.2e", text));
        }
        fold_printf("\n");
    }
    if (columns < reply->n_runs - 1) {
        fold_printf("  … and %zu more: --json has all\n", reply->n_runs - 1 - columns);
    }
}

// ---- what is left to say

// Where the rules of a group would have ended what went on all the same, or did not.
static void print_rules(const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    const Moreau__V1__EpisodeRun *was = reply->runs[0];
    for (size_t i = 1; i < reply->n_runs; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i];
        if (run->has_terminated_step &&
            !(was->has_terminated_step && run->terminated_step == was->terminated_step)) {
            fold_printf("  %s would have been terminated behind step %" PRIu64
                        "; it took the recorded actions all the same\n",
                        label[i].text, run->terminated_step);
        } else if (was->has_terminated_step && !run->has_terminated_step && run->ended == NULL) {
            fold_printf(
                "  %s would not have been terminated, as the recording was behind step %" PRIu64
                "\n",
                label[i].text, was->terminated_step);
        }
    }
}

static void print_ends(const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    for (size_t i = 1; i < reply->n_runs; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i];
        if (run->ended != NULL) {
            fold_printf("  %s%s ended behind step %" PRIu64 "%s: %s\n",
                        terminal_style(stdout, STYLE_BAD), label[i].text, run->ended_step,
                        terminal_style(stdout, STYLE_PLAIN), run->ended);
        }
        if (run->overridden > 0) {
            fold_printf("  %s rules over what the recording sets in %" PRIu64 " input%s\n",
                        label[i].text, run->overridden, plural(run->overridden));
        }
    }
}

static void print_recorded(const Moreau__V1__EpisodeInfo *episode,
                           const Moreau__V1__EpisodeCompareReply *reply) {
    // the beginning of an id is that of all episodes of a group
    const int id_bytes = episode->has_turn ? INT32_MAX : EPISODE_SHORT_BYTES - 1;
    bool is_first = true;
    for (size_t i = 1; i < reply->n_runs; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i];
        if (run->episode == NULL) {
            continue;
        }
        if (is_first) {
            fold_printf("\n  Recorded; both are seen in the viewer, on the server's file, with\n");
        }
        is_first = false;
        fold_printf("  #episode=%.*s&with=%.8s  %s\n", id_bytes, episode->episode, run->episode,
                    run->name != NULL ? run->name : "");
    }
}

void compare_print(const Moreau__V1__EpisodeInfo *episode,
                   const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    char text[3][32];
    uint64_t steps = reply->last - reply->first;
    fold_printf("%s%s%s: %s step%s", terminal_style(stdout, STYLE_BOLD), episode_name(episode),
                terminal_style(stdout, STYLE_PLAIN), format_count(steps, text[0]), plural(steps));
    if (reply->substeps > 1) {
        fold_printf(" of %s substeps", format_count(reply->substeps, text[1]));
    }
    fold_printf(" from step %" PRIu64 " on, again; took %s\n", reply->first,
                format_seconds(reply->seconds, text[2]));
    print_runs(reply, label);
    fold_printf(
        "\n  e_DS (distance from exact Coulomb), overlap and launch: the worst of all steps\n"
        "  energy: after the last step\n"
        "  apart, turned: of the body farthest from where it was recorded\n"
        "  beyond: the first step at which one is farther than the threshold\n");
    print_ends(reply, label);
    print_rules(reply, label);
    if (reply->n_runs > 1) {
        print_distances(reply, label);
    }
    print_recorded(episode, reply);
}
