// SPDX-License-Identifier: MIT
// Bodies that pass each other and bodies that hit, with the default contact plane: what misses is
// not touched, what hits does not tunnel. Random, from seeds; MOREAU_SHOTS says how many of each
// (default: a few hundred).
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOTS = 300 };

static int shot_count(void) {
    const char *text = getenv("MOREAU_SHOTS");
    return text == NULL ? SHOTS : atoi(text);
}

static Vec3 random_direction(uint64_t *seed) {
    for (;;) {
        Vec3 d = vec3(lab_random(seed, -1.0, 1.0), lab_random(seed, -1.0, 1.0),
                      lab_random(seed, -1.0, 1.0));
        double norm = vec3_norm(d);
        if (norm > 0.1 && norm < 1.0) {
            return vec3_scale(1.0 / norm, d);
        }
    }
}

static Quat random_orientation(uint64_t *seed) {
    Vec3 axis = random_direction(seed);
    double half = lab_random(seed, 0.0, 1.5);
    return quat_normalize((Quat){1.0, half * axis.x, half * axis.y, half * axis.z});
}

// A number between low and high whose logarithm is uniform.
static double random_scale(uint64_t *seed, double low, double high) {
    return low * pow(high / low, lab_random(seed, 0.0, 1.0));
}

typedef struct Thing {
    PrimitiveKind kind;
    Vec3 size;
    Quat orientation;
} Thing;

static Thing random_thing(uint64_t *seed, PrimitiveKind kind) {
    double s = lab_random(seed, 0.02, 0.2);
    Vec3 size = kind == PRIMITIVE_SPHERE
                    ? vec3(s, 0.0, 0.0)
                    : vec3(s, s * lab_random(seed, 0.2, 1.0), s * lab_random(seed, 0.2, 1.0));
    return (Thing){kind, size, random_orientation(seed)};
}

// How far a thing reaches from its centre along n.
static double extent(const Thing *thing, Vec3 n) {
    if (thing->kind == PRIMITIVE_SPHERE) {
        return thing->size.x;
    }
    Mat3 axes = quat_to_mat3(thing->orientation);
    return thing->size.x * fabs(vec3_dot(axes.c0, n)) + thing->size.y * fabs(vec3_dot(axes.c1, n)) +
           thing->size.z * fabs(vec3_dot(axes.c2, n));
}

static uint32_t add_thing(Lab *lab, const Thing *thing, BodyKind kind, Vec3 position, Vec3 velocity,
                          Vec3 spin) {
    double v[6];
    vec3_store(v, velocity);
    vec3_store(v + 3, spin);
    Pose pose = {position, thing->orientation};
    // as round as a ball: what spins fast is not to fault by the explicit torque
    double i = 0.4 * thing->size.x * thing->size.x;
    const double inertia[6] = {i, i, i, 0.0, 0.0, 0.0};
    return lab_body(lab, lab_shape(lab, thing->kind, thing->size, 0), kind, pose, v, 1.0,
                    kind == BODY_DYNAMIC ? inertia : NULL);
}

// ---- what misses

typedef struct Passing {
    const char *name;
    PrimitiveKind a, b;
    bool both_move;
} Passing;

static const Passing passings[] = {
    {"ball by ball", PRIMITIVE_SPHERE, PRIMITIVE_SPHERE, false},
    {"ball by box", PRIMITIVE_SPHERE, PRIMITIVE_BOX, false},
    {"box by ball", PRIMITIVE_BOX, PRIMITIVE_SPHERE, false},
    {"box by box", PRIMITIVE_BOX, PRIMITIVE_BOX, false},
    {"two moving balls", PRIMITIVE_SPHERE, PRIMITIVE_SPHERE, true},
    {"two moving boxes", PRIMITIVE_BOX, PRIMITIVE_BOX, true},
};

START_TEST(what_misses_keeps_its_velocity) {
    const Passing *passing = &passings[_i];
    uint64_t seed = 100 + (uint64_t)_i;
    for (int shot = 0; shot < shot_count(); shot++) {
        Lab lab = lab_create(0.0, 1.0 / 240.0);
        lab.world->settings.margin = settings_default().margin;
        Thing a = random_thing(&seed, passing->a), b = random_thing(&seed, passing->b);
        // past a plane along the motion that has both bodies on its sides, and some room
        Vec3 n = random_direction(&seed), t, u;
        vec3_tangents(n, &t, &u);
        double clearance = random_scale(&seed, 1e-4, 0.2);
        double speed = random_scale(&seed, 1.0, 1000.0);
        double before = lab_random(&seed, 0.0, 1.2) * speed / 240.0;
        Vec3 start = vec3_scale(clearance + extent(&a, n) + extent(&b, n), n);
        start = vec3_add_scaled(start, -before, t);
        Vec3 drift = passing->both_move
                         ? vec3_scale(random_scale(&seed, 1.0, 1000.0), random_direction(&seed))
                         : vec3(0.0, 0.0, 0.0);
        Vec3 velocity = vec3_add_scaled(drift, speed, t);
        Vec3 none = vec3(0.0, 0.0, 0.0);
        uint32_t flyer = add_thing(&lab, &a, BODY_DYNAMIC, start, velocity, none);
        add_thing(&lab, &b, passing->both_move ? BODY_DYNAMIC : BODY_STATIC, none, drift, none);
        lab_step(&lab, 3);
        double change = vec3_norm(vec3_sub(lab_velocity(&lab, flyer), velocity));
        ck_assert_msg(change <= 1e-9 * speed && vec3_norm(lab_spin(&lab, flyer)) <= 1e-9 * speed,
                      "%s, shot %d: %g m/s at %g m/s and %g m of room", passing->name, shot, change,
                      speed, clearance);
        lab_destroy(&lab);
    }
}
END_TEST

START_TEST(a_ball_that_passes_5_cm_clear_at_100_m_s_keeps_its_energy) {
    Lab lab = lab_create(0.0, 1.0 / 240.0);
    Thing ball = {PRIMITIVE_SPHERE, {0.1, 0.0, 0.0}, quat_identity()};
    Vec3 none = vec3(0.0, 0.0, 0.0), velocity = vec3(100.0, 0.0, 0.0);
    uint32_t flyer = add_thing(&lab, &ball, BODY_DYNAMIC, vec3(-0.3, 0.25, 0.0), velocity, none);
    add_thing(&lab, &ball, BODY_STATIC, none, none, none);
    lab_step(&lab, 2);
    ck_assert_double_eq(lab_velocity(&lab, flyer).x, 100.0);
    lab_destroy(&lab);
}
END_TEST

// ---- what hits

static const double plate_half = 1.0;
static const double plate_thickness = 1e-3;

typedef struct Shot {
    const char *name;
    PrimitiveKind kind;
    double spin_max; // rad/s
    bool plate_moves;
    double speed_max;
} Shot;

static const Shot shots[] = {
    {"ball", PRIMITIVE_SPHERE, 0.0, false, 1e4},
    {"box", PRIMITIVE_BOX, 0.0, false, 1e4},
    {"spinning box", PRIMITIVE_BOX, 100.0, false, 1e4},
    {"ball, moving plate", PRIMITIVE_SPHERE, 0.0, true, 1e4},
    {"box, moving plate", PRIMITIVE_BOX, 0.0, true, 1e4},
    {"spinning box, moving plate", PRIMITIVE_BOX, 100.0, true, 1e4},
};

// Where body `b` is seen from the plate's own axes.
static Vec3 in_plate(const Lab *lab, uint32_t plate, uint32_t b) {
    return mat3_tmul_vec(quat_to_mat3(lab_orientation(lab, plate)),
                         vec3_sub(lab_position(lab, b), lab_position(lab, plate)));
}

// Whether the way from one place to another, in the plate's axes, goes through it.
static bool goes_through(Vec3 from, Vec3 to) {
    if ((from.z > 0.0) == (to.z > 0.0)) {
        return false;
    }
    Vec3 at = vec3_add_scaled(from, from.z / (from.z - to.z), vec3_sub(to, from));
    return fabs(at.x) < plate_half - 0.3 && fabs(at.y) < plate_half - 0.3;
}

START_TEST(what_hits_does_not_tunnel) {
    const Shot *row = &shots[_i];
    uint64_t seed = 200 + (uint64_t)_i;
    int through = 0, given_up = 0;
    for (int shot = 0; shot < shot_count(); shot++) {
        Lab lab = lab_create(9.81, 1.0 / 240.0);
        lab.world->settings.margin = settings_default().margin;
        Thing plate = {PRIMITIVE_BOX,
                       {plate_half, plate_half, 0.5 * plate_thickness},
                       random_orientation(&seed)};
        Thing thing = random_thing(&seed, row->kind);
        Vec3 n = quat_to_mat3(plate.orientation).c2;
        Vec3 target = quat_rotate(plate.orientation, vec3(lab_random(&seed, -0.6, 0.6),
                                                          lab_random(&seed, -0.6, 0.6), 0.0));
        Vec3 direction = random_direction(&seed);
        if (vec3_dot(direction, n) > 0.0) {
            direction = vec3_neg(direction);
        }
        double speed = random_scale(&seed, 1.0, row->speed_max);
        double clear = extent(&thing, n) + plate_thickness + lab_random(&seed, 0.0, 0.5);
        Vec3 start = vec3_add_scaled(target, clear / vec3_dot(direction, n), direction);
        Vec3 spin = vec3_scale(lab_random(&seed, 0.0, row->spin_max), random_direction(&seed));
        Vec3 drift = row->plate_moves ? vec3_scale(random_scale(&seed, 1.0, row->speed_max),
                                                   random_direction(&seed))
                                      : vec3(0.0, 0.0, 0.0);
        Vec3 none = vec3(0.0, 0.0, 0.0);
        uint32_t wall = add_thing(&lab, &plate, row->plate_moves ? BODY_KINEMATIC : BODY_STATIC,
                                  none, drift, none);
        uint32_t body = add_thing(&lab, &thing, BODY_DYNAMIC, start,
                                  vec3_add_scaled(drift, speed, direction), spin);
        for (int step = 0; step < 20; step++) {
            Vec3 from = in_plate(&lab, wall, body);
            lab_step(&lab, 1);
            if (goes_through(from, in_plate(&lab, wall, body))) {
                // a solver that gives up says so in its report
                through += lab.report.certificate.converged ? 1 : 0;
                given_up += lab.report.certificate.converged ? 0 : 1;
                break;
            }
        }
        lab_destroy(&lab);
    }
    ck_assert_msg(through == 0 && given_up <= shot_count() / 100,
                  "%s: %d of %d went through, %d unconverged", row->name, through, shot_count(),
                  given_up);
}
END_TEST

// ---- what a third body turns

typedef struct Turned {
    const char *name;
    PrimitiveKind kind;
    bool is_kicked; // by a moving ball, from rest; else it flies at a block that turns it
} Turned;

static const Turned turneds[] = {
    {"ball off a block", PRIMITIVE_SPHERE, false},
    {"box off a block", PRIMITIVE_BOX, false},
    {"ball kicked", PRIMITIVE_SPHERE, true},
    {"box kicked", PRIMITIVE_BOX, true},
};

// Above the plate, beside or above the body, and clear of both.
static Vec3 place_other(uint64_t *seed, const Thing *other, const Thing *thing, Vec3 place) {
    Vec3 n = random_direction(seed);
    n.z = fabs(n.z);
    double room = extent(other, n) + extent(thing, n) + lab_random(seed, 0.01, 0.5);
    Vec3 at = vec3_add_scaled(place, room, n);
    double above = extent(other, vec3(0.0, 0.0, 1.0)) + 0.01;
    at.z = at.z < above ? above : at.z;
    return at;
}

START_TEST(what_a_third_body_turns_does_not_tunnel) {
    const Turned *row = &turneds[_i];
    uint64_t seed = 300 + (uint64_t)_i;
    Vec3 none = vec3(0.0, 0.0, 0.0);
    int through = 0, turned = 0, given_up = 0;
    for (int shot = 0; shot < shot_count(); shot++) {
        Lab lab = lab_create(9.81, 1.0 / 240.0);
        lab.world->settings.margin = settings_default().margin;
        Thing plate = {
            PRIMITIVE_BOX, {plate_half, plate_half, 0.5 * plate_thickness}, quat_identity()};
        Thing thing = random_thing(&seed, row->kind);
        Thing other = random_thing(&seed, row->is_kicked ? PRIMITIVE_SPHERE : PRIMITIVE_BOX);
        double height = extent(&thing, vec3(0.0, 0.0, 1.0)) + lab_random(&seed, 0.01, 0.3);
        Vec3 place = vec3(lab_random(&seed, -0.2, 0.2), lab_random(&seed, -0.2, 0.2), height);
        Vec3 at = place_other(&seed, &other, &thing, place);
        double speed = random_scale(&seed, 1.0, 1e4);
        Vec3 toward = vec3_sub(at, place);
        toward = vec3_scale(speed / vec3_norm(toward), toward);
        uint32_t wall = add_thing(&lab, &plate, BODY_STATIC, none, none, none);
        uint32_t body =
            add_thing(&lab, &thing, BODY_DYNAMIC, place, row->is_kicked ? none : toward, none);
        add_thing(&lab, &other, row->is_kicked ? BODY_DYNAMIC : BODY_STATIC, at,
                  row->is_kicked ? vec3_neg(toward) : none, none);
        Vec3 before = lab_velocity(&lab, body);
        for (int step = 0; step < 20; step++) {
            Vec3 from = in_plate(&lab, wall, body);
            lab_step(&lab, 1);
            if (goes_through(from, in_plate(&lab, wall, body))) {
                // a solver that gives up says so in its report
                through += lab.report.certificate.converged ? 1 : 0;
                given_up += lab.report.certificate.converged ? 0 : 1;
                break;
            }
        }
        turned += vec3_norm(vec3_sub(lab_velocity(&lab, body), before)) > 0.1 * speed ? 1 : 0;
        lab_destroy(&lab);
    }
    ck_assert_msg(through == 0 && turned > shot_count() / 2 && given_up <= shot_count() / 100,
                  "%s: %d of %d went through, %d turned, %d unconverged", row->name, through,
                  shot_count(), turned, given_up);
}
END_TEST

static TCase *case_misses(void) {
    TCase *tcase = tcase_create("misses");
    tcase_set_timeout(tcase, 600.0);
    tcase_add_loop_test(tcase, what_misses_keeps_its_velocity, 0,
                        sizeof(passings) / sizeof(passings[0]));
    tcase_add_test(tcase, a_ball_that_passes_5_cm_clear_at_100_m_s_keeps_its_energy);
    return tcase;
}

static TCase *case_hits(void) {
    TCase *tcase = tcase_create("hits");
    tcase_set_timeout(tcase, 600.0);
    tcase_add_loop_test(tcase, what_hits_does_not_tunnel, 0, sizeof(shots) / sizeof(shots[0]));
    tcase_add_loop_test(tcase, what_a_third_body_turns_does_not_tunnel, 0,
                        sizeof(turneds) / sizeof(turneds[0]));
    return tcase;
}

SUITE_MAIN("step/approach", case_misses, case_hits)
