// SPDX-License-Identifier: MIT
#include "cli/text/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// longer names are not compared; of a word that is a part of a name, the name is near
enum { NAME_MAX_BYTES = 64, PART_BYTES_MIN = 3, PART_DISTANCE = 2 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static char letter(const char *text, size_t index) {
    return (char)tolower((unsigned char)text[index]);
}

// Letters to leave out, add, change or swap with their neighbour to make b of a (optimal string
// alignment), row by row: row[i] holds the distances of the first i letters of a.
static size_t edit_distance(const char *a, const char *b) {
    size_t row[3][NAME_MAX_BYTES + 1];
    size_t a_count = strlen(a);
    size_t b_count = strlen(b);
    for (size_t k = 0; k <= b_count; k++) {
        row[0][k] = k;
    }
    for (size_t i = 1; i <= a_count; i++) {
        size_t *now = row[i % 3];
        const size_t *above = row[(i + 2) % 3];
        const size_t *before = row[(i + 1) % 3]; // two rows above
        now[0] = i;
        for (size_t k = 1; k <= b_count; k++) {
            bool is_same = letter(a, i - 1) == letter(b, k - 1);
            now[k] = least(least(above[k], now[k - 1]) + 1, above[k - 1] + (is_same ? 0 : 1));
            if (i > 1 && k > 1 && letter(a, i - 1) == letter(b, k - 2) &&
                letter(a, i - 2) == letter(b, k - 1)) {
                now[k] = least(now[k], before[k - 2] + 1);
            }
        }
    }
    return row[a_count % 3][b_count];
}

static bool is_part(const char *part, const char *name) {
    size_t count = strlen(part);
    for (; count >= PART_BYTES_MIN && *name != '\0'; name++) {
        if (strncasecmp(part, name, count) == 0) {
            return true;
        }
    }
    return false;
}

void nearest_offer(Nearest *nearest, const char *name) {
    if (strlen(nearest->typed) > NAME_MAX_BYTES || strlen(name) > NAME_MAX_BYTES) {
        return;
    }
    size_t distance = edit_distance(nearest->typed, name);
    if (is_part(nearest->typed, name)) {
        distance = least(distance, PART_DISTANCE);
    }
    if (nearest->name == NULL || distance < nearest->distance) {
        nearest->name = name;
        nearest->distance = distance;
    }
}

const char *nearest_hint(const Nearest *nearest, char hint[NEAREST_HINT_BYTES]) {
    // a third of the letters may be wrong; of two letters, one
    bool is_near = nearest->name != NULL && nearest->distance <= 1 + strlen(nearest->typed) / 3;
    bool is_nothing = nearest->typed[0] == '\0';
    hint[0] = '\0';
    if (is_near && !is_nothing) {
        snprintf(hint, NEAREST_HINT_BYTES, " (did you mean %s?)", nearest->name);
    }
    return hint;
}
