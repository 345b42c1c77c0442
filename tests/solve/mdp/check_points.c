// SPDX-License-Identifier: MIT
// Quads of points hold what their contacts have, whatever stands beside them, and sums of islands
// are of all of their contacts.
#define SIMD_COUNT 2
#include "solve/mdp/point_fill_simd.h"

#include "solve/mdp/mdp.h"
#include "solve/mdp/pack.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { BODIES = 40, PAIRS = 90, MANIFOLD_MAX = 5, SLIVERS = 6, WARM = 3 * PAIRS * MANIFOLD_MAX };

typedef struct Laid {
    ProblemBuild build;
    Context context;
    SolveResult result;
    Error error;
    Judge judge;
    MdpPack pack;
    double warm[WARM];
} Laid;

static Vec3 random_vector(uint64_t *state, double size) {
    return vec3(size * problem_build_random(state), size * problem_build_random(state),
                size * problem_build_random(state));
}

// Bodies of any shape with the ground and with each other, in several islands, on ground that
// moves; the first of them turn so easily that their blocks are singular.
static void build_problem(Laid *laid, uint64_t seed) {
    ProblemBuild *build = &laid->build;
    problem_build_init(build);
    uint64_t state = seed;
    for (int i = 0; i < BODIES; i++) {
        const double v_free[6] = {0.1 * i, 0.2, -1.0, 0.3, -0.2, 0.1};
        const double ease = i < SLIVERS ? 1e-13 : 1.0;
        problem_build_free(build, 1.0 + i,
                           (Sym3){0.02 * ease, 0.03 * ease, 0.025 * ease, 0.004 * ease,
                                  -0.003 * ease, 0.002 * ease},
                           v_free);
    }
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        const uint32_t b = pair % BODIES;
        const uint32_t a = pair % 3 == 0 || b % 8 == 0 ? PROBLEM_NO_TREE : b - 1;
        Vec3 normal = random_vector(&state, 1.0);
        normal = vec3_scale(1.0 / vec3_norm(normal), normal);
        for (uint32_t k = 0; k < 1 + pair % MANIFOLD_MAX; k++) {
            ProblemContact *contact = problem_build_contact(build, normal, 0.1 * (1 + k),
                                                            0.01 * problem_build_random(&state));
            problem_build_side(contact, 0, a, random_vector(&state, 0.2));
            problem_build_side(contact, 1, b, random_vector(&state, 0.2));
            vec3_store(contact->motion, random_vector(&state, 0.5));
        }
    }
    for (int i = 0; i < WARM; i++) {
        laid->warm[i] = problem_build_random(&state);
    }
    build->problem.warm_contact = laid->warm;
}

static void lay_out(Laid *laid, uint64_t seed) {
    build_problem(laid, seed);
    Judge *judge = &laid->judge;
    laid->context = (Context){0};
    ck_assert_int_eq(judge_begin(judge, &laid->build.problem, RELATION_CONE, 1e-6, true,
                                 &laid->context, &laid->build.arena, &laid->result, &laid->error),
                     STATUS_OK);
    ck_assert_int_eq(mdp_pack_begin(judge, false, &laid->pack), STATUS_OK);
    ck_assert_int_eq(judge_survey(judge, mdp_pack_survey, &laid->pack), STATUS_OK);
    ck_assert_int_eq(mdp_pack_end(judge, &laid->pack), STATUS_OK);
}

static void expect_vector(const MdpFour3 *of, uint32_t place, Vec3 expected) {
    ck_assert_double_eq(of->x.at[place], expected.x);
    ck_assert_double_eq(of->y.at[place], expected.y);
    ck_assert_double_eq(of->z.at[place], expected.z);
}

// Returns whether its block was made regular.
static bool expect_contact(const Laid *laid, uint32_t at) {
    const MdpPack *pack = &laid->pack;
    const Islands *islands = &laid->judge.islands;
    const uint32_t contact = islands->contact[at], slot = pack->slot[at], place = slot % MDP_QUAD;
    const ProblemContact *c = &pack->problem->contact[contact];
    const MdpPointQuad *quad = &pack->points.quad[slot / MDP_QUAD];
    expect_vector(&quad->frame[0], place, c->normal);
    expect_vector(&quad->frame[1], place, c->tangent[0]);
    expect_vector(&quad->frame[2], place, c->tangent[1]);
    expect_vector(&quad->arm_a, place, c->side[0].arm);
    expect_vector(&quad->arm_b, place, c->side[1].arm);
    ck_assert_uint_eq(quad->b[place], c->side[1].tree);
    ck_assert(c->side[0].tree == PROBLEM_NO_TREE ? quad->a[place] >= BODIES
                                                 : quad->a[place] == c->side[0].tree);
    ck_assert_uint_eq(quad->island[place], islands->of_tree[c->side[1].tree]);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq(quad->impulse[k].at[place], laid->warm[3 * contact + (uint32_t)k]);
        ck_assert_double_eq(quad->before[k].at[place], 0.0);
        ck_assert_double_eq(quad->offset[k].at[place], c->motion[k] + (k == 0 ? c->bias : 0.0));
    }
    const MassBlock *made = mass_contact_block(&laid->judge.mass, contact);
    const MdpBlock block = mdp_pack_block(made, c->mu);
    const double numbers[MDP_BLOCK_NUMBERS] = {block.nn, block.nt, block.no,
                                               block.tt, block.to, block.oo};
    for (int k = 0; k < MDP_BLOCK_NUMBERS; k++) {
        ck_assert_double_eq(quad->block[k].at[place], numbers[k]);
    }
    ck_assert_double_eq(quad->mu.at[place], c->mu);
    const double share = mass_block_weight(made) / laid->judge.scale.v_scale[quad->island[place]];
    ck_assert_double_eq(quad->weight.at[place], share * share);
    return block.nn != made->nn;
}

START_TEST(every_place_holds_what_its_contact_has) {
    static Laid laid;
    lay_out(&laid, 5);
    const Islands *islands = &laid.judge.islands;
    ck_assert_uint_gt(islands->count, 3);
    ck_assert_uint_eq(laid.pack.group_count, 1);
    uint32_t singular = 0;
    for (uint32_t i = 0; i < laid.build.problem.contact_count; i++) {
        ck_assert_int_eq(laid.pack.kind[i], MDP_POINT);
        singular += expect_contact(&laid, i) ? 1 : 0;
    }
    ck_assert_uint_gt(singular, 0);
    ck_assert_uint_lt(singular, laid.build.problem.contact_count / 2);
    problem_build_deinit(&laid.build);
}
END_TEST

START_TEST(two_places_are_filled_as_four_are) {
    // where the machine has no vectors of four doubles, both sides are the same code
    static Laid laid;
    lay_out(&laid, 7);
    for (uint32_t i = 0; i + MDP_QUAD <= laid.build.problem.contact_count; i++) {
        MdpPointSource from;
        MdpPointQuad four, two;
        for (uint32_t place = 0; place < MDP_QUAD; place++) {
            const uint32_t contact = i + place;
            from.contact[place] = (const double *)&laid.build.problem.contact[contact];
            from.block[place] = (const double *)mass_contact_block(&laid.judge.mass, contact);
            from.impulse[place] = laid.warm + (size_t)3 * contact;
            from.v_scale.at[place] = 1.0 + contact;
        }
        memset(&four, 0, sizeof(four));
        memset(&two, 0, sizeof(two));
        ck_assert_uint_eq(mdp_point_fill(&from, &four), fill_quad(&from, &two));
        ck_assert_mem_eq(&four, &two, sizeof(four));
    }
    problem_build_deinit(&laid.build);
}
END_TEST

// Sums of each island by a walk over its contacts. One is not a number: that of its island shows
// it, the others do not, and who is done is not told.
START_TEST(what_is_not_a_number_shows_in_the_sums_of_its_island) {
    static Laid laid;
    lay_out(&laid, 9);
    const MdpPack *pack = &laid.pack;
    const Islands *islands = &laid.judge.islands;
    const uint32_t bad = islands->contact_first[2], done = 1;
    for (uint32_t i = 0; i < laid.build.problem.contact_count; i++) {
        pack->points.square[pack->slot[i]] = i == bad ? NAN : 1.0 + i;
        pack->points.along[pack->slot[i]] = 0.5;
    }
    for (uint32_t i = 0; i < islands->count; i++) {
        pack->sum[i] = (MdpSum){.is_done = i == done};
    }
    for (uint32_t i = pack->group[0].stage_begin; i < pack->group[0].stage_end; i++) {
        const MdpSpan *span = &pack->stage[i].span;
        mdp_point_note(&pack->points, pack->note + span->note_begin,
                       span->note_end - span->note_begin, pack->sum);
    }
    for (uint32_t i = 0; i < islands->count; i++) {
        const IslandRange range = islands_range(islands, i, i + 1);
        const uint32_t count = range.contact_end - range.contact_begin;
        const MdpSum *sum = &pack->sum[i];
        if (i == done) {
            ck_assert(sum->residual == 0.0 && sum->opposition == 0.0 && sum->largest == 0.0);
            continue;
        }
        ck_assert_double_eq(sum->opposition, -0.5 * count);
        ck_assert_int_eq(isnan(sum->largest) != 0, i == 2);
        ck_assert_int_eq(isnan(sum->residual) != 0, i == 2);
        if (i != 2) { // whole numbers: exact in any order
            ck_assert_double_eq(sum->largest, range.contact_end);
            ck_assert_double_eq(sum->residual,
                                0.5 * count * (range.contact_begin + range.contact_end + 1.0));
        }
    }
    problem_build_deinit(&laid.build);
}
END_TEST

static TCase *case_points(void) {
    TCase *tcase = tcase_create("points");
    tcase_add_test(tcase, every_place_holds_what_its_contact_has);
    tcase_add_test(tcase, two_places_are_filled_as_four_are);
    tcase_add_test(tcase, what_is_not_a_number_shows_in_the_sums_of_its_island);
    return tcase;
}

SUITE_MAIN("solve/mdp_points", case_points)
