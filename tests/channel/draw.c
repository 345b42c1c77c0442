// SPDX-License-Identifier: MIT
#include "channel/draw.h"

#include <math.h>

// [px] of a cell, and around a panel; levels of colour, and the speed of the highest [m/s].
enum { CELL = 8, MARGIN = 12, TITLE = 22, SCALE = 44, LEVELS = 28 };
static const double speed_max = 1.4;

enum { PANEL_WIDTH = PROFILE_COLUMNS * CELL, PANEL_HEIGHT = PROFILE_ROWS * CELL };

// From dark blue over green to yellow, so that it also reads in grey.
static void print_colour(FILE *file, int level) {
    static const double stops[5][3] = {
        {48, 18, 88}, {49, 84, 141}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    double at = 4.0 * level / (LEVELS - 1.0);
    int below = at < 4.0 ? (int)at : 3;
    fputc('#', file);
    for (int i = 0; i < 3; i++) {
        double value = stops[below][i] + (at - below) * (stops[below + 1][i] - stops[below][i]);
        fprintf(file, "%02x", (unsigned)lround(value));
    }
}

// -1: no grain came there.
static int level_at(const Profile *profile, int column, int row) {
    size_t cell = (size_t)row * PROFILE_COLUMNS + (size_t)column;
    if (profile->count[cell] == 0.0) {
        return -1;
    }
    double level = floor(profile->speed[cell] / profile->count[cell] / speed_max * LEVELS);
    return (int)fmin(level, LEVELS - 1.0);
}

// All cells of a level as one path of runs along x; y goes up.
static void draw_level(FILE *file, const Profile *profile, int level) {
    bool is_begun = false;
    for (int row = 0; row < PROFILE_ROWS; row++) {
        for (int column = 0; column < PROFILE_COLUMNS; column++) {
            int end = column;
            while (end < PROFILE_COLUMNS && level_at(profile, end, row) == level) {
                end++;
            }
            if (end == column) {
                continue;
            }
            if (!is_begun) {
                fputs("<path fill=\"", file);
                print_colour(file, level);
                fputs("\" d=\"", file);
                is_begun = true;
            }
            fprintf(file, "M%d %dh%dv%dh-%dz", column * CELL, (PROFILE_ROWS - 1 - row) * CELL,
                    (end - column) * CELL, CELL, (end - column) * CELL);
            column = end;
        }
    }
    fputs(is_begun ? "\"/>\n" : "", file);
}

static void draw_panel(FILE *file, const Panel *panel, int top) {
    fprintf(file, "<text x=\"%d\" y=\"%d\">%s</text>\n", MARGIN, top + TITLE - 7, panel->title);
    fprintf(file, "<g transform=\"translate(%d %d)\">\n", MARGIN, top + TITLE);
    fprintf(file, "<rect width=\"%d\" height=\"%d\" fill=\"#ddd\"/>\n", PANEL_WIDTH, PANEL_HEIGHT);
    for (int level = 0; level < LEVELS; level++) {
        draw_level(file, panel->profile, level);
    }
    fputs("</g>\n", file);
}

static void draw_scale(FILE *file, int top) {
    for (int level = 0; level < LEVELS; level++) {
        fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"12\" fill=\"",
                MARGIN + level * PANEL_WIDTH / LEVELS, top, PANEL_WIDTH / LEVELS + 1);
        print_colour(file, level);
        fputs("\"/>\n", file);
    }
    for (int i = 0; i <= 7; i++) {
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%.1f%s</text>\n",
                MARGIN + i * PANEL_WIDTH / 7, top + 27,
                i == 0   ? "start"
                : i == 7 ? "end"
                         : "middle",
                speed_max * i / 7.0, i == 7 ? " m/s" : "");
    }
}

void draw_panels(FILE *file, const Panel *panels, size_t count) {
    int height = (int)count * (TITLE + PANEL_HEIGHT) + SCALE + MARGIN;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#fff\"/>\n",
            PANEL_WIDTH + 2 * MARGIN, height);
    for (size_t i = 0; i < count; i++) {
        draw_panel(file, &panels[i], (int)i * (TITLE + PANEL_HEIGHT));
    }
    draw_scale(file, (int)count * (TITLE + PANEL_HEIGHT) + MARGIN);
    fputs("</svg>\n", file);
}
