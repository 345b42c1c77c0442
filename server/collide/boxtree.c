// SPDX-License-Identifier: MIT
#include "collide/boxtree.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

// Items whose longest edge exceeds this part of the room are set aside, if they differ in size at
// all and are the fewer.
static const double large_part = 0.25;
static const double large_ratio = 4.0;

void boxtree_deinit(BoxTree *tree) {
    free(tree->node);
    free(tree->item);
    *tree = (BoxTree){0};
}

size_t boxtree_bytes(const BoxTree *tree) {
    return tree->node_capacity * sizeof(BoxNode) + tree->item_capacity * sizeof(BoxItem);
}

// what the build sorts
typedef struct BoxKey {
    double center[3];
    float size;    // longest edge
    uint32_t item; // as handed in
} BoxKey;

static BoxKey key_of(const BroadBox *box, uint32_t item) {
    // halves first: the sum of two large coordinates may overflow
    Vec3 c = vec3_add(vec3_scale(0.5, box->lower), vec3_scale(0.5, box->upper));
    Vec3 d = vec3_sub(box->upper, box->lower);
    double size = d.x > d.y ? d.x : d.y;
    size = size > d.z ? size : d.z;
    return (BoxKey){.center = {c.x, c.y, c.z}, .size = (float)size, .item = item};
}

// The room that the centres of some keys occupy, along its longest axis, and their sizes.
typedef struct Room {
    int axis;
    double lower, upper;
    float size_min, size_max;
} Room;

static Room measure_room(const BoxKey *key, uint32_t count) {
    ASSERT(count > 0);
    double lower[3], upper[3];
    Room room = {.size_min = key[0].size, .size_max = key[0].size};
    for (int axis = 0; axis < 3; axis++) {
        lower[axis] = upper[axis] = key[0].center[axis];
    }
    for (uint32_t i = 1; i < count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double c = key[i].center[axis];
            lower[axis] = c < lower[axis] ? c : lower[axis];
            upper[axis] = c > upper[axis] ? c : upper[axis];
        }
        room.size_min = key[i].size < room.size_min ? key[i].size : room.size_min;
        room.size_max = key[i].size > room.size_max ? key[i].size : room.size_max;
    }
    for (int axis = 1; axis < 3; axis++) {
        if (upper[axis] - lower[axis] > upper[room.axis] - lower[room.axis]) {
            room.axis = axis;
        }
    }
    room.lower = lower[room.axis];
    room.upper = upper[room.axis];
    return room;
}

static void swap_keys(BoxKey *a, BoxKey *b) {
    BoxKey held = *a;
    *a = *b;
    *b = held;
}

// Those below `middle` first; returns how many they are.
static uint32_t part_at(BoxKey *key, uint32_t count, int axis, double middle) {
    uint32_t low = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (key[i].center[axis] < middle) {
            swap_keys(&key[i], &key[low++]);
        }
    }
    return low;
}

// The large ones last; returns how many the others are.
static uint32_t part_large(BoxKey *key, uint32_t count, double size) {
    uint32_t low = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!((double)key[i].size > size)) {
            swap_keys(&key[i], &key[low++]);
        }
    }
    return low;
}

// A number that no pattern in the data follows, so that no order of the bodies makes the selection
// below slow.
static uint32_t scatter(uint32_t number) {
    uint64_t x = (number + 1u) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32);
}

// Hoare's selection: afterwards nothing before the middle is above anything from the middle on.
static uint32_t part_at_median(BoxKey *key, uint32_t count, int axis, Patience *patience) {
    ASSERT(axis >= 0 && axis < 3);
    uint32_t middle = count / 2;
    int64_t first = 0, last = (int64_t)count - 1;
    for (uint32_t round = 0; first < last && !patience_ends(patience, (size_t)(last - first));
         round++) {
        int64_t chosen = first + (int64_t)(scatter(round ^ count) % (uint64_t)(last - first + 1));
        double pivot = key[chosen].center[axis];
        int64_t i = first, j = last;
        while (i <= j) {
            while (key[i].center[axis] < pivot) {
                i++;
            }
            while (key[j].center[axis] > pivot) {
                j--;
            }
            if (i <= j) {
                swap_keys(&key[i++], &key[j--]);
            }
        }
        if ((int64_t)middle <= j) {
            last = j;
        } else if ((int64_t)middle >= i) {
            first = i;
        } else {
            break;
        }
    }
    return middle;
}

// Where to part `count` keys, 0 < result < count. `*is_aside` tells whether the last split set the
// large ones aside: never twice in a row, so that every second level at least divides the number.
// Anywhere once the patience has ended.
static uint32_t part_keys(BoxKey *key, uint32_t count, bool *is_aside, Patience *patience) {
    ASSERT(count > BOXTREE_LEAF_MAX);
    Room room = measure_room(key, count);
    double width = room.upper - room.lower;
    if (!*is_aside && (double)room.size_max > large_part * width &&
        (double)room.size_max > large_ratio * (double)room.size_min &&
        !patience_ends(patience, count)) {
        uint32_t small_count = part_large(key, count, large_part * width);
        if (small_count < count && small_count >= count / 2 && small_count > 0) {
            *is_aside = true;
            return small_count;
        }
    }
    *is_aside = false;
    if (patience_ends(patience, count)) {
        return count / 2;
    }
    uint32_t low = part_at(key, count, room.axis, 0.5 * room.lower + 0.5 * room.upper);
    uint32_t fewest = count / 8 + 1;
    return low >= fewest && count - low >= fewest ? low
                                                  : part_at_median(key, count, room.axis, patience);
}

static void join_boxes(BroadBox *box, const BroadBox *other) {
    box->lower.x = other->lower.x < box->lower.x ? other->lower.x : box->lower.x;
    box->lower.y = other->lower.y < box->lower.y ? other->lower.y : box->lower.y;
    box->lower.z = other->lower.z < box->lower.z ? other->lower.z : box->lower.z;
    box->upper.x = other->upper.x > box->upper.x ? other->upper.x : box->upper.x;
    box->upper.y = other->upper.y > box->upper.y ? other->upper.y : box->upper.y;
    box->upper.z = other->upper.z > box->upper.z ? other->upper.z : box->upper.z;
}

// `node` is the first of them all, `item` of all items.
static void fit_node(BoxNode *node, const BoxItem *item, uint32_t index) {
    BoxNode *fitted = &node[index];
    if (fitted->leaf_count == 0) {
        const BoxNode *left = &node[index + 1];
        fitted->box = left->box;
        join_boxes(&fitted->box, &node[left->skip].box);
        return;
    }
    fitted->box = item[fitted->first].box;
    for (uint32_t i = 1; i < fitted->leaf_count; i++) {
        join_boxes(&fitted->box, &item[fitted->first + i].box);
    }
}

// A build under way.
typedef struct Build {
    const BoxItem *fresh;
    BoxKey *key;
    BoxItem *item; // the tree's
    BoxNode *node;
    uint32_t node_count;
    Patience *patience;
} Build;

// The node over the keys [first, first + count) and all below it; nothing more once the patience
// has ended. Recursion is as deep as the tree: O(log n).
static void build_node(Build *build, uint32_t first, uint32_t count, uint32_t parent,
                       bool is_aside) {
    ASSERT(count > 0);
    ASSERT(parent <= build->node_count);
    uint32_t index = build->node_count++;
    BoxNode *node = &build->node[index];
    *node = (BoxNode){.parent = parent, .first = first};
    if (patience_ends(build->patience, count)) {
        return;
    }
    if (count <= BOXTREE_LEAF_MAX) {
        node->leaf_count = count;
        for (uint32_t i = first; i < first + count; i++) {
            build->item[i] = build->fresh[build->key[i].item];
            build->item[i].leaf = index;
        }
    } else {
        uint32_t low = part_keys(build->key + first, count, &is_aside, build->patience);
        ASSERT(low > 0 && low < count);
        build_node(build, first, low, index, is_aside);
        build_node(build, first + low, count - low, index, is_aside);
    }
    node->skip = build->node_count;
    fit_node(build->node, build->item, index);
}

bool boxtree_build(BoxTree *tree, const BoxItem *fresh, uint32_t count, Arena *scratch,
                   Patience *patience) {
    tree->node_count = 0;
    tree->item_count = 0;
    // a binary tree whose leaves hold one item at least, and mostly several: the nodes that there
    // are in the end are copied, as the tree keeps them as long as its world lives
    size_t nodes_max = count <= BOXTREE_LEAF_MAX ? 1 : 2 * (size_t)count;
    ArenaMark mark = arena_mark(scratch);
    Build build = {.fresh = fresh,
                   .patience = patience,
                   .key = arena_take_array(scratch, count, sizeof(BoxKey)),
                   .node = arena_take_array(scratch, nodes_max, sizeof(BoxNode))};
    bool is_done = build.key != NULL && build.node != NULL &&
                   ARRAY_RESERVE(tree->item, tree->item_capacity, count);
    build.item = tree->item;
    for (uint32_t i = 0; is_done && i < count; i++) {
        build.key[i] = key_of(&fresh[i].box, i);
    }
    if (is_done && count > 0) {
        build_node(&build, 0, count, 0, false);
        is_done =
            !patience->is_over && ARRAY_RESERVE(tree->node, tree->node_capacity, build.node_count);
    }
    if (is_done && count > 0) {
        memcpy(tree->node, build.node, build.node_count * sizeof(BoxNode));
        tree->node_count = build.node_count;
        tree->item_count = count;
    }
    arena_reset_to(scratch, mark);
    return is_done;
}

void boxtree_move(BoxTree *tree, uint32_t place, const BroadBox *box) {
    ASSERT(place < tree->item_count);
    ASSERT(boxtree_is_box(box));
    tree->item[place].box = *box;
    uint32_t index = tree->item[place].leaf;
    fit_node(tree->node, tree->item, index);
    while (index != 0) {
        index = tree->node[index].parent;
        fit_node(tree->node, tree->item, index);
    }
}

static void add_met(const BoxItem *item, const BoxItem *others, uint32_t count, Candidates *found) {
    for (uint32_t i = 0; i < count; i++) {
        if (boxtree_meet(&item->box, &others[i].box) && !(item->fixed & others[i].fixed)) {
            candidates_add(found, item->body, others[i].body);
        }
    }
}

// The pairs inside a leaf, and of its items with those of all leaves that come after it.
static void add_leaf_pairs(const BoxTree *tree, uint32_t leaf, Candidates *found,
                           Patience *patience) {
    ASSERT(tree->node[leaf].leaf_count <= BOXTREE_LEAF_MAX);
    const BoxNode *own = &tree->node[leaf];
    const BoxItem *item = tree->item + own->first;
    for (uint32_t i = 0; i + 1 < own->leaf_count; i++) {
        add_met(&item[i], &item[i + 1], own->leaf_count - i - 1, found);
    }
    for (uint32_t index = leaf + 1; index < tree->node_count;) {
        const BoxNode *node = &tree->node[index];
        if (patience_ends(patience, 1 + (size_t)node->leaf_count * own->leaf_count)) {
            return;
        }
        if (!boxtree_meet(&own->box, &node->box)) {
            index = node->skip;
            continue;
        }
        for (uint32_t i = 0; node->leaf_count > 0 && i < own->leaf_count; i++) {
            if (boxtree_meet(&item[i].box, &node->box)) {
                add_met(&item[i], tree->item + node->first, node->leaf_count, found);
            }
        }
        index++;
    }
}

void boxtree_pairs(const BoxTree *tree, uint32_t first, uint32_t end, Candidates *found,
                   Patience *patience) {
    ASSERT(first <= end && end <= tree->node_count);
    for (uint32_t index = first; index < end && !patience->is_over; index++) {
        if (tree->node[index].leaf_count > 0) {
            add_leaf_pairs(tree, index, found, patience);
        }
    }
}

void boxtree_search(const BoxTree *tree, uint32_t place, Candidates *found, Patience *patience) {
    ASSERT(place < tree->item_count);
    ASSERT(tree->item[place].leaf < tree->node_count);
    const BoxItem *item = &tree->item[place];
    for (uint32_t index = 0; index < tree->node_count;) {
        const BoxNode *node = &tree->node[index];
        if (patience_ends(patience, 1 + node->leaf_count)) {
            return;
        }
        if (!boxtree_meet(&item->box, &node->box)) {
            index = node->skip;
            continue;
        }
        const BoxItem *others = tree->item + node->first;
        uint32_t before = 0;
        if (node->leaf_count > 0 && item->leaf == index) {
            before = place - node->first; // it does not meet itself
            add_met(item, others, before, found);
            before++;
        }
        if (node->leaf_count > 0) {
            add_met(item, others + before, node->leaf_count - before, found);
        }
        index++;
    }
}
