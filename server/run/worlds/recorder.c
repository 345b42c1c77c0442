// SPDX-License-Identifier: MIT
#include "run/worlds/recorder.h"

#include "base/assert.h"
#include "os/clock.h"
#include "log/format/entries.h"
#include "log/format/frames.h"
#include "run/worlds/notes.h"
#include "run/worlds/record_columns.h"
#include "run/worlds/touches.h"
#include "run/worlds/worn.h"
#include "step/snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

// A chunk is closed when it has so many bytes: a few pages of the file, and little to lose.
enum { CHUNK_BYTES = 1 << 18 };
// What a buffer begins with.
enum { BUFFER_BYTES = 1 << 16 };
// Memory that a snapshot or a contact list took is kept up to here.
enum { SCRATCH_KEPT_BYTES = 1 << 20 };
static const uint64_t chunk_ns_max = 1000000000;

// A chunk in the making; buffer NULL: none.
typedef struct OpenChunk {
    LogBuffer *buffer;
    uint64_t first_step, last_step;
    double time; // [s] at last_step
    uint64_t opened_ns;
    uint64_t count;                 // frames or contact lists in it
    size_t body_count, joint_count; // of its frames
} OpenChunk;

struct Recorder {
    Log *log;
    LogRecording *recording;
    uint8_t episode_uid[UID_BYTES];
    SceneProc *print_scene; // Nullable
    RecordingContent content;
    uint64_t stride, keyframe_steps;
    bool lossy, has_events;
    Use *use;    // Nullable, borrowed
    Error error; // why nothing is recorded any more; status OK: it is

    uint64_t step;          // taken so far
    uint64_t keyframe_step; // of the last key-frame
    double time;            // [s] simulated so far
    uint64_t put_bytes;     // to the log, not yet told to `use`
    uint64_t queued_step;   // up to which the log has got it
    double queued_time;
    OpenChunk inputs, frames, contacts;
    size_t order_at; // where the last entry stands in `inputs` when it is an order of steps; 0: it
                     // is none
    const char *solver; // of `inputs`
    Notes notes;        // of their steps
    Touches touches;    // up to the last of them, where has_events
    WornNames worn;     // geometries that the log has got

    bool is_skipping; // lossy: the log was full, and since skipped_from nothing was recorded
    uint64_t skipped_from, dropped_steps;
    Arena scratch;
};

static const char *solver_name(const World *world) {
    return solver_get((SolverKind)world->settings.solver)->name;
}

static void fail(Recorder *recorder) {
    if (recorder->error.status == STATUS_OK) {
        error_set(&recorder->error, STATUS_RESOURCE_EXHAUSTED, "",
                  "Memory ended while recording: the episode ends at step %llu.",
                  (unsigned long long)recorder->step);
    }
}

// ---- chunks

static bool open_chunk(Recorder *recorder, OpenChunk *chunk, uint64_t step) {
    *chunk = (OpenChunk){.buffer = log_take_buffer(recorder->log, BUFFER_BYTES),
                         .first_step = step,
                         .last_step = step,
                         .time = recorder->time,
                         .opened_ns = clock_now_ns()};
    if (chunk->buffer == NULL) {
        fail(recorder);
    }
    return chunk->buffer != NULL;
}

// Where `bytes` more are written; the caller fills all of them. NULL: memory ended.
static uint8_t *extend(Recorder *recorder, OpenChunk *chunk, size_t bytes) {
    LogBuffer *buffer = chunk->buffer;
    size_t wanted = buffer->used + bytes;
    if (wanted > buffer->capacity && !log_buffer_reserve(buffer, 2 * wanted)) {
        fail(recorder);
        return NULL;
    }
    uint8_t *at = buffer->bytes + buffer->used;
    buffer->used = wanted;
    return at;
}

static void drop_chunk(Recorder *recorder, OpenChunk *chunk) {
    if (chunk->buffer != NULL) {
        log_give_buffer(recorder->log, chunk->buffer);
    }
    *chunk = (OpenChunk){0};
}

static void drop_chunks(Recorder *recorder) {
    drop_chunk(recorder, &recorder->inputs);
    drop_chunk(recorder, &recorder->frames);
    drop_chunk(recorder, &recorder->contacts);
    recorder->order_at = 0;
}

static void put_chunk(Recorder *recorder, OpenChunk *open, Chunk chunk) {
    if (open->buffer != NULL) {
        chunk.first_step = open->first_step;
        chunk.last_step = open->last_step;
        chunk.time = open->time;
        recorder->put_bytes += open->buffer->used;
        log_put(recorder->recording, open->buffer, &chunk);
    }
    *open = (OpenChunk){0};
}

static void put(Recorder *recorder, OpenChunk *open, ChunkKind kind) {
    put_chunk(recorder, open, (Chunk){.kind = kind});
}

// The number of frames or lists is known last.
static void close_columns(Recorder *recorder, OpenChunk *chunk, ChunkKind kind, size_t offset,
                          uint32_t version) {
    if (chunk->buffer != NULL) {
        Sink count = {.bytes = chunk->buffer->bytes + CHUNK_HEADER_BYTES + offset};
        sink_u64(&count, chunk->count);
    }
    put_chunk(recorder, chunk, (Chunk){.kind = kind, .version = version});
}

// The stretches of the steps of `inputs`, if there are any.
static void put_highlights(Recorder *recorder) {
    Notes *notes = &recorder->notes;
    const uint32_t version = CHUNK_FORMAT_GAINS; // as of the inputs
    notes_finish(notes);
    OpenChunk open;
    if (notes->count == 0 || !open_chunk(recorder, &open, recorder->inputs.first_step)) {
        return;
    }
    open.last_step = recorder->inputs.last_step;
    uint8_t *at =
        extend(recorder, &open, highlights_write(notes->highlight, notes->count, version, NULL));
    if (at == NULL) {
        drop_chunk(recorder, &open);
        return;
    }
    highlights_write(notes->highlight, notes->count, version, at);
    put_chunk(recorder, &open, (Chunk){.kind = CHUNK_HIGHLIGHTS, .version = version});
}

// What has changed between bodies that touch with the steps of `inputs`, if anything has; in front
// of a key-frame all that is so.
static void put_events(Recorder *recorder, bool is_complete) {
    EventsBody body;
    OpenChunk open;
    if (!touches_tell(&recorder->touches, is_complete, &body)) {
        fail(recorder);
        return;
    }
    if ((body.changed_count == 0 && !is_complete) ||
        !open_chunk(recorder, &open, recorder->inputs.first_step)) {
        return;
    }
    open.last_step = recorder->inputs.last_step;
    uint8_t *at = extend(recorder, &open, events_write(&body, NULL));
    if (at == NULL) {
        drop_chunk(recorder, &open);
        return;
    }
    events_write(&body, at);
    put_chunk(recorder, &open, (Chunk){.kind = CHUNK_EVENTS, .version = CHUNK_FORMAT_EVENTS});
    touches_told(&recorder->touches);
}

static void close_inputs(Recorder *recorder, bool at_keyframe) {
    OpenChunk *inputs = &recorder->inputs;
    recorder->order_at = 0;
    if (inputs->buffer == NULL) {
        return;
    }
    put_highlights(recorder);
    if (recorder->has_events) {
        put_events(recorder, at_keyframe);
    }
    if (recorder->error.status != STATUS_OK) {
        return; // memory ended: the recording ends before these inputs
    }
    recorder->queued_step = inputs->last_step;
    recorder->queued_time = inputs->time;
    recorder->notes.figures.has_gain = 1; // also of inputs without a step
    Chunk chunk = {
        .kind = CHUNK_INPUTS, .version = CHUNK_FORMAT_GAINS, .figures = recorder->notes.figures};
    snprintf(chunk.solver, sizeof(chunk.solver), "%s", recorder->solver);
    put_chunk(recorder, inputs, chunk);
}

static void close_frames(Recorder *recorder) {
    const bool has_joints = recorder->frames.joint_count > 0;
    close_columns(recorder, &recorder->frames, CHUNK_FRAMES, FRAME_COUNT_OFFSET,
                  has_joints ? (uint32_t)CHUNK_FORMAT_JOINTS : 0);
}

static void close_contacts(Recorder *recorder) {
    close_columns(recorder, &recorder->contacts, CHUNK_CONTACTS, CONTACT_LIST_COUNT_OFFSET,
                  CHUNK_FORMAT_PARTS);
}

// Inputs come last: whenever the recording is cut off, of every step that it has it also has the
// frame and the contacts, and verification misses those that are gone.
// Where nothing is open. Behind the chunks of a step that reached the limit there are no more.
static void count_put(Recorder *recorder) {
    const uint64_t bytes = recorder->put_bytes;
    recorder->put_bytes = 0;
    if (recorder->error.status == STATUS_OK) {
        use_put_log(recorder->use, 0, bytes, &recorder->error);
    }
}

static void close_chunks(Recorder *recorder, bool at_keyframe) {
    close_frames(recorder);
    close_contacts(recorder);
    close_inputs(recorder, at_keyframe);
    count_put(recorder);
}

// A lossy recording whose log is full: what is open is given up, and recording goes on with a
// key-frame when there is room.
static bool must_skip(const Recorder *recorder) {
    return recorder->lossy && log_is_full(recorder->log);
}

static void begin_skipping(Recorder *recorder) {
    uint64_t from = recorder->inputs.buffer == NULL ? recorder->step : recorder->inputs.first_step;
    recorder->is_skipping = true;
    recorder->skipped_from = from;
    recorder->dropped_steps += recorder->step - from;
    drop_chunks(recorder);
}

// ---- key-frames, frames, contacts

// The chunk in front of what names geometries that nothing has named before; put at once, as chunks
// of inputs stay open.
static void put_worn(Recorder *recorder, const World *world) {
    LogBuffer *buffer;
    if (!worn_take(recorder->log, world, &recorder->worn, &buffer)) {
        fail(recorder);
    } else if (buffer != NULL) {
        recorder->put_bytes += buffer->used + worn_bytes(buffer->worn);
        log_put(recorder->recording, buffer,
                &(Chunk){.kind = CHUNK_GEOMETRIES,
                         .version = CHUNK_FORMAT_GEOMETRIES,
                         .first_step = recorder->step,
                         .last_step = recorder->step,
                         .time = recorder->time});
    }
}

// False: memory ended, and there is no chunk.
static bool make_keyframe(Recorder *recorder, const World *world, OpenChunk *chunk) {
    uint8_t *bytes, *at = NULL;
    size_t count;
    *chunk = (OpenChunk){0};
    if (snapshot_write_named(world, &recorder->scratch, &bytes, &count, NULL) != STATUS_OK) {
        fail(recorder);
    } else if (open_chunk(recorder, chunk, recorder->step)) {
        at = extend(recorder, chunk, count);
    }
    if (at != NULL) {
        memcpy(at, bytes, count);
    } else {
        drop_chunk(recorder, chunk);
    }
    recorder->keyframe_step = recorder->step;
    arena_reset_and_trim(&recorder->scratch, SCRATCH_KEPT_BYTES);
    return at != NULL;
}

static void put_keyframe(Recorder *recorder, const World *world) {
    OpenChunk chunk;
    if (make_keyframe(recorder, world, &chunk)) {
        put(recorder, &chunk, CHUNK_KEYFRAME);
    }
}

// The bodies from `first` on as JSON. False: there is no chunk, as nobody prints or memory ended.
static bool make_scene(Recorder *recorder, const World *world, uint32_t first, OpenChunk *chunk) {
    *chunk = (OpenChunk){0};
    if (recorder->print_scene == NULL) {
        return false;
    }
    Sink sink = {0};
    recorder->print_scene(world, first, &sink);
    if (!open_chunk(recorder, chunk, recorder->step)) {
        return false;
    }
    sink = (Sink){.bytes = extend(recorder, chunk, sink.count)};
    if (sink.bytes == NULL) {
        drop_chunk(recorder, chunk);
        return false;
    }
    recorder->print_scene(world, first, &sink);
    return true;
}

static bool open_frames(Recorder *recorder, const World *world, const FrameJoints *joints) {
    OpenChunk *chunk = &recorder->frames;
    if (chunk->buffer != NULL &&
        (chunk->body_count != world->body_count || chunk->joint_count != joints->count)) {
        close_frames(recorder);
    }
    if (chunk->buffer != NULL) {
        return true;
    }
    if (!open_chunk(recorder, chunk, recorder->step)) {
        return false;
    }
    chunk->body_count = world->body_count;
    chunk->joint_count = joints->count;
    uint8_t *at = extend(recorder, chunk, frame_chunk_head_bytes(world->body_count, joints));
    if (at != NULL) {
        Sink sink = {.bytes = at};
        frame_chunk_begin(&sink, world->body_count, world->body_id, joints);
    }
    return at != NULL;
}

static void add_frame(Recorder *recorder, World *world) {
    OpenChunk *chunk = &recorder->frames;
    StateFrame frame;
    FrameJoints joints;
    if (joint_columns(world, &recorder->scratch, &joints, NULL) != STATUS_OK ||
        !open_frames(recorder, world, &joints) ||
        frame_columns(world, recorder->step, &recorder->scratch, &frame, NULL) != STATUS_OK) {
        fail(recorder);
        return;
    }
    uint8_t *at = extend(recorder, chunk, frame_chunk_frame_bytes(world->body_count, &joints));
    if (at != NULL) {
        Sink sink = {.bytes = at};
        frame_chunk_add(&sink, world->body_count, &joints, &frame);
        chunk->count++;
        chunk->last_step = recorder->step;
        chunk->time = recorder->time;
    }
    arena_reset_and_trim(&recorder->scratch, SCRATCH_KEPT_BYTES);
    if (chunk->buffer->used >= CHUNK_BYTES) {
        close_frames(recorder);
    }
}

static void add_contacts(Recorder *recorder, const World *world, const Stepper *stepper) {
    OpenChunk *chunk = &recorder->contacts;
    if (chunk->buffer == NULL) {
        if (!open_chunk(recorder, chunk, recorder->step)) {
            return;
        }
        uint8_t *at = extend(recorder, chunk, 8);
        if (at != NULL) {
            contact_chunk_begin(&(Sink){.bytes = at});
        }
    }
    ContactList list;
    if (contacts_list(world, stepper, recorder->step, 0, stepper->contact_count, &recorder->scratch,
                      &list, NULL) != STATUS_OK) {
        fail(recorder);
        return;
    }
    uint8_t *at = extend(recorder, chunk, 16 + CONTACT_BYTES * list.count);
    if (at != NULL) {
        contact_chunk_add(&(Sink){.bytes = at}, &list);
        chunk->count++;
        chunk->last_step = recorder->step;
        chunk->time = recorder->time;
    }
    arena_reset_and_trim(&recorder->scratch, SCRATCH_KEPT_BYTES);
    if (chunk->buffer->used >= CHUNK_BYTES) {
        close_contacts(recorder);
    }
}

static void add_due_frame(Recorder *recorder, World *world) {
    if (recorder->content != CONTENT_INPUTS && recorder->step % recorder->stride == 0) {
        add_frame(recorder, world);
    }
}

static void end_skipping(Recorder *recorder, World *world) {
    OpenChunk gap;
    if (open_chunk(recorder, &gap, recorder->skipped_from)) {
        gap.last_step = recorder->step;
        put(recorder, &gap, CHUNK_GAP);
        recorder->queued_step = recorder->step;
        recorder->queued_time = recorder->time;
        recorder->is_skipping = false;
        OpenChunk scene; // what was added meanwhile went unrecorded
        if (make_scene(recorder, world, 0, &scene)) {
            put(recorder, &scene, CHUNK_SCENE);
        }
        put_worn(recorder, world);
        put_keyframe(recorder, world); // from here on the recording can be stepped again
        add_due_frame(recorder, world);
    }
}

// ---- entries

static bool open_inputs(Recorder *recorder, const World *world) {
    if (recorder->inputs.buffer != NULL) {
        return true;
    }
    recorder->solver = solver_name(world);
    notes_clear(&recorder->notes);
    // its gain, which is known last, stands in front of its body
    return open_chunk(recorder, &recorder->inputs, recorder->step) &&
           extend(recorder, &recorder->inputs, CHUNK_GAIN_BYTES) != NULL;
}

// A new entry with its first hash. False: memory ended, and so does the recording.
static bool add_entry(Recorder *recorder, const Input *input, uint32_t flags, uint64_t hash) {
    OpenChunk *chunk = &recorder->inputs;
    size_t at = chunk->buffer->used, input_count = input_bytes(input);
    uint8_t *bytes = extend(recorder, chunk, ENTRY_HEAD_BYTES + input_count + 8);
    if (bytes == NULL) {
        return false;
    }
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, recorder->step);
    sink_u32(&sink, flags);
    sink_u32(&sink, 1);
    sink_u64(&sink, input_count);
    input_encode(input, &sink);
    sink_u64(&sink, hash);
    recorder->order_at = at;
    return true;
}

// One hash more for the last entry, if it is an order of steps like this one.
static bool join_entry(Recorder *recorder, const Input *order, uint32_t flags, uint64_t hash) {
    OpenChunk *chunk = &recorder->inputs;
    if (recorder->order_at == 0) {
        return false;
    }
    ASSERT(recorder->order_at + ENTRY_HEAD_BYTES <= chunk->buffer->used); // of this very chunk
    const uint8_t *entry = chunk->buffer->bytes + recorder->order_at;
    Source head = {.bytes = entry, .count = ENTRY_HEAD_BYTES};
    source_u64(&head);
    uint32_t before = source_u32(&head), hashes = source_u32(&head);
    InputBytes last = {.bytes = entry + ENTRY_HEAD_BYTES, .count = source_u64(&head)};
    if (before != 0 || hashes == UINT32_MAX || !input_is_order(last, &order->step)) {
        return false;
    }
    uint8_t *at = extend(recorder, chunk, 8); // may move the entry
    if (at == NULL) {
        return true;
    }
    sink_u64(&(Sink){.bytes = at}, hash);
    Sink mend = {.bytes = chunk->buffer->bytes + recorder->order_at + 8};
    sink_u32(&mend, flags);
    sink_u32(&mend, hashes + 1);
    return true;
}

// The number of steps that the last entry's input asks for is the number that were done.
static void count_steps(Recorder *recorder, uint64_t steps) {
    uint8_t *entry = recorder->inputs.buffer->bytes + recorder->order_at;
    input_set_steps(entry + ENTRY_HEAD_BYTES, steps);
}

static uint64_t entry_steps(const Recorder *recorder) {
    Source first = {.bytes = recorder->inputs.buffer->bytes + recorder->order_at,
                    .count = ENTRY_HEAD_BYTES};
    return recorder->step - source_u64(&first);
}

static void close_what_is_due(Recorder *recorder, World *world) {
    uint64_t age_ns = clock_now_ns() - recorder->inputs.opened_ns;
    bool keyframe = recorder->step - recorder->keyframe_step >= recorder->keyframe_steps;
    if (keyframe || age_ns >= chunk_ns_max || recorder->inputs.buffer->used >= CHUNK_BYTES ||
        notes_are_full(&recorder->notes) ||
        touches_untold_bytes(&recorder->touches) >= CHUNK_BYTES) {
        if (must_skip(recorder)) {
            begin_skipping(recorder);
            return;
        }
        close_chunks(recorder, keyframe);
    }
    if (keyframe && recorder->error.status == STATUS_OK) {
        put_keyframe(recorder, world);
        count_put(recorder);
    }
}

// True when there is nothing to record into just now.
static bool is_over(const Recorder *recorder) {
    return recorder->error.status != STATUS_OK ||
           log_recording_status(recorder->recording, NULL) != STATUS_OK;
}

// What was added, or all that a snapshot brought, for those who read no snapshots.
static void put_scene(Recorder *recorder, const World *world, const Input *input) {
    bool adds = input->kind == INPUT_BODIES || input->kind == INPUT_RESTORE;
    OpenChunk scene;
    if (!adds || recorder->error.status != STATUS_OK) {
        return;
    }
    uint32_t added = input->kind == INPUT_BODIES ? input->bodies.count : world->body_count;
    if (make_scene(recorder, world, world->body_count - added, &scene)) {
        put(recorder, &scene, CHUNK_SCENE);
    }
}

// The input as it is stored: it names geometries, whose bytes stand elsewhere in the file. False:
// memory ended.
static bool name_geometries(Recorder *recorder, const World *world, Input *input) {
    uint8_t *bytes;
    if (input->kind == INPUT_GEOMETRIES) {
        const size_t count = input->geometries.count, first = world->geometry_count - count;
        bytes = arena_take_array(&recorder->scratch, count, SHA256_BYTES);
        for (size_t i = 0; bytes != NULL && i < count; i++) {
            memcpy(bytes + i * SHA256_BYTES, world->geometry[first + i].digest, SHA256_BYTES);
        }
        *input =
            (Input){.kind = INPUT_NAMED_GEOMETRIES, .geometries = {.count = count, .names = bytes}};
        return bytes != NULL;
    }
    RestoreOrder *restore = &input->restore;
    if (input->kind != INPUT_RESTORE || world->geometry_count == 0 ||
        !snapshot_is_whole(restore->snapshot, restore->snapshot_bytes)) {
        return true;
    }
    const Status status =
        snapshot_detached(restore->snapshot, restore->snapshot_bytes, &recorder->scratch, &bytes,
                          &restore->snapshot_bytes, NULL);
    restore->snapshot = bytes;
    return status == STATUS_OK;
}

static bool add_change(Recorder *recorder, World *world, const Input *input) {
    Input stored = *input;
    bool is_there = name_geometries(recorder, world, &stored);
    if (!is_there) {
        fail(recorder);
    } else if (stored.kind == INPUT_NAMED_GEOMETRIES || stored.kind == INPUT_RESTORE) {
        put_worn(recorder, world);
    }
    is_there = is_there && recorder->error.status == STATUS_OK &&
               add_entry(recorder, &stored, 0, snapshot_hash(world));
    arena_reset_and_trim(&recorder->scratch, SCRATCH_KEPT_BYTES);
    return is_there;
}

void recorder_change(Recorder *recorder, World *world, const Input *input) {
    ASSERT(input->kind != INPUT_STEP);
    if (recorder->is_skipping || is_over(recorder) || !open_inputs(recorder, world) ||
        !add_change(recorder, world, input)) {
        return;
    }
    recorder->order_at = 0; // the next step begins an entry of its own
    put_scene(recorder, world, input);
    if (input->kind == INPUT_RESTORE || input->kind == INPUT_REMOVE) {
        close_frames(recorder); // other bodies may have come, or some gone
    }
    const char *solver = solver_name(world);
    if (solver != recorder->solver || recorder->inputs.buffer->used >= CHUNK_BYTES) {
        close_chunks(recorder, false);
    }
}

void recorder_step(Recorder *recorder, World *world, const Stepper *stepper, const Input *order,
                   const StepReport *report) {
    ASSERT(order->kind == INPUT_STEP);
    ASSERT(stepper->has_last);
    double time_step = order->step.time_step;
    double time = recorder->time + (time_step != 0.0 ? time_step : world->settings.time_step);
    if (is_over(recorder)) {
        recorder->step++;
        return;
    }
    if (recorder->is_skipping) {
        recorder->step++;
        recorder->time = time;
        recorder->dropped_steps++;
        if (!must_skip(recorder)) {
            end_skipping(recorder, world);
        }
        return;
    }
    uint64_t hash = snapshot_hash(world);
    if (!open_inputs(recorder, world) ||
        (!join_entry(recorder, order, 0, hash) && !add_entry(recorder, order, 0, hash))) {
        recorder->step++;
        return;
    }
    recorder->step++;
    recorder->time = time;
    recorder->inputs.last_step = recorder->step;
    recorder->inputs.time = time;
    count_steps(recorder, entry_steps(recorder));
    notes_add(&recorder->notes, stepper, report, recorder->step);
    if (recorder->has_events && !touches_add(&recorder->touches, world, stepper, recorder->step)) {
        fail(recorder);
    }
    if (report->removed_count > 0 || report->broken_count > 0) {
        close_frames(recorder); // the next ones have other bodies, or joints
    }
    if (recorder->content != CONTENT_INPUTS && recorder->step % recorder->stride == 0) {
        add_frame(recorder, world);
        if (recorder->content == CONTENT_CONTACTS) {
            add_contacts(recorder, world, stepper);
        }
    }
    if (recorder->error.status == STATUS_OK) { // else a frame of this step is missing
        close_what_is_due(recorder, world);
    }
}

void recorder_fault(Recorder *recorder, World *world, const Input *order) {
    ASSERT(order->kind == INPUT_STEP);
    ASSERT(world->faulted);
    if (recorder->is_skipping || is_over(recorder) || !open_inputs(recorder, world)) {
        return;
    }
    uint64_t hash = snapshot_hash(world);
    if (!join_entry(recorder, order, ENTRY_FAULTED, hash)) {
        add_entry(recorder, order, ENTRY_FAULTED, hash);
    }
    if (recorder->error.status == STATUS_OK) {
        count_steps(recorder, entry_steps(recorder));
    }
    recorder->order_at = 0;
}

// ---- life

static bool make_uid(uint8_t uid[UID_BYTES]) {
    memset(uid, 0, UID_BYTES); // the end is an episode's number
    return uv_random(NULL, NULL, uid, UID_BYTES - 4, 0, NULL) == 0;
}

Status recorder_start(Log *log, const RecorderDef *def, World *world, LogWait *wait,
                      Recorder **recorder, Error *error) {
    ASSERT(!def->lossy || !def->has_events);
    RecordingDef recording = {.content = def->content,
                              .stride = def->stride,
                              .keyframe_steps = def->keyframe_steps,
                              .lossy = def->lossy,
                              .has_events = def->has_events,
                              .name = def->name,
                              .label_count = def->label_count,
                              .label = def->label,
                              .client = def->client,
                              .space = def->space,
                              .world_name = def->world_name,
                              .solver = solver_name(world),
                              .has_seed = def->has_seed,
                              .seed = def->seed,
                              .dynamics_version = DYNAMICS_VERSION,
                              .world_step = world->step,
                              .world_time = world->time.value,
                              .time_step = world->settings.time_step,
                              .body_count = world->body_count};
    if (def->origin != NULL) {
        recording.has_parent = true;
        recording.parent_step = def->origin->step;
        memcpy(recording.parent, def->origin->episode, UID_BYTES);
    }
    Recorder *made = calloc(1, sizeof(*made));
    if (made == NULL || !make_uid(recording.uid)) {
        free(made);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory or randomness ended while starting an episode.");
    }
    *made = (Recorder){.log = log,
                       .print_scene = def->print_scene,
                       .content = def->content,
                       .stride = def->stride,
                       .keyframe_steps = def->keyframe_steps,
                       .lossy = def->lossy,
                       .has_events = def->has_events,
                       .use = def->use};
    uid_of_episode(recording.uid, 0, made->episode_uid);
    arena_init(&made->scratch, world->limits.bytes_max);
    OpenChunk geometries = {0}, scene, keyframe;
    const bool is_named = worn_take(log, world, &made->worn, &geometries.buffer);
    make_scene(made, world, 0, &scene);
    if (make_keyframe(made, world, &keyframe) && is_named && made->error.status == STATUS_OK) {
        made->recording =
            log_begin(log, &recording, geometries.buffer, scene.buffer, keyframe.buffer, wait);
    }
    if (made->recording == NULL) {
        drop_chunk(made, &geometries);
        drop_chunk(made, &scene);
        drop_chunk(made, &keyframe);
        worn_names_deinit(&made->worn);
        arena_deinit(&made->scratch);
        free(made);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while starting an episode.");
    }
    // where it has reached the limit with them, it ends with the first chunk that follows
    use_put_log(def->use, 1, log_begun_bytes(made->recording), NULL);
    add_due_frame(made, world);
    *recorder = made;
    return STATUS_OK;
}

bool recorder_is_ready(Recorder *recorder, LogWait *wait) {
    ASSERT(recorder->log != NULL);
    if (recorder->lossy || is_over(recorder)) {
        return true;
    }
    return wait == NULL ? !log_is_full(recorder->log) : log_has_room(recorder->log, wait);
}

void recorder_flush(Recorder *recorder) {
    if (is_over(recorder)) {
        drop_chunks(recorder);
    } else if (!must_skip(recorder)) {
        close_chunks(recorder, false);
    }
}

bool recorder_has_open_chunks(const Recorder *recorder) {
    return recorder->inputs.buffer != NULL || recorder->frames.buffer != NULL ||
           recorder->contacts.buffer != NULL;
}

void recorder_stop(Recorder *recorder, RecordingState state, LogWait *wait) {
    ASSERT(recorder->recording != NULL);
    if (recorder->is_skipping && !is_over(recorder)) {
        OpenChunk gap;
        if (open_chunk(recorder, &gap, recorder->skipped_from)) {
            gap.last_step = recorder->step;
            gap.time = recorder->time;
            put(recorder, &gap, CHUNK_GAP);
        }
    }
    if (recorder->error.status == STATUS_OK) {
        close_chunks(recorder, false);
    } else {
        drop_chunks(recorder);
    }
    bool whole = recorder->error.status == STATUS_OK;
    RecordingEnd end = {.state = whole ? state : RECORDING_INTERRUPTED,
                        .last_step = whole ? recorder->step : recorder->queued_step,
                        .time = whole ? recorder->time : recorder->queued_time,
                        .dropped_steps = recorder->dropped_steps};
    log_end(recorder->recording, &end, wait);
    touches_deinit(&recorder->touches);
    worn_names_deinit(&recorder->worn);
    arena_deinit(&recorder->scratch);
    free(recorder);
}

Status recorder_status(const Recorder *recorder, Error *error) {
    if (recorder->error.status != STATUS_OK) {
        if (error != NULL) {
            *error = recorder->error;
        }
        return recorder->error.status;
    }
    return log_recording_status(recorder->recording, error);
}

const uint8_t *recorder_episode_uid(const Recorder *recorder) {
    return recorder->episode_uid;
}

uint64_t recorder_step_count(const Recorder *recorder) {
    return recorder->step;
}

static size_t buffer_bytes(const OpenChunk *chunk) {
    return chunk->buffer == NULL ? 0 : chunk->buffer->capacity;
}

size_t recorder_bytes(const Recorder *recorder) {
    return sizeof(*recorder) + recorder->scratch.total_bytes + buffer_bytes(&recorder->inputs) +
           buffer_bytes(&recorder->frames) + buffer_bytes(&recorder->contacts) +
           touches_bytes(&recorder->touches);
}
