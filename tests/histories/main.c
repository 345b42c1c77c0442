// SPDX-License-Identifier: MIT
// Random legal histories through the input door: everything that a world can be told, by chance,
// and after every deed what must always hold (history.h). What finds something is made as short as
// it can be, and printed as it can be put into the corpus. `help` says how it is asked. A file of
// the corpus that says `open`, and why, must still find what it says: what is mended loses that
// line.
#include "base/assert.h"
#include "histories/shrink.h"
#include "histories/text.h"
#include "support/campaign.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char help[] =
    "moreau-histories [--campaign [--brief] | FILE...] [--plain | --keep DIR] [--seed S]\n"
    "                 [--histories N] [--brisk | --sunken | --wide] [--deeds D]\n"
    "\n"
    "Plays the files, or else N random histories from seed S on.\n"
    "  --campaign  plays the corpus first, and multiplies N by the campaigns' scale\n"
    "              (support/campaign.h)\n"
    "  --brief     of the corpus what is open, unless that scale is above 1\n"
    "  --brisk     long histories of small worlds, asked about one deed in eight, and no corpus\n"
    "  --sunken    things on and in surfaces, boxes and hulls, asked of little else than what\n"
    "              they touch when they are seen from elsewhere, and no corpus\n"
    "  --wide      worlds in which most bodies hang on one tree of joints, and no corpus\n"
    "  --deeds     how many a history has\n"
    "  --keep      leaves what is found in a folder\n"
    "  --plain     tells it, but shortens and prints no history\n";

#define CORPUS MOREAU_SOURCE_DIR "/tests/histories/corpus"

enum {
    DEEDS = 60,
    BRISK_DEEDS = 1500,
    SUNKEN_DEEDS = 400,
    WIDE_DEEDS = 200,
    HISTORIES = 1200,
    FILES_MAX = 400,
    FINDINGS_MAX = 20
};

typedef struct Orders {
    uint64_t seed, histories;
    Pace pace;
    bool is_campaign, is_plain, is_brief;
    const char *keep;
    const char *file[FILES_MAX];
    size_t file_count;
} Orders;

// How much of a file is played.
typedef enum Measure {
    MEASURE_OPEN,  // nothing, unless it is open
    MEASURE_BRIEF, // what the eye of another finds by a deed of its own, whatever the phase: in one
    MEASURE_WHOLE, // in every phase
} Measure;

// What is known and not yet mended: the corpus says so.
typedef struct Known {
    Finding finding[FILES_MAX];
    size_t count;
} Known;

// ---- texts

// A line for each deed; digits as few as give the same numbers.
static void print_history(FILE *out, const History *history, const Finding *finding) {
    fprintf(out, "{\"about\": \"\",\n\"property\": \"%s\", \"place\": \"%s\",\n",
            property_names[finding->property], finding->place);
    if (finding->property == PROPERTY_RECORD) {
        fprintf(out, "\"phase\": %" PRIu32 ",\n", history->phase);
    }
    fprintf(out, "\"deeds\": [\n");
    for (size_t i = 0; i < history->count; i++) {
        json_t *text = text_of_deed(&history->deed[i]);
        char *line = json_dumps(text, JSON_COMPACT | JSON_REAL_PRECISION(15));
        json_t *again = json_loads(line, 0, NULL);
        if (!json_equal(text, again)) {
            free(line);
            line = json_dumps(text, JSON_COMPACT | JSON_REAL_PRECISION(17));
        }
        fprintf(out, "%s%s\n", line, i + 1 < history->count ? "," : "");
        free(line);
        json_decref(again);
        json_decref(text);
    }
    fprintf(out, "]}\n");
}

static void keep(const Orders *orders, const History *history, const Finding *finding,
                 uint64_t seed) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s-%" PRIu64 ".json", orders->keep,
             property_names[finding->property], seed);
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        perror(path);
        return;
    }
    print_history(out, history, finding);
    fclose(out);
    printf("kept as %s\n", path);
}

// ---- files

static bool is_named(const json_t *text, const Finding *finding) {
    const char *property = json_string_value(json_object_get(text, "property"));
    const char *place = json_string_value(json_object_get(text, "place"));
    return finding->is_found && property != NULL && place != NULL &&
           strcmp(property, property_names[finding->property]) == 0 &&
           strcmp(place, finding->place) == 0;
}

static Finding play_file(const json_t *text, const char *path, Measure measure) {
    Arena arena;
    History history;
    Finding found = {0};
    arena_init(&arena, (size_t)1 << 26);
    if (!text_read_history(json_object_get(text, "deeds"), &arena, &history)) {
        found = (Finding){.is_found = true};
        snprintf(found.words, sizeof(found.words), "%.200s is no history", path);
    }
    // as it was found, and with every phase of twins and a recording of its own
    const json_t *given = json_object_get(text, "phase");
    if (!found.is_found && given != NULL) {
        found = trial_play_history(&history, (uint32_t)json_integer_value(given));
    }
    const char *property = json_string_value(json_object_get(text, "property"));
    const bool is_by_deed =
        property != NULL && strcmp(property, property_names[PROPERTY_TURNED]) == 0;
    const uint32_t phases = is_by_deed && measure == MEASURE_BRIEF ? 1 : PLAY_PHASES;
    for (uint32_t phase = 0; !found.is_found && phase < phases; phase++) {
        found = trial_play_history(&history, phase + PLAY_PHASES * (1 + phase));
    }
    arena_deinit(&arena);
    return found;
}

// true: it holds, or is open and still finds what it says.
static bool try_file(const char *path, Known *known, Measure measure) {
    json_error_t error;
    json_t *text = json_load_file(path, 0, &error);
    if (text == NULL) {
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
        return false;
    }
    const char *open = json_string_value(json_object_get(text, "open"));
    if (open == NULL && measure == MEASURE_OPEN) {
        json_decref(text);
        return true;
    }
    const Finding found = play_file(text, path, measure);
    bool is_fine = open == NULL ? !found.is_found : is_named(text, &found);
    if (open != NULL && is_fine) {
        ASSERT(known->count < FILES_MAX);
        known->finding[known->count++] = found;
    } else if (open != NULL && !found.is_found) {
        printf("%s finds nothing any more: it is mended, and no longer open\n", path);
    } else if (found.is_found) {
        printf("%s: %s at %s: %s\n", path, property_names[found.property], found.place,
               found.words);
        fflush(stdout);
    }
    json_decref(text);
    return is_fine;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool try_corpus(Known *known, Measure measure) {
    char *name[FILES_MAX];
    size_t count = 0;
    bool is_fine = true;
    DIR *folder = opendir(CORPUS);
    ASSERT(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".json") != NULL && count < FILES_MAX) {
            name[count++] = strdup(entry->d_name);
        }
    }
    closedir(folder);
    qsort(name, count, sizeof(*name), compare_names);
    for (size_t i = 0; i < count; i++) {
        char path[600];
        snprintf(path, sizeof(path), CORPUS "/%s", name[i]);
        is_fine = try_file(path, known, measure) && is_fine;
        free(name[i]);
    }
    printf("corpus: %zu histories, %zu of them open%s\n", count, known->count,
           measure == MEASURE_OPEN ? ", and only those played" : "");
    return is_fine;
}

// ---- seeds

static bool is_known(const Known *known, const Finding *finding) {
    for (size_t i = 0; i < known->count; i++) {
        if (trial_is_same(&known->finding[i], finding)) {
            return true;
        }
    }
    return false;
}

static void tell(const Orders *orders, uint64_t seed, const Finding *finding) {
    Arena arena;
    History history;
    arena_init(&arena, (size_t)1 << 30);
    const Recipe recipe = trial_recipe(seed, orders->pace, &arena);
    printf("seed %" PRIu64 ": %s at %s: %s\n", seed, property_names[finding->property],
           finding->place, finding->words);
    if (orders->is_plain) {
        // no more than that
    } else if (!shrink_recipe(&recipe, finding, &arena, &history)) {
        printf("it does not find it again when it is played alone\n");
    } else if (orders->keep != NULL) {
        keep(orders, &history, finding, seed);
    } else {
        print_history(stdout, &history, finding);
    }
    fflush(stdout);
    arena_deinit(&arena);
}

static void add_up(PlayTally *sum, const PlayTally *more) {
    const uint64_t *from = (const uint64_t *)(const void *)more;
    uint64_t *to = (uint64_t *)(void *)sum;
    for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++) {
        to[i] += from[i];
    }
}

static double percent(uint64_t part, uint64_t of) {
    return of == 0 ? 0.0 : 100.0 * (double)part / (double)of;
}

// Of worlds that were seen otherwise: what could not be compared.
static void tell_turned(const PlayTally *sum) {
    printf("%" PRIu64 " in other units, %" PRIu64 " of them beyond floats; %" PRIu64
           " seen otherwise: of %" PRIu64
           " pairs that touch %.2f %% were about to touch otherwise, of %" PRIu64
           " answers %.2f %% were open and %.2f %% one of several; %" PRIu64
           " threw somebody, of which %" PRIu64 " were another answer\n",
           sum->units, sum->units_beyond, sum->turned, sum->turned_pairs,
           percent(sum->turned_seams, sum->turned_pairs), sum->turned_answers,
           percent(sum->turned_open, sum->turned_answers),
           percent(sum->turned_loose, sum->turned_answers), sum->turned_thrown,
           sum->turned_thrown_otherwise);
}

// Of the processor, of all children that have ended: a busy machine makes no history dearer.
static double seconds(void) {
    struct rusage usage;
    ASSERT(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static bool try_seeds(const Orders *orders, const Known *known) {
    PlayTally sum = {0};
    Known told = {0};
    uint64_t at = orders->seed, known_count = 0;
    const uint64_t end = orders->seed + orders->histories;
    double took = 0.0; // but for what is told of findings
    while (at < end && told.count < (size_t)(orders->is_plain ? FILES_MAX : FINDINGS_MAX)) {
        const double started = seconds();
        const Finding found = trial_play_seeds(at, end - at, orders->pace);
        took += seconds() - started;
        add_up(&sum, &trial_report()->tally);
        const uint64_t seed = trial_report()->history;
        at = seed + 1;
        if (!found.is_found) {
            break;
        }
        if (is_known(known, &found)) {
            known_count++;
        } else if (!is_known(&told, &found)) {
            told.finding[told.count++] = found;
            tell(orders, seed, &found);
        }
    }
    printf("%" PRIu64 " histories, %" PRIu64 " deeds (%.0f/s of a processor), %" PRIu64
           " refused, %" PRIu64 " steps, %" PRIu64 " of them of wide trees, %" PRIu64
           " recorded, %" PRIu64 " faults, %" PRIu64 " go on in a scene, %" PRIu64
           " groups (%" PRIu64 " refused) of %" PRIu64 " rows, %" PRIu64 " hulls with %" PRIu64
           " contacts, %" PRIu64 " surfaces with %" PRIu64 " (%" PRIu64
           " calls with such refused); %zu findings, %" PRIu64 " known ones\n",
           at - orders->seed, sum.deeds, (double)sum.deeds / took, sum.refused, sum.steps,
           sum.wide_steps, sum.recorded, sum.faults, sum.scenes, sum.groups, sum.groups_refused,
           sum.group_rows, sum.hulls, sum.hull_contacts, sum.surfaces, sum.surface_contacts,
           sum.geometries_refused, told.count, known_count);
    tell_turned(&sum);
    printf("%" PRIu64 " rounds of steps made over and over\n", sum.rounds);
    return told.count == 0;
}

// ---- orders

static Orders read_orders(int argc, char **argv) {
    Orders orders = {.seed = 1, .histories = HISTORIES, .pace = {.deeds = DEEDS}};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            exit(0);
        } else if (strcmp(argv[i], "--campaign") == 0) {
            orders.is_campaign = true;
        } else if (strcmp(argv[i], "--plain") == 0) {
            orders.is_plain = true;
        } else if (strcmp(argv[i], "--brief") == 0) {
            orders.is_brief = true;
        } else if (strcmp(argv[i], "--brisk") == 0) {
            orders.pace = (Pace){.deeds = BRISK_DEEDS, .is_brisk = true};
        } else if (strcmp(argv[i], "--sunken") == 0) {
            orders.pace = (Pace){.deeds = SUNKEN_DEEDS, .is_sunken = true};
        } else if (strcmp(argv[i], "--wide") == 0) {
            orders.pace = (Pace){.deeds = WIDE_DEEDS, .is_wide = true};
        } else if (strcmp(argv[i], "--seed") == 0) {
            orders.seed = strtoull(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--histories") == 0) {
            orders.histories = strtoull(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--deeds") == 0) {
            orders.pace.deeds = strtoull(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--keep") == 0) {
            orders.keep = value;
            i++;
        } else if (orders.file_count < FILES_MAX) {
            orders.file[orders.file_count++] = argv[i];
        }
    }
    orders.pace.deeds = orders.pace.deeds == 0 ? 1 : orders.pace.deeds;
    if (orders.is_campaign) {
        orders.histories = (uint64_t)campaign_count((int)orders.histories);
    }
    return orders;
}

int main(int argc, char **argv) {
    static Known known;
    const Orders orders = read_orders(argc, argv);
    bool is_fine = true;
    for (size_t i = 0; i < orders.file_count; i++) {
        is_fine = try_file(orders.file[i], &known, MEASURE_WHOLE) && is_fine;
    }
    if (orders.is_campaign && !orders.pace.is_brisk && !orders.pace.is_sunken &&
        !orders.pace.is_wide) {
        const bool is_long = campaign_count(100) > 100;
        is_fine = try_corpus(&known, is_long           ? MEASURE_WHOLE
                                     : orders.is_brief ? MEASURE_OPEN
                                                       : MEASURE_BRIEF);
    }
    if (orders.file_count == 0) {
        is_fine = try_seeds(&orders, &known) && is_fine;
    }
    return is_fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
