// SPDX-License-Identifier: MIT
// The hot loops. Every one reads its contacts in a straight line and touches two bodies; all sums
// stand in one fixed order.
#include "solve/mdp_pack.h"

#include "solve/dense.h"

// ---- blocks

// The block problem of one contact at the relative velocity u (offset included): the new impulse is
// stored, and what it differs by from where momentum carried the old one goes to d.
static inline double solve_block(const MdpPlan *plan, bool coulomb, const double u[3],
                                 double weight, MdpIsland *island, double impulse[3],
                                 double before[3], double d[3]) {
    const MdpBlock *a = &plan->block;
    double ratio = island->ratio, z0 = impulse[0], z1 = impulse[1], z2 = impulse[2];
    double p0 = z0 + ratio * (z0 - before[0]), p1 = z1 + ratio * (z1 - before[1]),
           p2 = z2 + ratio * (z2 - before[2]);
    const double b[3] = {a->nn * p0 + a->nt * p1 + a->no * p2 - u[0],
                         a->nt * p0 + a->tt * p1 + a->to * p2 - u[1],
                         a->no * p0 + a->to * p1 + a->oo * p2 - u[2]};
    double x[3] = {p0, p1, p2};
    if (mdp_plan_is_easy(plan, b, x)) {
        // as most are
    } else if (coulomb) {
        mdp_plan_coulomb(plan, b, x);
    } else {
        mdp_plan_dissipation(plan, b, x);
    }
    d[0] = x[0] - p0;
    d[1] = x[1] - p1;
    d[2] = x[2] - p2;
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double along = d[0] * (x[0] - z0) + d[1] * (x[1] - z1) + d[2] * (x[2] - z2);
    before[0] = z0;
    before[1] = z1;
    before[2] = z2;
    impulse[0] = x[0];
    impulse[1] = x[1];
    impulse[2] = x[2];
    island->residual += weight * square;
    island->opposition -= weight * along;
    return weight * square;
}

static inline Vec3 point_velocity(const MdpBody *body, Vec3 arm) {
    return vec3_add(vec3_load(body->v), vec3_cross(vec3_load(body->v + 3), arm));
}

static inline void push(MdpBody *body, const Sym3 *inverse_inertia, Vec3 arm, Vec3 impulse) {
    Vec3 linear = vec3_add_scaled(vec3_load(body->v), body->inverse_mass, impulse);
    Vec3 turn = sym3_mul_vec(*inverse_inertia, vec3_cross(arm, impulse));
    vec3_store(body->v, linear);
    vec3_store(body->v + 3, vec3_add(vec3_load(body->v + 3), turn));
}

static double solve_point(MdpPack *pack, MdpPoint *c, bool coulomb) {
    MdpBody *a = &pack->body[c->a], *b = &pack->body[c->b];
    Vec3 relative = vec3_sub(point_velocity(b, c->arm_b), point_velocity(a, c->arm_a));
    const double u[3] = {vec3_dot(c->frame[0], relative) + c->offset[0],
                         vec3_dot(c->frame[1], relative) + c->offset[1],
                         vec3_dot(c->frame[2], relative) + c->offset[2]};
    double d[3];
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
        largest = mdp_note_change(largest, push_row(pack, &row[i], r, r - start[i]));
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
        largest =
            mdp_ball_sweep(pack->quad, begin->quad, end->quad, pack->body, pack->island, largest);
        for (uint32_t i = begin->point; i < end->point; i++) {
            largest = mdp_note_change(largest, solve_point(pack, &pack->point[i], coulomb));
        }
        for (uint32_t i = begin->wide; i < end->wide; i++) {
            largest = mdp_note_change(largest, solve_wide(pack, &pack->wide[i], coulomb));
        }
    }
    return largest;
}
