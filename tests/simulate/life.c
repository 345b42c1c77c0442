// SPDX-License-Identifier: MIT
#include "simulate/life.h"

#include "options.h"
#include "server.h"
#include "simulate/client.h"
#include "simulate/disk.h"
#include "simulate/link.h"
#include "simulate/schedule.h"
#include "simulate/system.h"
#include "simulate/verdict.h"
#include "simulate/watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t grace_ns = 60000000000u; // twice the server's: its end takes time as well

enum { CLIENTS_MAX = 4, WATCHERS_MAX = 3, KEPT_EPISODES_MAX = 6, WORD_BYTES = 600, WORDS_MAX = 32 };

// How it will end, unless it ends before.
typedef struct Fate {
    LifeEnd end;
    uint64_t point;     // of the schedule; UINT64_MAX: never
    uint64_t operation; // of the disk; UINT64_MAX: never
    uint64_t time_ns;   // simulated; UINT64_MAX: never
} Fate;

static struct {
    LifeDef def;
    Dice dice;
    Fate fate;
    HistoryLife *record;
    Crowd crowd;
    int ready[2];       // what the server says when it is ready
    bool has_bad_start; // the disk may fail while the server starts, which then may not start
    bool has_not_started;
    char address[WORD_BYTES];
} life;

// ---- the end

static void note_end(LifeEnd end) {
    *life.record = (HistoryLife){.end = end,
                                 .end_ns = schedule_now_ns(),
                                 .full_durability = life.record->full_durability,
                                 .keep_episodes = life.record->keep_episodes,
                                 .disk_failed = disk_has_faults()};
    History *history = life.def.history;
    history->trace = history->trace * 31 + schedule_trace();
    history->faults += disk_has_faults();
    history->frames += watch_count();
}

static void meet_fate(void) {
    note_end(life.fate.end);
    if (life.fate.end == LIFE_LOST_POWER) {
        disk_lose_power();
    }
    _exit(LIFE_EXIT_KILLED);
}

static void at_point(uint64_t point) {
    if (point == life.fate.point || schedule_now_ns() >= life.fate.time_ns) {
        meet_fate();
    }
}

static void at_operation(uint64_t operation) {
    if (operation == life.fate.operation) {
        meet_fate();
    }
}

static void draw_fate(void) {
    life.fate = (Fate){
        .end = LIFE_STOPPED, .point = UINT64_MAX, .operation = UINT64_MAX, .time_ns = UINT64_MAX};
    uint64_t chance = dice_roll(&life.dice, 100);
    if (life.def.is_last || chance < 25) {
        return;
    }
    life.fate.end = chance < 60 ? LIFE_KILLED : LIFE_LOST_POWER;
    switch (dice_roll(&life.dice, 3)) {
    case 0:
        life.fate.point = dice_magnitude(&life.dice, 17);
        break;
    case 1:
        life.fate.operation = dice_magnitude(&life.dice, 11);
        break;
    default:
        life.fate.time_ns = schedule_begin_ns() + dice_magnitude(&life.dice, 35);
    }
}

// ---- the clients

static void play(Crowd *crowd) {
    ClientDef client[CLIENTS_MAX + WATCHERS_MAX];
    size_t task[CLIENTS_MAX + WATCHERS_MAX] = {0};
    const size_t count = 1 + (size_t)dice_roll(&life.dice, CLIENTS_MAX);
    const size_t watchers =
        dice_chance(&life.dice, 50) ? 1 + (size_t)dice_roll(&life.dice, WATCHERS_MAX) : 0;
    if (!life.has_bad_start) {
        disk_allow_faults();
    }
    if (!client_make_shared(crowd)) {
        fail("the shared world cannot be made");
    }
    for (size_t i = 0; i < count + watchers; i++) {
        client[i] = (ClientDef){.crowd = crowd, .number = i + 1};
        task[i] = i < count ? schedule_start("client", client_main, &client[i])
                            : schedule_start("watcher", watcher_main, &client[i]);
    }
    bool is_early = dice_chance(&life.dice, 30);
    if (is_early) {
        schedule_sleep(dice_magnitude(&life.dice, 34));
        crowd->is_stopping = true;
        raise(SIGTERM);
    }
    for (size_t i = 0; i < count; i++) {
        schedule_join(task[i]);
    }
    if (!is_early) {
        watcher_judge(crowd);
    }
    for (size_t i = count; i < count + watchers; i++) {
        schedule_join(task[i]);
    }
    if (!is_early) {
        if (dice_chance(&life.dice, 20)) {
            schedule_sleep(dice_magnitude(&life.dice, 36)); // sessions end meanwhile
        }
        if (dice_chance(&life.dice, 10)) {
            schedule_sleep(grace_ns);
            if (!client_check_alone(crowd)) {
                fail("the server is gone");
            }
        }
        crowd->is_stopping = true;
        raise(SIGTERM);
    }
    model_deinit(&crowd->shared_model);
}

// Waits for the server, then for all that is done to it, then stops it.
static void direct(void *context) {
    Crowd *crowd = context;
    char line[WORD_BYTES];
    schedule_wait_fd(life.ready[0], POLLIN, SCHEDULE_FOREVER);
    ssize_t count = read(life.ready[0], line, sizeof(line));
    if (life.has_not_started) {
        return;
    }
    if (count <= 0) {
        fail("the server did not say that it was ready");
    }
    if (life.def.is_last) {
        verdict_ask(crowd->address, crowd->history);
        raise(SIGTERM);
    } else {
        play(crowd);
    }
}

// ---- the server

typedef struct Words {
    char word[WORDS_MAX][WORD_BYTES];
    char *pointer[WORDS_MAX + 1];
    int count;
} Words;

static void say(Words *words, const char *option, const char *format, unsigned long long value,
                const char *text) {
    snprintf(words->word[words->count++], WORD_BYTES, "%s", option);
    if (format != NULL) {
        snprintf(words->word[words->count++], WORD_BYTES, format, value);
    } else {
        snprintf(words->word[words->count++], WORD_BYTES, "%s", text);
    }
}

// What limits are small is drawn: queues that are always full find other things than empty ones.
static void choose_words(Words *words) {
    Dice *dice = &life.dice;
    char path[WORD_BYTES];
    snprintf(words->word[words->count++], WORD_BYTES, "moreau-server");
    snprintf(path, sizeof(path), "unix:%.500s", life.address);
    say(words, "--listen", NULL, 0, path);
    snprintf(path, sizeof(path), "%.500s/episodes.db", life.def.folder);
    say(words, "--db", NULL, 0, path);
    snprintf(path, sizeof(path), "%.500s/life-%zu.log", life.def.folder, life.def.number);
    say(words, "--log-file", NULL, 0, path);
    say(words, "--log-level", NULL, 0, "debug");
    say(words, "--ready-fd", "%llu", (unsigned long long)life.ready[1], NULL);
    say(words, "--workers", "%llu", 1 + dice_roll(dice, 4), NULL);
    say(words, "--memory-bytes-max", "%llu", 1u << 30, NULL);
    snprintf(path, sizeof(path), "%.500s", life.def.folder);
    say(words, "--backup-dir", NULL, 0, path);
    life.crowd.requests_max = dice_chance(dice, 30) ? 1 + dice_roll(dice, 4) : 64;
    say(words, "--requests-max", "%llu", life.crowd.requests_max, NULL);
    life.record->full_durability = dice_chance(dice, 40);
    say(words, "--durability", NULL, 0, life.record->full_durability ? "full" : "normal");
    Dice retention = dice_make(life.def.seed, 6);
    if (!life.def.is_last && dice_chance(&retention, 20)) {
        life.record->keep_episodes = 1 + dice_roll(&retention, KEPT_EPISODES_MAX);
        say(words, "--keep-episodes", "%llu", life.record->keep_episodes, NULL);
    }
    for (int i = 0; i < words->count; i++) {
        words->pointer[i] = words->word[i];
    }
}

static void serve(void) {
    static Words words;
    static Options options;
    Error error = {0};
    choose_words(&words);
    OptionsResult result = options_parse(&options, words.count, words.pointer, stderr, &error);
    if (dice_chance(&life.dice, 30)) {
        // less than an option may say, so that a small run fills it
        options.log_queue_bytes_max = 4096 + dice_roll(&life.dice, 65536);
    }
    if (result != OPTIONS_RUN) {
        fail("the server does not take its options: %s", error.message);
    }
    if (server_run(&options, NULL, NULL, &error) != STATUS_OK) {
        if (!disk_has_faults() || !life.has_bad_start) {
            fail("the server does not start: %s", error.message);
        }
        life.has_not_started = true;
        close(life.ready[1]);
    }
}

int life_run(const LifeDef *def) {
    life.def = *def;
    life.dice = dice_make(def->seed, 5);
    life.record = &def->history->life[def->number];
    def->history->life_count = def->number + 1;
    snprintf(life.address, sizeof(life.address), "%s/socket", def->folder);
    unlink(life.address);
    if (pipe(life.ready) != 0) {
        fail("no pipe");
    }
    life.crowd = (Crowd){
        .address = life.address, .history = def->history, .life = def->number, .seed = def->seed};
    draw_fate();
    disk_begin(def->seed, at_operation);
    life.has_bad_start = !def->is_last && dice_chance(&life.dice, 15);
    if (life.has_bad_start) {
        disk_allow_faults();
    }
    system_begin(def->seed);
    schedule_begin(def->seed, at_point);
    size_t director = schedule_start("director", direct, &life.crowd);
    serve();
    schedule_join(director);
    note_end(LIFE_STOPPED);
    schedule_end();
    if (def->is_last) {
        char path[WORD_BYTES];
        snprintf(path, sizeof(path), "%.500s/episodes.db", def->folder);
        verdict_file(path);
        for (int i = 0; i < BACKUPS_MAX; i++) {
            snprintf(path, sizeof(path), "%.500s/copy-%d", def->folder, i + 1);
            verdict_copy(path);
        }
    }
    return LIFE_EXIT_ENDED;
}
