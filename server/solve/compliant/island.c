// SPDX-License-Identifier: MIT
#include "solve/compliant/island.h"

#include "base/assert.h"
#include "solve/compliant/bed_law.h"

#include <string.h>

// after so many steps without coming half as near it has stalled
enum { PATIENCE = 12 };
// On the path a step is halved so often until the merit falls by this share of what it would if e
// were linear.
enum { HALVINGS = 6 };
#define MERIT_SHARE 0.5

// ---- in and out

static bool take(CompliantIsland *p, Arena *arena) {
    size_t constraints = p->sweep.island.constraint_count, impulses = p->sweep.island.impulse_count;
    double **of_impulse[] = {&p->x, &p->nearest.x, &p->from_x, &p->d_x, &p->e, &p->kept};
    bool is_taken = true;
    for (size_t k = 0; k < sizeof(of_impulse) / sizeof(of_impulse[0]); k++) {
        *of_impulse[k] = arena_take_zeroed(arena, impulses, sizeof(double));
        is_taken = is_taken && *of_impulse[k] != NULL;
    }
    p->sweep_law = arena_take_array(arena, constraints, sizeof(*p->sweep_law));
    p->own = arena_take_array(arena, constraints, sizeof(*p->own));
    p->law = arena_take_array(arena, constraints, sizeof(*p->law));
    p->bed_law = arena_take_array(arena, constraints, sizeof(*p->bed_law));
    p->sweep.next = arena_take_array(arena, constraints + 1, sizeof(*p->sweep.next));
    p->inverse = arena_take_array(arena, constraints, SAP_BLOCK * sizeof(double));
    p->slope = arena_take_array(arena, constraints, SAP_BLOCK * sizeof(double));
    return is_taken && p->sweep_law != NULL && p->own != NULL && p->law != NULL &&
           p->bed_law != NULL && p->sweep.next != NULL && p->inverse != NULL && p->slope != NULL;
}

// What pushes for all cells of a bed is no longer asked one by one.
static void leave_to_bed(CompliantIsland *p, const Bed *bed) {
    ASSERT(bed->count > 0);
    for (uint32_t i = 0; i < BED_PLACES * bed->count; i++) {
        const uint32_t of = bed->cells[i / BED_PLACES].constraint[i % BED_PLACES];
        p->bed_law[of] = p->own[of];
        p->own[of] = NULL;
        p->sweep.law[of] = NULL;
        p->has_rough_bed = p->has_rough_bed || p->law[of].mu > 0.0;
    }
}

static bool may_be_cell(const void *context, uint32_t constraint) {
    return ((const CompliantIsland *)context)->own[constraint] != NULL;
}

static void set_beds(CompliantIsland *p, double share) {
    for (uint32_t i = 0; i < p->sweep.bed_count; i++) {
        bed_law_set(&p->sweep.bed[i], p->bed_law, share);
    }
}

static Status find_beds(CompliantIsland *p, Arena *arena, Error *error) {
    SapIsland *s = &p->sweep;
    Status status =
        bed_find(&s->island, may_be_cell, p, arena, &s->bed, &s->bed_count, s->next, error);
    for (uint32_t i = 0; i < s->bed_count && status == STATUS_OK; i++) {
        leave_to_bed(p, &s->bed[i]);
    }
    if (status == STATUS_OK) {
        set_beds(p, 0.0);
    }
    return status;
}

Status compliant_island_init(CompliantIsland *p, const CompliantLaw *contact_law,
                             const CompliantLaw *row_law, Arena *arena, Error *error) {
    ASSERT(p->sweep.island.constraint_count > 0);
    const NewtonIsland *island = &p->sweep.island;
    Status status = ldlt_init(&p->ldlt, &p->sweep.plan, false, arena, error);
    if (status == STATUS_OK && !take(p, arena)) {
        status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                           "The solver's memory is too small for Newton's method.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        const CompliantLaw *law = (c->rows == 3 ? contact_law : row_law) + c->index;
        // what may not push is far beyond what the others differ by
        const bool is_none = c->w == 0.0 || compliant_law_is_far(law);
        p->own[i] = is_none ? NULL : law;
        p->law[i] = *law;
        p->sweep.law[i] = is_none ? NULL : &p->sweep_law[i];
    }
    return find_beds(p, arena, error);
}

void compliant_island_store(const CompliantIsland *p, double *contact_impulse,
                            double *row_impulse) {
    ASSERT(contact_impulse != NULL || p->sweep.island.contact_count == 0);
    ASSERT(row_impulse != NULL ||
           p->sweep.island.constraint_count == p->sweep.island.contact_count);
    sap_island_store(&p->sweep, contact_impulse, row_impulse);
}

// ---- where x is

// e of x and gamma, where v is
static void make_residual(CompliantIsland *p, uint32_t i) {
    SapIsland *s = &p->sweep;
    const NewtonConstraint *c = &s->island.constraint[i];
    const CompliantLaw *law = &p->law[i];
    const double *x = p->x + c->first, *gamma = s->gamma + c->first;
    double *e = p->e + c->first;
    newton_product(&s->island, c, s->v, e);
    for (uint32_t r = 0; r < c->rows; r++) {
        double of = compliant_law_r(law, r);
        e[r] += of * gamma[r] - law->target[r] - (of + c->w) * (gamma[r] - x[r]);
        p->residual = relation_max(p->residual, fabs(e[r]));
        p->merit += e[r] * e[r] / (of + c->w);
    }
}

// A law's pass over each bed in turn.
static void pass_beds(CompliantIsland *p, BedLawKind kind, BedPass *pass, double *push) {
    SapIsland *s = &p->sweep;
    for (uint32_t i = 0; i < s->bed_count; i++) {
        bed_law_pass(&s->bed[i], kind, pass);
        if (kind == BED_LAW_REST) {
            p->residual = relation_max(p->residual, pass->largest);
            p->merit += pass->merit;
        }
        if (push != NULL) {
            bed_add_momentum(&s->bed[i], pass, push);
        }
        if (kind == BED_LAW_LINEARISE) {
            bed_add_matrix(&s->bed[i], pass, &p->ldlt);
        }
        sap_island_spend(s, BED_OPERATIONS * BED_PLACES * s->bed[i].count);
    }
}

// gamma of x, v of gamma, e
static void look(CompliantIsland *p) {
    SapIsland *s = &p->sweep;
    const NewtonIsland *island = &s->island;
    memset(s->push, 0, island->velocity_count * sizeof(double));
    for (uint32_t i = sap_island_next(s, 0); i < island->constraint_count;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &island->constraint[i];
        if (p->own[i] != NULL) {
            compliant_law_impulse(&p->law[i], p->x + c->first, s->gamma + c->first);
            newton_momentum(island, c, s->gamma + c->first, s->push);
            sap_island_spend(s, SAP_OPERATIONS_LOOK);
        }
    }
    BedPass pass = {.x = p->x, .gamma = s->gamma, .impulse = s->gamma, .rest = p->e};
    pass_beds(p, BED_LAW_IMPULSE, &pass, s->push);
    sap_island_follow(s);
    p->residual = p->merit = 0.0;
    for (uint32_t i = sap_island_next(s, 0); i < island->constraint_count;
         i = sap_island_next(s, i + 1)) {
        if (p->own[i] != NULL) {
            make_residual(p, i);
            sap_island_spend(s, SAP_OPERATIONS_LOOK);
        }
    }
    pass.v = s->v;
    pass_beds(p, BED_LAW_REST, &pass, NULL);
}

// To x of gamma as the natural map has it: e is 0 where gamma would stay.
static void start(CompliantIsland *p, const double *gamma) {
    SapIsland *s = &p->sweep;
    const NewtonIsland *island = &s->island;
    sap_island_velocities(s, gamma, s->v);
    for (uint32_t i = sap_island_next(s, 0); i < island->constraint_count;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &island->constraint[i];
        const CompliantLaw *law = &p->law[i];
        if (p->own[i] == NULL) {
            continue;
        }
        double u[NEWTON_ROWS_MAX];
        newton_product(island, c, s->v, u);
        for (uint32_t r = 0; r < c->rows; r++) {
            double of = compliant_law_r(law, r), now = gamma[c->first + r];
            p->x[c->first + r] = now - (u[r] - law->target[r] + of * now) / (of + c->w);
        }
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
    BedPass pass = {.v = s->v, .gamma = gamma, .change = p->x};
    pass_beds(p, BED_LAW_START, &pass, NULL);
    look(p);
}

static void forget(CompliantIsland *p) {
    sap_nearest_forget(&p->nearest, &p->sweep, p->x);
}

void compliant_island_begin(CompliantIsland *p, const double *contact_impulse,
                            const double *row_impulse) {
    ASSERT(p->x != p->nearest.x);
    SapIsland *s = &p->sweep;
    size_t bytes = s->island.impulse_count * sizeof(double);
    p->halves = false;
    sap_island_load(s, contact_impulse, row_impulse);
    memcpy(s->u, s->gamma, bytes);
    start(p, s->u);
    double warm = p->residual;
    memcpy(p->nearest.x, p->x, bytes);
    memset(s->u, 0, bytes);
    start(p, s->u);
    if (warm < p->residual) {
        memcpy(p->x, p->nearest.x, bytes);
        look(p);
    }
    forget(p);
}

// ---- Newton's steps

static LdltOutcome factor(CompliantIsland *p) {
    SapIsland *s = &p->sweep;
    const NewtonIsland *island = &s->island;
    newton_begin_matrix(island, &p->ldlt);
    for (uint32_t i = sap_island_next(s, 0); i < island->constraint_count && !s->is_stopped;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &island->constraint[i];
        if (p->own[i] != NULL) {
            double *slope = p->slope + (size_t)SAP_BLOCK * i;
            compliant_law_linearise(&p->law[i], c->w, p->x + c->first,
                                    p->inverse + (size_t)SAP_BLOCK * i, slope);
            newton_add_matrix(island, &p->ldlt, c, slope);
            sap_island_spend(s, SAP_OPERATIONS_STEP);
        }
    }
    BedPass pass = {.x = p->x};
    pass_beds(p, BED_LAW_LINEARISE, &pass, NULL);
    sap_island_spend(s, SAP_OPERATIONS_VELOCITY * (double)island->velocity_count);
    bool is_begun = asker_affords(&s->asker, 2.0 * s->plan.operations);
    LdltOutcome outcome = is_begun ? ldlt_factor(&p->ldlt, s->asker.stop) : LDLT_STOPPED;
    s->is_stopped = s->is_stopped || outcome == LDLT_STOPPED;
    sap_island_spend(s, 2.0 * s->plan.operations);
    return outcome;
}

// d_v, and once more what it left: stiff springs leave more of the equation than the rest of it is.
static void find_velocities(CompliantIsland *p) {
    SapIsland *s = &p->sweep;
    size_t count = s->island.velocity_count;
    sap_island_remainder(s, p->slope, p->e, true);
    memcpy(s->d_v, s->work, count * sizeof(double));
    ldlt_solve(&p->ldlt, s->d_v);
    sap_island_remainder(s, p->slope, p->e, false);
    ldlt_solve(&p->ldlt, s->work);
    for (size_t k = 0; k < count; k++) {
        s->d_v[k] += s->work[k];
    }
    sap_island_spend(s, 8.0 * (double)(s->plan.lower_count + s->plan.diagonal_count));
}

// d_x
static void correct(CompliantIsland *p) {
    SapIsland *s = &p->sweep;
    double change[NEWTON_ROWS_MAX];
    for (uint32_t i = sap_island_next(s, 0); i < s->island.constraint_count;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &s->island.constraint[i];
        const bool moves = sap_island_change(s, i, p->inverse, p->e, change);
        for (uint32_t r = 0; moves && r < c->rows; r++) {
            p->d_x[c->first + r] = -change[r];
        }
    }
    BedPass pass = {.v = s->d_v, .e = p->e, .change = p->d_x};
    sap_island_beds(s, BED_CHANGE, &pass, NULL);
}

// To alpha of the way along d_x.
static void walk(CompliantIsland *p, double alpha) {
    size_t count = p->sweep.island.impulse_count;
    for (size_t k = 0; k < count; k++) {
        p->x[k] = p->from_x[k] + alpha * p->d_x[k];
    }
    look(p);
}

// x += alpha d_x, the first alpha of 1, 1/2 … that takes enough of the merit, or the one that takes
// most of it.
static void search(CompliantIsland *p) {
    double from = p->merit, least = HUGE_VAL, best = 1.0, alpha = 1.0;
    for (int k = 0; k < HALVINGS && !p->sweep.is_stopped; k++) {
        walk(p, alpha);
        if (p->merit <= (1.0 - MERIT_SHARE * alpha) * from) {
            return;
        }
        best = p->merit < least ? alpha : best;
        least = p->merit < least ? p->merit : least;
        alpha *= 0.5;
    }
    walk(p, best);
}

void compliant_island_back(CompliantIsland *p) {
    ASSERT(p->x != p->nearest.x);
    if (!(p->residual <= p->nearest.residual)) {
        memcpy(p->x, p->nearest.x, p->sweep.island.impulse_count * sizeof(double));
        look(p);
    }
}

SapOutcome compliant_island_newton(CompliantIsland *p, double velocity, uint32_t iterations_max) {
    ASSERT(!(velocity < 0.0));
    SapIsland *s = &p->sweep;
    for (;;) {
        bool goes_on = sap_nearest_keep(&p->nearest, s, p->x, p->residual, PATIENCE);
        if (s->is_stopped) {
            return SAP_STOPPED;
        }
        if (p->residual <= velocity) {
            return SAP_MET;
        }
        if (!goes_on || s->iterations >= iterations_max) {
            return goes_on ? SAP_SPENT : SAP_STALLED;
        }
        if (factor(p) != LDLT_FINITE) {
            return s->is_stopped ? SAP_STOPPED : SAP_NOT_FINITE;
        }
        find_velocities(p);
        correct(p);
        memcpy(p->from_x, p->x, s->island.impulse_count * sizeof(double));
        s->iterations++;
        if (p->halves) {
            search(p);
        } else {
            walk(p, 1.0);
        }
    }
}

// ---- the path

void compliant_island_soften(CompliantIsland *p, double share) {
    ASSERT(!(share < 0.0));
    SapIsland *s = &p->sweep;

    p->halves = true;
    for (uint32_t i = 0; i < s->island.constraint_count; i++) {
        const CompliantLaw *own = p->own[i];
        if (own != NULL) {
            double least = share * s->island.constraint[i].w;
            p->law[i].normal = own->normal < least ? least : own->normal;
            p->law[i].tangent = own->tangent < least ? least : own->tangent;
        }
    }
    set_beds(p, share);
    memcpy(s->u, s->gamma, s->island.impulse_count * sizeof(double));
    start(p, s->u);
    forget(p);
}

void compliant_island_keep(CompliantIsland *p) {
    ASSERT(p->kept != p->sweep.gamma);
    memcpy(p->kept, p->sweep.gamma, p->sweep.island.impulse_count * sizeof(double));
}

void compliant_island_restore(CompliantIsland *p) {
    ASSERT(p->kept != p->sweep.gamma);
    memcpy(p->sweep.gamma, p->kept, p->sweep.island.impulse_count * sizeof(double));
}

// ---- sweeps

// What a sweep minimises: friction within the bounds of the impulses at hand.
static void set_bounds(CompliantIsland *p) {
    const SapIsland *s = &p->sweep;
    for (uint32_t i = 0; i < s->island.constraint_count; i++) {
        const CompliantLaw *law = p->own[i];
        if (law == NULL) {
            continue;
        }
        double normal = s->gamma[s->island.constraint[i].first];
        p->sweep_law[i] =
            law->is_row ? sap_law_row(law->target[0], law->normal, law->low, law->high)
                        : sap_law_lagged(law->target, law->normal, law->tangent, law->mu * normal);
    }
    for (uint32_t i = 0; i < s->bed_count; i++) {
        bed_law_bound(&s->bed[i], s->gamma);
    }
}

SapOutcome compliant_island_stagger(CompliantIsland *p, uint32_t sweeps, double tolerance,
                                    uint32_t iterations_max) {
    ASSERT(!(tolerance <= 0.0));
    SapIsland *s = &p->sweep;
    SapOutcome outcome = SAP_MET;
    for (uint32_t i = 0; i < sweeps; i++) {
        uint32_t before = s->iterations;
        set_bounds(p);
        sap_island_start(s);
        outcome = sap_island_minimise(s, tolerance, iterations_max);
        if (outcome == SAP_STOPPED || outcome == SAP_NOT_FINITE || outcome == SAP_SPENT) {
            return outcome;
        }
        // bounds that ask for no step are those of the answer
        if (s->iterations == before) {
            break;
        }
    }
    memcpy(s->u, s->gamma, s->island.impulse_count * sizeof(double));
    start(p, s->u);
    forget(p);
    return outcome;
}
