// SPDX-License-Identifier: MIT
#include "solve/certificate_parts.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/certificate_contacts_simd.h"

__attribute__((target("avx2"))) double certificate_scale_free_avx2(const ContactProblem *problem,
                                                                   const uint32_t *contact,
                                                                   uint32_t count, double most) {
    return scale_contacts(problem, contact, count, most);
}

__attribute__((target("avx2"))) void
certificate_add_free_momenta_avx2(const ContactProblem *problem, const uint32_t *contact,
                                  uint32_t count, const double *impulse, double *momentum) {
    add_momenta(problem, contact, count, impulse, momentum);
}

__attribute__((target("avx2"))) void certificate_contacts_avx2(CertificateMeasure *m,
                                                               uint32_t begin, uint32_t end) {
    measure_contacts(m, begin, end);
}

#endif
