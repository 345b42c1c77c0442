// SPDX-License-Identifier: MIT
// A world being recorded: hangs at its door and turns what passes into chunks of the log.
//
//   door_change, door_step ──► recorder: open chunks in memory ──► log_put
//
// Chunks are closed when they are large enough, when the solver changes, at key-frames, and by
// recorder_flush, which the host calls about once a second for worlds whose chunks have waited that
// long: so `kill -9` takes at most the last second. Key-frames come every so many steps, counted
// from the start, so that a recording's content does not depend on time.
//
// Runs on the lane that has the world. It never fails and never blocks: when the log is full the
// door says so before the next input (door_is_ready), and when the log has failed the recorder
// throws away what it is given, says so once in the server's report, and tells whoever asks.
#pragma once

#include "access/use.h"
#include "log/log.h"
#include "run/worlds/input.h"
#include "step/step.h"

enum { RECORDER_KEYFRAME_STEPS_DEFAULT = 500, RECORDER_KEYFRAME_STEPS_MAX = 1000000 };
enum { RECORDER_STRIDE_MAX = 1000000 };

typedef struct Recorder Recorder;

// Prints the world as message Scene in JSON, with the bodies from `first` on, into a sink that may
// only count. Lives forever.
typedef void SceneProc(const World *world, uint32_t first, Sink *sink);

// What a world was made of: what the world of an episode was behind a step.
typedef struct EpisodeOrigin {
    uint8_t episode[UID_BYTES];
    uint64_t step;
} EpisodeOrigin;

typedef struct RecorderDef {
    RecordingContent content;
    uint64_t stride;         // steps between frames, >= 1
    uint64_t keyframe_steps; // >= 1
    bool lossy;
    bool has_events;  // who touches whom; not of a lossy recording, which has holes
    const char *name; // "": the world's, with a number
    size_t label_count;
    const char *const *label;
    const char *client, *world_name;
    const char *space;           // Nullable: the namespace that sees it
    Use *use;                    // Nullable: whose limit it ends at
    SceneProc *print_scene;      // Nullable: no scene goes into the file
    const EpisodeOrigin *origin; // of the world. Nullable
    bool has_seed;
    uint64_t seed;
} RecorderDef;

// Step 0 is the world's present state; its key-frame (and frame) is queued. `wait` is done when the
// rows of recording and episode are committed. RESOURCE_EXHAUSTED when memory ends.
Status recorder_start(Log *log, const RecorderDef *def, World *world, LogWait *wait,
                      Recorder **recorder, Error *error);

// What passed the door, encoded into the open chunk. `order` is the step input, whatever number of
// steps it asks for: as many are stored as were done. When memory ends, the recording ends with the
// last chunk that was whole, as `interrupted`, and says so: no input is missing from what it has.
void recorder_change(Recorder *recorder, World *world, const Input *input);
void recorder_step(Recorder *recorder, World *world, const Stepper *stepper, const Input *order,
                   const StepReport *report);
void recorder_fault(Recorder *recorder, World *world, const Input *order);

// False: the log is full (and the recording is not lossy); wait->done is called when it is not.
// `wait` NULL: only asks.
bool recorder_is_ready(Recorder *recorder, LogWait *wait);

// Closes the open chunks, whatever their size.
void recorder_flush(Recorder *recorder);
bool recorder_has_open_chunks(const Recorder *recorder);

// Ends the recording and frees the recorder. `wait` Nullable.
void recorder_stop(Recorder *recorder, RecordingState state, LogWait *wait);

// OK, or why nothing is recorded any more.
Status recorder_status(const Recorder *recorder, Error *error);

const uint8_t *recorder_episode_uid(const Recorder *recorder);
uint64_t recorder_step_count(const Recorder *recorder); // so far
size_t recorder_bytes(const Recorder *recorder);        // memory held
