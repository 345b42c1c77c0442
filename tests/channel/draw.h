// SPDX-License-Identifier: MIT
// The profile as a picture: SVG, one panel below the other, with a scale of colours.
#pragma once

#include "channel/figures.h"

#include <stdio.h>

typedef struct Panel {
    const char *title;
    const Profile *profile;
} Panel;

void draw_panels(FILE *file, const Panel *panels, size_t count);
