// SPDX-License-Identifier: MIT
// How often each peer's machine may begin a handshake, which costs us some hundred microseconds and
// it, who need not finish it, nearly nothing. A bucket for each address fills with time and empties
// by handshakes; what is due later is told so. Of IPv6 the first half counts, as whoever has one
// address has all of them behind it.
//
// A table of fixed size: among very many addresses the one that was idle for longest is forgotten,
// so it bounds single machines, and the number of handshakes at once bounds all of them together.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { TLS_RATE_SETS = 256, TLS_RATE_WAYS = 4 };
enum { TLS_RATE_BURST_S = 10 }; // a bucket holds what fills it in so long

typedef struct TlsRate {
    uint64_t per_s; // 0: any
    struct {
        uint64_t key;     // 0: free
        uint64_t full_ns; // when the bucket will be full again
    } bucket[TLS_RATE_SETS][TLS_RATE_WAYS];
} TlsRate;

// Which machine an address belongs to; never 0.
uint64_t tls_rate_key(const struct sockaddr_storage *address);

// Takes a handshake out of the bucket; false: there is none yet.
bool tls_rate_take(TlsRate *rate, uint64_t key, uint64_t now_ns);
