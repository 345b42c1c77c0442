// SPDX-License-Identifier: MIT
#include "cli/runs/report.h"

#include "cli/protocol/certificate.h"
#include "cli/text/number.h"
#include "cli/text/fold.h"
#include "cli/text/shown.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FIRST(message, name, otherwise) ((message)->n_##name > 0 ? (message)->name[0] : (otherwise))

// ---- collecting

// The first number of the index-th column of a message that holds columns of one type only.
static bool first_number(const ProtobufCMessage *columns, unsigned index, void *number,
                         size_t bytes) {
    if (columns == NULL || index >= columns->descriptor->n_fields) {
        return false;
    }
    const ProtobufCFieldDescriptor *field = &columns->descriptor->fields[index];
    size_t count;
    const void *items;
    memcpy(&count, (const uint8_t *)columns + field->quantifier_offset, sizeof(count));
    memcpy(&items, (const uint8_t *)columns + field->offset, sizeof(items));
    if (count > 0) {
        memcpy(number, items, bytes);
    }
    return count > 0;
}

static void add_certificate(RunReport *report, const Moreau__V1__StepReports *reports) {
    unsigned count = moreau__v1__certificate_columns__descriptor.n_fields;
    report->entry_count = count < RUN_ENTRIES_MAX ? count : RUN_ENTRIES_MAX;
    for (unsigned i = 0; i < report->entry_count; i++) {
        const ProtobufCMessage *last = reports->last != NULL ? &reports->last->base : NULL;
        const ProtobufCMessage *worst = reports->worst != NULL ? &reports->worst->base : NULL;
        const ProtobufCMessage *step =
            reports->worst_step != NULL ? &reports->worst_step->base : NULL;
        double number = 0.0;
        uint64_t at = 0;
        first_number(last, i, &report->last[i], sizeof(report->last[i]));
        first_number(step, i, &at, sizeof(at));
        if (first_number(worst, i, &number, sizeof(number)) && !(number <= report->worst[i])) {
            report->worst[i] = number;
            report->worst_step[i] = at;
        }
    }
}

static void add_open(RunReport *report, const Moreau__V1__StepReports *reports) {
    const Moreau__V1__OpenColumns *open = reports->worst_open;
    uint64_t step = FIRST(reports, worst_open_step, 0);
    if (open == NULL || step == 0) {
        return;
    }
    double residual = FIRST(open, residual, 0.0);
    if (report->open.step > 0 && residual <= report->open.residual) {
        return;
    }
    report->open =
        (RunOpen){.step = step,
                  .islands = FIRST(open, islands, 0),
                  .islands_open = FIRST(open, islands_open, 0),
                  .body = FIRST(open, body, 0),
                  .contacts = FIRST(open, contacts, 0),
                  .residual = residual,
                  .reason = (int)FIRST(open, reason, MOREAU__V1__CERTIFICATE__REASON__CONVERGED)};
}

static void add_launch(RunReport *report, const Moreau__V1__StepReports *reports) {
    const Moreau__V1__LaunchColumns *worst = reports->worst_launch;
    uint64_t step = FIRST(reports, worst_launch_step, 0);
    if (worst == NULL || step == 0 || FIRST(worst, speed, 0.0) <= report->launch.speed) {
        return;
    }
    report->launch = (RunLaunch){.step = step,
                                 .speed = FIRST(worst, speed, 0.0),
                                 .gliding = FIRST(worst, gliding, 0.0),
                                 .body = {FIRST(worst, body_a, 0), FIRST(worst, body_b, 0)}};
}

static void add_reports(RunReport *report, const Moreau__V1__StepReports *reports) {
    report->has_reports = true;
    report->contacts = FIRST(reports, contacts, 0);
    report->rows = FIRST(reports, rows, 0);
    report->iterations = FIRST(reports, iterations, 0);
    report->converged = FIRST(reports, converged, 0) != 0;
    report->unconverged_steps += FIRST(reports, unconverged_steps, 0);
    report->tolerance = FIRST(reports, tolerance, 0.0);
    report->solver_time = FIRST(reports, solver_time, 0.0);
    report->recovery_contacts = FIRST(reports, recovery_contacts, 0);
    report->recovery_steps += FIRST(reports, recovery_steps, 0);
    report->softened = FIRST(reports, softened, 0);
    report->softened_steps += FIRST(reports, softened_steps, 0);
    report->idle = FIRST(reports, idle, 0);
    report->idle_steps += FIRST(reports, idle_steps, 0);
    report->borrowed_steps += FIRST(reports, borrowed_steps, 0);
    report->owed_steps = FIRST(reports, owed_steps, 0);
    report->asleep = FIRST(reports, asleep, 0);
    report->gained += FIRST(reports, gained, 0.0);
    add_certificate(report, reports);
    add_open(report, reports);
    add_launch(report, reports);
    if (reports->energy != NULL && reports->energy->n_after > 0) {
        report->has_energy = true;
        report->energy_before = FIRST(reports->energy, before, 0.0);
        report->energy_after = reports->energy->after[0];
        report->energy_unexplained = FIRST(reports->energy, unexplained, 0.0);
    }
}

uint64_t run_report_add(RunReport *report, const Moreau__V1__WorldStepReply *reply) {
    uint64_t done = FIRST(reply, steps_done, 0);
    report->steps_done += done;
    report->step = FIRST(reply, step, report->step);
    report->time = FIRST(reply, time, report->time);
    report->removed += FIRST(reply, removed, 0);
    for (size_t i = 0; i < reply->n_broken; i++) {
        if (report->broken < RUN_BROKEN_MAX) {
            report->broken_id[report->broken] = reply->broken[i];
        }
        report->broken++;
    }
    if (done > 0 && reply->reports != NULL) {
        add_reports(report, reply->reports);
    }
    return done;
}

// ---- showing

// Nullable: it has none, or came later.
static const char *name_of_body(const RunReport *report, uint64_t id) {
    for (size_t i = 0; report->created != NULL && i < report->created->n_ids; i++) {
        if (report->created->ids[i] == id) {
            const char *name = i < report->scene->n_bodies ? report->scene->bodies[i]->name : NULL;
            return name == NULL || name[0] == '\0' ? NULL : name;
        }
    }
    return NULL;
}

enum { NAME_COLUMNS = 40, BODY_TEXT_BYTES = SHOWN_COLUMN_BYTES + 3 };

static const char *text_of_body(const RunReport *report, uint64_t id, char *text) {
    const char *name = name_of_body(report, id);
    if (name != NULL) {
        char shown[SHOWN_COLUMN_BYTES];
        snprintf(text, BODY_TEXT_BYTES, "'%s'", shown_cut(name, NAME_COLUMNS, shown));
    } else {
        snprintf(text, BODY_TEXT_BYTES, "%" PRIu64, id);
    }
    return text;
}

// The joints of a scene are the first of its world.
static void print_broken(const RunReport *report) {
    char text[32];
    if (report->broken == 0) {
        return;
    }
    fold_printf("  broken       %s joint%s:", format_count(report->broken, text),
                plural(report->broken));
    for (uint64_t i = 0; i < report->broken && i < RUN_BROKEN_MAX; i++) {
        const uint64_t id = report->broken_id[i];
        const char *name =
            id <= report->scene->n_joints ? report->scene->joints[id - 1]->name : NULL;
        if (name != NULL && name[0] != '\0') {
            char shown[SHOWN_COLUMN_BYTES];
            fold_printf("%s '%s'", i == 0 ? "" : ",", shown_cut(name, NAME_COLUMNS, shown));
        } else {
            fold_printf("%s %" PRIu64, i == 0 ? "" : ",", id);
        }
    }
    fold_printf("%s\n", report->broken > RUN_BROKEN_MAX ? ", …" : "");
}

static void print_launch(const RunReport *report) {
    const RunLaunch *launch = &report->launch;
    char text[2][BODY_TEXT_BYTES];
    if (launch->step > 0) {
        fold_printf("  launch       by up to %.2g m/s, and gliding %.2g m high, in step %" PRIu64
                    "\n",
                    launch->speed, launch->gliding, launch->step);
        fold_printf("  of           body %s against %s\n",
                    text_of_body(report, launch->body[0], text[0]),
                    text_of_body(report, launch->body[1], text[1]));
    }
}

static void print_open(const RunReport *report) {
    const RunOpen *open = &report->open;
    if (open->step == 0) {
        return;
    }
    char body[BODY_TEXT_BYTES];
    fold_printf("  at worst     step %" PRIu64 ": %" PRIu32 " of %" PRIu32
                " island%s not solved, residual %.2g\n",
                open->step, open->islands_open, open->islands, plural(open->islands),
                open->residual);
    fold_printf("  which        %" PRIu32 " contact%s around body %s\n", open->contacts,
                plural(open->contacts), text_of_body(report, open->body, body));
    fold_printf("  why          %s\n", certificate_reason_meaning(open->reason));
}

// by solver and reason
static void print_advice(const RunReport *report) {
    if (strcmp(report->solver, "lcp") == 0) { // it ends by itself, and its passes by their number
        fold_printf(
            "  what helps   more passes, as --param passes=100, or a smaller --time-step\n");
    } else if (report->open.step == 0 || // it does not say
               report->open.reason == MOREAU__V1__CERTIFICATE__REASON__ITERATIONS_ENDED) {
        fold_printf("  what helps   more iterations: --param max_iterations=%" PRIu64 "\n",
                    report->iterations_advised);
    } else if (report->open.reason == MOREAU__V1__CERTIFICATE__REASON__BUDGET_ENDED) {
        fold_printf("  what helps   more %s\n", report->is_bounded
                                                    ? "effort: --effort exact"
                                                    : "operations: --param budget=3e9");
    } else {
        fold_printf("  what helps   a smaller --time-step\n");
    }
}

static void print_convergence(const RunReport *report) {
    char text[2][32];
    if (report->unconverged_steps == 0) {
        fold_printf("  converged    %s%s%s, to %.3g\n", terminal_style(stdout, STYLE_GOOD),
                    report->steps_done == 1 ? "the step" : "all steps",
                    terminal_style(stdout, STYLE_PLAIN), report->tolerance);
        return;
    }
    fold_printf("  converged    %s%s of %s step%s did not%s reach %.3g\n",
                terminal_style(stdout, STYLE_BAD), format_count(report->unconverged_steps, text[0]),
                format_count(report->steps_done, text[1]), plural(report->steps_done),
                terminal_style(stdout, STYLE_PLAIN), report->tolerance);
    print_open(report);
    print_advice(report);
}

static void print_certificate(const RunReport *report) {
    const ProtobufCMessageDescriptor *columns = &moreau__v1__certificate_columns__descriptor;
    static const TableColumn head[] = {CERTIFICATE_COLUMNS(2),
                                       {"last", NULL, 10, 1, TABLE_RIGHT},
                                       {"worst", NULL, 9, 0, TABLE_RIGHT},
                                       {"at step", NULL, 10, 0, TABLE_RIGHT}};
    Table table = certificate_table(head, sizeof(head) / sizeof(head[0]));
    for (unsigned i = 0; i < report->entry_count; i++) {
        const char *entry = columns->fields[i].name;
        char at[24] = "";
        if (report->worst[i] > 0.0) {
            snprintf(at, sizeof(at), "%" PRIu64, report->worst_step[i]);
        }
        certificate_cells(&table, entry);
        table_printf(&table, 2, STYLE_PLAIN, "%.2g", report->last[i]);
        table_printf(&table, 3, STYLE_PLAIN, "%.2g", report->worst[i]);
        table_cell(&table, 4, STYLE_PLAIN, at);
        fold_printf("\n");
    }
}

// What a balanced effort took beyond its sweeps.
static void print_borrowed(const RunReport *report) {
    char text[32], owed[48] = "";
    if (report->borrowed_steps == 0) {
        return;
    }
    if (report->owed_steps > 0) {
        snprintf(owed, sizeof(owed), "; the next %" PRIu32 " will not", report->owed_steps);
    }
    fold_printf("  borrowed     in %s step%s what rests or is small took more%s\n",
                format_count(report->borrowed_steps, text), plural(report->borrowed_steps), owed);
}

static void print_timing(const RunReport *report) {
    char text[3][32], name[SHOWN_COLUMN_BYTES];
    double factor = report->wall_time > 0.0 ? report->time / report->wall_time : 0.0;
    char times[32]; // three digits that count, and no exponent
    snprintf(times, sizeof(times), factor < 100.0 ? "%.3g" : "%.0f", factor);
    fold_printf("%s%s%s: %s step%s, %.6g s simulated, in %s (%sx real time)\n",
                terminal_style(stdout, STYLE_BOLD), shown_text(report->name, name, sizeof(name)),
                terminal_style(stdout, STYLE_PLAIN), format_count(report->steps_done, text[0]),
                plural(report->steps_done), report->time,
                format_seconds(report->wall_time, text[1]), times);
    if (report->steps_done < report->steps_wanted) {
        fold_printf("  %s%s before all %s step%s were done%s\n", terminal_style(stdout, STYLE_BAD),
                    report->interrupted ? "stopped" : "ended",
                    format_count(report->steps_wanted, text[2]), plural(report->steps_wanted),
                    terminal_style(stdout, STYLE_PLAIN));
    }
}

void run_report_print(const RunReport *report) {
    print_timing(report);
    char text[2][32];
    fold_printf("  solver       %s, %" PRIu32 " iteration%s and %s in the last step\n",
                report->solver, report->iterations, plural(report->iterations),
                format_seconds(report->solver_time, text[0]));
    fold_printf("  world        %s %s, %" PRIu32 " contact%s, %" PRIu32 " row%s\n",
                format_count(report->bodies, text[0]), report->bodies == 1 ? "body" : "bodies",
                report->contacts, plural(report->contacts), report->rows, plural(report->rows));
    if (report->has_reports) {
        print_convergence(report);
    }
    print_launch(report);
    if (report->recovery_steps > 0) {
        fold_printf(
            "  overlaps     in %s step%s some were too deep to leave at once (recovery_speed), in "
            "the last %" PRIu32 " contact%s\n",
            format_count(report->recovery_steps, text[0]), plural(report->recovery_steps),
            report->recovery_contacts, plural(report->recovery_contacts));
    }
    if (report->softened_steps > 0) {
        fold_printf(
            "  softened     in %s step%s some targets contradicted each other, in the last those "
            "of %" PRIu32 " contact%s and rows\n",
            format_count(report->softened_steps, text[0]), plural(report->softened_steps),
            report->softened, plural(report->softened));
    }
    if (report->idle_steps > 0) {
        fold_printf(
            "  left out     in %s step%s contacts or rows that can move nothing of their own, in "
            "the last %" PRIu32 "\n",
            format_count(report->idle_steps, text[0]), plural(report->idle_steps), report->idle);
    }
    print_borrowed(report);
    if (report->asleep > 0) {
        fold_printf("  asleep       %" PRIu32 " %s\n", report->asleep,
                    report->asleep == 1 ? "body" : "bodies");
    }
    if (report->removed > 0) {
        fold_printf("  bounds       %s %s left them and %s removed\n",
                    format_count(report->removed, text[0]),
                    report->removed == 1 ? "body" : "bodies",
                    report->removed == 1 ? "was" : "were");
    }
    print_broken(report);
    if (report->has_energy) {
        fold_printf("  energy       %.9g J, %+.3g J in the last step\n", report->energy_after + 0.0,
                    report->energy_after - report->energy_before + 0.0);
    }
    if (report->gained > 0.0) {
        fold_printf(
            "  gained       %s%.3g J%s that nothing gave: joints and the integrator did; a smaller "
            "--time-step helps\n",
            terminal_style(stdout, STYLE_BAD), report->gained, terminal_style(stdout, STYLE_PLAIN));
    }
    if (report->has_hash) {
        fold_printf("  state hash   %" PRIu64 "\n", report->hash);
    }
    if (report->kept) {
        fold_printf("  kept         as world %" PRIu64 "\n", report->world);
    }
    if (report->has_reports) {
        print_certificate(report);
    }
}

// ---- the same as a document

static json_t *write_certificate(const RunReport *report) {
    const ProtobufCMessageDescriptor *columns = &moreau__v1__certificate_columns__descriptor;
    json_t *last = json_object();
    json_t *worst = json_object();
    json_t *step = json_object();
    for (unsigned i = 0; i < report->entry_count; i++) {
        const char *name = certificate_key(columns->fields[i].name);
        json_object_set_new(last, name, number_json(report->last[i]));
        json_object_set_new(worst, name, number_json(report->worst[i]));
        json_object_set_new(step, name, number_json_whole(report->worst_step[i]));
    }
    return json_pack("{s:o,s:o,s:o}", "last", last, "worst", worst, "worst_step", step);
}

static json_t *write_open(const RunOpen *open) {
    return json_pack("{s:o,s:I,s:I,s:o,s:I,s:o,s:s}", "step", number_json_whole(open->step),
                     "islands", (json_int_t)open->islands, "islands_open",
                     (json_int_t)open->islands_open, "body", number_json_whole(open->body),
                     "contacts", (json_int_t)open->contacts, "residual",
                     number_json(open->residual), "reason", certificate_reason(open->reason));
}

static json_t *write_launch(const RunLaunch *launch) {
    return json_pack("{s:o,s:o,s:o,s:[o,o]}", "step", number_json_whole(launch->step), "speed",
                     number_json(launch->speed), "gliding", number_json(launch->gliding), "bodies",
                     number_json_whole(launch->body[0]), number_json_whole(launch->body[1]));
}

static void write_solve(const RunReport *report, json_t *document) {
    json_object_set_new(document, "contacts", json_integer(report->contacts));
    json_object_set_new(document, "rows", json_integer(report->rows));
    json_object_set_new(document, "iterations", json_integer(report->iterations));
    json_object_set_new(document, "converged", json_boolean(report->converged));
    json_object_set_new(document, "unconverged_steps",
                        number_json_whole(report->unconverged_steps));
    json_object_set_new(document, "tolerance", number_json(report->tolerance));
    json_object_set_new(document, "recovery_contacts", json_integer(report->recovery_contacts));
    json_object_set_new(document, "recovery_steps", number_json_whole(report->recovery_steps));
    json_object_set_new(document, "softened", json_integer(report->softened));
    json_object_set_new(document, "softened_steps", number_json_whole(report->softened_steps));
    json_object_set_new(document, "idle", json_integer(report->idle));
    json_object_set_new(document, "idle_steps", number_json_whole(report->idle_steps));
    json_object_set_new(document, "borrowed_steps", number_json_whole(report->borrowed_steps));
    json_object_set_new(document, "owed_steps", json_integer(report->owed_steps));
    json_object_set_new(document, "asleep", json_integer(report->asleep));
    json_object_set_new(document, "broken_joints", number_json_whole(report->broken));
    json_object_set_new(document, "solver_time", number_json(report->solver_time));
    json_object_set_new(document, "certificate", write_certificate(report));
    if (report->open.step > 0) {
        json_object_set_new(document, "worst_open", write_open(&report->open));
    }
    if (report->launch.step > 0) {
        json_object_set_new(document, "worst_launch", write_launch(&report->launch));
    }
    if (report->has_energy) {
        json_object_set_new(document, "energy",
                            json_pack("{s:o,s:o,s:o,s:o}", "before",
                                      number_json(report->energy_before), "after",
                                      number_json(report->energy_after), "unexplained",
                                      number_json(report->energy_unexplained), "gained",
                                      number_json(report->gained)));
    }
}

json_t *run_report_write(const RunReport *report) {
    json_t *document = json_object();
    json_object_set_new(document, "world", number_json_whole(report->world));
    json_object_set_new(document, "name", json_string(report->name));
    json_object_set_new(document, "solver", json_string(report->solver));
    json_object_set_new(document, "bodies", number_json_whole(report->bodies));
    json_object_set_new(document, "removed", number_json_whole(report->removed));
    json_object_set_new(document, "steps", number_json_whole(report->steps_done));
    json_object_set_new(document, "step", number_json_whole(report->step));
    json_object_set_new(document, "time", number_json(report->time));
    json_object_set_new(document, "wall_time", number_json(report->wall_time));
    json_object_set_new(
        document, "real_time_factor",
        number_json(report->wall_time > 0.0 ? report->time / report->wall_time : 0.0));
    json_object_set_new(document, "interrupted", json_boolean(report->interrupted));
    json_object_set_new(document, "kept", json_boolean(report->kept));
    if (report->has_reports) {
        write_solve(report, document);
    }
    if (report->has_hash) {
        json_object_set_new(document, "hash", number_json_hash(report->hash));
    }
    return document;
}
