// SPDX-License-Identifier: MIT
#include "base/ldlt.h"

#include "base/assert.h"

#define NONE UINT32_MAX

// Two supernodes become one while that adds no more zeros than this share of its numbers: dense
// work on some zeros is faster than two small pieces of it.
#define ZEROS_MAX 0.15
// for who asks whether to stop
#define OPERATIONS_PER_ROW 20.0

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The memory is too small to plan a sparse factorisation.");
}

// What the analysis works with, of places in the order.
typedef struct Analysis {
    const Graph *graph;
    LdltLimits limits;
    LdltPlan *plan;
    Neighbours neighbours; // of vertices
    uint32_t *parent;      // in the tree of elimination; NONE: a root
    uint32_t *ancestor, *mark;
    size_t *first;   // of a place's column in `row`
    uint32_t *row;   // the places below the diagonal, ascending
    uint32_t *below; // unknowns below a place
} Analysis;

static uint32_t width_at(const Analysis *a, uint32_t place) {
    return a->graph->width[a->plan->vertex[place]];
}

// ---- the tree of elimination: the parent of a place is the first below it (Liu)

static void find_parents(Analysis *a) {
    const LdltPlan *plan = a->plan;
    for (uint32_t i = 0; i < a->graph->vertex_count; i++) {
        uint32_t vertex = plan->vertex[i];
        a->parent[i] = a->ancestor[i] = NONE;
        for (size_t k = a->neighbours.first[vertex]; k < a->neighbours.first[vertex + 1]; k++) {
            uint32_t j = plan->place[a->neighbours.neighbour[k]];
            // from an earlier neighbour up to the root that it has so far
            while (j < i && a->ancestor[j] != i) {
                uint32_t next = a->ancestor[j];
                a->ancestor[j] = i;
                if (next == NONE) {
                    a->parent[j] = i;
                    break;
                }
                j = next;
            }
        }
    }
}

static void push(uint32_t *head, uint32_t *next, uint32_t i) {
    next[i] = *head;
    *head = i;
}

// Children before parents, each subtree in one piece, the child with most below it last, as it is
// likely to be of one supernode with its parent. Scratch: three arrays of vertex_count + 1, where
// the last place is the parent of the roots.
static void order_subtrees(const Analysis *a, uint32_t *head, uint32_t *next, uint32_t *stack,
                           uint32_t *order) {
    uint32_t count = a->graph->vertex_count, done = 0, depth = 0;
    uint32_t *heaviest = stack;
    for (uint32_t i = 0; i <= count; i++) {
        head[i] = heaviest[i] = NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *of = &heaviest[a->parent[i] == NONE ? count : a->parent[i]];
        *of = *of == NONE || a->below[i] >= a->below[*of] ? i : *of;
    }
    for (uint32_t i = 0; i <= count; i++) {
        if (heaviest[i] != NONE) {
            push(&head[i], next, heaviest[i]);
        }
    }
    for (uint32_t i = count; i-- > 0;) {
        uint32_t of = a->parent[i] == NONE ? count : a->parent[i];
        if (heaviest[of] != i) {
            push(&head[of], next, i);
        }
    }
    stack[depth++] = count;
    while (depth > 0) {
        uint32_t i = stack[depth - 1], child = head[i];
        if (child != NONE) {
            head[i] = next[child];
            stack[depth++] = child;
        } else {
            if (i != count) {
                order[done++] = i;
            }
            depth--;
        }
    }
    ASSERT(done == count);
}

// Puts the places into that order. `scratch` has two arrays of vertex_count.
static void reorder(Analysis *a, const uint32_t *order, uint32_t *scratch[2]) {
    uint32_t count = a->graph->vertex_count;
    LdltPlan *plan = a->plan;
    uint32_t *vertex = scratch[0], *new_place = scratch[1];
    for (uint32_t i = 0; i < count; i++) {
        vertex[i] = plan->vertex[order[i]];
        new_place[order[i]] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = a->parent[order[i]];
        a->ancestor[i] = parent == NONE ? NONE : new_place[parent];
        a->mark[i] = a->below[order[i]];
        plan->vertex[i] = vertex[i];
        plan->place[vertex[i]] = i;
    }
    memcpy(a->parent, a->ancestor, count * sizeof(*a->parent));
    memcpy(a->below, a->mark, count * sizeof(*a->below));
}

// ---- what fills in

// Row i of the factor reaches from each of its numbers up the tree to i. Called with `next` NULL it
// counts: the places below each place in first[place + 1], their unknowns in `below`; then it lists
// them, `next` saying where. False: it was stopped.
static bool walk_rows(Analysis *a, size_t *next) {
    const LdltPlan *plan = a->plan;
    uint32_t count = a->graph->vertex_count;
    for (uint32_t i = 0; i < count; i++) {
        a->mark[i] = NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t vertex = plan->vertex[i], steps = 0;
        a->mark[i] = i;
        for (size_t k = a->neighbours.first[vertex]; k < a->neighbours.first[vertex + 1]; k++) {
            uint32_t j = plan->place[a->neighbours.neighbour[k]];
            for (; j < i && a->mark[j] != i; j = a->parent[j], steps++) {
                a->mark[j] = i;
                if (next != NULL) {
                    a->row[next[j]++] = i;
                } else {
                    a->first[j + 1]++;
                    a->below[j] += width_at(a, i);
                }
            }
        }
        if (asker_spend(a->limits.asker, OPERATIONS_PER_ROW + steps)) {
            return false;
        }
    }
    return true;
}

static Status stopped(Error *error) {
    return error_set(error, STATUS_ABORTED, "", "The plan of a sparse system was given up.");
}

static Status list_columns(Analysis *a, Arena *arena, Error *error) {
    uint32_t count = a->graph->vertex_count;
    size_t *next = arena_take_array(arena, count, sizeof(*next));
    a->first = arena_take_zeroed(arena, (size_t)count + 1, sizeof(*a->first));
    if (next == NULL || a->first == NULL) {
        return no_memory(error);
    }
    memset(a->below, 0, count * sizeof(*a->below));
    if (!walk_rows(a, NULL)) {
        return stopped(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        next[i] = a->first[i];
        a->first[i + 1] += a->first[i];
    }
    a->row = arena_take_array(arena, a->first[count], sizeof(*a->row));
    if (a->row == NULL) {
        return no_memory(error);
    }
    return walk_rows(a, next) ? STATUS_OK : stopped(error);
}

// ---- supernodes

// Whether the place after a supernode may join it, and then how many zeros it holds.
static bool joins(const Analysis *a, uint32_t last, const LdltNode *node, double *zeros) {
    if (a->parent[last] != last + 1) {
        return false;
    }
    uint32_t width = width_at(a, last + 1), below = a->below[last + 1];
    double columns = node->columns, more = columns * ((double)below + width - a->below[last]);
    double numbers = (columns + width) * (0.5 * (columns + width) + below);
    *zeros += more;
    return *zeros <= ZEROS_MAX * numbers;
}

static void find_nodes(Analysis *a) {
    LdltPlan *plan = a->plan;
    uint32_t count = a->graph->vertex_count, last;
    for (uint32_t first = 0; first < count; first = last + 1) {
        LdltNode *node = &plan->node[plan->node_count];
        *node = (LdltNode){.first = plan->first[first], .columns = width_at(a, first)};
        double zeros = 0.0;
        for (last = first; last + 1 < count && joins(a, last, node, &zeros); last++) {
            node->columns += width_at(a, last + 1);
        }
        node->vertex_end = last + 1;
        node->rows = a->below[last];
        node->below_count = (uint32_t)(a->first[last + 1] - a->first[last]);
        for (uint32_t i = first; i <= last; i++) {
            plan->node_of[i] = plan->node_count;
        }
        plan->node_count++;
    }
}

static void list_below(const Analysis *a, LdltBelow *below) {
    LdltPlan *plan = a->plan;
    size_t used = 0;
    for (uint32_t s = 0; s < plan->node_count; s++) {
        LdltNode *node = &plan->node[s];
        const uint32_t *row = a->row + a->first[node->vertex_end - 1];
        uint32_t at = 0;
        node->below = used;
        for (uint32_t k = 0; k < node->below_count; k++) {
            below[used++] = (LdltBelow){row[k], at};
            at += width_at(a, row[k]);
        }
        ASSERT(at == node->rows);
    }
}

// Where numbers stand, and what they cost.
static void lay_out(const Analysis *a) {
    LdltPlan *plan = a->plan;
    for (uint32_t s = 0; s < plan->node_count; s++) {
        LdltNode *node = &plan->node[s];
        node->diagonal = plan->diagonal_count;
        plan->diagonal_count += (size_t)node->columns * node->columns;
        plan->operations += order_operations(node->columns, node->rows);
        plan->columns_max = node->columns > plan->columns_max ? node->columns : plan->columns_max;
        plan->rows_max = node->rows > plan->rows_max ? node->rows : plan->rows_max;
    }
    for (uint32_t s = 0; s < plan->node_count; s++) {
        LdltNode *node = &plan->node[s];
        node->lower = plan->diagonal_count + plan->lower_count;
        plan->lower_count += (size_t)node->columns * node->rows;
    }
    for (uint32_t i = 0; i < a->graph->vertex_count; i++) {
        size_t width = width_at(a, i);
        plan->fill += width * (width + 1) / 2 + width * a->below[i];
    }
}

// ---- all of it

static Status take_plan(const Graph *graph, Arena *arena, LdltPlan *plan, Error *error) {
    size_t count = graph->vertex_count;
    *plan = (LdltPlan){.graph = *graph,
                       .place = arena_take_array(arena, count, sizeof(uint32_t)),
                       .vertex = arena_take_array(arena, count, sizeof(uint32_t)),
                       .first = arena_take_array(arena, count + 1, sizeof(uint32_t)),
                       .offset = arena_take_array(arena, count, sizeof(uint32_t)),
                       .node_of = arena_take_array(arena, count, sizeof(uint32_t)),
                       .node = arena_take_array(arena, count, sizeof(LdltNode))};
    bool is_taken = plan->place != NULL && plan->vertex != NULL && plan->first != NULL &&
                    plan->offset != NULL && plan->node_of != NULL && plan->node != NULL;
    if (!is_taken) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        plan->offset[i] = plan->size;
        plan->size += graph->width[i];
    }
    return STATUS_OK;
}

static Status analyse(Analysis *a, Arena *arena, Error *error) {
    LdltPlan *plan = a->plan;
    size_t count = a->graph->vertex_count;
    const OrderLimit limit = {a->limits.operations_max, a->limits.asker};
    Status status =
        order_minimum_degree(a->graph, limit, arena, plan->vertex, &plan->operations, error);
    if (status != STATUS_OK) {
        return status;
    }
    plan->operations = 0.0;
    status = order_neighbours(a->graph, arena, &a->neighbours, error);
    uint32_t *scratch[4];
    bool is_taken = true;
    for (int k = 0; k < 4; k++) {
        scratch[k] = arena_take_array(arena, count + 1, sizeof(uint32_t));
        is_taken = is_taken && scratch[k] != NULL;
    }
    a->parent = arena_take_array(arena, count, sizeof(uint32_t));
    a->ancestor = arena_take_array(arena, count, sizeof(uint32_t));
    a->mark = arena_take_array(arena, count, sizeof(uint32_t));
    a->below = arena_take_zeroed(arena, count, sizeof(uint32_t));
    a->first = arena_take_zeroed(arena, count + 1, sizeof(*a->first));
    is_taken = is_taken && a->parent != NULL && a->ancestor != NULL && a->mark != NULL &&
               a->below != NULL && a->first != NULL;
    if (status != STATUS_OK || !is_taken) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        plan->place[plan->vertex[i]] = i;
    }
    find_parents(a);
    if (!walk_rows(a, NULL)) {
        return stopped(error);
    }
    order_subtrees(a, scratch[0], scratch[1], scratch[2], scratch[3]);
    reorder(a, scratch[3], scratch);
    return list_columns(a, arena, error);
}

static Status refuse_size(const LdltPlan *plan, size_t number_max, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "A sparse system of %u unknowns needs a factor of %zu numbers; the limit is "
                     "%zu.",
                     plan->size, plan->diagonal_count + plan->lower_count, number_max);
}

static Status make_plan(Analysis *a, LdltBelow *below, Error *error) {
    LdltPlan *plan = a->plan;
    list_below(a, below);
    lay_out(a);
    plan->below = below;
    return plan->diagonal_count + plan->lower_count > a->limits.number_max
               ? refuse_size(plan, a->limits.number_max, error)
               : STATUS_OK;
}

Status ldlt_plan(const Graph *graph, LdltLimits limits, Arena *arena, LdltPlan *plan,
                 Error *error) {
    Status status = take_plan(graph, arena, plan, error);
    if (status != STATUS_OK) {
        return status;
    }
    Analysis a = {.graph = graph, .limits = limits, .plan = plan};
    status = analyse(&a, arena, error);
    if (status != STATUS_OK) {
        return status;
    }
    plan->first[0] = 0;
    for (uint32_t i = 0; i < graph->vertex_count; i++) {
        plan->first[i + 1] = plan->first[i] + width_at(&a, i);
    }
    find_nodes(&a);
    size_t count = 0;
    for (uint32_t s = 0; s < plan->node_count; s++) {
        count += plan->node[s].below_count;
    }
    LdltBelow *below = arena_take_array(arena, count, sizeof(*below));
    return below == NULL ? no_memory(error) : make_plan(&a, below, error);
}
