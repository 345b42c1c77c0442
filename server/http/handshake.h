// SPDX-License-Identifier: MIT
// Who may watch worlds from a browser: judges the request that would turn a connection into a
// WebSocket. Pure of sockets.
//
//   GET /v1/live, Sec-WebSocket-Protocol: moreau.v1[, token.TOKEN]
//
// A browser lets a page set no header but this one, so the token travels in it, base64url (RFC
// 4648, section 5) without padding. Where the server demands a token, whoever shows it may watch,
// wherever the page comes from. Where it demands none (then it listens on this machine alone), a
// web page from elsewhere must not read worlds through the browser of who runs the server:
//
//   no Origin            no browser: whoever it is could connect to the protocol's own port
//   Origin http://HOST   (https:// under TLS) the page that this server itself has served (option
//                        --viewer). HOST must be that of the request, which is the server's own
//                        (host.h)
//   any other            refused. That includes "null", which pages from a file have, but any
//                        foreign page gives itself as well, in a sandboxed frame
#pragma once

#include "http/def.h"

#define HANDSHAKE_PATH     "/v1/live"
#define HANDSHAKE_PROTOCOL "moreau.v1"

enum { HANDSHAKE_FIELD_BYTES = 1024 }; // of each field, with its zero; longer ones are cut

typedef struct Handshake {
    const char *path;
    const char *protocols, *origin, *host; // the headers' values; "": none was sent
} Handshake;

// 0: it may go on. Else prints why not, and returns the status of HTTP.
unsigned handshake_judge(const HttpDef *def, const Handshake *handshake, FILE *out);
