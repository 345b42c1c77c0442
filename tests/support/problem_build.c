// SPDX-License-Identifier: MIT
#include "support/problem_build.h"

#include "support/links_mass.h"

#include <check.h>
#include <string.h>

static void *take(ProblemBuild *build, size_t count, size_t size) {
    void *piece = arena_take_zeroed(&build->arena, count, size);
    ck_assert_ptr_nonnull(piece);
    return piece;
}

void problem_build_init(ProblemBuild *build) {
    memset(build, 0, sizeof(*build));
    arena_init(&build->arena, (size_t)1 << 28);
    build->tree = take(build, PROBLEM_BUILD_TREES, sizeof(*build->tree));
    build->free = take(build, PROBLEM_BUILD_TREES, sizeof(*build->free));
    build->link = take(build, PROBLEM_BUILD_LINKS, sizeof(*build->link));
    build->v_free = take(build, (size_t)PROBLEM_BUILD_TREES * 16, sizeof(*build->v_free));
    build->contact = take(build, PROBLEM_BUILD_CONTACTS, sizeof(*build->contact));
    build->law = take(build, PROBLEM_BUILD_CONTACTS, sizeof(*build->law));
    build->row = take(build, PROBLEM_BUILD_ROWS, sizeof(*build->row));
    build->row_block = take(build, (size_t)PROBLEM_BUILD_ROWS * 4, sizeof(*build->row_block));
    build->number = take(build, PROBLEM_BUILD_NUMBERS, sizeof(*build->number));
    build->problem = (ContactProblem){.time_step = 0.01,
                                      .gravity = 9.81,
                                      .all_free = true,
                                      .tree = build->tree,
                                      .free = build->free,
                                      .link = build->link,
                                      .v_free = build->v_free,
                                      .contact = build->contact,
                                      .law = build->law,
                                      .row = build->row,
                                      .row_block = build->row_block,
                                      .number = build->number};
}

void problem_build_deinit(ProblemBuild *build) {
    arena_deinit(&build->arena);
}

static uint32_t store(ProblemBuild *build, const double *numbers, size_t count) {
    size_t offset = build->problem.number_count;
    ck_assert_uint_le(offset + count, PROBLEM_BUILD_NUMBERS);
    memcpy(build->number + offset, numbers, count * sizeof(double));
    build->problem.number_count += count;
    return (uint32_t)offset;
}

static uint32_t add_tree(ProblemBuild *build, ProblemTree tree, const double *v_free) {
    ContactProblem *problem = &build->problem;
    ck_assert_uint_lt(problem->tree_count, PROBLEM_BUILD_TREES);
    tree.first = problem->velocity_count;
    memcpy(build->v_free + tree.first, v_free, tree.width * sizeof(double));
    problem->velocity_count += tree.width;
    problem->all_free = problem->all_free && tree.is_free;
    build->tree[problem->tree_count] = tree;
    return problem->tree_count++;
}

uint32_t problem_build_free(ProblemBuild *build, double mass, Sym3 inertia, const double *v_free) {
    build->free[build->problem.tree_count] = problem_free_mass(mass, inertia);
    return add_tree(build, (ProblemTree){.width = 6, .is_free = true}, v_free);
}

uint32_t problem_build_dense(ProblemBuild *build, uint32_t width, const double *mass,
                             const double *v_free) {
    size_t offset = store(build, mass, (size_t)width * width);
    return add_tree(build, (ProblemTree){.width = width, .mass = offset}, v_free);
}

uint32_t problem_build_links(ProblemBuild *build, uint32_t count, const ProblemBuildLink *link,
                             const double *v_free) {
    ContactProblem *problem = &build->problem;
    uint32_t width = 0;
    size_t first = problem->link_count;
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_lt(problem->link_count, PROBLEM_BUILD_LINKS);
        size_t n = link[i].count;
        build->link[problem->link_count++] =
            (ProblemLink){.parent = link[i].parent,
                          .first = width,
                          .count = link[i].count,
                          .mass = link[i].mass,
                          .inertia = link[i].inertia,
                          .center = link[i].center,
                          .motion = store(build, link[i].motion, 6 * n),
                          .added = store(build, link[i].added, n * n)};
        width += link[i].count;
    }
    return add_tree(build, (ProblemTree){.width = width, .link_count = count, .mass = first},
                    v_free);
}

ProblemContact *problem_build_contact(ProblemBuild *build, Vec3 normal, double mu, double bias) {
    ck_assert_uint_lt(build->problem.contact_count, PROBLEM_BUILD_CONTACTS);
    ProblemContact *contact = &build->contact[build->problem.contact_count];
    *contact = (ProblemContact){.side = {{.tree = PROBLEM_NO_TREE}, {.tree = PROBLEM_NO_TREE}},
                                .normal = normal,
                                .mu = mu,
                                .bias = bias};
    build->law[build->problem.contact_count++] =
        (ContactLaw){.stiffness = PROBLEM_INFINITE_STIFFNESS};
    vec3_tangents(normal, &contact->tangent[0], &contact->tangent[1]);
    return contact;
}

void problem_build_side(ProblemContact *contact, int side, uint32_t tree, Vec3 arm) {
    contact->side[side] = (ContactSide){.tree = tree, .arm = arm};
}

void problem_build_dense_side(ProblemBuild *build, ProblemContact *contact, int side, uint32_t tree,
                              const double *jacobian) {
    uint32_t offset = store(build, jacobian, 3 * (size_t)build->tree[tree].width);
    contact->side[side] = (ContactSide){.tree = tree, .jacobian = offset};
}

ProblemRow *problem_build_row(ProblemBuild *build, double low, double high, double bias) {
    ck_assert_uint_lt(build->problem.row_count, PROBLEM_BUILD_ROWS);
    ProblemRow *row = &build->row[build->problem.row_count++];
    *row = (ProblemRow){.block_first = build->problem.row_block_count,
                        .low = low,
                        .high = high,
                        .bias = bias,
                        .stiffness = PROBLEM_INFINITE_STIFFNESS};
    return row;
}

void problem_build_block(ProblemBuild *build, uint32_t tree, const double *jacobian) {
    ContactProblem *problem = &build->problem;
    uint32_t offset = store(build, jacobian, build->tree[tree].width);
    build->row_block[problem->row_block_count++] = (RowBlock){tree, offset};
    build->row[problem->row_count - 1].block_count++;
}

// ---- the dense form

static void add_dense_body(ProblemBuild *dense, const FreeMass *body, const double *v_free) {
    double mass[36] = {0.0};
    const Sym3 *m = &body->inertia;
    const double inertia[9] = {m->xx, m->xy, m->xz, m->xy, m->yy, m->yz, m->xz, m->yz, m->zz};
    for (size_t i = 0; i < 3; i++) {
        mass[7 * i] = body->mass;
        for (size_t j = 0; j < 3; j++) {
            mass[6 * (i + 3) + j + 3] = inertia[3 * i + j];
        }
    }
    problem_build_dense(dense, 6, mass, v_free);
}

static void add_dense_links(ProblemBuild *dense, const ContactProblem *from, uint32_t tree,
                            const double *v_free) {
    uint32_t width = from->tree[tree].width;
    double *mass = take(dense, (size_t)width * width, sizeof(*mass));
    for (uint32_t i = 0; i < width; i++) {
        for (uint32_t j = 0; j < width; j++) {
            mass[(size_t)i * width + j] = (double)links_mass(from, tree, i, j);
        }
    }
    problem_build_dense(dense, width, mass, v_free);
}

static void add_dense_contact(ProblemBuild *dense, const ContactProblem *from,
                              const ProblemContact *contact) {
    ProblemContact *copy =
        problem_build_contact(dense, contact->normal, contact->mu, contact->bias);
    *copy = *contact;
    dense->law[dense->problem.contact_count - 1] = from->law[contact - from->contact];
    const Vec3 frame[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &contact->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (!from->tree[side->tree].is_free) {
            problem_build_dense_side(dense, copy, s, side->tree, from->number + side->jacobian);
            continue;
        }
        double jacobian[18];
        for (size_t k = 0; k < 3; k++) {
            double sign = s == 0 ? -1.0 : 1.0;
            vec3_store(jacobian + 6 * k, vec3_scale(sign, frame[k]));
            vec3_store(jacobian + 6 * k + 3, vec3_scale(sign, vec3_cross(side->arm, frame[k])));
        }
        problem_build_dense_side(dense, copy, s, side->tree, jacobian);
    }
}

void problem_build_densify(const ContactProblem *from, ProblemBuild *dense) {
    dense->problem.time_step = from->time_step;
    dense->problem.gravity = from->gravity;
    for (uint32_t i = 0; i < from->tree_count; i++) {
        const ProblemTree *tree = &from->tree[i];
        const double *v_free = from->v_free + tree->first;
        if (tree->is_free) {
            add_dense_body(dense, &from->free[i], v_free);
        } else if (tree->link_count > 0) {
            add_dense_links(dense, from, i, v_free);
        } else {
            problem_build_dense(dense, tree->width, from->number + tree->mass, v_free);
        }
    }
    for (uint32_t i = 0; i < from->contact_count; i++) {
        add_dense_contact(dense, from, &from->contact[i]);
    }
    for (uint32_t i = 0; i < from->row_count; i++) {
        const ProblemRow *row = &from->row[i];
        ProblemRow *copy = problem_build_row(dense, row->low, row->high, row->bias);
        uint32_t first = copy->block_first;
        *copy = *row;
        copy->block_first = first;
        copy->block_count = 0;
        for (uint32_t b = 0; b < row->block_count; b++) {
            const RowBlock *block = &from->row_block[row->block_first + b];
            problem_build_block(dense, block->tree, from->number + block->jacobian);
        }
    }
}

// ---- random problems

double problem_build_random(uint64_t *state) {
    // xorshift64* of Marsaglia and Vigna; the upper 53 bits
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717u) >> 11) * 0x1p-52 - 1.0;
}

void problem_build_random_mass(uint64_t *state, uint32_t width, double least, double *mass) {
    enum { WIDEST = 66 };
    double root[WIDEST * WIDEST];
    ck_assert_uint_le(width, WIDEST);
    for (uint32_t i = 0; i < width * width; i++) {
        root[i] = problem_build_random(state);
    }
    for (uint32_t i = 0; i < width; i++) {
        for (uint32_t j = 0; j < width; j++) {
            double sum = i == j ? least : 0.0;
            for (uint32_t k = 0; k < width; k++) {
                sum += root[i * width + k] * root[j * width + k];
            }
            mass[i * width + j] = sum;
        }
    }
}

static Vec3 random_vector(uint64_t *state) {
    double x = problem_build_random(state), y = problem_build_random(state);
    return vec3(x, y, problem_build_random(state));
}

static Sym3 random_inertia(uint64_t *state) {
    double inertia[9];
    problem_build_random_mass(state, 3, 0.2, inertia);
    return (Sym3){inertia[0], inertia[4], inertia[8], inertia[1], inertia[2], inertia[5]};
}

// What weighs nothing hangs on what carries it: only leaves must weigh something.
static void fill_random_link(ProblemBuildLink *link, uint64_t *state, uint32_t index,
                             bool is_leaf) {
    static const uint32_t counts[] = {1, 3, 1, 0, 2, 1, 6, 1, 4, 1, 5};
    *link = (ProblemBuildLink){.parent = PROBLEM_NO_LINK, .count = counts[index % 11]};
    if (index > 0) {
        double share = 0.5 * (problem_build_random(state) + 1.0);
        uint32_t back = 1 + (uint32_t)(2.999 * share); // one of the last three
        link->parent = index > back ? index - back : 0;
    }
    link->center = vec3_add(vec3(0.5 * (double)index, 0.0, 0.0), random_vector(state));
    if (is_leaf || index % 4 != 2) {
        link->mass = 1.5 + problem_build_random(state);
        link->inertia = random_inertia(state);
    }
    for (uint32_t k = 0; k < 6 * link->count; k++) {
        link->motion[k] = problem_build_random(state);
    }
    if (index % 3 == 1 && link->count > 0) {
        problem_build_random_mass(state, link->count, 0.1, link->added);
    }
    for (uint32_t k = 0; k < link->count; k++) {
        link->added[k * (link->count + 1)] += 0.05;
    }
}

uint32_t problem_build_random_links(ProblemBuild *build, uint64_t *state, uint32_t count) {
    enum { LINKS_MAX = 64 };
    ProblemBuildLink link[LINKS_MAX];
    double v_free[LINKS_MAX * PROBLEM_LINK_VELOCITIES];
    ck_assert_uint_le(count, LINKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        fill_random_link(&link[i], state, i, i + 3 >= count);
    }
    for (uint32_t i = 0; i < count * PROBLEM_LINK_VELOCITIES; i++) {
        v_free[i] = problem_build_random(state);
    }
    return problem_build_links(build, count, link, v_free);
}

static void add_random_body(ProblemBuild *build, uint64_t *state, bool is_round) {
    double v_free[6];
    Sym3 sym = random_inertia(state);
    if (is_round) {
        sym = (Sym3){sym.xx, sym.xx, sym.xx, 0.0, 0.0, 0.0};
    }
    for (int k = 0; k < 6; k++) {
        v_free[k] = problem_build_random(state);
    }
    problem_build_free(build, 1.5 + problem_build_random(state), sym, v_free);
}

void problem_build_random_bodies(ProblemBuild *build, uint64_t *state, uint32_t bodies,
                                 uint32_t contacts) {
    for (uint32_t i = 0; i < bodies; i++) {
        add_random_body(build, state, i % 2 == 0);
    }
    for (uint32_t i = 0; i < contacts; i++) {
        Vec3 normal = random_vector(state);
        normal = vec3_scale(1.0 / vec3_norm(normal), normal);
        double mu = 0.4 + 0.4 * problem_build_random(state);
        ProblemContact *contact = problem_build_contact(build, normal, mu, 0.0);
        contact->bias = 0.1 * problem_build_random(state);
        uint32_t b = i % bodies, a = (b + 1 + i % 2) % bodies;
        // round bodies are touched in line with their centre, as balls are
        double size_a = 0.5 + 0.2 * problem_build_random(state);
        Vec3 arm_b = b % 2 == 0 ? vec3_scale(-0.4, normal) : random_vector(state);
        Vec3 arm_a = a % 2 == 0 ? vec3_scale(size_a, normal) : random_vector(state);
        problem_build_side(contact, 1, b, arm_b);
        if (i % 3 != 0 && a != b) {
            problem_build_side(contact, 0, a, arm_a);
        }
    }
}
