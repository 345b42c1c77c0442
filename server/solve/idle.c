// SPDX-License-Identifier: MIT
#include "solve/idle.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

static bool are_zeros(const double *number, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (number[i] != 0.0) {
            return false;
        }
    }
    return true;
}

bool idle_is_contact(const ContactProblem *problem, const ProblemContact *contact,
                     const ContactLaw *law, bool has_springs) {
    const bool is_pressed = has_springs && isfinite(law->stiffness) && contact->mu > 0.0;
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &contact->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (problem_is_free(problem, side->tree)) {
            return false;
        }
        const size_t lines = is_pressed ? 3 : 1; // the normal is the first
        if (!are_zeros(problem->number + side->jacobian, lines * problem->tree[side->tree].width)) {
            return false;
        }
    }
    return true;
}

static bool has_tree(const ProblemContact *contact) {
    return contact->side[0].tree != PROBLEM_NO_TREE || contact->side[1].tree != PROBLEM_NO_TREE;
}

static bool is_idle_row(const ContactProblem *problem, const ProblemRow *row) {
    VALIDATE(row->block_first + row->block_count <= problem->row_block_count);
    for (uint32_t b = 0; b < row->block_count; b++) {
        const RowBlock *block = &problem->row_block[row->block_first + b];
        if (!are_zeros(problem->number + block->jacobian, problem->tree[block->tree].width)) {
            return false;
        }
    }
    return true;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small to leave out what moves nothing.");
}

static Status leave_out_contacts(bool has_springs, Arena *arena, ContactProblem *rest,
                                 uint32_t *count, Error *error) {
    ASSERT(rest->law != NULL || rest->contact_count == 0);
    ASSERT(!rest->all_free);
    ProblemContact *contacts = NULL;
    for (uint32_t i = 0; i < rest->contact_count; i++) {
        const ProblemContact *contact = &rest->contact[i];
        if (!has_tree(contact) || !idle_is_contact(rest, contact, &rest->law[i], has_springs)) {
            continue;
        }
        if (contacts == NULL) {
            contacts = arena_take_array(arena, rest->contact_count, sizeof(*contacts));
            if (contacts == NULL) {
                return no_memory(error);
            }
            memcpy(contacts, rest->contact, rest->contact_count * sizeof(*contacts));
            rest->contact = contacts;
        }
        contacts[i].side[0].tree = contacts[i].side[1].tree = PROBLEM_NO_TREE;
        ++*count;
    }
    return STATUS_OK;
}

static Status leave_out_rows(Arena *arena, ContactProblem *rest, uint32_t *count, Error *error) {
    ProblemRow *rows = NULL;
    for (uint32_t i = 0; i < rest->row_count; i++) {
        const ProblemRow *row = &rest->row[i];
        if (row->block_count == 0 || !is_idle_row(rest, row)) {
            continue;
        }
        if (rows == NULL) {
            rows = arena_take_array(arena, rest->row_count, sizeof(*rows));
            if (rows == NULL) {
                return no_memory(error);
            }
            memcpy(rows, rest->row, rest->row_count * sizeof(*rows));
            rest->row = rows;
        }
        rows[i].block_count = 0;
        ++*count;
    }
    return STATUS_OK;
}

Status idle_leave_out(const ContactProblem *problem, bool has_springs, Arena *arena,
                      ContactProblem *rest, uint32_t *count, Error *error) {
    ASSERT(problem != rest);
    *rest = *problem;
    Status status =
        problem->all_free ? STATUS_OK : leave_out_contacts(has_springs, arena, rest, count, error);
    return STATUS_THEN(status, leave_out_rows(arena, rest, count, error));
}
