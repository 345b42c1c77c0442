// SPDX-License-Identifier: MIT
#include "replay/show/touching.h"

#include "os/clock.h"
#include "run/worlds/touches.h"

#include <stdlib.h>
#include <string.h>

struct Touching {
    Log *log;
    const EpisodeRow *episode; // borrowed
    LogHold hold;
    Player *player;
    bool has_sought;
    Touches touches; // of all steps so far: none of it is told before the end
    uint64_t steps;  // of the world

    // at the end: all of them in the order of rows, and the names of their bodies, by rising ids;
    // in the touches' memory
    Touch *row;
    size_t row_count;
    const TouchName *name;
    size_t name_count;
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while looking for the touches of an episode.");
}

// ---- life

Status touching_open(Touching **touching, Log *log, const EpisodeRow *episode,
                     const WorldLimits *limits, Error *error) {
    Touching *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return out_of_memory(error);
    }
    made->log = log;
    made->episode = episode;
    log_hold(log, episode->recording, &made->hold);
    Status status = player_open(&made->player, episode, limits, error);
    if (status != STATUS_OK) {
        touching_close(made);
        return status;
    }
    *touching = made;
    return STATUS_OK;
}

void touching_close(Touching *touching) {
    if (touching == NULL) {
        return;
    }
    player_close(touching->player);
    log_release(touching->log, &touching->hold);
    touches_deinit(&touching->touches);
    free(touching);
}

size_t touching_bytes(const Touching *touching) {
    return sizeof(*touching) + player_bytes(touching->player) + touches_bytes(&touching->touches);
}

uint64_t touching_steps_done(const Touching *touching) {
    return touching->has_sought ? player_step(touching->player) : 0;
}

// ---- steps

static bool has_arrived(const Touching *touching) {
    return touching->has_sought && player_is_over(touching->player);
}

static Status go_on(Touching *touching, LogReader *reader, Arena *scratch, const Context *context,
                    bool *is_stopped, Error *error) {
    Player *player = touching->player;
    if (!touching->has_sought) {
        Status status = player_seek(player, reader, 0, NULL, error);
        touching->has_sought = status == STATUS_OK;
        return status;
    }
    Played played;
    PlayerDifference difference;
    Status status =
        player_next(player, reader, scratch, context, is_stopped, &played, &difference, error);
    if (status == STATUS_OK && difference.found) {
        return player_tell_difference(&difference, error);
    }
    if (status == STATUS_OK && !*is_stopped && played.step != NULL &&
        !touches_add(&touching->touches, player_world(player), player_stepper(player),
                     ++touching->steps)) {
        return out_of_memory(error);
    }
    return status;
}

// ---- the end

static int compare_rows(const void *left, const void *right) {
    const Touch *a = left, *b = right;
    if (a->first_step != b->first_step) {
        return a->first_step < b->first_step ? -1 : 1;
    }
    const int by_bodies = touch_compare(a, b);
    // twice in one step of a group
    return by_bodies != 0 ? by_bodies
                          : (a->last_step > b->last_step) - (a->last_step < b->last_step);
}

// The step of the episode in which the world's was: its last one, where a call that was stopped did
// it behind that.
static uint64_t step_of(const Touching *touching, uint64_t world_step) {
    const uint64_t substeps = player_substeps(touching->player),
                   step = (world_step + substeps - 1) / substeps,
                   last = touching->episode->last_step;
    return step < last ? step : last;
}

// All of them are `changed`, as none was told before. false: memory ended.
static bool conclude(Touching *touching) {
    EventsBody told;
    if (!touches_tell(&touching->touches, false, &told)) {
        return false;
    }
    touching->row = touching->touches.row;
    touching->row_count = told.changed_count;
    touching->name = told.names;
    touching->name_count = told.name_count;
    for (size_t i = 0; i < touching->row_count; i++) {
        Touch *touch = &touching->row[i];
        touch->first_step = step_of(touching, touch->first_step);
        touch->last_step =
            touch->is_over ? step_of(touching, touch->last_step) : touching->episode->last_step;
        touch->hardest_step = step_of(touching, touch->hardest_step);
    }
    if (touching->row_count > 0) {
        qsort(touching->row, touching->row_count, sizeof(*touching->row), compare_rows);
    }
    return true;
}

Status touching_work(Touching *touching, Arena *scratch, uint64_t until_ns, const Context *context,
                     bool *is_over, bool *progressed, Error *error) {
    LogReader *reader;
    *progressed = *is_over = false;
    Status status = log_take_reader(touching->log, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    bool is_stopped = false;
    while (status == STATUS_OK && !is_stopped && !has_arrived(touching)) {
        if (*progressed && (clock_now_ns() >= until_ns || context_is_stopped(context))) {
            break;
        }
        status = go_on(touching, reader, scratch, context, &is_stopped, error);
        *progressed = *progressed || (status == STATUS_OK && !is_stopped);
    }
    log_give_reader(touching->log, reader);
    if (status == STATUS_OK && has_arrived(touching)) {
        *is_over = conclude(touching);
        status = *is_over ? STATUS_OK : out_of_memory(error);
    }
    return status;
}

// ---- rows

static const TouchName *name_of(const Touching *touching, uint64_t body) {
    size_t low = 0, high = touching->name_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (touching->name[middle].body < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < touching->name_count && touching->name[low].body == body ? &touching->name[low]
                                                                          : NULL;
}

static bool is_body(const Touching *touching, const TouchBody *asked, uint64_t body) {
    if (asked->name == NULL) {
        return asked->id == 0 || asked->id == body;
    }
    const TouchName *name = name_of(touching, body);
    return name != NULL && strlen(asked->name) == name->bytes &&
           memcmp(asked->name, name->text, name->bytes) == 0;
}

// As the statements that look for stored touches say (log/reader/touches.c).
static bool is_meant(const Touching *touching, const TouchFilter *where, const Touch *touch) {
    const bool is_pair = (is_body(touching, &where->body, touch->body) &&
                          is_body(touching, &where->other, touch->other)) ||
                         (is_body(touching, &where->body, touch->other) &&
                          is_body(touching, &where->other, touch->body));
    return is_pair && (where->after == 0 || touch->first_step > where->after) &&
           touch->first_step < where->before &&
           (where->impulse_above < 0.0 || touch->hardest > where->impulse_above) &&
           (where->speed_above < 0.0 || touch->approach > where->speed_above);
}

static Status write_names(const Touching *touching, Arena *arena, TouchRows *rows, Error *error) {
    uint64_t *ids = arena_take_array(arena, 2 * rows->count, sizeof(*ids));
    const char **names = arena_take_array(arena, 2 * rows->count, sizeof(*names));
    if (ids == NULL || names == NULL) {
        return out_of_memory(error);
    }
    const size_t count = touch_rows_bodies(rows, ids);
    for (size_t i = 0; i < count; i++) {
        const TouchName *name = name_of(touching, ids[i]);
        char *text = name == NULL ? NULL : arena_take_zeroed(arena, name->bytes + 1, 1);
        if (name != NULL && text == NULL) {
            return out_of_memory(error);
        }
        if (name != NULL) {
            memcpy(text, name->text, name->bytes);
            ids[rows->named_count] = ids[i];
            names[rows->named_count++] = text;
        }
    }
    rows->named = ids;
    rows->names = names;
    return STATUS_OK;
}

Status touching_rows(const Touching *touching, const TouchQuery *query, Arena *arena,
                     TouchRows *rows, Error *error) {
    *rows = (TouchRows){0};
    const uint64_t most = query->count < touching->row_count ? query->count : touching->row_count;
    rows->touch = arena_take_array(arena, (size_t)most, sizeof(*rows->touch));
    if (rows->touch == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < touching->row_count; i++) {
        if (is_meant(touching, &query->where, &touching->row[i])) {
            if (rows->total >= query->first && rows->count < most) {
                rows->touch[rows->count++] = touching->row[i];
            }
            rows->total++;
        }
    }
    return write_names(touching, arena, rows, error);
}
