// SPDX-License-Identifier: MIT
#include "support/harness_judge.h"

#include "base/assert.h"
#include "support/links_mass.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double Real;

enum { WIDTH_MAX = 64 };

// NaN where either is
static Real most(Real a, Real b) {
    return a > b || a != a ? a : b;
}

static Real least(Real a, Real b) {
    return a < b || a != a ? a : b;
}

static Real size2(Real x, Real y) {
    return sqrtl(x * x + y * y);
}

static Real size3(const Real x[3]) {
    return sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// What is made on the way.
typedef struct Court {
    const ContactProblem *problem;
    const Answer *answer;
    uint32_t *of_tree; // the least tree of its island
    Real *inverse;     // [velocity_count][WIDTH_MAX] rows of M^-1, tree by tree
    Real *v_scale;     // [tree_count], at the island's least tree
    Real *momentum;    // [velocity_count]
    Real *largest;     // [tree_count] |J_i^T gamma_i|^2 and the like, at the island's least tree
    Real *summands;    // [tree_count] the sum of all |J_i^T| |gamma_i| there, whatever cancels
    double rounding;
} Court;

static void *take(Arena *arena, size_t count, size_t size) {
    void *piece = arena_take_zeroed(arena, count, size);
    ASSERT(piece != NULL);
    return piece;
}

// ---- Jacobians and masses as matrices

// The rows of one side, 3 x width; returns the width, 0 where there is no such side.
static uint32_t side_rows(const ContactProblem *problem, const ProblemContact *c, int s,
                          Real rows[3][WIDTH_MAX]) {
    const ContactSide *side = &c->side[s];
    if (side->tree == PROBLEM_NO_TREE) {
        return 0;
    }
    const ProblemTree *tree = &problem->tree[side->tree];
    ASSERT(tree->width <= WIDTH_MAX);
    const Vec3 *axes[3] = {&c->normal, &c->tangent[0], &c->tangent[1]};
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; !tree->is_free && i < tree->width; i++) {
            rows[k][i] = problem->number[side->jacobian + (size_t)k * tree->width + i];
        }
        if (tree->is_free) {
            Real sign = s == 0 ? -1.0L : 1.0L, x = axes[k]->x, y = axes[k]->y, z = axes[k]->z;
            const Vec3 *a = &side->arm;
            const Real row[6] = {
                x, y, z, a->y * z - a->z * y, a->z * x - a->x * z, a->x * y - a->y * x};
            for (int i = 0; i < 6; i++) {
                rows[k][i] = sign * row[i];
            }
        }
    }
    return tree->width;
}

static Real mass_of(const ContactProblem *problem, uint32_t t, uint32_t i, uint32_t j) {
    const ProblemTree *tree = &problem->tree[t];
    if (tree->link_count > 0) {
        return links_mass(problem, t, i, j);
    }
    if (!tree->is_free) {
        return problem->number[tree->mass + (size_t)i * tree->width + j];
    }
    const FreeMass *of = &problem->free[t];
    const Sym3 *s = &of->inertia;
    const double tensor[3][3] = {
        {s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    if (i < 3 || j < 3) {
        return i == j ? of->mass : 0.0;
    }
    return tensor[i - 3][j - 3];
}

// Gauss and Jordan; a mass matrix needs no pivots.
static void invert(const ContactProblem *problem, uint32_t t, Real *inverse) {
    uint32_t n = problem->tree[t].width;
    static _Thread_local Real m[WIDTH_MAX][WIDTH_MAX];
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            m[i][j] = mass_of(problem, t, i, j);
            inverse[(size_t)i * WIDTH_MAX + j] = i == j ? 1.0L : 0.0L;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        Real pivot = m[k][k];
        for (uint32_t j = 0; j < n; j++) {
            m[k][j] /= pivot;
            inverse[(size_t)k * WIDTH_MAX + j] /= pivot;
        }
        for (uint32_t i = 0; i < n; i++) {
            Real share = i == k ? 0.0L : m[i][k];
            for (uint32_t j = 0; j < n && share != 0.0L; j++) {
                m[i][j] -= share * m[k][j];
                inverse[(size_t)i * WIDTH_MAX + j] -= share * inverse[(size_t)k * WIDTH_MAX + j];
            }
        }
    }
}

// x M^-1 y
static Real inverse_product(const Court *court, uint32_t tree, const Real *x, const Real *y) {
    const ProblemTree *t = &court->problem->tree[tree];
    const Real *inverse = court->inverse + (size_t)t->first * WIDTH_MAX;
    Real sum = 0.0L;
    for (uint32_t i = 0; i < t->width; i++) {
        for (uint32_t j = 0; j < t->width; j++) {
            sum += x[i] * inverse[(size_t)i * WIDTH_MAX + j] * y[j];
        }
    }
    return sum;
}

// ---- islands

static bool lower(uint32_t *of, uint32_t to) {
    bool is_lower = to < *of;
    *of = is_lower ? to : *of;
    return is_lower;
}

// Each tree takes the least number of what it is joined with, until none changes.
static void find_islands(Court *court) {
    const ContactProblem *p = court->problem;
    for (uint32_t i = 0; i < p->tree_count; i++) {
        court->of_tree[i] = i;
    }
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (uint32_t i = 0; i < p->contact_count; i++) {
            uint32_t a = p->contact[i].side[0].tree, b = p->contact[i].side[1].tree;
            if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
                goes_on |= lower(&court->of_tree[a], court->of_tree[b]);
                goes_on |= lower(&court->of_tree[b], court->of_tree[a]);
            }
        }
        for (uint32_t i = 0; i < p->row_count; i++) {
            const RowBlock *block = p->row_block + p->row[i].block_first;
            for (uint32_t k = 1; k < p->row[i].block_count; k++) {
                goes_on |= lower(&court->of_tree[block[0].tree], court->of_tree[block[k].tree]);
                goes_on |= lower(&court->of_tree[block[k].tree], court->of_tree[block[0].tree]);
            }
        }
    }
}

// ---- one contact, one row

// A contact's or a row's J v, J M^-1 J^T, and what its terms come to without their signs.
typedef struct View {
    uint32_t island;
    Real u[3], free[3], block[3][3], w, terms;
} View;

static void add_block(const Court *court, uint32_t tree, int rows, Real row[3][WIDTH_MAX],
                      View *view) {
    const ProblemTree *t = &court->problem->tree[tree];
    view->island = court->of_tree[tree];
    for (int k = 0; k < rows; k++) {
        for (uint32_t i = 0; i < t->width; i++) {
            Real v = court->answer->v[t->first + i];
            view->u[k] += row[k][i] * v;
            view->free[k] += row[k][i] * court->problem->v_free[t->first + i];
            view->terms += fabsl(row[k][i] * v);
        }
        for (int l = 0; l < rows; l++) {
            view->block[k][l] += inverse_product(court, tree, row[k], row[l]);
        }
    }
}

static void push(Court *court, uint32_t tree, int rows, Real row[3][WIDTH_MAX],
                 const Real *impulse) {
    const ProblemTree *t = &court->problem->tree[tree];
    for (int k = 0; k < rows; k++) {
        for (uint32_t i = 0; i < t->width; i++) {
            court->momentum[t->first + i] += row[k][i] * impulse[k];
        }
    }
}

static View view_contact(Court *court, uint32_t index, const Real *impulse) {
    const ProblemContact *c = &court->problem->contact[index];
    View view = {.island = UINT32_MAX};
    for (int s = 0; s < 2; s++) {
        Real row[3][WIDTH_MAX];
        if (side_rows(court->problem, c, s, row) > 0) {
            add_block(court, c->side[s].tree, 3, row, &view);
            push(court, c->side[s].tree, 3, row, impulse);
        }
    }
    for (int k = 0; k < 3; k++) {
        view.u[k] += c->motion[k];
        view.free[k] += c->motion[k];
        view.terms += fabs(c->motion[k]);
    }
    view.w = (view.block[0][0] + view.block[1][1] + view.block[2][2]) / 3.0L;
    return view;
}

static View view_row(Court *court, uint32_t index, const Real *impulse) {
    const ProblemRow *r = &court->problem->row[index];
    View view = {.island = UINT32_MAX};
    for (uint32_t b = 0; b < r->block_count; b++) {
        const RowBlock *block = &court->problem->row_block[r->block_first + b];
        Real row[3][WIDTH_MAX];
        for (uint32_t i = 0; i < court->problem->tree[block->tree].width; i++) {
            row[0][i] = court->problem->number[block->jacobian + i];
        }
        add_block(court, block->tree, 1, row, &view);
        push(court, block->tree, 1, row, impulse);
    }
    view.w = view.block[0][0];
    return view;
}

// ---- relations, as the page of the certificate writes them; c gamma for gamma

static void project_cone(Real mu, const Real x[3], Real projection[3]) {
    Real t = size2(x[1], x[2]);
    Real n = (x[0] + mu * t) / (1.0L + mu * mu);
    if (mu * t <= -x[0]) { // first, as without friction both hold where t = 0
        memset(projection, 0, 3 * sizeof(Real));
    } else if (t <= mu * x[0]) {
        memcpy(projection, x, 3 * sizeof(Real));
    } else {
        projection[0] = n;
        projection[1] = mu * n / t * x[1];
        projection[2] = mu * n / t * x[2];
    }
}

// c |gamma - Proj_K(gamma - z / c)|
static Real cone_map(Real mu, Real c, const Real gamma[3], const Real z[3]) {
    const Real x[3] = {c * gamma[0] - z[0], c * gamma[1] - z[1], c * gamma[2] - z[2]};
    Real p[3];
    project_cone(mu, x, p);
    const Real rest[3] = {c * gamma[0] - p[0], c * gamma[1] - p[1], c * gamma[2] - p[2]};
    return size3(rest);
}

// c |gamma_t - Disc_b(gamma_t - z_t / c)|
static Real disc_map(Real bound, Real c, const Real gamma[3], const Real z[3]) {
    Real x = c * gamma[1] - z[1], y = c * gamma[2] - z[2], size = size2(x, y);
    Real share = size <= c * bound ? 1.0L : c * bound / size;
    return size2(c * gamma[1] - share * x, c * gamma[2] - share * y);
}

// (D)
static Real dissipation(const View *view, Real mu, const Real u[3], const Real g[3]) {
    Real gt = size2(g[1], g[2]), ut = size2(u[1], u[2]);
    Real residual = fabsl(least(view->w * g[0], u[0]));
    residual = most(residual, view->w * most(gt - mu * most(g[0], 0.0L), 0.0L));
    Real closing = view->block[0][0] * g[0] + view->block[0][1] * g[1] + view->block[0][2] * g[2];
    residual = most(residual, most(-closing, 0.0L));
    if (mu == 0.0L) {
        return residual;
    }
    Real slope = view->block[0][0] > 0.0L ? mu / view->block[0][0] : 0.0L;
    Real that[2] = {0.0L, 0.0L};
    if (gt != 0.0L || ut > 0.0L) {
        that[0] = gt != 0.0L ? g[1] / gt : -u[1] / ut;
        that[1] = gt != 0.0L ? g[2] / gt : -u[2] / ut;
    }
    Real n[2] = {that[0] + slope * view->block[0][1], that[1] + slope * view->block[0][2]};
    Real square = n[0] * n[0] + n[1] * n[1];
    Real nu = square > 0.0L ? most(-(n[0] * u[1] + n[1] * u[2]) / square, 0.0L) : 0.0L;
    Real slack = most(mu * g[0] - gt, 0.0L);
    Real angle =
        size2(u[1] + nu * n[0], u[2] + nu * n[1]) + least(nu * sqrtl(square), view->w * slack);
    return most(residual, least(least(view->w * size3(g), ut), angle));
}

// (P): gamma_t is shared by the two directions next to it
static Real polyhedral(uint32_t count, const View *view, Real mu, const Real u[3],
                       const Real g[3]) {
    const Real turn = 2.0L * acosl(-1.0L) / count;
    Real lambda = 0.0L;
    for (uint32_t j = 0; j < count; j++) {
        lambda = most(lambda, -(cosl(j * turn) * u[1] + sinl(j * turn) * u[2]));
    }
    Real angle = atan2l(g[2], g[1]), residual = fabsl(least(view->w * g[0], u[0]));
    Real sector = floorl(angle / turn), sum = 0.0L;
    Real ahead = angle - sector * turn, gt = size2(g[1], g[2]);
    const Real beta[2] = {gt * sinl(turn - ahead) / sinl(turn), gt * sinl(ahead) / sinl(turn)};
    for (int k = 0; k < 2; k++) {
        Real at = (sector + k) * turn, rate = cosl(at) * u[1] + sinl(at) * u[2] + lambda;
        residual = most(residual, fabsl(least(view->w * beta[k], rate)));
        sum += beta[k];
    }
    return most(residual, fabsl(least(lambda, view->w * (mu * g[0] - sum))));
}

// (Q)
static Real program(const ContactRelation *r, const View *view, Real mu, const Real g[3], Real h) {
    Real x[3], gradient[3], c = r->program_curvature;
    for (int k = 0; k < 3; k++) {
        x[k] = g[k] / h;
        gradient[k] = r->program_gradient[k] / c;
    }
    Real row = least(r->program_multiplier / c, r->program_slack);
    return h * view->w * most(cone_map(mu, 1.0L, x, gradient), fabsl(row));
}

static Real program_row(const RowRelation *r, Real w, Real impulse, Real h) {
    Real x = impulse / h, c = r->program_curvature;
    Real to = most(least(x - r->program_gradient / c, r->high / h), r->low / h);
    Real row = least(r->program_multiplier / c, r->program_slack);
    return h * w * most(fabsl(x - to), fabsl(row));
}

// `law` has z of (*)
static Real own_of(const Court *court, const ContactRelation *r, const View *view,
                   const HarnessLaw *law, Real mu, const Real u[3]) {
    const Real *g = law->impulse;
    const Real z[3] = {u[0] - r->shift + r->normal_compliance * g[0],
                       u[1] + r->tangent_compliance * g[1], u[2] + r->tangent_compliance * g[2]};
    switch (court->answer->relation) {
    case RELATION_CONE:
        return cone_map(mu, law->c, g, law->z);
    case RELATION_DISSIPATION:
        return dissipation(view, mu, u, g);
    case RELATION_POLYHEDRAL:
        return polyhedral(court->answer->directions, view, mu, u, g);
    case RELATION_LAGGED:
        return most(fabsl(least(law->c * g[0], z[0])), disc_map(r->bound, law->c, g, z));
    case RELATION_PROGRAM:
        // Coulomb's law where the limit came before a program was made
        return r->program_curvature > 0.0 ? program(r, view, mu, g, court->problem->time_step)
                                          : cone_map(mu, law->c, g, law->z);
    }
    return NAN;
}

// ---- V

static void scale_islands(Court *court) {
    const ContactProblem *p = court->problem;
    const Answer *answer = court->answer;
    const Real nothing[3] = {0.0L, 0.0L, 0.0L};
    for (uint32_t i = 0; i < p->tree_count; i++) {
        court->v_scale[i] = most(p->gravity * p->time_step, 1e-9L);
    }
    for (uint32_t i = 0; i < p->contact_count; i++) {
        View view = view_contact(court, i, nothing);
        Real bias = answer->contact == NULL ? p->contact[i].bias : answer->contact[i].bias;
        if (view.island != UINT32_MAX) {
            Real *of = &court->v_scale[view.island];
            *of = most(*of, most(size3(view.free), -bias));
        }
    }
    for (uint32_t i = 0; i < p->row_count; i++) {
        View view = view_row(court, i, nothing);
        const RowRelation *r = &answer->row[i];
        bool is_limit = isfinite(r->low) != isfinite(r->high);
        Real target = !is_limit ? fabs(r->bias) : isfinite(r->low) ? -r->bias : r->bias;
        if (view.island != UINT32_MAX) {
            Real *of = &court->v_scale[view.island];
            *of = most(*of, most(fabsl(view.free[0]), target));
        }
    }
}

static Real scale_of_map(Real w, Real impulse, Real v_scale) {
    return w * impulse > 1e8L * v_scale ? 1e8L * v_scale / impulse : w;
}

// ---- the measure

static void note(HarnessVerdict *verdict, CertificateEntry entry, Real value) {
    double *of = &verdict->entry[entry];
    *of = (double)most(*of, value);
}

// Sixty-four roundings of the terms that velocities and maps are made of, by V; laws multiply
// velocities by mu, or by the ratio of a block's entries, which the term with w shows.
static void note_rounding(Court *court, const View *view, const HarnessLaw *law, Real mu, Real bias,
                          Real v_scale) {
    Real terms = view->terms + fabsl(bias) + law->c * size3(law->impulse);
    Real slope = view->block[0][0] > 0.0L ? mu * view->w / view->block[0][0] : 0.0L;
    Real amplified = (1.0L + mu) * (1.0L + mu) * (1.0L + slope);
    court->rounding =
        (double)most(court->rounding, 64.0L * DBL_EPSILON * amplified * terms / v_scale);
}

static void measure_contact(Court *court, uint32_t i, HarnessLaw *law, HarnessVerdict *verdict) {
    const ContactProblem *p = court->problem;
    const ContactRelation *declared = court->answer->contact;
    const ContactRelation rigid = {.bias = p->contact[i].bias, .s = 1.0};
    const ContactRelation *r = declared == NULL ? &rigid : &declared[i];
    const Real mu = p->contact[i].mu;
    *law = (HarnessLaw){.rows = 3};
    for (int k = 0; k < 3; k++) {
        law->impulse[k] = court->answer->contact_impulse[3 * (size_t)i + (size_t)k];
    }
    const Real *g = law->impulse;
    View view = view_contact(court, i, g);
    law->island = view.island;
    law->moves = (double)view.w != 0.0; // in doubles, which end at 1e-323
    if (view.island == UINT32_MAX || !law->moves) {
        return;
    }
    Real v_scale = court->v_scale[view.island], gt = size2(g[1], g[2]);
    law->c = scale_of_map(view.w, size3(g), v_scale);
    const Real u[3] = {view.u[0] + r->bias, view.u[1], view.u[2]};
    law->z[1] = u[1] + r->tangent_compliance * g[1];
    law->z[2] = u[2] + r->tangent_compliance * g[2];
    law->z[0] =
        u[0] - r->shift + r->normal_compliance * g[0] + r->s * mu * size2(law->z[1], law->z[2]);
    law->own = own_of(court, r, &view, law, mu, u);
    const Real lifted[3] = {u[0] + mu * size2(u[1], u[2]), u[1], u[2]};
    Real out = most(most(gt - mu * most(g[0], 0.0L), -g[0]), 0.0L);
    const Real told_over = most(v_scale, court->problem->told_over);
    note(verdict, CERTIFICATE_PEN, most(-u[0], 0.0L) / told_over);
    note(verdict, CERTIFICATE_COMP, fabsl(least(view.w * g[0], u[0])) / told_over);
    note(verdict, CERTIFICATE_CONE, out == 0.0L ? 0.0L : out / most(size3(g), v_scale / view.w));
    note(verdict, CERTIFICATE_MDP, disc_map(mu * most(g[0], 0.0L), law->c, g, u) / told_over);
    note(verdict, CERTIFICATE_DS, cone_map(mu, law->c, g, lifted) / told_over);
    note(verdict, CERTIFICATE_OWN, law->own / told_over);
    note_rounding(court, &view, law, mu, r->bias, v_scale);
    Real square = 0.0L;
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < 3; l++) {
            square += g[k] * view.block[k][l] * g[l];
        }
    }
    court->largest[view.island] = most(court->largest[view.island], square);
    court->summands[view.island] += sqrtl(3.0L * view.w) * size3(g);
}

static void measure_row(Court *court, uint32_t i, HarnessLaw *law, HarnessVerdict *verdict) {
    const RowRelation *r = &court->answer->row[i];
    *law = (HarnessLaw){.rows = 1, .impulse = {court->answer->row_impulse[i]}};
    Real impulse = law->impulse[0];
    View view = view_row(court, i, law->impulse);
    law->island = view.island;
    law->moves = (double)view.w != 0.0; // in doubles, which end at 1e-323
    if (view.island == UINT32_MAX || !law->moves) {
        return;
    }
    Real v_scale = court->v_scale[view.island];
    law->c = scale_of_map(view.w, fabsl(impulse), v_scale);
    law->z[0] = view.u[0] + r->bias + r->compliance * impulse;
    Real x = impulse - law->z[0] / law->c;
    law->own = law->c * fabsl(impulse - most(least(x, r->high), r->low));
    if (r->program_curvature > 0.0) {
        law->own = program_row(r, view.w, impulse, court->problem->time_step);
    }
    const Real told_over = most(v_scale, court->problem->told_over);
    note(verdict, CERTIFICATE_ROW, law->own / told_over);
    note(verdict, CERTIFICATE_OWN, law->own / told_over);
    const Real terms = fabs(r->bias) + fabs(r->compliance) * fabsl(impulse); // which may cancel
    note_rounding(court, &view, law, 0.0L, terms, v_scale);
    court->largest[view.island] = most(court->largest[view.island], view.w * impulse * impulse);
    court->summands[view.island] += sqrtl(view.w) * fabsl(impulse);
}

// |M (v - v*) - p|, |M (v - v*)| and |M v*| of an island, in the norm of M^-1, squared.
typedef struct Balance {
    Real rest, change, free;
} Balance;

static void add_balance(const Court *court, uint32_t t, Balance *balance) {
    const ProblemTree *tree = &court->problem->tree[t];
    Real rest[WIDTH_MAX], change[WIDTH_MAX], free[WIDTH_MAX];
    for (uint32_t i = 0; i < tree->width; i++) {
        change[i] = free[i] = 0.0L;
        for (uint32_t j = 0; j < tree->width; j++) {
            Real m = mass_of(court->problem, t, i, j),
                 v_free = court->problem->v_free[tree->first + j];
            change[i] += m * (court->answer->v[tree->first + j] - v_free);
            free[i] += m * v_free;
        }
        rest[i] = change[i] - court->momentum[tree->first + i];
    }
    balance->rest += inverse_product(court, t, rest, rest);
    balance->change += inverse_product(court, t, change, change);
    balance->free += inverse_product(court, t, free, free);
}

static void measure_momentum(const Court *court, HarnessVerdict *verdict) {
    for (uint32_t island = 0; island < court->problem->tree_count; island++) {
        Balance balance = {0};
        for (uint32_t t = island; t < court->problem->tree_count; t++) {
            if (court->of_tree[t] == island) {
                add_balance(court, t, &balance);
            }
        }
        Real size = sqrtl(most(balance.change, court->largest[island]));
        size = most(size, 1e-4L * sqrtl(balance.free));
        Real rest = sqrtl(balance.rest);
        verdict->rest = (double)size2(verdict->rest, rest);
        note(verdict, CERTIFICATE_MOM, rest == 0.0L && size == 0.0L ? 0.0L : rest / size);
        // what is summed, and velocities as they are stored, which M multiplies
        Real summands = court->summands[island] + sqrtl(balance.free) + sqrtl(balance.change);
        verdict->momentum_rounding =
            (double)most(verdict->momentum_rounding,
                         size == 0.0L ? 0.0L : 64.0L * DBL_EPSILON * summands / size);
        verdict->scale =
            (double)most(verdict->scale, most(court->v_scale[island], court->problem->told_over));
    }
}

void harness_judge(const ContactProblem *problem, const SolveResult *result, Arena *arena,
                   HarnessVerdict *verdict) {
    uint32_t trees = problem->tree_count, velocities = problem->velocity_count;
    Court court = {.problem = problem,
                   .answer = &result->answer,
                   .of_tree = take(arena, trees, sizeof(uint32_t)),
                   .inverse = take(arena, (size_t)velocities * WIDTH_MAX, sizeof(Real)),
                   .v_scale = take(arena, trees, sizeof(Real)),
                   .momentum = take(arena, velocities, sizeof(Real)),
                   .largest = take(arena, trees, sizeof(Real)),
                   .summands = take(arena, trees, sizeof(Real))};
    *verdict = (HarnessVerdict){.contact = take(arena, problem->contact_count, sizeof(HarnessLaw)),
                                .row = take(arena, problem->row_count, sizeof(HarnessLaw))};
    find_islands(&court);
    for (uint32_t i = 0; i < trees; i++) {
        invert(problem, i, court.inverse + (size_t)problem->tree[i].first * WIDTH_MAX);
    }
    scale_islands(&court);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        measure_contact(&court, i, &verdict->contact[i], verdict);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        measure_row(&court, i, &verdict->row[i], verdict);
    }
    measure_momentum(&court, verdict);
    // what is far from being solved is large: its own roundings count, too
    verdict->rounding = court.rounding;
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        verdict->rounding = fmax(verdict->rounding, 64.0 * DBL_EPSILON * verdict->entry[k]);
    }
    const double *entry = verdict->entry;
    verdict->cone_claimed =
        result->answer.relation == RELATION_LAGGED ? 0.0 : entry[CERTIFICATE_CONE];
    verdict->converged = entry[CERTIFICATE_MOM] <= 1e-10 && verdict->cone_claimed <= 1e-12 &&
                         entry[CERTIFICATE_OWN] <= result->certificate.tolerance &&
                         isfinite(verdict->scale);
}

long double harness_distance(const ContactProblem *problem, const double *a, const double *b) {
    Real sum = 0.0L;
    for (uint32_t t = 0; t < problem->tree_count; t++) {
        const ProblemTree *tree = &problem->tree[t];
        for (uint32_t i = 0; i < tree->width; i++) {
            for (uint32_t j = 0; j < tree->width; j++) {
                sum += ((Real)a[tree->first + i] - b[tree->first + i]) * mass_of(problem, t, i, j) *
                       ((Real)a[tree->first + j] - b[tree->first + j]);
            }
        }
    }
    return sum;
}
