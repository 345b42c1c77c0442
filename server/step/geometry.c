// SPDX-License-Identifier: MIT
// What a solver asks about the end of the step: the contacts as they are when bodies have moved by
// its velocities, as the step moves them under the integrators that move by v1. A contact is its
// pair of primitives and its feature: one that the narrow phase does not find there is lost.
#include "step/stages.h"

#include "base/assert.h"
#include "collide/foundation.h"
#include "collide/narrow.h"

#include <string.h>

// Two primitives of two bodies, moved.
typedef struct MovedPair {
    uint32_t body[2];
    uint32_t part[2];        // which primitives of their shapes
    Pose pose[2];            // of the bodies
    bool is_lost;            // beyond all numbers, where nothing is met
    const double *motion[2]; // 6 numbers; NULL: the solver's to choose, or none
    bool is_surface;         // one of the primitives: whose contacts keep their points
    Manifold manifold;
    FoundationGrid grid; // where the pair's contacts are cells of a foundation
} MovedPair;

static Pose move_body(const StepState *state, const double *velocity, uint32_t body) {
    ASSERT(body < state->world->body_count);
    Pose pose = pose_load(state->world->pose + 7 * (size_t)body);
    if (velocity != NULL) {
        double h = state->input->time_step;
        pose.position = vec3_add_scaled(pose.position, h, vec3_load(velocity));
        pose.orientation = quat_turn(pose.orientation, vec3_load(velocity + 3), h);
    }
    return pose;
}

static Pose place_primitive(const World *world, uint32_t body, Pose pose,
                            const Primitive *primitive) {
    if (world->has_center) {
        pose.position =
            vec3_sub(pose.position, quat_rotate(pose.orientation, world->mass[body].center));
    }
    return pose_compose(pose, primitive->local);
}

// The grid, and in the manifold the normal alone: its cells are found one by one. Whose they are
// was found where the step begins, and stays so however it has turned since.
static void move_foundation(const StepState *state, const Primitive *const primitive[2],
                            const Pose placed[2], MovedPair *pair) {
    ASSERT(pair->body[0] != pair->body[1]); // which may share a shape
    const Pose *begin[2];
    for (int s = 0; s < 2; s++) {
        begin[s] = &state->placed[state->placed_first[pair->body[s]] + pair->part[s]];
    }
    const int on = stage_find_foundation(state->world, pair->body, primitive, begin);
    ASSERT(on >= 0);
    pair->grid = foundation_grid(primitive[on], &placed[on], primitive[1 - on], &placed[1 - on]);
    pair->manifold.normal = on == 1 ? pair->grid.normal : vec3_neg(pair->grid.normal);
    pair->manifold.count = 0;
}

// What a solver tries may take bodies beyond all numbers.
static bool is_somewhere(const Pose *pose) {
    double packed[7];
    pose_store(packed, *pose);
    return numbers_are_finite(packed, 7);
}

static void move_pair(const StepState *state, const double *v, const StepContact *contact,
                      MovedPair *pair) {
    ASSERT(contact->a < contact->b);
    const World *world = state->world;
    const Primitive *primitive[2];
    Pose placed[2];
    pair->body[0] = contact->a;
    pair->body[1] = contact->b;
    pair->part[0] = contact->part_a;
    pair->part[1] = contact->part_b;
    for (int s = 0; s < 2; s++) {
        uint32_t body = pair->body[s], tree = state->stepper->tree_of_body[body];
        bool is_kinematic = world->kind[body] == BODY_KINEMATIC;
        pair->motion[s] = is_kinematic ? world->velocity + 6 * (size_t)body : NULL;
        pair->pose[s] =
            stage_tree(state, body) != NULL
                ? articulate_pose_there(state, body, v)
                : move_body(state, tree == PROBLEM_NO_TREE ? pair->motion[s] : v + 6 * (size_t)tree,
                            body);
        primitive[s] =
            &world
                 ->primitive[world->shape[world->body_shape[body]].primitive_first + pair->part[s]];
        placed[s] = place_primitive(world, body, pair->pose[s], primitive[s]);
    }
    pair->is_lost = !is_somewhere(&placed[0]) || !is_somewhere(&placed[1]);
    pair->is_surface =
        primitive_is_surface(primitive[0]->kind) || primitive_is_surface(primitive[1]->kind);
    if (pair->is_lost || pair->is_surface) {
        return;
    }
    // twice what they were looked for in: they may be driven apart
    double reach = 2.0 * (state->margin + state->reach[contact->a] + state->reach[contact->b]);
    if ((contact->feature & FOUNDATION_CELL) != 0) {
        move_foundation(state, primitive, placed, pair);
        return;
    }
    narrow_collide_at(primitive[0], &placed[0], primitive[1], &placed[1], reach, &pair->manifold);
}

static void fill_contact(const MovedPair *pair, const ManifoldPoint *point,
                         GeometryContact *moved) {
    Vec3 motion = vec3(0.0, 0.0, 0.0);
    moved->is_found = true;
    moved->normal = pair->manifold.normal;
    vec3_tangents(moved->normal, &moved->tangent[0], &moved->tangent[1]);
    moved->gap = point->gap;
    for (int s = 0; s < 2; s++) {
        moved->arm[s] = vec3_sub(point->position, pair->pose[s].position);
        if (pair->motion[s] != NULL) {
            motion = vec3_add_scaled(motion, s == 0 ? -1.0 : 1.0,
                                     stage_point_velocity(pair->motion[s], moved->arm[s]));
        }
    }
    moved->motion[0] = vec3_dot(moved->normal, motion);
    moved->motion[1] = vec3_dot(moved->tangent[0], motion);
    moved->motion[2] = vec3_dot(moved->tangent[1], motion);
}

static void find_contact(const MovedPair *pair, uint64_t feature, GeometryContact *moved) {
    ManifoldPoint cell;
    if (pair->is_lost) {
        return;
    }
    if ((feature & FOUNDATION_CELL) != 0) {
        if (foundation_cell(&pair->grid, (uint32_t)(feature & ~FOUNDATION_CELL), &cell)) {
            fill_contact(pair, &cell, moved);
        }
        return;
    }
    for (uint32_t k = 0; k < pair->manifold.count; k++) {
        if (pair->manifold.point[k].feature == feature) {
            fill_contact(pair, &pair->manifold.point[k], moved);
            return;
        }
    }
}

// The Jacobians of trees of joints are of the begin of the step, and both sides of a contact must
// push along one plane: it stays, and only the gap is that of the end.
static void keep_plane(const ProblemContact *contact, GeometryContact *moved) {
    moved->normal = contact->normal;
    for (int s = 0; s < 2; s++) {
        moved->tangent[s] = contact->tangent[s];
        moved->arm[s] = contact->side[s].arm;
    }
    memcpy(moved->motion, contact->motion, sizeof(moved->motion));
}

// How far what of a body was at an arm in the world's axes, when the step began, has gone since.
static Vec3 way_of(const StepState *state, const MovedPair *pair, int s, Vec3 arm) {
    const Pose before = pose_load(state->world->pose + 7 * (size_t)pair->body[s]);
    const Vec3 own = mat3_tmul_vec(quat_to_mat3(before.orientation), arm);
    const Vec3 there =
        vec3_add(pair->pose[s].position, quat_rotate(pair->pose[s].orientation, own));
    return vec3_sub(there, vec3_add(before.position, arm));
}

// The points of both sides that touch when the step begins, or that meet first within it, along
// that plane: who slides over a surface's edges finds another triangle in the next step. Those that
// are still to meet are apart by the gap, so only their ways are counted.
static void keep_points(const StepState *state, const MovedPair *pair,
                        const ProblemContact *contact, GeometryContact *moved) {
    moved->is_found = true;
    moved->normal = contact->normal;
    keep_plane(contact, moved);
    const Vec3 apart = vec3_sub(way_of(state, pair, 1, contact->side[1].arm),
                                way_of(state, pair, 0, contact->side[0].arm));
    moved->gap = contact->gap + vec3_dot(contact->normal, apart);
}

static bool is_articulated(const StepState *state, const ProblemContact *contact) {
    bool is_any = false;
    for (int s = 0; s < 2; s++) {
        uint32_t tree = contact->side[s].tree;
        is_any = is_any || (tree != PROBLEM_NO_TREE && tree >= state->free_count);
    }
    return is_any;
}

static void move(void *user, const double *v, const uint32_t *contact, uint32_t count,
                 GeometryContact *moved) {
    const StepState *state = user;
    MovedPair pair;
    bool has_pair = false;
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(contact[i] < state->stepper->contact_count);
        const StepContact *c = &state->stepper->contact[contact[i]];
        // contacts of two primitives follow each other
        if (!has_pair || pair.body[0] != c->a || pair.body[1] != c->b ||
            pair.part[0] != c->part_a || pair.part[1] != c->part_b) {
            move_pair(state, v, c, &pair);
            has_pair = true;
        }
        moved[i] = (GeometryContact){.is_found = false};
        const ProblemContact *given = &state->stepper->problem_contact[contact[i]];
        if (pair.is_surface && !pair.is_lost) {
            keep_points(state, &pair, given, &moved[i]);
            continue;
        }
        find_contact(&pair, c->feature, &moved[i]);
        if (moved[i].is_found && is_articulated(state, given) &&
            vec3_dot(moved[i].normal, given->normal) > 0.0) {
            keep_plane(given, &moved[i]);
        }
    }
}

GeometryAsk geometry_of(const StepState *state) {
    // called only while the step solves, and only reads
    return (GeometryAsk){.move = move, .user = (void *)(uintptr_t)state};
}
