// SPDX-License-Identifier: MIT
#include "step/near.h"

#include "base/assert.h"
#include "step/touch.h"

#include <math.h>

// how much farther than they reach bodies are where no rounding brings them back
#define FAR_SLACK 1.001

// of what two may come nearer at most: how far apart their boxes are where are_boxes_far says so
// as well, as it grows them by no more than FAR_SLACK - 1 of that
#define BOX_SLACK 1.1e-3

void near_load(const StepState *state, uint32_t body, NearBody *from) {
    VALIDATE(state->world->body_shape[body] < state->world->shape_count);
    const World *world = state->world;
    const Shape *shape = &world->shape[world->body_shape[body]];
    const BroadBox *box = &state->box[body];
    const double slack = BOX_SLACK * (state->margin + state->reach[body] + state->farthest);
    const Vec3 by = vec3(slack, slack, slack);
    const Vec3 lower = vec3_sub(box->lower, by), upper = vec3_add(box->upper, by);
    *from = (NearBody){.body = body,
                       .velocity = vec3_load(stage_free_velocity(state, body)),
                       .below_xy = {upper.x, upper.y},
                       .below_z = {upper.z, HUGE_VAL},
                       .above_x = {-HUGE_VAL, lower.x},
                       .above_yz = {lower.y, lower.z}};
    if (shape->primitive_count == 1 && shape->is_unbounded) {
        const Pose *placed = &state->placed[state->placed_first[body]];
        from->is_half_space = true;
        from->up = quat_to_mat3(placed->orientation).c2;
        from->point = placed->position;
        from->below_xy = from->below_z = simd_all(HUGE_VAL);
        from->above_x = from->above_yz = simd_all(-HUGE_VAL);
    }
}

// The boxes are grown by what each of the two may move, and half a margin.
static bool are_boxes_far(const StepState *state, uint32_t a, uint32_t b, double reach) {
    const BroadBox *of_a = &state->box[a], *of_b = &state->box[b];
    const double grown = state->margin + state->reach[a] + state->reach[b];
    const double left = grown - FAR_SLACK * reach;
    // all six, as no two candidates are far along the same axis
    return (of_a->lower.x + left > of_b->upper.x) | (of_b->lower.x + left > of_a->upper.x) |
           (of_a->lower.y + left > of_b->upper.y) | (of_b->lower.y + left > of_a->upper.y) |
           (of_a->lower.z + left > of_b->upper.z) | (of_b->lower.z + left > of_a->upper.z);
}

// Every moving body is a candidate of a plane that is not parallel to two axes; most are far above
// it; and of other bodies whose boxes met some time ago, most are nowhere near each other. Where a
// body is pushed to is more than a ball about it knows, and less than boxes along the world's axes.
bool near_is_far_closely(const StepState *state, const NearBody *from, uint32_t body) {
    ASSERT(from->body != body);
    const StepBall *a = &state->ball[from->body], *b = &state->ball[body];
    const double reach = stage_reach_between(state, from->body, from->velocity, body,
                                             vec3_load(stage_free_velocity(state, body)));
    const double radius = b->radius - state->reach[body]; // of the body alone
    if (from->is_half_space) {
        const double near = FAR_SLACK * (reach + radius);
        if (vec3_dot(from->up, vec3_sub(b->center, from->point)) > near) {
            return true;
        }
        return stage_is_pair_pushed(state, from->body, body) &&
               !touch_may_pushed(state, from->body, body);
    }
    const Vec3 away = vec3_sub(b->center, a->center);
    const double near = FAR_SLACK * (reach + a->radius - state->reach[from->body] + radius);
    return vec3_dot(away, away) > near * near || are_boxes_far(state, from->body, body, reach) ||
           (stage_is_pair_pushed(state, from->body, body) &&
            !touch_may_pushed(state, from->body, body));
}
