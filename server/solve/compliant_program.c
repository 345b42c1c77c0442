// SPDX-License-Identifier: MIT
#include "solve/compliant_program.h"

#include "solve/compliant_cone.h"
#include "solve/compliant_program_part.h"

#include <string.h>

// how much of the way to a bound a step may go
#define STEP_SHARE 0.98
// of the linear system's solution, by what it leaves
enum { REFINEMENTS = 2 };
// where steps are short because much is still to be sorted out, not because digits end
#define MARK_GAP 1e-6
// after so many steps that came not half as near it has stalled
enum { PATIENCE = 8, PATIENCE_EARLY = 30 };
// the path's part that the gap is to be of what the program weighs least
#define GAP_SHARE 1e-3
// what it weighs at least, beside impulses that stop what comes
#define LEAST_SHARE 1e-6
// a step that is nearly whole
#define FULL_STEP 0.9
// what a step is at least, of which something is to be kept
#define WHOLE_ENOUGH 0.3
// how much of the gap a step is to leave, so that all bounds come near together, at least, and
// after a step that was shorter than this
#define CENTRE     0.02
#define SHORT_STEP 0.3
#define RECENTRE   0.5
// targets that are further away than this are those of what may not push at all [m/s]
#define FAR 1e29
// A factor of so many numbers takes a gigabyte.
#define FACTOR_NUMBERS_MAX ((size_t)1 << 26)
// about: a part looked at, or added to the matrix; and the masses of a tree
#define OPERATIONS_LOOK      800.0
#define OPERATIONS_LINEARISE 6000.0
#define OPERATIONS_ADD       8000.0
#define OPERATIONS_MASS      1000.0

static bool is_one_sided(const CompliantLaw *law) {
    return (law->low == 0.0 && !isfinite(law->high)) || (law->high == 0.0 && !isfinite(law->low));
}

// ---- parts

static PartKind kind_of(const NewtonConstraint *c, const CompliantLaw *law) {
    bool is_far = law->target[0] < -FAR || law->target[0] > FAR;
    if (c->w == 0.0 || is_far) {
        return PART_NONE;
    }
    if (!law->is_row) {
        return PART_CONTACT;
    }
    if (!isfinite(law->low) && !isfinite(law->high)) {
        return PART_BILATERAL;
    }
    return is_one_sided(law) ? PART_LIMIT : law->low == law->high ? PART_FIXED : PART_BOUNDED;
}

static ProgramPart part_of(const CompliantProgram *p, const NewtonConstraint *c,
                           const CompliantLaw *law) {
    ProgramPart part = {.kind = kind_of(c, law), .count = c->rows, .sign = 1.0, .mu = law->mu};
    double own = p->weight * p->tangent * p->tangent;
    for (uint32_t r = 0; r < c->rows; r++) {
        part.target[r] = law->target[r];
        part.r[r] = compliant_law_r(law, r);
        part.own[r] = r == 0 ? p->zeta * own : own;
    }
    part.weight = part.kind == PART_CONTACT ? p->weight : 0.0;
    part.low = law->low;
    part.high = law->high;
    if (part.kind == PART_LIMIT && law->low != 0.0) {
        part.sign = -1.0;
        part.target[0] = -law->target[0];
    }
    if (part.kind == PART_BOUNDED) {
        double share = p->tangent / part.r[0];
        part.own[0] = own;
        part.weight = p->weight * share * share;
    }
    return part;
}

void program_product(const CompliantProgram *p, uint32_t i, const double *v, double *u) {
    newton_product(p->island, &p->island->constraint[i], v, u);
    for (uint32_t r = 0; r < p->part[i].count; r++) {
        u[r] *= p->part[i].sign;
    }
}

void program_momentum(const CompliantProgram *p, uint32_t i, const double *of, double *to) {
    const ProgramPart *part = &p->part[i];
    const double signed_of[3] = {part->sign * of[0], part->count > 1 ? of[1] : 0.0,
                                 part->count > 1 ? of[2] : 0.0};
    newton_momentum(p->island, &p->island->constraint[i], signed_of, to);
}

// How large gamma is where the island's velocities are of size V.
static double size_of(const CompliantProgram *p, uint32_t i) {
    return p->island->v_scale / (p->island->constraint[i].w + p->part[i].r[0]);
}

// Inside of all bounds, and multipliers of the size that b would ask for.
static void begin_part(CompliantProgram *p, uint32_t i) {
    ProgramPart *part = &p->part[i];
    double size = size_of(p, i), v = p->island->v_scale, w = p->island->constraint[i].w;
    memset(part->gamma, 0, sizeof(part->gamma));
    memset(part->z, 0, sizeof(part->z));
    part->eta = part->p = 1.0;
    switch (part->kind) {
    case PART_CONTACT:
        part->z[0] = p->weight * v * w * (1.0 + part->mu);
        part->gamma[0] = size;
        break;
    case PART_LIMIT:
        part->z[0] = p->weight * v * w;
        part->gamma[0] = size;
        break;
    case PART_BOUNDED: {
        bool has_low = isfinite(part->low), has_high = isfinite(part->high);
        double middle = has_low && has_high ? 0.5 * (part->low + part->high)
                        : has_low           ? part->low + size
                                            : part->high - size;
        part->gamma[0] = middle;
        part->z[0] = has_low ? p->weight * v * w : 0.0;
        part->z_high = has_high ? p->weight * v * w : 0.0;
        break;
    }
    case PART_FIXED:
        part->gamma[0] = part->low;
        break;
    default:
        break;
    }
    if (part->kind == PART_CONTACT || part->kind == PART_LIMIT) {
        part->eta = p->weight * v;
        part->p = v;
    }
}

// ---- what a part's step is

// Of a symmetric positive matrix of `count` rows, which may span many orders of magnitude; a number
// that has become rounding is taken for that of its diagonal.
static void invert(const double *m, uint32_t count, double *inverse) {
    double l[9] = {0.0}, x[9] = {0.0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            double sum = m[3 * i + k];
            for (uint32_t q = 0; q < k; q++) {
                sum -= l[3 * i + q] * l[3 * k + q];
            }
            double least = LDLT_PIVOT_MIN * m[4 * (size_t)i];
            l[3 * i + k] = i == k ? sqrt(sum > least ? sum : least) : sum / l[4 * (size_t)k];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            double sum = i == k ? 1.0 : 0.0;
            for (uint32_t q = k; q < i; q++) {
                sum -= l[3 * i + q] * x[3 * q + k];
            }
            x[3 * i + k] = sum / l[4 * (size_t)i];
        }
    }
    memset(inverse, 0, 9 * sizeof(double));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t q = i > k ? i : k; q < count; q++) {
                inverse[3 * i + k] += x[3 * q + i] * x[3 * q + k];
            }
        }
    }
}

// to := B m B^T
static void turn_out(const double *basis, const double *m, double *to) {
    double half[9] = {0.0};
    memset(to, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int q = 0; q < 3; q++) {
                half[3 * i + k] += basis[3 * i + q] * m[3 * q + k];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int q = 0; q < 3; q++) {
                to[3 * i + k] += half[3 * i + q] * basis[3 * k + q];
            }
        }
    }
}

// m += B^T diag B
static void turn_in(const double *basis, const double *diagonal, double *m) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int q = 0; q < 3; q++) {
                m[3 * i + k] += basis[3 * q + i] * diagonal[q] * basis[3 * q + k];
            }
        }
    }
}

// With K = own + Theta, D = R and Omega, of H = K + D Omega D: H^-1, S = (Omega^-1 + D K^-1 D)^-1,
// which is what Omega - Omega D H^-1 D Omega is without its roundings, and K^-1 D S.
static void make_blocks(ProgramPart *part) {
    // friction of what has none does not move
    uint32_t moving = part->count == 3 && part->mu == 0.0 ? 1 : part->count;
    const double *basis = part->scaling.basis;
    double m[9], of[9], of_k[9], sum[9] = {0.0}, s[9], soft[3] = {0.0};
    memcpy(m, part->scaling.theta, sizeof(m));
    turn_in(basis, part->own, m);
    invert(m, moving, of);
    turn_out(basis, of, of_k);
    for (uint32_t i = 0; i < part->count; i++) {
        soft[i] = part->r[i] * part->r[i] * part->omega[i];
        for (uint32_t q = 0; q < part->count; q++) {
            sum[3 * i + q] = part->r[i] * of_k[3 * i + q] * part->r[q];
        }
        sum[4 * (size_t)i] += 1.0 / part->omega[i];
    }
    turn_in(basis, soft, m);
    invert(m, moving, part->inside);
    turn_out(basis, part->inside, part->inverse);
    invert(sum, part->count, s);
    memset(part->local, 0, sizeof(part->local));
    for (uint32_t i = 0; i < part->count; i++) {
        for (uint32_t q = 0; q < part->count; q++) {
            double beside = 0.0;
            for (uint32_t r = 0; r < part->count; r++) {
                beside += of_k[3 * i + r] * part->r[r] * s[3 * r + q];
            }
            part->local[3 * i + q] = beside;
            part->local[9 + 3 * i + q] = part->inverse[3 * i + q];
            part->local[18 + 3 * i + q] = -s[3 * i + q];
            part->local[27 + 3 * q + i] = beside;
        }
    }
}

// Where u and J y are: residuals of the part, with the barrier's share `at` of the gap.
static void linearise_cone(ProgramPart *part, const double *u, const double *jy, double at) {
    const double *inverse = part->scaling.inverse;
    double b[3] = {0.0};
    compliant_cone_scale(part->mu, part->gamma, part->z, &part->scaling);
    part->p_rest = u[0] - part->target[0] + part->r[0] * part->gamma[0] - part->p;
    double omega = part->eta / part->p;
    part->eta_to = at / part->p - part->eta - omega * part->p_rest;
    part->c[0] = part->r[0] * omega;
    part->omega[0] = omega;
    part->to[0] = at * inverse[0] - part->z[0];
    part->rho[0] = part->own[0] * part->gamma[0] - part->r[0] * part->eta + jy[0] -
                   at * inverse[0] - part->r[0] * part->eta_to;
    for (uint32_t r = 1; r < part->count; r++) {
        b[r] = u[r] - part->target[r] + part->r[r] * part->gamma[r];
        part->c[r] = part->weight * part->r[r];
        part->omega[r] = part->weight;
        part->to[r] = at * inverse[r] - part->z[r];
        part->rho[r] = part->own[r] * part->gamma[r] + part->weight * part->r[r] * b[r] + jy[r] -
                       at * inverse[r];
    }
    make_blocks(part);
}

static void linearise_bounded(ProgramPart *part, const double *u, const double *jy, double at) {
    double below = part->gamma[0] - part->low, above = part->high - part->gamma[0];
    bool has_low = isfinite(part->low), has_high = isfinite(part->high);
    double of_low = has_low ? part->z[0] / below : 0.0,
           of_high = has_high ? part->z_high / above : 0.0;
    double b = u[0] - part->target[0] + part->r[0] * part->gamma[0];
    double push = (has_low ? at / below : 0.0) - (has_high ? at / above : 0.0);
    part->c[0] = part->weight * part->r[0];
    part->omega[0] = part->weight;
    part->scaling = (CompliantScaling){.theta = {of_low + of_high}, .basis = {1.0}};
    make_blocks(part);
    part->rho[0] = part->own[0] * part->gamma[0] + part->weight * part->r[0] * b + jy[0] - push;
    part->of_low = of_low;
    part->of_high = of_high;
    part->to[0] = has_low ? at / below - part->z[0] : 0.0;
    part->to[1] = has_high ? at / above - part->z_high : 0.0;
}

// Springs: R r = target - G v, and R q = G y, where q stands in z.
static void linearise_bilateral(ProgramPart *part, const double *u, const double *jy) {
    part->p_rest = part->r[0] * part->gamma[0] + u[0] - part->target[0];
    part->b_rest = jy[0] - part->r[0] * part->z[0];
    memset(part->local, 0, sizeof(part->local));
    part->local[0] = part->local[27] = 1.0 / part->r[0];
}

static void linearise(CompliantProgram *p, double at) {
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        ProgramPart *part = &p->part[i];
        double u[3], jy[3];
        if (part->kind == PART_NONE || part->kind == PART_FIXED) {
            continue;
        }
        program_product(p, i, p->v, u);
        program_product(p, i, p->y, jy);
        if (part->kind == PART_BILATERAL) {
            linearise_bilateral(part, u, jy);
        } else if (part->kind == PART_BOUNDED) {
            linearise_bounded(part, u, jy, at);
        } else {
            linearise_cone(part, u, jy, at);
        }
        asker_spend(&p->asker, OPERATIONS_LINEARISE);
    }
}

// ---- the system

// `local` of 2 rows x 2 rows, of (v, y) against (v, y): J^T local J, into `piece`
static void expand(const NewtonBlock *a, const NewtonBlock *b, uint32_t rows, const double *local,
                   double *piece) {
    size_t wide = 2 * (size_t)b->width;
    for (uint32_t part = 0; part < 4; part++) {
        const double *m = local + 9 * (size_t)part;
        double *to = piece + (part / 2) * (size_t)a->width * wide + (part % 2) * (size_t)b->width;
        for (uint32_t i = 0; i < a->width; i++) {
            double left[3];
            for (uint32_t q = 0; q < rows; q++) {
                left[q] = 0.0;
                for (uint32_t r = 0; r < rows; r++) {
                    left[q] += a->jacobian[r * a->width + i] * m[3 * r + q];
                }
            }
            for (uint32_t k = 0; k < b->width; k++) {
                double sum = 0.0;
                for (uint32_t q = 0; q < rows; q++) {
                    sum += left[q] * b->jacobian[q * b->width + k];
                }
                to[i * wide + k] = sum;
            }
        }
    }
}

static void add_part(CompliantProgram *p, uint32_t index) {
    const NewtonIsland *n = p->island;
    const NewtonConstraint *c = &n->constraint[index];
    const NewtonBlock *block = n->block + c->block_first;
    const double *local = p->part[index].local;
    double *opposite = p->piece + 4 * (size_t)n->mass->width_max * n->mass->width_max;
    size_t edge = c->edge_first;
    for (uint32_t i = 0; i < c->block_count; i++) {
        expand(&block[i], &block[i], c->rows, local, p->piece);
        ldlt_add_vertex(&p->ldlt, block[i].tree, p->piece);
        for (uint32_t k = 0; k < i; k++) {
            expand(&block[i], &block[k], c->rows, local, p->piece);
            expand(&block[k], &block[i], c->rows, local, opposite);
            ldlt_add_edge(&p->ldlt, edge++, p->piece, opposite);
        }
    }
    asker_spend(&p->asker, OPERATIONS_ADD);
}

static void add_mass(CompliantProgram *p, uint32_t tree) {
    const NewtonIsland *n = p->island;
    size_t width = n->velocity[tree + 1] - n->velocity[tree], wide = 2 * width;
    mass_tree_matrix(n->mass, n->tree[tree], n->piece);
    memset(p->piece, 0, wide * wide * sizeof(double));
    for (size_t i = 0; i < width; i++) {
        for (size_t k = 0; k < width; k++) {
            double of = n->piece[i * width + k];
            p->piece[i * wide + k] = p->piece[(width + i) * wide + width + k] = of;
        }
    }
    ldlt_add_vertex(&p->ldlt, tree, p->piece);
    asker_spend(&p->asker, OPERATIONS_MASS);
}

static LdltOutcome factor(CompliantProgram *p) {
    const NewtonIsland *n = p->island;
    ldlt_clear(&p->ldlt);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        add_mass(p, i);
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        PartKind kind = p->part[i].kind;
        if (kind != PART_NONE && kind != PART_FIXED) {
            add_part(p, i);
        }
    }
    LdltOutcome outcome = ldlt_factor(&p->ldlt, p->asker.stop);
    p->asker.is_stopped = p->asker.is_stopped || outcome == LDLT_STOPPED;
    asker_spend(&p->asker, 2.0 * p->plan.operations);
    return outcome;
}

void program_factor_masses(CompliantProgram *p) {
    const NewtonIsland *n = p->island;
    ldlt_clear(&p->ldlt);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        add_mass(p, i);
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (p->part[i].kind == PART_BILATERAL) {
            add_part(p, i);
        }
    }
    p->asker.is_stopped =
        p->asker.is_stopped || ldlt_factor(&p->ldlt, p->asker.stop) == LDLT_STOPPED;
}

void program_solve_masses(CompliantProgram *p, double *x) {
    const NewtonIsland *n = p->island;
    memset(p->rest, 0, 2 * n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t from = n->velocity[i], width = n->velocity[i + 1] - from;
        memcpy(p->rest + 2 * from, x + from, width * sizeof(double));
    }
    ldlt_solve_asking(&p->ldlt, p->rest, &p->asker);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t from = n->velocity[i], width = n->velocity[i + 1] - from;
        memcpy(x + from, p->rest + 2 * from, width * sizeof(double));
    }
}

// ---- residuals and a step

static double b_of(const ProgramPart *part, uint32_t r, double u) {
    return u - part->target[r] + part->r[r] * part->gamma[r];
}

// -eta e_n + weight b, and of a spring -q: what A y is made of
void program_adjoint(const CompliantProgram *p, uint32_t i, double *of) {
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
static double find_step(CompliantProgram *p) {
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
static double gap_after(const CompliantProgram *p, double alpha) {
    double gap = 0.0;
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        gap += gap_of(&p->part[i], alpha);
    }
    return gap / p->bound_count;
}

static void walk(CompliantProgram *p, double alpha) {
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

// ---- in and out

static bool take(CompliantProgram *p, Arena *arena) {
    const NewtonIsland *n = p->island;
    size_t width = n->mass->width_max;
    p->part = arena_take_zeroed(arena, n->constraint_count, sizeof(*p->part));
    p->best = arena_take_zeroed(arena, n->constraint_count, sizeof(*p->best));
    p->best_v = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
    p->best_y = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
    p->v = arena_take_array(arena, n->velocity_count, sizeof(double));
    p->y = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
    p->rest = arena_take_zeroed(arena, n->velocity_count, 2 * sizeof(double));
    p->work = arena_take_zeroed(arena, n->velocity_count, 5 * sizeof(double));
    p->kept = arena_take_zeroed(arena, n->velocity_count, 2 * sizeof(double));
    p->piece = arena_take_zeroed(arena, 8 * width * width, sizeof(double));
    return p->part != NULL && p->best != NULL && p->best_v != NULL && p->best_y != NULL &&
           p->v != NULL && p->y != NULL && p->rest != NULL && p->work != NULL && p->kept != NULL &&
           p->piece != NULL;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the friction program.");
}

// What decides is of size 1 where nothing is weighed against friction.
static double weight_of(const CompliantProgram *p) {
    double most = 0.0;
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        const NewtonConstraint *c = &p->island->constraint[i];
        const CompliantLaw *law = c->rows == 3 ? p->contact_law : p->row_law;
        PartKind kind = kind_of(c, law + c->index);
        if (kind == PART_CONTACT || kind == PART_BOUNDED) {
            return 1.0;
        }
        most = c->w > most ? c->w : most;
    }
    return most * most / (p->zeta * p->tangent * p->tangent);
}

// What stands, before steps that doubles can no longer make.
static void keep(CompliantProgram *p) {
    size_t bytes = p->island->velocity_count * sizeof(double);
    memcpy(p->best, p->part, p->island->constraint_count * sizeof(*p->part));
    memcpy(p->best_v, p->v, bytes);
    memcpy(p->best_y, p->y, bytes);
}

static void restore(CompliantProgram *p) {
    size_t bytes = p->island->velocity_count * sizeof(double);
    memcpy(p->part, p->best, p->island->constraint_count * sizeof(*p->part));
    memcpy(p->v, p->best_v, bytes);
    memcpy(p->y, p->best_y, bytes);
}

static void begin(CompliantProgram *p) {
    p->weight = weight_of(p);
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        const NewtonConstraint *c = &p->island->constraint[i];
        const CompliantLaw *law = c->rows == 3 ? p->contact_law : p->row_law;
        p->part[i] = part_of(p, c, law + c->index);
        begin_part(p, i);
        PartKind kind = p->part[i].kind;
        bool has_two =
            kind == PART_BOUNDED && isfinite(p->part[i].low) && isfinite(p->part[i].high);
        p->bound_count += kind == PART_CONTACT || kind == PART_LIMIT || has_two ? 2
                          : kind == PART_BOUNDED                                ? 1
                                                                                : 0;
    }
    memcpy(p->v, p->island->v_free, p->island->velocity_count * sizeof(double));
    p->best_gap = p->mark = HUGE_VAL;
    p->first_gap = p->bound_count > 0 ? gap_after(p, 0.0) : 0.0;
    keep(p);
}

Status compliant_program_init(CompliantProgram *p, const NewtonIsland *island,
                              const CompliantLaw *contact_law, const CompliantLaw *row_law,
                              double zeta, double tangent, const Stop *stop, Arena *arena,
                              Error *error) {
    *p = (CompliantProgram){.island = island,
                            .contact_law = contact_law,
                            .row_law = row_law,
                            .zeta = zeta,
                            .tangent = tangent,
                            .taken = 1.0,
                            // what made the island has not asked for a while
                            .asker = {.stop = stop, .operations = ASKER_OPERATIONS}};
    uint32_t *width = arena_take_array(arena, island->tree_count, sizeof(uint32_t));
    if (width == NULL || !take(p, arena)) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < island->tree_count; i++) {
        width[i] = 2 * island->graph.width[i];
    }
    p->graph = island->graph;
    p->graph.width = width;
    const LdltLimits limits = {FACTOR_NUMBERS_MAX, HUGE_VAL, &p->asker};
    Status status = ldlt_plan(&p->graph, limits, arena, &p->plan, error);
    if (status == STATUS_OK) {
        status = ldlt_init(&p->ldlt, &p->plan, false, arena, error);
    }
    if (status == STATUS_OK) {
        begin(p);
    }
    return status;
}

// The objective's part that is weighed least.
static double weigh(const CompliantProgram *p) {
    double sum = 0.0, least = 0.0;
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        const ProgramPart *part = &p->part[i];
        double size = part->kind == PART_NONE ? 0.0 : size_of(p, i);
        least += part->own[0] * size * size;
        for (uint32_t r = 0; r < part->count; r++) {
            sum += part->own[r] * part->gamma[r] * part->gamma[r];
        }
    }
    return relation_max(sum, LEAST_SHARE * least) / (p->bound_count > 0 ? p->bound_count : 1);
}

// One step; how much of it was taken, negative where numbers are not finite.
static double step(CompliantProgram *p) {
    double gap = p->bound_count > 0 ? gap_after(p, 0.0) : 0.0;
    linearise(p, 0.0);
    if (factor(p) != LDLT_FINITE) {
        return -1.0;
    }
    double alpha = find_step(p);
    if (p->bound_count > 0) {
        double share = gap_after(p, alpha) / gap;
        share = relation_min(relation_max(share, 0.0), 1.0);
        share = relation_max(share * share * share, p->taken < SHORT_STEP ? RECENTRE : CENTRE);
        linearise(p, share * gap);
        alpha = STEP_SHARE * find_step(p);
    }
    if (!numbers_are_finite(p->rest, 2 * p->island->velocity_count)) {
        return -1.0;
    }
    walk(p, alpha);
    p->taken = alpha;
    return alpha;
}

static ProgramOutcome advance(CompliantProgram *p, double tolerance, uint32_t iterations_max) {
    while (p->iterations < iterations_max) {
        double alpha = step(p);
        p->iterations++;
        if (p->asker.is_stopped) {
            return PROGRAM_STOPPED;
        }
        if (alpha < 0.0) {
            return PROGRAM_NOT_FINITE;
        }
        p->gap = p->bound_count > 0 ? gap_after(p, 0.0) : 0.0;
        if (p->gap <= GAP_SHARE * tolerance * weigh(p) && alpha > FULL_STEP) {
            return PROGRAM_MET;
        }
        if (alpha >= WHOLE_ENOUGH && p->gap < p->best_gap) {
            keep(p);
            p->best_gap = p->gap;
            p->marked_at = p->iterations;
        }
        if (p->gap <= 0.9 * p->mark) {
            p->mark = p->gap;
            p->marked_at = p->iterations;
        }
        bool is_early = p->gap > MARK_GAP * p->first_gap;
        if (p->iterations >= p->marked_at + (is_early ? PATIENCE_EARLY : PATIENCE)) {
            return PROGRAM_STALLED;
        }
    }
    return PROGRAM_SPENT;
}

ProgramOutcome compliant_program_minimise(CompliantProgram *p, double tolerance,
                                          uint32_t iterations_max) {
    ProgramOutcome outcome = advance(p, tolerance, iterations_max);
    if (outcome == PROGRAM_STALLED || outcome == PROGRAM_NOT_FINITE) {
        outcome = isfinite(p->best_gap) ? PROGRAM_STALLED : outcome;
        restore(p);
    }
    return outcome;
}
