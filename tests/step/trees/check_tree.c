// SPDX-License-Identifier: MIT
// The kernel of articulated trees alone: where links are, how they move, what forces their motion
// takes, and the way back, against finite differences, sums over bodies and closed forms.
#include "step/trees/tree.h"

#include "step/trees/axes.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MAX = 24, WIDTH_MAX = 6 * LINKS_MAX, POSITIONS_MAX = 7 * LINKS_MAX };

// A tree with nothing around it.
typedef struct Model {
    WorldTrees trees;
    uint32_t body_count, joint_count;
    uint8_t kind[LINKS_MAX + 1];
    Joint joint[LINKS_MAX];
    BodyMass mass[LINKS_MAX + 1];
    TreeView view;
    TreeWork work;
    void *memory;
    double q[POSITIONS_MAX], v[WIDTH_MAX];
} Model;

static Vec3 random_vec(uint64_t *seed, double size) {
    double x = lab_random(seed, -size, size), y = lab_random(seed, -size, size);
    return vec3(x, y, lab_random(seed, -size, size));
}

static Quat random_quat(uint64_t *seed) {
    Vec3 v = random_vec(seed, 1.0);
    return quat_normalize((Quat){0.2 + lab_random(seed, 0.0, 1.0), v.x, v.y, v.z});
}

static BodyMass random_mass(uint64_t *seed) {
    // of three masses on the axes: any such is a body
    double x = lab_random(seed, 0.1, 1.0), y = lab_random(seed, 0.1, 1.0),
           z = lab_random(seed, 0.1, 1.0);
    Sym3 inertia =
        sym3_rotate(quat_to_mat3(random_quat(seed)), (Sym3){y + z, x + z, x + y, 0.0, 0.0, 0.0});
    return (BodyMass){.mass = lab_random(seed, 0.5, 5.0), .inertia = inertia};
}

static void finish(Model *model) {
    ck_assert(trees_reserve(&model->trees, model->body_count, model->joint_count));
    const TreeSource source = {model->body_count, model->joint_count, model->kind, model->joint};
    trees_build(&model->trees, &source);
    ck_assert_uint_eq(model->trees.tree_count, 1);
    model->view = tree_view(&model->trees, 0, model->joint);
    model->memory = calloc(1, tree_work_bytes(model->view.tree));
    tree_work_take(&model->work, model->view.tree, model->memory);
}

static void drop(Model *model) {
    free(model->memory);
    trees_deinit(&model->trees);
}

// Any axes but none; every 7th joint is fixed.
static uint8_t random_axes(uint64_t *seed) {
    return lab_random(seed, 0.0, 7.0) < 1.0 ? 0 : (uint8_t)lab_random(seed, 1.0, 64.0);
}

// Links hang on any one before them; body 0 floats, or hangs on the world, or on body `links`,
// which moves.
static void make_random(Model *model, uint64_t *seed, uint32_t links, uint32_t base) {
    *model = (Model){.body_count = links + 1};
    model->kind[links] = BODY_KINEMATIC;
    for (uint32_t i = 0; i < links; i++) {
        model->kind[i] = BODY_DYNAMIC;
        model->mass[i] = random_mass(seed);
        if (i == 0 && base == JOINT_NONE - 1) {
            continue;
        }
        uint32_t parent = i == 0 ? base : (uint32_t)lab_random(seed, 0.0, (double)i);
        model->joint[model->joint_count++] =
            (Joint){.body = {parent, i},
                    .axes = random_axes(seed),
                    .frame = {{random_vec(seed, 0.5), random_quat(seed)},
                              {random_vec(seed, 0.5), random_quat(seed)}}};
    }
    finish(model);
    if (base == links) {
        model->view.base = (Pose){random_vec(seed, 2.0), random_quat(seed)};
        model->view.base_velocity = random_vec(seed, 1.0);
        model->view.base_spin = random_vec(seed, 1.0);
    }
    for (uint32_t i = 0; i < links; i++) {
        const TreeLink *link = &model->view.link[i];
        double *q = model->q + link->place;
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            q[k] = lab_random(seed, -1.0, 1.0);
            model->v[link->first + k] = lab_random(seed, -1.0, 1.0);
        }
        if (link->turns == 3) {
            Quat turn = random_quat(seed);
            memcpy(q + link->moves, &turn, 4 * sizeof(double));
        }
    }
    tree_place(&model->view, model->q, model->work.frame);
    tree_move(&model->view, model->v, model->work.frame);
    tree_weigh(&model->view, model->mass, &model->work);
}

enum { BASE_FLOATS, BASE_WORLD, BASE_MOVES, BASE_COUNT, SEEDS = 60 };

static void make_case(Model *model, int i, uint64_t *seed) {
    *seed = 1000 + (uint64_t)i;
    uint32_t links = 1 + (uint32_t)lab_random(seed, 0.0, LINKS_MAX - 1);
    int base = i % BASE_COUNT;
    if (base == BASE_FLOATS && links == 1) {
        links = 2; // a floating body alone is no tree
    }
    make_random(model, seed, links,
                base == BASE_FLOATS  ? JOINT_NONE - 1
                : base == BASE_WORLD ? JOINT_NO_BODY
                                     : links);
}

// ---- motion

// Central differences over 2 e are right to e^2 times third derivatives of some 1e3 (two dozen
// links one behind the other, all turning), and 1e-16 / e of rounding.
#define STEP        1e-5
#define DIFFERENCES 1e-5

// The tree, and what it hangs on, a time later, at velocities that change evenly.
static void place_later(const Model *model, const double *change, double time, TreeFrame *frame) {
    TreeView view = model->view;
    double q[POSITIONS_MAX], mean[WIDTH_MAX], v[WIDTH_MAX];
    for (uint32_t k = 0; k < view.tree->width; k++) {
        mean[k] = model->v[k] + 0.5 * time * change[k];
        v[k] = model->v[k] + time * change[k];
    }
    view.base.position = vec3_add_scaled(view.base.position, time, view.base_velocity);
    view.base.orientation = quat_turn(view.base.orientation, view.base_spin, time);
    tree_advance(&view, model->q, mean, time, q);
    tree_place(&view, q, frame);
    tree_move(&view, v, frame);
}

START_TEST(links_move_and_speed_up_as_differences_say) {
    Model model;
    uint64_t seed;
    make_case(&model, _i, &seed);
    uint32_t count = model.view.tree->link_count;
    double change[WIDTH_MAX];
    for (uint32_t k = 0; k < model.view.tree->width; k++) {
        change[k] = lab_random(&seed, -1.0, 1.0);
    }
    TreeFrame before[LINKS_MAX], after[LINKS_MAX];
    place_later(&model, change, -STEP, before);
    place_later(&model, change, STEP, after);
    tree_accelerate(&model.view, model.v, change, &model.work);
    for (uint32_t i = 0; i < count; i++) {
        const TreeFrame *now = &model.work.frame[i];
        const double s = 0.5 / STEP;
        Vec3 v = vec3_scale(s, vec3_sub(after[i].center, before[i].center));
        Vec3 a = vec3_scale(s, vec3_sub(after[i].velocity, before[i].velocity));
        Vec3 alpha = vec3_scale(s, vec3_sub(after[i].spin, before[i].spin));
        ck_assert_double_le(vec3_norm(vec3_sub(v, now->velocity)), DIFFERENCES);
        ck_assert_double_le(vec3_norm(vec3_sub(a, model.work.change[i].linear)), DIFFERENCES);
        ck_assert_double_le(vec3_norm(vec3_sub(alpha, model.work.change[i].angular)), DIFFERENCES);
        Vec3 point = random_vec(&seed, 1.0); // turned with the link
        Vec3 turned = vec3_scale(s, vec3_sub(quat_rotate(after[i].orientation, point),
                                             quat_rotate(before[i].orientation, point)));
        Vec3 wanted = vec3_cross(now->spin, quat_rotate(now->orientation, point));
        ck_assert_double_le(vec3_norm(vec3_sub(turned, wanted)), DIFFERENCES);
    }
    drop(&model);
}
END_TEST

// A step takes links from their bodies' columns: where they were placed, and as they were moving.
// Anchors lie some 10 m out.
START_TEST(columns_recall_what_was_placed) {
    Model model;
    uint64_t seed;
    make_case(&model, _i, &seed);
    double pose[7 * (LINKS_MAX + 1)], velocity[6 * (LINKS_MAX + 1)];
    TreeFrame recalled[LINKS_MAX];
    for (uint32_t i = 0; i < model.view.tree->link_count; i++) {
        const size_t body = model.view.link[i].body;
        ck_assert_uint_le(body, LINKS_MAX);
        tree_store(&model.work.frame[i], pose + 7 * body, velocity + 6 * body);
    }
    tree_recall(&model.view, pose, velocity, recalled);
    for (uint32_t i = 0; i < model.view.tree->link_count; i++) {
        const TreeFrame *was = &model.work.frame[i], *is = &recalled[i];
        ck_assert_mem_eq(&was->center, &is->center, sizeof(Vec3));
        ck_assert_mem_eq(&was->orientation, &is->orientation, sizeof(Quat));
        ck_assert_mem_eq(&was->turn, &is->turn, sizeof(Mat3));
        ck_assert_mem_eq(&was->velocity, &is->velocity, sizeof(Vec3));
        ck_assert_mem_eq(&was->spin, &is->spin, sizeof(Vec3));
        ck_assert_double_le(vec3_norm(vec3_sub(was->anchor, is->anchor)), 1e-13);
        ck_assert_double_le(vec3_norm(vec3_sub(was->arm, is->arm)), 1e-13);
        ck_assert_double_le(vec3_norm(vec3_sub(was->from, is->from)), 1e-13);
        for (uint32_t k = 0; k < tree_link_width(&model.view.link[i]); k++) {
            ck_assert_double_le(vec3_norm(vec3_sub(was->axis[k], is->axis[k])), 1e-13);
        }
    }
    drop(&model);
}
END_TEST

// ---- mass

// Some 1e3 numbers of size 1e3 are added up.
#define ROUNDED 1e-9

START_TEST(composite_bodies_are_the_sum_over_bodies) {
    Model model;
    uint64_t seed;
    make_case(&model, _i, &seed);
    const uint32_t width = model.view.tree->width, count = model.view.tree->link_count;
    const Vec3 unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    double *matrix = calloc((size_t)width * width + 1, sizeof(double)),
           *sum = calloc((size_t)width * width + 1, sizeof(double));
    tree_mass_matrix(&model.view, NULL, &model.work, matrix);
    for (uint32_t i = 0; i < count; i++) {
        double at[3 * WIDTH_MAX] = {0.0}, away[3][3 * WIDTH_MAX] = {{0.0}};
        const TreeFrame *frame = model.work.frame;
        tree_jacobian(&model.view, frame, i, frame[i].center, 0.0, unit, 1.0, at);
        for (int e = 0; e < 3; e++) { // w x e, from points one metre away
            tree_jacobian(&model.view, frame, i, vec3_add(frame[i].center, unit[e]), 0.0, unit, 1.0,
                          away[e]);
        }
        for (uint32_t j = 0; j < width; j++) {
            for (uint32_t k = 0; k < width; k++) {
                Vec3 vj = vec3(at[j], at[width + j], at[2 * width + j]),
                     vk = vec3(at[k], at[width + k], at[2 * width + k]);
                Vec3 wj = vec3(away[1][2 * width + j] - vj.z, away[2][j] - vj.x,
                               away[0][width + j] - vj.y),
                     wk = vec3(away[1][2 * width + k] - vk.z, away[2][k] - vk.x,
                               away[0][width + k] - vk.y);
                sum[j * width + k] += model.work.own[i].mass * vec3_dot(vj, vk) +
                                      vec3_dot(wj, sym3_mul_vec(model.work.own[i].inertia, wk));
            }
        }
    }
    for (size_t k = 0; k < (size_t)width * width; k++) {
        ck_assert_double_eq_tol(matrix[k], sum[k], ROUNDED);
    }
    free(matrix);
    free(sum);
    drop(&model);
}
END_TEST

// The condition of such a matrix is some 1e4, that of one made of generic joints, many numbers of
// which are nearly the same, 1e8; rounding as above.
#define SOLVED 1e-6

START_TEST(articulated_bodies_undo_composite_ones) {
    Model model;
    uint64_t seed;
    make_case(&model, _i, &seed);
    const uint32_t width = model.view.tree->width;
    double *matrix = calloc((size_t)width * width + 1, sizeof(double));
    double x[WIDTH_MAX], product[WIDTH_MAX], added[WIDTH_MAX];
    for (uint32_t k = 0; k < width; k++) {
        x[k] = lab_random(&seed, -1.0, 1.0);
        added[k] = lab_random(&seed, 0.0, 2.0);
    }
    const double *on_it = _i % 2 == 0 ? NULL : added;
    tree_mass_matrix(&model.view, on_it, &model.work, matrix);
    for (uint32_t j = 0; j < width; j++) {
        product[j] = 0.0;
        for (uint32_t k = 0; k < width; k++) {
            product[j] += matrix[j * width + k] * x[k];
        }
    }
    tree_factor(&model.view, on_it, &model.work);
    tree_solve(&model.view, &model.work, product);
    for (uint32_t k = 0; k < width; k++) {
        ck_assert_double_eq_tol(product[k], x[k], SOLVED);
    }
    // and so does the diagonal of the inverse, number by number
    double mobility[WIDTH_MAX];
    tree_mobility(&model.view, &model.work, mobility);
    for (uint32_t k = 0; k < width; k++) {
        memset(product, 0, sizeof(product));
        product[k] = 1.0;
        tree_solve(&model.view, &model.work, product);
        ck_assert_double_eq_tol(mobility[k] / product[k], 1.0, SOLVED);
    }
    free(matrix);
    drop(&model);
}
END_TEST

// ---- forces

START_TEST(forces_are_mass_times_change_and_what_is_there_without) {
    Model model;
    uint64_t seed;
    make_case(&model, _i, &seed);
    const uint32_t width = model.view.tree->width;
    const Vec3 gravity = random_vec(&seed, 10.0);
    double *matrix = calloc((size_t)width * width + 1, sizeof(double));
    double change[WIDTH_MAX], with[WIDTH_MAX], without[WIDTH_MAX];
    for (uint32_t k = 0; k < width; k++) {
        change[k] = lab_random(&seed, -1.0, 1.0);
    }
    tree_forces(&model.view, &(TreeMotion){model.v, NULL}, gravity, NULL, &model.work, without);
    tree_forces(&model.view, &(TreeMotion){model.v, change}, gravity, NULL, &model.work, with);
    tree_mass_matrix(&model.view, NULL, &model.work, matrix);
    for (uint32_t j = 0; j < width; j++) {
        double sum = without[j];
        for (uint32_t k = 0; k < width; k++) {
            sum += matrix[j * width + k] * change[k];
        }
        ck_assert_double_eq_tol(with[j], sum, ROUNDED);
    }
    free(matrix);
    drop(&model);
}
END_TEST

static double energy_later(const Model *model, const double *change, double time, Vec3 gravity) {
    Model later = *model;
    TreeFrame frame[LINKS_MAX];
    place_later(model, change, time, frame);
    later.work.frame = frame;
    TreeInertia own[LINKS_MAX];
    later.work.own = own;
    tree_weigh(&later.view, later.mass, &later.work);
    double energy = tree_kinetic_energy(&later.view, later.mass, frame);
    for (uint32_t i = 0; i < model->view.tree->link_count; i++) {
        energy -= own[i].mass * vec3_dot(gravity, frame[i].center);
    }
    return energy;
}

// Forces along the coordinates and wrenches are what changes the energy: the virtual work of all
// velocity products is right.
START_TEST(what_forces_and_wrenches_do_is_the_change_of_energy) {
    Model model;
    uint64_t seed;
    make_case(&model, _i, &seed);
    if (_i % BASE_COUNT == BASE_MOVES) {
        drop(&model); // what moves the base works, too
        return;
    }
    const uint32_t width = model.view.tree->width, count = model.view.tree->link_count;
    const Vec3 gravity = random_vec(&seed, 10.0);
    double change[WIDTH_MAX], force[WIDTH_MAX], wrench[6 * LINKS_MAX], power = 0.0;
    for (uint32_t k = 0; k < width; k++) {
        change[k] = lab_random(&seed, -1.0, 1.0);
    }
    for (uint32_t k = 0; k < 6 * count; k++) {
        wrench[k] = lab_random(&seed, -1.0, 1.0);
    }
    tree_forces(&model.view, &(TreeMotion){model.v, change}, gravity, wrench, &model.work, force);
    for (uint32_t k = 0; k < width; k++) {
        power += force[k] * model.v[k];
    }
    for (uint32_t i = 0; i < count; i++) {
        power += vec3_dot(vec3_load(wrench + 6 * i), model.work.frame[i].velocity) +
                 vec3_dot(vec3_load(wrench + 6 * i + 3), model.work.frame[i].spin);
    }
    double rise = (energy_later(&model, change, STEP, gravity) -
                   energy_later(&model, change, -STEP, gravity)) /
                  (2.0 * STEP);
    ck_assert_double_eq_tol(power, rise, 1e2 * DIFFERENCES * (1.0 + fabs(power)));
    drop(&model);
}
END_TEST

// ---- three turns

// Q w is what the rotation vector changes by when the turn goes on by w in its own axes.
START_TEST(rotation_vectors_change_as_differences_say) {
    uint64_t seed = 17;
    for (int i = 0; i < 200; i++) {
        const Quat q = quat_normalize(random_quat(&seed));
        const Vec3 w = random_vec(&seed, 1.0);
        const Vec3 in_world = quat_rotate(q, w);
        const Vec3 after = joint_rotation_vector(quat_turn(q, in_world, STEP)),
                   before = joint_rotation_vector(quat_turn(q, in_world, -STEP));
        const Vec3 wanted = vec3_scale(0.5 / STEP, vec3_sub(after, before));
        const Vec3 rate = mat3_mul_vec(tree_rotation_rates(joint_rotation_vector(q)), w);
        ck_assert_double_le(vec3_norm(vec3_sub(rate, wanted)), DIFFERENCES);
    }
}
END_TEST

// ---- closed forms

// Rods of length l and mass m, hinges along y at their ends, angles from hanging straight down.
static void make_rods(Model *model, uint32_t count, double length, double mass) {
    *model = (Model){.body_count = count};
    const Quat along = quat_normalize((Quat){1.0, -1.0, 0.0, 0.0}); // z to y
    const double across = mass * length * length / 12.0;
    for (uint32_t i = 0; i < count; i++) {
        model->kind[i] = BODY_DYNAMIC;
        model->mass[i] = (BodyMass){.mass = mass, .inertia = {across, across, 1e-3, 0, 0, 0}};
        model->joint[model->joint_count++] =
            (Joint){.body = {i == 0 ? JOINT_NO_BODY : i - 1, i},
                    .axes = joint_kind_axes(JOINT_HINGE),
                    .frame = {{vec3(0, 0, i == 0 ? 0.0 : -0.5 * length), along},
                              {vec3(0, 0, 0.5 * length), along}}};
    }
    finish(model);
}

static void fall(Model *model, Vec3 gravity, double *rates) {
    tree_place(&model->view, model->q, model->work.frame);
    tree_move(&model->view, model->v, model->work.frame);
    tree_weigh(&model->view, model->mass, &model->work);
    tree_forces(&model->view, &(TreeMotion){model->v, NULL}, gravity, NULL, &model->work, rates);
    for (uint32_t k = 0; k < model->view.tree->width; k++) {
        rates[k] = -rates[k];
    }
    tree_factor(&model->view, NULL, &model->work);
    tree_solve(&model->view, &model->work, rates);
}

// theta'' = -(3/2) g/l sin theta
START_TEST(a_rod_falls_as_a_pendulum) {
    Model model;
    make_rods(&model, 1, 2.0, 3.0);
    const double g = 9.81;
    for (double angle = -3.0; angle < 3.1; angle += 0.5) {
        double rate;
        model.q[0] = angle;
        model.v[0] = 2.0;
        fall(&model, vec3(0.0, 0.0, -g), &rate);
        ck_assert_double_eq_tol(rate, -1.5 * g / 2.0 * sin(angle), 1e-13);
    }
    drop(&model);
}
END_TEST

// Lagrange's equations of two rods, with absolute angles a and b:
//     (4/3) a'' + (1/2) cos(a - b) b'' = -(1/2) sin(a - b) b'^2 - (3/2) g/l sin a
//     (1/3) b'' + (1/2) cos(a - b) a'' =  (1/2) sin(a - b) a'^2 - (1/2) g/l sin b
START_TEST(two_rods_fall_as_lagrange_says) {
    Model model;
    make_rods(&model, 2, 1.0, 1.0);
    const double g = 9.81;
    uint64_t seed = 5;
    for (int i = 0; i < 100; i++) {
        double a = lab_random(&seed, -3.0, 3.0), b = lab_random(&seed, -3.0, 3.0);
        double va = lab_random(&seed, -9.0, 9.0), vb = lab_random(&seed, -9.0, 9.0), rates[2];
        model.q[0] = a;
        model.q[1] = b - a;
        model.v[0] = va;
        model.v[1] = vb - va;
        fall(&model, vec3(0.0, 0.0, -g), rates);
        double m11 = 4.0 / 3.0, m12 = 0.5 * cos(a - b), m22 = 1.0 / 3.0;
        double f1 = -0.5 * sin(a - b) * vb * vb - 1.5 * g * sin(a),
               f2 = 0.5 * sin(a - b) * va * va - 0.5 * g * sin(b);
        double det = m11 * m22 - m12 * m12;
        double wa = (f1 * m22 - f2 * m12) / det, wb = (m11 * f2 - m12 * f1) / det;
        ck_assert_double_eq_tol(rates[0], wa, 1e-11); // of numbers up to 1e3
        ck_assert_double_eq_tol(rates[0] + rates[1], wb, 1e-11);
    }
    drop(&model);
}
END_TEST

static TCase *case_kernel(void) {
    TCase *tcase = tcase_create("kernel");
    tcase_add_loop_test(tcase, links_move_and_speed_up_as_differences_say, 0, SEEDS);
    tcase_add_loop_test(tcase, columns_recall_what_was_placed, 0, SEEDS);
    tcase_add_loop_test(tcase, composite_bodies_are_the_sum_over_bodies, 0, SEEDS);
    tcase_add_loop_test(tcase, articulated_bodies_undo_composite_ones, 0, SEEDS);
    tcase_add_loop_test(tcase, forces_are_mass_times_change_and_what_is_there_without, 0, SEEDS);
    tcase_add_loop_test(tcase, what_forces_and_wrenches_do_is_the_change_of_energy, 0, SEEDS);
    tcase_add_test(tcase, rotation_vectors_change_as_differences_say);
    tcase_add_test(tcase, a_rod_falls_as_a_pendulum);
    tcase_add_test(tcase, two_rods_fall_as_lagrange_says);
    return tcase;
}

SUITE_MAIN("step/tree", case_kernel)
