// SPDX-License-Identifier: MIT
#include "world/tree.h"

#include "base/assert.h"
#include "world/body.h"

#include <stdlib.h>
#include <string.h>

// ---- memory

// Takes the next part of a block.
static void *take(unsigned char **at, size_t count, size_t size) {
    unsigned char *part = *at;
    *at += count * size;
    return part;
}

bool trees_reserve(WorldTrees *trees, uint32_t body_count, uint32_t joint_count) {
    if (body_count <= trees->body_capacity && joint_count <= trees->joint_capacity) {
        return true;
    }
    size_t bodies = (size_t)body_count + body_count / 2,
           joints = (size_t)joint_count + joint_count / 2;
    bodies = bodies < UINT32_MAX ? bodies : body_count;
    joints = joints < UINT32_MAX ? joints : joint_count;
    const size_t bytes = bodies * (sizeof(Tree) + sizeof(TreeLink) + sizeof(TreeFrame) +
                                   13 * sizeof(double) + 5 * sizeof(uint32_t)) +
                         2 * joints * sizeof(uint32_t);
    ASSERT(bytes > 0); // as one of them is more than there was
    unsigned char *block = malloc(bytes);
    if (block == NULL) {
        return false;
    }
    trees_deinit(trees);
    *trees = (WorldTrees){.block = block,
                          .block_bytes = bytes,
                          .body_capacity = (uint32_t)bodies,
                          .joint_capacity = (uint32_t)joints};
    trees->frame = take(&block, bodies, sizeof(TreeFrame)); // the widest first
    trees->position = take(&block, bodies, 7 * sizeof(double));
    trees->velocity = take(&block, bodies, 6 * sizeof(double));
    trees->tree = take(&block, bodies, sizeof(Tree));
    trees->link = take(&block, bodies, sizeof(TreeLink));
    trees->tree_of_body = take(&block, bodies, sizeof(uint32_t));
    trees->link_of_body = take(&block, bodies, sizeof(uint32_t));
    trees->joint_of_body = take(&block, bodies, sizeof(uint32_t));
    trees->child_of_body = take(&block, bodies, sizeof(uint32_t));
    trees->barred_of_body = take(&block, bodies, sizeof(uint32_t));
    trees->barred_of_joint = take(&block, joints, sizeof(uint32_t));
    trees->sibling_of_joint = take(&block, joints, sizeof(uint32_t));
    return true;
}

void trees_deinit(WorldTrees *trees) {
    free(trees->block);
    *trees = (WorldTrees){0};
}

// ---- who hangs on whom

static bool is_dynamic(const TreeSource *source, uint32_t body) {
    return body != JOINT_NO_BODY && source->kind[body] == BODY_DYNAMIC;
}

// The joint that each body hangs by, and those that hang on it: the first, and each one's next.
static void list_children(WorldTrees *trees, const TreeSource *source) {
    for (uint32_t body = 0; body < source->body_count; body++) {
        trees->tree_of_body[body] = trees->link_of_body[body] = TREE_NONE;
        trees->joint_of_body[body] = trees->child_of_body[body] = TREE_NONE;
    }
    for (uint32_t j = source->joint_count; j-- > 0;) { // the last one first, so lists rise
        const Joint *joint = &source->joint[j];
        if (joint->is_rows) {
            continue;
        }
        ASSERT(is_dynamic(source, joint->body[1]));
        ASSERT(trees->joint_of_body[joint->body[1]] == TREE_NONE);
        trees->joint_of_body[joint->body[1]] = j;
        if (is_dynamic(source, joint->body[0])) {
            trees->sibling_of_joint[j] = trees->child_of_body[joint->body[0]];
            trees->child_of_body[joint->body[0]] = j;
        }
    }
}

// ---- who does not touch whom

static void list_barred(WorldTrees *trees, const TreeSource *source) {
    trees->barred_count = 0;
    for (uint32_t body = 0; body < source->body_count; body++) {
        trees->barred_of_body[body] = TREE_NONE;
    }
    for (uint32_t j = 0; j < source->joint_count; j++) {
        const uint32_t a = source->joint[j].body[0], b = source->joint[j].body[1];
        if (a == JOINT_NO_BODY || b == JOINT_NO_BODY || source->joint[j].collides) {
            continue;
        }
        const uint32_t lower = a < b ? a : b;
        trees->barred_of_joint[j] = trees->barred_of_body[lower];
        trees->barred_of_body[lower] = j;
        trees->barred_count++;
    }
}

bool trees_bar(const WorldTrees *trees, const Joint *joint, uint32_t a, uint32_t b) {
    if (trees == NULL || trees->barred_count == 0 || a >= trees->body_count) {
        return false;
    }
    uint32_t j = trees->barred_of_body[a];
    while (j != TREE_NONE && joint[j].body[0] != b && joint[j].body[1] != b) {
        j = trees->barred_of_joint[j];
    }
    return j != TREE_NONE;
}

// ---- one after the other

static void fill_axes(TreeLink *link, uint8_t axes) {
    uint32_t count = 0;
    link->axes = axes;
    for (uint32_t axis = 0; axis < JOINT_AXES_MAX; axis++) {
        if ((axes >> axis & 1) != 0) {
            link->axis[count++] = (uint8_t)(axis % 3);
            link->moves = (uint8_t)(link->moves + (axis < 3));
            link->turns = (uint8_t)(link->turns + (axis >= 3));
        }
    }
}

// The next link of a tree, behind those that it has.
static void add_link(WorldTrees *trees, const TreeSource *source, Tree *tree, uint32_t body,
                     uint32_t parent) {
    const uint32_t joint = trees->joint_of_body[body];
    TreeLink *link = &trees->link[trees->link_count++];
    *link = (TreeLink){.body = body,
                       .joint = joint,
                       .parent = parent,
                       .first = tree->width,
                       .place = tree->position_count};
    fill_axes(link, joint == TREE_NONE ? JOINT_MOVES | JOINT_TURNS : source->joint[joint].axes);
    trees->tree_of_body[body] = trees->tree_count;
    trees->link_of_body[body] = tree->link_count++;
    tree->width += tree_link_width(link);
    tree->position_count += tree_link_positions(link);
}

// Children before siblings; what was followed is taken off the lists.
static void grow(WorldTrees *trees, const TreeSource *source, Tree *tree) {
    TreeLink *link = trees->link + tree->link_first;
    uint32_t at = 0;
    while (at != TREE_NONE) {
        uint32_t *joint = &trees->child_of_body[link[at].body];
        if (*joint == TREE_NONE) {
            link[at].end = tree->link_count;
            at = link[at].parent;
            continue;
        }
        const uint32_t child = source->joint[*joint].body[1];
        *joint = trees->sibling_of_joint[*joint];
        add_link(trees, source, tree, child, at);
        at = tree->link_count - 1;
    }
}

void trees_build(WorldTrees *trees, const TreeSource *source) {
    ASSERT(source->body_count <= trees->body_capacity);
    ASSERT(source->joint_count <= trees->joint_capacity);
    trees->tree_count = trees->link_count = 0;
    trees->body_count = source->body_count;
    list_children(trees, source);
    list_barred(trees, source);
    for (uint32_t body = 0; body < source->body_count; body++) {
        const uint32_t joint = trees->joint_of_body[body];
        const uint32_t above = joint == TREE_NONE ? JOINT_NO_BODY : source->joint[joint].body[0];
        const bool is_joined = joint != TREE_NONE || trees->child_of_body[body] != TREE_NONE;
        if (!is_joined || is_dynamic(source, above)) {
            continue; // of no tree, or of one whose root it is not
        }
        Tree *tree = &trees->tree[trees->tree_count];
        *tree = (Tree){.link_first = trees->link_count, .base = above};
        add_link(trees, source, tree, body, TREE_NONE);
        grow(trees, source, tree);
        trees->tree_count++;
    }
}
