// SPDX-License-Identifier: MIT
#include "histories/record.h"

#include "base/assert.h"
#include "histories/record_ask.h"
#include "run/worlds/record_columns.h"
#include "step/snapshot/snapshot.h"
#include "support/log_waiter.h"
#include "wire/scene/print.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUEUE_BYTES = 1 << 26 };

static char folder[64];
static Log *log_of_process; // opened when something is recorded first, and never closed
static Report report = {.level = REPORT_ERROR, .fd = STDERR_FILENO};

// ---- the file

// In memory, where there is such a folder.
void record_make_folder(void) {
    const bool has_memory = access("/dev/shm", W_OK) == 0;
    snprintf(folder, sizeof(folder), "%s/moreau-histories-XXXXXX",
             has_memory ? "/dev/shm" : "/tmp");
    ASSERT(mkdtemp(folder) != NULL);
}

void record_remove_folder(void) {
    DIR *listed = opendir(folder);
    ASSERT(listed != NULL);
    for (const struct dirent *entry; (entry = readdir(listed)) != NULL;) {
        char path[400];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(listed);
    ASSERT(rmdir(folder) == 0);
}

static Log *take_log(void) {
    char path[80];
    Error error = {0};
    if (log_of_process == NULL) {
        snprintf(path, sizeof(path), "%s/log.db", folder);
        const LogDef def = {.path = path,
                            .queue_bytes_max = QUEUE_BYTES,
                            .report = &report,
                            .server_version = "histories",
                            .build = "test"};
        ASSERT(log_open(&log_of_process, &def, &error) == STATUS_OK);
    }
    return log_of_process;
}

// ---- moments

void record_init(Record *record, uint64_t seed, const WorldLimits *limits) {
    *record = (Record){.dice = dice_make(seed, 7),
                       .pick = dice_make(seed, 8),
                       .limits = *limits,
                       .is_wanted = seed != 0};
}

void record_deinit(Record *record) {
    free(record->moment);
    free(record->live);
}

static RecordMoment make_moment(const Door *door, uint64_t step, const StepReport *told) {
    Arena arena;
    EpisodeFrame frame = {.body_count = door->world->body_count, .ids = door->world->body_id};
    RecordMoment moment = {.state = snapshot_hash(door->world)};
    arena_init(&arena, (size_t)1 << 28);
    ASSERT(frame_columns(door->world, step, &arena, &frame.frame, NULL) == STATUS_OK);
    ASSERT(joint_columns(door->world, &arena, &frame.joints, NULL) == STATUS_OK);
    moment.shown = record_hash_frame(&frame);
    if (told != NULL && door->stepper->has_last) {
        ASSERT(contacts_list(door->world, door->stepper, step, 0, door->stepper->contact_count,
                             &arena, &frame.contacts, NULL) == STATUS_OK);
        moment.told = record_hash_told(told, &frame.contacts);
    }
    arena_deinit(&arena);
    return moment;
}

static void keep_live(Record *record, const Door *door) {
    Arena arena;
    uint8_t *bytes;
    arena_init(&arena, (size_t)1 << 28);
    ASSERT(snapshot_write(door->world, &arena, &bytes, &record->live_bytes, NULL) == STATUS_OK);
    free(record->live);
    record->live = malloc(record->live_bytes);
    ASSERT(record->live != NULL);
    memcpy(record->live, bytes, record->live_bytes);
    record->live_step = record->count;
    arena_deinit(&arena);
}

static void keep_moment(Record *record, const Door *door, const StepReport *told) {
    if (record->count == record->capacity) {
        record->capacity = record->capacity == 0 ? 256 : 2 * record->capacity;
        record->moment = realloc(record->moment, record->capacity * sizeof(*record->moment));
        ASSERT(record->moment != NULL);
    }
    record->moment[record->count] = make_moment(door, record->count, told);
    if (dice_roll(&record->pick, record->count + 1) == 0) {
        keep_live(record, door);
    }
    record->count++;
}

// ---- recordings

static void await(Waiter *waiter) {
    ASSERT(waiter_wait(waiter) == STATUS_OK);
}

void record_begin(Record *record, Door *door, uint8_t episode[UID_BYTES]) {
    Dice *dice = &record->dice;
    const RecorderDef def = {.content = (RecordingContent)dice_roll(dice, CONTENT_CONTACTS + 1),
                             .stride = dice_magnitude(dice, 5),
                             .keyframe_steps = dice_magnitude(dice, 7),
                             .has_events = dice_chance(dice, 50),
                             .name = "history",
                             .client = "histories",
                             .world_name = "world",
                             .print_scene = scene_print};
    Waiter waiter;
    Error error = {0};
    waiter_init(&waiter);
    ASSERT(recorder_start(take_log(), &def, door->world, &waiter.wait, &door->recorder, &error) ==
           STATUS_OK);
    await(&waiter);
    memcpy(episode, recorder_episode_uid(door->recorder), UID_BYTES);
}

static void start(Record *record, Door *door) {
    record_begin(record, door, record->episode);
    record->count = 0;
    record->unconverged = 0;
    keep_moment(record, door, NULL);
}

void record_stop(Door *door) {
    Waiter waiter;
    waiter_init(&waiter);
    recorder_stop(door->recorder, RECORDING_COMPLETE, &waiter.wait);
    door->recorder = NULL;
    await(&waiter);
}

void record_forget(const uint8_t episode[UID_BYTES]) {
    Waiter waiter;
    waiter_init(&waiter);
    log_delete(log_of_process, episode, &waiter.wait);
    await(&waiter);
}

bool record_end(Record *record, Door *door, RecordDoubt *doubt) {
    if (door->recorder == NULL) {
        return true;
    }
    record_stop(door);
    const bool is_fine = record_ask(record, log_of_process, snapshot_hash(door->world), doubt);
    record_forget(record->episode);
    return is_fine;
}

bool record_turns(Record *record, Door *door) {
    const bool is_open = door->recorder != NULL;
    const bool turns = record->is_wanted && dice_chance(&record->dice, is_open ? 3 : 25);
    if (turns && !is_open) {
        start(record, door);
    }
    return turns && is_open;
}

void record_await(Door *door) {
    Waiter waiter;
    if (!door_is_ready(door, NULL)) {
        waiter_init(&waiter);
        if (!door_is_ready(door, &waiter.wait)) {
            await(&waiter);
        }
    }
}

void record_step(Record *record, const Door *door, const StepReport *told) {
    if (door->recorder != NULL) {
        record->unconverged += !told->certificate.converged;
        keep_moment(record, door, told);
    }
}
