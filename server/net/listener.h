// SPDX-License-Identifier: MIT
// Sockets that accept connections: TCP (host:port, [v6]:port; port 0 lets the system choose), Unix
// (unix:PATH, mode 0600; a stale socket file is taken over, a live one is refused), and fd:N, a
// socket that whoever started the process has opened (systemd's socket activation: the first is
// fd:3); its file, if it has one, is not ours to remove. Loop thread.
#pragma once

#include "base/status.h"
#include "net/connection.h"

typedef struct Listener Listener;

// Checks the text alone, or the socket behind fd:N. *is_loopback is true for Unix sockets and
// loopback addresses.
Status listener_check(const char *address, bool *is_loopback, Error *error);

// Who gets what is accepted.
typedef struct ListenerDef {
    uv_loop_t *loop;
    const Report *report;
    // the socket, closed on exec, is the taker's
    void (*accepted)(void *context, int fd, const char *peer);
    // a socket that cannot be served, as it took the last descriptor; the taker counts it and
    // closes it
    void (*refused)(void *context, int fd, const char *peer);
    void *context;
} ListenerDef;

// Opens and listens; `def` is copied.
Status listener_open_for(const ListenerDef *def, const char *address, Listener **listener,
                         Error *error);

// The same, for connections that live in `net`.
Status listener_open(Net *net, const char *address, Listener **listener, Error *error);

// The address it really listens on, as a client would give it: 127.0.0.1:40123, unix:/run/x.
const char *listener_address(const Listener *listener);

// Stops accepting; removes a Unix socket's file; frees the listener later. Idempotent through the
// caller's pointer.
void listener_close(Listener *listener);
