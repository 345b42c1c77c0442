// SPDX-License-Identifier: MIT
// A group of worlds as its client knows it, with its reference: the same group, made of the same
// message and the same template, whose rows are run by the dynamics alone. What its worlds do is
// drawn from numbers.
#pragma once

#include "moreau.pb-c.h"
#include "run/groups/group.h"
#include "simulate/dice.h"
#include "simulate/model.h"

enum { HERD_WORLDS = 5, HERD_ACTS = 3, HERD_SEES = 9 };

typedef struct Herd {
    bool is_there;
    uint64_t id;
    uint64_t subject; // of what is seen of its worlds (watch.h)
    Group *reference;      // owned, as are the next two
    Arena memory, scratch; // of a call's rows; of a step
    GroupCall call;        // the last one of the reference
    HistoryHerd *record;   // borrowed; NULL: it is not recorded, or what is recorded is not known
} Herd;

// A reset or a step of some of its worlds: bit i is world i.
typedef struct HerdOrder {
    GroupVerb verb;
    uint8_t worlds;
    uint64_t number; // its actions
} HerdOrder;

// A message with the lists and texts that it points to: not to be copied.
typedef struct HerdMaking {
    Moreau__V1__GroupCreate create;
    Moreau__V1__GroupRecord record;
    Moreau__V1__GroupChannel channel[5], *list[5];
    Moreau__V1__GroupNoise noise, *noises[1];
} HerdMaking;

void herd_draw(HerdMaking *making, Dice *dice, uint64_t template);

// The reference of a group that is made like this of the model's world as it stands. false: it
// refuses it.
bool herd_init(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template);
uint64_t herd_state(const Herd *herd, uint32_t i); // of world i: watch_state
void herd_deinit(Herd *herd); // of one that is not there, too

HerdOrder herd_draw_order(Dice *dice, GroupVerb verb);
size_t herd_count(HerdOrder order);                // of its worlds
void herd_actions(HerdOrder order, float *action); // HERD_ACTS for each of them

// Does what the server says that it has done of an order, and compares all rows; says what is
// otherwise and fails. Worlds of which it was stopped before it began are what they were. false:
// one was stopped in the middle of its step, so that nobody knows where it stands.
bool herd_follow(Herd *herd, HerdOrder order, const Moreau__V1__GroupStepReply *reply);

// Hash of what a reply says of the worlds of an order, in whatever order of rows.
uint64_t herd_rows(HerdOrder order, const Moreau__V1__GroupStepReply *reply);
