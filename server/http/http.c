// SPDX-License-Identifier: MIT
#include "http/http.h"

#include "http/handshake.h"
#include "http/page.h"
#include "http/viewer.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_BYTES_MAX = 32768, // of a request; above it the library ends the connection …
    FIELD_BYTES_MAX =
        8192, // … of the fields that it knows, with the longest token; else it is told
    TOKEN_BYTES_MAX = 255,   // as the server's options allow
    REQUEST_TIMEOUT_S = 5,   // for a whole request, and for taking the answer
    IDLE_TIMEOUT_S = 90,     // beyond the usual minute between two scrapes
    DESCRIPTORS_EXTRA = 16,  // the library's own: a pipe, a socket of its system state
    LEAVING_MAX = 64,        // connections being closed in favour of new ones
    WRITE_BYTES_MAX = 16384, // one write
    REPLY_HEAD_BYTES = 1024,
    PEER_BYTES = 128,
    VIEWER_RECEIVE_BYTES = 4096, // a message comes in such pieces
    PING_S = 20,                 // a viewer that says nothing is probed after so long …
    HANG_UP_S = 30               // … and given up after so long
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
    bool is_leaving; // being closed, or a viewer: no longer in the list
    bool is_viewer;
    Viewer *viewer; // owned; NULL: it speaks HTTP
    char peer[PEER_BYTES];
};

struct Http {
    HttpDef def;
    struct lws_context *context; // NULL once the library has let go of everything
    struct lws_vhost *vhost;
    Visitor *first, *last;
    uint32_t visitor_count, viewer_count;
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
    if (visitor->viewer != NULL) {
        viewer_destroy(visitor->viewer);
    }
    (*(visitor->is_viewer ? &visitor->http->viewer_count : &visitor->http->visitor_count))--;
    free(visitor->body);
    free(visitor);
}

// ---- answers

static size_t header_text(struct lws *wsi, enum lws_token_indexes token, char *text, int capacity) {
    int bytes = lws_hdr_copy(wsi, text, capacity, token);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0 ? (size_t)bytes : 0;
}

// (Those that it does not know it keeps, too, but does not tell how long they are.)
static bool is_head_too_long(struct lws *wsi) {
    int bytes = 0;
    for (int token = 0; token < WSI_TOKEN_COUNT; token++) {
        bytes += lws_hdr_total_length(wsi, (enum lws_token_indexes)token);
    }
    return bytes > FIELD_BYTES_MAX;
}

static unsigned print_page(Visitor *visitor, const char *path, FILE *out) {
    char authorization[TOKEN_BYTES_MAX + sizeof("Bearer ")], host[HANDSHAKE_FIELD_BYTES];
    struct lws *wsi = visitor->wsi;
    header_text(wsi, WSI_TOKEN_HOST, host, sizeof(host));
    header_text(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, authorization, sizeof(authorization));
    PageRequest request = {.path = path,
                           .reads = lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0 ||
                                    lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0,
                           .authorization = authorization,
                           .host = host,
                           .is_too_long = is_head_too_long(wsi)};
    visitor->is_last = !request.reads || request.is_too_long; // what follows the head is not read
    return page_print(&visitor->http->def, &request, out);
}

// What is said to who may not watch; 0: he may.
static unsigned print_refusal(Visitor *visitor, const char *path, FILE *out) {
    const Http *http = visitor->http;
    char protocols[HANDSHAKE_FIELD_BYTES], origin[HANDSHAKE_FIELD_BYTES],
        host[HANDSHAKE_FIELD_BYTES];
    struct lws *wsi = visitor->wsi;
    header_text(wsi, WSI_TOKEN_PROTOCOL, protocols, sizeof(protocols));
    header_text(wsi, WSI_TOKEN_ORIGIN, origin, sizeof(origin));
    header_text(wsi, WSI_TOKEN_HOST, host, sizeof(host));
    Handshake handshake = {.path = path, .protocols = protocols, .origin = origin, .host = host};
    visitor->is_last = true;
    const PageRequest request = {.host = host, .is_too_long = is_head_too_long(wsi)};
    unsigned status = page_refuse(&http->def, &request, out);
    if (status == 0) {
        status = handshake_judge(&http->def, &handshake, out);
    }
    if (status == 0 && http->viewer_count >= http->def.viewers_max) {
        fputs("As many viewers are watching as may (option --http-viewers-max): try again "
              "later.\n",
              out);
        status = HTTP_STATUS_SERVICE_UNAVAILABLE;
    }
    return status;
}

// Makes the body. False: memory ended.
static bool compose(Visitor *visitor, const char *path,
                    unsigned (*print)(Visitor *visitor, const char *path, FILE *out),
                    unsigned *status) {
    size_t bytes = 0;
    FILE *out = open_memstream(&visitor->body, &bytes);
    if (out == NULL) {
        return false;
    }
    fprintf(out, "%*s", LWS_PRE, ""); // the library writes there
    *status = print(visitor, path, out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        return false;
    }
    visitor->body_bytes = bytes - LWS_PRE;
    visitor->sent_bytes = 0;
    return true;
}

// What browsers are told of every answer: it is what it says it is, it stands in no frame but of a
// page of the visitor's own machine, as a notebook's (browsers of today pass over x-frame-options
// where frame-ancestors is given; older ones show it in none), and the viewer's page runs what is
// in it, loads nothing, and talks to servers of Moreau and where files of episodes lie.
static const struct {
    const char *name, *value;
} guards[] = {
    {"x-content-type-options:", "nosniff"},
    {"x-frame-options:", "DENY"},
    {"referrer-policy:", "no-referrer"},
    {"content-security-policy:",
     "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
     "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self' http: https: ws: wss: "
     "blob: data:; base-uri 'none'; form-action 'none'; "
     "frame-ancestors http://localhost:* http://127.0.0.1:*"},
};

static bool add_guards(struct lws *wsi, unsigned char **at, unsigned char *end) {
    bool failed = false;
    for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
        failed = failed || lws_add_http_header_by_name(wsi, (const unsigned char *)guards[i].name,
                                                       (const unsigned char *)guards[i].value,
                                                       (int)strlen(guards[i].value), at, end) != 0;
    }
    return !failed;
}

static bool send_head(const Visitor *visitor, const char *path, unsigned status) {
    unsigned char head[LWS_PRE + REPLY_HEAD_BYTES];
    unsigned char *start = head + LWS_PRE, *end = head + sizeof(head), *at = start;
    struct lws *wsi = visitor->wsi;
    static const unsigned char methods[] = "GET, HEAD", scheme[] = "Bearer";
    bool failed = lws_add_http_common_headers(wsi, status, page_type(path, status),
                                              visitor->body_bytes, &at, end) != 0;
    failed = failed || !add_guards(wsi, &at, end);
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
    unsigned status;
    if (!compose(visitor, path, print_page, &status) || !send_head(visitor, path, status)) {
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

// ---- viewers

// A request for a WebSocket: 0: it becomes one; else it is answered, or closed.
static int judge_upgrade(Visitor *visitor, const char *upgrade) {
    char path[HANDSHAKE_FIELD_BYTES];
    unsigned status;
    if (strcasecmp(upgrade, "websocket") != 0 || visitor->body != NULL) {
        return -1;
    }
    header_text(visitor->wsi, WSI_TOKEN_GET_URI, path, sizeof(path));
    if (!compose(visitor, path, print_refusal, &status)) {
        return -1;
    }
    if (status == 0) {
        free(visitor->body);
        visitor->body = NULL;
        return 0;
    }
    unsigned char *text = (unsigned char *)visitor->body + LWS_PRE;
    if (send_head(visitor, path, status)) {
        lws_write(visitor->wsi, text, visitor->body_bytes, LWS_WRITE_HTTP_FINAL);
    }
    return -1; // behind what was said
}

static int begin_viewing(Visitor *visitor) {
    Http *http = visitor->http;
    if (!visitor->is_leaving) {
        unlink_visitor(visitor);
        visitor->is_leaving = true;
    }
    visitor->is_viewer = true;
    http->visitor_count--;
    http->viewer_count++;
    ViewerDef def = {.loop = http->def.loop,
                     .wsi = visitor->wsi,
                     .open = http->def.open_viewer,
                     .context = http->def.context,
                     .peer = visitor->peer};
    visitor->viewer = viewer_create(&def);
    return visitor->viewer == NULL ? -1 : 0;
}

static int on_live_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                         size_t length) {
    Visitor *visitor = wsi == NULL ? NULL : lws_get_opaque_user_data(wsi);
    if (visitor == NULL) {
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        return begin_viewing(visitor);
    case LWS_CALLBACK_RECEIVE:
        return viewer_receive(visitor->viewer, in, length);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return visitor->viewer == NULL ? -1 : viewer_write(visitor->viewer);
    case LWS_CALLBACK_WSI_DESTROY:
        lws_set_opaque_user_data(wsi, NULL);
        forget(visitor);
        return 0;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

// As net/tls has it for the protocol's own port.
static void limit_tls(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

// What the library calls for everything that happens. Its own default does the rest.
static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t length) {
    if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
        limit_tls(user);
        return 0;
    }
    Visitor *visitor = wsi == NULL ? NULL : lws_get_opaque_user_data(wsi);
    if (visitor == NULL) {
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return answer(visitor, in);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return judge_upgrade(visitor, in);
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

// The first speaks HTTP.
static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_event},
    {.name = HANDSHAKE_PROTOCOL, .callback = on_live_event, .rx_buffer_size = VIEWER_RECEIVE_BYTES},
    {0},
};

static const lws_retry_bo_t idle_policy = {.secs_since_valid_ping = PING_S,
                                           .secs_since_valid_hangup = HANG_UP_S};

// ---- life

static void ask_for_tls(const HttpDef *def, struct lws_context_creation_info *info) {
    if (def->tls.certificate == NULL) {
        return;
    }
    info->options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info->ssl_cert_filepath = def->tls.certificate;
    info->ssl_private_key_filepath = def->tls.key;
    info->alpn = "http/1.1"; // and not 2, which the library would speak, too
    if (def->tls.client_ca != NULL) {
        info->options |= LWS_SERVER_OPTION_REQUIRE_VALID_OPENSSL_CLIENT_CERT;
        info->ssl_ca_filepath = def->tls.client_ca;
    }
}

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
        .fd_limit_per_thread =
            def->connections_max + def->viewers_max + LEAVING_MAX + DESCRIPTORS_EXTRA,
        .max_http_header_data = HEAD_BYTES_MAX,
        .max_http_header_pool = (unsigned short)(def->connections_max + LEAVING_MAX),
        .timeout_secs = REQUEST_TIMEOUT_S,
        .timeout_secs_ah_idle = REQUEST_TIMEOUT_S,
        .keepalive_timeout = IDLE_TIMEOUT_S,
        .retry_and_idle_policy = &idle_policy,
        .gid = -1,
        .uid = -1,
    };
    ask_for_tls(def, &info);
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

void http_read_certificate(Http *http) {
    if (http->context != NULL && http->def.tls.certificate != NULL) {
        lws_tls_cert_updated(http->context, http->def.tls.certificate, http->def.tls.key, NULL, 0,
                             NULL, 0);
    }
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

void http_accept(Http *http, int fd, const char *peer) {
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
    snprintf(visitor->peer, sizeof(visitor->peer), "%s", peer);
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

uint32_t http_viewer_count(const Http *http) {
    return http->viewer_count;
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
