// SPDX-License-Identifier: MIT
// Ground in pieces, of all kinds that there are, and what slides or rolls on it, for tests of the
// seams between two.
#pragma once

#include "support/lab.h"

typedef enum Piece { PIECE_BOX, PIECE_HULL, PIECE_BLOCK, PIECE_SHEET, PIECE_FIELD, PIECES } Piece;

extern const char *const piece_names[PIECES];

// Half of its sides: 4 m by 4 m, its top above its origin [m].
extern const Vec3 piece_half;

Id piece_shape(Lab *lab, Piece piece, Id material);

typedef struct Mobile {
    const char *name;
    PrimitiveKind kind;
    Vec3 size;
    double height; // of its middle
    Quat turn;
    Vec3 velocity, spin;
} Mobile;

enum { MOBILES = 5 };
extern const Mobile mobiles[MOBILES];

Id mobile_shape(Lab *lab, const Mobile *mobile, Id material);
