// SPDX-License-Identifier: MIT
#include "wire/problem/key.h"

#include <stdio.h>
#include <string.h>

// Columns of so many numbers for each contact or row, and what the file calls them.
typedef struct KeyColumn {
    const char *column, *list, *key;
    size_t stride;
} KeyColumn;

static const KeyColumn columns[] = {
    {"contact_mu", "contacts", ".mu", 1},
    {"contact_gap", "contacts", ".gap", 1},
    {"contact_restitution", "contacts", ".restitution", 1},
    {"contact_approach", "contacts", ".approach", 1},
    {"contact_stiffness", "contacts", ".stiffness", 1},
    {"contact_dissipation_time", "contacts", ".dissipation_time", 1},
    {"contact_damping", "contacts", ".damping", 1},
    {"contact_bias", "contacts", ".bias", 1},
    {"contact_force", "contacts", ".force", 1},
    {"contact_motion", "contacts", ".motion", 3},
    {"contact_gdot", "contacts", ".gdot", 3},
    {"row_low", "rows", ".low", 1},
    {"row_high", "rows", ".high", 1},
    {"row_gap", "rows", ".gap", 1},
    {"row_bias", "rows", ".bias", 1},
    {"row_stiffness", "rows", ".stiffness", 1},
    {"row_dissipation_time", "rows", ".dissipation_time", 1},
    {"row_damping", "rows", ".damping", 1},
    {"row_compliance", "rows", ".R", 1},
    {"row_gdot", "rows", ".gdot", 1},
    {"warm_contacts", "warm.contacts", "", 3},
    {"warm_rows", "warm.rows", "", 1},
};

static bool write_column(const char *column, size_t index, char *key, size_t bytes) {
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        const KeyColumn *row = &columns[i];
        if (strcmp(row->column, column) != 0) {
            continue;
        }
        int used = snprintf(key, bytes, "%s[%zu]%s", row->list, index / row->stride, row->key);
        if (row->stride > 1 && used > 0 && (size_t)used < bytes) {
            snprintf(key + used, bytes - (size_t)used, "[%zu]", index % row->stride);
        }
        return true;
    }
    return false;
}

// ---- trees

static bool is_body(const Moreau__V1__ContactProblem *m, size_t tree) {
    return tree < m->n_tree_is_body && m->tree_is_body[tree];
}

static size_t links_of(const Moreau__V1__ContactProblem *m, size_t tree) {
    return tree < m->n_tree_link_count ? m->tree_link_count[tree] : 0;
}

// How many numbers of a column are a tree's.
static size_t tree_numbers(const Moreau__V1__ContactProblem *m, const char *column, size_t tree) {
    size_t width = m->tree_width[tree];
    if (strcmp(column, "v_free") == 0) {
        return width;
    }
    if (strcmp(column, "mass") == 0) {
        return is_body(m, tree) || links_of(m, tree) > 0 ? 0 : width * width;
    }
    if (strcmp(column, "body_mass") == 0) {
        return is_body(m, tree) ? 1 : 0;
    }
    return strcmp(column, "body_inertia") == 0 && is_body(m, tree) ? 6 : 0;
}

static bool write_tree(const Moreau__V1__ContactProblem *m, const char *column, size_t index,
                       char *key, size_t bytes) {
    size_t tree = 0, first = 0;
    while (tree < m->n_tree_width && index - first >= tree_numbers(m, column, tree)) {
        first += tree_numbers(m, column, tree++);
    }
    if (tree == m->n_tree_width) {
        return false;
    }
    size_t at = index - first, width = m->tree_width[tree];
    if (strcmp(column, "mass") == 0) {
        snprintf(key, bytes, "trees[%zu].mass[%zu][%zu]", tree, at / width, at % width);
    } else if (strcmp(column, "body_mass") == 0) {
        snprintf(key, bytes, "trees[%zu].body.mass", tree);
    } else {
        bool is_inertia = strcmp(column, "body_inertia") == 0;
        snprintf(key, bytes, "trees[%zu].%s[%zu]", tree, is_inertia ? "body.inertia" : "v_free",
                 at);
    }
    return true;
}

// How many numbers of a column are a link's; of a matrix, of how many columns, else 0.
static size_t link_numbers(const char *column, size_t velocities, size_t *columns_of) {
    bool is_motion = strcmp(column, "link_motion") == 0;
    *columns_of = is_motion ? 6 : strcmp(column, "link_added") == 0 ? velocities : 0;
    if (*columns_of > 0) {
        return velocities * *columns_of;
    }
    return strcmp(column, "link_mass") == 0      ? 1
           : strcmp(column, "link_inertia") == 0 ? 6
           : strcmp(column, "link_center") == 0  ? 3
                                                 : 0;
}

static bool write_link(const Moreau__V1__ContactProblem *m, const char *column, size_t index,
                       char *key, size_t bytes) {
    const char *name = column + strlen("link_");
    size_t first = 0, link = 0;
    for (size_t tree = 0; tree < m->n_tree_width; tree++) {
        for (size_t k = 0; k < links_of(m, tree) && link < m->n_link_velocities; k++, link++) {
            size_t across, count = link_numbers(column, m->link_velocities[link], &across);
            size_t at = index - first;
            if (at >= count) {
                first += count;
                continue;
            }
            int used = snprintf(key, bytes, "trees[%zu].links[%zu].%s", tree, k, name);
            if (across > 0) {
                snprintf(key + used, bytes - (size_t)used, "[%zu][%zu]", at / across, at % across);
            } else if (count > 1) {
                snprintf(key + used, bytes - (size_t)used, "[%zu]", at);
            }
            return true;
        }
    }
    return false;
}

// ---- blocks and sides

// Where the columns of contacts have been walked to.
typedef struct KeyCursor {
    const Moreau__V1__ContactProblem *m;
    size_t block, side;          // trees
    size_t jacobian, frame, arm; // numbers
} KeyCursor;

static uint32_t width_of(const Moreau__V1__ContactProblem *m, uint32_t tree) {
    return tree < m->n_tree_width ? m->tree_width[tree] : 0;
}

// One number of a Jacobian of `rows` rows; false: it is none of this one's, which is walked over.
static bool find_jacobian(size_t *next, size_t rows, size_t width, size_t index, const char *owner,
                          char *key, size_t bytes) {
    size_t at = index - *next;
    bool is_here = index >= *next && at < rows * width;
    *next += rows * width;
    if (is_here && rows == 1) {
        snprintf(key, bytes, "%s.jacobian[%zu]", owner, at);
    } else if (is_here) {
        snprintf(key, bytes, "%s.jacobian[%zu][%zu]", owner, at / width, at % width);
    }
    return is_here;
}

static bool find_block(KeyCursor *next, size_t contact, size_t index, char *key, size_t bytes) {
    const Moreau__V1__ContactProblem *m = next->m;
    bool found = false;
    for (size_t k = 0; !found && k < m->contact_block_count[contact]; k++, next->block++) {
        char owner[64];
        if (next->block >= m->n_contact_block_tree) {
            return false;
        }
        snprintf(owner, sizeof(owner), "contacts[%zu].blocks[%zu]", contact, k);
        found = find_jacobian(&next->jacobian, 3, width_of(m, m->contact_block_tree[next->block]),
                              index, owner, key, bytes);
    }
    return found;
}

// `what` is the column: contact_jacobian, contact_frame or side_arm.
static bool find_side(KeyCursor *next, size_t contact, const char *what, size_t index, char *key,
                      size_t bytes) {
    const Moreau__V1__ContactProblem *m = next->m;
    size_t at = index - next->frame;
    if (strcmp(what, "contact_frame") == 0 && index >= next->frame && at < 9) {
        snprintf(key, bytes, "contacts[%zu].frame[%zu][%zu]", contact, at / 3, at % 3);
        return true;
    }
    next->frame += 9;
    for (size_t k = 0; k < 2 && next->side < m->n_side_tree; k++) {
        uint32_t tree = m->side_tree[next->side++];
        char owner[64];
        snprintf(owner, sizeof(owner), "contacts[%zu].sides[%zu]", contact, k);
        if (is_body(m, tree)) {
            if (strcmp(what, "side_arm") == 0 && index >= next->arm && index - next->arm < 3) {
                snprintf(key, bytes, "%s.arm[%zu]", owner, index - next->arm);
                return true;
            }
            next->arm += 3;
        } else if (strcmp(what, "contact_jacobian") == 0 &&
                   find_jacobian(&next->jacobian, 3, width_of(m, tree), index, owner, key, bytes)) {
            return true;
        }
    }
    return false;
}

static bool write_contact(const Moreau__V1__ContactProblem *m, const char *column, size_t index,
                          char *key, size_t bytes) {
    bool is_jacobian = strcmp(column, "contact_jacobian") == 0;
    KeyCursor next = {.m = m};
    bool found = false;
    for (size_t i = 0; !found && i < m->n_contact_block_count; i++) {
        bool has_sides = m->contact_block_count[i] == 0;
        found = has_sides     ? find_side(&next, i, column, index, key, bytes)
                : is_jacobian ? find_block(&next, i, index, key, bytes)
                              : false;
    }
    return found;
}

static bool write_row(const Moreau__V1__ContactProblem *m, size_t index, char *key, size_t bytes) {
    size_t next = 0, block = 0;
    for (size_t i = 0; i < m->n_row_block_count; i++) {
        for (size_t k = 0; k < m->row_block_count[i]; k++, block++) {
            char owner[64];
            if (block >= m->n_row_block_tree) {
                return false;
            }
            snprintf(owner, sizeof(owner), "rows[%zu].blocks[%zu]", i, k);
            if (find_jacobian(&next, 1, width_of(m, m->row_block_tree[block]), index, owner, key,
                              bytes)) {
                return true;
            }
        }
    }
    return false;
}

bool problem_key(const Moreau__V1__ContactProblem *problem, const char *column, size_t index,
                 char *key, size_t bytes) {
    if (strcmp(column, "contact_jacobian") == 0 || strcmp(column, "contact_frame") == 0 ||
        strcmp(column, "side_arm") == 0) {
        return write_contact(problem, column, index, key, bytes);
    }
    if (strcmp(column, "row_jacobian") == 0) {
        return write_row(problem, index, key, bytes);
    }
    if (strncmp(column, "link_", strlen("link_")) == 0) {
        return write_link(problem, column, index, key, bytes);
    }
    return write_column(column, index, key, bytes) ||
           write_tree(problem, column, index, key, bytes);
}
