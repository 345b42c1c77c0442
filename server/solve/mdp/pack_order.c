// SPDX-License-Identifier: MIT
// Groups, stages and stretches: where every contact is going to stand. What a group needs is
// counted in the group first, by its own task; then the groups are put one behind the other.
#include "solve/mdp/pack.h"

#include "base/assert.h"

#include <string.h>

enum {
    KINDS = MDP_KIND_COUNT - 1, // that are swept: a stage is counted colour by colour, then by kind
    STAGE_MAX = KINDS * MDP_COLOUR_MAX
};

// What a stretch holds at least, when another begins: some microseconds of work. In quads of balls,
// points and wide contacts.
static const uint32_t stretch_size[MDP_KIND_COUNT] = {1, 64, 64, 16};
enum { STRETCH_MIN = 16 };

// about the operations of a sweep over a contact of free bodies, with its share of what goes on
// between sweeps, and over a number of a wide one
#define CONTACT_OPERATIONS 300.0
#define NUMBER_OPERATIONS  2.0

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the order of the contacts.");
}

// ---- groups

static bool take_groups(Judge *judge, MdpPack *pack) {
    const Islands *islands = &judge->islands;
    pack->group = arena_take_zeroed(judge->arena, islands->share_count, sizeof(*pack->group));
    pack->group_of_share =
        arena_take_array(judge->arena, islands->share_count, sizeof(*pack->group_of_share));
    if (pack->group == NULL || pack->group_of_share == NULL) {
        return false;
    }
    uint32_t share = 0;
    while (share < islands->share_count) {
        const IslandShare *of = &islands->share[share];
        MdpGroup *group = &pack->group[pack->group_count];
        group->share = share;
        group->share_count = judge_pieces(judge, share);
        group->island_begin = of->island_begin;
        group->island_end = of->island_end;
        group->range = islands_range(islands, of->island_begin, of->island_end);
        group->is_large = of->is_piece;
        for (uint32_t k = 0; k < group->share_count; k++) {
            pack->group_of_share[share++] = pack->group_count;
        }
        pack->group_count++;
    }
    return true;
}

// An island whose scale is no number, or next to none, is not swept: what is not a number in it
// would spread over all that stands on the same ground.
static void leave_island(const MdpPack *pack, uint32_t island) {
    IslandRange range = islands_range(&pack->judge->islands, island, island + 1);
    memset(pack->kind + range.contact_begin, MDP_NONE, range.contact_end - range.contact_begin);
}

static void colour_group(void *work, uint32_t index) {
    const MdpPack *pack = work;
    MdpGroup *group = &pack->group[index];
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        if (!mdp_pack_sweeps(pack, i)) {
            leave_island(pack, i);
        }
    }
    group->colour_count = mdp_colour_find(pack->pair, pack->kind, group->range.contact_begin,
                                          group->range.contact_end, pack->used, pack->colour);
}

// ---- stages

// As many as a group may have; stretches begin with a stage, or when the one before is full.
static bool take_stages(Judge *judge, MdpPack *pack) {
    size_t stages = 0, stretches = 0;
    for (uint32_t i = 0; i < pack->group_count; i++) {
        MdpGroup *group = &pack->group[i];
        const IslandRange *range = &group->range;
        group->stage_begin = group->stage_end = (uint32_t)stages;
        group->stretch_begin = group->stretch_end = (uint32_t)stretches;
        stages += (size_t)KINDS * group->colour_count;
        stretches += group->is_large ? (size_t)KINDS * group->colour_count +
                                           (range->contact_end - range->contact_begin) / STRETCH_MIN
                                     : 0;
    }
    pack->stage = arena_take_array(judge->arena, stages, sizeof(*pack->stage));
    pack->stretch = arena_take_array(judge->arena, stretches, sizeof(*pack->stretch));
    pack->stretch_count = (uint32_t)stretches;
    return pack->stage != NULL && pack->stretch != NULL;
}

static uint32_t stage_of(const uint8_t *colour, const uint8_t *kind, uint32_t place) {
    return (uint32_t)KINDS * colour[place] + kind[place] - 1u;
}

// The places of a group, stage by stage: a stable counting sort. `first` becomes where each stage
// begins, and ends with the last's end.
static void sort_places(const MdpPack *pack, const MdpGroup *group, uint32_t *first) {
    const IslandRange *range = &group->range;
    const uint8_t *colour = pack->colour, *kind = pack->kind;
    uint32_t *order = pack->order;
    uint32_t stages = KINDS * group->colour_count, next[STAGE_MAX];
    memset(first, 0, ((size_t)stages + 1) * sizeof(*first));
    for (uint32_t i = range->contact_begin; i < range->contact_end; i++) {
        if (kind[i] != MDP_NONE) {
            first[stage_of(colour, kind, i) + 1]++;
        }
    }
    uint32_t sum = range->contact_begin;
    first[0] = sum;
    for (uint32_t i = 0; i < stages; i++) {
        next[i] = sum;
        sum += first[i + 1];
        first[i + 1] = sum;
    }
    for (uint32_t i = range->contact_begin; i < range->contact_end; i++) {
        if (kind[i] != MDP_NONE) {
            order[next[stage_of(colour, kind, i)]++] = i;
        }
    }
}

// Where the numbers of a wide contact begin.
static void take_numbers(const MdpPack *pack, MdpGroup *group, uint32_t place) {
    const MdpPair *pair = &pack->pair[place];
    pack->number_at[place] = group->number_count;
    for (int s = 0; s < 2; s++) {
        if (pair->tree[s] != PROBLEM_NO_TREE) {
            group->number_count += (size_t)6 * pack->problem->tree[pair->tree[s]].width;
        }
    }
}

// One stage while its contacts are given their places.
typedef struct Layer {
    MdpStage *stage;
    uint32_t before; // the place in the list of the contact before; UINT32_MAX: none
} Layer;

// The next slot. Of balls, the first of a quad where the contact shares a tree with the one before:
// of one colour, only contacts of one unit do.
static uint32_t next_slot(const Layer *layer, bool goes_on, uint32_t used) {
    bool begins = layer->before == UINT32_MAX || goes_on || layer->stage->is_last;
    return layer->stage->kind == MDP_BALL && begins ? (used + MDP_QUAD - 1) / MDP_QUAD * MDP_QUAD
                                                    : used;
}

// A stretch begins where a unit, and of balls a quad, does.
static void stretch_on(MdpPack *pack, MdpGroup *group, const Layer *layer, bool goes_on,
                       uint32_t slot) {
    MdpKind kind = layer->stage->kind;
    bool is_quad = kind == MDP_BALL;
    uint32_t at = is_quad ? slot / MDP_QUAD : slot;
    bool is_first = layer->before == UINT32_MAX;
    bool may_begin = !goes_on && !layer->stage->is_last && !(is_quad && slot % MDP_QUAD != 0);
    const MdpStretch *open = is_first ? NULL : &pack->stretch[group->stretch_end - 1];
    if (is_first || (may_begin && at - open->span.begin >= stretch_size[kind])) {
        pack->stretch[group->stretch_end++] = (MdpStretch){.span = {.begin = at}};
    }
    pack->stretch[group->stretch_end - 1].span.end = at + 1;
}

// ---- points, by lanes: a unit stands in one of them

// Places side by side, in two quads that take turns: what one waits for the other has done.
enum { LANES = 2 * MDP_QUAD };

// The first of the shortest.
static uint32_t find_shortest(const uint32_t length[LANES]) {
    uint32_t lane = 0;
    for (uint32_t i = 1; i < LANES; i++) {
        lane = length[i] < length[lane] ? i : lane;
    }
    return lane;
}

static uint32_t longest_of_quad(const uint32_t length[MDP_QUAD]) {
    uint32_t longest = 0;
    for (int i = 0; i < MDP_QUAD; i++) {
        longest = length[i] > longest ? length[i] : longest;
    }
    return longest;
}

static bool unit_goes_on(const MdpPack *pack, uint32_t begin, uint32_t k) {
    return k > begin &&
           mdp_colour_is_unit(pack->pair[pack->order[k - 1]], pack->pair[pack->order[k]]);
}

// Contacts at places [begin, end) of the order; their quads begin with `first`. Returns the end.
static uint32_t lay_lanes(const MdpPack *pack, uint32_t begin, uint32_t end, uint32_t first) {
    const uint32_t *order = pack->order;
    uint32_t *slots = pack->slot, length[LANES] = {0}, lane = 0;
    MdpPair unit = pack->pair[order[begin]]; // of the contact before
    VALIDATE(begin < end);
    for (uint32_t k = begin; k < end; k++) {
        const MdpPair pair = pack->pair[order[k]];
        lane = mdp_colour_is_unit(unit, pair) ? lane : find_shortest(length);
        unit = pair;
        slots[order[k]] = LANES * length[lane]++ + lane; // for now
    }
    const uint32_t rows[2] = {longest_of_quad(length), longest_of_quad(length + MDP_QUAD)};
    for (uint32_t k = begin; k < end; k++) {
        uint32_t *slot = &slots[order[k]], row = *slot / LANES, of = *slot % LANES;
        uint32_t beside =
            of < MDP_QUAD ? (row < rows[1] ? row : rows[1]) : (row < rows[0] ? row + 1 : rows[0]);
        *slot = (first + row + beside) * MDP_QUAD + of % MDP_QUAD;
    }
    return first + rows[0] + rows[1];
}

// Of the last colour, any two of which may share a tree: one in a quad.
static uint32_t lay_in_turn(const MdpPack *pack, uint32_t begin, uint32_t end, uint32_t first) {
    for (uint32_t k = begin; k < end; k++) {
        pack->slot[pack->order[k]] = (first + k - begin) * MDP_QUAD;
    }
    return first + end - begin;
}

static void lay_points(MdpPack *pack, MdpGroup *group, MdpStage *stage, uint32_t begin,
                       uint32_t end) {
    ASSERT(begin < end);
    uint32_t *count = &group->count[MDP_POINT];
    stage->span = (MdpSpan){*count, 0, begin, end};
    for (uint32_t from = begin, to; from < end; from = to) {
        to = stage->is_last || !group->is_large ? end : from + 1;
        while (to < end && (unit_goes_on(pack, begin, to) || to - from < stretch_size[MDP_POINT])) {
            to++;
        }
        uint32_t first = *count;
        *count =
            stage->is_last ? lay_in_turn(pack, from, to, first) : lay_lanes(pack, from, to, first);
        if (group->is_large) {
            pack->stretch[group->stretch_end++] = (MdpStretch){.span = {first, *count, from, to}};
        }
    }
    stage->span.end = *count;
}

// ---- stages

// Contacts at places [begin, end) of the order, all of one stage.
static void lay_stage(MdpPack *pack, MdpGroup *group, uint32_t stage, uint32_t begin,
                      uint32_t end) {
    MdpKind kind = (MdpKind)(stage % KINDS + 1);
    Layer layer = {.stage = &pack->stage[group->stage_end++], .before = UINT32_MAX};
    *layer.stage = (MdpStage){.kind = kind,
                              .is_last = stage / KINDS == MDP_COLOUR_MAX - 1,
                              .stretch_begin = group->stretch_end};
    if (kind == MDP_POINT) {
        lay_points(pack, group, layer.stage, begin, end);
        layer.stage->stretch_end = group->stretch_end;
        return;
    }
    uint32_t used = group->count[kind] * (kind == MDP_BALL ? MDP_QUAD : 1);
    layer.stage->span.begin = group->count[kind];
    for (uint32_t k = begin; k < end; k++) {
        uint32_t place = pack->order[k];
        bool goes_on = layer.before != UINT32_MAX &&
                       mdp_colour_is_unit(pack->pair[layer.before], pack->pair[place]);
        uint32_t slot = next_slot(&layer, goes_on, used);
        if (group->is_large) {
            stretch_on(pack, group, &layer, goes_on, slot);
        }
        if (kind == MDP_WIDE) {
            take_numbers(pack, group, place);
        }
        pack->slot[place] = slot;
        used = slot + 1;
        layer.before = place;
    }
    group->count[kind] = kind == MDP_BALL ? (used + MDP_QUAD - 1) / MDP_QUAD : used;
    layer.stage->span.end = group->count[kind];
    layer.stage->stretch_end = group->stretch_end;
}

static void lay_group(void *work, uint32_t index) {
    MdpPack *pack = work;
    MdpGroup *group = &pack->group[index];
    uint32_t first[STAGE_MAX + 1];
    sort_places(pack, group, first);
    for (uint32_t i = 0; i < KINDS * group->colour_count; i++) {
        if (first[i] < first[i + 1]) {
            lay_stage(pack, group, i, first[i], first[i + 1]);
        }
    }
    const IslandRange *range = &group->range;
    // one for what has neither, but takes its turn
    group->operations = 1.0 +
                        CONTACT_OPERATIONS * (range->contact_end - range->contact_begin +
                                              range->row_end - range->row_begin) +
                        NUMBER_OPERATIONS * (double)group->number_count;
}

// Puts a group behind the one before it.
static void place_group(MdpPack *pack, MdpGroup *group, const MdpGroup *before) {
    for (int kind = 0; kind < MDP_KIND_COUNT && before != NULL; kind++) {
        group->first[kind] = before->first[kind] + before->count[kind];
    }
    group->number_first = before == NULL ? 0 : before->number_first + before->number_count;
    for (uint32_t i = group->stage_begin; i < group->stage_end; i++) {
        MdpStage *stage = &pack->stage[i];
        uint32_t first = group->first[stage->kind];
        stage->span.begin += first;
        stage->span.end += first;
        for (uint32_t k = stage->stretch_begin; k < stage->stretch_end; k++) {
            pack->stretch[k].span.begin += first;
            pack->stretch[k].span.end += first;
        }
    }
}

Status mdp_pack_order(Judge *judge, MdpPack *pack) {
    ASSERT(pack->judge == judge);
    const Tasks *tasks = judge->context->tasks;
    if (!take_groups(judge, pack)) {
        return no_memory(judge->error);
    }
    tasks_run(tasks, colour_group, pack, pack->group_count);
    if (!take_stages(judge, pack)) {
        return no_memory(judge->error);
    }
    tasks_run(tasks, lay_group, pack, pack->group_count);
    for (uint32_t i = 0; i < pack->group_count; i++) {
        place_group(pack, &pack->group[i], i == 0 ? NULL : &pack->group[i - 1]);
    }
    return STATUS_OK;
}
