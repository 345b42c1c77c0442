// SPDX-License-Identifier: MIT
// The tool's commands as a person runs them, against a scripted server: what they send, print and
// return.
#include "clients/capture.h"
#include "cli/text/shown.h"
#include "clients/fake_peer.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

// A server with one world, in which time passes.
typedef struct FakeServer {
    FakePeer peer;
    uint64_t steps;   // done so far
    uint64_t fail_at; // 0: never; the step that cannot be done
    size_t step_calls, destroyed;
    char solver[32], solvers[128]; // of the last world; of all, with spaces
    char names[256];               // of all worlds
    char refused[32];              // a solver that cannot do it
    size_t worlds;                 // made so far
    double tolerance;              // of mdp, and sigma of sap, as last set
    double sigma;
    double time_step;
    Moreau__V1__World__Lifetime lifetime;
    bool launches;                          // by 2 m/s at step 100
    bool unconverged;                       // what solve says
    Moreau__V1__Certificate__Reason reason; // of the worst step; CONVERGED: as if it had none
} FakeServer;

static void reply_create(FakeServer *server, const Moreau__V1__Request *request) {
    const Moreau__V1__WorldSettings *settings = request->world_create->settings;
    snprintf(server->solver, sizeof(server->solver), "%s",
             settings->solver != NULL ? settings->solver : "");
    snprintf(server->solvers + strlen(server->solvers),
             sizeof(server->solvers) - strlen(server->solvers), "%s ", server->solver);
    const char *name = request->world_create->name;
    snprintf(server->names + strlen(server->names), sizeof(server->names) - strlen(server->names),
             "%s ", name != NULL ? name : "-");
    if (strcmp(server->solver, server->refused) == 0 && server->refused[0] != '\0') {
        fake_send_status(&server->peer, request->id, MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED,
                         "", "too many rows");
        return;
    }
    server->steps = 0;
    server->worlds++;
    const Moreau__V1__SolverParameters *parameters = settings->parameters;
    server->tolerance = parameters != NULL && parameters->mdp != NULL ? parameters->mdp->tolerance
                                                                      : server->tolerance;
    server->sigma =
        parameters != NULL && parameters->sap != NULL ? parameters->sap->sigma : server->sigma;
    server->time_step = settings->time_step;
    server->lifetime = request->world_create->lifetime;
    Moreau__V1__WorldCreateReply created = MOREAU__V1__WORLD_CREATE_REPLY__INIT;
    created.has_world = created.has_bodies = 1;
    created.world = 3;
    created.bodies = request->world_create->scene->n_bodies;
    created.name = (char *)"one_ball-1";
    uint64_t ids[2] = {7, 8};
    created.n_ids = 2;
    created.ids = ids;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_CREATE;
    reply.world_create = &created;
    fake_send(&server->peer, &reply, request->id);
}

// What a step left open.
typedef struct OpenStep {
    uint32_t islands, islands_open, contacts;
    uint64_t body;
    Moreau__V1__OpenColumns columns;
} OpenStep;

static void add_open(FakeServer *server, double *residual, uint64_t *step, OpenStep *open,
                     Moreau__V1__StepReports *reports) {
    *open = (OpenStep){57, 1, 412, 8, MOREAU__V1__OPEN_COLUMNS__INIT};
    Moreau__V1__OpenColumns *m = &open->columns;
    m->n_islands = m->n_islands_open = m->n_contacts = 1;
    m->islands = &open->islands;
    m->islands_open = &open->islands_open;
    m->contacts = &open->contacts;
    m->n_body = m->n_residual = m->n_reason = 1;
    m->body = &open->body;
    m->residual = residual;
    m->reason = &server->reason;
    reports->worst_open = m;
    reports->n_worst_open_step = 1;
    reports->worst_open_step = step;
}

// What a step launched.
typedef struct LaunchStep {
    double speed, gliding;
    uint64_t body[2];
    Moreau__V1__LaunchColumns columns;
} LaunchStep;

static void add_launch(uint64_t *step, LaunchStep *launch, Moreau__V1__StepReports *reports) {
    *launch = (LaunchStep){2.0, 0.01, {7, 8}, MOREAU__V1__LAUNCH_COLUMNS__INIT};
    Moreau__V1__LaunchColumns *m = &launch->columns;
    m->n_speed = m->n_gliding = m->n_body_a = m->n_body_b = 1;
    m->speed = &launch->speed;
    m->gliding = &launch->gliding;
    m->body_a = &launch->body[0];
    m->body_b = &launch->body[1];
    reports->worst_launch = m;
    reports->n_worst_launch_step = 1;
    reports->worst_launch_step = step;
}

// e_own of step k is 1/k below 100 and 5 at step 100, so that the worst one is known.
static void reply_step(FakeServer *server, const Moreau__V1__Request *request) {
    server->step_calls++;
    uint64_t steps = request->world_step->steps;
    bool fails = server->fail_at > 0 && server->steps + steps >= server->fail_at;
    uint64_t done = fails ? server->fail_at - 1 - server->steps : steps;
    uint64_t first = server->steps + 1;
    server->steps += done;
    double time = (double)server->steps / 240.0;
    bool holds_worst = first <= 100 && server->steps >= 100;
    double last = server->steps > 0 ? 1.0 / (double)server->steps : 0.0;
    double worst = holds_worst ? 5.0 : 1.0 / (double)first;
    uint64_t worst_step = holds_worst ? 100 : first;
    uint64_t unconverged = holds_worst ? 1 : 0;
    protobuf_c_boolean converged = 1;
    uint32_t contacts = 4;
    double energy[2] = {2.0, 1.5};

    Moreau__V1__CertificateColumns last_columns = MOREAU__V1__CERTIFICATE_COLUMNS__INIT;
    Moreau__V1__CertificateColumns worst_columns = MOREAU__V1__CERTIFICATE_COLUMNS__INIT;
    Moreau__V1__CertificateSteps worst_steps = MOREAU__V1__CERTIFICATE_STEPS__INIT;
    last_columns.n_e_own = worst_columns.n_e_own = worst_steps.n_e_own = 1;
    last_columns.e_own = &last;
    worst_columns.e_own = &worst;
    worst_steps.e_own = &worst_step;
    Moreau__V1__EnergyColumns energies = MOREAU__V1__ENERGY_COLUMNS__INIT;
    energies.n_before = energies.n_after = 1;
    energies.before = &energy[0];
    energies.after = &energy[1];
    Moreau__V1__StepReports reports = MOREAU__V1__STEP_REPORTS__INIT;
    reports.n_contacts = reports.n_converged = reports.n_unconverged_steps = 1;
    reports.contacts = &contacts;
    reports.converged = &converged;
    reports.unconverged_steps = &unconverged;
    reports.last = &last_columns;
    reports.worst = &worst_columns;
    reports.worst_step = &worst_steps;
    reports.energy = &energies;
    OpenStep open;
    if (holds_worst && server->reason != MOREAU__V1__CERTIFICATE__REASON__CONVERGED) {
        add_open(server, &worst, &worst_step, &open, &reports);
    }
    LaunchStep launch;
    if (holds_worst && server->launches) {
        add_launch(&worst_step, &launch, &reports);
    }
    Moreau__V1__Status failure = MOREAU__V1__STATUS__INIT;
    failure.has_code = failure.has_step = 1;
    failure.code = MOREAU__V1__STATUS__CODE__ABORTED;
    failure.step = server->fail_at;
    failure.message = (char *)"body 2: the velocity is not finite";
    Moreau__V1__Status *failures[] = {&failure};
    Moreau__V1__WorldStepReply step = MOREAU__V1__WORLD_STEP_REPLY__INIT;
    step.n_steps_done = step.n_step = step.n_time = 1;
    step.steps_done = &done;
    step.step = &server->steps;
    step.time = &time;
    step.reports = &reports;
    step.n_failures = fails ? 1 : 0;
    step.failures = failures;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_STEP;
    reply.world_step = &step;
    fake_send(&server->peer, &reply, request->id);
}

// The second body lies a millimetre higher in every world that is made.
static void reply_get(FakeServer *server, uint64_t id) {
    uint64_t ids[2] = {7, 8};
    double pose[14] = {[3] = 1.0, [9] = 0.001 * (double)server->worlds, [10] = 1.0};
    Moreau__V1__WorldGetReply get = MOREAU__V1__WORLD_GET_REPLY__INIT;
    get.has_step = get.has_total = 1;
    get.step = server->steps;
    get.total = get.n_ids = 2;
    get.ids = ids;
    get.n_pose = 14;
    get.pose = pose;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_GET;
    reply.world_get = &get;
    fake_send(&server->peer, &reply, id);
}

static void reply_hash(FakeServer *server, uint64_t id) {
    uint64_t hash = 0xfedcba9876543210u;
    Moreau__V1__WorldHashReply hashes = MOREAU__V1__WORLD_HASH_REPLY__INIT;
    hashes.n_hash = hashes.n_step = 1;
    hashes.hash = &hash;
    hashes.step = &server->steps;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_HASH;
    reply.world_hash = &hashes;
    fake_send(&server->peer, &reply, id);
}

static void reply_destroy(FakeServer *server, uint64_t id) {
    server->destroyed++;
    Moreau__V1__WorldDestroyReply destroyed = MOREAU__V1__WORLD_DESTROY_REPLY__INIT;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_DESTROY;
    reply.world_destroy = &destroyed;
    fake_send(&server->peer, &reply, id);
}

static void reply_list(FakeServer *server, uint64_t id) {
    Moreau__V1__WorldInfo info = MOREAU__V1__WORLD_INFO__INIT;
    info.has_world = info.has_bodies = 1;
    info.world = 3;
    info.bodies = 2;
    info.name = (char *)"pile";
    info.solver = (char *)"mdp";
    Moreau__V1__WorldInfo *rows[] = {&info};
    Moreau__V1__WorldListReply list = MOREAU__V1__WORLD_LIST_REPLY__INIT;
    list.has_total = 1;
    list.total = 1;
    list.n_worlds = 1;
    list.worlds = rows;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_LIST;
    reply.world_list = &list;
    fake_send(&server->peer, &reply, id);
}

static void reply_groups(FakeServer *server, uint64_t id) {
    Moreau__V1__GroupListReply list = MOREAU__V1__GROUP_LIST_REPLY__INIT;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_GROUP_LIST;
    reply.group_list = &list;
    fake_send(&server->peer, &reply, id);
}

// Returns v_free and zeros; refuses mu = 9 by the name of its key.
static void reply_solve(FakeServer *server, const Moreau__V1__Request *request) {
    const Moreau__V1__ContactProblem *problem = request->solve->problem;
    if (problem->contact_mu[0] == 9.0) {
        fake_send_status(&server->peer, request->id, MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT,
                         "problem.contacts[0].mu", "mu must not be 9");
        return;
    }
    Moreau__V1__Certificate certificate = MOREAU__V1__CERTIFICATE__INIT;
    certificate.has_converged = 1;
    certificate.converged = !server->unconverged;
    certificate.has_iterations = 1;
    certificate.iterations = 17;
    Moreau__V1__SolveReply answer = MOREAU__V1__SOLVE_REPLY__INIT;
    answer.n_v = problem->n_v_free;
    answer.v = problem->v_free;
    answer.n_contacts = 3 * problem->n_contact_mu;
    answer.contacts = calloc(answer.n_contacts, sizeof(double));
    answer.certificate = &certificate;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SOLVE;
    reply.solve = &answer;
    fake_send(&server->peer, &reply, request->id);
    free(answer.contacts);
}

static void serve(FakePeer *peer) {
    FakeServer *server = peer->context;
    fake_welcome(peer, 1);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        switch (request->call_case) {
        case MOREAU__V1__REQUEST__CALL_WORLD_CREATE:
            reply_create(server, request);
            break;
        case MOREAU__V1__REQUEST__CALL_WORLD_STEP:
            reply_step(server, request);
            break;
        case MOREAU__V1__REQUEST__CALL_WORLD_GET:
            reply_get(server, request->id);
            break;
        case MOREAU__V1__REQUEST__CALL_WORLD_HASH:
            reply_hash(server, request->id);
            break;
        case MOREAU__V1__REQUEST__CALL_WORLD_DESTROY:
            reply_destroy(server, request->id);
            break;
        case MOREAU__V1__REQUEST__CALL_WORLD_LIST:
            reply_list(server, request->id);
            break;
        case MOREAU__V1__REQUEST__CALL_GROUP_LIST:
            reply_groups(server, request->id);
            break;
        case MOREAU__V1__REQUEST__CALL_SOLVE:
            reply_solve(server, request);
            break;
        default:
            fake_send_status(peer, request->id, MOREAU__V1__STATUS__CODE__UNIMPLEMENTED, "payload",
                             "this server only pretends");
            break;
        }
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

// ---- running a command

static Outcome run_served(FakeServer *server, Command *command, bool json, const char *arguments) {
    fake_start(&server->peer, serve, server);
    Outcome outcome = run_command(server->peer.address, command, json, arguments);
    fake_stop(&server->peer);
    return outcome;
}

#define SCENE   MOREAU_SOURCE_DIR "/tests/scenes/one_ball.json"
#define PROBLEM MOREAU_SOURCE_DIR "/tests/problems/one-ball.json"

// ---- run

START_TEST(run_steps_in_batches_and_reports_the_worst_of_all) {
    FakeServer server = {0};
    Outcome outcome =
        run_served(&server, command_run, true,
                   SCENE " --solver mdp --param tolerance=1e-9 --steps 500 --time-step 0.002");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_uint_eq(server.steps, 500);
    ck_assert_uint_gt(server.step_calls, 1);
    ck_assert_uint_eq(server.destroyed, 1);
    ck_assert_str_eq(server.solver, "mdp");
    ck_assert(server.tolerance == 1e-9 && server.time_step == 0.002);
    ck_assert_int_eq(server.lifetime, MOREAU__V1__WORLD__LIFETIME__SESSION);
    json_t *report = parse(outcome.out);
    const json_t *certificate = json_object_get(report, "certificate");
    ck_assert_uint_eq(whole_at(report, "steps"), 500);
    ck_assert_str_eq(text_at(report, "hash"), "18364758544493064720");
    ck_assert_uint_eq(whole_at(report, "unconverged_steps"), 1);
    ck_assert(json_number_value(json_object_get(json_object_get(certificate, "worst"), "e_own")) ==
              5.0);
    ck_assert_uint_eq(whole_at(json_object_get(certificate, "worst_step"), "e_own"), 100);
    // as problem files have it
    ck_assert_ptr_nonnull(json_object_get(json_object_get(certificate, "worst"), "e_DS"));
    ck_assert_ptr_null(json_object_get(json_object_get(certificate, "worst"), "e_ds"));
    ck_assert(json_number_value(json_object_get(json_object_get(certificate, "last"), "e_own")) ==
              1.0 / 500.0);
    json_decref(report);
}
END_TEST

START_TEST(run_says_which_island_was_not_solved_and_why) {
    FakeServer server = {.reason = MOREAU__V1__CERTIFICATE__REASON__BUDGET_ENDED};
    Outcome outcome = run_served(&server, command_run, false, SCENE);
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_msg(strstr(outcome.out, "step 100: 1 of 57 islands not solved, residual 5\n") != NULL,
                  "%s", outcome.out);
    ck_assert_ptr_nonnull(strstr(outcome.out, "412 contacts around body 'ball'\n"));
    ck_assert_ptr_nonnull(strstr(outcome.out, "the budget of operations is too small\n"));
    ck_assert_ptr_nonnull(strstr(outcome.out, "--effort exact"));
    FakeServer exact = {.reason = MOREAU__V1__CERTIFICATE__REASON__BUDGET_ENDED};
    outcome = run_served(&exact, command_run, false, SCENE " --effort exact");
    ck_assert_ptr_nonnull(strstr(outcome.out, "--param budget="));
    FakeServer again = {.reason = MOREAU__V1__CERTIFICATE__REASON__STALLED};
    outcome = run_served(&again, command_run, true, SCENE);
    json_t *report = parse(outcome.out);
    const json_t *open = json_object_get(report, "worst_open");
    ck_assert_str_eq(text_at(open, "reason"), "STALLED");
    ck_assert_uint_eq(whole_at(open, "step"), 100);
    ck_assert_uint_eq(whole_at(open, "body"), 8);
    ck_assert_uint_eq(whole_at(open, "islands"), 57);
    json_decref(report);
}
END_TEST

START_TEST(run_plays_all_solvers_side_by_side) {
    FakeServer server = {.launches = true};
    Outcome outcome = run_served(&server, command_run, true,
                                 SCENE " --solver all --param sap.sigma=1e-4 --name pile");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_str_eq(server.solvers, "mdp lcp ccp sap compliant ");
    ck_assert_str_eq(server.names, "pile-mdp pile-lcp pile-ccp pile-sap pile-compliant ");
    ck_assert(server.sigma == 1e-4 && server.tolerance == 0.0);
    ck_assert_uint_eq(server.destroyed, 5);
    json_t *document = parse(outcome.out);
    const json_t *runs = json_object_get(document, "runs");
    ck_assert_uint_eq(json_array_size(runs), 5);
    ck_assert_str_eq(text_at(document, "drift_from"), "mdp");
    for (size_t i = 0; i < 5; i++) {
        const json_t *run = json_array_get(runs, i);
        double drift = json_number_value(json_object_get(run, "drift"));
        ck_assert_msg(fabs(drift - 0.001 * (double)i) <= 1e-15, "%zu: %g", i, drift);
        ck_assert_uint_eq(whole_at(run, "steps"), 240);
        ck_assert_uint_eq(whole_at(json_object_get(run, "worst_launch"), "step"), 100);
    }
    json_decref(document);

    FakeServer again = {0};
    outcome = run_served(&again, command_run, false, SCENE " --solver sap,mdp");
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_str_eq(again.solvers, "sap mdp ");
    ck_assert_str_eq(again.names, "- - ");
    ck_assert_msg(strstr(outcome.out, "  sap          99.5 %") != NULL, "%s", outcome.out);
    ck_assert_ptr_nonnull(strstr(outcome.out, "farthest from where it is under sap"));
    for (char *line = strtok(outcome.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_msg(shown_width(line) <= 80, "%s", line);
    }
}
END_TEST

// Its row has nothing in it, and what there is to say of it says whom it is about.
START_TEST(run_goes_on_when_one_of_several_solvers_is_refused) {
    FakeServer server = {.refused = "lcp"};
    Outcome outcome = run_served(&server, command_run, true, SCENE " --solver mdp,lcp,sap");
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ck_assert_msg(strstr(outcome.err, "moreau: lcp: too many rows") != NULL, "%s", outcome.err);
    json_t *document = parse(outcome.out);
    const json_t *runs = json_object_get(document, "runs");
    ck_assert_str_eq(text_at(json_object_get(document, "error"), "message"), "lcp: too many rows");
    ck_assert_str_eq(text_at(json_object_get(document, "error"), "status"), "RESOURCE_EXHAUSTED");
    const json_t *refused = json_array_get(runs, 1);
    ck_assert_str_eq(text_at(json_object_get(refused, "error"), "message"), "lcp: too many rows");
    ck_assert_uint_eq(whole_at(refused, "steps"), 0);
    ck_assert(json_is_null(json_object_get(refused, "drift")));
    for (size_t i = 0; i < 3; i += 2) {
        ck_assert_uint_eq(whole_at(json_array_get(runs, i), "steps"), 240);
        ck_assert_ptr_null(json_object_get(json_array_get(runs, i), "error"));
    }
    json_decref(document);
}
END_TEST

START_TEST(run_judges_a_list_of_solvers_before_it_connects) {
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {SCENE " --solver mdp,", "--solver: mdp, is no list"},
        {SCENE " --solver mdp,sap,mdp", "--solver: mdp stands twice"},
        {SCENE " --solver mdp,sap --param directions=8", "mdp: --param directions=8: solver mdp"},
        {SCENE " --solver mdp,sap --param lcp.directions=8", "solver lcp does not run here"},
    };
    // where nobody listens
    Outcome outcome = run_command("127.0.0.1:1", command_run, false, cases[_i].arguments);
    ck_assert_int_eq(outcome.status, EXIT_USAGE);
    ck_assert_msg(strstr(outcome.err, cases[_i].said) != NULL, "%s", outcome.err);
    ck_assert_str_eq(outcome.out, "");
}
END_TEST

START_TEST(run_says_what_was_launched) {
    FakeServer server = {.launches = true};
    Outcome outcome = run_served(&server, command_run, false, SCENE);
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_msg(strstr(outcome.out, "launch       by up to 2 m/s, and gliding 0.01 m high, in "
                                      "step 100\n") != NULL,
                  "%s", outcome.out);
    ck_assert_ptr_nonnull(strstr(outcome.out, "body 'ground' against 'ball'\n"));
    FakeServer again = {.launches = true};
    outcome = run_served(&again, command_run, true, SCENE);
    json_t *report = parse(outcome.out);
    const json_t *launch = json_object_get(report, "worst_launch");
    ck_assert_uint_eq(whole_at(launch, "step"), 100);
    ck_assert(json_number_value(json_object_get(launch, "speed")) == 2.0);
    json_decref(report);
}
END_TEST

START_TEST(run_says_in_words_what_did_not_converge) {
    FakeServer server = {.reason = MOREAU__V1__CERTIFICATE__REASON__ITERATIONS_ENDED};
    Outcome outcome = run_served(&server, command_run, false, SCENE " --keep");
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_uint_eq(server.steps, 240);
    ck_assert_uint_eq(server.destroyed, 0);
    ck_assert_int_eq(server.lifetime, MOREAU__V1__WORLD__LIFETIME__SERVER);
    ck_assert_ptr_nonnull(strstr(outcome.out, "1 of 240 steps did not"));
    ck_assert_ptr_nonnull(strstr(outcome.out, "as world 3"));
    ck_assert_ptr_null(strchr(outcome.out, '\033')); // no colours in a file
    for (char *line = strtok(outcome.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_msg(shown_width(line) <= 80, "%s", line);
    }
}
END_TEST

START_TEST(run_time_counts_whole_steps) {
    FakeServer server = {0};
    // the scene's step is 1/240 s, rounded: 0.5 s are 120 steps, not 121
    Outcome outcome = run_served(&server, command_run, true, SCENE " --time 0.5");
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_uint_eq(server.steps, 120);
}
END_TEST

START_TEST(run_reports_a_world_that_fails) {
    FakeServer server = {.fail_at = 57};
    Outcome outcome = run_served(&server, command_run, true, SCENE);
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ck_assert_ptr_nonnull(strstr(outcome.err, "step 57: body 2: the velocity is not finite"));
    json_t *report = parse(outcome.out);
    ck_assert_uint_eq(whole_at(report, "steps"), 56);
    // what was done is reported, and the error stands beside it
    ck_assert_ptr_nonnull(strstr(text_at(json_object_get(report, "error"), "message"), "step 57"));
    json_decref(report);
}
END_TEST

START_TEST(run_can_insist_on_convergence) {
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_run, true, SCENE " --require-converged");
    ck_assert_int_eq(outcome.status, EXIT_UNCONVERGED);
    ck_assert_ptr_nonnull(strstr(outcome.err, "1 of 240 steps did not converge"));
    json_t *report = parse(outcome.out);
    ck_assert_uint_eq(whole_at(report, "steps"), 240);
    ck_assert_ptr_nonnull(strstr(text_at(json_object_get(report, "error"), "message"), "1 of 240"));
    json_decref(report);
    ck_assert_uint_eq(server.destroyed, 1);

    FakeServer good = {0};
    outcome = run_served(&good, command_run, true, SCENE " --require-converged --steps 50");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
}
END_TEST

// ten times what the solver was given, or what it takes unasked
START_TEST(run_says_what_helps) {
    static const struct {
        const char *arguments, *expected;
    } cases[] = {
        {SCENE, "--param max_iterations=2000\n"},
        {SCENE " --param max_iterations=50", "--param max_iterations=500\n"},
        {MOREAU_SOURCE_DIR "/tests/scenes/falling.json", "--param max_iterations=100000\n"}};
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_run, false, cases[_i].arguments);
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_msg(strstr(outcome.out, cases[_i].expected) != NULL, "%s", outcome.out);
}
END_TEST

static TCase *case_run(void) {
    TCase *tcase = tcase_create("run");
    tcase_add_test(tcase, run_steps_in_batches_and_reports_the_worst_of_all);
    tcase_add_test(tcase, run_says_which_island_was_not_solved_and_why);
    tcase_add_test(tcase, run_says_what_was_launched);
    tcase_add_test(tcase, run_plays_all_solvers_side_by_side);
    tcase_add_test(tcase, run_goes_on_when_one_of_several_solvers_is_refused);
    tcase_add_loop_test(tcase, run_judges_a_list_of_solvers_before_it_connects, 0, 4);
    tcase_add_test(tcase, run_says_in_words_what_did_not_converge);
    tcase_add_test(tcase, run_time_counts_whole_steps);
    tcase_add_test(tcase, run_reports_a_world_that_fails);
    tcase_add_test(tcase, run_can_insist_on_convergence);
    tcase_add_loop_test(tcase, run_says_what_helps, 0, 3);
    return tcase;
}

// ---- solve, worlds, call

START_TEST(solve_prints_one_answer) {
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_solve, true, PROBLEM " --param friction=coulomb");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    json_t *answer = parse(outcome.out);
    ck_assert_str_eq(text_at(answer, "model"), "coulomb");
    ck_assert_str_eq(text_at(json_object_get(answer, "parameters"), "friction"), "COULOMB");
    ck_assert(json_number_value(
                  json_array_get(json_array_get(json_object_get(answer, "v"), 0), 0)) == 2.0);
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(answer, "report"), "iterations")), 17);
    json_decref(answer);
}
END_TEST

START_TEST(solve_says_when_it_did_not_converge) {
    FakeServer server = {.unconverged = true};
    Outcome outcome = run_served(&server, command_solve, false, PROBLEM);
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_ptr_nonnull(strstr(outcome.out, "not converged"));
}
END_TEST

START_TEST(solve_finds_the_line_of_what_the_server_refuses) {
    char path[64];
    write_file("{\"format\": \"moreau-problem/1\", \"time_step\": 0.01,\n"
               "\"trees\": [{\"mass\": [[1]], \"v_free\": [0]}],\n\"contacts\": [{\n\"mu\": 9,\n"
               "\"blocks\": [{\"tree\": 0, \"jacobian\": [[1], [0], [0]]}]}]}",
               path);
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_solve, false, path);
    unlink(path);
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ck_assert_msg(strstr(outcome.err, ":4: contacts[0].mu: mu must not be 9") != NULL, "%s",
                  outcome.err);
}
END_TEST

START_TEST(worlds_are_a_table_or_a_list) {
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_worlds, false, "");
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_ptr_nonnull(strstr(outcome.out, "pile"));
    FakeServer again = {0};
    outcome = run_served(&again, command_worlds, true, "");
    json_t *list = parse(outcome.out);
    ck_assert_str_eq(text_at(json_array_get(list, 0), "name"), "pile");
    ck_assert_uint_eq(whole_at(json_array_get(list, 0), "world"), 3);
    json_decref(list);
}
END_TEST

START_TEST(a_world_is_destroyed_by_id_or_name) {
    static const char *const names[] = {"--destroy 3", "--destroy pile"};
    for (size_t i = 0; i < 2; i++) {
        FakeServer server = {0};
        Outcome outcome = run_served(&server, command_worlds, false, names[i]);
        ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
        ck_assert_str_eq(outcome.out, "destroyed world 3 pile: 2 bodies, after 0 steps\n");
        ck_assert_uint_eq(server.destroyed, 1);
    }
    FakeServer other = {0};
    Outcome outcome = run_served(&other, command_worlds, true, "--destroy pil");
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ck_assert_ptr_nonnull(strstr(outcome.err, "\"pil\" (did you mean pile?)"));
    ck_assert_uint_eq(other.destroyed, 0);
}
END_TEST

// A file says who solves it; the command line may say otherwise.
START_TEST(a_problem_is_solved_as_its_file_says) {
    static const struct {
        const char *options;
        int status;
        double tolerance, iterations; // 0: not given
        const char *friction;
    } cases[] = {
        {"", EXIT_DONE, 1e-9, 700, "COULOMB"},
        {" --param tolerance=1e-5", EXIT_DONE, 1e-5, 700, "COULOMB"},
        {" --solver mdp", EXIT_DONE, 1e-9, 700, "COULOMB"},
        {" --solver other", EXIT_DONE, 0, 0, "(none)"}, // its parameters are not mdp's
    };
    char path[64], arguments[160];
    write_file("{\"format\": \"moreau-problem/1\", \"time_step\": 0.01, \"solver\": \"mdp\",\n"
               "\"parameters\": {\"tolerance\": 1e-9, \"max_iterations\": 700, \"friction\": "
               "\"COULOMB\"},\n"
               "\"trees\": [{\"mass\": [[1]], \"v_free\": [0]}],\n\"contacts\": [{\"mu\": 1,\n"
               "\"blocks\": [{\"tree\": 0, \"jacobian\": [[1], [0], [0]]}]}]}",
               path);
    snprintf(arguments, sizeof(arguments), "%s%s", path, cases[_i].options);
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_solve, true, arguments);
    unlink(path);
    ck_assert_msg(outcome.status == cases[_i].status, "%s", outcome.err);
    json_t *answer = parse(outcome.out);
    const json_t *used = json_object_get(answer, "parameters");
    ck_assert_str_eq(text_at(used, "friction"), cases[_i].friction);
    ck_assert(json_number_value(json_object_get(used, "tolerance")) == cases[_i].tolerance);
    ck_assert(json_number_value(json_object_get(used, "max_iterations")) == cases[_i].iterations);
    json_decref(answer);
}
END_TEST

START_TEST(call_prints_the_result_or_the_status) {
    FakeServer server = {0};
    Outcome outcome = run_served(&server, command_call, false, "WorldHash {\"worlds\":[\"3\"]}");
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    json_t *result = parse(outcome.out);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(result, "hash"), 0)),
                     "18364758544493064720");
    json_decref(result);
    FakeServer refusing = {0};
    outcome = run_served(&refusing, command_call, false, "Ping {\"payload\":1}");
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    result = parse(outcome.out);
    ck_assert_str_eq(text_at(json_object_get(result, "status"), "code"), "UNIMPLEMENTED");
    ck_assert_ptr_nonnull(strstr(outcome.err, "argument:1: payload: this server only pretends"));
    json_decref(result);
}
END_TEST

static TCase *case_others(void) {
    TCase *tcase = tcase_create("solve, worlds, call");
    tcase_add_test(tcase, solve_prints_one_answer);
    tcase_add_test(tcase, solve_says_when_it_did_not_converge);
    tcase_add_test(tcase, solve_finds_the_line_of_what_the_server_refuses);
    tcase_add_test(tcase, worlds_are_a_table_or_a_list);
    tcase_add_test(tcase, a_world_is_destroyed_by_id_or_name);
    tcase_add_loop_test(tcase, a_problem_is_solved_as_its_file_says, 0, 4);
    tcase_add_test(tcase, call_prints_the_result_or_the_status);
    return tcase;
}

// ---- without a server

static const struct {
    Command *command;
    const char *arguments;
    int status;
    const char *expected; // on standard error
} alone[] = {
    {command_run, "", EXIT_USAGE, "missing"},
    {command_run, "/nonexistent/scene.json", EXIT_USAGE, "cannot read"},
    {command_run, SCENE " --setps 3", EXIT_USAGE, "--setps"},
    {command_run, SCENE " --steps 3 --time 2", EXIT_USAGE, "not both"},
    {command_run, SCENE " extra", EXIT_USAGE, "extra"},
    {command_run, SCENE " --param tolernce=1", EXIT_USAGE, "tolerance"},
    {command_run, SCENE, EXIT_NO_CONNECTION, "no connection"},
    {command_solve, "", EXIT_USAGE, "which problem"},
    {command_solve, "", EXIT_USAGE, "which problem?"},
    {command_solve, "--dump x", EXIT_USAGE, "which problem?"},
    {command_solve, "x.json --world 3", EXIT_USAGE, "which problem?"},
    {command_solve, "--world 3 --dump x --history", EXIT_USAGE, "the world's own solver"},
    {command_solve, SCENE, EXIT_REFUSED, "is a scene, and a contact problem is wanted: moreau run"},
    {command_run, PROBLEM, EXIT_REFUSED,
     "is a contact problem, and a scene is wanted: moreau solve"},
    {command_solve, PROBLEM, EXIT_NO_CONNECTION, "no connection"},
    {command_call, "NoSuchCall", EXIT_USAGE, "NoSuchCall"},
    {command_call, "WordlStep", EXIT_USAGE, "\"WordlStep\" (did you mean WorldStep?)"},
    {command_call, "Sceen --help", EXIT_USAGE, "\"Sceen\" (did you mean Scene?)"},
    {command_call, "Body.Knd --help", EXIT_USAGE, "(did you mean Body.Kind?)"},
    {command_call, "SceneBody {}", EXIT_USAGE, "cannot be called; moreau call SceneBody --help"},
    {command_call, "Ping {\"paylod\":1}", EXIT_REFUSED, "unknown key (did you mean payload?)"},
    {command_run, SCENE " --setps 3", EXIT_USAGE, "(did you mean --steps?)"},
    {command_run, SCENE " --param tolernce=1", EXIT_USAGE, "(did you mean tolerance?)"},
    {command_worlds, "--destory pile", EXIT_USAGE, "(did you mean --destroy?)"},
    {command_solve, "--world 3 --dump x --solver mdp", EXIT_USAGE, "the world's own solver"},
    {command_call, "Ping {\"payload\":true}", EXIT_REFUSED,
     "argument:1: payload: needs a whole number, got true"},
    {command_call, "Ping", EXIT_NO_CONNECTION, "no connection"},
    {command_worlds, "what", EXIT_USAGE, "what"},
    {command_worlds, "--token-file /nonexistent", EXIT_USAGE, "token file"},
};

START_TEST(mistakes_end_with_their_status_and_a_sentence) {
    Outcome outcome = run_command("127.0.0.1:1", alone[_i].command, false, alone[_i].arguments);
    ck_assert_msg(outcome.status == alone[_i].status, "%d: %s", outcome.status, outcome.err);
    ck_assert_msg(strstr(outcome.err, alone[_i].expected) != NULL, "%s", outcome.err);
    ck_assert_str_eq(outcome.out, "");

    // the same as a document
    outcome = run_command("127.0.0.1:1", alone[_i].command, true, alone[_i].arguments);
    ck_assert_int_eq(outcome.status, alone[_i].status);
    json_t *document = parse(outcome.out);
    ck_assert_ptr_nonnull(
        strstr(text_at(json_object_get(document, "error"), "message"), alone[_i].expected));
    json_decref(document);
}
END_TEST

// Whether `moreau call NAME --help` explains it within 80 columns.
static void assert_explained(const char *name) {
    char arguments[128];
    snprintf(arguments, sizeof(arguments), "%s --help", name);
    Outcome outcome = run_command("127.0.0.1:1", command_call, false, arguments);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s: %s", name, outcome.err);
    ck_assert_ptr_nonnull(strstr(outcome.out, name));
    for (char *line = strtok(outcome.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_msg(shown_width(line) <= 80, "%s", line);
        ck_assert_msg(line[strlen(line) - 1] != ' ', "a space at the end: %s", line);
    }
}

// Every message and every enum that stands in the file.
START_TEST(every_part_of_the_protocol_is_explained) {
    FILE *proto = fopen(MOREAU_SOURCE_DIR "/proto/moreau.proto", "r");
    ck_assert_ptr_nonnull(proto);
    char line[512], message[64] = "", inner[64], name[130];
    size_t messages = 0, enums = 0;
    while (fgets(line, sizeof(line), proto) != NULL) {
        if (sscanf(line, "message %60[A-Za-z]", message) == 1) {
            assert_explained(message);
            messages++;
        } else if (sscanf(line, " enum %60[A-Za-z]", inner) == 1) {
            snprintf(name, sizeof(name), "%s.%s", message, inner);
            assert_explained(name);
            enums++;
        }
    }
    fclose(proto);
    ck_assert_uint_gt(messages, 80);
    ck_assert_uint_gt(enums, 8);
    Outcome outcome = run_command("127.0.0.1:1", command_call, false, "scene_body --help");
    ck_assert_ptr_nonnull(strstr(outcome.out, "list of ScenePrimitive"));
    ck_assert_ptr_nonnull(strstr(outcome.out, "Used by: Scene.bodies"));
    outcome = run_command("127.0.0.1:1", command_call, false, "Status.Code --help");
    ck_assert_ptr_nonnull(strstr(outcome.out, "UNIMPLEMENTED              12\n"));
}
END_TEST

static const struct {
    const char *text;
    mode_t mode;
    int status;
    const char *says; // NULL: what a lack of a server says, and nothing else
} token_files[] = {
    {"secret\n", 0600, EXIT_NO_CONNECTION, NULL},
    {"  secret \r\nsecond line\n", 0600, EXIT_NO_CONNECTION, NULL},
    {"secret", 0644, EXIT_NO_CONNECTION, "(mode 0644): chmod 600"},
    {"secret", 0640, EXIT_NO_CONNECTION, "(mode 0640): chmod 600"},
    {"", 0600, EXIT_USAGE, "no token in its first line"},
    {"\nsecret\n", 0600, EXIT_USAGE, "no token in its first line"},
    {NULL, 0600, EXIT_USAGE, "a token of 300 bytes; a token has at most 255"},
};

START_TEST(a_token_file_is_read_as_the_server_reads_it) {
    char path[] = "/tmp/moreau-token-XXXXXX", arguments[64], long_token[301];
    memset(long_token, 't', 300);
    long_token[300] = '\0';
    const char *text = token_files[_i].text == NULL ? long_token : token_files[_i].text;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (long)strlen(text));
    ck_assert_int_eq(fchmod(fd, token_files[_i].mode), 0);
    close(fd);
    snprintf(arguments, sizeof(arguments), "--token-file %s", path);
    Outcome outcome = run_command("127.0.0.1:1", command_worlds, true, arguments);
    unlink(path);
    ck_assert_msg(outcome.status == token_files[_i].status, "%d: %s", outcome.status, outcome.err);
    const char *says = token_files[_i].says;
    ck_assert_msg(strstr(outcome.err, says == NULL ? "no connection" : says) != NULL, "%s",
                  outcome.err);
    ck_assert_msg(says != NULL || strstr(outcome.err, "warning") == NULL, "%s", outcome.err);
    json_decref(parse(outcome.out)); // the one document, and no warning in it
}
END_TEST

START_TEST(help_fits_eighty_columns) {
    static const struct {
        Command *command;
        const char *arguments;
    } helps[] = {{command_run, "--help"},
                 {command_solve, "--help"},
                 {command_worlds, "--help"},
                 {command_call, "--help"},
                 {command_call, "--list"},
                 {command_call, "Solve --help"},
                 {command_call, "WorldCreate --help"},
                 {command_top, "--help"},
                 {command_bench, "--help"}};
    Outcome outcome = run_command("127.0.0.1:1", helps[_i].command, false, helps[_i].arguments);
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    ck_assert_uint_gt(strlen(outcome.out), 100);
    for (char *line = strtok(outcome.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_msg(shown_width(line) <= 80, "%s", line);
    }
}
END_TEST

static TCase *case_alone(void) {
    TCase *tcase = tcase_create("without a server");
    tcase_add_loop_test(tcase, mistakes_end_with_their_status_and_a_sentence, 0,
                        sizeof(alone) / sizeof(alone[0]));
    tcase_add_loop_test(tcase, a_token_file_is_read_as_the_server_reads_it, 0,
                        sizeof(token_files) / sizeof(token_files[0]));
    tcase_add_loop_test(tcase, help_fits_eighty_columns, 0, 9);
    tcase_add_test(tcase, every_part_of_the_protocol_is_explained);
    return tcase;
}

SUITE_MAIN("clients/commands", case_run, case_others, case_alone)
