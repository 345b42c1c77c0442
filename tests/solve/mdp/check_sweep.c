// SPDX-License-Identifier: MIT
// Contacts that slide wait for each other, and what comes of it is what comes of one contact after
// the other, to the bit.
#include "solve/mdp/mdp.h"
#include "solve/mdp/momentum.h"
#include "solve/mdp/pack.h"
#include "solve/mdp/point.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { BODIES = 120, PAIRS = 240, MANIFOLD_MAX = 6, SWEEPS = 12 };

// Of the pairs, one body has so many that colours end.
enum { HUB = 7, HUB_PAIRS = 90 };

typedef struct Heap {
    ProblemBuild build;
    Context context;
    SolveResult result;
    Error error;
    Judge judge;
    MdpPack pack;
} Heap;

static Vec3 random_vector(uint64_t *state, double size) {
    return vec3(size * problem_build_random(state), size * problem_build_random(state),
                size * problem_build_random(state));
}

static uint32_t pick(uint64_t *state, uint32_t count) {
    uint32_t found = (uint32_t)(0.5 * (1.0 + problem_build_random(state)) * count);
    return found < count ? found : count - 1;
}

// Manifolds of 1 to MANIFOLD_MAX contacts between bodies of any shape, and with the ground: a large
// heap around a hub and small ones, and a contact between two points of one body.
static void heap_build(Heap *heap) {
    ProblemBuild *build = &heap->build;
    problem_build_init(build);
    uint64_t state = 3;
    for (int i = 0; i < BODIES; i++) {
        double v_free[6];
        for (int k = 0; k < 6; k++) {
            v_free[k] = problem_build_random(&state);
        }
        problem_build_free(build, 1.0, (Sym3){0.02, 0.03, 0.025, 0.004, -0.003, 0.002}, v_free);
    }
    for (int pair = 0; pair < PAIRS; pair++) {
        uint32_t a = pair % 4 == 0 ? PROBLEM_NO_TREE : pick(&state, BODIES - 10);
        a = pair >= PAIRS - HUB_PAIRS ? HUB : a;
        uint32_t b = pair == 50 ? a : pick(&state, BODIES);
        Vec3 normal = random_vector(&state, 1.0);
        normal = vec3_scale(1.0 / vec3_norm(normal), normal);
        for (uint32_t k = 0, count = 1 + pick(&state, MANIFOLD_MAX); k < count; k++) {
            ProblemContact *contact = problem_build_contact(build, normal, 0.3, -0.02);
            problem_build_side(contact, 0, a, random_vector(&state, 0.2));
            problem_build_side(contact, 1, b, random_vector(&state, 0.2));
        }
    }
}

static void heap_begin(Heap *heap) {
    heap_build(heap);
    const ContactProblem *problem = &heap->build.problem;
    Judge *judge = &heap->judge;
    heap->context = (Context){0};
    ck_assert_int_eq(judge_begin(judge, problem, RELATION_CONE, 1e-6, false, &heap->context,
                                 &heap->build.arena, &heap->result, &heap->error),
                     STATUS_OK);
    ck_assert_int_eq(mdp_pack_begin(judge, false, &heap->pack), STATUS_OK);
    ck_assert_int_eq(judge_survey(judge, mdp_pack_survey, &heap->pack), STATUS_OK);
    ck_assert_int_eq(mdp_pack_end(judge, &heap->pack), STATUS_OK);
    mdp_pack_load(&heap->pack, problem->v_free, 0, problem->tree_count);
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        mdp_momentum_begin(&heap->pack, i);
        heap->pack.sum[i].ratio = 0.25;
        heap->pack.sum[i].is_done = i == 2;
    }
}

// Nothing is cut into stretches, which have sums of their own, and some contacts are of the last
// colour.
static void expect_groups(const MdpPack *pack) {
    uint32_t last_count = 0;
    for (uint32_t g = 0; g < pack->group_count; g++) {
        ck_assert(!pack->group[g].is_large);
        for (uint32_t i = pack->group[g].stage_begin; i < pack->group[g].stage_end; i++) {
            ck_assert_int_eq(pack->stage[i].kind, MDP_POINT);
            last_count += pack->stage[i].is_last ? 1 : 0;
        }
    }
    ck_assert_uint_eq(last_count, 1);
}

static void sweep(Heap *heap, bool is_coulomb) {
    for (uint32_t g = 0; g < heap->pack.group_count; g++) {
        ck_assert_int_eq(mdp_sweep(&heap->judge, &heap->pack, &heap->pack.group[g], is_coulomb),
                         STATUS_OK);
    }
}

// One contact after the other, none of which can wait.
static void sweep_in_turn(Heap *heap, bool is_coulomb) {
    const MdpPack *pack = &heap->pack;
    for (uint32_t i = 0; i < heap->judge.islands.count; i++) {
        MdpSum *sum = &pack->sum[i];
        sum->residual = sum->opposition = sum->largest = 0.0;
    }
    for (uint32_t g = 0; g < pack->group_count; g++) {
        const MdpGroup *group = &pack->group[g];
        for (uint32_t i = group->stage_begin; i < group->stage_end; i++) {
            const MdpStage *stage = &pack->stage[i];
            for (uint32_t k = stage->begin; k < stage->end; k++) {
                mdp_point_sweep(pack, stage, k, k + 1, is_coulomb, pack->sum + group->island_begin);
            }
        }
    }
}

static void expect_equal(const Heap *found, const Heap *expected) {
    uint32_t contacts = found->build.problem.contact_count;
    for (uint32_t i = 0; i < contacts; i++) {
        if (found->pack.kind[i] != MDP_POINT) {
            continue;
        }
        const MdpPoint *a = &found->pack.point[found->pack.slot[i]],
                       *b = &expected->pack.point[expected->pack.slot[i]];
        ck_assert_mem_eq(a->impulse, b->impulse, sizeof(a->impulse));
        ck_assert_mem_eq(a->before, b->before, sizeof(a->before));
    }
    for (uint32_t i = 0; i < BODIES; i++) {
        ck_assert_mem_eq(found->pack.body[i].v, expected->pack.body[i].v, 6 * sizeof(double));
    }
    for (uint32_t i = 0; i < found->judge.islands.count; i++) {
        const MdpSum *a = &found->pack.sum[i], *b = &expected->pack.sum[i];
        ck_assert_mem_eq(&a->residual, &b->residual, sizeof(double));
        ck_assert_mem_eq(&a->opposition, &b->opposition, sizeof(double));
        ck_assert_mem_eq(&a->largest, &b->largest, sizeof(double));
    }
}

START_TEST(contacts_that_wait_meet_what_they_would_meet_in_turn) {
    static Heap heap, in_turn;
    heap_begin(&heap);
    heap_begin(&in_turn);
    ck_assert_uint_gt(heap.judge.islands.count, 3);
    expect_groups(&heap.pack);
    for (int i = 0; i < SWEEPS; i++) {
        sweep(&heap, _i == 1);
        sweep_in_turn(&in_turn, _i == 1);
        ck_assert_double_gt(heap.pack.sum[0].largest, 0.0);
        expect_equal(&heap, &in_turn);
    }
    problem_build_deinit(&heap.build);
    problem_build_deinit(&in_turn.build);
}
END_TEST

static TCase *case_sweep(void) {
    TCase *tcase = tcase_create("sweep");
    tcase_add_loop_test(tcase, contacts_that_wait_meet_what_they_would_meet_in_turn, 0, 2);
    return tcase;
}

SUITE_MAIN("solve/mdp_sweep", case_sweep)
