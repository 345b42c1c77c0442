// SPDX-License-Identifier: MIT
#include "wire/problem/codec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TREE_WIDTH_MAX = 1024 };

static Status out_of_memory(Error *error) {
    return error_set(
        error, STATUS_RESOURCE_EXHAUSTED, "problem",
        "The problem needs more memory than one request may take, which is some frames "
        "(option --frame-bytes-max).");
}

static Status blame(Error *error, const char *list, size_t index, const char *key,
                    const char *why) {
    char field[96];
    snprintf(field, sizeof(field), "%s[%zu]%s%s", list, index, key[0] == '\0' ? "" : ".", key);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s", why);
}

// ---- reading: lengths

typedef struct ColumnCheck {
    const char *name;
    size_t length, wanted;
    bool required;
} ColumnCheck;

static Status check_columns(const ColumnCheck *columns, size_t count, Error *error) {
    for (size_t i = 0; i < count; i++) {
        if (columns[i].length == columns[i].wanted ||
            (columns[i].length == 0 && !columns[i].required)) {
            continue;
        }
        return error_set(error, STATUS_INVALID_ARGUMENT, columns[i].name,
                         "Column %s has %zu numbers where %zu belong.", columns[i].name,
                         columns[i].length, columns[i].wanted);
    }
    return STATUS_OK;
}

static Status check_contact_columns(const Moreau__V1__ContactProblem *m, Error *error) {
    size_t n = m->n_contact_mu;
    const ColumnCheck columns[] = {
        {"contact_gap", m->n_contact_gap, n, false},
        {"contact_restitution", m->n_contact_restitution, n, false},
        {"contact_approach", m->n_contact_approach, n, false},
        {"contact_stiffness", m->n_contact_stiffness, n, false},
        {"contact_dissipation_time", m->n_contact_dissipation_time, n, false},
        {"contact_damping", m->n_contact_damping, n, false},
        {"contact_bias", m->n_contact_bias, n, false},
        {"contact_force", m->n_contact_force, n, false},
        {"contact_motion", m->n_contact_motion, 3 * n, false},
        {"contact_gdot", m->n_contact_gdot, 3 * n, false},
        {"contact_given", m->n_contact_given, n, false},
        {"contact_block_count", m->n_contact_block_count, n, true},
        {"warm_contacts", m->n_warm_contacts, 3 * n, false},
    };
    return check_columns(columns, sizeof(columns) / sizeof(columns[0]), error);
}

static Status check_row_columns(const Moreau__V1__ContactProblem *m, Error *error) {
    size_t n = m->n_row_given;
    const ColumnCheck columns[] = {
        {"row_low", m->n_row_low, n, false},
        {"row_high", m->n_row_high, n, false},
        {"row_gap", m->n_row_gap, n, false},
        {"row_bias", m->n_row_bias, n, false},
        {"row_group", m->n_row_group, n, false},
        {"row_stiffness", m->n_row_stiffness, n, false},
        {"row_dissipation_time", m->n_row_dissipation_time, n, false},
        {"row_damping", m->n_row_damping, n, false},
        {"row_compliance", m->n_row_compliance, n, false},
        {"row_gdot", m->n_row_gdot, n, false},
        {"row_block_count", m->n_row_block_count, n, true},
        {"warm_rows", m->n_warm_rows, n, false},
    };
    return check_columns(columns, sizeof(columns) / sizeof(columns[0]), error);
}

static double number_at(const double *values, size_t count, size_t index) {
    return count == 0 ? 0.0 : values[index];
}

static bool is_given(const uint32_t *given, size_t count, size_t index, uint32_t bit) {
    return count != 0 && (given[index] & bit) != 0;
}

// ---- reading: trees, contacts, rows

// What is being built; the arrays behind the problem's const pointers.
typedef struct Builder {
    const Moreau__V1__ContactProblem *m;
    ProblemTree *tree;
    FreeMass *free; // of the trees that are bodies
    ProblemLink *link;
    ProblemContact *contact;
    ContactLaw *law;
    ProblemRow *row;
    RowBlock *row_block;
    double *number;
    size_t used; // of number
} Builder;

static bool is_body(const Moreau__V1__ContactProblem *m, size_t tree) {
    return m->n_tree_is_body != 0 && m->tree_is_body[tree];
}

static uint32_t links_of(const Moreau__V1__ContactProblem *m, size_t tree) {
    return m->n_tree_link_count == 0 ? 0 : m->tree_link_count[tree];
}

static Status measure_tree(Builder *builder, size_t i, size_t first, size_t links, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    uint32_t width = m->tree_width[i], count = links_of(m, i);
    if (width < 1 || width > TREE_WIDTH_MAX) {
        return blame(error, "trees", i, "v_free", "A tree has 1 to 1024 velocities.");
    }
    if (is_body(m, i) && width != 6) {
        return blame(error, "trees", i, "v_free", "A body has 6 velocities.");
    }
    if (is_body(m, i) && count > 0) {
        return blame(error, "trees", i, "links", "A body has no links.");
    }
    if (count > m->n_link_parent - links) {
        return blame(error, "trees", i, "links", "Column link_parent ends before its links do.");
    }
    builder->tree[i] = (ProblemTree){
        .first = (uint32_t)first, .width = width, .is_free = is_body(m, i), .link_count = count};
    return STATUS_OK;
}

static Status measure_trees(Builder *builder, ContactProblem *problem, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    const ColumnCheck kinds[] = {{"tree_is_body", m->n_tree_is_body, m->n_tree_width, false},
                                 {"tree_link_count", m->n_tree_link_count, m->n_tree_width, false}};
    Status status = check_columns(kinds, 2, error);
    size_t velocities = 0, masses = 0, bodies = 0, links = 0;
    for (size_t i = 0; status == STATUS_OK && i < m->n_tree_width; i++) {
        status = measure_tree(builder, i, velocities, links, error);
        ProblemTree *tree = &builder->tree[i];
        size_t width = m->tree_width[i];
        if (status == STATUS_OK) {
            tree->mass = tree->link_count > 0 ? links : masses;
            velocities += width;
            links += tree->link_count;
            masses += tree->is_free || tree->link_count > 0 ? 0 : width * width;
            bodies += tree->is_free ? 1 : 0;
        }
    }
    problem->tree_count = (uint32_t)m->n_tree_width;
    problem->velocity_count = (uint32_t)velocities;
    problem->link_count = (uint32_t)links;
    problem->all_free = bodies > 0 && bodies == m->n_tree_width;
    const ColumnCheck columns[] = {{"mass", m->n_mass, masses, true},
                                   {"body_mass", m->n_body_mass, bodies, true},
                                   {"body_inertia", m->n_body_inertia, 6 * bodies, true},
                                   {"v_free", m->n_v_free, velocities, true},
                                   {"link_parent", m->n_link_parent, links, true}};
    return status != STATUS_OK ? status : check_columns(columns, 5, error);
}

// ---- links

// What the links' own columns have to have.
static Status measure_links(const Moreau__V1__ContactProblem *m, Error *error) {
    size_t links = m->n_link_parent, velocities = 0, added = 0;
    const ColumnCheck each[] = {{"link_velocities", m->n_link_velocities, links, true},
                                {"link_mass", m->n_link_mass, links, true},
                                {"link_inertia", m->n_link_inertia, 6 * links, true},
                                {"link_center", m->n_link_center, 3 * links, true}};
    Status status = check_columns(each, sizeof(each) / sizeof(each[0]), error);
    for (size_t i = 0; status == STATUS_OK && i < links; i++) {
        size_t count = m->link_velocities[i];
        if (count > PROBLEM_LINK_VELOCITIES) {
            return blame(error, "link_velocities", i, "", "A link has 0 to 6 velocities.");
        }
        velocities += count;
        added += count * count;
    }
    const ColumnCheck all[] = {{"link_motion", m->n_link_motion, 6 * velocities, true},
                               {"link_added", m->n_link_added, added, false}};
    return status != STATUS_OK ? status : check_columns(all, 2, error);
}

// Numbers of a column to the end of those that are kept; returns where they begin.
static size_t keep(Builder *builder, const double *numbers, size_t count) {
    size_t offset = builder->used;
    if (count > 0) {
        memcpy(builder->number + offset, numbers, count * sizeof(double));
    }
    builder->used += count;
    return offset;
}

static Status read_links(Builder *builder, ContactProblem *problem, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    Status status = measure_links(m, error);
    if (status != STATUS_OK) {
        return status;
    }
    static const double none[PROBLEM_LINK_VELOCITIES * PROBLEM_LINK_VELOCITIES];
    size_t motion = keep(builder, m->link_motion, m->n_link_motion);
    bool adds = m->n_link_added > 0;
    size_t added = adds ? keep(builder, m->link_added, m->n_link_added)
                        : keep(builder, none, sizeof(none) / sizeof(none[0]));
    size_t i = 0;
    for (size_t tree = 0; tree < m->n_tree_width; tree++) {
        uint32_t first = 0;
        for (size_t end = i + builder->tree[tree].link_count; i < end; i++) {
            const double *six = m->link_inertia + 6 * i;
            uint32_t count = m->link_velocities[i];
            builder->link[i] =
                (ProblemLink){.parent = m->link_parent[i],
                              .first = first,
                              .count = count,
                              .mass = m->link_mass[i],
                              .inertia = {six[0], six[1], six[2], six[3], six[4], six[5]},
                              .center = vec3_load(m->link_center + 3 * i),
                              .motion = motion,
                              .added = added};
            first += count;
            motion += 6 * (size_t)count;
            added += adds ? (size_t)count * count : 0;
        }
    }
    problem->link = builder->link;
    return STATUS_OK;
}

static Status read_trees(Builder *builder, ContactProblem *problem, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    Status status = measure_trees(builder, problem, error);
    if (status != STATUS_OK) {
        return status;
    }
    size_t body = 0;
    for (size_t i = 0; i < m->n_tree_width; i++) {
        if (is_body(m, i)) {
            const double *six = m->body_inertia + 6 * body;
            builder->free[i] = problem_free_mass(
                m->body_mass[body++], (Sym3){six[0], six[1], six[2], six[3], six[4], six[5]});
        }
    }
    keep(builder, m->mass, m->n_mass);
    problem->v_free = m->v_free;
    return m->n_link_parent > 0 ? read_links(builder, problem, error) : STATUS_OK;
}

// The next block of `rows` x width Jacobian numbers, copied behind the masses.
static Status take_jacobian(Builder *builder, const double *numbers, size_t count, size_t *next,
                            uint32_t tree, size_t rows, uint32_t *offset) {
    size_t size = rows * builder->tree[tree].width;
    if (size > count - *next) {
        return STATUS_INVALID_ARGUMENT;
    }
    // a message of 2^32 numbers would be longer than any frame
    *offset = (uint32_t)keep(builder, numbers + *next, size);
    *next += size;
    return STATUS_OK;
}

static void read_contact_numbers(const Moreau__V1__ContactProblem *m, size_t i,
                                 ProblemContact *contact, ContactLaw *law) {
    contact->mu = m->contact_mu[i];
    contact->gap = number_at(m->contact_gap, m->n_contact_gap, i);
    law->restitution = number_at(m->contact_restitution, m->n_contact_restitution, i);
    law->approach = number_at(m->contact_approach, m->n_contact_approach, i);
    law->dissipation_time =
        number_at(m->contact_dissipation_time, m->n_contact_dissipation_time, i);
    law->damping = number_at(m->contact_damping, m->n_contact_damping, i);
    bool stiff = is_given(m->contact_given, m->n_contact_given, i,
                          MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_STIFFNESS);
    law->stiffness = stiff ? number_at(m->contact_stiffness, m->n_contact_stiffness, i)
                           : PROBLEM_INFINITE_STIFFNESS;
    law->force = is_given(m->contact_given, m->n_contact_given, i,
                          MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_FORCE)
                     ? number_at(m->contact_force, m->n_contact_force, i)
                 : stiff ? -law->stiffness * contact->gap
                         : 0.0;
    // the file's rule for the rigid bias: no world option has an effect here
    contact->bias = is_given(m->contact_given, m->n_contact_given, i,
                             MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_BIAS)
                        ? number_at(m->contact_bias, m->n_contact_bias, i)
                        : problem_contact_bias(m->time_step, contact->gap, 1.0, law->restitution,
                                               law->approach);
    for (size_t k = 0; k < 3; k++) {
        contact->motion[k] = number_at(m->contact_motion, m->n_contact_motion, 3 * i + k);
        law->gdot[k] = number_at(m->contact_gdot, m->n_contact_gdot, 3 * i + k);
    }
    // the frame is the Jacobian's own: any right-handed one stands for it
    contact->normal = vec3(0.0, 0.0, 1.0);
    contact->tangent[0] = vec3(1.0, 0.0, 0.0);
    contact->tangent[1] = vec3(0.0, 1.0, 0.0);
}

// Where the columns of contacts have been read to.
typedef struct ContactCursor {
    size_t block, jacobian, frame, side, arm;
} ContactCursor;

static Status read_blocks(Builder *builder, const ContactProblem *problem, size_t i,
                          ContactCursor *next, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    uint32_t count = m->contact_block_count[i];
    if (count > 2 || count > m->n_contact_block_tree - next->block) {
        return blame(error, "contacts", i, "blocks", "A contact has one or two blocks.");
    }
    for (uint32_t k = 0; k < count; k++) {
        // a dense block carries its sign, so which side it stands on does not matter
        ContactSide *side = &builder->contact[i].side[1 - k];
        side->tree = m->contact_block_tree[next->block++];
        if (side->tree >= problem->tree_count) {
            return blame(error, "contacts", i, "blocks",
                         "A block names a tree that does not exist.");
        }
        if (builder->tree[side->tree].is_free) {
            return blame(error, "contacts", i, "blocks",
                         "A contact that touches a body has a frame and two sides, no blocks.");
        }
        if (take_jacobian(builder, m->contact_jacobian, m->n_contact_jacobian, &next->jacobian,
                          side->tree, 3, &side->jacobian) != STATUS_OK) {
            return blame(error, "contacts", i, "blocks",
                         "Column contact_jacobian ends before this contact's blocks do.");
        }
    }
    return STATUS_OK;
}

static Status read_side(Builder *builder, const ContactProblem *problem, size_t i, int s,
                        ContactCursor *next, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    ContactSide *side = &builder->contact[i].side[s];
    side->tree = m->side_tree[next->side++];
    if (side->tree == PROBLEM_NO_TREE) {
        return STATUS_OK;
    }
    if (side->tree >= problem->tree_count) {
        return blame(error, "contacts", i, "sides",
                     "A side names a tree that does not exist (4294967295 is the ground).");
    }
    if (builder->tree[side->tree].is_free) {
        if (m->n_side_arm - next->arm < 3) {
            return blame(error, "contacts", i, "sides",
                         "Column side_arm ends before this contact's arms do.");
        }
        side->arm = vec3_load(m->side_arm + next->arm);
        next->arm += 3;
        return STATUS_OK;
    }
    return take_jacobian(builder, m->contact_jacobian, m->n_contact_jacobian, &next->jacobian,
                         side->tree, 3, &side->jacobian) == STATUS_OK
               ? STATUS_OK
               : blame(error, "contacts", i, "sides",
                       "Column contact_jacobian ends before this contact's sides do.");
}

static Status read_sides(Builder *builder, const ContactProblem *problem, size_t i,
                         ContactCursor *next, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    ProblemContact *contact = &builder->contact[i];
    if (m->n_contact_frame - next->frame < 9 || m->n_side_tree - next->side < 2) {
        return blame(error, "contacts", i, "blocks",
                     "A contact has one or two blocks, or, where it touches a body, a frame of 9 "
                     "numbers and two sides (contact_frame, side_tree).");
    }
    contact->normal = vec3_load(m->contact_frame + next->frame);
    contact->tangent[0] = vec3_load(m->contact_frame + next->frame + 3);
    contact->tangent[1] = vec3_load(m->contact_frame + next->frame + 6);
    next->frame += 9;
    bool touches_body = false;
    for (int s = 0; s < 2; s++) {
        Status status = read_side(builder, problem, i, s, next, error);
        if (status != STATUS_OK) {
            return status;
        }
        uint32_t tree = contact->side[s].tree;
        touches_body = touches_body || (tree != PROBLEM_NO_TREE && builder->tree[tree].is_free);
    }
    return touches_body ? STATUS_OK
                        : blame(error, "contacts", i, "sides",
                                "A contact with sides touches a body; among trees that are none, "
                                "it has blocks.");
}

// What is left over belongs to no contact.
static Status check_contact_end(const Moreau__V1__ContactProblem *m, const ContactCursor *next,
                                Error *error) {
    if (next->jacobian != m->n_contact_jacobian || next->block != m->n_contact_block_tree) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "contact_jacobian",
                         "Columns contact_block_tree and contact_jacobian have more than the "
                         "contacts' blocks take.");
    }
    const ColumnCheck columns[] = {{"contact_frame", m->n_contact_frame, next->frame, true},
                                   {"side_tree", m->n_side_tree, next->side, true},
                                   {"side_arm", m->n_side_arm, next->arm, true}};
    return check_columns(columns, sizeof(columns) / sizeof(columns[0]), error);
}

static Status read_contacts(Builder *builder, ContactProblem *problem, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    Status status = check_contact_columns(m, error);
    ContactCursor next = {0};
    for (size_t i = 0; status == STATUS_OK && i < m->n_contact_mu; i++) {
        ProblemContact *contact = &builder->contact[i];
        *contact = (ProblemContact){.side = {{.tree = PROBLEM_NO_TREE}, {.tree = PROBLEM_NO_TREE}}};
        read_contact_numbers(m, i, contact, &builder->law[i]);
        status = m->contact_block_count[i] > 0 ? read_blocks(builder, problem, i, &next, error)
                                               : read_sides(builder, problem, i, &next, error);
    }
    problem->contact_count = (uint32_t)m->n_contact_mu;
    return status != STATUS_OK ? status : check_contact_end(m, &next, error);
}

static void read_row_numbers(const Moreau__V1__ContactProblem *m, size_t i, ProblemRow *row) {
    uint32_t given = m->row_given[i];
    row->group = m->n_row_group == 0 ? 0 : m->row_group[i];
    row->low = given & MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_LOW
                   ? number_at(m->row_low, m->n_row_low, i)
                   : -HUGE_VAL;
    row->high = given & MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_HIGH
                    ? number_at(m->row_high, m->n_row_high, i)
                    : HUGE_VAL;
    row->is_position = (given & MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_GAP) != 0;
    row->gap = row->is_position ? number_at(m->row_gap, m->n_row_gap, i) : 0.0;
    row->bias = given & MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_BIAS
                    ? number_at(m->row_bias, m->n_row_bias, i)
                : row->is_position ? row->gap / m->time_step
                                   : 0.0;
    row->has_compliance = (given & MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_COMPLIANCE) != 0;
    row->compliance =
        row->has_compliance ? number_at(m->row_compliance, m->n_row_compliance, i) : 0.0;
    row->stiffness = given & MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_STIFFNESS
                         ? number_at(m->row_stiffness, m->n_row_stiffness, i)
                         : PROBLEM_INFINITE_STIFFNESS;
    row->dissipation_time = number_at(m->row_dissipation_time, m->n_row_dissipation_time, i);
    row->damping = number_at(m->row_damping, m->n_row_damping, i);
    row->gdot = number_at(m->row_gdot, m->n_row_gdot, i);
}

static Status read_rows(Builder *builder, ContactProblem *problem, Error *error) {
    const Moreau__V1__ContactProblem *m = builder->m;
    Status status = check_row_columns(m, error);
    size_t block = 0, next = 0;
    for (size_t i = 0; status == STATUS_OK && i < m->n_row_given; i++) {
        ProblemRow *row = &builder->row[i];
        uint32_t count = m->row_block_count[i];
        *row = (ProblemRow){.block_first = (uint32_t)block, .block_count = count};
        read_row_numbers(m, i, row);
        if (count < 1 || count > m->n_row_block_tree - block) {
            return blame(error, "rows", i, "blocks", "A row has at least one block.");
        }
        for (uint32_t k = 0; k < count; k++, block++) {
            RowBlock *entry = &builder->row_block[block];
            entry->tree = m->row_block_tree[block];
            if (entry->tree >= problem->tree_count) {
                return blame(error, "rows", i, "blocks",
                             "A block names a tree that does not exist.");
            }
            if (take_jacobian(builder, m->row_jacobian, m->n_row_jacobian, &next, entry->tree, 1,
                              &entry->jacobian) != STATUS_OK) {
                return blame(error, "rows", i, "blocks",
                             "Column row_jacobian ends before this row's blocks do.");
            }
        }
    }
    if (status == STATUS_OK && (next != m->n_row_jacobian || block != m->n_row_block_tree)) {
        status = error_set(
            error, STATUS_INVALID_ARGUMENT, "row_jacobian",
            "Columns row_block_tree and row_jacobian have more than the rows' blocks take.");
    }
    problem->row_count = (uint32_t)m->n_row_given;
    problem->row_block_count = (uint32_t)block;
    return status;
}

Status problem_codec_read(const Moreau__V1__ContactProblem *m, Arena *arena,
                          ContactProblem *problem, Error *error) {
    if (!m->has_time_step || !(m->time_step > 0.0)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "time_step",
                         "The time step must be > 0 s.");
    }
    // … and a block of zeros for links that have none added
    size_t numbers = m->n_mass + m->n_contact_jacobian + m->n_row_jacobian + m->n_link_motion +
                     m->n_link_added + (size_t)PROBLEM_LINK_VELOCITIES * PROBLEM_LINK_VELOCITIES;
    Builder builder = {
        .m = m,
        .tree = arena_take_array(arena, m->n_tree_width, sizeof(ProblemTree)),
        .free = arena_take_array(arena, m->n_tree_is_body, sizeof(FreeMass)),
        .link = arena_take_array(arena, m->n_link_parent, sizeof(ProblemLink)),
        .contact = arena_take_array(arena, m->n_contact_mu, sizeof(ProblemContact)),
        .law = arena_take_array(arena, m->n_contact_mu, sizeof(ContactLaw)),
        .row = arena_take_array(arena, m->n_row_given, sizeof(ProblemRow)),
        .row_block = arena_take_array(arena, m->n_row_block_tree, sizeof(RowBlock)),
        .number = arena_take_array(arena, numbers, sizeof(double)),
    };
    if (builder.tree == NULL || builder.free == NULL || builder.link == NULL ||
        builder.contact == NULL || builder.law == NULL || builder.row == NULL ||
        builder.row_block == NULL || builder.number == NULL) {
        return out_of_memory(error);
    }
    *problem = (ContactProblem){.time_step = m->time_step, .gravity = m->gravity};
    Status status = read_trees(&builder, problem, error);
    status = STATUS_THEN(status, read_contacts(&builder, problem, error));
    status = STATUS_THEN(status, read_rows(&builder, problem, error));
    if (status != STATUS_OK) {
        return status;
    }
    problem->tree = builder.tree;
    problem->free = builder.free;
    problem->contact = builder.contact;
    problem->law = builder.law;
    problem->row = builder.row;
    problem->row_block = builder.row_block;
    problem->number = builder.number;
    problem->number_count = builder.used;
    problem->warm_contact = m->n_warm_contacts > 0 ? m->warm_contacts : NULL;
    problem->warm_row = m->n_warm_rows > 0 ? m->warm_rows : NULL;
    return problem_check(problem, arena, error);
}
