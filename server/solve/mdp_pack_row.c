// SPDX-License-Identifier: MIT
// Rows for sweeping: the bilateral rows of a group are solved at once, at most six at a time; a row
// that is clipped stands alone.
#include "solve/mdp_pack.h"

#include "solve/dense.h"

#include <string.h>

#define SINGULAR_SHARE 1e-10 // pivot over w below which a joint's block counts as singular
#define REGULAR_SHARE  1e-9  // what it is given then, times w; it vanishes at the fixed point

static bool is_bilateral(const RowRelation *relation) {
    return isinf(relation->low) && isinf(relation->high);
}

static bool fill_side(const MdpPack *pack, const RowBlock *block, Arena *arena, MdpSide *side) {
    uint32_t width = pack->problem->tree[block->tree].width;
    const double *jacobian = pack->problem->number + block->jacobian;
    double *response = arena_take_array(arena, width, sizeof(double));
    if (response == NULL) {
        return false;
    }
    memcpy(response, jacobian, width * sizeof(double));
    mass_solve_tree(&pack->judge->mass, block->tree, response);
    *side = (MdpSide){mdp_pack_velocity(pack, block->tree), jacobian, response, width};
    return true;
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
    for (uint32_t b = 0; b < r->block_count; b++) {
        MdpSide *side = &pack->side[pack->side_count + b];
        if (!fill_side(pack, &pack->problem->row_block[r->block_first + b], judge->arena, side)) {
            return false;
        }
        for (uint32_t k = 0; k < side->width; k++) {
            packed.w += side->jacobian[k] * side->response[k];
        }
    }
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

static void close_joint(MdpPack *pack, uint32_t first, bool is_clipped) {
    uint32_t count = pack->row_count - first;
    if (count > 0) {
        MdpJoint *joint = &pack->joint[pack->joint_count++];
        *joint = (MdpJoint){.first = first, .count = count, .is_clipped = is_clipped};
        factor_joint(pack, joint);
    }
}

// Rows at places [begin, end) of the list, of one joint: bilateral ones together first, then the
// clipped ones.
static bool add_joint(MdpPack *pack, const MdpGroup *group, uint32_t begin, uint32_t end) {
    const uint32_t *list = pack->judge->islands.row;
    const RowRelation *relation = pack->judge->result->answer.row;
    uint32_t first = pack->row_count;
    for (uint32_t i = begin; i < end; i++) {
        if (!is_bilateral(&relation[list[i]])) {
            continue;
        }
        if (!add_row(pack, group, list[i])) {
            return false;
        }
        if (pack->row_count - first == MDP_JOINT_MAX) {
            close_joint(pack, first, false);
            first = pack->row_count;
        }
    }
    close_joint(pack, first, false);
    for (uint32_t i = begin; i < end; i++) {
        first = pack->row_count;
        if (!is_bilateral(&relation[list[i]])) {
            if (!add_row(pack, group, list[i])) {
                return false;
            }
            close_joint(pack, first, true);
        }
    }
    return true;
}

static bool add_island(MdpPack *pack, const MdpGroup *group, uint32_t island) {
    const ProblemRow *row = pack->problem->row;
    const Islands *islands = &pack->judge->islands;
    const uint32_t *list = islands->row;
    uint32_t last = islands->row_first[island + 1], end;
    for (uint32_t begin = islands->row_first[island]; begin < last; begin = end) {
        uint32_t joint = row[list[begin]].group;
        end = begin + 1;
        while (joint != 0 && end < last && row[list[end]].group == joint) {
            end++;
        }
        if (!add_joint(pack, group, begin, end)) {
            return false;
        }
    }
    return true;
}

static bool add_group(MdpPack *pack, MdpGroup *group) {
    group->joint_begin = pack->joint_count;
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        if (mdp_pack_sweeps(pack, i) && !add_island(pack, group, i)) {
            return false;
        }
    }
    group->joint_end = pack->joint_count;
    return true;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the rows.");
}

Status mdp_pack_rows(Judge *judge, MdpPack *pack) {
    const ContactProblem *problem = pack->problem;
    if (problem->row_count == 0) {
        return STATUS_OK;
    }
    pack->row = arena_take_array(judge->arena, problem->row_count, sizeof(*pack->row));
    pack->joint = arena_take_array(judge->arena, problem->row_count, sizeof(*pack->joint));
    pack->side = arena_take_array(judge->arena, problem->row_block_count, sizeof(*pack->side));
    if (pack->row == NULL || pack->joint == NULL || pack->side == NULL) {
        return no_memory(judge->error);
    }
    for (uint32_t i = 0; i < pack->group_count; i++) {
        if (!add_group(pack, &pack->group[i])) {
            return no_memory(judge->error);
        }
    }
    return STATUS_OK;
}
