// SPDX-License-Identifier: MIT
// --param KEY=VALUE: solver parameters by reflection over the solver's parameter message, so that a
// solver added to the protocol is known here at once.
#pragma once

#include "cli/json/text.h"
#include "cli/base/options.h"

#include "moreau.pb-c.h"

#define PARAMETERS_SOLVER_DEFAULT "mdp"

// The solvers that this tool knows parameters of, which live for ever.
void parameters_solvers(OptionList *solvers);

// Sets `params` in *all, which is created where it is NULL, in the message of `solver`. A key may
// name its solver, as sap.sigma: what is for another of `solvers`, which all of them run, is passed
// over here. false, with a sentence in `message`, when a key or a value is not known, or is of a
// solver that does not run; the sentence lists what is.
bool parameters_set(const char *solver, const OptionList *solvers, const OptionList *params,
                    Moreau__V1__SolverParameters **all, char *message, size_t message_bytes);

// The parameters of `solver` from a JSON object at `path` of a document, into a new *all. false,
// with `error` filled, when they are not its.
bool parameters_read(const char *solver, const JsonText *json, const json_t *value,
                     const char *path, Moreau__V1__SolverParameters **all, JsonError *error);

// What is set for `solver`, as a JSON object; a new reference.
json_t *parameters_write(const char *solver, const Moreau__V1__SolverParameters *all);

// How many iterations the solver may take by its parameters; 0: not given.
uint32_t parameters_iterations(const char *solver, const Moreau__V1__SolverParameters *all);

enum { PARAMETERS_MODEL_BYTES = 24 };

// The name of the contact model that a solver with these parameters claims, as problem files name
// it: in `text` where it has a number, else for ever.
const char *parameters_model(const char *solver, const Moreau__V1__SolverParameters *all,
                             char text[PARAMETERS_MODEL_BYTES]);
