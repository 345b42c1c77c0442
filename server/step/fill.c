// SPDX-License-Identifier: MIT
// What the solver is told of a contact that was found. A gap that is noise of the solver counts as
// touching when its bias is made. A solver of tolerance eps leaves a body at rest velocities of
// some eps g h, so gaps of some eps g h^2: they ask its corners for motions that no rigid body has,
// and the solver would carry the weight from corner to corner in every step.
#include "step/stages.h"

#include "base/assert.h"

#include "collide/approach.h"

#include <math.h>

// The normal velocity at the start of the step, and the bias that follows from it;
// whether recovery_speed held that back.
static bool fill_approach(const StepState *state, const StepPair *pair, ProblemContact *dynamics,
                          ContactLaw *law) {
    const World *world = state->world;
    Vec3 old = vec3_sub(
        stage_point_velocity(world->velocity + 6 * (size_t)pair->b, dynamics->side[1].arm),
        stage_point_velocity(world->velocity + 6 * (size_t)pair->a, dynamics->side[0].arm));
    double normal_speed = vec3_dot(dynamics->normal, old);
    bool bounces = normal_speed < -world->settings.restitution_threshold;
    law->approach = normal_speed < 0.0 ? normal_speed : 0.0;
    law->restitution = bounces ? pair->material.restitution : 0.0;
    double gap = fabs(dynamics->gap) < state->touch ? 0.0 : dynamics->gap;
    double h = state->input->time_step;
    double wanted = state->solver_row->bias(state->stepper->solver.parameter, h, gap);
    // an overlap leaves at recovery_speed, and no faster
    double bound = -world->settings.recovery_speed;
    double allowed = wanted < bound ? bound : wanted;
    dynamics->bias = problem_bounce_bias(allowed, h, gap, law->restitution, law->approach);
    // where it bounces off faster still, nothing was held back
    return wanted < bound && dynamics->bias > wanted;
}

// G' v of a point that is fixed to both bodies, in a frame that stands: of each w x (w x arm).
static void fill_gdot(const StepState *state, const StepPair *pair, const ProblemContact *dynamics,
                      ContactLaw *law) {
    Vec3 turn[2];
    for (int s = 0; s < 2; s++) {
        const uint32_t body = s == 0 ? pair->a : pair->b;
        const Vec3 arm = dynamics->side[s].arm,
                   spin = vec3_load(state->world->velocity + 6 * (size_t)body + 3);
        turn[s] = vec3_cross(spin, vec3_cross(spin, arm));
        if (stage_tree(state, body) != NULL) { // its joints lead it along a curve
            const TreePair *change = &state->link_change[stage_link(state, body)];
            turn[s] = vec3_add(turn[s], vec3_add(change->linear, vec3_cross(change->angular, arm)));
        }
    }
    Vec3 change = vec3_sub(turn[1], turn[0]);
    law->gdot[0] = vec3_dot(dynamics->normal, change);
    law->gdot[1] = vec3_dot(dynamics->tangent[0], change);
    law->gdot[2] = vec3_dot(dynamics->tangent[1], change);
}

// Whether a body is moved by what is known: it is kinematic, or its tree hangs on one that is.
static bool is_carried(const StepState *state, uint32_t body) {
    const World *world = state->world;
    const StepTree *tree = stage_tree(state, body);
    uint32_t base = tree == NULL ? body : tree->flight.view.tree->base;
    return base != JOINT_NO_BODY && world->kind[base] == BODY_KINEMATIC;
}

static Vec3 carried_velocity(const StepState *state, uint32_t body, const double *velocity,
                             Vec3 arm) {
    ASSERT(body < state->world->body_count);
    const StepTree *tree = stage_tree(state, body);
    if (tree == NULL) {
        return stage_point_velocity(velocity, arm);
    }
    const TreeView *view = &tree->flight.view;
    Vec3 point = vec3_add(vec3_load(state->world->pose + 7 * (size_t)body), arm);
    return tree_carried_velocity(view->base_velocity, view->base_spin,
                                 vec3_sub(point, view->base.position));
}

// Kinematic bodies are no trees: their known velocity enters as motion.
static void fill_motion(const StepState *state, const StepPair *pair, ProblemContact *dynamics) {
    Vec3 motion = vec3(0.0, 0.0, 0.0);
    if (is_carried(state, pair->a)) {
        motion =
            vec3_sub(motion, carried_velocity(state, pair->a, pair->free_a, dynamics->side[0].arm));
    }
    if (is_carried(state, pair->b)) {
        motion =
            vec3_add(motion, carried_velocity(state, pair->b, pair->free_b, dynamics->side[1].arm));
    }
    dynamics->motion[0] = vec3_dot(dynamics->normal, motion);
    dynamics->motion[1] = vec3_dot(dynamics->tangent[0], motion);
    dynamics->motion[2] = vec3_dot(dynamics->tangent[1], motion);
}

// The tangent of a law that is not linear, where the solver takes one.
static void fill_tangent(const StepState *state, const StepPair *pair, const StepFound *found,
                         ContactLaw *law) {
    double closing = vec3_dot(found->normal, stage_free_velocity_at(pair, found->point));
    double ahead = -(found->gap + state->input->time_step * closing);
    MaterialTangent tangent = material_tangent(&pair->material, found->gap, ahead);
    law->stiffness = tangent.stiffness;
    law->damping = tangent.damping;
    law->force = tangent.force;
}

static void fill_springs(const StepState *state, const StepPair *pair, const StepFound *found,
                         ContactLaw *law) {
    const Material *material = &pair->material;
    law->stiffness = material->stiffness;
    law->dissipation_time = material->dissipation_time;
    law->damping = material->damping;
    if (found->foundation != NULL) {
        law->stiffness = foundation_stiffness(found->foundation);
        law->damping = found->foundation->foundation.damping;
        law->dissipation_time = law->damping / law->stiffness;
    }
    // at the true gap, whatever the bias makes of it
    law->force = isinf(law->stiffness) ? 0.0 : -law->stiffness * found->gap;
    if (material->hertz_exponent > 1.0 && found->foundation == NULL &&
        state->solver_row->takes_tangents) {
        fill_tangent(state, pair, found, law);
    }
}

// Member by member: a literal of this size would be zeroed first and copied after.
static bool fill_contact(const StepState *state, const StepPair *pair, bool is_carried_along,
                         const StepFound *found, StepContact *contact, ProblemContact *dynamics,
                         ContactLaw *law) {
    VALIDATE(found->a < found->b && found->b < state->world->body_count);
    VALIDATE(!(fabs(vec3_dot(found->normal, found->normal) - 1.0) > 1e-9));
    const Material *material = &pair->material;
    contact->a = found->a;
    contact->b = found->b;
    contact->part_a = found->part_a;
    contact->part_b = found->part_b;
    contact->feature = found->feature;
    contact->point = found->point;
    for (int s = 0; s < 2; s++) {
        ContactSide *side = &dynamics->side[s];
        side->tree = state->stepper->tree_of_body[s == 0 ? found->a : found->b];
        side->jacobian = 0;
        side->arm = vec3_sub(found->point, s == 0 ? pair->center_a : pair->center_b);
    }
    dynamics->normal = found->normal;
    vec3_tangents(found->normal, &dynamics->tangent[0], &dynamics->tangent[1]);
    dynamics->mu = (found->feature & APPROACH_INNER_BALL) != 0 ? 0.0 : material->friction;
    dynamics->gap = found->gap;
    fill_springs(state, pair, found, law);
    law->gdot[0] = law->gdot[1] = law->gdot[2] = 0.0;
    if (state->wants_gdot) {
        fill_gdot(state, pair, dynamics, law);
    }
    if (is_carried_along) {
        fill_motion(state, pair, dynamics);
    } else {
        dynamics->motion[0] = dynamics->motion[1] = dynamics->motion[2] = 0.0;
    }
    return fill_approach(state, pair, dynamics, law);
}

// Contacts from `place` on, of what was found; or, where `meeting` is given, of what is in these.
static uint32_t fill(const StepState *state, const StepFound *found, const StepMeeting *meeting,
                     uint32_t count, uint32_t place) {
    ASSERT(count == 0 || found != NULL || meeting != NULL);
    Stepper *stepper = state->stepper;
    StepPair pair = stage_no_pair();
    uint32_t recovery_count = 0;
    bool is_carried_along = false;
    double time = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const StepFound *of = meeting == NULL ? &found[i] : &meeting[i].found;
        // most contacts are of the pair before, at the same time
        if (i == 0 || of->a != pair.a || of->b != pair.b || of->time != time) {
            time = of->time;
            stage_load_pair(state, &pair, of->a, of->b, time);
            is_carried_along = is_carried(state, pair.a) || is_carried(state, pair.b);
        }
        if (meeting != NULL) {
            pair.center_a = vec3_sub(of->point, meeting[i].arm[0]);
            pair.center_b = vec3_sub(of->point, meeting[i].arm[1]);
        }
        stage_set_materials(state->world, &pair, of->material_a, of->material_b);
        const uint32_t at = place + i;
        recovery_count += fill_contact(state, &pair, is_carried_along, of, &stepper->contact[at],
                                       &stepper->problem_contact[at], &stepper->law[at]);
    }
    return recovery_count;
}

uint32_t fill_again(const StepState *state, uint32_t first, uint32_t end) {
    ASSERT(first <= end);
    ASSERT(end <= state->stepper->contact_count);
    return fill(state, NULL, state->stepper->meeting + first, end - first, first);
}

uint32_t fill_contacts(const StepState *state, const StepFound *found, uint32_t count,
                       uint32_t place) {
    ASSERT(place + count <= state->stepper->contact_capacity);
    return fill(state, found, NULL, count, place);
}
