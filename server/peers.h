// SPDX-License-Identifier: MIT
// Joins the protocol (api, which knows no socket) with the connections (net, which knows no
// message).
#pragma once

#include "api/api.h"
#include "net/connection.h"

// What net calls; the context is the Api.
NetHandlers peers_handlers(void);

// What the api calls; figures take the Net.
const PeerCalls *peers_calls(void);
