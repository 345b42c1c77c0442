// SPDX-License-Identifier: MIT
// The pages that those who operate a server look at, over HTTP/1.1:
//
//   /livez    200 as long as the loop runs
//   /readyz   200 when work is welcome; 503 while the server starts, and from the first moment of
//             draining on
//   /metrics  Prometheus' text format 0.0.4; shows its Bearer token first, when one is demanded
//   /         the page that shows worlds and episodes, where the server was given it
//   /v1/live  no page: the WebSocket through which that page watches worlds (handshake.h, viewer.h)
//
// GET and HEAD; anything else is answered with a status and a sentence. The Host must be one of
// this server's (host.h, 421). The room knows no world and no socket address: it is handed accepted
// sockets, and callbacks that say whether the server is ready, print its metrics and take up a
// viewer's connection.
//
// libwebsockets runs on the server's own loop. Nobody disturbs the rest: a request must be whole
// within some seconds; the fields of its head that HTTP knows have 8 KiB together (431), all of it
// 32 KiB, above which the connection ends; an idle connection is closed after a while; above
// `connections_max` the connection that has not asked for longest goes. Viewers are counted for
// themselves, so that they keep nobody from the pages.
//
// With a certificate they are HTTPS, by the library's own TLS: 1.3 alone, without tickets. It
// shakes hands on the loop, so whoever accepts sees to it that nobody asks for that too often.
//
// Loop thread.
#pragma once

#include "base/status.h"
#include "http/def.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

typedef struct Http Http;

// On failure too *http is to be closed and destroyed, unless it is NULL.
Status http_create(Http **http, const HttpDef *def, Error *error);

// Takes over an accepted socket, also when it fails.
void http_accept(Http *http, int fd, const char *peer);

// The files of the certificate and its key are read again; who is connected keeps what he began
// with.
void http_read_certificate(Http *http);

uint32_t http_connection_count(const Http *http); // without viewers
uint32_t http_viewer_count(const Http *http);

// Closes every connection. Listeners must be closed first.
void http_close(Http *http);

// Frees the memory. After http_close, or a failed http_create, and only when the loop has run until
// nothing was left on it: the library says in no other way that its handles are closed.
void http_destroy(Http *http);
