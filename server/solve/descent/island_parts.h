// SPDX-License-Identifier: MIT
// The exact line search: the least of l(v + alpha d_v) over alpha in (0, 1.5]. It looks for the
// root of the derivative, as differences of l itself are rounding near the end.
#pragma once

#include "solve/descent/island.h"

// Alpha from the iterate along the newest step, whose products J v and J d_v are made; 1.5 where
// the cost still falls there. `linear` = d_v . A (v - v*), `quadratic` = d_v . A d_v.
double sap_search(SapIsland *s, double linear, double quadratic);
