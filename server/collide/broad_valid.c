// SPDX-License-Identifier: MIT
#include "collide/broad_valid.h"

#include "collide/broad_parts.h"

static bool is_same_box(const BroadBox *a, const BroadBox *b) {
    return a->lower.x == b->lower.x && a->lower.y == b->lower.y && a->lower.z == b->lower.z &&
           a->upper.x == b->upper.x && a->upper.y == b->upper.y && a->upper.z == b->upper.z;
}

static bool holds(const BroadBox *outer, const BroadBox *inner) {
    return outer->lower.x <= inner->lower.x && outer->lower.y <= inner->lower.y &&
           outer->lower.z <= inner->lower.z && outer->upper.x >= inner->upper.x &&
           outer->upper.y >= inner->upper.y && outer->upper.z >= inner->upper.z;
}

static bool body_is_valid(const Broad *broad, uint32_t body, Defect *defect) {
    const Seen *seen = &broad->seen[body];
    if (seen->kind > BOX_UNBOUNDED) {
        return defect_set(defect, "body", body, "its box is of no kind");
    }
    if (seen->kind != BOX_BOUNDED) {
        return true;
    }
    if (seen->place >= broad->tree.item_count || broad->tree.item[seen->place].body != body) {
        return defect_set(defect, "body", body, "it is not at its place in the tree");
    }
    const BoxItem *item = &broad->tree.item[seen->place];
    if (!boxtree_is_box(&seen->fat) || !is_same_box(&item->box, &seen->fat)) {
        return defect_set(defect, "body", body, "the tree has another box of it");
    }
    return item->fixed == seen->fixed ||
           defect_set(defect, "body", body, "the tree and the list differ on whether it is fixed");
}

static bool bodies_are_valid(const Broad *broad, Defect *defect) {
    uint32_t bounded = 0, unbounded = 0;
    for (uint32_t i = 0; i < broad->count; i++) {
        if (!body_is_valid(broad, i, defect)) {
            return false;
        }
        bounded += broad->seen[i].kind == BOX_BOUNDED;
        unbounded += broad->seen[i].kind == BOX_UNBOUNDED;
    }
    if (bounded != broad->tree.item_count || unbounded != broad->unbounded_count) {
        return defect_set(defect, "body", broad->count, "tree and list hold more bodies, or fewer");
    }
    for (uint32_t k = 0; k < broad->unbounded_count; k++) {
        const uint32_t body = broad->unbounded[k];
        if (body >= broad->count || broad->seen[body].kind != BOX_UNBOUNDED ||
            (k > 0 && body <= broad->unbounded[k - 1])) {
            return defect_set(defect, "body", body, "it is no body without bounds, or is twice");
        }
    }
    return true;
}

static bool leaf_is_valid(const BoxTree *tree, uint32_t index, Defect *defect) {
    const BoxNode *node = &tree->node[index];
    if (node->leaf_count > BOXTREE_LEAF_MAX || node->first > tree->item_count ||
        node->leaf_count > tree->item_count - node->first || node->skip != index + 1) {
        return defect_set(defect, "node", index, "its items are none of the tree's");
    }
    for (uint32_t i = node->first; i < node->first + node->leaf_count; i++) {
        if (tree->item[i].leaf != index || !holds(&node->box, &tree->item[i].box)) {
            return defect_set(defect, "node", index, "it does not hold an item's box");
        }
    }
    return true;
}

static bool tree_is_valid(const BoxTree *tree, Defect *defect) {
    uint32_t items = 0;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const BoxNode *node = &tree->node[i];
        if (node->skip <= i || node->skip > tree->node_count ||
            (i == 0 ? node->parent != 0 : node->parent >= i)) {
            return defect_set(defect, "node", i, "it is not where its tree is");
        }
        if (!holds(&tree->node[node->parent].box, &node->box)) {
            return defect_set(defect, "node", i, "its parent does not hold its box");
        }
        if (node->leaf_count > 0 && !leaf_is_valid(tree, i, defect)) {
            return false;
        }
        items += node->leaf_count;
    }
    return items == tree->item_count ||
           defect_set(defect, "node", tree->node_count, "the leaves hold more items, or fewer");
}

bool broad_is_valid(const Broad *broad, Defect *defect) {
    if (broad->patience.stop != NULL) {
        return defect_set(defect, "broad phase", 0, "it keeps what it had borrowed");
    }
    if (!broad->is_known) {
        return (broad->count == 0 && broad->pairs.count == 0) ||
               defect_set(defect, "broad phase", 0, "it forgot, and has candidates");
    }
    return bodies_are_valid(broad, defect) && tree_is_valid(&broad->tree, defect) &&
           (candidates_are_sorted(&broad->pairs, broad->count) ||
            defect_set(defect, "candidates", broad->pairs.count, "they are not in order"));
}
