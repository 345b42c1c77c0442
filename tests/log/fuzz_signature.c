// SPDX-License-Identifier: MIT
// Any bytes as a signature and as a seal, as they are and with the length and the checksum mended:
// what is read lies within them, what is a signature is written again to the same bytes, what is
// signed does not depend on the value, and hashing a seal changes nothing.
#include "log/format/signature.h"

#include "access/seal_key.h"
#include "base/assert.h"
#include "mend.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void write_again(const Chunk *chunk, const Signature *signature) {
    SignedChain *chains = calloc(signature->chain_count + 1, sizeof(*chains));
    uint8_t *body = malloc(chunk->body_bytes);
    ASSERT(chains != NULL && body != NULL);
    for (size_t i = 0; i < signature->chain_count; i++) {
        chains[i] = signature_chain(signature, i);
    }
    uint8_t *value = signature_write(signature, chains, body);
    memcpy(value, signature->value, SIGNATURE_VALUE_BYTES);
    ASSERT(value + SIGNATURE_VALUE_BYTES == body + chunk->body_bytes);
    Chunk again = *chunk;
    Signature same;
    again.body = body;
    ASSERT(signature_open(&again, &same, NULL) == STATUS_OK);
    ASSERT(same.how == signature->how && same.chain_count == signature->chain_count);
    for (size_t i = 0; i < same.chain_count; i++) {
        const SignedChain chain = signature_chain(&same, i);
        ASSERT(chain.chain == chains[i].chain && chain.chunk_count == chains[i].chunk_count);
    }
    ASSERT(bytes_are_same(same.value, signature->value, SIGNATURE_VALUE_BYTES));
    free(chains);
    free(body);
}

static void walk_signature(uint8_t *bytes, size_t count, const Chunk *chunk) {
    Signature signature;
    Error error = {0};
    uint8_t message[2][SIGNATURE_MESSAGE_BYTES];
    if (signature_open(chunk, &signature, &error) != STATUS_OK) {
        ASSERT(error.status == STATUS_DATA_LOSS && error.message[0] != '\0');
        return;
    }
    write_again(chunk, &signature);
    if (chunk_body_offset(chunk) != CHUNK_HEADER_BYTES) { // inputs, which are no signatures
        return;
    }
    signature_message(bytes, count, message[0]);
    (void)seal_public_verifies(signature.key, message[0], sizeof(message[0]), signature.value);
    bytes[count - 1] ^= 1;
    signature_message(bytes, count, message[1]);
    ASSERT(bytes_are_same(message[0], message[1], sizeof(message[0])));
    bytes[count - SIGNATURE_VALUE_BYTES - 1] ^= 1;
    signature_message(bytes, count, message[1]);
    ASSERT(!bytes_are_same(message[0], message[1], sizeof(message[0])));
    bytes[count - 1] ^= 1;
    bytes[count - SIGNATURE_VALUE_BYTES - 1] ^= 1;
}

static void walk_seal(uint8_t *bytes, size_t count) {
    uint8_t digest[SHA256_BYTES];
    uint8_t *before = malloc(count + 1);
    ASSERT(before != NULL);
    memcpy(before, bytes, count);
    (void)signature_hash_seal(bytes, count, digest);
    ASSERT(bytes_are_same(before, bytes, count));
    free(before);
}

static void walk(uint8_t *bytes, size_t count) {
    Chunk chunk;
    walk_seal(bytes, count);
    if (chunk_open(bytes, count, NULL, &chunk, NULL) == STATUS_OK) {
        walk_signature(bytes, count, &chunk);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    uint8_t *own = malloc(count + 1);
    ASSERT(own != NULL);
    memcpy(own, bytes, count);
    walk(own, count);
    if (count >= CHUNK_HEADER_BYTES) {
        put_u64(own, MEND_AT_BODY_BYTES, count - CHUNK_HEADER_BYTES);
        mend_checksum(own, count);
        walk(own, count);
    }
    free(own);
    return 0;
}
