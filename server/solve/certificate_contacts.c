// SPDX-License-Identifier: MIT
#include "solve/certificate_contacts.h"

#define SIMD_COUNT 2
#include "solve/certificate_contacts_simd.h"

void certificate_contacts(CertificateMeasure *m, double *residual) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        certificate_contacts_avx2(m, residual);
        return;
    }
#endif
    measure_contacts(m, residual);
}
