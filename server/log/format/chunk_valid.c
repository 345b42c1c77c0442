// SPDX-License-Identifier: MIT
#include "log/format/chunk_valid.h"

#include <math.h>
#include <string.h>

static bool steps_are_valid(const Chunk *chunk, Defect *defect) {
    if (chunk->first_step > chunk->last_step) {
        return defect_set(defect, "chunk", chunk->sequence, "its last step is before its first");
    }
    if ((chunk->kind == CHUNK_KEYFRAME || chunk->kind == CHUNK_SCENE ||
         chunk->kind == CHUNK_GEOMETRIES) &&
        chunk->first_step != chunk->last_step) {
        return defect_set(defect, "chunk", chunk->sequence, "it shows one step, and names two");
    }
    if ((chunk->kind == CHUNK_DEFINITION || chunk->kind == CHUNK_SEAL) && chunk->first_step != 0) {
        return defect_set(defect, "chunk", chunk->sequence, "it is of all steps, from the first");
    }
    return (chunk->kind != CHUNK_DEFINITION || chunk->last_step == 0) ||
           defect_set(defect, "chunk", chunk->sequence, "it is a definition behind some steps");
}

bool chunk_is_valid(const Chunk *chunk, Defect *defect) {
    if (chunk->kind <= CHUNK_NONE || chunk->kind >= CHUNK_KIND_COUNT) {
        return defect_set(defect, "chunk", chunk->sequence, "it is of no kind");
    }
    if (chunk_version(chunk) < CHUNK_FORMAT_OLDEST || chunk_version(chunk) > CHUNK_FORMAT_VERSION) {
        return defect_set(defect, "chunk", chunk->sequence, "its format has no such version");
    }
    if (chunk->world_count == 0 || chunk->world_count > UINT32_MAX - chunk->first_world) {
        return defect_set(defect, "chunk", chunk->sequence, "it is of no worlds");
    }
    if (chunk_kind_is_common(chunk->kind) && chunk->first_world != 0) {
        return defect_set(defect, "chunk", chunk->sequence,
                          "it is the group's, and a range has it");
    }
    if (!isfinite(chunk->time) || chunk->time < 0.0) {
        return defect_set(defect, "chunk", chunk->sequence, "its time is none");
    }
    if (memchr(chunk->solver, '\0', CHUNK_SOLVER_BYTES) == NULL) {
        return defect_set(defect, "chunk", chunk->sequence, "its solver's name has no end");
    }
    return steps_are_valid(chunk, defect);
}
