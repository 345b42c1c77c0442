// SPDX-License-Identifier: MIT
// What a world is told to take is what it holds, at all times: while bodies and joints of every
// kind come, in such numbers that columns grow by quarters, break and are removed; and of its
// copies, by a snapshot and state by state, which go on with the same bits and leave nothing
// behind. Every allocation is counted, by the linker's help.
#include "step/snapshot/snapshot.h"
#include "world/world_valid.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- what is held

static size_t held_bytes, held_count; // of all that is allocated, and in how many pieces

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *memory);

// What libc itself takes for others, as strdup does, is not counted, and so not when it is freed.
enum { LIVE_MAX = 4096 };
static struct {
    void *memory;
    size_t bytes; // as they were asked for
} live[LIVE_MAX];

static void *add(void *memory, size_t bytes) {
    if (memory != NULL && held_count < LIVE_MAX) {
        live[held_count].memory = memory;
        live[held_count++].bytes = bytes;
        held_bytes += bytes;
    }
    return memory;
}

static void take_away(const void *memory) {
    size_t at = held_count;
    while (at > 0 && live[at - 1].memory != memory) {
        at--;
    }
    if (at > 0) {
        held_bytes -= live[at - 1].bytes;
        live[at - 1] = live[--held_count];
    }
}

void *__wrap_malloc(size_t bytes) {
    return add(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return add(__real_calloc(count, bytes), count * bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    take_away(memory);
    return add(__real_realloc(memory, bytes), bytes); // no test here meets the end of memory
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return add(__real_aligned_alloc(alignment, bytes), bytes);
}

void __wrap_free(void *memory) {
    take_away(memory);
    __real_free(memory);
}

typedef struct Held {
    size_t bytes, count;
} Held;

static Held held_since(Held before) {
    return (Held){held_bytes - before.bytes, held_count - before.count};
}

// ---- a world that grows

enum { GROUP_BODIES = 3, GROUP_JOINTS = 4, GROUPS = 900, TURN = 150 };

static uint32_t body_at(Lab *lab, Vec3 at, Vec3 velocity) {
    static const double inertia[6] = {0.02, 0.03, 0.025, 0.0, 0.0, 0.0};
    const double moves[6] = {velocity.x, velocity.y, velocity.z, 0.0, 0.3, 0.1};
    return lab_body(lab, 0, BODY_DYNAMIC, (Pose){at, quat_identity()}, moves, 1.0, inertia);
}

// Of three bodies: one hangs on the world by a hinge, the next on it by a ball, the last by a hinge
// of rows, which breaks in every third of these; a tendon couples the hinges.
static void add_group(Lab *lab, int number) {
    const Vec3 at = vec3(2.0 * (number % 40), 2.0 * floor(number / 40.0), 0.0);
    uint64_t id[GROUP_BODIES];
    for (int i = 0; i < GROUP_BODIES; i++) {
        const uint32_t body =
            body_at(lab, vec3_add(at, vec3(0.5 * (i + 1), 0.0, 0.0)), vec3(0.0, 0.1 * i, 0.0));
        id[i] = lab->world->body_id[body];
    }
    const Id next = lab->world->joint_id_next;
    const uint32_t kind[GROUP_JOINTS] = {JOINT_HINGE, JOINT_BALL, JOINT_HINGE, JOINT_TENDON},
                   as_rows[GROUP_JOINTS] = {0, 0, 1, 0}, coupled[GROUP_JOINTS] = {0, 0, 0, 2};
    const uint64_t a[GROUP_JOINTS] = {0, id[0], id[1], 0},
                   b[GROUP_JOINTS] = {id[0], id[1], id[2], 0}, couples[2] = {next, next + 2};
    const double force = number % 3 == 0 ? 1.0 : HUGE_VAL, never = HUGE_VAL;
    const double breaks[GROUP_JOINTS] = {never, never, force, never}, share[2] = {0.5, -0.3},
                 stiffness[6] = {0, 0, 0, 0, 0, 20.0}, damping[6] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.0};
    double frame_a[7 * GROUP_JOINTS] = {0}, frame_b[7 * GROUP_JOINTS] = {0};
    for (size_t i = 0; i < GROUP_JOINTS; i++) {
        frame_a[7 * i] = i == 0 ? at.x : 0.25;
        frame_a[7 * i + 1] = i == 0 ? at.y : 0.0;
        frame_b[7 * i] = i == 0 ? -0.5 : -0.25;
        frame_a[7 * i + 3] = frame_b[7 * i + 3] = 1.0;
    }
    const JointColumns columns = {.count = GROUP_JOINTS,
                                  .axis_count = 6,
                                  .position_count = 7,
                                  .coupling_count = 2,
                                  .kind = kind,
                                  .body_a = a,
                                  .body_b = b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .as_rows = as_rows,
                                  .break_force = breaks,
                                  .coupled_count = coupled,
                                  .coupled = couples,
                                  .coefficients = share,
                                  .drive_stiffness = stiffness,
                                  .damping = damping};
    Id added[GROUP_JOINTS];
    Error error = {0};
    ck_assert_msg(world_add_joints(lab->world, &columns, added, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
}

// All that the last group holds of joints, and its bodies, wherever it has broken.
static void remove_last(Lab *lab) {
    World *world = lab->world;
    uint64_t body[GROUP_BODIES], joint[GROUP_JOINTS];
    RemoveOrder order = {.body_count = GROUP_BODIES, .body = body, .joint = joint};
    for (uint32_t i = 0; i < GROUP_BODIES; i++) {
        body[i] = world->body_id[world->body_count - GROUP_BODIES + i];
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *at = &world->joint[i];
        if (at->id + GROUP_JOINTS >= world->joint_id_next) {
            ck_assert_uint_lt(order.joint_count, GROUP_JOINTS);
            joint[order.joint_count++] = at->id;
        }
    }
    Error error = {0};
    ck_assert_msg(world_remove(world, &order, &error) == STATUS_OK, "%s", error.message);
}

static void expect_valid(const World *world) {
    Defect defect = {0};
    ck_assert_msg(world_is_valid(world, &defect), "%s", defect.what);
}

// ---- how it is told

// Of a laboratory all that no world or stepper tells, and that stays as it is.
typedef struct Books {
    Held before;
    size_t untold;
} Books;

// Scratch memory is given back first.
static size_t told_of(Lab *lab) {
    arena_reset_and_trim(&lab->scratch, 0);
    return world_bytes(lab->world) + stepper_bytes(lab->stepper);
}

static Lab open_lab(Books *books) {
    const Held before = {held_bytes, held_count};
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    *books = (Books){before, held_since(before).bytes - told_of(&lab)};
    return lab;
}

static void expect_books(const Books *books, Lab *lab) {
    const size_t told = told_of(lab);
    ck_assert_uint_eq(held_since(books->before).bytes, books->untold + told);
}

// As a clone or a fork is made: what a snapshot says, with a stepper of its own.
static Lab open_twin(Lab *of, Books *books) {
    const Held before = {held_bytes, held_count};
    World *world = lab_copy(of);
    arena_reset_and_trim(&of->scratch, 0);
    ck_assert_uint_eq(held_since(before).bytes, world_bytes(world));
    expect_valid(world);
    Lab twin = open_lab(books);
    world_destroy(twin.world);
    twin.world = world;
    books->before = before;
    return twin;
}

static void expect_alike(const Lab *a, const Lab *b) {
    ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
}

static void step_both(Lab *lab, Lab *twin) {
    for (int i = 0; i < 3; i++) {
        lab_step(lab, 1);
        lab_step(twin, 1);
        expect_alike(lab, twin);
    }
}

// Beside one that goes on as it does, that is put back where it stands, and goes again.
static void expect_company(Lab *lab, const Books *books, int number) {
    expect_books(books, lab);
    Books of_twin;
    const size_t told = told_of(lab);
    const Held alone = {held_bytes, held_count};
    Lab twin = open_twin(lab, &of_twin);
    lab_step(lab, 2);
    ck_assert(world_copy_state(twin.world, lab->world));
    step_both(lab, &twin);
    add_group(lab, number);
    add_group(&twin, number);
    step_both(lab, &twin);
    remove_last(lab);
    remove_last(&twin);
    step_both(lab, &twin);
    expect_valid(twin.world);
    // of both, less what the one held when it was alone
    const size_t told_now = of_twin.untold + told_of(&twin) + told_of(lab);
    ck_assert_uint_eq(held_since(alone).bytes + told, told_now);
    lab_destroy(&twin);
    expect_books(books, lab);
}

START_TEST(what_a_world_is_told_to_take_is_what_it_holds) {
    Books books;
    Lab lab = open_lab(&books);
    size_t broken = 0;
    for (int i = 0; i < GROUPS; i++) {
        add_group(&lab, i);
        expect_books(&books, &lab);
        if (i % TURN == TURN - 1) {
            lab_step(&lab, 3);
            expect_company(&lab, &books, GROUPS + i);
            expect_valid(lab.world);
            lab_restore(&lab);
            expect_books(&books, &lab);
            broken = world_removed_joint_count(lab.world);
        }
    }
    ck_assert_uint_gt(lab.world->joint_count, 2000);
    ck_assert_uint_gt(broken, GROUPS / 3);
    const Held before = books.before;
    lab_destroy(&lab);
    ck_assert_uint_eq(held_bytes, before.bytes);
    ck_assert_uint_eq(held_count, before.count);
}
END_TEST

static TCase *case_bytes(void) {
    TCase *tcase = tcase_create("bytes");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, what_a_world_is_told_to_take_is_what_it_holds);
    return tcase;
}

SUITE_MAIN("world/bytes", case_bytes)
