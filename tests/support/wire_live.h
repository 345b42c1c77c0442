// SPDX-License-Identifier: MIT
// What a viewer who has one subscription is sent, for tests over the wire.
#pragma once

#include "support/wire_client.h"

// The next frame; the subscription's end fails the test.
const Moreau__V1__LiveFrame *wire_live_next(WireClient *of);

// The reply that ends it, behind the frames that are still on their way.
const Moreau__V1__Reply *wire_live_end(WireClient *of, Moreau__V1__Status__Code code,
                                       const char *field);
