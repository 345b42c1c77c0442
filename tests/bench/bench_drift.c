// SPDX-License-Identifier: MIT
// How much energy free motion, rolling and rest gain or lose in ten seconds, as a share of what
// there was, at three lengths of step: with the defaults (symplectic, rotation midpoint), beside
// the integrator midpoint and beside the papers' explicit gyroscopic torque. All should be zero.
#include "bench/bench.h"
#include "bench/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SECONDS = 10, CLOUD_COUNT = 200 };

typedef struct Drift {
    double share; // (E1 - E0)/E0
    bool is_faulted;
} Drift;

static void set_velocity(Scene *scene, Vec3 linear, Vec3 spin) {
    double *velocity = scene->world->velocity + 6 * (size_t)(scene->world->body_count - 1);
    vec3_store(velocity, linear);
    vec3_store(velocity + 3, spin);
}

static const Vec3 nothing = {0.0, 0.0, 0.0};

// 0.1 x 0.2 x 0.4 m in empty space, spinning about some axis of its own.
static Scene make_brick(double rate, Vec3 axis) {
    Scene scene = scene_create();
    scene.world->settings.gravity = nothing;
    scene_body(&scene, scene_shape(&scene, PRIMITIVE_BOX, vec3(0.05, 0.1, 0.2)), BODY_DYNAMIC,
               (Pose){.orientation = quat_identity()});
    set_velocity(&scene, nothing, vec3_scale(rate / vec3_norm(axis), axis));
    return scene;
}

static Scene make_slow_brick(void) {
    return make_brick(10.0, vec3(1.0, 6.0, 8.0));
}

static Scene make_fast_brick(void) {
    return make_brick(50.0, vec3(1.0, 6.0, 8.0));
}

// about the axis of the middle moment, and a thousandth beside it: it turns over again and again
static Scene make_flip(void) {
    return make_brick(10.0, vec3(1e-3, 1.0, 1e-3));
}

static Scene make_cloud(void) {
    Scene scene = scene_create();
    scene.world->settings.gravity = nothing;
    Id shape = scene_shape(&scene, PRIMITIVE_BOX, vec3(0.05, 0.1, 0.2));
    for (int i = 0; i < CLOUD_COUNT; i++) {
        // no two alike, and none ever near another
        Quat turn = quat_normalize((Quat){1.0, 0.013 * i, 1.0 - 0.01 * i, 0.007 * i});
        scene_body(&scene, shape, BODY_DYNAMIC,
                   (Pose){.position = vec3(2.0 * i, 0.0, 0.0), .orientation = turn});
        set_velocity(&scene, nothing, vec3(0.05 * i, 10.0 - 0.1 * i, 5.0 - 0.03 * i));
    }
    return scene;
}

static Scene make_throw(void) {
    Scene scene = scene_create();
    scene_body(&scene, scene_shape(&scene, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0)), BODY_DYNAMIC,
               (Pose){.orientation = quat_identity()});
    set_velocity(&scene, vec3(10.0, 0.0, 49.0), nothing);
    return scene;
}

static Scene make_roll(void) {
    Scene scene = scene_create();
    scene_body(&scene, scene_shape(&scene, PRIMITIVE_PLANE, nothing), BODY_STATIC,
               (Pose){.orientation = quat_identity()});
    scene_body(&scene, scene_shape(&scene, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0)), BODY_DYNAMIC,
               (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()});
    set_velocity(&scene, vec3(2.0, 0.0, 0.0), vec3(0.0, 20.0, 0.0));
    return scene;
}

static Drift measure(Scene (*make)(void), double hertz, Integrator integrator, Rotation rotation) {
    Scene scene = make();
    scene.world->settings.integrator = (uint8_t)integrator;
    scene.world->settings.rotation = (uint8_t)rotation;
    StepInput input = {.time_step = 1.0 / hertz};
    Error error = {0};
    Drift drift = {0};
    double start = 0.0, end = 0.0;
    for (int i = 0; i < SECONDS * (int)hertz && !drift.is_faulted; i++) {
        StepReport report;
        drift.is_faulted = stepper_run(scene.stepper, scene.world, &input, &scene.scratch, NULL,
                                       &report, &error) != STATUS_OK;
        start = i == 0 ? report.energy.before : start;
        end = drift.is_faulted ? end : report.energy.after;
    }
    drift.share = (end - start) / start;
    scene_destroy(&scene);
    return drift;
}

typedef struct DriftCase {
    const char *name;
    Scene (*make)(void);
} DriftCase;

static const DriftCase cases[] = {
    {"brick 10 rad/s", make_slow_brick}, {"brick 50 rad/s", make_fast_brick},
    {"flip 10 rad/s", make_flip},        {"cloud of 200", make_cloud},
    {"throw 50 m/s", make_throw},        {"roll 2 m/s", make_roll},
    {"stack of 10", scene_stack},
};

static const double rates[] = {60.0, 240.0, 1000.0};

void bench_drift(const BenchRun *run) {
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t k = 0; k < sizeof(rates) / sizeof(rates[0]); k++) {
            Scene (*make)(void) = cases[i].make;
            double hertz = rates[k];
            Drift ours = measure(make, hertz, INTEGRATOR_SYMPLECTIC, ROTATION_MIDPOINT);
            BenchRow row = {.value = ours.share, .unit = ours.is_faulted ? "(faulted)" : ""};
            snprintf(row.figure, sizeof(row.figure), "%s, 1/%.0f s", cases[i].name, hertz);
            bench_add(run, &row);
            row.peer = "integrator midpoint";
            row.peer_value = measure(make, hertz, INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT).share;
            bench_add(run, &row);
            Drift papers = measure(make, hertz, INTEGRATOR_SYMPLECTIC, ROTATION_EXPLICIT);
            row.peer = papers.is_faulted ? "explicit, faulted at" : "rotation explicit";
            row.peer_value = papers.share;
            bench_add(run, &row);
        }
    }
}
