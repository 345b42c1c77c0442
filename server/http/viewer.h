// SPDX-License-Identifier: MIT
// A viewer: a WebSocket whose messages are the frames of the protocol, without their lengths. It is
// joined to the rest of the server by a pair of sockets, of which the other end is a connection
// like any other: its requests, limits, deadlines and backpressure are net's and api's, which know
// nothing of WebSockets.
//
//   browser ──message──► libwebsockets ──► length + message ──► pair ──► net, api
//   browser ◄──message── libwebsockets ◄── cut at the lengths ◄── pair ◄── net, api
//
// Backpressure goes both ways: the pair is read when the browser's socket takes bytes, and the
// browser is read when the pair does. So who does not read is cut by net, as any client is.
//
// Messages are binary, and short: of a viewer's calls none needs more. Loop thread.
#pragma once

#include <libwebsockets.h>
#include <uv.h>

typedef struct Viewer Viewer;

enum { VIEWER_MESSAGE_BYTES_MAX = 65536 };

// Hands the far end of the pair to its owner.
typedef struct ViewerDef {
    uv_loop_t *loop;
    struct lws *wsi;
    void (*open)(void *context, int fd, const char *peer); // also takes it over when it fails
    void *context;
    const char *peer;
} ViewerDef;

// NULL: descriptors or memory ended.
Viewer *viewer_create(const ViewerDef *def);

// The connection is gone; the memory goes when the loop has run.
void viewer_destroy(Viewer *viewer);

// What the library tells of its connection. Each returns what its callback is to return: 0 to go
// on, -1 to close.
int viewer_receive(Viewer *viewer, const void *bytes, size_t count);
int viewer_write(Viewer *viewer);
