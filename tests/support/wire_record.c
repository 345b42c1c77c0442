// SPDX-License-Identifier: MIT
#include "support/wire_record.h"

#include <check.h>
#include <stdio.h>

void wire_record(WireClient *client, uint64_t world, Moreau__V1__EpisodeContent content,
                 char episode[WIRE_EPISODE_BYTES]) {
    Moreau__V1__EpisodeStart call = MOREAU__V1__EPISODE_START__INIT;
    call.has_world = call.has_content = 1;
    call.world = world;
    call.content = content;
    const Moreau__V1__Reply *reply = wire_accept(client, &call);
    snprintf(episode, WIRE_EPISODE_BYTES, "%s", reply->episode_start->episode);
}

const Moreau__V1__EpisodeInfo *wire_record_stop(WireClient *client, uint64_t world) {
    Moreau__V1__EpisodeStop call = MOREAU__V1__EPISODE_STOP__INIT;
    call.has_world = 1;
    call.world = world;
    return wire_accept(client, &call)->episode_stop->episode;
}

const Moreau__V1__EpisodeListReply *wire_episodes(WireClient *client) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    return wire_accept(client, &call)->episode_list;
}

const Moreau__V1__EpisodeInfo *wire_episode(WireClient *client, const char *episode) {
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = (char *)episode;
    return wire_accept(client, &call)->episode_describe->episode;
}

const Moreau__V1__Reply *wire_verify(WireClient *client, const char *episode) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = (char *)episode;
    uint64_t id = wire_submit(client, &call);
    for (;;) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        ck_assert_uint_eq(reply->id, id);
        if (!reply->event) {
            return reply;
        }
    }
}

void wire_expect_verified(WireClient *client, const char *episode, uint64_t steps) {
    const Moreau__V1__Reply *reply = wire_verify(client, episode);
    wire_expect(reply, MOREAU__V1__STATUS_CODE__OK, NULL);
    const Moreau__V1__EpisodeVerifyReply *verdict = reply->episode_verify;
    ck_assert_msg(verdict->verified, "%s",
                  verdict->n_differences > 0 ? verdict->differences[0]->message
                                             : "not verified, and no difference");
    ck_assert_uint_eq(verdict->steps, steps);
    ck_assert_uint_eq(verdict->n_differences, 0);
}
