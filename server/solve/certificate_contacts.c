// SPDX-License-Identifier: MIT
#include "solve/certificate_contacts.h"

#define LANES 2
#include "solve/certificate_contacts_lanes.h"

void certificate_contacts(CertificateMeasure *m, double *residual) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        certificate_contacts_wide(m, residual);
        return;
    }
#endif
    measure_contacts(m, residual);
}
