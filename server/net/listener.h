// SPDX-License-Identifier: MIT
// Sockets that accept connections: TCP (host:port, [v6]:port; port 0 lets the system choose) and
// Unix (unix:PATH, mode 0600; a stale socket file is taken over, a live one is refused). Loop
// thread.
#pragma once

#include "base/status.h"
#include "net/connection.h"

typedef struct Listener Listener;

// Checks the text alone. *is_loopback is true for Unix sockets and loopback addresses.
Status listener_check(const char *address, bool *is_loopback, Error *error);

// Opens and listens. Connections live in `net`.
Status listener_open(Net *net, const char *address, Listener **listener, Error *error);

// The address it really listens on, as a client would give it: 127.0.0.1:40123, unix:/run/x.
const char *listener_address(const Listener *listener);

// Stops accepting; removes a Unix socket's file; frees the listener later. Idempotent through the
// caller's pointer.
void listener_close(Listener *listener);
