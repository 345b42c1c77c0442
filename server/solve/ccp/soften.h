// SPDX-License-Identifier: MIT
// Targets that contradict each other: a body that is to leave two walls at once, joints that ask
// for two velocities of one body. No velocities meet them, so multipliers grow without bound, and
// whoever has them proves it: for impulses gamma of the cones themselves, all v that meet the
// targets have
//
//     0 <= gamma . (J v + offset) = v . J^T gamma + offset . gamma,
//     |v|_M >= -offset . gamma / |J^T gamma|_{M^-1}.
//
// Where that is far beyond all velocities at hand, the targets are softened, by the least that does
// it: the shifts delta of J v that make them meet, least in the norm that counts each with 1 / w,
// are what the rounds of finish.h leave, rho (gamma - gamma_before). A row's bias gains delta,
// a contact's bias delta_n + mu |delta_t|, as its tangents have no bias.
#pragma once

#include "solve/ccp/finish.h"

// Velocities so many times larger than all at hand are none.
#define CCP_SOFTEN_FAR 1e4

// How many times larger than all at hand velocities would have to be to meet the island's targets,
// as impulses [impulse_count], each of its cone or bounds, prove: beyond CCP_SOFTEN_FAR the targets
// contradict each other. 0 where contacts are compliant, which meet anything, and of impulses that
// prove nothing. `push` and `v` [velocity_count] are scratch.
double ccp_soften_excess(CcpIsland *s, const double *impulse, double *push, double *v);

// What impulses grow by, brought into cones and bounds that it may grow in for ever.
void ccp_soften_project(const CcpIsland *s, double *ray);

// Whether the impulses after a round, or what it added to them, prove a contradiction.
bool ccp_soften_is_due(CcpFinish *f);

// Softens what the answer declares, and the island's own offsets, after a round that was solved;
// returns how many contacts and rows gained more than `least` [m/s]. Its impulses begin anew, at
// none.
uint32_t ccp_soften(CcpFinish *f, Answer *answer, double least);
