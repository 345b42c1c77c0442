// SPDX-License-Identifier: MIT
// Problems of FCLib: from matrices to trees, and from files, in all three forms of a sparse matrix;
// and files that are none.
#include "cli/problems/fclib.h"

#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char message[FCLIB_MESSAGE_BYTES];

// ---- from matrices

typedef struct Entry {
    uint32_t row, column;
    double value;
} Entry;

static FclibMatrix make_matrix(size_t rows, size_t columns, const Entry *entry, size_t count) {
    FclibMatrix matrix = {rows,
                          columns,
                          count,
                          calloc(count + 1, sizeof(uint32_t)),
                          calloc(count + 1, sizeof(uint32_t)),
                          calloc(count + 1, sizeof(double))};
    for (size_t k = 0; k < count; k++) {
        matrix.row[k] = entry[k].row;
        matrix.column[k] = entry[k].column;
        matrix.value[k] = entry[k].value;
    }
    return matrix;
}

static double *make_numbers(const double *numbers, size_t count) {
    double *copy = calloc(count + 1, sizeof(double));
    memcpy(copy, numbers, count * sizeof(double));
    return copy;
}

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define NUMBERS(array) make_numbers(array, COUNT(array))

// Two point masses, whose coordinates are mixed up: 0 2 4 of the one, 1 3 5 of the other, joined by
// small entries. The first contact is between them, the second of one with the ground.
static Entry mass[] = {{0, 0, 2.0}, {2, 2, 2.0}, {4, 4, 2.0}, {0, 2, 0.5}, {2, 0, 0.5},
                       {2, 4, 0.1}, {4, 2, 0.1}, {1, 1, 4.0}, {3, 3, 4.0}, {5, 5, 4.0},
                       {1, 5, 0.3}, {5, 1, 0.3}, {3, 5, 0.2}, {5, 3, 0.1}, {5, 3, 0.1}};
static Entry contact[] = {{4, 0, 1.0},  {5, 0, -1.0}, {0, 1, 1.0}, {1, 1, -1.0}, {2, 2, 1.0},
                          {3, 2, -1.0}, {5, 3, 1.0},  {1, 4, 1.0}, {3, 5, 1.0}};
static Entry row[] = {{0, 0, 1.0}, {1, 0, 2.0}};
static double force[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, motion[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
              bias[] = {0.7}, mu[] = {0.5, 0.25};

static FclibProblem make_global(void) {
    return (FclibProblem){.mass = make_matrix(6, 6, mass, COUNT(mass)),
                          .contact = make_matrix(6, 6, contact, COUNT(contact)),
                          .row = make_matrix(6, 1, row, COUNT(row)),
                          .force = NUMBERS(force),
                          .motion = NUMBERS(motion),
                          .bias = NUMBERS(bias),
                          .mu = NUMBERS(mu),
                          .contact_count = 2};
}

static void expect_numbers(const double *found, size_t count, const double *wanted,
                           size_t expected) {
    ck_assert_uint_eq(count, expected);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(found[i], wanted[i], 1e-14);
    }
}

static void expect_global(const Moreau__V1__ContactProblem *p) {
    static const double masses[] = {2.0, 0.5, 0.0, 0.5, 2.0, 0.1, 0.0, 0.1, 2.0,
                                    4.0, 0.0, 0.3, 0.0, 4.0, 0.2, 0.3, 0.2, 4.0};
    static const double jacobians[] = {
        0.0, 0.0, 1.0,  1.0,  0.0, 0.0, 0.0, 1.0,  0.0, // b of the first
        0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 0.0, -1.0, 0.0,
        0.0, 0.0, 1.0,  1.0,  0.0, 0.0, 0.0, 1.0,  0.0};
    static const double row_jacobians[] = {1.0, 0.0, 0.0, 2.0, 0.0, 0.0};
    static const uint32_t trees[] = {0, 1, 1};
    ck_assert_uint_eq(p->n_tree_width, 2);
    ck_assert(p->tree_width[0] == 3 && p->tree_width[1] == 3);
    expect_numbers(p->mass, p->n_mass, masses, COUNT(masses));
    expect_numbers(p->contact_jacobian, p->n_contact_jacobian, jacobians, COUNT(jacobians));
    expect_numbers(p->row_jacobian, p->n_row_jacobian, row_jacobians, COUNT(row_jacobians));
    expect_numbers(p->contact_motion, p->n_contact_motion, motion, COUNT(motion));
    expect_numbers(p->contact_mu, p->n_contact_mu, mu, COUNT(mu));
    expect_numbers(p->row_bias, p->n_row_bias, bias, COUNT(bias));
    ck_assert(p->contact_block_count[0] == 2 && p->contact_block_count[1] == 1);
    ck_assert(memcmp(p->contact_block_tree, trees, sizeof(trees)) == 0);
    // M v_free = f
    static const size_t coordinate[2][3] = {{0, 2, 4}, {1, 3, 5}};
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < 3; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < 3; k++) {
                sum += masses[9 * t + 3 * i + k] * p->v_free[3 * t + k];
            }
            ck_assert_double_eq_tol(sum, force[coordinate[t][i]], 1e-14);
        }
    }
}

START_TEST(what_a_mass_matrix_couples_is_a_tree) {
    FclibProblem problem = make_global();
    Moreau__V1__ContactProblem *converted = fclib_convert(&problem, message);
    ck_assert_msg(converted != NULL, "%s", message);
    expect_global(converted);
    moreau__v1__contact_problem__free_unpacked(converted, NULL);
    fclib_free(&problem);
}
END_TEST

// Three coordinates without a common mass in one contact: the last two become one tree.
START_TEST(a_contact_of_three_trees_makes_two_of_them_one) {
    static const Entry single[] = {{0, 0, 1.0}, {1, 1, 1.0}, {2, 2, 1.0}};
    FclibProblem problem = {.mass = make_matrix(3, 3, single, 3),
                            .contact = make_matrix(3, 3, single, 3),
                            .force = make_numbers(force, 3),
                            .motion = NUMBERS(motion),
                            .mu = NUMBERS(mu),
                            .contact_count = 1};
    Moreau__V1__ContactProblem *converted = fclib_convert(&problem, message);
    ck_assert_msg(converted != NULL, "%s", message);
    ck_assert_uint_eq(converted->n_tree_width, 2);
    ck_assert(converted->tree_width[0] == 1 && converted->tree_width[1] == 2);
    ck_assert_uint_eq(converted->contact_block_count[0], 2);
    moreau__v1__contact_problem__free_unpacked(converted, NULL);
    fclib_free(&problem);
}
END_TEST

// J J^T = W and J v_free = q, contact by contact and between them.
START_TEST(a_reduced_problem_becomes_trees_of_unit_mass) {
    static const double w[6][6] = {{3.0, 0.1, 0.2, 0.5, 0.0, 0.0}, {0.1, 2.0, 0.0, 0.0, 0.4, 0.0},
                                   {0.2, 0.0, 2.5, 0.0, 0.0, 0.3}, {0.5, 0.0, 0.0, 3.5, 0.1, 0.0},
                                   {0.0, 0.4, 0.0, 0.1, 2.0, 0.2}, {0.0, 0.0, 0.3, 0.0, 0.2, 1.5}};
    Entry entries[36];
    for (uint32_t i = 0; i < 36; i++) {
        entries[i] = (Entry){i / 6, i % 6, w[i / 6][i % 6]};
    }
    FclibProblem problem = {.is_reduced = true,
                            .mass = make_matrix(6, 6, entries, 36),
                            .force = NUMBERS(force),
                            .mu = NUMBERS(mu),
                            .contact_count = 2};
    Moreau__V1__ContactProblem *p = fclib_convert(&problem, message);
    ck_assert_msg(p != NULL, "%s", message);
    ck_assert(p->n_tree_width == 1 && p->tree_width[0] == 6);
    ck_assert_uint_eq(p->n_contact_jacobian, 36);
    for (size_t i = 0; i < 6; i++) {
        double q = 0.0;
        for (size_t k = 0; k < 6; k++) {
            ck_assert(p->mass[6 * i + k] == (i == k ? 1.0 : 0.0));
            q += p->contact_jacobian[6 * i + k] * p->v_free[k];
        }
        ck_assert_double_eq_tol(q, force[i], 1e-13);
        for (size_t j = 0; j < 6; j++) {
            double product = 0.0;
            for (size_t k = 0; k < 6; k++) {
                product += p->contact_jacobian[6 * i + k] * p->contact_jacobian[6 * j + k];
            }
            ck_assert_double_eq_tol(product, w[i][j], 1e-14);
        }
    }
    moreau__v1__contact_problem__free_unpacked(p, NULL);

    problem.mass.value[0] = -1.0;
    ck_assert_ptr_null(fclib_convert(&problem, message));
    ck_assert_str_eq(message, "W is not positive definite");
    fclib_free(&problem);
}
END_TEST

START_TEST(what_cannot_be_a_problem_is_said) {
    FclibProblem problem = make_global();
    problem.mass.value[0] = -2.0;
    ck_assert_ptr_null(fclib_convert(&problem, message));
    ck_assert_str_eq(message, "M is not positive definite");
    problem.mass.value[0] = 2.0;
    problem.contact.count = 6; // the second contact has nothing
    ck_assert_ptr_null(fclib_convert(&problem, message));
    ck_assert_ptr_nonnull(strstr(message, "touches nothing"));
    problem.contact.count = COUNT(contact);
    problem.row.count = 0;
    ck_assert_ptr_null(fclib_convert(&problem, message));
    ck_assert_ptr_nonnull(strstr(message, "holds nothing"));
    fclib_free(&problem);
}
END_TEST

// ---- from files

#ifdef MOREAU_HDF5
#include <hdf5.h>

static char path[64];

static void write_numbers(hid_t file, const char *group, const char *name, hid_t type,
                          const void *numbers, size_t count) {
    char full[128];
    snprintf(full, sizeof(full), "%s/%s", group, name);
    hsize_t size = count;
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(file, full, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(set, 0);
    ck_assert_int_ge(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(links);
}

static void write_int(hid_t file, const char *group, const char *name, int number) {
    write_numbers(file, group, name, H5T_NATIVE_INT, &number, 1);
}

// As a list (0), by columns (-1), or by rows (-2).
static void write_matrix(hid_t file, const char *group, int form, int rows, int columns,
                         const Entry *entry, size_t count) {
    int p[64] = {0}, i[64];
    double x[64];
    size_t at = 0;
    if (form == 0) {
        for (; at < count; at++) {
            p[at] = (int)entry[at].column, i[at] = (int)entry[at].row, x[at] = entry[at].value;
        }
    } else {
        size_t majors = (size_t)(form == -1 ? columns : rows);
        for (size_t m = 0; m < majors; m++) {
            for (size_t k = 0; k < count; k++) {
                if ((form == -1 ? entry[k].column : entry[k].row) == m) {
                    i[at] = (int)(form == -1 ? entry[k].row : entry[k].column);
                    x[at++] = entry[k].value;
                }
            }
            p[m + 1] = (int)at;
        }
    }
    size_t pointers = form == 0 ? count : (size_t)(form == -1 ? columns : rows) + 1;
    write_int(file, group, "nzmax", (int)count);
    write_int(file, group, "m", rows);
    write_int(file, group, "n", columns);
    write_int(file, group, "nz", form == 0 ? (int)count : form);
    write_numbers(file, group, "p", H5T_NATIVE_INT, p, pointers);
    write_numbers(file, group, "i", H5T_NATIVE_INT, i, count);
    write_numbers(file, group, "x", H5T_NATIVE_DOUBLE, x, count);
}

static hid_t begin_file(void) {
    snprintf(path, sizeof(path), "/tmp/moreau-check-XXXXXX");
    close(mkstemp(path));
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

// `leave_out` is Nullable: a vector that is not there.
static void write_global(int form, int dimension, const char *leave_out) {
    static const char vectors[] = "/fclib_global/vectors";
    hid_t file = begin_file();
    write_int(file, "/fclib_global", "spacedim", dimension);
    write_matrix(file, "/fclib_global/M", form, 6, 6, mass, COUNT(mass));
    write_matrix(file, "/fclib_global/H", form, 6, 6, contact, COUNT(contact));
    write_matrix(file, "/fclib_global/G", form, 6, 1, row, COUNT(row));
    const struct {
        const char *name;
        const double *numbers;
        size_t count;
    } all[] = {{"f", force, 6}, {"w", motion, 6}, {"b", bias, 1}, {"mu", mu, 2}};
    for (size_t k = 0; k < COUNT(all); k++) {
        if (leave_out == NULL || strcmp(all[k].name, leave_out) != 0) {
            write_numbers(file, vectors, all[k].name, H5T_NATIVE_DOUBLE, all[k].numbers,
                          all[k].count);
        }
    }
    H5Fclose(file);
}

START_TEST(a_file_is_read_in_every_form_of_its_matrices) {
    write_global(-_i, 3, NULL);
    ck_assert(fclib_is(path));
    FclibProblem problem;
    ck_assert_msg(fclib_read(path, &problem, message), "%s", message);
    Moreau__V1__ContactProblem *converted = fclib_convert(&problem, message);
    ck_assert_msg(converted != NULL, "%s", message);
    expect_global(converted);
    moreau__v1__contact_problem__free_unpacked(converted, NULL);
    fclib_free(&problem);
    unlink(path);
}
END_TEST

static void expect_refusal(const char *expected) {
    FclibProblem problem;
    ck_assert(!fclib_read(path, &problem, message));
    fclib_free(&problem);
    ck_assert_msg(strstr(message, expected) != NULL, "%s: %s", expected, message);
    unlink(path);
}

START_TEST(a_file_that_lacks_something_says_what) {
    static const char *const names[] = {"f", "w", "b", "mu"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "/fclib_global/vectors/%s is missing", names[i]);
        write_global(0, 3, names[i]);
        expect_refusal(expected);
    }
    write_global(0, 2, NULL);
    expect_refusal("planar");
    H5Fclose(begin_file());
    expect_refusal("no group fclib_global or fclib_local");
}
END_TEST

// Matrices whose numbers do not fit each other, in a reduced problem of one contact.
static const struct {
    int nzmax, m, n, nz, p[4], i[3];
    const char *expected;
} broken[] = {
    {3, 3, 3, -1, {0, 1, 2, 3}, {0, 1, 2}, NULL},
    {3, 3, 3, -3, {0, 1, 2, 3}, {0, 1, 2}, "nzmax, m, n and nz"},
    {3, -3, 3, -1, {0, 1, 2, 3}, {0, 1, 2}, "nzmax, m, n and nz"},
    {3, 3, 3, 4, {0, 1, 2, 3}, {0, 1, 2}, "nzmax, m, n and nz"},
    {3, 3, 3, -1, {0, 2, 1, 3}, {0, 1, 2}, "p and i"},
    {3, 3, 3, -1, {0, 1, 2, 4}, {0, 1, 2}, "p and i"},
    {3, 3, 3, -1, {1, 1, 2, 3}, {0, 1, 2}, "p and i"},
    {3, 3, 3, -1, {0, 1, 2, 3}, {0, 1, 3}, "p and i"},
    {3, 3, 3, -1, {0, 1, 2, 3}, {0, -1, 2}, "p and i"},
    {2, 3, 3, -1, {0, 1, 2, 2}, {0, 1, 2}, "another length"},
    {3, 3, 4, -1, {0, 1, 2, 3}, {0, 1, 2}, "another length"},
    {3, 4, 3, -1, {0, 1, 2, 3}, {0, 1, 2}, "do not fit each other"},
};

START_TEST(a_matrix_that_is_none_is_refused) {
    static const double x[] = {1.0, 1.0, 1.0}, q[] = {-1.0, 0.5, 0.0};
    hid_t file = begin_file();
    write_int(file, "/fclib_local", "spacedim", 3);
    write_int(file, "/fclib_local/W", "nzmax", broken[_i].nzmax);
    write_int(file, "/fclib_local/W", "m", broken[_i].m);
    write_int(file, "/fclib_local/W", "n", broken[_i].n);
    write_int(file, "/fclib_local/W", "nz", broken[_i].nz);
    write_numbers(file, "/fclib_local/W", "p", H5T_NATIVE_INT, broken[_i].p, 4);
    write_numbers(file, "/fclib_local/W", "i", H5T_NATIVE_INT, broken[_i].i, 3);
    write_numbers(file, "/fclib_local/W", "x", H5T_NATIVE_DOUBLE, x, 3);
    write_numbers(file, "/fclib_local/vectors", "q", H5T_NATIVE_DOUBLE, q, 3);
    write_numbers(file, "/fclib_local/vectors", "mu", H5T_NATIVE_DOUBLE, mu, 1);
    H5Fclose(file);
    if (broken[_i].expected != NULL) {
        expect_refusal(broken[_i].expected);
        return;
    }
    FclibProblem problem;
    ck_assert_msg(fclib_read(path, &problem, message), "%s", message);
    ck_assert(problem.is_reduced && problem.contact_count == 1 && problem.mass.count == 3);
    fclib_free(&problem);
    unlink(path);
}
END_TEST

// By what the file calls it: which of its numbers, counted from 0.
static const struct {
    const char *column;
    double *numbers; // of the tables above
    size_t index;
    const char *expected;
} poisoned[] = {
    {"f", force, 4, "/fclib_global/vectors/f[4] is no finite number"},
    {"w", motion, 2, "/fclib_global/vectors/w[2] is no finite number"},
    {"b", bias, 0, "/fclib_global/vectors/b[0] is no finite number"},
    {"mu", mu, 1, "/fclib_global/vectors/mu[1] is no finite number"},
    {"M", &mass[1].value, 0, "/fclib_global/M/x[1] is no finite number"},
    {"H", &contact[2].value, 0, "/fclib_global/H/x[2] is no finite number"},
    {"G", &row[0].value, 0, "/fclib_global/G/x[0] is no finite number"},
};

START_TEST(what_is_no_number_is_refused_by_its_place) {
    double *at = &poisoned[_i / 3].numbers[poisoned[_i / 3].index];
    const double good = *at;
    *at = _i % 3 == 0 ? (double)NAN : _i % 3 == 1 ? HUGE_VAL : -HUGE_VAL;
    write_global(0, 3, NULL);
    *at = good;
    expect_refusal(poisoned[_i / 3].expected);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_refused) {
    write_global(0, 3, NULL);
    FILE *stream = fopen(path, "rb");
    static char bytes[1 << 17];
    size_t count = fread(bytes, 1, sizeof(bytes), stream);
    fclose(stream);
    ck_assert_uint_gt(count, 1000);
    for (size_t end = 0; end < count; end += 97) {
        stream = fopen(path, "wb");
        fwrite(bytes, 1, end, stream);
        fclose(stream);
        FclibProblem problem;
        ck_assert(!fclib_read(path, &problem, message));
        ck_assert_ptr_nonnull(strstr(message, path));
        fclib_free(&problem);
    }
    unlink(path);
}
END_TEST
#endif

START_TEST(other_files_are_no_hdf5_files) {
    ck_assert(!fclib_is(MOREAU_SOURCE_DIR "/tests/problems/one-ball.json"));
    ck_assert(!fclib_is("/nothing/there"));
    ck_assert(!fclib_is("-"));
}
END_TEST

static TCase *case_fclib(void) {
    TCase *tcase = tcase_create("fclib");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_a_mass_matrix_couples_is_a_tree);
    tcase_add_test(tcase, a_contact_of_three_trees_makes_two_of_them_one);
    tcase_add_test(tcase, a_reduced_problem_becomes_trees_of_unit_mass);
    tcase_add_test(tcase, what_cannot_be_a_problem_is_said);
#ifdef MOREAU_HDF5
    tcase_add_loop_test(tcase, a_file_is_read_in_every_form_of_its_matrices, 0, 3);
    tcase_add_test(tcase, a_file_that_lacks_something_says_what);
    tcase_add_loop_test(tcase, a_matrix_that_is_none_is_refused, 0, (int)COUNT(broken));
    tcase_add_loop_test(tcase, what_is_no_number_is_refused_by_its_place, 0, 3 * COUNT(poisoned));
    tcase_add_test(tcase, a_file_cut_anywhere_is_refused);
#endif
    tcase_add_test(tcase, other_files_are_no_hdf5_files);
    return tcase;
}

SUITE_MAIN("clients/fclib", case_fclib)
