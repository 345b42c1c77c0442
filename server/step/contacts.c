// SPDX-License-Identifier: MIT
// Which contacts a step has: boxes that hold what a body may reach in this step, candidates from
// the broad phase, points from the narrow phase, and of those the ones within reach (notation.md):
//
//     gap <= margin + 2 |g| h^2 + h (|v_n| + mu |v_t|)   v: relative free velocity at the point
//
// The second term is for bodies that rest on each other: they fall together, so their relative free
// velocity is zero, and a gap of one rounding error would let the upper one fall into the lower one
// by g h^2.
//
// A gap that is noise of the solver counts as touching when its bias is made. A solver of tolerance
// eps leaves a body at rest velocities of some eps g h, so gaps of some eps g h^2: they ask its
// corners for motions that no rigid body has, and the solver would carry the weight from corner to
// corner in every step.
//
// Boxes and the narrow phase work with an upper bound of the right side: sqrt(1 + mu^2) |v| per
// body.
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"
#include "collide/narrow.h"

#include <math.h>

// what counts as touching, in tolerances of the solver, and at most, both as shares of g h^2: 17 nm
// with the defaults; a tower's slow ways to give are what makes the noise so many tolerances
#define TOUCH_TOLERANCES 100.0
#define TOUCH_SHARE_MAX  1e-4
// how much farther than they reach bodies are where no rounding brings them back
#define FAR_SLACK 1.001

static Status out_of_memory(StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The contacts of this step do not fit the memory budget (option "
                     "--memory-bytes-max), or more "
                     "than 33 million pairs of bodies are near each other.");
}

static Status given_up(StepState *state) {
    return error_set(state->error, STATUS_ABORTED, "", "The step was given up while colliding.");
}

// Of the ball around a body's centre of mass that holds it [m].
static double body_radius(const World *world, const Shape *shape, uint32_t body) {
    return world->has_center ? shape->radius + vec3_norm(world->mass[body].center) : shape->radius;
}

// How far any point of a body can come nearer to something in this step.
static double body_reach(const StepState *state, uint32_t body, double factor) {
    const World *world = state->world;
    const double *v = stage_free_velocity(state, body);
    const Shape *shape = world_body_shape(world, body);
    double speed = vec3_norm(vec3_load(v));
    Vec3 w = vec3_load(v + 3);
    if (shape != NULL && !shape->is_unbounded && vec3_dot(w, w) > 0.0) {
        speed += vec3_norm(w) * body_radius(world, shape, body);
    }
    return factor * speed;
}

// Poses of a body's primitives in the world, and the box around them.
static void place_body(StepState *state, uint32_t body, Pose *placed, BroadBox *box) {
    const World *world = state->world;
    const Shape *shape = world_body_shape(world, body);
    *box = (BroadBox){vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
    if (shape == NULL) {
        return;
    }
    Pose origin = pose_load(world->pose + 7 * (size_t)body);
    if (world->has_center) {
        origin.position =
            vec3_sub(origin.position, quat_rotate(origin.orientation, world->mass[body].center));
    }
    double grown = state->reach[body] + 0.5 * state->margin;
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        Vec3 lower, upper;
        placed[i] = pose_compose(origin, primitive->local);
        primitive_bounds(primitive, placed[i], &lower, &upper);
        box->lower = vec3(fmin(box->lower.x, lower.x - grown), fmin(box->lower.y, lower.y - grown),
                          fmin(box->lower.z, lower.z - grown));
        box->upper = vec3(fmax(box->upper.x, upper.x + grown), fmax(box->upper.y, upper.y + grown),
                          fmax(box->upper.z, upper.z + grown));
    }
}

static StepBall make_ball(const StepState *state, uint32_t body) {
    const World *world = state->world;
    const Shape *shape = world_body_shape(world, body);
    bool is_bounded = shape != NULL && !shape->is_unbounded;
    return (StepBall){.center = vec3_load(world->pose + 7 * (size_t)body),
                      .radius = is_bounded ? body_radius(world, shape, body) + state->reach[body]
                                           : HUGE_VAL};
}

static Status place_bodies(StepState *state, BroadBox *box, uint8_t *fixed) {
    const World *world = state->world;
    size_t total = 0;
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        state->placed_first[body] = (uint32_t)total;
        total += shape == NULL ? 0 : shape->primitive_count;
    }
    state->placed = arena_take_array(state->scratch, total, sizeof(Pose));
    if (state->placed == NULL) {
        return out_of_memory(state);
    }
    double mu = world->friction_max;
    double factor = state->input->time_step * sqrt(1.0 + mu * mu);
    for (uint32_t body = 0; body < world->body_count; body++) {
        state->reach[body] = body_reach(state, body, factor);
        state->ball[body] = make_ball(state, body);
        fixed[body] = world->kind[body] != BODY_DYNAMIC;
        place_body(state, body, state->placed + state->placed_first[body], &box[body]);
    }
    return STATUS_OK;
}

// The half-space of the candidates at hand: a body that is a plane and nothing else.
typedef struct HalfSpace {
    uint32_t body; // UINT32_MAX: none yet
    bool is_one;   // it is such a body
    Vec3 up, point;
} HalfSpace;

static void load_half_space(const StepState *state, uint32_t body, HalfSpace *half_space) {
    const World *world = state->world;
    const Shape *shape = &world->shape[world->body_shape[body]];
    *half_space = (HalfSpace){.body = body};
    if (shape->primitive_count == 1 && shape->is_unbounded) {
        const Pose *placed = &state->placed[state->placed_first[body]];
        half_space->is_one = true;
        half_space->up = quat_to_mat3(placed->orientation).c2;
        half_space->point = placed->position;
    }
}

// Every moving body is a candidate of a plane that is not parallel to two axes; most are far above
// it; and of other bodies whose boxes meet, the balls often do not. True only where the narrow
// phase would find nothing.
static bool is_far(const StepState *state, const HalfSpace *half_space, uint32_t body) {
    const StepBall *a = &state->ball[half_space->body], *b = &state->ball[body];
    if (half_space->is_one) {
        double near = FAR_SLACK * (state->margin + state->reach[half_space->body] + b->radius);
        return vec3_dot(half_space->up, vec3_sub(b->center, half_space->point)) > near;
    }
    Vec3 away = vec3_sub(b->center, a->center);
    double near = FAR_SLACK * (state->margin + a->radius + b->radius);
    return vec3_dot(away, away) > near * near;
}

// What the contacts of one pair of bodies have in common.
typedef struct PairState {
    uint32_t a, b;
    const double *free_a, *free_b;   // 6
    Vec3 center_a, center_b;         // of mass
    uint32_t material_a, material_b; // of `material`
    Material material;
} PairState;

// The normal velocity at the start of the step, and the bias that follows from it.
static void fill_approach(StepState *state, const PairState *pair, ProblemContact *dynamics,
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
    state->recovery_count += wanted < bound && dynamics->bias > wanted;
}

// Kinematic bodies are no trees: their known velocity enters as motion.
static void fill_motion(const StepState *state, const PairState *pair, ProblemContact *dynamics) {
    const World *world = state->world;
    Vec3 motion = vec3(0.0, 0.0, 0.0);
    if (world->kind[pair->a] != BODY_KINEMATIC && world->kind[pair->b] != BODY_KINEMATIC) {
        vec3_store(dynamics->motion, motion);
        return;
    }
    if (world->kind[pair->a] == BODY_KINEMATIC) {
        motion = vec3_sub(motion, stage_point_velocity(pair->free_a, dynamics->side[0].arm));
    }
    if (world->kind[pair->b] == BODY_KINEMATIC) {
        motion = vec3_add(motion, stage_point_velocity(pair->free_b, dynamics->side[1].arm));
    }
    dynamics->motion[0] = vec3_dot(dynamics->normal, motion);
    dynamics->motion[1] = vec3_dot(dynamics->tangent[0], motion);
    dynamics->motion[2] = vec3_dot(dynamics->tangent[1], motion);
}

// Member by member: a literal of this size would be zeroed first and copied after.
static void fill_contact(StepState *state, const PairState *pair, Vec3 normal,
                         const ManifoldPoint *point, uint64_t feature, StepContact *contact,
                         ProblemContact *dynamics, ContactLaw *law) {
    const Material *material = &pair->material;
    contact->a = pair->a;
    contact->b = pair->b;
    contact->feature = feature;
    contact->point = point->position;
    for (int s = 0; s < 2; s++) {
        ContactSide *side = &dynamics->side[s];
        side->tree = state->stepper->tree_of_body[s == 0 ? pair->a : pair->b];
        side->jacobian = 0;
        side->arm = vec3_sub(point->position, s == 0 ? pair->center_a : pair->center_b);
    }
    dynamics->normal = normal;
    vec3_tangents(normal, &dynamics->tangent[0], &dynamics->tangent[1]);
    dynamics->mu = material->friction;
    dynamics->gap = point->gap;
    law->stiffness = material->stiffness;
    law->dissipation_time = material->dissipation_time;
    law->damping = material->damping;
    law->force = isinf(material->stiffness) ? 0.0 : -material->stiffness * point->gap;
    law->gdot[0] = law->gdot[1] = law->gdot[2] = 0.0;
    fill_approach(state, pair, dynamics, law);
    fill_motion(state, pair, dynamics);
}

static bool is_within_reach(const StepState *state, const PairState *pair, Vec3 normal,
                            const ManifoldPoint *point) {
    if (point->gap <= state->margin) {
        return true; // however slow they are
    }
    Vec3 v =
        vec3_sub(stage_point_velocity(pair->free_b, vec3_sub(point->position, pair->center_b)),
                 stage_point_velocity(pair->free_a, vec3_sub(point->position, pair->center_a)));
    double normal_speed = vec3_dot(normal, v);
    double tangent_speed = vec3_norm(vec3_add_scaled(v, -normal_speed, normal));
    double reach =
        state->margin +
        state->input->time_step * (fabs(normal_speed) + pair->material.friction * tangent_speed);
    return point->gap <= reach;
}

static bool reserve_contacts(Stepper *stepper, size_t count) {
    // the contacts take the most of what a step needs; what the solver needs beside them is the
    // scratch memory's to limit
    if (count > stepper->contact_capacity && stepper_bytes(stepper) > stepper->bytes_max) {
        return false;
    }
    return ARRAY_RESERVE(stepper->contact, stepper->contact_capacity, count) &&
           ARRAY_RESERVE(stepper->problem_contact, stepper->problem_capacity, count) &&
           ARRAY_RESERVE(stepper->law, stepper->law_capacity, count);
}

// A place for a contact, by feature, among those of its pair from `pair_first` on.
static uint32_t make_place(Stepper *stepper, uint64_t feature, uint32_t pair_first) {
    ASSERT(stepper->contact_count < stepper->contact_capacity);
    ASSERT(pair_first <= stepper->contact_count);
    uint32_t at = stepper->contact_count++;
    for (; at > pair_first && stepper->contact[at - 1].feature > feature; at--) {
        stepper->contact[at] = stepper->contact[at - 1];
        stepper->problem_contact[at] = stepper->problem_contact[at - 1];
        stepper->law[at] = stepper->law[at - 1];
    }
    return at;
}

static void set_materials(const World *world, PairState *pair, uint32_t a, uint32_t b) {
    if (pair->material_a == a && pair->material_b == b) {
        return; // most pairs of a scene are of the same two materials as the pair before
    }
    pair->material = material_combine(&world->material[a], &world->material[b]);
    pair->material_a = a;
    pair->material_b = b;
}

// The points of two primitives that are within reach; `feature` is what their features share.
static bool add_manifold(StepState *state, const PairState *pair, const Manifold *manifold,
                         uint64_t feature, uint32_t pair_first) {
    Stepper *stepper = state->stepper;
    if (!reserve_contacts(stepper, (size_t)stepper->contact_count + manifold->count)) {
        return false;
    }
    for (uint32_t k = 0; k < manifold->count; k++) {
        const ManifoldPoint *point = &manifold->point[k];
        if (is_within_reach(state, pair, manifold->normal, point)) {
            uint64_t own = feature | point->feature;
            uint32_t at = make_place(stepper, own, pair_first);
            fill_contact(state, pair, manifold->normal, point, own, &stepper->contact[at],
                         &stepper->problem_contact[at], &stepper->law[at]);
        }
    }
    return true;
}

static void load_pair(const StepState *state, PairState *pair) {
    const World *world = state->world;
    pair->free_a = stage_free_velocity(state, pair->a);
    pair->free_b = stage_free_velocity(state, pair->b);
    pair->center_a = vec3_load(world->pose + 7 * (size_t)pair->a);
    pair->center_b = vec3_load(world->pose + 7 * (size_t)pair->b);
}

static Status collide_pair(StepState *state, PairState *pair) {
    const World *world = state->world;
    const Shape *shape_a = &world->shape[world->body_shape[pair->a]],
                *shape_b = &world->shape[world->body_shape[pair->b]];
    const Primitive *primitive_a = &world->primitive[shape_a->primitive_first],
                    *primitive_b = &world->primitive[shape_b->primitive_first];
    const Pose *placed_a = &state->placed[state->placed_first[pair->a]],
               *placed_b = &state->placed[state->placed_first[pair->b]];
    double reach = state->margin + state->reach[pair->a] + state->reach[pair->b];
    uint32_t pair_first = state->stepper->contact_count;

    for (uint32_t i = 0; i < shape_a->primitive_count; i++) {
        for (uint32_t j = 0; j < shape_b->primitive_count; j++) {
            Manifold manifold;
            narrow_collide_at(&primitive_a[i], &placed_a[i], &primitive_b[j], &placed_b[j], reach,
                              &manifold);
            if (manifold.count == 0) {
                continue;
            }
            load_pair(state, pair);
            set_materials(world, pair, primitive_a[i].material, primitive_b[j].material);
            uint64_t feature = (uint64_t)i << 48 | (uint64_t)j << 32;
            if (!add_manifold(state, pair, &manifold, feature, pair_first)) {
                return out_of_memory(state);
            }
        }
    }
    return STATUS_OK;
}

// between two questions pass some 100 us
enum { CANDIDATES_PER_QUESTION = 4096 };

Status contacts_run(StepState *state) {
    ASSERT(state->stepper->contact_count == 0);
    ASSERT(state->v_free != NULL);
    const World *world = state->world;
    double h = state->input->time_step;
    double fall = h * h * vec3_norm(world->settings.gravity);
    double touch = TOUCH_TOLERANCES * state->stepper->solver.parameter[SOLVER_TOLERANCE];
    state->margin = world->settings.margin + 2.0 * fall;
    state->touch = (touch < TOUCH_SHARE_MAX ? touch : TOUCH_SHARE_MAX) * fall;
    BroadBox *box = arena_take_array(state->scratch, world->body_count, sizeof(BroadBox));
    uint8_t *fixed = arena_take_array(state->scratch, world->body_count, 1);
    state->reach = arena_take_array(state->scratch, world->body_count, sizeof(double));
    state->ball = arena_take_array(state->scratch, world->body_count, sizeof(StepBall));
    state->placed_first = arena_take_array(state->scratch, world->body_count, sizeof(uint32_t));
    if (box == NULL || fixed == NULL || state->reach == NULL || state->ball == NULL ||
        state->placed_first == NULL) {
        return out_of_memory(state);
    }
    Status status = place_bodies(state, box, fixed);
    const BroadPair *candidate = NULL;
    size_t candidate_count = 0;
    if (status == STATUS_OK) {
        status = broad_update(state->stepper->broad, world->body_count, box, fixed, state->scratch,
                              state->input->stop, &candidate, &candidate_count);
    }
    if (status != STATUS_OK) {
        return status == STATUS_ABORTED ? given_up(state) : out_of_memory(state);
    }
    PairState pair = {.material_a = UINT32_MAX, .material_b = UINT32_MAX};
    HalfSpace half_space = {.body = UINT32_MAX};
    for (size_t i = 0; status == STATUS_OK && i < candidate_count; i++) {
        if (i % CANDIDATES_PER_QUESTION == CANDIDATES_PER_QUESTION - 1 &&
            stop_is_asked(state->input->stop)) {
            return given_up(state);
        }
        pair.a = candidate[i].a;
        pair.b = candidate[i].b;
        if (pair.a != half_space.body) {
            load_half_space(state, pair.a, &half_space);
        }
        if (!is_far(state, &half_space, pair.b)) {
            status = collide_pair(state, &pair);
        }
    }
    return status;
}
