// SPDX-License-Identifier: MIT
// A world as somebody else sees it, whose axes are turned, whose origin is elsewhere, who looks
// through a mirror, or who lists bodies, joints and shapes in another order. The mirror is the one
// that takes every point to the other side of the origin: orientations stay as they are, and what
// has a hand changes it.
#pragma once

#include "histories/variant.h"

typedef enum SeenKind { SEEN_TURNED, SEEN_MOVED, SEEN_MIRRORED, SEEN_ORDERED, SEEN_ALL } SeenKind;

typedef struct Seen {
    SeenKind kind;
    double sign; // -1: mirrored
    Quat turn;   // after that
    Vec3 shift;  // after that [m]
    // mirrored: which axis of joints' frames is turned round, so that they have the right hand
    // again; 3: all of them, so that the frames' orientations stay
    int flip;
    bool is_ordered;
    uint32_t *body;  // the index there of each body here
    uint32_t *joint; // likewise, once it is applied
} Seen;

// From the dice; its list lives in the arena.
const char *seen_name(const Seen *seen);

Seen seen_make(const World *world, Dice *dice, Arena *arena);

Seen seen_plain(const World *world, Arena *arena); // as it is

// A variant of the world, so seen; the dice say in which order its joints and shapes stand. Frames
// of geometries turn with it, so that they are other ones. false: one that is flat within a
// rounding of what may be is none when it is turned.
bool seen_apply(const Seen *seen, Variant *variant, Dice *dice, Arena *arena);

Quat seen_any_turn(Dice *dice);

Vec3 seen_point(const Seen *seen, Vec3 point);
Vec3 seen_vector(const Seen *seen, Vec3 vector); // velocities, forces, normals
Vec3 seen_spin(const Seen *seen, Vec3 spin);     // spins, torques

// A row of a joint, as it is numbered in the original, and what it is there multiplied by.
typedef struct SeenRow {
    uint32_t joint, part;
    double sign;
} SeenRow;

// The original's row that one of the variant's is. `from`: the original, before its step.
SeenRow seen_row(const Seen *seen, const World *from, const StepRow *there);

// What rows of joints bore in the variant's step, as the original's would remember it: the impulse
// of each that has one. `from`: likewise.
void seen_recall_rows(const Seen *seen, const World *from, const Stepper *there, World *memory);

Push seen_push(const Seen *seen, const Push *push);
