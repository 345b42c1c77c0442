// SPDX-License-Identifier: MIT
// What channels feel: numbers of what happened in a world's last step, which stand in no state of
// it: what contacts and joints carried, how a body was accelerated. They follow from what the
// stepper keeps of the step, so that who goes on from a stored state needs them stored beside it.
#pragma once

#include "run/groups/layout.h"

typedef struct FeltSource {
    const World *world, *template;
    const Stepper *stepper;
    double time_step; // [s] of the last step
    Arena *scratch;   // as it was afterwards
} FeltSource;

// What joints carried, if a layout asks: in the scratch memory. NULL where that is not known.
Status felt_joint_wrenches(const FeltSource *source, const double **wrench, Error *error);

// [felt_count] of the layout: zero without a last step, and of what is gone. All are finite.
void felt_read(const Layout *layout, const FeltSource *source, const double *joint_wrench,
               double *felt);
