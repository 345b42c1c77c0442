// SPDX-License-Identifier: MIT
// The scenes that curves are drawn of: what is kicked, hit, falls, leans and settles.
#pragma once

#include "bench/scene.h"

typedef struct CurveRow {
    const char *name, *about;
    const char *scene;     // of tests/scenes
    uint32_t first, count; // steps
} CurveRow;

enum { CURVE_ROW_COUNT = 9 };
extern const CurveRow curve_row[CURVE_ROW_COUNT];

// Stepped with ten sweeps at 1/240 s, as exact steps would leave easier problems; scene_destroy
// ends it.
Scene curve_row_load(const CurveRow *row);
