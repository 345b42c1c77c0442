// SPDX-License-Identifier: MIT
// A world with rows of every kind on several lanes, over hundreds of steps: rings that rows close,
// of free bodies and of trees, that fall on each other, lock and break; stacks that ropes tie, and
// that fall asleep and are woken; tendons between pendulums. Which islands there are, several lanes
// find at once, from contacts of several blocks; and whoever finds them, all goes on with the bits
// of one lane.
#include "step/snapshot/snapshot.h"
#include "world/sleep.h"

#include "support/campaign.h"
#include "support/crew.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

enum { RINGS = 96, RING = 6, STACKS = 160, HEIGHT = 3, PENDULUMS = 24, STEPS = 210 };
enum { BLOCK = 1024 }; // contacts in which islands are looked for at once (solve/island.c)
#define TIME_STEP (1.0 / 240.0)
#define BALL      0.1
#define HALF      0.1

static Pose at(double x, double y, double z) {
    return (Pose){vec3(x, y, z), quat_identity()};
}

// A joint at the middle between two bodies; `a` UINT32_MAX: at a place of the world, beside b.
typedef struct Tie {
    JointKind kind;
    uint32_t a, b;
    bool is_rows;
    double break_force; // 0: it holds
} Tie;

static Id tie(Lab *lab, Tie tie) {
    const World *world = lab->world;
    const bool hangs = tie.a == UINT32_MAX;
    const Vec3 b = lab_position(lab, tie.b),
               a = hangs ? vec3_add(b, vec3(0.3, 0.0, 0.0)) : lab_position(lab, tie.a);
    const Vec3 middle = hangs ? a : vec3_scale(0.5, vec3_add(a, b));
    const uint32_t kind = tie.kind, as_rows = tie.is_rows;
    const uint64_t body_a = hangs ? 0 : world->body_id[tie.a], body_b = world->body_id[tie.b];
    double frame_a[7], frame_b[7];
    pose_store(frame_a, (Pose){hangs ? middle : vec3_sub(middle, a), quat_identity()});
    pose_store(frame_b, (Pose){vec3_sub(middle, b), quat_identity()});
    const double damping[3] = {0.01, 0.01, 0.01},
                 force = tie.break_force > 0.0 ? tie.break_force : HUGE_VAL;
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(joint_kind_axes(tie.kind)),
                                  .position_count = joint_position_count(joint_kind_axes(tie.kind)),
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_a = &body_a,
                                  .body_b = &body_b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .damping = damping,
                                  .break_force = &force};
    return lab_joints(lab, &columns);
}

// Of rows; of coordinates, that one of rows closes; of rows, the last of which breaks. Neighbours
// slide towards each other.
static void add_ring(Lab *lab, Id ball, int number) {
    const double x = 1.1 * (number % 12), y = 1.1 * floor(number / 12.0),
                 z = BALL + 0.15 * (number % 3);
    const double velocity[6] = {number % 2 == 0 ? 1.5 : -1.5, 0.3, -0.5, 0.0, 0.0, 0.4};
    const int way = number % 3;
    uint32_t body[RING];
    for (int i = 0; i < RING; i++) {
        const double turn = i * (M_PI / 3.0);
        body[i] = lab_body(lab, ball, BODY_DYNAMIC,
                           at(x + 0.25 * cos(turn), y + 0.25 * sin(turn), z), velocity, 0.0, NULL);
    }
    for (int i = 0; i < RING; i++) {
        const bool closes = i == RING - 1;
        tie(lab, (Tie){.kind = JOINT_BALL,
                       .a = body[i],
                       .b = body[closes ? 0 : i + 1],
                       .is_rows = way != 1 || closes,
                       .break_force = way == 2 && closes ? 40.0 : 0.0});
    }
}

// Some tops are tied to the next stack's.
static void add_stacks(Lab *lab, Id box) {
    uint32_t top = 0;
    for (int k = 0; k < STACKS; k++) {
        const uint32_t before = top;
        for (int i = 0; i < HEIGHT; i++) {
            top = lab_body(lab, box, BODY_DYNAMIC,
                           at(0.6 * (k % 16), -2.0 - 0.6 * floor(k / 16.0), HALF + 2.0 * HALF * i),
                           NULL, 0.0, NULL);
        }
        if (k % 16 % 3 == 1) {
            tie(lab, (Tie){.kind = JOINT_BALL, .a = before, .b = top, .is_rows = true});
        }
    }
}

// Side by side, and each pair coupled by a tendon that is drawn to a length.
static void add_pendulums(Lab *lab, Id ball) {
    Id hinge[2];
    for (int k = 0; k < PENDULUMS; k++) {
        const uint32_t body =
            lab_body(lab, ball, BODY_DYNAMIC, at(0.8 * k, 12.0, 1.0), NULL, 0.0, NULL);
        hinge[k % 2] =
            tie(lab, (Tie){.kind = JOINT_HINGE, .a = UINT32_MAX, .b = body, .is_rows = k % 4 == 1});
        if (k % 2 == 1) {
            lab_cable(lab, hinge);
        }
    }
}

static Lab gather(void) {
    Lab lab = lab_create(9.81, TIME_STEP);
    lab.world->settings.sleep_speed = 0.05;
    lab.world->settings.sleep_time = 0.4;
    const Id material = lab_material(&lab, 0.5, 0.1);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(BALL, 0.0, 0.0), material),
             box = lab_shape(&lab, PRIMITIVE_BOX, vec3(HALF, HALF, HALF), material);
    lab_ground(&lab, material);
    for (int i = 0; i < RINGS; i++) {
        add_ring(&lab, ball, i);
    }
    add_stacks(&lab, box);
    add_pendulums(&lab, ball);
    // comes down on a stack that sleeps, after 0.8 s; it is the last
    lab_body(&lab, ball, BODY_DYNAMIC, at(1.23, -2.6, 2.0 * HALF * HEIGHT + 3.2), NULL, 20.0, NULL);
    lab_set(&lab, "max_iterations", 20); // the solver is not what is asked about
    lab_set(&lab, "budget", 3e6);
    return lab;
}

enum { STRUCK = 1 + RINGS * RING + 18 * HEIGHT }; // the lowest of the stack it falls on

typedef struct Seen {
    uint32_t contacts, rows;
    bool has_slept, was_woken; // the stack
    size_t broken;
} Seen;

static void see(const Lab *lab, Seen *seen) {
    const bool sleeps = sleep_is_asleep(lab->world, STRUCK);
    seen->contacts = (uint32_t)fmax(seen->contacts, lab->report.contact_count);
    seen->rows = (uint32_t)fmax(seen->rows, lab->stepper->row_count);
    seen->was_woken = seen->was_woken || (seen->has_slept && !sleeps);
    seen->has_slept = seen->has_slept || sleeps;
    seen->broken = world_removed_joint_count(lab->world);
}

typedef struct Expected {
    uint64_t hash;
    StepEnergy energy;
    uint32_t asleep;
} Expected;

static Expected expected[STEPS]; // of one lane

static Seen play(Lab *lab, uint32_t lanes, int steps) {
    Seen seen = {0};
    Crew *crew = lanes > 1 ? crew_create(lanes, lanes) : NULL;
    lab->context.tasks = crew == NULL ? NULL : crew_tasks(crew);
    for (int i = 0; i < steps; i++) {
        lab_step(lab, 1);
        see(lab, &seen);
        const Expected now = {snapshot_hash(lab->world), lab->report.energy,
                              lab->report.asleep_count};
        expected[i] = crew == NULL ? now : expected[i];
        ck_assert_msg(now.hash == expected[i].hash, "%u lanes: step %d", lanes, i);
        ck_assert_mem_eq(&now.energy, &expected[i].energy, sizeof(now.energy));
        ck_assert_uint_eq(now.asleep, expected[i].asleep);
    }
    lab->context.tasks = NULL;
    if (crew != NULL) {
        crew_destroy(crew);
    }
    return seen;
}

// Under the sanitizers a part of it.
START_TEST(any_number_of_lanes_gives_the_same_bits) {
    static const uint32_t lanes[] = {2, 7};
    const int steps = campaign_count(4) < 4 ? STEPS / 8 : STEPS;
    Lab lab = gather();
    const Seen seen = play(&lab, 1, steps);
    lab_destroy(&lab);
    ck_assert_uint_gt(seen.contacts, 2 * (size_t)BLOCK);
    ck_assert_uint_gt(seen.rows, (size_t)RINGS * RING);
    for (int i = 0; i < 2; i++) {
        lab = gather();
        play(&lab, lanes[i], steps);
        lab_destroy(&lab);
    }
    if (steps == STEPS) {
        ck_assert_uint_gt(seen.broken, 0);
        ck_assert(seen.has_slept && seen.was_woken);
    }
}
END_TEST

static TCase *case_lanes(void) {
    TCase *tcase = tcase_create("lanes");
    tcase_set_timeout(tcase, 300.0);
    tcase_add_test(tcase, any_number_of_lanes_gives_the_same_bits);
    return tcase;
}

SUITE_MAIN("step/joints/lanes", case_lanes)
