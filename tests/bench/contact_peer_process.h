// SPDX-License-Identifier: MIT
// A solver of another code (peers/contact_peer.h) as moreau-bench sees it: a process for each
// problem, ended when it takes too long. What counts is the processor's time, so that other work on
// the machine fails nobody.
#pragma once

#include "bench/delassus.h"

#include <stdbool.h>

#define CONTACT_PEER_MAP(X)                                                                        \
    X(SICONOS_NSGS, "siconos", "NSGS")                                                             \
    X(SICONOS_NSN_AC, "siconos", "NSN_AC")                                                         \
    X(SICONOS_ADMM, "siconos", "ADMM")                                                             \
    X(PINOCCHIO_ADMM, "pinocchio", "ADMM")

#define X(upper, program, method) CONTACT_PEER_##upper,
typedef enum ContactPeerIndex { CONTACT_PEER_MAP(X) CONTACT_PEER_COUNT } ContactPeerIndex;
#undef X

typedef struct ContactPeerRun {
    double tolerance; // to ask for
    double seconds;   // of the processor, for the solve
} ContactPeerRun;

// As "siconos NSGS"; static.
const char *contact_peer_name(ContactPeerIndex index);

// false: it was not built, or has said that it cannot run here; why not was said on standard error.
bool contact_peer_is_there(ContactPeerIndex index);

// For one that is there. false: no answer, as it took too long or ended, or is no longer there.
// `impulse` holds 3 contact_count numbers.
bool contact_peer_solve(ContactPeerIndex index, const Delassus *delassus, uint32_t contact_count,
                        const ContactPeerRun *run, ContactPeerAnswer *answer, double *impulse);
