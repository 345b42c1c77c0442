// SPDX-License-Identifier: MIT
// The thread: signatures of what it writes, where the server has a key (format/signature.h).
#include "log/log_parts.h"

#include "base/assert.h"
#include "log/writer/sign.h"

#include <stdlib.h>
#include <string.h>

struct Signing {
    LogBuffer *buffer; // for a signature of all chains
    bool is_due;       // of a group: some chain has a new key-frame
    uint64_t step;     // of the last key-frame
    double time;
    SignedChain *list; // scratch, of all chains
    struct {
        uint8_t digest[SHA256_BYTES];
        bool is_due;
    } chain[];
};

bool log_sign_prepare(LogRecording *recording) {
    const size_t count = recording->so_far.chain_count;
    if (recording->log->seal_key == NULL) {
        return true;
    }
    Signing *signing = calloc(1, sizeof(*signing) + count * sizeof(signing->chain[0]));
    if (signing == NULL) {
        return false;
    }
    recording->signing = signing;
    signing->list = calloc(count, sizeof(*signing->list));
    signing->buffer = log_take_buffer(recording->log, CHUNK_HEADER_BYTES + signature_bytes(count));
    return signing->list != NULL && signing->buffer != NULL;
}

void log_sign_free(LogRecording *recording) {
    Signing *signing = recording->signing;
    if (signing == NULL) {
        return;
    }
    if (signing->buffer != NULL) {
        log_give_buffer(recording->log, signing->buffer);
    }
    free(signing->list);
    free(signing);
    recording->signing = NULL;
}

static bool is_group(const LogRecording *recording) {
    return recording->so_far.chain_count > 1;
}

void log_sign_note(LogRecording *recording, const Chunk *chunk, size_t chain, const uint8_t *bytes,
                   size_t count) {
    Signing *signing = recording->signing;
    uint8_t hash[SHA256_BYTES];
    if (signing == NULL) {
        return;
    }
    sign_hash(bytes, count, hash);
    signature_extend(signing->chain[chain].digest, hash);
    if (chunk->kind == CHUNK_KEYFRAME) {
        signing->is_due = signing->chain[chain].is_due = true;
        signing->step = chunk->last_step > signing->step ? chunk->last_step : signing->step;
        signing->time = chunk->time > signing->time ? chunk->time : signing->time;
    }
}

// The chain of all, and those that are due, or all.
static size_t list_chains(const LogRecording *recording, bool all) {
    Signing *signing = recording->signing;
    size_t count = 0;
    for (size_t i = 0; i < recording->so_far.chain_count; i++) {
        if (i == 0 || all || signing->chain[i].is_due) {
            SignedChain *chain = &signing->list[count++];
            *chain = (SignedChain){.chain = (uint32_t)i,
                                   .chunk_count = recording->so_far.chain[i].chunk_count};
            memcpy(chain->digest, signing->chain[i].digest, SHA256_BYTES);
        }
        signing->chain[i].is_due = false;
    }
    signing->is_due = false;
    return count;
}

static Status put(LogRecording *recording, Signature *signature, Chunk *chunk, uint64_t now_ns,
                  Error *error) {
    Log *log = recording->log;
    LogBuffer *buffer = recording->signing->buffer;
    signature->chain_count = list_chains(recording, signature->how != SIGNATURE_LIVE);
    memcpy(signature->key, seal_key_public(log->seal_key), SIGNATURE_KEY_BYTES);
    buffer->used = CHUNK_HEADER_BYTES + signature_bytes(signature->chain_count);
    ASSERT(buffer->used <= buffer->capacity);
    memset(signature_write(signature, recording->signing->list, buffer->bytes + CHUNK_HEADER_BYTES),
           0, SIGNATURE_VALUE_BYTES);
    chunk->kind = CHUNK_SIGNATURE;
    chunk->version = CHUNK_FORMAT_SIGNATURES;
    chunk->first_step = chunk->last_step;
    log_seal_chunk(recording, chunk, buffer->bytes, buffer->used, now_ns);
    if (!sign_chunk(log->seal_key, buffer->bytes, buffer->used, chunk,
                    &recording->so_far.chain[0].checksum)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "Memory ended while signing a recording.");
    }
    log_sign_note(recording, chunk, 0, buffer->bytes, buffer->used);
    return writer_add_chunk(&log->writer, recording->row, chunk, buffer->bytes, buffer->used,
                            error);
}

static Status put_live(LogRecording *recording, uint64_t now_ns, Error *error) {
    Signature signature = {.how = SIGNATURE_LIVE};
    Chunk chunk = {.last_step = recording->signing->step, .time = recording->signing->time};
    return put(recording, &signature, &chunk, now_ns, error);
}

Status log_sign_chunk(LogRecording *recording, uint64_t now_ns, Error *error) {
    const Signing *signing = recording->signing;
    return signing != NULL && signing->is_due && !is_group(recording)
               ? put_live(recording, now_ns, error)
               : STATUS_OK;
}

Status log_sign_batch(const RecordList *batch, uint64_t now_ns, Error *error) {
    Status status = STATUS_OK;
    for (const Record *record = batch->head; record != NULL && status == STATUS_OK;
         record = record->next) {
        LogRecording *recording = record->recording;
        if (recording != NULL && recording->signing != NULL && recording->signing->is_due &&
            !atomic_load_explicit(&recording->has_failed, memory_order_relaxed)) {
            status = put_live(recording, now_ns, error);
        }
    }
    return status;
}

Status log_sign_last(LogRecording *recording, const Chunk *seal, LogBuffer *buffer, uint64_t now_ns,
                     Error *error) {
    RecordingSeal *so_far = &recording->so_far;
    ChainEnd *end = &so_far->chain[0];
    Signature signature = {.how = SIGNATURE_LAST};
    Chunk chunk = {.last_step = seal->last_step, .time = seal->time};
    if (recording->signing == NULL) {
        return STATUS_OK;
    }
    // the seal as it will be, with the signature counted
    so_far->chunk_count[CHUNK_SIGNATURE]++;
    end->chunk_count++;
    Chunk draft = *seal;
    draft.version = seal_version(so_far);
    draft.sequence = end->chunk_count;
    draft.world_count = end->world_count;
    draft.written_ns = now_ns;
    memcpy(draft.uid, recording->def.uid, UID_BYTES);
    buffer->used = CHUNK_HEADER_BYTES + seal_write(so_far, buffer->bytes + CHUNK_HEADER_BYTES);
    chunk_seal(buffer->bytes, buffer->used, &draft);
    const bool is_seal = signature_hash_seal(buffer->bytes, buffer->used, signature.seal);
    ASSERT(is_seal);
    so_far->chunk_count[CHUNK_SIGNATURE]--;
    end->chunk_count--;
    return put(recording, &signature, &chunk, now_ns, error);
}
