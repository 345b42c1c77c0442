// SPDX-License-Identifier: MIT
// What is left of something that decays, of our own: libm's exponential differs in its last bits
// between machines and versions, and so would worlds.
#pragma once

// 1 - exp(-x) for x >= 0, by +, -, * and / alone, within 1.5 units in the last place; 1 beyond 40.
double decay_share(double x);
