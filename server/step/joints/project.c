// SPDX-License-Identifier: MIT
#include "step/joints/project.h"

#include "base/assert.h"
#include "base/array.h"
#include "step/joints/rows.h"
#include "step/rows/loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP_MAX 1e-10    // [m], [rad]
enum { ROUNDS_MAX = 5 }; // each squares what is off, in units of the bodies' lengths

void joint_project_destroy(Stepper *projector) {
    if (projector != NULL) {
        free(projector->number);
        free(projector->row);
        free(projector->row_block);
        free(projector->row_key);
        free(projector->row_impulse);
        free(projector);
    }
}

// The same step, but for its rows and numbers, which begin with the masses of trees.
static bool open_projection(const StepState *state, StepState *projection) {
    Stepper *stepper = state->stepper;
    if (stepper->projector == NULL) {
        stepper->projector = calloc(1, sizeof(*stepper->projector));
        if (stepper->projector == NULL) {
            return false;
        }
    }
    Stepper *projector = stepper->projector;
    const size_t masses = state->mass_number_count;
    if (!ARRAY_RESERVE(projector->number, projector->number_capacity, masses)) {
        return false;
    }
    if (masses > 0) {
        memcpy(projector->number, stepper->number, masses * sizeof(double));
    }
    projector->bytes_max = stepper->bytes_max;
    projector->tree_of_body = stepper->tree_of_body;
    projector->number_count = masses;
    projector->row_count = projector->row_block_count = 0;
    *projection = *state;
    projection->stepper = projector;
    projection->is_projecting = true;
    return true;
}

// Rows of all that is locked, as bodies are now; the largest gap, or NaN where memory ends.
static double add_rows(StepState *projection) {
    ASSERT(projection->is_projecting);
    const World *world = projection->world;
    Stepper *projector = projection->stepper;
    projection->ranked = NULL;
    if (!row_loops_find(projection)) {
        return NAN;
    }
    for (uint32_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const bool sleeps = projection->asleep_count > 0 && stage_joint_sleeps(projection, joint);
        if (joint->is_rows && !joint_couples(joint) && !sleeps &&
            !joint_rows_add_locked(projection, i)) {
            return NAN;
        }
    }
    double largest = 0.0;
    for (uint32_t i = 0; i < projector->row_count; i++) {
        largest = fmax(largest, fabs(projector->row[i].gap));
    }
    return largest;
}

// The motion that closes them, per velocity of the problem. NULL: there is none.
static const double *find_motion(const StepState *projection) {
    const Stepper *projector = projection->stepper;
    double *rest =
        arena_take_zeroed(projection->scratch, projection->velocity_count, sizeof(double));
    SolverSettings solver = solver_default(SOLVER_CCP);
    const ContactProblem problem = {.time_step = 1.0,
                                    .tree_count = projection->tree_count,
                                    .velocity_count = (uint32_t)projection->velocity_count,
                                    .all_free = projection->tree_count == projection->free_count,
                                    .tree = projection->tree,
                                    .free = projection->free,
                                    .link = projection->problem_link,
                                    .link_count = projection->wide_link_count,
                                    .v_free = rest,
                                    .row_count = projector->row_count,
                                    .row_block_count = projector->row_block_count,
                                    .row = projector->row,
                                    .row_block = projector->row_block,
                                    .number = projector->number,
                                    .number_count = projector->number_count};
    const Context context = {.tasks = projection->input->context.tasks};
    SolveResult result;
    if (rest == NULL || solver_set(&solver, "tolerance", 1e-13, NULL) != STATUS_OK ||
        solver_solve(&solver, &problem, &context, projection->scratch, &result, NULL) !=
            STATUS_OK ||
        !numbers_are_within(result.answer.v, projection->velocity_count, 1.0)) {
        return NULL; // further than a metre or a radian is no mend
    }
    return result.answer.v;
}

static void move_free(const StepState *projection, const double *motion) {
    World *world = projection->world;
    for (uint32_t tree = 0; tree < projection->free_count; tree++) {
        const double *by = motion + 6 * (size_t)tree;
        double *packed = world->pose + 7 * (size_t)projection->body_of_tree[tree];
        Pose pose = pose_load(packed);
        pose.position = vec3_add(pose.position, vec3_load(by));
        pose.orientation = quat_turn(pose.orientation, vec3_load(by + 3), 1.0);
        pose_store(packed, pose);
    }
}

static void move_trees(const StepState *projection, const double *motion) {
    for (uint32_t i = 0; i < projection->articulated_count; i++) {
        StepTree *tree = &projection->articulated[i];
        if (tree->problem == PROBLEM_NO_TREE) {
            continue;
        }
        const TreeView view = world_tree_view(projection->world, i);
        tree_advance(&view, tree->positions, motion + projection->tree[tree->problem].first, 1.0,
                     tree->positions);
        world_set_tree_numbers(projection->world, &view, tree->positions, tree->velocities);
        tree_place(&view, tree->positions, tree->flight.work.frame);
    }
    world_place_trees(projection->world);
}

void joint_project(StepState *state) {
    ASSERT(state->stepper != NULL && state->world != NULL);
    World *world = state->world;
    StepState projection;
    if (!world->settings.joint_projection || world->joint_count == 0 ||
        !open_projection(state, &projection)) {
        return;
    }
    const size_t masses = projection.stepper->number_count;
    bool has_moved = false;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const ArenaMark mark = arena_mark(state->scratch);
        projection.stepper->number_count = masses;
        projection.stepper->row_count = projection.stepper->row_block_count = 0;
        const double gap = add_rows(&projection);
        const double *motion = gap > GAP_MAX ? find_motion(&projection) : NULL;
        if (motion != NULL) {
            move_free(&projection, motion);
            move_trees(&projection, motion);
            has_moved = true;
        }
        arena_reset_to(state->scratch, mark);
        if (motion == NULL) {
            break;
        }
    }
    if (has_moved) {
        world_follow_bodies(world);
    }
}
