// SPDX-License-Identifier: MIT
// --param KEY=VALUE: solver parameters by reflection over the solver's parameter message, so that a
// solver added to the protocol is known here at once.
#pragma once

#include "cli/options.h"

#include <jansson.h>

#include "moreau.pb-c.h"

#define PARAMETERS_SOLVER_DEFAULT "mdp"

// Sets `params` in *all, which is created where it is NULL, in the message of `solver`. false, with
// a sentence in `message`, when a key or a value is not known; the sentence lists what is.
bool parameters_set(const char *solver, const OptionList *params,
                    Moreau__V1__SolverParameters **all, char *message, size_t message_bytes);

// What is set for `solver`, as a JSON object; a new reference.
json_t *parameters_write(const char *solver, const Moreau__V1__SolverParameters *all);

// The name of the contact model that a solver with these parameters claims, as problem files name
// it.
const char *parameters_model(const char *solver, const Moreau__V1__SolverParameters *all);
