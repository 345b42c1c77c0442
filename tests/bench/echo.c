// SPDX-License-Identifier: MIT
#include "bench/echo.h"

#include "bench/bench.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { HEADER_BYTES = 4, INPUT_BYTES = 65536, BACKLOG = 16 };

typedef struct Peer {
    union {
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle;
    int fd;
    uint8_t input[INPUT_BYTES];
    size_t input_bytes;
    uint8_t *reply;     // header and body, written by the worker
    size_t reply_bytes; // under the mutex
} Peer;

// One exchange is under way at a time: the clients of the bench wait for every answer.
typedef struct Echo {
    EchoKind kind;
    uv_loop_t loop;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
    uv_async_t async;
    uv_mutex_t mutex;
    uv_cond_t work_ready;
    Peer *waiting; // for the worker; under the mutex
    Peer *done;    // for the loop; under the mutex
    uint8_t *source;
} Echo;

static uint32_t read_length(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// As a blocking write would, on a socket that is not. Touches nothing of the peer: once the last
// byte is out, the next request may come.
static void write_reply(int fd, const uint8_t *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        ssize_t part = send(fd, bytes + sent, count - sent, MSG_NOSIGNAL);
        if (part >= 0) {
            sent += (size_t)part;
            continue;
        }
        struct pollfd entry = {fd, POLLOUT, 0};
        if (poll(&entry, 1, -1) < 0 || (entry.revents & (POLLERR | POLLHUP)) != 0) {
            return;
        }
    }
}

static void make_reply(const Echo *echo, uint8_t *reply, size_t count) {
    uint32_t header = htonl((uint32_t)(count - HEADER_BYTES));
    memcpy(reply, &header, HEADER_BYTES);
    memcpy(reply + HEADER_BYTES, echo->source, count - HEADER_BYTES);
}

static void worker_main(void *argument) {
    Echo *echo = argument;
    for (;;) {
        uv_mutex_lock(&echo->mutex);
        while (echo->waiting == NULL) {
            uv_cond_wait(&echo->work_ready, &echo->mutex);
        }
        Peer *peer = echo->waiting;
        size_t count = peer->reply_bytes;
        echo->waiting = NULL;
        uv_mutex_unlock(&echo->mutex);

        make_reply(echo, peer->reply, count);
        if (echo->kind == ECHO_WORKER) {
            write_reply(peer->fd, peer->reply, count);
            continue;
        }
        uv_mutex_lock(&echo->mutex);
        echo->done = peer;
        uv_mutex_unlock(&echo->mutex);
        uv_async_send(&echo->async);
    }
}

static void on_async(uv_async_t *async) {
    Echo *echo = async->data;
    uv_mutex_lock(&echo->mutex);
    Peer *peer = echo->done;
    echo->done = NULL;
    uv_mutex_unlock(&echo->mutex);
    if (peer != NULL) {
        write_reply(peer->fd, peer->reply, peer->reply_bytes);
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    Peer *peer = (Peer *)(void *)handle;
    buffer->base = (char *)peer->input + peer->input_bytes;
    buffer->len = sizeof(peer->input) - peer->input_bytes;
}

static void on_closed(uv_handle_t *handle) {
    Peer *peer = (Peer *)(void *)handle;
    free(peer->reply);
    free(peer);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    (void)buffer;
    Peer *peer = (Peer *)(void *)stream;
    Echo *echo = stream->loop->data;
    if (count < 0) {
        uv_close((uv_handle_t *)stream, on_closed);
        return;
    }
    peer->input_bytes += (size_t)count;
    if (peer->input_bytes < HEADER_BYTES ||
        peer->input_bytes < HEADER_BYTES + read_length(peer->input)) {
        return;
    }
    uint32_t size = read_length(peer->input + HEADER_BYTES);
    size = size < ECHO_REPLY_BYTES_MAX ? size : ECHO_REPLY_BYTES_MAX;
    peer->input_bytes = 0;
    if (echo->kind == ECHO_ALONE) {
        make_reply(echo, peer->reply, HEADER_BYTES + size);
        write_reply(peer->fd, peer->reply, HEADER_BYTES + size);
        return;
    }
    uv_mutex_lock(&echo->mutex);
    peer->reply_bytes = HEADER_BYTES + size;
    echo->waiting = peer;
    uv_cond_signal(&echo->work_ready);
    uv_mutex_unlock(&echo->mutex);
}

static void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) {
        return;
    }
    Peer *peer = bench_memory(1, sizeof(*peer));
    peer->reply = bench_memory(HEADER_BYTES + ECHO_REPLY_BYTES_MAX, 1);
    if (listener->type == UV_TCP) {
        uv_tcp_init(listener->loop, &peer->handle.tcp);
    } else {
        uv_pipe_init(listener->loop, &peer->handle.pipe, 0);
    }
    uv_accept(listener, &peer->handle.stream);
    if (listener->type == UV_TCP) {
        uv_tcp_nodelay(&peer->handle.tcp, 1);
    }
    uv_fileno((uv_handle_t *)&peer->handle.stream, &peer->fd);
    uv_read_start(&peer->handle.stream, on_alloc, on_read);
}

static void listen_both(Echo *echo, const char *path, int *port) {
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(&echo->loop, &echo->tcp);
    uv_pipe_init(&echo->loop, &echo->pipe, 0);
    int length = sizeof(address);
    if (uv_tcp_bind(&echo->tcp, (const struct sockaddr *)&address, 0) != 0 ||
        uv_pipe_bind(&echo->pipe, path) != 0 ||
        uv_listen((uv_stream_t *)&echo->tcp, BACKLOG, on_connection) != 0 ||
        uv_listen((uv_stream_t *)&echo->pipe, BACKLOG, on_connection) != 0 ||
        uv_tcp_getsockname(&echo->tcp, (struct sockaddr *)&address, &length) != 0) {
        bench_fail("the echo server cannot listen");
    }
    *port = ntohs(address.sin_port);
}

static void on_signal(uv_signal_t *signal, int number) {
    (void)number;
    _exit(unlink(signal->data) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static _Noreturn void run_echo(EchoKind kind, char *path, int ready_fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Echo *echo = bench_memory(1, sizeof(*echo));
    echo->kind = kind;
    echo->source = bench_memory(ECHO_REPLY_BYTES_MAX, 1);
    memset(echo->source, 1, ECHO_REPLY_BYTES_MAX);
    uv_loop_init(&echo->loop);
    echo->loop.data = echo;
    uv_mutex_init(&echo->mutex);
    uv_cond_init(&echo->work_ready);
    uv_async_init(&echo->loop, &echo->async, on_async);
    echo->async.data = echo;
    uv_signal_t ending;
    uv_signal_init(&echo->loop, &ending);
    ending.data = path;
    uv_signal_start(&ending, on_signal, SIGTERM);
    int port;
    listen_both(echo, path, &port);
    uv_thread_t worker;
    if (uv_thread_create(&worker, worker_main, echo) != 0 ||
        write(ready_fd, &port, sizeof(port)) != sizeof(port)) {
        bench_fail("the echo server cannot start");
    }
    uv_run(&echo->loop, UV_RUN_DEFAULT);
    _exit(EXIT_FAILURE);
}

Process echo_start(EchoKind kind) {
    Process process = {0};
    char path[ADDRESS_BYTES - 8];
    snprintf(path, sizeof(path), "/tmp/moreau-echo-%ld-%d.sock", (long)getpid(), (int)kind);
    int ends[2], port = 0;
    if (pipe(ends) != 0 || (process.pid = fork()) < 0) {
        bench_fail("cannot start a process");
    }
    if (process.pid == 0) {
        close(ends[0]);
        run_echo(kind, path, ends[1]);
    }
    close(ends[1]);
    if (read(ends[0], &port, sizeof(port)) != sizeof(port)) {
        bench_fail("the echo server did not start");
    }
    close(ends[0]);
    snprintf(process.tcp, sizeof(process.tcp), "127.0.0.1:%d", port);
    snprintf(process.local, sizeof(process.local), "unix:%s", path);
    return process;
}
