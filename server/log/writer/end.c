// SPDX-License-Identifier: MIT
// Ends: of recordings that somebody stops, and of those that a crash left open.
#include "base/arena.h"
#include "base/assert.h"
#include "log/writer/found.h"
#include "log/writer/parts.h"
#include "log/writer/sign.h"
#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

enum { FOUND_BYTES_MAX = 64 << 20 }; // a seal, or the ends of a group's chains

Status writer_end_recording(Writer *writer, int64_t recording, const RecordingDef *def,
                            const RecordingSeal *seal, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, WRITE_RECORDING_END);
    sqlite3_bind_int64(statement, 1, recording);
    sqlite3_bind_int(statement, 2, (int)seal->state);
    bind_text(statement, 3, seal->why);
    bind_u64(statement, 4, seal->dropped_steps);
    bind_u64(statement, 5, seal->ended_ns);
    Status status = writer_step(writer, WRITE_RECORDING_END, "ending a recording", NULL, error);
    if (status != STATUS_OK || recording_is_group(def->world_count, def->world_range)) {
        return status;
    }
    statement = writer_get(writer, WRITE_EPISODE_END);
    sqlite3_bind_int64(statement, 1, recording);
    bind_u64(statement, 2, seal->last_step);
    sqlite3_bind_int(statement, 3, (int)seal->state);
    sqlite3_bind_double(statement, 4, seal->time);
    bind_u64(statement, 5, seal->ended_ns);
    // who comes later knows the rows and not their sums: readers add them up
    bind_figures(statement, 6, seal->is_found ? NULL : &seal->figures);
    return writer_step(writer, WRITE_EPISODE_END, "ending an episode", NULL, error);
}

// ---- what is there of a recording

// A chunk of which a recording has one, in memory of the arena. NOT_FOUND: it has none, or none
// that is sound.
static Status read_one(Writer *writer, WriterStatement which, int64_t recording, Arena *arena,
                       Chunk *chunk, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, which);
    sqlite3_bind_int64(statement, 1, recording);
    bool has_row = false;
    Status status = writer_step(writer, which, "reading a chunk", &has_row, error);
    if (status != STATUS_OK || !has_row) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    size_t count = (size_t)sqlite3_column_bytes(statement, 0);
    const void *blob = sqlite3_column_blob(statement, 0);
    uint8_t *bytes = arena_take(arena, count);
    status = STATUS_NOT_FOUND;
    if (bytes != NULL && blob != NULL) {
        memcpy(bytes, blob, count);
        status = chunk_open(bytes, count, NULL, chunk, NULL) == STATUS_OK ? STATUS_OK : status;
    }
    sqlite3_reset(statement);
    return status;
}

// The end of one kind of chunks in one chain.
typedef struct KindEnd {
    uint32_t first_world;
    ChunkKind kind;
    uint64_t count, sequence; // of the last
} KindEnd;

// Per chain and kind. *count_max entries at most fit.
static Status list_ends(Writer *writer, int64_t recording, Arena *arena, KindEnd **ends,
                        size_t *count, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_CHAINS);
    size_t total = 0;
    Status status = STATUS_OK;
    *ends = NULL;
    for (int pass = 0; pass < 2 && status == STATUS_OK; pass++) { // count, then take
        sqlite3_bind_int64(statement, 1, recording);
        *count = 0;
        bool has_row = true;
        while ((status = writer_step(writer, READ_CHAINS, "reading the chunks", &has_row, error)) ==
                   STATUS_OK &&
               has_row && (pass == 0 || *count < total)) {
            KindEnd end = {.first_world = (uint32_t)sqlite3_column_int64(statement, 0),
                           .kind = (ChunkKind)sqlite3_column_int64(statement, 1),
                           .count = (uint64_t)sqlite3_column_int64(statement, 2),
                           .sequence = (uint64_t)sqlite3_column_int64(statement, 3)};
            if (pass == 1) {
                ASSERT(*ends != NULL);
                (*ends)[*count] = end;
            }
            ++*count;
        }
        sqlite3_reset(statement);
        if (pass == 0 && status == STATUS_OK) {
            total = *count;
            *ends = arena_take_array(arena, total, sizeof(**ends));
            if (*ends == NULL) {
                status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
            }
        }
    }
    return status;
}

// The last chunk of a kind: where its steps end, and when it was written.
typedef struct LastChunk {
    uint32_t world_count;
    uint64_t last_step, written_ns, checksum;
    double time;
} LastChunk;

static Status read_last(Writer *writer, int64_t recording, const KindEnd *end, LastChunk *last,
                        Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_CHAIN_END);
    sqlite3_bind_int64(statement, 1, recording);
    sqlite3_bind_int64(statement, 2, end->first_world);
    sqlite3_bind_int(statement, 3, (int)end->kind);
    bind_u64(statement, 4, end->sequence);
    sqlite3_bind_int(statement, 5, CHUNK_HEADER_BYTES);
    bool has_row = false;
    Status status = writer_step(writer, READ_CHAIN_END, "reading the last chunk", &has_row, error);
    *last = (LastChunk){.world_count = 1};
    if (status != STATUS_OK || !has_row) {
        return status;
    }
    Chunk head;
    const uint8_t *bytes = sqlite3_column_blob(statement, 4);
    size_t count = (size_t)sqlite3_column_bytes(statement, 4);
    if (bytes != NULL && chunk_read_head(bytes, count, &head, NULL) == STATUS_OK) {
        last->checksum = head.checksum;
    }
    last->world_count = (uint32_t)sqlite3_column_int64(statement, 0);
    last->last_step = (uint64_t)sqlite3_column_int64(statement, 1);
    last->time = sqlite3_column_double(statement, 2);
    last->written_ns = (uint64_t)sqlite3_column_int64(statement, 3);
    sqlite3_reset(statement);
    return STATUS_OK;
}

typedef struct Found {
    RecordingSeal seal;
    uint64_t sequence, predecessor; // of the seal's own chain
    uint64_t now_ns;
} Found;

// Which of the ends of a chain is its last, by sequence number: chains of a group as a whole and of
// its first worlds begin at the same world.
static size_t chain_of(const KindEnd *end, bool is_group) {
    return is_group && !chunk_kind_is_common(end->kind) ? 1 + (size_t)end->first_world : 0;
}

static void note_end(Found *found, const KindEnd *end, const LastChunk *last) {
    RecordingSeal *seal = &found->seal;
    if (end->kind < CHUNK_KIND_COUNT) {
        seal->chunk_count[end->kind] += end->count;
    }
    bool counts = end->kind == CHUNK_INPUTS || end->kind == CHUNK_GAP;
    if (counts && last->last_step >= seal->last_step) {
        seal->last_step = last->last_step;
        seal->time = last->time;
    }
    seal->ended_ns = last->written_ns > seal->ended_ns ? last->written_ns : seal->ended_ns;
}

static Status add_up(Writer *writer, int64_t recording, const RecordingDef *def, Arena *arena,
                     Found *found, Error *error) {
    KindEnd *ends = NULL;
    size_t count = 0;
    Status status = list_ends(writer, recording, arena, &ends, &count, error);
    ChainEnd *chains = arena_take_zeroed(arena, count + 1, sizeof(*chains));
    if (status == STATUS_OK && chains == NULL) {
        status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    bool is_group = recording_is_group(def->world_count, def->world_range);
    size_t chain_count = 0, present = SIZE_MAX;
    for (int pass = 0; pass < 2; pass++) { // the chain of all first, as a seal lists it
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            LastChunk last;
            size_t chain = chain_of(&ends[i], is_group);
            if ((chain == 0) != (pass == 0)) {
                continue;
            }
            status = read_last(writer, recording, &ends[i], &last, error);
            if (chain != present) {
                present = chain;
                chains[chain_count++] =
                    (ChainEnd){.first_world = ends[i].first_world, .world_count = last.world_count};
            }
            ChainEnd *at = &chains[chain_count - 1];
            if (at->chunk_count <= ends[i].sequence) {
                at->chunk_count = ends[i].sequence + 1;
                at->checksum = last.checksum;
            }
            note_end(found, &ends[i], &last);
        }
    }
    found->seal.chain = chains;
    found->seal.chain_count = chain_count;
    found->sequence = chain_count > 0 ? chains[0].chunk_count : 0;
    found->predecessor = chain_count > 0 ? chains[0].checksum : 0;
    return status;
}

// ---- recordings that nobody ended

// Nullable bytes: it only counts.
static size_t write_seal(const RecordingDef *def, const Found *found, uint8_t *bytes,
                         Chunk *chunk) {
    if (bytes == NULL) {
        return CHUNK_HEADER_BYTES + seal_write(&found->seal, NULL);
    }
    const size_t count = CHUNK_HEADER_BYTES + seal_write(&found->seal, bytes + CHUNK_HEADER_BYTES);
    *chunk = (Chunk){.kind = CHUNK_SEAL,
                     .version = seal_version(&found->seal),
                     .sequence = found->sequence,
                     .world_count = def->world_count,
                     .last_step = found->seal.last_step,
                     .time = found->seal.time,
                     .written_ns = found->now_ns,
                     .predecessor = found->predecessor};
    memcpy(chunk->uid, def->uid, UID_BYTES);
    chunk_seal(bytes, count, chunk);
    return count;
}

static Status memory_ended(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
}

static Status put_seal(Writer *writer, int64_t recording, const RecordingDef *def,
                       const Found *found, Error *error) {
    Chunk chunk;
    uint8_t *bytes = malloc(write_seal(def, found, NULL, NULL));
    if (bytes == NULL) {
        return memory_ended(error);
    }
    const size_t count = write_seal(def, found, bytes, &chunk);
    Status status = writer_add_chunk(writer, recording, &chunk, bytes, count, error);
    free(bytes);
    return status;
}

// The digest of the seal as it will be behind the signature, which it counts from here on.
static Status count_signature(const RecordingDef *def, Found *found, Arena *arena,
                              uint8_t digest[SHA256_BYTES], Error *error) {
    Chunk chunk;
    found->seal.chunk_count[CHUNK_SIGNATURE]++;
    found->seal.chain[0].chunk_count++;
    found->sequence++;
    uint8_t *bytes = arena_take(arena, write_seal(def, found, NULL, NULL));
    if (bytes == NULL) {
        return memory_ended(error);
    }
    const size_t count = write_seal(def, found, bytes, &chunk);
    const bool is_seal = signature_hash_seal(bytes, count, digest);
    ASSERT(is_seal);
    return STATUS_OK;
}

static Status put_signature(Writer *writer, int64_t recording, const RecordingDef *def,
                            Found *found, const SignedChain *chains, size_t chain_count,
                            Arena *arena, Error *error) {
    Signature signature = {.how = SIGNATURE_FOUND, .chain_count = chain_count};
    const size_t count = CHUNK_HEADER_BYTES + signature_bytes(chain_count);
    Chunk chunk = {.kind = CHUNK_SIGNATURE,
                   .version = CHUNK_FORMAT_SIGNATURES,
                   .sequence = found->sequence,
                   .world_count = def->world_count,
                   .first_step = found->seal.last_step,
                   .last_step = found->seal.last_step,
                   .time = found->seal.time,
                   .written_ns = found->now_ns,
                   .predecessor = found->predecessor};
    memcpy(chunk.uid, def->uid, UID_BYTES);
    memcpy(signature.key, seal_key_public(writer->seal_key), SIGNATURE_KEY_BYTES);
    Status status = count_signature(def, found, arena, signature.seal, error);
    uint8_t *bytes = arena_take(arena, count);
    if (status != STATUS_OK || bytes == NULL) {
        return status != STATUS_OK ? status : memory_ended(error);
    }
    memset(signature_write(&signature, chains, bytes + CHUNK_HEADER_BYTES), 0,
           SIGNATURE_VALUE_BYTES);
    if (!sign_chunk(writer->seal_key, bytes, count, &chunk, &found->predecessor)) {
        return memory_ended(error);
    }
    found->seal.chain[0].checksum = found->predecessor;
    return writer_add_chunk(writer, recording, &chunk, bytes, count, error);
}

// What stands in the file, where it is one that this key has signed as it was recorded.
static Status sign_found(Writer *writer, int64_t recording, const RecordingDef *def, Found *found,
                         Arena *arena, Error *error) {
    bool is_signed;
    SignedChain *chains;
    size_t count;
    if (writer->seal_key == NULL || found->seal.chunk_count[CHUNK_SIGNATURE] == 0) {
        return STATUS_OK;
    }
    Status status = found_look(writer, recording, def, arena, &is_signed, &chains, &count, error);
    if (status == STATUS_RESOURCE_EXHAUSTED) { // too many chunks to list: it stays unsigned
        return STATUS_OK;
    }
    return STATUS_THEN_IF(
        status, is_signed,
        put_signature(writer, recording, def, found, chains, count, arena, error));
}

Status writer_read_definition(Writer *writer, int64_t recording, Arena *arena, RecordingDef *def,
                              Error *error) {
    Chunk chunk;
    Status status = read_one(writer, READ_DEFINITION, recording, arena, &chunk, error);
    return STATUS_THEN_IF(status, definition_read(&chunk, arena, def, NULL) != STATUS_OK,
                          STATUS_NOT_FOUND);
}

Status writer_read_seal(Writer *writer, int64_t recording, const uint8_t uid[UID_BYTES],
                        Arena *arena, RecordingSeal *seal, Error *error) {
    Chunk chunk;
    Status status = read_one(writer, READ_SEAL, recording, arena, &chunk, error);
    bool is_its = status == STATUS_OK && memcmp(chunk.uid, uid, UID_BYTES) == 0 &&
                  seal_read(&chunk, arena, seal, NULL) == STATUS_OK;
    return status == STATUS_OK && !is_its ? STATUS_NOT_FOUND : status;
}

static Status interrupt(Writer *writer, int64_t recording, const char *why, Arena *arena,
                        uint64_t *last_step, Error *error) {
    RecordingDef def;
    RecordingSeal seal;
    Status status = writer_read_definition(writer, recording, arena, &def, error);
    bool has_definition = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    if (!has_definition) { // nothing vouches for its uid: the rows alone are closed
        def = (RecordingDef){.world_count = 1, .world_range = 1};
    }
    status = has_definition ? writer_read_seal(writer, recording, def.uid, arena, &seal, error)
                            : STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        *last_step = seal.last_step; // it had ended, and its row forgot
        return writer_end_recording(writer, recording, &def, &seal, error);
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    Found found = {.seal = {.state = RECORDING_INTERRUPTED, .is_found = true, .why = why},
                   .now_ns = clock_wall_ns()};
    status = add_up(writer, recording, &def, arena, &found, error);
    status = STATUS_THEN_IF(status, has_definition,
                            sign_found(writer, recording, &def, &found, arena, error));
    status =
        STATUS_THEN_IF(status, has_definition, put_seal(writer, recording, &def, &found, error));
    *last_step = found.seal.last_step;
    return STATUS_THEN(status, writer_end_recording(writer, recording, &def, &found.seal, error));
}

Status writer_interrupt(Writer *writer, int64_t recording, const char *why, uint64_t *last_step,
                        Error *error) {
    Arena arena;
    uint64_t reached = 0;
    arena_init(&arena, FOUND_BYTES_MAX);
    Status status = interrupt(writer, recording, why, &arena, &reached, error);
    arena_deinit(&arena);
    if (last_step != NULL) {
        *last_step = reached;
    }
    return status;
}

// The first recording with a row id above `above` that is not ended. NOT_FOUND, with *error
// untouched: there is none.
static Status find_open(Writer *writer, int64_t above, int64_t *recording, uint8_t uid[UID_BYTES],
                        Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_OPEN);
    sqlite3_bind_int64(statement, 1, above);
    bool has_row = false;
    Status status = writer_step(writer, READ_OPEN, "looking for open recordings", &has_row, error);
    if (status != STATUS_OK || !has_row) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    *recording = sqlite3_column_int64(statement, 0);
    writer_copy_uid(statement, 1, uid);
    sqlite3_reset(statement);
    return *recording > above ? STATUS_OK : STATUS_NOT_FOUND; // a damaged tree may lead back
}

Status writer_interrupt_open(Writer *writer, WriterFound *found, void *context, Error *error) {
    int64_t recording = INT64_MIN;
    uint8_t uid[UID_BYTES];
    Status status = writer_begin(writer, true, error);
    while (status == STATUS_OK) {
        status = find_open(writer, recording, &recording, uid, error);
        if (status != STATUS_OK) {
            break;
        }
        uint64_t last_step;
        status = writer_interrupt(writer, recording, "the server ended without stopping it",
                                  &last_step, error);
        if (status == STATUS_OK) {
            found(uid, last_step, context);
        }
    }
    return status == STATUS_NOT_FOUND ? writer_commit(writer, error) : status;
}
