// SPDX-License-Identifier: MIT
#include "log/writer/found.h"

#include "base/assert.h"
#include "log/writer/parts.h"
#include "log/writer/sign.h"

#include <stdlib.h>
#include <string.h>

// Where a chunk stands.
typedef struct Place {
    uint32_t chain;
    uint64_t sequence;
    int64_t id;
} Place;

// What a live signature says of a chain.
typedef struct Mark {
    uint32_t chain;
    uint64_t chunk_count;
    uint8_t digest[SHA256_BYTES];
} Mark;

typedef struct Look {
    Writer *writer;
    const RecordingDef *def;
    Arena *arena;
    Place *place;
    size_t place_count;
    Mark *mark;
    size_t mark_count, mark_capacity, mark_next;
    bool has_live, is_odd; // then it is nothing to be signed
} Look;

static Status memory_ended(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
}

// ---- places

static int compare_places(const void *left, const void *right) {
    const Place *a = left, *b = right;
    if (a->chain != b->chain) {
        return a->chain < b->chain ? -1 : 1;
    }
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static Place take_place(const RecordingDef *def, sqlite3_stmt *row) {
    const uint32_t first_world = (uint32_t)sqlite3_column_int64(row, 1);
    const bool is_common = chunk_kind_is_common((ChunkKind)sqlite3_column_int64(row, 2));
    const bool is_group = recording_is_group(def->world_count, def->world_range);
    return (Place){.chain = is_group && !is_common ? 1 + first_world / def->world_range : 0,
                   .sequence = (uint64_t)sqlite3_column_int64(row, 3),
                   .id = sqlite3_column_int64(row, 0)};
}

static Status list_places(Look *look, int64_t recording, Error *error) {
    sqlite3_stmt *statement = writer_get(look->writer, READ_PLACES);
    Status status = STATUS_OK;
    size_t room = 0;
    for (int pass = 0; pass < 2 && status == STATUS_OK; pass++) { // count, then take
        sqlite3_bind_int64(statement, 1, recording);
        bool has_row = true;
        look->place_count = 0;
        while ((status = writer_step(look->writer, READ_PLACES, "reading the chunks", &has_row,
                                     error)) == STATUS_OK &&
               has_row && (pass == 0 || look->place_count < room)) {
            if (pass == 1) {
                ASSERT(look->place != NULL);
                look->place[look->place_count] = take_place(look->def, statement);
            }
            look->place_count++;
        }
        sqlite3_reset(statement);
        if (pass == 0 && status == STATUS_OK) {
            room = look->place_count;
            look->place = arena_take_array(look->arena, room, sizeof(*look->place));
            status = look->place == NULL ? memory_ended(error) : STATUS_OK;
        }
    }
    if (status == STATUS_OK && look->place_count > 1) {
        qsort(look->place, look->place_count, sizeof(*look->place), compare_places);
    }
    return status;
}

// ---- a chunk

static bool add_mark(Look *look, const SignedChain *chain) {
    if (look->mark_count == look->mark_capacity) { // what it grows out of stays in the arena
        const size_t more = 2 * look->mark_capacity + 64;
        Mark *larger = arena_take_array(look->arena, more, sizeof(*larger));
        if (larger == NULL) {
            return false;
        }
        if (look->mark_count > 0) {
            memcpy(larger, look->mark, look->mark_count * sizeof(*larger));
        }
        look->mark = larger;
        look->mark_capacity = more;
    }
    Mark *mark = &look->mark[look->mark_count++];
    *mark = (Mark){.chain = chain->chain, .chunk_count = chain->chunk_count};
    memcpy(mark->digest, chain->digest, SHA256_BYTES);
    return true;
}

// One of another key says nothing. `end`: the chain of all before it.
static Status look_at_signature(Look *look, const Chunk *chunk, const uint8_t *bytes, size_t count,
                                const SignedChain *end, Error *error) {
    Signature signature;
    uint8_t message[SIGNATURE_MESSAGE_BYTES];
    const uint8_t *key = seal_key_public(look->writer->seal_key);
    if (signature_open(chunk, &signature, NULL) != STATUS_OK) {
        look->is_odd = true;
        return STATUS_OK;
    }
    if (memcmp(signature.key, key, SIGNATURE_KEY_BYTES) != 0) {
        return STATUS_OK;
    }
    signature_message(bytes, count, message);
    bool is_right = signature.how == SIGNATURE_LIVE &&
                    seal_public_verifies(key, message, sizeof(message), signature.value);
    bool is_of_this = false;
    for (size_t i = 0; is_right && i < signature.chain_count; i++) {
        const SignedChain chain = signature_chain(&signature, i);
        if (chain.chain == 0) {
            is_of_this = chain.chunk_count == end->chunk_count &&
                         memcmp(chain.digest, end->digest, SHA256_BYTES) == 0;
        } else if (!add_mark(look, &chain)) {
            return memory_ended(error);
        }
    }
    look->has_live = look->has_live || (is_right && is_of_this);
    look->is_odd = look->is_odd || !is_right || !is_of_this;
    return STATUS_OK;
}

static Status look_at_chunk(Look *look, const Place *place, SignedChain *end, Error *error) {
    sqlite3_stmt *statement = writer_get(look->writer, READ_BYTES);
    sqlite3_bind_int64(statement, 1, place->id);
    bool has_row = false;
    Status status = writer_step(look->writer, READ_BYTES, "reading a chunk", &has_row, error);
    if (status != STATUS_OK) {
        return status;
    }
    Chunk chunk;
    uint8_t hash[SHA256_BYTES];
    const uint8_t *bytes = has_row ? sqlite3_column_blob(statement, 0) : NULL;
    const size_t count = has_row ? (size_t)sqlite3_column_bytes(statement, 0) : 0;
    look->is_odd = bytes == NULL || place->sequence != end->chunk_count ||
                   chunk_open(bytes, count, look->def->uid, &chunk, NULL) != STATUS_OK ||
                   chunk.sequence != place->sequence;
    if (!look->is_odd && chunk.kind == CHUNK_SIGNATURE) {
        status = look_at_signature(look, &chunk, bytes, count, end, error);
    }
    if (!look->is_odd) {
        sign_hash(bytes, count, hash);
        signature_extend(end->digest, hash);
        end->chunk_count++;
    }
    sqlite3_reset(statement);
    return status;
}

// ---- the chains

static int compare_mark(const void *left, const void *right) {
    const Mark *a = left, *b = right;
    if (a->chain != b->chain) {
        return a->chain < b->chain ? -1 : 1;
    }
    return a->chunk_count < b->chunk_count ? -1 : a->chunk_count > b->chunk_count;
}

// The next marks, in order, are of what the chain is now.
static void pass_marks(Look *look, const SignedChain *end) {
    for (; look->mark_next < look->mark_count; look->mark_next++) {
        const Mark *mark = &look->mark[look->mark_next];
        if (mark->chain != end->chain || mark->chunk_count != end->chunk_count) {
            break;
        }
        look->is_odd = look->is_odd || memcmp(mark->digest, end->digest, SHA256_BYTES) != 0;
    }
}

static Status walk(Look *look, SignedChain *chains, size_t *count, Error *error) {
    Status status = STATUS_OK;
    *count = 0;
    for (size_t i = 0; i < look->place_count && status == STATUS_OK && !look->is_odd; i++) {
        const Place *place = &look->place[i];
        if (i == 0 || place->chain != place[-1].chain) {
            chains[(*count)++] = (SignedChain){.chain = place->chain};
            if (*count == 2 && look->mark_count > 1) { // that of all, which has them, is passed
                qsort(look->mark, look->mark_count, sizeof(*look->mark), compare_mark);
            }
        }
        SignedChain *end = &chains[*count - 1];
        status = look_at_chunk(look, place, end, error);
        if (end->chain > 0) {
            pass_marks(look, end);
        }
    }
    look->is_odd = look->is_odd || look->mark_next < look->mark_count; // of what is not there
    return status;
}

static size_t count_chains(const Look *look) {
    size_t count = 0;
    for (size_t i = 0; i < look->place_count; i++) {
        count += i == 0 || look->place[i].chain != look->place[i - 1].chain;
    }
    return count;
}

Status found_look(Writer *writer, int64_t recording, const RecordingDef *def, Arena *arena,
                  bool *is_signed, SignedChain **chains, size_t *count, Error *error) {
    Look look = {.writer = writer, .def = def, .arena = arena};
    *is_signed = false;
    *count = 0;
    Status status = list_places(&look, recording, error);
    if (status != STATUS_OK || look.place_count == 0) {
        return status;
    }
    *chains = arena_take_array(arena, count_chains(&look), sizeof(**chains));
    if (*chains == NULL) {
        return memory_ended(error);
    }
    status = walk(&look, *chains, count, error);
    *is_signed = status == STATUS_OK && look.has_live && !look.is_odd && (*chains)[0].chain == 0;
    return status;
}
