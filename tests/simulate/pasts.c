// SPDX-License-Identifier: MIT
#include "simulate/pasts.h"

#include "simulate/call.h"
#include "simulate/model.h"

#include <inttypes.h>
#include <string.h>

enum { COMPARED_STEPS_MAX = 40, TRIES_MAX = 8 };

static const HistoryEpisode *episode_of(const Client *client, const Call *call) {
    return &client->crowd->history->episode[call->episode];
}

// ---- asking

static void draw_range(Client *client, PastCall *past, uint64_t end, uint64_t most) {
    const uint64_t steps = end < HISTORY_STEPS_MAX ? end : HISTORY_STEPS_MAX;
    past->first = dice_chance(&client->dice, 40) ? 0 : dice_roll(&client->dice, steps + 1);
    const uint64_t rest = steps - past->first < most ? steps - past->first : most;
    past->last =
        past->first + (dice_chance(&client->dice, 50) ? rest : dice_roll(&client->dice, rest + 1));
    past->stride = dice_magnitude(&client->dice, 4);
}

// What both ways of showing an episode have.
#define SET_COLUMNS(message, past, dice)                                                           \
    do {                                                                                           \
        (message)->has_first = (message)->has_stride = (message)->has_again = 1;                   \
        (message)->first = (past)->first;                                                          \
        (message)->stride = (past)->stride;                                                        \
        (message)->again = dice_chance(dice, 40);                                                  \
        (message)->has_poses = (message)->has_velocities = (message)->has_single = 1;              \
        (message)->poses = (past)->poses = dice_chance(dice, 90);                                  \
        (message)->velocities = (past)->velocities = dice_chance(dice, 90);                        \
        (message)->single = (past)->single = dice_chance(dice, 10);                                \
        (message)->has_contacts = (message)->has_joints = (message)->has_reports = 1;              \
        (message)->contacts = dice_chance(dice, 15);                                               \
        (message)->joints = dice_chance(dice, 30);                                                 \
        (message)->reports = dice_chance(dice, 15);                                                \
    } while (0)

static Call *add_replay(Client *client, PastCall *past, const HistoryEpisode *episode) {
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    draw_range(client, past, episode->stop_steps, HISTORY_STEPS_MAX);
    SET_COLUMNS(&replay, past, &client->dice);
    replay.episode = (char *)(uintptr_t)episode->id;
    replay.has_last = past->last < episode->stop_steps || dice_chance(&client->dice, 50);
    replay.last = past->last;
    replay.has_backward = 1;
    replay.backward = past->backward = dice_chance(&client->dice, 50);
    replay.has_speed = 1;
    replay.speed = dice_chance(&client->dice, 60) ? 0.0 : 10.0;
    return call_add(client, CALL_PASTS, &replay, 0);
}

static Call *add_read(Client *client, PastCall *past, const HistoryEpisode *episode) {
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    draw_range(client, past, episode->stop_steps, HISTORY_STEPS_MAX);
    SET_COLUMNS(&read, past, &client->dice);
    read.episode = (char *)(uintptr_t)episode->id;
    read.has_count = 1;
    read.count = (past->last - past->first) / past->stride + 1;
    return call_add(client, CALL_PASTS, &read, 0);
}

// As it was recorded, and perhaps under another solver beside that.
static Call *add_comparison(Client *client, PastCall *past, const HistoryEpisode *episode) {
    static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap", "compliant"};
    Moreau__V1__EpisodeCompare compare = MOREAU__V1__EPISODE_COMPARE__INIT;
    Moreau__V1__EpisodeVariant same = MOREAU__V1__EPISODE_VARIANT__INIT, other = same;
    Moreau__V1__EpisodeVariant *variants[] = {&same, &other};
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    draw_range(client, past, episode->stop_steps, COMPARED_STEPS_MAX);
    if (dice_chance(&client->dice, 50)) {
        past->solver = solvers[dice_roll(&client->dice, 5)];
        settings.solver = (char *)(uintptr_t)past->solver;
        other.settings = &settings;
    }
    compare.episode = (char *)(uintptr_t)episode->id;
    compare.has_first = compare.has_last = compare.has_stride = 1;
    compare.first = past->first;
    compare.last = past->last;
    compare.stride = past->stride;
    compare.n_variants = past->solver == NULL ? 1 : 2;
    compare.variants = variants;
    compare.has_record = compare.has_content = 1;
    compare.record = dice_chance(&client->dice, 15);
    compare.content = (Moreau__V1__Episode__Content)dice_roll(&client->dice, 3);
    return call_add(client, CALL_PASTS, &compare, 0);
}

// The longest of some that were stopped and that nobody wants to delete. HISTORY_EPISODES_MAX:
// none.
static size_t pick_episode(Client *client) {
    const History *history = client->crowd->history;
    size_t longest = HISTORY_EPISODES_MAX;
    for (int i = 0; i < TRIES_MAX && history->episode_count > 0; i++) {
        const size_t index = (size_t)dice_roll(&client->dice, history->episode_count);
        const HistoryEpisode *episode = &history->episode[index];
        if (episode->stop_acked && !episode->delete_asked &&
            (longest == HISTORY_EPISODES_MAX ||
             episode->stop_steps > history->episode[longest].stop_steps)) {
            longest = index;
        }
    }
    return longest;
}

void pasts_add(Client *client) {
    const uint64_t chance = dice_roll(&client->dice, 100);
    const size_t episode = pick_episode(client);
    PastCall past = {0};
    if (episode == HISTORY_EPISODES_MAX) {
        return;
    }
    const HistoryEpisode *known = &client->crowd->history->episode[episode];
    past.kind = chance < 50 ? PAST_REPLAY : chance < 75 ? PAST_READ : PAST_COMPARE;
    Call *call = past.kind == PAST_REPLAY ? add_replay(client, &past, known)
                 : past.kind == PAST_READ ? add_read(client, &past, known)
                                          : add_comparison(client, &past, known);
    call->episode = episode;
    call->past = past;
}

// ---- frames

static uint64_t frame_count(const PastCall *past) {
    return (past->last - past->first) / past->stride + 1;
}

// What was answered when the episode was recorded, of steps alone: the state at step 0 may be one
// that was set, and not stepped to.
static void check_motion(const Client *client, const Call *call,
                         const Moreau__V1__EpisodeFrames *frames) {
    const HistoryEpisode *episode = episode_of(client, call);
    const HistoryWorld *world = &client->crowd->history->world[episode->world];
    size_t body = 0;
    for (size_t i = 0; i < frames->n_step; i++) {
        const uint64_t step = frames->step[i];
        const size_t count = frames->body_count[i];
        if (step > 0 && step <= episode->step_count &&
            model_motion(frames->pose + 7 * body, frames->velocity + 6 * body, count) !=
                world->motion[episode->first_step + step]) {
            fail("client %zu: episode %s shows %s at step %" PRIu64 " what was not answered",
                 client->number, episode->id, call->past.backward ? "backward" : "forward", step);
        }
        body += count;
    }
}

static void check_columns(const Client *client, const Call *call,
                          const Moreau__V1__EpisodeFrames *frames) {
    const PastCall *past = &call->past;
    size_t bodies = 0;
    for (size_t i = 0; i < frames->n_step && i < frames->n_body_count; i++) {
        bodies += frames->body_count[i];
    }
    const size_t poses = past->poses ? 7 * bodies : 0,
                 velocities = past->velocities ? 6 * bodies : 0;
    if (frames->n_body_count != frames->n_step || frames->n_pose != (past->single ? 0 : poses) ||
        frames->n_velocity != (past->single ? 0 : velocities) ||
        frames->n_pose_single != (past->single ? poses : 0) ||
        frames->n_velocity_single != (past->single ? velocities : 0)) {
        fail("client %zu: frames of episode %s have other columns than were asked for",
             client->number, episode_of(client, call)->id);
    }
    if (past->poses && past->velocities && !past->single) {
        check_motion(client, call, frames);
    }
}

static void take_frames(const Client *client, Call *call, const Moreau__V1__EpisodeFrames *frames) {
    PastCall *past = &call->past;
    for (size_t i = 0; i < frames->n_step; i++) {
        const uint64_t way = past->frames * past->stride;
        const uint64_t step = past->backward ? past->last - way : past->first + way;
        if (past->frames == frame_count(past) || frames->step[i] != step) {
            fail("client %zu: frame %" PRIu64 " of episode %s is of step %" PRIu64
                 " instead of %" PRIu64,
                 client->number, past->frames, episode_of(client, call)->id, frames->step[i], step);
        }
        past->frames++;
    }
    check_columns(client, call, frames);
}

void pasts_show(Client *client, Call *call, const Moreau__V1__Reply *event) {
    if (call->kind == CALL_PASTS &&
        event->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_FRAMES) {
        take_frames(client, call, event->episode_frames);
    }
}

void pasts_cut(Client *client) {
    for (size_t i = 0; i < client->call_count; i++) {
        client->call[i].past.frames = 0;
    }
}

// ---- comparisons

static bool are_none(const double *number, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (number[i] != 0.0) {
            return false;
        }
    }
    return true;
}

// Run again as it was, it is what it was.
static bool is_same(const PastCall *past, const Moreau__V1__EpisodeRun *recorded,
                    const Moreau__V1__EpisodeRun *run) {
    return run->steps == past->last - past->first && run->compared == run->steps + 1 &&
           run->ended == NULL && run->distance == 0.0 && run->angle == 0.0 &&
           !run->has_differs_step && !run->has_hash_step && !run->has_apart_step &&
           !run->has_bodies_step && run->energy == recorded->energy &&
           run->n_sample_step == recorded->n_sample_step &&
           run->n_sample_energy == recorded->n_sample_energy &&
           memcmp(run->sample_energy, recorded->sample_energy,
                  run->n_sample_energy * sizeof(double)) == 0 &&
           are_none(run->sample_distance, run->n_sample_distance) &&
           are_none(run->sample_angle, run->n_sample_angle);
}

// It begins where the recording does, and is what was asked for.
static bool is_variant(const PastCall *past, const Moreau__V1__EpisodeRun *run) {
    return strcmp(run->solver, past->solver) == 0 && run->compared > 0 &&
           run->steps <= past->last - past->first && run->n_sample_step > 0 &&
           run->sample_step[0] == past->first && run->sample_distance[0] == 0.0 &&
           (run->ended != NULL || run->steps == past->last - past->first);
}

static void judge_comparison(const Client *client, const Call *call,
                             const Moreau__V1__EpisodeCompareReply *compare) {
    const PastCall *past = &call->past;
    const size_t count = past->solver == NULL ? 2 : 3;
    if (compare->n_runs != count || compare->first != past->first || compare->last != past->last ||
        compare->runs[0]->steps != past->last - past->first ||
        compare->runs[0]->n_sample_step !=
            frame_count(past) + ((past->last - past->first) % past->stride != 0)) {
        fail("client %zu: episode %s is compared otherwise than it was asked for", client->number,
             episode_of(client, call)->id);
    }
    if (!is_same(past, compare->runs[0], compare->runs[1])) {
        fail("client %zu: episode %s, run again as it was, is another from step %" PRIu64 " on",
             client->number, episode_of(client, call)->id, compare->runs[1]->hash_step);
    }
    if (past->solver != NULL && !is_variant(past, compare->runs[2])) {
        fail("client %zu: episode %s under %s is no variant of it", client->number,
             episode_of(client, call)->id, past->solver);
    }
}

// ---- judging

static void judge_replay(const Client *client, const Call *call,
                         const Moreau__V1__EpisodeReplayReply *replay) {
    const PastCall *past = &call->past;
    const uint64_t way = (frame_count(past) - 1) * past->stride;
    if (past->frames != frame_count(past) || replay->frames != past->frames ||
        replay->last_step != (past->backward ? past->last - way : past->first + way)) {
        fail("client %zu: a replay of %" PRIu64 " frames has sent %" PRIu64 ", and says %" PRIu64,
             client->number, frame_count(past), past->frames, replay->frames);
    }
}

void pasts_judge(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    if (reply->status->code != MOREAU__V1__STATUS__CODE__OK) {
        return;
    }
    switch (call->past.kind) {
    case PAST_REPLAY:
        judge_replay(client, call, reply->episode_replay);
        break;
    case PAST_READ: {
        Call seen = *call;
        take_frames(client, &seen, reply->episode_read->frames);
        if (seen.past.frames != frame_count(&seen.past)) {
            fail("client %zu: episode %s shows %" PRIu64 " frames of %" PRIu64, client->number,
                 episode_of(client, call)->id, seen.past.frames, frame_count(&seen.past));
        }
        break;
    }
    default:
        judge_comparison(client, call, reply->episode_compare);
    }
}
