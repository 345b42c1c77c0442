// SPDX-License-Identifier: MIT
#include "solve/mdp_momentum.h"

#include <string.h>

#define GAP_MIN    1e-3 // a ratio of 0.999 remembers a thousand sweeps
#define GAP_GROWTH 2.0  // after a momentum that brought nothing
#define GAP_DECAY  0.7  // after one that did
#define GROWTH_MAX 4.0  // of the squared residual over its least, before a momentum ends

Status mdp_momentum_init(MdpMomentum *momentum, MdpPack *pack, const CertificateScale *scale,
                         Arena *arena, Error *error) {
    const ContactProblem *problem = pack->problem;
    size_t count =
        (size_t)pack->ball_count + pack->point_count + pack->wide_count + pack->row_count;
    *momentum =
        (MdpMomentum){.pack = pack,
                      .island_of_tree = scale->island_of_tree,
                      .trail = arena_take_array(arena, count, sizeof(MdpTrail)),
                      .before = arena_take_array(arena, problem->velocity_count, sizeof(double)),
                      .island = arena_take_array(arena, scale->island_count, sizeof(MdpIsland)),
                      .island_count = scale->island_count};
    if (momentum->trail == NULL || momentum->before == NULL || momentum->island == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for this problem.");
    }
    MdpTrail *trail = momentum->trail;
    const uint32_t *const contacts[3] = {pack->ball_contact, pack->point_contact,
                                         pack->wide_contact};
    const uint32_t counts[3] = {pack->ball_count, pack->point_count, pack->wide_count};
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t i = 0; i < counts[kind]; i++, trail++) {
            trail->island = certificate_island_of_contact(problem, scale, contacts[kind][i]);
        }
    }
    for (uint32_t i = 0; i < pack->row_count; i++, trail++) {
        trail->island = certificate_island_of_row(problem, scale, pack->row[i].row);
    }
    for (uint32_t i = 0; i < scale->island_count; i++) {
        momentum->island[i].gap = GAP_MIN;
    }
    mdp_momentum_begin(momentum);
    return STATUS_OK;
}

// ---- one impulse of `size` numbers

static inline void mark_impulse(MdpTrail *trail, const double *x, int size) {
    for (int k = 0; k < size; k++) {
        trail->start[k] = trail->before[k] = x[k];
    }
}

static inline void watch_impulse(MdpIsland *islands, const MdpTrail *trail, const double *x,
                                 double weight, int size) {
    MdpIsland *island = &islands[trail->island];
    double square = 0.0, opposition = 0.0;
    for (int k = 0; k < size; k++) {
        double back = trail->start[k] - x[k];
        square += back * back;
        opposition += back * (x[k] - trail->before[k]);
    }
    island->residual += weight * square;
    island->opposition += weight * opposition;
}

static inline void carry_impulse(const MdpIsland *islands, MdpTrail *trail, double *x, int size) {
    double ratio = islands[trail->island].ratio;
    for (int k = 0; k < size; k++) {
        double z = x[k];
        x[k] = trail->start[k] = z + ratio * (z - trail->before[k]);
        trail->before[k] = z;
    }
}

// ---- all of them

void mdp_momentum_begin(MdpMomentum *momentum) {
    const MdpPack *pack = momentum->pack;
    MdpTrail *trail = momentum->trail;
    for (uint32_t i = 0; i < pack->ball_count; i++) {
        mark_impulse(trail++, pack->ball[i].impulse, 3);
    }
    for (uint32_t i = 0; i < pack->point_count; i++) {
        mark_impulse(trail++, pack->point[i].impulse, 3);
    }
    for (uint32_t i = 0; i < pack->wide_count; i++) {
        mark_impulse(trail++, pack->wide[i].impulse, 3);
    }
    for (uint32_t i = 0; i < pack->row_count; i++) {
        mark_impulse(trail++, &pack->row[i].impulse, 1);
    }
    for (uint32_t i = 0; i < pack->problem->tree_count; i++) {
        const ProblemTree *tree = &pack->problem->tree[i];
        memcpy(momentum->before + tree->first, mdp_pack_velocity(pack, i),
               tree->width * sizeof(double));
    }
    for (uint32_t i = 0; i < momentum->island_count; i++) {
        MdpIsland *island = &momentum->island[i];
        island->age = 1.0;
        island->residual_least = island->residual_last = HUGE_VAL;
    }
}

static void watch(MdpMomentum *momentum) {
    const MdpPack *pack = momentum->pack;
    const MdpTrail *trail = momentum->trail;
    MdpIsland *islands = momentum->island;
    for (uint32_t i = 0; i < momentum->island_count; i++) {
        islands[i].residual = islands[i].opposition = 0.0;
    }
    for (uint32_t i = 0; i < pack->ball_count; i++) {
        watch_impulse(islands, trail++, pack->ball[i].impulse, pack->ball[i].weight, 3);
    }
    for (uint32_t i = 0; i < pack->point_count; i++) {
        watch_impulse(islands, trail++, pack->point[i].impulse, pack->point[i].weight, 3);
    }
    for (uint32_t i = 0; i < pack->wide_count; i++) {
        watch_impulse(islands, trail++, pack->wide[i].impulse, pack->wide[i].weight, 3);
    }
    for (uint32_t i = 0; i < pack->row_count; i++) {
        watch_impulse(islands, trail++, &pack->row[i].impulse, pack->row[i].weight, 1);
    }
}

// how far an island is carried on
static void decide(MdpIsland *island) {
    if (island->residual < island->residual_least) {
        island->residual_least = island->residual;
    }
    if (island->opposition > 0.0 || island->residual > GROWTH_MAX * island->residual_least) {
        island->gap *= island->residual > island->residual_last ? GAP_GROWTH : GAP_DECAY;
        island->gap = island->gap > 1.0 ? 1.0 : island->gap < GAP_MIN ? GAP_MIN : island->gap;
        island->residual_last = island->residual_least = island->residual;
        island->age = 1.0;
        island->ratio = 0.0;
        return;
    }
    // Nesterov: t' = (1 + sqrt(1 + 4 t^2)) / 2, ratio = (t - 1) / t'
    double age = 0.5 * (1.0 + sqrt(1.0 + 4.0 * island->age * island->age));
    double ratio = (island->age - 1.0) / age;
    island->age = age;
    island->ratio = ratio > 1.0 - island->gap ? 1.0 - island->gap : ratio;
}

static void carry_velocities(MdpMomentum *momentum) {
    const MdpPack *pack = momentum->pack;
    for (uint32_t i = 0; i < pack->problem->tree_count; i++) {
        const ProblemTree *tree = &pack->problem->tree[i];
        double ratio = momentum->island[momentum->island_of_tree[i]].ratio;
        double *v = mdp_pack_velocity(pack, i), *before = momentum->before + tree->first;
        for (uint32_t k = 0; k < tree->width; k++) {
            double z = v[k];
            v[k] = z + ratio * (z - before[k]);
            before[k] = z;
        }
    }
}

void mdp_momentum_carry(MdpMomentum *momentum) {
    MdpPack *pack = momentum->pack;
    watch(momentum);
    for (uint32_t i = 0; i < momentum->island_count; i++) {
        decide(&momentum->island[i]);
    }
    const MdpIsland *islands = momentum->island;
    MdpTrail *trail = momentum->trail;
    for (uint32_t i = 0; i < pack->ball_count; i++) {
        carry_impulse(islands, trail++, pack->ball[i].impulse, 3);
    }
    for (uint32_t i = 0; i < pack->point_count; i++) {
        carry_impulse(islands, trail++, pack->point[i].impulse, 3);
    }
    for (uint32_t i = 0; i < pack->wide_count; i++) {
        carry_impulse(islands, trail++, pack->wide[i].impulse, 3);
    }
    for (uint32_t i = 0; i < pack->row_count; i++) {
        carry_impulse(islands, trail++, &pack->row[i].impulse, 1);
    }
    carry_velocities(momentum);
}
