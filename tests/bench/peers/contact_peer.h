// SPDX-License-Identifier: MIT
// The peers of `moreau bench solvers`: other codes' solvers of exact Coulomb friction, or of its
// convex relaxation, each in a small program that solves one problem and ends. It judges nothing:
// moreau-bench measures all answers by one certificate.
//
// A program is started with a method's name as its argument, and reads from standard input a
// ContactPeerProblem, mu [contact_count], q [3 contact_count] and the blocks of W; it answers with
// a ContactPeerAnswer and, where that refuses nothing, the impulses [3 contact_count]. Sought are
// impulses in the cones of mu such that u + mu |u_t| e_n, with u = W gamma + q, lies in the dual
// cones and across from them; normal, tangent, tangent. Of the relaxation, where u itself lies in
// the dual cones, the same in velocities follows the blocks: v_free [velocity_count], the entries
// of M [mass_count] and those of J [jacobian_count], u = J v + (q - J v_free). All are structs of
// this machine, and what a script reads, which is why they hold nothing but 64-bit numbers and
// text.
#pragma once

#include <stdint.h>

#define CONTACT_PEER_MAGIC UINT64_C(0x317463746e6f6370) // "pcontct1", lowest byte first

enum { CONTACT_PEER_NAME_BYTES = 32, CONTACT_PEER_REFUSAL_BYTES = 160 };

typedef struct ContactPeerProblem {
    uint64_t magic;
    uint64_t contact_count, block_count;
    double tolerance;                                    // relative, as the solver means it
    double seconds;                                      // after which moreau-bench ends it
    uint64_t velocity_count, mass_count, jacobian_count; // 0 where impulses alone are asked for
} ContactPeerProblem;

// Of W = J M^-1 J^T, both halves, in the order of rows, then columns.
typedef struct ContactPeerBlock {
    uint64_t row, column; // of 3 x 3 blocks
    double number[9];     // row by row
} ContactPeerBlock;

// Of M, both halves, or J.
typedef struct ContactPeerEntry {
    uint64_t row, column;
    double number;
} ContactPeerEntry;

typedef struct ContactPeerAnswer {
    char name[CONTACT_PEER_NAME_BYTES];       // code and version
    char refusal[CONTACT_PEER_REFUSAL_BYTES]; // a sentence; or ""
    double ns;                                // CPU time of the solve alone
    double iterations;                        // as it counts them
} ContactPeerAnswer;
