// SPDX-License-Identifier: MIT
#include "solve/problem.h"

double problem_contact_bias(double time_step, double gap, double overlap, double restitution,
                            double approach) {
    double rate = gap / time_step;
    double bias = rate < 0.0 ? overlap * rate : rate;
    // it bounces when it closes in this step
    if (restitution > 0.0 && approach < 0.0 && gap + time_step * approach <= 0.0) {
        double bounce = restitution * approach;
        return bounce < bias ? bounce : bias;
    }
    return bias;
}

// velocity of the contact point on a free body: v + w x arm
static Vec3 point_velocity(const double *v, Vec3 arm) {
    return vec3_add(vec3_load(v), vec3_cross(vec3_load(v + 3), arm));
}

void problem_contact_product(const ContactProblem *problem, uint32_t contact, const double *v,
                             double u[3]) {
    const ProblemContact *c = &problem->contact[contact];
    Vec3 relative = vec3(0.0, 0.0, 0.0); // of the free sides: b against a
    u[0] = u[1] = u[2] = 0.0;
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        const ProblemTree *tree = &problem->tree[side->tree];
        if (tree->is_free) {
            Vec3 point = point_velocity(v + tree->first, side->arm);
            relative = s == 0 ? vec3_neg(point) : vec3_add(relative, point);
            continue;
        }
        const double *jacobian = problem->number + side->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            double rate = v[tree->first + k];
            u[0] += jacobian[k] * rate;
            u[1] += jacobian[tree->width + k] * rate;
            u[2] += jacobian[2 * (size_t)tree->width + k] * rate;
        }
    }
    u[0] += vec3_dot(c->normal, relative);
    u[1] += vec3_dot(c->tangent[0], relative);
    u[2] += vec3_dot(c->tangent[1], relative);
}

void problem_contact_velocity(const ContactProblem *problem, uint32_t contact, const double *v,
                              double u[3]) {
    problem_contact_product(problem, contact, v, u);
    for (int k = 0; k < 3; k++) {
        u[k] += problem->contact[contact].motion[k];
    }
}

void problem_contact_momentum(const ContactProblem *problem, uint32_t contact,
                              const double gamma[3], double *p) {
    const ProblemContact *c = &problem->contact[contact];
    Vec3 on_b = vec3_scale(gamma[0], c->normal);
    on_b = vec3_add_scaled(on_b, gamma[1], c->tangent[0]);
    on_b = vec3_add_scaled(on_b, gamma[2], c->tangent[1]);
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        const ProblemTree *tree = &problem->tree[side->tree];
        double *at = p + tree->first;
        if (tree->is_free) {
            Vec3 impulse = s == 0 ? vec3_neg(on_b) : on_b;
            vec3_store(at, vec3_add(vec3_load(at), impulse));
            vec3_store(at + 3, vec3_add(vec3_load(at + 3), vec3_cross(side->arm, impulse)));
            continue;
        }
        const double *jacobian = problem->number + side->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            at[k] += jacobian[k] * gamma[0] + jacobian[tree->width + k] * gamma[1] +
                     jacobian[2 * (size_t)tree->width + k] * gamma[2];
        }
    }
}

double problem_row_product(const ContactProblem *problem, uint32_t row, const double *v) {
    const ProblemRow *r = &problem->row[row];
    double sum = 0.0;
    for (uint32_t b = 0; b < r->block_count; b++) {
        const RowBlock *block = &problem->row_block[r->block_first + b];
        const ProblemTree *tree = &problem->tree[block->tree];
        const double *jacobian = problem->number + block->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            sum += jacobian[k] * v[tree->first + k];
        }
    }
    return sum;
}

void problem_row_momentum(const ContactProblem *problem, uint32_t row, double r, double *p) {
    const ProblemRow *of = &problem->row[row];
    for (uint32_t b = 0; b < of->block_count; b++) {
        const RowBlock *block = &problem->row_block[of->block_first + b];
        const ProblemTree *tree = &problem->tree[block->tree];
        const double *jacobian = problem->number + block->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            p[tree->first + k] += jacobian[k] * r;
        }
    }
}
