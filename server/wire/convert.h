// SPDX-License-Identifier: MIT
// Between messages and the structs of the rooms below: settings, solver parameters, materials.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "run/worlds/input.h"

// What a settings message changes. `message` NULL: nothing. Blames settings.gravity and the like.
Status convert_settings(const Moreau__V1__WorldSettings *message, SettingsChange *change,
                        Error *error);

// The parameters of one solver, set on top of `settings`; they must be that solver's. Blames
// parameters.mdp.tolerance and the like.
Status convert_parameters(const Moreau__V1__SolverParameters *message, SolverSettings *settings,
                          Error *error);

// Settings as a message, with the solver's parameters; in the arena, NULL when it ends.
Moreau__V1__WorldSettings *convert_settings_out(const WorldSettings *settings, Arena *arena);
Moreau__V1__SolverParameters *convert_parameters_out(const SolverSettings *settings, Arena *arena);

// A material with absent fields at their defaults. Blames `path`.name.
Status convert_material(const Moreau__V1__Material *message, size_t index, Material *material,
                        Error *error);
