// SPDX-License-Identifier: MIT
// Contact problems from FCLib's HDF5 files, in its global form
//
//     M v = H r + G l + f,   u = H^T v + w,   G^T v + b = 0,   K* in u, r, friction mu
//
// and, without V and R, in its reduced form u = W r + q. Each contact has three components, the
// normal first; planar ones are refused. What M, or W, couples becomes one tree: a block of M is
// its mass, and v_free = M^-1 f; a block W = L L^T is a tree of unit mass with the Jacobian L and
// v_free = L^-1 q. The files know neither gaps nor a time step: gaps are 0, and so is the bias.
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FCLIB_MESSAGE_BYTES = 256 };

// A sparse matrix as a list of entries, in any order; those of one place add up.
typedef struct FclibMatrix {
    size_t rows, columns, count;
    uint32_t *row, *column; // owned
    double *value;          // owned
} FclibMatrix;

typedef struct FclibProblem {
    bool is_reduced;
    FclibMatrix mass;    // M, or W
    FclibMatrix contact; // H; empty in the reduced form
    FclibMatrix row;     // G; 0 columns: none
    double *force;       // owned: f, or q [mass.rows]
    double *motion;      // owned: w [contact.columns]; NULL in the reduced form
    double *bias;        // owned: b [row.columns]; NULL without G
    double *mu;          // owned [contact_count]
    size_t contact_count;
} FclibProblem;

// Whether a file begins as HDF5 files do.
bool fclib_is(const char *file);

// Reads a file. False, with a sentence, when it cannot be read, is no such problem, or when this
// tool was built without HDF5. To be freed in either case.
bool fclib_read(const char *file, FclibProblem *problem, char message[FCLIB_MESSAGE_BYTES]);
void fclib_free(FclibProblem *problem);

// The columns of the problem, freed with moreau__v1__contact_problem__free_unpacked. NULL, with a
// sentence, when it cannot be written with trees.
Moreau__V1__ContactProblem *fclib_convert(const FclibProblem *problem,
                                          char message[FCLIB_MESSAGE_BYTES]);
