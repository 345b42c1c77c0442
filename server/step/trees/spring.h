// SPDX-License-Identifier: MIT
// Where a step takes the force of a spring of stiffness k along a coordinate or a row, q its
// stretch and v its rate at the begin of the step, v' that at its end:
//
//     force = -k (q + h (old v + change (v' - v)))
//
//     explicit      old = 0, change = 0      the begin: gains energy
//     midpoint      old = 1/2, change = 1/4  halfway: keeps it
//     implicit      old = 1, change = 1      the end: loses it
//     symplectic    old = 0, change = 1/4 up to w h = 0.3, rising smoothly to 1, 1 at w h = 1,
//                   w^2 = k times what a unit impulse changes the rate by
//
// Positions move with v' under symplectic, which at 0, 1/4 preserves areas: energy swings by w h/2
// of itself in a period and stays, at every w h, where 1, 1 would lose a share of w h/2 in a
// radian. What is too fast to be resolved is to come to rest, though, and so is damped. With
// change = 1/4 + 3/4 old all springs of a tree together, and implicit dampers, are stable however
// fast, whatever `old` in [0, 1] each of them has: with x a mode, m, a and b <= a its parts of M,
// h^2 K and h^2 K old, its factor z in a step has
//
//     (m + a/4 + 3b/4) (z - 1)^2 + a z + b (z - 1) = 0
//
// whose roots lie in the unit circle (c2 - c0 = b >= 0, c2 + c1 + c0 = a, c2 - c1 + c0 = 4m + b).
// So w need not be the frequency of anything; it is that of the spring where it is the only one.
//
// Dampers d, and drives of d and k, are taken at v + s (v' - v), as far as that goes in s h: s = 0
// under explicit, 1 under symplectic and implicit. Under midpoint s = 1/2 is of second order, but a
// rate comes to (1 - y/2)/(1 + y/2) of what it was off by, y = w h (d + h k), w what a unit impulse
// changes it by: where y is large, to the other side and back for ever. So it is 1/2 up to y = 2,
// where nothing is left of it after a step, and from there 1 - 1/y, with which nothing is left,
// either. Along with springs that midpoint keeps, it is stable whatever s each of them has: with b
// the parts of h D, and a those of h^2 K of drives, c2 - c0 = b + (s - 1/2) a >= 0,
// c2 + c1 + c0 = a, c2 - c1 + c0 = 4m + (2s - 1) (2b + 2s a).
#pragma once

#include "world/settings.h"

#include <math.h>

typedef struct SpringShare {
    double old, change;
} SpringShare;

// [rad] in a step, up to which energy is kept, and from which on a spring is damped as if implicit
#define SPRING_KEPT   0.3
#define SPRING_DAMPED 1.0

// How far from one to the other: 3 s^2 - 2 s^3. Written so that NaN is damped.
static inline double spring_damping(double turn_squared) {
    if (turn_squared <= SPRING_KEPT * SPRING_KEPT) {
        return 0.0;
    }
    if (!(turn_squared < SPRING_DAMPED * SPRING_DAMPED)) {
        return 1.0;
    }
    const double s = (sqrt(turn_squared) - SPRING_KEPT) / (SPRING_DAMPED - SPRING_KEPT);
    return s * s * (3.0 - 2.0 * s);
}

// `turn_squared` = (w h)^2 counts under symplectic alone.
static inline SpringShare spring_share(uint8_t integrator, double turn_squared) {
    switch ((Integrator)integrator) {
    case INTEGRATOR_EXPLICIT:
        return (SpringShare){0.0, 0.0};
    case INTEGRATOR_MIDPOINT:
        return (SpringShare){0.5, 0.25};
    case INTEGRATOR_SYMPLECTIC: {
        const double old = spring_damping(turn_squared);
        return (SpringShare){old, 0.25 + 0.75 * old};
    }
    case INTEGRATOR_IMPLICIT:
    case INTEGRATOR_RK4:
    case INTEGRATOR_VERLET:
    case INTEGRATOR_COUNT:
        break;
    }
    return (SpringShare){1.0, 1.0};
}

// s of what slows its own rate by y; y counts under midpoint alone. Written so that NaN is 1.
static inline double damper_share(uint8_t integrator, double slowing) {
    switch ((Integrator)integrator) {
    case INTEGRATOR_EXPLICIT:
        return 0.0;
    case INTEGRATOR_MIDPOINT:
        return slowing <= 2.0 ? 0.5 : slowing < HUGE_VAL ? 1.0 - 1.0 / slowing : 1.0;
    case INTEGRATOR_SYMPLECTIC:
    case INTEGRATOR_IMPLICIT:
    case INTEGRATOR_RK4:
    case INTEGRATOR_VERLET:
    case INTEGRATOR_COUNT:
        break;
    }
    return 1.0;
}
