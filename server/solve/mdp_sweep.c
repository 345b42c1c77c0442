// SPDX-License-Identifier: MIT
// The hot loops. Every one reads its contacts in a straight line and touches two bodies; all sums
// stand in one fixed order. Contacts of islands that are done are passed over.
#include "solve/mdp_pack.h"

#include "solve/dense.h"
#include "solve/mdp_plain.h"
#include "solve/mdp_slide.h"

static inline void note_change(MdpSum *sum, double change, double along) {
    sum->residual += change;
    sum->opposition -= along;
    sum->largest = mdp_note_change(sum->largest, change);
}

// ---- blocks

// The block problem of one contact: where momentum carried its impulse, what it is solved for, and
// the answer, which starts as the first of them.
typedef struct Trial {
    double carried[3], b[3], x[3];
} Trial;

// at the relative velocity u (offset included)
static inline void try_block(const MdpPlan *plan, double ratio, const double u[3],
                             const double impulse[3], const double before[3], Trial *trial) {
    const MdpBlock *a = &plan->block;
    double z0 = impulse[0], z1 = impulse[1], z2 = impulse[2];
    double p0 = z0 + ratio * (z0 - before[0]), p1 = z1 + ratio * (z1 - before[1]),
           p2 = z2 + ratio * (z2 - before[2]);
    *trial = (Trial){{p0, p1, p2},
                     {a->nn * p0 + a->nt * p1 + a->no * p2 - u[0],
                      a->nt * p0 + a->tt * p1 + a->to * p2 - u[1],
                      a->no * p0 + a->to * p1 + a->oo * p2 - u[2]},
                     {p0, p1, p2}};
}

// What a contact adds to the sums of its island.
typedef struct Change {
    double square, along;
} Change;

// The answer is stored, and what it differs by from where the old impulse was carried goes to d.
static inline Change take_block(const Trial *trial, double weight, double impulse[3],
                                double before[3], double d[3]) {
    const double *x = trial->x, *p = trial->carried;
    double z0 = impulse[0], z1 = impulse[1], z2 = impulse[2];
    d[0] = x[0] - p[0];
    d[1] = x[1] - p[1];
    d[2] = x[2] - p[2];
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double along = d[0] * (x[0] - z0) + d[1] * (x[1] - z1) + d[2] * (x[2] - z2);
    before[0] = z0;
    before[1] = z1;
    before[2] = z2;
    impulse[0] = x[0];
    impulse[1] = x[1];
    impulse[2] = x[2];
    return (Change){weight * square, weight * along};
}

// ---- points

static inline Vec3 point_velocity(const MdpBody *body, Vec3 arm) {
    return vec3_add(vec3_load(body->v), vec3_cross(vec3_load(body->v + 3), arm));
}

static inline void push(MdpBody *body, const Sym3 *inverse_inertia, Vec3 arm, Vec3 impulse) {
    Vec3 linear = vec3_add_scaled(vec3_load(body->v), body->inverse_mass, impulse);
    Vec3 turn = sym3_mul_vec(*inverse_inertia, vec3_cross(arm, impulse));
    vec3_store(body->v, linear);
    vec3_store(body->v + 3, vec3_add(vec3_load(body->v + 3), turn));
}

// the impulse on b, and against a
static void push_point(const MdpPack *pack, const MdpPoint *c, const double d[3]) {
    Vec3 impulse = vec3_scale(d[0], c->frame[0]);
    impulse = vec3_add_scaled(impulse, d[1], c->frame[1]);
    impulse = vec3_add_scaled(impulse, d[2], c->frame[2]);
    push(&pack->body[c->b], &pack->inverse_inertia[c->b], c->arm_b, impulse);
    push(&pack->body[c->a], &pack->inverse_inertia[c->a], c->arm_a, vec3_neg(impulse));
}

static inline void try_point(const MdpPack *pack, const MdpPoint *c, double ratio, Trial *trial) {
    const MdpBody *a = &pack->body[c->a], *b = &pack->body[c->b];
    Vec3 relative = vec3_sub(point_velocity(b, c->arm_b), point_velocity(a, c->arm_a));
    const double u[3] = {vec3_dot(c->frame[0], relative) + c->offset[0],
                         vec3_dot(c->frame[1], relative) + c->offset[1],
                         vec3_dot(c->frame[2], relative) + c->offset[2]};
    try_block(&c->plan, ratio, u, c->impulse, c->before, trial);
}

// Most contacts open or stick, and are done at once. One that slides waits until as many others do
// as are found at once, and the rest of its unit with it; other units, which share no tree with it,
// go on. So a contact meets what it would meet if all took their turns.
enum { CHUNK = 64 }; // contacts, after which none waits any longer

typedef struct Waiting {
    uint32_t at, end; // in `point`: the contact, and where its unit ends
    Trial trial;
} Waiting;

typedef struct Points {
    const MdpPack *pack;
    const MdpSum *sum; // of the group's islands
    bool coulomb;
    uint32_t begin, end; // of the chunk
    uint32_t waiting_count;
    Waiting waiting[MDP_SLIDE_LANES];
    MdpSlide slide[MDP_SLIDE_LANES];
    Change change[CHUNK]; // they are added in the order of the contacts
} Points;

static inline void take_point(Points *points, uint32_t i, const Trial *trial) {
    MdpPoint *c = &points->pack->point[i];
    double d[3];
    points->change[i - points->begin] = take_block(trial, c->weight, c->impulse, c->before, d);
    push_point(points->pack, c, d);
}

// Contacts [at, end) of one unit, until one has to wait.
static void sweep_unit(Points *points, uint32_t at, uint32_t end) {
    for (uint32_t i = at; i < end; i++) {
        const MdpPoint *c = &points->pack->point[i];
        Trial trial;
        try_point(points->pack, c, points->sum[c->island].ratio, &trial);
        MdpBranch branch;
        if (!mdp_plan_is_easy(&c->plan, trial.b, trial.x) &&
            !mdp_plan_begin(&c->plan, points->coulomb, trial.b, trial.x, &branch,
                            &points->slide[points->waiting_count])) {
            points->waiting[points->waiting_count++] = (Waiting){i, end, trial};
            return;
        }
        take_point(points, i, &trial);
    }
}

// Whoever waits slides, and its unit goes on, maybe to wait again.
static void slide_points(Points *points) {
    uint32_t count = points->waiting_count;
    mdp_slide_converge(points->slide, count, MDP_SLIDE_STEPS);
    points->waiting_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        Waiting *waiting = &points->waiting[k]; // until its unit goes on
        uint32_t at = waiting->at, end = waiting->end;
        mdp_plan_end(&points->slide[k], waiting->trial.b, waiting->trial.x);
        take_point(points, at, &waiting->trial);
        sweep_unit(points, at + 1, end);
    }
}

static bool is_unit(const MdpPoint *a, const MdpPoint *b) {
    return a->a == b->a && a->b == b->b;
}

// The sums of islands, in the order of the contacts.
static void sum_changes(const Points *points, MdpSum *sum) {
    const MdpPoint *point = points->pack->point;
    for (uint32_t i = points->begin; i < points->end;) {
        uint32_t island = point[i].island;
        MdpSum of = sum[island]; // while contacts of one island follow each other
        for (; i < points->end && point[i].island == island; i++) {
            if (!of.is_done) {
                const Change *change = &points->change[i - points->begin];
                note_change(&of, change->square, change->along);
            }
        }
        sum[island] = of;
    }
}

static void sweep_chunk(Points *points, bool is_last, MdpSum *sum) {
    const MdpPoint *point = points->pack->point;
    uint32_t enough = is_last ? 1 : MDP_SLIDE_LANES; // any two of the last colour may share a tree
    for (uint32_t i = points->begin, end; i < points->end; i = end) {
        end = i + 1;
        while (!is_last && end < points->end && is_unit(&point[i], &point[end])) {
            end++;
        }
        if (!sum[point[i].island].is_done) {
            sweep_unit(points, i, end);
        }
        while (points->waiting_count >= enough) {
            slide_points(points);
        }
    }
    while (points->waiting_count > 0) {
        slide_points(points);
    }
    sum_changes(points, sum);
}

static void sweep_points(const MdpPack *pack, uint32_t begin, uint32_t end, bool is_last,
                         bool coulomb, MdpSum *sum) {
    Points points; // the change of a contact is set when it is taken
    points.pack = pack;
    points.sum = sum;
    points.coulomb = coulomb;
    points.waiting_count = 0;
    for (uint32_t i = begin; i < end; i = points.end) {
        points.begin = i;
        points.end = end - i < CHUNK ? end : i + CHUNK;
        sweep_chunk(&points, is_last, sum);
    }
}

// ---- wide contacts

static void push_wide(const MdpWide *c, const double d[3]) {
    for (int s = 0; s < 2; s++) {
        const MdpSide *side = &c->side[s];
        size_t width = side->width;
        for (size_t k = 0; k < width; k++) {
            side->v[k] += side->response[k] * d[0] + side->response[width + k] * d[1] +
                          side->response[2 * width + k] * d[2];
        }
    }
}

void mdp_sweep_wide(MdpWide *c, bool coulomb, MdpSum *sum) {
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
    Trial trial;
    try_block(&c->plan, sum->ratio, u, c->impulse, c->before, &trial);
    if (!mdp_plan_is_easy(&c->plan, trial.b, trial.x)) {
        mdp_plan_solve(&c->plan, coulomb, trial.b, trial.x);
    }
    Change change = take_block(&trial, c->weight, c->impulse, c->before, d);
    note_change(sum, change.square, change.along);
    push_wide(c, d);
}

void mdp_sweep_push_wide(const MdpWide *c) {
    push_wide(c, c->impulse);
}

// ---- rows

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

static void push_row(const MdpPack *pack, const MdpRow *row, double d) {
    for (uint32_t s = 0; s < row->side_count; s++) {
        const MdpSide *side = &pack->side[row->side_first + s];
        for (uint32_t k = 0; k < side->width; k++) {
            side->v[k] += side->response[k] * d;
        }
    }
}

// the new impulse, and its change d from where momentum carried the old one
static void set_row(const MdpPack *pack, MdpRow *row, double impulse, double d, MdpSum *sum) {
    push_row(pack, row, d);
    note_change(sum, row->weight * d * d, row->weight * d * (impulse - row->impulse));
    row->before = row->impulse;
    row->impulse = impulse;
}

void mdp_sweep_joint(const MdpPack *pack, const MdpJoint *joint, MdpSum *sum) {
    double y[MDP_JOINT_MAX], start[MDP_JOINT_MAX];
    MdpRow *row = &pack->row[joint->first];
    for (uint32_t i = 0; i < joint->count; i++) {
        start[i] = row[i].impulse + sum->ratio * (row[i].impulse - row[i].before);
        y[i] = row_velocity(pack, &row[i], start[i]);
    }
    dense_solve(joint->count, joint->factor, y);
    for (uint32_t i = 0; i < joint->count; i++) {
        double r = start[i] - y[i];
        if (joint->is_clipped) {
            r = r < row[i].low ? row[i].low : r > row[i].high ? row[i].high : r;
        }
        set_row(pack, &row[i], r, r - start[i], sum);
    }
}

void mdp_sweep_push_joint(const MdpPack *pack, const MdpJoint *joint) {
    for (uint32_t k = 0; k < joint->count; k++) {
        const MdpRow *row = &pack->row[joint->first + k];
        push_row(pack, row, row->impulse);
    }
}

// ---- stages

// [begin, end) of a stage; `sum` is of the group's islands
static void sweep_part(const MdpPack *pack, const MdpStage *stage, uint32_t begin, uint32_t end,
                       bool coulomb, MdpSum *sum) {
    MdpKind kind = stage->kind;
    if (kind == MDP_BALL) {
        mdp_ball_sweep(pack->quad, begin, end, pack->body, sum);
        return;
    }
    if (kind == MDP_POINT) {
        sweep_points(pack, begin, end, stage->is_last, coulomb, sum);
        return;
    }
    for (uint32_t i = begin; i < end && kind == MDP_WIDE; i++) {
        MdpSum *of = &sum[pack->wide[i].island];
        if (!of->is_done) {
            mdp_sweep_wide(&pack->wide[i], coulomb, of);
        }
    }
}

static void push_part(const MdpPack *pack, MdpKind kind, uint32_t begin, uint32_t end) {
    if (kind == MDP_BALL) {
        mdp_ball_push(pack->quad, begin, end, pack->body);
        return;
    }
    for (uint32_t i = begin; i < end && kind == MDP_POINT; i++) {
        push_point(pack, &pack->point[i], pack->point[i].impulse);
    }
    for (uint32_t i = begin; i < end && kind == MDP_WIDE; i++) {
        mdp_sweep_push_wide(&pack->wide[i]);
    }
}

// A stage of a large island.
typedef struct Stretches {
    const MdpPack *pack;
    const MdpStage *stage;
    double ratio;
    bool coulomb;
} Stretches;

static void sweep_stretch(void *work, uint32_t block) {
    const Stretches *stretches = work;
    MdpStretch *stretch = &stretches->pack->stretch[stretches->stage->stretch_begin + block];
    MdpSum sum = {.ratio = stretches->ratio};
    sweep_part(stretches->pack, stretches->stage, stretch->begin, stretch->end, stretches->coulomb,
               &sum);
    stretch->sum = sum;
}

static void push_stretch(void *work, uint32_t block) {
    const Stretches *stretches = work;
    const MdpStretch *stretch = &stretches->pack->stretch[stretches->stage->stretch_begin + block];
    push_part(stretches->pack, stretches->stage->kind, stretch->begin, stretch->end);
}

static Status run_stretches(Judge *judge, const MdpGroup *group, TaskBlock *block,
                            Stretches *stretches) {
    const MdpStage *stage = stretches->stage;
    uint32_t count = stage->stretch_end - stage->stretch_begin;
    tasks_run(judge->context->tasks, block, stretches, count);
    return judge_ask(judge,
                     group->operations * count / (group->stretch_end - group->stretch_begin));
}

static Status sweep_large(Judge *judge, const MdpPack *pack, const MdpGroup *group, bool coulomb,
                          MdpSum *sum) {
    Status status = STATUS_OK;
    for (uint32_t i = group->stage_begin; i < group->stage_end && status == STATUS_OK; i++) {
        const MdpStage *stage = &pack->stage[i];
        Stretches stretches = {pack, stage, sum->ratio, coulomb};
        status = run_stretches(judge, group, sweep_stretch, &stretches);
        for (uint32_t k = stage->stretch_begin; k < stage->stretch_end; k++) {
            const MdpSum *of = &pack->stretch[k].sum;
            sum->residual += of->residual;
            sum->opposition += of->opposition;
            sum->largest = mdp_note_change(sum->largest, of->largest);
        }
    }
    return status;
}

Status mdp_sweep(Judge *judge, MdpPack *pack, const MdpGroup *group, bool coulomb) {
    MdpSum *sum = &pack->sum[group->island_begin];
    for (uint32_t i = 0; i < group->island_end - group->island_begin; i++) {
        sum[i].residual = sum[i].opposition = sum[i].largest = 0.0;
    }
    if (pack->plain != NULL) {
        return mdp_plain_sweep(judge, pack, group, coulomb);
    }
    for (uint32_t i = group->joint_begin; i < group->joint_end; i++) {
        const MdpJoint *joint = &pack->joint[i];
        MdpSum *of = &sum[pack->row[joint->first].island];
        if (!of->is_done) {
            mdp_sweep_joint(pack, joint, of);
        }
    }
    if (group->is_large) {
        return sweep_large(judge, pack, group, coulomb, sum);
    }
    for (uint32_t i = group->stage_begin; i < group->stage_end; i++) {
        const MdpStage *stage = &pack->stage[i];
        sweep_part(pack, stage, stage->begin, stage->end, coulomb, sum);
    }
    return STATUS_OK;
}

Status mdp_sweep_start(Judge *judge, MdpPack *pack, const MdpGroup *group) {
    if (pack->plain != NULL) {
        return mdp_plain_start(judge, pack, group);
    }
    for (uint32_t i = group->joint_begin; i < group->joint_end; i++) {
        mdp_sweep_push_joint(pack, &pack->joint[i]);
    }
    Status status = STATUS_OK;
    for (uint32_t i = group->stage_begin; i < group->stage_end && status == STATUS_OK; i++) {
        const MdpStage *stage = &pack->stage[i];
        if (group->is_large) {
            Stretches stretches = {.pack = pack, .stage = stage};
            status = run_stretches(judge, group, push_stretch, &stretches);
        } else {
            push_part(pack, stage->kind, stage->begin, stage->end);
        }
    }
    return status;
}
