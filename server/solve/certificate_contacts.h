// SPDX-License-Identifier: MIT
// The part of the certificate's measure that looks at contacts, several at a time:
//
//   certificate_contacts_simd.h    the loop, for SIMD_COUNT contacts at once
//   certificate_contacts_avx2.c    four of them, where the machine has AVX2
//   certificate_contacts.c         two of them, which every machine has; the choice
//
// What is measured of a contact does not depend on the contacts beside it, and of an island only
// the largest counts, so all machines give the same bits.
#pragma once

#include "solve/certificate_relation.h"

// What one island has come to. Maxima are taken here, so that V divides once per island.
typedef struct IslandMeasure {
    double velocity[CERTIFICATE_ENTRY_COUNT]; // [m/s], the largest so far
    double cone;                              // the largest share outside the cone
    // the momentum balance, in the norm of M^-1
    double residual_square; // |M (v - v*) - J^T gamma - G^T r|^2
    double change_square;   // |M (v - v*)|^2
    double free_square;     // |M v*|^2
    double impulse_square;  // the largest single |J_i^T gamma_i|^2 or |G_j^T r_j|^2
} IslandMeasure;

typedef struct CertificateMeasure {
    const ContactProblem *problem;
    const ProblemMass *mass;
    const CertificateScale *scale;
    const Answer *answer;
    double *scratch; // [3 width_max]
    IslandMeasure *island;
    Certificate *certificate;
} CertificateMeasure;

static inline void certificate_note(IslandMeasure *island, CertificateEntry entry,
                                    double velocity) {
    island->velocity[entry] = relation_max(island->velocity[entry], velocity);
}

// Measures all contacts into their islands; sets the certificate's worst contact and penetration.
// `residual` is Nullable: [contact_count], the own residual over V, 0 of what moves nothing.
void certificate_contacts(CertificateMeasure *m, double *residual);

// The same, for machines with AVX2 only.
void certificate_contacts_avx2(CertificateMeasure *m, double *residual);
