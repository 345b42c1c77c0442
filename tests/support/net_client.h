// SPDX-License-Identifier: MIT
// A blocking client for tests of the network: sockets, frames, and nothing else. Every wait ends
// after PATIENCE_MS.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Connects to what listener_address says; -1 when refused.
int net_client_connect(const char *address);

// The same with a small receive buffer, so that the server's bytes soon pile up.
int net_client_connect_narrow(const char *address);

// false: the connection is gone.
bool net_client_write(int fd, const void *bytes, size_t count);
bool net_client_send_frame(int fd, const void *body, size_t body_bytes);

// Reads exactly so much; false at the end of the stream.
bool net_client_read(int fd, void *bytes, size_t count);

// Reads one frame of at most `capacity` bytes into `body`; its length, or -1 at the end of the
// stream.
long net_client_receive_frame(int fd, void *body, size_t capacity);
