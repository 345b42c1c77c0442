// SPDX-License-Identifier: MIT
// Comparisons: an episode's inputs again, under other settings.
#include "client.h"

#include <stdlib.h>

MoreauCompare moreau_compare_default(void) {
    return (MoreauCompare){
        .last = MOREAU_ALL, .stride = 1, .threshold = 0.001, .content = MOREAU_CONTENT_FRAMES};
}

// The variants as messages, with the settings behind them.
typedef struct Variants {
    size_t count; // of those that are to be given back
    Moreau__V1__EpisodeVariant *variant, **list;
    Moreau__V1__WorldSettings *settings;
} Variants;

static MoreauStatus make_variants(MoreauClient *client, const MoreauCompare *compare,
                                  Variants *made) {
    const size_t count = compare->variant_count;
    made->variant = calloc(count + 1, sizeof(*made->variant));
    made->list = calloc(count + 1, sizeof(Moreau__V1__EpisodeVariant *));
    made->settings = calloc(count + 1, sizeof(*made->settings));
    if (made->variant == NULL || made->list == NULL || made->settings == NULL) {
        return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for the variants");
    }
    MoreauStatus status = MOREAU_OK;
    for (size_t i = 0; i < count && status == MOREAU_OK; i++) {
        moreau__v1__episode_variant__init(&made->variant[i]);
        moreau__v1__world_settings__init(&made->settings[i]);
        made->variant[i].settings = &made->settings[i];
        made->variant[i].name = compare->names == NULL ? NULL : (char *)compare->names[i];
        made->list[i] = &made->variant[i];
        made->count = i + 1;
        status = settings_init(client, &compare->variants[i], &made->settings[i]);
    }
    return status;
}

static void free_variants(Variants *made) {
    for (size_t i = 0; i < made->count; i++) {
        settings_deinit(&made->settings[i]);
    }
    free(made->variant);
    free(made->list);
    free(made->settings);
}

typedef struct Comparing {
    MoreauProgressProc *proc; // Nullable
    void *context;
} Comparing;

static bool take_progress(void *context, const MoreauReply *event) {
    const Comparing *comparing = context;
    if (comparing->proc == NULL ||
        event->message->result_case != MOREAU__V1__REPLY__RESULT_COMPARE_PROGRESS) {
        return true;
    }
    const Moreau__V1__EpisodeProgress *progress = event->message->compare_progress;
    return comparing->proc(comparing->context, progress->steps_done, progress->steps_total);
}

static MoreauStatus ask(MoreauClient *client, const MoreauCompare *compare,
                        const Variants *variants, Comparing *comparing, MoreauReply **reply) {
    Moreau__V1__EpisodeCompare message = MOREAU__V1__EPISODE_COMPARE__INIT;
    message.episode = (char *)compare->episode;
    message.has_first = message.has_stride = message.has_threshold = message.has_record = 1;
    message.first = compare->first;
    message.has_last = compare->last != MOREAU_ALL;
    message.last = compare->last;
    message.stride = compare->stride;
    message.threshold = compare->threshold;
    message.record = compare->record;
    message.n_labels = compare->label_count;
    message.labels = (char **)compare->labels;
    message.has_content = 1;
    message.content = (Moreau__V1__Episode__Content)compare->content;
    message.n_variants = compare->variant_count;
    message.variants = variants->list;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_COMPARE;
    request.episode_compare = &message;
    CallEvents events = {take_progress, comparing};
    return call_events(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_COMPARE, events, reply);
}

MoreauStatus moreau_episode_compare(MoreauClient *client, const MoreauCompare *compare,
                                    MoreauProgressProc *proc, void *context, MoreauReply **reply,
                                    size_t *run_count) {
    Variants variants = {0};
    Comparing comparing = {proc, context};
    *reply = NULL;
    MoreauStatus status = make_variants(client, compare, &variants);
    if (status == MOREAU_OK) {
        status = ask(client, compare, &variants, &comparing, reply);
    }
    if (status == MOREAU_OK && run_count != NULL) {
        *run_count = (*reply)->message->episode_compare->n_runs;
    }
    free_variants(&variants);
    return status;
}

#define FIRST(columns, name)                                                                       \
    ((columns) != NULL && (columns)->n_##name > 0 ? (columns)->name[0] : 0.0)

static void read_samples(const Moreau__V1__EpisodeRun *got, MoreauRun *run) {
    const size_t count = got->n_sample_step;
    run->sample_count = count;
    run->sample_step = COLUMN(got, sample_step, count);
    run->sample_own_step = COLUMN(got, sample_own_step, count);
    run->sample_time = COLUMN(got, sample_time, count);
    run->sample_energy = COLUMN(got, sample_energy, count);
    run->sample_distance = COLUMN(got, sample_distance, count);
    run->sample_angle = COLUMN(got, sample_angle, count);
}

bool moreau_reply_run(const MoreauReply *reply, size_t index, MoreauRun *run) {
    if (reply->message->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_COMPARE ||
        index >= reply->message->episode_compare->n_runs) {
        return false;
    }
    const Moreau__V1__EpisodeRun *got = reply->message->episode_compare->runs[index];
    *run = (MoreauRun){.solver = got->solver != NULL ? got->solver : "",
                       .time_step = got->time_step,
                       .steps = got->steps,
                       .unconverged_steps = got->unconverged_steps,
                       .ended = got->ended != NULL ? got->ended : "",
                       .ended_step = got->ended_step,
                       .worst_own = FIRST(got->worst, e_own),
                       .worst_coulomb = FIRST(got->worst, e_ds),
                       .worst_penetration = FIRST(got->worst, penetration),
                       .launch_speed = FIRST(got->launch, speed),
                       .energy = got->energy,
                       .solver_time = got->solver_time,
                       .distance = got->distance,
                       .distance_body = got->distance_body,
                       .distance_step = got->distance_step,
                       .angle = got->angle,
                       .is_apart = got->has_apart_step != 0,
                       .apart_step = got->apart_step,
                       .differs = got->has_differs_step != 0,
                       .differs_step = got->differs_step,
                       .episode = got->episode != NULL ? got->episode : "",
                       .is_terminated = got->has_terminated_step != 0,
                       .terminated_step = got->terminated_step};
    read_samples(got, run);
    return true;
}
