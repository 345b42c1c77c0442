// SPDX-License-Identifier: MIT
#include "bench/curve/bound.h"

#include "support/suite.h"

#include <string.h>

enum { MOVED = 8 }; // of the bodies: a box in the stack

static BoundState state_of(const World *world) {
    BoundState state = {calloc(7 * (size_t)world->body_count, sizeof(double)),
                        calloc(6 * (size_t)world->body_count, sizeof(double))};
    memcpy(state.pose, world->pose, 7 * sizeof(double) * world->body_count);
    memcpy(state.velocity, world->velocity, 6 * sizeof(double) * world->body_count);
    return state;
}

static void state_free(BoundState *state) {
    free(state->pose);
    free(state->velocity);
}

// Ten boxes at rest, of which one is hit from above; where overlaps ask for nothing, as they do of
// the judge.
static Scene hit_stack(double sweeps) {
    static const double hit[6] = {0.3, 0.1, -2.0, 0.5, -0.7, 0.2};
    Scene scene = scene_stack();
    scene_set(&scene, "overlap_correction", 0.0);
    scene_set(&scene, "method", 0.0);
    scene_set(&scene, "max_iterations", sweeps);
    world_move_body(scene.world, MOVED, hit);
    return scene;
}

// Of one step of so many sweeps; its e_DS as well.
static double bound_after(double sweeps, double *ds) {
    Scene scene = hit_stack(sweeps), judge = hit_stack(1.0);
    bound_prepare(&judge);
    BoundState before = state_of(scene.world);
    scene_step(&scene);
    BoundState after = state_of(scene.world);
    double bound = bound_of(&judge, &before, after.velocity);
    *ds = scene.report.certificate.entry[CERTIFICATE_DS];
    state_free(&before);
    state_free(&after);
    scene_destroy(&scene);
    scene_destroy(&judge);
    return bound;
}

START_TEST(no_impulses_leave_less_than_their_velocities_say) {
    double ds, bound = bound_after(_i + 1.0, &ds);
    ck_assert_double_gt(bound, 0.01 * ds);
    ck_assert_double_le(bound, ds * (1.0 + 1e-9));
}
END_TEST

START_TEST(of_what_is_solved_it_is_nothing) {
    double ds, bound = bound_after(1e5, &ds);
    ck_assert_double_le(ds, 1e-6);
    ck_assert_double_le(bound, 1e-6);
}
END_TEST

// A step that nobody answers: all that falls goes on into what lies below, at its speed and g h.
START_TEST(free_motion_leaves_what_it_would_do) {
    Scene judge = hit_stack(1.0);
    bound_prepare(&judge);
    BoundState before = state_of(judge.world), after = state_of(judge.world);
    after.velocity[6 * MOVED + 2] = -2.0;
    double bound = bound_of(&judge, &before, after.velocity);
    ck_assert_double_gt(bound, 0.5);
    ck_assert_double_lt(bound, 1.5);
    state_free(&before);
    state_free(&after);
    scene_destroy(&judge);
}
END_TEST

static TCase *case_bound(void) {
    TCase *tcase = tcase_create("bound");
    tcase_add_loop_test(tcase, no_impulses_leave_less_than_their_velocities_say, 0, 12);
    tcase_add_test(tcase, of_what_is_solved_it_is_nothing);
    tcase_add_test(tcase, free_motion_leaves_what_it_would_do);
    return tcase;
}

SUITE_MAIN("bench/curve/bound", case_bound)
