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
// are what the rounds of ccp_finish.h leave, rho (gamma - gamma_before). A row's bias gains delta,
// a contact's bias delta_n + mu |delta_t|, as its tangents have no bias.
#pragma once

#include "solve/ccp_finish.h"

// Whether the impulses of the last round prove that the island's targets contradict each other.
// Not where contacts are compliant, which meet anything.
bool ccp_soften_is_due(CcpFinish *f);

// Softens what the answer declares, and the island's own offsets, after a round that was solved;
// returns how many contacts and rows gained more than `least` [m/s]. Its impulses begin anew, at
// none.
uint32_t ccp_soften(CcpFinish *f, Answer *answer, double least);
