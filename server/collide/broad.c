// SPDX-License-Identifier: MIT
// Fat boxes remembered per body; a tree over the bounded ones, a list of the unbounded ones; the
// sorted candidates.
//
// Few movers: their leaves are refitted, each is searched for in the tree, and what is found is
// merged into the candidates. Many, or any change of what kind of box a body has: everything is
// built and searched anew, which costs less per body than a search alone.
#include "collide/broad.h"

#include "base/array.h"
#include "base/assert.h"
#include "collide/broad_parts.h"
#include "collide/broad_valid.h"

#include <stdlib.h>
#include <string.h>

// How much fatter a remembered box is, on each side, as a part of the box's shortest edge. More
// means fewer searches while bodies creep and more candidates to test in every step.
static const double margin_part = 0.05;

// One search in the tree costs about four times a body's part of building and searching everything
// at once.
enum { REBUILD_PART = 4 };

// looks at a box while a mover's leaf is refitted: of the eight in it, and the nodes above it
enum { MOVE_LOOKS = 48 };

// Who has left its fat box in this update.
typedef struct Movers {
    uint32_t *body; // in scratch memory, with room for all
    uint32_t count;
} Movers;

Broad *broad_create(void) {
    return calloc(1, sizeof(Broad));
}

void broad_destroy(Broad *broad) {
    if (broad == NULL) {
        return;
    }
    free(broad->seen);
    free(broad->unbounded);
    boxtree_deinit(&broad->tree);
    candidates_deinit(&broad->pairs);
    candidates_deinit(&broad->found);
    free(broad);
}

void broad_reset(Broad *broad) {
    broad->is_known = false;
    broad->count = 0;
    broad->pairs.count = 0;
    ASSERT(broad->patience.stop == NULL);
}

void broad_limit(Broad *broad, size_t bytes_max) {
    // two lists, each grown by halves
    size_t count = bytes_max / (2 * sizeof(BroadPair) * 3 / 2);
    count = count < 1 ? 1 : count < CANDIDATE_COUNT_MAX ? count : CANDIDATE_COUNT_MAX;
    broad->pairs.count_max = broad->found.count_max = count;
    ASSERT(broad->pairs.count_max > 0);
}

size_t broad_bytes(const Broad *broad) {
    size_t pair_count = broad->pairs.capacity + broad->found.capacity;
    return sizeof(Broad) + boxtree_bytes(&broad->tree) + broad->seen_capacity * sizeof(Seen) +
           broad->unbounded_capacity * sizeof(uint32_t) + pair_count * sizeof(BroadPair);
}

// Written so that a NaN makes a box void.
static BoxKind judge_box(const BroadBox *box) {
    if (!(box->lower.x <= box->upper.x && box->lower.y <= box->upper.y &&
          box->lower.z <= box->upper.z)) {
        return BOX_VOID;
    }
    return vec3_is_finite(box->lower) && vec3_is_finite(box->upper) ? BOX_BOUNDED : BOX_UNBOUNDED;
}

// The box is a box, and lies inside the fat one.
static bool is_inside(const BroadBox *box, const BroadBox *fat) {
    return (fat->lower.x <= box->lower.x) & (box->lower.x <= box->upper.x) &
           (box->upper.x <= fat->upper.x) & (fat->lower.y <= box->lower.y) &
           (box->lower.y <= box->upper.y) & (box->upper.y <= fat->upper.y) &
           (fat->lower.z <= box->lower.z) & (box->lower.z <= box->upper.z) &
           (box->upper.z <= fat->upper.z);
}

static BroadBox fatten(const BroadBox *box) {
    Vec3 d = vec3_sub(box->upper, box->lower);
    double edge = d.x < d.y ? d.x : d.y;
    edge = edge < d.z ? edge : d.z;
    double margin = margin_part * edge;
    BroadBox fat = {vec3_sub(box->lower, vec3(margin, margin, margin)),
                    vec3_add(box->upper, vec3(margin, margin, margin))};
    // a margin beyond the largest double is no margin
    return vec3_is_finite(fat.lower) && vec3_is_finite(fat.upper) ? fat : *box;
}

// Notes who has left its fat box; false when the tree cannot follow and all must be built anew.
static bool find_movers(Broad *broad, const BroadBox *box, const uint8_t *fixed, Movers *movers) {
    bool is_followed = true;
    for (uint32_t i = 0; i < broad->count; i++) {
        if (fixed[i] == BROAD_STILL) {
            continue;
        }
        Seen *seen = &broad->seen[i];
        uint8_t now_fixed = fixed[i] != 0;
        if (is_inside(&box[i], &seen->fat) && seen->fixed == now_fixed) {
            continue;
        }
        BoxKind kind = judge_box(&box[i]);
        if (kind == BOX_VOID && seen->kind == BOX_VOID) {
            seen->fixed = now_fixed;
            continue;
        }
        is_followed = is_followed && kind == BOX_BOUNDED && seen->kind == BOX_BOUNDED;
        movers->body[movers->count++] = i;
    }
    return is_followed;
}

static void add_unbounded_pair(const Broad *broad, uint32_t i, uint32_t j, Candidates *found) {
    VALIDATE(i != j);
    const Seen *a = &broad->seen[i], *b = &broad->seen[j];
    if (!(a->fixed & b->fixed) && boxtree_meet(&a->fat, &b->fat)) {
        candidates_add(found, i, j);
    }
}

// A block of a search: so many nodes of the tree, or movers, some 20 to 60 us, and so much room for
// the pairs that they find. A block that is at its end too early, of room or of patience, is the
// owner's, who takes memory and asks whether to stop; that is where bodies are heaped on each
// other.
enum {
    BLOCK_PLACES = 64,
    BLOCK_PAIRS = 2048,
    BLOCK_OPERATIONS = 1 << 15,
    CALL_BLOCKS = 16 // between two questions
};

// Finds the pairs of the places [first, end).
typedef void FindProc(const Broad *broad, const Movers *movers, uint32_t first, uint32_t end,
                      Candidates *found, Patience *patience);

typedef struct Search {
    const Broad *broad;
    const Movers *movers;
    FindProc *find;
    uint32_t first, end; // places of the blocks of a call, and of all
    Stop enough;
    Candidates found[CALL_BLOCKS]; // each in memory of its own
    Patience patience[CALL_BLOCKS];
} Search;

static bool say_yes(void *context) {
    (void)context;
    return true;
}

static void find_block(const Search *search, uint32_t block, Candidates *found,
                       Patience *patience) {
    ASSERT(search->first + block * BLOCK_PLACES < search->end);
    uint32_t first = search->first + block * BLOCK_PLACES;
    uint32_t end = search->end - first < BLOCK_PLACES ? search->end : first + BLOCK_PLACES;
    search->find(search->broad, search->movers, first, end, found, patience);
}

static void search_block(void *work, uint32_t block) {
    ASSERT(block < CALL_BLOCKS);
    Search *search = work;
    search->found[block].count = 0;
    search->found[block].is_short = false;
    search->patience[block] =
        (Patience){.stop = &search->enough, .spent = PATIENCE_OPERATIONS - BLOCK_OPERATIONS};
    find_block(search, block, &search->found[block], &search->patience[block]);
}

// Takes what a block found, or finds it.
static void take_found(Broad *broad, const Search *search, uint32_t block, Candidates *all) {
    ASSERT(block < CALL_BLOCKS);
    const Candidates *found = &search->found[block];
    const Patience *patience = &search->patience[block];
    size_t before = PATIENCE_OPERATIONS - BLOCK_OPERATIONS;
    if (patience_ends(&broad->patience,
                      patience->is_over ? BLOCK_OPERATIONS : patience->spent - before)) {
        return;
    }
    if (!found->is_short && !patience->is_over) {
        candidates_append(all, found);
    } else {
        find_block(search, block, all, &broad->patience);
    }
}

// Adds what all of [0, end) find to a list, which is empty. False when memory ends. One lane needs
// no room beside the list.
static bool search_all(Broad *broad, FindProc *find, const Movers *movers, uint32_t end,
                       const Tasks *tasks, Arena *scratch, Candidates *all) {
    ASSERT(all->count == 0);
    if (tasks == NULL || end <= BLOCK_PLACES) {
        find(broad, movers, 0, end, all, &broad->patience);
        return true;
    }
    Search *search = arena_take(scratch, sizeof(Search));
    BroadPair *pair =
        arena_take_array(scratch, (size_t)CALL_BLOCKS * BLOCK_PAIRS, sizeof(BroadPair));
    if (search == NULL || pair == NULL) {
        return false;
    }
    *search = (Search){
        .broad = broad, .movers = movers, .find = find, .end = end, .enough = {.asked = say_yes}};
    for (size_t i = 0; i < CALL_BLOCKS; i++) {
        search->found[i] = (Candidates){
            .pair = pair + i * BLOCK_PAIRS, .capacity = BLOCK_PAIRS, .count_max = BLOCK_PAIRS};
    }
    while (search->first < end && !broad->patience.is_over) {
        uint32_t count = tasks_blocks(end - search->first, BLOCK_PLACES);
        count = count < CALL_BLOCKS ? count : CALL_BLOCKS;
        tasks_run(tasks, search_block, search, count);
        for (uint32_t i = 0; i < count && !broad->patience.is_over; i++) {
            take_found(broad, search, i, all);
        }
        // the last blocks may end beyond the last place
        search->first =
            end - search->first > count * BLOCK_PLACES ? search->first + count * BLOCK_PLACES : end;
    }
    return true;
}

static void find_of_nodes(const Broad *broad, const Movers *movers, uint32_t first, uint32_t end,
                          Candidates *found, Patience *patience) {
    (void)movers;
    boxtree_pairs(&broad->tree, first, end, found, patience);
}

// Two movers that meet find each other, twice; the merge drops the second.
static void find_of_movers(const Broad *broad, const Movers *movers, uint32_t first, uint32_t end,
                           Candidates *found, Patience *patience) {
    ASSERT(end <= movers->count);
    for (uint32_t k = first; k < end; k++) {
        uint32_t i = movers->body[k];
        boxtree_search(&broad->tree, broad->seen[i].place, found, patience);
        if (patience_ends(patience, (size_t)MOVE_LOOKS + broad->unbounded_count)) {
            return;
        }
        for (uint32_t u = 0; u < broad->unbounded_count; u++) {
            add_unbounded_pair(broad, i, broad->unbounded[u], found);
        }
    }
}

static bool follow_movers(Broad *broad, const BroadBox *box, const uint8_t *fixed,
                          const Movers *movers, const Tasks *tasks, Arena *scratch) {
    ASSERT(movers->count > 0 && movers->count <= broad->count);
    uint8_t *is_mover = arena_take_zeroed(scratch, broad->count, 1);
    if (is_mover == NULL) {
        return false;
    }
    for (uint32_t k = 0; k < movers->count; k++) {
        uint32_t i = movers->body[k];
        Seen *seen = &broad->seen[i];
        seen->fat = fatten(&box[i]);
        seen->fixed = fixed[i] != 0;
        broad->tree.item[seen->place].fixed = seen->fixed;
        boxtree_move(&broad->tree, seen->place, &seen->fat);
        is_mover[i] = 1;
    }

    broad->found.count = 0;
    if (!search_all(broad, find_of_movers, movers, movers->count, tasks, scratch, &broad->found) ||
        broad->patience.is_over) {
        return false;
    }
    bool is_done = !broad->found.is_short &&
                   candidates_sort(&broad->found, broad->count, tasks, scratch, &broad->patience) &&
                   candidates_merge(&broad->pairs, is_mover, &broad->found, &broad->patience);
    broad->moved_count += movers->count;
    return is_done;
}

// What is fixed seldom moves: it gets no margin until it has once.
static BroadBox remember_box(const Seen *seen, bool is_known, const BroadBox *box, bool is_fixed) {
    if (!is_fixed) {
        return fatten(box);
    }
    if (!is_known || seen->kind != BOX_BOUNDED) {
        return *box;
    }
    return is_inside(box, &seen->fat) ? seen->fat : fatten(box);
}

// Remembers all boxes and fills the tree's items. False when memory ends.
static bool remember_bodies(Broad *broad, uint32_t count, const BroadBox *box, const uint8_t *fixed,
                            BoxItem *item, uint32_t *item_count) {
    broad->unbounded_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        Seen *seen = &broad->seen[i];
        bool is_known = broad->is_known && i < broad->count;
        BoxKind kind = judge_box(&box[i]);
        seen->fat =
            kind == BOX_BOUNDED ? remember_box(seen, is_known, &box[i], fixed[i] != 0) : box[i];
        seen->kind = (uint8_t)kind;
        seen->fixed = fixed[i] != 0;
        if (kind == BOX_BOUNDED) {
            item[(*item_count)++] = (BoxItem){.box = seen->fat, .body = i, .fixed = seen->fixed};
        } else if (kind == BOX_UNBOUNDED) {
            if (!ARRAY_RESERVE(broad->unbounded, broad->unbounded_capacity,
                               (size_t)broad->unbounded_count + 1)) {
                return false;
            }
            broad->unbounded[broad->unbounded_count++] = i;
        }
    }
    return true;
}

static void add_unbounded_pairs(Broad *broad) {
    for (uint32_t k = 0; k < broad->unbounded_count; k++) {
        uint32_t u = broad->unbounded[k];
        if (patience_ends(&broad->patience, broad->count)) {
            return;
        }
        for (uint32_t i = 0; i < broad->count; i++) {
            // of two unbounded bodies the first finds the second
            bool is_partner = broad->seen[i].kind == BOX_BOUNDED ||
                              (broad->seen[i].kind == BOX_UNBOUNDED && i > u);
            if (is_partner) {
                add_unbounded_pair(broad, u, i, &broad->pairs);
            }
        }
    }
}

static bool build_all(Broad *broad, uint32_t count, const BroadBox *box, const uint8_t *fixed,
                      const Tasks *tasks, Arena *scratch) {
    BoxItem *item = arena_take_array(scratch, count, sizeof(BoxItem));
    uint32_t item_count = 0;
    if (item == NULL || !ARRAY_RESERVE(broad->seen, broad->seen_capacity, count) ||
        !remember_bodies(broad, count, box, fixed, item, &item_count) ||
        !boxtree_build(&broad->tree, item, item_count, scratch, &broad->patience)) {
        return false;
    }
    broad->count = count;
    for (uint32_t place = 0; place < item_count; place++) {
        broad->seen[broad->tree.item[place].body].place = place;
    }
    broad->pairs.count = 0;
    if (!search_all(broad, find_of_nodes, NULL, broad->tree.node_count, tasks, scratch,
                    &broad->pairs)) {
        return false;
    }
    add_unbounded_pairs(broad);
    broad->moved_count = 0;
    broad->is_known = true;
    return !broad->pairs.is_short && !broad->patience.is_over &&
           candidates_sort(&broad->pairs, count, tasks, scratch, &broad->patience);
}

// Follows those that moved, or builds all anew. False when memory or the patience ends.
static bool follow(Broad *broad, uint32_t count, const BroadBox *box, const uint8_t *fixed,
                   const Tasks *tasks, Arena *scratch) {
    // every body is looked at, and remembered where all is built anew
    if (patience_ends(&broad->patience, 2 * (size_t)count)) {
        return false;
    }
    if (!broad->is_known || broad->count != count) {
        return build_all(broad, count, box, fixed, tasks, scratch);
    }
    Movers movers = {.body = arena_take_array(scratch, count, sizeof(uint32_t))};
    if (movers.body == NULL) {
        return false;
    }
    bool is_followed = find_movers(broad, box, fixed, &movers);
    if (movers.count == 0) {
        return true;
    }
    bool is_worn = movers.count > count / REBUILD_PART || broad->moved_count > count;
    return is_followed && !is_worn ? follow_movers(broad, box, fixed, &movers, tasks, scratch)
                                   : build_all(broad, count, box, fixed, tasks, scratch);
}

Status broad_update(Broad *broad, uint32_t count, const BroadBox *box, const uint8_t *fixed,
                    Arena *scratch, const Context *context, const BroadPair **pairs,
                    size_t *pair_count) {
    ArenaMark mark = arena_mark(scratch);
    broad->patience = (Patience){.stop = context->stop};
    bool is_done = follow(broad, count, box, fixed, context->tasks, scratch);
    broad->patience.stop = NULL; // borrowed for this update only
    arena_reset_to(scratch, mark);
    if (broad->patience.is_over) {
        broad_reset(broad);
        return STATUS_ABORTED;
    }
    if (!is_done) {
        candidates_deinit(&broad->pairs);
        candidates_deinit(&broad->found);
        broad_reset(broad);
        return STATUS_RESOURCE_EXHAUSTED;
    }
    ASSERT(broad->is_known && broad->count == count);
    VALIDATE_WHOLE(broad_is_valid, broad);
    *pairs = broad->pairs.pair;
    *pair_count = broad->pairs.count;
    return STATUS_OK;
}
