// SPDX-License-Identifier: MIT
// The order of the calls on a group, whose worlds may be away: a GroupReceive waits until enough of
// those that were sent have come back, and a call that came after it and works on worlds waits for
// it, as it would find them away; and what came behind that waits as well. Whether a call is right
// is judged when its turn has come.
//
//   GroupSend ─► GroupReceive (waits) ◄── GroupStep ◄── GroupSend ◄── GroupReceive …
//                 is answered ─► the held calls are prepared, in order, up to the next Receive
//
// A Receive, or the end of the group, disturbs no Receive that waits: it is held only behind calls
// that are. Loop thread, but for group_turn_told.
#pragma once

#include "api/request.h"
#include "run/groups/farm.h"

// Whether the request, whose call names a group, is to wait; then it is prepared when its turn
// comes, or is answered when it is cancelled. It waits as well when memory ended, and is answered.
bool group_turn_hold(Request *request);

// A Receive of the entry has got its worlds, and is about to be answered …
void group_turn_tell(GroupEntry *entry);
// … on its lane, their rows have been written: whether the loop is to know at once.
bool group_turn_told(GroupEntry *entry);

// A Receive is over: calls that waited for it alone go on.
void group_turn_go_on(GroupEntry *entry);
