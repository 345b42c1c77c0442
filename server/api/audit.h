// SPDX-License-Identifier: MIT
// Who did what: a line of JSON for each call that changes something, or would have, once it is
// over. Never a token, nor what a call brought: who asked, what it was about, how it ended. Loop
// thread.
#pragma once

#include "api/request.h"

void audit_note(Api *api, const Request *request);

// Before: what it made, by its reply. Where that is packed.
void audit_gather(Request *request, const Moreau__V1__Reply *reply);

// Writes what was gathered, where that is due, and says in the log when the disk takes no more.
void audit_write(Api *api);
