// SPDX-License-Identifier: MIT
#include "solve/island.h"

#include "base/assert.h"
#include "base/defect.h"
#include "solve/island_valid.h"

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

static uint32_t tree_of_contact(const ContactSide side[2]) {
    return side[0].tree != PROBLEM_NO_TREE ? side[0].tree : side[1].tree;
}

// `of` becomes the first tree of each contact: the problem is large, and read only once
static void join_contacts(const ContactProblem *problem, uint32_t *parent, uint32_t *of) {
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactSide *side = problem->contact[i].side;
        of[i] = tree_of_contact(side);
        if (side[0].tree != PROBLEM_NO_TREE && side[1].tree != PROBLEM_NO_TREE) {
            join(parent, side[0].tree, side[1].tree);
        }
    }
}

static void join_rows(const ContactProblem *problem, uint32_t *parent, uint32_t *of) {
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        const RowBlock *block = problem->row_block + row->block_first;
        of[i] = row->block_count == 0 ? PROBLEM_NO_TREE : block[0].tree;
        for (uint32_t b = 1; b < row->block_count; b++) {
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

// `of`, the first trees, become islands, and those of no tree the one after the last.
static void find_islands(const uint32_t *of_tree, uint32_t none, uint32_t *of, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        of[i] = of[i] == PROBLEM_NO_TREE ? none : of_tree[of[i]];
    }
}

// A stable counting sort by island. `first` is [islands + 3] zeros.
static void list_by_island(const uint32_t *of, uint32_t count, uint32_t islands, uint32_t *first,
                           uint32_t *list) {
    // counted two places up: after summing, first[i + 1] is where i begins, and grows as it fills
    for (uint32_t i = 0; i < count; i++) {
        first[of[i] + 2]++;
    }
    for (uint32_t i = 2; i < islands + 2; i++) {
        first[i] += first[i - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        list[first[of[i] + 1]++] = i;
    }
}

// ---- shares

static uint32_t size_of(const IslandRange *range) {
    return range->tree_end - range->tree_begin + range->contact_end - range->contact_begin +
           range->row_end - range->row_begin;
}

static uint32_t cut(uint32_t begin, uint32_t end, uint32_t piece, uint32_t count) {
    return begin + (uint32_t)((uint64_t)(end - begin) * piece / count);
}

static uint32_t cut_island(const Islands *islands, uint32_t island, IslandShare *share) {
    IslandRange all = islands_range(islands, island, island + 1);
    uint32_t count = size_of(&all) / ISLAND_SHARE;
    for (uint32_t k = 0; k < count; k++) {
        IslandRange range = {cut(all.tree_begin, all.tree_end, k, count),
                             cut(all.tree_begin, all.tree_end, k + 1, count),
                             cut(all.contact_begin, all.contact_end, k, count),
                             cut(all.contact_begin, all.contact_end, k + 1, count),
                             k == 0 ? all.row_begin : all.row_end,
                             all.row_end};
        share[k] = (IslandShare){island, island + 1, true, range};
    }
    return count;
}

static uint32_t make_shares(const Islands *islands, IslandShare *share) {
    uint32_t count = 0, begin = 0;
    for (uint32_t i = 0; i < islands->count; i++) {
        IslandRange own = islands_range(islands, i, i + 1);
        bool is_large = size_of(&own) >= ISLAND_LARGE;
        uint32_t end = is_large ? i : i + 1; // of a share of small ones that may end here
        IslandRange gathered = islands_range(islands, begin, end);
        if (begin < end &&
            (is_large || end == islands->count || size_of(&gathered) >= ISLAND_SHARE)) {
            share[count++] = (IslandShare){begin, end, false, gathered};
            begin = end;
        }
        if (is_large) {
            count += cut_island(islands, i, share + count);
            begin = i + 1;
        }
    }
    return count;
}

// Shares of small islands are full, or followed by a large one, or the last.
static size_t share_capacity(const ContactProblem *problem) {
    size_t size = (size_t)problem->tree_count + problem->contact_count + problem->row_count;
    return size / ISLAND_SHARE + size / ISLAND_LARGE + 1;
}

// ---- the whole

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the islands of the problem.");
}

// What is being made: the lists, and of each item its first tree, then its island.
typedef struct Lists {
    uint32_t *of_tree;
    uint32_t *of_contact, *of_row;
    uint32_t *tree, *contact, *row;
} Lists;

static bool take_lists(const ContactProblem *problem, Arena *arena, Lists *lists) {
    // one piece: a small world has many
    size_t trees = problem->tree_count, contacts = problem->contact_count,
           rows = problem->row_count;
    uint32_t *numbers = arena_take_array(arena, 2 * (trees + contacts + rows), sizeof(uint32_t));
    if (numbers == NULL) {
        return false;
    }
    lists->of_tree = numbers;
    lists->tree = lists->of_tree + trees;
    lists->of_contact = lists->tree + trees;
    lists->contact = lists->of_contact + contacts;
    lists->of_row = lists->contact + contacts;
    lists->row = lists->of_row + rows;
    return true;
}

static void find_lists(const ContactProblem *problem, const Lists *lists, uint32_t count,
                       uint32_t *first, Islands *islands) {
    uint32_t *tree_first = first, *contact_first = tree_first + count + 3,
             *row_first = contact_first + count + 3;
    find_islands(lists->of_tree, count, lists->of_contact, problem->contact_count);
    find_islands(lists->of_tree, count, lists->of_row, problem->row_count);
    list_by_island(lists->of_tree, problem->tree_count, count, tree_first, lists->tree);
    list_by_island(lists->of_contact, problem->contact_count, count, contact_first, lists->contact);
    list_by_island(lists->of_row, problem->row_count, count, row_first, lists->row);
    *islands = (Islands){.count = count,
                         .of_tree = lists->of_tree,
                         .tree_first = tree_first,
                         .tree = lists->tree,
                         .contact_first = contact_first,
                         .contact = lists->contact,
                         .row_first = row_first,
                         .row = lists->row};
}

Status islands_find(const ContactProblem *problem, Arena *arena, Islands *islands, Error *error) {
    ASSERT(problem->tree_count < PROBLEM_NO_TREE);
    Lists lists;
    if (!take_lists(problem, arena, &lists)) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        lists.of_tree[i] = i;
    }
    join_contacts(problem, lists.of_tree, lists.of_contact);
    join_rows(problem, lists.of_tree, lists.of_row);
    uint32_t count = number_islands(lists.of_tree, problem->tree_count);
    ASSERT(count <= problem->tree_count);
    uint32_t *first = arena_take_zeroed(arena, 3 * ((size_t)count + 3), sizeof(*first));
    IslandShare *share = arena_take_array(arena, share_capacity(problem), sizeof(*share));
    if (first == NULL || share == NULL) {
        return no_memory(error);
    }
    find_lists(problem, &lists, count, first, islands);
    islands->share_count = make_shares(islands, share);
    islands->share = share;
    ASSERT(islands->share_count <= share_capacity(problem));
    VALIDATE_WHOLE(islands_are_valid, problem, islands);
    return STATUS_OK;
}
