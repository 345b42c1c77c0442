// SPDX-License-Identifier: MIT
// Ground in pieces that lie flush side by side, and what is on it; for histories that have it.
#pragma once

#include "histories/make.h"

enum { PIECES_MAX = 64 };

typedef struct PieceBox {
    Vec3 low, high;
} PieceBox;

// What lies there: a body that is not dynamic, by the box around its shape, in its frame.
typedef struct Piece {
    Pose pose; // of its frame
    PieceBox box;
} Piece;

typedef struct Pieces {
    uint32_t count;
    Piece piece[PIECES_MAX];
} Pieces;

// The first of the world. In the make's memory.
Pieces *pieces_of_world(Make *make);

Quat pieces_about_z(double angle);

// Around a shape that is turned about its body's frame. false: it has no end.
bool pieces_box(const World *world, uint64_t shape, Quat turn, PieceBox *box);

// One more, where there is room and the shape has an end.
void pieces_add(Pieces *pieces, const World *world, uint64_t shape, Pose pose);

// Where a shape lies beside any of them, its top as high; or on top of any, mostly at its rim.
// false: there is none, or the shape has no end.
bool pieces_beside(Make *make, const Pieces *pieces, uint64_t shape, Pose *pose);
bool pieces_upon(Make *make, const Pieces *pieces, uint64_t shape, Pose *pose);

// Lays the primitives of one shape in a row, their tops at its origin's height.
void pieces_join(Make *make, const ShapeColumns *shapes, size_t first, uint32_t count,
                 double *pose);

// Half the sides of a tile [m], of which many are the same.
Vec3 pieces_half(Make *make);

// Along the ground, the dynamic ones anywhere, those of pieces together.
void pieces_slide(Make *make, const Pieces *pieces, BodyColumns *bodies);
