// SPDX-License-Identifier: MIT
#include "solve/mdp/point.h"

#include "base/assert.h"
#include "solve/block_slide.h"
#include "solve/mdp/trial.h"

// Contacts, after which none waits any longer: most stretches in one piece.
enum { CHUNK = 72 };

typedef struct Waiting {
    uint32_t at; // in `point`
    MdpTrial trial;
} Waiting;

typedef struct Points {
    const MdpPack *pack;
    MdpSum *sum; // of the group's islands
    bool is_coulomb;
    uint32_t begin, end;     // of the chunk
    uint32_t noted;          // contacts before this one have been added to the sums
    MdpChange change[CHUNK]; // of later ones, until it is their turn
    uint32_t waiting_count;
    Waiting waiting[MDP_SLIDE_LANES];
    MdpSlide slide[MDP_SLIDE_LANES];
} Points;

static inline Vec3 velocity_at(const MdpBody *body, Vec3 arm) {
    return vec3_add(vec3_load(body->v), vec3_cross(vec3_load(body->v + 3), arm));
}

static inline void push(MdpBody *body, const Sym3 *inverse_inertia, Vec3 arm, Vec3 impulse) {
    Vec3 linear = vec3_add_scaled(vec3_load(body->v), body->inverse_mass, impulse);
    Vec3 turn = sym3_mul_vec(*inverse_inertia, vec3_cross(arm, impulse));
    vec3_store(body->v, linear);
    vec3_store(body->v + 3, vec3_add(vec3_load(body->v + 3), turn));
}

// The impulse on b, and against a. Inlined, as what follows, so that numbers stay in registers.
static inline __attribute__((always_inline)) void push_point(const MdpPack *pack, const MdpPoint *c,
                                                             const double d[3]) {
    Vec3 impulse = vec3_scale(d[0], c->frame[0]);
    impulse = vec3_add_scaled(impulse, d[1], c->frame[1]);
    impulse = vec3_add_scaled(impulse, d[2], c->frame[2]);
    push(&pack->body[c->b], &pack->inverse_inertia[c->b], c->arm_b, impulse);
    push(&pack->body[c->a], &pack->inverse_inertia[c->a], c->arm_a, vec3_neg(impulse));
}

static inline __attribute__((always_inline)) void try_point(const MdpPack *pack, const MdpPoint *c,
                                                            double ratio, MdpTrial *trial) {
    const MdpBody *a = &pack->body[c->a], *b = &pack->body[c->b];
    Vec3 relative = vec3_sub(velocity_at(b, c->arm_b), velocity_at(a, c->arm_a));
    const double u[3] = {vec3_dot(c->frame[0], relative) + c->offset[0],
                         vec3_dot(c->frame[1], relative) + c->offset[1],
                         vec3_dot(c->frame[2], relative) + c->offset[2]};
    mdp_trial_begin(&c->plan, ratio, u, c->impulse, c->before, trial);
}

static inline void take_point(Points *points, uint32_t at, const MdpTrial *trial) {
    MdpPoint *c = &points->pack->point[at];
    double d[3];
    MdpChange change = mdp_trial_take(trial, c->weight, c->impulse, c->before, d);
    if (at == points->noted) {
        mdp_trial_note(&points->sum[c->island], change);
        points->noted++;
    } else {
        points->change[at - points->begin] = change;
    }
    push_point(points->pack, c, d);
}

// What neither opens nor sticks, or not for sure: false where it has to wait.
static bool solve_point(Points *points, uint32_t at, const MdpTrial *trial) {
    uint32_t last = points->waiting_count;
    Waiting *waiting = &points->waiting[last];
    MdpBranch branch;
    *waiting = (Waiting){at, *trial};
    if (mdp_plan_begin(&points->pack->point[at].plan, points->is_coulomb, waiting->trial.b,
                       waiting->trial.x, &branch, &points->slide[last])) {
        take_point(points, at, &waiting->trial);
        return true;
    }
    points->waiting_count++;
    return false;
}

// One contact; false: it waits.
static inline bool sweep_point(Points *points, uint32_t at) {
    const MdpPoint *c = &points->pack->point[at];
    MdpTrial trial;
    try_point(points->pack, c, points->sum[c->island].ratio, &trial);
    if (!mdp_plan_is_easy(&c->plan, trial.b, trial.x)) { // as most are
        return solve_point(points, at, &trial);
    }
    take_point(points, at, &trial);
    return true;
}

// Whether the contact is of the same unit as the one before it.
static inline bool goes_on(const Points *points, uint32_t at) {
    const MdpPoint *c = &points->pack->point[at];
    return at < points->end && c[0].a == c[-1].a && c[0].b == c[-1].b;
}

// Those that wait slide, and what is left of their units goes on, maybe to wait again.
static void slide_points(Points *points) {
    uint32_t count = points->waiting_count;
    mdp_slide_converge(points->slide, count, MDP_SLIDE_STEPS);
    points->waiting_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        Waiting *waiting = &points->waiting[i]; // until its unit goes on
        uint32_t at = waiting->at;
        mdp_plan_end(&points->slide[i], waiting->trial.b, waiting->trial.x);
        take_point(points, at, &waiting->trial);
        for (at++; goes_on(points, at) && sweep_point(points, at);) {
            at++;
        }
    }
}

// What has not been added yet.
static void add_changes(Points *points) {
    const MdpPoint *point = points->pack->point;
    for (uint32_t i = points->noted; i < points->end;) {
        uint32_t island = point[i].island;
        MdpSum sum = points->sum[island]; // while contacts of one island follow each other
        for (; i < points->end && point[i].island == island; i++) {
            if (!sum.is_done) {
                mdp_trial_note(&sum, points->change[i - points->begin]);
            }
        }
        points->sum[island] = sum;
    }
}

// As soon as `enough` wait, they go on.
static void sweep_chunk(Points *points, uint32_t enough) {
    for (uint32_t i = points->begin; i < points->end;) {
        bool is_done = points->sum[points->pack->point[i].island].is_done;
        points->noted += is_done && i == points->noted;
        bool waits = !is_done && !sweep_point(points, i);
        for (i++; waits && goes_on(points, i);) {
            i++;
        }
        while (points->waiting_count >= enough) {
            slide_points(points);
        }
    }
    while (points->waiting_count > 0) {
        slide_points(points);
    }
    add_changes(points);
}

void mdp_point_sweep(const MdpPack *pack, const MdpStage *stage, uint32_t begin, uint32_t end,
                     bool is_coulomb, MdpSum *sum) {
    VALIDATE(begin <= end);
    VALIDATE(begin >= stage->begin && end <= stage->end);
    Points points; // its arrays are filled as far as they are read
    points.pack = pack;
    points.sum = sum;
    points.is_coulomb = is_coulomb;
    points.waiting_count = 0;
    for (uint32_t i = begin; i < end; i = points.end) {
        points.begin = points.noted = i;
        points.end = end - i < CHUNK ? end : i + CHUNK;
        sweep_chunk(&points, stage->is_last ? 1 : MDP_SLIDE_LANES);
    }
}

void mdp_point_push(const MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; i++) {
        push_point(pack, &pack->point[i], pack->point[i].impulse);
    }
}
