// SPDX-License-Identifier: MIT
#include "replay/verify/signed.h"

#include "access/digest.h"
#include "base/array.h"
#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

// A chain on the way.
typedef struct Walk {
    ChunkRow *row; // in order by sequence; the arena's
    size_t count, at;
    uint8_t digest[SHA256_BYTES]; // of the chunks before `at`
    uint64_t steps;               // up to which inputs are among them
    bool is_broken;               // the chunk at `at` is damaged, out of its place, or lies
} Walk;

// What a signature says of the chain of a range of worlds.
typedef struct Mark {
    uint64_t chunk_count;
    uint8_t digest[SHA256_BYTES];
    SignatureHow how;
} Mark;

struct SignedCheck {
    EpisodeRow episode;
    uint8_t key[SEAL_PUBLIC_BYTES];
    Arena rows, chunk;
    Walk common, range; // of a world the former alone
    uint32_t chain;     // of the range, as signatures count
    Mark *mark;         // of the range, in order; owned
    size_t mark_count, mark_capacity, mark_next;
    bool has_signed, has_other;
    uint64_t steps;         // of a world: signed
    uint64_t calls;         // of a range: signed
    bool is_last, is_found; // the chain of all is signed to its end
    bool is_range_end;      // and so is the range
    SignatureHow pending;   // the signature before this chunk says what seal it stands before
    uint8_t seal[SHA256_BYTES];
    uint8_t other[SEAL_PUBLIC_BYTES];
};

static Status memory_ended(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "What is left of the memory budget (option --memory-bytes-max) does not hold "
                     "a list of the recording's chunks, to see who signed them.");
}

// ---- the chains

static int compare_rows(const void *left, const void *right) {
    const ChunkRow *a = left, *b = right;
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

static Status list_chain(SignedCheck *check, LogReader *reader, bool common, Walk *walk,
                         Error *error) {
    ChunkRow *rows[CHUNK_KIND_COUNT] = {NULL};
    size_t counts[CHUNK_KIND_COUNT] = {0};
    Status status = STATUS_OK;
    for (ChunkKind kind = CHUNK_KEYFRAME; kind < CHUNK_KIND_COUNT && status == STATUS_OK; kind++) {
        if (!check->episode.is_group || chunk_kind_is_common(kind) == common) {
            status = log_reader_chunks(reader, &check->episode, kind, &check->rows, &rows[kind],
                                       &counts[kind], error);
            walk->count += counts[kind];
        }
    }
    walk->row =
        status != STATUS_OK ? NULL : arena_take_array(&check->rows, walk->count, sizeof(ChunkRow));
    if (walk->row == NULL) {
        return status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED ? memory_ended(error)
                                                                          : status;
    }
    size_t at = 0;
    for (ChunkKind kind = CHUNK_KEYFRAME; kind < CHUNK_KIND_COUNT; kind++) {
        for (size_t i = 0; i < counts[kind]; i++) {
            walk->row[at++] = rows[kind][i];
        }
    }
    if (at > 1) {
        qsort(walk->row, at, sizeof(ChunkRow), compare_rows);
    }
    return STATUS_OK;
}

Status signed_open(SignedCheck **check, LogReader *reader, const EpisodeRow *episode,
                   const uint8_t key[SEAL_PUBLIC_BYTES], size_t bytes_max, Error *error) {
    SignedCheck *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return memory_ended(error);
    }
    made->episode = *episode;
    memcpy(made->key, key, SEAL_PUBLIC_BYTES);
    arena_init(&made->rows, bytes_max);
    arena_init(&made->chunk, bytes_max);
    Status status = list_chain(made, reader, true, &made->common, error);
    if (status == STATUS_OK && episode->is_group) {
        made->chain = 1 + (uint32_t)(episode->world_index / episode->world_range);
        status = list_chain(made, reader, false, &made->range, error);
    }
    if (status != STATUS_OK) {
        signed_close(made);
        return status;
    }
    *check = made;
    return STATUS_OK;
}

void signed_close(SignedCheck *check) {
    if (check != NULL) {
        arena_deinit(&check->rows);
        arena_deinit(&check->chunk);
        free(check->mark);
        free(check);
    }
}

size_t signed_bytes(const SignedCheck *check) {
    return check->rows.total_bytes + check->chunk.total_bytes +
           check->mark_capacity * sizeof(*check->mark);
}

// ---- a chunk

static void hash(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]) {
    if (!digest_of(bytes, count, digest)) { // without memory ours does it, slower
        sha256(bytes, count, digest);
    }
}

static const uint8_t *bytes_of(const Chunk *chunk, size_t *count) {
    *count = chunk_body_offset(chunk) + chunk->body_bytes;
    return chunk->body - chunk_body_offset(chunk);
}

// What it says of the chain of all is so; of the range it is noted. False: it is not.
static bool is_of_chains(SignedCheck *check, const Signature *signature, Error *error) {
    bool is_so = false;
    for (size_t i = 0; i < signature->chain_count; i++) {
        const SignedChain chain = signature_chain(signature, i);
        if (chain.chain == 0) {
            is_so = chain.chunk_count == check->common.at &&
                    bytes_are_same(chain.digest, check->common.digest, SHA256_BYTES);
        } else if (chain.chain == check->chain) {
            if (!ARRAY_RESERVE(check->mark, check->mark_capacity, check->mark_count + 1)) {
                memory_ended(error);
                return false;
            }
            Mark *mark = &check->mark[check->mark_count++];
            *mark = (Mark){.chunk_count = chain.chunk_count, .how = signature->how};
            memcpy(mark->digest, chain.digest, SHA256_BYTES);
        }
    }
    return is_so;
}

static void look_at_signature(SignedCheck *check, const Chunk *chunk, Error *error) {
    Signature signature;
    uint8_t message[SIGNATURE_MESSAGE_BYTES];
    size_t count;
    const uint8_t *bytes = bytes_of(chunk, &count);
    Walk *walk = &check->common;
    if (signature_open(chunk, &signature, NULL) != STATUS_OK) {
        walk->is_broken = true;
        return;
    }
    signature_message(bytes, count, message);
    const bool is_right =
        seal_public_verifies(signature.key, message, sizeof(message), signature.value);
    if (!bytes_are_same(signature.key, check->key, SEAL_PUBLIC_BYTES)) {
        if (is_right && !check->has_other) {
            check->has_other = true;
            memcpy(check->other, signature.key, SEAL_PUBLIC_BYTES);
        }
        return;
    }
    const size_t marks = check->mark_count;
    if (!is_right || !is_of_chains(check, &signature, error)) {
        check->mark_count = marks;
        walk->is_broken = true;
        return;
    }
    check->has_signed = true;
    // of what it found it says that it stood there, and not that it was so
    if (signature.how != SIGNATURE_FOUND) {
        check->steps = walk->steps;
    }
    check->pending = signature.how;
    memcpy(check->seal, signature.seal, SHA256_BYTES);
}

// The last chunk, directly behind a signature of it.
static Status look_at_seal(SignedCheck *check, const Chunk *chunk, SignatureHow how, Error *error) {
    const Walk *walk = &check->common;
    uint8_t digest[SHA256_BYTES];
    size_t count;
    const uint8_t *bytes = bytes_of(chunk, &count);
    if (how <= SIGNATURE_LIVE || walk->at + 1 != walk->count || walk->at == 0 ||
        chunk->predecessor != walk->row[walk->at - 1].head.checksum) {
        return STATUS_OK;
    }
    uint8_t *copy = arena_take(&check->chunk, count);
    if (copy == NULL) {
        return memory_ended(error);
    }
    memcpy(copy, bytes, count);
    const bool is_it = signature_hash_seal(copy, count, digest) &&
                       bytes_are_same(digest, check->seal, SHA256_BYTES);
    check->is_last = is_it && how == SIGNATURE_LAST;
    check->is_found = is_it && how == SIGNATURE_FOUND;
    return STATUS_OK;
}

static void extend(Walk *walk, const Chunk *chunk) {
    uint8_t digest[SHA256_BYTES];
    size_t count;
    const uint8_t *bytes = bytes_of(chunk, &count);
    hash(bytes, count, digest);
    signature_extend(walk->digest, digest);
    if ((chunk->kind == CHUNK_INPUTS || chunk->kind == CHUNK_GAP) &&
        chunk->last_step > walk->steps) {
        walk->steps = chunk->last_step;
    }
    walk->at++;
}

// The marks up to here are of what is here.
static void compare_marks(SignedCheck *check) {
    Walk *walk = &check->range;
    while (!walk->is_broken && check->mark_next < check->mark_count &&
           check->mark[check->mark_next].chunk_count <= walk->at) {
        const Mark *mark = &check->mark[check->mark_next++];
        walk->is_broken = mark->chunk_count != walk->at ||
                          !bytes_are_same(mark->digest, walk->digest, SHA256_BYTES);
        if (!walk->is_broken) {
            check->calls = mark->how == SIGNATURE_FOUND ? check->calls : walk->steps;
            check->is_range_end = mark->how != SIGNATURE_LIVE && walk->at == walk->count;
        }
    }
}

// The next chunk of the chain. Where it cannot be read, the chain is broken.
static Status take_chunk(SignedCheck *check, LogReader *reader, Walk *walk, Error *error) {
    const ChunkRow *row = &walk->row[walk->at];
    LogChunk found;
    Error why = {0};
    arena_reset(&check->chunk);
    Status status =
        log_reader_get(reader, &check->episode, row->kind, row->id, &check->chunk, &found, &why);
    if (status == STATUS_DATA_LOSS || status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && found.chunk.sequence != walk->at)) {
        walk->is_broken = true;
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        *error = why;
        return status;
    }
    const SignatureHow pending = check->pending;
    Error failure = {0};
    if (walk == &check->common) {
        check->pending = 0;
    }
    if (found.chunk.kind == CHUNK_SIGNATURE) {
        look_at_signature(check, &found.chunk, &failure);
    } else if (found.chunk.kind == CHUNK_SEAL) {
        look_at_seal(check, &found.chunk, pending, &failure);
    }
    if (failure.status != STATUS_OK) {
        *error = failure;
        return failure.status;
    }
    if (!walk->is_broken) {
        extend(walk, &found.chunk);
    }
    return STATUS_OK;
}

static bool is_walked(const Walk *walk) {
    return walk->is_broken || walk->at >= walk->count;
}

Status signed_work(SignedCheck *check, LogReader *reader, uint64_t until_ns, const Context *context,
                   bool *is_over, Error *error) {
    Status status = STATUS_OK;
    while (status == STATUS_OK && !is_walked(&check->common)) {
        status = take_chunk(check, reader, &check->common, error);
        if (context_is_stopped(context) || clock_now_ns() >= until_ns) {
            break;
        }
    }
    while (status == STATUS_OK && is_walked(&check->common) && check->episode.is_group &&
           !is_walked(&check->range)) {
        compare_marks(check);
        if (!is_walked(&check->range)) {
            status = take_chunk(check, reader, &check->range, error);
        }
        if (context_is_stopped(context) || clock_now_ns() >= until_ns) {
            break;
        }
    }
    *is_over = is_walked(&check->common) && (!check->episode.is_group || is_walked(&check->range));
    if (*is_over) {
        compare_marks(check); // at its end
    }
    return status;
}

// ---- the result

SignedResult signed_result(const SignedCheck *check) {
    const EpisodeRow *episode = &check->episode;
    const bool is_end = !episode->is_group || check->is_range_end;
    SignedResult result = {.by = !check->has_signed && check->has_other ? SIGNED_BY_ANOTHER
                                 : !check->has_signed                   ? SIGNED_BY_NOBODY
                                 : check->is_last && is_end             ? SIGNED_WHOLLY
                                 : check->is_found && is_end            ? SIGNED_FOUND
                                                                        : SIGNED_IN_PART,
                           .step = check->steps};
    if (episode->is_group) { // whose steps are the calls behind the one that it began with
        const uint64_t calls =
            check->calls > episode->begun_call ? check->calls - episode->begun_call : 0;
        result.step = calls < episode->last_step ? calls : episode->last_step;
    }
    memcpy(result.other, check->other, SEAL_PUBLIC_BYTES);
    return result;
}

Status signed_read_last(LogReader *reader, const EpisodeRow *episode, Arena *arena,
                        SignedSaid *said, Error *error) {
    LogChunk found;
    Signature signature = {0};
    Error why = {0};
    const Status status =
        log_reader_at(reader, episode, CHUNK_SIGNATURE, UINT64_MAX, arena, &found, &why);
    *said = (SignedSaid){.is_there = status == STATUS_OK &&
                                     signature_open(&found.chunk, &signature, NULL) == STATUS_OK};
    if (said->is_there) {
        memcpy(said->key, signature.key, SEAL_PUBLIC_BYTES);
        said->how = signature.how;
        said->step = found.chunk.last_step;
        said->chunks = found.chunk.sequence;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_DATA_LOSS) {
        *error = why;
        return status;
    }
    return STATUS_OK;
}
