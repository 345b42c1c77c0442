// SPDX-License-Identifier: MIT
// Comparisons for tests over the wire.
#pragma once

#include "support/wire_client.h"

enum { WIRE_VARIANTS_MAX = 17 }; // one more than a server takes

typedef struct WireCompare {
    Moreau__V1__EpisodeCompare call;
    Moreau__V1__EpisodeVariant variant[WIRE_VARIANTS_MAX];
    Moreau__V1__WorldSettings settings[WIRE_VARIANTS_MAX];
    Moreau__V1__EpisodeVariant *list[WIRE_VARIANTS_MAX];
} WireCompare;

// So many variants that change nothing, yet; a sample for every stride-th step.
void wire_compare_ask(WireCompare *asked, const char *episode, size_t variants, uint64_t stride);

void wire_compare_time_step(WireCompare *asked, size_t variant, double time_step);

// It must succeed; the reply lives as others do.
const Moreau__V1__EpisodeCompareReply *wire_compare(WireClient *client, const WireCompare *asked);

// What the table says, to the bit, without its times.
void wire_compare_tell(const Moreau__V1__EpisodeCompareReply *reply, char *text, size_t capacity);
