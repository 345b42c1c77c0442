// SPDX-License-Identifier: MIT
// Which bodies touch, followed from step to step. The recorder makes chunks of events of it where
// it was asked for, and verification makes them again: they follow from the steps alone, whatever
// the number of workers.
//
// Two bodies *push* in a step whose contacts between them have normal impulses that, added up and
// divided by the reduced mass of the two, are more than TOUCH_PUSH_SHARE |g| h, and more than
// TOUCH_PUSH_MIN: what a solver leaves where nothing touches is far below, and the weight of what
// rests far above. A touch begins in a step in which they push. It goes on in a step in which they
// push; in which one of their contacts had, as the step began, a gap of at most TOUCH_GAP_SHARE |g|
// h^2, which to the solvers is none; and in which they have no contact as one of them sleeps, and
// the other sleeps too or is not dynamic. With more than TOUCH_STEPS_MISSED steps in a row that are
// none of these it is over, with the last that was; and at once when one of the two is gone.
#pragma once

#include "log/format/events.h"
#include "step/step.h"

#define TOUCH_PUSH_SHARE 1e-4 // of what a body falls by in a step
#define TOUCH_PUSH_MIN   1e-9 // [m/s], where nothing falls
#define TOUCH_GAP_SHARE  1e-4

enum { TOUCH_STEPS_MISSED = 1 };

// A touch that is not over.
typedef struct OpenTouch {
    Touch touch;
    bool is_changed; // since the last chunk
} OpenTouch;

typedef struct Touches {
    OpenTouch *open, *next; // [open_count], by rising bodies; `next` is where a step puts them
    size_t open_count, open_capacity, next_capacity;
    Touch *over; // since the last chunk, as they ended
    size_t over_count, over_capacity;
    TouchName *name; // of bodies that began a touch since; texts stand in `text`, at their offsets
    size_t *name_at;
    size_t name_count, name_capacity, name_at_capacity;
    char *text;
    size_t text_count, text_capacity;
    Touch *row; // of a chunk in the making
    size_t row_capacity;
} Touches;

void touches_deinit(Touches *touches);

// As it was in front of the first step.
void touches_clear(Touches *touches);

// As it was behind a chunk that is complete. false: memory ended.
bool touches_resume(Touches *touches, const EventsChunk *events);

// The stepper has just taken the step, which is the recording's `step`-th. In a steady state
// nothing is allocated. false: memory ended.
bool touches_add(Touches *touches, const World *world, const Stepper *stepper, uint64_t step);

// What the next chunk says; borrowed until the next call. false: memory ended. After it,
// touches_told: what it says was told.
bool touches_tell(Touches *touches, bool is_complete, EventsBody *body);
void touches_told(Touches *touches);

// What the next chunk will take, at least.
size_t touches_untold_bytes(const Touches *touches);

size_t touches_bytes(const Touches *touches); // memory held
