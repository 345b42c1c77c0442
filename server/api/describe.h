// SPDX-License-Identifier: MIT
// What Welcome says of the server, and Describe (command.h). Loop thread.
#pragma once

#include "api/request.h"

// The messages that the two share, in the request's arena; NULL when it ends.
Moreau__V1__Limit **describe_limits(Request *request, size_t *count);
Moreau__V1__CallInfo **describe_calls(Request *request, size_t *count);
// The names of rights.
char **describe_rights(Request *request, uint32_t rights, size_t *count);
Moreau__V1__SolverInfo **describe_solvers(Request *request, size_t *count);

// Leaves out what the rows mean where the message would not fit into a frame.
void describe_fit(Request *request, Moreau__V1__Welcome *message);
