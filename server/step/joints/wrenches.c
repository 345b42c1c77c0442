// SPDX-License-Identifier: MIT
#include "step/joints/wrenches.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/assert.h"
#include "step/state/state.h"

#include <string.h>

// ---- what is kept of a tree: whether it was awake, and then its base, positions, velocities and
// wrenches at the step's begin

enum { BASE_NUMBERS = 7 + 6 };

static size_t kept_numbers(const Tree *tree, bool is_awake) {
    return 1 + (is_awake ? BASE_NUMBERS + tree->position_count + tree->width +
                               6 * (size_t)tree->link_count
                         : 0);
}

Status joint_wrenches_reserve(StepState *state) {
    if (state->world->joint_count == 0) {
        return STATUS_OK;
    }
    ASSERT(state->stepper->joints != NULL);
    StepJoints *told = state->stepper->joints;
    size_t count = 0;
    for (uint32_t i = 0; i < state->articulated_count; i++) {
        count += kept_numbers(&state->world->trees->tree[i], !state->articulated[i].is_asleep);
    }
    return ARRAY_RESERVE(told->kept, told->kept_capacity, count)
               ? STATUS_OK
               : error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                           "Memory ended while keeping trees of joints: raise "
                           "--memory-bytes-max.");
}

static double *keep(double *at, const double *numbers, size_t count) {
    memcpy(at, numbers, count * sizeof(double));
    return at + count;
}

void joint_wrenches_keep(StepState *state) {
    if (state->world->joint_count == 0 || state->substep > 0) {
        return; // of the begin of the first substep
    }
    ASSERT(state->stepper->joints != NULL);
    StepJoints *told = state->stepper->joints;
    double *at = told->kept;
    for (uint32_t i = 0; i < state->articulated_count; i++) {
        const TreeFlight *flight = &state->articulated[i].flight;
        const Tree *tree = flight->view.tree;
        *at++ = state->articulated[i].is_asleep ? 0.0 : 1.0;
        if (state->articulated[i].is_asleep) {
            continue;
        }
        pose_store(at, flight->view.base);
        vec3_store(at + 7, flight->view.base_velocity);
        vec3_store(at + 10, flight->view.base_spin);
        at = keep(at + BASE_NUMBERS, flight->positions, tree->position_count);
        at = keep(at, flight->velocities, tree->width);
        at = keep(at, flight->wrenches, 6 * (size_t)tree->link_count);
    }
    told->kept_count = (size_t)(at - told->kept);
    told->gravity = state->world->settings.gravity;
    told->integrator = integrator_is_staged(state->world->settings.integrator)
                           ? (uint8_t)INTEGRATOR_MIDPOINT // what stages come to, by their mean
                           : state->world->settings.integrator;
    told->rotation = state->world->settings.rotation;
    state->stepper->has_wrenches = true;
}

// ---- trees, as they were

// What all trees are asked with.
typedef struct Asked {
    const Stepper *stepper;
    const World *world;
    TreeFlight *flight; // [tree_count], links as at the step's begin; without a tree: it slept
    TreePair *push;     // per link of all trees: impulses of contacts and rows, at its centre
    double *wrench;
} Asked;

static Status out_of_memory(const World *world, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while adding up what %zu joints carried.", world->joint_count);
}

static void place(TreeFlight *flight, const TreeView *view) {
    tree_place(view, flight->positions, flight->work.frame);
    tree_weigh(view, flight->mass, &flight->work);
}

static const double *load(double *numbers, const double *at, size_t count) {
    memcpy(numbers, at, count * sizeof(double));
    return at + count;
}

// Its numbers behind `at`; returns where those of the next tree stand.
static const double *open_tree(const Asked *asked, uint32_t index, unsigned char *memory,
                               const double *at) {
    const StepJoints *told = asked->stepper->joints;
    const Tree *tree = &asked->world->trees->tree[index];
    TreeFlight *flight = &asked->flight[index];
    *flight = (TreeFlight){.view = tree_view(asked->world->trees, index, asked->world->joint),
                           .mass = asked->world->mass,
                           .gravity = told->gravity,
                           .h = asked->stepper->step_time,
                           .integrator = told->integrator,
                           .rotation = told->rotation,
                           .has_wrenches = true};
    tree_flight_take(flight, tree, memory);
    memset(flight->armature, 0, tree->width * sizeof(double)); // the links alone
    flight->view.base = pose_load(at);
    flight->view.base_velocity = vec3_load(at + 7);
    flight->view.base_spin = vec3_load(at + 10);
    flight->view.has_own_spin = flight->view.link[0].joint == TREE_NONE;
    at = load(flight->positions, at + BASE_NUMBERS, tree->position_count);
    at = load(flight->velocities, at, tree->width);
    at = load(flight->wrenches, at, 6 * (size_t)tree->link_count);
    place(flight, &flight->view);
    return at;
}

static Status refuse(Error *error) {
    return error_set(error, STATUS_FAILED_PRECONDITION, "joint_wrenches",
                     "What joints carry is told of the last step, and of a world to which nothing "
                     "has happened since: take one.");
}

static Status open_trees(Asked *asked, Arena *arena, Error *error) {
    const WorldTrees *trees = asked->world->trees;
    const uint32_t count = trees == NULL ? 0 : trees->tree_count;
    const double *at = asked->stepper->joints->kept;
    size_t kept = 0;
    uint32_t known = 0;
    for (; known < count && kept < asked->stepper->joints->kept_count; known++) {
        kept += kept_numbers(&trees->tree[known], at[kept] != 0.0);
    }
    if (known < count || kept != asked->stepper->joints->kept_count) {
        return refuse(error); // other trees than those that were stepped
    }
    asked->flight = arena_take_zeroed(arena, count, sizeof(TreeFlight));
    asked->push = arena_take_zeroed(arena, trees == NULL ? 0 : trees->link_count, sizeof(TreePair));
    if (asked->flight == NULL || asked->push == NULL) {
        return out_of_memory(asked->world, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (*at++ == 0.0) {
            continue;
        }
        unsigned char *memory = arena_take(arena, tree_flight_bytes(&trees->tree[i]));
        if (memory == NULL) {
            return out_of_memory(asked->world, error);
        }
        at = open_tree(asked, i, memory, at);
    }
    return STATUS_OK;
}

// ---- what contacts and rows did

// A body of the step that may be a link: an impulse at a point, or, without one, about an axis.
// `from_center` points are.
static void push_body(const Asked *asked, uint32_t body, Vec3 impulse, const Vec3 *point,
                      bool from_center) {
    const World *world = asked->world;
    uint32_t now;
    if (body == JOINT_NO_BODY ||
        !world_find_body(world, stepper_body_id(asked->stepper, world, body), &now)) {
        return;
    }
    const uint32_t index = tree_of_body(world->trees, now);
    if (index == TREE_NONE || asked->flight[index].view.tree == NULL) {
        return;
    }
    const uint32_t link = world->trees->link_of_body[now];
    TreePair *push = &asked->push[world->trees->tree[index].link_first + link];
    if (point == NULL) {
        push->angular = vec3_add(push->angular, impulse);
        return;
    }
    const Vec3 center = asked->flight[index].work.frame[link].center,
               arm = from_center ? *point : vec3_sub(*point, center);
    push->linear = vec3_add(push->linear, impulse);
    push->angular = vec3_add(push->angular, vec3_cross(arm, impulse));
}

static void push_contacts(const Asked *asked) {
    const Stepper *stepper = asked->stepper;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        const ProblemContact *contact = &stepper->problem_contact[i];
        const double *along = stepper->impulse + 3 * (size_t)i;
        Vec3 impulse = vec3_scale(along[0], contact->normal);
        impulse = vec3_add_scaled(impulse, along[1], contact->tangent[0]);
        impulse = vec3_add_scaled(impulse, along[2], contact->tangent[1]);
        push_body(asked, stepper->contact[i].a, vec3_neg(impulse), &contact->side[0].arm, true);
        push_body(asked, stepper->contact[i].b, impulse, &contact->side[1].arm, true);
    }
}

static void add(double *numbers, Vec3 v) {
    vec3_store(numbers, vec3_add(vec3_load(numbers), v));
}

// On both bodies; and it is part of what the joint carries, at b's frame, where all of them act.
static void push_rows(const Asked *asked) {
    const Stepper *stepper = asked->stepper;
    const double rate = 1.0 / stepper->step_time;
    for (uint32_t i = 0; i < stepper->joints->act_count; i++) {
        const StepAct *act = &stepper->joints->act[i];
        const bool is_row = step_act_is_of_row(act);
        const Vec3 impulse =
            vec3_scale(is_row ? stepper->row_impulse[act->row] : 1.0, act->direction);
        uint32_t joint;
        if (world_find_joint(asked->world, act->joint, &joint)) {
            add(asked->wrench + 6 * (size_t)joint + (act->is_turn ? 3 : 0),
                vec3_scale(rate, impulse));
        }
        if (act->row != STEP_ACT_GIVEN) { // what was given is among the wrenches
            push_body(asked, act->body[0], vec3_neg(impulse), act->is_turn ? NULL : &act->at[0],
                      false);
            push_body(asked, act->body[1], impulse, act->is_turn ? NULL : &act->at[1], false);
        }
    }
}

// ---- what joints of coordinates carry

// Of loads that are those of whole subtrees.
static void add_loads(const Asked *asked, const TreeFlight *flight) {
    for (uint32_t i = 0; i < flight->view.tree->link_count; i++) {
        const TreeLink *link = &flight->view.link[i];
        if (link->joint == TREE_NONE) {
            continue;
        }
        const TreeFrame *frame = &flight->work.frame[i];
        const TreePair *of = &flight->work.load[i];
        const Vec3 arm = vec3_sub(frame->center, frame->anchor);
        double *wrench = asked->wrench + 6 * (size_t)link->joint;
        add(wrench, of->linear);
        add(wrench + 3, vec3_add(of->angular, vec3_cross(arm, of->linear)));
    }
}

static void ask_tree(const Asked *asked, TreeFlight *flight, uint32_t problem) {
    const Stepper *stepper = asked->stepper;
    const Tree *tree = flight->view.tree;
    // contacts and rows as wrenches that lasted for the step
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const TreePair *push = &asked->push[tree->link_first + i];
        add(flight->wrenches + 6 * (size_t)i, vec3_scale(1.0 / flight->h, push->linear));
        add(flight->wrenches + 6 * (size_t)i + 3, vec3_scale(1.0 / flight->h, push->angular));
    }
    tree_flight_load(flight,
                     stepper->v + (tree->width == 0 ? 0 : stepper->problem.tree[problem].first));
    add_loads(asked, flight);
}

Status joint_wrenches(const Stepper *stepper, const World *world, Arena *arena, double *wrench,
                      Error *error) {
    if (world->joint_count == 0) {
        return STATUS_OK;
    }
    if (!stepper->has_last || !stepper->has_wrenches) {
        return refuse(error);
    }
    Asked asked = {.stepper = stepper, .world = world, .wrench = wrench};
    Status status = open_trees(&asked, arena, error);
    if (status != STATUS_OK) {
        return status;
    }
    ASSERT(asked.flight != NULL);
    ASSERT(asked.flight != NULL);
    ASSERT(asked.push != NULL);
    memset(wrench, 0, 6 * world->joint_count * sizeof(double));
    push_contacts(&asked);
    push_rows(&asked);
    const uint32_t count = world->trees == NULL ? 0 : world->trees->tree_count;
    uint32_t moving = 0; // trees that have velocities are the problem's last
    for (uint32_t i = 0; i < count; i++) {
        moving += asked.flight[i].view.tree != NULL && world->trees->tree[i].width > 0;
    }
    uint32_t problem = stepper->problem.tree_count - moving;
    for (uint32_t i = 0; i < count; i++) {
        if (asked.flight[i].view.tree != NULL) {
            ask_tree(&asked, &asked.flight[i], problem);
            problem += world->trees->tree[i].width > 0;
        }
    }
    return numbers_are_finite(wrench, 6 * world->joint_count)
               ? STATUS_OK
               : error_set(error, STATUS_FAILED_PRECONDITION, "joint_wrenches",
                           "What some joint carried in the last step is beyond all numbers.");
}
