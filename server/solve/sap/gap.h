// SPDX-License-Identifier: MIT
// How far the cost of an answer may be from the least. The regularised problem is strongly convex,
// with A at least, so with the gradient g at the answer's velocities
//
//     l(v) - l* <= g . A^-1 g / 2.
#pragma once

#include "solve/judge.h"
#include "solve/descent/law.h"

// Of the velocities and impulses that were judged last, which belong together: g is J^T (gamma -
// gamma(v)). [J] NaN where numbers are. RESOURCE_EXHAUSTED or ABORTED.
Status sap_gap(Judge *judge, const SapLaw *contact_law, const SapLaw *row_law, double *gap);
