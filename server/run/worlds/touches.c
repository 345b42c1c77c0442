// SPDX-License-Identifier: MIT
#include "run/worlds/touches.h"

#include "base/array.h"
#include "base/assert.h"
#include "world/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void touches_deinit(Touches *touches) {
    free(touches->open);
    free(touches->next);
    free(touches->over);
    free(touches->name);
    free(touches->name_at);
    free(touches->text);
    free(touches->row);
    *touches = (Touches){0};
}

void touches_clear(Touches *touches) {
    touches->open_count = 0;
    touches_told(touches);
}

bool touches_resume(Touches *touches, const EventsChunk *events) {
    touches_clear(touches);
    const size_t count = events->changed_count + events->unchanged_count;
    if (!ARRAY_RESERVE(touches->open, touches->open_capacity, count) ||
        !ARRAY_RESERVE(touches->next, touches->next_capacity, count)) {
        return false;
    }
    // both parts rise by their bodies: the one is merged into the other
    size_t changed = 0, unchanged = events->changed_count;
    while (changed < events->changed_count || unchanged < count) {
        Touch a = {0}, b = {0};
        if (changed < events->changed_count) {
            a = events_get(events, changed);
        }
        if (unchanged < count) {
            b = events_get(events, unchanged);
        }
        const bool takes_a = a.body != 0 && (a.is_over || b.body == 0 || touch_compare(&a, &b) < 0);
        *(takes_a ? &changed : &unchanged) += 1;
        if (!takes_a || !a.is_over) {
            touches->open[touches->open_count++] = (OpenTouch){.touch = takes_a ? a : b};
        }
    }
    ASSERT(touches->open_count <= count);
    return true;
}

// ---- a step

// What a step needs to know of all pairs.
typedef struct TouchStep {
    const World *world;
    const Stepper *stepper;
    uint64_t step;
    double push_min; // [m/s]
    double gap_max;  // [m]
} TouchStep;

// What the contacts of a pair, some in a row of the stepper's, amount to.
typedef struct PairPush {
    uint32_t index[2]; // in the world as it is now
    uint64_t body, other;
    double impulse;  // [N s]
    double approach; // [m/s] of those that pushed
    double gap;      // [m] smallest
} PairPush;

static bool find_body(const TouchStep *at, uint32_t then, Id *id, uint32_t *now) {
    *id = stepper_body_id(at->stepper, at->world, then);
    *now = then;
    return !at->stepper->has_old_ids || world_find_body(at->world, *id, now);
}

// Adds up the contacts of the pair that contact `*i` is of, and moves on behind them. false: one of
// the two has left the world with this step.
static bool take_pair(const TouchStep *at, uint32_t *i, PairPush *pair) {
    VALIDATE(*i < at->stepper->contact_count);
    const Stepper *stepper = at->stepper;
    const StepContact *first = &stepper->contact[*i];
    *pair = (PairPush){.gap = INFINITY};
    for (; *i < stepper->contact_count && stepper->contact[*i].a == first->a &&
           stepper->contact[*i].b == first->b;
         ++*i) {
        const double impulse = stepper->impulse[3 * (size_t)*i];
        const double speed = -stepper_approach(stepper, *i);
        pair->gap = fmin(pair->gap, stepper->problem_contact[*i].gap);
        if (impulse > 0.0) {
            pair->impulse += impulse;
            pair->approach = fmax(pair->approach, speed);
        }
    }
    return find_body(at, first->a, &pair->body, &pair->index[0]) &&
           find_body(at, first->b, &pair->other, &pair->index[1]);
}

static bool pair_pushes(const TouchStep *at, const PairPush *pair) {
    double inverse_mass = 0.0;
    for (int i = 0; i < 2; i++) {
        const uint32_t body = pair->index[i];
        if (at->world->kind[body] == BODY_DYNAMIC) {
            inverse_mass += 1.0 / at->world->mass[body].mass;
        }
    }
    return pair->impulse * inverse_mass > at->push_min;
}

static bool note_name(Touches *touches, const World *world, uint32_t index) {
    ASSERT(index < world->body_count);
    const char *name = world->body_name[index];
    if (name == NULL || name[0] == '\0') {
        return true;
    }
    const size_t bytes = strlen(name);
    if (!ARRAY_RESERVE(touches->name, touches->name_capacity, touches->name_count + 1) ||
        !ARRAY_RESERVE(touches->name_at, touches->name_at_capacity, touches->name_count + 1) ||
        !ARRAY_RESERVE(touches->text, touches->text_capacity, touches->text_count + bytes)) {
        return false;
    }
    memcpy(touches->text + touches->text_count, name, bytes);
    touches->name_at[touches->name_count] = touches->text_count;
    touches->name[touches->name_count++] =
        (TouchName){.body = world->body_id[index], .bytes = bytes};
    touches->text_count += bytes;
    return true;
}

static bool end_touch(Touches *touches, const Touch *touch) {
    ASSERT(!touch->is_over);
    if (!ARRAY_RESERVE(touches->over, touches->over_capacity, touches->over_count + 1)) {
        return false;
    }
    touches->over[touches->over_count] = *touch;
    touches->over[touches->over_count++].is_over = true;
    return true;
}

// One that goes on, or is over.
static bool keep(Touches *touches, size_t *count, const OpenTouch *open, bool goes_on) {
    if (!goes_on) {
        return end_touch(touches, &open->touch);
    }
    ASSERT(*count < touches->next_capacity);
    touches->next[(*count)++] = *open;
    return true;
}

static bool begin_touch(Touches *touches, size_t *count, const TouchStep *at,
                        const PairPush *pair) {
    ASSERT(*count < touches->next_capacity);
    touches->next[(*count)++] = (OpenTouch){.is_changed = true,
                                            .touch = {.body = pair->body,
                                                      .other = pair->other,
                                                      .first_step = at->step,
                                                      .last_step = at->step,
                                                      .hardest_step = at->step,
                                                      .approach = pair->approach,
                                                      .first_impulse = pair->impulse,
                                                      .hardest = pair->impulse}};
    return note_name(touches, at->world, pair->index[0]) &&
           note_name(touches, at->world, pair->index[1]);
}

static bool is_missed_once(const TouchStep *at, const OpenTouch *open) {
    VALIDATE(open->touch.last_step <= at->step);
    return at->step - open->touch.last_step <= TOUCH_STEPS_MISSED;
}

// A pair with contacts in this step that touched before.
static bool go_on(Touches *touches, size_t *count, const TouchStep *at, OpenTouch open,
                  const PairPush *pair) {
    Touch *touch = &open.touch;
    if (pair_pushes(at, pair) || pair->gap <= at->gap_max) {
        touch->last_step = at->step;
    }
    if (pair->impulse > touch->hardest && touch->last_step == at->step) {
        touch->hardest = pair->impulse;
        touch->hardest_step = at->step;
        open.is_changed = true;
    }
    return keep(touches, count, &open, is_missed_once(at, &open));
}

// A pair without contacts in this step: asleep, or parted, or one of them is gone.
static bool go_on_without(Touches *touches, size_t *count, const TouchStep *at, OpenTouch open) {
    const World *world = at->world;
    uint32_t a, b;
    if (!world_find_body(world, open.touch.body, &a) ||
        !world_find_body(world, open.touch.other, &b)) {
        return keep(touches, count, &open, false);
    }
    const bool a_sleeps = sleep_is_asleep(world, a), b_sleeps = sleep_is_asleep(world, b);
    const bool a_rests = a_sleeps || world->kind[a] != BODY_DYNAMIC;
    const bool b_rests = b_sleeps || world->kind[b] != BODY_DYNAMIC;
    if (a_rests && b_rests && (a_sleeps || b_sleeps)) {
        open.touch.last_step = at->step;
    }
    return keep(touches, count, &open, is_missed_once(at, &open));
}

// Both rise by their bodies: contacts, as ids rise with the index, and what is open.
static bool merge(Touches *touches, const TouchStep *at, size_t *count) {
    size_t open = 0;
    bool is_sound = true;
    for (uint32_t i = 0; i < at->stepper->contact_count && is_sound;) {
        PairPush pair;
        if (!take_pair(at, &i, &pair)) {
            continue;
        }
        const Touch key = {.body = pair.body, .other = pair.other};
        while (is_sound && open < touches->open_count &&
               touch_compare(&touches->open[open].touch, &key) < 0) {
            is_sound = go_on_without(touches, count, at, touches->open[open++]);
        }
        if (open < touches->open_count && touch_compare(&touches->open[open].touch, &key) == 0) {
            is_sound = is_sound && go_on(touches, count, at, touches->open[open++], &pair);
        } else if (pair_pushes(at, &pair)) {
            is_sound = is_sound && begin_touch(touches, count, at, &pair);
        }
    }
    while (is_sound && open < touches->open_count) {
        is_sound = go_on_without(touches, count, at, touches->open[open++]);
    }
    return is_sound;
}

bool touches_add(Touches *touches, const World *world, const Stepper *stepper, uint64_t step) {
    ASSERT(step > 0);
    ASSERT(stepper->contact_count == 0 || stepper->impulse != NULL);
    const Vec3 gravity = world->settings.gravity;
    const double fall = stepper->step_time * sqrt(vec3_dot(gravity, gravity));
    const TouchStep at = {.world = world,
                          .stepper = stepper,
                          .step = step,
                          .push_min = fmax(TOUCH_PUSH_SHARE * fall, TOUCH_PUSH_MIN),
                          .gap_max = TOUCH_GAP_SHARE * fall * stepper->step_time};
    if (!ARRAY_RESERVE(touches->next, touches->next_capacity,
                       touches->open_count + stepper->contact_count)) {
        return false;
    }
    size_t count = 0;
    if (!merge(touches, &at, &count)) {
        return false;
    }
    OpenTouch *was = touches->open;
    const size_t was_capacity = touches->open_capacity;
    touches->open = touches->next;
    touches->open_capacity = touches->next_capacity;
    touches->open_count = count;
    touches->next = was;
    touches->next_capacity = was_capacity;
    ASSERT(touches->open_count <= touches->open_capacity);
    return true;
}

// ---- chunks

static int compare_names(const void *left, const void *right) {
    const TouchName *a = left, *b = right;
    if (a->body != b->body) {
        return a->body < b->body ? -1 : 1;
    }
    return a->text < b->text ? -1 : a->text > b->text; // as they were noted
}

// By rising ids, the last that each body had.
static void sort_names(Touches *touches) {
    for (size_t i = 0; i < touches->name_count; i++) {
        touches->name[i].text = touches->text + touches->name_at[i];
    }
    if (touches->name_count > 0) {
        qsort(touches->name, touches->name_count, sizeof(*touches->name), compare_names);
    }
    size_t kept = 0;
    for (size_t i = 0; i < touches->name_count; i++) {
        if (i + 1 == touches->name_count || touches->name[i + 1].body != touches->name[i].body) {
            touches->name[kept++] = touches->name[i];
        }
    }
    touches->name_count = kept;
    ASSERT(kept <= touches->name_count);
}

bool touches_tell(Touches *touches, bool is_complete, EventsBody *body) {
    if (!ARRAY_RESERVE(touches->row, touches->row_capacity,
                       touches->over_count + touches->open_count)) {
        return false;
    }
    size_t count = touches->over_count;
    if (count > 0) {
        memcpy(touches->row, touches->over, count * sizeof(*touches->row));
    }
    for (size_t i = 0; i < touches->open_count; i++) {
        if (touches->open[i].is_changed) {
            touches->row[count++] = touches->open[i].touch;
        }
    }
    const size_t changed = count;
    for (size_t i = 0; i < touches->open_count && is_complete; i++) {
        if (!touches->open[i].is_changed) {
            touches->row[count++] = touches->open[i].touch;
        }
    }
    sort_names(touches);
    *body = (EventsBody){.is_complete = is_complete,
                         .changed = touches->row,
                         .changed_count = changed,
                         .unchanged = touches->row + changed,
                         .unchanged_count = count - changed,
                         .names = touches->name,
                         .name_count = touches->name_count};
    ASSERT(changed <= count);
    ASSERT(count <= touches->row_capacity);
    return true;
}

void touches_told(Touches *touches) {
    for (size_t i = 0; i < touches->open_count; i++) {
        touches->open[i].is_changed = false;
    }
    touches->over_count = touches->name_count = touches->text_count = 0;
}

size_t touches_untold_bytes(const Touches *touches) {
    return TOUCH_BYTES * touches->over_count + touches->text_count;
}

size_t touches_bytes(const Touches *touches) {
    return (touches->open_capacity + touches->next_capacity) * sizeof(OpenTouch) +
           (touches->over_capacity + touches->row_capacity) * sizeof(Touch) +
           touches->name_capacity * sizeof(TouchName) + touches->name_at_capacity * sizeof(size_t) +
           touches->text_capacity;
}
