// SPDX-License-Identifier: MIT
// The last problem of a world, fetched and solved again over real sockets: the same impulses to the
// last bit, whatever the world is made of and however many lanes stepped it.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ServerProcess *server;
static WireClient *client;

static void start(void) {
    server = server_start("--workers 2");
    client = wire_open(server->address[0]);
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

static void set(uint64_t world, Moreau__V1__WorldSettings *settings) {
    Moreau__V1__WorldSet call = MOREAU__V1__WORLD_SET__INIT;
    call.has_world = 1, call.world = world;
    call.settings = settings;
    wire_accept(client, &call);
}

// A block of boxes and balls in turn, `side` wide and long: neighbours overlap by a centimetre
// where both are boxes, and layers fall on each other.
static void add_block(uint64_t world, size_t side, size_t layers) {
    size_t count = side * side * layers;
    double *pose = calloc(7 * count, sizeof(double));
    uint64_t *shape = calloc(count, sizeof(uint64_t));
    ck_assert(pose != NULL && shape != NULL);
    for (size_t i = 0; i < count; i++) {
        double *at = pose + 7 * i;
        size_t layer = i / side / side;
        at[0] = 0.19 * (double)(i % side);
        at[1] = 0.19 * (double)(i / side % side);
        at[2] = 0.12 + 0.21 * (double)layer;
        at[3] = 1.0;
        at[4] = 0.05 * (double)(i % 3);
        shape[i] = i / 2 % 2 == 0 ? 3 : 2;
    }
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7 * count, add.pose = pose;
    add.n_shape = count, add.shape = shape;
    wire_accept(client, &add);
    free(pose);
    free(shape);
}

// A wall of the server's that comes from the side and turns, elastic.
static void add_pusher(uint64_t world) {
    Moreau__V1__Material elastic = MOREAU__V1__MATERIAL__INIT, *materials[] = {&elastic};
    elastic.has_restitution = 1, elastic.restitution = 0.6;
    Moreau__V1__WorldAddMaterials add_material = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    add_material.has_world = 1, add_material.world = world;
    add_material.n_materials = 1, add_material.materials = materials;
    uint64_t material = wire_accept(client, &add_material)->world_add->ids[0];

    Moreau__V1__Primitive__Kind box = MOREAU__V1__PRIMITIVE__KIND__BOX;
    double size[] = {0.1, 2.0, 1.0};
    Moreau__V1__WorldAddShapes add_shape = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    add_shape.has_world = 1, add_shape.world = world;
    add_shape.n_kind = 1, add_shape.kind = &box;
    add_shape.n_size = 3, add_shape.size = size;
    add_shape.n_material = 1, add_shape.material = &material;
    uint64_t shape = wire_accept(client, &add_shape)->world_add->ids[0];

    Moreau__V1__Body__Kind kinematic = MOREAU__V1__BODY__KIND__KINEMATIC;
    double pose[] = {-0.6, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0},
           velocity[] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.5};
    Moreau__V1__WorldAddBodies add_body = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add_body.has_world = 1, add_body.world = world;
    add_body.n_pose = 7, add_body.pose = pose;
    add_body.n_velocity = 6, add_body.velocity = velocity;
    add_body.n_kind = 1, add_body.kind = &kinematic;
    add_body.n_shape = 1, add_body.shape = &shape;
    wire_accept(client, &add_body);
}

// What each contact was asked for, and how far it is from that: the worst is what the certificate
// says, but for the rounding of a division.
static void expect_judged(const Moreau__V1__WorldContactsReply *lived,
                          const Moreau__V1__ContactProblem *problem,
                          const Moreau__V1__Certificate *certificate) {
    size_t count = lived->n_body_a;
    ck_assert_uint_eq(lived->n_residual, count);
    ck_assert_uint_eq(lived->n_target_velocity, count);
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        ck_assert(lived->target_velocity[i] == -problem->contact_bias[i]);
        worst = lived->residual[i] > worst ? lived->residual[i] : worst;
    }
    ck_assert_double_le(fabs(worst - certificate->e_own), 1e-14 * worst);
    ck_assert(count == 0 || lived->residual[certificate->worst_contact] == worst);
}

// Returns how many contacts there were.
static size_t solve_again(uint64_t world) {
    Moreau__V1__Problem ask = MOREAU__V1__PROBLEM__INIT;
    ask.has_world = 1, ask.world = world;
    const Moreau__V1__ProblemReply *problem = wire_accept(client, &ask)->problem;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = problem->problem;
    solve.solver = problem->solver;
    solve.parameters = problem->parameters;
    solve.has_effort = 1, solve.effort = MOREAU__V1__EFFORT__KIND__EXACT; // as the world has it
    const Moreau__V1__SolveReply *answer = wire_accept(client, &solve)->solve;
    Moreau__V1__WorldContacts look = MOREAU__V1__WORLD_CONTACTS__INIT;
    look.has_world = 1, look.world = world;
    const Moreau__V1__WorldContactsReply *lived = wire_accept(client, &look)->world_contacts;

    ck_assert_uint_eq(answer->n_contacts, lived->n_impulse);
    for (size_t i = 0; i < lived->n_impulse; i++) { // 0 is not -0
        ck_assert_msg(lived->impulse[i] == answer->contacts[i] &&
                          signbit(lived->impulse[i]) == signbit(answer->contacts[i]),
                      "impulse %zu of %zu: %a, not %a", i, lived->n_impulse, answer->contacts[i],
                      lived->impulse[i]);
    }
    ck_assert_uint_eq(answer->n_v, problem->problem->n_v_free);
    expect_judged(lived, problem->problem, answer->certificate);
    return lived->n_impulse / 3;
}

static const struct {
    double gravity, recovery_speed;
    Moreau__V1__MdpParameters__Friction law;
    bool is_pushed;
    size_t side, layers;
} worlds[] = {
    {-9.81, 1.0, MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB, false, 3, 3},
    {-9.81, 1.0, MOREAU__V1__MDP_PARAMETERS__FRICTION__MAXIMUM_DISSIPATION, true, 3, 3},
    {-30.0, 0.01, MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB, true, 2, 4},
    {-1.0, 1e9, MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB, false, 4, 2},
    {-9.81, 1.0, MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB, true, 14, 10}, // lanes share a step
};

enum { STEPS = 60, STEPS_AT_ONCE = 5 };

START_TEST(a_fetched_problem_is_solved_as_its_world_solved_it) {
    uint64_t world = wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    add_block(world, worlds[_i].side, worlds[_i].layers);
    if (worlds[_i].is_pushed) {
        add_pusher(world);
    }
    double gravity[] = {0.3, 0.1, worlds[_i].gravity};
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    mdp.has_friction = 1, mdp.friction = worlds[_i].law;
    mdp.has_max_iterations = 1, mdp.max_iterations = 30; // exact, however far it came
    parameters.mdp = &mdp;
    settings.n_gravity = 3, settings.gravity = gravity;
    settings.has_recovery_speed = 1, settings.recovery_speed = worlds[_i].recovery_speed;
    settings.parameters = &parameters;
    settings.has_effort = 1; // what a balanced one may borrow is a matter of the steps before
    settings.effort = MOREAU__V1__EFFORT__KIND__EXACT;
    set(world, &settings);
    size_t most = 0;
    for (int step = 0; step < STEPS; step += STEPS_AT_ONCE) {
        wire_step(client, world, STEPS_AT_ONCE);
        size_t contacts = solve_again(world);
        most = contacts > most ? contacts : most;
    }
    ck_assert_uint_gt(most, worlds[_i].side * worlds[_i].side * worlds[_i].layers); // or they fell
}
END_TEST

// A column of boxes is slow to come to rest: some sweeps, each with its residual. The last number
// is the certificate's, but for rounding, and looking changes nothing.
START_TEST(a_history_comes_when_it_is_asked_for) {
    uint64_t world = wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    add_block(world, 2, 6);
    wire_step(client, world, 40);
    Moreau__V1__Problem ask = MOREAU__V1__PROBLEM__INIT;
    ask.has_world = 1, ask.world = world;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = wire_accept(client, &ask)->problem->problem;
    const Moreau__V1__SolveReply *plain = wire_accept(client, &solve)->solve;
    ck_assert_uint_eq(plain->n_history, 0);
    ck_assert(!plain->has_history_stride);

    solve.has_history = solve.history = 1;
    const Moreau__V1__SolveReply *watched = wire_accept(client, &solve)->solve;
    ck_assert_uint_gt(watched->n_history, 5);
    ck_assert_uint_eq(watched->history_stride, 1);
    ck_assert_uint_eq(watched->n_history, watched->certificate->iterations);
    // Newton's method and the judge make velocities in different orders of sums
    double last = watched->history[watched->n_history - 1];
    ck_assert(last >= watched->certificate->e_own && last <= watched->certificate->e_own + 1e-12);
    ck_assert_uint_eq(watched->n_contacts, plain->n_contacts);
    ck_assert_mem_eq(watched->contacts, plain->contacts, plain->n_contacts * sizeof(double));
}
END_TEST

// More sweeps than a history holds: it is thinner, and no longer.
START_TEST(a_long_history_is_thinned_out) {
    uint64_t world = wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    add_block(world, 3, 3);
    wire_step(client, world, 30);
    Moreau__V1__Problem ask = MOREAU__V1__PROBLEM__INIT;
    ask.has_world = 1, ask.world = world;
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    parameters.mdp = &mdp;
    mdp.has_tolerance = 1, mdp.tolerance = 1e-15; // beyond rounding: it goes on to the end
    mdp.has_max_iterations = 1, mdp.max_iterations = 40000;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = wire_accept(client, &ask)->problem->problem;
    solve.parameters = &parameters;
    solve.has_history = solve.history = 1;
    const Moreau__V1__SolveReply *watched = wire_accept(client, &solve)->solve;
    uint64_t stride = 1;
    while (watched->certificate->iterations / stride > 16384) {
        stride *= 2;
    }
    ck_assert_uint_eq(watched->history_stride, stride);
    ck_assert_uint_eq(watched->n_history, watched->certificate->iterations / stride);
}
END_TEST

static void sweep_only(uint64_t world, uint32_t sweeps) {
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    mdp.has_max_iterations = 1, mdp.max_iterations = sweeps;
    mdp.has_method = 1, mdp.method = MOREAU__V1__MDP_PARAMETERS__METHOD__GAUSS_SEIDEL;
    parameters.mdp = &mdp;
    settings.parameters = &parameters;
    set(world, &settings);
}

// Two sweeps solve some steps of a falling block and not others: the worst of those is where e_own
// is largest, in its own island, of several worlds each for itself.
START_TEST(a_call_says_what_its_worst_step_left_open) {
    uint64_t both[2] = {wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id,
                        wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id};
    add_block(both[0], 2, 3);
    sweep_only(both[0], 2);
    Moreau__V1__WorldStep step = wire_step_call(both, 50);
    step.n_worlds = 2;
    const Moreau__V1__StepReports *m = wire_accept(client, &step)->world_step->reports;
    ck_assert_uint_gt(m->unconverged_steps[0], 0);
    ck_assert_uint_lt(m->unconverged_steps[0], 50);
    ck_assert_uint_eq(m->n_worst_open_step, 2);
    ck_assert_uint_eq(m->worst_open_step[0], m->worst_step->e_own[0]);
    ck_assert_double_eq(m->worst_open->residual[0], m->worst->e_own[0]);
    ck_assert_int_eq(m->worst_open->reason[0], MOREAU__V1__CERTIFICATE__REASON__ITERATIONS_ENDED);
    ck_assert_uint_ge(m->worst_open->islands[0], m->worst_open->islands_open[0]);
    ck_assert_uint_ge(m->worst_open->islands_open[0], 1);
    ck_assert_uint_ge(m->worst_open->contacts[0], 1);
    ck_assert_uint_gt(m->worst_open->body[0], 0);
    ck_assert_int_eq(m->converged[0], m->open->islands_open[0] == 0);
    // the other was solved in every step, and says so
    ck_assert_uint_eq(m->unconverged_steps[1], 0);
    ck_assert_uint_eq(m->worst_open_step[1], 0);
    ck_assert_int_eq(m->worst_open->reason[1], MOREAU__V1__CERTIFICATE__REASON__CONVERGED);
    // alone, it says nothing
    step = wire_step_call(&both[1], 5);
    m = wire_accept(client, &step)->world_step->reports;
    ck_assert_ptr_null(m->open);
    ck_assert_ptr_null(m->worst_open);
    ck_assert_uint_eq(m->n_worst_open_step, 0);
}
END_TEST

// A pile whose answer to 1e-15 nobody finds, as bodies: a solve that goes on to its limits.
static void fill_hard(uint64_t world, Moreau__V1__MdpParameters *mdp,
                      Moreau__V1__SolverParameters *parameters, Moreau__V1__Solve *solve) {
    sweep_only(world, 50);
    add_block(world, 8, 10);
    add_pusher(world);
    wire_step(client, world, 40);
    Moreau__V1__Problem ask = MOREAU__V1__PROBLEM__INIT;
    ask.has_world = 1, ask.world = world;
    mdp->has_tolerance = 1, mdp->tolerance = 1e-15;
    mdp->has_max_iterations = 1, mdp->max_iterations = 10000000;
    mdp->has_budget = 1, mdp->budget = 1e15;
    parameters->mdp = mdp;
    solve->problem = wire_accept(client, &ask)->problem->problem;
    solve->parameters = parameters;
}

// What the server answers to a solve whose time ends: the best so far, marked.
static void expect_late(const Moreau__V1__Reply *reply, Moreau__V1__Certificate__Reason reason,
                        size_t contacts, double own) {
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_SOLVE);
    const Moreau__V1__SolveReply *answer = reply->solve;
    const Moreau__V1__Certificate *c = answer->certificate;
    ck_assert_uint_eq(answer->n_contacts, 3 * contacts);
    ck_assert(!c->converged);
    ck_assert_int_eq(c->reason, reason);
    ck_assert_ptr_nonnull(c->worst_open);
    ck_assert_uint_ge(c->islands_open, 1);
    ck_assert_double_le(c->e_mom, 1e-10);
    ck_assert_double_le(c->e_own, own); // it has begun, and kept what was gained
    ck_assert_double_ge(c->worst_open->residual, 1e-15);
}

START_TEST(a_solve_that_meets_its_deadline_answers_with_what_it_has) {
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    uint64_t world = wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    fill_hard(world, &mdp, &parameters, &solve);
    mdp.has_method = 1, mdp.method = (Moreau__V1__MdpParameters__Method)_i;
    // the cold start leaves 24.2, of which sweeps take most at once; Newton may not get that far
    bool sweeps = mdp.method != MOREAU__V1__MDP_PARAMETERS__METHOD__NEWTON;
    expect_late(wire_call_within(client, &solve, 300), MOREAU__V1__CERTIFICATE__REASON__TIME_LIMIT,
                solve.problem->n_contact_mu, sweeps ? 0.1 : 25.0);
}
END_TEST

START_TEST(a_solve_that_takes_too_long_answers_with_what_it_has) {
    ServerProcess *strict = server_start("--workers 2 --work-timeout-ms 200");
    WireClient *impatient = wire_open(strict->address[0]);
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    uint64_t world = wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    // steps of that world have all the time that they need, on a busy machine too
    fill_hard(world, &mdp, &parameters, &solve);
    expect_late(wire_call(impatient, &solve), MOREAU__V1__CERTIFICATE__REASON__WORK_TIMEOUT,
                solve.problem->n_contact_mu, 0.1);
    wire_close(impatient);
    server_stop(strict);
}
END_TEST

// Rows that ask for 1 and for 3 are both met by 2, as the answer says; with what it says for the
// targets the same answer needs no softening, whoever certifies it.
START_TEST(what_was_softened_comes_back_as_the_bias_that_was_met) {
    double mass[] = {2.0}, v_free[] = {0.5}, jacobian[] = {1.0, 1.0}, bias[] = {-1.0, -3.0};
    uint32_t width[] = {1}, tree[] = {0, 0}, blocks[] = {1, 1},
             given[] = {MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_BIAS,
                        MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_BIAS};
    Moreau__V1__ContactProblem problem = MOREAU__V1__CONTACT_PROBLEM__INIT;
    problem.has_time_step = 1, problem.time_step = 0.01;
    problem.n_tree_width = 1, problem.tree_width = width;
    problem.n_mass = 1, problem.mass = mass;
    problem.n_v_free = 1, problem.v_free = v_free;
    problem.n_row_given = 2, problem.row_given = given;
    problem.n_row_bias = 2, problem.row_bias = bias;
    problem.n_row_block_count = 2, problem.row_block_count = blocks;
    problem.n_row_block_tree = 2, problem.row_block_tree = tree;
    problem.n_row_jacobian = 2, problem.row_jacobian = jacobian;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &problem;
    solve.solver = "ccp";
    const Moreau__V1__SolveReply *answer = wire_accept(client, &solve)->solve;
    ck_assert(answer->certificate->converged);
    ck_assert_uint_eq(answer->certificate->softened, 2);
    ck_assert_uint_eq(answer->n_contact_bias, 0);
    ck_assert_uint_eq(answer->n_row_bias, 2);
    for (int i = 0; i < 2; i++) {
        // y = G v + bias is 0 for both, to the tolerance of V = 3
        ck_assert_double_eq_tol(answer->row_bias[i], -answer->v[0], 3e-6);
        ck_assert_double_eq_tol(answer->row_bias[i], -2.0, 1e-5);
        bias[i] = answer->row_bias[i];
    }
    answer = wire_accept(client, &solve)->solve;
    ck_assert(answer->certificate->converged);
    ck_assert(!answer->certificate->has_softened);
    ck_assert_uint_eq(answer->n_row_bias, 0);
    ck_assert_double_eq_tol(answer->v[0], 2.0, 1e-5);
}
END_TEST

// The contact of zeros is left out, and counted; without it nothing is.
START_TEST(what_moves_nothing_is_counted_in_the_answer) {
    double mass[] = {1.0, 0.0, 0.0, 1.0}, v_free[] = {-0.3, 0.8}, mu[] = {0.8, 0.5},
           jacobian[] = {0.6, 0.6, -0.2, 1.3, -1.2, 1.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    uint32_t width[] = {2}, tree[] = {0, 0}, blocks[] = {1, 1};
    Moreau__V1__ContactProblem problem = MOREAU__V1__CONTACT_PROBLEM__INIT;
    problem.has_time_step = 1, problem.time_step = 0.01;
    problem.n_tree_width = 1, problem.tree_width = width;
    problem.n_mass = 4, problem.mass = mass;
    problem.n_v_free = 2, problem.v_free = v_free;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &problem;
    solve.solver = "mdp";
    for (size_t count = 1; count <= 2; count++) {
        problem.n_contact_mu = count, problem.contact_mu = mu;
        problem.n_contact_block_count = count, problem.contact_block_count = blocks;
        problem.n_contact_block_tree = count, problem.contact_block_tree = tree;
        problem.n_contact_jacobian = 6 * count, problem.contact_jacobian = jacobian;
        const Moreau__V1__SolveReply *answer = wire_accept(client, &solve)->solve;
        ck_assert(answer->certificate->converged);
        ck_assert_int_eq(answer->certificate->has_idle, count == 2);
        ck_assert_uint_eq(answer->certificate->idle, count - 1);
    }
}
END_TEST

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, a_fetched_problem_is_solved_as_its_world_solved_it, 0,
                        (int)(sizeof(worlds) / sizeof(worlds[0])));
    tcase_add_test(tcase, a_history_comes_when_it_is_asked_for);
    tcase_add_test(tcase, a_long_history_is_thinned_out);
    tcase_add_loop_test(tcase, a_solve_that_meets_its_deadline_answers_with_what_it_has, 0, 3);
    tcase_add_test(tcase, a_call_says_what_its_worst_step_left_open);
    tcase_add_test(tcase, a_solve_that_takes_too_long_answers_with_what_it_has);
    tcase_add_test(tcase, what_was_softened_comes_back_as_the_bias_that_was_met);
    tcase_add_test(tcase, what_moves_nothing_is_counted_in_the_answer);
    return tcase;
}

SUITE_MAIN("system/problems", case_problems)
