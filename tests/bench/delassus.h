// SPDX-License-Identifier: MIT
// A contact problem as other codes take it: W = J M^-1 J^T and q, its 3 x 3 blocks in rows, or M, J
// and v_free; and the certificate of impulses that they found.
#pragma once

#include "base/arena.h"
#include "bench/peers/contact_peer.h"
#include "solve/certificate.h"

typedef struct Delassus {
    double *mu;              // [contact_count]
    double *q;               // [3 contact_count] J v_free + motion + bias e_n
    ContactPeerBlock *block; // owned, as all
    uint64_t block_count;
    // the same in velocities
    uint64_t velocity_count, mass_count, jacobian_count;
    double *v_free;
    ContactPeerEntry *mass, *jacobian; // of M, both halves, and of J, contact by contact
} Delassus;

// The problem must have no rows.
Delassus delassus_make(const ContactProblem *problem, Arena *scratch);
void delassus_free(Delassus *delassus);

// Of exact Coulomb friction without compliance, or of its convex relaxation, and of the velocities
// that the impulses make.
Certificate delassus_judge(const ContactProblem *problem, const double *impulse, bool is_relaxed,
                           Arena *scratch);
