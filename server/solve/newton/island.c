// SPDX-License-Identifier: MIT
#include "solve/newton/island.h"

#include "base/assert.h"

#include <string.h>

// to lay out a constraint, to make momentum of it or velocities of that, to look at its residual
#define OPERATIONS_TO_PUT  200.0
#define OPERATIONS_TO_PUSH 50.0
#define OPERATIONS_TO_LOOK 150.0

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for Newton's method.");
}

// ---- what is there

// of a contact: its own trees, each once; of a row: its blocks
static uint32_t count_blocks(const ContactProblem *problem, const Islands *islands,
                             uint32_t island) {
    uint32_t count = 0;
    const uint32_t *contact = islands->contact + islands->contact_first[island];
    for (uint32_t i = 0; i < islands->contact_first[island + 1] - islands->contact_first[island];
         i++) {
        const ContactSide *side = problem->contact[contact[i]].side;
        count += side[0].tree != PROBLEM_NO_TREE;
        count += side[1].tree != PROBLEM_NO_TREE && side[1].tree != side[0].tree;
    }
    for (uint32_t i = islands->row_first[island]; i < islands->row_first[island + 1]; i++) {
        count += problem->row[islands->row[i]].block_count;
    }
    return count;
}

// the numbers of the Jacobians of contacts, and the edges of all constraints
static void count_contents(const ContactProblem *problem, const Islands *islands, uint32_t island,
                           size_t *numbers, size_t *edges) {
    *numbers = *edges = 0;
    for (uint32_t i = islands->contact_first[island]; i < islands->contact_first[island + 1]; i++) {
        const ContactSide *side = problem->contact[islands->contact[i]].side;
        for (int s = 0; s < 2; s++) {
            bool is_tree = side[s].tree != PROBLEM_NO_TREE;
            *numbers += is_tree ? 3 * (size_t)problem->tree[side[s].tree].width : 0;
        }
        *edges += side[0].tree != PROBLEM_NO_TREE && side[1].tree != PROBLEM_NO_TREE &&
                  side[0].tree != side[1].tree;
    }
    for (uint32_t i = islands->row_first[island]; i < islands->row_first[island + 1]; i++) {
        size_t count = problem->row[islands->row[i]].block_count;
        *edges += count * (count - 1) / 2;
    }
}

// ---- trees

static Status take_trees(NewtonIsland *n, const Islands *islands, uint32_t island, Arena *arena,
                         uint32_t **place, Error *error) {
    const ContactProblem *problem = n->problem;
    n->tree = islands->tree + islands->tree_first[island];
    n->tree_count = islands->tree_first[island + 1] - islands->tree_first[island];
    uint32_t *width = arena_take_array(arena, n->tree_count, sizeof(*width));
    n->velocity = arena_take_array(arena, (size_t)n->tree_count + 1, sizeof(*n->velocity));
    *place = arena_take_array(arena, problem->tree_count, sizeof(**place));
    if (width == NULL || n->velocity == NULL || *place == NULL) {
        return no_memory(error);
    }
    size_t width_max = n->mass->width_max;
    for (uint32_t i = 0; i < n->tree_count; i++) {
        (*place)[n->tree[i]] = i;
        width[i] = problem->tree[n->tree[i]].width;
        n->velocity[i] = n->velocity_count;
        n->velocity_count += width[i];
    }
    n->velocity[n->tree_count] = n->velocity_count;
    n->graph = (Graph){.vertex_count = n->tree_count, .width = width};
    n->v_free = arena_take_array(arena, n->velocity_count, sizeof(double));
    n->scratch = arena_take_array(arena, width_max, 2 * (size_t)NEWTON_ROWS_MAX * sizeof(double));
    n->piece = arena_take_array(arena, width_max * width_max, 2 * sizeof(double));
    if (n->v_free == NULL || n->scratch == NULL || n->piece == NULL) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < n->tree_count; i++) {
        memcpy(n->v_free + n->velocity[i], problem->v_free + problem_first(problem, n->tree[i]),
               width[i] * sizeof(double));
    }
    return STATUS_OK;
}

// ---- constraints

// What lists are filled from.
typedef struct Filler {
    NewtonIsland *n;
    const uint32_t *place;
    uint32_t block_count;
    double *number;
    uint32_t *end;
} Filler;

static void add_edges(Filler *f, NewtonConstraint *c) {
    Graph *graph = &f->n->graph;
    const NewtonBlock *block = f->n->block + c->block_first;
    c->edge_first = graph->edge_count;
    for (uint32_t i = 1; i < c->block_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            f->end[2 * graph->edge_count] = block[i].tree;
            f->end[2 * graph->edge_count + 1] = block[j].tree;
            graph->edge_count++;
        }
    }
}

static void put_block(Filler *f, NewtonConstraint *c, uint32_t tree, const double *jacobian) {
    NewtonIsland *n = f->n;
    uint32_t place = f->place[tree];
    n->block[f->block_count++] = (NewtonBlock){.tree = place,
                                               .width = n->graph.width[place],
                                               .velocity = n->velocity[place],
                                               .jacobian = jacobian};
    c->block_count++;
}

// rows n, t1, t2 of what one side of a contact adds
static void add_side(const ContactProblem *problem, const ProblemContact *contact, int s,
                     double *jacobian) {
    const ContactSide *side = &contact->side[s];
    size_t width = problem->tree[side->tree].width;
    if (!problem_is_free(problem, side->tree)) {
        const double *from = problem->number + side->jacobian;
        for (size_t k = 0; k < 3 * width; k++) {
            jacobian[k] += from[k];
        }
        return;
    }
    const Vec3 axis[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    for (size_t k = 0; k < 3; k++) {
        Vec3 linear = s == 0 ? vec3_neg(axis[k]) : axis[k];
        double *row = jacobian + k * width;
        vec3_store(row, vec3_add(vec3_load(row), linear));
        vec3_store(row + 3, vec3_add(vec3_load(row + 3), vec3_cross(side->arm, linear)));
    }
}

static void put_contact(Filler *f, uint32_t index, NewtonConstraint *c) {
    const ContactProblem *problem = f->n->problem;
    const ProblemContact *contact = &problem->contact[index];
    const MassBlock *block = mass_contact_block(f->n->mass, index);
    *c = (NewtonConstraint){
        .index = index,
        .rows = 3,
        .first = f->n->impulse_count,
        .block_first = f->block_count,
        .w = mass_block_weight(block),
        .offset = {contact->motion[0] + contact->bias, contact->motion[1], contact->motion[2]},
        .mu = contact->mu};
    for (int s = 0; s < 2; s++) {
        uint32_t tree = contact->side[s].tree;
        if (tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (s == 1 && c->block_count == 1 && tree == contact->side[0].tree) {
            // both sides on one tree
            add_side(problem, contact, s, f->number - 3 * (size_t)problem->tree[tree].width);
            continue;
        }
        size_t count = 3 * (size_t)problem->tree[tree].width;
        memset(f->number, 0, count * sizeof(double));
        add_side(problem, contact, s, f->number);
        put_block(f, c, tree, f->number);
        f->number += count;
    }
    if (f->n->law == RELATION_DISSIPATION && block->nn > 0.0) {
        double k = contact->mu / block->nn;
        double size = k * k * (block->nt * block->nt + block->no * block->no);
        c->turn[0] = size < 1.0 ? k * block->nt : 0.0;
        c->turn[1] = size < 1.0 ? k * block->no : 0.0;
    }
    add_edges(f, c);
    f->n->impulse_count += 3;
}

static void put_row(Filler *f, uint32_t index, NewtonConstraint *c) {
    const ContactProblem *problem = f->n->problem;
    const ProblemRow *row = &problem->row[index];
    *c = (NewtonConstraint){.index = index,
                            .rows = 1,
                            .first = f->n->impulse_count,
                            .block_first = f->block_count,
                            .w = mass_row_weight(f->n->mass, index, f->n->scratch),
                            .offset = {row->bias},
                            .low = row->low,
                            .high = row->high,
                            .compliance = row->has_compliance ? row->compliance : 0.0};
    for (uint32_t b = 0; b < row->block_count; b++) {
        const RowBlock *block = &problem->row_block[row->block_first + b];
        put_block(f, c, block->tree, problem->number + block->jacobian);
    }
    add_edges(f, c);
    f->n->impulse_count += 1;
}

Status newton_island_init(NewtonIsland *n, const ContactProblem *problem, const ProblemMass *mass,
                          const Islands *islands, uint32_t island, RelationKind law, double v_scale,
                          Asker *asker, Arena *arena, Error *error) {
    ASSERT(law == RELATION_CONE || law == RELATION_DISSIPATION);
    ASSERT(mass->problem == problem);
    ASSERT(island < islands->count);
    *n = (NewtonIsland){
        .problem = problem, .mass = mass, .law = law, .v_scale = v_scale, .asker = asker};
    Filler f = {.n = n};
    uint32_t *place;
    Status status = take_trees(n, islands, island, arena, &place, error);
    if (status != STATUS_OK) {
        return status;
    }
    f.place = place;
    size_t numbers, edges;
    count_contents(problem, islands, island, &numbers, &edges);
    uint32_t contacts = islands->contact_first[island + 1] - islands->contact_first[island];
    uint32_t rows = islands->row_first[island + 1] - islands->row_first[island];
    n->contact_count = contacts;
    n->constraint_count = contacts + rows;
    n->constraint = arena_take_array(arena, n->constraint_count, sizeof(*n->constraint));
    n->block = arena_take_array(arena, count_blocks(problem, islands, island), sizeof(*n->block));
    f.number = arena_take_array(arena, numbers, sizeof(double));
    f.end = arena_take_array(arena, edges, 2 * sizeof(uint32_t));
    if (n->constraint == NULL || n->block == NULL || f.number == NULL || f.end == NULL) {
        return no_memory(error);
    }
    n->graph.end = f.end;
    const uint32_t *contact = islands->contact + islands->contact_first[island];
    for (uint32_t i = 0; i < contacts; i++) {
        put_contact(&f, contact[i], &n->constraint[i]);
        asker_spend(asker, OPERATIONS_TO_PUT);
    }
    const uint32_t *row = islands->row + islands->row_first[island];
    for (uint32_t i = 0; i < rows; i++) {
        put_row(&f, row[i], &n->constraint[contacts + i]);
        asker_spend(asker, OPERATIONS_TO_PUT);
    }
    ASSERT(n->graph.edge_count == edges);
    return STATUS_OK;
}

// ---- products

void newton_product(const NewtonIsland *n, const NewtonConstraint *c, const double *v, double *u) {
    VALIDATE(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    for (uint32_t r = 0; r < c->rows; r++) {
        u[r] = 0.0;
    }
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        const double *of = v + block->velocity, *row = block->jacobian;
        for (uint32_t r = 0; r < c->rows; r++, row += block->width) {
            double sum = 0.0;
            for (size_t k = 0; k < block->width; k++) {
                sum += row[k] * of[k];
            }
            u[r] += sum;
        }
    }
}

void newton_momentum(const NewtonIsland *n, const NewtonConstraint *c, const double *gamma,
                     double *p) {
    VALIDATE(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        double *of = p + block->velocity;
        const double *row = block->jacobian;
        for (uint32_t r = 0; r < c->rows; r++, row += block->width) {
            for (size_t k = 0; k < block->width; k++) {
                of[k] += row[k] * gamma[r];
            }
        }
    }
}

void newton_velocities(const NewtonIsland *n, const double *impulse, double *v) {
    ASSERT(n->velocity_count > 0);
    memset(v, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        newton_momentum(n, &n->constraint[i], impulse + n->constraint[i].first, v);
        asker_spend(n->asker, OPERATIONS_TO_PUSH);
    }
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], v + n->velocity[i]);
        asker_spend(n->asker, OPERATIONS_TO_PUSH);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        v[k] += n->v_free[k];
    }
}

void newton_masses(const NewtonIsland *n, const double *v, double *p) {
    ASSERT(v != p);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        uint32_t tree = n->tree[i];
        const double *from = v + n->velocity[i];
        double *to = p + n->velocity[i];
        if (!problem_is_free(n->problem, tree)) {
            mass_dense_multiply(n->mass, tree, from, to);
            continue;
        }
        const FreeMass *of = &n->problem->free[tree];
        vec3_store(to, vec3_scale(of->mass, vec3_load(from)));
        vec3_store(to + 3, sym3_mul_vec(of->inertia, vec3_load(from + 3)));
    }
}

// ---- the matrix

void newton_begin_matrix(const NewtonIsland *n, Ldlt *ldlt) {
    ASSERT(n->tree_count > 0);
    ldlt_clear(ldlt);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_tree_matrix(n->mass, n->tree[i], n->piece);
        ldlt_add_vertex(ldlt, i, n->piece);
        asker_spend(n->asker, OPERATIONS_TO_PUSH);
    }
}

// Contacts of free bodies, the commonest by far, have loops of known length.
enum { FREE_WIDTH = 6, CONTACT_ROWS = 3 };

// piece := A^T B of two blocks with `rows` rows
static inline __attribute__((always_inline)) void
multiply_blocks_of(const double *a, size_t a_width, const double *b, size_t b_width, size_t rows,
                   double *piece) {
    for (size_t i = 0; i < a_width; i++) {
        for (size_t j = 0; j < b_width; j++) {
            double sum = 0.0;
            for (size_t r = 0; r < rows; r++) {
                sum += a[r * a_width + i] * b[r * b_width + j];
            }
            piece[i * b_width + j] = sum;
        }
    }
}

static void multiply_blocks(const double *a, size_t a_width, const double *b, size_t b_width,
                            size_t rows, double *piece) {
    if (a_width == FREE_WIDTH && b_width == FREE_WIDTH && rows == CONTACT_ROWS) {
        multiply_blocks_of(a, FREE_WIDTH, b, FREE_WIDTH, CONTACT_ROWS, piece);
    } else {
        multiply_blocks_of(a, a_width, b, b_width, rows, piece);
    }
}

// product := H J of a block
static inline __attribute__((always_inline)) void multiply_rows_of(const double *jacobian,
                                                                   size_t width, size_t rows,
                                                                   const double *h,
                                                                   double *product) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t k = 0; k < width; k++) {
            double sum = 0.0;
            for (size_t q = 0; q < rows; q++) {
                sum += h[r * rows + q] * jacobian[q * width + k];
            }
            product[r * width + k] = sum;
        }
    }
}

static void multiply_rows(const NewtonBlock *block, size_t rows, const double *h, double *product) {
    if (block->width == FREE_WIDTH && rows == CONTACT_ROWS) {
        multiply_rows_of(block->jacobian, FREE_WIDTH, CONTACT_ROWS, h, product);
    } else {
        multiply_rows_of(block->jacobian, block->width, rows, h, product);
    }
}

void newton_add_matrix(const NewtonIsland *n, Ldlt *ldlt, const NewtonConstraint *c,
                       const double *h) {
    VALIDATE(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    const NewtonBlock *block = n->block + c->block_first;
    size_t edge = c->edge_first, rows = c->rows, width_max = n->mass->width_max;
    double *product = n->scratch, *other = product + NEWTON_ROWS_MAX * width_max;
    double *opposite = n->piece + width_max * width_max;
    for (uint32_t i = 0; i < c->block_count; i++) {
        const NewtonBlock *a = &block[i];
        multiply_rows(a, rows, h, product);
        multiply_blocks(a->jacobian, a->width, product, a->width, rows, n->piece);
        ldlt_add_vertex(ldlt, a->tree, n->piece);
        for (uint32_t j = 0; j < i; j++) {
            const NewtonBlock *b = &block[j];
            // rows of a, columns of b, and the other way round
            multiply_rows(b, rows, h, other);
            multiply_blocks(a->jacobian, a->width, other, b->width, rows, n->piece);
            if (!ldlt->is_symmetric) {
                multiply_blocks(b->jacobian, b->width, product, a->width, rows, opposite);
            }
            ldlt_add_edge(ldlt, edge++, n->piece, opposite);
        }
    }
}

// ---- the residual

static double row_residual(const NewtonIsland *n, const NewtonConstraint *c, double r, double u) {
    double y = u + c->compliance * r;
    if (!isfinite(c->low) && !isfinite(c->high)) {
        return fabs(y);
    }
    double most = CERTIFICATE_IMPULSE_MAX * n->v_scale;
    double scale = c->w * fabs(r) > most ? most / fabs(r) : c->w;
    double clipped = relation_max(relation_min(r - y / scale, c->high), c->low);
    return scale * fabs(r - clipped);
}

static double contact_residual(const NewtonIsland *n, const NewtonConstraint *c,
                               const double *gamma, const double *u) {
    const MassBlock *block = mass_contact_block(n->mass, c->index);
    double size = sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1] + gamma[2] * gamma[2]);
    double most = CERTIFICATE_IMPULSE_MAX * n->v_scale;
    const ContactState state = {.block = {block->nn, block->nt, block->no, block->nt, block->tt,
                                          block->to, block->no, block->to, block->oo},
                                .w = c->w,
                                .c = c->w * size > most ? most / size : c->w,
                                .mu = c->mu,
                                .u = {u[0], u[1], u[2]},
                                .gamma = {gamma[0], gamma[1], gamma[2]}};
    const Answer answer = {.relation = n->law};
    const ContactRelation rigid = {.s = 1.0};
    return relation_residual(&answer, &rigid, &state, n->problem->time_step);
}

double newton_residual(const NewtonIsland *n, const double *impulse, const double *v) {
    ASSERT(n->contact_count <= n->constraint_count);
    double worst = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double u[NEWTON_ROWS_MAX], residual = 0.0;
        newton_product(n, c, v, u);
        for (uint32_t r = 0; r < c->rows; r++) {
            u[r] += c->offset[r];
        }
        if (c->w > 0.0) {
            const double *gamma = impulse + c->first;
            residual = c->rows == 1 ? row_residual(n, c, gamma[0], u[0])
                                    : contact_residual(n, c, gamma, u);
        }
        worst = relation_max(worst, residual);
        asker_spend(n->asker, OPERATIONS_TO_LOOK);
    }
    return worst / n->v_scale;
}
