// SPDX-License-Identifier: MIT
#include "replay/verify/beginning.h"

#include "base/bytes.h"
#include "run/worlds/first_state.h"

#include <stdio.h>
#include <string.h>

static PlayerDifference *differ(PlayerDifference *difference, size_t *count, const char *what) {
    PlayerDifference *made = &difference[(*count)++];
    *made = (PlayerDifference){.found = true, .is_damage = true};
    snprintf(made->quantity, sizeof(made->quantity), "%s", what);
    return made;
}

static void check_numbers(const Beginning *beginning, PlayerDifference *difference, size_t *count) {
    const char *name = first_state_differs(beginning->def, beginning->world, beginning->time_step);
    if (name != NULL) {
        PlayerDifference *made = differ(difference, count, name);
        made->chunk_kind = CHUNK_DEFINITION;
        snprintf(made->message, sizeof(made->message),
                 "The definition's %s is not that of the state that the recording begins with.",
                 name);
    }
}

static Status check_scene(const Beginning *beginning, const LogChunk *chunk, Arena *arena,
                          PlayerDifference *difference, size_t *count, Error *error) {
    Sink sink = {0};
    beginning->print_scene(beginning->world, 0, &sink);
    uint8_t *text = arena_take(arena, sink.count);
    if (text == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while comparing the scene of a recording.");
    }
    sink = (Sink){.bytes = text};
    beginning->print_scene(beginning->world, 0, &sink);
    if (chunk->chunk.first_step == 0 && chunk->chunk.body_bytes == sink.count &&
        bytes_are_same(chunk->chunk.body, text, sink.count)) {
        return STATUS_OK;
    }
    PlayerDifference *made = differ(difference, count, "scene");
    made->chunk = chunk->id;
    made->chunk_kind = CHUNK_SCENE;
    snprintf(made->message, sizeof(made->message),
             "The scene in the file is not that of the state that the recording begins with.");
    return STATUS_OK;
}

Status beginning_check(const Beginning *beginning, LogReader *reader, Arena *arena,
                       PlayerDifference difference[BEGINNING_DIFFERENCES], size_t *count,
                       Error *error) {
    *count = 0;
    check_numbers(beginning, difference, count);
    if (beginning->print_scene == NULL) {
        return STATUS_OK;
    }
    LogChunk chunk = {0};
    Error why = {0};
    arena_reset(arena);
    Status status =
        log_reader_next(reader, beginning->episode, CHUNK_SCENE, NULL, arena, &chunk, &why);
    if (status == STATUS_NOT_FOUND || status == STATUS_DATA_LOSS) {
        return STATUS_OK; // none was kept, or its damage is told
    }
    if (status != STATUS_OK) {
        *error = why;
        return status;
    }
    return check_scene(beginning, &chunk, arena, difference, count, error);
}
