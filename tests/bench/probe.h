// SPDX-License-Identifier: MIT
// The client's side of the benches on the wire: a socket and frames that were packed beforehand, so
// that what is timed is the server and not a client library. And the worlds they ask for.
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Probe {
    int fd; // blocking
    uint8_t *input;
    size_t input_bytes;
} Probe;

typedef struct ProbeFrame {
    uint8_t *bytes; // header and body
    size_t count;
} ProbeFrame;

enum { PROBE_INPUT_BYTES = 1 << 21, PROBE_HEADER_BYTES = 4 };

// Connects; says hello when `greets`.
Probe probe_open(const char *address, int greets);
void probe_close(Probe *probe);

void probe_send(const Probe *probe, const uint8_t *bytes, size_t count);

// Reads once, and drops the whole frames that are then there. Returns how many.
size_t probe_receive(Probe *probe);

// Sends one frame and waits for one; the body is borrowed until the next call.
size_t probe_exchange(Probe *probe, const ProbeFrame *request, const uint8_t **body);

// A request as a frame.
ProbeFrame probe_frame(const Moreau__V1__Request *request);

// Frames that ask for one step, for one of many worlds, for all bodies' states, and for an echo of
// so many body bytes.
ProbeFrame probe_step_frame(uint64_t id, uint64_t world, bool reports);
ProbeFrame probe_batch_frame(size_t count, const uint64_t *worlds, bool reports);
ProbeFrame probe_get_frame(uint64_t world);
ProbeFrame probe_echo_frame(size_t count, size_t reply_body_bytes);

// The same by a client of the caller's.
typedef struct MoreauClient MoreauClient;
uint64_t probe_world_of(MoreauClient *client, size_t count);

// Makes a world of `count` (0: an empty one) dynamic spheres that touch nothing; it lives as long
// as the server.
uint64_t probe_world(const char *address, size_t count);
