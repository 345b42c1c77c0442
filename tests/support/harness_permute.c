// SPDX-License-Identifier: MIT
#include "support/harness_permute.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void *take(Arena *arena, size_t count, size_t size) {
    void *piece = arena_take_zeroed(arena, count, size);
    ck_assert_ptr_nonnull(piece);
    return piece;
}

// ---- a new order

typedef struct Place {
    double key;
    uint32_t index;
} Place;

static int compare_places(const void *a, const void *b) {
    const Place *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

// `joint` is Nullable: whether item i stays behind item i - 1.
static uint32_t *shuffle(uint32_t count, const bool *joint, uint64_t *state, Arena *arena) {
    Place *place = take(arena, count, sizeof(*place));
    uint32_t *to = take(arena, count, sizeof(*to));
    for (uint32_t i = 0; i < count; i++) {
        bool follows = i > 0 && joint != NULL && joint[i];
        place[i] = (Place){follows ? place[i - 1].key : problem_build_random(state), i};
    }
    qsort(place, count, sizeof(*place), compare_places);
    for (uint32_t i = 0; i < count; i++) {
        to[place[i].index] = i;
    }
    return to;
}

// ---- trees

static void permute_trees(const ContactProblem *from, Arena *arena, HarnessPermutation *to) {
    ProblemTree *tree = take(arena, from->tree_count, sizeof(*tree));
    FreeMass *body = from->free == NULL ? NULL : take(arena, from->tree_count, sizeof(*body));
    double *v_free = take(arena, from->velocity_count, sizeof(*v_free));
    for (uint32_t i = 0; i < from->tree_count; i++) {
        tree[to->tree_to[i]] = from->tree[i];
        if (body != NULL) {
            body[to->tree_to[i]] = from->free[i];
        }
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < from->tree_count; i++) {
        tree[i].first = first;
        first += tree[i].width;
    }
    for (uint32_t i = 0; i < from->tree_count; i++) {
        const ProblemTree *old = &from->tree[i];
        memcpy(v_free + tree[to->tree_to[i]].first, from->v_free + old->first,
               old->width * sizeof(double));
    }
    to->problem.tree = tree;
    to->problem.free = body;
    to->problem.v_free = v_free;
}

// ---- contacts

static uint32_t moved_tree(const HarnessPermutation *to, uint32_t tree) {
    return tree == PROBLEM_NO_TREE ? tree : to->tree_to[tree];
}

// A Jacobian of its own, with the second tangent's row turned round.
static uint32_t mirror_jacobian(const ContactProblem *from, const ContactSide *side,
                                HarnessPermutation *to) {
    double *number = (double *)(uintptr_t)to->problem.number + to->problem.number_count;
    size_t width = from->tree[side->tree].width;
    memcpy(number, from->number + side->jacobian, 3 * width * sizeof(double));
    for (size_t k = 2 * width; k < 3 * width; k++) {
        number[k] = -number[k];
    }
    uint32_t offset = (uint32_t)to->problem.number_count;
    to->problem.number_count += 3 * width;
    return offset;
}

static void swap_sides(const ContactProblem *from, HarnessPermutation *to, ProblemContact *c,
                       ContactLaw *law) {
    const ContactSide a = c->side[0];
    c->side[0] = c->side[1];
    c->side[1] = a;
    c->normal = vec3_neg(c->normal);
    c->tangent[0] = vec3_neg(c->tangent[0]);
    c->motion[2] = -c->motion[2];
    law->gdot[2] = -law->gdot[2];
    for (int s = 0; s < 2; s++) {
        ContactSide *side = &c->side[s];
        if (side->tree != PROBLEM_NO_TREE && !from->tree[side->tree].is_free) {
            side->jacobian = mirror_jacobian(from, side, to);
        }
    }
}

static void permute_contacts(const ContactProblem *from, uint64_t *state, Arena *arena,
                             HarnessPermutation *to) {
    ProblemContact *contact = take(arena, from->contact_count, sizeof(*contact));
    ContactLaw *law = take(arena, from->contact_count, sizeof(*law));
    double *warm =
        from->warm_contact == NULL ? NULL : take(arena, from->contact_count, 3 * sizeof(*warm));
    for (uint32_t i = 0; i < from->contact_count; i++) {
        uint32_t at = to->contact_to[i];
        contact[at] = from->contact[i];
        law[at] = from->law[i];
        to->is_swapped[i] = problem_build_random(state) < 0.0;
        if (to->is_swapped[i]) {
            swap_sides(from, to, &contact[at], &law[at]);
        }
        for (int s = 0; s < 2; s++) {
            contact[at].side[s].tree = moved_tree(to, contact[at].side[s].tree);
        }
        if (warm != NULL) {
            memcpy(warm + 3 * (size_t)at, from->warm_contact + 3 * (size_t)i, 3 * sizeof(*warm));
            warm[3 * (size_t)at + 2] *= to->is_swapped[i] ? -1.0 : 1.0;
        }
    }
    to->problem.contact = contact;
    to->problem.law = law;
    to->problem.warm_contact = warm;
}

// ---- rows

static void permute_rows(const ContactProblem *from, Arena *arena, HarnessPermutation *to) {
    ProblemRow *row = take(arena, from->row_count, sizeof(*row));
    RowBlock *block = take(arena, from->row_block_count, sizeof(*block));
    double *warm = from->warm_row == NULL ? NULL : take(arena, from->row_count, sizeof(*warm));
    for (uint32_t i = 0; i < from->row_count; i++) {
        row[to->row_to[i]] = from->row[i];
        if (warm != NULL) {
            warm[to->row_to[i]] = from->warm_row[i];
        }
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < from->row_count; i++) {
        const RowBlock *old = from->row_block + row[i].block_first;
        for (uint32_t b = 0; b < row[i].block_count; b++) { // the last one first
            block[first + b] = old[row[i].block_count - 1 - b];
            block[first + b].tree = to->tree_to[block[first + b].tree];
        }
        row[i].block_first = first;
        first += row[i].block_count;
    }
    to->problem.row = row;
    to->problem.row_block = block;
    to->problem.warm_row = warm;
}

void harness_permute(const ContactProblem *from, uint64_t *state, Arena *arena,
                     HarnessPermutation *to) {
    *to = (HarnessPermutation){.problem = *from};
    bool *joint = take(arena, from->row_count, sizeof(*joint));
    for (uint32_t i = 1; i < from->row_count; i++) {
        joint[i] = from->row[i].group != 0 && from->row[i].group == from->row[i - 1].group;
    }
    to->tree_to = shuffle(from->tree_count, NULL, state, arena);
    to->contact_to = shuffle(from->contact_count, NULL, state, arena);
    to->row_to = shuffle(from->row_count, joint, state, arena);
    to->is_swapped = take(arena, from->contact_count, sizeof(*to->is_swapped));
    // mirrored Jacobians follow: two for each contact at most
    size_t widest = 0;
    for (uint32_t i = 0; i < from->tree_count; i++) {
        widest = from->tree[i].width > widest ? from->tree[i].width : widest;
    }
    double *number =
        take(arena, from->number_count + 6 * widest * from->contact_count, sizeof(*number));
    if (from->number_count > 0) {
        memcpy(number, from->number, from->number_count * sizeof(*number));
    }
    to->problem.number = number;
    permute_trees(from, arena, to);
    permute_contacts(from, state, arena, to);
    permute_rows(from, arena, to);
}

void harness_permute_back(const ContactProblem *from, const HarnessPermutation *to,
                          const Answer *answer, double *v, double *contact_impulse,
                          double *row_impulse) {
    for (uint32_t i = 0; i < from->tree_count; i++) {
        const ProblemTree *tree = &from->tree[i];
        memcpy(v + tree->first, answer->v + to->problem.tree[to->tree_to[i]].first,
               tree->width * sizeof(double));
    }
    for (uint32_t i = 0; i < from->contact_count; i++) {
        double *impulse = contact_impulse + 3 * (size_t)i;
        memcpy(impulse, answer->contact_impulse + 3 * (size_t)to->contact_to[i],
               3 * sizeof(double));
        impulse[2] *= to->is_swapped[i] ? -1.0 : 1.0;
    }
    for (uint32_t i = 0; i < from->row_count; i++) {
        row_impulse[i] = answer->row_impulse[to->row_to[i]];
    }
}
