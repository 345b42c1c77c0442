// SPDX-License-Identifier: MIT
#include "log/reader/proof.h"

#include "base/bytes.h"
#include "log/reader/proof_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void proof_tell(ProofWork *work, uint64_t step, const ChunkRow *row, const char *quantity,
                const char *format, ...) {
    ProofFind find = {.step = step};
    if (row != NULL) {
        find.chunk = row->id;
        find.kind = row->kind;
    }
    snprintf(find.quantity, sizeof(find.quantity), "%s", quantity);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(find.message, sizeof(find.message), format, arguments);
    va_end(arguments);
    work->told++;
    work->found(&find, work->context);
}

// ---- chains

static int compare_rows(const void *left, const void *right) {
    const ChunkRow *a = left, *b = right;
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool is_of(ChunkKind kind, bool common, bool is_group) {
    return !is_group || chunk_kind_is_common(kind) == common;
}

// The rows of a chain, in order by sequence number: each once in memory, as there may be many.
static Status list_chain(ProofWork *work, bool common, ChunkRow **rows, size_t *count,
                         Error *error) {
    size_t counts[CHUNK_KIND_COUNT] = {0};
    bool is_group = work->row.is_group;
    *count = 0;
    for (ChunkKind kind = CHUNK_KEYFRAME; kind < CHUNK_KIND_COUNT; kind++) {
        if (is_of(kind, common, is_group)) {
            Status status =
                reader_count_chunks(work->reader, &work->row, kind, &counts[kind], error);
            if (status != STATUS_OK) {
                return status;
            }
            *count += counts[kind];
        }
    }
    *rows = arena_take_zeroed(work->arena, *count, sizeof(ChunkRow));
    if (*rows == NULL) {
        return reader_memory_ended("a list of chunks", error);
    }
    size_t at = 0;
    for (ChunkKind kind = CHUNK_KEYFRAME; kind < CHUNK_KIND_COUNT; at += counts[kind++]) {
        Status status =
            reader_chunk_rows(work->reader, &work->row, kind, *rows + at, counts[kind], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (*count > 0) {
        qsort(*rows, *count, sizeof(ChunkRow), compare_rows);
    }
    return STATUS_OK;
}

static void check_row(ProofWork *work, const ChunkRow *row) {
    const char *name = chunk_kind_name(row->kind);
    if (!row->has_head) {
        proof_tell(work, row->first_step, row, "",
                   "Chunk %" PRId64 " (%s) is damaged: it does not begin as a chunk does.", row->id,
                   name);
    } else if (memcmp(row->head.uid, work->row.recording_uid, UID_BYTES) != 0) {
        proof_tell(work, row->first_step, row, "",
                   "Chunk %" PRId64 " (%s) is damaged: it belongs to another recording.", row->id,
                   name);
    } else if (row->odd[0] != '\0') {
        proof_tell(work, row->first_step, row, row->odd,
                   "Chunk %" PRId64 " (%s): its row (%s) is not what its sealed bytes say.",
                   row->id, name, row->odd);
    }
}

// Each chunk behind its predecessor.
static void check_order(ProofWork *work, const ChunkRow *rows, size_t count) {
    uint64_t next = 0, checksum = 0;
    for (size_t i = 0; i < count; i++) {
        const ChunkRow *row = &rows[i];
        check_row(work, row);
        if (row->sequence < next) {
            proof_tell(work, row->first_step, row, "",
                       "Chunk %" PRId64 " (%s) has the place of another one: number %" PRIu64
                       " of its recording is there twice.",
                       row->id, chunk_kind_name(row->kind), row->sequence);
        } else if (row->sequence > next) {
            proof_tell(work, row->last_step, NULL, "",
                       "%" PRIu64 " chunks of the recording are missing, in front of chunk "
                       "%" PRId64 " (%s).",
                       row->sequence - next, row->id, chunk_kind_name(row->kind));
        } else if (row->has_head && row->head.predecessor != checksum) {
            proof_tell(work, row->first_step, row, "",
                       "Chunk %" PRId64 " (%s) does not follow the one before it: that one had "
                       "another checksum when this one was written.",
                       row->id, chunk_kind_name(row->kind));
        }
        next = row->sequence < next ? next : row->sequence + 1;
        checksum = row->has_head ? row->head.checksum : 0;
    }
}

// ---- definition and seal

// The only chunk of a kind in the chain. NULL: there is none.
static const ChunkRow *find_row(const ChunkRow *rows, size_t count, ChunkKind kind) {
    const ChunkRow *found = NULL;
    for (size_t i = 0; i < count; i++) {
        found = rows[i].kind == kind ? &rows[i] : found;
    }
    return found;
}

bool proof_open_row(ProofWork *work, const ChunkRow *row, LogChunk *chunk, Error *error) {
    Error why = {0};
    Status status =
        log_reader_get(work->reader, &work->row, row->kind, row->id, work->arena, chunk, &why);
    if (status == STATUS_DATA_LOSS || status == STATUS_NOT_FOUND) {
        proof_tell(work, row->first_step, row, "", "%s", why.message);
    } else if (status != STATUS_OK) {
        *error = why;
    }
    return status == STATUS_OK;
}

void proof_tell_body(ProofWork *work, const ChunkRow *row, const Error *why) {
    proof_tell(work, row->first_step, row, "", "Chunk %" PRId64 " (%s) is damaged: %s.", row->id,
               chunk_kind_name(row->kind), why->message);
}

static Status read_definition(ProofWork *work, const ChunkRow *rows, size_t count, Proof *proof,
                              Error *error) {
    const ChunkRow *row = find_row(rows, count, CHUNK_DEFINITION);
    Error why = {0}, failure = {0};
    if (row == NULL) {
        proof_tell(work, 0, NULL, "definition", "The recording has lost its definition.");
    } else if (proof_open_row(work, row, &work->definition, &failure)) {
        proof->has_definition =
            definition_read(&work->definition.chunk, work->arena, &proof->def, &why) == STATUS_OK;
        if (!proof->has_definition) {
            proof_tell_body(work, row, &why);
        }
    }
    if (failure.status != STATUS_OK) {
        *error = failure;
    }
    return failure.status;
}

static Status read_seal(ProofWork *work, const ChunkRow *rows, size_t count, Proof *proof,
                        Error *error) {
    const ChunkRow *row = find_row(rows, count, CHUNK_SEAL);
    Error why = {0}, failure = {0};
    if (row == NULL && work->row.recording_state != RECORDING_OPEN) {
        proof_tell(work, work->row.last_step, NULL, "seal",
                   "The recording has ended, and has lost its seal.");
    } else if (row != NULL && proof_open_row(work, row, &work->seal, &failure)) {
        proof->has_seal =
            seal_read(&work->seal.chunk, work->arena, &proof->seal, &why) == STATUS_OK;
        proof->is_sealed = proof->has_seal && !proof->seal.is_found;
        if (!proof->has_seal) {
            proof_tell_body(work, row, &why);
        }
    }
    if (failure.status != STATUS_OK) {
        *error = failure;
    }
    return failure.status;
}

// ---- what the seal counts

static const ChainEnd *find_chain(const RecordingSeal *seal, uint64_t first_world, size_t from) {
    for (size_t i = from; i < seal->chain_count; i++) {
        if (seal->chain[i].first_world == first_world) {
            return &seal->chain[i];
        }
    }
    return NULL;
}

// The chain is as long as the seal says, and ends as it says.
static void check_chain_end(ProofWork *work, const ChunkRow *rows, size_t count,
                            const ChainEnd *end) {
    static const ChainEnd none = {0};
    end = end == NULL ? &none : end;
    while (count > 0 && rows[count - 1].kind == CHUNK_SEAL) {
        count--; // it counts what stands before it
    }
    uint64_t next = count > 0 ? rows[count - 1].sequence + 1 : 0;
    uint64_t checksum = count > 0 && rows[count - 1].has_head ? rows[count - 1].head.checksum : 0;
    if (next < end->chunk_count) {
        proof_tell(work, work->row.last_step, NULL, "",
                   "The last %" PRIu64 " chunks of the recording are missing: its seal counts "
                   "%" PRIu64 ".",
                   end->chunk_count - next, end->chunk_count);
    } else if (next > end->chunk_count || checksum != end->checksum) {
        proof_tell(work, work->row.last_step, NULL, "",
                   "The recording's last chunk is not the one that its seal names.");
    }
}

// Of a world: how many of each kind, and what they add up to.
static void check_sums(ProofWork *work, const ChunkRow *rows, size_t count, Proof *proof) {
    uint64_t counts[CHUNK_KIND_COUNT] = {0}, last_step = 0, dropped = 0;
    StepFigures figures = {.has_gain = proof->has_seal && proof->seal.figures.has_gain};
    double time = 0.0;
    for (size_t i = 0; i < count; i++) {
        const Chunk *head = &rows[i].head;
        counts[rows[i].kind] += rows[i].kind != CHUNK_SEAL;
        if (rows[i].has_head && (head->kind == CHUNK_INPUTS || head->kind == CHUNK_GAP)) {
            last_step = head->last_step;
            time = head->time;
            dropped += head->kind == CHUNK_GAP ? head->last_step - head->first_step : 0;
            step_figures_add(&figures, &head->figures);
        }
    }
    proof->proven_step = last_step;
    if (!proof->has_seal) {
        return;
    }
    const RecordingSeal *seal = &proof->seal;
    for (ChunkKind kind = CHUNK_KEYFRAME; kind < CHUNK_KIND_COUNT; kind++) {
        if (counts[kind] != seal->chunk_count[kind]) {
            proof_tell(work, seal->last_step, NULL, "",
                       "The recording has %" PRIu64 " chunks (%s), and its seal counts %" PRIu64
                       ".",
                       counts[kind], chunk_kind_name(kind), seal->chunk_count[kind]);
        }
    }
    bool is_same = last_step == seal->last_step && bytes_same_double(time, seal->time) &&
                   (seal->is_found || (bytes_are_same(&figures, &seal->figures, sizeof(figures)) &&
                                       dropped == seal->dropped_steps));
    if (!is_same) {
        proof_tell(work, seal->last_step, NULL, "seal",
                   "The recording's chunks do not add up to what its seal says.");
    }
}

// ---- highlights

static int compare_highlights(const void *left, const void *right) {
    const Highlight *a = left, *b = right;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->first_step < b->first_step ? -1 : a->first_step > b->first_step;
}

// Those that the chunks have, sorted. Damaged chunks are told, and their rows as well.
static Status list_sealed(ProofWork *work, const ChunkRow *rows, size_t row_count,
                          Highlight **sealed, size_t *count, Error *error) {
    size_t room = 0;
    Error failure = {0};
    *sealed = NULL;
    *count = 0;
    for (size_t i = 0; i < row_count && failure.status == STATUS_OK; i++) {
        LogChunk chunk;
        size_t more;
        Error why = {0};
        if (rows[i].kind != CHUNK_HIGHLIGHTS || !proof_open_row(work, &rows[i], &chunk, &failure)) {
            continue;
        }
        if (highlights_open(&chunk.chunk, &more, &why) != STATUS_OK) {
            proof_tell_body(work, &rows[i], &why);
            continue;
        }
        if (*count + more > room) { // what it grows out of stays in the arena: half of it at most
            room = 2 * (*count + more);
            Highlight *larger = arena_take_array(work->arena, room, sizeof(*larger));
            if (larger == NULL) {
                return reader_memory_ended("the highlights of an episode", error);
            }
            if (*count > 0) {
                memcpy(larger, *sealed, *count * sizeof(*larger));
            }
            *sealed = larger;
        }
        for (size_t k = 0; k < more; k++) {
            (*sealed)[(*count)++] = highlights_get(&chunk.chunk, k);
        }
    }
    if (failure.status != STATUS_OK) {
        *error = failure;
        return failure.status;
    }
    if (*count > 0) {
        qsort(*sealed, *count, sizeof(**sealed), compare_highlights);
    }
    return STATUS_OK;
}

static bool is_same_highlight(const Highlight *a, const Highlight *b) {
    return a->kind == b->kind && a->first_step == b->first_step && a->last_step == b->last_step &&
           a->step == b->step && bytes_same_double(a->value, b->value) && a->reason == b->reason &&
           a->body == b->body && a->contacts == b->contacts && a->other == b->other &&
           bytes_same_double(a->height, b->height) && a->joint == b->joint;
}

static Status check_highlights(ProofWork *work, const ChunkRow *rows, size_t row_count,
                               Error *error) {
    Highlight *sealed;
    size_t count, at = 0;
    uint64_t stray_count;
    Status status = reader_stray_highlights(work->reader, &work->row, &stray_count, error);
    if (status == STATUS_OK && stray_count > 0) {
        proof_tell(work, 0, NULL, "highlight",
                   "%" PRIu64 " rows of highlights are of no kind or no world of the recording, or "
                   "hold no numbers.",
                   stray_count);
    }
    status = STATUS_THEN(status, list_sealed(work, rows, row_count, &sealed, &count, error));
    for (HighlightKind kind = HIGHLIGHT_UNCONVERGED;
         status == STATUS_OK && kind < HIGHLIGHT_KIND_COUNT; kind++) {
        Highlight *stored;
        size_t stored_count;
        uint64_t total;
        status = reader_highlights(work->reader, &work->row, kind, SIZE_MAX, work->arena, &stored,
                                   &stored_count, &total, error);
        if (status != STATUS_OK) {
            break;
        }
        if (stored_count > 0) {
            qsort(stored, stored_count, sizeof(*stored), compare_highlights);
        }
        size_t first = at;
        while (at < count && sealed[at].kind == kind) {
            at++;
        }
        bool is_same = at - first == stored_count;
        for (size_t i = 0; is_same && i < stored_count; i++) {
            is_same = is_same_highlight(&sealed[first + i], &stored[i]);
        }
        if (!is_same) {
            proof_tell(work, 0, NULL, "highlight",
                       "The rows of highlights (%s) are not those of the recording's chunks.",
                       highlight_kind_name(kind));
        }
    }
    return status;
}

// ---- scenes

static Status check_scenes(ProofWork *work, const ChunkRow *rows, size_t count, Error *error) {
    Error failure = {0};
    for (size_t i = 0; i < count && failure.status == STATUS_OK; i++) {
        LogChunk chunk;
        ArenaMark mark = arena_mark(work->arena);
        if (rows[i].kind == CHUNK_SCENE) {
            proof_open_row(work, &rows[i], &chunk, &failure);
        }
        arena_reset_to(work->arena, mark);
    }
    if (failure.status != STATUS_OK) {
        *error = failure;
    }
    return failure.status;
}

// ---- all of it

static Status check_derived(ProofWork *work, const ChunkRow *common, size_t common_count,
                            const Proof *proof, Error *error) {
    Status status = check_scenes(work, common, common_count, error);
    ArenaMark mark = arena_mark(work->arena);
    status = STATUS_THEN(status, proof_check_geometries(work, common, common_count, error));
    arena_reset_to(work->arena, mark);
    status = STATUS_THEN(status, check_highlights(work, proof->row, proof->row_count, error));
    if (status == STATUS_OK) {
        arena_reset_to(work->arena, mark);
        status = proof_check_touches(work, proof->row, proof->row_count, error);
    }
    arena_reset_to(work->arena, mark);
    return status;
}

// The chains, each chunk in its place, and what they begin and end with.
static Status read_chains(ProofWork *work, Proof *proof, const ChunkRow **common,
                          size_t *common_count, Error *error) {
    const bool is_group = work->row.is_group;
    ChunkRow *of_all = NULL;
    Status status = list_chain(work, false, &proof->row, &proof->row_count, error);
    if (status == STATUS_OK && is_group) {
        status = list_chain(work, true, &of_all, common_count, error);
        check_order(work, of_all, *common_count);
    }
    *common = is_group ? of_all : proof->row;
    *common_count = is_group ? *common_count : proof->row_count;
    if (status == STATUS_OK) {
        check_order(work, proof->row, proof->row_count);
        status = read_definition(work, *common, *common_count, proof, error);
    }
    status = STATUS_THEN(status, read_seal(work, *common, *common_count, proof, error));
    if (status != STATUS_OK) {
        return status;
    }
    if (proof->has_seal) {
        check_chain_end(work, *common, *common_count, find_chain(&proof->seal, 0, 0));
        if (is_group) {
            uint64_t first = (uint64_t)reader_first_world(&work->row, CHUNK_INPUTS);
            check_chain_end(work, proof->row, proof->row_count, find_chain(&proof->seal, first, 1));
        }
    }
    if (!is_group) {
        check_sums(work, proof->row, proof->row_count, proof);
    }
    return STATUS_OK;
}

static Status make(ProofWork *work, int64_t episode, Proof *proof, Error *error) {
    Status status = reader_row(work->reader, episode, work->arena, &work->row, error);
    const bool is_group = work->row.is_group;
    if (status == STATUS_OK && is_group) {
        status = proof_look_at_seen(work->reader, &work->row, &work->seen, error);
        work->is_seen = status == STATUS_OK && proof_is_seen(work->reader, &work->seen);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const ChunkRow *common = NULL;
    size_t common_count = 0;
    const bool is_kept = work->is_seen && work->reader->kept.is_there;
    status = is_kept ? proof_take_kept(work, proof, &common, &common_count, error)
                     : read_chains(work, proof, &common, &common_count, error);
    if (status != STATUS_OK) {
        return status;
    }
    proof_check_facts(work, proof);
    status = is_group ? proof_check_group(work, common, common_count, error) : STATUS_OK;
    status = STATUS_THEN_IF(status, !work->is_seen,
                            check_derived(work, common, common_count, proof, error));
    status = STATUS_THEN(status, proof_check_indexes(work, error));
    if (is_group && status == STATUS_OK && work->told > 0) {
        proof_forget(work->reader);
    } else if (is_group && status == STATUS_OK && !work->is_seen) {
        proof_keep(work, proof, common, common_count);
    }
    return status;
}

Status proof_make(LogReader *reader, const EpisodeRow *episode, Arena *arena, ProofFound *found,
                  void *context, Proof *proof, Error *error) {
    ProofWork work = {.reader = reader, .arena = arena, .found = found, .context = context};
    *proof = (Proof){0};
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        status = make(&work, episode->episode, proof, error);
        reader_end(reader);
    }
    return status;
}
