// SPDX-License-Identifier: MIT
// The measure of contacts, SIMD_COUNT at a time: the file that includes this says how many.
#pragma once

#include "base/assert.h"
#include "solve/certificate_parts.h"
#include "solve/certificate_relation_simd.h"
#include "solve/contact_simd.h"

// What contacts add to the measures of their islands.
typedef struct ContactMeasure {
    Simd pen, comp, mdp, ds, own; // [m/s]
    Simd cone, impulse_square;
} ContactMeasure;

// The largest of the contacts of one island, place by place, while they follow each other.
typedef struct Watch {
    uint32_t island; // PROBLEM_NO_TREE: none yet
    ContactMeasure most;
} Watch;

// The square of the momentum that an impulse is to its bodies, in the norm of M^-1.
INLINE Simd impulse_square(const ContactStates *state) {
    const Simd *g = state->gamma;
    return g[0] * (state->nn * g[0] + state->nt * g[1] + state->no * g[2]) +
           g[1] * (state->nt * g[0] + state->tt * g[1] + state->to * g[2]) +
           g[2] * (state->no * g[0] + state->to * g[1] + state->oo * g[2]);
}

INLINE Simd cone_error(const ContactStates *state, Simd v_scale) {
    const Simd *g = state->gamma, zero = simd_all(0.0);
    Simd square = g[1] * g[1] + g[2] * g[2];
    Simd out = simd_root(square) - state->mu * simd_positive(g[0]);
    out = simd_positive(simd_max(out, -g[0]));
    Simd size = simd_max(simd_root(g[0] * g[0] + square), v_scale / state->w);
    return simd_choose(out == zero, zero, out / size);
}

// everything but the own residual
INLINE ContactMeasure measure_states(const ContactStates *state, Simd v_scale) {
    const Simd *u = state->u;
    Simd bound = state->mu * simd_positive(state->gamma[0]);
    const Simd lifted[3] = {u[0] + state->mu * relation_norm2(u[1], u[2]), u[1], u[2]};
    return (ContactMeasure){.pen = simd_positive(-u[0]),
                            .comp = simd_abs(simd_min(state->w * state->gamma[0], u[0])),
                            .mdp = relation_disc_maps(state, bound, u + 1),
                            .ds = relation_cone_maps(state, lifted),
                            .cone = cone_error(state, v_scale),
                            .impulse_square = impulse_square(state)};
}

// ---- islands

INLINE IslandMeasure *island_at(const CertificateMeasure *m, uint32_t island) {
    return &m->island[island - m->island_begin];
}

INLINE void note_contact(const CertificateMeasure *m, uint32_t of, const ContactMeasure *measure,
                         int place) {
    IslandMeasure *island = island_at(m, of);
    certificate_note(island, CERTIFICATE_PEN, measure->pen[place]);
    certificate_note(island, CERTIFICATE_COMP, measure->comp[place]);
    certificate_note(island, CERTIFICATE_MDP, measure->mdp[place]);
    certificate_note(island, CERTIFICATE_DS, measure->ds[place]);
    certificate_note(island, CERTIFICATE_OWN, measure->own[place]);
    island->cone = relation_max(island->cone, measure->cone[place]);
    island->cone_claimed = m->answer->relation == RELATION_LAGGED ? 0.0 : island->cone;
    island->impulse_square = relation_max(island->impulse_square, measure->impulse_square[place]);
}

INLINE void settle(CertificateMeasure *m, const Watch *watch) {
    if (watch->island != PROBLEM_NO_TREE) {
        for (int place = 0; place < SIMD_COUNT; place++) {
            note_contact(m, watch->island, &watch->most, place);
        }
    }
}

INLINE void watch_contacts(ContactMeasure *most, const ContactMeasure *measure) {
    most->pen = simd_max(most->pen, measure->pen);
    most->comp = simd_max(most->comp, measure->comp);
    most->mdp = simd_max(most->mdp, measure->mdp);
    most->ds = simd_max(most->ds, measure->ds);
    most->own = simd_max(most->own, measure->own);
    most->cone = simd_max(most->cone, measure->cone);
    most->impulse_square = simd_max(most->impulse_square, measure->impulse_square);
}

// Contacts of one island are watched, others noted one by one, and what moves nothing is not.
INLINE void note_contacts(CertificateMeasure *m, const uint32_t of[SIMD_COUNT], SimdMask moves,
                          const ContactMeasure *measure, Watch *watch) {
    bool is_one = true;
    for (int place = 0; place < SIMD_COUNT; place++) {
        is_one = is_one && of[place] == of[0] && moves[place] != 0;
    }
    if (is_one && of[0] != watch->island) {
        settle(m, watch);
        *watch = (Watch){.island = of[0]};
    }
    if (is_one) {
        watch_contacts(&watch->most, measure);
        return;
    }
    for (int place = 0; place < SIMD_COUNT; place++) {
        if (moves[place] != 0) {
            note_contact(m, of[place], measure, place);
        }
    }
}

// ---- velocities of contacts between free bodies

// as numbers
typedef struct Contacts {
    const double *number[SIMD_COUNT];
    uint32_t a[SIMD_COUNT], b[SIMD_COUNT]; // trees
} Contacts;

#if SIMD_COUNT == 4
#define EACH(x)                                                                                    \
    { x(0), x(1), x(2), x(3) }
#else
#define EACH(x)                                                                                    \
    { x(0), x(1) }
#endif

INLINE Contacts contacts_at(const ContactProblem *problem, const uint32_t *contact) {
    const ProblemContact *all = problem->contact;
#define NUMBERS(place) (const double *)&all[contact[place]]
#define TREE_A(place)  all[contact[place]].side[0].tree
#define TREE_B(place)  all[contact[place]].side[1].tree
    return (Contacts){.number = EACH(NUMBERS), .a = EACH(TREE_A), .b = EACH(TREE_B)};
#undef NUMBERS
#undef TREE_A
#undef TREE_B
}

INLINE Simd3 velocity_of(const Contacts *contacts, const ContactColumns *columns, const double *v) {
#define SIX_A(place) contact_six(v, contacts->a[place])
#define SIX_B(place) contact_six(v, contacts->b[place])
    const double *const a[SIMD_COUNT] = EACH(SIX_A), *const b[SIMD_COUNT] = EACH(SIX_B);
#undef SIX_A
#undef SIX_B
    return contact_velocity(columns, a, b);
}

// What is added to the sixes of a body in each place: as they stand in memory.
#if SIMD_COUNT == 4

typedef double Two __attribute__((vector_size(2 * sizeof(double)), may_alias, aligned(8)));

typedef struct Sixes {
    Simd first0, first1, first2, first3;
    Two last0, last1, last2, last3;
} Sixes;

INLINE Sixes sixes_of(Simd3 linear, Simd3 angular) {
    Simd p = linear.x, q = linear.y, r = linear.z, s = angular.x;
    simd_transpose(&p, &q, &r, &s);
    const Simd even = __builtin_shufflevector(angular.y, angular.z, 0, 4, 2, 6),
               odd = __builtin_shufflevector(angular.y, angular.z, 1, 5, 3, 7);
    return (Sixes){.first0 = p,
                   .first1 = q,
                   .first2 = r,
                   .first3 = s,
                   .last0 = __builtin_shufflevector(even, even, 0, 1),
                   .last1 = __builtin_shufflevector(odd, odd, 0, 1),
                   .last2 = __builtin_shufflevector(even, even, 2, 3),
                   .last3 = __builtin_shufflevector(odd, odd, 2, 3)};
}

INLINE void add_six(double *at, Simd first, Two last) {
    *(SimdAnywhere *)at += first;
    *(Two *)(at + 4) += last;
}

// One contact after the other, as bodies may be the same.
INLINE void add_sixes(double *const a[SIMD_COUNT], const Sixes *on_a, double *const b[SIMD_COUNT],
                      const Sixes *on_b) {
    add_six(a[0], on_a->first0, on_a->last0);
    add_six(b[0], on_b->first0, on_b->last0);
    add_six(a[1], on_a->first1, on_a->last1);
    add_six(b[1], on_b->first1, on_b->last1);
    add_six(a[2], on_a->first2, on_a->last2);
    add_six(b[2], on_b->first2, on_b->last2);
    add_six(a[3], on_a->first3, on_a->last3);
    add_six(b[3], on_b->first3, on_b->last3);
}

#else

typedef struct Sixes {
    Simd3 linear, angular;
} Sixes;

INLINE Sixes sixes_of(Simd3 linear, Simd3 angular) {
    return (Sixes){linear, angular};
}

INLINE void add_six(double *at, const Sixes *of, int place) {
    at[0] += of->linear.x[place];
    at[1] += of->linear.y[place];
    at[2] += of->linear.z[place];
    at[3] += of->angular.x[place];
    at[4] += of->angular.y[place];
    at[5] += of->angular.z[place];
}

INLINE void add_sixes(double *const a[SIMD_COUNT], const Sixes *on_a, double *const b[SIMD_COUNT],
                      const Sixes *on_b) {
    add_six(a[0], on_a, 0);
    add_six(b[0], on_b, 0);
    add_six(a[1], on_a, 1);
    add_six(b[1], on_b, 1);
}

#endif

// problem_contact_momentum of contacts one after the other; `count` is a multiple of SIMD_COUNT.
INLINE void add_momenta(const ContactProblem *problem, const uint32_t *contact, uint32_t count,
                        const double *impulse, double *momentum) {
    VALIDATE(count % SIMD_COUNT == 0);
    VALIDATE(problem->all_free);
    double nobody[6] = {0.0};
    for (uint32_t i = 0; i < count; i += SIMD_COUNT) {
        const Contacts contacts = contacts_at(problem, contact + i);
        const ContactColumns c = contact_columns(contacts.number);
#define GAMMA(place) impulse + 3 * (size_t)contact[i + (place)]
#define OF(tree)     (tree) == PROBLEM_NO_TREE ? nobody : momentum + 6 * (size_t)(tree)
#define SIX_A(place) OF(contacts.a[place])
#define SIX_B(place) OF(contacts.b[place])
        const double *const gamma[SIMD_COUNT] = EACH(GAMMA);
        double *const a[SIMD_COUNT] = EACH(SIX_A), *const b[SIMD_COUNT] = EACH(SIX_B);
#undef GAMMA
#undef OF
#undef SIX_A
#undef SIX_B
        Simd3 push = simd3_scale(SIMD_OF(gamma, [0]), c.normal);
        push = simd3_add(push, simd3_scale(SIMD_OF(gamma, [1]), c.tangent));
        push = simd3_add(push, simd3_scale(SIMD_OF(gamma, [2]), c.other));
        const Simd3 back = {-push.x, -push.y, -push.z};
        const Sixes on_a = sixes_of(back, simd3_cross(c.arm_a, back)),
                    on_b = sixes_of(push, simd3_cross(c.arm_b, push));
        add_sixes(a, &on_a, b, &on_b);
    }
}

// What contacts ask of V, at least `most`: how fast they are, and how fast they are to leave.
// `count` is a multiple of SIMD_COUNT. Roots are in the order of what they are of.
INLINE double scale_contacts(const ContactProblem *problem, const uint32_t *contact, uint32_t count,
                             double most) {
    VALIDATE(count % SIMD_COUNT == 0);
    VALIDATE(problem->all_free);
    Simd square = simd_all(0.0), leaving = simd_all(most);
    for (uint32_t i = 0; i < count; i += SIMD_COUNT) {
        const Contacts contacts = contacts_at(problem, contact + i);
        const ContactColumns columns = contact_columns(contacts.number);
        const Simd3 u = velocity_of(&contacts, &columns, problem->v_free);
        square = simd_max(square, simd3_dot(u, u));
        leaving = simd_max(leaving, -columns.bias);
    }
    const Simd all = simd_max(simd_root(square), leaving);
    for (int place = 0; place < SIMD_COUNT; place++) {
        most = relation_max(most, all[place]);
    }
    return most;
}

// ---- contacts

// Velocities and targets.
INLINE void load_velocities(const CertificateMeasure *m, const uint32_t contact[SIMD_COUNT],
                            ContactStates *state) {
    double u[SIMD_COUNT][3], bias[SIMD_COUNT];
    for (int place = 0; place < SIMD_COUNT; place++) {
        problem_contact_velocity(m->problem, contact[place], m->answer->v, u[place]);
        bias[place] = certificate_bias(m->problem, m->answer, contact[place]);
    }
    state->u[0] = SIMD_OF(u, [0]) + SIMD_OF(bias, );
    state->u[1] = SIMD_OF(u, [1]);
    state->u[2] = SIMD_OF(u, [2]);
}

// The same where all trees are free, and contacts have the problem's targets.
INLINE void load_free_velocities(const Contacts *contacts, const double *v, ContactStates *state) {
    const ContactColumns columns = contact_columns(contacts->number);
    const Simd3 u = velocity_of(contacts, &columns, v);
    state->u[0] = u.x + columns.bias;
    state->u[1] = u.y;
    state->u[2] = u.z;
}

INLINE void load_states(const CertificateMeasure *m, const uint32_t contact[SIMD_COUNT],
                        Simd v_scale, ContactStates *state) {
    const MassBlock *block[SIMD_COUNT];
    const ProblemContact *of[SIMD_COUNT];
    const double *gamma[SIMD_COUNT];
    for (int place = 0; place < SIMD_COUNT; place++) {
        block[place] = mass_contact_block(m->mass, contact[place]);
        of[place] = &m->problem->contact[contact[place]];
        gamma[place] = m->answer->contact_impulse + 3 * (size_t)contact[place];
    }
    VALIDATE(m->mass->problem == m->problem);
    if (m->problem->all_free && m->answer->contact == NULL) {
        const Contacts contacts = contacts_at(m->problem, contact);
        load_free_velocities(&contacts, m->answer->v, state);
    } else {
        load_velocities(m, contact, state);
    }
    state->nn = SIMD_OF(block, ->nn);
    state->nt = SIMD_OF(block, ->nt);
    state->no = SIMD_OF(block, ->no);
    state->tt = SIMD_OF(block, ->tt);
    state->to = SIMD_OF(block, ->to);
    state->oo = SIMD_OF(block, ->oo);
    state->w = (state->nn + state->tt + state->oo) / 3.0;
    state->mu = SIMD_OF(of, ->mu);
    state->gamma[0] = SIMD_OF(gamma, [0]);
    state->gamma[1] = SIMD_OF(gamma, [1]);
    state->gamma[2] = SIMD_OF(gamma, [2]);
    state->c = relation_scale(state->w, state->gamma, v_scale);
}

// one of them
INLINE ContactState part(const ContactStates *all, int place) {
    double nt = all->nt[place], no = all->no[place], to = all->to[place];
    return (ContactState){
        .block = {all->nn[place], nt, no, nt, all->tt[place], to, no, to, all->oo[place]},
        .w = all->w[place],
        .c = all->c[place],
        .mu = all->mu[place],
        .u = {all->u[0][place], all->u[1][place], all->u[2][place]},
        .gamma = {all->gamma[0][place], all->gamma[1][place], all->gamma[2][place]}};
}

// (*) of what was declared: relation_residual's, in all places at once.
INLINE Simd declared_cones(const ContactRelation *declared, const uint32_t contact[SIMD_COUNT],
                           const ContactStates *states) {
    VALIDATE(declared != NULL);
    const ContactRelation *of[SIMD_COUNT];
    for (int place = 0; place < SIMD_COUNT; place++) {
        of[place] = &declared[contact[place]];
    }
    const Simd *u = states->u, *gamma = states->gamma;
    Simd tangent = SIMD_OF(of, ->tangent_compliance), normal = SIMD_OF(of, ->normal_compliance);
    Simd z[3] = {u[0] - SIMD_OF(of, ->shift) + normal * gamma[0], u[1] + tangent * gamma[1],
                 u[2] + tangent * gamma[2]};
    z[0] += SIMD_OF(of, ->s) * states->mu * relation_norm2(z[1], z[2]);
    return relation_cone_maps(states, z);
}

// `ds` is the distance from exact Coulomb, which a solver of rigid contacts means to meet.
INLINE Simd own_residual(const CertificateMeasure *m, const uint32_t contact[SIMD_COUNT],
                         const ContactStates *states, Simd ds) {
    const ContactRelation *declared = m->answer->contact;
    if (m->answer->relation == RELATION_DISSIPATION) {
        return relation_dissipations(states);
    }
    if (m->answer->relation == RELATION_CONE) {
        return declared == NULL ? ds : declared_cones(declared, contact, states);
    }
    Simd own;
    for (int place = 0; place < SIMD_COUNT; place++) {
        ContactState state = part(states, place);
        ContactRelation rigid = {.bias = m->problem->contact[contact[place]].bias, .s = 1.0};
        own[place] =
            relation_residual(m->answer, declared == NULL ? &rigid : &declared[contact[place]],
                              &state, m->problem->time_step);
    }
    return own;
}

INLINE void note_worst(IslandMeasure *island, uint32_t contact, double own) {
    if (certificate_is_worse(own, island->worst_own)) {
        island->worst_own = own;
        island->worst_contact = contact;
    }
}

// What moves nothing is not measured, but may overlap.
INLINE void measure_at(CertificateMeasure *m, const uint32_t contact[SIMD_COUNT], Watch *watch) {
    uint32_t of[SIMD_COUNT];
    double scale[SIMD_COUNT];
    for (int place = 0; place < SIMD_COUNT; place++) {
        of[place] = islands_of_contact(m->problem, m->scale->islands->of_tree, contact[place]);
        scale[place] = m->scale->v_scale[of[place]];
    }
    Simd v_scale = SIMD_OF(scale, );
    ContactStates states;
    load_states(m, contact, v_scale, &states);
    ContactMeasure measure = measure_states(&states, v_scale);
    measure.own = own_residual(m, contact, &states, measure.ds);
    SimdMask moves = states.w != 0.0;
    note_contacts(m, of, moves, &measure, watch);
    for (int place = 0; place < SIMD_COUNT; place++) {
        IslandMeasure *island = island_at(m, of[place]);
        if (moves[place] != 0) {
            note_worst(island, contact[place], measure.own[place]);
        }
        double gap = m->problem->contact[contact[place]].gap; // 0.0 - 0.0 is not -0.0
        island->penetration = relation_max(island->penetration, 0.0 - gap);
        if (m->residual != NULL) {
            m->residual[contact[place]] =
                moves[place] != 0 ? measure.own[place] / scale[place] : 0.0;
        }
    }
}

INLINE void measure_contacts(CertificateMeasure *m, uint32_t begin, uint32_t end) {
    const uint32_t *list = m->scale->islands->contact;
    Watch watch = {.island = PROBLEM_NO_TREE};
    for (uint32_t i = begin; i < end; i += SIMD_COUNT) {
        uint32_t contact[SIMD_COUNT];
        for (uint32_t place = 0; place < SIMD_COUNT; place++) {
            contact[place] =
                list[i + place < end ? i + place : end - 1]; // the last may be repeated
        }
        measure_at(m, contact, &watch);
    }
    settle(m, &watch);
}
