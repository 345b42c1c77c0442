// SPDX-License-Identifier: MIT
// Sessions: who is at the other end of a connection, and which worlds share its life. A session
// outlives its connection by the grace time, in which Hello.resume takes it over; what a resumable
// one remembers of its requests is kept.h. Loop thread.
#pragma once

#include "api/request.h"

// Answers a Hello: opens or resumes a session, or refuses and closes.
void session_greet(Request *request);

// What it may do now: RIGHTS_ALL for admin, nothing when its token is another one than it was
// opened with.
uint32_t session_rights(const Session *session);
// Of which namespace it is (run/worlds/spaces.h).
uint32_t session_space(const Session *session);
bool session_is_current(const Session *session);

// The tokens were read again: ends what nobody has the right to any more.
void session_review(Session *session);

// The connection is gone: its requests stop, or go on when it is resumable; the grace time begins.
void session_leave(Session *session);

// It does not end by itself any more. Nothing of it is under way.
void session_stop(Session *session);

// Stops its requests between two steps.
void session_stop_requests(Session *session);

// Ends every session at once, without grace; `closed` of the api is called when the last timer is
// gone.
void session_close_all(Api *api);
