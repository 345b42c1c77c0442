// SPDX-License-Identifier: MIT
#include "solve/mdp/ball.h"

#define SIMD_COUNT 2
#include "solve/mdp/ball_simd.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { CONTACTS = 64, BODIES = 2 * CONTACTS, ISLANDS = 3, GROUND = BODIES };

// As many contacts as there are pairs of bodies, of one colour; some stand on the ground.
typedef struct Pile {
    MdpQuad quad[CONTACTS]; // room for one contact each
    MdpBody body[BODIES + 1];
    MdpSum island[ISLANDS];
    uint32_t quad_count;
} Pile;

static double between(uint64_t *state, double low, double high) {
    return low + 0.5 * (high - low) * (1.0 + problem_build_random(state));
}

static void set_contact(Pile *pile, uint32_t contact, uint32_t slot, uint64_t *state) {
    MdpQuad *quad = &pile->quad[slot / MDP_QUAD];
    uint32_t place = slot % MDP_QUAD;
    Vec3 n =
        vec3(problem_build_random(state), problem_build_random(state), problem_build_random(state));
    n = vec3_scale(1.0 / vec3_norm(n), n);
    bool stands = contact % 5 == 0;
    quad->a[place] = stands ? GROUND : 2 * contact;
    quad->b[place] = 2 * contact + 1;
    quad->island[place] = contact < 48 ? 0 : 1 + contact % 2;
    quad->normal.x.at[place] = n.x;
    quad->normal.y.at[place] = n.y;
    quad->normal.z.at[place] = n.z;
    quad->impulse.x.at[place] = problem_build_random(state);
    quad->impulse.y.at[place] = problem_build_random(state);
    quad->impulse.z.at[place] = problem_build_random(state);
    quad->before.x.at[place] = problem_build_random(state);
    quad->arm_a.at[place] = stands ? 0.0 : between(state, 0.1, 0.2);
    quad->arm_b.at[place] = -between(state, 0.1, 0.2);
    quad->inverse_nn.at[place] = between(state, 0.3, 0.6);
    quad->inverse_tt.at[place] = between(state, 0.1, 0.2);
    quad->mu.at[place] = between(state, 0.0, 1.0);
    quad->offset.at[place] = problem_build_random(state);
    quad->weight.at[place] = between(state, 0.5, 2.0);
}

static void set_bodies(Pile *pile, uint64_t *state) {
    for (uint32_t i = 0; i < BODIES; i++) {
        for (int k = 0; k < 6; k++) {
            pile->body[i].v[k] = problem_build_random(state);
        }
        pile->body[i].inverse_mass = between(state, 0.5, 2.0);
        pile->body[i].inverse_inertia = between(state, 50.0, 200.0);
    }
    for (int i = 0; i < ISLANDS; i++) {
        pile->island[i].ratio = 0.3 + 0.2 * i; // so that no sweep is the last
    }
}

// `per_quad` contacts to a quad, the same contacts whatever that is
static Pile *pile_create(uint32_t per_quad) {
    Pile *pile = aligned_alloc(alignof(Pile), sizeof(Pile));
    ck_assert_ptr_nonnull(pile);
    memset(pile, 0, sizeof(*pile));
    pile->quad_count = CONTACTS / per_quad;
    for (uint32_t i = 0; i < pile->quad_count; i++) {
        for (int place = 0; place < MDP_QUAD; place++) {
            pile->quad[i].a[place] = pile->quad[i].b[place] = GROUND;
        }
    }
    uint64_t state = 7;
    for (uint32_t i = 0; i < CONTACTS; i++) {
        set_contact(pile, i, i / per_quad * MDP_QUAD + i % per_quad, &state);
    }
    for (uint32_t i = 0; i < pile->quad_count; i++) {
        MdpQuad *quad = &pile->quad[i];
        for (uint32_t place = 1; place < MDP_QUAD; place++) {
            quad->island[place] = quad->island[place < per_quad ? place : place - 1];
            quad->is_mixed |= quad->island[place] != quad->island[0];
        }
    }
    set_bodies(pile, &state);
    return pile;
}

// returns the largest change over islands
static double sweep(Pile *pile) {
    for (int i = 0; i < ISLANDS; i++) {
        pile->island[i].largest = 0.0;
    }
    mdp_ball_sweep(pile->quad, 0, pile->quad_count, pile->body, pile->island);
    double largest = 0.0;
    for (int i = 0; i < ISLANDS; i++) {
        largest = mdp_note_change(largest, pile->island[i].largest);
    }
    return largest;
}

START_TEST(two_places_give_the_bits_of_four) {
    // where the machine has no vectors of four doubles, both sides are the same code
    Pile *four = pile_create(4), *two = pile_create(4);
    for (int i = 0; i < 20; i++) {
        mdp_ball_sweep(four->quad, 0, four->quad_count, four->body, four->island);
        sweep_quads(two->quad, 0, two->quad_count, two->body, two->island);
        ck_assert(four->island[0].largest > 0.0);
        ck_assert_mem_eq(four, two, sizeof(*four));
    }
    free(four);
    free(two);
}
END_TEST

START_TEST(it_does_not_matter_which_places_contacts_are_in) {
    Pile *full = pile_create(4), *sparse = pile_create((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        double change = sweep(full), change_sparse = sweep(sparse);
        ck_assert_mem_eq(&change, &change_sparse, sizeof(change));
        ck_assert_mem_eq(full->body, sparse->body, sizeof(full->body));
        ck_assert_mem_eq(full->island, sparse->island, sizeof(full->island));
    }
    free(full);
    free(sparse);
}
END_TEST

START_TEST(the_ground_stays_where_it_is) {
    Pile *pile = pile_create(2); // with empty places
    for (int i = 0; i < 5; i++) {
        sweep(pile);
    }
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq(pile->body[GROUND].v[k], 0.0);
    }
    free(pile);
}
END_TEST

START_TEST(an_impulse_that_is_not_a_number_shows) {
    Pile *pile = pile_create(4);
    pile->quad[_i % 16].impulse.y.at[_i % MDP_QUAD] = NAN;
    ck_assert(isnan(sweep(pile)));
    // and stays, as long as nobody forgets it
    pile->island[1].largest = NAN;
    mdp_ball_sweep(pile->quad, 0, pile->quad_count, pile->body, pile->island);
    ck_assert(isnan(pile->island[1].largest));
    free(pile);
}
END_TEST

START_TEST(two_places_push_the_bits_of_four) {
    Pile *four = pile_create(4), *two = pile_create(4);
    mdp_ball_push(four->quad, 0, four->quad_count, four->body);
    push_quads(two->quad, 0, two->quad_count, two->body);
    ck_assert_mem_eq(four->body, two->body, sizeof(four->body));
    Pile *before = pile_create(4);
    ck_assert_mem_ne(four->body, before->body, sizeof(four->body));
    free(before);
    free(four);
    free(two);
}
END_TEST

START_TEST(an_island_that_is_done_is_passed_over) {
    Pile *pile = pile_create(4), *before = pile_create(4);
    pile->island[0].is_done = true; // of the first 48 contacts, which fill quads alone
    sweep(pile);
    ck_assert_mem_eq(pile->quad, before->quad, 12 * sizeof(MdpQuad));
    ck_assert_mem_ne(&pile->quad[12], &before->quad[12], sizeof(MdpQuad));
    ck_assert_double_eq(pile->island[0].residual, 0.0);
    free(pile);
    free(before);
}
END_TEST

static TCase *case_ball(void) {
    TCase *tcase = tcase_create("ball");
    tcase_add_test(tcase, two_places_give_the_bits_of_four);
    tcase_add_loop_test(tcase, it_does_not_matter_which_places_contacts_are_in, 1, 3);
    tcase_add_test(tcase, two_places_push_the_bits_of_four);
    tcase_add_test(tcase, an_island_that_is_done_is_passed_over);
    tcase_add_test(tcase, the_ground_stays_where_it_is);
    tcase_add_loop_test(tcase, an_impulse_that_is_not_a_number_shows, 0, 8);
    return tcase;
}

SUITE_MAIN("solve/mdp_ball", case_ball)
