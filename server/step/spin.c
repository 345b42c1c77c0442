// SPDX-License-Identifier: MIT
// Free rotation: Euler's equations over one step, in world axes that stand still with the body's
// old orientation, so that the inertia I is constant. w is the spin before the step, T the torque
// of the wrenches.
//
//     explicit    I (x - w) = h (I w) x w + h T
//     midpoint    I (x - w) = h (I m) x m + h T',   m = (w + x)/2
//     implicit    I (x - w) = h (I x) x x + h T     the same with m = x
//
// Where m also turns the body (integrators midpoint and rk4), T' = T - (h/2) m x T: the torque
// stands still while the body turns under it, and this is how the body sees it halfway. Then with
// Cayley's
// rotation the angular momentum in the world changes by h T, exactly, and where T is none neither
// it nor the energy changes: (I + (h/2)[m]) I x = (I - (h/2)[m]) (I w + h T) says that I x, turned
// by the step's rotation, is I w + h T. Elsewhere T' = T.
//
// These equations are quadratic, so Newton's method knows what a step leaves over without looking:
// h theta^2 s x I s for a step s, m = (1 - theta) w + theta x. It ends when that is rounding. From
// the kicked spin, which is w + h T/I, it takes two or three steps up to a tenth of a radian
// per time step and, the midpoint's, at most seven up to two radians; beyond, some of its
// problems have no end that it finds, and the rounding of the torque grows with the angle. Such
// a body keeps its kicked spin for this step, which neither gains nor loses either.
#include "step/stages.h"

#include "base/assert.h"

// seven are enough up to two radians per time step, and more is seldom of use beyond
enum { NEWTON_STEPS_MAX = 16 };

// [rad] in a step; ten turns of which nothing is resolved
#define TURN_MAX 64.0

static Vec3 solve_columns(Vec3 c0, Vec3 c1, Vec3 c2, Vec3 b) {
    Vec3 c12 = vec3_cross(c1, c2);
    double s = 1.0 / vec3_dot(c0, c12);
    return vec3(s * vec3_dot(b, c12), s * vec3_dot(c0, vec3_cross(b, c2)),
                s * vec3_dot(c0, vec3_cross(c1, b)));
}

// A column of the derivative of the equation: d = I e + theta h m x I e - part x e.
static Vec3 derivative(Vec3 e, Vec3 column, double step, Vec3 mean, Vec3 part) {
    return vec3_sub(vec3_add_scaled(column, step, vec3_cross(mean, column)), vec3_cross(part, e));
}

static Sym3 scaled_to_trace_one(Sym3 m) {
    double s = 1.0 / (m.xx + m.yy + m.zz);
    return (Sym3){s * m.xx, s * m.yy, s * m.zz, s * m.xy, s * m.xz, s * m.yz};
}

static Vec3 spin_by_newton(Sym3 inertia, Vec3 before, Vec3 kicked, double h, double theta,
                           bool turns_torque) {
    // only the ratios of the moments matter, and no product of them may overflow
    Sym3 unit = scaled_to_trace_one(inertia);
    Vec3 momentum = sym3_mul_vec(unit, before);
    Vec3 push = sym3_mul_vec(unit, vec3_sub(kicked, before)); // h T
    Vec3 turned = vec3_scale(turns_torque ? 0.5 * h : 0.0, push);
    double scale = vec3_dot(momentum, momentum) + vec3_dot(push, push);
    if (scale == 0.0 || h * h * vec3_dot(before, before) > TURN_MAX * TURN_MAX) {
        return kicked;
    }
    Vec3 c0 = vec3(unit.xx, unit.xy, unit.xz), c1 = vec3(unit.xy, unit.yy, unit.yz),
         c2 = vec3(unit.xz, unit.yz, unit.zz);
    Vec3 x = kicked;
    for (int i = 0; i < NEWTON_STEPS_MAX; i++) {
        Vec3 mean = vec3_scale(theta, vec3_add_scaled(x, 1.0 / theta - 1.0, before));
        Vec3 inside = vec3_add_scaled(turned, h, sym3_mul_vec(unit, mean));
        Vec3 residual = vec3_add(sym3_mul_vec(unit, vec3_sub(x, kicked)), vec3_cross(mean, inside));
        Vec3 part = vec3_scale(theta, inside);
        Vec3 s = solve_columns(derivative(vec3(1.0, 0.0, 0.0), c0, theta * h, mean, part),
                               derivative(vec3(0.0, 1.0, 0.0), c1, theta * h, mean, part),
                               derivative(vec3(0.0, 0.0, 1.0), c2, theta * h, mean, part),
                               vec3_neg(residual));
        x = vec3_add(x, s);
        Vec3 left = vec3_scale(theta * theta * h, vec3_cross(s, sym3_mul_vec(unit, s)));
        // written so that NaN goes on, to the kicked spin in the end
        if (vec3_dot(left, left) <= 0x1p-106 * scale) {
            return x;
        }
    }
    return kicked;
}

// The mean of the spins before and after turns the body.
static bool turns_by_mean(uint8_t integrator) {
    return integrator == INTEGRATOR_MIDPOINT || integrator_is_staged(integrator);
}

// Yoshida's three steps of a symmetric rule, which are of fourth order as one.
#define OUTER_STEP 1.3512071919596577634
#define INNER_STEP (1.0 - 2.0 * OUTER_STEP)

// [rad] in a step, up to which all three of them find their ends
#define THREE_STEPS_MAX 1.0

// The mean spin of one of them, which turns the body by `turn`; then the spin is x.
static Quat turn_once(const FreeMass *mass, Quat turn, Vec3 torque, double h, Vec3 *x) {
    ASSERT(mass->mass > 0.0);
    const Quat back = {turn.w, -turn.x, -turn.y, -turn.z};
    const Vec3 before = *x, own = quat_rotate(back, torque); // the body's axes
    const Vec3 kicked = vec3_add_scaled(before, h, sym3_mul_vec(mass->inverse_inertia, own));
    *x = spin_by_newton(mass->inertia, before, kicked, h, 0.5, true);
    const Vec3 half = vec3_scale(0.25 * h, vec3_add(before, *x));
    return quat_normalize(quat_mul(turn, (Quat){1.0, half.x, half.y, half.z}));
}

// By three steps of the midpoint rule: each of them keeps energy and angular momentum.
SpinFlight spin_by_stages(const WorldSettings *settings, const FreeMass *mass, double h,
                          Vec3 before, Vec3 kicked) {
    ASSERT(h > 0.0);
    if (settings->rotation != ROTATION_MIDPOINT ||
        !(h * h * vec3_dot(before, before) <= THREE_STEPS_MAX * THREE_STEPS_MAX) ||
        !(h * h * vec3_dot(kicked, kicked) <= THREE_STEPS_MAX * THREE_STEPS_MAX)) {
        const Vec3 after = spin_free(settings, mass, h, before, kicked);
        return (SpinFlight){after, vec3_scale(0.5, vec3_add(before, after))};
    }
    static const double steps[3] = {OUTER_STEP, INNER_STEP, OUTER_STEP};
    const Vec3 torque = vec3_scale(1.0 / h, sym3_mul_vec(mass->inertia, vec3_sub(kicked, before)));
    Quat turn = {1.0, 0.0, 0.0, 0.0};
    Vec3 x = before;
    for (int i = 0; i < 3; i++) {
        turn = turn_once(mass, turn, torque, steps[i] * h, &x);
    }
    return (SpinFlight){x, vec3_scale(2.0 / (h * turn.w), vec3(turn.x, turn.y, turn.z))};
}

Vec3 spin_free(const WorldSettings *settings, const FreeMass *mass, double h, Vec3 before,
               Vec3 kicked) {
    ASSERT(settings->rotation < ROTATION_COUNT && h > 0.0);
    if (settings->rotation == ROTATION_EXPLICIT) {
        Vec3 torque = vec3_cross(sym3_mul_vec(mass->inertia, before), before);
        return vec3_add_scaled(kicked, h, sym3_mul_vec(mass->inverse_inertia, torque));
    }
    bool is_implicit = settings->rotation == ROTATION_IMPLICIT;
    return spin_by_newton(mass->inertia, before, kicked, h, is_implicit ? 1.0 : 0.5,
                          !is_implicit && turns_by_mean(settings->integrator));
}
