// SPDX-License-Identifier: MIT
// Recordings that a server signs, for tests over the wire: two keys, a server with one of them, a
// world and a group, each recorded with key-frames close together, and what `moreau verify
// --seal-pub` says of them.
#pragma once

#include "support/server_shell.h"
#include "support/wire_episode.h"

enum { WIRE_SIGNED_STEPS = 60, WIRE_SIGNED_WORLDS = 4, WIRE_SIGNED_SAID_BYTES = 8192 };

typedef struct WireSigned {
    WireDepot depot;
    char keys[SERVER_FOLDER_BYTES]; // with the folders "mine" and "other"
    char options[512];              // of a server that signs with "mine"
    char said[WIRE_SIGNED_SAID_BYTES];
} WireSigned;

void wire_signed_open(WireSigned *signing);
void wire_signed_close(WireSigned *signing);

// A world that is recorded as `name`; wire_stop_recording ends that.
uint64_t wire_signed_begin(WireSigned *signing, const char *name);
void wire_signed_world(WireSigned *signing, const char *name); // and ended

// The same of a group.
uint64_t wire_signed_begin_group(WireSigned *signing, const char *name);
void wire_signed_group(WireSigned *signing, const char *name);

// What `moreau verify` says, which ends with that status, or any (-1); and that this is in it.
const char *wire_signed_verify(WireSigned *signing, const char *episode, const char *key,
                               int status);
void wire_signed_expect(WireSigned *signing, const char *episode, const char *key, int status,
                        const char *sentence);

// The id of the index-th episode of all, the newest first.
void wire_signed_episode(WireSigned *signing, size_t index, char id[WIRE_EPISODE_ID_BYTES]);
