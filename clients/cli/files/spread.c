// SPDX-License-Identifier: MIT
#include "cli/files/spread.h"

#include "cli/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool spread_open(Spread *spread, SaveStream *save) {
    *spread = (Spread){.counts = save_spool(save), .things = save_spool(save)};
    return spread->counts != NULL && spread->things != NULL;
}

void spread_close(Spread *spread) {
    FILE *const files[] = {spread->counts, spread->things};
    for (size_t i = 0; i < 2; i++) {
        if (files[i] != NULL) {
            fclose(files[i]);
        }
    }
    free(spread->last);
    free(spread->all);
    *spread = (Spread){0};
}

static int compare(const SpreadThing *a, const SpreadThing *b) {
    return a->id != b->id ? (a->id > b->id) - (a->id < b->id)
                          : (a->axes > b->axes) - (a->axes < b->axes);
}

// Where it is, or would be, among all.
static size_t find(const Spread *spread, const SpreadThing *thing) {
    size_t low = 0, high = spread->all_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&spread->all[middle], thing) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static SpreadThing *grow(SpreadThing *things, size_t count, size_t *capacity) {
    if (count > *capacity) {
        *capacity = 2 * count;
        things = memory_grow(things, *capacity, sizeof(*things));
    }
    return things;
}

static void remember(Spread *spread, const SpreadThing *thing) {
    const size_t at = find(spread, thing);
    if (at < spread->all_count && compare(&spread->all[at], thing) == 0) {
        return;
    }
    spread->all = grow(spread->all, spread->all_count + 1, &spread->all_capacity);
    memmove(spread->all + at + 1, spread->all + at,
            (spread->all_count - at) * sizeof(*spread->all));
    spread->all[at] = *thing;
    spread->all_count++;
}

static bool are_same(const Spread *spread, const SpreadThing *things, size_t count) {
    bool same = count == spread->last_count;
    for (size_t i = 0; i < count && same; i++) {
        same = compare(&things[i], &spread->last[i]) == 0;
    }
    return same;
}

void spread_add(Spread *spread, SaveStream *save, const SpreadThing *things, size_t count) {
    const uint64_t counts[2] = {count, are_same(spread, things, count) ? 0 : count};
    save_spool_write(save, spread->counts, counts, sizeof(counts));
    if (counts[1] == 0 && count > 0) {
        return;
    }
    spread->last = grow(spread->last, count, &spread->last_capacity);
    spread->last_count = count;
    for (size_t i = 0; i < count; i++) {
        spread->last[i] = things[i];
        remember(spread, &things[i]);
        save_spool_write(save, spread->things, &things[i], sizeof(things[i]));
    }
    spread->most = count > spread->most ? count : spread->most;
}

// ---- writing

// A frame at a time.
typedef struct Walk {
    const Spread *spread;
    const SpreadArray *array;
    size_t *place; // of the frame's things among all
    size_t count;
} Walk;

static bool next_frame(Walk *walk, SaveStream *save) {
    uint64_t counts[2];
    if (!save_spool_read(save, walk->spread->counts, counts, sizeof(counts))) {
        return false;
    }
    walk->count = (size_t)counts[0];
    for (size_t i = 0; i < counts[1]; i++) {
        SpreadThing thing;
        if (!save_spool_read(save, walk->spread->things, &thing, sizeof(thing))) {
            return false;
        }
        walk->place[i] = find(walk->spread, &thing);
    }
    return true;
}

static bool write_values(Walk *walk, Npz *npz, double *row) {
    const SpreadArray *array = walk->array;
    const uint64_t row_count = array->width * array->first[walk->spread->all_count];
    for (uint64_t i = 0; i < row_count; i++) {
        row[i] = NAN;
    }
    bool is_sound = true;
    for (size_t i = 0; i < walk->count && is_sound; i++) {
        const uint64_t first = array->first[walk->place[i]],
                       count = array->first[walk->place[i] + 1] - first;
        is_sound = save_spool_read(npz->save, array->values, row + array->width * first,
                                   (size_t)(array->width * count) * sizeof(double));
    }
    npz_write(npz, row, (size_t)row_count * sizeof(double));
    return is_sound;
}

static void write_presence(const Walk *walk, Npz *npz, uint8_t *row) {
    memset(row, 0, walk->spread->all_count);
    for (size_t i = 0; i < walk->count; i++) {
        row[walk->place[i]] = 1;
    }
    npz_write(npz, row, walk->spread->all_count);
}

void spread_write(const Spread *spread, Npz *npz, uint64_t frames, const SpreadArray *array) {
    const uint64_t numbers =
        array->values == NULL ? spread->all_count : array->first[spread->all_count];
    const uint64_t shape[] = {frames, numbers, array->width};
    const bool is_presence = array->values == NULL;
    Walk walk = {
        .spread = spread, .array = array, .place = memory_take(spread->most + 1, sizeof(size_t))};
    double *row = memory_take((size_t)(numbers * array->width) + 1, sizeof(double));
    save_spool_rewind(npz->save, spread->counts);
    save_spool_rewind(npz->save, spread->things);
    if (!is_presence) {
        save_spool_rewind(npz->save, array->values);
    }
    npz_array_begin(npz, array->name, is_presence ? "b1" : "f8", is_presence ? 1 : sizeof(double),
                    array->width > 1 ? 3 : 2, shape);
    for (uint64_t i = 0; i < frames && next_frame(&walk, npz->save); i++) {
        if (is_presence) {
            write_presence(&walk, npz, (uint8_t *)row);
        } else if (!write_values(&walk, npz, row)) {
            break;
        }
    }
    npz_array_end(npz);
    free(row);
    free(walk.place);
}
