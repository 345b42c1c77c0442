// SPDX-License-Identifier: MIT
#include "cli/runs/beside.h"

#include "cli/json/write.h"
#include "cli/text/number.h"
#include "cli/text/fold.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 32 };

void run_beside_free(RunBeside *run) {
    if (run->created != NULL) {
        moreau__v1__reply__free_unpacked(run->created, NULL);
    }
    if (run->episode != NULL) {
        moreau__v1__reply__free_unpacked(run->episode, NULL);
    }
    run_places_free(&run->places);
    *run = (RunBeside){0};
}

// ---- showing

// The worst of a run's entry of the certificate; NAN: it has none.
static double worst_of(const RunReport *report, const char *entry) {
    const ProtobufCMessageDescriptor *columns = &moreau__v1__certificate_columns__descriptor;
    for (unsigned i = 0; i < report->entry_count; i++) {
        if (strcmp(columns->fields[i].name, entry) == 0) {
            return report->worst[i];
        }
    }
    return (double)NAN;
}

static const char *cell(double number, const char *format, char text[CELL_BYTES]) {
    if (isnan(number)) {
        return "-";
    }
    snprintf(text, CELL_BYTES, number == 0.0 ? "%g" : format, number);
    return text;
}

// "all", or the share of the steps, rounded down so that one that is missing shows.
static const char *converged_cell(const RunReport *report, char text[CELL_BYTES]) {
    if (!report->has_reports || report->steps_done == 0) {
        return "-";
    }
    if (report->unconverged_steps == 0) {
        return "all";
    }
    double done = (double)report->steps_done;
    double share = (done - (double)report->unconverged_steps) / done;
    snprintf(text, CELL_BYTES, "%.1f %%", floor(1000.0 * share) / 10.0);
    return text;
}

static double drift_of(const RunBeside *run, const RunBeside *first, size_t *body) {
    double drift;
    return run_places_farthest(&run->places, &first->places, &drift, body) ? drift : (double)NAN;
}

static Table fit_runs(void) {
    static const TableColumn columns[] = {
        {"solver", NULL, 9, 0, TABLE_LEFT},   {"converged", "[steps]", 9, 0, TABLE_RIGHT},
        {"e_DS", "[1]", 7, 0, TABLE_RIGHT},   {"overlap", "[m]", 7, 2, TABLE_RIGHT},
        {"energy", "[J]", 9, 4, TABLE_RIGHT}, {"unexpl.", "[J]", 7, 5, TABLE_RIGHT},
        {"drift", "[m]", 7, 3, TABLE_RIGHT},  {"launch", "[m/s]", 7, 6, TABLE_RIGHT},
        {"time", NULL, 8, 1, TABLE_RIGHT},
    };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 2, 0);
}

static void print_row(const RunBeside *run, const RunBeside *first) {
    const RunReport *report = &run->report;
    bool is_bad = report->unconverged_steps > 0 || run->failure[0] != '\0';
    char text[CELL_BYTES];
    size_t body;
    double energy = report->has_energy ? report->energy_after : (double)NAN;
    double unexplained = report->has_energy ? report->energy_unexplained : (double)NAN;
    double drift = run == first ? (double)NAN : drift_of(run, first, &body);
    double launch = report->has_reports ? report->launch.speed : (double)NAN;
    Table table = fit_runs();
    table_cell(&table, 0, STYLE_PLAIN, report->solver);
    table_cell(&table, 1, is_bad ? STYLE_BAD : STYLE_GOOD, converged_cell(report, text));
    table_cell(&table, 2, STYLE_PLAIN, cell(worst_of(report, "e_ds"), "%.1e", text));
    table_cell(&table, 3, STYLE_PLAIN, cell(worst_of(report, "penetration"), "%.1e", text));
    table_cell(&table, 4, STYLE_PLAIN, cell(energy, "%.3g", text));
    table_cell(&table, 5, STYLE_PLAIN, cell(fabs(unexplained), "%.0e", text));
    table_cell(&table, 6, STYLE_PLAIN, cell(drift, "%.1e", text));
    table_cell(&table, 7, STYLE_PLAIN, cell(launch, "%.1e", text));
    table_cell(&table, 8, STYLE_PLAIN,
               report->steps_done > 0 ? format_seconds(report->wall_time, text) : "-");
    fold_printf("\n");
}

static void print_end(const RunBeside *run) {
    char text[32];
    const RunReport *report = &run->report;
    if (run->failure[0] != '\0' && report->steps_done < report->steps_wanted) {
        fold_printf("  %s%s ended after %s step%s%s\n", terminal_style(stdout, STYLE_BAD),
                    report->solver, format_count(report->steps_done, text),
                    plural(report->steps_done), terminal_style(stdout, STYLE_PLAIN));
    } else if (report->steps_done < report->steps_wanted) {
        fold_printf("  %s was stopped after %s step%s\n", report->solver,
                    format_count(report->steps_done, text), plural(report->steps_done));
    }
    if (report->kept && report->world > 0) {
        fold_printf("  %s is kept as world %" PRIu64 "\n", report->solver, report->world);
    }
}

void run_beside_print(const RunBeside *runs, size_t count) {
    char text[2][32];
    const RunReport *first = &runs[0].report;
    fold_printf("%s%s%s: %s %s, %s step%s under each solver\n", terminal_style(stdout, STYLE_BOLD),
                first->name, terminal_style(stdout, STYLE_PLAIN),
                format_count(first->bodies, text[0]), first->bodies == 1 ? "body" : "bodies",
                format_count(first->steps_wanted, text[1]), plural(first->steps_wanted));
    Table table = fit_runs();
    table_print_head(&table, NULL);
    table_print_units(&table, NULL);
    for (size_t i = 0; i < count; i++) {
        print_row(&runs[i], &runs[0]);
    }
    fold_printf(
        "\n  e_DS (distance from exact Coulomb), overlap and launch: the worst of all steps\n"
        "  energy: after the last step; unexpl.: what of its last change nothing explains\n"
        "  drift: of the body that is farthest from where it is under %s\n"
        "  time: of the stepping\n",
        first->solver);
    for (size_t i = 0; i < count; i++) {
        print_end(&runs[i]);
    }
}

// ---- the same as a document

static json_t *write_run(const RunBeside *run, const RunBeside *first) {
    json_t *document = run_report_write(&run->report);
    size_t body = 0;
    double drift = drift_of(run, first, &body);
    json_object_set_new(document, "drift", number_json(drift));
    if (drift > 0.0) {
        json_object_set_new(document, "drift_body", json_integer((json_int_t)body));
    }
    if (run->episode != NULL) {
        json_object_set_new(document, "episode",
                            json_write_ours(&run->episode->episode_stop->episode->base));
    }
    if (run->failure[0] != '\0') {
        json_object_set_new(document, "error", json_pack("{s:s}", "message", run->failure));
    }
    return document;
}

json_t *run_beside_write(const RunBeside *runs, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, write_run(&runs[i], &runs[0]));
    }
    return json_pack("{s:s,s:o}", "drift_from", runs[0].report.solver, "runs", list);
}
