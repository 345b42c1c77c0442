// SPDX-License-Identifier: MIT
// The trees of a world as they hang in it, and their numbers among its columns.
#pragma once

#include "world/tree_place.h"
#include "world/world.h"

TreeView world_tree_view(const World *world, uint32_t tree);

// The numbers of a tree, out of the columns of joints, and of its root's body where it floats; and
// back into them.
void world_tree_numbers(const World *world, const TreeView *view, double *positions,
                        double *velocities);
void world_set_tree_numbers(World *world, const TreeView *view, const double *positions,
                            const double *velocities);
