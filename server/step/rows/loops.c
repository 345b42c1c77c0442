// SPDX-License-Identifier: MIT
// Biconnected parts by Tarjan's search in depth, joint by joint in their order, so that all of it
// follows from the order of bodies and joints.
#include "step/rows/loops.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// A joint between two vertices: bodies, and behind them the world.
typedef struct Edge {
    uint32_t joint, end[2];
} Edge;

typedef struct Graph {
    StepState *state;
    bool has_trees; // of joints; else there are free bodies alone
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
    bool has_left; // a part that is too large, with trees
    RowLoops *loops;
} Search;

// ---- the graph

static uint32_t tree_of(const StepState *state, uint32_t body) {
    return body == JOINT_NO_BODY ? PROBLEM_NO_TREE : state->stepper->tree_of_body[body];
}

// What no force moves is the world. ROW_LOOP_NONE: a link of a tree, where there are none.
static uint32_t vertex_of(const Graph *graph, uint32_t body) {
    const uint32_t tree = tree_of(graph->state, body);
    return tree == PROBLEM_NO_TREE                               ? graph->vertex_count - 1
           : graph->has_trees || tree < graph->state->free_count ? body
                                                                 : ROW_LOOP_NONE;
}

// false: it joins nothing that counts, or holds nothing.
static bool find_edge(const Graph *graph, uint32_t index, Edge *edge) {
    const Joint *joint = &graph->state->world->joint[index];
    const bool holds = joint->is_rows || joint_axis_count(joint->axes) < JOINT_AXES_MAX;
    if (!holds || joint_couples(joint) ||
        (graph->state->asleep_count > 0 && stage_joint_sleeps(graph->state, joint))) {
        return false;
    }
    *edge = (Edge){index, {vertex_of(graph, joint->body[0]), vertex_of(graph, joint->body[1])}};
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
    graph->edge_count = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        above[v] = v;
    }
    for (uint32_t i = 0; i < graph->state->world->joint_count; i++) {
        Edge *edge = &graph->edge[graph->edge_count];
        if (find_edge(graph, i, edge)) {
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
    ASSERT(loop->tree_count <= ROW_LOOP_TREES_MAX);
    uint32_t at = loop->tree_count;
    while (at > 0 && loop->tree[at - 1] > tree) {
        at--;
    }
    if (at > 0 && loop->tree[at - 1] == tree) {
        return true;
    }
    if (loop->tree_count == ROW_LOOP_TREES_MAX) {
        return false;
    }
    memmove(loop->tree + at + 1, loop->tree + at, (loop->tree_count - at) * sizeof(uint32_t));
    loop->tree[at] = tree;
    loop->tree_count++;
    return true;
}

static double gyration(const StepState *state, uint32_t body) {
    const uint32_t tree = tree_of(state, body);
    if (tree < state->free_count) {
        const FreeMass *mass = &state->free[tree];
        const double trace = mass->inertia.xx + mass->inertia.yy + mass->inertia.zz;
        return sqrt(trace * mass->inverse_mass / 3.0);
    }
    const BodyMass *mass = &state->world->mass[body];
    const double trace = mass->inertia.xx + mass->inertia.yy + mass->inertia.zz;
    return mass->mass > 0.0 ? sqrt(trace / mass->mass / 3.0) : 0.0;
}

// Joints that all but meet where a body's centre of mass is have no levers but errors: what they
// are errors of is the size of the body, of the least one.
typedef struct Part {
    RowLoop *loop;
    double least_gyration;
    bool has_room;
} Part;

static void add_joint(const Graph *graph, const Edge *edge, Part *part) {
    const StepState *state = graph->state;
    const Joint *joint = &state->world->joint[edge->joint];
    if (joint->is_rows) {
        part->has_room = part->has_room && part->loop->joint_count < ROW_LOOP_JOINTS_MAX;
        part->loop->joint_count++;
    }
    for (int side = 0; side < 2 && part->has_room; side++) {
        const uint32_t body = edge->end[side];
        if (body != graph->vertex_count - 1) {
            part->has_room = add_tree(part->loop, tree_of(state, body));
            part->loop->size = fmax(part->loop->size, vec3_norm(joint->frame[side].position));
            part->least_gyration = fmin(part->least_gyration, gyration(state, body));
        }
    }
}

static void find_turns(const StepState *state, uint32_t tree, bool *turns) {
    if (tree < state->free_count) {
        memcpy(turns, (const bool[6]){false, false, false, true, true, true}, 6 * sizeof(bool));
        return;
    }
    const TreeView *view = &stage_tree(state, state->body_of_tree[tree])->flight.view;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            turns[link->first + k] = k >= link->moves;
        }
    }
}

// Where the velocities of each tree are. false: there is no more room.
static bool lay_trees(const StepState *state, RowLoop *loop) {
    for (uint32_t i = 0; i < loop->tree_count; i++) {
        const uint32_t width = state->tree[loop->tree[i]].width;
        if (width > ROW_LOOP_WIDTH_MAX - loop->width) {
            return false;
        }
        loop->first[i] = loop->width;
        find_turns(state, loop->tree[i], loop->turns + loop->width);
        loop->width += width;
    }
    return true;
}

// As its rows have their blocks: the second PROBLEM_NO_TREE where they are of one.
static void find_trees(const StepState *state, const Joint *joint, uint32_t tree[2]) {
    const uint32_t a = tree_of(state, joint->body[0]), b = tree_of(state, joint->body[1]);
    tree[0] = a == PROBLEM_NO_TREE ? b : a;
    tree[1] = a == PROBLEM_NO_TREE || a == b ? PROBLEM_NO_TREE : b;
}

// Whether all rows are of the same one or two trees of joints.
static bool is_of_pair(const Search *search, uint32_t begin) {
    const StepState *state = search->graph->state;
    uint32_t pair[2] = {0, 0}, tree[2], count = 0;
    for (uint32_t i = begin; i < search->open_count; i++) {
        const Edge *edge = &search->graph->edge[search->open[i]];
        const Joint *joint = &state->world->joint[edge->joint];
        if (!joint->is_rows) {
            continue;
        }
        find_trees(state, joint, tree);
        if (tree[0] < state->free_count || tree[1] < state->free_count ||
            (count > 0 && (tree[0] != pair[0] || tree[1] != pair[1]))) {
            return false;
        }
        pair[0] = tree[0];
        pair[1] = tree[1];
        count++;
    }
    return true;
}

// The edges that were met since `begin` are a part of their own.
static void end_part(Search *search, uint32_t begin) {
    ASSERT(begin < search->open_count);
    RowLoops *loops = search->loops;
    const Graph *graph = search->graph;
    ASSERT(loops->count < loops->capacity);
    RowLoop *loop = &loops->loop[loops->count];
    *loop = (RowLoop){.tree_count = 0};
    Part part = {.loop = loop, .least_gyration = HUGE_VAL, .has_room = true};
    const uint32_t count = search->open_count - begin;
    const bool closes = count > 1 && !is_of_pair(search, begin) &&
                        loops->of_joint[graph->edge[search->open[begin]].joint] == ROW_LOOP_NONE;
    for (uint32_t i = begin; closes && i < search->open_count; i++) {
        add_joint(graph, &graph->edge[search->open[i]], &part);
    }
    const bool is_loop = closes && part.has_room && lay_trees(graph->state, loop);
    search->has_left = search->has_left || (closes && !is_loop && graph->has_trees);
    loop->size = is_loop ? fmax(loop->size, part.least_gyration) : 0.0;
    if (loop->size > 0.0) {
        for (uint32_t i = begin; i < search->open_count; i++) {
            loops->of_joint[graph->edge[search->open[i]].joint] = loops->count;
        }
        loops->count++;
    }
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

// `has_left`: some parts with trees are too large.
static bool search_all(const Graph *graph, RowLoops *loops, bool *has_left) {
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
    *has_left = search.has_left;
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

static bool has_rows(const World *world) {
    bool has = false;
    for (size_t i = 0; !has && i < world->joint_count; i++) {
        has = world->joint[i].is_rows && !joint_couples(&world->joint[i]);
    }
    return has;
}

// Of free bodies alone, those that are on no loop yet.
static bool search_free(Graph *graph, RowLoops *loops, uint32_t *above) {
    bool has_left;
    graph->has_trees = false;
    return list_edges(graph, above) == 0 ||
           (list_around(graph) && search_all(graph, loops, &has_left));
}

bool row_loops_find(StepState *state) {
    ASSERT(state->stepper->tree_of_body != NULL);
    state->loops = NULL;
    if (!has_rows(state->world)) {
        return true;
    }
    const size_t joints = state->world->joint_count;
    Graph graph = {.state = state,
                   .has_trees = state->tree_count > state->free_count,
                   .vertex_count = state->world->body_count + 1};
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
    bool has_left = false;
    if (loops == NULL || !list_around(&graph) || !search_all(&graph, loops, &has_left) ||
        (has_left && !search_free(&graph, loops, above))) {
        return false;
    }
    state->loops = loops->count == 0 ? NULL : loops;
    return true;
}
