// SPDX-License-Identifier: MIT
// Floors made of tiles are floors: what slides or rolls over a seam keeps its closed form, and what
// is thrown over tiles moves as over one slab. MOREAU_SCENES says how many random scenes (default:
// a few).
#include "step/step.h"

#include "support/hull_build.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCENES = 8 };

static int scene_count(void) {
    const char *text = getenv("MOREAU_SCENES");
    return text == NULL ? SCENES : atoi(text);
}

static const double h = 1.0 / 240.0;
static const double gravity = 9.81;

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static Lab make_lab(void) {
    Lab lab = lab_create(gravity, h);
    lab.world->settings.margin = settings_default().margin;
    lab_set(&lab, "tolerance", 1e-12);
    lab_set(&lab, "max_iterations", 10000);
    lab_set(&lab, "friction", 1.0); // Coulomb
    return lab;
}

// How a floor along x is made, its top at z = 0.
typedef enum FloorKind {
    FLOOR_SLAB,
    FLOOR_TILES,    // static bodies
    FLOOR_DYNAMIC,  // the same, heavy, on a slab below
    FLOOR_COMPOUND, // one body of many boxes
    FLOOR_KIND_COUNT
} FloorKind;

enum { TILES = 12 };
static const double tile_half = 0.5;

static void add_compound(Lab *lab, Id material, double lip) {
    uint32_t kinds[TILES], count = TILES;
    double sizes[3 * TILES], poses[7 * TILES];
    uint64_t materials[TILES];
    for (int i = 0; i < TILES; i++) {
        kinds[i] = PRIMITIVE_BOX;
        vec3_store(sizes + 3 * i, vec3(tile_half, 2.0, 0.1));
        pose_store(poses + 7 * i, at(2.0 * tile_half * (i - 1), 0.0, lip * (i % 2) - 0.1));
        materials[i] = material;
    }
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = TILES,
                            .primitives_of_shape = &count,
                            .kind = kinds,
                            .size = sizes,
                            .pose = poses,
                            .material = materials};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab->world, &columns, &id, &error) == STATUS_OK, "%s",
                  error.message);
    lab_body(lab, id, BODY_STATIC, at(0.0, 0.0, 0.0), NULL, 0.0, NULL);
}

// Every other tile is higher by `lip`; all are as many times as large.
static void add_tiles(Lab *lab, BodyKind kind, double mass, Id material, double lip, double times) {
    const Vec3 half = vec3_scale(times, vec3(tile_half, 2.0, 0.1));
    const Id tile = lab_shape(lab, PRIMITIVE_BOX, half, material);
    for (int i = 0; i < TILES; i++) {
        lab_body(lab, tile, kind, at(2.0 * half.x * (i - 1), 0.0, lip * (i % 2) - half.z), NULL,
                 mass, NULL);
    }
}

static void add_floor(Lab *lab, FloorKind kind, Id material, double lip) {
    // hundreds of contacts that share the weight of many tiles take long to agree on it
    lab_set(lab, "tolerance", kind == FLOOR_DYNAMIC ? 1e-8 : 1e-12);
    if (kind == FLOOR_SLAB) {
        Vec3 size = vec3(TILES * tile_half, 2.0, 0.1);
        lab_body(lab, lab_shape(lab, PRIMITIVE_BOX, size, material), BODY_STATIC,
                 at((TILES - 3) * tile_half, 0.0, -0.1), NULL, 0.0, NULL);
        return;
    }
    if (kind == FLOOR_COMPOUND) {
        add_compound(lab, material, lip);
        return;
    }
    if (kind == FLOOR_DYNAMIC) {
        Id below = lab_shape(lab, PRIMITIVE_BOX, vec3(TILES, 4.0, 0.1), material);
        lab_body(lab, below, BODY_STATIC, at(0.0, 0.0, -0.3), NULL, 0.0, NULL);
        add_tiles(lab, BODY_DYNAMIC, 50.0, material, lip, 1.0);
        return;
    }
    add_tiles(lab, BODY_STATIC, 0.0, material, lip, 1.0);
}

typedef struct Slide {
    FloorKind floor;
    double lip; // of the box's half edge
    double speed;
} Slide;

static const Slide slides[] = {
    {FLOOR_SLAB, 0.0, 2.0},     {FLOOR_SLAB, 0.0, 5.0},     {FLOOR_TILES, 0.0, 2.0},
    {FLOOR_TILES, 0.0, 5.0},    {FLOOR_TILES, 1e-5, 2.0},   {FLOOR_TILES, -1e-5, 5.0},
    {FLOOR_COMPOUND, 0.0, 2.0}, {FLOOR_COMPOUND, 0.0, 5.0}, {FLOOR_COMPOUND, 1e-5, 5.0},
    {FLOOR_DYNAMIC, 0.0, 2.0},  {FLOOR_DYNAMIC, 0.0, 5.0},
};

START_TEST(a_box_slides_over_seams_as_over_one_slab) {
    const Slide *slide = &slides[_i];
    const double half = 0.1, mu = 0.3;
    Lab lab = make_lab();
    Id material = lab_material(&lab, mu, 0.0);
    add_floor(&lab, slide->floor, material, slide->lip * half);
    double velocity[6] = {slide->speed, 0.0, 0.0, 0.0, 0.0, 0.0};
    uint32_t box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(half, half, half), material),
                            BODY_DYNAMIC, at(0.0, 0.3, half), velocity, 1.0, NULL);
    double top = 0.0;
    int steps = (int)(0.9 * slide->speed / (mu * gravity * h));
    for (int i = 1; i <= steps; i++) {
        lab_step(&lab, 1);
        // v_n = v_0 - n mu g h: friction takes the same from every step
        double wanted = slide->speed - i * mu * gravity * h;
        double got = lab_velocity(&lab, box).x;
        ck_assert_msg(fabs(got - wanted) <= 1e-6 * slide->speed + 1e-6 || slide->lip != 0.0,
                      "step %d: %.9g, wanted %.9g m/s at x %g", i, got, wanted,
                      lab_position(&lab, box).x);
        top = fmax(top, lab_position(&lab, box).z - half);
    }
    double wanted = slide->speed - steps * mu * gravity * h;
    double got = lab_velocity(&lab, box).x;
    ck_assert_msg(fabs(got - wanted) <= (slide->lip == 0.0 ? 1e-6 : 1e-4) * slide->speed,
                  "in the end: %.9g, wanted %.9g m/s", got, wanted);
    ck_assert_msg(top <= 2.0 * fabs(slide->lip) * half + 1e-7, "hops %g m", top);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_ball_rolls_over_seams_as_over_one_slab) {
    const Slide *slide = &slides[_i];
    const double radius = 0.1;
    Lab lab = make_lab();
    Id material = lab_material(&lab, 0.5, 0.0);
    add_floor(&lab, slide->floor, material, slide->lip * radius);
    double velocity[6] = {slide->speed, 0.0, 0.0, 0.0, slide->speed / radius, 0.0};
    uint32_t ball =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0), material),
                 BODY_DYNAMIC, at(0.0, 0.3, radius), velocity, 1.0, NULL);
    double top = 0.0;
    int steps = (int)(8.0 / (slide->speed * h));
    for (int i = 1; i <= steps; i++) {
        lab_step(&lab, 1);
        double got = lab_velocity(&lab, ball).x;
        // a contact lies midway between the surfaces: while a lip is an overlap or a gap, the arm
        // of friction is off by half of it, and a ball gives 2/7 of the slip to its speed
        ck_assert_msg(fabs(got - slide->speed) <= (1e-6 + fabs(slide->lip)) * slide->speed,
                      "step %d: %.9g, wanted %.9g m/s at x %g", i, got, slide->speed,
                      lab_position(&lab, ball).x);
        top = fmax(top, lab_position(&lab, ball).z - radius);
    }
    ck_assert_msg(top <= 2.0 * fabs(slide->lip) * radius + 1e-7, "hops %g m", top);
    lab_destroy(&lab);
}
END_TEST

// ---- lips

// Lips of large tiles are higher than the boxes of the broad phase are grown by.
static const struct {
    double part, times;
} mounted[] = {{1e-4, 1.0},  {3e-4, 1.0},  {6e-4, 1.0},  {9e-4, 1.0},
               {1e-4, 50.0}, {3e-4, 50.0}, {6e-4, 50.0}, {9e-4, 50.0}};

START_TEST(a_lip_below_a_thousandth_of_the_box_is_mounted) {
    const double times = mounted[_i].times, half = 0.1 * times, lip = mounted[_i].part * half;
    const double slower = sqrt(times), speed = 3.0 * slower; // as large things move
    Lab lab = make_lab();
    Id material = lab_material(&lab, 0.0, 0.0);
    add_tiles(&lab, BODY_STATIC, 0.0, material, lip, times);
    double velocity[6] = {speed, 0.0, 0.0, 0.0, 0.0, 0.0};
    uint32_t box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(half, half, half), material),
                            BODY_DYNAMIC, at(times, 0.3 * times, half), velocity, 1.0, NULL);
    double top = 0.0;
    for (int i = 0; i < (int)(400.0 * slower); i++) {
        lab_step(&lab, 1);
        top = fmax(top, lab_position(&lab, box).z - half);
    }
    // four lips up and down again; each takes nothing but what turning about its edge costs
    ck_assert_double_eq_tol(lab_velocity(&lab, box).x, speed, 0.01 * speed);
    // the overlap leaves within a step at lip/h at most, a throw of (lip/h)^2/2g more
    double throw = lip / h * lip / h / (2.0 * gravity);
    ck_assert_double_le(top, 1.1 * (lip + throw) + gravity * h * h);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_lip_above_that_stops_the_box) {
    const double half = 0.1;
    Lab lab = make_lab();
    Id material = lab_material(&lab, 0.0, 0.0);
    add_floor(&lab, FLOOR_TILES, material, 0.02 * half);
    double velocity[6] = {3.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    uint32_t box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(half, half, half), material),
                            BODY_DYNAMIC, at(1.0, 0.3, half), velocity, 1.0, NULL);
    lab_step(&lab, 60);
    ck_assert_double_lt(lab_velocity(&lab, box).x, 2.0);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_wall_on_a_floor_still_stops_the_box) {
    Lab lab = make_lab();
    Id material = lab_material(&lab, 0.0, 0.0);
    add_floor(&lab, FLOOR_TILES, material, 0.0);
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 2.0, 1.0), material), BODY_STATIC,
             at(3.0, 0.0, 1.0), NULL, 0.0, NULL);
    double velocity[6] = {3.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    uint32_t box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), material),
                            BODY_DYNAMIC, at(1.0, 0.3, 0.12), velocity, 1.0, NULL);
    lab_step(&lab, 240);
    ck_assert_double_le(lab_position(&lab, box).x, 2.4 + 1e-6);
    ck_assert_double_eq_tol(lab_position(&lab, box).z, 0.1, 1e-6);
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_flies_into_a_corner_stays_in_it) {
    // floor and wall, each of tiles: neither hides the other
    uint64_t seed = 600 + (uint64_t)_i;
    PrimitiveKind kind = _i == 0 ? PRIMITIVE_SPHERE : PRIMITIVE_BOX;
    for (int shot = 0; shot < 50 * scene_count(); shot++) {
        Lab lab = make_lab();
        lab_set(&lab, "tolerance", 1e-8);
        lab_set(&lab, "max_iterations", 1000);
        Id tile = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.05), 0);
        Id upright = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.05, 0.5, 0.5), 0);
        for (int i = 0; i < 4; i++) {
            lab_body(&lab, tile, BODY_STATIC, at(i % 2 - 0.5, i / 2 - 0.5, -0.05), NULL, 0.0, NULL);
            lab_body(&lab, upright, BODY_STATIC, at(1.05, i % 2 - 0.5, i / 2 + 0.5), NULL, 0.0,
                     NULL);
        }
        double speed = pow(10.0, lab_random(&seed, 0.0, 4.0)), slope = lab_random(&seed, 0.1, 1.4);
        double velocity[6] = {
            speed * cos(slope), lab_random(&seed, -0.1, 0.1), -speed * sin(slope), 0.0, 0.0, 0.0};
        Vec3 size = vec3(0.05, 0.04, 0.03);
        uint32_t body = lab_body(&lab, lab_shape(&lab, kind, size, 0), BODY_DYNAMIC,
                                 at(lab_random(&seed, 0.0, 0.9), lab_random(&seed, -0.2, 0.2),
                                    lab_random(&seed, 0.06, 1.0)),
                                 velocity, 1.0, NULL);
        bool converged = true;
        for (int step = 0; step < 3 && converged; step++) {
            lab_step(&lab, 1);
            converged = lab.report.certificate.converged;
        }
        Vec3 end = lab_position(&lab, body);
        ck_assert_msg(!converged || (end.x < 1.0 && end.z > 0.0), "shot %d at %g m/s ends at %g %g",
                      shot, speed, end.x, end.z);
        lab_destroy(&lab);
    }
}
END_TEST

// Solids on one spot hide all faces of each other: then there is no way out but through them, and
// the way that they would take alone is as good as any. Nothing is as deep as where a hidden face
// goes on.
START_TEST(what_overlaps_is_no_deeper_than_it_is_thick) {
    enum { BODIES = 12 };
    const double thick = 2.0 * sqrt(3.0) * 0.1; // two boxes' half diagonals
    uint64_t seed = 700;
    int contacts = 0;
    for (int scene = 0; scene < 10 * scene_count(); scene++) {
        Lab lab = make_lab();
        lab_set(&lab, "budget", 1e4); // what lies where is asked, not what it does
        for (int i = 0; i < BODIES; i++) {
            const Vec3 size = vec3(lab_random(&seed, 0.04, 0.1), lab_random(&seed, 0.04, 0.1),
                                   lab_random(&seed, 0.04, 0.1));
            Pose pose = at(lab_random(&seed, -0.1, 0.1), lab_random(&seed, -0.1, 0.1),
                           lab_random(&seed, -0.1, 0.1));
            pose.orientation =
                quat_normalize((Quat){1.0, lab_random(&seed, -0.1, 0.1),
                                      lab_random(&seed, -0.1, 0.1), lab_random(&seed, -0.1, 0.1)});
            lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, size, 0), BODY_DYNAMIC, pose, NULL, 1.0,
                     NULL);
        }
        lab_step(&lab, 1);
        for (uint32_t i = 0; i < lab.stepper->contact_count; i++, contacts++) {
            ck_assert_double_ge(lab.stepper->problem.contact[i].gap, -2.0 * thick);
        }
        lab_destroy(&lab);
    }
    ck_assert_int_gt(contacts, 1000);
}
END_TEST

// Three of a heap that lands in a bowl, each 0.1 m large, as they were: the wedge lies before the
// face by which the cylinder and the box touch, which overlap by half a millimetre. Out of the face
// that goes on behind it they would have been pushed by 0.114 m.
typedef struct Fallen {
    PrimitiveKind kind;
    Vec3 size;
    Pose pose;
    double velocity[6];
} Fallen;

static const Fallen fallen[] = {
    {PRIMITIVE_CYLINDER,
     {0.048, 0.042, 0.0},
     {{0.7096512416808267, 0.021899399319617437, 0.3237380326088393},
      {0.06746230955024486, 0.8879647359038926, 0.15017461064613782, 0.4294357354698816}},
     {-0.1625519852559801, 0.08218358491741382, -0.16680785595447256, -1.3410859524206367,
      -5.597007331000964, -3.0644877659956076}},
    {PRIMITIVE_BOX,
     {0.06, 0.045, 0.036},
     {{0.6533230775649741, 0.01097441714992968, 0.4232659267523223},
      {0.18162602927827357, -0.2973522461971575, -0.4890674350616001, 0.7996290834708181}},
     {-0.6574378494290088, 0.3301239265648694, -0.2824632659649504, -1.6757285436817293,
      -2.452105666300729, -1.827795205139386}},
    {PRIMITIVE_HULL,
     {0.0, 0.0, 0.0},
     {{0.6360240448752186, -0.0045148626378128465, 0.3482403639535608},
      {-0.03168374284988004, -0.15745846677032382, 0.9650556575539951, -0.20705204540015448}},
     {-0.21708489973432754, 0.17423753850011828, -0.4949420841256028, -1.6085012725172216,
      -4.57989191319181, 3.2203380702146633}}};
static const Vec3 wedge[] = {{-0.06, -0.048, -0.03}, {0.06, -0.048, -0.03}, {0.0, -0.048, 0.06},
                             {-0.06, 0.048, -0.03},  {0.06, 0.048, -0.03},  {0.0, 0.048, 0.06}};

START_TEST(who_lies_before_a_face_turns_no_contact_around) {
    const Quat turn = _i == 0 ? quat_identity() : quat_normalize((Quat){0.3, -0.7, 0.5, 0.4});
    const Mat3 axes = quat_to_mat3(turn);
    Lab lab = make_lab();
    HullForm form = hull_form_of_points(wedge, 6);
    for (size_t i = 0; i < sizeof(fallen) / sizeof(fallen[0]); i++) {
        const Fallen *of = &fallen[i];
        const Id shape = of->kind == PRIMITIVE_HULL ? lab_hull(&lab, &form, 0)
                                                    : lab_shape(&lab, of->kind, of->size, 0);
        const Pose pose = {mat3_mul_vec(axes, of->pose.position),
                           quat_mul(turn, of->pose.orientation)};
        double velocity[6];
        for (int k = 0; k < 6; k += 3) {
            vec3_store(velocity + k, mat3_mul_vec(axes, vec3_load(of->velocity + k)));
        }
        lab_body(&lab, shape, BODY_DYNAMIC, pose, velocity, 1.0, NULL);
    }
    hull_form_free(&form);
    lab_step(&lab, 1);
    ck_assert_uint_ge(lab.stepper->contact_count, 2);
    for (uint32_t i = 0; i < lab.stepper->contact_count; i++) { // a tenth of a body: none is deeper
        ck_assert_double_ge(lab.stepper->problem.contact[i].gap, -0.01);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- thrown over tiles

// Flat boxes, which slide and do not tip: where more contacts than needed share the friction of an
// edge that lands, no law says which share each has, and one slab has fewer of them.
typedef struct Throw {
    PrimitiveKind kind;
    Vec3 size;
    Pose pose;
    double velocity[6];
    double friction;
} Throw;

static Throw random_throw(uint64_t *seed, PrimitiveKind kind) {
    double s = lab_random(seed, 0.03, 0.2);
    Throw thrown = {.kind = kind,
                    .size =
                        vec3(s, s * lab_random(seed, 0.5, 1.0), s * lab_random(seed, 0.15, 0.4)),
                    .friction = lab_random(seed, 0.0, 1.0)};
    double turn = lab_random(seed, -1.0, 1.0);
    double rest = kind == PRIMITIVE_SPHERE ? s : thrown.size.z;
    thrown.pose = (Pose){vec3(lab_random(seed, -1.0, 1.0), lab_random(seed, -1.0, 1.0),
                              rest + lab_random(seed, 0.0, 0.2)),
                         quat_normalize((Quat){1.0, 0.0, 0.0, turn})};
    for (int i = 0; i < 2; i++) {
        thrown.velocity[i] = lab_random(seed, -8.0, 8.0);
    }
    thrown.velocity[2] = lab_random(seed, -3.0, 1.0);
    for (int i = 3; i < 6 && kind == PRIMITIVE_SPHERE; i++) {
        thrown.velocity[i] = lab_random(seed, -30.0, 30.0);
    }
    return thrown;
}

// One slab, or the same floor in square tiles.
static Lab throw_over(const Throw *thrown, double tile) {
    const double half = 3.0, thick = 0.1;
    Lab lab = make_lab();
    Id material = lab_material(&lab, thrown->friction, 0.0);
    int count = tile > 0.0 ? (int)(2.0 * half / tile) : 1;
    double side = 2.0 * half / count;
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5 * side, 0.5 * side, thick), material);
    for (int i = 0; i < count * count; i++) {
        double x = -half + (i % count + 0.5) * side;
        double y = -half + ((double)(i / count) + 0.5) * side;
        lab_body(&lab, shape, BODY_STATIC, at(x, y, -thick), NULL, 0.0, NULL);
    }
    lab_body(&lab, lab_shape(&lab, thrown->kind, thrown->size, material), BODY_DYNAMIC,
             thrown->pose, thrown->velocity, 1.0, NULL);
    return lab;
}

static bool is_on_floor(const Lab *lab) {
    Vec3 p = lab_position(lab, lab->world->body_count - 1);
    return fabs(p.x) < 2.6 && fabs(p.y) < 2.6;
}

START_TEST(what_is_thrown_over_tiles_moves_as_over_one_slab) {
    uint64_t seed = 500 + (uint64_t)_i;
    PrimitiveKind kind = _i == 0 ? PRIMITIVE_SPHERE : PRIMITIVE_BOX;
    for (int scene = 0; scene < scene_count(); scene++) {
        Throw thrown = random_throw(&seed, kind);
        Lab slab = throw_over(&thrown, 0.0);
        Lab tiles = throw_over(&thrown, lab_random(&seed, 0.35, 2.0));
        for (int step = 0; step < 120 && is_on_floor(&slab); step++) {
            lab_step(&slab, 1);
            lab_step(&tiles, 1);
            uint32_t a = slab.world->body_count - 1, b = tiles.world->body_count - 1;
            double off = vec3_norm(vec3_sub(lab_velocity(&slab, a), lab_velocity(&tiles, b)));
            ck_assert_msg(off <= 1e-6 * (1.0 + vec3_norm(lab_velocity(&slab, a))),
                          "scene %d, step %d: %g m/s from that over one slab", scene, step, off);
        }
        lab_destroy(&slab);
        lab_destroy(&tiles);
    }
}
END_TEST

static TCase *case_thrown(void) {
    TCase *tcase = tcase_create("thrown");
    tcase_set_timeout(tcase, 600.0);
    tcase_add_test(tcase, what_overlaps_is_no_deeper_than_it_is_thick);
    tcase_add_loop_test(tcase, who_lies_before_a_face_turns_no_contact_around, 0, 2);
    tcase_add_loop_test(tcase, what_flies_into_a_corner_stays_in_it, 0, 2);
    tcase_add_loop_test(tcase, what_is_thrown_over_tiles_moves_as_over_one_slab, 0, 2);
    return tcase;
}

static TCase *case_closed_forms(void) {
    TCase *tcase = tcase_create("closed forms");
    tcase_set_timeout(tcase, 120.0);
    int count = sizeof(slides) / sizeof(slides[0]);
    tcase_add_loop_test(tcase, a_box_slides_over_seams_as_over_one_slab, 0, count);
    tcase_add_loop_test(tcase, a_ball_rolls_over_seams_as_over_one_slab, 0, count);
    tcase_add_loop_test(tcase, a_lip_below_a_thousandth_of_the_box_is_mounted, 0,
                        sizeof(mounted) / sizeof(mounted[0]));
    tcase_add_test(tcase, a_lip_above_that_stops_the_box);
    tcase_add_test(tcase, a_wall_on_a_floor_still_stops_the_box);
    return tcase;
}

SUITE_MAIN("step/seams", case_closed_forms, case_thrown)
