// SPDX-License-Identifier: MIT
// The measure of contacts, LANES at a time: the file that includes this says how many.
#pragma once

#include "solve/certificate_contacts.h"
#include "solve/certificate_lanes.h"

// What contacts add to the measures of their islands.
typedef struct ContactMeasure {
    Lanes pen, comp, mdp, ds, own; // [m/s]
    Lanes cone, impulse_square;
} ContactMeasure;

// The largest of the contacts of one island, lane by lane, while they follow each other.
typedef struct Watch {
    uint32_t island; // PROBLEM_NO_TREE: none yet
    ContactMeasure most;
} Watch;

// What the whole has come to.
typedef struct Worst {
    double own, penetration;
    int64_t contact;
} Worst;

// The square of the momentum that an impulse is to its bodies, in the norm of M^-1.
INLINE Lanes impulse_square(const ContactStates *state) {
    const Lanes *g = state->gamma;
    return g[0] * (state->nn * g[0] + state->nt * g[1] + state->no * g[2]) +
           g[1] * (state->nt * g[0] + state->tt * g[1] + state->to * g[2]) +
           g[2] * (state->no * g[0] + state->to * g[1] + state->oo * g[2]);
}

INLINE Lanes cone_error(const ContactStates *state, Lanes v_scale) {
    const Lanes *g = state->gamma, zero = lanes_all(0.0);
    Lanes square = g[1] * g[1] + g[2] * g[2];
    Lanes out = lanes_root(square) - state->mu * lanes_positive(g[0]);
    out = lanes_positive(lanes_max(out, -g[0]));
    Lanes size = lanes_max(lanes_root(g[0] * g[0] + square), v_scale / state->w);
    return lanes_choose(out == zero, zero, out / size);
}

// everything but the own residual
INLINE ContactMeasure measure_states(const ContactStates *state, Lanes v_scale) {
    const Lanes *u = state->u;
    Lanes bound = state->mu * lanes_positive(state->gamma[0]);
    const Lanes lifted[3] = {u[0] + state->mu * relation_norm2(u[1], u[2]), u[1], u[2]};
    return (ContactMeasure){.pen = lanes_positive(-u[0]),
                            .comp = lanes_abs(lanes_min(state->w * state->gamma[0], u[0])),
                            .mdp = relation_disc_maps(state, bound, u + 1),
                            .ds = relation_cone_maps(state, lifted),
                            .cone = cone_error(state, v_scale),
                            .impulse_square = impulse_square(state)};
}

// ---- islands

INLINE void note_contact(IslandMeasure *island, const ContactMeasure *measure, int lane) {
    certificate_note(island, CERTIFICATE_PEN, measure->pen[lane]);
    certificate_note(island, CERTIFICATE_COMP, measure->comp[lane]);
    certificate_note(island, CERTIFICATE_MDP, measure->mdp[lane]);
    certificate_note(island, CERTIFICATE_DS, measure->ds[lane]);
    certificate_note(island, CERTIFICATE_OWN, measure->own[lane]);
    island->cone = relation_max(island->cone, measure->cone[lane]);
    island->impulse_square = relation_max(island->impulse_square, measure->impulse_square[lane]);
}

INLINE void settle(CertificateMeasure *m, const Watch *watch) {
    if (watch->island != PROBLEM_NO_TREE) {
        for (int lane = 0; lane < LANES; lane++) {
            note_contact(&m->island[watch->island], &watch->most, lane);
        }
    }
}

INLINE void watch_contacts(ContactMeasure *most, const ContactMeasure *measure) {
    most->pen = lanes_max(most->pen, measure->pen);
    most->comp = lanes_max(most->comp, measure->comp);
    most->mdp = lanes_max(most->mdp, measure->mdp);
    most->ds = lanes_max(most->ds, measure->ds);
    most->own = lanes_max(most->own, measure->own);
    most->cone = lanes_max(most->cone, measure->cone);
    most->impulse_square = lanes_max(most->impulse_square, measure->impulse_square);
}

// Contacts of one island are watched, others noted one by one, and what moves nothing is not.
INLINE void note_contacts(CertificateMeasure *m, const uint32_t of[LANES], Mask moves,
                          const ContactMeasure *measure, Watch *watch) {
    bool is_one = true;
    for (int lane = 0; lane < LANES; lane++) {
        is_one = is_one && of[lane] == of[0] && moves[lane] != 0;
    }
    if (is_one && of[0] != watch->island) {
        settle(m, watch);
        *watch = (Watch){.island = of[0]};
    }
    if (is_one) {
        watch_contacts(&watch->most, measure);
        return;
    }
    for (int lane = 0; lane < LANES; lane++) {
        if (moves[lane] != 0) {
            note_contact(&m->island[of[lane]], measure, lane);
        }
    }
}

// ---- contacts

INLINE void load_states(const CertificateMeasure *m, const uint32_t contact[LANES],
                        ContactStates *state) {
    const MassBlock *block[LANES];
    const ProblemContact *of[LANES];
    const double *gamma[LANES];
    double u[LANES][3], bias[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        block[lane] = mass_contact_block(m->mass, contact[lane]);
        of[lane] = &m->problem->contact[contact[lane]];
        gamma[lane] = m->answer->contact_impulse + 3 * (size_t)contact[lane];
        problem_contact_velocity(m->problem, contact[lane], m->answer->v, u[lane]);
        bias[lane] = certificate_bias(m->problem, m->answer, contact[lane]);
    }
    state->nn = LANES_OF(block, ->nn);
    state->nt = LANES_OF(block, ->nt);
    state->no = LANES_OF(block, ->no);
    state->tt = LANES_OF(block, ->tt);
    state->to = LANES_OF(block, ->to);
    state->oo = LANES_OF(block, ->oo);
    state->w = (state->nn + state->tt + state->oo) / 3.0;
    state->mu = LANES_OF(of, ->mu);
    state->u[0] = LANES_OF(u, [0]) + LANES_OF(bias, );
    state->u[1] = LANES_OF(u, [1]);
    state->u[2] = LANES_OF(u, [2]);
    state->gamma[0] = LANES_OF(gamma, [0]);
    state->gamma[1] = LANES_OF(gamma, [1]);
    state->gamma[2] = LANES_OF(gamma, [2]);
}

// one of them
INLINE ContactState part(const ContactStates *all, int lane) {
    double nt = all->nt[lane], no = all->no[lane], to = all->to[lane];
    return (ContactState){
        .block = {all->nn[lane], nt, no, nt, all->tt[lane], to, no, to, all->oo[lane]},
        .w = all->w[lane],
        .mu = all->mu[lane],
        .u = {all->u[0][lane], all->u[1][lane], all->u[2][lane]},
        .gamma = {all->gamma[0][lane], all->gamma[1][lane], all->gamma[2][lane]}};
}

INLINE Lanes own_residual(const CertificateMeasure *m, const uint32_t contact[LANES],
                          const ContactStates *states) {
    if (m->answer->relation == RELATION_DISSIPATION) {
        return relation_dissipations(states);
    }
    Lanes own;
    for (int lane = 0; lane < LANES; lane++) {
        ContactState state = part(states, lane);
        ContactRelation rigid = {.bias = m->problem->contact[contact[lane]].bias, .s = 1.0};
        const ContactRelation *declared = m->answer->contact;
        own[lane] =
            relation_residual(m->answer, declared == NULL ? &rigid : &declared[contact[lane]],
                              &state, m->problem->time_step);
    }
    return own;
}

// Own residuals over V, 0 of what moves nothing, which is not measured.
INLINE Lanes measure_at(CertificateMeasure *m, const uint32_t contact[LANES], Watch *watch) {
    uint32_t of[LANES];
    double scale[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        of[lane] = certificate_island_of_contact(m->problem, m->scale, contact[lane]);
        scale[lane] = of[lane] == PROBLEM_NO_TREE ? 1.0 : m->scale->v_scale[of[lane]];
    }
    Lanes v_scale = LANES_OF(scale, );
    ContactStates states;
    load_states(m, contact, &states);
    ContactMeasure measure = measure_states(&states, v_scale);
    measure.own = own_residual(m, contact, &states);
    Mask moves = states.w != 0.0;
    note_contacts(m, of, moves, &measure, watch);
    return lanes_choose(moves, measure.own / v_scale, lanes_all(0.0));
}

INLINE void note_worst(const CertificateMeasure *m, uint32_t contact, double own, Worst *worst) {
    // the first that is not a number is the worst of all
    if (own > worst->own || (own != own && worst->own == worst->own)) {
        worst->own = own;
        worst->contact = contact;
    }
    worst->penetration = relation_max(worst->penetration, -m->problem->contact[contact].gap);
}

INLINE void measure_contacts(CertificateMeasure *m, double *residual) {
    Worst worst = {.own = -1.0, .contact = -1};
    Watch watch = {.island = PROBLEM_NO_TREE};
    uint32_t count = m->problem->contact_count;
    for (uint32_t i = 0; i < count; i += LANES) {
        uint32_t contact[LANES];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            contact[lane] = i + lane < count ? i + lane : count - 1; // the last may be repeated
        }
        Lanes own = measure_at(m, contact, &watch);
        for (int lane = 0; lane < LANES; lane++) {
            note_worst(m, contact[lane], own[lane], &worst);
            if (residual != NULL) {
                residual[contact[lane]] = own[lane];
            }
        }
    }
    settle(m, &watch);
    m->certificate->worst_contact = worst.contact;
    m->certificate->penetration = worst.penetration;
}
