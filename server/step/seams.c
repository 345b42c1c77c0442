// SPDX-License-Identifier: MIT
// Which faces of a contact are no surface, because a neighbour lies before them (collide/seam.h).
// The neighbours of a face are the other primitives of its own body and of the bodies that are
// candidates with the moving one of the two; what holds the other part off is their own contact
// with it, as this step makes it.
#include "step/stages.h"

#include "collide/seam.h"

#include <string.h>

bool seams_list_partners(StepState *state) {
    uint32_t count = state->world->body_count;
    size_t pairs = state->candidate_count;
    uint32_t *first = arena_take_array(state->scratch, (size_t)count + 1, sizeof(uint32_t));
    uint32_t *partner = arena_take_array(state->scratch, 2 * pairs, sizeof(uint32_t));
    if (first == NULL || partner == NULL) {
        return false;
    }
    // counted, summed to the end of each, then filled from behind
    memset(first, 0, ((size_t)count + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < pairs; i++) {
        first[state->candidate[i].a]++;
        first[state->candidate[i].b]++;
    }
    for (uint32_t body = 1; body <= count; body++) {
        first[body] += first[body - 1];
    }
    for (size_t i = pairs; i-- > 0;) {
        partner[--first[state->candidate[i].a]] = state->candidate[i].b;
        partner[--first[state->candidate[i].b]] = state->candidate[i].a;
    }
    state->partner_first = first;
    state->partner = partner;
    return true;
}

// A part with faces that may be hidden, and the other one of its contact.
typedef struct Seam {
    const StepState *state;
    const StepPart *owner, *other;
    SeamPoints points; // on the owner
    double step;
    uint32_t faces; // in question
} Seam;

static bool covers_all(const Seam *seam, const StepPart *cover, int face) {
    const Pose *owner = seam->owner->mover.pose;
    for (uint32_t i = 0; i < seam->points.count; i++) {
        Vec3 before = pose_apply(*owner, seam_before(&seam->points, i, face, seam->step));
        if (!seam_covers(cover->mover.primitive, cover->mover.pose, before, seam->step)) {
            return false;
        }
    }
    return seam->points.count > 0;
}

// Whether the face rises above the plane in which the cover holds the other part off.
static bool has_lip(const Seam *seam, const StepPart *cover, int face) {
    const World *world = seam->state->world;
    if (world->kind[seam->other->body] != BODY_DYNAMIC &&
        world->kind[cover->body] != BODY_DYNAMIC) {
        return true; // these two hold nothing off
    }
    Manifold held;
    double time = contacts_meet(seam->state, cover, seam->other, &held);
    if (held.count == 0) {
        return true;
    }
    // a place of the plane on the cover, and the normal, carried back to where the cover is now
    const ManifoldPoint *point = &held.point[0];
    for (uint32_t i = 1; i < held.count; i++) {
        point = held.point[i].gap < point->gap ? &held.point[i] : point;
    }
    Vec3 place = vec3_add_scaled(point->position, -0.5 * point->gap, held.normal);
    Pose then = approach_pose(&cover->mover, time);
    Mat3 from = quat_to_mat3(then.orientation), to = quat_to_mat3(cover->mover.pose->orientation);
    Vec3 normal = mat3_mul_vec(to, mat3_tmul_vec(from, held.normal));
    Vec3 local = mat3_tmul_vec(from, vec3_sub(place, then.position));
    place = vec3_add(cover->mover.pose->position, mat3_mul_vec(to, local));

    // and both in the owner's axes
    Mat3 axes = quat_to_mat3(seam->owner->mover.pose->orientation);
    normal = mat3_tmul_vec(axes, normal);
    place = mat3_tmul_vec(axes, vec3_sub(place, seam->owner->mover.pose->position));
    for (uint32_t i = 0; i < seam->points.count; i++) {
        double rise = seam_rise(seam->owner->mover.primitive, face, seam->points.point[i], normal,
                                place, seam->step);
        if (rise > seam->step) {
            return true;
        }
    }
    return false;
}

static uint32_t hidden_by(const Seam *seam, const StepPart *cover) {
    uint32_t hidden = 0;
    for (int face = 0; seam->faces >> face != 0; face++) {
        if ((seam->faces >> face & 1u) != 0 && covers_all(seam, cover, face) &&
            !has_lip(seam, cover, face)) {
            hidden |= 1u << face;
        }
    }
    return hidden;
}

// The parts of a body that may lie before the owner's faces.
static uint32_t hidden_by_body(const Seam *seam, uint32_t body) {
    const StepState *state = seam->state;
    const Shape *shape = world_body_shape(state->world, body);
    Vec3 point = pose_apply(*seam->owner->mover.pose, seam->points.point[0]);
    Vec3 away = vec3_sub(point, state->ball[body].center);
    double near = state->ball[body].radius + 8.0 * seam->step;
    if (shape == NULL || vec3_dot(away, away) > near * near) {
        return 0;
    }
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        bool is_owner = body == seam->owner->body && i == seam->owner->index;
        bool is_other = body == seam->other->body && i == seam->other->index;
        StepPart cover = stage_part(state, body, i);
        // what the other part does not collide with holds nothing off
        if (!is_owner && !is_other &&
            primitives_collide(cover.mover.primitive, seam->other->mover.primitive)) {
            hidden |= hidden_by(seam, &cover);
        }
    }
    return hidden;
}

static bool find_hidden(Seam *seam, uint32_t *hidden, bool *asks_partners) {
    const StepState *state = seam->state;
    seam->faces = seam_faces(seam->owner->mover.primitive, &seam->points, seam->step);
    if (seam->faces == 0) {
        return true;
    }
    *asks_partners = true;
    if (state->partner_first == NULL) {
        return false;
    }
    const World *world = state->world;
    uint32_t moving =
        world->kind[seam->other->body] == BODY_DYNAMIC ? seam->other->body : seam->owner->body;
    if (world->shape[world->body_shape[seam->owner->body]].primitive_count > 1) {
        *hidden |= hidden_by_body(seam, seam->owner->body);
    }
    for (uint32_t i = state->partner_first[moving]; i < state->partner_first[moving + 1]; i++) {
        uint32_t body = state->partner[i];
        if (body != seam->owner->body && body != seam->other->body) {
            *hidden |= hidden_by_body(seam, body);
        }
    }
    return true;
}

bool seams_find(const StepState *state, const StepPart part[2], double time,
                const Manifold *manifold, uint32_t hidden[2], bool *asks_partners) {
    for (int side = 0; side < 2; side++) {
        const Mover *mover = &part[side].mover;
        if (mover->primitive->kind != PRIMITIVE_BOX) {
            continue;
        }
        Pose pose = time > 0.0 ? approach_pose(mover, time) : *mover->pose;
        Seam seam = {.state = state,
                     .owner = &part[side],
                     .other = &part[1 - side],
                     .points = seam_points(manifold, &pose, side),
                     .step = seam_step(part[0].mover.primitive, part[1].mover.primitive)};
        if (!find_hidden(&seam, &hidden[side], asks_partners)) {
            return false;
        }
    }
    return true;
}
