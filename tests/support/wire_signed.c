// SPDX-License-Identifier: MIT
#include "support/wire_signed.h"

#include "support/wire_group.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static void make_key(WireSigned *signing, const char *name) {
    char text[256];
    snprintf(text, sizeof(text), "--seal-new %s/%s", signing->keys, name);
    ck_assert_msg(server_refusal(text, signing->said, sizeof(signing->said)) == 0, "%s",
                  signing->said);
}

void wire_signed_open(WireSigned *signing) {
    server_make_folder(signing->keys);
    make_key(signing, "mine");
    make_key(signing, "other");
    snprintf(signing->options, sizeof(signing->options), "--workers 2 --seal-key %s/mine/seal.key",
             signing->keys);
    wire_depot_open(&signing->depot, signing->options);
}

void wire_signed_close(WireSigned *signing) {
    wire_depot_close(&signing->depot);
    server_remove_folder(signing->keys);
}

uint64_t wire_signed_begin(WireSigned *signing, const char *name) {
    WireClient *client = signing->depot.client;
    const uint64_t world = wire_world(client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)name;
    start.has_keyframe_steps = 1, start.keyframe_steps = 16;
    wire_record(client, &start);
    wire_step(client, world, WIRE_SIGNED_STEPS);
    return world;
}

void wire_signed_world(WireSigned *signing, const char *name) {
    wire_stop_recording(signing->depot.client, wire_signed_begin(signing, name));
}

uint64_t wire_signed_begin_group(WireSigned *signing, const char *name) {
    WireClient *client = signing->depot.client;
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    record.name = (char *)name;
    record.has_keyframe_steps = 1, record.keyframe_steps = 16;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WIRE_SIGNED_WORLDS);
    call->record = &record;
    const uint64_t group = wire_accept(client, call)->group_create->group;
    wire_group_reset(client, group);
    for (int step = 0; step < WIRE_SIGNED_STEPS; step++) {
        float action[WIRE_SIGNED_WORLDS] = {0.5f, -0.5f, 0.25f, -0.25f};
        Moreau__V1__GroupStep steps = wire_group_step_call(group, action, WIRE_SIGNED_WORLDS);
        wire_accept(client, &steps);
    }
    return group;
}

void wire_signed_group(WireSigned *signing, const char *name) {
    Moreau__V1__GroupDestroy end = MOREAU__V1__GROUP_DESTROY__INIT;
    end.has_group = 1, end.group = wire_signed_begin_group(signing, name);
    wire_accept(signing->depot.client, &end);
}

const char *wire_signed_verify(WireSigned *signing, const char *episode, const char *key,
                               int status) {
    char line[512];
    snprintf(line, sizeof(line), "moreau verify %s --seal-pub %s/%s/seal.pub 2>&1", episode,
             signing->keys, key);
    const int ended =
        server_shell(signing->depot.server->address[0], line, signing->said, sizeof(signing->said));
    ck_assert_msg(ended == status || status < 0, "status %d: %s", ended, signing->said);
    return signing->said;
}

void wire_signed_expect(WireSigned *signing, const char *episode, const char *key, int status,
                        const char *sentence) {
    const char *said = wire_signed_verify(signing, episode, key, status);
    ck_assert_msg(strstr(said, sentence) != NULL, "not \"%s\": %s", sentence, said);
}

void wire_signed_episode(WireSigned *signing, size_t index, char id[WIRE_EPISODE_ID_BYTES]) {
    json_t *list =
        server_shell_json(signing->depot.server->address[0], "moreau episodes --json", 0);
    const char *text = json_string_value(json_object_get(json_array_get(list, index), "episode"));
    ck_assert_ptr_nonnull(text);
    snprintf(id, WIRE_EPISODE_ID_BYTES, "%s", text);
    json_decref(list);
}
