// SPDX-License-Identifier: MIT
// Curves as SVG: a panel for each scene, time to the right and residual upwards, both by decades.
#include "bench/curve/show.h"
#include "bench/curve/verdict.h"

#include <math.h>
#include <string.h>

// [px]
enum {
    COLUMNS = 3,
    PANEL_WIDTH = 300,
    PANEL_HEIGHT = 220,
    LEFT = 52,
    TOP = 44,
    GAP = 34,
    LEGEND = 22,
    FOOT = 40
};

#define DS_LEAST 1e-8 // what is better is drawn there; bounds of 0, which say nothing, nowhere

// Ours dark, peers in colours that differ in brightness, too.
static const char *const colours[] = {"#000000", "#7a7a7a", "#d55e00", "#0072b2",
                                      "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
enum { COLOUR_COUNT = sizeof(colours) / sizeof(colours[0]) };

// Decades from, and how many.
typedef struct Axis {
    int from, count;
} Axis;

typedef struct Panel {
    FILE *out;
    Axis time, residual; // [ms]
    double left, top;
} Panel;

static void widen(double value, double *least, double *most) {
    *least = fmin(*least, value);
    *most = fmax(*most, value);
}

static Axis axis_of(double least, double most) {
    Axis axis = {.from = (int)floor(log10(least))};
    int to = (int)ceil(log10(most));
    axis.count = to > axis.from ? to - axis.from : 1;
    return axis;
}

static bool is_seen(const CurvePoint *point) {
    return point->ds > 0.0;
}

static Panel panel_of(FILE *out, const CurveScene *scene, size_t index) {
    double ms[2] = {INFINITY, 0.0}, ds[2] = {INFINITY, DS_LEAST};
    for (size_t i = 0; i < scene->count; i++) {
        for (size_t k = 0; k < scene->line[i].count; k++) {
            const CurvePoint *point = &scene->line[i].point[k];
            if (!is_seen(point)) {
                continue;
            }
            widen(point->ns * 1e-6, &ms[0], &ms[1]);
            widen(fmax(point->ds, DS_LEAST), &ds[0], &ds[1]);
        }
    }
    return (Panel){.out = out,
                   .time = axis_of(ms[0], ms[1]),
                   .residual = axis_of(ds[0], ds[1]),
                   .left = LEFT + (double)(index % COLUMNS) * (PANEL_WIDTH + LEFT + GAP / 2),
                   .top = LEGEND + TOP + (double)(index / COLUMNS) * (PANEL_HEIGHT + TOP + FOOT)};
}

static double place_x(const Panel *panel, double ms) {
    return panel->left + PANEL_WIDTH * (log10(ms) - panel->time.from) / panel->time.count;
}

static double place_y(const Panel *panel, double ds) {
    double up = (log10(fmax(ds, DS_LEAST)) - panel->residual.from) / panel->residual.count;
    return panel->top + PANEL_HEIGHT * (1.0 - up);
}

static void draw_axes(const Panel *panel) {
    double right = panel->left + PANEL_WIDTH, bottom = panel->top + PANEL_HEIGHT;
    for (int i = 0; i <= panel->time.count; i++) {
        double x = place_x(panel, pow(10.0, panel->time.from + i));
        fprintf(panel->out,
                "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>"
                "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%g</text>\n",
                x, panel->top, bottom, x, bottom + 14, pow(10.0, panel->time.from + i));
    }
    int each = 1 + panel->residual.count / 7; // so that their names have room
    for (int i = 0; i <= panel->residual.count; i += each) {
        double y = place_y(panel, pow(10.0, panel->residual.from + i));
        fprintf(panel->out,
                "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/>"
                "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">1e%d</text>\n",
                panel->left, y, right, panel->left - 5, y + 4, panel->residual.from + i);
    }
    fprintf(panel->out, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">ms a step</text>\n",
            panel->left + PANEL_WIDTH / 2.0, bottom + 28);
}

static void draw_line(const Panel *panel, const CurveLine *line, const char *colour) {
    fprintf(panel->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s d=\"", colour,
            line->is_peer ? " stroke-dasharray=\"5 3\"" : "");
    bool is_first = true;
    for (size_t i = 0; i < line->count; i++) {
        if (is_seen(&line->point[i])) {
            fprintf(panel->out, "%c%.1f %.1f", is_first ? 'M' : 'L',
                    place_x(panel, line->point[i].ns * 1e-6), place_y(panel, line->point[i].ds));
            is_first = false;
        }
    }
    fputs("\"/>\n", panel->out);
    for (size_t i = 0; i < line->count; i++) {
        const CurvePoint *point = &line->point[i];
        if (!is_seen(point)) {
            continue;
        }
        fprintf(panel->out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s %s: %.3g ms, "
                "%s%.1e</title></circle>\n",
                place_x(panel, point->ns * 1e-6), place_y(panel, point->ds), colour, line->name,
                point->name, point->ns * 1e-6, line->is_bound ? "at least " : "", point->ds);
    }
}

// A line has one colour in all panels: by its place among the names that were seen.
typedef struct Names {
    const char *name[CURVE_LINES_MAX];
    size_t count;
} Names;

static size_t place_of(Names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->name[i], name) == 0) {
            return i;
        }
    }
    if (names->count < CURVE_LINES_MAX) {
        names->name[names->count++] = name;
    }
    return names->count - 1;
}

// What the verdict says of points and of times, a line each: both are as wide as a panel together.
static void draw_title(FILE *out, const CurveScene *scene, const Panel *panel) {
    char verdict[VERDICT_BYTES];
    verdict_write(scene, verdict);
    const int points = (int)strcspn(verdict, ";");
    const char *times = verdict + points + strspn(verdict + points, "; ");
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", panel->left, panel->top - 32,
            scene->about);
    fprintf(out, "<text class=\"v\" x=\"%.1f\" y=\"%.1f\">%.*s</text>\n", panel->left,
            panel->top - 19, points, verdict);
    fprintf(out, "<text class=\"v\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", panel->left, panel->top - 8,
            times);
}

static void draw_panel(FILE *out, const CurveScene *scene, size_t index, Names *names) {
    Panel panel = panel_of(out, scene, index);
    draw_title(out, scene, &panel);
    draw_axes(&panel);
    for (size_t i = 0; i < scene->count; i++) {
        size_t colour = place_of(names, scene->line[i].name) % COLOUR_COUNT;
        draw_line(&panel, &scene->line[i], colours[colour]);
    }
}

void show_picture(FILE *out, const CurveScene *scene, size_t count) {
    size_t rows = (count + COLUMNS - 1) / COLUMNS, columns = count < COLUMNS ? count : COLUMNS;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>.g{stroke:#ddd;fill:none}.m{text-anchor:middle;font-size:10px}"
            ".e{text-anchor:end;font-size:10px}.v{font-size:10px;fill:#555}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            columns * (PANEL_WIDTH + LEFT + GAP / 2) + GAP,
            rows * (PANEL_HEIGHT + TOP + FOOT) + 2 * LEGEND);
    Names names = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        draw_panel(out, &scene[i], i, &names);
    }
    for (size_t i = 0; i < names.count; i++) {
        double x = LEFT + 150.0 * (double)i;
        fprintf(out,
                "<path stroke=\"%s\" stroke-width=\"3\" d=\"M%.0f 16h18\"/>"
                "<text x=\"%.0f\" y=\"20\">%s</text>\n",
                colours[i % COLOUR_COUNT], x, x + 24, names.name[i]);
    }
    fputs("</svg>\n", out);
}
