// SPDX-License-Identifier: MIT
// A network that breaks: a thread between clients and a server on 127.0.0.1 that passes bytes on
// and cuts every connection after a number of them, drawn from a seed, wherever in a frame that is.
// Connections are cut in different ways: both sides closed or reset; the client's alone, so that
// the server still holds the old connection when the client is back; or only the way to the server
// ended, so that it sees the end of the stream and its last bytes still come through.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct WireProxy WireProxy;

typedef struct WireProxyDef {
    const char *address; // of the server
    uint64_t seed;
    size_t up_bytes_max;   // a connection is cut after at most so many bytes to the server …
    size_t down_bytes_max; // … or from it; one in four after at most a quarter of that
} WireProxyDef;

WireProxy *wire_proxy_start(const WireProxyDef *def);
const char *wire_proxy_address(const WireProxy *proxy);
unsigned wire_proxy_cuts(const WireProxy *proxy); // so far

// Cuts what is left and frees the proxy.
void wire_proxy_stop(WireProxy *proxy);
