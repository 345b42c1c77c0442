// SPDX-License-Identifier: MIT
// Rows for sweeping: the bilateral rows of an island are solved at once (linkage.h), or those
// of a group, at most six at a time; a row that is clipped stands alone.
#include "solve/mdp/reach.h"

#include "base/assert.h"
#include "solve/dense/dense.h"

#include <string.h>

#define SINGULAR_SHARE 1e-10 // pivot over w below which a joint's block counts as singular
#define REGULAR_SHARE  1e-9  // what it is given then, times w; it vanishes at the fixed point
// to lay out a row, about
#define ROW_OPERATIONS 300.0

static bool is_bilateral(const RowRelation *relation) {
    return isinf(relation->low) && isinf(relation->high);
}

// Room for a response that nobody has made; NULL: the arena ends.
static const double *respond(const MdpPack *pack, const RowBlock *block) {
    const uint32_t width = pack->problem->tree[block->tree].width;
    double *response = arena_take_array(pack->judge->arena, width, sizeof(double));
    if (response != NULL) {
        memcpy(response, pack->problem->number + block->jacobian, width * sizeof(double));
        mass_solve_tree(&pack->judge->mass, block->tree, response);
    }
    return response;
}

// Of a block of a row, whose response is made where it is not at hand; false: the arena ends.
static bool fill_side(const MdpPack *pack, uint32_t place, MdpSide *side) {
    const RowBlock *block = &pack->problem->row_block[place];
    const double *response = pack->response[place].number;
    *side = (MdpSide){.v = mdp_pack_velocity(pack, block->tree),
                      .jacobian = pack->problem->number + block->jacobian,
                      .response = response != NULL ? response : respond(pack, block),
                      .width = pack->problem->tree[block->tree].width};
    return side->response != NULL;
}

static bool add_row(MdpPack *pack, const MdpGroup *group, uint32_t row) {
    const Judge *judge = pack->judge;
    const ProblemRow *r = &pack->problem->row[row];
    const RowRelation *relation = &judge->result->answer.row[row];
    MdpRow packed = {.side_first = pack->side_count,
                     .side_count = r->block_count,
                     .row = row,
                     .bias = relation->bias,
                     .compliance = relation->compliance,
                     .low = relation->low,
                     .high = relation->high,
                     .impulse = judge->result->answer.row_impulse[row]};
    double weight = 0.0; // as the certificate sums it
    for (uint32_t b = 0; b < r->block_count; b++) {
        const MassResponse *at_hand = &pack->response[r->block_first + b];
        MdpSide *side = &pack->side[pack->side_count + b];
        if (!fill_side(pack, r->block_first + b, side)) {
            return false;
        }
        double of_block = 0.0;
        for (uint32_t k = 0; k < side->width; k++) {
            const double term = side->jacobian[k] * side->response[k];
            packed.w += term;
            of_block += term;
        }
        weight += at_hand->number != NULL ? at_hand->square : of_block;
    }
    mass_keep_row_weight(&judge->mass, row, weight);
    if (packed.w == 0.0) {
        return true; // moves nothing; its sides are forgotten
    }
    pack->side_count += r->block_count;
    uint32_t island = islands_of_row(pack->problem, judge->islands.of_tree, row);
    packed.island = island - group->island_begin;
    double share = packed.w / judge->scale.v_scale[island];
    packed.weight = share * share;
    pack->row[pack->row_count++] = packed;
    return true;
}

// G_a M^-1 G_b^T
static double coupling(const MdpPack *pack, const MdpRow *a, const MdpRow *b) {
    double sum = 0.0;
    for (uint32_t i = 0; i < a->side_count; i++) {
        const MdpSide *side_a = &pack->side[a->side_first + i];
        for (uint32_t j = 0; j < b->side_count; j++) {
            const MdpSide *side_b = &pack->side[b->side_first + j];
            for (uint32_t k = 0; side_a->v == side_b->v && k < side_a->width; k++) {
                sum += side_a->jacobian[k] * side_b->response[k];
            }
        }
    }
    return sum;
}

static void factor_joint(const MdpPack *pack, MdpJoint *joint) {
    double block[MDP_JOINT_MAX * MDP_JOINT_MAX] = {0.0};
    size_t n = joint->count;
    double w = 0.0;
    for (size_t i = 0; i < n; i++) {
        const MdpRow *a = &pack->row[joint->first + i];
        for (size_t j = 0; j <= i; j++) {
            block[i * n + j] = coupling(pack, a, &pack->row[joint->first + j]);
        }
        block[i * n + i] += a->compliance;
        w += block[i * n + i] / (double)n;
    }
    if (!dense_factor(n, block, SINGULAR_SHARE * w, joint->factor)) {
        for (size_t i = 0; i < n; i++) {
            block[i * n + i] += REGULAR_SHARE * w;
        }
        // a block that is not a number stays so, and the sweep shows it
        dense_factor(n, block, -HUGE_VAL, joint->factor);
    }
}

static void close_joint(MdpPack *pack, uint32_t first, uint32_t end, bool is_clipped) {
    uint32_t count = end - first;
    if (count > 0) {
        MdpJoint *joint = &pack->joint[pack->joint_count++];
        *joint = (MdpJoint){.first = first, .count = count, .is_clipped = is_clipped};
        factor_joint(pack, joint);
    }
}

// ---- islands

// How the rows of an island are walked: joint by joint, those of one group.
static uint32_t end_of_joint(const MdpPack *pack, uint32_t begin, uint32_t last) {
    const ProblemRow *row = pack->problem->row;
    const uint32_t *list = pack->judge->islands.row;
    uint32_t joint = row[list[begin]].group, end = begin + 1;
    while (joint != 0 && end < last && row[list[end]].group == joint) {
        end++;
    }
    return end;
}

static bool takes(const MdpPack *pack, uint32_t place, bool bilateral) {
    uint32_t row = pack->judge->islands.row[place];
    return is_bilateral(&pack->judge->result->answer.row[row]) == bilateral;
}

// The bilateral rows of places [begin, end), and where the joints begin that they make, from
// unit[*units] on.
static bool add_bilateral(MdpPack *pack, const MdpGroup *group, uint32_t begin, uint32_t end,
                          uint32_t *units) {
    uint32_t first = pack->row_count;
    for (uint32_t i = begin; i < end; i++) {
        if (takes(pack, i, true) && !add_row(pack, group, pack->judge->islands.row[i])) {
            return false;
        }
        if (pack->row_count - first == MDP_JOINT_MAX || i + 1 == end) {
            pack->unit[*units] = first;
            *units += pack->row_count > first;
            first = pack->row_count;
        }
    }
    return true;
}

static bool add_clipped(MdpPack *pack, const MdpGroup *group, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        uint32_t first = pack->row_count;
        if (takes(pack, i, false)) {
            if (!add_row(pack, group, pack->judge->islands.row[i])) {
                return false;
            }
            close_joint(pack, first, pack->row_count, true);
        }
    }
    return true;
}

// Joints that were added, as one linkage or one by one.
static Status close_joints(Judge *judge, MdpPack *pack, uint32_t units) {
    MdpLinkage *linkage = NULL;
    pack->unit[units] = pack->row_count;
    if (units > 1 && !pack->is_plain) {
        Status status = mdp_linkage_make(judge, pack, pack->unit, units, &linkage);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (linkage != NULL) {
        pack->joint[pack->joint_count++] = (MdpJoint){
            .first = pack->unit[0], .count = pack->row_count - pack->unit[0], .linkage = linkage};
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < units; i++) {
        close_joint(pack, pack->unit[i], pack->unit[i + 1], false);
    }
    return STATUS_OK;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the rows.");
}

// Bilateral rows first, then the clipped ones: of the whole island, or, swept as the paper has it,
// of joint after joint.
static Status add_rows(Judge *judge, MdpPack *pack, const MdpGroup *group, uint32_t begin,
                       uint32_t last) {
    uint32_t units = 0;
    if (!mass_respond_rows(&judge->mass, judge->islands.row + begin, last - begin, pack->response,
                           judge->arena)) {
        return no_memory(judge->error);
    }
    for (uint32_t i = begin, end; i < last; i = end) {
        end = end_of_joint(pack, i, last);
        if (!add_bilateral(pack, group, i, end, &units)) {
            return no_memory(judge->error);
        }
        Status status = judge_ask(judge, ROW_OPERATIONS * (end - i));
        if (status != STATUS_OK) {
            return status;
        }
    }
    Status status = close_joints(judge, pack, units);
    if (status == STATUS_OK && !add_clipped(pack, group, begin, last)) {
        return no_memory(judge->error);
    }
    return status;
}

// The linkage of an island, which is its first joint.
static Status reach_contacts(Judge *judge, MdpPack *pack, const MdpGroup *group, uint32_t island,
                             uint32_t joint) {
    bool is_linked = joint < pack->joint_count && pack->joint[joint].linkage != NULL;
    return is_linked ? mdp_reach_make(judge, pack, group, island, &pack->joint[joint]) : STATUS_OK;
}

static Status add_island(Judge *judge, MdpPack *pack, const MdpGroup *group, uint32_t island) {
    uint32_t begin = judge->islands.row_first[island], last = judge->islands.row_first[island + 1];
    Status status = STATUS_OK;
    if (!pack->is_plain) {
        uint32_t joint = pack->joint_count;
        status = add_rows(judge, pack, group, begin, last);
        return STATUS_THEN(status, reach_contacts(judge, pack, group, island, joint));
    }
    for (uint32_t i = begin, end; i < last && status == STATUS_OK; i = end) {
        end = end_of_joint(pack, i, last);
        status = add_rows(judge, pack, group, i, end);
    }
    return status;
}

static Status add_group(Judge *judge, MdpPack *pack, MdpGroup *group) {
    Status status = STATUS_OK;
    group->joint_begin = pack->joint_count;
    for (uint32_t i = group->island_begin; i < group->island_end && status == STATUS_OK; i++) {
        if (mdp_pack_sweeps(pack, i)) {
            status = add_island(judge, pack, group, i);
        }
    }
    group->joint_end = pack->joint_count;
    for (uint32_t i = group->joint_begin; i < group->joint_end; i++) {
        const MdpLinkage *linkage = pack->joint[i].linkage;
        group->operations += linkage != NULL ? linkage->operations : 0.0;
    }
    return status;
}

Status mdp_pack_rows(Judge *judge, MdpPack *pack) {
    ASSERT(pack->row_count == 0);
    const ContactProblem *problem = pack->problem;
    if (problem->row_count == 0) {
        return STATUS_OK;
    }
    pack->row = arena_take_array(judge->arena, problem->row_count, sizeof(*pack->row));
    pack->joint = arena_take_array(judge->arena, problem->row_count, sizeof(*pack->joint));
    pack->side = arena_take_array(judge->arena, problem->row_block_count, sizeof(*pack->side));
    pack->response =
        arena_take_array(judge->arena, problem->row_block_count, sizeof(*pack->response));
    pack->unit =
        arena_take_array(judge->arena, (size_t)problem->row_count + 1, sizeof(*pack->unit));
    if (pack->row == NULL || pack->joint == NULL || pack->side == NULL || pack->unit == NULL ||
        pack->response == NULL) {
        return no_memory(judge->error);
    }
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < pack->group_count && status == STATUS_OK; i++) {
        status = add_group(judge, pack, &pack->group[i]);
    }
    return status;
}
