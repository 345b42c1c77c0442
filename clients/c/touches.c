// SPDX-License-Identifier: MIT
// Which bodies touched in an episode.
#include "client.h"

#include <stdlib.h>

// Whether all columns are as long as the first. Another answer is none.
static bool is_sound(const Moreau__V1__Reply *reply) {
    if (reply->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_TOUCHES) {
        return false;
    }
    const Moreau__V1__EpisodeTouchesReply *message = reply->episode_touches;
    const size_t count = message->n_body;
    return message->n_other_body == count && message->n_first_step == count &&
           message->n_last_step == count && message->n_ended == count &&
           message->n_approach_speed == count && message->n_first_impulse == count &&
           message->n_hardest_impulse == count && message->n_hardest_step == count &&
           message->n_names == message->n_ids;
}

typedef struct Stepping {
    MoreauProgressProc *proc; // Nullable
    void *context;
} Stepping;

static bool take_progress(void *context, const MoreauReply *event) {
    const Stepping *stepping = context;
    if (stepping->proc == NULL ||
        event->message->result_case != MOREAU__V1__REPLY__RESULT_TOUCHES_PROGRESS) {
        return true;
    }
    const Moreau__V1__EpisodeProgress *progress = event->message->touches_progress;
    return stepping->proc(stepping->context, progress->steps_done, progress->steps_total);
}

static MoreauStatus ask(MoreauClient *client, Moreau__V1__EpisodeTouches *asked, Stepping *stepping,
                        MoreauReply **reply, size_t *got, uint64_t *total) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_TOUCHES;
    request.episode_touches = asked;
    const CallEvents events = {take_progress, stepping};
    MoreauStatus status =
        call_events(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_TOUCHES, events, reply);
    if (status != MOREAU_OK) {
        return status;
    }
    if (!is_sound((*reply)->message)) {
        return client_fail(client, MOREAU_INTERNAL, NULL,
                           "the columns of the server's answer do not fit each other");
    }
    if (got != NULL) {
        *got = (*reply)->message->episode_touches->n_body;
    }
    if (total != NULL) {
        *total = (*reply)->message->episode_touches->total;
    }
    return MOREAU_OK;
}

static Moreau__V1__EpisodeTouches call_of(const char *episode, uint64_t first, uint64_t count) {
    Moreau__V1__EpisodeTouches asked = MOREAU__V1__EPISODE_TOUCHES__INIT;
    asked.episode = (char *)episode;
    asked.has_first = asked.has_count = 1;
    asked.first = first;
    asked.count = count;
    return asked;
}

MoreauStatus moreau_episode_touches(MoreauClient *client, const char *episode, uint64_t first,
                                    uint64_t count, MoreauReply **reply, size_t *got,
                                    uint64_t *total) {
    Moreau__V1__EpisodeTouches asked = call_of(episode, first, count);
    Stepping stepping = {0};
    return ask(client, &asked, &stepping, reply, got, total);
}

MoreauStatus moreau_episode_touches_again(MoreauClient *client, const char *episode, uint64_t first,
                                          uint64_t count, MoreauProgressProc *proc, void *context,
                                          MoreauReply **reply, size_t *got, uint64_t *total) {
    Moreau__V1__EpisodeTouches asked = call_of(episode, first, count);
    Stepping stepping = {proc, context};
    asked.has_simulate = asked.simulate = 1;
    return ask(client, &asked, &stepping, reply, got, total);
}

static int compare_ids(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

// The ids that have names rise.
static const char *name_of(const Moreau__V1__EpisodeTouchesReply *message, uint64_t body) {
    const uint64_t *found = message->n_ids == 0 ? NULL
                                                : bsearch(&body, message->ids, message->n_ids,
                                                          sizeof(body), compare_ids);
    return found == NULL ? NULL : message->names[found - message->ids];
}

bool moreau_reply_touch(const MoreauReply *reply, size_t index, MoreauTouch *touch) {
    if (!is_sound(reply->message) || index >= reply->message->episode_touches->n_body) {
        return false;
    }
    const Moreau__V1__EpisodeTouchesReply *message = reply->message->episode_touches;
    *touch = (MoreauTouch){.body = message->body[index],
                           .other_body = message->other_body[index],
                           .body_name = name_of(message, message->body[index]),
                           .other_name = name_of(message, message->other_body[index]),
                           .first_step = message->first_step[index],
                           .last_step = message->last_step[index],
                           .ended = message->ended[index],
                           .approach_speed = message->approach_speed[index],
                           .first_impulse = message->first_impulse[index],
                           .hardest_impulse = message->hardest_impulse[index],
                           .hardest_step = message->hardest_step[index]};
    return true;
}
