// SPDX-License-Identifier: MIT
// Trees of joints in the energy book of a step (energy.c), in their own velocities. With
// vbar = (v0 + v1)/2 and A the mass block that the problem was solved with:
//
//     W_contact + W_row = vbar . A (v1 - v*)          what contacts and rows do, if solved
//     W_applied = h (forces of dampers) . vbar + wrenches on bodies
//     W_drive   = h (forces fed forward, of drives) . vbar + what the base does, where it moves:
//                 of linear momentum P and angular L about where it was, c, as it moves with u, w,
//                 u . (P1 - P0 - h forces) + w . (L1 - L0 - h torques), forces beside rows and
//                 contacts: these are booked by their motion (energy.c)
//     W_scheme  = E1 - E0 - vbar . A (v1 - v*) - W_applied - W_drive
//
// E is kinetic, of the weight, of springs and of armatures. For trees the scheme is all that the
// free motion and the moving of coordinates did beyond the forces that are named; what stays
// unexplained is what the problem left unsolved.
#include "step/stages.h"

#include "base/assert.h"

#include <string.h>

// Beside the kinetic one, of links that are placed: of their weight, of what is stretched and of
// what is on the axes. The latter two are part of the scale.
static double stored_energy(const StepState *state, const TreeFlight *flight,
                            const double *positions, const double *velocities, double *scale) {
    double weight = 0.0;
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        weight += flight->mass[flight->view.link[i].body].mass *
                  vec3_dot(state->world->settings.gravity, flight->work.frame[i].center);
    }
    if (!flight->acts.springs && !flight->acts.armatures) {
        return -weight;
    }
    const TreeStored stored = tree_axes_energy(&flight->view, &flight->axes, positions, velocities);
    *scale += stored.springs + stored.armatures;
    return stored.springs + stored.armatures - weight;
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

static double dense_form(const double *matrix, uint32_t width, const double *x, const double *y) {
    double form = 0.0;
    for (uint32_t j = 0; j < width; j++) {
        double product = 0.0;
        for (uint32_t k = 0; k < width; k++) {
            product += matrix[j * (size_t)width + k] * y[k];
        }
        form += x[j] * product;
    }
    return form;
}

// What a link moves with, of velocities of its tree.
static TreePair link_motion(const ContactProblem *problem, const ProblemLink *links, uint32_t i,
                            const TreePair *of, const double *x) {
    ASSERT(links[i].parent == PROBLEM_NO_LINK || links[i].parent < i);
    const ProblemLink *link = &links[i];
    TreePair motion = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (link->parent != PROBLEM_NO_LINK) {
        const Vec3 arm = vec3_sub(link->center, links[link->parent].center);
        motion = of[link->parent];
        motion.linear = vec3_add(motion.linear, vec3_cross(motion.angular, arm));
    }
    for (uint32_t k = 0; k < link->count; k++) {
        const double *unit = problem->number + link->motion + 6 * (size_t)k;
        motion.linear = vec3_add_scaled(motion.linear, x[link->first + k], vec3_load(unit));
        motion.angular = vec3_add_scaled(motion.angular, x[link->first + k], vec3_load(unit + 3));
    }
    return motion;
}

static double links_form(const ContactProblem *problem, const ProblemTree *tree, TreeWork *work,
                         const double *x, const double *y) {
    ASSERT(tree->link_count > 0);
    const ProblemLink *links = problem->link + tree->mass;
    double form = 0.0;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const ProblemLink *link = &links[i];
        const TreePair a = work->load[i] = link_motion(problem, links, i, work->load, x);
        const TreePair b = work->change[i] = link_motion(problem, links, i, work->change, y);
        form += link->mass * vec3_dot(a.linear, b.linear) +
                vec3_dot(a.angular, sym3_mul_vec(link->inertia, b.angular));
        form += dense_form(problem->number + link->added, link->count, x + link->first,
                           y + link->first);
    }
    return form;
}

// What contacts and rows do together; the rows' share is taken out of it in the end (rows.c).
static void book_solved(const StepState *state, StepTree *tree, const double *mean) {
    const ContactProblem *problem = &state->stepper->problem;
    const ProblemTree *of = &state->tree[tree->problem];
    const double *momentum = state->result.answer.momentum + of->first,
                 *v = state->stepper->v + of->first, *v_free = state->v_free + of->first;
    double *change = tree->flight.change, work = 0.0;
    for (uint32_t k = 0; k < of->width; k++) {
        change[k] = v[k] - v_free[k];
        work += mean[k] * momentum[k];
    }
    const double done = of->link_count > 0
                            ? links_form(problem, of, &tree->flight.work, mean, change)
                            : dense_form(problem->number + of->mass, of->width, mean, change);
    tree->energy.contact += work;
    tree->energy.scheme -= done;
    tree->energy.unexplained += done - work;
}

// Of what acts along the coordinates beside springs, where the integrator takes it.
static void book_forces(StepTree *tree, const double *mean) {
    TreeFlight *flight = &tree->flight;
    const uint32_t width = flight->view.tree->width;
    double work = 0.0;
    if (flight->by_stages) {
        memcpy(flight->change, flight->rates, width * sizeof(double));
        memcpy(flight->others, flight->acting, width * sizeof(double));
    } else if (flight->acts.linear) {
        tree_flight_pull(flight, tree->velocities, flight->change);
        const TreeAsked asked = {flight->moved, flight->moved, flight->change};
        tree_axes_forces(&flight->view, &flight->axes, &asked, NULL, flight->others);
    } else {
        tree_axes_efforts(&flight->view, &flight->axes, flight->others);
    }
    for (uint32_t k = 0; k < width; k++) {
        work += flight->h * flight->others[k] * mean[k];
    }
    if (!flight->acts.linear) {
        tree->energy.drive += work;
        return;
    }
    const double damping =
        flight->h * tree_axes_damping(&flight->view, &flight->axes, flight->change, mean);
    tree->energy.applied += damping;
    tree->energy.drive += work - damping;
}

// ---- a base that moves

// Momenta of a link, the angular one about a point.
static TreePair momentum_of(const BodyMass *mass, Pose pose, const double *velocity, Vec3 about) {
    const Mat3 turn = quat_to_mat3(pose.orientation);
    const Vec3 linear = vec3_scale(mass->mass, vec3_load(velocity)),
               spin = sym3_mul_vec(tree_body_inertia(mass, &turn), vec3_load(velocity + 3));
    return (TreePair){linear, vec3_add(spin, vec3_cross(vec3_sub(pose.position, about), linear))};
}

// What moving it takes beyond weight, wrenches, contacts and rows.
static double base_work(const StepState *state, const StepTree *tree) {
    const World *world = state->world;
    const TreeFlight *flight = &tree->flight;
    const TreeView *view = &flight->view;
    const Vec3 about = view->base.position;
    TreePair sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const uint32_t body = view->link[i].body;
        const BodyMass *mass = &world->mass[body];
        const Pose old = pose_load(world->pose + 7 * (size_t)body),
                   new = pose_load(state->pose_new + 7 * (size_t)body);
        const TreePair begun = momentum_of(mass, old, world->velocity + 6 * (size_t)body, about),
                       ended = momentum_of(mass, new, stage_velocity_after(state, body), about);
        const double *wrench = flight->wrenches + 6 * (size_t)i;
        const Vec3 arm = vec3_sub(vec3_scale(0.5, vec3_add(old.position, new.position)), about),
                   force = vec3_add_scaled(vec3_load(wrench), mass->mass, flight->gravity),
                   torque = vec3_add(vec3_load(wrench + 3), vec3_cross(arm, force));
        const Vec3 pushed = vec3_sub(ended.linear, begun.linear),
                   turned = vec3_sub(ended.angular, begun.angular);
        sum.linear = vec3_add(sum.linear, vec3_add_scaled(pushed, -flight->h, force));
        sum.angular = vec3_add(sum.angular, vec3_add_scaled(turned, -flight->h, torque));
    }
    return vec3_dot(view->base_velocity, sum.linear) + vec3_dot(view->base_spin, sum.angular);
}

static bool has_moving_base(const TreeView *view) {
    const Vec3 v = view->base_velocity, w = view->base_spin;
    return vec3_dot(v, v) > 0.0 || vec3_dot(w, w) > 0.0;
}

void energy_begin_tree(const StepState *state, StepTree *tree) {
    TreeFlight *flight = &tree->flight;
    StepEnergy *energy = &tree->energy;
    const uint32_t width = flight->view.tree->width;
    double *mean = flight->mean;
    *energy = (StepEnergy){.scale = flight->kinetic};
    energy->before = flight->kinetic + stored_energy(state, flight, flight->positions,
                                                     flight->velocities, &energy->scale);
    if (flight->has_wrenches) {
        tree_move(&flight->view, flight->velocities, flight->work.frame);
        energy->applied = wrench_work(flight);
    }
    for (uint32_t k = 0; k < width; k++) {
        mean[k] = 0.5 * (flight->velocities[k] + tree->velocities[k]);
    }
    if (width > 0) {
        book_solved(state, tree, mean);
    }
    if (flight->acts.forces) {
        book_forces(tree, mean);
    }
}

// What comes back: of the weights, and of springs.
static void book_swing(const StepState *state, StepTree *tree) {
    const World *world = state->world;
    const TreeFlight *flight = &tree->flight;
    const TreeView *view = &flight->view;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const uint32_t body = view->link[i].body;
        energy_add_weight(state, flight->integrator, world->mass[body].mass,
                          world->velocity + 6 * (size_t)body, stage_velocity_after(state, body),
                          &tree->energy);
    }
    if (flight->acts.springs && flight->integrator == INTEGRATOR_SYMPLECTIC && !flight->by_stages) {
        tree->energy.swing += tree_axes_swing(view, &flight->axes, flight->share, flight->h,
                                              tree->positions, tree->velocities) -
                              tree_axes_swing(view, &flight->axes, flight->share, flight->h,
                                              flight->positions, flight->velocities);
    }
}

void energy_end_tree(const StepState *state, StepTree *tree) {
    TreeFlight *flight = &tree->flight;
    StepEnergy *energy = &tree->energy;
    const double kinetic = tree_kinetic_energy(&flight->view, flight->mass, flight->work.frame);
    energy->scale += kinetic;
    energy->after =
        kinetic + stored_energy(state, flight, tree->positions, tree->velocities, &energy->scale);
    energy->applied += wrench_work(flight);
    energy->drive += has_moving_base(&flight->view) ? base_work(state, tree) : 0.0;
    energy->scheme += energy->after - energy->before - energy->applied - energy->drive;
    book_swing(state, tree);
}

double energy_of_motion(const StepState *state, const StepTree *tree) {
    const TreeView *view = &tree->flight.view;
    double kinetic = tree_kinetic_energy(view, tree->flight.mass, tree->flight.work.frame);
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const JointAxis *axis =
            link->joint == TREE_NONE
                ? NULL
                : &state->world->joint_axis[view->joint[link->joint].axis_first];
        for (uint32_t k = 0; axis != NULL && k < tree_link_width(link); k++) {
            const double rate = tree->velocities[link->first + k];
            kinetic += 0.5 * axis[k].armature * rate * rate;
        }
    }
    return kinetic;
}
