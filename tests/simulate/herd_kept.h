// SPDX-License-Identifier: MIT
// Questions that change nothing of a group: how it stands, what others think of its steps, and its
// bytes. A group that is made of these goes on as the one that was saved did, on this server or the
// next one.
#pragma once

#include "simulate/again.h"
#include "simulate/call.h"

// Adds one of them to the client's bunch of calls.
void call_herd_question(Client *client);
bool is_herd_question(CallKind kind);
// What of them may be refused, and how.
bool herd_may_refuse(const Client *client, const Call *call, Moreau__V1__Status__Code code);
void judge_herd_question(Client *client, const Call *call, const Moreau__V1__Reply *reply);

// Notes what was done to a group that was saved, and answered. NULL: nobody knows what.
void kept_note(Herd *herd, const HistoryDeed *deed);

// Between two bunches: fetches what was saved, goes on from it, or sees how another that was saved
// goes on. False: the connection is gone.
bool kept_take_round(Client *client);

// Makes a group of what was saved, which does all that is known once more. False: the connection is
// gone.
bool kept_check(const HistoryKept *kept, Dice *dice, AgainAsk *ask, void *context);
