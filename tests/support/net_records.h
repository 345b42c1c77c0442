// SPDX-License-Identifier: MIT
// A server's stream of TLS against a client of OpenSSL, in memory, with somebody in between who
// changes, cuts, repeats and invents what the client sends, as he is told by bytes. Whatever he
// does: nothing is read but what the client sent, in its order, from the start on.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct RecordsPlayed {
    uint64_t handshakes, records; // shaken hands; records that the client made
    uint64_t changes, refused;    // of theirs; streams that ended for it
} RecordsPlayed;

// Adds to `played`.
void net_records_play(const uint8_t *bytes, size_t count, RecordsPlayed *played);
