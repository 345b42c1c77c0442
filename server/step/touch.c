// SPDX-License-Identifier: MIT
#include "step/touch.h"

#include "base/assert.h"
#include "collide/narrow.h"

// of a surface's half diagonal: how thick its box is at least
#define FLAT_PART 1e-9

// of rounding, with room
#define BALL_SLACK 1.001

// Whether the balls around two bodies come together in this step.
static bool may_balls(const StepState *state, uint32_t a, uint32_t b) {
    const StepBall *of_a = &state->ball[a], *of_b = &state->ball[b];
    const double h = state->input->time_step;
    const Vec3 away = vec3_sub(of_b->center, of_a->center);
    const Vec3 motion = vec3_scale(h, vec3_sub(vec3_load(stage_free_velocity(state, a)),
                                               vec3_load(stage_free_velocity(state, b))));
    double part = vec3_dot(away, motion) / vec3_dot(motion, motion);
    part = part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
    const Vec3 nearest = vec3_add_scaled(away, -part, motion);
    const double near =
        of_a->radius - state->reach[a] + of_b->radius - state->reach[b] + state->margin;
    return vec3_dot(nearest, nearest) <= near * near;
}

// A part as it is, or, of a surface, its box, with what is solid below.
typedef struct Filled {
    Primitive primitive;
    Pose pose;
} Filled;

static Filled fill(const StepState *state, uint32_t body, uint32_t index) {
    const World *world = state->world;
    const Shape *shape = &world->shape[world->body_shape[body]];
    ASSERT(index < shape->primitive_count);
    Filled filled = {world->primitive[shape->primitive_first + index],
                     state->placed[state->placed_first[body] + index]};
    if (primitive_is_surface(filled.primitive.kind)) {
        const Mesh *mesh = filled.primitive.geometry->mesh;
        const Vec3 low = vec3(mesh->low.x, mesh->low.y, mesh->floor);
        const Vec3 half = vec3_scale(0.5, vec3_sub(mesh->high, low));
        const double least = FLAT_PART * vec3_norm(half);
        filled.pose.position = pose_apply(filled.pose, vec3_scale(0.5, vec3_add(low, mesh->high)));
        filled.primitive.kind = PRIMITIVE_BOX;
        filled.primitive.size = vec3_max(half, vec3(least, least, least));
    }
    return filled;
}

// Whether parts of a body are within reach of something that they collide with.
static bool is_near(const StepState *state, uint32_t body, const Filled *other, double reach) {
    const Shape *shape = &state->world->shape[state->world->body_shape[body]];
    bool is = false;
    for (uint32_t i = 0; i < shape->primitive_count && !is; i++) {
        const Filled part = fill(state, body, i);
        Manifold manifold;
        manifold.count = 0;
        if (primitives_collide(&part.primitive, &other->primitive)) {
            narrow_collide_at(&part.primitive, &part.pose, &other->primitive, &other->pose, reach,
                              &manifold);
        }
        is = manifold.count > 0;
    }
    return is;
}

static bool may_parts(const StepState *state, uint32_t a, uint32_t b, double reach) {
    const Shape *shape = &state->world->shape[state->world->body_shape[a]];
    bool may = false;
    for (uint32_t i = 0; i < shape->primitive_count && !may; i++) {
        const Filled part = fill(state, a, i);
        may = is_near(state, b, &part, reach);
    }
    return may;
}

bool touch_may(const StepState *state, uint32_t a, uint32_t b) {
    ASSERT(a != b && !stage_is_pair_pushed(state, a, b));
    return may_balls(state, a, b) &&
           may_parts(state, a, b, state->margin + state->reach[a] + state->reach[b]);
}

static bool are_balls_near(Vec3 a, Vec3 b, double near) {
    const Vec3 away = vec3_sub(b, a);
    return vec3_dot(away, away) <= near * near;
}

// Whether a body comes, by itself, to where another may be pushed to.
static bool comes_to(const StepState *state, uint32_t body, const StepBall *push) {
    const StepBall *ball = &state->ball[body];
    const double reach = state->pushes->own_reach[body] + 0.5 * state->margin;
    const double radius = ball->radius - state->reach[body];
    const Filled round = {{.kind = PRIMITIVE_SPHERE,
                           .size = {push->radius, 0.0, 0.0},
                           .group = UINT32_MAX,
                           .mask = UINT32_MAX},
                          {push->center, quat_identity()}};
    return are_balls_near(push->center, ball->center,
                          BALL_SLACK * (push->radius + radius + reach)) &&
           is_near(state, body, &round, reach);
}

// Whether one body may be pushed to where the other one comes by itself.
static bool may_push_to(const StepState *state, uint32_t pushed, uint32_t other) {
    const StepPushes *pushes = state->pushes;
    bool may = false;
    for (uint32_t i = pushes->first[pushed]; i != STEP_NO_PUSH && !may; i = pushes->push[i].next) {
        may = comes_to(state, other, &pushes->push[i].to);
    }
    return may;
}

// Whether both may be pushed to one place.
static bool may_push_together(const StepState *state, uint32_t a, uint32_t b) {
    const StepPushes *pushes = state->pushes;
    bool may = false;
    for (uint32_t i = pushes->first[a]; i != STEP_NO_PUSH && !may; i = pushes->push[i].next) {
        const StepBall *of_a = &pushes->push[i].to;
        for (uint32_t k = pushes->first[b]; k != STEP_NO_PUSH && !may; k = pushes->push[k].next) {
            const StepBall *of_b = &pushes->push[k].to;
            may = are_balls_near(of_a->center, of_b->center, of_a->radius + of_b->radius);
        }
    }
    return may;
}

bool touch_may_pushed(const StepState *state, uint32_t a, uint32_t b) {
    ASSERT(a != b && stage_is_pair_pushed(state, a, b));
    const double *own = state->pushes->own_reach;
    return may_push_together(state, a, b) || may_push_to(state, a, b) || may_push_to(state, b, a) ||
           may_parts(state, a, b, state->margin + own[a] + own[b]);
}
