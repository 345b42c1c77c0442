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

#include "solve/certificate.h"
#include "solve/certificate_relation.h"

static inline void certificate_note(IslandMeasure *island, CertificateEntry entry,
                                    double velocity) {
    island->velocity[entry] = relation_max(island->velocity[entry], velocity);
}

// Whether a residual is worse than the worst so far: the first that is not a number is the worst.
static inline bool certificate_is_worse(double own, double worst) {
    return own > worst || (own != own && worst == worst);
}

// certificate_scale_contacts of a multiple of so many contacts, where all trees are free, and
// contacts have the problem's targets.
enum { CERTIFICATE_LANES = 4 };
double certificate_scale_free(const ContactProblem *problem, const uint32_t *contact,
                              uint32_t count, double most);

// The momentum that impulses are to the bodies of so many contacts, one after the other, is added;
// likewise.
void certificate_add_free_momenta(const ContactProblem *problem, const uint32_t *contact,
                                  uint32_t count, const double *impulse, double *momentum);

// The same, and certificate_measure_contacts, for machines with AVX2 only.
void certificate_add_free_momenta_avx2(const ContactProblem *problem, const uint32_t *contact,
                                       uint32_t count, const double *impulse, double *momentum);
double certificate_scale_free_avx2(const ContactProblem *problem, const uint32_t *contact,
                                   uint32_t count, double most);
void certificate_contacts_avx2(CertificateMeasure *m, uint32_t begin, uint32_t end);
