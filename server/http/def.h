// SPDX-License-Identifier: MIT
// What the pages are given: who they are for, what they show, and whom they call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

typedef struct HttpDef {
    uv_loop_t *loop;
    bool guards_metrics; // /metrics is shown to whoever may have it
    bool demands_token;  // of viewers
    // who shows this may see /metrics; may watch
    bool (*may_measure)(void *context, const char *token);
    bool (*may_watch)(void *context, const char *token);
    const char *page; // at /, HTML; NULL: none
    // files in PEM, which net/tls has judged already; certificate NULL: plain HTTP. client_ca NULL:
    // browsers need none
    struct {
        const char *certificate, *key, *client_ca;
    } tls;
    const char *const *name; // [name_count] by which it may be asked, too (host.h)
    size_t name_count;
    bool takes_any_host; // no browser comes this way
    uint32_t connections_max, viewers_max;
    bool (*is_ready)(void *context);
    void (*print_metrics)(void *context, FILE *out); // prints to memory
    // takes over the socket behind which a viewer's frames come and go
    void (*open_viewer)(void *context, int fd, const char *peer);
    void *context;
} HttpDef;
