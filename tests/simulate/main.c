// SPDX-License-Identifier: MIT
// The simulated faults: from one seed a file of episodes lives through servers that are stopped,
// killed and lose their power, with clients that lose their connections, on a disk that fails,
// while the threads of the servers interleave as the seed says; then everything that was answered
// is looked for (verdict.h). A seed that finds something finds it again. `help` says how it is
// asked.
#define _GNU_SOURCE // sched_setaffinity
#include "simulate/life.h"
#include "support/campaign.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "moreau-simulate [--twice] [--keep] [--campaign] [FIRST_SEED [COUNT [STRIDE]]]\n"
    "\n"
    "Plays the simulated faults of COUNT seeds (30), from FIRST_SEED (1) on, each STRIDE (1)\n"
    "further, and says now and then how far it is.\n"
    "  --twice     runs each seed again, and wants not one decision to differ\n"
    "  --keep      leaves the file and the servers' logs of each seed, and says where\n"
    "  --campaign  multiplies COUNT by the campaigns' scale (support/campaign.h)\n";

enum { FOLDER_BYTES = 64, REAL_SECONDS_MAX = 1200, SERVED_LIVES_MAX = 3 };

typedef struct Orders {
    uint64_t first, count, stride; // of the seeds
    bool twice, keeps;
} Orders;

typedef struct Run {
    uint64_t seed;
    History *history; // shared with the processes of the lives
    char folder[FOLDER_BYTES];
} Run;

// True: this life ended as it should.
static bool live(Run *run, size_t number, bool is_last) {
    LifeDef def = {.seed = run->seed * 8 + number,
                   .folder = run->folder,
                   .history = run->history,
                   .number = number,
                   .is_last = is_last};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(REAL_SECONDS_MAX); // the simulated time can stand still for a bug
        exit(life_run(&def));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("simulate: no process");
        return false;
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "simulate: life %zu ended by signal %d\n", number, WTERMSIG(status));
    }
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == LIFE_EXIT_ENDED || WEXITSTATUS(status) == LIFE_EXIT_KILLED);
}

static void remove_folder(const Run *run) {
    char command[FOLDER_BYTES + 16];
    snprintf(command, sizeof(command), "rm -rf %s", run->folder);
    if (system(command) != 0) {
        fprintf(stderr, "simulate: %s stays\n", run->folder);
    }
}

// True: nothing was found. The history is what the run was.
static bool run_seed(uint64_t seed, History *history, bool keeps) {
    Run run = {.seed = seed, .history = history, .folder = "/tmp/moreau-simulate-XXXXXX"};
    memset(history, 0, sizeof(*history));
    if (mkdtemp(run.folder) == NULL) {
        perror("simulate: no folder");
        return false;
    }
    size_t lives = 1 + seed % SERVED_LIVES_MAX;
    bool fine = true;
    for (size_t i = 0; i <= lives && fine; i++) {
        fine = live(&run, i, i == lives);
    }
    if (keeps) {
        printf("the file and the logs of seed %" PRIu64 " are in %s\n", seed, run.folder);
    } else {
        remove_folder(&run);
    }
    return fine;
}

// Over all seeds.
typedef struct Tally {
    uint64_t seeds, failures;
    uint64_t silent; // killed before anybody had called
    uint64_t lives, cut_lives, faults;
    uint64_t requests, replies, cuts, cancels, steps, episodes, resumes, saves, frames, pins,
        expired;
} Tally;

static void add_up(Tally *tally, const History *history) {
    tally->seeds++;
    tally->silent += history->requests == 0;
    tally->faults += history->faults;
    tally->requests += history->requests;
    tally->replies += history->replies;
    tally->cuts += history->cuts;
    tally->cancels += history->cancels;
    tally->steps += history->steps;
    tally->resumes += history->resumes;
    tally->saves += history->saves;
    tally->frames += history->frames;
    tally->pins += history->pins;
    tally->expired += history->expired;
    tally->episodes += history->episode_count;
    tally->lives += history->life_count;
    for (size_t i = 0; i < history->life_count; i++) {
        tally->cut_lives += history->life[i].end != LIFE_STOPPED;
    }
}

static void print_tally(const Tally *tally) {
    printf("%" PRIu64 " seeds, of %" PRIu64 " of them nobody had called when all was over, %" PRIu64
           " failed\n",
           tally->seeds, tally->silent, tally->failures);
    printf("  %" PRIu64 " lives, %" PRIu64 " killed or without power, %" PRIu64
           " with a failing disk\n",
           tally->lives, tally->cut_lives, tally->faults);
    printf("  %" PRIu64 " requests, %" PRIu64 " replies, %" PRIu64 " connections cut, %" PRIu64
           " cancels, %" PRIu64 " steps, %" PRIu64 " episodes, %" PRIu64
           " groups gone on with, %" PRIu64 " saved, %" PRIu64 " frames watched, %" PRIu64
           " pinned, %" PRIu64 " expired\n",
           tally->requests, tally->replies, tally->cuts, tally->cancels, tally->steps,
           tally->episodes, tally->resumes, tally->saves, tally->frames, tally->pins,
           tally->expired);
}

// True: two runs are the same to the last decision.
static bool repeats(uint64_t seed, History *history, uint64_t trace) {
    bool same = run_seed(seed, history, false) && history->trace == trace;
    if (!same) {
        fprintf(stderr, "simulate: two runs of seed %" PRIu64 " differ\n", seed);
    }
    return same;
}

static void try_seed(uint64_t seed, History *history, const Orders *orders, Tally *tally) {
    bool fine = run_seed(seed, history, orders->keeps);
    add_up(tally, history);
    if (fine && orders->twice) {
        fine = repeats(seed, history, history->trace);
    }
    if (!fine) {
        tally->failures++;
        printf("FAILED: seed %" PRIu64 "; again with: deploy/simulate 1 %" PRIu64 "\n", seed, seed);
    }
}

// How far it is, twice a minute.
static void tell_progress(const Tally *tally, const Orders *orders, time_t *told_s) {
    const time_t now_s = time(NULL); // the machine's clock; the other one is the simulated servers'
    if (now_s - *told_s >= 30) {
        *told_s = now_s;
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " seeds, %" PRIu64 " failed\n", tally->seeds,
                orders->count, tally->failures);
    }
}

// One thread runs at a time: on one processor a turn is handed over without waking another.
static void stay_on_one_processor(uint64_t which) {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof(all), &all) != 0) {
        return;
    }
    which %= (uint64_t)CPU_COUNT(&all);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &all) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            sched_setaffinity(0, sizeof(one), &one); // slower where it is refused
            return;
        }
    }
}

// A whole number, and nothing behind it.
static bool read_number(const char *text, uint64_t *number) {
    char *end;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static Orders read_orders(int argc, char **argv) {
    Orders orders = {.first = 1, .count = 30, .stride = 1};
    uint64_t *number[] = {&orders.first, &orders.count, &orders.stride};
    size_t given = 0;
    bool is_campaign = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            exit(EXIT_SUCCESS);
        } else if (strcmp(argv[i], "--twice") == 0) {
            orders.twice = true;
        } else if (strcmp(argv[i], "--keep") == 0) {
            orders.keeps = true;
        } else if (strcmp(argv[i], "--campaign") == 0) {
            is_campaign = true;
        } else if (given == 3 || !read_number(argv[i], number[given++])) {
            fprintf(stderr, "moreau-simulate knows no \"%s\".\n\n%s", argv[i], help);
            exit(EXIT_FAILURE);
        }
    }
    if (is_campaign) {
        orders.count = (uint64_t)campaign_count((int)orders.count);
    }
    return orders;
}

int main(int argc, char **argv) {
    Orders orders = read_orders(argc, argv);
    Tally tally = {0};
    stay_on_one_processor(orders.first);
    History *history =
        mmap(NULL, sizeof(*history), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (history == MAP_FAILED) {
        perror("simulate");
        return EXIT_FAILURE;
    }
    time_t told_s = time(NULL);
    for (uint64_t i = 0; i < orders.count; i++) {
        tell_progress(&tally, &orders, &told_s);
        try_seed(orders.first + i * orders.stride, history, &orders, &tally);
    }
    munmap(history, sizeof(*history));
    print_tally(&tally);
    return tally.failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
