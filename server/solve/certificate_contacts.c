// SPDX-License-Identifier: MIT
#include "solve/certificate_parts.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/certificate_contacts_simd.h"

void certificate_measure_contacts(CertificateMeasure *m, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        certificate_contacts_avx2(m, begin, end);
        return;
    }
#endif
    measure_contacts(m, begin, end);
}
