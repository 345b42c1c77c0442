// SPDX-License-Identifier: MIT
#include "simulate/client.h"

#include "simulate/call.h"
#include "simulate/disk.h"
#include "simulate/herd_kept.h"
#include "simulate/jointed.h"
#include "simulate/schedule.h"
#include "simulate/watcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED = 0, ROUNDS_MAX = 24, BUNCH_MAX = 10 };
enum { STEPS_ENOUGH = 2000, STEPS_SHORT = 40, STEPS_LONG = 600 };
enum { CROWDED_WORLDS = 300, STEPS_TO_REST = 120 };

// ---- one call at a time

// NULL: the connection is gone.
static Moreau__V1__Reply *receive(Client *client) {
    Moreau__V1__Reply *reply;
    LinkResult result = link_receive(&client->link, &reply);
    if (result == LINK_LATE) {
        fail("client %zu: no answer to one of %zu calls", client->number, client->call_count);
    }
    if (result == LINK_GONE && !client->crowd->is_stopping) {
        fail("client %zu: the server closed the connection", client->number);
    }
    return reply;
}

// Its answer, whatever it is; NULL: the connection is gone.
static Moreau__V1__Reply *ask(Client *client, const void *message) {
    Moreau__V1__Reply *reply = link_ask(&client->link, message, ++client->id_last);
    if (reply == NULL && !client->crowd->is_stopping) {
        fail("client %zu: the server closed the connection", client->number);
    }
    return reply;
}

static bool is_ok(const Moreau__V1__Reply *reply) {
    return reply != NULL && reply->status->code == MOREAU__V1__STATUS__CODE__OK;
}

static bool is_not_found(const Moreau__V1__Reply *reply) {
    return reply->status->code == MOREAU__V1__STATUS__CODE__NOT_FOUND;
}

static void give_back(Moreau__V1__Reply *reply) {
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
}

// Asks for what must succeed. False: the connection is gone.
static bool demand(Client *client, const void *message) {
    Moreau__V1__Reply *reply = ask(client, message);
    bool here = reply != NULL;
    if (here && !is_ok(reply)) {
        fail("client %zu: %s", client->number, reply->status->message);
    }
    give_back(reply);
    return here;
}

// ---- coming and going

// A session without worlds ends with its connection: may this be one?
static bool may_own_nothing(const Client *client) {
    if (client->herd.is_there || copies_own_worlds(&client->copies)) {
        return false;
    }
    for (size_t i = 1; i < CLIENT_WORLDS_MAX; i++) {
        bool is_there = client->world[i].is_there;
        for (size_t k = 0; k < client->call_count; k++) {
            const Call *call = &client->call[k];
            is_there = is_there && !(call->kind == CALL_DESTROY && call->world[0] == i);
        }
        if (is_there) {
            return false;
        }
    }
    return true;
}

static Moreau__V1__Reply *say_hello(Client *client) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.client = (char *)"simulated";
    hello.resume = client->session;
    hello.has_resumable = 1;
    hello.resumable = client->is_resumable;
    return ask(client, &hello);
}

static bool greet(Client *client) {
    Moreau__V1__Reply *reply = say_hello(client);
    if (reply != NULL && !is_ok(reply) && may_own_nothing(client)) {
        give_back(reply);
        client->session[0] = '\0';
        copies_lose(&client->copies);
        for (size_t i = 1; i < CLIENT_WORLDS_MAX; i++) {
            client->world[i].is_there = false;
        }
        reply = say_hello(client);
    }
    bool here = reply != NULL;
    if (here && !is_ok(reply)) {
        fail("client %zu: its session is lost: %s", client->number, reply->status->message);
    }
    if (here) {
        snprintf(client->session, sizeof(client->session), "%s", reply->welcome->session);
    }
    give_back(reply);
    return here;
}

// False: the server is going.
static bool come(Client *client) {
    return link_open(&client->link, client->crowd->address, &client->dice) && greet(client);
}

static bool add_content(Client *client, uint64_t world, uint64_t seed) {
    ModelStart start = model_start(seed);
    Moreau__V1__Primitive__Kind kind[] = {MOREAU__V1__PRIMITIVE__KIND__PLANE,
                                          MOREAU__V1__PRIMITIVE__KIND__SPHERE,
                                          MOREAU__V1__PRIMITIVE__KIND__BOX};
    Moreau__V1__WorldAddShapes shapes = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shapes.has_world = 1;
    shapes.world = world;
    shapes.n_kind = 3;
    shapes.kind = kind;
    shapes.n_size = 9;
    shapes.size = (double *)(uintptr_t)model_shape_size;
    Moreau__V1__Body__Kind bodies_kind[MODEL_BODIES_MAX] = {MOREAU__V1__BODY__KIND__STATIC};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 7 * start.count;
    bodies.pose = start.pose;
    bodies.n_shape = bodies.n_kind = start.count;
    bodies.shape = start.shape;
    bodies.kind = bodies_kind;
    Jointed jointed;
    jointed_draw(&jointed, seed, world);
    return demand(client, &shapes) && demand(client, &bodies) &&
           (jointed.add.n_kind == 0 || demand(client, &jointed.add));
}

static bool make_world(Client *client, size_t index) {
    ClientWorld *world = &client->world[index];
    History *history = client->crowd->history;
    if (history->world_count == HISTORY_WORLDS_MAX) {
        return true; // enough for one run
    }
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    const uint64_t seed = dice_bits(&client->dice);
    const ModelStart start = model_start(seed);
    settings.has_margin = 1; // 0, as in the reference
    settings.has_sleep_speed = settings.has_sleep_time = 1;
    settings.sleep_speed = start.sleep_speed;
    settings.sleep_time = start.sleep_time;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    create.has_lifetime = index == SHARED;
    create.lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    Moreau__V1__Reply *reply = ask(client, &create);
    if (reply == NULL) {
        return false;
    }
    if (!is_ok(reply)) {
        fail("client %zu: %s", client->number, reply->status->message);
    }
    uint64_t id = reply->world_create->world;
    give_back(reply);
    if (!add_content(client, id, seed)) {
        return false;
    }
    if (world->model != NULL) {
        model_deinit(world->model);
    }
    *world = (ClientWorld){.is_there = true, .id = id, .history = history->world_count++};
    world->model = &world->own;
    model_init(world->model, seed, &history->world[world->history]);
    return true;
}

// ---- worlds that are made of others

static void take_slot(Client *client, size_t index, uint64_t id) {
    ClientWorld *world = &client->world[index];
    if (world->model != NULL) {
        model_deinit(world->model);
    }
    *world =
        (ClientWorld){.is_there = true, .id = id, .history = client->crowd->history->world_count++};
    world->model = &world->own;
}

static bool make_clone(Client *client, size_t index, const ClientWorld *of) {
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = 1;
    clone.world = of->id;
    Moreau__V1__Reply *reply = ask(client, &clone);
    if (reply == NULL) {
        return false;
    }
    if (!is_ok(reply) || reply->snapshot_clone->n_worlds != 1) {
        fail("client %zu: a world is not cloned: %s", client->number, reply->status->message);
    }
    take_slot(client, index, reply->snapshot_clone->worlds[0]);
    give_back(reply);
    ClientWorld *world = &client->world[index];
    model_init_at(world->model, of->model, model_taken(of->model), true,
                  &client->crowd->history->world[world->history]);
    return true;
}

// The episode of a world that it still has, and that was stopped; NULL: none.
static const HistoryEpisode *pick_own_episode(Client *client, const ClientWorld *of) {
    const History *history = client->crowd->history;
    for (size_t i = history->episode_count; i-- > 0;) {
        const HistoryEpisode *episode = &history->episode[i];
        if (episode->world == of->history && episode->stop_acked && !episode->delete_asked &&
            episode->stop_steps > 0) {
            return episode;
        }
    }
    return NULL;
}

static bool make_fork(Client *client, size_t index, const ClientWorld *of,
                      const HistoryEpisode *episode) {
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)(uintptr_t)episode->id;
    fork.has_step = 1;
    fork.step = 1 + dice_roll(&client->dice, episode->stop_steps);
    Moreau__V1__Reply *reply = ask(client, &fork);
    if (reply == NULL) {
        return false;
    }
    const bool is_gone = is_not_found(reply) && history_may_expire(client->crowd->history, episode);
    if (!is_ok(reply) && !disk_has_faults() && !episode->delete_asked && !is_gone) {
        fail("client %zu: an episode is not forked: %s", client->number, reply->status->message);
    }
    if (is_ok(reply)) {
        take_slot(client, index, reply->episode_fork->world);
        ClientWorld *world = &client->world[index];
        model_init_at(world->model, of->model, episode->first_step + fork.step, false,
                      &client->crowd->history->world[world->history]);
        if (model_hash(world->model) != reply->episode_fork->hash) {
            fail("client %zu: a fork of episode %s at step %" PRIu64 " is not what happened",
                 client->number, episode->id, fork.step);
        }
    }
    give_back(reply);
    return true;
}

// One that was made of a snapshot or a scene.
static void adopt(Client *client, size_t index) {
    const Stray stray = copies_give(&client->copies);
    take_slot(client, index, stray.id);
    ClientWorld *world = &client->world[index];
    model_init(world->model, 0, &client->crowd->history->world[world->history]);
    model_apply(world->model, (ModelChange){.restore = stray.state});
}

// A new world, or one that is made of the other one's state or past.
static bool fill_slot(Client *client, size_t index) {
    const ClientWorld *of = &client->world[index == 1 ? 2 : 1];
    if (client->crowd->history->world_count < HISTORY_WORLDS_MAX &&
        copies_own_worlds(&client->copies) && dice_chance(&client->dice, 70)) {
        adopt(client, index);
        return true;
    }
    if (client->crowd->history->world_count == HISTORY_WORLDS_MAX || !of->is_there ||
        dice_chance(&client->dice, 60)) {
        return make_world(client, index);
    }
    const HistoryEpisode *episode = pick_own_episode(client, of);
    if (episode == NULL || dice_chance(&client->dice, 40)) {
        return make_clone(client, index, of);
    }
    return make_fork(client, index, of, episode);
}

// Many worlds, which go with their session.
static bool make_crowd(Client *client) {
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = clone.has_count = 1;
    clone.world = client->world[SHARED].id;
    clone.count = 1 + dice_roll(&client->dice, CROWDED_WORLDS);
    return demand(client, &clone);
}

// ---- groups

static void note_recording(Client *client, const Moreau__V1__GroupCreateReply *made) {
    History *history = client->crowd->history;
    client->herd.record = NULL;
    if (made->recording == NULL || made->recording[0] == '\0' ||
        history->herd_count == HISTORY_HERDS_MAX) {
        return;
    }
    HistoryHerd *herd = &history->herd[history->herd_count++];
    *herd = (HistoryHerd){.life = client->crowd->life};
    memcpy(herd->id, made->recording, HISTORY_ID_BYTES);
    client->herd.record = herd;
}

// Steps a world until most fall asleep.
static bool let_rest(Client *client, ClientWorld *world) {
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    step.n_worlds = 1;
    step.has_steps = 1;
    step.worlds = &world->id;
    step.steps = STEPS_TO_REST;
    Moreau__V1__Reply *reply = ask(client, &step);
    if (reply == NULL) {
        return false;
    }
    const bool is_whole = is_ok(reply) && reply->world_step->n_failures == 0;
    if (!is_whole && !client->crowd->is_stopping) {
        fail("client %zu: a world is not stepped: %s", client->number, reply->status->message);
    }
    if (is_whole) {
        model_apply(world->model, (ModelChange){.steps = STEPS_TO_REST});
        call_note_recorded(client, world);
    }
    give_back(reply);
    return is_whole;
}

// A group of one of its worlds, as that stands now.
static bool make_herd(Client *client) {
    const size_t from = 1 + (size_t)dice_roll(&client->dice, CLIENT_WORLDS_MAX - 1);
    ClientWorld *template = &client->world[from];
    HerdMaking making;
    if (!template->is_there) {
        return true;
    }
    if (model_taken(template->model) < STEPS_ENOUGH && dice_chance(&client->dice, 35) &&
        !let_rest(client, template)) {
        return false;
    }
    herd_draw(&making, &client->dice, template->id, template->model->world);
    Moreau__V1__Reply *reply = ask(client, &making.create);
    if (reply == NULL) {
        return false;
    }
    const bool is_made = herd_init(&client->herd, &making.create, template->model);
    if (is_made != is_ok(reply) && !(is_made && disk_has_faults())) {
        fail("client %zu: a group is %s: %s", client->number,
             is_made ? "refused" : "made that the reference refuses", reply->status->message);
    }
    if (is_ok(reply)) {
        client->herd.id = reply->group_create->group;
        note_recording(client, reply->group_create);
    } else {
        herd_deinit(&client->herd);
    }
    give_back(reply);
    return true;
}

// Nobody knows what of it has happened.
static bool drop_herd(Client *client) {
    if (!client->herd.is_there) {
        return true;
    }
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1;
    destroy.group = client->herd.id;
    herd_deinit(&client->herd);
    Moreau__V1__Reply *reply = ask(client, &destroy);
    if (reply != NULL && !is_ok(reply) && !disk_has_faults()) { // its recording may not be closed
        fail("client %zu: %s", client->number, reply->status->message);
    }
    give_back(reply);
    return reply != NULL;
}

// Makes the group that was recorded and has ended again, behind its last call, perhaps recorded in
// turn: the reference goes on.
static bool go_on_with_herd(Client *client, const HistoryHerd *record) {
    Moreau__V1__GroupRecord recorded = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate create = MOREAU__V1__GROUP_CREATE__INIT;
    create.recording = (char *)(uintptr_t)record->id;
    create.record = dice_chance(&client->dice, 50) ? &recorded : NULL;
    Moreau__V1__Reply *reply = ask(client, &create);
    if (reply == NULL) {
        return false;
    }
    if (is_ok(reply)) {
        client->herd.id = reply->group_create->group;
        client->crowd->history->resumes++;
        if (reply->group_create->resumed->step != record->order_count) {
            fail("client %zu: a group of %zu calls goes on behind call %" PRIu64, client->number,
                 record->order_count, reply->group_create->resumed->step);
        }
        client->herd.opinions.count = 0; // nobody tells those of calls before
        client->herd.opinions.calls = 0;
        client->herd.opinions.is_unclear = false;
        kept_note(&client->herd, NULL);
        client->herd.saved = 0;
        note_recording(client, reply->group_create);
    } else if (disk_has_faults() ||
               (is_not_found(reply) && history_keeps_few(client->crowd->history, record->life))) {
        herd_deinit(&client->herd);
    } else {
        fail("client %zu: a group is not gone on with: %s", client->number, reply->status->message);
    }
    give_back(reply);
    return true;
}

// Ends a recorded group of which nothing is under way, and goes on with it from its recording.
static bool resume_herd(Client *client) {
    HistoryHerd *record = client->herd.record;
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1;
    destroy.group = client->herd.id;
    Moreau__V1__Reply *reply = ask(client, &destroy);
    if (reply == NULL) {
        return false;
    }
    record->is_ended = is_ok(reply);
    if (!record->is_ended && !disk_has_faults()) {
        fail("client %zu: %s", client->number, reply->status->message);
    }
    give_back(reply);
    if (!record->is_ended) {
        herd_deinit(&client->herd);
        return true;
    }
    return go_on_with_herd(client, record);
}

bool client_make_shared(Crowd *crowd) {
    Client client = {.crowd = crowd, .number = 0, .dice = dice_make(crowd->seed, 99)};
    if (!come(&client) || !make_world(&client, SHARED)) {
        return false;
    }
    crowd->shared_world = client.world[SHARED].id;
    crowd->shared_model = client.world[SHARED].own;
    link_close(&client.link);
    return true;
}

bool client_check_alone(Crowd *crowd) {
    Client client = {.crowd = crowd, .number = 0, .dice = dice_make(crowd->seed, 98)};
    Moreau__V1__WorldList worlds = MOREAU__V1__WORLD_LIST__INIT;
    Moreau__V1__GroupList groups = MOREAU__V1__GROUP_LIST__INIT;
    Moreau__V1__Reply *world_reply = come(&client) ? ask(&client, &worlds) : NULL;
    Moreau__V1__Reply *group_reply = world_reply == NULL ? NULL : ask(&client, &groups);
    const bool here = group_reply != NULL;
    if (here && (world_reply->world_list->n_worlds != 1 || group_reply->group_list->n_groups != 0 ||
                 world_reply->world_list->worlds[0]->world != crowd->shared_world)) {
        fail("%zu worlds and %zu groups are left of sessions that are over",
             world_reply->world_list->n_worlds - 1, group_reply->group_list->n_groups);
    }
    give_back(world_reply);
    give_back(group_reply);
    link_close(&client.link);
    return here;
}

bool client_follow_shared(Crowd *crowd) {
    Client client = {.crowd = crowd, .number = 0, .dice = dice_make(crowd->seed, 97)};
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &crowd->shared_world;
    Moreau__V1__Reply *reply = come(&client) ? ask(&client, &hash) : NULL;
    const bool here = reply != NULL && is_ok(reply);
    if (here) {
        const uint64_t step = reply->world_hash->step[0];
        model_apply(&crowd->shared_model,
                    (ModelChange){.steps = step - model_step_count(&crowd->shared_model)});
        if (model_hash(&crowd->shared_model) != reply->world_hash->hash[0]) {
            fail("the shared world rests in a state that is not the reference's");
        }
    }
    give_back(reply);
    link_close(&client.link);
    return here;
}

static void find_shared(Client *client) {
    client->world[SHARED] = (ClientWorld){.is_there = true,
                                          .is_shared = true,
                                          .id = client->crowd->shared_world,
                                          .model = &client->crowd->shared_model};
}

// ---- a bunch of calls

// A world that is there and that nothing in this bunch forbids; CLIENT_WORLDS_MAX: none.
static size_t pick_world(Client *client, const bool *is_barred, bool own) {
    size_t first = (size_t)dice_roll(&client->dice, CLIENT_WORLDS_MAX);
    for (size_t i = 0; i < CLIENT_WORLDS_MAX; i++) {
        size_t index = (first + i) % CLIENT_WORLDS_MAX;
        const ClientWorld *world = &client->world[index];
        if (world->is_there && !is_barred[index] && !(own && world->is_shared)) {
            return index;
        }
    }
    return CLIENT_WORLDS_MAX;
}

// An episode that was stopped and that nobody wants to delete; HISTORY_EPISODES_MAX: none.
static size_t pick_episode(Client *client) {
    const History *history = client->crowd->history;
    for (int i = 0; i < 8 && history->episode_count > 0; i++) {
        size_t index = (size_t)dice_roll(&client->dice, history->episode_count);
        if (history->episode[index].stop_acked && !history->episode[index].delete_asked) {
            return index;
        }
    }
    return HISTORY_EPISODES_MAX;
}

static void add_steps(Client *client, size_t world, const bool *is_barred) {
    if (model_taken(client->world[world].model) > STEPS_ENOUGH) {
        call_hash(client, world);
        return;
    }
    uint64_t steps = 1 + dice_roll(&client->dice, dice_magnitude(&client->dice, 5));
    uint32_t deadline_ms = 0;
    if (!client->world[world].is_shared && dice_chance(&client->dice, 10)) {
        steps = STEPS_LONG / 10 + dice_roll(&client->dice, STEPS_LONG / 10);
        deadline_ms = (uint32_t)dice_roll(&client->dice, 4);
    }
    size_t worlds[CALL_WORLDS_MAX] = {world}, count = 1;
    for (size_t i = 0; i < CLIENT_WORLDS_MAX && dice_chance(&client->dice, 25); i++) {
        if (i != world && client->world[i].is_there && !is_barred[i] &&
            model_taken(client->world[i].model) < STEPS_ENOUGH) {
            worlds[count++] = i;
        }
    }
    call_step(client, worlds, count, steps < STEPS_SHORT || count == 1 ? steps : STEPS_SHORT,
              deadline_ms);
}

// Recording, of worlds of our own alone: of the shared one nobody knows who steps it when.
static void add_recording(Client *client, size_t world) {
    bool is_recorded = client->world[world].episode > 0;
    for (size_t i = 0; i < client->call_count; i++) {
        const Call *call = &client->call[i];
        if (call->kind == CALL_STOP && call->world[0] == world) {
            call_hash(client, world); // whether it is still recorded is not known yet
            return;
        }
        is_recorded = is_recorded || (call->kind == CALL_START && call->world[0] == world);
    }
    if (is_recorded && dice_chance(&client->dice, 60)) {
        call_edit(client, world); // recordings in which much happens
    } else if (is_recorded) {
        call_stop(client, world);
    } else {
        call_start(client, world);
    }
}

static void add_episode(Client *client) {
    static const CallKind kinds[] = {CALL_VERIFY, CALL_DESCRIBE, CALL_TOUCHES};
    size_t episode = pick_episode(client);
    if (episode == HISTORY_EPISODES_MAX) {
        call_list(client);
    } else if (history_keeps_few(client->crowd->history, client->crowd->life) &&
               dice_chance(&client->dice, 25)) {
        call_episode(client, CALL_PIN, episode);
    } else if (dice_chance(&client->dice, 10)) {
        call_episode(client, CALL_DELETE, episode);
    } else {
        call_episode(client, kinds[dice_roll(&client->dice, 3)], episode);
    }
}

static void add_herd(Client *client) {
    const uint64_t chance = dice_roll(&client->dice, 100);
    if (chance < 40 && client->call_count + 2 <= CALLS_MAX / 2) {
        call_send(client);
    } else if (dice_chance(&client->dice, 30)) {
        call_herd_question(client);
    } else {
        call_herd(client, chance < 85 ? GROUP_STEP : GROUP_RESET);
    }
}

static void add_any(Client *client, bool *is_barred) {
    if (client->herd.is_there && dice_chance(&client->dice, 25)) {
        add_herd(client);
        return;
    }
    size_t world = pick_world(client, is_barred, false);
    size_t own = pick_world(client, is_barred, true);
    uint64_t chance = dice_roll(&client->dice, 100);
    if (chance < 12) {
        call_ping(client);
    } else if (chance < 14) {
        call_stats(client);
    } else if (chance < 16) {
        call_worlds(client);
    } else if (chance < 17) {
        call_solve(client);
    } else if (chance < 18) {
        call_backup(client);
    } else if (chance < 25) {
        add_episode(client);
    } else if (chance < 40 && own < CLIENT_WORLDS_MAX) {
        add_recording(client, own);
    } else if (chance < 50 && own < CLIENT_WORLDS_MAX) {
        call_edit(client, own);
    } else if (chance < 52 && own < CLIENT_WORLDS_MAX) {
        call_destroy(client, own);
        is_barred[own] = true;
    } else if (chance < 59 && world < CLIENT_WORLDS_MAX) {
        call_hash(client, world);
    } else if (chance < 60 && world < CLIENT_WORLDS_MAX) {
        call_rays(client, world);
    } else if (chance < 63 && world < CLIENT_WORLDS_MAX) {
        call_get(client, world);
    } else if (chance < 68) {
        call_watch(client);
    } else if (world < CLIENT_WORLDS_MAX) {
        add_steps(client, world, is_barred);
    }
}

static void compose(Client *client) {
    bool is_barred[CLIENT_WORLDS_MAX] = {false};
    call_forget_all(client);
    copies_begin(&client->copies);
    client->bytes.count = 0;
    uint64_t count = 1 + dice_roll(&client->dice, BUNCH_MAX);
    for (uint64_t i = 0; i < count; i++) {
        const size_t own = pick_world(client, is_barred, true);
        if (dice_chance(&client->dice, 12)) {
            copies_add(client, own);
        } else if (dice_chance(&client->dice, 8)) {
            pasts_add(client);
        } else {
            add_any(client, is_barred);
        }
        if (client->call_count > 0 && dice_chance(&client->dice, 6)) {
            Call *victim = &client->call[dice_roll(&client->dice, client->call_count)];
            if (victim->kind == CALL_STEP || victim->kind == CALL_VERIFY ||
                victim->kind == CALL_PASTS || victim->kind == CALL_HASH ||
                victim->kind == CALL_HERD || victim->kind == CALL_RECEIVE ||
                victim->kind == CALL_TOUCHES || victim->kind == CALL_BACKUP ||
                victim->kind == CALL_COPIES || victim->kind == CALL_WATCH ||
                is_herd_question(victim->kind)) {
                call_cancel(client, victim);
            }
        }
    }
}

static size_t unanswered(const Client *client) {
    size_t count = 0;
    for (size_t i = 0; i < client->call_count; i++) {
        count += !client->call[i].is_answered;
    }
    return count;
}

// Takes answers until so many are missing. False: the connection is gone.
static bool take_answers(Client *client, size_t missing) {
    while (unanswered(client) > missing) {
        Moreau__V1__Reply *reply = receive(client);
        if (reply == NULL) {
            return false;
        }
        call_answer(client, reply);
    }
    return true;
}

// ---- losing the connection

// What of this bunch was not answered may have happened, or not, or in part.
static bool find_out(Client *client, size_t index) {
    ClientWorld *world = &client->world[index];
    ModelChange change[CALLS_MAX];
    size_t count = 0;
    bool may_be_gone = false, record_is_unclear = false, way_is_unclear = false;
    for (size_t i = 0; i < client->call_count; i++) {
        const Call *call = &client->call[i];
        for (size_t k = 0; k < call->world_count && !call->is_judged; k++) {
            if (call->world[k] == index && model_is_change(call->change)) {
                change[count++] = call->change;
            }
            bool here = call->world[k] == index;
            may_be_gone = may_be_gone || (here && call->kind == CALL_DESTROY);
            // what steps were taken in front of a restore nobody can tell, but who watched them
            way_is_unclear = way_is_unclear || (here && call->change.restore > 0 && count > 1);
            record_is_unclear = record_is_unclear || (here && call->kind == CALL_START) ||
                                (here && call->kind == CALL_STOP) ||
                                (here && call->change.restore > 0);
        }
    }
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &world->id;
    Moreau__V1__Reply *reply = ask(client, &hash);
    if (reply == NULL) {
        return false;
    }
    bool is_there = is_ok(reply) && reply->world_hash->n_failures == 0;
    if (!is_there && may_be_gone) {
        world->is_there = false;
        give_back(reply);
        return true;
    }
    if (!is_there || !model_find(world->model, change, count, reply->world_hash->step[0],
                                 reply->world_hash->hash[0])) {
        fail("client %zu: world %" PRIu64
             " came to a state that no part of the %zu changes under way leads to: %s",
             client->number, world->id, count, is_there ? "hash" : "it is gone");
    }
    give_back(reply);
    if (way_is_unclear) {
        watcher_note_unclear(client, index);
    }
    if (!record_is_unclear) {
        call_note_recorded(client, world);
        return true;
    }
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1;
    stop.world = world->id;
    if (world->episode > 0) {
        client->crowd->history->episode[world->episode - 1].stop_asked = true;
    }
    reply = ask(client, &stop); // it may not be recorded at all
    world->episode = 0;
    give_back(reply);
    return reply != NULL;
}

static bool come_back(Client *client);

// Sends again what was not answered, and waits for all that is missing; or loses the connection
// once more. False: the server is going.
static bool repeat_calls(Client *client) {
    bool here = true;
    for (size_t i = 0; i < client->call_count && here; i++) {
        const Call *call = &client->call[i];
        here = call->is_answered ||
               link_send(&client->link, client->bytes.bytes + call->at, call->count);
    }
    if (here && dice_chance(&client->dice, 25)) {
        return take_answers(client, (size_t)dice_roll(&client->dice, client->call_count + 1)) &&
               come_back(client);
    }
    return here && take_answers(client, 0);
}

// Comes back after the connection was lost. False: the server is going.
static bool come_back(Client *client) {
    Link old = client->link;
    bool shuts_first = dice_chance(&client->dice, 70);
    if (shuts_first) {
        link_close(&old);
    }
    if (dice_chance(&client->dice, 30)) {
        schedule_sleep(dice_magnitude(&client->dice, 33)); // at most 17 s: within the grace time
    }
    pasts_cut(client);
    bool here = come(client);
    here = here && (client->is_resumable || drop_herd(client));
    if (!shuts_first) {
        link_close(&old); // the server took it for dead
    }
    if (client->is_resumable) {
        return here && repeat_calls(client);
    }
    for (size_t i = 1; i < CLIENT_WORLDS_MAX && here; i++) {
        here = !client->world[i].is_there || find_out(client, i);
    }
    return here;
}

static bool send_and_cut(Client *client) {
    client->crowd->history->cuts++;
    size_t count = (size_t)dice_roll(&client->dice, client->bytes.count + 1);
    if (dice_chance(&client->dice, 40)) {
        count = client->bytes.count;
    }
    bool here = link_send(&client->link, client->bytes.bytes, count);
    if (here && count == client->bytes.count) {
        here = take_answers(client, (size_t)dice_roll(&client->dice, client->call_count + 1));
    }
    if (here && dice_chance(&client->dice, 50)) {
        schedule_sleep(dice_magnitude(&client->dice, 22));
    }
    return here && come_back(client);
}

// ---- life

static bool take_round(Client *client) {
    for (size_t i = 1; i < CLIENT_WORLDS_MAX; i++) {
        if (!client->world[i].is_there && dice_chance(&client->dice, 60) && !fill_slot(client, i)) {
            return false;
        }
    }
    if (!client->herd.is_there && dice_chance(&client->dice, 30) && !make_herd(client)) {
        return false;
    }
    if (client->herd.is_there && client->herd.record != NULL && dice_chance(&client->dice, 10) &&
        !resume_herd(client)) {
        return false;
    }
    if (!kept_take_round(client)) {
        return false;
    }
    watcher_show_own(client);
    compose(client);
    bool here = dice_chance(&client->dice, 12)
                    ? send_and_cut(client)
                    : link_send(&client->link, client->bytes.bytes, client->bytes.count) &&
                          take_answers(client, 0);
    uint64_t pause = dice_roll(&client->dice, 100);
    if (here && pause < 40) {
        schedule_sleep(dice_magnitude(&client->dice, pause < 15 ? 31 : 23));
    }
    return here;
}

void client_main(void *context) {
    const ClientDef *def = context;
    Client client = {.crowd = def->crowd,
                     .number = def->number,
                     .dice = dice_make(def->crowd->seed, 100 + def->number)};
    find_shared(&client);
    // what such a client has asked for and not heard of is kept, as many requests as it may send
    client.is_resumable = def->crowd->requests_max >= CALLS_MAX && dice_chance(&client.dice, 40);
    bool here = come(&client);
    uint64_t rounds = 1 + dice_roll(&client.dice, ROUNDS_MAX);
    for (uint64_t i = 0; i < rounds && here; i++) {
        here = take_round(&client);
    }
    if (here && dice_chance(&client.dice, 5)) {
        here = make_crowd(&client);
    }
    if (here && dice_chance(&client.dice, 30)) {
        schedule_sleep(dice_magnitude(&client.dice, 34)); // with worlds that may be recorded
    }
    if (!here && !def->crowd->is_stopping) {
        fail("client %zu: the server is gone", client.number);
    }
    if (here && !def->crowd->is_stopping) {
        watcher_let_rest(&client);
    }
    link_close(&client.link);
    call_forget_all(&client);
    free(client.bytes.bytes);
    herd_deinit(&client.herd);
    copies_deinit(&client.copies);
    for (size_t i = 1; i < CLIENT_WORLDS_MAX; i++) {
        if (client.world[i].model != NULL) {
            model_deinit(client.world[i].model);
        }
    }
}
