// SPDX-License-Identifier: MIT
#include "log/format/signature.h"

#include "base/assert.h"
#include "log/format/definition.h"

#include <string.h>

enum { CHAIN_BYTES = 16 + SHA256_BYTES, HEAD_BYTES = SIGNATURE_KEY_BYTES + 8 };
enum { TAIL_BYTES = SHA256_BYTES + SIGNATURE_VALUE_BYTES };
enum { DOMAIN_BYTES = 32, SEALED_HEADER_BYTES = CHUNK_HEADER_BYTES - 8, AT_PREDECESSOR = 168 };

static const char domain[DOMAIN_BYTES] = "Moreau signature of a recording";

size_t signature_bytes(size_t chain_count) {
    return HEAD_BYTES + CHAIN_BYTES * chain_count + TAIL_BYTES;
}

uint8_t *signature_write(const Signature *signature, const SignedChain *chains, uint8_t *bytes) {
    Sink sink = {.bytes = bytes};
    sink_bytes(&sink, signature->key, SIGNATURE_KEY_BYTES);
    sink_u32(&sink, (uint32_t)signature->how);
    sink_u32(&sink, (uint32_t)signature->chain_count);
    for (size_t i = 0; i < signature->chain_count; i++) {
        sink_u32(&sink, chains[i].chain);
        sink_u32(&sink, 0);
        sink_u64(&sink, chains[i].chunk_count);
        sink_bytes(&sink, chains[i].digest, SHA256_BYTES);
    }
    sink_bytes(&sink, signature->seal, SHA256_BYTES);
    ASSERT(sink.count + SIGNATURE_VALUE_BYTES == signature_bytes(signature->chain_count));
    return bytes + sink.count;
}

Status signature_open(const Chunk *chunk, Signature *signature, Error *error) {
    Source source = {.bytes = chunk->body, .count = chunk->body_bytes};
    Signature found = {0};
    source_copy(&source, found.key, SIGNATURE_KEY_BYTES);
    found.how = (SignatureHow)source_u32(&source);
    found.chain_count = source_u32(&source);
    const bool is_whole = !source.failed && found.chain_count <= chunk->body_bytes / CHAIN_BYTES &&
                          chunk->body_bytes == signature_bytes(found.chain_count);
    if (!is_whole || found.how < SIGNATURE_LIVE || found.how > SIGNATURE_FOUND) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its %zu bytes are no %s",
                         chunk->body_bytes, chunk_kind_name(CHUNK_SIGNATURE));
    }
    found.chains = source_bytes(&source, CHAIN_BYTES * found.chain_count);
    source_copy(&source, found.seal, SHA256_BYTES);
    source_copy(&source, found.value, SIGNATURE_VALUE_BYTES);
    *signature = found;
    return STATUS_OK;
}

SignedChain signature_chain(const Signature *signature, size_t index) {
    ASSERT(index < signature->chain_count);
    Source source = {.bytes = signature->chains + CHAIN_BYTES * index, .count = CHAIN_BYTES};
    SignedChain chain = {.chain = source_u32(&source)};
    source_u32(&source);
    chain.chunk_count = source_u64(&source);
    source_copy(&source, chain.digest, SHA256_BYTES);
    return chain;
}

void signature_message(const uint8_t *bytes, size_t count,
                       uint8_t message[SIGNATURE_MESSAGE_BYTES]) {
    ASSERT(count >= CHUNK_HEADER_BYTES + signature_bytes(0));
    memcpy(message, domain, DOMAIN_BYTES);
    sha256(bytes, SEALED_HEADER_BYTES, message + DOMAIN_BYTES);
    sha256(bytes + CHUNK_HEADER_BYTES, count - CHUNK_HEADER_BYTES - SIGNATURE_VALUE_BYTES,
           message + DOMAIN_BYTES + SHA256_BYTES);
}

void signature_extend(uint8_t digest[SHA256_BYTES], const uint8_t chunk[SHA256_BYTES]) {
    uint8_t both[2 * SHA256_BYTES];
    memcpy(both, digest, SHA256_BYTES);
    memcpy(both + SHA256_BYTES, chunk, SHA256_BYTES);
    sha256(both, sizeof(both), digest);
}

bool signature_hash_seal(uint8_t *bytes, size_t count, uint8_t digest[SHA256_BYTES]) {
    const size_t places[] = {AT_PREDECESSOR, SEALED_HEADER_BYTES,
                             CHUNK_HEADER_BYTES + SEAL_AT_CHECKSUM};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    uint8_t kept[PLACES][8];
    if (count < CHUNK_HEADER_BYTES + SEAL_AT_CHECKSUM + 8) {
        return false;
    }
    for (size_t i = 0; i < PLACES; i++) {
        memcpy(kept[i], bytes + places[i], sizeof(kept[i]));
        memset(bytes + places[i], 0, sizeof(kept[i]));
    }
    sha256(bytes, count, digest);
    for (size_t i = 0; i < PLACES; i++) {
        memcpy(bytes + places[i], kept[i], sizeof(kept[i]));
    }
    return true;
}
