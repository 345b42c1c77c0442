// SPDX-License-Identifier: MIT
#include "support/problem_file.h"

#include <check.h>
#include <string.h>

static void *take(ProblemFile *file, size_t count, size_t size) {
    void *piece = arena_take_zeroed(&file->arena, count, size);
    ck_assert_ptr_nonnull(piece);
    return piece;
}

static json_t *load(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/%s/%s.json", MOREAU_SOURCE_DIR, folder, name);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    ck_assert_msg(root != NULL, "%s: %s, line %d", path, error.text, error.line);
    return root;
}

json_t *problem_file_reference(const char *name) {
    return load("reference", name);
}

size_t problem_file_numbers(const json_t *array, double *numbers, size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (json_is_array(item)) {
            count += problem_file_numbers(item, numbers + count, capacity - count);
        } else {
            ck_assert(json_is_number(item));
            ck_assert_uint_lt(count, capacity);
            numbers[count++] = json_number_value(item);
        }
    }
    return count;
}

static double number_or(const json_t *object, const char *key, double missing) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : missing;
}

// appends to the problem's numbers, returns where
static uint32_t store(ProblemFile *file, const json_t *array, size_t count) {
    ContactProblem *problem = &file->problem;
    size_t offset = problem->number_count;
    double *numbers = (double *)(uintptr_t)problem->number;
    ck_assert_uint_eq(problem_file_numbers(array, numbers + offset, count), count);
    problem->number_count += count;
    return (uint32_t)offset;
}

// A block of zeros.
static uint32_t store_zeros(ProblemFile *file, size_t count) {
    ContactProblem *problem = &file->problem;
    size_t offset = problem->number_count;
    memset((double *)(uintptr_t)problem->number + offset, 0, count * sizeof(double));
    problem->number_count += count;
    return (uint32_t)offset;
}

static size_t count_numbers(const json_t *value) {
    if (json_is_number(value)) {
        return 1;
    }
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        count += count_numbers(json_array_get(value, i));
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        count += count_numbers(member);
    }
    return count;
}

static FreeMass read_body(const json_t *body) {
    double six[6];
    ck_assert_uint_eq(problem_file_numbers(json_object_get(body, "inertia"), six, 6), 6);
    return problem_free_mass(number_or(body, "mass", 0.0),
                             (Sym3){six[0], six[1], six[2], six[3], six[4], six[5]});
}

static ProblemLink read_link(ProblemFile *file, const json_t *item, uint32_t first) {
    double six[6], center[3];
    ck_assert_uint_eq(problem_file_numbers(json_object_get(item, "inertia"), six, 6), 6);
    ck_assert_uint_eq(problem_file_numbers(json_object_get(item, "center"), center, 3), 3);
    const json_t *motion = json_object_get(item, "motion"), *added = json_object_get(item, "added");
    uint32_t count = (uint32_t)json_array_size(motion);
    ProblemLink link = {.parent = (uint32_t)number_or(item, "parent", (double)PROBLEM_NO_LINK),
                        .first = first,
                        .count = count,
                        .mass = number_or(item, "mass", 0.0),
                        .inertia = {six[0], six[1], six[2], six[3], six[4], six[5]},
                        .center = vec3_load(center),
                        .motion = store(file, motion, 6 * (size_t)count)};
    link.added = added != NULL ? store(file, added, (size_t)count * count)
                               : store_zeros(file, (size_t)count * count);
    return link;
}

// Returns how many there are now.
static uint32_t read_links(ProblemFile *file, const json_t *links, ProblemLink *link,
                           uint32_t link_count) {
    uint32_t first = 0;
    for (size_t i = 0; i < json_array_size(links); i++) {
        link[link_count] = read_link(file, json_array_get(links, i), first);
        first += link[link_count++].count;
    }
    return link_count;
}

static void read_trees(ProblemFile *file) {
    const json_t *trees = json_object_get(file->root, "trees");
    ContactProblem *problem = &file->problem;
    problem->tree_count = (uint32_t)json_array_size(trees);
    ProblemTree *tree = take(file, problem->tree_count, sizeof(*tree));
    FreeMass *body = take(file, problem->tree_count, sizeof(*body));
    double *v_free = take(file, count_numbers(trees), sizeof(*v_free));
    // a link has more than ten numbers
    ProblemLink *link = take(file, count_numbers(trees) / 10 + 1, sizeof(*link));
    uint32_t first = 0;
    problem->all_free = problem->tree_count > 0;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const json_t *item = json_array_get(trees, i), *v = json_object_get(item, "v_free");
        uint32_t width = (uint32_t)json_array_size(v);
        problem_file_numbers(v, v_free + first, width);
        tree[i] = (ProblemTree){.first = first, .width = width};
        const json_t *free_body = json_object_get(item, "body");
        if (free_body != NULL) {
            tree[i].is_free = true;
            body[i] = read_body(free_body);
        } else if (json_object_get(item, "links") != NULL) {
            const json_t *links = json_object_get(item, "links");
            tree[i].mass = problem->link_count;
            tree[i].link_count = (uint32_t)json_array_size(links);
            problem->link_count = read_links(file, links, link, problem->link_count);
            problem->all_free = false;
        } else {
            tree[i].mass = store(file, json_object_get(item, "mass"), (size_t)width * width);
            problem->all_free = false;
        }
        first += width;
    }
    problem->free = body;
    problem->link = link;
    problem->velocity_count = first;
    problem->tree = tree;
    problem->v_free = v_free;
}

static void read_blocks(ProblemFile *file, const json_t *blocks, ProblemContact *contact) {
    for (size_t s = 0; s < json_array_size(blocks); s++) {
        const json_t *block = json_array_get(blocks, s);
        uint32_t tree = (uint32_t)json_integer_value(json_object_get(block, "tree"));
        size_t width = file->problem.tree[tree].width;
        contact->side[s].tree = tree;
        contact->side[s].jacobian = store(file, json_object_get(block, "jacobian"), 3 * width);
    }
}

// of a contact that touches a body
static void read_sides(ProblemFile *file, const json_t *item, ProblemContact *contact) {
    double frame[9], arm[3];
    ck_assert_uint_eq(problem_file_numbers(json_object_get(item, "frame"), frame, 9), 9);
    contact->normal = vec3_load(frame);
    contact->tangent[0] = vec3_load(frame + 3);
    contact->tangent[1] = vec3_load(frame + 6);
    for (size_t s = 0; s < 2; s++) {
        const json_t *side = json_array_get(json_object_get(item, "sides"), s);
        if (json_is_null(side)) {
            continue;
        }
        uint32_t tree = (uint32_t)json_integer_value(json_object_get(side, "tree"));
        contact->side[s].tree = tree;
        if (file->problem.tree[tree].is_free) {
            ck_assert_uint_eq(problem_file_numbers(json_object_get(side, "arm"), arm, 3), 3);
            contact->side[s].arm = vec3_load(arm);
        } else {
            size_t width = file->problem.tree[tree].width;
            contact->side[s].jacobian = store(file, json_object_get(side, "jacobian"), 3 * width);
        }
    }
}

static void read_contact(ProblemFile *file, const json_t *item, ProblemContact *contact,
                         ContactLaw *law) {
    const ContactProblem *problem = &file->problem;
    *contact = (ProblemContact){.normal = {1.0, 0.0, 0.0},
                                .tangent = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
                                .mu = number_or(item, "mu", 0.0),
                                .gap = number_or(item, "gap", 0.0)};
    *law = (ContactLaw){.approach = number_or(item, "approach", 0.0),
                        .restitution = number_or(item, "restitution", 0.0),
                        .stiffness = number_or(item, "stiffness", HUGE_VAL),
                        .dissipation_time = number_or(item, "dissipation_time", 0.0),
                        .damping = number_or(item, "damping", 0.0)};
    contact->bias = number_or(item, "bias",
                              problem_contact_bias(problem->time_step, contact->gap, 1.0,
                                                   law->restitution, law->approach));
    law->force =
        number_or(item, "force", contact->gap == 0.0 ? 0.0 : -law->stiffness * contact->gap);
    problem_file_numbers(json_object_get(item, "motion"), contact->motion, 3);
    contact->side[0].tree = contact->side[1].tree = PROBLEM_NO_TREE;
    if (json_object_get(item, "sides") != NULL) {
        read_sides(file, item, contact);
    } else {
        read_blocks(file, json_object_get(item, "blocks"), contact);
    }
}

static void read_contacts(ProblemFile *file) {
    const json_t *contacts = json_object_get(file->root, "contacts");
    file->problem.contact_count = (uint32_t)json_array_size(contacts);
    ProblemContact *contact = take(file, file->problem.contact_count, sizeof(*contact));
    ContactLaw *law = take(file, file->problem.contact_count, sizeof(*law));
    for (uint32_t i = 0; i < file->problem.contact_count; i++) {
        read_contact(file, json_array_get(contacts, i), &contact[i], &law[i]);
    }
    file->problem.contact = contact;
    file->problem.law = law;
}

static void read_row(ProblemFile *file, const json_t *item, RowBlock *row_block, ProblemRow *row) {
    ContactProblem *problem = &file->problem;
    bool is_position = json_is_number(json_object_get(item, "gap"));
    double gap = number_or(item, "gap", 0.0);
    *row =
        (ProblemRow){.block_first = problem->row_block_count,
                     .group = (uint32_t)number_or(item, "group", 0.0),
                     .is_position = is_position,
                     .low = number_or(item, "low", -HUGE_VAL),
                     .high = number_or(item, "high", HUGE_VAL),
                     .gap = gap,
                     .bias = number_or(item, "bias", is_position ? gap / problem->time_step : 0.0),
                     .compliance = number_or(item, "R", 0.0),
                     .has_compliance = json_is_number(json_object_get(item, "R")),
                     .stiffness = number_or(item, "stiffness", HUGE_VAL),
                     .dissipation_time = number_or(item, "dissipation_time", 0.0),
                     .damping = number_or(item, "damping", 0.0)};
    const json_t *blocks = json_object_get(item, "blocks");
    for (size_t b = 0; b < json_array_size(blocks); b++) {
        const json_t *block = json_array_get(blocks, b);
        uint32_t tree = (uint32_t)json_integer_value(json_object_get(block, "tree"));
        uint32_t jacobian =
            store(file, json_object_get(block, "jacobian"), problem->tree[tree].width);
        row_block[problem->row_block_count++] = (RowBlock){tree, jacobian};
        row->block_count++;
    }
}

static void read_rows(ProblemFile *file) {
    const json_t *rows = json_object_get(file->root, "rows");
    ContactProblem *problem = &file->problem;
    problem->row_count = (uint32_t)json_array_size(rows);
    ProblemRow *row = take(file, problem->row_count, sizeof(*row));
    RowBlock *row_block = take(file, count_numbers(rows), sizeof(*row_block));
    for (uint32_t i = 0; i < problem->row_count; i++) {
        read_row(file, json_array_get(rows, i), row_block, &row[i]);
    }
    problem->row = row;
    problem->row_block = row_block;
}

void problem_file_open(ProblemFile *file, const char *name) {
    memset(file, 0, sizeof(*file));
    file->root = load("problems", name);
    arena_init(&file->arena, (size_t)1 << 30);
    // what a link's velocities have added, where it is not said, is no more than their motion
    file->problem.number = take(file, 2 * count_numbers(file->root), sizeof(double));
    file->problem.time_step = number_or(file->root, "time_step", 0.0);
    file->problem.gravity = number_or(file->root, "gravity", 0.0);
    read_trees(file);
    read_contacts(file);
    read_rows(file);
}

void problem_file_close(ProblemFile *file) {
    json_decref(file->root);
    arena_deinit(&file->arena);
}

const json_t *problem_file_answer(const ProblemFile *file, const char *model) {
    const json_t *answers = json_object_get(file->root, "answers");
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *answer = json_array_get(answers, i);
        if (strcmp(json_string_value(json_object_get(answer, "model")), model) == 0) {
            return answer;
        }
    }
    return NULL;
}
