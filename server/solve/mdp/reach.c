// SPDX-License-Identifier: MIT
#include "solve/mdp/reach.h"

#include "base/assert.h"

#include <string.h>

// What a push may cost, beside a sweep of the island without.
#define NUMBERS_SHARE 8.0
// … nor so much that it should be asked on its way whether to go on
#define NUMBERS_MAX 4e5
// … and what its contacts must be on the mean, of what they are without joints. Of chains of ball
// joints they are half: there neighbours that joints couple take more sweeps, 49 where 5 do. Of n
// bodies in one piece they are 1 / n.
#define LIGHT_SHARE 0.4
// operations of a contact that knows its own bodies alone
#define CONTACT_OPERATIONS 100.0
// A_ii is no less than this share of what it is without joints, so that what they hold fast is
// not a division by rounding; the sweeps' end is none of its business.
#define HELD_SHARE 1e-6

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for contacts on joints.");
}

// Where a tree stands in the linkage; UINT32_MAX: it does not hold it.
static uint32_t find_tree(const MdpLinkage *linkage, uint32_t tree) {
    uint32_t begin = 0, end = linkage->tree_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (linkage->tree[middle] < tree) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < linkage->tree_count && linkage->tree[begin] == tree ? begin : UINT32_MAX;
}

// ---- what joints answer

// x = -S^-1 G p of velocities p in `pushed`, into y.
static void answer(const MdpPack *pack, const MdpJoint *joint) {
    const MdpLinkage *linkage = joint->linkage;
    const MdpRow *row = &pack->row[joint->first];
    for (uint32_t i = 0; i < joint->count; i++) {
        double sum = 0.0;
        for (uint32_t s = row[i].side_first; s < row[i].side_first + row[i].side_count; s++) {
            const MdpSide *side = &pack->side[s];
            const double *p = linkage->pushed + linkage->side_at[s - row->side_first];
            for (uint32_t k = 0; k < side->width; k++) {
                sum += side->jacobian[k] * p[k];
            }
        }
        linkage->y[i] = -sum;
    }
    ldlt_solve(&linkage->ldlt, linkage->y);
}

void mdp_reach_settle(const MdpPack *pack, const MdpJoint *joint) {
    VALIDATE(joint->first + joint->count <= pack->row_count);
    const MdpLinkage *linkage = joint->linkage;
    if (linkage == NULL || linkage->pushed == NULL) {
        return;
    }
    answer(pack, joint);
    for (uint32_t i = 0; i < joint->count; i++) {
        pack->row[joint->first + i].impulse += linkage->y[i];
    }
    memset(linkage->pushed, 0, linkage->velocity_count * sizeof(double));
}

// ---- contacts

// The velocities that impulses y of the joints make, into `made`.
static void follow(const MdpPack *pack, const MdpJoint *joint, double *made) {
    const MdpLinkage *linkage = joint->linkage;
    const MdpRow *row = &pack->row[joint->first];
    memset(made, 0, linkage->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < joint->count; i++) {
        for (uint32_t s = row[i].side_first; s < row[i].side_first + row[i].side_count; s++) {
            const MdpSide *side = &pack->side[s];
            double *at = made + linkage->side_at[s - row->side_first];
            for (uint32_t k = 0; k < side->width; k++) {
                at[k] += side->response[k] * linkage->y[i];
            }
        }
    }
}

static double trace(const MdpBlock *block) {
    return block->nn + block->tt + block->oo;
}

static bool is_nothing(const double *numbers, size_t stride, uint32_t width) {
    bool is = true;
    for (uint32_t k = 0; k < width; k++) {
        is =
            is && numbers[k] == 0.0 && numbers[stride + k] == 0.0 && numbers[2 * stride + k] == 0.0;
    }
    return is;
}

// The sides that a contact reaches: those of trees where not all three columns of `made` are zero.
static bool keep_sides(const MdpPack *pack, const MdpLinkage *linkage, const double *made,
                       Arena *arena, MdpWide *wide) {
    MdpSide *side = arena_take_array(arena, linkage->tree_count, sizeof(*side));
    size_t stride = linkage->velocity_count;
    uint32_t count = 0;
    for (uint32_t i = 0; side != NULL && i < linkage->tree_count; i++) {
        uint32_t width = (uint32_t)(linkage->first[i + 1] - linkage->first[i]);
        const double *from = made + linkage->first[i];
        if (is_nothing(from, stride, width)) {
            continue;
        }
        double *response = arena_take_array(arena, width, 3 * sizeof(double));
        if (response == NULL) {
            return false;
        }
        for (size_t k = 0; k < 3; k++) {
            memcpy(response + k * width, from + k * stride, width * sizeof(double));
        }
        side[count++] = (MdpSide){
            .v = mdp_pack_velocity(pack, linkage->tree[i]), .response = response, .width = width};
    }
    wide->more = side;
    wide->more_count = count;
    return side != NULL;
}

// A_ii with what the joints add, which is J times `made` on the contact's own trees.
static MdpBlock joined_block(const MdpLinkage *linkage, const uint32_t place[2], const double *made,
                             const MdpWide *wide) {
    double a[3][3] = {{0.0}};
    for (int s = 0; s < 2; s++) {
        const MdpSide *side = &wide->side[s];
        for (size_t column = 0; column < 3 && place[s] != UINT32_MAX; column++) {
            const double *at = made + column * linkage->velocity_count + linkage->first[place[s]];
            for (size_t row = 0; row < 3; row++) {
                for (uint32_t k = 0; k < side->width; k++) {
                    a[row][column] += side->jacobian[row * side->width + k] * at[k];
                }
            }
        }
    }
    MdpBlock block = wide->plan.block;
    double least = HELD_SHARE * trace(&block) / 3.0;
    block.nn += a[0][0] + least;
    block.tt += a[1][1] + least;
    block.oo += a[2][2] + least;
    block.nt += 0.5 * (a[0][1] + a[1][0]);
    block.no += 0.5 * (a[0][2] + a[2][0]);
    block.to += 0.5 * (a[1][2] + a[2][1]);
    return block;
}

// Three columns of velocities that the joints make of a contact's pushes.
static void answer_contact(const MdpPack *pack, const MdpJoint *joint, const uint32_t place[2],
                           const MdpWide *wide, double *made) {
    const MdpLinkage *linkage = joint->linkage;
    for (size_t column = 0; column < 3; column++) {
        for (int s = 0; s < 2; s++) {
            const MdpSide *side = &wide->side[s];
            for (uint32_t k = 0; k < side->width && place[s] != UINT32_MAX; k++) {
                linkage->pushed[linkage->first[place[s]] + k] +=
                    side->response[column * side->width + k];
            }
        }
        answer(pack, joint);
        follow(pack, joint, made + column * linkage->velocity_count);
        memset(linkage->pushed, 0, linkage->velocity_count * sizeof(double));
    }
}

static bool reach_contact(const MdpPack *pack, const MdpLinkage *linkage, const uint32_t place[2],
                          const double *made, Arena *arena, MdpWide *wide) {
    MdpBlock block = joined_block(linkage, place, made, wide);
    double share = trace(&block) / trace(&wide->plan.block);
    wide->weight *= share * share;
    mdp_block_plan(&block, &wide->plan);
    for (int s = 0; s < 2; s++) {
        if (place[s] != UINT32_MAX) {
            wide->side[s].pushed = linkage->pushed + linkage->first[place[s]];
        }
    }
    return keep_sides(pack, linkage, made, arena, wide);
}

static void find_places(const MdpPack *pack, const MdpLinkage *linkage, uint32_t place,
                        uint32_t of[2]) {
    for (int s = 0; s < 2; s++) {
        uint32_t tree = pack->pair[place].tree[s];
        bool is_swept = pack->kind[place] == MDP_WIDE && tree != PROBLEM_NO_TREE;
        of[s] = is_swept ? find_tree(linkage, tree) : UINT32_MAX;
    }
}

// How many contacts touch what the linkage holds.
static uint32_t count_contacts(const MdpPack *pack, const MdpLinkage *linkage, uint32_t begin,
                               uint32_t end) {
    uint32_t count = 0, of[2];
    for (uint32_t i = begin; i < end; i++) {
        find_places(pack, linkage, i, of);
        count += of[0] != UINT32_MAX || of[1] != UINT32_MAX;
    }
    return count;
}

static bool take_pushed(const MdpPack *pack, MdpJoint *joint, Arena *arena) {
    MdpLinkage *linkage = joint->linkage;
    const MdpRow *row = &pack->row[joint->first], *last = row + joint->count - 1;
    uint32_t sides = last->side_first + last->side_count - row->side_first;
    linkage->pushed = arena_take_zeroed(arena, linkage->velocity_count, sizeof(double));
    linkage->side_at = arena_take_array(arena, sides, sizeof(*linkage->side_at));
    if (linkage->pushed == NULL || linkage->side_at == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < joint->count; i++) {
        const ProblemRow *of = &pack->problem->row[row[i].row];
        ASSERT(of->block_count == row[i].side_count);
        for (uint32_t b = 0; b < of->block_count; b++) {
            uint32_t tree = pack->problem->row_block[of->block_first + b].tree;
            linkage->side_at[row[i].side_first - row->side_first + b] =
                linkage->first[find_tree(linkage, tree)];
        }
    }
    return true;
}

// One walk over the contacts that the linkage holds: how light they are on the mean beside what
// they are without joints, or, with `keeps`, what they reach.
static Status walk(Judge *judge, const MdpPack *pack, const MdpJoint *joint, IslandRange range,
                   double *made, bool keeps, double *share) {
    const MdpLinkage *linkage = joint->linkage;
    double sum = 0.0, contacts = 0.0;
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        uint32_t place[2];
        find_places(pack, linkage, i, place);
        if (place[0] == UINT32_MAX && place[1] == UINT32_MAX) {
            continue;
        }
        MdpWide *wide = &pack->wide[pack->slot[i]];
        answer_contact(pack, joint, place, wide, made);
        MdpBlock block = joined_block(linkage, place, made, wide);
        sum += trace(&block) / trace(&wide->plan.block);
        contacts++;
        if (keeps && !reach_contact(pack, linkage, place, made, judge->arena, wide)) {
            return no_memory(judge->error);
        }
        Status status = judge_ask(judge, 6.0 * linkage->operations);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *share = sum / contacts;
    return STATUS_OK;
}

Status mdp_reach_make(Judge *judge, const MdpPack *pack, const MdpGroup *group, uint32_t island,
                      MdpJoint *joint) {
    ASSERT(joint->linkage != NULL);
    ASSERT(island < judge->islands.count);
    MdpLinkage *linkage = joint->linkage;
    IslandRange range = islands_range(&judge->islands, island, island + 1);
    uint32_t contacts = count_contacts(pack, linkage, range.contact_begin, range.contact_end);
    double numbers = 3.0 * contacts * (double)linkage->velocity_count;
    double sweep =
        linkage->operations + CONTACT_OPERATIONS * (range.contact_end - range.contact_begin);
    bool is_law = judge->result->answer.relation == RELATION_CONE;
    if (!is_law || group->is_large || contacts == 0 || numbers > NUMBERS_SHARE * sweep ||
        numbers > NUMBERS_MAX) {
        return STATUS_OK;
    }
    ArenaMark mark = arena_mark(judge->arena);
    double *made = arena_take_array(judge->arena, linkage->velocity_count, 3 * sizeof(double));
    if (made == NULL || !take_pushed(pack, joint, judge->arena)) {
        return no_memory(judge->error);
    }
    double share = 0.0;
    Status status = walk(judge, pack, joint, range, made, false, &share);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(share < LIGHT_SHARE)) {
        linkage->pushed = NULL;
        linkage->side_at = NULL;
        arena_reset_to(judge->arena, mark);
        return STATUS_OK;
    }
    linkage->operations = 2.0 * linkage->operations + numbers;
    return walk(judge, pack, joint, range, made, true, &share);
}
