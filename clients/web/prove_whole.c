// SPDX-License-Identifier: MIT
// What the steps of one episode do not show: whether definition and scene are those of the state
// that the recording begins with, and whether a group's list of episodes is what its calls ended.
#include "log/format/definition.h"
#include "run/worlds/first_state.h"
#include "run/groups/listed.h"
#include "web/prove_substeps.h"
#include "wire/scene/print.h"

#include <string.h>

static GroupListed *listed; // owned; NULL: none

// ---- how it begins

static int fail_by(const char *what, const char *name) {
    error_set(&prove_state()->error, STATUS_DATA_LOSS, NULL, what, name);
    return PROVE_FAILED;
}

static const World *first_world(void) {
    const Group *group = prove_group_made();
    return group != NULL ? group->template : prove_state()->world;
}

int prove_definition(size_t count) {
    Prover *prover = prove_state();
    const World *world = first_world();
    const Group *group = prove_group_made();
    Chunk chunk;
    RecordingDef def;
    if (world == NULL) {
        return fail_by("%s", "there was no key-frame");
    }
    if (prove_open_chunk(count, CHUNK_DEFINITION, &chunk) != STATUS_OK ||
        definition_read(&chunk, &prover->scratch, &def, &prover->error) != STATUS_OK) {
        return PROVE_FAILED;
    }
    const char *name = first_state_differs(
        &def, world, group != NULL ? group->time_step : world->settings.time_step);
    arena_reset(&prover->scratch);
    return name == NULL ? 0
                        : fail_by("the definition's %s is not that of the state that the recording "
                                  "begins with",
                                  name);
}

int prove_scene(size_t count) {
    Prover *prover = prove_state();
    const World *world = first_world();
    Chunk chunk;
    if (prove_open_chunk(count, CHUNK_SCENE, &chunk) != STATUS_OK) {
        return PROVE_FAILED;
    }
    if (world == NULL) {
        return fail_by("%s", "there was no key-frame");
    }
    Sink sink = {0};
    scene_print(world, 0, &sink);
    uint8_t *text = arena_take(&prover->scratch, sink.count);
    if (text == NULL) {
        error_set(&prover->error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended");
        return PROVE_FAILED;
    }
    sink = (Sink){.bytes = text};
    scene_print(world, 0, &sink);
    const bool is_same = chunk.first_step == 0 && chunk.body_bytes == sink.count &&
                         memcmp(chunk.body, text, sink.count) == 0;
    arena_reset(&prover->scratch);
    return is_same ? 0
                   : fail_by("%s", "the scene in the file is not that of the state that the "
                                   "recording begins with");
}

// ---- the list of a group's episodes

int prove_list(double first, uint32_t world_range) {
    Prover *prover = prove_state();
    prover->error = (Error){0};
    group_listed_destroy(listed);
    listed = group_listed_create((uint64_t)first, world_range, prove_limits.bytes_max);
    return listed != NULL ? 0 : fail_by("%s", "memory ended");
}

int prove_list_chunk(size_t count, uint32_t kind) {
    Prover *prover = prove_state();
    Chunk chunk;
    Status status = prove_open_chunk(count, (ChunkKind)kind, &chunk);
    if (status == STATUS_OK && chunk.kind == CHUNK_EPISODES) {
        status = group_listed_records(listed, &chunk, &prover->error);
    } else if (status == STATUS_OK && chunk.kind == CHUNK_KEYFRAME) {
        status = group_listed_keyframe(listed, &chunk, &prover->error);
    } else if (status == STATUS_OK) {
        status = group_listed_calls(listed, &chunk, &prover->error);
    }
    return status == STATUS_OK ? 0 : PROVE_FAILED;
}

int prove_list_end(int is_whole) {
    Prover *prover = prove_state();
    bool is_same;
    char sentence[GROUP_LISTED_BYTES] = "";
    const Status status =
        group_listed_compare(listed, is_whole != 0, &is_same, sentence, &prover->error);
    group_listed_destroy(listed);
    listed = NULL;
    if (status == STATUS_OK && !is_same) {
        sentence[0] = 't'; // within another sentence
        sentence[strlen(sentence) - 1] = '\0';
        return fail_by("%s", sentence);
    }
    return status == STATUS_OK ? 0 : PROVE_FAILED;
}
