// SPDX-License-Identifier: MIT
// Curves for the eye: a table of 80 columns, the same in Markdown, and a picture.
#pragma once

#include "bench/curve/curve.h"

#include <stdio.h>

void show_table(FILE *out, const CurveScene *scene);

// A page: what it is, the verdicts, the picture beside it, and all points.
void show_markdown(FILE *out, const CurveScene *scene, size_t count);

// One SVG with a panel for each scene.
void show_picture(FILE *out, const CurveScene *scene, size_t count);
