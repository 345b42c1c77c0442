// SPDX-License-Identifier: MIT
// Many bare sockets at once, for tests of what clients should not do: they send what fits, read
// only when told to, and leave without a word. Nothing here waits for the server but what says so.
#pragma once

#include "support/wire_client.h"

enum { CROWD_MAX = 1024 };

typedef struct Crowd {
    size_t count;
    int fd[CROWD_MAX];
} Crowd;

// Opens `count` sockets beside those there are. `greets`: each says hello and waits for its
// welcome. `narrow`: each takes few bytes that are not read, so that the rest piles up at the
// server.
void wire_crowd_join(Crowd *crowd, const char *address, size_t count, bool greets, bool narrow);

// One socket of a crowd, greeted.
int wire_crowd_member(const char *address);

// As much as the socket takes at once; false: not all, or the connection is gone.
bool wire_crowd_push(int fd, const void *bytes, size_t count);

// A call with this id as one frame; false as above.
bool wire_crowd_call(int fd, const void *call, uint64_t id);

// The frame of a call, with its header; the caller's to free.
uint8_t *wire_crowd_frame(const void *call, uint64_t id, size_t *count);

// Reads so many replies; false: the connection ended before. Waits.
bool wire_crowd_read(int fd, size_t replies);

// Every socket is closed: reset, with whatever is under way; or with everything sent before.
void wire_crowd_vanish(Crowd *crowd);
void wire_crowd_leave(Crowd *crowd);
