// SPDX-License-Identifier: MIT
#include "solve/direction.h"

#include "base/assert.h"

#define TWO_PI 6.283185307179586

// by the power series of exp(i angle): for an angle of at most 2 pi/3, 32 terms take it to rounding
Direction direction_turn(uint32_t count) {
    ASSERT(count >= 3);
    double angle = TWO_PI / count, term = 1.0;
    Direction turn = {0.0, 0.0};
    for (int k = 0; k < 32; k++) {
        double value = k % 4 < 2 ? term : -term;
        if (k % 2 == 0) {
            turn.c += value;
        } else {
            turn.s += value;
        }
        term *= angle / (k + 1);
    }
    return turn;
}
