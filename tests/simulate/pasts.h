// SPDX-License-Identifier: MIT
// What a client looks at of episodes: states by range or streamed, forward and backward, with any
// of the columns, and their inputs taken again under the same settings or under others. What was
// answered when they were recorded is what is shown.
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Call;
struct Client;

typedef enum PastKind { PAST_REPLAY, PAST_READ, PAST_COMPARE } PastKind;

typedef struct PastCall {
    PastKind kind;
    uint64_t first, last, stride;
    bool backward;
    bool poses, velocities, single;
    const char *solver; // of a comparison's other variant; NULL: the recorded one is alone
    uint64_t frames;    // that came
} PastCall;

// Adds a call, where there is an episode that was stopped.
void pasts_add(struct Client *client);

// An event of a call, whatever it is.
void pasts_show(struct Client *client, struct Call *call, const Moreau__V1__Reply *event);

// Streams begin anew where a connection was lost.
void pasts_cut(struct Client *client);

void pasts_judge(struct Client *client, const struct Call *call, const Moreau__V1__Reply *reply);
