// SPDX-License-Identifier: MIT
// The world cases of sap (tests/reference/sap.json) on the whole step: scenes, numbers and
// tolerances are the file's. Margins bring every pair in, planes are those of now.
#include "solve/sap/sap.h"
#include "solve/solver.h"
#include "step/step.h"

#include "support/lab.h"
#include "support/reference.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Lab make_lab(double time_step, Integrator integrator) {
    Lab lab = lab_create(9.81, time_step);
    WorldSettings settings = lab.world->settings;
    SolverSettings solver = solver_default(SOLVER_SAP);
    step_set_solver(&settings, &solver);
    settings.margin = 0.2;
    settings.recovery_speed = 1e9;
    settings.integrator = (uint8_t)integrator;
    settings.contact_plane = CONTACT_PLANE_START;
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "tolerance", 1e-12);
    return lab;
}

// One surface stands for the pair: the ground's is rigid.
static Id compliant(Lab *lab, double stiffness, double dissipation_time, double friction) {
    Material material = material_default();
    material.stiffness = stiffness;
    material.dissipation_time = dissipation_time;
    material.friction = friction;
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_materials(lab->world, &material, 1, &id, &error) == STATUS_OK, "%s",
                  error.message);
    return id;
}

// A solid ball of 1 kg and 0.1 m, so high above the ground z <= 0.
static uint32_t drop_ball(Lab *lab, Id material, double gap) {
    Material ground = material_default();
    ground.friction = 0.5;
    Id rigid = lab_material(lab, ground.friction, 0.0);
    lab_ground(lab, rigid);
    const double still[6] = {0.0};
    return lab_body(lab, lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material),
                    BODY_DYNAMIC,
                    (Pose){.position = vec3(0.0, 0.0, 0.1 + gap), .orientation = quat_identity()},
                    still, 1.0, NULL);
}

static double gap_of(const Lab *lab, uint32_t ball) {
    return lab_position(lab, ball).z - 0.1;
}

// The case of that id whose params end with `words`; borrowed.
static json_t *find_case(json_t *root, const char *id, const char *words) {
    json_t *cases = reference_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i);
        const char *params = json_string_value(reference_get(one, "params"));
        size_t length = strlen(params), end = strlen(words);
        if (strcmp(json_string_value(reference_get(one, "id")), id) == 0 && length >= end &&
            strcmp(params + length - end, words) == 0) {
            return one;
        }
    }
    ck_abort_msg("no case %s with %s", id, words);
    return NULL;
}

static double tolerance_of(json_t *one, double wanted) {
    const char *kind = json_string_value(reference_get(one, "tol_kind"));
    double tolerance = json_number_value(reference_get(one, "tol"));
    return strcmp(kind, "relative") == 0 ? tolerance * fabs(wanted) : tolerance;
}

static void assert_case(const char *id, const char *words, double value) {
    json_t *root = reference_open("sap.json"), *one = find_case(root, id, words);
    double wanted = json_number_value(reference_get(one, "value"));
    ck_assert_msg(fabs(value - wanted) <= tolerance_of(one, wanted), "%s, %s: %.17g, wanted %.17g",
                  id, words, value, wanted);
    json_decref(root);
}

START_TEST(b2_a_dropped_ball_sinks_as_deep_as_its_spring_says) {
    static const double steps[] = {0.002, 0.0005, 0.00025};
    double h = steps[_i], deepest = 0.0;
    Lab lab = make_lab(h, INTEGRATOR_SYMPLECTIC);
    lab_set(&lab, "beta", 0.0);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e4, 0.01, 0.0), 0.05);
    int count = (int)(0.6 / h + 0.5);
    for (int i = 0; i < count; i++) {
        lab_step(&lab, 1);
        deepest = fmin(deepest, gap_of(&lab, ball));
    }
    char words[32];
    snprintf(words, sizeof(words), "T=.6 dt=%g", h);
    assert_case("B2.sap.zmin", words, deepest);
    lab_destroy(&lab);
}
END_TEST

// The law looks ahead by h and the time of dissipation: a contact that came in with h alone would
// come too late, and sink 4.36 mm deep instead of 3.07.
START_TEST(b2_contacts_come_in_as_early_as_the_law_looks) {
    double deepest = 0.0;
    Lab lab = make_lab(0.002, INTEGRATOR_SYMPLECTIC);
    WorldSettings settings = lab.world->settings;
    settings.margin = 0.0;
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "beta", 0.0);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e4, 0.01, 0.0), 0.05);
    for (int i = 0; i < 300; i++) {
        lab_step(&lab, 1);
        deepest = fmin(deepest, gap_of(&lab, ball));
    }
    assert_case("B2.sap.zmin", "T=.6 dt=0.002", deepest);
    lab_destroy(&lab);
}
END_TEST

// Under every integrator, as what rests has one velocity before and after a step.
START_TEST(b2_it_comes_to_rest_where_the_spring_bears_it) {
    Lab lab = make_lab(1e-3, (Integrator)_i);
    lab_set(&lab, "beta", 0.0);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e4, 0.01, 0.0), 0.05);
    lab_step(&lab, 2000);
    assert_case("B2.steady", "dt=1e-3, T=2", -gap_of(&lab, ball));
    lab_destroy(&lab);
}
END_TEST

// The cases give w, with an arm of the ball's radius. Our contact point lies in the middle between
// the ball and the ground, half the gap away, and w with it: beta makes up for that. The explicit
// bounce, which takes what one step finds, is 12 % lower without.
static void step_with_given_weight(Lab *lab, uint32_t ball) {
    double arm = (0.1 + 0.5 * gap_of(lab, ball)) / 0.1, tangential = 1.0 + 2.5 * arm * arm;
    double own = sqrt(1.0 + 2.0 * tangential * tangential);
    lab_set(lab, "beta", sqrt(sqrt(25.5) / own));
    lab_step(lab, 1);
}

START_TEST(b2_a_near_rigid_ball_sinks_by_its_closed_form) {
    Lab lab = make_lab(1e-3, INTEGRATOR_SYMPLECTIC);
    // half of them by the material, half by the solver's default
    bool by_default = _i == 1;
    if (by_default) {
        lab_set(&lab, "stiffness_default", 1e12);
    }
    uint32_t ball = drop_ball(&lab, compliant(&lab, by_default ? HUGE_VAL : 1e12, 0.0, 0.5), 0.05);
    for (int i = 0; i < 2000; i++) {
        step_with_given_weight(&lab, ball);
    }
    assert_case("B2.near_rigid.ball", "T=2", -gap_of(&lab, ball));
    lab_destroy(&lab);
}
END_TEST

START_TEST(b2_impacts_bounce_by_the_integrator) {
    static const struct {
        Integrator integrator;
        const char *words;
    } cases[] = {{INTEGRATOR_EXPLICIT, "T=1, scheme explicit"},
                 {INTEGRATOR_SYMPLECTIC, "T=1, scheme symplectic"},
                 {INTEGRATOR_MIDPOINT, "T=1, scheme midpoint"}};
    Lab lab = make_lab(1e-3, cases[_i].integrator);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e12, 0.0, 0.5), 0.05);
    double highest = -HUGE_VAL;
    bool touched = false;
    for (int i = 0; i < 1000; i++) {
        step_with_given_weight(&lab, ball);
        touched = touched || gap_of(&lab, ball) < 0.0;
        highest = touched ? fmax(highest, gap_of(&lab, ball)) : highest;
    }
    assert_case("B2.near_rigid.ball.scheme", cases[_i].words, highest);
    lab_destroy(&lab);
}
END_TEST

// A box that is not to turn slides at 5 m/s over the ground: convex friction carries it at
// mu h v above it, from where it goes on as fast as the slope of that fall; lagged friction leaves
// it where it was, but for what the near-rigid contact gives way.
START_TEST(a_sliding_box_glides_unless_friction_is_lagged) {
    double h = 0.005, mu = 0.5, speed = 5.0, g = 9.81;
    Lab lab = make_lab(h, INTEGRATOR_SYMPLECTIC);
    lab_set(&lab, "friction", _i);
    Id material = lab_material(&lab, mu, 0.0);
    lab_ground(&lab, material);
    const double velocity[6] = {speed, 0.0, 0.0, 0.0, 0.0, 0.0}, inertia[6] = {1e9, 1e9, 1e9};
    uint32_t box =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), material), BODY_DYNAMIC,
                 (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()}, velocity,
                 1.0, inertia);
    double highest = 0.0, lowest = 0.0;
    for (int i = 0; i < 100; i++) {
        lab_step(&lab, 1);
        ck_assert(lab.report.certificate.converged);
        highest = fmax(highest, gap_of(&lab, box));
        lowest = fmin(lowest, gap_of(&lab, box));
    }
    double slip = lab_velocity(&lab, box).x, gap = gap_of(&lab, box);
    ck_assert_double_gt(slip, 1.0);
    if (_i == SAP_CONVEX) {
        // what the step began with is what the gap is of, and it falls by mu h (mu g h) a step
        ck_assert_double_eq_tol(gap, mu * h * slip, 2.0 * mu * h * mu * g * h);
        // and so the report has it, of the box and the ground; what friction creeps by is less
        ck_assert_double_eq_tol(lab.report.launch.speed, mu * slip, 1e-3 * mu * slip);
        // an inertia of 1e9 lets its corners differ by some 1e-11
        ck_assert_double_eq_tol(lab.report.launch.height, gap, 1e-9);
        ck_assert_uint_eq(lab.report.launch.body[1], lab.world->body_id[box]);
    } else {
        ck_assert_double_le(highest, 1e-12);
        ck_assert_double_eq(lab.report.launch.speed, 0.0);
        // four contacts, w = 1 + 0.1: beta^2 w / (4 pi^2) of a quarter of g h, over h
        ck_assert_double_ge(lowest, -0.03 * g * h * h);
        // and it has lost what friction takes, but for the first step
        ck_assert_double_eq_tol(slip, speed - 99 * mu * g * h, 1e-3 * speed);
    }
    lab_destroy(&lab);
}
END_TEST

// A box that is not to turn, on a slope that friction makes it keep its speed on, glides where
//     gamma_n (R_n + mu^2 R_t) = -gap / (h + tau) + mu v_t,   each corner with a quarter of weight,
// under every integrator, wherever it began.
START_TEST(a_gliding_box_keeps_its_gap_under_every_integrator) {
    double h = _i % 2 == 0 ? 0.01 : 0.002, tau = 0.05, mu = 0.5, k = 1e5, m = 2.0, g = 9.81;
    double cosine = 1.0 / sqrt(1.0 + mu * mu);
    Lab lab = make_lab(h, (Integrator)(_i / 2));
    WorldSettings settings = lab.world->settings;
    settings.gravity = vec3(g * mu * cosine, 0.0, -g * cosine);
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "beta", 0.0);
    Material rigid = material_default();
    lab_ground(&lab, compliant(&lab, rigid.stiffness, tau, mu));
    const double velocity[6] = {2.0, 0.0, 0.0, 0.0, 0.0, 0.0}, inertia[6] = {1e12, 1e12, 1e12};
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), compliant(&lab, k, tau, mu));
    uint32_t box = lab_body(&lab, shape, BODY_DYNAMIC,
                            (Pose){.position = vec3(0.0, 0.0, 0.1 - m * g * cosine / (4.0 * k)),
                                   .orientation = quat_identity()},
                            velocity, m, inertia);
    lab_step(&lab, (int)(3.0 / h + 0.5));
    ck_assert_uint_eq(lab.report.contact_count, 4);
    double slip = lab_velocity(&lab, box).x, push = h * m * g * cosine / 4.0;
    double r_n = 1.0 / (h * k * (h + tau)), r_t = 1e-3 / (sqrt(3.0) * m);
    // from where it was thrown the rest of its fall has gone as exp(-3 / (h + tau)), 1e-21
    ck_assert_double_gt(slip, 1.0);
    ck_assert_double_eq_tol(gap_of(&lab, box),
                            (h + tau) * (mu * slip - push * (r_n + mu * mu * r_t)), 1e-9);
    lab_destroy(&lab);
}
END_TEST

// ---- what rolls on a spring, under all integrators

// The paper's rolling cylinder as a ball with its inertia. The file's contact is on the axis z = 0
// of a cylinder that does not change, ours half an overlap above the ball's lowest point: so the
// ball is half an overlap larger. w is |diag(1, 3, 3)|_F / 3 where a cylinder in its plane has
// |diag(1, 3, 0)|_F / 3: sigma makes up for that. And with beta = 0 the spring of the ground alone
// bears it, which leaves it at one height whatever the step; the file's friction does not see that.
typedef struct Rolling {
    Integrator integrator;
    double h, sigma;
    const char *words; // of the case
} Rolling;

#define ROLL_STIFFNESS 25.0
#define ROLL_INERTIA   0.005
#define ROLL_RADIUS    0.1

static Lab make_rolling(const Rolling *rolling, uint32_t *ball) {
    double stiffness = 1e5, overlap = 9.81 / stiffness, radius = ROLL_RADIUS + 0.5 * overlap;
    Lab lab = make_lab(rolling->h, rolling->integrator);
    lab_set(&lab, "beta", 0.0);
    lab_set(&lab, "sigma", rolling->sigma * sqrt(10.0 / 19.0));
    lab_ground(&lab, lab_material(&lab, 0.5, 0.0));
    const double inertia[6] = {ROLL_INERTIA, ROLL_INERTIA, ROLL_INERTIA, 0.0, 0.0, 0.0};
    Pose pose = {.position = vec3(0.1, 0.0, radius - overlap), .orientation = quat_identity()};
    *ball = lab_body(&lab,
                     lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0),
                               compliant(&lab, stiffness, 0.0, 0.5)),
                     BODY_DYNAMIC, pose, (const double[6]){0.0}, 1.0, inertia);
    return lab;
}

// Where the integrator takes the force of a spring, between x before and x after the step.
static double share_of(Integrator integrator) {
    return integrator == INTEGRATOR_IMPLICIT ? 1.0 : integrator == INTEGRATOR_MIDPOINT ? 0.5 : 0.0;
}

// The spring is a wrench, which is constant for a step: a step is taken again until the force is
// that of the place that it leads to. Each time the error is (h Om)^2 at most of what it was.
static void roll(Lab *lab, uint32_t ball) {
    enum { AGAIN = 12 };
    World *world = lab->world;
    double *pose = world->pose + 7 * (size_t)ball, *velocity = world->velocity + 6 * (size_t)ball;
    double old_pose[7], old_velocity[6], x = pose[0];
    double share = share_of((Integrator)world->settings.integrator);
    memcpy(old_pose, pose, sizeof(old_pose));
    memcpy(old_velocity, velocity, sizeof(old_velocity));
    for (int i = 0; i < (share == 0.0 ? 1 : AGAIN); i++) {
        double before = pose[0], wrench[6] = {-ROLL_STIFFNESS * x};
        memcpy(pose, old_pose, sizeof(old_pose));
        memcpy(velocity, old_velocity, sizeof(old_velocity));
        StepInput input = {.time_step = world->settings.time_step,
                           .wrench_count = 1,
                           .wrench_body = &ball,
                           .wrench = wrench};
        Error error = {0};
        ck_assert_msg(stepper_run(lab->stepper, world, &input, &lab->scratch, NULL, &lab->report,
                                  &error) == STATUS_OK,
                      "%s", error.message);
        ck_assert(lab->report.certificate.converged);
        ck_assert_double_le(fabs(lab->report.energy.unexplained),
                            1e-12 * fabs(lab->report.energy.before));
        x = share * pose[0] + (1.0 - share) * old_pose[0];
        ck_assert(share == 0.0 || i < AGAIN - 1 || fabs(pose[0] - before) <= 1e-15);
    }
}

static double rolled_to(const Rolling *rolling, double seconds) {
    uint32_t ball;
    Lab lab = make_rolling(rolling, &ball);
    for (int i = 0; i < (int)(seconds / rolling->h + 0.5); i++) {
        roll(&lab, ball);
    }
    double x = lab_position(&lab, ball).x;
    lab_destroy(&lab);
    return x;
}

static const Rolling conv_cases[] = {
    {INTEGRATOR_SYMPLECTIC, 0.02, 1e-3, "symplectic dt=0.02 sigma=0.001"},
    {INTEGRATOR_SYMPLECTIC, 0.005, 1e-3, "symplectic dt=0.005 sigma=0.001"},
    {INTEGRATOR_SYMPLECTIC, 0.0025, 1e-3, "symplectic dt=0.0025 sigma=0.001"},
    {INTEGRATOR_IMPLICIT, 0.01, 1e-3, "implicit dt=0.01 sigma=0.001"},
    {INTEGRATOR_IMPLICIT, 0.005, 1e-3, "implicit dt=0.005 sigma=0.001"},
    {INTEGRATOR_MIDPOINT, 0.02, 1e-3, "midpoint dt=0.02 sigma=0.001"},
    {INTEGRATOR_MIDPOINT, 0.01, 1e-3, "midpoint dt=0.01 sigma=0.001"},
    {INTEGRATOR_MIDPOINT, 0.0025, 1e-3, "midpoint dt=0.0025 sigma=0.001"},
    {INTEGRATOR_SYMPLECTIC, 0.005, 1e-7, "symplectic dt=0.005 sigma=1e-07"},
    {INTEGRATOR_IMPLICIT, 0.005, 1e-7, "implicit dt=0.005 sigma=1e-07"},
    {INTEGRATOR_MIDPOINT, 0.0025, 1e-7, "midpoint dt=0.0025 sigma=1e-07"},
};

START_TEST(b3_a_ball_rolls_on_its_spring) {
    const Rolling *rolling = &conv_cases[_i];
    assert_case("B3.conv", rolling->words, rolled_to(rolling, 2.0));
}
END_TEST

// x0 cos(Om t), Om^2 = k / (m + I / R^2).
START_TEST(b3_every_integrator_has_its_order) {
    static const double order_wanted[INTEGRATOR_COUNT] = {1.0, 1.0, 1.0,
                                                          2.0, 1.0, 1.0}; // stages: pushed
    double rate = sqrt(ROLL_STIFFNESS / (1.0 + ROLL_INERTIA / (ROLL_RADIUS * ROLL_RADIUS)));
    double exact = 0.1 * cos(2.0 * rate), error[2];
    for (int k = 0; k < 2; k++) {
        const Rolling rolling = {(Integrator)_i, k == 0 ? 0.005 : 0.0025, 1e-7, ""};
        error[k] = fabs(rolled_to(&rolling, 2.0) - exact);
    }
    // the next order is 2 h Om^2 = 0.08 of it at most, which halves
    ck_assert_double_eq_tol(log2(error[0] / error[1]), order_wanted[_i], 0.1);
}
END_TEST

static const Rolling energy_cases[] = {
    {INTEGRATOR_EXPLICIT, 0.01, 1e-3, "explicit dt=0.01 sigma=0.001"},
    {INTEGRATOR_SYMPLECTIC, 0.01, 1e-3, "symplectic dt=0.01 sigma=0.001"},
    {INTEGRATOR_SYMPLECTIC, 0.01, 1e-7, "symplectic dt=0.01 sigma=1e-07"},
    {INTEGRATOR_IMPLICIT, 0.01, 1e-7, "implicit dt=0.01 sigma=1e-07"},
    {INTEGRATOR_MIDPOINT, 0.01, 1e-3, "midpoint dt=0.01 sigma=0.001"},
};

START_TEST(b3_energies_are_those_of_the_integrators) {
    const Rolling *rolling = &energy_cases[_i];
    uint32_t ball;
    Lab lab = make_rolling(rolling, &ball);
    for (int i = 0; i < 1000; i++) {
        roll(&lab, ball);
    }
    double x = lab_position(&lab, ball).x, spin = vec3_norm(lab_spin(&lab, ball)),
           speed = vec3_norm(lab_velocity(&lab, ball));
    double energy = 0.5 * (ROLL_STIFFNESS * x * x + speed * speed + ROLL_INERTIA * spin * spin);
    assert_case("B3.energy", rolling->words, energy / (0.5 * ROLL_STIFFNESS * 0.01));
    lab_destroy(&lab);
}
END_TEST

// ---- what turns freely, as the integrators and rotations of the world have it

typedef struct Turning {
    Integrator integrator;
    Rotation rotation;
    double h;
    const char *words; // of the case
} Turning;

// Moments 1, 2, 3, and 0.1, 2, 0.1 rad/s; ten seconds of it.
static uint32_t turn_freely(Lab *lab, const Turning *turning) {
    WorldSettings settings = lab->world->settings;
    settings.gravity = vec3(0.0, 0.0, 0.0);
    settings.rotation = (uint8_t)turning->rotation;
    world_set_settings(lab->world, &settings);
    const double inertia[6] = {1.0, 2.0, 3.0, 0.0, 0.0, 0.0};
    const double velocity[6] = {0.0, 0.0, 0.0, 0.1, 2.0, 0.1};
    uint32_t body = lab_body(lab, 0, BODY_DYNAMIC, (Pose){.orientation = quat_identity()}, velocity,
                             1.0, inertia);
    lab_step(lab, (int)(10.0 / turning->h + 0.5));
    return body;
}

static void assert_numbers(const char *id, const char *words, const double *values, size_t count) {
    double wanted[4];
    json_t *root = reference_open("sap.json"), *one = find_case(root, id, words);
    reference_numbers(one, "value", wanted, count);
    for (size_t k = 0; k < count; k++) {
        ck_assert_msg(fabs(values[k] - wanted[k]) <= tolerance_of(one, wanted[k]),
                      "%s, %s: %.17g, wanted %.17g", id, words, values[k], wanted[k]);
    }
    json_decref(root);
}

static const Turning spin_cases[] = {
    {INTEGRATOR_SYMPLECTIC, ROTATION_EXPLICIT, 0.02,
     "wm = w0 (explicit and symplectic Euler); dt=0.02 T=10"},
    {INTEGRATOR_EXPLICIT, ROTATION_EXPLICIT, 0.005,
     "wm = w0 (explicit and symplectic Euler); dt=0.005 T=10"},
    {INTEGRATOR_SYMPLECTIC, ROTATION_EXPLICIT, 0.005,
     "wm = w0 (explicit and symplectic Euler); dt=0.005 T=10"},
    {INTEGRATOR_IMPLICIT, ROTATION_IMPLICIT, 0.02, "wm = w1; dt=0.02 T=10"},
    {INTEGRATOR_IMPLICIT, ROTATION_IMPLICIT, 0.005, "wm = w1; dt=0.005 T=10"},
    {INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT, 0.02, "wm = (w0+w1)/2; dt=0.02 T=10"},
    {INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT, 0.005, "wm = (w0+w1)/2; dt=0.005 T=10"},
};

START_TEST(b6_a_body_turns_by_its_scheme) {
    const Turning *turning = &spin_cases[_i];
    Lab lab = make_lab(turning->h, turning->integrator);
    uint32_t body = turn_freely(&lab, turning);
    Vec3 own = mat3_tmul_vec(quat_to_mat3(lab_orientation(&lab, body)), lab_spin(&lab, body));
    double spin[3];
    vec3_store(spin, own);
    assert_numbers("B6.gyro", turning->words, spin, 3);
    lab_destroy(&lab);
}
END_TEST

static const Turning orientation_cases[] = {
    {INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT, 0.02,
     "Cayley with wbar = (w0+w1)/2, midpoint; dt=0.02 T=10"},
    {INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT, 0.005,
     "Cayley with wbar = (w0+w1)/2, midpoint; dt=0.005 T=10"},
    {INTEGRATOR_SYMPLECTIC, ROTATION_EXPLICIT, 0.01,
     "Cayley with wbar = w1 (explicit gyroscopic term); dt=0.01 T=10"},
};

START_TEST(b6_a_body_comes_to_its_orientation) {
    const Turning *turning = &orientation_cases[_i];
    Lab lab = make_lab(turning->h, turning->integrator);
    Quat q = lab_orientation(&lab, turn_freely(&lab, turning));
    double sign = q.w > 0.0 ? -1.0 : 1.0; // the file's have a negative first number
    const double turned[4] = {sign * q.w, sign * q.x, sign * q.y, sign * q.z};
    assert_numbers("B6.orientation", turning->words, turned, 4);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_world(void) {
    TCase *tcase = tcase_create("world");
    tcase_add_loop_test(tcase, b2_a_dropped_ball_sinks_as_deep_as_its_spring_says, 0, 3);
    tcase_add_test(tcase, b2_contacts_come_in_as_early_as_the_law_looks);
    tcase_add_loop_test(tcase, b2_it_comes_to_rest_where_the_spring_bears_it, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, b2_a_near_rigid_ball_sinks_by_its_closed_form, 0, 2);
    tcase_add_loop_test(tcase, b2_impacts_bounce_by_the_integrator, 0, 3);
    tcase_add_loop_test(tcase, a_gliding_box_keeps_its_gap_under_every_integrator, 0,
                        2 * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, b3_a_ball_rolls_on_its_spring, 0,
                        sizeof(conv_cases) / sizeof(conv_cases[0]));
    tcase_add_loop_test(tcase, b3_every_integrator_has_its_order, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, b3_energies_are_those_of_the_integrators, 0,
                        sizeof(energy_cases) / sizeof(energy_cases[0]));
    tcase_add_loop_test(tcase, b6_a_body_turns_by_its_scheme, 0,
                        sizeof(spin_cases) / sizeof(spin_cases[0]));
    tcase_add_loop_test(tcase, b6_a_body_comes_to_its_orientation, 0,
                        sizeof(orientation_cases) / sizeof(orientation_cases[0]));
    tcase_add_loop_test(tcase, a_sliding_box_glides_unless_friction_is_lagged, 0, 2);
    return tcase;
}

SUITE_MAIN("step/sap_world", case_world)
