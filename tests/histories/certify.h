// SPDX-License-Identifier: MIT
// The server's certificate of any answer, as it stands; and of impulses that somebody else found,
// which nobody solves for.
#pragma once

#include "solve/solver.h"
#include "step/step.h"

// The certificate of an answer with its velocities, momenta and impulses.
Certificate certify(const ContactProblem *problem, const Answer *answer, double tolerance,
                    Arena *arena);

// Has a step go on with the impulses that its world remembers, and the velocities that they make,
// in the place of what its solver answers.
typedef struct StandIn {
    StepWitness witness; // first, so that it is found from that
    double tolerance;
    Arena *arena;
    Certificate certificate; // of what stands in, once the step has asked its solver
} StandIn;

// What the certificate takes lives in the arena.
StandIn stand_in(double tolerance, Arena *arena);
