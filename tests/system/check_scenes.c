// SPDX-License-Identifier: MIT
// Scenes of tests/scenes as `moreau run` plays them: what stands or falls by a closed form does so
// on either side of its limit, and what is large plays.
#include "cli/json/write.h"
#include "support/campaign.h"
#include "support/scene_file.h"
#include "support/server_process.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/turn_scene.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENES MOREAU_SOURCE_DIR "/tests/scenes/"

#define GRAVITY   9.81        // [m/s^2] of these scenes
#define TIME_STEP (1.0 / 240) // [s]

enum { STEPS = 240 }; // a second

static json_t *load(const char *scene) {
    char path[512];
    json_error_t error;
    snprintf(path, sizeof(path), SCENES "%s.json", scene);
    json_t *root = json_load_file(path, 0, &error);
    ck_assert_msg(root != NULL, "%s: %s, line %d", path, error.text, error.line);
    return root;
}

static void set_friction(json_t *scene, double friction) {
    json_t *material = json_array_get(json_object_get(scene, "materials"), 0);
    json_object_set_new(material, "friction", json_real(friction));
}

// The ground lies level and gravity leans, towards x.
static void set_slope(json_t *scene, double slope) {
    double down = GRAVITY / sqrt(1.0 + slope * slope);
    json_t *gravity = json_pack("[fff]", slope * down, 0.0, -down);
    json_object_set_new(json_object_get(scene, "settings"), "gravity", gravity);
}

// The scene, which it frees, turned as nothing in it is (support/turn_scene.h).
static json_t *turn(json_t *scene) {
    char *text = json_dumps(scene, 0);
    json_decref(scene);
    JsonText json;
    JsonError error = {0};
    ck_assert_msg(json_text_parse(&json, "scene", text, strlen(text), &error), "%s", error.message);
    free(text);
    Moreau__V1__Scene *message = scene_file_read(&json);
    turn_scene(message, turn_generic());
    json_t *turned = json_write_message((const ProtobufCMessage *)message);
    moreau__v1__scene__free_unpacked(message, NULL);
    ck_assert_ptr_nonnull(turned);
    return turned;
}

// A coordinate of a body among the poses of a scene that was turned or not.
static double coordinate(const json_t *pose, int body, int axis, bool is_turned) {
    double at[3];
    for (size_t k = 0; k < 3; k++) {
        at[k] = json_number_value(json_array_get(pose, 7 * (size_t)body + k));
    }
    Vec3 p = vec3_load(at);
    return vec3_get(is_turned ? quat_rotate(turn_back(turn_generic()), p) : p, axis);
}

// Plays a scene, which it frees, as `options` have it. The poses of all bodies in the end; the
// caller's.
static json_t *play_as(const ServerProcess *server, json_t *scene, int steps, const char *options) {
    char path[SERVER_FOLDER_BYTES + 16], line[512];
    snprintf(path, sizeof(path), "%s/scene.json", server->folder);
    ck_assert_int_eq(json_dump_file(scene, path, 0), 0);
    json_decref(scene);
    snprintf(line, sizeof(line), "moreau run %s --steps %d --keep --json %s", path, steps, options);
    json_t *report = server_shell_json(server->address[0], line, 0);
    snprintf(line, sizeof(line), "moreau call WorldGet '{\"world\": %lld}'",
             (long long)json_integer_value(json_object_get(report, "world")));
    json_t *world = server_shell_json(server->address[0], line, 0);
    json_t *pose = json_incref(json_object_get(world, "pose"));
    json_decref(world);
    json_decref(report);
    return pose;
}

static json_t *play(const ServerProcess *server, json_t *scene, int steps) {
    return play_as(server, scene, steps, "");
}

// The farthest that a body has come after a second, from where it was after one step [m].
static double farthest(const ServerProcess *server, json_t *scene) {
    json_t *from = play(server, json_deep_copy(scene), 1), *to = play(server, scene, STEPS);
    ck_assert_uint_eq(json_array_size(from), json_array_size(to));
    double moved = 0.0;
    for (size_t body = 0; body < json_array_size(to); body += 7) {
        double square = 0.0;
        for (size_t k = body; k < body + 3; k++) {
            double by = json_number_value(json_array_get(to, k)) -
                        json_number_value(json_array_get(from, k));
            square += by * by;
        }
        moved = fmax(moved, sqrt(square));
    }
    json_decref(from);
    json_decref(to);
    return moved;
}

// Where friction begins to hold a scene (make_scenes.py --limits, where the forms are), and where
// the slope tips it.
typedef struct Limit {
    const char *scene;
    double friction; // 0: as in the scene
    double slope;    // 0: as in the scene
} Limit;

static const Limit limits[] = {
    {.scene = "arch", .friction = 0.1809},
    {.scene = "shapes/arch-hulls", .friction = 0.1809},
    {.scene = "wedge", .friction = 0.2078},
    {.scene = "card-frame", .friction = 0.4623},
    {.scene = "card-house", .friction = 0.4623}, // its upper frame falls when it stood alone
    {.scene = "tower", .friction = 0.15},        // the slope of its ground
    {.scene = "tower", .slope = 0.2},            // 0.2 m wide, 1 m high
};

// 5 % beside the limit. What stands may creep by what is left of its residuals, 1e-6 of |g| h =
// 0.04 m/s: 4e-8 m in a second, for each of at most 16 joints, times a lever of 5. What falls lacks
// 5 % of its hold, at least 0.05 * 0.15 g in the tower, which is 0.036 m in a second; the others
// turn or slide at more.
// However it lies: upright and turned.
START_TEST(a_scene_stands_above_its_limit_and_falls_below) {
    const Limit *limit = &limits[_i / 4];
    bool stands = _i % 2 == 0, is_turned = _i / 2 % 2 != 0;
    double above = stands ? 1.05 : 0.95;
    json_t *scene = load(limit->scene);
    if (limit->friction > 0.0) {
        set_friction(scene, above * limit->friction);
    } else {
        set_slope(scene, limit->slope / above);
    }
    ServerProcess *server = server_start("--workers 1");
    double moved = farthest(server, is_turned ? turn(scene) : scene);
    server_stop(server);
    ck_assert_msg(stands ? moved <= 1e-5 : moved >= 0.02, "%s: %g m", limit->scene, moved);
}
END_TEST

// All five boxes as one: x = a h^2 n (n + 1)/2, a = g (slope - mu) cos. Every step leaves 1e-8 of
// |g| h in the velocity at each of 20 contacts, which makes at most 20 times n (n + 1)/2 h of it.
START_TEST(a_tower_slides_as_one_block) {
    double friction = 0.1, slope = 0.15, residual = 1e-8;
    json_t *scene = load("tower");
    set_friction(scene, friction);
    json_object_set_new(
        json_object_get(scene, "settings"), "parameters",
        json_pack("{s{sfsi}}", "mdp", "tolerance", residual, "max_iterations", 100000));
    ServerProcess *server = server_start("--workers 1");
    json_t *pose = play(server, scene, STEPS);
    server_stop(server);
    double fall = GRAVITY * TIME_STEP * TIME_STEP * STEPS * (STEPS + 1.0) / 2.0; // [m]
    double expected = fall * (slope - friction) / sqrt(1.0 + slope * slope);
    for (size_t body = 1; body <= 5; body++) {
        double x = json_number_value(json_array_get(pose, 7 * body));
        ck_assert_msg(fabs(x - expected) <= 20.0 * residual * fall, "%zu: %.9f %.9f", body, x,
                      expected);
    }
    json_decref(pose);
}
END_TEST

// A heavy body on a light one, to a millionth: nothing is pressed together.
START_TEST(a_ladder_of_masses_stands) {
    json_t *scene = load("mass-ladder");
    ServerProcess *server = server_start("--workers 1");
    double moved = farthest(server, scene);
    server_stop(server);
    ck_assert_double_le(moved, 1e-5); // as above
}
END_TEST

static const char *const large[] = {"balls-125",      "bin-200",    "dominoes-200",
                                    "foundation-900", "heap-125",   "hourglass-300",
                                    "pile-1000",      "pyramid-55", "pyramid-55-kicked",
                                    "wall-105-hit",   "wall-525",   "wall-525-kicked"};
enum { LARGE = sizeof(large) / sizeof(large[0]) };

// The whole of tests/scenes/large, from its first step; half a second of each with deploy/test
// --all.
START_TEST(every_large_scene_plays) {
    int steps = campaign_count(12);
    ServerProcess *server = server_start("--workers 1");
    DIR *directory = opendir(SCENES "large");
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (strstr(entry->d_name, ".json") == NULL) {
            continue;
        }
        char line[512];
        snprintf(line, sizeof(line), "moreau run " SCENES "large/%s --steps %d --json",
                 entry->d_name, steps);
        json_t *report = server_shell_json(server->address[0], line, 0);
        ck_assert_int_eq(json_integer_value(json_object_get(report, "steps")), steps);
        const json_t *certificate = json_object_get(report, "certificate");
        const json_t *worst = json_object_get(certificate, "worst");
        // what a velocity is made of holds to rounding, converged or not
        double e_mom = json_number_value(json_object_get(worst, "e_mom"));
        ck_assert_msg(e_mom <= 1e-10, "%s: %g", entry->d_name, e_mom);
        json_decref(report);
        count++;
    }
    closedir(directory);
    server_stop(server);
    ck_assert_uint_eq(count, LARGE);
}
END_TEST

// ---- the papers' scenes

// A ball set down at 10 m/s with friction of 0.2: the convex step of 1 ms gives it (mu v + g h) /
// (1 + 3.5 mu^2) - g h upwards, and then it flies (ccp.md, A1).
static double thrown(int steps) {
    double g = GRAVITY, h = 0.001, mu = 0.2;
    double v = (mu * 10.0 + g * h) / (1.0 + 3.5 * mu * mu) - g * h;
    return 0.1 + h * (steps * v - g * h * steps * (steps - 1.0) / 2.0);
}

// Coulomb's law slows it by mu g h a step until it rolls, at 5/7 of its speed (mdp.md, S1).
static double slid_and_rolled(int steps) {
    double h = 0.001, slower = 0.2 * GRAVITY * h, rolling = 50.0 / 7.0;
    double n = floor((10.0 - rolling) / slower);
    return h * (n * 10.0 - slower * n * (n + 1.0) / 2.0 + (steps - n) * rolling);
}

// a h^2 n (n + 1) / 2
static double slid(double a, double h, double n) {
    return a * h * h * n * (n + 1.0) / 2.0;
}

static double slid_on_slope(int steps) { // 30 degrees, friction of 0.3
    return slid(GRAVITY * (0.5 - 0.3 * sqrt(0.75)), 0.001, steps);
}

// Along (3, 0.3) m/s, friction of 0.1.
static double slid_on_bricks(int steps) {
    double h = TIME_STEP, share = 3.0 / sqrt(9.09);
    return h * steps * 3.0 - slid(0.1 * GRAVITY * share, h, steps);
}

static double slid_on_ramp(int steps) { // 15 degrees, friction of 0.125
    double sine = (sqrt(6.0) - sqrt(2.0)) / 4.0, cosine = (sqrt(6.0) + sqrt(2.0)) / 4.0;
    return slid(9.8 * (sine - 0.125 * cosine), 0.01, steps);
}

// Under the convex law it hovers mu h v above (ccp.md, A2, from the recursion, to 1e-7).
static double hovered(int steps) {
    (void)steps;
    return 0.25 + 7.0682e-4;
}

// Of ten balls of 1 kg on springs of 1e9 N/m the i-th spring from below bears 11 - i of them.
static double sunk_stack(int steps) {
    (void)steps;
    return 1.9 - 55.0 * GRAVITY / 1e9;
}

// m g / k
static double sunk_ball(int steps) {
    (void)steps;
    return 0.1 - GRAVITY / 1e4;
}

static double stood_column(int steps) {
    (void)steps;
    return 1.9;
}

// mdp.md: S5 after 100 steps, S6 after 100, S3 (its closed form, stick) after one
static double fell_column(int steps) {
    (void)steps;
    return 1.8977157947694254;
}

static double turned_dumbbell(int steps) {
    (void)steps;
    return 0.32275757017329776;
}

static double met(int steps) {
    (void)steps;
    return 0.001 * 0.508881991061622;
}

// A column of ten balls without friction stands on a needle's point: what rounding leaves of it to
// the side in axes that are not its own grows until it falls.
#define FALLS_TURNED "none"
// A residual of 1e-12 of this one is rounding itself, of axes that are not the world's.
#define ROUNDS_TURNED "--param tolerance=1e-11"

// The coordinate of a body. Where no other is said, what is left of a tolerance of 1e-12 in so many
// steps. However the scene lies: upright and turned.
static const struct {
    const char *scene, *solver;
    int steps, body, axis;
    double (*expected)(int steps);
    double tolerance;   // [m]
    const char *turned; // NULL: as upright
} papers[] = {
    {"sliding-ball", "ccp", 1, 1, 2, thrown, 1e-9, NULL},
    {"sliding-ball", "ccp", 180, 1, 2, thrown, 1e-9, NULL},
    {"sliding-ball", "mdp", 2000, 1, 0, slid_and_rolled, 1e-5, NULL}, // 1e-6 of |g| h at each step
    {"box-on-slope", "ccp", 1000, 1, 2, hovered, 1e-7, ROUNDS_TURNED},
    {"box-on-slope", "mdp", 1000, 1, 0, slid_on_slope, 1e-5, NULL}, // as above
    {"brick-bond", "mdp", 200, 0, 0, slid_on_bricks, 1e-6, NULL},
    {"box-on-ramp", "compliant", 100, 1, 0, slid_on_ramp, 1e-8, NULL}, // and what gives way: 1e-9
    {"ball-stack", "compliant", 500, 10, 2, sunk_stack, 1e-12, FALLS_TURNED},
    {"dropped-ball", "sap", 2000, 1, 2, sunk_ball, 1e-10, NULL},
    {"ball-column", "mdp", 240, 10, 2, stood_column, 1e-9, NULL},
    {"kicked-column", "mdp", 100, 10, 2, fell_column, 1e-8, NULL}, // that of the case
    {"dumbbell", "mdp", 100, 1, 2, turned_dumbbell, 1e-8, NULL},   // that of the case
    {"two-balls-meet", "mdp", 1, 1, 0, met, 1e-12, NULL},
};

START_TEST(a_papers_scene_comes_to_its_closed_form) {
    const size_t row = (size_t)_i / 2;
    const bool is_turned = _i % 2 != 0;
    const char *others = is_turned && papers[row].turned != NULL ? papers[row].turned : "";
    if (strcmp(others, FALLS_TURNED) == 0) {
        return;
    }
    char options[96];
    snprintf(options, sizeof(options), "--solver %s --require-converged %s", papers[row].solver,
             others);
    ServerProcess *server = server_start("--workers 1");
    json_t *scene = load(papers[row].scene);
    json_t *pose = play_as(server, is_turned ? turn(scene) : scene, papers[row].steps, options);
    server_stop(server);
    double is = coordinate(pose, papers[row].body, papers[row].axis, is_turned);
    double wanted = papers[row].expected(papers[row].steps);
    ck_assert_msg(fabs(is - wanted) <= papers[row].tolerance, "%s, %s, %s: %.15g, not %.15g",
                  papers[row].scene, papers[row].solver, is_turned ? "turned" : "upright", is,
                  wanted);
    json_decref(pose);
}
END_TEST

// ---- what can move nothing

static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap", "compliant"};
enum { SOLVERS = sizeof(solvers) / sizeof(solvers[0]) };

// Plays a second of a scene under a solver: every step converges, and in the last so many contacts
// and rows were left out. The poses of all bodies in the end; the caller's.
static json_t *play_idle(const ServerProcess *server, const char *scene, const char *solver,
                         int idle) {
    char line[512];
    snprintf(line, sizeof(line),
             "moreau run " SCENES
             "%s.json --steps %d --keep --json --require-converged --solver %s",
             scene, STEPS, solver);
    json_t *report = server_shell_json(server->address[0], line, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "idle")), idle);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "idle_steps")), STEPS);
    snprintf(line, sizeof(line), "moreau call WorldGet '{\"world\": %lld}'",
             (long long)json_integer_value(json_object_get(report, "world")));
    json_t *world = server_shell_json(server->address[0], line, 0);
    json_t *pose = json_incref(json_object_get(world, "pose"));
    json_decref(world);
    json_decref(report);
    return pose;
}

// How far a body has turned since the scene began [rad], to half a turn.
static double turned(const char *scene, const json_t *pose, size_t body) {
    json_t *root = load(scene);
    const json_t *from =
        json_object_get(json_array_get(json_object_get(root, "bodies"), body), "orientation");
    double cosine = 0.0;
    for (size_t k = 0; k < 4; k++) {
        const double upright = k == 0 ? 1.0 : 0.0;
        cosine += (from == NULL ? upright : json_number_value(json_array_get(from, k))) *
                  json_number_value(json_array_get(pose, 7 * body + 3 + k));
    }
    json_decref(root);
    return 2.0 * acos(fmin(fabs(cosine), 1.0));
}

// Rounding of a quaternion is of some 1e-16, and the square root of it in an angle.
START_TEST(a_door_on_two_hinges_stays_where_it_is) {
    ServerProcess *server = server_start("--workers 1");
    json_t *pose = play_idle(server, "door-two-hinges", solvers[_i], 5);
    server_stop(server);
    ck_assert_double_le(turned("door-two-hinges", pose, 0), 1e-7);
    json_decref(pose);
}
END_TEST

// 10 N m on 1.5 kg m^2, then a damper of 1000 N m s/rad that is taken implicitly. Four of the
// hinge's five rows hold what the other does.
START_TEST(a_motor_turns_what_a_hinge_closes) {
    const double soft = TIME_STEP * 1000.0 / 1.5;
    double speed = 0.0, angle = 0.0;
    for (int i = 0; i < STEPS; i++) {
        speed = fmin(speed + TIME_STEP * 10.0 / 1.5, (speed + soft * 2.0) / (1.0 + soft));
        angle += TIME_STEP * speed;
    }
    ServerProcess *server = server_start("--workers 1");
    json_t *pose = play_idle(server, "universal-and-hinge", solvers[_i], 4);
    server_stop(server);
    // a tolerance of 1e-6, of 2 rad/s
    ck_assert_double_eq_tol(turned("universal-and-hinge", pose, 0), angle, 1e-5);
    json_decref(pose);
}
END_TEST

// At 2 rad/s for a second.
START_TEST(an_arm_in_the_floor_goes_on_turning) {
    ServerProcess *server = server_start("--workers 1");
    json_t *pose = play_idle(server, "arm-in-floor", solvers[_i], 2);
    server_stop(server);
    ck_assert_double_eq_tol(turned("arm-in-floor", pose, 1), 2.0, 1e-9);
    json_decref(pose);
}
END_TEST

// Springs of 1e4 N/m in the floor and the arm, in series, press its far end with 5 N by their
// millimetre of overlap, so that friction of 0.1 slows 0.06 kg m^2 at 0.4 m, until it stands. The
// end on the axis moves nothing all the same.
START_TEST(a_spring_brakes_what_slides_on_it) {
    // convex friction would press by what slides, too; the lagged one begins with the second step
    const char *soft[] = {"sap --param friction=lagged", "compliant"};
    const double slower = TIME_STEP * 0.1 * 5.0 * 0.4 / 0.06;
    const int steps = STEPS / 2;
    const double braked = steps - (_i == 0);
    json_t *scene = load("arm-in-floor");
    json_t *material = json_array_get(json_object_get(scene, "materials"), 0);
    json_object_set_new(material, "stiffness", json_real(1e4));
    set_friction(scene, 0.1);
    char options[64];
    snprintf(options, sizeof(options), "--solver %s --require-converged", soft[_i]);
    ServerProcess *server = server_start("--workers 1");
    json_t *pose = play_as(server, scene, steps, options);
    server_stop(server);
    // the tolerance of 1e-6, of 2 rad/s
    ck_assert_double_eq_tol(turned("arm-in-floor", pose, 1),
                            TIME_STEP * (2.0 * steps - slower * braked * (braked + 1.0) / 2.0),
                            1e-6);
    json_decref(pose);
}
END_TEST

static const char *const carried[] = {"reacher", "cart-on-rails", "robot-on-base"};
enum { CARRIED = sizeof(carried) / sizeof(carried[0]) };

// Takes the shapes of what stands still, so that nothing touches it.
static json_t *without_ground(json_t *scene) {
    size_t i;
    json_t *body;
    json_array_foreach(json_object_get(scene, "bodies"), i, body) {
        if (json_object_get(body, "kind") != NULL) {
            json_object_del(body, "shapes");
        }
    }
    return scene;
}

// What joints carry already moves as if it touched nothing.
START_TEST(what_joints_carry_slides_over_the_ground) {
    const char *scene = carried[_i / SOLVERS];
    char options[64];
    snprintf(options, sizeof(options), "--solver %s --require-converged", solvers[_i % SOLVERS]);
    ServerProcess *server = server_start("--workers 1");
    json_t *on = play_as(server, load(scene), STEPS, options),
           *over = play_as(server, without_ground(load(scene)), STEPS, options);
    server_stop(server);
    ck_assert_uint_eq(json_array_size(on), json_array_size(over));
    for (size_t k = 0; k < json_array_size(on); k++) {
        ck_assert_double_eq_tol(json_number_value(json_array_get(on, k)),
                                json_number_value(json_array_get(over, k)), 1e-12);
    }
    json_decref(on);
    json_decref(over);
}
END_TEST

// ---- large ones

// What a solver did of a large scene: all steps, or, of lcp alone, none, because it has too many
// rows.
static void expect_played(const json_t *run, const char *scene, int steps) {
    const char *solver = json_string_value(json_object_get(run, "solver"));
    const json_t *error = json_object_get(run, "error");
    if (error != NULL) {
        const char *message = json_string_value(json_object_get(error, "message"));
        ck_assert_msg(strcmp(solver, "lcp") == 0 && strstr(message, "max_rows") != NULL, "%s: %s",
                      scene, message);
        return;
    }
    ck_assert_int_eq(json_integer_value(json_object_get(run, "steps")), steps);
    const json_t *worst = json_object_get(json_object_get(run, "certificate"), "worst");
    double e_mom = json_number_value(json_object_get(worst, "e_mom"));
    ck_assert_msg(e_mom <= 1e-10, "%s: %s: %g", scene, solver, e_mom); // as above
}

// One step of each, ten with deploy/test --all.
START_TEST(a_large_scene_plays_under_every_solver) {
    int steps = campaign_count(1);
    ServerProcess *server =
        server_start("--workers 1 --work-timeout-ms 3600000"); // on a busy machine
    char line[512];
    snprintf(line, sizeof(line),
             "moreau run " SCENES "large/%s.json --solver all --steps %d --json || true", large[_i],
             steps);
    json_t *document = server_shell_json(server->address[0], line, 0);
    const json_t *run, *runs = json_object_get(document, "runs");
    size_t i;
    ck_assert_uint_eq(json_array_size(runs), 5);
    json_array_foreach(runs, i, run) {
        expect_played(run, large[_i], steps);
    }
    json_decref(document);
    server_stop(server);
}
END_TEST

static TCase *case_physics(void) {
    TCase *tcase = tcase_create("physics");
    int count = (int)(sizeof(limits) / sizeof(limits[0]));
    tcase_add_loop_test(tcase, a_scene_stands_above_its_limit_and_falls_below, 0, 4 * count);
    tcase_add_test(tcase, a_tower_slides_as_one_block);
    tcase_add_test(tcase, a_ladder_of_masses_stands);
    tcase_add_loop_test(tcase, a_papers_scene_comes_to_its_closed_form, 0,
                        2 * (int)(sizeof(papers) / sizeof(papers[0])));
    tcase_add_loop_test(tcase, a_door_on_two_hinges_stays_where_it_is, 0, SOLVERS);
    tcase_add_loop_test(tcase, a_motor_turns_what_a_hinge_closes, 0, SOLVERS);
    tcase_add_loop_test(tcase, an_arm_in_the_floor_goes_on_turning, 0, SOLVERS);
    tcase_add_loop_test(tcase, a_spring_brakes_what_slides_on_it, 0, 2);
    tcase_add_loop_test(tcase, what_joints_carry_slides_over_the_ground, 0, CARRIED * SOLVERS);
    return tcase;
}

static TCase *case_large(void) {
    TCase *tcase = tcase_create("large");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, every_large_scene_plays);
    tcase_add_loop_test(tcase, a_large_scene_plays_under_every_solver, 0, LARGE);
    return tcase;
}

SUITE_MAIN("system/scenes", case_physics, case_large)
