// SPDX-License-Identifier: MIT
#include "solve/mdp/linkage.h"

#include "base/assert.h"

#include <string.h>

// rho over a row's own w: it vanishes where the sweeps end
#define REGULAR_SHARE 1e-9
// For each row, in the factor: of a chain of ball joints there are 5 numbers and 30
// multiplications. A factor is made once in a solve and stands for hundreds of sweeps.
#define NUMBERS_MAX    400.0
#define OPERATIONS_MAX 20000.0
// A solve takes two multiplications for each, and cannot be given up on its way.
#define NUMBERS_AT_ONCE 4e5
// Pairs of joints on common trees, for each joint: more make no sparse matrix.
enum { PAIRS_MAX = 64 };
// about, to make the coupling of two joints, and to sort what a joint holds
#define COUPLING_OPERATIONS 500.0
#define SORT_OPERATIONS     20.0

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small to solve rows at once.");
}

// ---- who shares a tree

// That a joint moves a tree.
typedef struct Hold {
    uint32_t tree, unit;
} Hold;

// Joints of a linkage, as they are laid out.
typedef struct Layout {
    const MdpPack *pack;
    const uint32_t *unit_first;
    uint32_t unit_count;
    Hold *hold, *other; // by tree, then by joint; scratch
    size_t hold_count;
    Asker asker;
} Layout;

static void list_holds(Layout *layout) {
    const ContactProblem *problem = layout->pack->problem;
    for (uint32_t unit = 0; unit < layout->unit_count; unit++) {
        for (uint32_t i = layout->unit_first[unit]; i < layout->unit_first[unit + 1]; i++) {
            const ProblemRow *row = &problem->row[layout->pack->row[i].row];
            for (uint32_t b = 0; b < row->block_count; b++) {
                layout->hold[layout->hold_count++] =
                    (Hold){problem->row_block[row->block_first + b].tree, unit};
            }
        }
    }
}

static bool is_before(const Hold *a, const Hold *b) {
    return a->tree != b->tree ? a->tree < b->tree : a->unit < b->unit;
}

// Merge sort, from runs of one on; then each is there once.
static void sort_holds(Layout *layout) {
    size_t count = layout->hold_count;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t middle = begin + run < count ? begin + run : count;
            size_t end = begin + 2 * run < count ? begin + 2 * run : count;
            size_t a = begin, b = middle;
            for (size_t k = begin; k < end; k++) {
                bool is_a =
                    a < middle && (b == end || !is_before(&layout->hold[b], &layout->hold[a]));
                layout->other[k] = layout->hold[is_a ? a++ : b++];
            }
        }
        Hold *sorted = layout->other;
        layout->other = layout->hold;
        layout->hold = sorted;
        if (asker_spend(&layout->asker, SORT_OPERATIONS * (double)count)) {
            break;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || is_before(&layout->hold[kept - 1], &layout->hold[i])) {
            layout->hold[kept++] = layout->hold[i];
        }
    }
    layout->hold_count = kept;
}

static size_t end_of_tree(const Layout *layout, size_t begin) {
    size_t end = begin + 1;
    while (end < layout->hold_count && layout->hold[end].tree == layout->hold[begin].tree) {
        end++;
    }
    return end;
}

static double count_pairs(const Layout *layout) {
    double pairs = 0.0;
    for (size_t begin = 0, end; begin < layout->hold_count; begin = end) {
        end = end_of_tree(layout, begin);
        double count = (double)(end - begin);
        pairs += count * (count - 1.0) / 2.0;
    }
    return pairs;
}

static bool list_trees(const Layout *layout, Arena *arena, MdpLinkage *linkage) {
    linkage->tree = arena_take_array(arena, layout->hold_count, sizeof(*linkage->tree));
    linkage->first = arena_take_array(arena, layout->hold_count + 1, sizeof(*linkage->first));
    if (linkage->tree == NULL || linkage->first == NULL) {
        return false;
    }
    for (size_t begin = 0; begin < layout->hold_count; begin = end_of_tree(layout, begin)) {
        uint32_t tree = layout->hold[begin].tree;
        linkage->first[linkage->tree_count] = linkage->velocity_count;
        linkage->tree[linkage->tree_count++] = tree;
        linkage->velocity_count += layout->pack->problem->tree[tree].width;
    }
    linkage->first[linkage->tree_count] = linkage->velocity_count;
    return true;
}

// Pairs of joints, tree by tree.
static void list_edges(const Layout *layout, uint32_t *end_of) {
    size_t edge = 0;
    for (size_t begin = 0, end; begin < layout->hold_count; begin = end) {
        end = end_of_tree(layout, begin);
        for (size_t i = begin + 1; i < end; i++) {
            for (size_t j = begin; j < i; j++) {
                end_of[2 * edge] = layout->hold[i].unit;
                end_of[2 * edge + 1] = layout->hold[j].unit;
                edge++;
            }
        }
    }
}

// ---- the matrix

// G_a M^-1 G_b^T on one tree, or on all
static double coupling(const MdpPack *pack, const MdpRow *a, const MdpRow *b, const double *v) {
    double sum = 0.0;
    for (uint32_t i = 0; i < a->side_count; i++) {
        const MdpSide *side_a = &pack->side[a->side_first + i];
        for (uint32_t j = 0; j < b->side_count; j++) {
            const MdpSide *side_b = &pack->side[b->side_first + j];
            bool is_met = side_a->v == side_b->v && (v == NULL || v == side_a->v);
            for (uint32_t k = 0; is_met && k < side_a->width; k++) {
                sum += side_a->jacobian[k] * side_b->response[k];
            }
        }
    }
    return sum;
}

static void add_unit(const Layout *layout, MdpLinkage *linkage, uint32_t unit) {
    double block[MDP_JOINT_MAX * MDP_JOINT_MAX];
    const MdpRow *row = &layout->pack->row[layout->unit_first[unit]];
    uint32_t n = linkage->graph.width[unit];
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            block[i * n + j] = coupling(layout->pack, &row[i], &row[j], NULL);
        }
        block[(size_t)i * (n + 1)] += row[i].compliance + REGULAR_SHARE * row[i].w;
    }
    ldlt_add_vertex(&linkage->ldlt, unit, block);
}

static void add_edge(const Layout *layout, MdpLinkage *linkage, size_t edge, const double *v) {
    double block[MDP_JOINT_MAX * MDP_JOINT_MAX];
    const uint32_t *end = linkage->graph.end + 2 * edge;
    const MdpRow *a = &layout->pack->row[layout->unit_first[end[0]]];
    const MdpRow *b = &layout->pack->row[layout->unit_first[end[1]]];
    uint32_t rows = linkage->graph.width[end[0]], columns = linkage->graph.width[end[1]];
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < columns; j++) {
            block[i * columns + j] = coupling(layout->pack, &a[i], &b[j], v);
        }
    }
    ldlt_add_edge(&linkage->ldlt, edge, block, NULL);
}

static Status give_up(Error *error) {
    return error_set(error, STATUS_ABORTED, "", "The solve was given up.");
}

static Status fill(Judge *judge, Layout *layout, MdpLinkage *linkage) {
    ldlt_clear(&linkage->ldlt);
    for (uint32_t unit = 0; unit < layout->unit_count; unit++) {
        add_unit(layout, linkage, unit);
    }
    size_t edge = 0;
    for (size_t begin = 0, end; begin < layout->hold_count; begin = end) {
        end = end_of_tree(layout, begin);
        const double *v = mdp_pack_velocity(layout->pack, layout->hold[begin].tree);
        for (size_t pairs = (end - begin) * (end - begin - 1) / 2; pairs > 0; pairs--) {
            add_edge(layout, linkage, edge++, v);
            if (asker_spend(&layout->asker, COUPLING_OPERATIONS)) {
                return give_up(judge->error);
            }
        }
    }
    // what is not finite stays so, and the sweep shows it
    return ldlt_factor(&linkage->ldlt, judge->context->stop) == LDLT_STOPPED ? give_up(judge->error)
                                                                             : STATUS_OK;
}

// ---- all of it

static Status lay_out(Judge *judge, Layout *layout, MdpLinkage *linkage, bool *is_worth) {
    Arena *arena = judge->arena;
    uint32_t units = layout->unit_count;
    uint32_t rows = layout->unit_first[units] - layout->unit_first[0];
    size_t edges = (size_t)count_pairs(layout);
    uint32_t *width = arena_take_array(arena, units, sizeof(*width));
    uint32_t *end = arena_take_array(arena, edges, 2 * sizeof(*end));
    linkage->start = arena_take_array(arena, rows, 2 * sizeof(double));
    if (width == NULL || end == NULL || linkage->start == NULL ||
        !list_trees(layout, arena, linkage)) {
        return no_memory(judge->error);
    }
    linkage->y = linkage->start + rows;
    for (uint32_t i = 0; i < units; i++) {
        width[i] = layout->unit_first[i + 1] - layout->unit_first[i];
    }
    list_edges(layout, end);
    linkage->graph =
        (Graph){.vertex_count = units, .width = width, .edge_count = edges, .end = end};
    double numbers = NUMBERS_MAX * rows;
    const LdltLimits limits = {(size_t)(numbers < NUMBERS_AT_ONCE ? numbers : NUMBERS_AT_ONCE),
                               OPERATIONS_MAX * rows, &layout->asker};
    Error refusal;
    Status status = ldlt_plan(&linkage->graph, limits, arena, &linkage->plan, &refusal);
    *is_worth = status == STATUS_OK;
    if (status == STATUS_ABORTED) {
        return give_up(judge->error);
    }
    if (status != STATUS_OK) {
        const LdltPlan *plan = &linkage->plan;
        bool fills = plan->operations > limits.operations_max ||
                     plan->diagonal_count + plan->lower_count > limits.number_max;
        return fills ? STATUS_OK : no_memory(judge->error);
    }
    linkage->operations = 2.0 * (double)(linkage->plan.lower_count + linkage->plan.diagonal_count);
    return ldlt_init(&linkage->ldlt, &linkage->plan, true, arena, judge->error);
}

Status mdp_linkage_make(Judge *judge, const MdpPack *pack, const uint32_t *unit_first,
                        uint32_t unit_count, MdpLinkage **linkage) {
    ASSERT(unit_count > 0);
    *linkage = NULL;
    ArenaMark mark = arena_mark(judge->arena);
    Layout layout = {.pack = pack,
                     .unit_first = unit_first,
                     .unit_count = unit_count,
                     .asker = {.stop = judge->context->stop}};
    size_t sides = 0;
    for (uint32_t i = unit_first[0]; i < unit_first[unit_count]; i++) {
        sides += pack->row[i].side_count;
    }
    MdpLinkage *made = arena_take_zeroed(judge->arena, 1, sizeof(*made));
    layout.hold = arena_take_array(judge->arena, sides, sizeof(Hold));
    layout.other = arena_take_array(judge->arena, sides, sizeof(Hold));
    if (made == NULL || layout.hold == NULL || layout.other == NULL) {
        return no_memory(judge->error);
    }
    list_holds(&layout);
    sort_holds(&layout);
    if (layout.asker.is_stopped) {
        return give_up(judge->error);
    }
    double pairs = count_pairs(&layout);
    bool is_worth = pairs > 0.0 && pairs <= (double)PAIRS_MAX * unit_count;
    Status status = is_worth ? lay_out(judge, &layout, made, &is_worth) : STATUS_OK;
    if (status == STATUS_OK && is_worth) {
        status = fill(judge, &layout, made);
        *linkage = made;
    } else {
        arena_reset_to(judge->arena, mark);
    }
    return status;
}
