// SPDX-License-Identifier: MIT
#include "solve/island.h"

#include "base/assert.h"

// ---- a forest over the trees whose roots are the smallest members

static uint32_t find_root(uint32_t *parent, uint32_t tree) {
    while (parent[tree] != tree) {
        parent[tree] = parent[parent[tree]];
        tree = parent[tree];
    }
    return tree;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b) {
    uint32_t root_a = find_root(parent, a), root_b = find_root(parent, b);
    if (root_a < root_b) {
        parent[root_b] = root_a;
    } else {
        parent[root_a] = root_b;
    }
}

static void join_all(const ContactProblem *problem, uint32_t *parent) {
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        uint32_t a = problem->contact[i].side[0].tree, b = problem->contact[i].side[1].tree;
        if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
            join(parent, a, b);
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const RowBlock *block = problem->row_block + problem->row[i].block_first;
        for (uint32_t b = 1; b < problem->row[i].block_count; b++) {
            join(parent, block[0].tree, block[b].tree);
        }
    }
}

// after this, parent[tree] is the island of the tree
static uint32_t number_islands(uint32_t *parent, uint32_t tree_count) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tree_count; i++) {
        // a parent comes before its child, so it carries its island's number already
        parent[i] = parent[i] == i ? count++ : parent[parent[i]];
    }
    return count;
}

// ---- lists by island

typedef uint32_t IslandOf(const ContactProblem *problem, const uint32_t *of_tree, uint32_t index);

static uint32_t of_tree_itself(const ContactProblem *problem, const uint32_t *of_tree,
                               uint32_t tree) {
    (void)problem;
    return of_tree[tree];
}

// A stable counting sort by island; `next` is [islands] for what comes and goes. False: no memory.
static bool list_by_island(const ContactProblem *problem, const Islands *islands, IslandOf *of,
                           uint32_t count, uint32_t *next, Arena *arena, const uint32_t **first_out,
                           const uint32_t **list_out) {
    uint32_t *first = arena_take_zeroed(arena, (size_t)islands->count + 1, sizeof(*first));
    uint32_t *list = arena_take_array(arena, count, sizeof(*list));
    if (first == NULL || list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t island = of(problem, islands->of_tree, i);
        first[island == PROBLEM_NO_TREE ? 0 : island + 1] += island != PROBLEM_NO_TREE;
    }
    for (uint32_t i = 0; i < islands->count; i++) {
        next[i] = first[i];
        first[i + 1] += first[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t island = of(problem, islands->of_tree, i);
        if (island != PROBLEM_NO_TREE) {
            list[next[island]++] = i;
        }
    }
    *first_out = first;
    *list_out = list;
    return true;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the islands of the problem.");
}

Status islands_find(const ContactProblem *problem, Arena *arena, Islands *islands, Error *error) {
    uint32_t *parent = arena_take_array(arena, problem->tree_count, sizeof(*parent));
    if (parent == NULL) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        parent[i] = i;
    }
    join_all(problem, parent);
    *islands = (Islands){.count = number_islands(parent, problem->tree_count), .of_tree = parent};
    uint32_t *next = arena_take_array(arena, islands->count, sizeof(*next));
    bool is_listed = next != NULL &&
                     list_by_island(problem, islands, of_tree_itself, problem->tree_count, next,
                                    arena, &islands->tree_first, &islands->tree) &&
                     list_by_island(problem, islands, islands_of_contact, problem->contact_count,
                                    next, arena, &islands->contact_first, &islands->contact) &&
                     list_by_island(problem, islands, islands_of_row, problem->row_count, next,
                                    arena, &islands->row_first, &islands->row);
    ASSERT(islands->count <= problem->tree_count);
    return is_listed ? STATUS_OK : no_memory(error);
}
