// SPDX-License-Identifier: MIT
#include "http/viewer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 4,      // of a frame: its length, big-endian
    READ_BYTES = 32768,    // one read of the pair
    WAITING_BYTES = 65536, // that the pair, and the system behind the browser's socket, may hold:
                           // what waits elsewhere gets old
};

struct Viewer {
    ViewerDef def;
    uv_poll_t poll; // of the pair's near end
    int fd;
    int events;      // that are watched for
    bool is_ended;   // the far end is closed, and everything of it is sent
    bool is_writing; // libwebsockets will ask for bytes

    // to the server: one message, with its header
    uint8_t *message; // owned; NULL: none
    size_t used, sent, capacity;
    bool is_whole;

    // to the browser
    size_t head_bytes; // of the header of the frame that begins
    uint8_t head[HEADER_BYTES];
    size_t left;       // bytes of the frame under way; 0: another one begins
    bool is_begun;     // some of it is sent
    size_t begin, end; // of what was read and waits
    uint8_t buffer[LWS_PRE + READ_BYTES];
};

static void on_poll(uv_poll_t *poll, int status, int events);

// The near end is watched for what is waited for: bytes, unless libwebsockets has to write some
// first, and room, where a message waits.
static void watch(Viewer *viewer) {
    int events = (viewer->is_writing || viewer->is_ended ? 0 : UV_READABLE) |
                 (viewer->is_whole ? UV_WRITABLE : 0);
    if (events != viewer->events) {
        viewer->events = events;
        if (events == 0) {
            uv_poll_stop(&viewer->poll);
        } else {
            uv_poll_start(&viewer->poll, events, on_poll);
        }
    }
}

static void ask_to_write(Viewer *viewer) {
    viewer->is_writing = true;
    lws_callback_on_writable(viewer->def.wsi);
}

// ---- from the browser

// Sends what the pair takes of the message that is whole.
static void send_message(Viewer *viewer) {
    ssize_t sent = send(viewer->fd, viewer->message + viewer->sent, viewer->used - viewer->sent,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        sent = (ssize_t)(viewer->used - viewer->sent); // nobody reads it; why is still to be read
    }
    viewer->sent += sent > 0 ? (size_t)sent : 0;
    bool is_sent = viewer->sent == viewer->used;
    if (is_sent) {
        viewer->used = viewer->sent = 0;
    }
    if (is_sent == viewer->is_whole) {
        viewer->is_whole = !is_sent;
        lws_rx_flow_control(viewer->def.wsi, is_sent);
    }
}

static int refuse(Viewer *viewer, enum lws_close_status status, const char *why) {
    char text[124]; // what a close frame holds
    int bytes = snprintf(text, sizeof(text), "%s", why);
    lws_close_reason(viewer->def.wsi, status, (unsigned char *)text, (size_t)bytes);
    return -1;
}

static bool reserve(Viewer *viewer, size_t bytes) {
    if (bytes > viewer->capacity) {
        size_t capacity = bytes < 1024 ? 1024 : 2 * bytes;
        uint8_t *message = realloc(viewer->message, capacity);
        if (message == NULL) {
            return false;
        }
        viewer->message = message;
        viewer->capacity = capacity;
    }
    return true;
}

int viewer_receive(Viewer *viewer, const void *bytes, size_t count) {
    struct lws *wsi = viewer->def.wsi;
    if (viewer->is_whole) {
        return refuse(viewer, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION,
                      "A message came where none was read.");
    }
    if (!lws_frame_is_binary(wsi)) {
        return refuse(viewer, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "Messages are binary.");
    }
    viewer->used = viewer->used == 0 ? HEADER_BYTES : viewer->used;
    if (viewer->used - HEADER_BYTES + count > VIEWER_MESSAGE_BYTES_MAX) {
        return refuse(viewer, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE,
                      "A viewer's messages have at most 65536 bytes.");
    }
    if (!reserve(viewer, viewer->used + count)) {
        return refuse(viewer, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION,
                      "Memory ended while receiving.");
    }
    if (count > 0) {
        memcpy(viewer->message + viewer->used, bytes, count);
    }
    viewer->used += count;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) {
        return 0;
    }
    size_t body_bytes = viewer->used - HEADER_BYTES;
    for (int i = 0; i < HEADER_BYTES; i++) {
        viewer->message[i] = (uint8_t)(body_bytes >> (8 * (HEADER_BYTES - 1 - i)));
    }
    send_message(viewer);
    watch(viewer);
    return 0;
}

// ---- to the browser

// Sends a piece of a frame as a piece of a message; the bytes before it are the library's to use.
static bool send_piece(Viewer *viewer, uint8_t *bytes, size_t count) {
    int kind = (int)(viewer->is_begun ? LWS_WRITE_CONTINUATION : LWS_WRITE_BINARY);
    bool is_last = count == viewer->left;
    viewer->is_begun = !is_last;
    viewer->left -= count;
    // takes all: what the socket does not, the library keeps and writes first
    return lws_write(viewer->def.wsi, bytes, count,
                     (enum lws_write_protocol)(kind | (is_last ? 0 : (int)LWS_WRITE_NO_FIN))) >= 0;
}

// Reads a header's bytes; how many of those given.
static size_t read_header(Viewer *viewer, const uint8_t *bytes, size_t count) {
    size_t wanted = HEADER_BYTES - viewer->head_bytes, taken = count < wanted ? count : wanted;
    memcpy(viewer->head + viewer->head_bytes, bytes, taken);
    viewer->head_bytes += taken;
    if (viewer->head_bytes == HEADER_BYTES) {
        viewer->head_bytes = 0;
        for (int i = 0; i < HEADER_BYTES; i++) {
            viewer->left = viewer->left << 8 | viewer->head[i];
        }
    }
    return taken;
}

// The next piece of what was read. One for each time that the library asks: what its socket has not
// taken of a piece it sends first, and then asks again; a second piece in its way would be torn.
static bool send_next(Viewer *viewer) {
    uint8_t *bytes = viewer->buffer + LWS_PRE;
    while (viewer->left == 0 && viewer->begin < viewer->end) {
        viewer->begin += read_header(viewer, bytes + viewer->begin, viewer->end - viewer->begin);
    }
    size_t count = viewer->end - viewer->begin;
    if (count == 0) {
        return true;
    }
    count = count < viewer->left ? count : viewer->left;
    uint8_t *piece = bytes + viewer->begin;
    viewer->begin += count;
    return send_piece(viewer, piece, count);
}

int viewer_write(Viewer *viewer) {
    if (viewer->is_ended) {
        return -1;
    }
    viewer->is_writing = false;
    bool has_read_all = false;
    if (viewer->begin == viewer->end) {
        ssize_t count = recv(viewer->fd, viewer->buffer + LWS_PRE, READ_BYTES, MSG_DONTWAIT);
        bool is_none = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
        viewer->is_ended = count <= 0 && !is_none;
        has_read_all = count < READ_BYTES;
        viewer->begin = 0;
        viewer->end = count > 0 ? (size_t)count : 0;
    }
    if (!send_next(viewer)) {
        return -1;
    }
    if (viewer->is_ended || viewer->begin < viewer->end || !has_read_all) {
        ask_to_write(viewer); // for the end behind what the library has kept, or for more
    }
    watch(viewer);
    return 0;
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    Viewer *viewer = poll->data;
    if (status < 0 || (events & UV_READABLE) != 0) {
        ask_to_write(viewer);
    }
    if ((events & UV_WRITABLE) != 0 && viewer->is_whole) {
        send_message(viewer);
    }
    watch(viewer);
}

// ---- life

static void on_poll_closed(uv_handle_t *handle) {
    Viewer *viewer = handle->data;
    free(viewer->message);
    free(viewer);
}

Viewer *viewer_create(const ViewerDef *def) {
    int pair[2], bytes = WAITING_BYTES;
    Viewer *viewer = calloc(1, sizeof(*viewer));
    if (viewer == NULL ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) {
        free(viewer);
        return NULL;
    }
    if (uv_poll_init(def->loop, &viewer->poll, pair[0]) != 0) {
        close(pair[0]);
        close(pair[1]);
        free(viewer);
        return NULL;
    }
    viewer->poll.data = viewer;
    viewer->def = *def;
    viewer->fd = pair[0];
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    setsockopt(lws_get_socket_fd(def->wsi), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
    def->open(def->context, pair[1], def->peer);
    watch(viewer);
    return viewer;
}

void viewer_destroy(Viewer *viewer) {
    uv_close((uv_handle_t *)&viewer->poll, on_poll_closed);
    close(viewer->fd); // after uv_close, which still takes it out of the set that the loop watches
}
