// SPDX-License-Identifier: MIT
#include "http/http.h"

#include "http/page.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_BYTES_MAX = 8192,   // of a request, with the longest token
    TOKEN_BYTES_MAX = 255,   // as the server's options allow
    REQUEST_TIMEOUT_S = 5,   // for a whole request, and for taking the answer
    IDLE_TIMEOUT_S = 90,     // beyond the usual minute between two scrapes
    DESCRIPTORS_EXTRA = 16,  // the library's own: a pipe, a socket of its system state
    LEAVING_MAX = 64,        // connections being closed in favour of new ones
    WRITE_BYTES_MAX = 16384, // one write
    REPLY_HEAD_BYTES = 512
};

typedef struct Visitor Visitor;

// One connection.
struct Visitor {
    Http *http;
    struct lws *wsi;
    Visitor *previous, *next; // by when they asked last, or came: the first is the idlest
    char *body; // LWS_PRE bytes of room, then the text; owned; NULL: nothing is being sent
    size_t body_bytes, sent_bytes;
    bool is_last;    // closes after the answer
    bool is_leaving; // being closed: no longer in the list
};

struct Http {
    HttpDef def;
    struct lws_context *context; // NULL once the library has let go of everything
    struct lws_vhost *vhost;
    Visitor *first, *last;
    uint32_t visitor_count;
};

// ---- visitors

static void link_last(Visitor *visitor) {
    Http *http = visitor->http;
    visitor->next = NULL;
    visitor->previous = http->last;
    *(http->last == NULL ? &http->first : &http->last->next) = visitor;
    http->last = visitor;
}

static void unlink_visitor(Visitor *visitor) {
    Http *http = visitor->http;
    *(visitor->previous == NULL ? &http->first : &visitor->previous->next) = visitor->next;
    *(visitor->next == NULL ? &http->last : &visitor->next->previous) = visitor->previous;
}

static void forget(Visitor *visitor) {
    if (!visitor->is_leaving) {
        unlink_visitor(visitor);
    }
    visitor->http->visitor_count--;
    free(visitor->body);
    free(visitor);
}

// ---- answers

static size_t header_text(struct lws *wsi, enum lws_token_indexes token, char *text, int capacity) {
    int bytes = lws_hdr_copy(wsi, text, capacity, token);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0 ? (size_t)bytes : 0;
}

// Makes the body. The status of HTTP; 0: memory ended.
static unsigned compose(Visitor *visitor, const char *path) {
    char authorization[TOKEN_BYTES_MAX + sizeof("Bearer ")];
    struct lws *wsi = visitor->wsi;
    header_text(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, authorization, sizeof(authorization));
    PageRequest request = {.path = path,
                           .reads = lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0 ||
                                    lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0,
                           .authorization = authorization};
    size_t bytes = 0;
    FILE *out = open_memstream(&visitor->body, &bytes);
    if (out == NULL) {
        return 0;
    }
    fprintf(out, "%*s", LWS_PRE, ""); // the library writes there
    unsigned status = page_print(&visitor->http->def, &request, out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        return 0;
    }
    visitor->body_bytes = bytes - LWS_PRE;
    visitor->sent_bytes = 0;
    visitor->is_last = !request.reads; // what follows the head is not read
    return status;
}

static bool send_head(const Visitor *visitor, unsigned status) {
    unsigned char head[LWS_PRE + REPLY_HEAD_BYTES];
    unsigned char *start = head + LWS_PRE, *end = head + sizeof(head), *at = start;
    struct lws *wsi = visitor->wsi;
    static const unsigned char methods[] = "GET, HEAD", scheme[] = "Bearer";
    bool failed =
        lws_add_http_common_headers(wsi, status, "text/plain; version=0.0.4; charset=utf-8",
                                    visitor->body_bytes, &at, end) != 0;
    if (status == HTTP_STATUS_METHOD_NOT_ALLOWED) {
        failed = failed || lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_ALLOW, methods,
                                                        sizeof(methods) - 1, &at, end) != 0;
    }
    if (status == HTTP_STATUS_UNAUTHORIZED) {
        failed = failed || lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_WWW_AUTHENTICATE,
                                                        scheme, sizeof(scheme) - 1, &at, end) != 0;
    }
    return !failed && lws_finalize_write_http_header(wsi, start, &at, end) == 0;
}

// What the library's callback returns: 0 to go on, -1 to close.
static int end_transaction(Visitor *visitor) {
    free(visitor->body);
    visitor->body = NULL;
    return visitor->is_last || lws_http_transaction_completed(visitor->wsi) != 0 ? -1 : 0;
}

static int answer(Visitor *visitor, const char *path) {
    if (visitor->body != NULL) {
        return -1; // a second request into the first one's answer
    }
    if (!visitor->is_leaving) {
        unlink_visitor(visitor);
        link_last(visitor);
    }
    unsigned status = compose(visitor, path);
    if (status == 0 || !send_head(visitor, status)) {
        return -1;
    }
    if (lws_hdr_total_length(visitor->wsi, WSI_TOKEN_HEAD_URI) > 0) {
        return end_transaction(visitor);
    }
    lws_set_timeout(visitor->wsi, PENDING_TIMEOUT_HTTP_CONTENT, REQUEST_TIMEOUT_S);
    lws_callback_on_writable(visitor->wsi);
    return 0;
}

static int write_body(Visitor *visitor) {
    if (visitor->body == NULL) {
        return 0;
    }
    size_t left = visitor->body_bytes - visitor->sent_bytes;
    size_t bytes = left < WRITE_BYTES_MAX ? left : WRITE_BYTES_MAX;
    bool is_final = bytes == left;
    unsigned char *text = (unsigned char *)visitor->body + LWS_PRE + visitor->sent_bytes;
    // takes all: what the socket does not, the library keeps and writes first
    if (lws_write(visitor->wsi, text, bytes, is_final ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        0) {
        return -1;
    }
    visitor->sent_bytes += bytes;
    if (is_final) {
        return end_transaction(visitor);
    }
    lws_callback_on_writable(visitor->wsi);
    return 0;
}

// What the library calls for everything that happens. Its own default does the rest.
static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t length) {
    Visitor *visitor = wsi == NULL ? NULL : lws_get_opaque_user_data(wsi);
    if (visitor == NULL) {
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return answer(visitor, in);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return -1; // to nothing but HTTP/1.1 so far
    case LWS_CALLBACK_HTTP_BODY:
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return 0; // answered by the head alone
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_body(visitor);
    case LWS_CALLBACK_WSI_DESTROY:
        lws_set_opaque_user_data(wsi, NULL);
        forget(visitor);
        return 0;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

// The first speaks HTTP; one of WebSocket would stand behind it.
static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_event},
    {0},
};

// ---- life

Status http_create(Http **result, const HttpDef *def, Error *error) {
    Http *http = calloc(1, sizeof(*http));
    if (http == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "http", "No memory for the pages.");
    }
    *result = http;
    http->def = *def;
    void *loops[] = {def->loop};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .foreign_loops = loops,
        .pcontext = &http->context,
        .server_string = "moreau",
        .vhost_name = "moreau",
        .fd_limit_per_thread = def->connections_max + LEAVING_MAX + DESCRIPTORS_EXTRA,
        .max_http_header_data = HEAD_BYTES_MAX,
        .max_http_header_pool = (unsigned short)(def->connections_max + LEAVING_MAX),
        .timeout_secs = REQUEST_TIMEOUT_S,
        .timeout_secs_ah_idle = REQUEST_TIMEOUT_S,
        .keepalive_timeout = IDLE_TIMEOUT_S,
        .gid = -1,
        .uid = -1,
    };
    lws_set_log_level(0, NULL); // what is worth a line we say ourselves
    http->context = lws_create_context(&info);
    http->vhost = http->context == NULL ? NULL : lws_create_vhost(http->context, &info);
    if (http->vhost == NULL) {
        return error_set(error, STATUS_UNAVAILABLE, "http",
                         "libwebsockets does not start: is its plugin for libuv installed (Debian: "
                         "libwebsockets-evlib-uv)?");
    }
    return STATUS_OK;
}

// Its memory goes a little later, so visitor_count may pass the limit by what is accepted until
// then.
static void evict_idlest(Http *http) {
    Visitor *idlest = http->first;
    if (idlest != NULL) {
        unlink_visitor(idlest);
        idlest->is_leaving = true;
        lws_set_timeout(idlest->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
    }
}

void http_accept(Http *http, int fd) {
    if (http->visitor_count >= http->def.connections_max) {
        evict_idlest(http);
    }
    Visitor *visitor = http->visitor_count >= http->def.connections_max + LEAVING_MAX
                           ? NULL
                           : calloc(1, sizeof(*visitor));
    if (visitor == NULL) {
        close(fd);
        return;
    }
    visitor->http = http;
    visitor->wsi = lws_adopt_socket_vhost(http->vhost, fd); // closes it when it fails
    if (visitor->wsi == NULL) {
        free(visitor);
        return;
    }
    lws_set_opaque_user_data(visitor->wsi, visitor);
    link_last(visitor);
    http->visitor_count++;
}

uint32_t http_connection_count(const Http *http) {
    return http->visitor_count;
}

void http_close(Http *http) {
    lws_context_destroy(http->context);
}

void http_destroy(Http *http) {
    if (http->context != NULL) {
        lws_context_destroy(http->context); // what it could not free while its handles were closing
    }
    free(http);
}
