// SPDX-License-Identifier: MIT
// Who vouches for an episode's recording (log/format/signature.h): goes over all chunks of its
// chains in order, makes their digests again, and looks which of them a signature of the key that
// was asked for is of. Nothing that is said of a recording here follows from a row of the file, nor
// from a checksum: the bytes of each chunk up to there are those that were signed.
#pragma once

#include "access/seal_key.h"
#include "base/context.h"
#include "log/format/signature.h"
#include "log/reader/reader.h"

typedef struct SignedCheck SignedCheck;

// What the last signature of a recording says of itself, compared with nothing.
typedef struct SignedSaid {
    bool is_there; // and whole
    uint8_t key[SEAL_PUBLIC_BYTES];
    SignatureHow how;
    uint64_t step, chunks; // up to which, and of so many in front of it
} SignedSaid;

// One that is damaged is not there.
Status signed_read_last(LogReader *reader, const EpisodeRow *episode, Arena *arena,
                        SignedSaid *said, Error *error);

typedef enum SignedBy {
    SIGNED_BY_NOBODY,
    SIGNED_BY_ANOTHER, // and not by this one
    SIGNED_IN_PART,    // up to a step; what is behind it, or how it ended, nobody vouches for
    SIGNED_FOUND,      // likewise, and the rest is what its next start found in the file
    SIGNED_WHOLLY      // from the definition to the seal
} SignedBy;

typedef struct SignedResult {
    SignedBy by;
    uint64_t step;                    // of the episode: up to it everything is signed
    uint8_t other[SEAL_PUBLIC_BYTES]; // of SIGNED_BY_ANOTHER
} SignedResult;

// RESOURCE_EXHAUSTED: the lists of chunks do not fit into so many bytes.
Status signed_open(SignedCheck **check, LogReader *reader, const EpisodeRow *episode,
                   const uint8_t key[SEAL_PUBLIC_BYTES], size_t bytes_max, Error *error);
void signed_close(SignedCheck *check); // Nullable

// Some chunks more. A damaged one ends what can be said, and is no error.
Status signed_work(SignedCheck *check, LogReader *reader, uint64_t until_ns, const Context *context,
                   bool *is_over, Error *error);
SignedResult signed_result(const SignedCheck *check); // when it is over
size_t signed_bytes(const SignedCheck *check);
