// SPDX-License-Identifier: MIT
#include "step/trees/resolve.h"

#include "base/assert.h"

#include <string.h>

bool tree_turns_little(const TreeFlight *flight) {
    ASSERT(flight->h > 0.0);
    double fastest = 0.0;
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        const Vec3 spin = flight->work.frame[i].spin;
        fastest = fmax(fastest, vec3_dot(spin, spin));
    }
    return flight->h * flight->h * fastest <= STAGED_TURN * STAGED_TURN;
}

bool tree_is_soft(TreeFlight *flight) {
    if (!flight->acts.springs && !flight->acts.pulls) {
        return true;
    }
    memset(flight->rest, 0, flight->view.tree->width * sizeof(double));
    tree_factor(&flight->view, flight->armature, &flight->work);
    tree_mobility(&flight->view, &flight->work, flight->rest);
    return tree_axes_stiffness(&flight->view, &flight->axes, flight->h, flight->rest) <=
           STAGED_STIFF;
}

double tree_change_energy(TreeFlight *flight, const double *change) {
    TreeView view = flight->view;
    view.base_velocity = view.base_spin = vec3(0.0, 0.0, 0.0);
    tree_move(&view, change, flight->work.frame);
    return tree_kinetic_energy(&view, flight->mass, flight->work.frame);
}

void tree_change_links(TreeFlight *flight) {
    ASSERT(flight->staged.frame != flight->work.frame);
    const TreeWork work = flight->work;
    flight->work = flight->staged;
    flight->staged = work;
}
