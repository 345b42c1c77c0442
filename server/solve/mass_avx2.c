// SPDX-License-Identifier: MIT
#include "solve/mass.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/mass_simd.h"

__attribute__((target("avx2"))) void mass_add_free_avx2(const ProblemMass *mass,
                                                        const uint32_t *contact, uint32_t count) {
    add_free_contacts(mass, contact, count);
}

#endif
