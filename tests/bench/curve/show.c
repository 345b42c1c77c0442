// SPDX-License-Identifier: MIT
#include "bench/curve/show.h"

#include "bench/curve/verdict.h"

static void print_point(FILE *out, const CurveLine *line, size_t i) {
    const CurvePoint *point = &line->point[i];
    char time[24], residual[24];
    snprintf(time, sizeof(time), "%.3g (%.3g)", point->ns * 1e-6, point->ns_worst * 1e-6);
    snprintf(residual, sizeof(residual), "%.1e (%.0e)", point->ds, point->ds_worst);
    fprintf(out, "  %-18.18s %-16.16s %-19s %2s %s\n", i == 0 ? line->name : "", point->name, time,
            line->is_bound ? ">=" : "", residual);
}

void show_table(FILE *out, const CurveScene *scene) {
    char verdict[VERDICT_BYTES];
    verdict_write(scene, verdict);
    fprintf(out, "%s: %u bodies, %.0f contacts; %.3g ms of a step is not solving\n", scene->name,
            scene->bodies, scene->contacts, scene->outside_ns * 1e-6);
    fprintf(out, "  %-18s %-16s %-19s    %s\n", "", "", "ms a step (worst)", "e_DS (worst)");
    for (size_t i = 0; i < scene->count; i++) {
        for (size_t k = 0; k < scene->line[i].count; k++) {
            print_point(out, &scene->line[i], k);
        }
    }
    fprintf(out, "  %s\n\n", verdict);
    fflush(out);
}

static void print_points(FILE *out, const CurveScene *scene) {
    for (size_t i = 0; i < scene->count; i++) {
        const CurveLine *line = &scene->line[i];
        for (size_t k = 0; k < line->count; k++) {
            const CurvePoint *point = &line->point[k];
            fprintf(out, "| %s | %s | %s | %.3g (%.3g) | %s%.1e (%.0e) |\n",
                    i + k == 0 ? scene->name : "", k == 0 ? line->name : "", point->name,
                    point->ns * 1e-6, point->ns_worst * 1e-6, line->is_bound ? "≥ " : "", point->ds,
                    point->ds_worst);
        }
    }
}

void show_markdown(FILE *out, const CurveScene *scene, size_t count) {
    fputs("# Residual over time\n\n"
          "Made by `moreau bench curve --write FOLDER`. What is measured, and how, is in\n"
          "[the benches' README](../README.md); medians, and in brackets the worst step.\n\n"
          "![A panel for each scene: residual over time of a step](curve.svg)\n\n"
          "| scene | bodies | contacts | verdict |\n"
          "| --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < count; i++) {
        char verdict[VERDICT_BYTES];
        verdict_write(&scene[i], verdict);
        fprintf(out, "| %s | %u | %.0f | %s |\n", scene[i].name, scene[i].bodies, scene[i].contacts,
                verdict);
    }
    fputs("\n| scene | line | work | ms a step (worst) | e_DS (worst) |\n"
          "| --- | --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < count; i++) {
        print_points(out, &scene[i]);
    }
}
