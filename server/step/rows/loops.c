// SPDX-License-Identifier: MIT
// Biconnected parts by Tarjan's search in depth, joint by joint in their order, so that all of it
// follows from the order of bodies and joints.
#include "step/rows/loops.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// A joint between two vertices: free trees of the problem, and behind them the world.
typedef struct Edge {
    uint32_t joint, end[2];
} Edge;

typedef struct Graph {
    StepState *state;
    uint32_t vertex_count, edge_count;
    Edge *edge;
    uint32_t *first, *around; // of vertex v: edges around[first[v]] … around[first[v + 1] - 1]
} Graph;

// Where a vertex is in the search.
typedef struct Visit {
    uint32_t order;  // when it was found, from 1 on; 0: not yet
    uint32_t low;    // of what can be come to from behind it, the one that was found first
    uint32_t next;   // in `around`: the edge that is looked at next
    uint32_t by;     // the edge that led to it
    uint32_t parent; // the vertex that it was found from
} Visit;

typedef struct Search {
    const Graph *graph;
    Visit *visit;
    uint32_t *open; // edges that are of no part yet, as they were met
    uint32_t open_count, found_count;
    RowLoops *loops;
} Search;

// ---- the graph

// None of a link of a tree of joints.
static uint32_t vertex_of(const StepState *state, uint32_t body) {
    const uint32_t tree =
        body == JOINT_NO_BODY ? PROBLEM_NO_TREE : state->stepper->tree_of_body[body];
    return tree == PROBLEM_NO_TREE    ? state->free_count
           : tree < state->free_count ? tree
                                      : ROW_LOOP_NONE;
}

// false: it joins nothing, or a tree of joints.
static bool find_edge(const StepState *state, uint32_t index, Edge *edge) {
    const Joint *joint = &state->world->joint[index];
    if (!joint->is_rows || joint_couples(joint) ||
        (state->asleep_count > 0 && stage_joint_sleeps(state, joint))) {
        return false;
    }
    *edge = (Edge){index, {vertex_of(state, joint->body[0]), vertex_of(state, joint->body[1])}};
    return edge->end[0] != edge->end[1] && edge->end[0] != ROW_LOOP_NONE &&
           edge->end[1] != ROW_LOOP_NONE;
}

static uint32_t root_of(uint32_t *above, uint32_t vertex) {
    ASSERT(above[vertex] <= vertex);
    while (above[vertex] != vertex) {
        above[vertex] = above[above[vertex]];
        vertex = above[vertex];
    }
    return vertex;
}

// Lists the edges; how many of them close a loop.
static uint32_t list_edges(Graph *graph, uint32_t *above) {
    uint32_t closing = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        above[v] = v;
    }
    for (uint32_t i = 0; i < graph->state->world->joint_count; i++) {
        Edge *edge = &graph->edge[graph->edge_count];
        if (find_edge(graph->state, i, edge)) {
            const uint32_t a = root_of(above, edge->end[0]), b = root_of(above, edge->end[1]);
            above[a > b ? a : b] = a > b ? b : a;
            closing += a == b;
            graph->edge_count++;
        }
    }
    return closing;
}

static bool list_around(Graph *graph) {
    Arena *arena = graph->state->scratch;
    graph->first = arena_take_zeroed(arena, (size_t)graph->vertex_count + 2, sizeof(uint32_t));
    graph->around = arena_take_array(arena, graph->edge_count, 2 * sizeof(uint32_t));
    if (graph->first == NULL || graph->around == NULL) {
        return false;
    }
    uint32_t *next = graph->first + 1; // of vertex v: where its next edge goes
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        next[graph->edge[i].end[0] + 1]++;
        next[graph->edge[i].end[1] + 1]++;
    }
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        next[v + 1] += next[v];
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        graph->around[next[graph->edge[i].end[0]]++] = i;
        graph->around[next[graph->edge[i].end[1]]++] = i;
    }
    return true;
}

// ---- a part

// Puts it where it belongs in the order; false: there is no more room.
static bool add_tree(RowLoop *loop, uint32_t tree) {
    ASSERT(loop->tree_count <= ROW_LOOP_BODIES_MAX);
    uint32_t at = loop->tree_count;
    while (at > 0 && loop->tree[at - 1] > tree) {
        at--;
    }
    if (at > 0 && loop->tree[at - 1] == tree) {
        return true;
    }
    if (loop->tree_count == ROW_LOOP_BODIES_MAX) {
        return false;
    }
    memmove(loop->tree + at + 1, loop->tree + at, (loop->tree_count - at) * sizeof(uint32_t));
    loop->tree[at] = tree;
    loop->tree_count++;
    return true;
}

static bool add_joint(const Graph *graph, const Edge *edge, RowLoop *loop) {
    const Joint *joint = &graph->state->world->joint[edge->joint];
    bool has_room = loop->joint_count < ROW_LOOP_JOINTS_MAX;
    loop->joint_count++;
    for (int side = 0; side < 2; side++) {
        const bool is_free = edge->end[side] < graph->state->free_count;
        if (has_room && is_free) {
            has_room = add_tree(loop, edge->end[side]);
            loop->size = fmax(loop->size, vec3_norm(joint->frame[side].position));
        }
    }
    return has_room;
}

// Joints that all but meet where a body's centre of mass is have no levers but errors: what they
// are errors of is the size of the body.
static double least_gyration(const StepState *state, const RowLoop *loop) {
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < loop->tree_count; i++) {
        const FreeMass *mass = &state->free[loop->tree[i]];
        const double trace = mass->inertia.xx + mass->inertia.yy + mass->inertia.zz;
        least = fmin(least, sqrt(trace * mass->inverse_mass / 3.0));
    }
    return least;
}

// The edges that were met since `begin` are a part of their own.
static void end_part(Search *search, uint32_t begin) {
    ASSERT(begin < search->open_count);
    RowLoops *loops = search->loops;
    ASSERT(loops->count < loops->capacity);
    RowLoop *loop = &loops->loop[loops->count];
    *loop = (RowLoop){.tree_count = 0};
    bool is_loop = search->open_count - begin > 1;
    for (uint32_t i = begin; is_loop && i < search->open_count; i++) {
        is_loop = add_joint(search->graph, &search->graph->edge[search->open[i]], loop);
    }
    for (uint32_t i = begin; is_loop && i < search->open_count; i++) {
        loops->of_joint[search->graph->edge[search->open[i]].joint] = loops->count;
    }
    loop->size = fmax(loop->size, least_gyration(search->graph->state, loop));
    loops->count += is_loop;
    search->open_count = begin;
}

// ---- the search

static void enter(Search *search, uint32_t vertex, uint32_t parent, uint32_t by) {
    ASSERT(vertex < search->graph->vertex_count);
    const uint32_t order = ++search->found_count;
    search->visit[vertex] = (Visit){order, order, search->graph->first[vertex], by, parent};
}

// Nothing is left behind a vertex. What cannot be come to from behind it but by its parent is a
// part with the edge that led to it.
static uint32_t leave(Search *search, uint32_t vertex) {
    const Visit *of = &search->visit[vertex];
    if (of->parent == ROW_LOOP_NONE) {
        return ROW_LOOP_NONE;
    }
    Visit *parent = &search->visit[of->parent];
    parent->low = of->low < parent->low ? of->low : parent->low;
    if (of->low >= parent->order) {
        uint32_t begin = search->open_count - 1;
        while (search->open[begin] != of->by) {
            begin--;
        }
        end_part(search, begin);
    }
    return of->parent;
}

// The vertex to go on with.
static uint32_t look_at(Search *search, uint32_t vertex) {
    Visit *of = &search->visit[vertex];
    if (of->next == search->graph->first[vertex + 1]) {
        return leave(search, vertex);
    }
    const uint32_t edge = search->graph->around[of->next++];
    const uint32_t *end = search->graph->edge[edge].end;
    const uint32_t other = end[0] == vertex ? end[1] : end[0];
    const Visit *there = &search->visit[other];
    if (there->order == 0) {
        search->open[search->open_count++] = edge;
        enter(search, other, vertex, edge);
        return other;
    }
    if (edge != of->by && there->order < of->order) {
        search->open[search->open_count++] = edge;
        of->low = there->order < of->low ? there->order : of->low;
    }
    return vertex;
}

static bool search_all(const Graph *graph, RowLoops *loops) {
    Arena *arena = graph->state->scratch;
    Search search = {.graph = graph, .loops = loops};
    search.visit = arena_take_zeroed(arena, graph->vertex_count, sizeof(Visit));
    search.open = arena_take_array(arena, graph->edge_count, sizeof(uint32_t));
    if (search.visit == NULL || search.open == NULL) {
        return false;
    }
    for (uint32_t root = 0; root < graph->vertex_count; root++) {
        if (search.visit[root].order == 0) {
            enter(&search, root, ROW_LOOP_NONE, ROW_LOOP_NONE);
            for (uint32_t at = root; at != ROW_LOOP_NONE;) {
                at = look_at(&search, at);
            }
        }
    }
    return true;
}

// No part has an edge of another, and each that counts has one more than a tree of its bodies: they
// are no more than the edges that close something. One more place is to try them in.
static RowLoops *make_loops(const StepState *state, uint32_t closing) {
    const size_t joints = state->world->joint_count;
    RowLoops *loops = arena_take_zeroed(state->scratch, 1, sizeof(*loops));
    if (loops == NULL) {
        return NULL;
    }
    loops->capacity = closing + 1;
    loops->loop = arena_take_array(state->scratch, loops->capacity, sizeof(RowLoop));
    loops->of_joint = arena_take_array(state->scratch, joints, sizeof(uint32_t));
    if (loops->loop == NULL || loops->of_joint == NULL) {
        return NULL;
    }
    memset(loops->of_joint, 0xff, joints * sizeof(uint32_t));
    return loops;
}

bool row_loops_find(StepState *state) {
    ASSERT(state->stepper->tree_of_body != NULL);
    state->loops = NULL;
    const size_t joints = state->world->joint_count;
    Graph graph = {.state = state, .vertex_count = state->free_count + 1};
    uint32_t *above = arena_take_array(state->scratch, graph.vertex_count, sizeof(uint32_t));
    graph.edge = arena_take_array(state->scratch, joints, sizeof(Edge));
    if (above == NULL || graph.edge == NULL) {
        return false;
    }
    const uint32_t closing = list_edges(&graph, above);
    if (closing == 0) {
        return true;
    }
    RowLoops *loops = make_loops(state, closing);
    if (loops == NULL || !list_around(&graph) || !search_all(&graph, loops)) {
        return false;
    }
    state->loops = loops->count == 0 ? NULL : loops;
    return true;
}
