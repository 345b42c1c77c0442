// SPDX-License-Identifier: MIT
#include "bench/table.h"

#include "cli/text/fold.h"
#include "cli/text/table.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Three or four digits that count, whatever the size of the number.
static void number_text(double value, char *text, size_t bytes) {
    double size = fabs(value);
    const char *format = size >= 1e6 || (size < 1e-3 && size > 0.0) ? "%.2e"
                         : size >= 100.0                            ? "%.0f"
                         : size >= 10.0                             ? "%.1f"
                         : size >= 1.0                              ? "%.2f"
                                                                    : "%.3f";
    snprintf(text, bytes, format, value);
}

static double row_ratio(const BenchRow *row) {
    return row->peer == NULL ? 0.0 : row->value / row->peer_value;
}

static bool is_met(const BenchRow *row) {
    return row->aim_kind == AIM_VALUE_MIN   ? row->value >= row->aim
           : row->aim_kind == AIM_VALUE_MAX ? row->value <= row->aim
                                            : row_ratio(row) <= row->aim;
}

static void aim_text(const BenchRow *row, char *text, size_t bytes) {
    text[0] = '\0';
    if (row->aim_kind != AIM_NONE) {
        char number[16];
        number_text(row->aim, number, sizeof(number));
        snprintf(text, bytes, "%s%s%s %s", row->aim_kind == AIM_VALUE_MIN ? ">=" : "<=", number,
                 row->aim_kind == AIM_RATIO_MAX ? "x" : "", is_met(row) ? "yes" : "NO");
    }
}

// What stands in a row, beside its names.
typedef struct RowText {
    char measure[24], peer[40], ratio[16], aim[32], certificate[40], iterations[24];
} RowText;

static RowText text_of(const BenchRow *row) {
    RowText text = {.peer = ""};
    char number[16];
    number_text(row->value, number, sizeof(number));
    snprintf(text.measure, sizeof(text.measure), "%s %s", number, row->unit);
    if (row->peer != NULL) {
        number_text(row->peer_value, number, sizeof(number));
        snprintf(text.peer, sizeof(text.peer), "%s %s", row->peer, number);
        if (isfinite(row_ratio(row))) {
            number_text(row_ratio(row), text.ratio, sizeof(text.ratio));
        }
    }
    if (row->has_certificate) {
        snprintf(text.certificate, sizeof(text.certificate), "%.0e %.0e", row->e_own, row->e_ds);
    }
    if (row->iterations > 0.0) {
        snprintf(text.iterations, sizeof(text.iterations), "  %.0f iterations", row->iterations);
    }
    aim_text(row, text.aim, sizeof(text.aim));
    return text;
}

static void print_whole(FILE *out, const BenchRow *rows, size_t count) {
    static const char form[] = "%-9s %-22s %14s  %-19s %5s  %-11s %s%s\n";
    fprintf(out, form, "bench", "figure", "value", "peer/limit", "ratio", "aim", "e_own e_DS", "");
    for (size_t i = 0; i < count; i++) {
        const RowText text = text_of(&rows[i]);
        fprintf(out, form, rows[i].bench, rows[i].figure, text.measure, text.peer, text.ratio,
                text.aim, text.certificate, text.iterations);
    }
}

// What matters least leaves first, and figures' names are cut.
static void print_fitted(const BenchRow *rows, size_t count) {
    static const TableColumn head[] = {
        {"bench", NULL, 9, 0, TABLE_LEFT},      {"figure", NULL, 17, 0, TABLE_GROWS},
        {"value", NULL, 12, 0, TABLE_RIGHT},    {"peer/limit", NULL, 19, 2, TABLE_NAME},
        {"ratio", NULL, 5, 1, TABLE_RIGHT},     {"aim", NULL, 11, 1, TABLE_NAME},
        {"e_own e_DS", NULL, 11, 3, TABLE_NAME}};
    Table table = table_fit(head, sizeof(head) / sizeof(head[0]), 0, 0);
    table_print_head(&table, NULL);
    for (size_t i = 0; i < count; i++) {
        const RowText text = text_of(&rows[i]);
        const char *const cells[] = {rows[i].bench, rows[i].figure, text.measure,    text.peer,
                                     text.ratio,    text.aim,       text.certificate};
        for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++) {
            table_cell(&table, k, STYLE_PLAIN, cells[k]);
        }
        fold_printf("\n");
    }
}

void table_print(FILE *out, const BenchRow *rows, size_t count) {
    enum { WHOLE_COLUMNS = 120 };
    if (terminal_is_watched(out) && terminal_columns(out) < WHOLE_COLUMNS) {
        print_fitted(rows, count);
    } else {
        print_whole(out, rows, count);
    }
}

// ---- JSON

static void print_key_text(FILE *out, const char *key, const char *text, const char *end) {
    fprintf(out, "\"%s\": \"", key);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fputc('\\', out);
        }
        if ((unsigned char)*c >= ' ') {
            fputc(*c, out);
        }
    }
    fprintf(out, "\"%s", end);
}

void table_print_name(FILE *out, const char *name, const char *about, bool is_first, bool is_last) {
    fputs(is_first ? "[{" : " {", out);
    print_key_text(out, "name", name, ", ");
    print_key_text(out, "about", about, is_last ? "}]\n" : "},\n");
}

void table_print_error(FILE *out, const char *sentence) {
    fputs("{\"error\": {", out);
    print_key_text(out, "message", sentence, "}}\n");
}

// What is not finite has no number in JSON.
static void print_key_number(FILE *out, const char *key, double value, const char *end) {
    if (isfinite(value)) {
        fprintf(out, "\"%s\": %.6g%s", key, value, end);
    } else {
        fprintf(out, "\"%s\": null%s", key, end);
    }
}

static void print_row_json(FILE *out, const BenchRow *row) {
    static const char *const aim_names[] = {"", "value_max", "value_min", "ratio_max"};
    fputs("{", out);
    print_key_text(out, "bench", row->bench, ", ");
    print_key_text(out, "figure", row->figure, ", ");
    print_key_text(out, "unit", row->unit, ", ");
    if (row->peer != NULL) {
        print_key_text(out, "peer", row->peer, ", ");
        print_key_number(out, "peer_value", row->peer_value, ", ");
        print_key_number(out, "ratio", row_ratio(row), ", ");
    }
    if (row->aim_kind != AIM_NONE) {
        print_key_text(out, "aim_kind", aim_names[row->aim_kind], ", ");
        print_key_number(out, "aim", row->aim, ", ");
        fprintf(out, "\"aim_met\": %s, ", is_met(row) ? "true" : "false");
    }
    if (row->iterations > 0.0) {
        print_key_number(out, "iterations", row->iterations, ", ");
    }
    if (row->has_certificate) {
        print_key_number(out, "e_own", row->e_own, ", ");
        print_key_number(out, "e_DS", row->e_ds, ", ");
    }
    print_key_number(out, "value", row->value, "}");
}

static void cpu_model(char *text, size_t bytes) {
    snprintf(text, bytes, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(text, bytes, "%s", colon + 2);
            text[strcspn(text, "\n")] = '\0';
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

void table_print_json(FILE *out, const BenchRow *rows, size_t count, double seconds) {
    char cpu[128], date[16];
    cpu_model(cpu, sizeof(cpu));
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, sizeof(date), "%Y-%m-%d", &parts);
    fputs("{", out);
    print_key_text(out, "cpu", cpu, ", ");
    print_key_number(out, "cores", (double)sysconf(_SC_NPROCESSORS_ONLN), ", ");
    print_key_text(out, "compiler", __VERSION__, ", ");
    print_key_text(out, "date", date, ", ");
    print_key_number(out, "seconds", seconds, ",\n \"rows\": [\n");
    for (size_t i = 0; i < count; i++) {
        fputs("  ", out);
        print_row_json(out, &rows[i]);
        fputs(i + 1 < count ? ",\n" : "\n", out);
    }
    fputs(" ]}\n", out);
}
