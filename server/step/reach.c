// SPDX-License-Identifier: MIT
// How far bodies may come in a step, and so which of them may meet: boxes that hold what a body may
// reach, and the candidates that the broad phase makes of them.
//
// A body that a fast one may hit reaches as far as that may push it: this, and that a ball about
// it holds all that it may reach, keep what a third body turns or kicks from going through. Boxes
// only find who is asked about: who may push, and what the pushed one may come to, touch.h says.
// Whom the pushed one pushes in turn, and what joints throw, nobody knows before the step is
// solved: thrown.c.
#include "step/stages.h"

#include "base/assert.h"
#include "step/touch.h"

#include <math.h>
#include <string.h>

// Of the ball around a body's centre of mass that holds it [m].
static double body_radius(const World *world, const Shape *shape, uint32_t body) {
    return world->has_center ? shape->radius + vec3_norm(world->mass[body].center) : shape->radius;
}

double reach_extent(const World *world, uint32_t body) {
    ASSERT(body < world->body_count);
    const Shape *shape = world_body_shape(world, body);
    return shape != NULL && !shape->is_unbounded ? body_radius(world, shape, body)
                                                 : body_gyration_radius(&world->mass[body]);
}

// Shapes are Nullable here: of the body.

// How far any point of a body can come nearer to something in this step: its spin's part, and all.
static void set_reach(StepState *state, const Shape *shape, uint32_t body) {
    const double *v = stage_free_velocity(state, body);
    const double speed = vec3_norm(vec3_load(v));
    const Vec3 w = vec3_load(v + 3);
    double spin = 0.0;
    if (shape != NULL && !shape->is_unbounded && vec3_dot(w, w) > 0.0) {
        spin = vec3_norm(w) * body_radius(state->world, shape, body);
    }
    state->spin_reach[body] = state->speed_reach * spin;
    state->reach[body] = state->speed_reach * (speed + spin);
}

// Poses of a body's primitives in the world, and the box around them.
static void place_body(StepState *state, const Shape *shape, uint32_t body, Pose *placed,
                       BroadBox *box) {
    const World *world = state->world;
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
        box->lower = vec3_min(box->lower, vec3_sub(lower, vec3(grown, grown, grown)));
        box->upper = vec3_max(box->upper, vec3_add(upper, vec3(grown, grown, grown)));
    }
}

static StepBall make_ball(const StepState *state, const Shape *shape, uint32_t body) {
    const World *world = state->world;
    bool is_bounded = shape != NULL && !shape->is_unbounded;
    return (StepBall){.center = vec3_load(world->pose + 7 * (size_t)body),
                      .radius = is_bounded ? body_radius(world, shape, body) + state->reach[body]
                                           : HUGE_VAL};
}

static double thickness(const World *world, const Shape *shape) {
    double least = HUGE_VAL;
    for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        double inner = primitive_thickness(primitive);
        least = inner < least ? inner : least;
    }
    return least;
}

double reach_thickness(const World *world, uint32_t body) {
    ASSERT(body < world->body_count);
    return thickness(world, world_body_shape(world, body));
}

// What the bodies of a block have at most and at least.
typedef struct Extremes {
    double farthest; // reach [m]
    double thinnest; // of what moves [m]
} Extremes;

// All bodies, placed in blocks.
typedef struct Placing {
    StepState *state;
    Extremes *of_block;
} Placing;

// Whether it is nothing to what is fixed as well. What was moved from outside, or moves by itself,
// is something to sleepers.
static bool is_fixed(const StepState *state, uint32_t body) {
    VALIDATE(body < state->world->body_count);
    if (state->world->kind[body] == BODY_DYNAMIC) {
        return stage_is_still(state, body);
    }
    return state->asleep_count == 0 || stage_is_still(state, body);
}

static void place_block(void *work, uint32_t block) {
    const Placing *placing = work;
    StepState *state = placing->state;
    const World *world = state->world;
    Extremes extremes = {.farthest = 0.0, .thinnest = HUGE_VAL};
    uint32_t end = stage_block_end(block, world->body_count);
    for (uint32_t body = block * STAGE_BLOCK; body < end; body++) {
        if (state->is_placed != NULL && state->is_placed[body] && state->still[body]) {
            state->fixed[body] = BROAD_STILL;
            continue;
        }
        const Shape *shape = world_body_shape(world, body);
        set_reach(state, shape, body);
        state->ball[body] = make_ball(state, shape, body);
        state->fixed[body] = is_fixed(state, body);
        extremes.farthest = fmax(extremes.farthest, state->reach[body]);
        if (world->kind[body] == BODY_DYNAMIC) {
            double thick = thickness(world, shape);
            extremes.thinnest = thick < extremes.thinnest ? thick : extremes.thinnest;
        }
        place_body(state, shape, body, state->placed + state->placed_first[body],
                   &state->box[body]);
        if (state->is_placed != NULL) {
            state->is_placed[body] = state->still[body];
            state->height[body] = energy_height(world, body);
        }
    }
    placing->of_block[block] = extremes;
}

// How far one that sleeps would come if it were awake [m].
static double reach_asleep(const StepState *state) {
    return state->speed_reach * vec3_norm(vec3_load(state->v_asleep));
}

// The longest that any two materials look ahead: times of dissipation are averages of a pair's two,
// and B/K of two springs and dampers one behind the other is not more than the sum of theirs.
static double longest_ahead(const StepState *state) {
    const World *world = state->world;
    double h = state->input->time_step, longest = 0.0;
    if (state->solver_row->time == NULL) {
        return h;
    }
    for (size_t i = 0; i < world->material_count; i++) {
        longest = fmax(longest, stage_ahead(state, &world->material[i]) - h);
    }
    longest *= 2.0;
    for (size_t i = 0; i < world->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[i];
        if (primitive->foundation.face != 0) {
            double stiffness = foundation_stiffness(primitive),
                   damping = primitive->foundation.damping;
            Material cell = {.stiffness = stiffness,
                             .damping = damping,
                             .dissipation_time = damping / stiffness};
            longest = fmax(longest, stage_ahead(state, &cell) - h);
        }
    }
    return h + longest;
}

static Status place_bodies(StepState *state) {
    const World *world = state->world;
    double farthest = 0.0, thinnest = HUGE_VAL;
    bool keeps = state->places != NULL && places_begin(state, reach_asleep(state));
    if (keeps) { // what is left out below
        farthest = state->asleep_count > 0 ? state->places->reach_asleep : 0.0;
        thinnest = state->places->thinnest;
    } else {
        size_t total = 0;
        for (uint32_t body = 0; body < world->body_count; body++) {
            const Shape *shape = world_body_shape(world, body);
            state->placed_first[body] = (uint32_t)total;
            total += shape == NULL ? 0 : shape->primitive_count;
        }
        if (state->places == NULL) {
            state->placed = arena_take_array(state->scratch, total, sizeof(Pose));
        }
    }
    uint32_t block_count = tasks_blocks(world->body_count, STAGE_BLOCK);
    Placing placing = {.state = state,
                       .of_block = arena_take_array(state->scratch, block_count, sizeof(Extremes))};
    if (state->placed == NULL || placing.of_block == NULL) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    tasks_run(state->input->context.tasks, place_block, &placing, block_count);
    for (uint32_t block = 0; block < block_count; block++) {
        const Extremes *of_block = &placing.of_block[block];
        farthest = of_block->farthest > farthest ? of_block->farthest : farthest;
        thinnest = of_block->thinnest < thinnest ? of_block->thinnest : thinnest;
    }
    if (state->places != NULL) {
        state->places->thinnest = thinnest;
    }
    state->thinnest = thinnest;
    state->farthest = farthest;
    // two that fly at each other, and all of it comes back
    state->has_fast =
        world->settings.contact_plane == CONTACT_PLANE_APPROACH && 4.0 * farthest > thinnest;
    return STATUS_OK;
}

static Vec3 free_velocity(const StepState *state, uint32_t body) {
    return vec3_load(stage_free_velocity(state, body));
}

// What is hit with a relative velocity w along n leaves with at most (1 + e) (w.n) n more than it
// had, whatever n: a ball of velocities that has 0 and (1 + e) w at the ends of a diameter.
static Vec3 kick_of(const StepState *state, uint32_t from, uint32_t to, double bounce) {
    Vec3 relative = vec3_sub(free_velocity(state, from), free_velocity(state, to));
    return vec3_scale(state->input->time_step * bounce, relative);
}

// True when so long a kick may bring the body through something that its own motion would not bring
// it to.
static bool is_kick(const StepState *state, double length, uint32_t to) {
    const World *world = state->world;
    return world->kind[to] == BODY_DYNAMIC && length > reach_thickness(world, to);
}

// A body may come, from where its way ends, anywhere in the ball over the kick, and no farther than
// that from where it is.
static void add_push(StepState *state, uint32_t to, Vec3 way, Vec3 kick, double far) {
    StepBall *ball = &state->ball[to];
    Vec3 center = vec3_add_scaled(vec3_add(ball->center, way), 0.5, kick);
    double radius = ball->radius - state->reach[to] + 0.5 * vec3_norm(kick) + state->margin;
    StepPushes *pushes = state->pushes;
    pushes->push[pushes->count] = (StepPush){{center, radius}, pushes->first[to]};
    pushes->first[to] = pushes->count++;
    BroadBox *box = &state->box[to];
    box->lower = vec3(fmin(box->lower.x, center.x - radius), fmin(box->lower.y, center.y - radius),
                      fmin(box->lower.z, center.z - radius));
    box->upper = vec3(fmax(box->upper.x, center.x + radius), fmax(box->upper.y, center.y + radius),
                      fmax(box->upper.z, center.z + radius));
    double farther = fmax(far - state->reach[to], 0.0);
    ball->radius += farther;
    state->reach[to] += farther;
    state->farthest = fmax(state->farthest, state->reach[to]);
    if (state->is_placed != NULL && state->still[to]) {
        state->is_placed[to] = false; // it is grown for this step alone
        state->fixed[to] = BROAD_FIXED;
    }
}

static bool push_body(StepState *state, uint32_t from, uint32_t to, double bounce) {
    ASSERT(from != to);
    Vec3 kick = kick_of(state, from, to, bounce);
    double length = vec3_norm(kick);
    if (!is_kick(state, length, to)) {
        return false;
    }
    Vec3 way = vec3_scale(state->input->time_step, free_velocity(state, to));
    add_push(state, to, way, kick, length + vec3_norm(way));
    return true;
}

// Who was thrown comes to wherever that was, and to all that lies on the way.
static void push_thrown(StepState *state) {
    for (uint32_t i = 0; i < state->thrown_count; i++) {
        const StepThrow *thrown = &state->thrown[i];
        add_push(state, thrown->body, vec3(0.0, 0.0, 0.0), thrown->way, vec3_norm(thrown->way));
    }
}

// of rounding, with room
#define KICK_SLACK 1.001

// Which candidates may push: those that, as they are before any comes farther, may touch. Few do,
// and they are pushed one after the other.
typedef struct Pushing {
    const StepState *state;
    double bounce;    // 1 + the largest restitution
    uint8_t *is_push; // per candidate
    bool *has_push;   // per block
} Pushing;

// Of most the kick is shorter than anything is thin, as neither comes far in the step.
static bool may_kick(const Pushing *pushing, uint32_t a, uint32_t b) {
    const double *reach = pushing->state->reach;
    return KICK_SLACK * pushing->bounce * (reach[a] + reach[b]) > pushing->state->thinnest;
}

static void find_pushes(void *work, uint32_t block) {
    const Pushing *pushing = work;
    const StepState *state = pushing->state;
    bool has_push = false;
    size_t first = (size_t)block * STAGE_BLOCK, left = state->candidate_count - first;
    size_t end = first + (left < STAGE_BLOCK ? left : STAGE_BLOCK);
    for (size_t i = first; i < end; i++) {
        uint32_t a = state->candidate[i].a, b = state->candidate[i].b;
        bool is_push = false;
        if (may_kick(pushing, a, b) &&
            stage_boxes_overlap(&state->box[a], &state->box[b])) { // both kicks are as long
            double length = vec3_norm(kick_of(state, a, b, pushing->bounce));
            is_push = length > state->thinnest &&
                      (is_kick(state, length, a) || is_kick(state, length, b)) &&
                      touch_may(state, a, b);
        }
        pushing->is_push[i] = is_push;
        has_push = has_push || is_push;
    }
    pushing->has_push[block] = has_push;
}

// Room for two pushes of each candidate that may, and one of each throw.
static bool take_pushes(StepState *state, const Pushing *pushing) {
    const uint32_t count = state->world->body_count;
    size_t room = state->thrown_count;
    for (size_t i = 0; i < state->candidate_count; i++) {
        room += pushing->is_push[i] ? 2 : 0;
    }
    if (room == 0) {
        return true;
    }
    StepPushes *pushes = arena_take_array(state->scratch, 1, sizeof(*pushes));
    StepPush *push = arena_take_array(state->scratch, room, sizeof(*push));
    uint32_t *first = arena_take_array(state->scratch, count, sizeof(*first));
    double *own_reach = arena_take_array(state->scratch, count, sizeof(*own_reach));
    if (pushes == NULL || push == NULL || first == NULL || own_reach == NULL) {
        return false;
    }
    memset(first, 0xff, count * sizeof(*first)); // STEP_NO_PUSH
    memcpy(own_reach, state->reach, count * sizeof(*own_reach));
    *pushes = (StepPushes){push, 0, first, own_reach};
    state->pushes = pushes;
    return true;
}

// Bodies that a fast one may hit can come farther than their own motion would take them.
static Status push_bodies(StepState *state, bool *is_any) {
    const World *world = state->world;
    uint32_t block_count = tasks_blocks(state->candidate_count, STAGE_BLOCK);
    Pushing pushing = {.state = state,
                       .is_push = arena_take(state->scratch, state->candidate_count),
                       .has_push = arena_take(state->scratch, block_count * sizeof(bool))};
    if (pushing.is_push == NULL || pushing.has_push == NULL) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    double bounce = 0.0;
    for (size_t i = 0; i < world->material_count; i++) {
        bounce = fmax(bounce, world->material[i].restitution);
    }
    pushing.bounce = 1.0 + bounce;
    tasks_run(state->input->context.tasks, find_pushes, &pushing, block_count);
    if (!take_pushes(state, &pushing)) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    push_thrown(state);
    *is_any = state->thrown_count > 0;
    for (size_t i = 0; i < state->candidate_count; i++) {
        if (!pushing.has_push[i / STAGE_BLOCK]) {
            i += STAGE_BLOCK - 1;
        } else if (pushing.is_push[i]) {
            uint32_t a = state->candidate[i].a, b = state->candidate[i].b;
            bool is_b = push_body(state, a, b, pushing.bounce);
            bool is_a = push_body(state, b, a, pushing.bounce);
            *is_any = *is_any || is_a || is_b;
        }
    }
    return STATUS_OK;
}

// The candidates; where fast bodies may push others, those that the others may come to.
static Status find_candidates(StepState *state) {
    Broad *broad = state->stepper->broad;
    Status status =
        broad_update(broad, state->world->body_count, state->box, state->fixed, state->scratch,
                     &state->input->context, &state->candidate, &state->candidate_count);
    bool is_any = false;
    status = STATUS_THEN_IF(status, state->has_fast || state->thrown_count > 0,
                            push_bodies(state, &is_any));
    if (status == STATUS_OK && is_any) {
        status =
            broad_update(broad, state->world->body_count, state->box, state->fixed, state->scratch,
                         &state->input->context, &state->candidate, &state->candidate_count);
    }
    ASSERT(state->candidate_count == 0 || state->candidate != NULL);
    return status;
}

Status reach_run(StepState *state) {
    ASSERT(state->v_free != NULL);
    const uint32_t count = state->world->body_count;
    const double mu = state->world->friction_max;
    state->ahead = longest_ahead(state);
    state->speed_reach = state->ahead * sqrt(1.0 + mu * mu);
    // of those that are placed already, which are still, it is none
    state->spin_reach = arena_take_zeroed(state->scratch, count, sizeof(double));
    state->fixed = arena_take_array(state->scratch, count, 1);
    state->pushes = NULL;
    if (state->places == NULL) {
        state->box = arena_take_array(state->scratch, count, sizeof(BroadBox));
        state->reach = arena_take_array(state->scratch, count, sizeof(double));
        state->ball = arena_take_array(state->scratch, count, sizeof(StepBall));
        state->placed_first = arena_take_array(state->scratch, count, sizeof(uint32_t));
    }
    if (state->box == NULL || state->fixed == NULL || state->reach == NULL ||
        state->spin_reach == NULL || state->ball == NULL || state->placed_first == NULL) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    Status status = place_bodies(state);
    return STATUS_THEN(status, find_candidates(state));
}
