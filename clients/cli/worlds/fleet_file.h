// SPDX-License-Identifier: MIT
// The file that names a fleet's servers: an address a line, behind # nothing, as moreau_sim.Fleet
// reads it. Every line has an end: one without is still being written, and a port that was cut
// short would be another server's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FLEET_SERVERS_MAX = 1000, FLEET_ADDRESS_BYTES = 256 };

typedef struct FleetFile {
    char (*address)[FLEET_ADDRESS_BYTES]; // owned; each once, in the order of the file
    size_t count;
} FleetFile;

// false, with a sentence that names file and line: it cannot be used, and `file` is empty.
bool fleet_file_read(FleetFile *file, const char *path, char *message, size_t message_bytes);
void fleet_file_free(FleetFile *file);
