// SPDX-License-Identifier: MIT
#include "solve/mdp/plain.h"

#include "base/assert.h"

#include <string.h>

// Trees beside each other: of tree i, neighbour[first[i]] … neighbour[first[i + 1] - 1].
typedef struct Graph {
    uint32_t *first, *neighbour;
} Graph;

// Two trees that stand beside each other are counted, or listed.
typedef void Meet(const Graph *graph, uint32_t a, uint32_t b);

// Counts stand two places on, so that what is one place on is where a list begins, and where it
// ends once it is filled.
static void count_meeting(const Graph *graph, uint32_t a, uint32_t b) {
    graph->first[a + 2]++;
    graph->first[b + 2]++;
}

static void list_meeting(const Graph *graph, uint32_t a, uint32_t b) {
    graph->neighbour[graph->first[a + 1]++] = b;
    graph->neighbour[graph->first[b + 1]++] = a;
}

// Contacts, then rows; the first tree of a row stands beside all its others.
static void meet_all(const ContactProblem *problem, const Graph *graph, Meet *meet) {
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        uint32_t a = problem->contact[i].side[0].tree, b = problem->contact[i].side[1].tree;
        if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
            meet(graph, a, b);
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        const RowBlock *block = problem->row_block + row->block_first;
        for (uint32_t k = 1; k < row->block_count; k++) {
            meet(graph, block[0].tree, block[k].tree);
        }
    }
}

static bool build_graph(const ContactProblem *problem, Arena *arena, Graph *graph) {
    uint32_t trees = problem->tree_count;
    graph->first = arena_take_zeroed(arena, (size_t)trees + 2, sizeof(*graph->first));
    if (graph->first == NULL) {
        return false;
    }
    meet_all(problem, graph, count_meeting);
    for (uint32_t i = 1; i < trees; i++) {
        graph->first[i + 1] += graph->first[i];
    }
    size_t meetings = (size_t)problem->contact_count + problem->row_block_count;
    graph->neighbour = arena_take_array(arena, 2 * meetings, sizeof(*graph->neighbour));
    if (graph->neighbour == NULL) {
        return false;
    }
    meet_all(problem, graph, list_meeting);
    return true;
}

// The trees of an island in the order of the walk; `part` marks those that it has met.
static void walk(const Graph *graph, uint32_t from, uint32_t *order, uint32_t *part) {
    uint32_t met = 1;
    order[0] = from;
    part[from] = 0;
    for (uint32_t i = 0; i < met; i++) {
        uint32_t tree = order[i];
        for (uint32_t k = graph->first[tree]; k < graph->first[tree + 1]; k++) {
            uint32_t next = graph->neighbour[k];
            if (part[next] == UINT32_MAX) {
                part[next] = 0;
                order[met++] = next;
            }
        }
    }
}

static void cut_islands(const Islands *islands, const Graph *graph, uint32_t parts_max,
                        uint32_t *order, uint32_t *part) {
    for (uint32_t i = 0; i < islands->count; i++) {
        uint32_t first = islands->tree_first[i], trees = islands->tree_first[i + 1] - first;
        uint64_t parts = mdp_plain_parts(islands, i, parts_max);
        walk(graph, islands->tree[first], order, part);
        for (uint64_t k = 0; k < trees; k++) {
            part[order[k]] = (uint32_t)(k * parts / trees);
        }
    }
}

bool mdp_plain_cut(const Judge *judge, uint32_t parts_max, uint32_t *part) {
    ASSERT(parts_max > 0);
    const ContactProblem *problem = judge->problem;
    if (parts_max == 1) {
        memset(part, 0, problem->tree_count * sizeof(*part));
        return true;
    }
    memset(part, 0xff, problem->tree_count * sizeof(*part)); // UINT32_MAX: not met
    ArenaMark mark = arena_mark(judge->arena);
    Graph graph;
    uint32_t *order = arena_take_array(judge->arena, problem->tree_count, sizeof(*order));
    bool is_done = order != NULL && build_graph(problem, judge->arena, &graph);
    if (is_done) {
        cut_islands(&judge->islands, &graph, parts_max, order, part);
    }
    arena_reset_to(judge->arena, mark);
    return is_done;
}
