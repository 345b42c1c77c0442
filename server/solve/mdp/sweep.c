// SPDX-License-Identifier: MIT
// The hot loops. Every one reads its contacts in a straight line and touches two bodies; all sums
// stand in one fixed order. Contacts of islands that are done are passed over.
#include "solve/mdp/pack.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "solve/mdp/plain.h"
#include "solve/mdp/reach.h"
#include "solve/mdp/trial.h"

// ---- wide contacts

static inline void push_side(const MdpSide *side, const double d[3], double *v) {
    size_t width = side->width;
    for (size_t k = 0; k < width; k++) {
        v[k] += side->response[k] * d[0] + side->response[width + k] * d[1] +
                side->response[2 * width + k] * d[2];
    }
}

static void push_wide(const MdpWide *c, const double d[3]) {
    for (int s = 0; s < 2; s++) {
        push_side(&c->side[s], d, c->side[s].v);
    }
}

// … and what joints make of it
static void push_joined(const MdpWide *c, const double d[3]) {
    for (uint32_t i = 0; i < c->more_count; i++) {
        push_side(&c->more[i], d, c->more[i].v);
    }
    for (int s = 0; s < 2 && c->more_count > 0; s++) {
        if (c->side[s].pushed != NULL) {
            push_side(&c->side[s], d, c->side[s].pushed);
        }
    }
}

void mdp_sweep_wide(MdpWide *c, bool coulomb, MdpSum *sum) {
    VALIDATE(c->side[0].width + c->side[1].width > 0);
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
    MdpTrial trial;
    mdp_trial_begin(&c->plan, sum->ratio, u, c->impulse, c->before, &trial);
    if (!mdp_plan_is_easy(&c->plan, trial.b, trial.x)) {
        mdp_plan_solve(&c->plan, coulomb, trial.b, trial.x);
    }
    mdp_trial_note(sum, mdp_trial_take(&trial, c->weight, c->impulse, c->before, d));
    push_wide(c, d);
    push_joined(c, d);
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
    MdpChange change = {row->weight * d * d, row->weight * d * (impulse - row->impulse)};
    mdp_trial_note(sum, change);
    row->before = row->impulse;
    row->impulse = impulse;
}

void mdp_sweep_joint(const MdpPack *pack, const MdpJoint *joint, MdpSum *sum) {
    VALIDATE(joint->count > 0);
    VALIDATE(joint->linkage != NULL || joint->count <= MDP_JOINT_MAX);
    VALIDATE(joint->first + joint->count <= pack->row_count);
    double few[2 * MDP_JOINT_MAX];
    MdpLinkage *linkage = joint->linkage;
    double *y = linkage != NULL ? linkage->y : few;
    double *start = linkage != NULL ? linkage->start : few + MDP_JOINT_MAX;
    MdpRow *row = &pack->row[joint->first];
    for (uint32_t i = 0; i < joint->count; i++) {
        start[i] = row[i].impulse + sum->ratio * (row[i].impulse - row[i].before);
        y[i] = row_velocity(pack, &row[i], start[i]);
    }
    if (linkage != NULL) {
        ldlt_solve(&linkage->ldlt, y);
    } else {
        dense_solve(joint->count, joint->factor, y);
    }
    for (uint32_t i = 0; i < joint->count; i++) {
        double r = start[i] - y[i];
        if (joint->is_clipped) {
            r = r < row[i].low ? row[i].low : r > row[i].high ? row[i].high : r;
        }
        set_row(pack, &row[i], r, r - start[i], sum);
    }
}

void mdp_sweep_push_joint(const MdpPack *pack, const MdpJoint *joint) {
    VALIDATE(joint->first + joint->count <= pack->row_count);
    for (uint32_t k = 0; k < joint->count; k++) {
        const MdpRow *row = &pack->row[joint->first + k];
        push_row(pack, row, row->impulse);
    }
}

// ---- stages

// A stage, or a stretch of it; `sum` is of the group's islands.
static void sweep_span(const MdpPack *pack, MdpKind kind, const MdpSpan *span, bool coulomb,
                       MdpSum *sum) {
    if (kind == MDP_BALL) {
        mdp_ball_sweep(pack->quad, span->begin, span->end, pack->body, sum);
        return;
    }
    if (kind == MDP_POINT) {
        mdp_point_sweep(&pack->points, span->begin, span->end, coulomb, sum);
        mdp_point_note(&pack->points, pack->note + span->note_begin,
                       span->note_end - span->note_begin, sum);
        return;
    }
    for (uint32_t i = span->begin; i < span->end && kind == MDP_WIDE; i++) {
        MdpSum *of = &sum[pack->wide[i].island];
        if (!of->is_done) {
            mdp_sweep_wide(&pack->wide[i], coulomb, of);
        }
    }
}

static void push_span(const MdpPack *pack, MdpKind kind, const MdpSpan *span) {
    if (kind == MDP_BALL) {
        mdp_ball_push(pack->quad, span->begin, span->end, pack->body);
        return;
    }
    if (kind == MDP_POINT) {
        mdp_point_push(&pack->points, span->begin, span->end);
        return;
    }
    for (uint32_t i = span->begin; i < span->end; i++) {
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
    sweep_span(stretches->pack, stretches->stage->kind, &stretch->span, stretches->coulomb, &sum);
    stretch->sum = sum;
}

static void push_stretch(void *work, uint32_t block) {
    const Stretches *stretches = work;
    const MdpStretch *stretch = &stretches->pack->stretch[stretches->stage->stretch_begin + block];
    push_span(stretches->pack, stretches->stage->kind, &stretch->span);
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
    ASSERT(group->island_begin < group->island_end);
    ASSERT(group->island_end <= judge->islands.count);
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
        sweep_span(pack, stage->kind, &stage->span, coulomb, sum);
    }
    for (uint32_t i = group->joint_begin; i < group->joint_end; i++) {
        mdp_reach_settle(pack, &pack->joint[i]);
    }
    return STATUS_OK;
}

Status mdp_sweep_start(Judge *judge, MdpPack *pack, const MdpGroup *group) {
    ASSERT(group->joint_begin <= group->joint_end);
    ASSERT(group->joint_end <= pack->joint_count);
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
            push_span(pack, stage->kind, &stage->span);
        }
    }
    return status;
}
