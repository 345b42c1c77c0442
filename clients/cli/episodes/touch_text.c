// SPDX-License-Identifier: MIT
#include "cli/episodes/touch_text.h"

#include "cli/base/interrupt.h"
#include "cli/text/number.h"
#include "cli/text/fold.h"
#include "cli/text/shown.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// One more page of what has to be stepped again takes all steps again: those are as long as can be.
enum { PAGE_ROWS = 1000, PAGE_ROWS_STEPPED = 65536, BODY_BYTES = 64 };

// Whether all columns are as long as the first.
static bool is_sound(const Moreau__V1__EpisodeTouchesReply *page) {
    const size_t count = page->n_body;
    return page->n_other_body == count && page->n_first_step == count &&
           page->n_last_step == count && page->n_ended == count &&
           page->n_approach_speed == count && page->n_first_impulse == count &&
           page->n_hardest_impulse == count && page->n_hardest_step == count &&
           page->n_names == page->n_ids;
}

static bool show_progress(void *context, const MoreauReply *event) {
    Moreau__V1__Reply *message = cli_unpack(event);
    if (message->result_case == MOREAU__V1__REPLY__RESULT_TOUCHES_PROGRESS) {
        const Moreau__V1__EpisodeProgress *progress = message->touches_progress;
        progress_show(context, progress->steps_done, progress->steps_total, 0.0);
    }
    moreau__v1__reply__free_unpacked(message, NULL);
    return true;
}

// NULL, after a sentence, when it is refused.
static Moreau__V1__Reply *fetch(Cli *cli, Moreau__V1__EpisodeTouches *asked, int *status) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_TOUCHES;
    request.episode_touches = asked;
    Moreau__V1__Reply *reply;
    Progress progress;
    progress_start(&progress);
    *status = cli_call_events(cli, &request, show_progress, &progress, &reply);
    progress_stop(&progress);
    if (*status != EXIT_DONE) {
        *status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_TOUCHES ||
               !is_sound(reply->episode_touches)) {
        *status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no table of touches");
    } else {
        return reply;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return NULL;
}

static int compare_ids(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

// The ids of a page rise. NULL: it has no name.
static const char *name_of(const Moreau__V1__EpisodeTouchesReply *page, uint64_t body) {
    const uint64_t *found =
        page->n_ids == 0 ? NULL : bsearch(&body, page->ids, page->n_ids, sizeof(body), compare_ids);
    return found == NULL ? NULL : page->names[found - page->ids];
}

static const char *body_text(const Moreau__V1__EpisodeTouchesReply *page, uint64_t body,
                             char text[BODY_BYTES]) {
    const char *name = name_of(page, body);
    if (name != NULL) {
        snprintf(text, BODY_BYTES, "%s", name);
    } else {
        snprintf(text, BODY_BYTES, "#%" PRIu64, body);
    }
    return text;
}

static Table fit_touches(void) {
    static const TableColumn columns[] = {
        {"body", NULL, 14, 0, TABLE_GROWS},   {"other body", NULL, 14, 0, TABLE_LEFT},
        {"begun", NULL, 8, 1, TABLE_RIGHT},   {"ended", NULL, 8, 4, TABLE_RIGHT},
        {"at m/s", NULL, 9, 5, TABLE_RIGHT},  {"hardest N s", NULL, 11, 2, TABLE_RIGHT},
        {"in step", NULL, 8, 3, TABLE_RIGHT},
    };
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, 0);
}

static void print_head(uint64_t total, uint64_t limit, bool is_simulated) {
    char text[2][32];
    if (is_simulated) {
        fold_printf("recorded without events: its steps were taken again to see what touched\n");
    }
    fold_printf("%s%s touch%s%s", terminal_style(stdout, STYLE_BOLD), format_count(total, text[0]),
                total == 1 ? "" : "es", terminal_style(stdout, STYLE_PLAIN));
    if (total > limit) {
        fold_printf("; the first %s (--limit N shows more)", format_count(limit, text[1]));
    }
    fold_printf("\n");
    if (total > 0) {
        Table table = fit_touches();
        table_print_head(&table, NULL);
    }
}

static void print_row(const Moreau__V1__EpisodeTouchesReply *page, size_t i) {
    char body[BODY_BYTES];
    Table table = fit_touches();
    table_cell(&table, 0, STYLE_PLAIN, body_text(page, page->body[i], body));
    table_cell(&table, 1, STYLE_PLAIN, body_text(page, page->other_body[i], body));
    table_printf(&table, 2, STYLE_PLAIN, "%" PRIu64, page->first_step[i]);
    if (page->ended[i]) {
        table_printf(&table, 3, STYLE_PLAIN, "%" PRIu64, page->last_step[i]);
    } else {
        table_cell(&table, 3, STYLE_PLAIN, "-");
    }
    table_printf(&table, 4, STYLE_PLAIN, "%.4g", page->approach_speed[i]);
    table_printf(&table, 5, STYLE_PLAIN, "%.5g", page->hardest_impulse[i]);
    table_printf(&table, 6, STYLE_PLAIN, "%" PRIu64, page->hardest_step[i]);
    fold_printf("\n");
}

static void set_name(json_t *row, const char *key, const char *name) {
    if (name != NULL) {
        json_object_set_new(row, key, json_string(name));
    }
}

static json_t *json_row(const Moreau__V1__EpisodeTouchesReply *page, size_t i) {
    json_t *row = json_object();
    json_object_set_new(row, "body", number_json_whole(page->body[i]));
    set_name(row, "body_name", name_of(page, page->body[i]));
    json_object_set_new(row, "other_body", number_json_whole(page->other_body[i]));
    set_name(row, "other_name", name_of(page, page->other_body[i]));
    json_object_set_new(row, "first_step", number_json_whole(page->first_step[i]));
    json_object_set_new(row, "last_step", number_json_whole(page->last_step[i]));
    json_object_set_new(row, "ended", json_boolean(page->ended[i]));
    json_object_set_new(row, "approach_speed", number_json(page->approach_speed[i]));
    json_object_set_new(row, "first_impulse", number_json(page->first_impulse[i]));
    json_object_set_new(row, "hardest_impulse", number_json(page->hardest_impulse[i]));
    json_object_set_new(row, "hardest_step", number_json_whole(page->hardest_step[i]));
    return row;
}

// Prints the rows, or collects them in `rows` (Nullable).
static void show_page(const Moreau__V1__EpisodeTouchesReply *page, json_t *rows) {
    for (size_t i = 0; i < page->n_body; i++) {
        if (rows != NULL) {
            json_array_append_new(rows, json_row(page, i));
        } else {
            print_row(page, i);
        }
    }
}

int touches_show(Cli *cli, const char *episode, uint64_t limit) {
    Moreau__V1__EpisodeTouches asked = MOREAU__V1__EPISODE_TOUCHES__INIT;
    asked.episode = (char *)episode;
    asked.has_first = asked.has_count = asked.has_simulate = asked.simulate = 1;
    json_t *rows = cli->json ? json_array() : NULL;
    uint64_t got, page = PAGE_ROWS;
    interrupt_catch();
    do {
        const uint64_t left = limit - asked.first;
        asked.count = left < page ? left : page;
        int status;
        Moreau__V1__Reply *reply = fetch(cli, &asked, &status);
        if (reply == NULL) {
            json_decref(rows);
            return status;
        }
        if (asked.first == 0 && rows == NULL) {
            print_head(reply->episode_touches->total, limit, reply->episode_touches->simulated);
        }
        page = reply->episode_touches->simulated ? PAGE_ROWS_STEPPED : PAGE_ROWS;
        got = reply->episode_touches->n_body;
        asked.first += got;
        show_page(reply->episode_touches, rows);
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (got == asked.count && got > 0 && asked.first < limit);
    if (rows != NULL) {
        cli_print(cli, rows);
    }
    return EXIT_DONE;
}
