// SPDX-License-Identifier: MIT
#include "solve/mdp/plain.h"

#include "base/assert.h"

#include <string.h>

// Contacts of a part that are swept between two questions whether to stop, while as many parts as a
// window holds are swept at once.
enum { SLICE = 64 };

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the parts of its islands.");
}

// ---- parts

static bool take_parts(const Judge *judge, MdpPlain *plain) {
    const Islands *islands = &judge->islands;
    plain->part_first =
        arena_take_array(judge->arena, (size_t)islands->count + 1, sizeof(*plain->part_first));
    if (plain->part_first == NULL) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < islands->count; i++) {
        plain->part_first[i] = count;
        count += mdp_plain_parts(islands, i, plain->blend.parts_max);
    }
    plain->part_first[islands->count] = count;
    plain->part = arena_take_zeroed(judge->arena, count, sizeof(*plain->part));
    for (uint32_t i = 0; i < islands->count && plain->part != NULL; i++) {
        for (uint32_t k = plain->part_first[i]; k < plain->part_first[i + 1]; k++) {
            plain->part[k].island = i;
        }
    }
    return plain->part != NULL;
}

static uint32_t lower(const uint32_t *part_of_tree, uint32_t part, uint32_t tree) {
    uint32_t of = tree == PROBLEM_NO_TREE ? part : part_of_tree[tree];
    return of < part ? of : part;
}

// The part of a contact, or a joint, among all.
static uint32_t part_of_contact(const MdpPack *pack, const uint32_t *part_of_tree, uint32_t place) {
    const MdpPair *pair = &pack->pair[place];
    uint32_t part = lower(part_of_tree, UINT32_MAX, pair->tree[0]);
    part = lower(part_of_tree, part, pair->tree[1]);
    uint32_t contact = pack->judge->islands.contact[place];
    uint32_t island = islands_of_contact(pack->problem, pack->judge->islands.of_tree, contact);
    return pack->plain->part_first[island] + part;
}

static uint32_t part_of_joint(const MdpPack *pack, const uint32_t *part_of_tree,
                              const MdpJoint *joint) {
    const ContactProblem *problem = pack->problem;
    uint32_t part = UINT32_MAX;
    for (uint32_t k = 0; k < joint->count; k++) {
        const ProblemRow *row = &problem->row[pack->row[joint->first + k].row];
        for (uint32_t b = 0; b < row->block_count; b++) {
            part = lower(part_of_tree, part, problem->row_block[row->block_first + b].tree);
        }
    }
    uint32_t island =
        islands_of_row(problem, pack->judge->islands.of_tree, pack->row[joint->first].row);
    return pack->plain->part_first[island] + part;
}

// Lists contacts and joints part by part, in their order: first how many each has, as the end of
// what is still empty.
static void list_contacts(const MdpPack *pack, const uint32_t *part_of_tree) {
    const MdpPlain *plain = pack->plain;
    const Islands *islands = &pack->judge->islands;
    uint32_t end = islands->contact_first[islands->count], sum = 0;
    for (uint32_t i = 0; i < end; i++) {
        if (pack->kind[i] != MDP_NONE) {
            plain->part[part_of_contact(pack, part_of_tree, i)].contact_end++;
        }
    }
    for (uint32_t k = 0; k < plain->part_first[islands->count]; k++) {
        MdpPart *part = &plain->part[k];
        part->contact_begin = sum;
        sum += part->contact_end;
        part->contact_end = part->contact_begin;
    }
    for (uint32_t i = 0; i < end; i++) {
        if (pack->kind[i] != MDP_NONE) {
            MdpPart *part = &plain->part[part_of_contact(pack, part_of_tree, i)];
            plain->contact[part->contact_end++] = i;
        }
    }
}

static void list_joints(const MdpPack *pack, const uint32_t *part_of_tree) {
    const MdpPlain *plain = pack->plain;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < pack->joint_count; i++) {
        plain->part[part_of_joint(pack, part_of_tree, &pack->joint[i])].joint_end++;
    }
    for (uint32_t k = 0; k < plain->part_first[pack->judge->islands.count]; k++) {
        MdpPart *part = &plain->part[k];
        part->joint_begin = sum;
        sum += part->joint_end;
        part->joint_end = part->joint_begin;
    }
    for (uint32_t i = 0; i < pack->joint_count; i++) {
        MdpPart *part = &plain->part[part_of_joint(pack, part_of_tree, &pack->joint[i])];
        plain->joint[part->joint_end++] = i;
    }
}

// ---- copies

static bool is_cut(const MdpPlain *plain, uint32_t island) {
    return plain->part_first[island + 1] - plain->part_first[island] > 1;
}

// What is done for each tree that a part touches; `v` is where a side has its velocity.
typedef void Touch(MdpPack *pack, uint32_t part, uint32_t tree, double **v);

static void touch_sides(MdpPack *pack, uint32_t index, Touch *touch) {
    const MdpPlain *plain = pack->plain;
    const MdpPart *part = &plain->part[index];
    for (uint32_t i = part->contact_begin; i < part->contact_end; i++) {
        uint32_t place = plain->contact[i];
        MdpWide *wide = &pack->wide[pack->slot[place]];
        for (int s = 0; s < 2; s++) {
            if (wide->side[s].width > 0) {
                touch(pack, index, pack->pair[place].tree[s], &wide->side[s].v);
            }
        }
    }
    for (uint32_t i = part->joint_begin; i < part->joint_end; i++) {
        const MdpJoint *joint = &pack->joint[plain->joint[i]];
        for (uint32_t k = 0; k < joint->count; k++) {
            const MdpRow *row = &pack->row[joint->first + k];
            const ProblemRow *of = &pack->problem->row[row->row];
            for (uint32_t b = 0; b < row->side_count; b++) {
                touch(pack, index, pack->problem->row_block[of->block_first + b].tree,
                      &pack->side[row->side_first + b].v);
            }
        }
    }
}

static void touch_cut_islands(MdpPack *pack, Touch *touch) {
    for (uint32_t i = 0; i < pack->judge->islands.count; i++) {
        uint32_t end = is_cut(pack->plain, i) ? pack->plain->part_first[i + 1] : 0;
        for (uint32_t k = pack->plain->part_first[i]; k < end; k++) {
            touch_sides(pack, k, touch);
        }
    }
}

static uint32_t find_copy(const MdpPlain *plain, uint32_t part, uint32_t tree) {
    uint32_t copy = plain->newest[tree];
    while (copy != MDP_NO_COPY && plain->copy[copy].part != part) {
        copy = plain->copy[copy].next;
    }
    return copy;
}

// `copy_count` counts, and the first of the copy to come counts numbers.
static void make_copy(MdpPack *pack, uint32_t part, uint32_t tree, double **v) {
    (void)v;
    MdpPlain *plain = pack->plain;
    if (find_copy(plain, part, tree) == MDP_NO_COPY) {
        MdpCopy *copy = &plain->copy[plain->copy_count];
        copy[1].first = copy->first + pack->problem->tree[tree].width;
        copy->part = part;
        copy->next = plain->newest[tree];
        plain->newest[tree] = plain->copy_count++;
    }
}

static void take_copy(MdpPack *pack, uint32_t part, uint32_t tree, double **v) {
    const MdpPlain *plain = pack->plain;
    *v = plain->copy_v + plain->copy[find_copy(plain, part, tree)].first;
}

// No contact touches more than two trees, no row more than it has blocks.
static bool make_copies(const Judge *judge, MdpPack *pack) {
    const ContactProblem *problem = judge->problem;
    MdpPlain *plain = pack->plain;
    size_t most = plain->blend.parts_max == 1
                      ? 1
                      : 2 * (size_t)problem->contact_count + problem->row_block_count + 1;
    plain->newest = arena_take_array(judge->arena, problem->tree_count, sizeof(*plain->newest));
    plain->copy = arena_take_array(judge->arena, most, sizeof(*plain->copy));
    if (plain->newest == NULL || plain->copy == NULL) {
        return false;
    }
    memset(plain->newest, 0xff, problem->tree_count * sizeof(*plain->newest)); // MDP_NO_COPY
    plain->copy[0].first = 0;
    touch_cut_islands(pack, make_copy);
    plain->copy_v = arena_take_array(judge->arena, plain->copy[plain->copy_count].first,
                                     sizeof(*plain->copy_v));
    if (plain->copy_v == NULL) {
        return false;
    }
    touch_cut_islands(pack, take_copy);
    return true;
}

Status mdp_plain_begin(Judge *judge, MdpPack *pack, const MdpBlend *blend) {
    ASSERT(pack->is_plain && blend->parts_max > 0);
    const ContactProblem *problem = judge->problem;
    MdpPlain *plain = arena_take_zeroed(judge->arena, 1, sizeof(*plain));
    uint32_t *part_of_tree =
        arena_take_array(judge->arena, problem->tree_count, sizeof(*part_of_tree));
    if (plain == NULL || part_of_tree == NULL) {
        return no_memory(judge->error);
    }
    plain->blend = *blend;
    plain->contact = arena_take_array(judge->arena, problem->contact_count, sizeof(uint32_t));
    plain->joint = arena_take_array(judge->arena, pack->joint_count, sizeof(uint32_t));
    if (plain->contact == NULL || plain->joint == NULL || !take_parts(judge, plain) ||
        !mdp_plain_cut(judge, blend->parts_max, part_of_tree)) {
        return no_memory(judge->error);
    }
    pack->plain = plain;
    list_contacts(pack, part_of_tree);
    list_joints(pack, part_of_tree);
    return make_copies(judge, pack) ? STATUS_OK : no_memory(judge->error);
}

// ---- velocities between parts

void mdp_plain_spread(const MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    ASSERT(pack->plain != NULL);
    const MdpPlain *plain = pack->plain;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = pack->judge->islands.tree[i];
        const double *v = mdp_pack_velocity(pack, tree);
        size_t bytes = pack->problem->tree[tree].width * sizeof(double);
        for (uint32_t k = plain->newest[tree]; k != MDP_NO_COPY; k = plain->copy[k].next) {
            memcpy(plain->copy_v + plain->copy[k].first, v, bytes);
        }
    }
}

// The changes of all copies of the trees at places [begin, end), as far as they count.
static void exchange(const MdpPack *pack, double relaxation, uint32_t begin, uint32_t end) {
    const MdpPlain *plain = pack->plain;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = pack->judge->islands.tree[i];
        double *v = mdp_pack_velocity(pack, tree);
        for (uint32_t k = 0; k < pack->problem->tree[tree].width; k++) {
            double sum = 0.0;
            for (uint32_t c = plain->newest[tree]; c != MDP_NO_COPY; c = plain->copy[c].next) {
                sum += plain->copy_v[plain->copy[c].first + k] - v[k];
            }
            v[k] += relaxation * sum;
        }
    }
    mdp_plain_spread(pack, begin, end);
}

typedef struct Exchange {
    const MdpPack *pack;
    double relaxation;
} Exchange;

static void exchange_share(void *work, uint32_t share) {
    const Exchange *of = work;
    const IslandRange *range = &of->pack->judge->islands.share[share].range;
    exchange(of->pack, of->relaxation, range->tree_begin, range->tree_end);
}

static Status exchange_group(Judge *judge, const MdpPack *pack, const MdpGroup *group,
                             double relaxation) {
    if (group->is_large) {
        Exchange work = {pack, relaxation};
        return is_cut(pack->plain, group->island_begin)
                   ? judge_shares(judge, exchange_share, &work, group->share,
                                  group->share + group->share_count)
                   : STATUS_OK;
    }
    const uint32_t *tree_first = judge->islands.tree_first;
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        if (is_cut(pack->plain, i) && !pack->sum[i].is_done) {
            exchange(pack, relaxation, tree_first[i], tree_first[i + 1]);
        }
    }
    return STATUS_OK;
}

// ---- sweeps

// Parts of one island that are swept at once, a slice of their contacts at a time.
typedef struct Slices {
    const MdpPack *pack;
    uint32_t first; // part
    uint32_t slice;
    bool coulomb, is_start;
} Slices;

// What a sweep of several parts keeps of a change; (1 - 1) z + x is x to the last bit.
static inline double relaxed(double relaxation, double z, double x) {
    return (1.0 - relaxation) * z + relaxation * x;
}

static void do_joint(const MdpPack *pack, const MdpJoint *joint, const Slices *slices,
                     double relaxation, MdpSum *sum) {
    if (slices->is_start) {
        mdp_sweep_push_joint(pack, joint);
        return;
    }
    mdp_sweep_joint(pack, joint, sum);
    for (uint32_t k = 0; k < joint->count; k++) {
        MdpRow *row = &pack->row[joint->first + k];
        row->impulse = relaxed(relaxation, row->before, row->impulse);
    }
}

static void do_contact(MdpWide *wide, const Slices *slices, double relaxation, MdpSum *sum) {
    if (slices->is_start) {
        mdp_sweep_push_wide(wide);
        return;
    }
    mdp_sweep_wide(wide, slices->coulomb, sum);
    for (int k = 0; k < 3; k++) {
        wide->impulse[k] = relaxed(relaxation, wide->before[k], wide->impulse[k]);
    }
}

// A slice of one part: joints with the first.
static void do_slice(void *work, uint32_t block) {
    const Slices *slices = work;
    const MdpPack *pack = slices->pack;
    const MdpPlain *plain = pack->plain;
    MdpPart *part = &plain->part[slices->first + block];
    double relaxation = is_cut(plain, part->island) ? plain->blend.relaxation : 1.0;
    if (slices->slice == 0) {
        part->sum = (MdpSum){.ratio = 0.0};
    }
    for (uint32_t i = part->joint_begin; i < part->joint_end && slices->slice == 0; i++) {
        do_joint(pack, &pack->joint[plain->joint[i]], slices, relaxation, &part->sum);
    }
    uint64_t begin = part->contact_begin + (uint64_t)SLICE * slices->slice, end = begin + SLICE;
    for (uint64_t i = begin; i < end && i < part->contact_end; i++) {
        do_contact(&pack->wide[pack->slot[plain->contact[i]]], slices, relaxation, &part->sum);
    }
}

// The slices of a part; joints alone need one.
static uint32_t slices_of(const MdpPart *part) {
    uint32_t count = tasks_blocks(part->contact_end - part->contact_begin, SLICE);
    return count > 0 ? count : 1;
}

static double operations_of(const MdpGroup *group, const MdpPart *part) {
    const IslandRange *range = &group->range;
    double all = (double)(range->contact_end - range->contact_begin) +
                 (double)(range->row_end - range->row_begin);
    double of = (double)(part->contact_end - part->contact_begin) +
                (double)(part->joint_end - part->joint_begin);
    return all > 0.0 ? group->operations * of / all : 0.0;
}

// Parts [first, first + count) of a large island.
static Status do_window(Judge *judge, const MdpGroup *group, Slices *slices, uint32_t count) {
    uint32_t most = 1;
    double operations = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        const MdpPart *part = &slices->pack->plain->part[slices->first + k];
        uint32_t of = slices_of(part);
        most = of > most ? of : most;
        operations += operations_of(group, part);
    }
    Status status = STATUS_OK;
    for (slices->slice = 0; slices->slice < most && status == STATUS_OK; slices->slice++) {
        tasks_run(judge->context->tasks, do_slice, slices, count);
        status = judge_ask(judge, operations / most);
    }
    return status;
}

// A part at once, by whoever works at its small island.
static void do_part(Slices *slices) {
    uint32_t count = slices_of(&slices->pack->plain->part[slices->first]);
    for (slices->slice = 0; slices->slice < count; slices->slice++) {
        do_slice(slices, 0);
    }
}

static void add_sums(const MdpPack *pack, uint32_t island) {
    const MdpPlain *plain = pack->plain;
    MdpSum *sum = &pack->sum[island];
    for (uint32_t k = plain->part_first[island]; k < plain->part_first[island + 1]; k++) {
        const MdpSum *of = &plain->part[k].sum;
        sum->residual += of->residual;
        sum->opposition += of->opposition;
        sum->largest = mdp_note_change(sum->largest, of->largest);
    }
}

// All parts of an island that is not done.
static Status do_island(Judge *judge, const MdpGroup *group, Slices *slices, uint32_t island) {
    const uint32_t *part_first = slices->pack->plain->part_first;
    Status status = STATUS_OK;
    uint32_t end = part_first[island + 1];
    for (uint32_t k = part_first[island]; k < end && status == STATUS_OK;) {
        uint32_t count = !group->is_large ? 1 : end - k < JUDGE_WINDOW ? end - k : JUDGE_WINDOW;
        slices->first = k;
        if (group->is_large) {
            status = do_window(judge, group, slices, count);
        } else {
            do_part(slices);
        }
        k += count;
    }
    if (!slices->is_start) {
        add_sums(slices->pack, island);
    }
    return status;
}

static Status do_group(Judge *judge, const MdpGroup *group, Slices *slices, double relaxation) {
    Status status = STATUS_OK;
    for (uint32_t i = group->island_begin; i < group->island_end && status == STATUS_OK; i++) {
        if (!slices->pack->sum[i].is_done) {
            status = do_island(judge, group, slices, i);
        }
    }
    return STATUS_THEN(status, exchange_group(judge, slices->pack, group, relaxation));
}

Status mdp_plain_sweep(Judge *judge, const MdpPack *pack, const MdpGroup *group, bool coulomb) {
    ASSERT(pack->plain != NULL);
    ASSERT(group->island_begin < group->island_end);
    Slices slices = {.pack = pack, .coulomb = coulomb};
    return do_group(judge, group, &slices, pack->plain->blend.relaxation);
}

Status mdp_plain_start(Judge *judge, const MdpPack *pack, const MdpGroup *group) {
    ASSERT(pack->plain != NULL);
    Slices slices = {.pack = pack, .is_start = true};
    return do_group(judge, group, &slices, 1.0);
}
