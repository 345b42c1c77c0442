// SPDX-License-Identifier: MIT
#include "simulate/call.h"

#include "simulate/disk.h"
#include "simulate/edit.h"
#include "simulate/herd_kept.h"
#include "simulate/schedule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const names[] = {
    [CALL_STEP] = "step",     [CALL_EDIT] = "edit",       [CALL_HASH] = "hash",
    [CALL_RAYS] = "rays",     [CALL_GET] = "get",         [CALL_DESTROY] = "destroy",
    [CALL_START] = "start",   [CALL_STOP] = "stop",       [CALL_DELETE] = "delete",
    [CALL_VERIFY] = "verify", [CALL_LIST] = "list",       [CALL_DESCRIBE] = "describe",
    [CALL_PING] = "ping",     [CALL_STATS] = "stats",     [CALL_WORLDS] = "worlds",
    [CALL_SOLVE] = "solve",   [CALL_CANCEL] = "cancel",   [CALL_HERD] = "group",
    [CALL_SEND] = "send",     [CALL_RECEIVE] = "receive", [CALL_TOUCHES] = "touches",
    [CALL_BACKUP] = "backup", [CALL_COPIES] = "copy",     [CALL_PASTS] = "past",
    [CALL_WATCH] = "watch",   [CALL_LOOK] = "look",       [CALL_OPINIONS] = "opinions",
    [CALL_SAVE] = "save",     [CALL_PIN] = "pin",
};

// ---- asking

Call *call_add(Client *client, CallKind kind, const void *message, uint32_t deadline_ms) {
    if (client->call_count == CALLS_MAX) {
        fail("more calls than CALLS_MAX");
    }
    Call *call = &client->call[client->call_count++];
    *call = (Call){.kind = kind, .id = ++client->id_last, .may_stop = deadline_ms > 0};
    Moreau__V1__Request request = link_request(message);
    request.has_id = 1;
    request.id = call->id;
    request.has_deadline_ms = deadline_ms > 0;
    request.deadline_ms = deadline_ms;
    call->at = client->bytes.count;
    link_pack(&client->bytes, &request);
    call->count = client->bytes.count - call->at;
    client->crowd->history->requests++;
    return call;
}

static void on_world(Call *call, size_t world) {
    call->world_count = 1;
    call->world[0] = world;
}

void call_on_world(Call *call, size_t world, ModelChange change) {
    on_world(call, world);
    call->change = change;
}

void call_step(Client *client, const size_t *world, size_t world_count, uint64_t steps,
               uint32_t deadline_ms) {
    uint64_t ids[CALL_WORLDS_MAX];
    for (size_t i = 0; i < world_count; i++) {
        ids[i] = client->world[world[i]].id;
    }
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    step.n_worlds = world_count;
    step.worlds = ids;
    step.has_steps = step.has_hashes = step.hashes = 1;
    step.steps = steps;
    step.has_reports = dice_chance(&client->dice, 80);
    Call *call = call_add(client, CALL_STEP, &step, deadline_ms);
    call->world_count = world_count;
    memcpy(call->world, world, world_count * sizeof(*world));
    call->change = (ModelChange){.steps = steps};
}

void call_edit(Client *client, size_t world) {
    const ModelChange change = {.edit = 1 + dice_roll(&client->dice, 1000000)};
    Edit edit;
    edit_draw(&edit, change.edit, client->world[world].id);
    Call *call = call_add(client, CALL_EDIT, edit_message(&edit), 0);
    on_world(call, world);
    call->change = change;
}

void call_hash(Client *client, size_t world) {
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &client->world[world].id;
    on_world(call_add(client, CALL_HASH, &hash, 0), world);
}

enum { RAYS_MAX = 40 };

// Around where the bodies of all worlds are, and what they meet changes no bit: later calls tell.
void call_rays(Client *client, size_t world) {
    double origin[3 * RAYS_MAX], way[3 * RAYS_MAX];
    const size_t rays = 1 + dice_roll(&client->dice, RAYS_MAX);
    for (size_t i = 0; i < 3 * rays; i++) {
        origin[i] = 0.25 * (double)dice_roll(&client->dice, 17) - 2.0;
        way[i] = 0.5 * (double)dice_roll(&client->dice, 17) - 4.25; // never 0
    }
    Moreau__V1__WorldRayCast cast = MOREAU__V1__WORLD_RAY_CAST__INIT;
    cast.n_worlds = 1;
    cast.worlds = &client->world[world].id;
    cast.n_origin = cast.n_way = 3 * rays;
    cast.origin = origin;
    cast.way = way;
    on_world(call_add(client, CALL_RAYS, &cast, 0), world);
}

void call_get(Client *client, size_t world) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = client->world[world].id;
    on_world(call_add(client, CALL_GET, &get, 0), world);
}

void call_destroy(Client *client, size_t world) {
    Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
    destroy.has_world = 1;
    destroy.world = client->world[world].id;
    on_world(call_add(client, CALL_DESTROY, &destroy, 0), world);
    size_t episode = client->world[world].episode;
    if (episode > 0) {
        client->crowd->history->episode[episode - 1].destroy_asked = true;
    }
}

void call_start(Client *client, size_t world) {
    Moreau__V1__EpisodeStart start = MOREAU__V1__EPISODE_START__INIT;
    start.has_world = start.has_content = start.has_keyframe_steps = start.has_stride = 1;
    start.world = client->world[world].id;
    start.content = (Moreau__V1__Episode__Content)dice_roll(&client->dice, 3);
    start.keyframe_steps = dice_magnitude(&client->dice, 8);
    start.stride = dice_magnitude(&client->dice, 3);
    start.has_events = 1;
    start.events = dice_chance(&client->dice, 30);
    on_world(call_add(client, CALL_START, &start, 0), world);
}

void call_stop(Client *client, size_t world) {
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    size_t episode = client->world[world].episode;
    HistoryEpisode *known = episode == 0 ? NULL : &client->crowd->history->episode[episode - 1];
    if (known != NULL && dice_chance(&client->dice, 30)) {
        stop.episode = known->id;
    } else {
        stop.has_world = 1;
        stop.world = client->world[world].id;
    }
    Call *call = call_add(client, CALL_STOP, &stop, 0);
    on_world(call, world);
    if (known != NULL) {
        known->stop_asked = true;
    }
}

void call_episode(Client *client, CallKind kind, size_t episode) {
    HistoryEpisode *known = &client->crowd->history->episode[episode];
    Moreau__V1__EpisodeDelete remove = MOREAU__V1__EPISODE_DELETE__INIT;
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    Moreau__V1__EpisodeTouches touches = MOREAU__V1__EPISODE_TOUCHES__INIT;
    Moreau__V1__EpisodePin pin = MOREAU__V1__EPISODE_PIN__INIT;
    remove.episode = verify.episode = describe.episode = touches.episode = pin.episode = known->id;
    touches.has_simulate = touches.simulate = 1; // where none were recorded
    const void *message = kind == CALL_DELETE    ? (const void *)&remove
                          : kind == CALL_VERIFY  ? (const void *)&verify
                          : kind == CALL_TOUCHES ? (const void *)&touches
                          : kind == CALL_PIN     ? (const void *)&pin
                                                 : (const void *)&describe;
    call_add(client, kind, message, 0)->episode = episode;
    known->delete_asked = known->delete_asked || kind == CALL_DELETE;
    known->pin_asked = known->pin_asked || kind == CALL_PIN;
}

void call_list(Client *client) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    call_add(client, CALL_LIST, &list, 0);
}

void call_ping(Client *client) {
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    ping.has_payload = 1;
    ping.payload = dice_bits(&client->dice);
    call_add(client, CALL_PING, &ping, 0)->payload = ping.payload;
}

void call_stats(Client *client) {
    Moreau__V1__Stats stats = MOREAU__V1__STATS__INIT;
    stats.has_worlds = stats.worlds = 1;
    call_add(client, CALL_STATS, &stats, 0);
}

void call_worlds(Client *client) {
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    call_add(client, CALL_WORLDS, &list, 0);
}

// One of a few copies, over one that may be there.
void call_backup(Client *client) {
    char name[] = "copy-0";
    Moreau__V1__EpisodeBackup backup = MOREAU__V1__EPISODE_BACKUP__INIT;
    name[sizeof(name) - 2] = (char)('1' + dice_roll(&client->dice, BACKUPS_MAX));
    backup.name = name;
    backup.has_overwrite = 1;
    backup.overwrite = dice_chance(&client->dice, 70);
    call_add(client, CALL_BACKUP, &backup, 0);
}

// One body of 1 kg that falls onto the ground with 1 m/s: the impulse that stops it is 1 N s.
void call_solve(Client *client) {
    uint32_t width = 3, blocks = 1, tree = 0;
    double mass[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, velocity[3] = {0, 0, -1}, mu = 0.5;
    double jacobian[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
    Moreau__V1__ContactProblem problem = MOREAU__V1__CONTACT_PROBLEM__INIT;
    problem.has_time_step = 1;
    problem.time_step = 0.01;
    problem.n_tree_width = problem.n_contact_mu = 1;
    problem.tree_width = &width;
    problem.contact_mu = &mu;
    problem.n_mass = problem.n_contact_jacobian = 9;
    problem.mass = mass;
    problem.contact_jacobian = jacobian;
    problem.n_v_free = 3;
    problem.v_free = velocity;
    problem.n_contact_block_count = problem.n_contact_block_tree = 1;
    problem.contact_block_count = &blocks;
    problem.contact_block_tree = &tree;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = &problem;
    call_add(client, CALL_SOLVE, &solve, 0);
}

// Borrows `mask`, of a byte.
static ProtobufCBinaryData mask_of(HerdOrder order, uint8_t *mask) {
    *mask = order.worlds;
    return (ProtobufCBinaryData){.len = 1, .data = mask};
}

// In milliseconds; most often none.
static uint32_t draw_deadline(Client *client) {
    return dice_chance(&client->dice, 8) ? 1 + (uint32_t)dice_roll(&client->dice, 3) : 0;
}

void call_herd(Client *client, GroupVerb verb) {
    const HerdOrder order = herd_draw_order(&client->dice, verb);
    float action[HERD_ACTS * HERD_WORLDS];
    uint8_t mask;
    Moreau__V1__GroupStep step = MOREAU__V1__GROUP_STEP__INIT;
    Moreau__V1__GroupReset reset = MOREAU__V1__GROUP_RESET__INIT;
    step.has_group = step.has_mask = reset.has_group = reset.has_mask = 1;
    step.group = reset.group = client->herd.id;
    step.mask = reset.mask = mask_of(order, &mask);
    herd_actions(order, action);
    step.n_action = HERD_ACTS * herd_count(order);
    step.action = action;
    const void *message = verb == GROUP_STEP ? (const void *)&step : (const void *)&reset;
    call_add(client, CALL_HERD, message, draw_deadline(client))->order = order;
}

void call_send(Client *client) {
    const HerdOrder order = herd_draw_order(&client->dice, GROUP_STEP);
    float action[HERD_ACTS * HERD_WORLDS];
    uint8_t mask;
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    Moreau__V1__GroupReceive receive = MOREAU__V1__GROUP_RECEIVE__INIT;
    send.has_group = send.has_mask = receive.has_group = receive.has_count = 1;
    send.group = receive.group = client->herd.id;
    send.mask = mask_of(order, &mask);
    herd_actions(order, action);
    send.n_action = HERD_ACTS * herd_count(order);
    send.action = action;
    receive.count = herd_count(order);
    call_add(client, CALL_SEND, &send, draw_deadline(client))->order = order;
    call_add(client, CALL_RECEIVE, &receive, 0)->order = order;
}

void call_cancel(Client *client, Call *victim) {
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = victim->id;
    victim->may_stop = true;
    client->crowd->history->cancels++;
    call_add(client, CALL_CANCEL, &cancel, 0)->payload = victim->id;
}

// ---- judging

bool call_is_stop(Moreau__V1__Status__Code code) {
    return code == MOREAU__V1__STATUS__CODE__CANCELLED ||
           code == MOREAU__V1__STATUS__CODE__DEADLINE_EXCEEDED;
}

// Who may be stopped: what was asked to be, and all there is where the server ends.
static bool may_stop(const Client *client, const Call *call) {
    return call->may_stop || client->crowd->is_stopping;
}

static Call *find_call(Client *client, uint64_t id) {
    for (size_t i = 0; i < client->call_count; i++) {
        if (client->call[i].id == id) {
            return &client->call[i];
        }
    }
    fail("client %zu: a reply to request %" PRIu64 ", which was not asked now", client->number, id);
}

static bool is_of_herd(const Call *call) {
    return call->kind == CALL_HERD || call->kind == CALL_SEND || call->kind == CALL_RECEIVE ||
           is_herd_question(call->kind);
}

static bool share_world(const Call *a, const Call *b) {
    if (is_of_herd(a) && is_of_herd(b)) {
        return true;
    }
    for (size_t i = 0; i < a->world_count; i++) {
        for (size_t k = 0; k < b->world_count; k++) {
            if (a->world[i] == b->world[k]) {
                return true;
            }
        }
    }
    return false;
}

// Calls on one world are answered in their order. A destruction is answered at once, and a call on
// several worlds when the last of them is done, which may be before or after its neighbours'
// answers on the other worlds.
static bool has_order(const Call *call) {
    return !is_of_herd(call) && call->kind != CALL_DESTROY && call->world_count == 1 &&
           (call->kind != CALL_COPIES || copies_have_order(call));
}

static void check_order(const Client *client, const Call *call) {
    for (const Call *before = client->call; has_order(call) && before < call; before++) {
        if (!before->is_answered && has_order(before) && share_world(before, call)) {
            fail("client %zu: %s %" PRIu64 " was answered before %s %" PRIu64 " on the same world",
                 client->number, names[call->kind], call->id, names[before->kind], before->id);
        }
    }
}

// The state after `step` steps of a world must be the reference's.
void call_check_state(Client *client, ClientWorld *world, uint64_t step, uint64_t hash) {
    Model *model = world->model;
    uint64_t known = model_step_count(model);
    if (world->is_shared) {
        // others step it as well: the reference follows whoever was answered first
        if (step > known) {
            model_apply(model, (ModelChange){.steps = step - known});
        }
    } else if (step != known) {
        fail("client %zu: world %" PRIu64 " is at step %" PRIu64 " instead of %" PRIu64,
             client->number, world->id, step, known);
    }
    if (model_step_count(model) == step && model_hash(model) != hash) {
        fail("client %zu: the state of world %" PRIu64 " at step %" PRIu64
             " is not the reference's",
             client->number, world->id, step);
    }
}

void call_note_recorded(Client *client, const ClientWorld *world) {
    if (world->episode > 0) {
        HistoryEpisode *episode = &client->crowd->history->episode[world->episode - 1];
        episode->step_count = model_taken(world->model) - episode->first_step;
    }
}

static void judge_step(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    const Moreau__V1__WorldStepReply *step = reply->world_step;
    if (reply->result_case != MOREAU__V1__REPLY__RESULT_WORLD_STEP ||
        step->n_steps_done != call->world_count || step->n_hash != call->world_count) {
        fail("client %zu: a step was answered without its result", client->number);
    }
    for (size_t i = 0; i < call->world_count; i++) {
        ClientWorld *world = &client->world[call->world[i]];
        uint64_t done = step->steps_done[i];
        if (done > call->change.steps || (done < call->change.steps && !may_stop(client, call))) {
            fail("client %zu: %" PRIu64 " steps of %" PRIu64 " were done, and nothing said stop",
                 client->number, done, call->change.steps);
        }
        client->crowd->history->steps += done;
        if (!world->is_shared) {
            model_apply(world->model, (ModelChange){.steps = done});
        }
        call_check_state(client, world, step->step[i], step->hash[i]);
        call_note_recorded(client, world);
    }
}

static void judge_get(Client *client, const Call *call, const Moreau__V1__WorldGetReply *get) {
    const ClientWorld *world = &client->world[call->world[0]];
    if (world->is_shared) {
        return;
    }
    if (get->step != model_step_count(world->model)) {
        fail("client %zu: world %" PRIu64 " shows step %" PRIu64 " instead of %" PRIu64,
             client->number, world->id, get->step, model_step_count(world->model));
    }
}

static void judge_start(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    ClientWorld *world = &client->world[call->world[0]];
    History *history = client->crowd->history;
    if (history->episode_count == HISTORY_EPISODES_MAX) {
        fail("more episodes than HISTORY_EPISODES_MAX");
    }
    HistoryEpisode *episode = &history->episode[history->episode_count++];
    *episode = (HistoryEpisode){.world = world->history,
                                .life = client->crowd->life,
                                .first_step = model_taken(world->model)};
    if (strlen(reply->episode_start->episode) != HISTORY_ID_BYTES - 1) {
        fail("client %zu: '%s' is no id of an episode", client->number,
             reply->episode_start->episode);
    }
    memcpy(episode->id, reply->episode_start->episode, HISTORY_ID_BYTES);
    world->episode = history->episode_count;
    for (const Call *later = call + 1; later < client->call + client->call_count; later++) {
        bool here = later->world_count == 1 && later->world[0] == call->world[0];
        episode->stop_asked = episode->stop_asked || (here && later->kind == CALL_STOP);
        episode->destroy_asked = episode->destroy_asked || (here && later->kind == CALL_DESTROY);
    }
}

static void judge_stop(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    const Moreau__V1__EpisodeInfo *info = reply->episode_stop->episode;
    size_t index = client->world[call->world[0]].episode;
    if (index == 0) {
        return; // of an episode whose start was never answered
    }
    HistoryEpisode *episode = &client->crowd->history->episode[index - 1];
    if (info->state != MOREAU__V1__EPISODE__STATE__COMPLETE || info->steps != episode->step_count) {
        fail("client %zu: a stopped episode of %" PRIu64 " steps is in state %d with %" PRIu64,
             client->number, episode->step_count, info->state, info->steps);
    }
    episode->stop_acked = true;
    episode->stop_steps = info->steps;
}

static void judge_verify(const Client *client, const Call *call,
                         const Moreau__V1__EpisodeVerifyReply *verify) {
    bool may_be_going = client->crowd->history->episode[call->episode].delete_asked;
    if (!verify->verified && !may_be_going && !disk_has_faults()) {
        fail("client %zu: an episode is not what happened: %s", client->number,
             verify->n_differences > 0 ? verify->differences[0]->message : "no difference is told");
    }
}

static void judge_solve(const Client *client, const Moreau__V1__SolveReply *solve) {
    // the solver stops at 1e-6 of the velocity, which is 1 m/s
    if (solve->n_contacts != 3 || !(fabs(solve->contacts[0] - 1.0) < 1e-5)) {
        fail("client %zu: a body of 1 kg and 1 m/s is stopped by something else than 1 N s",
             client->number);
    }
}

// Refused by both or by neither, unless it was not done at all.
static void judge_edit(Client *client, const Call *call, const Moreau__V1__Status *status) {
    const ClientWorld *world = &client->world[call->world[0]];
    if (call_is_stop(status->code)) {
        return;
    }
    const bool is_taken = status->code == MOREAU__V1__STATUS__CODE__OK;
    if (model_apply(world->model, call->change) != is_taken) {
        fail("client %zu: edit %" PRIu64 " of world %" PRIu64 " was %s: %s", client->number,
             call->change.edit, world->id,
             is_taken ? "taken, and the reference refuses it" : "refused", status->message);
    }
}

// What a call that was stopped has done is in its reply; without one nothing was done. A group of
// which worlds stay away, or nobody knows where they stand, is judged no more.
static void judge_herd(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    Herd *herd = &client->herd;
    const bool is_ok = reply->status->code == MOREAU__V1__STATUS__CODE__OK;
    const bool has_rows = reply->result_case == MOREAU__V1__REPLY__RESULT_GROUP_STEP;
    if (!herd->is_there || (call->kind == CALL_SEND && is_ok)) {
        return;
    }
    if (call->kind == CALL_HERD && !is_ok && !has_rows) {
        herd->record = NULL;
        return;
    }
    if (!has_rows || !herd_follow(herd, call->order, reply->group_step)) {
        herd_deinit(herd);
    }
}

// What is met is on the way, seen from outside, and has an id.
static void judge_rays(const Moreau__V1__WorldRayCastReply *met) {
    for (size_t i = 0; i < met->n_body; i++) {
        const double *n = met->normal + 3 * i;
        const double squared = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        const bool is_met = met->body[i] != 0;
        const bool is_right =
            met->fraction[i] >= 0.0 && met->fraction[i] <= 1.0 &&
            (is_met ? fabs(squared - 1.0) < 1e-9 : squared == 0.0 && met->fraction[i] == 1.0);
        if (!is_right) {
            fail("ray %zu meets body %" PRIu64 " at %g of its way, normal %g long", i, met->body[i],
                 met->fraction[i], sqrt(squared));
        }
    }
}

// An OK.
static void judge(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    ClientWorld *world = &client->world[call->world[0]];
    switch (call->kind) {
    case CALL_HASH:
        call_check_state(client, world, reply->world_hash->step[0], reply->world_hash->hash[0]);
        break;
    case CALL_RAYS:
        judge_rays(reply->world_ray_cast);
        break;
    case CALL_GET:
        judge_get(client, call, reply->world_get);
        break;
    case CALL_DESTROY:
        world->is_there = false;
        break;
    case CALL_START:
        judge_start(client, call, reply);
        break;
    case CALL_STOP:
        judge_stop(client, call, reply);
        break;
    case CALL_DELETE:
        client->crowd->history->episode[call->episode].delete_acked = true;
        break;
    case CALL_PIN:
        client->crowd->history->episode[call->episode].pin_acked = true;
        client->crowd->history->pins++;
        break;
    case CALL_VERIFY:
        judge_verify(client, call, reply->episode_verify);
        break;
    case CALL_PING:
        if (reply->pong->payload != call->payload) {
            fail("client %zu: a ping came back as another", client->number);
        }
        break;
    case CALL_SOLVE:
        judge_solve(client, reply->solve);
        break;
    default:
        break;
    }
}

static size_t count_kind(const Client *client, CallKind kind) {
    size_t count = 0;
    for (size_t i = 0; i < client->call_count; i++) {
        count += client->call[i].kind == kind;
    }
    return count;
}

// What may be answered other than OK.
static bool is_allowed(const Client *client, const Call *call, Moreau__V1__Status__Code code) {
    const HistoryEpisode *episode = client->crowd->history->episode;
    if (call_is_stop(code)) {
        return may_stop(client, call);
    }
    if (is_of_herd(call)) { // worlds may still be away, of a Receive that was cancelled
        return (!client->herd.is_there && code == MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION) ||
               herd_may_refuse(client, call, code);
    }
    switch (call->kind) {
    case CALL_COPIES:
        return copies_may_refuse(client, call, code);
    case CALL_EDIT:
        return code == MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT ||
               code == MOREAU__V1__STATUS__CODE__NOT_FOUND ||
               code == MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION;
    case CALL_WATCH: // what others, or this bunch, may have destroyed
        return code == MOREAU__V1__STATUS__CODE__NOT_FOUND
                   ? call->watching.sight == NULL || call->watching.sight->owner != 0
                   : code == MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED &&
                         count_kind(client, CALL_WATCH) >= client->crowd->requests_max;
    case CALL_START:
    case CALL_LIST:
        return disk_has_faults();
    case CALL_BACKUP: // another one is being made, or there is one
        return disk_has_faults() || code == MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION ||
               code == MOREAU__V1__STATUS__CODE__ALREADY_EXISTS;
    case CALL_STOP: // of what may not have begun, or has failed, or is gone as soon as it has ended
        return client->world[call->world[0]].episode == 0 || disk_has_faults() ||
               (code == MOREAU__V1__STATUS__CODE__NOT_FOUND &&
                history_keeps_few(client->crowd->history, client->crowd->life));
    case CALL_PASTS:
    case CALL_DELETE:
    case CALL_PIN:
    case CALL_VERIFY:
    case CALL_TOUCHES:
    case CALL_DESCRIBE: // others may delete it
        return disk_has_faults() || episode[call->episode].delete_asked ||
               (code == MOREAU__V1__STATUS__CODE__NOT_FOUND &&
                history_may_expire(client->crowd->history, &episode[call->episode])) ||
               !episode[call->episode].stop_acked ||
               (call->kind == CALL_DELETE && episode[call->episode].pin_asked);
    default:
        return false;
    }
}

static void judge_any(Client *client, Call *call) {
    const Moreau__V1__Reply *reply = call->reply;
    const Moreau__V1__Status *status = reply->status;
    bool is_ok = status->code == MOREAU__V1__STATUS__CODE__OK;
    if (!is_ok && !is_allowed(client, call, status->code)) {
        fail("client %zu: %s %" PRIu64 " was answered with status %d: %s", client->number,
             names[call->kind], call->id, status->code, status->message);
    }
    if (call->kind == CALL_STEP) {
        judge_step(client, call, reply); // which may be done in part
    } else if (call->kind == CALL_EDIT) {
        judge_edit(client, call, status);
    } else if (is_herd_question(call->kind)) {
        judge_herd_question(client, call, reply);
    } else if (is_of_herd(call)) {
        judge_herd(client, call, reply);
    } else if (call->kind == CALL_COPIES) {
        copies_judge(client, call, reply);
    } else if (call->kind == CALL_PASTS) {
        pasts_judge(client, call, reply);
    } else if (is_ok) {
        judge(client, call, reply);
    }
    if (call->kind == CALL_STOP) {
        client->world[call->world[0]].episode = 0;
    }
}

static void judge_all(Client *client) {
    for (Call *call = client->call; call < client->call + client->call_count; call++) {
        bool is_next = call->is_answered && !call->is_judged;
        for (const Call *before = client->call; is_next && before < call; before++) {
            is_next = before->is_judged || !share_world(before, call);
        }
        if (is_next) {
            judge_any(client, call);
            call->is_judged = true;
            moreau__v1__reply__free_unpacked(call->reply, NULL);
            call->reply = NULL;
        }
    }
}

void call_answer(Client *client, Moreau__V1__Reply *reply) {
    Call *call = find_call(client, reply->id);
    client->crowd->history->replies++;
    schedule_note(reply->id * 64 + (uint64_t)reply->status->code);
    if (call->is_answered) {
        fail("client %zu: %s %" PRIu64 " was answered twice", client->number, names[call->kind],
             call->id);
    }
    if (reply->event) {
        if (call->kind == CALL_WATCH) {
            watch_frame(&call->watching, reply->live_frame);
        } else {
            pasts_show(client, call, reply);
        }
        moreau__v1__reply__free_unpacked(reply, NULL);
        return;
    }
    check_order(client, call);
    if (call->kind == CALL_WATCH) {
        watch_end(&call->watching, reply);
    }
    call->is_answered = true;
    call->reply = reply;
    judge_all(client);
}

void call_forget_all(Client *client) {
    for (size_t i = 0; i < client->call_count; i++) {
        if (client->call[i].reply != NULL) {
            moreau__v1__reply__free_unpacked(client->call[i].reply, NULL);
        }
        if (client->call[i].kind == CALL_WATCH && !client->call[i].is_answered) {
            watch_end(&client->call[i].watching, NULL);
        }
    }
    client->call_count = 0;
}
