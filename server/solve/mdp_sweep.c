// SPDX-License-Identifier: MIT
// The hot loops. Every one reads its contacts in a straight line and touches two bodies; all sums
// stand in one fixed order.
#include "solve/mdp_pack.h"

#include "solve/dense.h"

// the largest so far; once not a number, always
static inline double note_change(double largest, double change) {
    return change > largest || change != change ? change : largest;
}

// ---- balls

// Contacts of one colour follow each other, their bodies do not: in a large pile they are fetched
// so many contacts ahead.
enum { AHEAD = 4 };

// What the balls of one island add up to.
typedef struct Watch {
    double ratio, residual, opposition;
} Watch;

static inline void settle(MdpIsland *island, const Watch *watch) {
    island->residual += watch->residual;
    island->opposition += watch->opposition;
}

// an impulse's change, + on b and - on a; (arm n) x d = arm (n x d)
static inline void push_ball(const MdpBall *c, MdpBody *a, MdpBody *b, double dx, double dy,
                             double dz) {
    double nx = c->normal[0], ny = c->normal[1], nz = c->normal[2];
    double qx = ny * dz - nz * dy, qy = nz * dx - nx * dz, qz = nx * dy - ny * dx;
    double ka = a->inverse_mass, ja = a->inverse_inertia * c->arm_a;
    double kb = b->inverse_mass, jb = b->inverse_inertia * c->arm_b;
    a->v[0] -= ka * dx;
    a->v[1] -= ka * dy;
    a->v[2] -= ka * dz;
    a->v[3] -= ja * qx;
    a->v[4] -= ja * qy;
    a->v[5] -= ja * qz;
    b->v[0] += kb * dx;
    b->v[1] += kb * dy;
    b->v[2] += kb * dz;
    b->v[3] += jb * qx;
    b->v[4] += jb * qy;
    b->v[5] += jb * qz;
}

// A is diagonal, so both laws have one closed form: the normal part alone, then friction on the
// disc of radius mu x_n.
static inline double solve_ball(MdpBall *c, MdpBody *a, MdpBody *b, Watch *watch) {
    double nx = c->normal[0], ny = c->normal[1], nz = c->normal[2];
    double arm_a = c->arm_a, arm_b = c->arm_b;

    // relative velocity of the contact point; w x (arm n) = arm (w x n)
    double wx = arm_b * b->v[3] - arm_a * a->v[3];
    double wy = arm_b * b->v[4] - arm_a * a->v[4];
    double wz = arm_b * b->v[5] - arm_a * a->v[5];
    double ux = b->v[0] - a->v[0] + (wy * nz - wz * ny);
    double uy = b->v[1] - a->v[1] + (wz * nx - wx * nz);
    double uz = b->v[2] - a->v[2] + (wx * ny - wy * nx);
    double u_n = ux * nx + uy * ny + uz * nz;

    // where momentum carried the impulse
    double ratio = watch->ratio;
    double zx = c->impulse[0], zy = c->impulse[1], zz = c->impulse[2];
    double px = zx + ratio * (zx - c->before[0]);
    double py = zy + ratio * (zy - c->before[1]);
    double pz = zz + ratio * (zz - c->before[2]);

    // normal
    double p_n = px * nx + py * ny + pz * nz;
    double x_n = p_n - (u_n + c->offset) * c->inverse_nn;
    x_n = x_n < 0.0 ? 0.0 : x_n;

    // tangent: what would stop the point, cut to the disc
    double s = c->inverse_tt;
    double tx = (px - p_n * nx) - s * (ux - u_n * nx);
    double ty = (py - p_n * ny) - s * (uy - u_n * ny);
    double tz = (pz - p_n * nz) - s * (uz - u_n * nz);
    double square = tx * tx + ty * ty + tz * tz;
    // always computed: the root costs less than a branch that nothing can foresee
    double bound = c->mu * x_n;
    bool slides = square > bound * bound;
    double share = bound / sqrt(slides ? square : 1.0);
    double cut = slides ? share : 1.0;
    tx *= cut;
    ty *= cut;
    tz *= cut;

    // keep it, and apply the change
    double x = x_n * nx + tx, y = x_n * ny + ty, z = x_n * nz + tz;
    double dx = x - px, dy = y - py, dz = z - pz;
    c->impulse[0] = x;
    c->impulse[1] = y;
    c->impulse[2] = z;
    c->before[0] = zx;
    c->before[1] = zy;
    c->before[2] = zz;
    push_ball(c, a, b, dx, dy, dz);
    double change = c->weight * (dx * dx + dy * dy + dz * dz);
    watch->residual += change;
    watch->opposition -= c->weight * (dx * (x - zx) + dy * (y - zy) + dz * (z - zz));
    return change;
}

static double sweep_balls(MdpPack *pack, uint32_t begin, uint32_t end, double largest) {
    // the island's sums stay in registers while contacts of one island follow each other
    uint32_t of = begin < end ? pack->ball[begin].island : 0;
    Watch watch = {.ratio = begin < end ? pack->island[of].ratio : 0.0};
    for (uint32_t i = begin; i < end; i++) {
        MdpBall *ball = &pack->ball[i];
        if (ball->island != of) {
            settle(&pack->island[of], &watch);
            of = ball->island;
            watch = (Watch){.ratio = pack->island[of].ratio};
        }
        if (i + AHEAD < end) {
            __builtin_prefetch(&pack->body[ball[AHEAD].a], 1);
            __builtin_prefetch(&pack->body[ball[AHEAD].b], 1);
        }
        double change = solve_ball(ball, &pack->body[ball->a], &pack->body[ball->b], &watch);
        largest = note_change(largest, change);
    }
    if (begin < end) {
        settle(&pack->island[of], &watch);
    }
    return largest;
}

// ---- blocks

// The block problem of one contact at the relative velocity u (offset included): the new impulse is
// stored, and what it differs by from where momentum carried the old one goes to d.
static double solve_block(const MdpPlan *plan, bool coulomb, const double u[3], double weight,
                          MdpIsland *island, double impulse[3], double before[3], double d[3]) {
    const MdpBlock *a = &plan->block;
    double x[3], start[3];
    for (int k = 0; k < 3; k++) {
        x[k] = start[k] = impulse[k] + island->ratio * (impulse[k] - before[k]);
    }
    const double b[3] = {a->nn * x[0] + a->nt * x[1] + a->no * x[2] - u[0],
                         a->nt * x[0] + a->tt * x[1] + a->to * x[2] - u[1],
                         a->no * x[0] + a->to * x[1] + a->oo * x[2] - u[2]};
    if (coulomb) {
        mdp_plan_coulomb(plan, b, x);
    } else {
        mdp_plan_dissipation(plan, b, x);
    }
    double square = 0.0, along = 0.0;
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - start[k];
        square += d[k] * d[k];
        along += d[k] * (x[k] - impulse[k]);
        before[k] = impulse[k];
        impulse[k] = x[k];
    }
    island->residual += weight * square;
    island->opposition -= weight * along;
    return weight * square;
}

static Vec3 point_velocity(const MdpBody *body, Vec3 arm) {
    return vec3_add(vec3_load(body->v), vec3_cross(vec3_load(body->v + 3), arm));
}

static void push(MdpBody *body, const Sym3 *inverse_inertia, Vec3 arm, Vec3 impulse) {
    Vec3 linear = vec3_add_scaled(vec3_load(body->v), body->inverse_mass, impulse);
    Vec3 turn = sym3_mul_vec(*inverse_inertia, vec3_cross(arm, impulse));
    vec3_store(body->v, linear);
    vec3_store(body->v + 3, vec3_add(vec3_load(body->v + 3), turn));
}

static double solve_point(MdpPack *pack, MdpPoint *c, bool coulomb) {
    MdpBody *a = &pack->body[c->a], *b = &pack->body[c->b];
    Vec3 relative = vec3_sub(point_velocity(b, c->arm_b), point_velocity(a, c->arm_a));
    double u[3], d[3];
    for (int k = 0; k < 3; k++) {
        u[k] = vec3_dot(c->frame[k], relative) + c->offset[k];
    }
    double change = solve_block(&c->plan, coulomb, u, c->weight, &pack->island[c->island],
                                c->impulse, c->before, d);
    Vec3 impulse = vec3_scale(d[0], c->frame[0]);
    impulse = vec3_add_scaled(impulse, d[1], c->frame[1]);
    impulse = vec3_add_scaled(impulse, d[2], c->frame[2]);
    push(b, &pack->inverse_inertia[c->b], c->arm_b, impulse);
    push(a, &pack->inverse_inertia[c->a], c->arm_a, vec3_neg(impulse));
    return change;
}

static double solve_wide(const MdpPack *pack, MdpWide *c, bool coulomb) {
    double u[3] = {c->offset[0], c->offset[1], c->offset[2]}, d[3];
    for (int s = 0; s < 2; s++) {
        const MdpSide *side = &c->side[s];
        size_t width = side->width;
        for (size_t k = 0; k < width; k++) {
            u[0] += side->jacobian[k] * side->v[k];
            u[1] += side->jacobian[width + k] * side->v[k];
            u[2] += side->jacobian[2 * width + k] * side->v[k];
        }
    }
    double change = solve_block(&c->plan, coulomb, u, c->weight, &pack->island[c->island],
                                c->impulse, c->before, d);
    for (int s = 0; s < 2; s++) {
        const MdpSide *side = &c->side[s];
        size_t width = side->width;
        for (size_t k = 0; k < width; k++) {
            side->v[k] += side->response[k] * d[0] + side->response[width + k] * d[1] +
                          side->response[2 * width + k] * d[2];
        }
    }
    return change;
}

// ---- rows

static double carried(const MdpPack *pack, const MdpRow *row) {
    return row->impulse + pack->island[row->island].ratio * (row->impulse - row->before);
}

// y = G v + bias + R r
static double row_velocity(const MdpPack *pack, const MdpRow *row, double impulse) {
    double y = row->bias + row->compliance * impulse;
    for (uint32_t s = 0; s < row->side_count; s++) {
        const MdpSide *side = &pack->side[row->side_first + s];
        for (uint32_t k = 0; k < side->width; k++) {
            y += side->jacobian[k] * side->v[k];
        }
    }
    return y;
}

// the new impulse, and its change d from where momentum carried the old one
static double push_row(const MdpPack *pack, MdpRow *row, double impulse, double d) {
    for (uint32_t s = 0; s < row->side_count; s++) {
        const MdpSide *side = &pack->side[row->side_first + s];
        for (uint32_t k = 0; k < side->width; k++) {
            side->v[k] += side->response[k] * d;
        }
    }
    MdpIsland *island = &pack->island[row->island];
    island->residual += row->weight * d * d;
    island->opposition -= row->weight * d * (impulse - row->impulse);
    row->before = row->impulse;
    row->impulse = impulse;
    return row->weight * d * d;
}

static double solve_joint(const MdpPack *pack, const MdpJoint *joint, double largest) {
    double y[MDP_JOINT_MAX], start[MDP_JOINT_MAX];
    MdpRow *row = &pack->row[joint->first];
    for (uint32_t i = 0; i < joint->count; i++) {
        start[i] = carried(pack, &row[i]);
        y[i] = row_velocity(pack, &row[i], start[i]);
    }
    dense_solve(joint->count, joint->factor, y);
    for (uint32_t i = 0; i < joint->count; i++) {
        double r = start[i] - y[i];
        if (joint->is_clipped) {
            r = r < row[i].low ? row[i].low : r > row[i].high ? row[i].high : r;
        }
        largest = note_change(largest, push_row(pack, &row[i], r, r - start[i]));
    }
    return largest;
}

double mdp_sweep(MdpPack *pack, bool coulomb) {
    double largest = 0.0;
    for (uint32_t i = 0; i < pack->joint_count; i++) {
        largest = solve_joint(pack, &pack->joint[i], largest);
    }
    for (uint32_t colour = 0; colour < pack->colour_count; colour++) {
        const MdpRange *begin = &pack->range[colour], *end = &pack->range[colour + 1];
        largest = sweep_balls(pack, begin->ball, end->ball, largest);
        for (uint32_t i = begin->point; i < end->point; i++) {
            largest = note_change(largest, solve_point(pack, &pack->point[i], coulomb));
        }
        for (uint32_t i = begin->wide; i < end->wide; i++) {
            largest = note_change(largest, solve_wide(pack, &pack->wide[i], coulomb));
        }
    }
    return largest;
}
