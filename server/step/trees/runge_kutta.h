// SPDX-License-Identifier: MIT
// A tree's step by the four stages of Runge and Kutta, three turns by Munthe-Kaas: with p(s) =
// normalise(1, s/2) the orientation q p(s) turns by the spin w where s' = w + 1/2 s x w +
// 1/4 s (s . w), and in numbers s, from 0 on, the scheme keeps its order.
#pragma once

#include "step/trees/flight.h"

// As tree_fly_staged.
bool tree_fly_runge_kutta(TreeFlight *flight, double *v);
