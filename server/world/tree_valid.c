// SPDX-License-Identifier: MIT
#include "world/world_valid.h"

// The room that is kept for them, so that adding and removing need none.
static bool has_room(const World *world, const WorldTrees *trees, Defect *defect) {
    if (trees->body_capacity < world->body_count || trees->joint_capacity < world->joint_count) {
        return defect_set(defect, "tree", trees->tree_count,
                          "trees have no room for all bodies and joints that there are");
    }
    return trees->body_count <= world->body_count ||
           defect_set(defect, "tree", trees->tree_count, "trees know bodies that are gone");
}

static bool link_is_valid(const World *world, uint32_t t, uint32_t i, Defect *defect) {
    const WorldTrees *trees = world->trees;
    const Tree *tree = &trees->tree[t];
    const TreeLink *link = &trees->link[tree->link_first + i];
    const size_t at = tree->link_first + i;
    if (link->body >= trees->body_count || world->kind[link->body] != BODY_DYNAMIC) {
        return defect_set(defect, "tree link", at, "its body does not exist, or is not dynamic");
    }
    if (trees->tree_of_body[link->body] != t || trees->link_of_body[link->body] != i) {
        return defect_set(defect, "tree link", at, "its body is said to be another link");
    }
    if ((i == 0) != (link->parent == TREE_NONE) || (i > 0 && link->parent >= i) || link->end <= i ||
        link->end > tree->link_count) {
        return defect_set(defect, "tree link", at, "it does not stand behind its parent");
    }
    if (link->joint == TREE_NONE) {
        return i == 0 || defect_set(defect, "tree link", at, "it hangs by no joint");
    }
    if (link->joint >= world->joint_count || world->joint[link->joint].is_rows ||
        world->joint[link->joint].body[1] != link->body ||
        world->joint[link->joint].axes != link->axes) {
        return defect_set(defect, "tree link", at, "its joint is not the one that it hangs by");
    }
    return true;
}

static bool tree_is_valid(const World *world, uint32_t t, uint32_t link_first, Defect *defect) {
    const Tree *tree = &world->trees->tree[t];
    if (tree->link_first != link_first || tree->link_count == 0) {
        return defect_set(defect, "tree", t, "its links do not follow the last one's");
    }
    if (tree->base != JOINT_NO_BODY &&
        (tree->base >= world->body_count || world->kind[tree->base] == BODY_DYNAMIC)) {
        return defect_set(defect, "tree", t, "what it hangs on does not exist, or is dynamic");
    }
    uint32_t width = 0, positions = 0;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        if (!link_is_valid(world, t, i, defect)) {
            return false;
        }
        const TreeLink *link = &world->trees->link[link_first + i];
        if (link->first != width || link->place != positions) {
            return defect_set(defect, "tree link", link_first + i, "its numbers are not its own");
        }
        width += tree_link_width(link);
        positions += tree_link_positions(link);
    }
    return (width == tree->width && positions == tree->position_count) ||
           defect_set(defect, "tree", t, "it has more or fewer numbers than its links");
}

// Every joint of coordinates holds a link.
static bool joints_hold_links(const World *world, Defect *defect) {
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (!joint->is_rows && tree_of_body(world->trees, joint->body[1]) == TREE_NONE) {
            return defect_set(defect, "joint", i, "it is of coordinates, and its body of no tree");
        }
    }
    return true;
}

bool world_trees_are_valid(const World *world, Defect *defect) {
    const WorldTrees *trees = world->trees;
    if (trees == NULL) {
        return world->joint_count == 0 ||
               defect_set(defect, "tree", 0, "there are joints, and no trees");
    }
    if (!has_room(world, trees, defect)) {
        return false;
    }
    uint32_t links = 0;
    for (uint32_t t = 0; t < trees->tree_count; t++) {
        if (!tree_is_valid(world, t, links, defect)) {
            return false;
        }
        links += trees->tree[t].link_count;
    }
    for (uint32_t body = 0; body < trees->body_count; body++) {
        const uint32_t tree = trees->tree_of_body[body];
        if (tree != TREE_NONE && tree >= trees->tree_count) {
            return defect_set(defect, "body", body, "it is of a tree that does not exist");
        }
    }
    return (links == trees->link_count ||
            defect_set(defect, "tree link", links, "it is of no tree")) &&
           joints_hold_links(world, defect);
}
