// SPDX-License-Identifier: MIT
// The trees of a world, and the columns of their bodies, which follow from the joints' numbers.
#include "world/world_trees.h"

#include <stdlib.h>
#include <string.h>

bool world_reserve_trees(World *world, size_t body_count, size_t joint_count) {
    if (world->trees == NULL && joint_count == 0) {
        return true;
    }
    if (world->trees == NULL) {
        world->trees = calloc(1, sizeof(*world->trees));
        if (world->trees == NULL) {
            return false;
        }
    }
    if (!trees_reserve(world->trees, (uint32_t)body_count, (uint32_t)joint_count)) {
        return false;
    }
    if (world->trees->body_count == 0) {
        world_build_trees(world); // they were in the room that there was
    }
    return true;
}

size_t world_tree_bytes(const World *world) {
    return world->trees == NULL ? 0 : sizeof(*world->trees) + world->trees->block_bytes;
}

void world_free_trees(World *world) {
    if (world->trees != NULL) {
        trees_deinit(world->trees);
        free(world->trees);
        world->trees = NULL;
    }
}

void world_build_trees(World *world) {
    if (world->trees == NULL) {
        return;
    }
    const TreeSource source = {world->body_count, (uint32_t)world->joint_count, world->kind,
                               world->joint};
    trees_build(world->trees, &source);
}

TreeView world_tree_view(const World *world, uint32_t tree) {
    TreeView view = tree_view(world->trees, tree, world->joint);
    if (view.tree->base != JOINT_NO_BODY) {
        const double *velocity = world->velocity + 6 * (size_t)view.tree->base;
        view.base = pose_load(world->pose + 7 * (size_t)view.tree->base);
        view.base_velocity = vec3_load(velocity);
        view.base_spin = vec3_load(velocity + 3);
    }
    return view;
}

// Where a link's own numbers stand.
static double *position_of(const World *world, const TreeLink *link) {
    return link->joint == TREE_NONE
               ? world->pose + 7 * (size_t)link->body
               : world->joint_position + world->joint[link->joint].position_first;
}

static double *velocity_of(const World *world, const TreeLink *link) {
    return link->joint == TREE_NONE ? world->velocity + 6 * (size_t)link->body
                                    : world->joint_velocity + world->joint[link->joint].axis_first;
}

void world_tree_numbers(const World *world, const TreeView *view, double *positions,
                        double *velocities) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const size_t width = tree_link_width(link);
        if (width > 0) {
            memcpy(positions + link->place, position_of(world, link),
                   tree_link_positions(link) * sizeof(double));
            memcpy(velocities + link->first, velocity_of(world, link), width * sizeof(double));
        }
    }
}

void world_set_tree_numbers(World *world, const TreeView *view, const double *positions,
                            const double *velocities) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const size_t width = tree_link_width(link);
        if (width > 0) {
            memcpy(position_of(world, link), positions + link->place,
                   tree_link_positions(link) * sizeof(double));
            memcpy(velocity_of(world, link), velocities + link->first, width * sizeof(double));
        }
    }
}

static void place_tree(World *world, uint32_t tree) {
    WorldTrees *trees = world->trees;
    const TreeView view = world_tree_view(world, tree);
    TreeFrame *frame = trees->frame;
    world_tree_numbers(world, &view, trees->position, trees->velocity);
    tree_place(&view, trees->position, frame);
    tree_move(&view, trees->velocity, frame);
    for (uint32_t i = 0; i < view.tree->link_count; i++) {
        const uint32_t body = view.link[i].body;
        if (view.link[i].joint != TREE_NONE) {
            tree_store(&frame[i], world->pose + 7 * (size_t)body,
                       world->velocity + 6 * (size_t)body);
        }
    }
}

void world_place_trees(World *world) {
    for (uint32_t tree = 0; world->trees != NULL && tree < world->trees->tree_count; tree++) {
        place_tree(world, tree);
    }
}

void world_settle_joints(World *world) {
    world_place_trees(world);
    world_follow_bodies(world);
}
