// SPDX-License-Identifier: MIT
// A solver of another code (peers/contact_peer.h) as moreau-bench sees it: a process for each
// problem, ended when it takes too long. What counts is the processor's time, so that other work on
// the machine fails nobody.
#pragma once

#include "bench/delassus.h"

#include <stdbool.h>

// Those of the relaxation take the problem in velocities as well.
#define CONTACT_PEER_MAP(X)                                                                        \
    X(SICONOS_NSGS, "siconos", "NSGS", false)                                                      \
    X(SICONOS_NSN_AC, "siconos", "NSN_AC", false)                                                  \
    X(SICONOS_ADMM, "siconos", "ADMM", false)                                                      \
    X(PINOCCHIO_ADMM, "pinocchio", "ADMM", false)                                                  \
    X(CLARABEL, "clarabel", "relaxed", true)

#define X(upper, program, method, is_relaxed) CONTACT_PEER_##upper,
typedef enum ContactPeerIndex { CONTACT_PEER_MAP(X) CONTACT_PEER_COUNT } ContactPeerIndex;
#undef X

typedef struct ContactPeerRun {
    double tolerance; // to ask for
    double seconds;   // of the processor, for the solve
} ContactPeerRun;

// As "siconos NSGS"; static.
const char *contact_peer_name(ContactPeerIndex index);

// Whether it solves the convex relaxation.
bool contact_peer_is_relaxed(ContactPeerIndex index);

// false: it was not built, or has said that it cannot run here; why not was said on standard error.
bool contact_peer_is_there(ContactPeerIndex index);

// For one that is there. false: no answer, as it took too long or ended, or is no longer there.
// `impulse` holds 3 contact_count numbers.
bool contact_peer_solve(ContactPeerIndex index, const Delassus *delassus, uint32_t contact_count,
                        const ContactPeerRun *run, ContactPeerAnswer *answer, double *impulse);
