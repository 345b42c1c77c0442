// SPDX-License-Identifier: MIT
// A recorded group, gone on from: what it is told then as it was told before, it answers as it
// answered, to the bit.
#pragma once

#include "moreau.pb-c.h"
#include "simulate/dice.h"
#include "simulate/history.h"

// The answer to a call; NULL: the connection is gone.
typedef Moreau__V1__Reply *AgainAsk(void *context, const void *message);

// Goes on from the recording's end, which is behind `promised` calls at least, and then from some
// call of it, from which on it gives all orders that are known once more; `may_be_gone`: if it is
// there. False: the connection is gone.
bool again_check(const HistoryHerd *herd, bool may_be_gone, uint64_t promised, Dice *dice,
                 AgainAsk *ask, void *context);
