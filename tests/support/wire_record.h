// SPDX-License-Identifier: MIT
// Recording over the wire, for tests: the calls that nearly every test of episodes makes.
#pragma once

#include "support/wire_client.h"

enum { WIRE_EPISODE_BYTES = 33 }; // 32 hexadecimal digits and the end

// Starts recording; its id goes to `episode`.
void wire_record(WireClient *client, uint64_t world, Moreau__V1__EpisodeContent content,
                 char episode[WIRE_EPISODE_BYTES]);
const Moreau__V1__EpisodeInfo *wire_record_stop(WireClient *client, uint64_t world);

const Moreau__V1__EpisodeListReply *wire_episodes(WireClient *client);
const Moreau__V1__EpisodeInfo *wire_episode(WireClient *client, const char *episode);

// The final reply of a verification, its progress skipped.
const Moreau__V1__Reply *wire_verify(WireClient *client, const char *episode);

// The same, and it must be verified, over so many steps.
void wire_expect_verified(WireClient *client, const char *episode, uint64_t steps);
