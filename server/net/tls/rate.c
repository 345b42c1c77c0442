// SPDX-License-Identifier: MIT
#include "net/tls/rate.h"

#include "base/assert.h"

#include <netinet/in.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

// Mixes all bits into the lowest (the finaliser of MurmurHash3).
static uint64_t mix(uint64_t key) {
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    key ^= key >> 33;
    key *= UINT64_C(0xc4ceb9fe1a85ec53);
    return key ^ key >> 33;
}

uint64_t tls_rate_key(const struct sockaddr_storage *address) {
    uint64_t key = 0;
    if (address->ss_family == AF_INET) {
        key = ((const struct sockaddr_in *)address)->sin_addr.s_addr;
    } else if (address->ss_family == AF_INET6) {
        const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
        // IPv4 over a socket of IPv6 stands behind twelve bytes that all have in common
        memcpy(&key, host->s6_addr + (IN6_IS_ADDR_V4MAPPED(host) ? 8 : 0), sizeof(key));
    }
    return key == 0 ? 1 : key;
}

bool tls_rate_take(TlsRate *rate, uint64_t key, uint64_t now_ns) {
    ASSERT(key != 0);
    if (rate->per_s == 0) {
        return true;
    }
    const uint64_t each_ns = SECOND_NS / rate->per_s, all_ns = TLS_RATE_BURST_S * SECOND_NS;
    const size_t set = mix(key) % TLS_RATE_SETS;
    size_t way = 0;
    for (size_t i = 0; i < TLS_RATE_WAYS; i++) {
        if (rate->bucket[set][i].key == key) {
            way = i;
            break;
        }
        if (rate->bucket[set][i].full_ns < rate->bucket[set][way].full_ns) {
            way = i;
        }
    }
    if (rate->bucket[set][way].key != key) {
        rate->bucket[set][way].key = key;
        rate->bucket[set][way].full_ns = now_ns;
    }
    uint64_t *full_ns = &rate->bucket[set][way].full_ns;
    const uint64_t from_ns = *full_ns > now_ns ? *full_ns : now_ns;
    if (from_ns + each_ns > now_ns + all_ns) {
        return false;
    }
    *full_ns = from_ns + each_ns;
    return true;
}
