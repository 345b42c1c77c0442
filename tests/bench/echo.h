// SPDX-License-Identifier: MIT
// The peer of the server on the wire: the least that a libuv server with a worker thread can do. A
// frame comes in on the loop, is handed to the worker, which copies an answer and either writes it
// itself, or wakes the loop (uv_async_send), which writes it. The first four bytes of a request's
// body, big-endian, say how long the body of its answer is to be.
#pragma once

#include "bench/process.h"

typedef enum EchoKind {
    ECHO_WORKER, // the worker writes
    ECHO_LOOP,   // the worker wakes the loop, which writes
    ECHO_ALONE   // there is no worker: the loop answers
} EchoKind;

enum { ECHO_REPLY_BYTES_MAX = 1 << 20 };

// In a process of its own.
Process echo_start(EchoKind kind);
