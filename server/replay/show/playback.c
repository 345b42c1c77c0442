// SPDX-License-Identifier: MIT
#include "replay/show/playback.h"

#include "replay/show/backward.h"

#include <stdlib.h>

// So many steps are rather taken than looked for a key-frame among them.
enum { NEAR_STEPS = 64 };

// The chunk of frames, or of contacts, read last.
typedef struct StoredChunk {
    Arena memory;
    bool is_open;
    LogChunk chunk;
    uint64_t asked_step; // the highest that this chunk was the last one before
    uint64_t *ids;       // of frames; NULL: not read yet, as are the joints
    FrameJoints joints;
} StoredChunk;

struct Playback {
    PlaybackDef def;
    LogHold hold;
    LogReader
        *reader;     // taken from the log for the time of a call, as others want one too; else NULL
    Player *player;  // NULL: nothing had to be stepped yet
    bool has_sought; // the player is on its way to `sought_step`
    uint64_t sought_step;
    Backward *backward; // of one that goes backward; else NULL
    StoredChunk frames, contacts;
    Arena memory; // the frame handed out
    Arena rows;
    ChunkRow *gap;
    size_t gap_count;
    uint64_t keyframe_step; // of the last key-frame: behind a gap there is one, or nothing
};

static Status find_gaps(Playback *playback, Error *error) {
    const EpisodeRow *episode = playback->def.episode;
    ChunkRow *keyframe;
    size_t keyframe_count;
    Status status = log_reader_chunks(playback->reader, episode, CHUNK_GAP, &playback->rows,
                                      &playback->gap, &playback->gap_count, error);
    status =
        STATUS_THEN(status, log_reader_chunks(playback->reader, episode, CHUNK_KEYFRAME,
                                              &playback->rows, &keyframe, &keyframe_count, error));
    if (status == STATUS_OK && keyframe_count > 0) {
        playback->keyframe_step = keyframe[keyframe_count - 1].first_step;
    }
    return status;
}

static void give_reader(Playback *playback) {
    log_give_reader(playback->def.log, playback->reader);
    playback->reader = NULL;
}

Status playback_open(Playback **playback, const PlaybackDef *def, Error *error) {
    Playback *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while opening an episode.");
    }
    made->def = *def;
    log_hold(def->log, def->episode->recording, &made->hold);
    arena_init(&made->frames.memory, def->limits.bytes_max);
    arena_init(&made->contacts.memory, def->limits.bytes_max);
    arena_init(&made->memory, def->limits.bytes_max);
    arena_init(&made->rows, def->limits.bytes_max);
    Status status = STATUS_OK;
    if (def->backward) {
        made->backward = backward_create(&(BackwardDef){.first = def->first,
                                                        .stride = def->stride,
                                                        .wants = def->wants,
                                                        .bytes = BACKWARD_BYTES_DEFAULT,
                                                        .bytes_max = def->limits.bytes_max});
        status = made->backward != NULL ? STATUS_OK
                                        : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                                                    "Memory ended while opening an episode.");
    }
    status = STATUS_THEN_IF(status, def->episode->lossy,
                            log_take_reader(def->log, &made->reader, error));
    if (made->reader != NULL) {
        status = find_gaps(made, error);
        give_reader(made);
    }
    if (status != STATUS_OK) {
        playback_close(made);
        return status;
    }
    *playback = made;
    return STATUS_OK;
}

void playback_close(Playback *playback) {
    if (playback == NULL) {
        return;
    }
    if (playback->player != NULL) {
        player_close(playback->player);
    }
    log_release(playback->def.log, &playback->hold);
    backward_destroy(playback->backward);
    arena_deinit(&playback->frames.memory);
    arena_deinit(&playback->contacts.memory);
    arena_deinit(&playback->memory);
    arena_deinit(&playback->rows);
    free(playback);
}

uint64_t playback_skip_gap(const Playback *playback, uint64_t step) {
    for (size_t i = 0; i < playback->gap_count; i++) {
        const ChunkRow *gap = &playback->gap[i];
        bool goes_on = gap->last_step <= playback->keyframe_step;
        if (step > gap->first_step && (step < gap->last_step || !goes_on)) {
            return goes_on ? gap->last_step : UINT64_MAX;
        }
    }
    return step;
}

uint64_t playback_skip_gap_back(const Playback *playback, uint64_t step) {
    for (size_t i = playback->gap_count; i > 0; i--) {
        const ChunkRow *gap = &playback->gap[i - 1];
        bool goes_on = gap->last_step <= playback->keyframe_step;
        if (step > gap->first_step && (step < gap->last_step || !goes_on)) {
            step = gap->first_step;
        }
    }
    return step;
}

// ---- stored

// Makes the last chunk that begins at or before `step` the open one; none is no error.
static Status open_chunk(Playback *playback, StoredChunk *stored, ChunkKind kind, uint64_t step,
                         Error *error) {
    const Chunk *chunk = &stored->chunk.chunk;
    if (stored->is_open && step >= chunk->first_step &&
        (step <= chunk->last_step || step <= stored->asked_step)) {
        return STATUS_OK;
    }
    Error why = {0};
    stored->is_open = false;
    stored->ids = NULL;
    arena_reset(&stored->memory);
    Status status = log_reader_at(playback->reader, playback->def.episode, kind, step,
                                  &stored->memory, &stored->chunk, &why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status == STATUS_DATA_LOSS) {
        return error_set(error, status, "", "%.300s Ask with `again` to step instead.",
                         why.message);
    }
    if (status != STATUS_OK) {
        *error = why;
        return status;
    }
    stored->is_open = true;
    stored->asked_step = step;
    return STATUS_OK;
}

// The place of the frame of a step in its chunk, whose steps grow.
static bool find_index(const FrameChunk *chunk, uint64_t step, size_t *index) {
    size_t low = 0, high = chunk->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frame_chunk_step(chunk, middle) < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *index = low;
    return low < chunk->frame_count && frame_chunk_step(chunk, low) == step;
}

static Status read_contacts(Playback *playback, uint64_t step, EpisodeFrame *frame, Error *error) {
    Status status = open_chunk(playback, &playback->contacts, CHUNK_CONTACTS, step, error);
    if (status != STATUS_OK || !playback->contacts.is_open) {
        return status;
    }
    const Chunk *chunk = &playback->contacts.chunk.chunk;
    Error why = {0};
    ContactList list = {0};
    size_t at = 0;
    ArenaMark mark = arena_mark(&playback->memory);
    while (contact_chunk_next(chunk->body, chunk->body_bytes, chunk_version(chunk), &at,
                              &playback->memory, &list, &why)) {
        if (list.step == step) {
            frame->contacts = list;
            return STATUS_OK;
        }
        arena_reset_to(&playback->memory, mark);
    }
    if (why.status != STATUS_OK) {
        *error = why;
    }
    return why.status; // none: an episode, or what follows a gap, begins without contacts
}

// Of which bodies and joints the frames of a chunk are.
static Status read_whose(StoredChunk *stored, const FrameChunk *chunk, Error *error) {
    uint64_t *ids = arena_take_array(&stored->memory, chunk->body_count, sizeof(uint64_t));
    if (ids == NULL ||
        frame_chunk_joints(chunk, &stored->memory, &stored->joints, NULL) != STATUS_OK) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "The memory budget (option --memory-bytes-max) does not hold the stored "
                         "frames.");
    }
    frame_chunk_ids(chunk, ids);
    stored->ids = ids;
    return STATUS_OK;
}

static Status read_stored(Playback *playback, uint64_t step, EpisodeFrame *frame, bool *found,
                          Error *error) {
    const PlaybackDef *def = &playback->def;
    *found = false;
    if (def->again || def->wants.reports || def->episode->content == CONTENT_INPUTS ||
        (def->wants.contacts && def->episode->content != CONTENT_CONTACTS) ||
        def->episode->stride == 0 || step % def->episode->stride != 0) {
        return STATUS_OK;
    }
    StoredChunk *stored = &playback->frames;
    Status status = open_chunk(playback, stored, CHUNK_FRAMES, step, error);
    if (status != STATUS_OK || !stored->is_open) {
        return status;
    }
    FrameChunk chunk;
    size_t index;
    status = frame_chunk_open(stored->chunk.chunk.body, stored->chunk.chunk.body_bytes,
                              chunk_version(&stored->chunk.chunk), &chunk, error);
    if (status != STATUS_OK || !find_index(&chunk, step, &index)) {
        return status;
    }
    status = frame_chunk_read(&chunk, index, &playback->memory, &frame->frame, error);
    status = STATUS_THEN_IF(status, stored->ids == NULL, read_whose(stored, &chunk, error));
    if (status != STATUS_OK) {
        return status;
    }
    if (def->wants.contacts) {
        status = read_contacts(playback, step, frame, error);
    }
    frame->ids = stored->ids;
    frame->joints = stored->joints;
    frame->body_count = chunk.body_count;
    frame->is_stored = true;
    *found = status == STATUS_OK;
    return status;
}

// ---- stepped

static bool has_what_is_wanted(const Playback *playback, uint64_t step) {
    return player_step(playback->player) == step &&
           (!frame_wants_step(playback->def.wants) || step == playback->def.episode->first_step ||
            player_stepper(playback->player)->has_last);
}

// Whether some of the steps from one to the other were dropped: no inputs lead over a gap.
static bool is_gap_between(const Playback *playback, uint64_t from, uint64_t to) {
    bool is_between = false;
    for (size_t i = 0; i < playback->gap_count && !is_between; i++) {
        const ChunkRow *gap = &playback->gap[i];
        is_between = gap->first_step < to && gap->last_step > from;
    }
    return is_between;
}

static Status open_player(Playback *playback, Error *error) {
    const PlaybackDef *def = &playback->def;
    Status status = player_open(&playback->player, def->episode, &def->limits, error);
    if (status != STATUS_OK) {
        playback->player = NULL;
    }
    return status;
}

static Status seek(Playback *playback, uint64_t step, Error *error) {
    const EpisodeRow *episode = playback->def.episode;
    bool is_fresh = playback->player == NULL;
    if (is_fresh && open_player(playback, error) != STATUS_OK) {
        return error->status;
    }
    uint64_t stands = is_fresh ? 0 : player_step(playback->player);
    if (!is_fresh &&
        (has_what_is_wanted(playback, step) || (stands < step && step - stands <= NEAR_STEPS &&
                                                !is_gap_between(playback, stands, step)))) {
        return STATUS_OK;
    }
    // the step that made them is taken too, unless a gap has swallowed it
    bool has_step_before = step > episode->first_step && !is_gap_between(playback, step - 1, step);
    uint64_t target = frame_wants_step(playback->def.wants) && has_step_before ? step - 1 : step;
    return player_seek(playback->player, playback->reader, target, NULL, error);
}

// It is behind the step, and behind all that a pause may have left of it.
static bool stands_behind(const Playback *playback, uint64_t step) {
    return player_step(playback->player) >= step && !player_is_stopped(playback->player);
}

// Behind the last step of a group's world there may be what was done of a call that was stopped.
static Status step_on(Playback *playback, uint64_t step, Arena *scratch, uint64_t until_ns,
                      const Context *context, Error *error) {
    if (stands_behind(playback, step) && step < playback->def.episode->last_step) {
        return STATUS_OK;
    }
    PlayerDifference difference = {0};
    Status status = player_run(playback->player, playback->reader, step, false, scratch, until_ns,
                               context, &difference, error);
    if (status == STATUS_OK && difference.found) {
        return error_set(error, STATUS_DATA_LOSS, "", "%s", difference.message);
    }
    return status;
}

// The earliest step from which this one can be stepped to.
static uint64_t begin_of(const Playback *playback, uint64_t step) {
    uint64_t from = playback->def.episode->first_step;
    for (size_t i = 0; i < playback->gap_count; i++) {
        const ChunkRow *gap = &playback->gap[i];
        from = gap->last_step <= step && gap->last_step > from ? gap->last_step : from;
    }
    return from;
}

static Status get_back(Playback *playback, uint64_t step, Arena *scratch, uint64_t until_ns,
                       const Context *context, EpisodeFrame *frame, bool *found, Error *error) {
    const EpisodeFrame *kept = NULL;
    Status status = playback->player == NULL ? open_player(playback, error) : STATUS_OK;
    status = STATUS_THEN(status, backward_get(playback->backward, playback->player,
                                              playback->reader, step, begin_of(playback, step),
                                              scratch, until_ns, context, &kept, error));
    *found = status == STATUS_OK && kept != NULL;
    if (*found) {
        *frame = *kept;
    }
    return status;
}

static Status get_on(Playback *playback, uint64_t step, Arena *scratch, uint64_t until_ns,
                     const Context *context, EpisodeFrame *frame, bool *found, Error *error) {
    Status status = STATUS_OK;
    if (!playback->has_sought) {
        status = seek(playback, step, error);
        playback->has_sought = status == STATUS_OK;
    }
    status = STATUS_THEN(status, step_on(playback, step, scratch, until_ns, context, error));
    *found = status == STATUS_OK && stands_behind(playback, step);
    if (*found) {
        playback->has_sought = false;
        status =
            stepped_frame(playback->player, playback->def.wants, &playback->memory, frame, error);
    }
    return status;
}

static Status get_frame(Playback *playback, uint64_t step, Arena *scratch, uint64_t until_ns,
                        const Context *context, EpisodeFrame *frame, bool *found, Error *error) {
    *frame = (EpisodeFrame){0};
    *found = false;
    arena_reset(&playback->memory);
    if (!playback->has_sought || playback->sought_step != step) {
        playback->has_sought = false;
        playback->sought_step = step;
        Status status = read_stored(playback, step, frame, found, error);
        if (status != STATUS_OK || *found) {
            return status;
        }
    }
    Status status = (playback->backward != NULL ? get_back : get_on)(
        playback, step, scratch, until_ns, context, frame, found, error);
    if (status != STATUS_OK) {
        // what the player holds now is of no use: the next frame begins afresh
        if (playback->player != NULL) {
            player_close(playback->player);
            playback->player = NULL;
        }
        playback->has_sought = false;
    }
    return status;
}

Status playback_get(Playback *playback, uint64_t step, Arena *scratch, uint64_t until_ns,
                    const Context *context, EpisodeFrame *frame, bool *found, Error *error) {
    Status status = log_take_reader(playback->def.log, &playback->reader, error);
    if (status != STATUS_OK) {
        *found = false;
        return status;
    }
    status = get_frame(playback, step, scratch, until_ns, context, frame, found, error);
    give_reader(playback);
    return status;
}

size_t playback_bytes(const Playback *playback) {
    size_t bytes = sizeof(*playback) + playback->frames.memory.total_bytes +
                   playback->contacts.memory.total_bytes + playback->memory.total_bytes +
                   playback->rows.total_bytes;
    bytes += playback->backward == NULL ? 0 : backward_bytes(playback->backward);
    return playback->player == NULL ? bytes : bytes + player_bytes(playback->player);
}
