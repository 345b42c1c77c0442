// SPDX-License-Identifier: MIT
// What proofs of several episodes of one group share, kept by the connection as long as nobody
// writes: the rows of the chunks, definition and seal, which chunks were opened, and the chunk of
// finished episodes that was looked at last.
#include "log/reader/proof_parts.h"

enum { KEPT_BYTES_MAX = 1 << 20 }; // more than that is read again each time, of either part

static bool copy_chunk(Arena *arena, const LogChunk *chunk, LogChunk *copy) {
    uint8_t *body = arena_take(arena, chunk->chunk.body_bytes);
    if (body == NULL) {
        return false;
    }
    memcpy(body, chunk->chunk.body, chunk->chunk.body_bytes);
    *copy = *chunk;
    copy->chunk.body = body;
    return true;
}

static ChunkRow *copy_rows(Arena *arena, const ChunkRow *rows, size_t count) {
    ChunkRow *copy = arena_take_array(arena, count, sizeof(*copy));
    if (copy != NULL && count > 0) {
        memcpy(copy, rows, count * sizeof(*copy));
    }
    return copy;
}

Status proof_look_at_seen(LogReader *reader, const EpisodeRow *row, ProofSeen *seen, Error *error) {
    *seen = (ProofSeen){.recording = row->recording,
                        .first_world = reader_first_world(row, CHUNK_INPUTS)};
    return reader_data_version(reader, &seen->data_version, error);
}

bool proof_is_seen(const LogReader *reader, const ProofSeen *seen) {
    const ProofSeen *was = &reader->seen;
    return was->recording == seen->recording && was->first_world == seen->first_world &&
           was->data_version == seen->data_version;
}

static void forget_range(LogReader *reader) {
    arena_deinit(&reader->kept.memory);
    reader->kept = (ProofKept){0};
    reader->seen = (ProofSeen){0};
}

static void forget_records(LogReader *reader) {
    arena_deinit(&reader->records.memory);
    reader->records = (RecordsKept){0};
}

void proof_forget(LogReader *reader) {
    forget_range(reader);
    forget_records(reader);
}

// What does not fit is not kept.
void proof_keep(ProofWork *work, const Proof *proof, const ChunkRow *common, size_t common_count) {
    forget_range(work->reader);
    ProofKept *kept = &work->reader->kept;
    work->reader->seen = work->seen;
    arena_init(&kept->memory, KEPT_BYTES_MAX);
    kept->row_count = proof->row_count;
    kept->common_count = common_count;
    kept->row = copy_rows(&kept->memory, proof->row, proof->row_count);
    kept->common = copy_rows(&kept->memory, common, common_count);
    kept->is_opened = arena_take_zeroed(&kept->memory, proof->row_count, sizeof(bool));
    kept->is_there = proof->has_definition && proof->has_seal && kept->row != NULL &&
                     kept->common != NULL && kept->is_opened != NULL &&
                     copy_chunk(&kept->memory, &work->definition, &kept->definition) &&
                     copy_chunk(&kept->memory, &work->seal, &kept->seal);
}

Status proof_take_kept(ProofWork *work, Proof *proof, const ChunkRow **common, size_t *common_count,
                       Error *error) {
    const ProofKept *kept = &work->reader->kept;
    LogChunk definition, seal;
    proof->row_count = kept->row_count;
    proof->row = copy_rows(work->arena, kept->row, kept->row_count);
    *common = kept->common;
    *common_count = kept->common_count;
    if (proof->row == NULL || !copy_chunk(work->arena, &kept->definition, &definition) ||
        !copy_chunk(work->arena, &kept->seal, &seal)) {
        return reader_memory_ended("a list of chunks", error);
    }
    Status status = definition_read(&definition.chunk, work->arena, &proof->def, error);
    status = STATUS_THEN(status, seal_read(&seal.chunk, work->arena, &proof->seal, error));
    proof->has_definition = proof->has_seal = status == STATUS_OK;
    proof->is_sealed = proof->has_seal && !proof->seal.is_found;
    return status;
}

// ---- the chunk of finished episodes that was looked at last

bool proof_find_record(const ProofWork *work, uint64_t number, EpisodeRecord *record) {
    const RecordsKept *records = &work->reader->records;
    EpisodesChunk episodes;
    Error why;
    if (records->recording == 0 || records->recording != work->seen.recording ||
        records->data_version != work->seen.data_version ||
        episodes_open(&records->chunk.chunk, &episodes, &why) != STATUS_OK ||
        number < episodes.first_number || number - episodes.first_number >= episodes.count) {
        return false;
    }
    episodes_get(&episodes, (size_t)(number - episodes.first_number), record);
    return true;
}

void proof_keep_records(ProofWork *work, const LogChunk *chunk) {
    RecordsKept *records = &work->reader->records;
    forget_records(work->reader);
    arena_init(&records->memory, KEPT_BYTES_MAX);
    if (copy_chunk(&records->memory, chunk, &records->chunk)) {
        records->recording = work->seen.recording;
        records->data_version = work->seen.data_version;
    }
}

// ---- chunks that were opened

static bool is_kept(LogReader *reader, const EpisodeRow *episode, const Proof *proof,
                    size_t index) {
    ProofSeen seen;
    const ProofKept *kept = &reader->kept;
    return kept->is_there && index < kept->row_count && proof->row_count == kept->row_count &&
           kept->row[index].id == proof->row[index].id &&
           proof_look_at_seen(reader, episode, &seen, NULL) == STATUS_OK &&
           proof_is_seen(reader, &seen);
}

bool proof_has_opened(LogReader *reader, const EpisodeRow *episode, const Proof *proof,
                      size_t index) {
    return is_kept(reader, episode, proof, index) && reader->kept.is_opened[index];
}

void proof_note_opened(LogReader *reader, const EpisodeRow *episode, const Proof *proof,
                       size_t index) {
    if (is_kept(reader, episode, proof, index)) {
        reader->kept.is_opened[index] = true;
    }
}
