// SPDX-License-Identifier: MIT
// Signatures of recordings (--seal-key). A checksum of a chunk anybody can make again who knows the
// format; a signature, only who has the key.
//
// Of each chain there is a running digest, over all bytes of its chunks:
//
//   D of no chunk = 32 zero bytes,   D of n = SHA-256(D of n - 1, SHA-256(bytes of the n-th))
//
// A chunk of a signature stands in the chain of all and says what the digests are:
//
//   public key (Ed25519, 32 bytes), how (u32), number of chains (u32),
//   chain: which (u32; 0: of all, or of the only world; 1 + k: of the k-th range), 0 (u32), chunks
//     of it (u64), their digest (32 bytes)
//   digest of the seal behind it (32 bytes; zeros: it stands before none), signature (64 bytes)
//
// It is of a domain, of the chunk's header without its checksum and of its body up to the
// signature: so it says itself which recording it is of, and where it stands in it.
//
//   how     written                                           says
//   live    behind a key-frame; of a group once for several   this server recorded what is before
//   last    directly before the seal                          the same, and so it ended
//   found   likewise, by the next start after a crash         this was in the file then
//
// A digest of a seal takes for zero what follows from the signature in front of it: the seal's
// predecessor, its checksum, and the checksum that the chain of all ends with.
#pragma once

#include "base/sha256.h"
#include "log/format/chunk.h"

enum { SIGNATURE_KEY_BYTES = 32, SIGNATURE_VALUE_BYTES = 64 };
enum { SIGNATURE_MESSAGE_BYTES = 96 };

typedef enum SignatureHow {
    SIGNATURE_LIVE = 1,
    SIGNATURE_LAST = 2,
    SIGNATURE_FOUND = 3
} SignatureHow;

typedef struct SignedChain {
    uint32_t chain;
    uint64_t chunk_count;
    uint8_t digest[SHA256_BYTES];
} SignedChain;

typedef struct Signature {
    uint8_t key[SIGNATURE_KEY_BYTES];
    SignatureHow how;
    size_t chain_count;
    uint8_t seal[SHA256_BYTES];
    uint8_t value[SIGNATURE_VALUE_BYTES];
    const uint8_t *chains; // borrowed, of one that was read: signature_chain
} Signature;

size_t signature_bytes(size_t chain_count); // of the body

// The body but for the value, and where the latter is to go.
uint8_t *signature_write(const Signature *signature, const SignedChain *chains, uint8_t *bytes);

// Any body. DATA_LOSS as where other bodies are read.
Status signature_open(const Chunk *chunk, Signature *signature, Error *error);
SignedChain signature_chain(const Signature *signature, size_t index);

// What is signed, of the bytes of a whole chunk, whose checksum and value are not looked at.
void signature_message(const uint8_t *bytes, size_t count,
                       uint8_t message[SIGNATURE_MESSAGE_BYTES]);

// One chunk more, of which this is the SHA-256.
void signature_extend(uint8_t digest[SHA256_BYTES], const uint8_t chunk[SHA256_BYTES]);

// Of a seal's bytes, in which it changes nothing in the end. False: they are too short to be those
// of a seal behind a signature.
bool signature_hash_seal(uint8_t *bytes, size_t count, uint8_t digest[SHA256_BYTES]);
