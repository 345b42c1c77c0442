// SPDX-License-Identifier: MIT
// A contact problem on its way over the wire.
#pragma once

#include "wire/problem/codec.h"

#include "support/suite.h"

// Through bytes, as a client has it; to be freed with its free_unpacked.
static inline Moreau__V1__ContactProblem *problem_sent(const ContactProblem *problem,
                                                       Arena *arena) {
    Moreau__V1__ContactProblem *written = problem_codec_write(problem, arena);
    ck_assert_ptr_nonnull(written);
    size_t count = moreau__v1__contact_problem__get_packed_size(written);
    uint8_t *bytes = arena_take_array(arena, count + 1, 1);
    ck_assert_ptr_nonnull(bytes);
    moreau__v1__contact_problem__pack(written, bytes);
    Moreau__V1__ContactProblem *arrived = moreau__v1__contact_problem__unpack(NULL, count, bytes);
    ck_assert_ptr_nonnull(arrived);
    return arrived;
}
