// SPDX-License-Identifier: MIT
#include "cli/problems/hdf5_load.h"

#include <dlfcn.h>
#include <string.h>

// What a name of the library leads to, at `found` [bytes]: a function's address, or a variable.
static bool find(void *library, const char *name, void *found) {
    void *address = dlsym(library, name);
    memcpy(found, &address, sizeof(address));
    return address != NULL;
}

bool hdf5_load(Hdf5 *hdf5) {
    void *library = dlopen(MOREAU_HDF5, RTLD_NOW | RTLD_LOCAL);
    const hid_t *number, *whole;
    if (library == NULL) {
        return false;
    }
    bool is_whole = true;
#define FIND(name) is_whole = is_whole && find(library, #name, &hdf5->name);
    HDF5_MAP(FIND)
#undef FIND
    // these have their values once the library is open
    if (!is_whole || hdf5->H5open() < 0 || !find(library, "H5T_NATIVE_DOUBLE_g", &number) ||
        !find(library, "H5T_NATIVE_INT_g", &whole)) {
        dlclose(library);
        return false;
    }
    hdf5->native_double = *number;
    hdf5->native_int = *whole;
    return true;
}
