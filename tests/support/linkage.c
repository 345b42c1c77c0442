// SPDX-License-Identifier: MIT
#include "support/linkage.h"

#include <math.h>

// A rotation about nothing special, and where the plane's origin is.
static const Quat generic = {0.66, -0.21, 0.53, 0.487};
static const Vec3 origin = {0.4, -1.3, 2.1};

// ---- in the plane

Quat plane_turn(double angle) {
    const Quat about_z = {cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
    return quat_mul(quat_normalize(generic), about_z);
}

Vec3 plane_vector(double x, double y, double z) {
    return quat_rotate(quat_normalize(generic), vec3(x, y, z));
}

Vec3 plane_point(double x, double y, double z) {
    return vec3_add(origin, plane_vector(x, y, z));
}

Vec3 in_plane(Vec3 vector) {
    const Quat q = quat_normalize(generic), back = {q.w, -q.x, -q.y, -q.z};
    return quat_rotate(back, vector);
}

Vec3 place_of(const Lab *lab, uint32_t body) {
    return in_plane(vec3_sub(lab_position(lab, body), origin));
}

double rate_of(const Lab *lab, uint32_t body) {
    return in_plane(lab_spin(lab, body)).z;
}

uint32_t add_bar(Lab *lab, const Bar *bar) {
    const double along = bar->x[1] - bar->x[0], up = bar->y[1] - bar->y[0];
    const double square = along * along + up * up;
    const double rate =
        square == 0.0
            ? bar->rate
            : (along * (bar->vy[1] - bar->vy[0]) - up * (bar->vx[1] - bar->vx[0])) / square;
    const Vec3 at = plane_point(0.5 * (bar->x[0] + bar->x[1]), 0.5 * (bar->y[0] + bar->y[1]), 0.0);
    const Vec3 v =
        plane_vector(0.5 * (bar->vx[0] + bar->vx[1]), 0.5 * (bar->vy[0] + bar->vy[1]), 0.0);
    const Vec3 w = plane_vector(0.0, 0.0, rate);
    const double velocity[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    const double inertia[6] = {0.6 * bar->moment, 0.7 * bar->moment, bar->moment, 0.0, 0.0, 0.0};
    const Pose pose = {at, plane_turn(square == 0.0 ? 0.0 : atan2(up, along))};
    return lab_body(lab, 0, BODY_DYNAMIC, pose, velocity, bar->mass, inertia);
}

// What numbers that are written with fewer digits are off by; 0: nothing.
static void blur(double frame[7], double off, uint64_t *seed) {
    for (int k = 0; off > 0.0 && k < 7; k++) {
        frame[k] += lab_random(seed, -off, off);
    }
}

static Pose inverse(Pose pose) {
    const Quat q = pose.orientation, back = {q.w, -q.x, -q.y, -q.z};
    return (Pose){vec3_neg(quat_rotate(back, pose.position)), back};
}

Id add_pin(Lab *lab, const Pin *pin, double off, uint64_t *seed) {
    const Quat along = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    const Pose frame = {plane_point(pin->x, pin->y, 0.0), pin->kind == JOINT_SLIDER
                                                              ? quat_mul(plane_turn(0.0), along)
                                                              : plane_turn(0.0)};
    const double *pose = lab->world->pose;
    double here[7], there[7];
    pose_store(here, pin->a < 0
                         ? frame
                         : pose_compose(inverse(pose_load(pose + 7 * (size_t)pin->a)), frame));
    pose_store(there, pose_compose(inverse(pose_load(pose + 7 * (size_t)pin->b)), frame));
    blur(there, pin->is_tree ? 0.0 : off, seed);
    const uint32_t kind = pin->kind, as_rows = !pin->is_tree;
    const uint64_t a = pin->a < 0 ? 0 : lab->world->body_id[pin->a],
                   b = lab->world->body_id[pin->b];
    const double break_force = pin->break_force > 0.0 ? pin->break_force : HUGE_VAL;
    const uint8_t axes = joint_kind_axes(pin->kind);
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = here,
                                  .frame_b = there,
                                  .velocity = pin->is_tree ? &pin->rate : NULL,
                                  .break_force = &break_force};
    return lab_joints(lab, &columns);
}

Lab linkage_lab(SolverKind kind, double h, double tolerance) {
    Lab lab = lab_create(0.0, h);
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab.world->settings, &solver);
    lab_set(&lab, "tolerance", tolerance);
    return lab;
}

double largest_gap(const Lab *lab) {
    double largest = 0.0;
    for (size_t i = 0; i < lab->world->joint_count; i++) {
        const Joint *joint = &lab->world->joint[i];
        const Vec3 apart = vec3_sub(world_joint_frame(lab->world, joint, 1).position,
                                    world_joint_frame(lab->world, joint, 0).position);
        largest = fmax(largest, joint->kind == JOINT_SLIDER ? 0.0 : vec3_norm(apart));
    }
    return largest;
}

// ---- a slider-crank

double slider_place(const SliderCrank *of, double angle) {
    const double up = of->r * sin(angle);
    return of->r * cos(angle) + sqrt(of->l * of->l - up * up);
}

double slider_rate(const SliderCrank *of, double angle) {
    const double up = of->r * sin(angle), along = of->r * cos(angle);
    return -up - up * along / sqrt(of->l * of->l - up * up);
}

double whole_moment(const SliderCrank *of, double angle) {
    const double up = of->r * sin(angle), along = of->r * cos(angle);
    const double slides = slider_rate(of, angle);
    const double turns = -along / sqrt(of->l * of->l - up * up);
    const double vx = 0.5 * (slides - up), vy = 0.5 * along; // of the rod's middle
    return WHEEL_MOMENT + SLIDER_MASS * slides * slides + ROD_MOMENT * turns * turns +
           ROD_MASS * (vx * vx + vy * vy);
}

Lab make_slider_crank(SolverKind solver, double h, const SliderCrank *of) {
    Lab lab = linkage_lab(solver, h, 1e-9);
    const double up = of->r * sin(of->angle), along = of->r * cos(of->angle),
                 slides = of->rate == 0.0 ? 0.0 : of->rate * slider_rate(of, of->angle),
                 x = slider_place(of, of->angle);
    const Bar bars[] = {
        [CRANK] = {.mass = WHEEL_MASS, .moment = WHEEL_MOMENT, .rate = of->rate},
        [ROD] = {.x = {along, x},
                 .y = {up, 0.0},
                 .vx = {-of->rate * up, slides},
                 .vy = {of->rate * along, 0.0},
                 .mass = ROD_MASS,
                 .moment = ROD_MOMENT},
        [SLIDER] = {.x = {x, x}, .vx = {slides, slides}, .mass = SLIDER_MASS, .moment = 0.01}};
    for (int i = 0; i < 3; i++) {
        add_bar(&lab, &bars[i]);
    }
    const Pin pins[] = {
        {.kind = JOINT_HINGE, .a = -1, .b = CRANK, .is_tree = of->is_tree, .rate = of->rate},
        {.kind = JOINT_HINGE, .a = CRANK, .b = ROD, .x = along, .y = up},
        {.kind = JOINT_HINGE, .a = ROD, .b = SLIDER, .x = x},
        {.kind = JOINT_SLIDER, .a = -1, .b = SLIDER, .x = x}};
    uint64_t seed = 7;
    for (int i = 0; i < 4; i++) {
        add_pin(&lab, &pins[of->is_reversed ? 3 - i : i], of->off, &seed);
    }
    return lab;
}

double crank_turned(const Lab *lab, double before) {
    const Vec3 x = in_plane(quat_rotate(lab_orientation(lab, CRANK), vec3(1.0, 0.0, 0.0)));
    const double angle = atan2(x.y, x.x);
    return before + remainder(angle - before, 2.0 * M_PI);
}
