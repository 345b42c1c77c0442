// SPDX-License-Identifier: MIT
// HDF5, found when a file of it is read: who never reads one does not need the library.
#pragma once

#include <hdf5.h>

// The functions that are used.
#define HDF5_MAP(X)                                                                                \
    X(H5open)                                                                                      \
    X(H5Eset_auto2)                                                                                \
    X(H5Fopen)                                                                                     \
    X(H5Fclose)                                                                                    \
    X(H5Lexists)                                                                                   \
    X(H5Dopen2)                                                                                    \
    X(H5Dget_space)                                                                                \
    X(H5Dread)                                                                                     \
    X(H5Dclose)                                                                                    \
    X(H5Sget_simple_extent_npoints)                                                                \
    X(H5Sclose)

typedef struct Hdf5 {
#define MEMBER(name) __typeof__(name) *name;
    HDF5_MAP(MEMBER)
#undef MEMBER
    hid_t native_double, native_int; // kinds of numbers
} Hdf5;

// Loads it; it stays until the program ends. false: it is not there, or is no HDF5 of the version
// that this was built with.
bool hdf5_load(Hdf5 *hdf5);
