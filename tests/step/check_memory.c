// SPDX-License-Identifier: MIT
// What many bodies that lean on each other take of memory, and that it is told.
#include "support/lab.h"
#include "support/sanitizers.h"
#include "support/suite.h"

#include <malloc.h>

enum { SIDE = 22, HEIGHT = 5, BODIES = SIDE * SIDE * HEIGHT, STEPS = 5 };
enum { HEAP_BODY_BYTES = 3000 };
#define HALF  0.1
#define PITCH 0.21 // so near that the broad phase asks of each whether it meets its 26 neighbours

// Stacks side by side, with four contacts a body and a dozen candidates, as in a heap of boxes.
static Lab stacks(void) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, 0);
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(HALF, HALF, HALF), 0);
    for (int i = 0; i < BODIES; i++) {
        const Vec3 at = vec3(PITCH * (i % SIDE), PITCH * (double)(i / SIDE % SIDE),
                             HALF + 2.0 * HALF * (double)(i / (SIDE * SIDE)));
        lab_body(&lab, box, BODY_DYNAMIC, (Pose){at, quat_identity()}, NULL, 0.0, NULL);
    }
    return lab;
}

static size_t told_bytes(const Lab *lab) {
    return world_bytes(lab->world) + stepper_bytes(lab->stepper);
}

START_TEST(a_body_of_a_heap_takes_three_kilobytes) {
    Lab lab = stacks();
    lab_step(&lab, STEPS);
    ck_assert_uint_eq(lab.report.contact_count, 4 * BODIES);
    ck_assert_uint_ge(lab.stepper->contact_capacity, 4 * BODIES);
    ck_assert_uint_le(told_bytes(&lab), (size_t)HEAP_BODY_BYTES * BODIES);
    lab_destroy(&lab);
}
END_TEST

static size_t held_bytes(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Some pages may be lost by rounding: each array is a multiple of 16 bytes, a large one of pages.
// All else that holds memory here is the scratch memory.
START_TEST(what_is_told_is_what_is_held) {
    enum { ROUNDING = 64 * 4096 };
    const size_t before = held_bytes();
    Lab lab = stacks();
    lab_step(&lab, STEPS);
    const size_t held = held_bytes() - before - lab.scratch.total_bytes;
    ck_assert_uint_ge(held, told_bytes(&lab));
    ck_assert_uint_le(held, told_bytes(&lab) + ROUNDING);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_memory(void) {
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_body_of_a_heap_takes_three_kilobytes);
    if (!SANITIZES_ADDRESSES && !SANITIZES_THREADS) { // whose memory is their own
        tcase_add_test(tcase, what_is_told_is_what_is_held);
    }
    return tcase;
}

SUITE_MAIN("step/memory", case_memory)
