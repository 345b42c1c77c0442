// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // memfd_create
#include "histories/trial.h"

#include "base/assert.h"
#include "histories/text.h"
#include "support/sanitizers.h"

#ifdef MOREAU_COVERAGE
#include <gcov.h>
#endif
#if SANITIZES_ADDRESSES
#include <sanitizer/lsan_interface.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// Seconds that a deed and what is asked behind it may take: under sanitizers, where hulls lie in
// each other in heaps. Many deeds that take one each are no finding.
enum { DEED_SECONDS_MAX = 150 };

// A recording is stepped again four times; and of one history there are so many.
enum { RECORDED_ONE_IN = 3, RECORDINGS = 1 << 20 };

enum { BRISK_ASKS_ONE_IN = 8, BRISK_RECORDED_ONE_IN = 24, WIDE_BODIES = 12 };

TrialReport *trial_report(void) {
    static TrialReport *report;
    if (report == NULL) {
        void *memory =
            mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT(memory != MAP_FAILED);
        report = memory;
    }
    return report;
}

Recipe trial_recipe(uint64_t seed, Pace pace, Arena *arena) {
    Dice dice = dice_make(seed, 0);
    const uint64_t mood = dice_roll(&dice, 100);
    Recipe recipe = {.mood = mood < 80 ? MOOD_CALM : MOOD_WILD,
                     .scale = make_scale(&dice, pace.is_brisk || pace.is_sunken),
                     .phase = (uint32_t)dice_roll(&dice, PLAY_PHASES),
                     .count = MAKE_PROLOGUE + 1 + dice_roll(&dice, pace.deeds)};
    if (pace.is_sunken) {
        recipe.mood = MOOD_CALM;
        recipe.scale.is_sunken = true;
    }
    if (pace.is_wide) {
        recipe.scale.is_wide = true;
        recipe.scale.bodies_max = WIDE_BODIES;
    }
    recipe.roll = arena_take_zeroed(arena, recipe.count, sizeof(*recipe.roll));
    ASSERT(recipe.roll != NULL);
    for (size_t i = 0; i < recipe.count; i++) {
        recipe.roll[i] = (Roll){.prologue = i < MAKE_PROLOGUE ? (uint32_t)i : MAKE_PROLOGUE,
                                .seed = dice_bits(&dice)};
    }
    if (dice_roll(&dice, pace.is_brisk ? BRISK_RECORDED_ONE_IN : RECORDED_ONE_IN) == 0) {
        recipe.phase += PLAY_PHASES * (1 + (uint32_t)dice_roll(&dice, RECORDINGS));
    }
    return recipe;
}

// ---- in the child

// What a history took and did not give back. The sanitizer says who took it, and read_end reads it.
static void end_where_it_leaked(void) {
#if SANITIZES_ADDRESSES
    if (__lsan_do_recoverable_leak_check() != 0) {
        _exit(EXIT_FAILURE);
    }
#endif
}

// Of the processor: a busy machine is no finding.
static void end_after(int seconds) {
    const struct itimerval until = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_VIRTUAL, &until, NULL);
}

static void write_deed(TrialReport *report, const Deed *deed) {
    json_t *text = text_of_deed(deed);
    char *line = json_dumps(text, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const size_t count = strlen(line);
    if (report->text_count + count + 2 < sizeof(report->text)) {
        memcpy(report->text + report->text_count, line, count);
        report->text_count += count;
        memcpy(report->text + report->text_count++, "\n", 2);
    }
    free(line);
    json_decref(text);
}

static bool play_recipe(const Recipe *recipe, bool writes, TrialReport *report) {
    Play play;
    Arena arena;
    bool is_fine = true;
    arena_init(&arena, (size_t)1 << 30);
    play_init(&play, recipe->phase, &report->finding);
    play.doing = report->doing;
    play.asks_one_in = recipe->scale.is_brisk ? BRISK_ASKS_ONE_IN : 1;
    for (size_t i = 0; i < recipe->count && is_fine && !play.is_over; i++) {
        arena_reset(&arena);
        Make make = {.dice = dice_make(recipe->roll[i].seed, 1),
                     .world = play.door[PLAY_MAIN].world,
                     .arena = &arena,
                     .mood = recipe->mood,
                     .scale = recipe->scale};
        const Deed deed = recipe->roll[i].prologue < MAKE_PROLOGUE
                              ? make_prologue(&make, recipe->roll[i].prologue)
                              : make_deed(&make);
        report->deed = i;
        if (writes) {
            write_deed(report, &deed);
        }
        end_after(DEED_SECONDS_MAX);
        is_fine = play_deed(&play, &deed);
    }
    end_after(DEED_SECONDS_MAX);
    is_fine = is_fine && play_end(&play);
    const uint64_t *from = (const uint64_t *)(const void *)&play.tally;
    uint64_t *to = (uint64_t *)(void *)&report->tally;
    for (size_t i = 0; i < sizeof(play.tally) / sizeof(*to); i++) {
        to[i] += from[i];
    }
    play_deinit(&play);
    arena_deinit(&arena);
    end_where_it_leaked();
    return is_fine;
}

static void play_history(const History *history, uint32_t phase, TrialReport *report) {
    Play play;
    play_init(&play, phase, &report->finding);
    play.doing = report->doing;
    for (size_t i = 0; i < history->count; i++) {
        report->deed = i;
        end_after(DEED_SECONDS_MAX);
        if (!play_deed(&play, &history->deed[i])) {
            break;
        }
    }
    end_after(DEED_SECONDS_MAX);
    play_end(&play);
    play_deinit(&play);
    end_where_it_leaked();
}

// ---- the child's end

// Of what leaked, who asked an array or an arena for it.
static const char *beyond_base(const char *file) {
    static const char base[] = "/server/base/";
    while (file != NULL && strncmp(file, base, strlen(base)) == 0) {
        file = strstr(file + 1, "/server/");
    }
    return file;
}

static bool says_leak(const char *said) {
    return strstr(said, "LeakSanitizer") != NULL;
}

// The first place in the sources that it names: an assertion's, a sanitizer's. Of a sanitizer the
// first lines are of its own.
static void read_place(const char *said, int status, Finding *finding) {
    const char *at = strstr(said, "assertion failed at ");
    at = at == NULL ? strstr(said, "runtime error") : at;
    const char *file = strstr(at == NULL ? said : at, "/server/");
    if (at != NULL && file == NULL) { // of undefined behaviour the place comes first
        file = strstr(said, "server/");
    }
    if (says_leak(said)) {
        file = beyond_base(file);
    }
    if (file == NULL) {
        snprintf(finding->place, sizeof(finding->place), "signal %d in %s",
                 WIFSIGNALED(status) ? WTERMSIG(status) : 0, trial_report()->doing);
        return;
    }
    const size_t count = strcspn(file, " \n)");
    snprintf(finding->place, sizeof(finding->place), "%.*s", (int)(count > 90 ? 90 : count), file);
}

static void read_end(int status, int said_fd, Finding *finding) {
    if (finding->is_found || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        return;
    }
    char said[1 << 14] = "";
    const ssize_t count = pread(said_fd, said, sizeof(said) - 1, 0);
    said[count < 0 ? 0 : count] = '\0';
    *finding =
        (Finding){.is_found = true, .property = says_leak(said) ? PROPERTY_MEMORY : PROPERTY_ALIVE};
    read_place(said, status, finding);
    snprintf(finding->words, sizeof(finding->words), "ended by signal %d: %.400s",
             WIFSIGNALED(status) ? WTERMSIG(status) : 0, said);
}

typedef struct Order {
    const Recipe *recipe;
    bool writes;
    const History *history;
    uint32_t phase;
    uint64_t first, count;
    Pace pace;
} Order;

static void play_seeds(const Order *order, TrialReport *report) {
    Arena arena;
    arena_init(&arena, (size_t)1 << 24);
    for (uint64_t i = 0; i < order->count; i++) {
        report->history = order->first + i;
        arena_reset(&arena);
        const Recipe recipe = trial_recipe(report->history, order->pace, &arena);
        if (!play_recipe(&recipe, false, report)) {
            break;
        }
    }
    arena_deinit(&arena);
}

static void carry_out(const Order *order, TrialReport *report) {
    if (order->history != NULL) {
        play_history(order->history, order->phase, report);
    } else if (order->recipe != NULL) {
        play_recipe(order->recipe, order->writes, report);
    } else {
        play_seeds(order, report);
    }
}

// What a build with --coverage has counted is written down by an exit, but not by _exit.
static void write_counts(void) {
#ifdef MOREAU_COVERAGE
    __gcov_dump();
#endif
}

static Finding in_child(const Order *order) {
    TrialReport *report = trial_report();
    report->finding = (Finding){0};
    report->tally = (PlayTally){0};
    report->text_count = 0;
    report->text[0] = '\0';
    const int said = memfd_create("said", 0);
    record_make_folder();
    fflush(NULL);
    const pid_t child = fork();
    ASSERT(child >= 0 && said >= 0);
    if (child == 0) {
        dup2(said, STDERR_FILENO);
        carry_out(order, report);
        write_counts();
        _exit(0);
    }
    int status = 0;
    ASSERT(waitpid(child, &status, 0) == child);
    record_remove_folder();
    read_end(status, said, &report->finding);
    close(said);
    return report->finding;
}

Finding trial_play_recipe(const Recipe *recipe, bool writes) {
    return in_child(&(Order){.recipe = recipe, .writes = writes});
}

Finding trial_play_history(const History *history, uint32_t phase) {
    return in_child(&(Order){.history = history, .phase = phase});
}

Finding trial_play_seeds(uint64_t first, uint64_t count, Pace pace) {
    return in_child(&(Order){.first = first, .count = count, .pace = pace});
}

bool trial_is_same(const Finding *a, const Finding *b) {
    return a->is_found == b->is_found && a->property == b->property &&
           strcmp(a->place, b->place) == 0;
}
