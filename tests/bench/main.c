// SPDX-License-Identifier: MIT
// moreau-bench [NAME...] [--json] [--list] [--seconds S] [--files DIR] [--scene NAME]
// [--write DIR]: runs the benches of those names, or all but those that run only by name.
#include "bench/bench.h"
#include "bench/table.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 3600.0

enum { ROWS_MAX = 65536 };
enum { USAGE = 2 };

struct Bench {
    const char *name;
    void (*run)(const BenchRun *run);
    const char *about;
    bool only_by_name; // it takes long
};

static const Bench benches[] = {
    {"roundtrip", bench_roundtrip, "step round trips of a one-body world beside a bare echo",
     false},
    {"pipeline", bench_pipeline, "pipelined steps per second, server CPU beyond the physics",
     false},
    {"batch", bench_batch, "many small worlds in one call, CPU beyond the physics", false},
    {"group", bench_groups, "cart-poles stepped for a learner, beside the same in process", false},
    {"call", bench_calls, "what a call on a group costs beside bare echoes; only by its name",
     true},
    {"tls", bench_tls, "round trips and batches under TLS beside plain ones", false},
    {"tokens", bench_tokens, "what tokens, audit and sandbox cost a call; one who floods", false},
    {"pile", bench_pile, "settled piles of 100, 1,000 and 10,000 spheres", false},
    {"stack", bench_stack, "ten boxes on each other for ten seconds", false},
    {"wall", bench_wall, "a wall of 525 boxes for ten seconds", false},
    {"sap", bench_sap, "near-rigid contact beside Drake, and how convex solvers grow", true},
    {"solvers", bench_solvers, "every solver on problems and scenes; only by its name", true},
    {"scenes", bench_scenes, "the table with which solvers begins: five of them on ten scenes",
     true},
    {"curve", bench_curve, "residual over time of what is kicked, falls and settles, beside peers",
     true},
    {"rates", bench_rates, "what a counted effort counts a sweep as; only by its name", true},
    {"realtime", bench_realtime, "every scene at 1/240 s: whether one core keeps up with it", true},
    {"ragdolls", bench_ragdolls,
     "100 ragdolls that fall and settle, beside Box3D; only by its name", true},
    {"shapes", bench_shapes, "pairs of primitives of every two kinds; only by its name", true},
    {"bowl", bench_bowl, "1,000 mixed bodies that fall into a bowl of a mesh; only by its name",
     true},
    {"rays", bench_rays, "rays through 10,000 bodies, and of 4,096 worlds on one terrain", false},
    {"foundation", bench_foundation, "a cube on an elastic foundation of 900 cells for a second",
     false},
    {"block", bench_block, "one contact block by the branch that answers it", false},
    {"tree", bench_tree, "chains, cart-pole, ant and humanoid beside MuJoCo, Bullet and ODE",
     false},
    {"order", bench_order, "a chain's error over its time by every integrator, beside MuJoCo's RK4",
     false},
    {"chain", bench_chain, "chains of links and of rows against their length, by every solver",
     false},
    {"ldlt", bench_ldlt, "factorisations of contact problems beside CHOLMOD, where it is", false},
    {"certificate", bench_certificate, "what the certificate costs of a step of ten sweeps", false},
    {"drift", bench_drift, "energy that free motion, rolling and rest gain or lose in ten seconds",
     false},
    {"lanes", bench_lanes, "large worlds on two lanes beside one: piles, and 500 stacks of 5 boxes",
     false},
    {"hash", bench_hash, "hashing beside memcpy", false},
    {"log", bench_log, "chunks through the log beside bare SQLite", false},
    {"state", bench_state, "a 1,000-body state encoded and sent, beside memcpy and send", false},
    {"record", bench_record, "recording beside not recording, stepping again, seeking", false},
    {"readers", bench_readers, "writing the log beside readers, a backup, retention", false},
    {"neighbours", bench_neighbours, "round trips while others record and read", false},
    {"memory", bench_memory_use, "bytes per world and per idle connection", false},
};
enum { BENCH_COUNT = sizeof(benches) / sizeof(benches[0]) };

typedef struct Options {
    bool chosen[BENCH_COUNT];
    bool json, list;
    double seconds;
    const char *files, *scene, *write; // Nullable
} Options;

static BenchRow rows[ROWS_MAX];
static size_t row_count;

void bench_add(const BenchRun *run, const BenchRow *row) {
    if (row_count == ROWS_MAX) {
        bench_fail("more than %d rows", ROWS_MAX);
    }
    rows[row_count] = *row;
    rows[row_count++].bench = run->bench->name;
}

// A sentence about the command line, also as a document where one is asked for.
static int fail_usage(const Options *options, const char *sentence) {
    fprintf(stderr, "moreau-bench: %s\n", sentence);
    if (options->json) {
        table_print_error(stdout, sentence);
    }
    return USAGE;
}

static int fail_name(const Options *options, const char *name) {
    char sentence[128];
    snprintf(sentence, sizeof(sentence),
             "there is no benchmark %.32s; moreau bench --list names them", name);
    return fail_usage(options, sentence);
}

static int fail_seconds(const Options *options, const char *text) {
    char sentence[128];
    snprintf(sentence, sizeof(sentence),
             "--seconds takes a number above 0, up to %g, not \"%.32s\"", SECONDS_MAX, text);
    return fail_usage(options, sentence);
}

static bool choose(Options *options, const char *name) {
    for (int i = 0; i < BENCH_COUNT; i++) {
        if (strcmp(benches[i].name, name) == 0) {
            options->chosen[i] = true;
            return true;
        }
    }
    return false;
}

static bool parse_seconds(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    return *end == '\0' && *seconds > 0.0 && *seconds <= SECONDS_MAX;
}

// Where the text of an option goes; NULL: it is none that has one.
static const char **text_option(Options *options, const char *name) {
    const struct {
        const char *name;
        const char **text;
    } table[] = {
        {"--files", &options->files}, {"--scene", &options->scene}, {"--write", &options->write}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].text;
        }
    }
    return NULL;
}

// 0, or the exit status of a wrong command line.
static int parse(int argc, char **argv, Options *options) {
    bool has_name = false;
    const char **text;
    for (int i = 1; i < argc; i++) { // an error before it is a document, too
        options->json = options->json || strcmp(argv[i], "--json") == 0;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            continue;
        }
        if (strcmp(argv[i], "--list") == 0) {
            options->list = true;
        } else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            if (!parse_seconds(argv[++i], &options->seconds)) {
                return fail_seconds(options, argv[i]);
            }
        } else if (i + 1 < argc && (text = text_option(options, argv[i])) != NULL) {
            *text = argv[++i];
        } else if (choose(options, argv[i])) {
            has_name = true;
        } else {
            return fail_name(options, argv[i]);
        }
    }
    for (int i = 0; i < BENCH_COUNT && !has_name; i++) {
        options->chosen[i] = !benches[i].only_by_name;
    }
    return 0;
}

static void list_benches(const Options *options) {
    for (int i = 0; i < BENCH_COUNT; i++) {
        if (options->json) {
            table_print_name(stdout, benches[i].name, benches[i].about, i == 0,
                             i + 1 == BENCH_COUNT);
        } else {
            printf("%-10s %s\n", benches[i].name, benches[i].about);
        }
    }
}

static void run_benches(const Options *options) {
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < BENCH_COUNT; i++) {
        if (options->chosen[i]) {
            fprintf(stderr, "%s ...\n", benches[i].name);
            Bench bench = benches[i];
            BenchRun run = {.bench = &bench,
                            .seconds = options->seconds,
                            .files = options->files,
                            .scene = options->scene,
                            .write = options->write,
                            .json = options->json};
            bench.run(&run);
        }
    }
    if (options->json) {
        table_print_json(stdout, rows, row_count, options->seconds);
    } else if (row_count > 0) { // curve prints its own
        table_print(stdout, rows, row_count);
    }
}

int main(int argc, char **argv) {
    Options options = {.seconds = 3.0};
    int wrong = parse(argc, argv, &options);
    if (wrong != 0) {
        return wrong;
    }
    (options.list ? list_benches : run_benches)(&options);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        bench_fail("cannot write to standard output");
    }
    return 0;
}
