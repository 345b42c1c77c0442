// SPDX-License-Identifier: MIT
#include "step/trees/staged.h"

#include "base/assert.h"
#include "step/trees/resolve.h"
#include "step/trees/runge_kutta.h"
#include "step/trees/verlet.h"

bool tree_fly_staged(TreeFlight *flight, double *v) {
    ASSERT(integrator_is_staged(flight->integrator));
    if (!tree_turns_little(flight) || !tree_is_soft(flight)) {
        return false;
    }
    return flight->integrator == INTEGRATOR_RK4 ? tree_fly_runge_kutta(flight, v)
                                                : tree_fly_verlet(flight, v);
}
