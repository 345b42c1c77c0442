// SPDX-License-Identifier: MIT
#include "support/wire_compare.h"

#include "support/wire_episode.h"

#include <check.h>
#include <stdio.h>

void wire_compare_ask(WireCompare *asked, const char *episode, size_t variants, uint64_t stride) {
    asked->call = (Moreau__V1__EpisodeCompare)MOREAU__V1__EPISODE_COMPARE__INIT;
    asked->call.episode = (char *)episode;
    asked->call.has_stride = 1;
    asked->call.stride = stride;
    for (size_t i = 0; i < variants; i++) {
        moreau__v1__episode_variant__init(&asked->variant[i]);
        moreau__v1__world_settings__init(&asked->settings[i]);
        asked->variant[i].settings = &asked->settings[i];
        asked->list[i] = &asked->variant[i];
    }
    asked->call.n_variants = variants;
    asked->call.variants = asked->list;
}

void wire_compare_time_step(WireCompare *asked, size_t variant, double time_step) {
    asked->settings[variant].has_time_step = 1;
    asked->settings[variant].time_step = time_step;
}

const Moreau__V1__EpisodeCompareReply *wire_compare(WireClient *client, const WireCompare *asked) {
    const Moreau__V1__Reply *reply = wire_stream(client, &asked->call, NULL, NULL);
    wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_EPISODE_COMPARE);
    ck_assert_uint_eq(reply->episode_compare->n_runs, asked->call.n_variants + 1);
    return reply->episode_compare;
}

void wire_compare_tell(const Moreau__V1__EpisodeCompareReply *reply, char *text, size_t capacity) {
    size_t used = 0;
    for (size_t i = 0; i < reply->n_runs; i++) {
        const Moreau__V1__EpisodeRun *run = reply->runs[i];
        used += (size_t)snprintf(text + used, capacity - used, "%s %llu %a %a %llu %a %a|",
                                 run->solver, (unsigned long long)run->unconverged_steps,
                                 run->distance, run->angle, (unsigned long long)run->differs_step,
                                 run->worst->e_own[0], run->mean->e_ds[0]);
        for (size_t k = 0; k < run->n_sample_step; k++) {
            used += (size_t)snprintf(text + used, capacity - used, "%a %a ", run->sample_energy[k],
                                     i == 0 ? 0.0 : run->sample_distance[k]);
        }
        ck_assert_uint_lt(used, capacity);
    }
}
