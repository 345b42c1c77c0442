// SPDX-License-Identifier: MIT
#include "solve/certificate_parts.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/certificate_contacts_simd.h"

double certificate_scale_free(const ContactProblem *problem, const uint32_t *contact,
                              uint32_t count, double most) {
    ASSERT(count % CERTIFICATE_LANES == 0);
    ASSERT(problem->all_free);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return certificate_scale_free_avx2(problem, contact, count, most);
    }
#endif
    return scale_contacts(problem, contact, count, most);
}

void certificate_add_free_momenta(const ContactProblem *problem, const uint32_t *contact,
                                  uint32_t count, const double *impulse, double *momentum) {
    ASSERT(count % CERTIFICATE_LANES == 0);
    ASSERT(problem->all_free);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        certificate_add_free_momenta_avx2(problem, contact, count, impulse, momentum);
        return;
    }
#endif
    add_momenta(problem, contact, count, impulse, momentum);
}

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
