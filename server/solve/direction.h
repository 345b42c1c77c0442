// SPDX-License-Identifier: MIT
// The directions of a polyhedral friction cone, cos(2 pi j/k) t1 + sin(2 pi j/k) t2, one after the
// other: the same bits on every machine, for the solver and for the certificate.
#pragma once

#include <stdint.h>

typedef struct Direction {
    double c, s; // along tangent 1 and tangent 2
} Direction;

// From one of `count` directions, at least 3, to the next.
Direction direction_turn(uint32_t count);

static inline Direction direction_first(void) {
    return (Direction){1.0, 0.0};
}

static inline Direction direction_next(Direction d, Direction turn) {
    return (Direction){d.c * turn.c - d.s * turn.s, d.s * turn.c + d.c * turn.s};
}
