// SPDX-License-Identifier: MIT
#include "simulate/verdict.h"

#include "simulate/again.h"
#include "simulate/herd_kept.h"
#include "simulate/link.h"
#include "simulate/model.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// "Every second or sooner all steps are committed": a second for the world's turn to come, and one
// for the log to write them, as nothing in the simulated time is faster than it can be.
static const uint64_t durable_ns = 2000000000u;

typedef struct Judge {
    Link link;
    uint64_t id_last;
} Judge;

static Moreau__V1__Reply *ask(Judge *judge, const void *message) {
    Moreau__V1__Reply *reply = link_ask(&judge->link, message, ++judge->id_last);
    if (reply == NULL) {
        fail("the server closed the judge's connection");
    }
    return reply;
}

static bool is_ok(const Moreau__V1__Reply *reply) {
    return reply->status->code == MOREAU__V1__STATUS__CODE__OK;
}

// ---- what must be there

// May the whole episode be missing?
static bool may_be_missing(const History *history, const HistoryEpisode *episode) {
    const HistoryLife *life = &history->life[episode->life];
    bool may_be_forgotten = life->end == LIFE_LOST_POWER && !life->full_durability;
    return history_may_be_gone(history, episode) || (may_be_forgotten && !episode->stop_acked);
}

// Must it be missing? A deletion that was answered may come back when the power goes.
static bool must_be_missing(const History *history, const HistoryEpisode *episode) {
    bool may_come_back = false;
    for (size_t i = episode->life; i < history->life_count; i++) {
        may_come_back = may_come_back || (history->life[i].end == LIFE_LOST_POWER &&
                                          !history->life[i].full_durability);
    }
    return episode->delete_acked && !may_come_back;
}

// How many of its steps the file cannot have lost.
static uint64_t steps_promised(const History *history, const HistoryEpisode *episode) {
    const HistoryLife *life = &history->life[episode->life];
    const HistoryWorld *world = &history->world[episode->world];
    if (episode->stop_acked) {
        return episode->stop_steps;
    }
    if (life->disk_failed || (life->end == LIFE_LOST_POWER && !life->full_durability)) {
        return 0;
    }
    if (life->end == LIFE_STOPPED) {
        return episode->step_count;
    }
    uint64_t steps = episode->step_count;
    while (steps > 0 && world->acked_ns[episode->first_step + steps] + durable_ns > life->end_ns) {
        steps--;
    }
    return steps;
}

static bool state_fits(const HistoryLife *life, const HistoryEpisode *episode,
                       Moreau__V1__Episode__State state) {
    switch (state) {
    case MOREAU__V1__EPISODE__STATE__COMPLETE:
        return episode->stop_asked;
    case MOREAU__V1__EPISODE__STATE__WORLD_DESTROYED: // also by the end of its session or server
        return !episode->stop_acked;
    case MOREAU__V1__EPISODE__STATE__INTERRUPTED:
        return !episode->stop_acked && (life->end != LIFE_STOPPED || life->disk_failed);
    default:
        return false;
    }
}

// ---- one episode

static void check_verified(Judge *judge, const HistoryEpisode *episode, uint64_t steps) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = (char *)(uintptr_t)episode->id;
    Moreau__V1__Reply *reply = ask(judge, &call);
    if (!is_ok(reply)) {
        fail("episode %s cannot be verified: %s", episode->id, reply->status->message);
    }
    const Moreau__V1__EpisodeVerifyReply *verify = reply->episode_verify;
    if (!verify->verified || verify->steps != steps) {
        fail("episode %s of %" PRIu64 " steps is wrong after %" PRIu64 ": %s", episode->id, steps,
             verify->steps,
             verify->n_differences > 0 ? verify->differences[0]->message : "no difference is told");
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
}

// Its motion must be the reference's, as far as that is known.
static void check_motion(Judge *judge, const History *history, const HistoryEpisode *episode,
                         uint64_t steps) {
    const HistoryWorld *world = &history->world[episode->world];
    uint64_t known = episode->step_count < steps ? episode->step_count : steps;
    if (known == 0) {
        return;
    }
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = (char *)(uintptr_t)episode->id;
    call.has_first = call.has_count = 1;
    call.first = 1; // the state at step 0 may be one that was set, and not stepped to
    call.count = known;
    Moreau__V1__Reply *reply = ask(judge, &call);
    if (!is_ok(reply)) {
        fail("episode %s cannot be read: %s", episode->id, reply->status->message);
    }
    const Moreau__V1__EpisodeFrames *frames = reply->episode_read->frames;
    size_t body = 0;
    if (frames->n_step != known) {
        fail("episode %s shows %zu frames of %" PRIu64, episode->id, frames->n_step, known);
    }
    for (size_t i = 0; i < frames->n_step; i++) {
        uint64_t motion = model_motion(frames->pose + 7 * body, frames->velocity + 6 * body,
                                       frames->body_count[i]);
        body += frames->body_count[i];
        if (motion != world->motion[episode->first_step + frames->step[i]]) {
            fail("episode %s moves otherwise than what was answered, at step %" PRIu64, episode->id,
                 frames->step[i]);
        }
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
}

static void check_episode(Judge *judge, History *history, const HistoryEpisode *episode) {
    const HistoryLife *life = &history->life[episode->life];
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = (char *)(uintptr_t)episode->id;
    Moreau__V1__Reply *reply = ask(judge, &call);
    if (reply->status->code == MOREAU__V1__STATUS__CODE__NOT_FOUND) {
        if (!may_be_missing(history, episode)) {
            fail("episode %s is lost%s", episode->id,
                 episode->stop_acked ? ", and its stop was answered" : "");
        }
        history->expired += episode->stop_acked && !episode->delete_asked;
        moreau__v1__reply__free_unpacked(reply, NULL);
        return;
    }
    if (!is_ok(reply)) {
        fail("episode %s cannot be described: %s", episode->id, reply->status->message);
    }
    const Moreau__V1__EpisodeInfo *info = reply->episode_describe->episode;
    uint64_t steps = info->steps, promised = steps_promised(history, episode);
    if (must_be_missing(history, episode)) {
        fail("episode %s was deleted and is there", episode->id);
    }
    if (!state_fits(life, episode, info->state)) {
        fail("episode %s is in state %d; its server's life ended as %d, its stop was %s",
             episode->id, info->state, life->end,
             episode->stop_acked   ? "answered"
             : episode->stop_asked ? "asked for"
                                   : "never asked for");
    }
    if (steps < promised || (episode->stop_acked && steps != promised)) {
        fail("episode %s has %" PRIu64 " steps, and %" PRIu64 " were promised", episode->id, steps,
             promised);
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
    check_verified(judge, episode, steps);
    check_motion(judge, history, episode, steps);
}

// A world that goes on from some step of it stands as the episode shows it there.
static void check_fork(Judge *judge, char *episode, uint64_t step) {
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
    fork.episode = read.episode = episode;
    fork.has_step = read.has_first = read.has_count = get.has_world = destroy.has_world = 1;
    fork.step = read.first = step;
    read.count = 1;
    Moreau__V1__Reply *forked = ask(judge, &fork), *shown = ask(judge, &read);
    if (!is_ok(forked) || !is_ok(shown)) {
        fail("episode %s cannot be forked or read at step %" PRIu64 ": %s", episode, step,
             is_ok(forked) ? shown->status->message : forked->status->message);
    }
    get.world = destroy.world = forked->episode_fork->world;
    Moreau__V1__Reply *is = ask(judge, &get), *gone = ask(judge, &destroy);
    const Moreau__V1__EpisodeFrames *frames = shown->episode_read->frames;
    if (!is_ok(is) || !is_ok(gone) || frames->n_step != 1 ||
        is->world_get->n_pose != frames->n_pose ||
        model_motion(is->world_get->pose, is->world_get->velocity, is->world_get->n_ids) !=
            model_motion(frames->pose, frames->velocity, frames->body_count[0])) {
        fail("a fork of episode %s at step %" PRIu64 " is not what the episode shows", episode,
             step);
    }
    Moreau__V1__Reply *replies[] = {forked, shown, is, gone};
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        moreau__v1__reply__free_unpacked(replies[i], NULL);
    }
}

// Whatever is whole in the file is what happened, also episodes of groups, which nobody counted.
static void check_list(Judge *judge, Dice *dice) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    call.has_state = 1;
    call.state = MOREAU__V1__EPISODE__STATE__COMPLETE;
    Moreau__V1__Reply *reply = ask(judge, &call);
    if (!is_ok(reply)) {
        fail("the episodes cannot be listed: %s", reply->status->message);
    }
    const Moreau__V1__EpisodeListReply *list = reply->episode_list;
    for (size_t i = 0; i < list->n_episodes; i++) {
        Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
        verify.episode = list->episodes[i]->episode;
        Moreau__V1__Reply *is = ask(judge, &verify);
        if (!is_ok(is) || !is->episode_verify->verified) {
            fail("episode %s of '%s' is not what happened: %s", verify.episode,
                 list->episodes[i]->name,
                 is_ok(is) ? is->episode_verify->differences[0]->message : is->status->message);
        }
        moreau__v1__reply__free_unpacked(is, NULL);
        if (list->episodes[i]->steps > 0 && dice_chance(dice, 40)) {
            check_fork(judge, verify.episode, 1 + dice_roll(dice, list->episodes[i]->steps));
        }
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
}

// Retention leaves the newest: as many as the least that a server was to keep, if there ever were
// so many, but for those that somebody deleted.
static void check_kept(Judge *judge, const History *history) {
    uint64_t least = UINT64_MAX, ended = 0, deleted = 0;
    for (size_t i = 0; i < history->life_count; i++) {
        const uint64_t keep = history->life[i].keep_episodes;
        least = keep > 0 && keep < least ? keep : least;
    }
    for (size_t i = 0; i < history->episode_count; i++) {
        ended += history->episode[i].stop_acked;
        deleted += history->episode[i].delete_asked;
    }
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    Moreau__V1__Reply *reply = ask(judge, &call);
    const uint64_t most = ended < least ? ended : least;
    if (!is_ok(reply) || reply->episode_list->n_episodes + deleted < most) {
        fail("of %" PRIu64 " episodes that ended %zu are left, %" PRIu64 " deleted; %" PRIu64
             " were to be kept",
             ended, is_ok(reply) ? reply->episode_list->n_episodes : 0, deleted, least);
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
}

// Groups that were recorded, gone on from.
static uint64_t calls_promised(const History *history, const HistoryHerd *herd) {
    const HistoryLife *life = &history->life[herd->life];
    uint64_t calls = herd->order_count;
    if (herd->is_ended) {
        return calls;
    }
    if (life->disk_failed || (life->end == LIFE_LOST_POWER && !life->full_durability)) {
        return 0;
    }
    while (life->end != LIFE_STOPPED && calls > 0 &&
           herd->order[calls - 1].acked_ns + durable_ns > life->end_ns) {
        calls--;
    }
    return calls;
}

static Moreau__V1__Reply *ask_for_herd(void *context, const void *message) {
    return ask(context, message);
}

static void check_herds(Judge *judge, History *history) {
    for (size_t i = 0; i < history->herd_count; i++) {
        const HistoryHerd *herd = &history->herd[i];
        Dice dice = dice_make(history->trace, i);
        const bool may_be_gone = history_keeps_few(history, herd->life);
        again_check(herd, may_be_gone, calls_promised(history, herd), &dice, ask_for_herd, judge);
        history->resumes++;
    }
    for (size_t i = 0; i < history->kept_count; i++) {
        Dice dice = dice_make(history->trace, 100 + i);
        kept_check(&history->kept[i], &dice, ask_for_herd, judge);
    }
}

void verdict_ask(const char *address, History *history) {
    Dice dice = dice_make(0, 0), choice = dice_make(history->trace, HISTORY_HERDS_MAX);
    Judge judge;
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    if (!link_open(&judge.link, address, &dice)) {
        fail("the judge cannot connect");
    }
    judge.id_last = 0;
    moreau__v1__reply__free_unpacked(ask(&judge, &hello), NULL);
    for (size_t i = 0; i < history->episode_count; i++) {
        check_episode(&judge, history, &history->episode[i]);
    }
    check_kept(&judge, history);
    check_list(&judge, &choice);
    check_herds(&judge, history);
    link_close(&judge.link);
}

// ---- the file

static void check_alone(const char *path, const char *suffix) {
    char other[512];
    snprintf(other, sizeof(other), "%s%s", path, suffix);
    if (access(other, F_OK) == 0) {
        fail("%s is left beside the file", other);
    }
}

static void check_whole(const char *path) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        fail("%s cannot be read: %s", path, sqlite3_errmsg(db));
    }
    const char *result = (const char *)sqlite3_column_text(statement, 0);
    if (strcmp(result, "ok") != 0) {
        fail("%s is damaged: %s", path, result);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

void verdict_file(const char *path) {
    check_alone(path, "-wal");
    check_alone(path, "-shm");
    check_alone(path, "-journal");
    check_alone(path, "-lock");
    check_whole(path);
}

void verdict_copy(const char *path) {
    if (access(path, F_OK) == 0) {
        check_whole(path);
    }
}
