// SPDX-License-Identifier: MIT
// The program that a tree peer is (tree_peer.h), around three functions of an engine that is built
// link by link.
#pragma once

#include "bench/peers/tree_peer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TreePeer TreePeer;

// Fills the greeting. NULL when there is a refusal. Lives as long as the process.
TreePeer *tree_peer_create(const TreePeerScene *scene, const TreePeerLink *link,
                           TreePeerGreeting *greeting);
void tree_peer_step(TreePeer *peer);
double tree_peer_energy(TreePeer *peer); // [J]

#ifdef __cplusplus
}
#endif
