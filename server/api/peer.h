// SPDX-License-Identifier: MIT
// The other end of a connection, as the protocol sees it: something that frames come from and bytes
// go to. This room knows no socket; whoever owns them hands in the calls (server/peers.c joins them
// with net's connections, whose header says what each does and on which thread).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEER_HEADER_BYTES = 4 };    // in front of every message
enum { PEER_SHORT_BYTES = 65536 }; // longer frames are worked on by lanes alone

typedef struct PeerFigures {
    uint64_t connection_count, slow_count, bytes_in, bytes_out;
} PeerFigures;

typedef struct PeerCalls {
    // any thread
    void (*send)(void *handle, const uint8_t *bytes, size_t count);
    void (*request_end)(void *handle, uint32_t count);
    size_t (*unsent)(const void *handle); // bytes that wait to be written
    void (*header)(uint8_t header[PEER_HEADER_BYTES], size_t body_bytes);

    // loop thread
    void (*request_begin)(void *handle);
    void (*retain)(void *handle);
    void (*release)(void *handle);
    void (*close)(void *handle);
    void (*close_after_write)(void *handle);
    void (*reject)(void *handle, const char *why);
    void (*authenticate)(void *handle);
    void (*set_data)(void *handle, void *data);
    void *(*data)(const void *handle);
    bool (*is_viewer)(const void *handle); // may call what changes nothing, and nothing else
    bool (*user)(const void *handle, uint32_t *uid); // false: it comes by no Unix socket
    const char *(*name)(const void *handle);
    uint64_t (*number)(const void *handle);
    void (*stay_fresh)(void *handle);  // the system, too, lets few bytes wait from now on
    void *(*keep_frame)(void *handle); // in api_peer_frame, of more than PEER_SHORT_BYTES …
    bool (*go_on)(void *handle);       // … and later, once
    PeerFigures (*figures)(void *context);
} PeerCalls;

// One peer; copied by value. handle NULL: none.
typedef struct Peer {
    const PeerCalls *calls;
    void *handle;
} Peer;

static inline bool peer_is_none(Peer peer) {
    return peer.handle == NULL;
}
