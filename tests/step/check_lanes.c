// SPDX-License-Identifier: MIT
// One world on several lanes: whoever does the blocks of a step, and in whatever order, its bits
// are those of one lane; and what goes wrong inside a block is told as one lane tells it.
#include "step/snapshot/snapshot.h"

#include "support/campaign.h"
#include "support/crew.h"
#include "support/heap.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 600, STEPS = 6, SWEEPS = 2 }; // the solver is not what is asked about …
#define BUDGET    3e6                         // … but all that it does takes part
#define TIME_STEP (1.0 / 240.0)

// ---- scenes: many bodies that touch from the first steps on, for all stages have several blocks

static Pose in_grid(int i, double pitch, double lowest) {
    return (Pose){.position = vec3(pitch * (i % 10), pitch * (i / 10 % 10),
                                   lowest + pitch * (double)(i / 100)),
                  .orientation = quat_identity()};
}

static Lab balls_of(double radius) {
    Lab lab = lab_create(9.81, TIME_STEP);
    uint64_t seed = 3;
    lab_ground(&lab, 0);
    Id shape =
        lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0), lab_material(&lab, 0.6, 0.3));
    for (int i = 0; i < BODIES; i++) {
        double x = lab_random(&seed, -1.0, 1.0), y = lab_random(&seed, -1.0, 1.0);
        double velocity[6] = {x, y, -1.0, 0.0, 5.0 * y, 0.0};
        lab_body(&lab, shape, BODY_DYNAMIC, in_grid(i, 0.1, 0.05), velocity, 0.0, NULL);
    }
    return lab;
}

static Lab balls(void) {
    return balls_of(0.05);
}

// Each in a hundred others: so many candidates that a step asks whether to go on between them.
static Lab crowd(void) {
    return balls_of(0.16);
}

// Balls, boxes and hammers, beside a moving wall.
static Lab heap(void) {
    Lab lab = heap_create(41, BODIES);
    for (uint32_t body = 2; body < lab.world->body_count; body++) {
        vec3_store(lab.world->pose + 7 * (size_t)body, in_grid((int)body - 2, 0.13, 0.1).position);
    }
    lab.world->bodies_moved = true;
    return lab;
}

static Lab boxes_over_tiles(void) {
    Lab lab = lab_create(9.81, TIME_STEP);
    uint64_t seed = 7;
    Id tile = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.15, 0.15, 0.1), 0);
    for (int i = 0; i < 400; i++) {
        Pose pose = {.position = vec3(0.3 * (i % 20) - 1.0, 0.3 * (double)(i / 20) - 1.0, -0.1),
                     .orientation = quat_identity()};
        lab_body(&lab, tile, BODY_STATIC, pose, NULL, 0.0, NULL);
    }
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.06, 0.05, 0.04), 0);
    for (int i = 0; i < BODIES; i++) {
        double velocity[6] = {lab_random(&seed, 1.0, 3.0), 0.0, -0.5, 0.0, 0.0, 0.0};
        velocity[1] = lab_random(&seed, -1.0, 1.0);
        lab_body(&lab, box, BODY_DYNAMIC, in_grid(i, 0.125, 0.041), velocity, 0.0, NULL);
    }
    return lab;
}

// What they hit may come through its neighbours.
static Lab fast_shots(void) {
    Lab lab = boxes_over_tiles();
    uint64_t seed = 13;
    Id bouncing = lab_material(&lab, 0.2, 0.8);
    Id shot = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.03, 0.0, 0.0), bouncing);
    for (int i = 0; i < 5; i++) {
        double velocity[6] = {lab_random(&seed, 40.0, 80.0), 0.0, 0.0, 0.0, 0.0, 0.0};
        double y = lab_random(&seed, 0.0, 1.2);
        Pose pose = {.position = vec3(-0.15 - 0.1 * i, y, lab_random(&seed, 0.1, 0.6)),
                     .orientation = quat_identity()};
        lab_body(&lab, shot, BODY_DYNAMIC, pose, velocity, 0.5, NULL);
    }
    return lab;
}

// Balls side by side, three of five in a chain, in turn by coordinates and by rows.
static Lab chains(void) {
    Lab lab = balls_of(0.05);
    const double middle[7] = {0.05, 0, 0, 1, 0, 0, 0}, opposite[7] = {-0.05, 0, 0, 1, 0, 0, 0};
    for (uint32_t i = 1; i + 2 < lab.world->body_count; i += 5) {
        const uint32_t as_rows[2] = {i % 2, i % 2}, kinds[2] = {JOINT_BALL, JOINT_UNIVERSAL};
        const uint64_t a[2] = {lab.world->body_id[i], lab.world->body_id[i + 1]},
                       b[2] = {lab.world->body_id[i + 1], lab.world->body_id[i + 2]};
        double frame_a[14], frame_b[14];
        memcpy(frame_a, middle, sizeof(middle));
        memcpy(frame_a + 7, middle, sizeof(middle));
        memcpy(frame_b, opposite, sizeof(opposite));
        memcpy(frame_b + 7, opposite, sizeof(opposite));
        const double damping[5] = {0.1, 0.1, 0.1, 0.1, 0.1}, low[5] = {-1, -1, -1, -1, -1};
        const JointColumns columns = {.count = 2,
                                      .axis_count = 5,
                                      .position_count = 6,
                                      .kind = kinds,
                                      .body_a = a,
                                      .body_b = b,
                                      .frame_a = frame_a,
                                      .frame_b = frame_b,
                                      .as_rows = as_rows,
                                      .damping = damping,
                                      .low = low};
        lab_joints(&lab, &columns);
    }
    return lab;
}

typedef struct Scene {
    const char *name;
    Lab (*create)(void);
    bool has_seams;
    uint32_t substeps;
} Scene;

static const Scene scenes[] = {
    {"balls", balls, false, 1},
    {"a heap", heap, false, 1},
    {"boxes over tiles", boxes_over_tiles, true, 1},
    {"fast shots", fast_shots, true, 1},
    {"a crowd", crowd, false, 1},
    {"chains", chains, false, 1},
    {"a heap, divided", heap, false, 3},
    {"fast shots, divided", fast_shots, true, 2},
    {"chains, divided", chains, false, 4},
    {"a crowd, divided", crowd, false, 2},
};
enum {
    HEAP = 1,
    CROWD = 4,
    HEAP_DIVIDED = 6,
    CROWD_DIVIDED = 9,
    SCENES = sizeof(scenes) / sizeof(scenes[0])
};

static Lab create(const Scene *scene) {
    Lab lab = scene->create();
    lab.world->settings.substeps = scene->substeps;
    lab_set(&lab, "max_iterations", SWEEPS);
    lab_set(&lab, "budget", BUDGET);
    return lab;
}

// ---- who does the blocks

static void run_reversed(void *lender, TaskBlock *block, void *work, uint32_t count) {
    (void)lender;
    while (count-- > 0) {
        block(work, count);
    }
}

static const Tasks reversed = {.run = run_reversed};

static Status step_with(Lab *lab, const Context *context, Error *error) {
    // the first and the last blocks of bodies are pushed, and one body twice
    uint32_t last = lab->world->body_count - 1;
    const uint32_t body[3] = {last, last - 5, last};
    const double wrench[18] = {0.1,  0.0, 0.2, 0.0, 1e-3, 0.0, 0.0, 0.1, 0.0,
                               1e-3, 0.0, 0.0, 0.0, 0.0,  0.1, 0.0, 0.0, 1e-3};
    StepInput input = {.time_step = TIME_STEP,
                       .wrench_count = 3,
                       .wrench_body = body,
                       .wrench = wrench,
                       .context = *context};
    return stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL, &lab->report, error);
}

static void must_step(Lab *lab, const Tasks *tasks) {
    Context context = {.tasks = tasks};
    Error error = {0};
    ck_assert_msg(step_with(lab, &context, &error) == STATUS_OK, "%s", error.message);
}

static void assert_same(const Lab *lab, const Lab *expected, const char *name) {
    ck_assert_msg(snapshot_hash(lab->world) == snapshot_hash(expected->world), "%s: step %llu",
                  name, (unsigned long long)lab->world->step);
    const StepReport *report = &lab->report, *wanted = &expected->report;
    ck_assert_uint_eq(report->contact_count, wanted->contact_count);
    ck_assert_uint_eq(report->recovery_count, wanted->recovery_count);
    ck_assert(memcmp(&report->energy, &wanted->energy, sizeof(StepEnergy)) == 0);
}

static void assert_as_on_one_lane(const Scene *scene, const Tasks *tasks) {
    Lab lab = create(scene), expected = create(scene);
    uint32_t contacts = 0;
    for (int i = 0; i < STEPS; i++) {
        must_step(&expected, NULL);
        must_step(&lab, tasks);
        assert_same(&lab, &expected, scene->name);
        contacts = lab.report.contact_count > contacts ? lab.report.contact_count : contacts;
    }
    ck_assert_uint_gt(contacts, BODIES); // several blocks of them
    ck_assert(!scene->has_seams || lab.stepper->has_seams);
    lab_destroy(&lab);
    lab_destroy(&expected);
}

START_TEST(blocks_in_reverse_order_give_the_same_bits) {
    assert_as_on_one_lane(&scenes[_i], &reversed);
}
END_TEST

static const uint32_t lane_counts[] = {1, 2, 4, 7};
enum { LANE_COUNTS = sizeof(lane_counts) / sizeof(lane_counts[0]) };

// Under the sanitizers by some of them.
START_TEST(any_number_of_lanes_gives_the_same_bits) {
    if (campaign_count(4) < 4 && _i / SCENES % 2 == 0) {
        return;
    }
    Crew *crew = crew_create(lane_counts[_i / SCENES], (uint64_t)_i);
    assert_as_on_one_lane(&scenes[_i % SCENES], crew_tasks(crew));
    crew_destroy(crew);
}
END_TEST

// Nine balls side by side on the ground: more contacts than a block has room for at first.
static Lab rafts(void) {
    enum { PARTS = 9 };
    Lab lab = lab_create(9.81, TIME_STEP);
    lab_ground(&lab, 0);
    uint32_t count = PARTS, kinds[PARTS];
    double sizes[3 * PARTS] = {0}, poses[7 * PARTS] = {0};
    for (int i = 0; i < PARTS; i++) {
        kinds[i] = PRIMITIVE_SPHERE;
        sizes[3 * i] = 0.05;
        poses[7 * i] = 0.1 * (i % 3 - 1);
        poses[7 * i + 1] = 0.1 * (i / 3 - 1);
        poses[7 * i + 3] = 1.0;
    }
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = PARTS,
                            .primitives_of_shape = &count,
                            .kind = kinds,
                            .size = sizes,
                            .pose = poses};
    Id shape = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab.world, &columns, &shape, &error) == STATUS_OK, "%s",
                  error.message);
    for (int i = 0; i < BODIES; i++) {
        Pose pose = {.position = vec3(0.5 * i, 0.0, 0.05), .orientation = quat_identity()};
        lab_body(&lab, shape, BODY_DYNAMIC, pose, NULL, 0.0, NULL);
    }
    return lab;
}

START_TEST(bodies_of_many_parts_have_all_their_contacts) {
    const Tasks *all_tasks[2] = {NULL, &reversed};
    Lab lab = rafts();
    for (int i = 0; i < 3; i++) {
        must_step(&lab, all_tasks[_i]);
        ck_assert_uint_eq(lab.report.contact_count, 9 * BODIES);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_fault_in_two_blocks_names_the_body_of_the_first) {
    // no float holds where they go, and the last block is done first
    static const uint32_t bad[2] = {300, 580};
    const Tasks *all_tasks[2] = {NULL, &reversed};
    for (int k = 0; k < 2; k++) {
        Lab lab = balls();
        for (int i = 0; i < 2; i++) {
            lab.world->pose[7 * bad[i]] = 3.4e38;
            lab.world->velocity[6 * bad[i]] = 1e38;
        }
        lab.world->bodies_moved = true;
        uint64_t hash = snapshot_hash(lab.world);
        Context context = {.tasks = all_tasks[k]};
        Error error = {0};
        ck_assert_int_eq(step_with(&lab, &context, &error), STATUS_FAILED_PRECONDITION);
        ck_assert_uint_eq(lab.stepper->fault.body, lab.world->body_id[bad[0]]);
        ck_assert_str_eq(lab.stepper->fault.quantity, "pose");
        lab.world->faulted = false;
        ck_assert_uint_eq(snapshot_hash(lab.world), hash);
        lab_destroy(&lab);
    }
}
END_TEST

START_TEST(memory_that_ends_between_blocks_leaves_the_world_as_it_was) {
    const Scene *scene = &scenes[_i == 0 ? HEAP : HEAP_DIVIDED];
    Lab expected = create(scene);
    must_step(&expected, NULL);
    uint64_t hash = 0;
    bool is_done = false;
    for (size_t limit = 1 << 14; !is_done; limit *= 2) {
        Lab lab = create(scene);
        hash = snapshot_hash(lab.world);
        arena_deinit(&lab.scratch);
        arena_init(&lab.scratch, limit);
        Context context = {.tasks = &reversed};
        Error error = {0};
        Status status = step_with(&lab, &context, &error);
        is_done = status == STATUS_OK;
        if (is_done) {
            assert_same(&lab, &expected, "in little memory");
        } else {
            ck_assert_int_eq(status, STATUS_RESOURCE_EXHAUSTED);
            ck_assert_uint_eq(snapshot_hash(lab.world), hash);
        }
        lab_destroy(&lab);
    }
    lab_destroy(&expected);
}
END_TEST

typedef struct StopCounter {
    uint32_t count, last; // says yes at the last
} StopCounter;

static bool ask(void *context) {
    StopCounter *asker = context;
    return ++asker->count == asker->last;
}

// Given up at each question of a step in turn, and then taken as if it had never been begun.
START_TEST(a_step_that_is_given_up_between_blocks_has_not_happened) {
    if (campaign_count(4) < 4 && _i == 1) {
        return; // under the sanitizers the first
    }
    const Scene *scene = &scenes[_i == 0 ? CROWD : CROWD_DIVIDED];
    Lab expected = create(scene), lab = create(scene);
    Crew *crew = crew_create(3, 5);
    must_step(&expected, NULL);
    uint64_t hash = snapshot_hash(lab.world);
    StopCounter asker = {.last = 1};
    Stop stop = {.asked = ask, .context = &asker};
    Context context = {.stop = &stop, .tasks = crew_tasks(crew)};
    Error error = {0};
    bool is_colliding = false;
    Status status;
    while ((status = step_with(&lab, &context, &error)) == STATUS_ABORTED) {
        ck_assert_uint_eq(asker.count, asker.last);
        ck_assert_uint_eq(snapshot_hash(lab.world), hash);
        ck_assert(!lab.stepper->has_last);
        is_colliding = is_colliding || (lab.report.contact_count > 0 &&
                                        strstr(error.message, "while colliding") != NULL);
        asker = (StopCounter){.last = asker.last + 1};
    }
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert(is_colliding); // once at least, with some contacts found
    assert_same(&lab, &expected, "after it was given up");
    crew_destroy(crew);
    lab_destroy(&lab);
    lab_destroy(&expected);
}
END_TEST

// The same step again and again: what it needs is there after the second.
START_TEST(in_a_steady_state_lanes_take_no_memory) {
    Lab lab = create(&scenes[_i]);
    size_t numbers = lab.world->body_count, bytes = 0, scratch = 0;
    double *pose = malloc(7 * numbers * sizeof(double));
    double *velocity = malloc(6 * numbers * sizeof(double));
    memcpy(pose, lab.world->pose, 7 * numbers * sizeof(double));
    memcpy(velocity, lab.world->velocity, 6 * numbers * sizeof(double));
    for (int i = 0; i < 6; i++) {
        must_step(&lab, &reversed);
        memcpy(lab.world->pose, pose, 7 * numbers * sizeof(double));
        memcpy(lab.world->velocity, velocity, 6 * numbers * sizeof(double));
        lab.world->memory_count = lab.world->joint_memory_count = 0; // from which solvers start
        if (i == 2) {
            bytes = stepper_bytes(lab.stepper);
            scratch = lab.scratch.total_bytes;
        }
    }
    ck_assert_uint_eq(stepper_bytes(lab.stepper), bytes);
    ck_assert_uint_eq(lab.scratch.total_bytes, scratch);
    free(pose);
    free(velocity);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_lanes(void) {
    TCase *tcase = tcase_create("lanes");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, blocks_in_reverse_order_give_the_same_bits, 0, SCENES);
    tcase_add_loop_test(tcase, any_number_of_lanes_gives_the_same_bits, 0, SCENES * LANE_COUNTS);
    tcase_add_loop_test(tcase, bodies_of_many_parts_have_all_their_contacts, 0, 2);
    tcase_add_test(tcase, a_fault_in_two_blocks_names_the_body_of_the_first);
    tcase_add_loop_test(tcase, memory_that_ends_between_blocks_leaves_the_world_as_it_was, 0, 2);
    tcase_add_loop_test(tcase, a_step_that_is_given_up_between_blocks_has_not_happened, 0, 2);
    tcase_add_loop_test(tcase, in_a_steady_state_lanes_take_no_memory, 0, SCENES);
    return tcase;
}

SUITE_MAIN("step/lanes", case_lanes)
