// SPDX-License-Identifier: MIT
// Of all answers of the equations of a basis the smallest in the norm of D (system.h): that of
// contacts that give way a little.
#pragma once

#include "solve/lcp/factor.h"

// `x`, [factor->count] in the order of columns, is one of them. All memory is given back; false:
// there is too little.
bool lcp_least(const LcpFactor *factor, Arena *arena, LcpCount *count, double *x);
