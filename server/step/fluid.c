// SPDX-License-Identifier: MIT
// The box of a body has its mass m and its principal moments I: its edges are
// b_i = sqrt(6 (I_j + I_k - I_i)/m). With the density r and the viscosity u, d the mean edge, v and
// w the velocity of the centre of mass and the spin along the box's axes,
//
//     F_i = -(3 pi d u + r b_j b_k |v_i|/2) v_i
//     T_i = -(pi d^3 u + r b_i (b_j^4 + b_k^4) |w_i|/64) w_i
//
// Stokes' drag of a ball of diameter d, and the drag of each pair of faces. With F = -c v at the
// begin of the step, as under the explicit integrator, a step that is long for the drag turns
// bodies back. Under all others it is -c v/(1 + h c/m), and likewise the torque: of a body alone
// implicit Euler for the viscosity, and for the density the solution itself. In a tree, too, no
// step makes any motion faster by it: the mass matrix is the sum of all J^T m J and J^T I J, and
// what the fluid takes is less of each.
#include "step/fluid.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// After so many sweeps of three turns nothing is left off the diagonal: each squares what there is.
enum { SWEEPS_MAX = 12 };

// The axes in which a tensor is diagonal, as columns, by Jacobi's turns; its diagonal.
static Vec3 principal(Sym3 tensor, Mat3 *axes) {
    double m[3][3] = {{tensor.xx, tensor.xy, tensor.xz},
                      {tensor.xy, tensor.yy, tensor.yz},
                      {tensor.xz, tensor.yz, tensor.zz}};
    double v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    const double rounding = 1e-16 * (fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]));
    for (int turn = 0; turn < 3 * SWEEPS_MAX; turn++) {
        const int p = pair[turn % 3][0], q = pair[turn % 3][1];
        if (!(fabs(m[p][q]) > rounding)) {
            continue;
        }
        const double theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
        const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
        const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < 3; k++) {
            const double a = m[k][p], b = m[k][q];
            m[k][p] = c * a - s * b;
            m[k][q] = s * a + c * b;
        }
        for (int k = 0; k < 3; k++) {
            const double a = m[p][k], b = m[q][k], e = v[k][p], f = v[k][q];
            m[p][k] = c * a - s * b;
            m[q][k] = s * a + c * b;
            v[k][p] = c * e - s * f;
            v[k][q] = s * e + c * f;
        }
    }
    *axes = (Mat3){vec3(v[0][0], v[1][0], v[2][0]), vec3(v[0][1], v[1][1], v[2][1]),
                   vec3(v[0][2], v[1][2], v[2][2])};
    return vec3(m[0][0], m[1][1], m[2][2]);
}

static double edge(double mass, double own, double j, double k) {
    return sqrt(6.0 * fmax(j + k - own, 0.0) / mass);
}

// What holds `rate` back with `drag` times it, of what has that much inertia, over a step; where h
// is 0, as at its begin.
static double held(double drag, double rate, double inertia, double h) {
    return inertia > 0.0 ? -drag * rate / (1.0 + h * drag / inertia) : 0.0;
}

// What the fluid does to a body, in world axes.
static void wrench_of(const World *world, uint32_t body, double h, double wrench[6]) {
    const BodyMass *mass = &world->mass[body];
    h = world->settings.integrator == INTEGRATOR_EXPLICIT ? 0.0 : h;
    const double r = world->settings.fluid_density, u = world->settings.fluid_viscosity;
    Mat3 own;
    const Vec3 moments = principal(mass->inertia, &own);
    const Mat3 turn = quat_to_mat3(pose_load(world->pose + 7 * (size_t)body).orientation);
    const double *velocity = world->velocity + 6 * (size_t)body;
    const Vec3 v = mat3_tmul_vec(own, mat3_tmul_vec(turn, vec3_load(velocity)));
    const Vec3 w = mat3_tmul_vec(own, mat3_tmul_vec(turn, vec3_load(velocity + 3)));
    double b[3], force[3], torque[3];
    for (int i = 0; i < 3; i++) {
        b[i] = edge(mass->mass, vec3_get(moments, i), vec3_get(moments, (i + 1) % 3),
                    vec3_get(moments, (i + 2) % 3));
    }
    const double d = (b[0] + b[1] + b[2]) / 3.0;
    for (int i = 0; i < 3; i++) {
        const double bj = b[(i + 1) % 3], bk = b[(i + 2) % 3];
        const double fourth = bj * bj * bj * bj + bk * bk * bk * bk;
        const double slow = 3.0 * PI * d * u + 0.5 * r * bj * bk * fabs(vec3_get(v, i));
        const double slack = PI * d * d * d * u + r * b[i] * fourth * fabs(vec3_get(w, i)) / 64.0;
        force[i] = held(slow, vec3_get(v, i), mass->mass, h);
        torque[i] = held(slack, vec3_get(w, i), vec3_get(moments, i) + mass->thickening, h);
    }
    vec3_store(wrench, mat3_mul_vec(turn, mat3_mul_vec(own, vec3_load(force))));
    vec3_store(wrench + 3, mat3_mul_vec(turn, mat3_mul_vec(own, vec3_load(torque))));
}

static bool moves(const World *world, uint32_t body) {
    const double *velocity = world->velocity + 6 * (size_t)body;
    bool does = false;
    for (int k = 0; k < 6; k++) {
        does = does || velocity[k] != 0.0;
    }
    return does && world->kind[body] == BODY_DYNAMIC;
}

bool fluid_push(StepState *state, StepInput *input) {
    const World *world = state->world;
    *input = *state->input;
    if (world->settings.fluid_density == 0.0 && world->settings.fluid_viscosity == 0.0) {
        return true;
    }
    const size_t given = input->wrench_count, room = given + world->dynamic_count;
    uint32_t *bodies = arena_take_array(state->scratch, room, sizeof(uint32_t));
    double *wrenches = arena_take_array(state->scratch, room, 6 * sizeof(double));
    if (bodies == NULL || wrenches == NULL) {
        return false;
    }
    if (given > 0) {
        memcpy(bodies, input->wrench_body, given * sizeof(uint32_t));
        memcpy(wrenches, input->wrench, 6 * given * sizeof(double));
    }
    size_t at = given;
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (moves(world, body)) {
            ASSERT(at < room);
            bodies[at] = body;
            wrench_of(world, body, input->time_step, wrenches + 6 * at++);
        }
    }
    input->wrench_count = at;
    input->wrench_body = bodies;
    input->wrench = wrenches;
    return true;
}
