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
//
// With contact_plane = approach the plane is that of the free motion (collide/approach.h), and
// three things keep what a third body turns or kicks from going through: the reach is at least
// h |v|, a body that a fast one may hit reaches as far as that may push it, and boxes that may move
// farther than they are thick bring the ball inside them. Faces that neighbours cover do not push
// (seams.c).
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"
#include "collide/approach.h"
#include "collide/seam.h"

#include <math.h>
#include <string.h>

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

// The smallest of the balls inside a body's primitives.
static double thickness(const World *world, uint32_t body) {
    const Shape *shape = world_body_shape(world, body);
    double least = HUGE_VAL;
    for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        Vec3 size = primitive->size;
        double inner =
            primitive->kind == PRIMITIVE_SPHERE ? size.x : fmin(size.x, fmin(size.y, size.z));
        least = inner < least ? inner : least;
    }
    return least;
}

static Status place_bodies(StepState *state, uint8_t *fixed) {
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
    double farthest = 0.0, thinnest = HUGE_VAL;
    for (uint32_t body = 0; body < world->body_count; body++) {
        state->reach[body] = body_reach(state, body, factor);
        state->ball[body] = make_ball(state, body);
        fixed[body] = world->kind[body] != BODY_DYNAMIC;
        farthest = state->reach[body] > farthest ? state->reach[body] : farthest;
        if (!fixed[body]) {
            double thick = thickness(world, body);
            thinnest = thick < thinnest ? thick : thinnest;
        }
        place_body(state, body, state->placed + state->placed_first[body], &state->box[body]);
    }
    // two that fly at each other, and all of it comes back
    state->has_fast =
        world->settings.contact_plane == CONTACT_PLANE_APPROACH && 4.0 * farthest > thinnest;
    return STATUS_OK;
}

static bool boxes_overlap(const BroadBox *a, const BroadBox *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static Vec3 free_velocity(const StepState *state, uint32_t body) {
    return vec3_load(stage_free_velocity(state, body));
}

// Whether the balls around two bodies come together in this step.
static bool may_meet(const StepState *state, uint32_t from, uint32_t to) {
    const StepBall *a = &state->ball[from], *b = &state->ball[to];
    double h = state->input->time_step;
    Vec3 away = vec3_sub(b->center, a->center);
    Vec3 motion = vec3_scale(h, vec3_sub(free_velocity(state, from), free_velocity(state, to)));
    double part = vec3_dot(away, motion) / vec3_dot(motion, motion);
    part = part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
    Vec3 nearest = vec3_add_scaled(away, -part, motion);
    double near = a->radius - state->reach[from] + b->radius - state->reach[to] + state->margin;
    return vec3_dot(nearest, nearest) <= near * near;
}

// What is hit with a relative velocity w along n leaves with at most (1 + e) (w.n) n more than it
// had, whatever n: a ball of velocities that has 0 and (1 + e) w at the ends of a diameter. True
// when so the body may come through something that its own motion would not bring it to.
static bool push_body(StepState *state, uint32_t from, uint32_t to, double bounce) {
    const World *world = state->world;
    double h = state->input->time_step;
    Vec3 v = free_velocity(state, to);
    Vec3 kick = vec3_scale(h * bounce, vec3_sub(free_velocity(state, from), v));
    double length = vec3_norm(kick);
    if (!(length > thickness(world, to)) || !may_meet(state, from, to)) {
        return false;
    }
    StepBall *ball = &state->ball[to];
    Vec3 center = vec3_add_scaled(vec3_add_scaled(ball->center, h, v), 0.5, kick);
    double radius = ball->radius - state->reach[to] + 0.5 * length + state->margin;
    BroadBox *box = &state->box[to];
    box->lower = vec3(fmin(box->lower.x, center.x - radius), fmin(box->lower.y, center.y - radius),
                      fmin(box->lower.z, center.z - radius));
    box->upper = vec3(fmax(box->upper.x, center.x + radius), fmax(box->upper.y, center.y + radius),
                      fmax(box->upper.z, center.z + radius));
    double farther = fmax(length + h * vec3_norm(v) - state->reach[to], 0.0);
    ball->radius += farther;
    state->reach[to] += farther;
    state->is_pushed[to] = true;
    return true;
}

// Bodies that a fast one may hit can come farther than their own motion would take them.
static Status push_bodies(StepState *state, bool *is_any) {
    const World *world = state->world;
    BroadBox *box = arena_take_array(state->scratch, world->body_count, sizeof(BroadBox));
    if (box == NULL) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    memcpy(box, state->box, world->body_count * sizeof(BroadBox)); // boxes grow while we ask
    double bounce = 0.0;
    for (size_t i = 0; i < world->material_count; i++) {
        bounce = fmax(bounce, world->material[i].restitution);
    }
    for (size_t i = 0; i < state->candidate_count; i++) {
        uint32_t a = state->candidate[i].a, b = state->candidate[i].b;
        if (!boxes_overlap(&box[a], &box[b])) {
            continue;
        }
        bool is_b = world->kind[b] == BODY_DYNAMIC && push_body(state, a, b, 1.0 + bounce);
        bool is_a = world->kind[a] == BODY_DYNAMIC && push_body(state, b, a, 1.0 + bounce);
        *is_any = *is_any || is_a || is_b;
    }
    return STATUS_OK;
}

// The candidates; where fast bodies may push others, those that the others may come to.
static Status find_candidates(StepState *state, const uint8_t *fixed) {
    const World *world = state->world;
    Broad *broad = state->stepper->broad;
    Status status =
        broad_update(broad, world->body_count, state->box, fixed, state->scratch,
                     state->input->context.stop, &state->candidate, &state->candidate_count);
    bool is_any = false;
    if (status == STATUS_OK && state->has_fast) {
        status = push_bodies(state, &is_any);
    }
    if (status == STATUS_OK && is_any) {
        status =
            broad_update(broad, world->body_count, state->box, fixed, state->scratch,
                         state->input->context.stop, &state->candidate, &state->candidate_count);
    }
    return status;
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

static bool is_pair_pushed(const StepState *state, uint32_t a, uint32_t b) {
    return state->has_fast && (state->is_pushed[a] || state->is_pushed[b]);
}

// Every moving body is a candidate of a plane that is not parallel to two axes; most are far above
// it; and of other bodies whose boxes meet, the balls often do not. True only where the narrow
// phase would find nothing.
static bool is_far(const StepState *state, const HalfSpace *half_space, uint32_t body) {
    if (is_pair_pushed(state, half_space->body, body) &&
        !boxes_overlap(&state->box[half_space->body], &state->box[body])) {
        return true; // where a body is pushed to is more than a ball about it knows
    }
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
    Vec3 center_a, center_b;         // of mass; where they are when the plane is theirs
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
    dynamics->mu = (point->feature & APPROACH_INNER_BALL) != 0 ? 0.0 : material->friction;
    dynamics->gap = point->gap;
    law->stiffness = material->stiffness;
    law->dissipation_time = material->dissipation_time;
    law->damping = material->damping;
    law->force = isinf(material->stiffness) ? 0.0 : -material->stiffness * point->gap;
    law->gdot[0] = law->gdot[1] = law->gdot[2] = 0.0;
    fill_approach(state, pair, dynamics, law);
    fill_motion(state, pair, dynamics);
}

// Of b against a, at a point of the contact.
static Vec3 free_velocity_at(const PairState *pair, Vec3 point) {
    return vec3_sub(stage_point_velocity(pair->free_b, vec3_sub(point, pair->center_b)),
                    stage_point_velocity(pair->free_a, vec3_sub(point, pair->center_a)));
}

static bool is_within_reach(const StepState *state, const PairState *pair, Vec3 normal,
                            const ManifoldPoint *point) {
    if (point->gap <= state->margin) {
        return true; // however slow they are
    }
    Vec3 v = free_velocity_at(pair, point->position);
    double normal_speed = vec3_dot(normal, v);
    double tangent_speed = vec3_norm(vec3_add_scaled(v, -normal_speed, normal));
    double speed = fabs(normal_speed) + pair->material.friction * tangent_speed;
    if (state->world->settings.contact_plane == CONTACT_PLANE_APPROACH) {
        speed = fmax(speed, vec3_norm(v)); // what passes may be turned into the plane by a third
    }
    double reach = state->input->time_step * speed;
    if (is_pair_pushed(state, pair->a, pair->b)) {
        reach = fmax(reach, state->reach[pair->a] + state->reach[pair->b]);
    }
    return point->gap <= state->margin + reach;
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

// Takes the manifold of now, which is not empty, to that of the meeting; its time.
static double approach_parts(const StepState *state, const StepPart *a, const StepPart *b,
                             Manifold *manifold) {
    if (state->world->settings.contact_plane != CONTACT_PLANE_APPROACH) {
        return 0.0;
    }
    const Approach approach = {.duration = state->input->time_step,
                               .reach =
                                   state->margin + state->reach[a->body] + state->reach[b->body]};
    return approach_find(&a->mover, &b->mover, &approach, manifold);
}

double contacts_meet(const StepState *state, const StepPart *a, const StepPart *b,
                     Manifold *manifold) {
    narrow_collide_at(a->mover.primitive, a->mover.pose, b->mover.primitive, b->mover.pose,
                      state->margin + state->reach[a->body] + state->reach[b->body], manifold);
    return manifold->count > 0 ? approach_parts(state, a, b, manifold) : 0.0;
}

// Where a and b have come to at that time: the arms are as they are then.
static void load_pair(const StepState *state, PairState *pair, const StepPart part[2],
                      double time) {
    pair->free_a = stage_free_velocity(state, pair->a);
    pair->free_b = stage_free_velocity(state, pair->b);
    pair->center_a = vec3_add_scaled(part[0].mover.center, time, part[0].mover.velocity);
    pair->center_b = vec3_add_scaled(part[1].mover.center, time, part[1].mover.velocity);
}

// The least gap now, from which the free motion comes to the manifold's at its time.
static double gap_now(const PairState *pair, const Manifold *manifold, double time) {
    double least = HUGE_VAL;
    for (uint32_t k = 0; k < manifold->count; k++) {
        const ManifoldPoint *point = &manifold->point[k];
        double closing = vec3_dot(manifold->normal, free_velocity_at(pair, point->position));
        least = fmin(least, point->gap - time * closing);
    }
    return least;
}

// A meeting of two parts as if their hidden faces were not there.
static double meet_beside(const StepState *state, const StepPart part[2], const uint32_t hidden[2],
                          Manifold *manifold) {
    double far = state->margin + state->reach[part[0].body] + state->reach[part[1].body];
    far += vec3_norm(part[0].mover.primitive->size) + vec3_norm(part[1].mover.primitive->size);
    Primitive primitive[2] = {*part[0].mover.primitive, *part[1].mover.primitive};
    Pose pose[2] = {*part[0].mover.pose, *part[1].mover.pose};
    StepPart beside[2] = {part[0], part[1]};
    for (int side = 0; side < 2; side++) {
        seam_extend(hidden[side], 4.0 * far, &primitive[side], &pose[side]);
        beside[side].mover.primitive = &primitive[side];
        beside[side].mover.pose = &pose[side];
    }
    return contacts_meet(state, &beside[0], &beside[1], manifold);
}

// Takes the manifold to one that leans on no face that neighbours hide, and its time with it; none
// is left where all of it did. false: memory ends.
static bool respect_seams(StepState *state, PairState *pair, const StepPart part[2], double *time,
                          Manifold *manifold) {
    double step = seam_step(part[0].mover.primitive, part[1].mover.primitive);
    if (*time == 0.0 && seam_is_none(manifold, step)) {
        return true;
    }
    double raw = gap_now(pair, manifold, *time);
    uint32_t hidden[2] = {0, 0};
    for (;;) {
        const uint32_t before[2] = {hidden[0], hidden[1]};
        if (!seams_find(state, part, *time, manifold, hidden)) {
            return false;
        }
        if (hidden[0] == before[0] && hidden[1] == before[1]) {
            return true;
        }
        *time = meet_beside(state, part, hidden, manifold);
        load_pair(state, pair, part, *time);

        // what is left and lies deep is the other side of something, unless all of it is deep
        if (raw > -step && gap_now(pair, manifold, *time) < -step) {
            manifold->count = 0;
        }
    }
}

// Gaps of a manifold of a later time, as of now: those from which the free motion comes to the gaps
// that the bodies then have,
//
//     gap = gap(t) - t v_n(t),
//
// so that gap + h v_n >= 0 asks for bodies that do not overlap along the plane when the step ends.
static void take_back_gaps(const PairState *pair, double time, Manifold *manifold) {
    for (uint32_t k = 0; time > 0.0 && k < manifold->count; k++) {
        ManifoldPoint *point = &manifold->point[k];
        point->gap -= time * vec3_dot(manifold->normal, free_velocity_at(pair, point->position));
    }
}

// The contacts of two parts, of which the manifold of now, not empty, is at hand. false: memory
// ends.
static bool collide_parts(StepState *state, PairState *pair, const StepPart part[2],
                          Manifold *manifold, uint32_t pair_first) {
    const Primitive *a = part[0].mover.primitive, *b = part[1].mover.primitive;
    double time = approach_parts(state, &part[0], &part[1], manifold);
    load_pair(state, pair, part, time);
    if (a->kind == PRIMITIVE_BOX || b->kind == PRIMITIVE_BOX) {
        if (!respect_seams(state, pair, part, &time, manifold)) {
            return false;
        }
        if (manifold->count == 0) {
            return true;
        }
        double motion = state->reach[pair->a] + state->reach[pair->b];
        if (state->world->settings.contact_plane == CONTACT_PLANE_APPROACH) {
            approach_add_inner_ball(&part[0].mover, &part[1].mover, motion, time, manifold);
        }
    }
    take_back_gaps(pair, time, manifold);
    set_materials(state->world, pair, a->material, b->material);
    uint64_t feature = (uint64_t)part[0].index << 48 | (uint64_t)part[1].index << 32;
    return add_manifold(state, pair, manifold, feature, pair_first);
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
            const StepPart part[2] = {stage_part(state, pair->a, i), stage_part(state, pair->b, j)};
            if (!collide_parts(state, pair, part, &manifold, pair_first)) {
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
    uint32_t count = world->body_count;
    uint8_t *fixed = arena_take_array(state->scratch, count, 1);
    state->box = arena_take_array(state->scratch, count, sizeof(BroadBox));
    state->is_pushed = arena_take_array(state->scratch, count, 1);
    state->reach = arena_take_array(state->scratch, count, sizeof(double));
    state->ball = arena_take_array(state->scratch, count, sizeof(StepBall));
    state->placed_first = arena_take_array(state->scratch, count, sizeof(uint32_t));
    if (state->box == NULL || fixed == NULL || state->is_pushed == NULL || state->reach == NULL ||
        state->ball == NULL || state->placed_first == NULL) {
        return out_of_memory(state);
    }
    memset(state->is_pushed, 0, count);
    Status status = place_bodies(state, fixed);
    if (status == STATUS_OK) {
        status = find_candidates(state, fixed);
    }
    if (status != STATUS_OK) {
        return status == STATUS_ABORTED ? given_up(state) : out_of_memory(state);
    }
    PairState pair = {.material_a = UINT32_MAX, .material_b = UINT32_MAX};
    HalfSpace half_space = {.body = UINT32_MAX};
    for (size_t i = 0; status == STATUS_OK && i < state->candidate_count; i++) {
        if (i % CANDIDATES_PER_QUESTION == CANDIDATES_PER_QUESTION - 1 &&
            stop_is_asked(state->input->context.stop)) {
            return given_up(state);
        }
        pair.a = state->candidate[i].a;
        pair.b = state->candidate[i].b;
        if (pair.a != half_space.body) {
            load_half_space(state, pair.a, &half_space);
        }
        if (!is_far(state, &half_space, pair.b)) {
            status = collide_pair(state, &pair);
        }
    }
    return status;
}
