// SPDX-License-Identifier: MIT
#include "solve/certificate_contacts.h"

#if defined(__x86_64__)

#define LANES 4
#include "solve/certificate_contacts_lanes.h"

__attribute__((target("avx2"))) void certificate_contacts_wide(CertificateMeasure *m,
                                                               double *residual) {
    measure_contacts(m, residual);
}

#endif
