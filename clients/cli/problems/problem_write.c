// SPDX-License-Identifier: MIT
#include "cli/protocol/certificate.h"
#include "cli/text/number.h"
#include "cli/protocol/parameters.h"
#include "cli/problems/problem.h"

#include <math.h>
#include <string.h>

// A column that is read from the front. What comes from outside may be too short: `failed` then
// says so.
typedef struct Numbers {
    const double *next;
    size_t left;
} Numbers;

typedef struct Indices {
    const uint32_t *next;
    size_t left;
} Indices;

typedef struct Writing {
    const Moreau__V1__ContactProblem *problem;
    Numbers mass, v_free, body_mass, body_inertia;
    Numbers link_mass, link_inertia, link_center, link_motion, link_added;
    Indices link_parent, link_velocities;
    Numbers contact_jacobian, row_jacobian, frame, arm;
    Indices contact_tree, row_tree, side_tree;
    bool failed;
} Writing;

static const double *take_numbers(Writing *writing, Numbers *numbers, size_t count) {
    if (numbers->left < count) {
        writing->failed = true;
        return NULL;
    }
    const double *first = numbers->next;
    numbers->next += count;
    numbers->left -= count;
    return first;
}

// A problem is for machines: its zeros keep their signs, so that it is solved to the same bits.
static json_t *write_numbers(const double *numbers, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; numbers != NULL && i < count; i++) {
        json_array_append_new(list, json_real(numbers[i]));
    }
    return list;
}

static json_t *write_matrix(const double *numbers, size_t rows, size_t columns) {
    json_t *list = json_array();
    for (size_t i = 0; numbers != NULL && i < rows; i++) {
        json_array_append_new(list, write_numbers(numbers + i * columns, columns));
    }
    return list;
}

static bool is_body(const Moreau__V1__ContactProblem *problem, size_t tree) {
    return problem->n_tree_is_body > 0 && problem->tree_is_body[tree];
}

static json_t *write_body(Writing *writing) {
    const double *mass = take_numbers(writing, &writing->body_mass, 1);
    const double *inertia = take_numbers(writing, &writing->body_inertia, 6);
    json_t *body = json_object();
    json_object_set_new(body, "mass", mass == NULL ? json_null() : json_real(*mass));
    json_object_set_new(body, "inertia", write_numbers(inertia, 6));
    return body;
}

static uint32_t take_index(Writing *writing, Indices *indices) {
    if (indices->left == 0) {
        writing->failed = true;
        return 0;
    }
    indices->left--;
    return *indices->next++;
}

static uint32_t links_of(const Moreau__V1__ContactProblem *problem, size_t tree) {
    return problem->n_tree_link_count > tree ? problem->tree_link_count[tree] : 0;
}

// Nothing, to the bit.
static bool is_nothing(const double *numbers, size_t count) {
    bool is = true;
    for (size_t i = 0; numbers != NULL && i < count; i++) {
        is = is && numbers[i] == 0.0 && !signbit(numbers[i]);
    }
    return is;
}

static json_t *write_link(Writing *writing) {
    uint32_t parent = take_index(writing, &writing->link_parent);
    uint32_t count = take_index(writing, &writing->link_velocities);
    const double *mass = take_numbers(writing, &writing->link_mass, 1);
    json_t *link = json_object();
    if (count > 6) { // what comes from outside
        writing->failed = true;
        return link;
    }
    json_object_set_new(link, "parent", parent == UINT32_MAX ? json_null() : json_integer(parent));
    json_object_set_new(link, "mass", mass == NULL ? json_null() : json_real(*mass));
    json_object_set_new(link, "inertia",
                        write_numbers(take_numbers(writing, &writing->link_inertia, 6), 6));
    json_object_set_new(link, "center",
                        write_numbers(take_numbers(writing, &writing->link_center, 3), 3));
    const double *motion = take_numbers(writing, &writing->link_motion, 6 * (size_t)count);
    json_object_set_new(link, "motion", write_matrix(motion, count, 6));
    if (writing->problem->n_link_added > 0) {
        const double *added = take_numbers(writing, &writing->link_added, (size_t)count * count);
        if (!is_nothing(added, (size_t)count * count)) {
            json_object_set_new(link, "added", write_matrix(added, count, count));
        }
    }
    return link;
}

static json_t *write_links(Writing *writing, uint32_t count) {
    json_t *links = json_array();
    for (uint32_t i = 0; i < count && !writing->failed; i++) {
        json_array_append_new(links, write_link(writing));
    }
    return links;
}

static json_t *write_tree(Writing *writing, size_t index) {
    size_t width = writing->problem->tree_width[index];
    json_t *tree = json_object();
    if (is_body(writing->problem, index)) {
        writing->failed = writing->failed || width != 6;
        json_object_set_new(tree, "body", write_body(writing));
    } else if (links_of(writing->problem, index) > 0) {
        json_object_set_new(tree, "links", write_links(writing, links_of(writing->problem, index)));
    } else {
        const double *mass = take_numbers(writing, &writing->mass, width * width);
        json_object_set_new(tree, "mass", write_matrix(mass, width, width));
    }
    const double *v_free = take_numbers(writing, &writing->v_free, width);
    json_object_set_new(tree, "v_free", write_numbers(v_free, width));
    return tree;
}

static json_t *write_trees(Writing *writing) {
    const Moreau__V1__ContactProblem *problem = writing->problem;
    json_t *trees = json_array();
    if ((problem->n_tree_is_body > 0 && problem->n_tree_is_body < problem->n_tree_width) ||
        (problem->n_tree_link_count > 0 && problem->n_tree_link_count < problem->n_tree_width)) {
        writing->failed = true;
    }
    for (size_t i = 0; i < problem->n_tree_width && !writing->failed; i++) {
        json_array_append_new(trees, write_tree(writing, i));
    }
    return trees;
}

// The numbers of one contact or row.
static void write_keys(Writing *writing, json_t *object, ProblemKeys keys, size_t index,
                       uint32_t given) {
    for (size_t i = 0; i < keys.count; i++) {
        const ProblemKey *key = &keys.key[i];
        const double *column;
        size_t count;
        memcpy(&column, (const uint8_t *)writing->problem + key->column, sizeof(column));
        memcpy(&count, (const uint8_t *)writing->problem + key->count, sizeof(count));
        bool is_there = count > 0 && (key->given == 0 || (given & key->given) != 0);
        if (is_there && count < (index + 1) * key->width) {
            writing->failed = true;
        } else if (is_there) {
            const double *numbers = column + index * key->width;
            json_object_set_new(object, key->name,
                                key->width == 1 ? json_real(numbers[0])
                                                : write_numbers(numbers, key->width));
        } else if (key->writes_null) {
            json_object_set_new(object, key->name, json_null());
        }
    }
}

static json_t *write_blocks(Writing *writing, uint32_t count, Indices *trees, Numbers *jacobians,
                            size_t rows) {
    json_t *blocks = json_array();
    for (uint32_t i = 0; i < count && !writing->failed; i++) {
        if (trees->left == 0 || *trees->next >= writing->problem->n_tree_width) {
            writing->failed = true;
            break;
        }
        uint32_t tree = *trees->next++;
        trees->left--;
        size_t width = writing->problem->tree_width[tree];
        const double *numbers = take_numbers(writing, jacobians, rows * width);
        json_t *block = json_object();
        json_object_set_new(block, "tree", json_integer(tree));
        json_object_set_new(block, "jacobian",
                            rows == 1 ? write_numbers(numbers, width)
                                      : write_matrix(numbers, rows, width));
        json_array_append_new(blocks, block);
    }
    return blocks;
}

// The ground, an arm on a body, or a Jacobian.
static json_t *write_side(Writing *writing) {
    if (writing->side_tree.left == 0) {
        writing->failed = true;
        return json_null();
    }
    uint32_t tree = *writing->side_tree.next++;
    writing->side_tree.left--;
    if (tree == UINT32_MAX) {
        return json_null();
    }
    if (tree >= writing->problem->n_tree_width) {
        writing->failed = true;
        return json_null();
    }
    json_t *side = json_object();
    json_object_set_new(side, "tree", json_integer(tree));
    if (is_body(writing->problem, tree)) {
        const double *arm = take_numbers(writing, &writing->arm, 3);
        json_object_set_new(side, "arm", write_numbers(arm, 3));
    } else {
        size_t width = writing->problem->tree_width[tree];
        const double *numbers = take_numbers(writing, &writing->contact_jacobian, 3 * width);
        json_object_set_new(side, "jacobian", write_matrix(numbers, 3, width));
    }
    return side;
}

static void write_sides(Writing *writing, json_t *contact) {
    const double *frame = take_numbers(writing, &writing->frame, 9);
    json_object_set_new(contact, "frame", write_matrix(frame, 3, 3));
    json_t *sides = json_array();
    for (int s = 0; s < 2 && !writing->failed; s++) {
        json_array_append_new(sides, write_side(writing));
    }
    json_object_set_new(contact, "sides", sides);
}

static json_t *write_contacts(Writing *writing) {
    const Moreau__V1__ContactProblem *problem = writing->problem;
    size_t count = problem->n_contact_mu;
    json_t *contacts = json_array();
    if (problem->n_contact_block_count < count ||
        (problem->n_contact_given > 0 && problem->n_contact_given < count)) {
        writing->failed = true;
    }
    for (size_t i = 0; i < count && !writing->failed; i++) {
        json_t *contact = json_object();
        uint32_t given = problem->n_contact_given > 0 ? problem->contact_given[i] : 0;
        uint32_t blocks = problem->contact_block_count[i];
        write_keys(writing, contact, problem_contact_keys(), i, given);
        if (blocks == 0) {
            write_sides(writing, contact);
        } else {
            json_object_set_new(contact, "blocks",
                                write_blocks(writing, blocks, &writing->contact_tree,
                                             &writing->contact_jacobian, 3));
        }
        json_array_append_new(contacts, contact);
    }
    return contacts;
}

static json_t *write_rows(Writing *writing) {
    const Moreau__V1__ContactProblem *problem = writing->problem;
    size_t count = problem->n_row_given;
    json_t *rows = json_array();
    if (problem->n_row_block_count < count ||
        (problem->n_row_group > 0 && problem->n_row_group < count)) {
        writing->failed = true;
    }
    for (size_t i = 0; i < count && !writing->failed; i++) {
        json_t *row = json_object();
        write_keys(writing, row, problem_row_keys(), i, problem->row_given[i]);
        uint32_t group = problem->n_row_group > 0 ? problem->row_group[i] : 0;
        json_object_set_new(row, "group", json_integer(group));
        json_object_set_new(row, "blocks",
                            write_blocks(writing, problem->row_block_count[i], &writing->row_tree,
                                         &writing->row_jacobian, 1));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void write_warm(Writing *writing, json_t *root) {
    const Moreau__V1__ContactProblem *problem = writing->problem;
    if (problem->n_warm_contacts == 0 && problem->n_warm_rows == 0) {
        return;
    }
    json_t *warm = json_object();
    if (problem->n_warm_contacts > 0) {
        writing->failed = writing->failed || problem->n_warm_contacts != 3 * problem->n_contact_mu;
        json_object_set_new(warm, "contacts",
                            write_matrix(problem->warm_contacts, problem->n_warm_contacts / 3, 3));
    }
    if (problem->n_warm_rows > 0) {
        writing->failed = writing->failed || problem->n_warm_rows != problem->n_row_given;
        json_object_set_new(warm, "rows", write_numbers(problem->warm_rows, problem->n_warm_rows));
    }
    json_object_set_new(root, "warm", warm);
}

json_t *problem_write(const Moreau__V1__ContactProblem *problem, const char *about,
                      const char *solver, const Moreau__V1__SolverParameters *parameters) {
    Writing writing = {
        .problem = problem,
        .mass = {problem->mass, problem->n_mass},
        .v_free = {problem->v_free, problem->n_v_free},
        .body_mass = {problem->body_mass, problem->n_body_mass},
        .body_inertia = {problem->body_inertia, problem->n_body_inertia},
        .link_mass = {problem->link_mass, problem->n_link_mass},
        .link_inertia = {problem->link_inertia, problem->n_link_inertia},
        .link_center = {problem->link_center, problem->n_link_center},
        .link_motion = {problem->link_motion, problem->n_link_motion},
        .link_added = {problem->link_added, problem->n_link_added},
        .link_parent = {problem->link_parent, problem->n_link_parent},
        .link_velocities = {problem->link_velocities, problem->n_link_velocities},
        .contact_jacobian = {problem->contact_jacobian, problem->n_contact_jacobian},
        .row_jacobian = {problem->row_jacobian, problem->n_row_jacobian},
        .contact_tree = {problem->contact_block_tree, problem->n_contact_block_tree},
        .frame = {problem->contact_frame, problem->n_contact_frame},
        .arm = {problem->side_arm, problem->n_side_arm},
        .side_tree = {problem->side_tree, problem->n_side_tree},
        .row_tree = {problem->row_block_tree, problem->n_row_block_tree},
    };
    json_t *root = json_object();
    json_object_set_new(root, "format", json_string(PROBLEM_FORMAT));
    json_object_set_new(root, "about", json_string(about));
    if (solver != NULL) {
        json_object_set_new(root, "solver", json_string(solver));
        json_object_set_new(root, "parameters", parameters_write(solver, parameters));
    }
    json_object_set_new(root, "time_step", json_real(problem->time_step));
    json_object_set_new(root, "gravity", json_real(problem->gravity));
    json_object_set_new(root, "trees", write_trees(&writing));
    json_object_set_new(root, "contacts", write_contacts(&writing));
    json_object_set_new(root, "rows", write_rows(&writing));
    write_warm(&writing, root);
    if (writing.failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

// ---- answers

static json_t *write_report(const Moreau__V1__Certificate *certificate) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"e_mom", certificate->e_mom},
        {"e_pen", certificate->e_pen},
        {"e_comp", certificate->e_comp},
        {"e_cone", certificate->e_cone},
        {"e_mdp", certificate->e_mdp},
        {"e_DS", certificate->e_ds},
        {"e_own", certificate->e_own},
        {"e_row", certificate->e_row},
        {"pen_velocity", certificate->pen_velocity},
        {"comp_velocity", certificate->comp_velocity},
        {"mdp_velocity", certificate->mdp_velocity},
        {"ds_velocity", certificate->ds_velocity},
        {"own_velocity", certificate->own_velocity},
        {"row_velocity", certificate->row_velocity},
        {"V", certificate->scale},
        {"penetration", certificate->penetration},
        {"tolerance", certificate->tolerance},
        {"time", certificate->time},
    };
    json_t *report = json_object();
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        json_object_set_new(report, numbers[i].name, number_json(numbers[i].value));
    }
    json_object_set_new(report, "iterations", json_integer(certificate->iterations));
    json_object_set_new(report, "converged", json_boolean(certificate->converged));
    json_object_set_new(report, "worst_contact", json_integer(certificate->worst_contact));
    json_object_set_new(report, "islands", json_integer(certificate->islands));
    json_object_set_new(report, "islands_open", json_integer(certificate->islands_open));
    json_object_set_new(report, "reason",
                        json_string(certificate_reason((int)certificate->reason)));
    const Moreau__V1__OpenIsland *open = certificate->worst_open;
    if (open != NULL) {
        json_object_set_new(report, "worst_open",
                            json_pack("{s:I,s:I,s:I,s:o}", "tree", (json_int_t)open->tree,
                                      "contact", (json_int_t)open->contact, "contacts",
                                      (json_int_t)open->contacts, "residual",
                                      number_json(open->residual)));
    }
    if (certificate->has_rung) {
        json_object_set_new(report, "rung", json_string(certificate_rung((int)certificate->rung)));
    }
    if (certificate->has_passes) {
        json_object_set_new(report, "passes", json_integer(certificate->passes));
    }
    if (certificate->has_launch) {
        json_object_set_new(report, "launch", number_json(certificate->launch));
        json_object_set_new(report, "gliding", number_json(certificate->gliding));
        json_object_set_new(report, "launch_contact", json_integer(certificate->launch_contact));
    }
    if (certificate->has_softened) {
        json_object_set_new(report, "softened", json_integer(certificate->softened));
    }
    if (certificate->has_idle) {
        json_object_set_new(report, "idle", json_integer(certificate->idle));
    }
    if (certificate->has_cost_gap) {
        json_object_set_new(report, "cost_gap", number_json(certificate->cost_gap));
    }
    return report;
}

// The velocities, cut into one list per tree.
static json_t *write_velocities(const Moreau__V1__ContactProblem *problem, const double *v) {
    json_t *trees = json_array();
    for (size_t i = 0; i < problem->n_tree_width; i++) {
        json_array_append_new(trees, number_json_list(v, problem->tree_width[i]));
        v += problem->tree_width[i];
    }
    return trees;
}

json_t *problem_write_answer(const Moreau__V1__ContactProblem *problem, const char *solver,
                             const Moreau__V1__SolverParameters *parameters,
                             const Moreau__V1__SolveReply *answer) {
    if (answer->n_v != problem->n_v_free || answer->n_contacts != 3 * problem->n_contact_mu ||
        answer->n_rows != problem->n_row_given || answer->certificate == NULL) {
        return NULL;
    }
    json_t *object = json_object();
    char model[PARAMETERS_MODEL_BYTES];
    json_object_set_new(object, "model", json_string(parameters_model(solver, parameters, model)));
    json_object_set_new(object, "parameters", parameters_write(solver, parameters));
    json_object_set_new(object, "v", write_velocities(problem, answer->v));
    json_t *contacts = json_array();
    for (size_t i = 0; i < answer->n_contacts; i += 3) {
        json_array_append_new(contacts, number_json_list(answer->contacts + i, 3));
    }
    json_object_set_new(object, "contacts", contacts);
    json_object_set_new(object, "rows", number_json_list(answer->rows, answer->n_rows));
    if (answer->n_contact_bias + answer->n_row_bias > 0) { // targets were softened
        json_object_set_new(object, "contact_bias",
                            number_json_list(answer->contact_bias, answer->n_contact_bias));
        json_object_set_new(object, "row_bias",
                            number_json_list(answer->row_bias, answer->n_row_bias));
    }
    json_object_set_new(object, "report", write_report(answer->certificate));
    if (answer->has_history_stride) {
        json_object_set_new(object, "history",
                            number_json_list(answer->history, answer->n_history));
        json_object_set_new(object, "history_stride", number_json_whole(answer->history_stride));
    }
    return object;
}
