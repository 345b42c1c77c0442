// SPDX-License-Identifier: MIT
// libmoreau: the C client of the Moreau contact-dynamics server.
//
// A MoreauClient is one connection. Blocking calls send one request and wait for its answer;
// submitted requests are pipelined: they return an id at once, and moreau_receive hands out the
// answers in the order in which they arrive. Both may be mixed on one connection. A few calls are
// answered by events first, and then by one last answer.
//
//     MoreauClient *client;
//     MoreauError why;
//     if (moreau_connect("127.0.0.1:7667", NULL, &client, &why) != MOREAU_OK) puts(why.message);
//     MoreauWorldDef def = moreau_world_def_default();
//     uint64_t world;
//     moreau_world_create(client, &def, &world); // and so on
//     moreau_disconnect(client);
//
// Units are SI. A pose is 7 numbers (x y z, then the unit quaternion w x y z), a velocity 6 (linear
// of the centre of mass, angular; world axes). Numbers in bulk are columns: plain arrays with a
// fixed stride per item; a NULL column means "the default for all items". Ranges and defaults:
// moreau.proto.
//
// Every function that can fail returns a MoreauStatus and leaves a sentence in moreau_error().
// Strings are UTF-8. The library prints nothing, never exits, and has no global state: a client
// belongs to one thread at a time, different clients may be used in parallel.
//
// This header is all that a program includes. What it declares stands in three: the connection,
// answers and any call (moreau_core.h); worlds, their steps and snapshots (moreau_worlds.h);
// episodes (moreau_episodes.h).
#pragma once

#include "moreau_core.h"
#include "moreau_worlds.h"
#include "moreau_episodes.h"
