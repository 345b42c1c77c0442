// SPDX-License-Identifier: MIT
// Judging a problem that came from outside. Every comparison is written so that NaN fails it; the
// offending key is spelled as in the file format (problem.md).
#include "base/assert.h"
#include "solve/problem.h"

#include "solve/dense/dense.h"
#include "solve/mass_links.h"

#include <stdarg.h>
#include <stdio.h>

// m_ij and m_ji may differ by this share of the diagonal: a file written with ten digits passes
#define SYMMETRY_TOLERANCE 1e-9
// a Cholesky pivot below this share of its diagonal entry is lost in rounding
#define PIVOT_SHARE_MIN 1e-14
// unit vectors and right angles of a contact frame
#define FRAME_TOLERANCE 1e-6

enum { KEY_BYTES = 96 };

__attribute__((format(printf, 3, 4))) static Status refuse(Error *error, const char *message,
                                                           const char *format, ...) {
    char key[KEY_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(key, sizeof(key), format, arguments);
    va_end(arguments);
    return error_set(error, STATUS_INVALID_ARGUMENT, key, "%s: %s.", key, message);
}

static bool all_finite(const double *numbers, size_t count) {
    ASSERT(numbers != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            return false;
        }
    }
    return true;
}

static bool is_stored(const ContactProblem *problem, size_t offset, size_t count) {
    return offset <= problem->number_count && count <= problem->number_count - offset;
}

static bool is_symmetric(const double *matrix, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double size = sqrt(fabs(matrix[i * n + i])) * sqrt(fabs(matrix[j * n + j]));
            if (!(fabs(matrix[i * n + j] - matrix[j * n + i]) <= SYMMETRY_TOLERANCE * size)) {
                return false;
            }
        }
    }
    return true;
}

// `scratch` holds n^2 numbers
static bool is_definite(const double *matrix, size_t n, double *scratch) {
    ASSERT(scratch != matrix);
    if (!dense_factor(n, matrix, 0.0, scratch)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const double inverse_pivot = scratch[i * n + i];
        if (!(1.0 > PIVOT_SHARE_MIN * matrix[i * n + i] * inverse_pivot)) {
            return false;
        }
    }
    return true;
}

static bool is_definite_tensor(const Sym3 *sym) {
    double scratch[9];
    const double tensor[9] = {sym->xx, sym->xy, sym->xz, sym->xy, sym->yy,
                              sym->yz, sym->xz, sym->yz, sym->zz};
    return all_finite(tensor, 9) && is_definite(tensor, 3, scratch);
}

// The inverse of a tensor that is definite need not be, where rounding is all that says so.
static Status check_free_mass(const FreeMass *mass, uint32_t tree, Error *error) {
    if (!(mass->mass > 0.0 && isfinite(mass->mass) && mass->inverse_mass > 0.0 &&
          isfinite(mass->inverse_mass) && fabs(mass->mass * mass->inverse_mass - 1.0) < 1e-15)) {
        return refuse(error, "must be positive and finite, and so must its inverse",
                      "trees[%u].body.mass", tree);
    }
    if (!is_definite_tensor(&mass->inertia) || !is_definite_tensor(&mass->inverse_inertia)) {
        return refuse(error, "must be positive definite, and so must its inverse",
                      "trees[%u].body.inertia", tree);
    }
    return STATUS_OK;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "problem",
                     "The problem needs more memory than one request may take, which is some "
                     "frames (option --frame-bytes-max).");
}

static Status check_dense_mass(const ContactProblem *problem, uint32_t tree, Arena *arena,
                               Error *error) {
    ASSERT(!problem->tree[tree].is_free);
    ASSERT(problem->tree[tree].link_count == 0);
    const ProblemTree *t = &problem->tree[tree];
    size_t n = t->width;
    if (!is_stored(problem, t->mass, n * n)) {
        return refuse(error, "must have width x width numbers", "trees[%u].mass", tree);
    }
    const double *matrix = problem->number + t->mass;
    if (!all_finite(matrix, n * n)) {
        return refuse(error, "must be finite", "trees[%u].mass", tree);
    }
    if (!is_symmetric(matrix, n)) {
        return refuse(error, "must be symmetric", "trees[%u].mass", tree);
    }
    double *scratch = arena_take_array(arena, n * n, sizeof(*scratch));
    if (scratch == NULL) {
        return no_memory(error);
    }
    if (!is_definite(matrix, n, scratch)) {
        return refuse(error, "must be positive definite", "trees[%u].mass", tree);
    }
    return STATUS_OK;
}

// ---- links

// Whether no direction has less than nothing, but for rounding: the principal minors.
static bool is_semidefinite_tensor(const Sym3 *s) {
    const double number[6] = {s->xx, s->yy, s->zz, s->xy, s->xz, s->yz};
    if (!all_finite(number, 6) || !(s->xx >= 0.0 && s->yy >= 0.0 && s->zz >= 0.0)) {
        return false;
    }
    double size = s->xx + s->yy + s->zz, floor = -SYMMETRY_TOLERANCE * size * size;
    double xy = s->xx * s->yy - s->xy * s->xy, xz = s->xx * s->zz - s->xz * s->xz,
           yz = s->yy * s->zz - s->yz * s->yz;
    double all = s->xx * yz - s->xy * (s->xy * s->zz - s->yz * s->xz) +
                 s->xz * (s->xy * s->yz - s->yy * s->xz);
    return xy >= floor && xz >= floor && yz >= floor && all >= floor * size;
}

// But for the numbers of its joint; `velocities` are those of the links before.
static Status check_link(const ProblemLink *link, uint32_t tree, uint32_t index,
                         uint32_t velocities, Error *error) {
    ASSERT(tree != PROBLEM_NO_TREE);
    if (link->parent != PROBLEM_NO_LINK && link->parent >= index) {
        return refuse(error, "must be a link before this one, or none",
                      "trees[%u].links[%u].parent", tree, index);
    }
    if (link->count > PROBLEM_LINK_VELOCITIES || link->first != velocities) {
        return refuse(error, "a link has 0 to 6 velocities, after those of the links before it",
                      "trees[%u].links[%u].motion", tree, index);
    }
    if (!(link->mass >= 0.0 && isfinite(link->mass))) {
        return refuse(error, "must be finite and not negative", "trees[%u].links[%u].mass", tree,
                      index);
    }
    if (!is_semidefinite_tensor(&link->inertia)) {
        return refuse(error, "must be finite and have no negative moment",
                      "trees[%u].links[%u].inertia", tree, index);
    }
    if (!vec3_is_finite(link->center)) {
        return refuse(error, "must be finite", "trees[%u].links[%u].center", tree, index);
    }
    return STATUS_OK;
}

static Status check_link_numbers(const ContactProblem *problem, const ProblemLink *link,
                                 uint32_t tree, uint32_t index, Error *error) {
    size_t n = link->count;
    if (!is_stored(problem, link->motion, 6 * n) ||
        !all_finite(problem->number + link->motion, 6 * n)) {
        return refuse(error, "must be 6 finite numbers for each velocity",
                      "trees[%u].links[%u].motion", tree, index);
    }
    if (!is_stored(problem, link->added, n * n) ||
        !all_finite(problem->number + link->added, n * n) ||
        !is_symmetric(problem->number + link->added, n)) {
        return refuse(error, "must be a symmetric block of finite numbers",
                      "trees[%u].links[%u].added", tree, index);
    }
    return STATUS_OK;
}

static Status check_definite_links(const ContactProblem *problem, uint32_t tree, Arena *arena,
                                   Error *error) {
    ASSERT(problem->tree[tree].link_count > 0);
    MassLink *link = arena_take_array(arena, problem->tree[tree].link_count, sizeof(*link));
    double *number = arena_take_array(arena, mass_links_numbers(problem, tree), sizeof(*number));
    if (link == NULL || number == NULL) {
        return no_memory(error);
    }
    return mass_links_factor(problem, tree, PIVOT_SHARE_MIN, link, number)
               ? STATUS_OK
               : refuse(error, "the mass that they make must be positive definite",
                        "trees[%u].links", tree);
}

static Status check_links(const ContactProblem *problem, uint32_t tree, Arena *arena,
                          Error *error) {
    ASSERT(!problem->tree[tree].is_free);
    const ProblemTree *t = &problem->tree[tree];
    if (t->mass > problem->link_count || t->link_count > problem->link_count - t->mass) {
        return refuse(error, "there are not so many links", "trees[%u].links", tree);
    }
    Status status = STATUS_OK;
    uint32_t velocities = 0;
    for (uint32_t i = 0; status == STATUS_OK && i < t->link_count; i++) {
        const ProblemLink *link = &problem->link[t->mass + i];
        status = check_link(link, tree, i, velocities, error);
        status = STATUS_THEN(status, check_link_numbers(problem, link, tree, i, error));
        velocities += link->count;
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (velocities != t->width) {
        return refuse(error, "the velocities do not fit the links", "trees[%u].v_free", tree);
    }
    return check_definite_links(problem, tree, arena, error);
}

// ---- trees

static Status check_mass(const ContactProblem *problem, uint32_t tree, Arena *arena, Error *error) {
    ASSERT(tree < problem->tree_count);
    const ProblemTree *t = &problem->tree[tree];
    if (t->is_free) {
        return check_free_mass(&problem->free[tree], tree, error);
    }
    ArenaMark mark = arena_mark(arena);
    Status status = t->link_count > 0 ? check_links(problem, tree, arena, error)
                                      : check_dense_mass(problem, tree, arena, error);
    arena_reset_to(arena, mark);
    return status;
}

static Status check_trees(const ContactProblem *problem, Arena *arena, Error *error) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        if (tree->width == 0 || tree->first != first ||
            tree->width > problem->velocity_count - first ||
            (tree->is_free && (tree->width != 6 || tree->link_count > 0)) ||
            (problem->all_free && !tree->is_free)) {
            return refuse(error, "the velocities do not fit the trees", "trees[%u].v_free", i);
        }
        first += tree->width;
        Status status = check_mass(problem, i, arena, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (!all_finite(problem->v_free + tree->first, tree->width)) {
            return refuse(error, "must be finite", "trees[%u].v_free", i);
        }
    }
    if (first != problem->velocity_count) {
        return refuse(error, "the velocities do not fit the trees", "trees");
    }
    return STATUS_OK;
}

static bool is_frame(const ProblemContact *contact) {
    Vec3 n = contact->normal, t = contact->tangent[0];
    Vec3 error = vec3_sub(contact->tangent[1], vec3_cross(n, t));
    return fabs(vec3_dot(n, n) - 1.0) <= FRAME_TOLERANCE &&
           fabs(vec3_dot(t, t) - 1.0) <= FRAME_TOLERANCE &&
           fabs(vec3_dot(n, t)) <= FRAME_TOLERANCE && vec3_norm(error) <= FRAME_TOLERANCE;
}

static bool is_body(const ContactProblem *problem, const ContactSide *side) {
    return side->tree < problem->tree_count && problem->tree[side->tree].is_free;
}

// A side that is not static; `place` is where the file has it, as sides[0] or blocks[1].
static Status check_side(const ContactProblem *problem, uint32_t contact, const ContactSide *side,
                         const char *place, Error *error) {
    ASSERT(side->tree != PROBLEM_NO_TREE);
    if (side->tree >= problem->tree_count) {
        return refuse(error, "there is no such tree", "contacts[%u].%s.tree", contact, place);
    }
    const ProblemTree *tree = &problem->tree[side->tree];
    if (tree->is_free) {
        return vec3_is_finite(side->arm)
                   ? STATUS_OK
                   : refuse(error, "must be finite", "contacts[%u].%s.arm", contact, place);
    }
    size_t count = 3 * (size_t)tree->width;
    if (!is_stored(problem, side->jacobian, count) ||
        !all_finite(problem->number + side->jacobian, count)) {
        return refuse(error, "must be 3 x width finite numbers", "contacts[%u].%s.jacobian",
                      contact, place);
    }
    return STATUS_OK;
}

static Status check_sides(const ContactProblem *problem, uint32_t contact, Error *error) {
    ASSERT(contact < problem->contact_count);
    const ContactSide *side = problem->contact[contact].side;
    bool has_sides = is_body(problem, &side[0]) || is_body(problem, &side[1]);
    if (has_sides && !is_frame(&problem->contact[contact])) {
        return refuse(error, "must be orthonormal and right-handed, to 1e-6", "contacts[%u].frame",
                      contact);
    }
    char place[32] = "";
    int block = 0;
    for (int s = 0; s < 2; s++) {
        if (side[s].tree == PROBLEM_NO_TREE) {
            continue;
        }
        snprintf(place, sizeof(place), "%s[%d]", has_sides ? "sides" : "blocks",
                 has_sides ? s : block);
        Status status = check_side(problem, contact, &side[s], place, error);
        if (status != STATUS_OK) {
            return status;
        }
        block++;
    }
    if (block == 2 && side[0].tree == side[1].tree) {
        return refuse(error, "a contact may name a tree once", "contacts[%u].%s.tree", contact,
                      place);
    }
    return STATUS_OK;
}

// One number with its range: everything that a contact or a row is asked for.
typedef struct Demand {
    const char *key;
    bool holds;
    const char *message;
} Demand;

static Status check_demands(const Demand *demands, size_t count, const char *family, uint32_t index,
                            Error *error) {
    for (size_t i = 0; i < count; i++) {
        if (!demands[i].holds) {
            return refuse(error, demands[i].message, "%s[%u].%s", family, index, demands[i].key);
        }
    }
    return STATUS_OK;
}

static bool is_amount(double x) {
    return x >= 0.0 && isfinite(x);
}

static Status check_contact(const ContactProblem *problem, uint32_t contact, Error *error) {
    ASSERT(contact < problem->contact_count);
    const ProblemContact *c = &problem->contact[contact];
    const ContactLaw *law = &problem->law[contact];
    const Demand demands[] = {
        {"mu", is_amount(c->mu), "must be finite and not negative"},
        {"gap", isfinite(c->gap), "must be finite"},
        {"bias", isfinite(c->bias), "must be finite"},
        {"restitution", law->restitution >= 0.0 && law->restitution <= 1.0, "must lie in [0, 1]"},
        {"approach", law->approach <= 0.0 && isfinite(law->approach),
         "must be finite and not positive"},
        {"stiffness", law->stiffness >= 0.0, "must not be negative"},
        {"dissipation_time", is_amount(law->dissipation_time), "must be finite and not negative"},
        {"damping", is_amount(law->damping), "must be finite and not negative"},
        {"force", isfinite(law->force) || isinf(law->stiffness), "must be finite"},
        {"motion", all_finite(c->motion, 3), "must be finite"},
        {"gdot", all_finite(law->gdot, 3), "must be finite"},
    };
    Status status =
        check_demands(demands, sizeof(demands) / sizeof(demands[0]), "contacts", contact, error);
    return status != STATUS_OK ? status : check_sides(problem, contact, error);
}

static Status check_row_blocks(const ContactProblem *problem, uint32_t row, Error *error) {
    ASSERT(row < problem->row_count);
    const ProblemRow *r = &problem->row[row];
    if (r->block_first > problem->row_block_count ||
        r->block_count > problem->row_block_count - r->block_first) {
        return refuse(error, "does not fit the blocks", "rows[%u].blocks", row);
    }
    const RowBlock *blocks = problem->row_block + r->block_first;
    for (uint32_t b = 0; b < r->block_count; b++) {
        if (blocks[b].tree >= problem->tree_count) {
            return refuse(error, "there is no such tree", "rows[%u].blocks[%u].tree", row, b);
        }
        for (uint32_t other = 0; other < b; other++) {
            if (blocks[other].tree == blocks[b].tree) {
                return refuse(error, "a row may name a tree once", "rows[%u].blocks[%u].tree", row,
                              b);
            }
        }
        size_t width = problem->tree[blocks[b].tree].width;
        if (!is_stored(problem, blocks[b].jacobian, width) ||
            !all_finite(problem->number + blocks[b].jacobian, width)) {
            return refuse(error, "must be width finite numbers", "rows[%u].blocks[%u].jacobian",
                          row, b);
        }
    }
    return STATUS_OK;
}

static Status check_row(const ContactProblem *problem, uint32_t row, Error *error) {
    ASSERT(row < problem->row_count);
    const ProblemRow *r = &problem->row[row];
    const Demand demands[] = {
        {"low", r->low < HUGE_VAL, "must be a number below infinity"},
        {"high", r->high > -HUGE_VAL, "must be a number above minus infinity"},
        {"low", r->low <= r->high, "must not be above high"},
        {"gap", !r->is_position || isfinite(r->gap), "must be finite"},
        {"bias", isfinite(r->bias), "must be finite"},
        {"R", !r->has_compliance || is_amount(r->compliance), "must be finite and not negative"},
        {"stiffness", r->stiffness >= 0.0, "must not be negative"},
        {"dissipation_time", is_amount(r->dissipation_time), "must be finite and not negative"},
        {"damping", is_amount(r->damping), "must be finite and not negative"},
        {"gdot", isfinite(r->gdot), "must be finite"},
    };
    Status status =
        check_demands(demands, sizeof(demands) / sizeof(demands[0]), "rows", row, error);
    return status != STATUS_OK ? status : check_row_blocks(problem, row, error);
}

static Status check_warm(const ContactProblem *problem, Error *error) {
    for (uint32_t i = 0; problem->warm_contact != NULL && i < problem->contact_count; i++) {
        if (!all_finite(problem->warm_contact + 3 * (size_t)i, 3)) {
            return refuse(error, "must be finite", "warm.contacts[%u]", i);
        }
    }
    for (uint32_t i = 0; problem->warm_row != NULL && i < problem->row_count; i++) {
        if (!isfinite(problem->warm_row[i])) {
            return refuse(error, "must be finite", "warm.rows[%u]", i);
        }
    }
    return STATUS_OK;
}

Status problem_check(const ContactProblem *problem, Arena *arena, Error *error) {
    if (!(problem->time_step > 0.0 && isfinite(problem->time_step))) {
        return refuse(error, "must be positive and finite", "time_step");
    }
    if (!is_amount(problem->gravity)) {
        return refuse(error, "must be finite and not negative", "gravity");
    }
    Status status = check_trees(problem, arena, error);
    for (uint32_t i = 0; status == STATUS_OK && i < problem->contact_count; i++) {
        status = check_contact(problem, i, error);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < problem->row_count; i++) {
        status = check_row(problem, i, error);
    }
    return status != STATUS_OK ? status : check_warm(problem, error);
}
