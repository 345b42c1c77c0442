// SPDX-License-Identifier: MIT
#include "cli/problems/fclib.h"

#include "cli/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fclib_is(const char *file) {
    static const char signature[8] = {(char)0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    char begin[8] = {0};
    FILE *stream = fopen(file, "rb");
    size_t count = stream == NULL ? 0 : fread(begin, 1, sizeof(begin), stream);
    if (stream != NULL) {
        fclose(stream);
    }
    return count == sizeof(begin) && memcmp(begin, signature, sizeof(begin)) == 0;
}

static void free_matrix(FclibMatrix *matrix) {
    free(matrix->row);
    free(matrix->column);
    free(matrix->value);
}

void fclib_free(FclibProblem *problem) {
    free_matrix(&problem->mass);
    free_matrix(&problem->contact);
    free_matrix(&problem->row);
    free(problem->force);
    free(problem->motion);
    free(problem->bias);
    free(problem->mu);
    *problem = (FclibProblem){0};
}

#ifndef MOREAU_HDF5

bool fclib_read(const char *file, FclibProblem *problem, char message[FCLIB_MESSAGE_BYTES]) {
    *problem = (FclibProblem){0};
    snprintf(message, FCLIB_MESSAGE_BYTES,
             "%.100s is an HDF5 file, and this moreau was built without HDF5 (libhdf5-dev)", file);
    return false;
}

#else

#include "cli/problems/hdf5_load.h"

// a matrix of the largest problem that any server takes in one frame has fewer
enum { ENTRIES_MAX = 1 << 26 };

// H5F_ACC_RDONLY, whose macro calls the library by its name
enum { FILE_READS = 0 };

typedef struct Reader {
    const Hdf5 *hdf5;
    hid_t file;
    const char *name; // of the file, for sentences
    char *message;
} Reader;

static bool refuse(const Reader *reader, const char *what, const char *why) {
    snprintf(reader->message, FCLIB_MESSAGE_BYTES, "%.100s: %.60s %.80s", reader->name, what, why);
    return false;
}

// Every part of a path must be there: HDF5 does not say "no" to the last alone.
static bool has(const Reader *reader, const char *path) {
    char part[64];
    for (const char *end = strchr(path + 1, '/');; end = strchr(end + 1, '/')) {
        size_t length = end == NULL ? strlen(path) : (size_t)(end - path);
        snprintf(part, sizeof(part), "%.*s", (int)length, path);
        if (reader->hdf5->H5Lexists(reader->file, part, H5P_DEFAULT) <= 0) {
            return false;
        }
        if (end == NULL) {
            return true;
        }
    }
}

// A new array of exactly `count` numbers, as `type` [item_bytes each]; NULL after a sentence.
static void *read_numbers(const Reader *reader, const char *path, hid_t type, size_t item_bytes,
                          size_t count) {
    hid_t set = has(reader, path) ? reader->hdf5->H5Dopen2(reader->file, path, H5P_DEFAULT) : -1;
    if (set < 0) {
        refuse(reader, path, "is missing");
        return NULL;
    }
    hid_t space = reader->hdf5->H5Dget_space(set);
    hssize_t found = space < 0 ? -1 : reader->hdf5->H5Sget_simple_extent_npoints(space);
    void *numbers = NULL;
    if (found < 0 || (size_t)found != count) {
        refuse(reader, path, "has another length than its matrices say");
    } else {
        numbers = memory_take(count + 1, item_bytes);
        if (reader->hdf5->H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0) {
            refuse(reader, path, "cannot be read as numbers");
            free(numbers);
            numbers = NULL;
        }
    }
    if (space >= 0) {
        reader->hdf5->H5Sclose(space);
    }
    reader->hdf5->H5Dclose(set);
    return numbers;
}

static int *read_ints(const Reader *reader, const char *group, const char *name, size_t count) {
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    return read_numbers(reader, path, reader->hdf5->native_int, sizeof(int), count);
}

static bool check_finite(const Reader *reader, const char *path, const double *numbers,
                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            char what[64];
            snprintf(what, sizeof(what), "%.40s[%zu]", path, i);
            return refuse(reader, what, "is no finite number");
        }
    }
    return true;
}

static double *read_doubles(const Reader *reader, const char *group, const char *name,
                            size_t count) {
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    return read_numbers(reader, path, reader->hdf5->native_double, sizeof(double), count);
}

// All of them count, as those of a matrix need not.
static double *read_vector(const Reader *reader, const char *group, const char *name,
                           size_t count) {
    double *numbers = read_doubles(reader, group, name, count);
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    if (numbers != NULL && !check_finite(reader, path, numbers, count)) {
        free(numbers);
        return NULL;
    }
    return numbers;
}

static bool read_int(const Reader *reader, const char *group, const char *name, int *number) {
    int *one = read_ints(reader, group, name, 1);
    if (one == NULL) {
        return false;
    }
    *number = *one;
    free(one);
    return true;
}

// Entries of a list of places, or of compressed columns (or rows): `pointer` then has, for each of
// `majors`, where its entries begin.
static bool fill_places(FclibMatrix *matrix, bool is_list, bool by_row, const int *pointer,
                        const int *index) {
    size_t majors = by_row ? matrix->rows : matrix->columns;
    uint32_t *major = by_row ? matrix->row : matrix->column;
    uint32_t *minor = by_row ? matrix->column : matrix->row;
    if (is_list) { // p has the columns, i the rows
        for (size_t k = 0; k < matrix->count; k++) {
            matrix->column[k] = (uint32_t)pointer[k];
            matrix->row[k] = (uint32_t)index[k];
        }
    } else {
        size_t at = 0;
        for (size_t m = 0; m < majors; m++) {
            if (pointer[m] < 0 || (size_t)pointer[m] != at || pointer[m + 1] < pointer[m] ||
                (size_t)pointer[m + 1] > matrix->count) {
                return false;
            }
            for (; at < (size_t)pointer[m + 1]; at++) {
                major[at] = (uint32_t)m;
                minor[at] = (uint32_t)index[at];
            }
        }
        matrix->count = at; // there may be more room than entries
    }
    for (size_t k = 0; k < matrix->count; k++) { // what was negative is far too large now
        if (matrix->row[k] >= matrix->rows || matrix->column[k] >= matrix->columns) {
            return false;
        }
    }
    return true;
}

static bool read_entries(const Reader *reader, const char *group, int form, size_t room,
                         FclibMatrix *matrix) {
    bool is_list = form >= 0, by_row = form == -2;
    size_t pointers = is_list ? matrix->count : (by_row ? matrix->rows : matrix->columns) + 1;
    int *pointer = read_ints(reader, group, "p", pointers);
    int *index = pointer == NULL ? NULL : read_ints(reader, group, "i", matrix->count);
    matrix->value = index == NULL ? NULL : read_doubles(reader, group, "x", room);
    bool done = matrix->value != NULL;
    if (done) {
        matrix->row = memory_take(matrix->count + 1, sizeof(uint32_t));
        matrix->column = memory_take(matrix->count + 1, sizeof(uint32_t));
        done = fill_places(matrix, is_list, by_row, pointer, index) ||
               refuse(reader, group, "is no sparse matrix: p and i do not fit m, n and nz");
    }
    char path[64];
    snprintf(path, sizeof(path), "%s/x", group);
    done = done && check_finite(reader, path, matrix->value, matrix->count);
    free(pointer);
    free(index);
    return done;
}

static bool read_matrix(const Reader *reader, const char *group, FclibMatrix *matrix) {
    int room, rows, columns, form;
    if (!read_int(reader, group, "nzmax", &room) || !read_int(reader, group, "m", &rows) ||
        !read_int(reader, group, "n", &columns) || !read_int(reader, group, "nz", &form)) {
        return false;
    }
    if (room < 0 || room > ENTRIES_MAX || rows < 0 || rows > ENTRIES_MAX || columns < 0 ||
        columns > ENTRIES_MAX || form < -2 || form > room) {
        return refuse(reader, group, "is no sparse matrix: nzmax, m, n and nz do not fit");
    }
    matrix->rows = (size_t)rows;
    matrix->columns = (size_t)columns;
    matrix->count = (size_t)(form >= 0 ? form : room);
    return read_entries(reader, group, form, (size_t)room, matrix);
}

static bool check_sizes(const Reader *reader, const FclibProblem *problem, int dimension) {
    if (dimension != 3) {
        return refuse(reader, "spacedim", "is not 3: planar contacts are not taken");
    }
    size_t components = problem->is_reduced ? problem->mass.rows : problem->contact.columns;
    bool fits = problem->mass.rows == problem->mass.columns && components % 3 == 0 &&
                (problem->is_reduced || problem->contact.rows == problem->mass.rows) &&
                (problem->row.columns == 0 || problem->row.rows == problem->mass.rows);
    return fits || refuse(reader, "its matrices", "have sizes that do not fit each other");
}

static bool read_global(const Reader *reader, FclibProblem *problem) {
    int dimension;
    if (!read_int(reader, "/fclib_global", "spacedim", &dimension) ||
        !read_matrix(reader, "/fclib_global/M", &problem->mass) ||
        !read_matrix(reader, "/fclib_global/H", &problem->contact) ||
        (has(reader, "/fclib_global/G") &&
         !read_matrix(reader, "/fclib_global/G", &problem->row)) ||
        !check_sizes(reader, problem, dimension)) {
        return false;
    }
    static const char vectors[] = "/fclib_global/vectors";
    problem->contact_count = problem->contact.columns / 3;
    problem->force = read_vector(reader, vectors, "f", problem->mass.rows);
    problem->motion =
        problem->force == NULL ? NULL : read_vector(reader, vectors, "w", problem->contact.columns);
    problem->mu =
        problem->motion == NULL ? NULL : read_vector(reader, vectors, "mu", problem->contact_count);
    if (problem->mu != NULL && problem->row.columns > 0) {
        problem->bias = read_vector(reader, vectors, "b", problem->row.columns);
        return problem->bias != NULL;
    }
    return problem->mu != NULL;
}

static bool read_local(const Reader *reader, FclibProblem *problem) {
    int dimension;
    problem->is_reduced = true;
    if (has(reader, "/fclib_local/V") || has(reader, "/fclib_local/R")) {
        return refuse(reader, "/fclib_local/V", "joins bodies: only its global form can be taken");
    }
    if (!read_int(reader, "/fclib_local", "spacedim", &dimension) ||
        !read_matrix(reader, "/fclib_local/W", &problem->mass) ||
        !check_sizes(reader, problem, dimension)) {
        return false;
    }
    static const char vectors[] = "/fclib_local/vectors";
    problem->contact_count = problem->mass.rows / 3;
    problem->force = read_vector(reader, vectors, "q", problem->mass.rows);
    problem->mu =
        problem->force == NULL ? NULL : read_vector(reader, vectors, "mu", problem->contact_count);
    return problem->mu != NULL;
}

bool fclib_read(const char *file, FclibProblem *problem, char message[FCLIB_MESSAGE_BYTES]) {
    *problem = (FclibProblem){0};
    Hdf5 hdf5;
    if (!hdf5_load(&hdf5)) {
        snprintf(message, FCLIB_MESSAGE_BYTES,
                 "%.100s is an HDF5 file, and its library " MOREAU_HDF5
                 " is not installed: apt install libhdf5-103-1 (Debian 12)",
                 file);
        return false;
    }
    hdf5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // its own complaints go to standard error
    Reader reader = {&hdf5, hdf5.H5Fopen(file, FILE_READS, H5P_DEFAULT), file, message};
    if (reader.file < 0) {
        return refuse(&reader, "this HDF5 file", "cannot be opened: it is damaged or not readable");
    }
    bool done = has(&reader, "/fclib_global")  ? read_global(&reader, problem)
                : has(&reader, "/fclib_local") ? read_local(&reader, problem)
                                               : refuse(&reader,
                                                        "no group fclib_global or "
                                                        "fclib_local",
                                                        "is in it");
    hdf5.H5Fclose(reader.file);
    return done;
}

#endif
