// SPDX-License-Identifier: MIT
// Contact problems that nobody can solve, over real sockets: each is refused by the key of the
// problem's file that is wrong, and the server goes on to solve the good one.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

// A point of 2 kg that comes down on a plane at 1 m/s and slides at 1 m/s; one contact, one row
// that has nothing to do.
typedef struct Sketch {
    double mass[9], v_free[3], mu[1], gap[1], restitution[1], approach[1], jacobian[9], warm[3];
    uint32_t width[1], block_count[2], block_tree[2], given[1];
    double low[1], high[1], row_jacobian[3];
    uint32_t row_given[1], row_block_count[1], row_block_tree[1];
    Moreau__V1__ContactProblem problem;
} Sketch;

static void draw(Sketch *s) {
    *s = (Sketch){.mass = {2, 0, 0, 0, 2, 0, 0, 0, 2},
                  .v_free = {1, 0, -1},
                  .mu = {0.5},
                  .jacobian = {0, 0, 1, 1, 0, 0, 0, 1, 0},
                  .width = {3},
                  .block_count = {1},
                  .low = {-1},
                  .high = {1},
                  .row_jacobian = {0, 1, 0},
                  .row_given = {MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_LOW |
                                MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_HIGH},
                  .row_block_count = {1}};
    Moreau__V1__ContactProblem *p = &s->problem;
    moreau__v1__contact_problem__init(p);
    p->has_time_step = p->has_gravity = 1;
    p->time_step = 0.01, p->gravity = 9.81;
    p->n_tree_width = 1, p->tree_width = s->width;
    p->n_mass = 9, p->mass = s->mass;
    p->n_v_free = 3, p->v_free = s->v_free;
    p->n_contact_mu = 1, p->contact_mu = s->mu;
    p->n_contact_gap = 1, p->contact_gap = s->gap;
    p->n_contact_restitution = 1, p->contact_restitution = s->restitution;
    p->n_contact_approach = 1, p->contact_approach = s->approach;
    p->n_contact_block_count = 1, p->contact_block_count = s->block_count;
    p->n_contact_block_tree = 1, p->contact_block_tree = s->block_tree;
    p->n_contact_jacobian = 9, p->contact_jacobian = s->jacobian;
    p->n_row_given = 1, p->row_given = s->row_given;
    p->n_row_low = 1, p->row_low = s->low;
    p->n_row_high = 1, p->row_high = s->high;
    p->n_row_block_count = 1, p->row_block_count = s->row_block_count;
    p->n_row_block_tree = 1, p->row_block_tree = s->row_block_tree;
    p->n_row_jacobian = 3, p->row_jacobian = s->row_jacobian;
    p->n_warm_contacts = 3, p->warm_contacts = s->warm;
}

static ServerProcess *server;
static WireClient *client;

static void start(void) {
    server = server_start("--workers 1");
    client = wire_open(server->address[0]);
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

// The point stops falling, and friction slows it: 0.5 times the normal impulse
// of 2 N s, over 2 kg, takes 0.5 m/s of its sliding.
static void solve_well(void) {
    Sketch sketch;
    draw(&sketch);
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &sketch.problem;
    const Moreau__V1__SolveReply *reply = wire_accept(client, &solve)->solve;
    ck_assert_uint_eq(reply->n_v, 3);
    // the solver's default tolerance in Solve is far below this
    ck_assert_double_eq_tol(reply->v[0], 0.5, 1e-6);
    ck_assert_double_eq_tol(reply->v[2], 0.0, 1e-6);
    ck_assert_double_eq_tol(reply->contacts[0], 2.0, 1e-6);
    ck_assert_double_eq_tol(reply->contacts[1], -1.0, 1e-6);
}

#define MISTAKE(name, what)                                                                        \
    static void name(Sketch *s) {                                                                  \
        what;                                                                                      \
    }

MISTAKE(no_time, s->problem.time_step = 0)
MISTAKE(negative_time, s->problem.time_step = -0.01)
MISTAKE(negative_gravity, s->problem.gravity = -1)
MISTAKE(wide_tree, s->width[0] = 2000)
MISTAKE(no_width, s->width[0] = 0)
MISTAKE(short_mass, s->problem.n_mass = 8)
MISTAKE(long_velocity, s->problem.n_v_free = 2)
MISTAKE(negative_mass, s->mass[4] = -2)
MISTAKE(lopsided_mass, s->mass[1] = 0.5)
MISTAKE(negative_friction, s->mu[0] = -0.5)
MISTAKE(large_restitution, s->restitution[0] = 2)
MISTAKE(parting_approach, s->approach[0] = 1)
MISTAKE(long_gap, s->problem.n_contact_gap = 0; s->problem.n_contact_motion = 2;
        s->problem.contact_motion = s->warm)
MISTAKE(unknown_tree, s->block_tree[0] = 7)
MISTAKE(three_blocks, s->block_count[0] = 3)
MISTAKE(no_block, s->block_count[0] = 0)
MISTAKE(short_jacobian, s->problem.n_contact_jacobian = 6)
MISTAKE(spare_blocks, s->problem.n_contact_block_tree = 2)
MISTAKE(short_warm, s->problem.n_warm_contacts = 2)
MISTAKE(crossed_bounds, s->low[0] = 2)
MISTAKE(unknown_row_tree, s->row_block_tree[0] = UINT32_MAX)
MISTAKE(no_row_blocks, s->problem.n_row_block_count = 0)
// 1/h is beyond what a double holds, so the bias of the contact is infinite
MISTAKE(tiny_time, s->problem.time_step = 1e-310; s->gap[0] = 1)

static const struct {
    void (*spoil)(Sketch *s);
    const char *field; // a part of what is blamed
} mistakes[] = {
    {no_time, "time_step"},
    {negative_time, "time_step"},
    {negative_gravity, "gravity"},
    {wide_tree, "trees[0]"},
    {no_width, "trees[0]"},
    {short_mass, "mass"},
    {long_velocity, "v_free"},
    {negative_mass, "trees[0].mass"},
    {lopsided_mass, "trees[0].mass"},
    {negative_friction, "contacts[0].mu"},
    {large_restitution, "contacts[0].restitution"},
    {parting_approach, "contacts[0]."},
    {long_gap, "contact_motion"},
    {unknown_tree, "contacts[0].blocks"},
    {three_blocks, "contacts[0].blocks"},
    {no_block, "contacts[0].blocks"},
    {short_jacobian, "contacts[0].blocks"},
    {spare_blocks, "contact_jacobian"},
    {short_warm, "warm_contacts"},
    {crossed_bounds, "rows[0]."},
    {unknown_row_tree, "rows[0].blocks"},
    {no_row_blocks, "row_block_count"},
    {tiny_time, "contacts[0]."},
};

START_TEST(a_mistake_in_a_problem_is_refused_by_its_key) {
    Sketch sketch;
    draw(&sketch);
    mistakes[_i].spoil(&sketch);
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &sketch.problem;
    const Moreau__V1__Reply *reply = wire_refuse(client, &solve, CODE(INVALID_ARGUMENT), NULL);
    const char *blamed = reply->status->field == NULL ? "" : reply->status->field;
    ck_assert_msg(strstr(blamed, mistakes[_i].field) != NULL, "blamed is '%s', not '%s': %s",
                  blamed, mistakes[_i].field, reply->status->message);
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT__NOT_SET);
    solve_well();
}
END_TEST

// ---- numbers that are none

// Bodies, trees and links, contacts with sides and with blocks, rows: which number of which column
// is poisoned, and its key in a file.
static const struct {
    size_t column; // offset in the message
    size_t index;
    const char *key;
} poisons[] = {
#define AT(column) offsetof(Moreau__V1__ContactProblem, column)
    {AT(mass), 2, "problem.trees[1].mass[1][0]"},
    {AT(v_free), 4, "problem.trees[0].v_free[4]"},
    {AT(v_free), 7, "problem.trees[1].v_free[1]"},
    {AT(v_free), 11, "problem.trees[2].v_free[3]"},
    {AT(body_mass), 1, "problem.trees[2].body.mass"},
    {AT(body_inertia), 8, "problem.trees[2].body.inertia[2]"},
    {AT(contact_mu), 1, "problem.contacts[1].mu"},
    {AT(contact_gap), 2, "problem.contacts[2].gap"},
    {AT(contact_restitution), 0, "problem.contacts[0].restitution"},
    {AT(contact_approach), 1, "problem.contacts[1].approach"},
    {AT(contact_stiffness), 2, "problem.contacts[2].stiffness"},
    {AT(contact_dissipation_time), 0, "problem.contacts[0].dissipation_time"},
    {AT(contact_damping), 1, "problem.contacts[1].damping"},
    {AT(contact_bias), 2, "problem.contacts[2].bias"},
    {AT(contact_force), 0, "problem.contacts[0].force"},
    {AT(contact_motion), 5, "problem.contacts[1].motion[2]"},
    {AT(contact_gdot), 7, "problem.contacts[2].gdot[1]"},
    {AT(contact_jacobian), 3, "problem.contacts[0].sides[1].jacobian[1][1]"},
    {AT(contact_jacobian), 10, "problem.contacts[1].blocks[0].jacobian[2][0]"},
    {AT(contact_frame), 5, "problem.contacts[0].frame[1][2]"},
    {AT(contact_frame), 9, "problem.contacts[2].frame[0][0]"},
    {AT(side_arm), 1, "problem.contacts[0].sides[0].arm[1]"},
    {AT(side_arm), 5, "problem.contacts[2].sides[1].arm[2]"},
    {AT(row_low), 1, "problem.rows[1].low"},
    {AT(row_high), 0, "problem.rows[0].high"},
    {AT(row_gap), 1, "problem.rows[1].gap"},
    {AT(row_bias), 0, "problem.rows[0].bias"},
    {AT(row_stiffness), 1, "problem.rows[1].stiffness"},
    {AT(row_dissipation_time), 0, "problem.rows[0].dissipation_time"},
    {AT(row_damping), 1, "problem.rows[1].damping"},
    {AT(row_compliance), 0, "problem.rows[0].R"},
    {AT(row_gdot), 1, "problem.rows[1].gdot"},
    {AT(row_jacobian), 1, "problem.rows[0].blocks[0].jacobian[1]"},
    {AT(row_jacobian), 9, "problem.rows[1].blocks[1].jacobian[1]"},
    {AT(warm_contacts), 4, "problem.warm.contacts[1][1]"},
    {AT(link_mass), 1, "problem.trees[3].links[1].mass"},
    {AT(link_inertia), 8, "problem.trees[3].links[1].inertia[2]"},
    {AT(link_center), 2, "problem.trees[3].links[0].center[2]"},
    {AT(link_motion), 8, "problem.trees[3].links[1].motion[0][2]"},
    {AT(link_motion), 17, "problem.trees[3].links[1].motion[1][5]"},
    {AT(link_added), 3, "problem.trees[3].links[1].added[1][0]"},
    {AT(v_free), 15, "problem.trees[3].v_free[1]"},
    {AT(mass), 5, "problem.trees[4].mass[0][1]"},
    {AT(warm_rows), 1, "problem.warm.rows[1]"},
#undef AT
};

enum { NUMBERS_MAX = 32 };

// The count of a column stands before it, as protobuf-c has it.
static void put_column(Moreau__V1__ContactProblem *p, size_t column, size_t count,
                       double numbers[NUMBERS_MAX]) {
    double **at = (double **)(void *)((char *)p + column);
    *(size_t *)(void *)((char *)at - sizeof(size_t)) = count;
    *at = numbers;
}

// Every list as long as it has to be; what is in it does not matter.
START_TEST(what_is_no_number_is_refused_by_its_key) {
    static uint32_t links[] = {0, 0, 0, 2, 0}, velocities[] = {1, 2}, parent[] = {UINT32_MAX, 0};
    static uint32_t width[] = {6, 2, 6, 3, 2}, blocks[] = {0, 1, 0}, tree[] = {1}, given[3];
    static uint32_t side[] = {0, 1, UINT32_MAX, 2}, row_blocks[] = {1, 2}, row_tree[] = {1, 0, 1};
    static protobuf_c_boolean is_body[] = {1, 0, 1, 0, 0};
    static double numbers[NUMBERS_MAX];
    Moreau__V1__ContactProblem p = MOREAU__V1__CONTACT_PROBLEM__INIT;
    p.has_time_step = 1, p.time_step = 0.01;
    p.n_tree_width = 5, p.tree_width = width;
    p.n_tree_is_body = 5, p.tree_is_body = is_body;
    p.n_tree_link_count = 5, p.tree_link_count = links;
    p.n_link_parent = 2, p.link_parent = parent;
    p.n_link_velocities = 2, p.link_velocities = velocities;
    p.n_contact_block_count = 3, p.contact_block_count = blocks;
    p.n_contact_block_tree = 1, p.contact_block_tree = tree;
    p.n_side_tree = 4, p.side_tree = side;
    p.n_row_given = 2, p.row_given = given;
    p.n_row_block_count = 2, p.row_block_count = row_blocks;
    p.n_row_block_tree = 3, p.row_block_tree = row_tree;
    const double poison[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &p;
    put_column(&p, poisons[_i].column, NUMBERS_MAX, numbers);
    for (size_t k = 0; k < 3; k++) {
        numbers[poisons[_i].index] = poison[k];
        const Moreau__V1__Reply *reply =
            wire_refuse(client, &solve, CODE(INVALID_ARGUMENT), poisons[_i].key);
        ck_assert_ptr_nonnull(strstr(reply->status->message, "finite"));
    }
    solve_well();
}
END_TEST

static const double tolerances[] = {0.0, -1.0, 2.0};

START_TEST(a_parameter_out_of_range_is_refused_by_name) {
    Sketch sketch;
    draw(&sketch);
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    mdp.has_tolerance = 1, mdp.tolerance = tolerances[_i];
    parameters.mdp = &mdp;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &sketch.problem;
    solve.parameters = &parameters;
    wire_refuse(client, &solve, CODE(INVALID_ARGUMENT), "parameters.mdp.tolerance");
}
END_TEST

START_TEST(a_solve_without_a_problem_is_refused) {
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    wire_refuse(client, &solve, CODE(INVALID_ARGUMENT), "problem");
    solve_well();
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, a_mistake_in_a_problem_is_refused_by_its_key, 0, COUNT(mistakes));
    tcase_add_loop_test(tcase, what_is_no_number_is_refused_by_its_key, 0, COUNT(poisons));
    tcase_add_loop_test(tcase, a_parameter_out_of_range_is_refused_by_name, 0, COUNT(tolerances));
    tcase_add_test(tcase, a_solve_without_a_problem_is_refused);
    return tcase;
}

SUITE_MAIN("system/bad_problems", case_problems)
