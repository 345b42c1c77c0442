// SPDX-License-Identifier: MIT
// One step of the friction program: residuals, the steps of all numbers, and how far they may go.
#include "solve/compliant/program_parts.h"

#include "base/assert.h"

#include <string.h>

// of the linear system's solution, by what it leaves
enum { REFINEMENTS = 2 };
// a part looked at, about
#define OPERATIONS_LOOK 800.0

static double b_of(const ProgramPart *part, uint32_t r, double u) {
    return u - part->target[r] + part->r[r] * part->gamma[r];
}

// -eta e_n + weight b, and of a spring -q: what A y is made of
void program_adjoint(const CompliantProgram *p, uint32_t i, double *of) {
    VALIDATE(i < p->island->constraint_count);
    const ProgramPart *part = &p->part[i];
    double u[3];
    memset(of, 0, 3 * sizeof(double));
    program_product(p, i, p->v, u);
    if (part->kind == PART_BILATERAL) {
        of[0] = -part->z[0];
    } else if (part->kind == PART_BOUNDED) {
        of[0] = part->weight * b_of(part, 0, u[0]);
    } else {
        of[0] = -part->eta;
        for (uint32_t r = 1; r < part->count; r++) {
            of[r] = part->weight * b_of(part, r, u[r]);
        }
    }
}

// The right sides of the first and the second equation.
static void make_rest(CompliantProgram *p, double *first, double *second) {
    const NewtonIsland *n = p->island;
    size_t count = n->velocity_count;
    double *mass = p->work + 4 * count;
    for (size_t k = 0; k < count; k++) {
        mass[k] = n->v_free[k] - p->v[k];
    }
    newton_masses(n, mass, first);
    newton_masses(n, p->y, second);
    for (size_t k = 0; k < count; k++) {
        second[k] = -second[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const ProgramPart *part = &p->part[i];
        double push[3] = {part->gamma[0], part->gamma[1], part->gamma[2]}, of[3];
        if (part->kind == PART_NONE) {
            continue;
        }
        if (part->kind == PART_FIXED) {
            program_momentum(p, i, push, first);
            continue;
        }
        program_adjoint(p, i, of);
        if (part->kind == PART_BILATERAL) {
            push[0] -= part->p_rest / part->r[0];
            of[0] -= part->b_rest / part->r[0];
        } else {
            double moved[3] = {0.0};
            for (uint32_t r = 0; r < part->count; r++) {
                for (uint32_t q = 0; q < part->count; q++) {
                    moved[r] -= part->inverse[3 * r + q] * part->rho[q];
                }
            }
            for (uint32_t r = 0; r < part->count; r++) {
                push[r] += moved[r];
                of[r] += part->c[r] * moved[r];
            }
            of[0] -= part->kind == PART_BOUNDED ? 0.0 : part->eta_to;
        }
        program_momentum(p, i, push, first);
        program_momentum(p, i, of, second);
        asker_spend(&p->asker, OPERATIONS_LOOK);
    }
}

// dz = to - Theta d gamma, of which `inside` are the basis' numbers; B^-T is B with mu turned
// round.
static void follow_multiplier(ProgramPart *part, const double *inside) {
    const double *theta = part->scaling.theta, *basis = part->scaling.basis;
    double turned[3] = {0.0};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t q = 0; q < 3; q++) {
            turned[i] += theta[3 * i + q] * inside[q];
        }
    }
    for (uint32_t r = 0; r < part->count; r++) {
        double size = r == 0 && part->mu > 0.0 ? part->mu * part->mu : 1.0;
        part->dz[r] = part->to[r];
        for (uint32_t q = 0; q < 3; q++) {
            part->dz[r] -= size * basis[3 * r + q] * turned[q];
        }
    }
}

// From the steps of v and y those of a part.
static void follow_part(ProgramPart *part, const double *du, const double *dy) {
    VALIDATE(part->kind != PART_NONE && part->kind != PART_FIXED);
    if (part->kind == PART_BILATERAL) {
        part->d_gamma[0] = -(part->p_rest + du[0]) / part->r[0];
        part->dz[0] = (part->b_rest + dy[0]) / part->r[0];
        return;
    }
    // in the basis first, where it does not lose what is across the cone
    double inside[3] = {0.0};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t q = 0; q < 3; q++) {
            double turned = 0.0;
            for (uint32_t r = 0; r < part->count; r++) {
                double rest = part->c[r] * du[r] + dy[r] + part->rho[r];
                turned += part->scaling.basis[3 * r + q] * rest;
            }
            inside[i] -= part->inside[3 * i + q] * turned;
        }
    }
    for (uint32_t r = 0; r < part->count; r++) {
        part->d_gamma[r] = 0.0;
        for (uint32_t q = 0; q < 3; q++) {
            part->d_gamma[r] += part->scaling.basis[3 * r + q] * inside[q];
        }
    }
    if (part->kind == PART_BOUNDED) {
        part->dz[0] = part->to[0] - part->of_low * part->d_gamma[0];
        part->d_z_high = part->to[1] + part->of_high * part->d_gamma[0];
        return;
    }
    follow_multiplier(part, inside);
    double moved = du[0] + part->r[0] * part->d_gamma[0];
    part->d_p = moved + part->p_rest;
    part->d_eta = part->eta_to - part->omega[0] * moved;
}

static double reach_of(const ProgramPart *part) {
    double alpha = 1.0;
    if (part->kind == PART_CONTACT || part->kind == PART_LIMIT) {
        double mu = part->kind == PART_LIMIT ? 0.0 : part->mu;
        alpha = relation_min(alpha, compliant_cone_reach(mu, part->gamma, part->d_gamma));
        alpha = relation_min(alpha, compliant_cone_reach_dual(mu, part->z, part->dz));
        alpha = relation_min(alpha, compliant_bound_reach(part->eta, part->d_eta));
        alpha = relation_min(alpha, compliant_bound_reach(part->p, part->d_p));
    }
    if (part->kind == PART_BOUNDED && isfinite(part->low)) {
        alpha = relation_min(alpha,
                             compliant_bound_reach(part->gamma[0] - part->low, part->d_gamma[0]));
        alpha = relation_min(alpha, compliant_bound_reach(part->z[0], part->dz[0]));
    }
    if (part->kind == PART_BOUNDED && isfinite(part->high)) {
        alpha = relation_min(alpha,
                             compliant_bound_reach(part->high - part->gamma[0], -part->d_gamma[0]));
        alpha = relation_min(alpha, compliant_bound_reach(part->z_high, part->d_z_high));
    }
    return alpha;
}

// Adds what the system's solution for `first` and `second` is, which are used up.
static void add_solution(CompliantProgram *p, const double *first, const double *second, double *dv,
                         double *dy) {
    VALIDATE(first != second && dv != dy);
    const NewtonIsland *n = p->island;
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t from = n->velocity[i], width = n->velocity[i + 1] - from;
        memcpy(p->rest + 2 * from, first + from, width * sizeof(double));
        memcpy(p->rest + 2 * from + width, second + from, width * sizeof(double));
    }
    ldlt_solve_asking(&p->ldlt, p->rest, &p->asker);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t from = n->velocity[i], width = n->velocity[i + 1] - from;
        for (size_t k = 0; k < width; k++) {
            dv[from + k] += p->rest[2 * from + k];
            dy[from + k] += p->rest[2 * from + width + k];
        }
    }
}

// first, second -= the system of dv and dy
static void subtract_system(CompliantProgram *p, const double *dv, const double *dy, double *first,
                            double *second) {
    const NewtonIsland *n = p->island;
    size_t count = n->velocity_count;
    double *mass = p->work + 4 * count;
    newton_masses(n, dv, mass);
    for (size_t k = 0; k < count; k++) {
        first[k] -= mass[k];
    }
    newton_masses(n, dy, mass);
    for (size_t k = 0; k < count; k++) {
        second[k] -= mass[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const ProgramPart *part = &p->part[i];
        if (part->kind == PART_NONE || part->kind == PART_FIXED) {
            continue;
        }
        double du[3], jy[3], push[3] = {0.0}, of[3] = {0.0};
        program_product(p, i, dv, du);
        program_product(p, i, dy, jy);
        for (uint32_t r = 0; r < part->count; r++) {
            for (uint32_t q = 0; q < part->count; q++) {
                const double *local = part->local + 3 * (size_t)r + q;
                push[r] -= local[0] * du[q] + local[9] * jy[q];
                of[r] -= local[18] * du[q] + local[27] * jy[q];
            }
        }
        program_momentum(p, i, push, first);
        program_momentum(p, i, of, second);
        asker_spend(&p->asker, OPERATIONS_LOOK);
    }
}

// The steps of all, and how far they may go.
double program_find_step(CompliantProgram *p) {
    ASSERT(p->kept != p->work);
    const NewtonIsland *n = p->island;
    size_t count = n->velocity_count;
    double *dv = p->work, *dy = dv + count, *first = dy + count, *second = first + count;
    double alpha = 1.0;
    make_rest(p, first, second);
    memcpy(p->kept, first, 2 * count * sizeof(double));
    memset(dv, 0, 2 * count * sizeof(double));
    for (int pass = 0;; pass++) {
        add_solution(p, first, second, dv, dy);
        if (pass == REFINEMENTS) {
            break;
        }
        memcpy(first, p->kept, 2 * count * sizeof(double));
        subtract_system(p, dv, dy, first, second);
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        double du[3], jy[3];
        if (p->part[i].kind == PART_NONE || p->part[i].kind == PART_FIXED) {
            continue;
        }
        program_product(p, i, dv, du);
        program_product(p, i, dy, jy);
        follow_part(&p->part[i], du, jy);
        alpha = relation_min(alpha, reach_of(&p->part[i]));
        asker_spend(&p->asker, OPERATIONS_LOOK);
    }
    ASSERT(!(alpha > 1.0));
    return alpha;
}

static double gap_of(const ProgramPart *part, double alpha) {
    double gap = 0.0;
    if (part->kind == PART_CONTACT || part->kind == PART_LIMIT) {
        for (uint32_t r = 0; r < part->count; r++) {
            gap += (part->gamma[r] + alpha * part->d_gamma[r]) * (part->z[r] + alpha * part->dz[r]);
        }
        gap += (part->eta + alpha * part->d_eta) * (part->p + alpha * part->d_p);
    }
    if (part->kind == PART_BOUNDED) {
        double gamma = part->gamma[0] + alpha * part->d_gamma[0];
        gap += isfinite(part->low) ? (gamma - part->low) * (part->z[0] + alpha * part->dz[0]) : 0.0;
        gap += isfinite(part->high) ? (part->high - gamma) * (part->z_high + alpha * part->d_z_high)
                                    : 0.0;
    }
    return gap;
}

// Of one bound, after alpha of the step.
double program_gap(const CompliantProgram *p, double alpha) {
    ASSERT(p->bound_count > 0);
    double gap = 0.0;
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        gap += gap_of(&p->part[i], alpha);
    }
    return gap / p->bound_count;
}

void program_walk(CompliantProgram *p, double alpha) {
    ASSERT(!(alpha > 1.0));
    const NewtonIsland *n = p->island;
    asker_spend(&p->asker, OPERATIONS_LOOK * (double)n->constraint_count);
    const double *dv = p->work, *dy = p->work + n->velocity_count;
    for (size_t k = 0; k < n->velocity_count; k++) {
        p->v[k] += alpha * dv[k];
        p->y[k] += alpha * dy[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        ProgramPart *part = &p->part[i];
        if (part->kind == PART_NONE || part->kind == PART_FIXED) {
            continue;
        }
        for (uint32_t r = 0; r < part->count; r++) {
            part->gamma[r] += alpha * part->d_gamma[r];
            part->z[r] += alpha * part->dz[r];
        }
        part->eta += alpha * part->d_eta;
        part->p += alpha * part->d_p;
        part->z_high += alpha * part->d_z_high;
    }
}
