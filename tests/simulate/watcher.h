// SPDX-License-Identifier: MIT
// Clients that only watch: worlds and groups of all others, on a connection of their own. They come
// and go, read slowly, cancel, are cut at any byte, and wait for what is never stepped.
#pragma once

#include "simulate/client.h"

// A ScheduleTask; context: ClientDef. Ends when the crowd does, or has been watched enough.
void watcher_main(void *def);

// ---- for clients

struct Client;

// Shows the others what it has now, and that what it had is gone.
void watcher_show_own(struct Client *client);

// The client has all its answers and changes nothing any more: whoever watches its worlds is shown
// how they rest.
void watcher_let_rest(struct Client *client);

// A snapshot is to be restored into a world: its steps may be fewer again.
void watcher_note_restored(struct Client *client, size_t world);

// Nobody can tell how a world came to where it is: a restore behind other changes, all of which are
// unanswered, hides what was before it.
void watcher_note_unclear(struct Client *client, size_t world);

// Adds a subscription to its bunch of calls, of what is its own or the shared world.
void call_watch(struct Client *client);

// ---- for whoever directs them

// All clients have ended, with all of their answers. Those who watch the shared world are shown how
// it rests, and all that was seen is judged.
void watcher_judge(Crowd *crowd);
