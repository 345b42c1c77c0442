// SPDX-License-Identifier: MIT
// A problem as columns. What the rigid bias holds already, restitution, is not written.
#include "wire/problem/codec.h"

#include <math.h>
#include <string.h>

// How long the columns are, and, while they are filled, where the next number of each goes.
typedef struct Lengths {
    size_t mass, body, link, link_velocity, link_added;
    size_t block, side, frame, arm, contact_jacobian;
    size_t row_block, row_jacobian;
} Lengths;

// ---- lengths

static bool is_free_side(const ContactProblem *problem, const ContactSide *side) {
    return side->tree != PROBLEM_NO_TREE && problem->tree[side->tree].is_free;
}

// Among trees that are no bodies a contact has blocks; else a frame and sides.
static bool has_blocks(const ContactProblem *problem, const ProblemContact *contact) {
    return !is_free_side(problem, &contact->side[0]) && !is_free_side(problem, &contact->side[1]) &&
           (contact->side[0].tree != PROBLEM_NO_TREE || contact->side[1].tree != PROBLEM_NO_TREE);
}

static void count_trees(const ContactProblem *problem, Lengths *count) {
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        bool is_dense = !tree->is_free && tree->link_count == 0;
        count->body += tree->is_free ? 1 : 0;
        count->mass += is_dense ? (size_t)tree->width * tree->width : 0;
    }
    count->link = problem->link_count;
    for (uint32_t i = 0; i < problem->link_count; i++) {
        size_t velocities = problem->link[i].count;
        count->link_velocity += velocities;
        count->link_added += velocities * velocities;
    }
}

static void count_contacts(const ContactProblem *problem, Lengths *count) {
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ProblemContact *contact = &problem->contact[i];
        bool blocks = has_blocks(problem, contact);
        count->frame += blocks ? 0 : 1;
        count->side += blocks ? 0 : 2;
        for (int s = 0; s < 2; s++) {
            const ContactSide *side = &contact->side[s];
            if (is_free_side(problem, side)) {
                count->arm++;
            } else if (side->tree != PROBLEM_NO_TREE) {
                count->block += blocks ? 1 : 0;
                count->contact_jacobian += 3 * (size_t)problem->tree[side->tree].width;
            }
        }
    }
}

static Lengths measure(const ContactProblem *problem) {
    Lengths count = {.row_block = problem->row_block_count};
    count_trees(problem, &count);
    count_contacts(problem, &count);
    for (uint32_t i = 0; i < problem->row_block_count; i++) {
        count.row_jacobian += problem->tree[problem->row_block[i].tree].width;
    }
    return count;
}

// ---- columns

// The columns of a message, each as long as said, from the arena.
typedef struct TakenColumn {
    double **numbers;
    size_t *count, length;
} TakenColumn;

typedef struct TakenIndices {
    uint32_t **numbers;
    size_t *count, length;
} TakenIndices;

static bool take_columns(const TakenColumn *columns, size_t count, Arena *arena) {
    for (size_t i = 0; i < count; i++) {
        *columns[i].numbers = arena_take_array(arena, columns[i].length, sizeof(double));
        *columns[i].count = columns[i].length;
        if (*columns[i].numbers == NULL) {
            return false;
        }
    }
    return true;
}

static bool take_indices(const TakenIndices *columns, size_t count, Arena *arena) {
    for (size_t i = 0; i < count; i++) {
        *columns[i].numbers = arena_take_array(arena, columns[i].length, sizeof(uint32_t));
        *columns[i].count = columns[i].length;
        if (*columns[i].numbers == NULL) {
            return false;
        }
    }
    return true;
}

static bool take_trees(const ContactProblem *problem, const Lengths *count, Arena *arena,
                       Moreau__V1__ContactProblem *m) {
    size_t trees = problem->tree_count, links = count->link;
    const TakenColumn columns[] = {
        {&m->mass, &m->n_mass, count->mass},
        {&m->body_mass, &m->n_body_mass, count->body},
        {&m->body_inertia, &m->n_body_inertia, 6 * count->body},
        {&m->link_mass, &m->n_link_mass, links},
        {&m->link_inertia, &m->n_link_inertia, 6 * links},
        {&m->link_center, &m->n_link_center, 3 * links},
        {&m->link_motion, &m->n_link_motion, 6 * count->link_velocity},
        {&m->link_added, &m->n_link_added, count->link_added},
    };
    const TakenIndices indices[] = {
        {&m->tree_width, &m->n_tree_width, trees},
        {&m->tree_link_count, &m->n_tree_link_count, links > 0 ? trees : 0},
        {&m->link_parent, &m->n_link_parent, links},
        {&m->link_velocities, &m->n_link_velocities, links},
    };
    m->tree_is_body = arena_take_array(arena, trees, sizeof(*m->tree_is_body));
    m->n_tree_is_body = trees;
    return m->tree_is_body != NULL &&
           take_columns(columns, sizeof(columns) / sizeof(columns[0]), arena) &&
           take_indices(indices, sizeof(indices) / sizeof(indices[0]), arena);
}

static bool take_contacts(const ContactProblem *problem, const Lengths *count, Arena *arena,
                          Moreau__V1__ContactProblem *m) {
    size_t n = problem->contact_count;
    const TakenColumn columns[] = {
        {&m->contact_mu, &m->n_contact_mu, n},
        {&m->contact_gap, &m->n_contact_gap, n},
        {&m->contact_approach, &m->n_contact_approach, n},
        {&m->contact_stiffness, &m->n_contact_stiffness, n},
        {&m->contact_dissipation_time, &m->n_contact_dissipation_time, n},
        {&m->contact_damping, &m->n_contact_damping, n},
        {&m->contact_bias, &m->n_contact_bias, n},
        {&m->contact_force, &m->n_contact_force, n},
        {&m->contact_motion, &m->n_contact_motion, 3 * n},
        {&m->contact_gdot, &m->n_contact_gdot, 3 * n},
        {&m->contact_frame, &m->n_contact_frame, 9 * count->frame},
        {&m->side_arm, &m->n_side_arm, 3 * count->arm},
        {&m->contact_jacobian, &m->n_contact_jacobian, count->contact_jacobian},
    };
    const TakenIndices indices[] = {
        {&m->contact_given, &m->n_contact_given, n},
        {&m->contact_block_count, &m->n_contact_block_count, n},
        {&m->contact_block_tree, &m->n_contact_block_tree, count->block},
        {&m->side_tree, &m->n_side_tree, count->side},
    };
    return take_columns(columns, sizeof(columns) / sizeof(columns[0]), arena) &&
           take_indices(indices, sizeof(indices) / sizeof(indices[0]), arena);
}

static bool take_rows(const ContactProblem *problem, const Lengths *count, Arena *arena,
                      Moreau__V1__ContactProblem *m) {
    size_t n = problem->row_count;
    const TakenColumn columns[] = {
        {&m->row_low, &m->n_row_low, n},
        {&m->row_high, &m->n_row_high, n},
        {&m->row_gap, &m->n_row_gap, n},
        {&m->row_bias, &m->n_row_bias, n},
        {&m->row_stiffness, &m->n_row_stiffness, n},
        {&m->row_dissipation_time, &m->n_row_dissipation_time, n},
        {&m->row_damping, &m->n_row_damping, n},
        {&m->row_compliance, &m->n_row_compliance, n},
        {&m->row_gdot, &m->n_row_gdot, n},
        {&m->row_jacobian, &m->n_row_jacobian, count->row_jacobian},
    };
    const TakenIndices indices[] = {
        {&m->row_given, &m->n_row_given, n},
        {&m->row_group, &m->n_row_group, n},
        {&m->row_block_count, &m->n_row_block_count, n},
        {&m->row_block_tree, &m->n_row_block_tree, count->row_block},
    };
    return take_columns(columns, sizeof(columns) / sizeof(columns[0]), arena) &&
           take_indices(indices, sizeof(indices) / sizeof(indices[0]), arena);
}

// ---- trees

static void write_link(const ContactProblem *problem, const ProblemLink *link, Lengths *next,
                       Moreau__V1__ContactProblem *m) {
    size_t n = link->count, at = next->link++;
    const Sym3 *i = &link->inertia;
    const double six[6] = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz};
    m->link_parent[at] = link->parent;
    m->link_velocities[at] = link->count;
    m->link_mass[at] = link->mass;
    memcpy(m->link_inertia + 6 * at, six, sizeof(six));
    vec3_store(m->link_center + 3 * at, link->center);
    memcpy(m->link_motion + 6 * next->link_velocity, problem->number + link->motion,
           6 * n * sizeof(double));
    memcpy(m->link_added + next->link_added, problem->number + link->added, n * n * sizeof(double));
    next->link_velocity += n;
    next->link_added += n * n;
}

static void write_tree(const ContactProblem *problem, uint32_t i, Lengths *next,
                       Moreau__V1__ContactProblem *m) {
    const ProblemTree *tree = &problem->tree[i];
    m->tree_width[i] = tree->width;
    m->tree_is_body[i] = tree->is_free;
    if (m->n_tree_link_count > 0) {
        m->tree_link_count[i] = tree->link_count;
    }
    for (uint32_t k = 0; k < tree->link_count; k++) {
        write_link(problem, &problem->link[tree->mass + k], next, m);
    }
    if (tree->is_free) {
        const FreeMass *mass = &problem->free[i];
        const double six[6] = {mass->inertia.xx, mass->inertia.yy, mass->inertia.zz,
                               mass->inertia.xy, mass->inertia.xz, mass->inertia.yz};
        m->body_mass[next->body] = mass->mass;
        memcpy(m->body_inertia + 6 * next->body++, six, sizeof(six));
    } else if (tree->link_count == 0) {
        size_t count = (size_t)tree->width * tree->width;
        memcpy(m->mass + next->mass, problem->number + tree->mass, count * sizeof(double));
        next->mass += count;
    }
}

// ---- contacts

static void write_contact_numbers(const ContactProblem *problem, size_t i,
                                  Moreau__V1__ContactProblem *m) {
    const ProblemContact *contact = &problem->contact[i];
    const ContactLaw *law = &problem->law[i];
    bool stiff = isfinite(law->stiffness);
    m->contact_mu[i] = contact->mu;
    m->contact_gap[i] = contact->gap;
    m->contact_approach[i] = law->approach;
    m->contact_stiffness[i] = stiff ? law->stiffness : 0.0;
    m->contact_dissipation_time[i] = law->dissipation_time;
    m->contact_damping[i] = law->damping;
    m->contact_bias[i] = contact->bias;
    m->contact_force[i] = law->force;
    memcpy(m->contact_motion + 3 * i, contact->motion, sizeof(contact->motion));
    memcpy(m->contact_gdot + 3 * i, law->gdot, sizeof(law->gdot));
    // the bias holds the restitution already, so the dump carries none
    m->contact_given[i] = MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_BIAS;
    if (stiff) {
        m->contact_given[i] |= MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_STIFFNESS |
                               MOREAU__V1__CONTACT_PROBLEM__CONTACT_GIVEN__CONTACT_FORCE;
    }
}

static void write_jacobian(const ContactProblem *problem, const ContactSide *side, Lengths *next,
                           Moreau__V1__ContactProblem *m) {
    size_t count = 3 * (size_t)problem->tree[side->tree].width;
    memcpy(m->contact_jacobian + next->contact_jacobian, problem->number + side->jacobian,
           count * sizeof(double));
    next->contact_jacobian += count;
}

// The first block is read as side b, the second as side a.
static uint32_t write_blocks(const ContactProblem *problem, const ProblemContact *contact,
                             Lengths *next, Moreau__V1__ContactProblem *m) {
    uint32_t count = 0;
    for (int s = 1; s >= 0; s--) {
        const ContactSide *side = &contact->side[s];
        if (side->tree != PROBLEM_NO_TREE) {
            m->contact_block_tree[next->block++] = side->tree;
            write_jacobian(problem, side, next, m);
            count++;
        }
    }
    return count;
}

static void write_sides(const ContactProblem *problem, const ProblemContact *contact, Lengths *next,
                        Moreau__V1__ContactProblem *m) {
    double *frame = m->contact_frame + 9 * next->frame++;
    vec3_store(frame, contact->normal);
    vec3_store(frame + 3, contact->tangent[0]);
    vec3_store(frame + 6, contact->tangent[1]);
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &contact->side[s];
        m->side_tree[next->side++] = side->tree;
        if (is_free_side(problem, side)) {
            vec3_store(m->side_arm + 3 * next->arm++, side->arm);
        } else if (side->tree != PROBLEM_NO_TREE) {
            write_jacobian(problem, side, next, m);
        }
    }
}

static void write_contact(const ContactProblem *problem, size_t i, Lengths *next,
                          Moreau__V1__ContactProblem *m) {
    const ProblemContact *contact = &problem->contact[i];
    write_contact_numbers(problem, i, m);
    m->contact_block_count[i] = 0;
    if (has_blocks(problem, contact)) {
        m->contact_block_count[i] = write_blocks(problem, contact, next, m);
    } else {
        write_sides(problem, contact, next, m);
    }
}

// ---- rows

// A bound, or a stiffness, that is infinite is not given.
static double given_number(double number, uint32_t bit, uint32_t *given) {
    *given |= isfinite(number) ? bit : 0;
    return isfinite(number) ? number : 0.0;
}

static void write_row(const ContactProblem *problem, size_t i, Lengths *next,
                      Moreau__V1__ContactProblem *m) {
    const ProblemRow *row = &problem->row[i];
    uint32_t given = MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_BIAS;
    given |= row->is_position ? MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_GAP : 0u;
    given |= row->has_compliance ? MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_COMPLIANCE : 0u;
    m->row_low[i] = given_number(row->low, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_LOW, &given);
    m->row_high[i] =
        given_number(row->high, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_HIGH, &given);
    m->row_stiffness[i] =
        given_number(row->stiffness, MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_STIFFNESS, &given);
    m->row_gap[i] = row->gap;
    m->row_bias[i] = row->bias;
    m->row_dissipation_time[i] = row->dissipation_time;
    m->row_damping[i] = row->damping;
    m->row_compliance[i] = row->compliance;
    m->row_gdot[i] = row->gdot;
    m->row_group[i] = row->group;
    m->row_given[i] = given;
    m->row_block_count[i] = row->block_count;
    for (uint32_t b = 0; b < row->block_count; b++) {
        const RowBlock *block = &problem->row_block[row->block_first + b];
        size_t width = problem->tree[block->tree].width;
        m->row_block_tree[next->row_block++] = block->tree;
        memcpy(m->row_jacobian + next->row_jacobian, problem->number + block->jacobian,
               width * sizeof(double));
        next->row_jacobian += width;
    }
}

// ---- all of it

Moreau__V1__ContactProblem *problem_codec_write(const ContactProblem *problem, Arena *arena) {
    const Lengths count = measure(problem);
    Moreau__V1__ContactProblem *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__contact_problem__init(m);
    if (!take_trees(problem, &count, arena, m) || !take_contacts(problem, &count, arena, m) ||
        !take_rows(problem, &count, arena, m)) {
        return NULL;
    }
    m->has_time_step = m->has_gravity = 1;
    m->time_step = problem->time_step;
    m->gravity = problem->gravity;
    m->n_v_free = problem->velocity_count;
    m->v_free = (double *)problem->v_free;
    Lengths next = {0};
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        write_tree(problem, i, &next, m);
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        write_contact(problem, i, &next, m);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        write_row(problem, i, &next, m);
    }
    m->n_warm_contacts = problem->warm_contact != NULL ? 3 * (size_t)problem->contact_count : 0;
    m->warm_contacts = (double *)problem->warm_contact;
    m->n_warm_rows = problem->warm_row != NULL ? problem->row_count : 0;
    m->warm_rows = (double *)problem->warm_row;
    return m;
}
