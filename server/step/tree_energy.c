// SPDX-License-Identifier: MIT
// Trees of joints in the energy book of a step (energy.c), in their own velocities. With
// vbar = (v0 + v1)/2 and A the mass block that the problem was solved with:
//
//     W_contact + W_row = vbar . A (v1 - v*)          what contacts and rows do, if solved
//     W_applied = h (forces fed forward, of drives and dampers) . vbar + wrenches on bodies
//     W_scheme  = E1 - E0 - vbar . A (v1 - v*) - W_applied
//
// E is kinetic, of the weight, of springs and of armatures. For trees the scheme is all that the
// free motion and the moving of coordinates did beyond the forces that are named; what stays
// unexplained is what the problem left unsolved.
#include "step/stages.h"

static double stored_energy(const StepState *state, const TreeFlight *flight,
                            const double *positions, const double *velocities) {
    double weight = 0.0;
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        const TreeInertia *own = &flight->work.own[i];
        weight += own->mass * vec3_dot(state->world->settings.gravity, own->center);
    }
    return tree_kinetic_energy(&flight->view, &flight->work) - weight +
           tree_axes_energy(&flight->view, &flight->axes, positions, velocities);
}

static double wrench_work(const TreeFlight *flight) {
    double power = 0.0;
    for (uint32_t i = 0; flight->has_wrenches && i < flight->view.tree->link_count; i++) {
        const double *wrench = flight->wrenches + 6 * (size_t)i;
        power += vec3_dot(vec3_load(wrench), flight->work.frame[i].velocity) +
                 vec3_dot(vec3_load(wrench + 3), flight->work.frame[i].spin);
    }
    return 0.5 * flight->h * power;
}

// Row j's share of the momentum is what is left of it beside the contacts'.
static void book_solved(const StepState *state, StepTree *tree, const double *mean) {
    const ProblemTree *of = &state->tree[tree->problem];
    const double *matrix = state->stepper->number + of->mass,
                 *momentum = state->result.answer.momentum + of->first,
                 *v = state->stepper->v + of->first, *v_free = state->v_free + of->first;
    double work = 0.0, solved = 0.0;
    for (uint32_t j = 0; j < of->width; j++) {
        double change = 0.0;
        for (uint32_t k = 0; k < of->width; k++) {
            change += matrix[j * (size_t)of->width + k] * (v[k] - v_free[k]);
        }
        work += mean[j] * momentum[j];
        solved += mean[j] * change;
    }
    tree->energy.contact += work;
    tree->energy.scheme -= solved;
}

void energy_begin_tree(const StepState *state, StepTree *tree) {
    TreeFlight *flight = &tree->flight;
    StepEnergy *energy = &tree->energy;
    const uint32_t width = flight->view.tree->width;
    double *mean = flight->mean;
    tree_weigh(&flight->view, flight->mass, &flight->work);
    tree_move(&flight->view, flight->velocities, flight->work.frame);
    *energy =
        (StepEnergy){.before = stored_energy(state, flight, flight->positions, flight->velocities),
                     .applied = wrench_work(flight)};
    for (uint32_t k = 0; k < width; k++) {
        mean[k] = 0.5 * (flight->velocities[k] + tree->velocities[k]);
    }
    if (width > 0) {
        book_solved(state, tree, mean);
    }
    // where the integrator takes them
    const double share = tree_share(state->world->settings.integrator);
    for (uint32_t k = 0; k < width; k++) {
        flight->change[k] =
            flight->velocities[k] + share * (tree->velocities[k] - flight->velocities[k]);
    }
    tree_advance(&flight->view, flight->positions, flight->change, share * flight->h,
                 flight->moved);
    tree_axes_forces(&flight->view, &flight->axes, flight->moved, flight->change, NULL,
                     flight->others);
    for (uint32_t k = 0; k < width; k++) {
        energy->applied += flight->h * flight->others[k] * mean[k];
    }
}

void energy_end_tree(const StepState *state, StepTree *tree) {
    TreeFlight *flight = &tree->flight;
    StepEnergy *energy = &tree->energy;
    tree_weigh(&flight->view, flight->mass, &flight->work);
    energy->after = stored_energy(state, flight, tree->positions, tree->velocities);
    energy->applied += wrench_work(flight);
    energy->scheme += energy->after - energy->before - energy->applied;
}
