// SPDX-License-Identifier: MIT
// Whom a fast body may hit looks farther for what it may be pushed to, and whom it may hit is no
// matter of the world's axes: boxes along these overlap, or do not, as the world is turned.
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

enum { HERTZ = 240, TURNS = 40 };

static const double speed = 20.0, way = 20.0 / HERTZ; // of what flies, in a step [m]

// What flies up along z, past a body at rest at the origin, or into it from below.
typedef struct Flight {
    const char *name;
    PrimitiveKind rests, flies;
    Vec3 size, size_flies;
    BodyKind kind;    // of what flies
    Vec3 past;        // where it goes past
    bool is_edgeways; // then
    double below;     // or hits
} Flight;

// Farther from each other than they come, 0.083 m, but each in the ball around the other one.
static const Flight flights[] = {
    {"a ball and a box",
     PRIMITIVE_BOX,
     PRIMITIVE_SPHERE,
     {0.5, 0.02, 0.02},
     {0.02, 0.0, 0.0},
     BODY_DYNAMIC,
     {0.0, -0.3, -0.25},
     false,
     0.11},
    {"a ball and a capsule",
     PRIMITIVE_CAPSULE,
     PRIMITIVE_SPHERE,
     {0.02, 0.48, 0.0},
     {0.02, 0.0, 0.0},
     BODY_DYNAMIC,
     {0.0, -0.3, -0.25},
     false,
     0.11},
    {"a box and a cylinder",
     PRIMITIVE_CYLINDER,
     PRIMITIVE_BOX,
     {0.02, 0.48, 0.0},
     {0.02, 0.02, 0.02},
     BODY_DYNAMIC,
     {0.0, -0.3, -0.25},
     false,
     0.11},
    {"a plate and a ball",
     PRIMITIVE_SPHERE,
     PRIMITIVE_BOX,
     {0.02, 0.0, 0.0},
     {0.5, 0.5, 0.02},
     BODY_KINEMATIC,
     {0.0, -0.3, -0.2},
     true,
     0.11},
    {"a surface and a ball",
     PRIMITIVE_SPHERE,
     PRIMITIVE_MESH,
     {0.02, 0.0, 0.0},
     {0.5, 0.5, 0.0},
     BODY_KINEMATIC,
     {0.0, -0.3, -0.2},
     true,
     0.09},
};
enum { FLIGHTS = sizeof(flights) / sizeof(flights[0]) };

static Id add_shape(Lab *lab, PrimitiveKind kind, Vec3 size) {
    if (kind != PRIMITIVE_MESH) {
        return lab_shape(lab, kind, size, 0);
    }
    const Vec3 point[4] = {{-size.x, -size.y, 0.0},
                           {size.x, -size.y, 0.0},
                           {size.x, size.y, 0.0},
                           {-size.x, size.y, 0.0}};
    const uint32_t corner[6] = {0, 1, 2, 0, 2, 3};
    const MeshForm form = {.point = point,
                           .point_count = 4,
                           .corner = corner,
                           .triangle_count = 2,
                           .is_two_sided = true};
    return lab_mesh(lab, &form, 0);
}

// What lies along its own z lies along x.
static Quat lying(PrimitiveKind kind) {
    const bool is_along = kind == PRIMITIVE_CAPSULE || kind == PRIMITIVE_CYLINDER;
    return is_along ? (Quat){sqrt(0.5), 0.0, sqrt(0.5), 0.0} : quat_identity();
}

typedef enum Place { ABOVE, ASIDE } Place;

static const Quat edgeways = {0.70710678118654752, 0.70710678118654752, 0.0, 0.0};

// A wall above the body at rest, where it goes when it is hit, or beside it, where it does not:
// farther than its own motion comes, but no farther, any way round, than it may be pushed.
static Pose wall_at(const Flight *flight, Place place) {
    const double half = 0.1;
    const double side = flight->rests == PRIMITIVE_SPHERE ? flight->size.x : 0.5;
    return place == ABOVE
               ? (Pose){vec3(0.0, 0.0, 0.02 + 0.8 * way + half), quat_identity()}
               : (Pose){vec3(side + 0.7 * way + half, 0.0, 0.0), lying(PRIMITIVE_CAPSULE)};
}

static uint32_t count_contacts(const Flight *flight, bool hits, Place place, Quat turn) {
    Lab lab = lab_create(0.0, 1.0 / HERTZ);
    const Pose seen = {vec3(0.3, -0.2, 0.7), turn};
    const Vec3 up = quat_rotate(turn, vec3(0.0, 0.0, speed));
    const double velocity[6] = {up.x, up.y, up.z};
    const Pose rests = {vec3(0.0, 0.0, 0.0), lying(flight->rests)};
    const Pose flies = {hits ? vec3(0.0, 0.0, -flight->below) : flight->past,
                        !hits && flight->is_edgeways ? edgeways : quat_identity()};
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(1.0, 1.0, 0.1), 0), BODY_STATIC,
             pose_compose(seen, wall_at(flight, place)), NULL, 0.0, NULL);
    lab_body(&lab, add_shape(&lab, flight->rests, flight->size), BODY_DYNAMIC,
             pose_compose(seen, rests), NULL, 1.0, NULL);
    lab_body(&lab, add_shape(&lab, flight->flies, flight->size_flies), flight->kind,
             pose_compose(seen, flies), velocity, flight->kind == BODY_DYNAMIC ? 1.0 : 0.0, NULL);
    lab_step(&lab, 1);
    const uint32_t count = lab.report.contact_count;
    lab_destroy(&lab);
    return count;
}

static Quat any_turn(uint64_t *seed) {
    Quat turn;
    do {
        turn = (Quat){lab_random(seed, -1.0, 1.0), lab_random(seed, -1.0, 1.0),
                      lab_random(seed, -1.0, 1.0), lab_random(seed, -1.0, 1.0)};
    } while (quat_norm(turn) < 0.1 || quat_norm(turn) > 1.0);
    return quat_normalize(turn);
}

START_TEST(what_flies_past_pushes_nobody) {
    uint64_t seed = 500;
    for (int i = 0; i < TURNS; i++) {
        const uint32_t count = count_contacts(&flights[_i], false, ABOVE, any_turn(&seed));
        ck_assert_msg(count == 0, "%s: %u contacts in turn %d", flights[_i].name, count, i);
    }
}
END_TEST

// What is hit meets the wall in its way; a wall beside it is none that it could be pushed to, and
// then the contacts are those of the two alone.
START_TEST(what_is_hit_looks_as_far_in_any_world) {
    const Flight *flight = &flights[_i];
    const uint32_t above = count_contacts(flight, true, ABOVE, quat_identity()),
                   aside = count_contacts(flight, true, ASIDE, quat_identity());
    uint64_t seed = 600;
    ck_assert_uint_ge(aside, 1);
    ck_assert_uint_gt(above, aside);
    for (int i = 0; i < TURNS; i++) {
        const Quat turn = any_turn(&seed);
        const uint32_t now[2] = {count_contacts(flight, true, ABOVE, turn),
                                 count_contacts(flight, true, ASIDE, turn)};
        ck_assert_msg(now[0] == above && now[1] == aside,
                      "%s: %u contacts and %u in turn %d, %u and %u upright", flight->name, now[0],
                      now[1], i, above, aside);
    }
}
END_TEST

static TCase *case_pushed(void) {
    TCase *tcase = tcase_create("pushed");
    tcase_add_loop_test(tcase, what_flies_past_pushes_nobody, 0, FLIGHTS);
    tcase_add_loop_test(tcase, what_is_hit_looks_as_far_in_any_world, 0, FLIGHTS);
    return tcase;
}

SUITE_MAIN("step/pushed", case_pushed)
