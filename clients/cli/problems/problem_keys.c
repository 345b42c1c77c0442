// SPDX-License-Identifier: MIT
#include "cli/problems/problem.h"

#include <stddef.h>

#define COLUMN(field)                                                                              \
    offsetof(Moreau__V1__ContactProblem, field), offsetof(Moreau__V1__ContactProblem, n_##field)

static const ProblemKey contact_keys[] = {
    {"mu", COLUMN(contact_mu), 1, 0, false, false},
    {"gap", COLUMN(contact_gap), 1, 0, false, false},
    {"restitution", COLUMN(contact_restitution), 1, 0, false, false},
    {"approach", COLUMN(contact_approach), 1, 0, false, false},
    {"stiffness", COLUMN(contact_stiffness), 1,
     MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_STIFFNESS, true, true},
    {"dissipation_time", COLUMN(contact_dissipation_time), 1, 0, false, false},
    {"damping", COLUMN(contact_damping), 1, 0, false, false},
    {"bias", COLUMN(contact_bias), 1, MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_BIAS,
     true, false},
    {"force", COLUMN(contact_force), 1, MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_FORCE,
     true, false},
    {"motion", COLUMN(contact_motion), 3, 0, false, false},
    {"gdot", COLUMN(contact_gdot), 3, 0, false, false},
};

static const ProblemKey row_keys[] = {
    {"low", COLUMN(row_low), 1, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_LOW, true, true},
    {"high", COLUMN(row_high), 1, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_HIGH, true, true},
    {"gap", COLUMN(row_gap), 1, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_GAP, true, true},
    {"bias", COLUMN(row_bias), 1, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_BIAS, true, false},
    {"stiffness", COLUMN(row_stiffness), 1, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_STIFFNESS,
     true, true},
    {"dissipation_time", COLUMN(row_dissipation_time), 1, 0, false, false},
    {"damping", COLUMN(row_damping), 1, 0, false, false},
    {"R", COLUMN(row_compliance), 1, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_COMPLIANCE, true,
     false},
    {"gdot", COLUMN(row_gdot), 1, 0, false, false},
};

ProblemKeys problem_contact_keys(void) {
    return (ProblemKeys){contact_keys, sizeof(contact_keys) / sizeof(contact_keys[0])};
}

ProblemKeys problem_row_keys(void) {
    return (ProblemKeys){row_keys, sizeof(row_keys) / sizeof(row_keys[0])};
}
