// SPDX-License-Identifier: MIT
#include "cli/base/memory.h"
#include "cli/text/nearest.h"
#include "cli/protocol/parameters.h"
#include "cli/problems/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a walk carries along.
typedef struct Reading {
    const JsonText *json;
    JsonPath path;
    JsonError *error;
    Moreau__V1__ContactProblem *problem; // grows
} Reading;

#define REFUSE(reading, ...)                                                                       \
    json_text_refuse((reading)->json, (reading)->path.text, (reading)->error, __VA_ARGS__)

#define REFUSE_VALUE(reading, needed, value)                                                       \
    json_text_refuse_value((reading)->json, (reading)->path.text, (reading)->error, needed, value)

// ---- growing columns: a list of n items has room for the next power of two

static void *grow(void *items, size_t count, size_t item_bytes) {
    bool is_full = (count & (count - 1)) == 0;
    return is_full ? memory_grow(items, count > 0 ? 2 * count : 1, item_bytes) : items;
}

static void push_double(double **items, size_t *count, double number) {
    *items = grow(*items, *count, sizeof(**items));
    (*items)[(*count)++] = number;
}

static void push_uint32(uint32_t **items, size_t *count, uint32_t number) {
    *items = grow(*items, *count, sizeof(**items));
    (*items)[(*count)++] = number;
}

// ---- values

// Members are those of `names`, NULL at the end, and of `keys`.
static bool check_members(Reading *reading, const json_t *object, const char *const *names,
                          ProblemKeys keys) {
    if (!json_is_object(object)) {
        return REFUSE_VALUE(reading, "an object, as {...}", object);
    }
    const char *key;
    json_t *each;
    json_object_foreach((json_t *)object, key, each) {
        bool known = false;
        for (size_t i = 0; names[i] != NULL; i++) {
            known = known || strcmp(names[i], key) == 0;
        }
        for (size_t i = 0; i < keys.count; i++) {
            known = known || strcmp(keys.key[i].name, key) == 0;
        }
        if (!known) {
            json_path_enter(&reading->path, key);
            Nearest nearest = {.typed = key};
            char hint[NEAREST_HINT_BYTES];
            for (size_t i = 0; names[i] != NULL; i++) {
                nearest_offer(&nearest, names[i]);
            }
            for (size_t i = 0; i < keys.count; i++) {
                nearest_offer(&nearest, keys.key[i].name);
            }
            return REFUSE(reading, "unknown key in a file of format " PROBLEM_FORMAT "%s",
                          nearest_hint(&nearest, hint));
        }
    }
    return true;
}

static bool read_number(Reading *reading, const json_t *value, double *number) {
    if (!json_is_number(value)) {
        return REFUSE_VALUE(reading, "a number", value);
    }
    *number = json_number_value(value);
    return true;
}

static bool read_index(Reading *reading, const json_t *value, uint32_t *number) {
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > UINT32_MAX) {
        return REFUSE_VALUE(reading, "a whole number from 0", value);
    }
    *number = (uint32_t)json_integer_value(value);
    return true;
}

// A list of `count` numbers or rows.
static bool check_list(Reading *reading, const json_t *value, size_t count, const char *item) {
    const char *ending = count == 1 ? "" : "s";
    if (!json_is_array(value)) {
        char needed[64];
        snprintf(needed, sizeof(needed), "%zu %s%s, as [...]", count, item, ending);
        return REFUSE_VALUE(reading, needed, value);
    }
    return json_array_size(value) == count ||
           REFUSE(reading, "needs %zu %s%s, got %zu", count, item, ending, json_array_size(value));
}

// Exactly `count` numbers to the end of a column.
static bool read_numbers(Reading *reading, const json_t *value, size_t count, double **items,
                         size_t *item_count) {
    if (!check_list(reading, value, count, "number")) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t before = json_path_enter_index(&reading->path, i);
        double number = 0.0;
        if (!read_number(reading, json_array_get(value, i), &number)) {
            return false;
        }
        push_double(items, item_count, number);
        json_path_leave(&reading->path, before);
    }
    return true;
}

// `rows` lists of `columns` numbers each.
static bool read_matrix(Reading *reading, const json_t *value, size_t rows, size_t columns,
                        double **items, size_t *item_count) {
    if (!check_list(reading, value, rows, "row")) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        size_t before = json_path_enter_index(&reading->path, i);
        if (!read_numbers(reading, json_array_get(value, i), columns, items, item_count)) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    return true;
}

// A member that must be there; the path then ends with its key, and *before is where to go back to.
static const json_t *enter_member(Reading *reading, const json_t *object, const char *key,
                                  size_t *before) {
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        REFUSE(reading, "\"%s\" is missing", key);
        return NULL;
    }
    *before = json_path_enter(&reading->path, key);
    return value;
}

// ---- trees

static void push_bool(protobuf_c_boolean **items, size_t *count, bool value) {
    *items = grow(*items, *count, sizeof(**items));
    (*items)[(*count)++] = value;
}

// {"mass": m, "inertia": [xx, yy, zz, xy, xz, yz]}
static bool read_body(Reading *reading, const json_t *body) {
    static const char *const names[] = {"mass", "inertia", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    size_t before = 0;
    double mass = 0.0;
    const json_t *value;
    if (!check_members(reading, body, names, (ProblemKeys){NULL, 0}) ||
        (value = enter_member(reading, body, "mass", &before)) == NULL ||
        !read_number(reading, value, &mass)) {
        return false;
    }
    push_double(&problem->body_mass, &problem->n_body_mass, mass);
    json_path_leave(&reading->path, before);

    value = enter_member(reading, body, "inertia", &before);
    if (value == NULL ||
        !read_numbers(reading, value, 6, &problem->body_inertia, &problem->n_body_inertia)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    return true;
}

// The link on which one hangs: null, or none said, is the ground.
static bool read_parent(Reading *reading, const json_t *link) {
    Moreau__V1__ContactProblem *problem = reading->problem;
    const json_t *value = json_object_get(link, "parent");
    uint32_t parent = UINT32_MAX;
    if (value != NULL && !json_is_null(value)) {
        size_t before = json_path_enter(&reading->path, "parent");
        if (!read_index(reading, value, &parent)) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    push_uint32(&problem->link_parent, &problem->n_link_parent, parent);
    return true;
}

// "motion", a list of six for each velocity, and "added", zeros where it is not said.
static bool read_motion(Reading *reading, const json_t *link, size_t *velocities) {
    Moreau__V1__ContactProblem *problem = reading->problem;
    size_t before = 0;
    const json_t *value = enter_member(reading, link, "motion", &before);
    size_t count = json_array_size(value);
    if (value == NULL) {
        return false;
    }
    if (!json_is_array(value) || count > 6) {
        return REFUSE_VALUE(reading, "a list of six numbers for each of 0 to 6 velocities", value);
    }
    if (!read_matrix(reading, value, count, 6, &problem->link_motion, &problem->n_link_motion)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    push_uint32(&problem->link_velocities, &problem->n_link_velocities, (uint32_t)count);
    *velocities += count;
    if ((value = json_object_get(link, "added")) == NULL) {
        for (size_t i = 0; i < count * count; i++) {
            push_double(&problem->link_added, &problem->n_link_added, 0.0);
        }
        return true;
    }
    before = json_path_enter(&reading->path, "added");
    if (!read_matrix(reading, value, count, count, &problem->link_added, &problem->n_link_added)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    return true;
}

// {"parent": i, "mass": m, "inertia": [...], "center": [x, y, z], "motion": [...], "added": [...]}
static bool read_link(Reading *reading, const json_t *link, size_t *velocities) {
    static const char *const names[] = {"parent", "mass",  "inertia", "center",
                                        "motion", "added", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    size_t before = 0;
    double mass = 0.0;
    const json_t *value;
    if (!check_members(reading, link, names, (ProblemKeys){NULL, 0}) ||
        !read_parent(reading, link) ||
        (value = enter_member(reading, link, "mass", &before)) == NULL ||
        !read_number(reading, value, &mass)) {
        return false;
    }
    push_double(&problem->link_mass, &problem->n_link_mass, mass);
    json_path_leave(&reading->path, before);
    value = enter_member(reading, link, "inertia", &before);
    if (value == NULL ||
        !read_numbers(reading, value, 6, &problem->link_inertia, &problem->n_link_inertia)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    value = enter_member(reading, link, "center", &before);
    if (value == NULL ||
        !read_numbers(reading, value, 3, &problem->link_center, &problem->n_link_center)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    return read_motion(reading, link, velocities);
}

static bool read_links(Reading *reading, const json_t *links, size_t width) {
    size_t count = json_array_size(links), velocities = 0;
    if (!json_is_array(links) || count == 0) {
        return REFUSE_VALUE(reading, "a list of one or more links", links);
    }
    for (size_t i = 0; i < count; i++) {
        size_t before = json_path_enter_index(&reading->path, i);
        if (!read_link(reading, json_array_get(links, i), &velocities)) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    return velocities == width ||
           REFUSE(reading, "the links have %zu velocities, v_free has %zu", velocities, width);
}

// A body, links, or a matrix of as many rows and columns as the tree has velocities.
static bool read_mass(Reading *reading, const json_t *tree, size_t width) {
    Moreau__V1__ContactProblem *problem = reading->problem;
    bool is_body = json_object_get(tree, "body") != NULL;
    bool has_links = json_object_get(tree, "links") != NULL;
    if (is_body + has_links + (json_object_get(tree, "mass") != NULL) > 1) {
        return REFUSE(reading, "a tree has either \"mass\", a matrix, or \"body\", or \"links\"");
    }
    size_t before = 0, links = problem->n_link_parent;
    const json_t *value = enter_member(reading, tree,
                                       is_body     ? "body"
                                       : has_links ? "links"
                                                   : "mass",
                                       &before);
    if (value == NULL || !(is_body     ? read_body(reading, value)
                           : has_links ? read_links(reading, value, width)
                                       : read_matrix(reading, value, width, width, &problem->mass,
                                                     &problem->n_mass))) {
        return false;
    }
    json_path_leave(&reading->path, before);
    push_uint32(&problem->tree_link_count, &problem->n_tree_link_count,
                (uint32_t)(problem->n_link_parent - links));
    push_uint32(&problem->tree_width, &problem->n_tree_width, (uint32_t)width);
    push_bool(&problem->tree_is_body, &problem->n_tree_is_body, is_body);
    return true;
}

static bool read_tree(Reading *reading, const json_t *tree) {
    static const char *const names[] = {"mass", "body", "links", "v_free", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    size_t before = 0;
    const json_t *value;
    if (!check_members(reading, tree, names, (ProblemKeys){NULL, 0}) ||
        (value = enter_member(reading, tree, "v_free", &before)) == NULL) {
        return false;
    }
    bool is_body = json_object_get(tree, "body") != NULL;
    size_t width = is_body ? 6 : json_array_size(value);
    if (!json_is_array(value) || width == 0) {
        return REFUSE_VALUE(reading, "a list with one number per velocity of the tree", value);
    }
    if (!read_numbers(reading, value, width, &problem->v_free, &problem->n_v_free)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    return read_mass(reading, tree, width);
}

// ---- contacts and rows

// The column of a key, created with zeros for all `items` when the first of them needs it.
static double *take_column(Moreau__V1__ContactProblem *problem, const ProblemKey *key,
                           size_t items) {
    double *column;
    memcpy(&column, (uint8_t *)problem + key->column, sizeof(column));
    if (column == NULL) {
        size_t count = items * key->width;
        column = memory_take(count, sizeof(*column));
        memcpy((uint8_t *)problem + key->column, &column, sizeof(column));
        memcpy((uint8_t *)problem + key->count, &count, sizeof(count));
    }
    return column;
}

static bool read_key(Reading *reading, const json_t *value, const ProblemKey *key,
                     double *numbers) {
    if (key->width == 1) {
        return read_number(reading, value, numbers);
    }
    if (!check_list(reading, value, key->width, "number")) {
        return false;
    }
    for (size_t i = 0; i < key->width; i++) {
        size_t before = json_path_enter_index(&reading->path, i);
        if (!read_number(reading, json_array_get(value, i), &numbers[i])) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    return true;
}

// All numbers of one contact or row, into the index-th places of their columns.
static bool read_keys(Reading *reading, const json_t *object, ProblemKeys keys, size_t index,
                      size_t items, uint32_t *given) {
    for (size_t i = 0; i < keys.count; i++) {
        const ProblemKey *key = &keys.key[i];
        const json_t *value = json_object_get(object, key->name);
        if (value == NULL || (key->is_nullable && json_is_null(value))) {
            continue;
        }
        size_t before = json_path_enter(&reading->path, key->name);
        double *column = take_column(reading->problem, key, items);
        if (!read_key(reading, value, key, column + index * key->width)) {
            return false;
        }
        json_path_leave(&reading->path, before);
        *given |= key->given;
    }
    return true;
}

// The index of a tree that the file has; the path ends as it did.
static bool read_tree_index(Reading *reading, const json_t *object, uint32_t *tree) {
    size_t before = 0;
    const json_t *value = enter_member(reading, object, "tree", &before);
    if (value == NULL || !read_index(reading, value, tree)) {
        return false;
    }
    if (*tree >= reading->problem->n_tree_width) {
        return REFUSE(reading, "there is no tree %u; the file has %zu", *tree,
                      reading->problem->n_tree_width);
    }
    json_path_leave(&reading->path, before);
    return true;
}

// 3 rows for a contact, one for a row.
static bool read_jacobian(Reading *reading, const json_t *object, uint32_t tree, bool is_contact) {
    Moreau__V1__ContactProblem *problem = reading->problem;
    size_t before = 0;
    const json_t *value = enter_member(reading, object, "jacobian", &before);
    size_t width = problem->tree_width[tree];
    if (value == NULL ||
        !(is_contact ? read_matrix(reading, value, 3, width, &problem->contact_jacobian,
                                   &problem->n_contact_jacobian)
                     : read_numbers(reading, value, width, &problem->row_jacobian,
                                    &problem->n_row_jacobian))) {
        return false;
    }
    json_path_leave(&reading->path, before);
    return true;
}

// One block of a contact or of a row; the path ends with its index.
static bool read_block(Reading *reading, const json_t *block, bool is_contact) {
    static const char *const names[] = {"tree", "jacobian", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    uint32_t tree = 0;
    if (!check_members(reading, block, names, (ProblemKeys){NULL, 0}) ||
        !read_tree_index(reading, block, &tree)) {
        return false;
    }
    if (is_contact) {
        push_uint32(&problem->contact_block_tree, &problem->n_contact_block_tree, tree);
    } else {
        push_uint32(&problem->row_block_tree, &problem->n_row_block_tree, tree);
    }
    return read_jacobian(reading, block, tree, is_contact);
}

static bool read_blocks(Reading *reading, const json_t *object, bool is_contact, uint32_t *count) {
    size_t before = 0;
    const json_t *blocks = enter_member(reading, object, "blocks", &before);
    if (blocks == NULL) {
        return false;
    }
    size_t size = json_array_size(blocks);
    if (!json_is_array(blocks) || size == 0 || (is_contact && size > 2)) {
        return REFUSE_VALUE(reading,
                            is_contact ? "a list of one or two blocks {\"tree\", \"jacobian\"}"
                                       : "a list of one or more blocks {\"tree\", \"jacobian\"}",
                            blocks);
    }
    for (size_t i = 0; i < size; i++) {
        size_t here = json_path_enter_index(&reading->path, i);
        if (!read_block(reading, json_array_get(blocks, i), is_contact)) {
            return false;
        }
        json_path_leave(&reading->path, here);
    }
    *count = (uint32_t)size;
    json_path_leave(&reading->path, before);
    return true;
}

// One side of a contact that touches a body: null is the ground.
static bool read_side(Reading *reading, const json_t *side) {
    static const char *const body_names[] = {"tree", "arm", NULL};
    static const char *const dense_names[] = {"tree", "jacobian", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    uint32_t tree = UINT32_MAX;
    if (json_is_null(side)) {
        push_uint32(&problem->side_tree, &problem->n_side_tree, tree);
        return true;
    }
    if (!json_is_object(side)) {
        return REFUSE_VALUE(
            reading, "{\"tree\", \"arm\"}, {\"tree\", \"jacobian\"}, or null for ground", side);
    }
    if (!read_tree_index(reading, side, &tree)) {
        return false;
    }
    push_uint32(&problem->side_tree, &problem->n_side_tree, tree);
    bool is_body = problem->tree_is_body[tree];
    if (!check_members(reading, side, is_body ? body_names : dense_names, (ProblemKeys){NULL, 0})) {
        return false;
    }
    if (!is_body) {
        return read_jacobian(reading, side, tree, true);
    }
    size_t before = 0;
    const json_t *arm = enter_member(reading, side, "arm", &before);
    if (arm == NULL || !read_numbers(reading, arm, 3, &problem->side_arm, &problem->n_side_arm)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    return true;
}

// "frame" and "sides", a then b.
static bool read_sides(Reading *reading, const json_t *contact) {
    Moreau__V1__ContactProblem *problem = reading->problem;
    if (json_object_get(contact, "blocks") != NULL) {
        return REFUSE(reading, "a contact has either \"blocks\", or \"frame\" and \"sides\"");
    }
    size_t before = 0;
    const json_t *frame = enter_member(reading, contact, "frame", &before);
    if (frame == NULL ||
        !read_matrix(reading, frame, 3, 3, &problem->contact_frame, &problem->n_contact_frame)) {
        return false;
    }
    json_path_leave(&reading->path, before);
    const json_t *sides = enter_member(reading, contact, "sides", &before);
    if (sides == NULL || !check_list(reading, sides, 2, "side")) {
        return false;
    }
    for (size_t s = 0; s < 2; s++) {
        size_t here = json_path_enter_index(&reading->path, s);
        if (!read_side(reading, json_array_get(sides, s))) {
            return false;
        }
        json_path_leave(&reading->path, here);
    }
    json_path_leave(&reading->path, before);
    return true;
}

static bool read_contact(Reading *reading, const json_t *contact, size_t index, size_t items) {
    static const char *const names[] = {"blocks", "frame", "sides", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    uint32_t given = 0;
    uint32_t blocks = 0;
    if (!check_members(reading, contact, names, problem_contact_keys())) {
        return false;
    }
    if (json_object_get(contact, "mu") == NULL) {
        return REFUSE(reading, "\"mu\" is missing");
    }
    bool has_sides =
        json_object_get(contact, "frame") != NULL || json_object_get(contact, "sides") != NULL;
    if (!read_keys(reading, contact, problem_contact_keys(), index, items, &given) ||
        !(has_sides ? read_sides(reading, contact)
                    : read_blocks(reading, contact, true, &blocks))) {
        return false;
    }
    push_uint32(&problem->contact_given, &problem->n_contact_given, given);
    push_uint32(&problem->contact_block_count, &problem->n_contact_block_count, blocks);
    return true;
}

static bool read_row(Reading *reading, const json_t *row, size_t index, size_t items) {
    static const char *const names[] = {"blocks", "group", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    uint32_t given = 0;
    uint32_t blocks = 0;
    uint32_t group = 0;
    if (!check_members(reading, row, names, problem_row_keys())) {
        return false;
    }
    const json_t *value = json_object_get(row, "group");
    if (value != NULL) {
        size_t before = json_path_enter(&reading->path, "group");
        if (!read_index(reading, value, &group)) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    if (!read_keys(reading, row, problem_row_keys(), index, items, &given) ||
        !read_blocks(reading, row, false, &blocks)) {
        return false;
    }
    push_uint32(&problem->row_given, &problem->n_row_given, given);
    push_uint32(&problem->row_group, &problem->n_row_group, group);
    push_uint32(&problem->row_block_count, &problem->n_row_block_count, blocks);
    return true;
}

// ---- the document

typedef bool ReadItem(Reading *reading, const json_t *item, size_t index, size_t items);

static bool read_tree_item(Reading *reading, const json_t *item, size_t index, size_t items) {
    (void)index;
    (void)items;
    return read_tree(reading, item);
}

static bool read_list(Reading *reading, const json_t *root, const char *key, bool is_needed,
                      ReadItem *read_item) {
    const json_t *list = json_object_get(root, key);
    if (list == NULL && !is_needed) {
        return true;
    }
    size_t before = 0;
    if (enter_member(reading, root, key, &before) == NULL) {
        return false;
    }
    if (!json_is_array(list)) {
        return REFUSE_VALUE(reading, "a list, as [...]", list);
    }
    size_t items = json_array_size(list);
    for (size_t i = 0; i < items; i++) {
        size_t here = json_path_enter_index(&reading->path, i);
        if (!read_item(reading, json_array_get(list, i), i, items)) {
            return false;
        }
        json_path_leave(&reading->path, here);
    }
    json_path_leave(&reading->path, before);
    return true;
}

static bool read_warm(Reading *reading, const json_t *root) {
    static const char *const names[] = {"contacts", "rows", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    const json_t *warm = json_object_get(root, "warm");
    if (warm == NULL) {
        return true;
    }
    size_t before = json_path_enter(&reading->path, "warm");
    if (!check_members(reading, warm, names, (ProblemKeys){NULL, 0})) {
        return false;
    }
    size_t here = 0;
    const json_t *value;
    if (json_object_get(warm, "contacts") != NULL) {
        value = enter_member(reading, warm, "contacts", &here);
        if (!read_matrix(reading, value, problem->n_contact_mu, 3, &problem->warm_contacts,
                         &problem->n_warm_contacts)) {
            return false;
        }
        json_path_leave(&reading->path, here);
    }
    if (json_object_get(warm, "rows") != NULL) {
        value = enter_member(reading, warm, "rows", &here);
        if (!read_numbers(reading, value, problem->n_row_given, &problem->warm_rows,
                          &problem->n_warm_rows)) {
            return false;
        }
        json_path_leave(&reading->path, here);
    }
    json_path_leave(&reading->path, before);
    return true;
}

// Answers are for tests and people; here only their keys are judged.
static bool check_answer(Reading *reading, const json_t *answer, size_t index, size_t items) {
    static const char *const names[] = {"model",        "parameters", "v",      "contacts",
                                        "rows",         "residual",   "report", "tolerance",
                                        "confirmed_by", NULL};
    (void)index;
    (void)items;
    return check_members(reading, answer, names, (ProblemKeys){NULL, 0});
}

static bool read_header(Reading *reading, const json_t *root) {
    static const char *const names[] = {"format",    "about",   "solver",  "parameters",
                                        "time_step", "gravity", "trees",   "contacts",
                                        "rows",      "warm",    "answers", NULL};
    Moreau__V1__ContactProblem *problem = reading->problem;
    if (!check_members(reading, root, names, (ProblemKeys){NULL, 0})) {
        return false;
    }
    size_t before = 0;
    const json_t *value = enter_member(reading, root, "format", &before);
    if (value == NULL) {
        return false;
    }
    if (!json_is_string(value) || strcmp(json_string_value(value), PROBLEM_FORMAT) != 0) {
        return REFUSE_VALUE(reading, "\"" PROBLEM_FORMAT "\", the only format this tool reads",
                            value);
    }
    json_path_leave(&reading->path, before);

    value = enter_member(reading, root, "time_step", &before);
    if (value == NULL || !read_number(reading, value, &problem->time_step)) {
        return false;
    }
    problem->has_time_step = 1;
    json_path_leave(&reading->path, before);

    value = json_object_get(root, "gravity");
    if (value != NULL) {
        before = json_path_enter(&reading->path, "gravity");
        if (!read_number(reading, value, &problem->gravity)) {
            return false;
        }
        problem->has_gravity = 1;
        json_path_leave(&reading->path, before);
    }
    return true;
}

// "solver" and "parameters", as a dump has them. What the solver makes of them, the server judges.
static bool read_solver(Reading *reading, const json_t *root, ProblemSolver *solver) {
    const json_t *name = json_object_get(root, "solver");
    const json_t *parameters = json_object_get(root, "parameters");
    if (name != NULL && !json_is_string(name)) {
        json_path_enter(&reading->path, "solver");
        return REFUSE_VALUE(reading, "the name of a solver", name);
    }
    if (name != NULL) {
        solver->name = memory_copy(json_string_value(name));
    }
    if (parameters == NULL) {
        return true;
    }
    json_path_enter(&reading->path, "parameters");
    if (name == NULL) {
        return REFUSE(reading, "these are parameters of which solver? \"solver\" is missing");
    }
    bool is_read = parameters_read(solver->name, reading->json, parameters, reading->path.text,
                                   &solver->parameters, reading->error);
    json_path_leave(&reading->path, 0);
    return is_read;
}

Moreau__V1__ContactProblem *problem_read(const JsonText *json, ProblemSolver *solver,
                                         JsonError *error) {
    Reading reading = {.json = json, .error = error};
    *solver = (ProblemSolver){0};
    reading.problem = memory_take(1, sizeof(*reading.problem));
    moreau__v1__contact_problem__init(reading.problem);
    const json_t *root = json->root;
    if (read_header(&reading, root) && read_solver(&reading, root, solver) &&
        read_list(&reading, root, "trees", true, read_tree_item) &&
        read_list(&reading, root, "contacts", false, read_contact) &&
        read_list(&reading, root, "rows", false, read_row) && read_warm(&reading, root) &&
        read_list(&reading, root, "answers", false, check_answer)) {
        return reading.problem;
    }
    moreau__v1__contact_problem__free_unpacked(reading.problem, NULL);
    return NULL;
}

void problem_solver_free(ProblemSolver *solver) {
    free(solver->name);
    if (solver->parameters != NULL) {
        moreau__v1__solver_parameters__free_unpacked(solver->parameters, NULL);
    }
    *solver = (ProblemSolver){0};
}
