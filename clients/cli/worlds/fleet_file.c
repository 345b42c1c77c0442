// SPDX-License-Identifier: MIT
#include "cli/worlds/fleet_file.h"

#include "cli/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024, PORT_MAX = 65535 };

static bool is_port(const char *text) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0') {
        return false;
    }
    long port = strtol(text, NULL, 10);
    return port >= 1 && port <= PORT_MAX;
}

// The rest is found out by who connects.
static bool is_address(const char *text) {
    if (strpbrk(text, " \t") != NULL || strlen(text) >= FLEET_ADDRESS_BYTES) {
        return false;
    }
    if (strncmp(text, "unix:", 5) == 0) {
        return text[5] != '\0';
    }
    const char *colon = strrchr(text, ':');
    return colon != NULL && colon > text && is_port(colon + 1);
}

// Leaves what a line says, without what surrounds it. Returns where it begins.
static char *trim(char *line) {
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    size_t count = strlen(line);
    while (count > 0 && (line[count - 1] == ' ' || line[count - 1] == '\t')) {
        count--;
    }
    line[count] = '\0';
    return line;
}

static void add(FleetFile *file, const char *address) {
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->address[i], address) == 0) {
            return;
        }
    }
    file->address = memory_grow(file->address, file->count + 1, sizeof(*file->address));
    memcpy(file->address[file->count++], address, strlen(address) + 1);
}

// Why a line cannot be used; NULL: it was taken, or says nothing.
static const char *take_line(FleetFile *file, char *line) {
    if (strchr(line, '\n') == NULL) {
        return strlen(line) + 1 < LINE_BYTES
                   ? "the line has no end: the file is half written; write it under another name, "
                     "and rename it"
                   : "the line is too long for an address";
    }
    char *said = trim(line);
    if (said[0] == '\0') {
        return NULL;
    }
    if (!is_address(said)) {
        return "this is no address; write host:port, [v6]:port or unix:PATH, one a line";
    }
    if (file->count == FLEET_SERVERS_MAX) {
        return "these are more servers than can be shown";
    }
    add(file, said);
    return NULL;
}

bool fleet_file_read(FleetFile *file, const char *path, char *message, size_t message_bytes) {
    *file = (FleetFile){0};
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        snprintf(message, message_bytes, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    char line[LINE_BYTES];
    const char *refusal = NULL;
    size_t number = 0;
    while (refusal == NULL && fgets(line, sizeof(line), stream) != NULL) {
        number++;
        refusal = take_line(file, line);
    }
    bool is_broken = ferror(stream) != 0;
    fclose(stream);
    if (is_broken) {
        snprintf(message, message_bytes, "cannot read %s", path);
    } else if (refusal != NULL) {
        snprintf(message, message_bytes, "%s:%zu: %s", path, number, refusal);
    } else if (file->count == 0) {
        snprintf(message, message_bytes, "%s names no server: write an address a line", path);
    } else {
        return true;
    }
    fleet_file_free(file);
    return false;
}

void fleet_file_free(FleetFile *file) {
    free(file->address);
    *file = (FleetFile){0};
}
