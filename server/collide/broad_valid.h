// SPDX-License-Identifier: MIT
// Whether a broad phase is as its headers say, between two updates.
#pragma once

#include "base/defect.h"
#include "collide/broad.h"

// Every body with a bounded box is in the tree once, with the box that is remembered of it, and
// every box above it holds that; those without bounds are listed; candidates are in order. Of a
// broad phase that remembers nothing there are none.
bool broad_is_valid(const Broad *broad, Defect *defect);
