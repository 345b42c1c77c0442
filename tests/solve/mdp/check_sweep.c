// SPDX-License-Identifier: MIT
// Contacts are swept four at a time, and what comes of it is what comes of one contact after the
// other, to the bit.
#include "solve/mdp/mdp.h"
#include "solve/mdp/momentum.h"
#include "solve/mdp/pack.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { BODIES = 120, PAIRS = 240, MANIFOLD_MAX = 6, SWEEPS = 12 };

// Of the pairs, one body has so many that colours end.
enum { HUB = 7, HUB_PAIRS = 90 };

// Bodies at the end that only the ground touches, each an island of its own.
enum { LONERS = 8, GROUND_PAIRS = PAIRS + LONERS };

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
    for (uint32_t pair = 0; pair < GROUND_PAIRS; pair++) {
        uint32_t a = pair % 4 == 0 ? PROBLEM_NO_TREE : pick(&state, BODIES - 10);
        a = pair >= PAIRS - HUB_PAIRS ? HUB : a;
        uint32_t b = pair == 50 ? a : pick(&state, BODIES - LONERS);
        if (pair >= PAIRS) {
            a = PROBLEM_NO_TREE;
            b = BODIES - LONERS + (pair - PAIRS);
        }
        double mu = pair < PAIRS ? 0.3 : 3.0; // what sticks is done at once
        Vec3 normal = random_vector(&state, 1.0);
        normal = vec3_scale(1.0 / vec3_norm(normal), normal);
        for (uint32_t k = 0, count = 1 + pick(&state, MANIFOLD_MAX); k < count; k++) {
            ProblemContact *contact = problem_build_contact(build, normal, mu, -0.02);
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
        heap->pack.sum[i].is_done = i % 2 == 1;
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

// The place of a quad alone in another, whose other places are as empty ones are.
static MdpPointQuad take_out(const MdpPointQuad *quad, uint32_t place) {
    MdpPointQuad alone = *quad;
    for (uint32_t i = 0; i < MDP_QUAD; i++) {
        if (i == place) {
            continue;
        }
        alone.a[i] = alone.b[i] = PROBLEM_NO_TREE; // set by the caller
        alone.mu.at[i] = alone.weight.at[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            alone.frame[k].x.at[i] = alone.frame[k].y.at[i] = alone.frame[k].z.at[i] = 0.0;
            alone.impulse[k].at[i] = alone.before[k].at[i] = 0.0;
            alone.offset[k].at[i] = k == 0 ? 1.0 : 0.0;
        }
        for (int k = 0; k < MDP_BLOCK_NUMBERS; k++) {
            alone.block[k].at[i] = 0.0;
        }
    }
    return alone;
}

static void put_back(const MdpPointQuad *alone, uint32_t place, MdpPointQuad *quad) {
    for (int k = 0; k < 3; k++) {
        quad->impulse[k].at[place] = alone->impulse[k].at[place];
        quad->before[k].at[place] = alone->before[k].at[place];
    }
}

static void sweep_one(const MdpPack *pack, uint32_t slot, uint32_t nobody, bool is_coulomb,
                      const MdpSum *sum) {
    MdpPointQuad *quad = &pack->points.quad[slot / MDP_QUAD];
    MdpPointQuad alone = take_out(quad, slot % MDP_QUAD);
    for (uint32_t i = 0; i < MDP_QUAD; i++) {
        alone.a[i] = i == slot % MDP_QUAD ? alone.a[i] : nobody;
        alone.b[i] = i == slot % MDP_QUAD ? alone.b[i] : nobody;
        alone.has_plan[i] = false;
    }
    MdpPlan plan[MDP_QUAD];
    MdpFour square, along;
    const MdpPoints points = {.quad = &alone,
                              .square = square.at,
                              .along = along.at,
                              .plan = plan,
                              .body = pack->body,
                              .inertia = pack->points.inertia};
    mdp_point_sweep(&points, 0, 1, is_coulomb, sum);
    put_back(&alone, slot % MDP_QUAD, quad);
    pack->points.square[slot] = square.at[slot % MDP_QUAD];
    pack->points.along[slot] = along.at[slot % MDP_QUAD];
}

// One contact after the other, as the sums are taken.
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
            MdpSum *sum = pack->sum + group->island_begin;
            for (uint32_t k = stage->span.note_begin; k < stage->span.note_end; k++) {
                sweep_one(pack, mdp_note_slot(pack->note[k]), pack->problem->tree_count + g,
                          is_coulomb, sum);
                mdp_point_note(&pack->points, pack->note + k, 1, sum);
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
        uint32_t slot = found->pack.slot[i];
        const MdpPointQuad *a = &found->pack.points.quad[slot / MDP_QUAD],
                           *b = &expected->pack.points.quad[slot / MDP_QUAD];
        for (int k = 0; k < 3; k++) {
            ck_assert_mem_eq(&a->impulse[k].at[slot % MDP_QUAD], &b->impulse[k].at[slot % MDP_QUAD],
                             sizeof(double));
            ck_assert_mem_eq(&a->before[k].at[slot % MDP_QUAD], &b->before[k].at[slot % MDP_QUAD],
                             sizeof(double));
        }
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

// Islands that are done stay as they are, whoever stands beside them.
static void expect_done_untouched(const Heap *heap) {
    const Islands *islands = &heap->judge.islands;
    for (uint32_t i = 0; i < islands->tree_first[islands->count]; i++) {
        uint32_t tree = islands->tree[i];
        if (heap->pack.sum[islands->of_tree[tree]].is_done) {
            ck_assert_mem_eq(heap->pack.body[tree].v, heap->build.problem.v_free + (size_t)6 * tree,
                             6 * sizeof(double));
        }
    }
}

START_TEST(contacts_in_lanes_meet_what_they_would_meet_in_turn) {
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
        expect_done_untouched(&heap);
    }
    problem_build_deinit(&heap.build);
    problem_build_deinit(&in_turn.build);
}
END_TEST

// What sweeps push is what the impulses do, also between two points of one body.
START_TEST(velocities_are_what_the_impulses_make_of_them) {
    static Heap heap;
    heap_begin(&heap);
    Judge *judge = &heap.judge;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        heap.pack.sum[i].ratio = 0.0;
        heap.pack.sum[i].is_done = false;
    }
    for (int i = 0; i < SWEEPS; i++) {
        sweep(&heap, true);
    }
    mdp_pack_store_contacts(&heap.pack, 0, heap.build.problem.contact_count);
    for (uint32_t share = 0; share < judge->islands.share_count; share++) {
        const IslandShare *of = &judge->islands.share[share];
        judge_measure(judge, share, of->island_begin, of->island_end);
    }
    for (uint32_t i = 0; i < BODIES; i++) {
        for (int k = 0; k < 6; k++) {
            ck_assert_double_eq_tol(heap.pack.body[i].v[k],
                                    heap.result.answer.v[6 * i + (uint32_t)k], 1e-10);
        }
    }
    problem_build_deinit(&heap.build);
}
END_TEST

// ---- one quad

// A block of three random directions, of a condition of some tens.
static MdpBlock random_block(uint64_t *state) {
    Vec3 d[3];
    MdpBlock block = {
        .nn = 0.1, .tt = 0.1, .oo = 0.1, .mu = 1.6 + 1.5 * problem_build_random(state)};
    for (int i = 0; i < 3; i++) {
        d[i] = random_vector(state, 1.0);
        block.nn += d[i].x * d[i].x;
        block.nt += d[i].x * d[i].y;
        block.no += d[i].x * d[i].z;
        block.tt += d[i].y * d[i].y;
        block.to += d[i].y * d[i].z;
        block.oo += d[i].z * d[i].z;
    }
    return block;
}

// Between the ground and bodies that no impulse moves, so that the blocks alone count.
static void quad_begin(MdpPointQuad *quad, const MdpBlock block[MDP_QUAD]) {
    *quad = (MdpPointQuad){.a = {MDP_QUAD, MDP_QUAD, MDP_QUAD, MDP_QUAD}, .b = {0, 1, 2, 3}};
    for (int i = 0; i < MDP_QUAD; i++) {
        const double numbers[MDP_BLOCK_NUMBERS] = {block[i].nn, block[i].nt, block[i].no,
                                                   block[i].tt, block[i].to, block[i].oo};
        for (int k = 0; k < MDP_BLOCK_NUMBERS; k++) {
            quad->block[k].at[i] = numbers[k];
        }
        quad->mu.at[i] = block[i].mu;
        quad->weight.at[i] = 1.0;
        quad->frame[0].x.at[i] = quad->frame[1].y.at[i] = quad->frame[2].z.at[i] = 1.0;
    }
    mdp_point_close(quad, 0, 1);
}

enum { QUADS = 2000 };

// From nothing, and from an answer that is near.
START_TEST(slides_are_those_of_the_blocks) {
    uint64_t state = 11;
    int slid = 0, planned = 0;
    for (int i = 0; i < QUADS; i++) {
        MdpBlock block[MDP_QUAD];
        MdpBody body[MDP_QUAD + 1] = {0};
        for (int k = 0; k < MDP_QUAD; k++) {
            block[k] = random_block(&state);
            vec3_store(body[k].v, random_vector(&state, 1.0));
        }
        MdpPointQuad quad;
        MdpPlan plan[MDP_QUAD];
        const MdpInertia inertia[MDP_QUAD + 1] = {0};
        MdpFour square, along;
        const MdpPoints points = {.quad = &quad,
                                  .square = square.at,
                                  .along = along.at,
                                  .plan = plan,
                                  .body = body,
                                  .inertia = inertia};
        quad_begin(&quad, block);
        for (int k = 0; k < MDP_QUAD; k++) {
            const double b[3] = {-body[k].v[0], -body[k].v[1], -body[k].v[2]};
            double near[3];
            MdpBranch branch = mdp_block_coulomb(&block[k], b, near);
            for (int n = 0; n < 3 && _i == 1; n++) {
                quad.impulse[n].at[k] = 1.01 * near[n];
            }
            slid += branch == MDP_SLIDE ? 1 : 0;
        }
        mdp_point_sweep(&points, 0, 1, true, &(MdpSum){.ratio = 0.0});
        for (int k = 0; k < MDP_QUAD; k++) {
            // the sweep added A x to the velocities that the start stands for
            double b[3], found[3], expected[3], size = 1e-9;
            for (int n = 0; n < 3; n++) {
                found[n] = quad.impulse[n].at[k];
            }
            const double *z[3] = {&quad.before[0].at[k], &quad.before[1].at[k],
                                  &quad.before[2].at[k]};
            const MdpBlock *a = &block[k];
            b[0] = a->nn * *z[0] + a->nt * *z[1] + a->no * *z[2] - body[k].v[0];
            b[1] = a->nt * *z[0] + a->tt * *z[1] + a->to * *z[2] - body[k].v[1];
            b[2] = a->no * *z[0] + a->to * *z[1] + a->oo * *z[2] - body[k].v[2];
            (void)mdp_block_coulomb(a, b, expected);
            for (int n = 0; n < 3; n++) {
                size += fabs(expected[n]);
            }
            for (int n = 0; n < 3; n++) {
                ck_assert_double_eq_tol(found[n], expected[n], 1e-10 * size);
            }
            planned += quad.has_plan[k] ? 1 : 0;
        }
    }
    ck_assert_int_gt(slid, QUADS / 2);
    ck_assert_int_lt(planned, slid / 10); // the others were found side by side
}
END_TEST

static TCase *case_sweep(void) {
    TCase *tcase = tcase_create("sweep");
    tcase_add_loop_test(tcase, contacts_in_lanes_meet_what_they_would_meet_in_turn, 0, 2);
    tcase_add_loop_test(tcase, slides_are_those_of_the_blocks, 0, 2);
    tcase_add_test(tcase, velocities_are_what_the_impulses_make_of_them);
    return tcase;
}

SUITE_MAIN("solve/mdp_sweep", case_sweep)
