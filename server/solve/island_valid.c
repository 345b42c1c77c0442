// SPDX-License-Identifier: MIT
#include "solve/island_valid.h"

// The islands that a list of one kind tells, of things whose own island `of` tells.
typedef struct IslandList {
    const char *thing;
    const uint32_t *first, *item;
    uint32_t count; // of things; those of no island stand behind
    uint32_t (*of)(const ContactProblem *problem, const uint32_t *of_tree, uint32_t item);
} IslandList;

static uint32_t of_tree(const ContactProblem *problem, const uint32_t *of_tree, uint32_t tree) {
    (void)problem;
    return of_tree[tree];
}

static bool list_is_valid(const ContactProblem *problem, const Islands *islands,
                          const IslandList *list, Defect *defect) {
    uint32_t of_none = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        of_none += list->of(problem, islands->of_tree, i) == PROBLEM_NO_TREE;
    }
    if (list->first[0] != 0 || list->first[islands->count] != list->count - of_none) {
        return defect_set(defect, list->thing, list->count, "some are on no island, or on two");
    }
    for (uint32_t island = 0; island < islands->count; island++) {
        for (uint32_t k = list->first[island]; k < list->first[island + 1]; k++) {
            const uint32_t item = list->item[k];
            if (item >= list->count || list->of(problem, islands->of_tree, item) != island) {
                return defect_set(defect, list->thing, item, "it is listed on another's island");
            }
            if (k > list->first[island] && item <= list->item[k - 1]) {
                return defect_set(defect, list->thing, item, "it is listed twice, or too late");
            }
        }
    }
    return true;
}

// All trees of a contact, or of a row, are on its island.
static bool joins_are_valid(const ContactProblem *problem, const Islands *islands, Defect *defect) {
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactSide *side = problem->contact[i].side;
        if (side[0].tree != PROBLEM_NO_TREE && side[1].tree != PROBLEM_NO_TREE &&
            islands->of_tree[side[0].tree] != islands->of_tree[side[1].tree]) {
            return defect_set(defect, "contact", i, "its two trees are on two islands");
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        for (uint32_t b = 1; b < row->block_count; b++) {
            const RowBlock *block = &problem->row_block[row->block_first + b];
            if (islands->of_tree[block->tree] != islands->of_tree[block[-1].tree]) {
                return defect_set(defect, "row", i, "its trees are on two islands");
            }
        }
    }
    return true;
}

static bool shares_are_valid(const Islands *islands, Defect *defect) {
    uint32_t trees = 0, contacts = 0;
    for (uint32_t i = 0; i < islands->share_count; i++) {
        const IslandShare *share = &islands->share[i];
        if (share->island_begin >= share->island_end || share->island_end > islands->count) {
            return defect_set(defect, "share", i, "its islands do not exist");
        }
        if (share->range.tree_begin != trees || share->range.contact_begin != contacts) {
            return defect_set(defect, "share", i, "it does not begin where the last one ends");
        }
        trees = share->range.tree_end;
        contacts = share->range.contact_end;
    }
    return (trees == islands->tree_first[islands->count] &&
            contacts == islands->contact_first[islands->count]) ||
           defect_set(defect, "share", islands->share_count, "the last ones leave something out");
}

bool islands_are_valid(const ContactProblem *problem, const Islands *islands, Defect *defect) {
    for (uint32_t tree = 0; tree < problem->tree_count; tree++) {
        if (islands->of_tree[tree] >= islands->count) {
            return defect_set(defect, "tree", tree, "it is on an island that does not exist");
        }
    }
    const IslandList lists[] = {
        {"tree", islands->tree_first, islands->tree, problem->tree_count, of_tree},
        {"contact", islands->contact_first, islands->contact, problem->contact_count,
         islands_of_contact},
        {"row", islands->row_first, islands->row, problem->row_count, islands_of_row}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (!list_is_valid(problem, islands, &lists[i], defect)) {
            return false;
        }
    }
    return joins_are_valid(problem, islands, defect) && shares_are_valid(islands, defect);
}
