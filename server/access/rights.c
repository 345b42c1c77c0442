// SPDX-License-Identifier: MIT
#include "access/rights.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t right;
} rights_table[] = {{"watch", RIGHT_WATCH},
                    {"step", RIGHT_STEP},
                    {"record", RIGHT_RECORD},
                    {"delete", RIGHT_DELETE},
                    {"admin", RIGHT_ADMIN}};

enum { RIGHT_COUNT = sizeof(rights_table) / sizeof(rights_table[0]) };

static const char none[] = "none";

const char *rights_name(size_t index, uint32_t *right) {
    if (index >= RIGHT_COUNT) {
        return NULL;
    }
    *right = rights_table[index].right;
    return rights_table[index].name;
}

void rights_print(uint32_t rights, char text[RIGHTS_TEXT_BYTES]) {
    size_t used = 0;
    snprintf(text, RIGHTS_TEXT_BYTES, "%s", none);
    for (size_t i = 0; i < RIGHT_COUNT; i++) {
        if (rights & rights_table[i].right) {
            used += (size_t)snprintf(text + used, RIGHTS_TEXT_BYTES - used, "%s%s",
                                     used > 0 ? "," : "", rights_table[i].name);
        }
    }
}

static uint32_t find_right(const char *name, size_t bytes) {
    for (size_t i = 0; i < RIGHT_COUNT; i++) {
        if (strlen(rights_table[i].name) == bytes &&
            memcmp(rights_table[i].name, name, bytes) == 0) {
            return rights_table[i].right;
        }
    }
    return 0;
}

bool rights_parse(const char *text, size_t bytes, uint32_t *rights) {
    *rights = 0;
    if (bytes == sizeof(none) - 1 && memcmp(text, none, bytes) == 0) {
        return true;
    }
    for (const char *at = text, *end = text + bytes; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma == NULL ? end : comma;
        const uint32_t right = find_right(at, (size_t)(stop - at));
        if (right == 0 || *rights & right) {
            return false;
        }
        *rights |= right;
        at = stop + 1;
    }
    return true;
}
