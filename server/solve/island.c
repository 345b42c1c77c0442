// SPDX-License-Identifier: MIT
#include "solve/island.h"

#include "base/assert.h"
#include "base/defect.h"
#include "solve/island_valid.h"

#include <string.h>

// ---- a forest over the trees whose roots are the smallest members
//
// Blocks of contacts grow one forest at once. A parent is smaller than its child, and only what is
// a root gets another parent by a link, so whoever came first, the root of those that are joined is
// the smallest of them. Shortened paths lose nothing: whatever was above stays above.

enum { ITEMS = 1024 }; // contacts, rows or trees of a block of work

static uint32_t find_root(uint32_t *parent, uint32_t tree) {
    uint32_t above = __atomic_load_n(&parent[tree], __ATOMIC_RELAXED);
    while (above != tree) {
        uint32_t next = __atomic_load_n(&parent[above], __ATOMIC_RELAXED);
        if (next == above) {
            return above;
        }
        __atomic_store_n(&parent[tree], next, __ATOMIC_RELAXED);
        tree = next;
        above = __atomic_load_n(&parent[tree], __ATOMIC_RELAXED);
    }
    return tree;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b) {
    bool is_joined = false;
    while (!is_joined) {
        uint32_t root_a = find_root(parent, a), root_b = find_root(parent, b);
        uint32_t low = root_a < root_b ? root_a : root_b, high = root_a < root_b ? root_b : root_a;
        // another block may have given `high` a parent meanwhile
        is_joined =
            low == high || __atomic_compare_exchange_n(&parent[high], &(uint32_t){high}, low, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

typedef struct Joining {
    const ContactProblem *problem;
    uint32_t *parent;
    uint32_t *of; // becomes the first tree of each contact: the problem is large, and read once
} Joining;

static void join_contacts(void *work, uint32_t block) {
    const Joining *joining = work;
    const ContactProblem *problem = joining->problem;
    uint32_t begin = block * ITEMS, count = problem->contact_count;
    uint32_t end = count - begin > ITEMS ? begin + ITEMS : count;
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t a = problem->contact[i].side[0].tree, b = problem->contact[i].side[1].tree;
        joining->of[i] = a != PROBLEM_NO_TREE ? a : b;
        if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
            join(joining->parent, a, b);
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

// A stable counting sort by island, in blocks: each counts what it has of every island, and then
// lists it behind what those before it have.
typedef struct Listing {
    const uint32_t *of_tree; // islands of trees, where `of` has trees; NULL: it has islands
    uint32_t *of;            // becomes islands, and of no tree the one after the last
    uint32_t *list;
    uint32_t count, size; // items, and how many of them a block has
    uint32_t islands;
    uint32_t *next; // [blocks][islands + 1] where the next of an island stands
} Listing;

// Counts of many islands would be more than what is counted.
static uint32_t block_size(uint32_t count, uint32_t islands) {
    uint64_t blocks = tasks_blocks(count, ITEMS);
    return blocks * ((uint64_t)islands + 1) > count ? count : ITEMS;
}

static uint32_t block_count(const Listing *listing) {
    return listing->count == 0 ? 0 : tasks_blocks(listing->count, listing->size);
}

static void count_block(void *work, uint32_t block) {
    const Listing *listing = work;
    const uint32_t none = listing->islands, *of_tree = listing->of_tree;
    uint32_t *of = listing->of, *counts = listing->next + (size_t)block * (none + 1);
    uint32_t begin = block * listing->size, left = listing->count - begin;
    uint32_t end = left > listing->size ? begin + listing->size : listing->count;
    memset(counts, 0, ((size_t)none + 1) * sizeof(*counts));
    for (uint32_t i = begin; i < end; i++) {
        if (of_tree != NULL) {
            of[i] = of[i] == PROBLEM_NO_TREE ? none : of_tree[of[i]];
        }
        counts[of[i]]++;
    }
}

static void list_block(void *work, uint32_t block) {
    const Listing *listing = work;
    const uint32_t *of = listing->of;
    uint32_t *next = listing->next + (size_t)block * (listing->islands + 1);
    uint32_t begin = block * listing->size, left = listing->count - begin;
    uint32_t end = left > listing->size ? begin + listing->size : listing->count;
    for (uint32_t i = begin; i < end; i++) {
        listing->list[next[of[i]]++] = i;
    }
}

// `first` becomes where each island begins.
static void list_by_island(const Tasks *tasks, Listing *listing, uint32_t *first) {
    const uint32_t blocks = block_count(listing), keys = listing->islands + 1;
    tasks_run(tasks, count_block, listing, blocks);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < keys; i++) {
        first[i] = sum;
        for (uint32_t block = 0; block < blocks; block++) {
            uint32_t *next = &listing->next[(size_t)block * keys + i], count = *next;
            *next = sum;
            sum += count;
        }
    }
    tasks_run(tasks, list_block, listing, blocks);
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

// How many counts a list needs: at least those of one block.
static size_t count_room(uint32_t count, uint32_t islands) {
    return tasks_blocks(count, block_size(count, islands)) * ((size_t)islands + 1);
}

static size_t most_room(const ContactProblem *problem, uint32_t islands) {
    size_t most = count_room(problem->tree_count, islands),
           contacts = count_room(problem->contact_count, islands),
           rows = count_room(problem->row_count, islands);
    most = contacts > most ? contacts : most;
    return rows > most ? rows : most;
}

// `first` is [3 (count + 1)], and what the lists' counts need.
static void find_lists(const ContactProblem *problem, const Lists *lists, uint32_t count,
                       const Tasks *tasks, uint32_t *first, Islands *islands) {
    uint32_t *tree_first = first, *contact_first = tree_first + count + 1,
             *row_first = contact_first + count + 1, *next = row_first + count + 1;
    const uint32_t trees = problem->tree_count, contacts = problem->contact_count,
                   rows = problem->row_count;
    Listing of_trees = {NULL, lists->of_tree, lists->tree, trees, block_size(trees, count), count,
                        next};
    Listing of_contacts = {lists->of_tree,
                           lists->of_contact,
                           lists->contact,
                           contacts,
                           block_size(contacts, count),
                           count,
                           next};
    Listing of_rows = {lists->of_tree,          lists->of_row, lists->row, rows,
                       block_size(rows, count), count,         next};
    list_by_island(tasks, &of_trees, tree_first);
    list_by_island(tasks, &of_contacts, contact_first);
    list_by_island(tasks, &of_rows, row_first);
    *islands = (Islands){.count = count,
                         .of_tree = lists->of_tree,
                         .tree_first = tree_first,
                         .tree = lists->tree,
                         .contact_first = contact_first,
                         .contact = lists->contact,
                         .row_first = row_first,
                         .row = lists->row};
}

Status islands_find(const ContactProblem *problem, const Tasks *tasks, Arena *arena,
                    Islands *islands, Error *error) {
    ASSERT(problem->tree_count < PROBLEM_NO_TREE);
    Lists lists;
    if (!take_lists(problem, arena, &lists)) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        lists.of_tree[i] = i;
    }
    Joining joining = {problem, lists.of_tree, lists.of_contact};
    tasks_run(tasks, join_contacts, &joining, tasks_blocks(problem->contact_count, ITEMS));
    join_rows(problem, lists.of_tree, lists.of_row);
    uint32_t count = number_islands(lists.of_tree, problem->tree_count);
    ASSERT(count <= problem->tree_count);
    size_t room = 3 * ((size_t)count + 1) + most_room(problem, count);
    uint32_t *first = arena_take_array(arena, room, sizeof(*first));
    IslandShare *share = arena_take_array(arena, share_capacity(problem), sizeof(*share));
    if (first == NULL || share == NULL) {
        return no_memory(error);
    }
    find_lists(problem, &lists, count, tasks, first, islands);
    islands->share_count = make_shares(islands, share);
    islands->share = share;
    ASSERT(islands->share_count <= share_capacity(problem));
    VALIDATE_WHOLE(islands_are_valid, problem, islands);
    return STATUS_OK;
}
