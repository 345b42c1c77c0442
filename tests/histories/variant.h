// SPDX-License-Identifier: MIT
// A world beside the one of the play, to be changed as no call could, and stepped: as somebody else
// sees it (seen.h), or in other units (units.h). It begins as the other stands, awake, and with
// nothing remembered.
#pragma once

#include "histories/play.h"
#include "simulate/dice.h"

enum { PUSHES_MAX = 2 };

// Wrenches on dynamic bodies: 6 each, as a step takes them.
typedef struct Push {
    size_t count;
    uint32_t body[PUSHES_MAX];
    double wrench[6 * PUSHES_MAX];
} Push;

// What a step's solver answers before anybody is thrown by it (step/thrown.c): the work of the
// impulses, which is the same however it is seen, and of how much it is a sum.
typedef struct FirstAnswer {
    double work, size;
} FirstAnswer;

typedef struct Variant {
    World *world;
    Stepper *stepper;
    StepReport report;    // of the last step
    bool has_stepped;     // it has not failed, nor was it given up
    uint32_t answers;     // of its solver: several where somebody was thrown …
    FirstAnswer first;    // … of which this came first
    StepWitness *witness; // Nullable: of the steps to come
} Variant;

// false: it could not be made, which is a finding.
bool variant_make(Play *play, const World *world, Variant *variant);
void variant_end(Variant *variant);

// After its numbers were changed by hand: what follows from them.
void variant_settle(Variant *variant);

// false: the step failed, or was given up as too long.
bool variant_step(Play *play, Variant *variant, const Push *push);

// Perhaps none.
Push variant_push(const World *world, Dice *dice);

// Uniform in [-size, size].
double variant_chance(Dice *dice, double size);

// Where a body's frame is, and a part of it.
Pose variant_frame(const World *world, uint32_t body);
Pose variant_part_pose(const World *world, uint32_t body, const Primitive *primitive);

// The farthest that a point of a body's surface is from its origin [m]; of planes nothing counts.
double variant_size(const World *world, uint32_t body);
