// SPDX-License-Identifier: MIT
#include "cli/episodes/compare_text.h"

#include "cli/episodes/episode_text.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { CELL_BYTES = 32 };
// So many variants fit beside each other into 120 columns.
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

static void print_run(const Moreau__V1__EpisodeRun *run, const char *label, bool is_variant) {
    char text[10][CELL_BYTES];
    bool is_bad = run->unconverged_steps > 0 || run->ended != NULL;
    double e_ds = FIRST(run->worst, e_ds), overlap = FIRST(run->worst, penetration),
           launch = FIRST(run->launch, speed);
    printf("  %-15.15s %s%9s%s", label, terminal_style(stdout, is_bad ? STYLE_BAD : STYLE_GOOD),
           converged_cell(run, text[0]), terminal_style(stdout, STYLE_PLAIN));
    printf(" %7s %7s %7s %9s %8s", cell(!isnan(e_ds), e_ds, "%.1e", text[1]),
           cell(!isnan(overlap), overlap, "%.1e", text[2]),
           cell(!isnan(launch), launch, "%.1e", text[3]),
           cell(run->steps > 0, run->energy, "%.4g", text[4]),
           run->steps > 0 ? format_seconds(run->solver_time_mean, text[5]) : "-");
    if (is_variant) {
        printf(" %8s %7s %7s %7s", cell(true, run->distance, "%.2e", text[6]),
               step_cell(run->distance > 0.0, run->distance_step, text[7]),
               cell(true, run->angle * 180.0 / (double)M_PI, "%.1e", text[8]),
               step_cell(run->has_apart_step, run->apart_step, text[9]));
    }
    putchar('\n');
}

static void print_runs(const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    printf("  %s%-15s %9s %7s %7s %7s %9s %8s %8s %7s %7s %7s%s\n",
           terminal_style(stdout, STYLE_DIM), "run", "converged", "e_DS", "overlap", "launch",
           "energy", "solver", "apart", "at step", "turned", "beyond",
           terminal_style(stdout, STYLE_PLAIN));
    printf("  %s%-15s %9s %7s %7s %7s %9s %8s %8s %7s %7s %7s%s\n",
           terminal_style(stdout, STYLE_DIM), "", "[steps]", "[1]", "[m]", "[m/s]", "[J]",
           "per step", "[m]", "", "[deg]", "at step", terminal_style(stdout, STYLE_PLAIN));
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

static void print_distances(const Moreau__V1__EpisodeCompareReply *reply,
                            const CompareLabel *label) {
    const size_t columns = reply->n_runs - 1 < COLUMNS_MAX ? reply->n_runs - 1 : COLUMNS_MAX;
    const Moreau__V1__EpisodeRun *was = reply->runs[0];
    size_t from[COLUMNS_MAX] = {0};
    printf("\n  %s%9s %8s", terminal_style(stdout, STYLE_DIM), "time [s]", "step");
    for (size_t k = 0; k < columns; k++) {
        printf(" %*.*s", COLUMN_WIDTH - 1, COLUMN_WIDTH - 1, label[k + 1].text);
    }
    printf("   [m] apart%s\n", terminal_style(stdout, STYLE_PLAIN));
    for (size_t i = 0; i < sample_count(was); i++) {
        printf("  %9.4g %8" PRIu64, was->sample_time[i], was->sample_step[i]);
        for (size_t k = 0; k < columns; k++) {
            char text[CELL_BYTES];
            double distance = distance_at(reply->runs[k + 1], was->sample_step[i], &from[k]);
            printf(" %*s", COLUMN_WIDTH - 1, cell(!isnan(distance), distance, "%.2e", text));
        }
        putchar('\n');
    }
    if (columns < reply->n_runs - 1) {
        printf("  … and %zu more: --json has all\n", reply->n_runs - 1 - columns);
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
            printf("  %s would have been terminated behind step %" PRIu64
                   "; it took the recorded actions all the same\n",
                   label[i].text, run->terminated_step);
        } else if (was->has_terminated_step && !run->has_terminated_step && run->ended == NULL) {
            printf("  %s would not have been terminated, as the recording was behind step %" PRIu64
                   "\n",
                   label[i].text, was->terminated_step);
        }
    }
}

static void print_ends(const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    for (size_t i = 1; i < reply->n_runs; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i];
        if (run->ended != NULL) {
            printf("  %s%s ended behind step %" PRIu64 "%s: %s\n",
                   terminal_style(stdout, STYLE_BAD), label[i].text, run->ended_step,
                   terminal_style(stdout, STYLE_PLAIN), run->ended);
        }
        if (run->overridden > 0) {
            printf("  %s rules over what the recording sets in %" PRIu64 " input%s\n",
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
            printf("\n  Recorded; both are seen in the viewer, on the server's file, with\n");
        }
        is_first = false;
        printf("  #episode=%.*s&with=%.8s  %s\n", id_bytes, episode->episode, run->episode,
               run->name != NULL ? run->name : "");
    }
}

void compare_print(const Moreau__V1__EpisodeInfo *episode,
                   const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label) {
    char text[3][32];
    uint64_t steps = reply->last - reply->first;
    printf("%s%s%s: %s step%s", terminal_style(stdout, STYLE_BOLD), episode_name(episode),
           terminal_style(stdout, STYLE_PLAIN), format_count(steps, text[0]), plural(steps));
    if (reply->substeps > 1) {
        printf(" of %s substeps", format_count(reply->substeps, text[1]));
    }
    printf(" from step %" PRIu64 " on, again; took %s\n", reply->first,
           format_seconds(reply->seconds, text[2]));
    print_runs(reply, label);
    printf(
        "\n  e_DS (distance from exact Coulomb), overlap, launch: the worst of all steps; energy:\n"
        "  after the last; apart, turned: the body farthest from where it was recorded; beyond:\n"
        "  the first step at which one is farther than the threshold\n");
    print_ends(reply, label);
    print_rules(reply, label);
    if (reply->n_runs > 1) {
        print_distances(reply, label);
    }
    print_recorded(episode, reply);
}
