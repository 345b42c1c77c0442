// SPDX-License-Identifier: MIT
#include "replay/show/backward.h"

#include <stdlib.h>
#include <string.h>

// More marks are not needed: with half of those left at every turn, 2^32 steps lie before a block.
enum { MARKS_MAX = 64, FRAMES_MAX = 4096 };
// What contacts of a body there are to be room for, before any is known.
enum { CONTACTS_PER_BODY = 4 };
// Marks may take so much more than frames: where they are few, steps are taken more than twice.
enum { MARK_ROOM = 4 };

struct Backward {
    BackwardDef def;
    PlayerMark *mark[MARKS_MAX]; // owned; their steps rise
    size_t mark_count;
    size_t mark_bytes;
    Arena memory;
    EpisodeFrame *frame; // owned; their steps rise
    size_t frame_count, frame_max;
    // the block under way
    bool is_filling;
    uint64_t goal;
    uint64_t first_frame; // no frame before it is kept
    uint64_t next_mark;   // UINT64_MAX: none any more
    uint64_t spacing;
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The memory budget (option --memory-bytes-max) does not hold the frames that "
                     "are stepped again.");
}

// ---- life

Backward *backward_create(const BackwardDef *def) {
    Backward *backward = calloc(1, sizeof(*backward));
    EpisodeFrame *frame = calloc(FRAMES_MAX, sizeof(*frame));
    if (backward == NULL || frame == NULL) {
        free(backward);
        free(frame);
        return NULL;
    }
    backward->def = *def;
    backward->frame = frame;
    arena_init(&backward->memory, def->bytes_max);
    return backward;
}

static void drop_mark(Backward *backward) {
    PlayerMark *mark = backward->mark[--backward->mark_count];
    backward->mark_bytes -= player_mark_bytes(mark);
    player_mark_free(mark);
}

void backward_destroy(Backward *backward) {
    if (backward == NULL) {
        return;
    }
    while (backward->mark_count > 0) {
        drop_mark(backward);
    }
    arena_deinit(&backward->memory);
    free(backward->frame);
    free(backward);
}

size_t backward_bytes(const Backward *backward) {
    return sizeof(*backward) + FRAMES_MAX * sizeof(*backward->frame) +
           backward->memory.total_bytes + backward->mark_bytes;
}

// ---- frames

static bool copy(Arena *arena, size_t count, double **column) {
    double *own = arena_take_array(arena, count, sizeof(double));
    if (own != NULL && count > 0) {
        memcpy(own, *column, count * sizeof(double));
    }
    *column = own;
    return own != NULL;
}

static bool copy_frame(Arena *arena, EpisodeFrame *frame) {
    StateFrame *state = &frame->frame;
    const size_t bodies = frame->body_count, axes = frame->joints.axis_count;
    uint64_t *ids = arena_take_array(arena, bodies, sizeof(*ids));
    if (ids != NULL && bodies > 0) {
        memcpy(ids, frame->ids, bodies * sizeof(*ids));
    }
    frame->ids = ids;
    return ids != NULL && copy(arena, 7 * bodies, &state->pose) &&
           copy(arena, 6 * bodies, &state->velocity) &&
           copy(arena, frame->joints.position_count, &state->joint_position) &&
           copy(arena, axes, &state->joint_velocity) && copy(arena, axes, &state->joint_target) &&
           copy(arena, axes, &state->joint_target_velocity) &&
           copy(arena, axes, &state->joint_effort) &&
           copy(arena, 3 * frame->contacts.count, &frame->contacts.impulse);
}

static Status add_frame(Backward *backward, Player *player, Error *error) {
    EpisodeFrame *frame = &backward->frame[backward->frame_count];
    Status status = stepped_frame(player, backward->def.wants, &backward->memory, frame, error);
    status = STATUS_THEN_IF(status, !copy_frame(&backward->memory, frame), out_of_memory(error));
    backward->frame_count += status == STATUS_OK;
    return status;
}

// What a frame of this world takes, about.
static size_t frame_bytes(const Backward *backward, const World *world) {
    const FrameWants wants = backward->def.wants;
    size_t contacts = wants.contacts ? CONTACTS_PER_BODY * (size_t)world->body_count : 0;
    return (wants.reports ? sizeof(StepReport) : 0) + 14 * sizeof(double) * world->body_count +
           contacts * CONTACT_BYTES +
           8 * sizeof(double) * (world->joint_count + world->joint_axis_count) + 1;
}

// ---- a block

// To the last place before the frame from which it can be stepped to: all marks are behind the
// key-frame that leads to it.
static Status go_back(Backward *backward, Player *player, LogReader *reader, uint64_t before,
                      Error *error) {
    while (backward->mark_count > 0 &&
           player_mark_step(backward->mark[backward->mark_count - 1]) > before) {
        drop_mark(backward);
    }
    return backward->mark_count > 0
               ? player_return(player, reader, backward->mark[backward->mark_count - 1], error)
               : player_seek(player, reader, before, NULL, error);
}

// Frames back to where they fill the room, and marks on the way to the first of them.
static void plan(Backward *backward, Player *player, uint64_t from) {
    const World *world = player_world(player);
    const uint64_t stride = backward->def.stride, origin = player_step(player);
    uint64_t frames = backward->def.bytes / frame_bytes(backward, world) + 1;
    frames = frames < FRAMES_MAX ? frames : FRAMES_MAX;
    uint64_t first = origin + (frame_wants_step(backward->def.wants) && origin > from);
    first = first > backward->def.first ? first : backward->def.first;
    const uint64_t span = (frames - 1) * stride;
    backward->first_frame = backward->goal - first > span ? backward->goal - span : first;
    const size_t room = MARK_ROOM * backward->def.bytes / world_bytes(world) + 1,
                 marks = room < MARKS_MAX ? room : MARKS_MAX;
    const uint64_t left = marks > backward->mark_count ? (marks - backward->mark_count + 1) / 2 : 0;
    const uint64_t way = backward->first_frame - origin;
    uint64_t spacing = left > 0 ? way / (left + 1) + 1 : 0;
    spacing = spacing > span + stride ? spacing : span + stride;
    backward->spacing = spacing;
    backward->next_mark = left > 0 && spacing < way ? origin + spacing : UINT64_MAX;
}

static Status begin(Backward *backward, Player *player, LogReader *reader, uint64_t step,
                    uint64_t from, Error *error) {
    arena_reset(&backward->memory);
    backward->frame_count = 0;
    backward->goal = step;
    const bool takes_step = frame_wants_step(backward->def.wants) && step > from;
    Status status = go_back(backward, player, reader, takes_step ? step - 1 : step, error);
    if (status == STATUS_OK) {
        plan(backward, player, from);
    }
    backward->is_filling = status == STATUS_OK;
    return status;
}

static void add_mark(Backward *backward, const Player *player) {
    PlayerMark *mark = backward->mark_count < MARKS_MAX ? player_mark(player) : NULL;
    backward->next_mark = UINT64_MAX;
    if (mark != NULL) { // without one the way is longer
        backward->mark[backward->mark_count++] = mark;
        backward->mark_bytes += player_mark_bytes(mark);
        const uint64_t next = player_step(player) + backward->spacing;
        backward->next_mark = next < backward->first_frame ? next : UINT64_MAX;
    }
}

// The first step from `at` on behind which a frame is kept; the goal is one.
static uint64_t next_frame(const Backward *backward, uint64_t at) {
    const uint64_t stride = backward->def.stride;
    at = at > backward->first_frame ? at : backward->first_frame;
    return backward->goal - (backward->goal - at) / stride * stride;
}

// One stretch of the way; the player stands behind it or was stopped on it.
static Status step_on(Player *player, LogReader *reader, uint64_t to, Arena *scratch,
                      uint64_t until_ns, const Context *context, Error *error) {
    PlayerDifference difference = {0};
    Status status =
        player_run(player, reader, to, false, scratch, until_ns, context, &difference, error);
    if (status == STATUS_OK && difference.found) {
        return error_set(error, STATUS_DATA_LOSS, "", "%s", difference.message);
    }
    return status;
}

// On to the goal. *is_stopped: on the way.
static Status fill(Backward *backward, Player *player, LogReader *reader, Arena *scratch,
                   uint64_t until_ns, const Context *context, bool *is_stopped, Error *error) {
    Status status = STATUS_OK;
    *is_stopped = false;
    while (status == STATUS_OK && backward->is_filling) {
        const size_t kept = backward->frame_count;
        const uint64_t behind = kept == 0 ? 0 : backward->frame[kept - 1].frame.step + 1;
        const uint64_t frame = next_frame(backward, behind);
        const uint64_t to = frame < backward->next_mark ? frame : backward->next_mark;
        if (player_step(player) < to || player_is_stopped(player)) {
            status = step_on(player, reader, to, scratch, until_ns, context, error);
        }
        if (status != STATUS_OK || player_step(player) < to || player_is_stopped(player)) {
            *is_stopped = status == STATUS_OK;
            return status;
        }
        if (to == backward->next_mark) {
            add_mark(backward, player);
        } else {
            status = add_frame(backward, player, error);
            backward->is_filling = to < backward->goal;
        }
    }
    return status;
}

Status backward_get(Backward *backward, Player *player, LogReader *reader, uint64_t step,
                    uint64_t from, Arena *scratch, uint64_t until_ns, const Context *context,
                    const EpisodeFrame **frame, Error *error) {
    *frame = NULL;
    bool is_stopped = false;
    Status status = STATUS_OK;
    while (!backward->is_filling && backward->frame_count > 0 &&
           backward->frame[backward->frame_count - 1].frame.step > step) {
        backward->frame_count--;
    }
    bool is_there =
        backward->frame_count > 0 && backward->frame[backward->frame_count - 1].frame.step == step;
    if (!is_there && !(backward->is_filling && backward->goal == step)) {
        status = begin(backward, player, reader, step, from, error);
    }
    status = STATUS_THEN_IF(
        status, backward->is_filling,
        fill(backward, player, reader, scratch, until_ns, context, &is_stopped, error));
    if (status == STATUS_OK && !is_stopped) {
        *frame = &backward->frame[backward->frame_count - 1];
    } else if (status != STATUS_OK) {
        backward->is_filling = false;
        backward->frame_count = 0;
    }
    return status;
}
