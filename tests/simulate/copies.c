// SPDX-License-Identifier: MIT
#include "simulate/copies.h"

#include "simulate/call.h"
#include "simulate/state.h"
#include "simulate/watcher.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CLONES_MAX = 3, PARTS_MAX = 2 };
enum { HEAD_BYTES = 16 }; // of a snapshot: what it is, and two versions

// ---- what there is

static bool is_whole(const Keep *keep) {
    return keep->is_there && !keep->is_going && keep->pending == 0 &&
           keep->received == state_get(keep->state)->count;
}

static bool is_begun(const Keep *keep) {
    return keep->is_there && !keep->is_going && keep->pending == 0 && keep->id != 0 &&
           keep->received < state_get(keep->state)->count;
}

// NULL: none is like this.
static Keep *pick_keep(Client *client, bool (*is_meant)(const Keep *keep)) {
    const size_t first = (size_t)dice_roll(&client->dice, KEEPS_MAX);
    for (size_t i = 0; i < KEEPS_MAX; i++) {
        Keep *keep = &client->copies.keep[(first + i) % KEEPS_MAX];
        if (is_meant(keep)) {
            return keep;
        }
    }
    return NULL;
}

static Keep *free_keep(Copies *copies) {
    for (size_t i = 0; i < KEEPS_MAX; i++) {
        if (!copies->keep[i].is_there && copies->keep[i].pending == 0) {
            return &copies->keep[i];
        }
    }
    return NULL;
}

static Stray *find_stray(Copies *copies) {
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        if (copies->stray[i].is_there && !copies->stray[i].is_going) {
            return &copies->stray[i];
        }
    }
    return NULL;
}

// One too many stays on the server until its session ends.
static void add_stray(Copies *copies, uint64_t id, uint64_t state) {
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        if (!copies->stray[i].is_there) {
            copies->stray[i] = (Stray){.is_there = true, .id = id, .state = state};
            return;
        }
    }
}

void copies_begin(Copies *copies) {
    for (size_t i = 0; i < KEEPS_MAX; i++) {
        Keep *keep = &copies->keep[i];
        if (keep->is_going || keep->pending > 0) {
            *keep = (Keep){0};
        }
    }
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        copies->stray[i].is_there = copies->stray[i].is_there && !copies->stray[i].is_going;
    }
}

void copies_lose(Copies *copies) {
    memset(copies->keep, 0, sizeof(copies->keep));
    memset(copies->stray, 0, sizeof(copies->stray));
    copies->gone = 0;
}

void copies_deinit(Copies *copies) {
    free(copies->scene);
}

bool copies_own_worlds(const Copies *copies) {
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        if (copies->stray[i].is_there && !copies->stray[i].is_going) {
            return true;
        }
    }
    return false;
}

Stray copies_give(Copies *copies) {
    Stray *stray = find_stray(copies);
    const Stray given = *stray;
    stray->is_there = false;
    return given;
}

// ---- asking

static Call *add(Client *client, CopyKind kind, const void *message) {
    Call *call = call_add(client, CALL_COPIES, message, 0);
    call->copy = (CopyCall){.kind = kind};
    return call;
}

static void about(Call *call, const Keep *keep) {
    call->copy.id = keep->id;
    call->copy.state = keep->state;
}

static void add_take(Client *client, size_t world) {
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = client->world[world].id;
    call_on_world(add(client, COPY_TAKE, &take), world, (ModelChange){0});
}

// All of it, or any range, which may end or begin behind it.
static void add_read(Client *client, const Keep *keep) {
    const uint64_t total = state_get(keep->state)->count;
    Moreau__V1__SnapshotRead read = MOREAU__V1__SNAPSHOT_READ__INIT;
    read.has_snapshot = 1;
    read.snapshot = keep->id;
    read.has_first = dice_chance(&client->dice, 70);
    read.first = read.has_first ? dice_roll(&client->dice, total + 9) : 0;
    read.has_count = dice_chance(&client->dice, 70);
    read.count = read.has_count ? dice_roll(&client->dice, total + 9) : UINT64_MAX;
    Call *call = add(client, COPY_READ, &read);
    about(call, keep);
    call->copy.first = read.first;
    call->copy.count = read.count;
}

static void add_part(Client *client, Keep *keep, uint64_t first, uint64_t count) {
    const State *state = state_get(keep->state);
    uint8_t *part = malloc(count);
    if (part == NULL) {
        fail("no memory for a part of a snapshot");
    }
    memcpy(part, state->bytes + first, count);
    const bool is_last = first + count == state->count;
    const bool is_damaged = is_last && dice_chance(&client->dice, 20);
    const uint64_t changed = is_damaged ? dice_roll(&client->dice, count) : 0;
    if (is_damaged) {
        part[changed] ^= (uint8_t)(1u << dice_roll(&client->dice, 8));
    }
    Moreau__V1__SnapshotUpload upload = MOREAU__V1__SNAPSHOT_UPLOAD__INIT;
    upload.has_snapshot = keep->id != 0;
    upload.snapshot = keep->id;
    upload.has_total = keep->id == 0;
    upload.total = state->count;
    upload.has_first = first > 0;
    upload.first = first;
    upload.has_data = 1;
    upload.data = (ProtobufCBinaryData){.len = count, .data = part};
    Call *call = add(client, COPY_UPLOAD, &upload);
    about(call, keep);
    call->copy.slot = (size_t)(keep - client->copies.keep);
    call->copy.first = first;
    call->copy.count = count;
    call->copy.is_damaged = is_damaged;
    call->copy.is_foreign = is_damaged && first + changed < HEAD_BYTES;
    call->copy.is_last = is_last;
    keep->pending++;
    free(part);
}

// Of one that is there, or of bytes that this server, or one before it, has given. 0: none are
// there.
static uint64_t pick_bytes(Client *client) {
    const HistorySnapshot *read = client->crowd->history->snapshot;
    read += dice_roll(&client->dice, HISTORY_SNAPSHOTS_MAX);
    if (read->count > 0 && dice_chance(&client->dice, 40)) {
        return state_keep_bytes(read->bytes, read->count, &client->crowd->shared_model.scratch);
    }
    const Keep *of = pick_keep(client, is_whole);
    return of == NULL ? 0 : of->state;
}

// The next parts of one that was begun, or the first of another.
static void add_upload(Client *client) {
    Keep *keep = pick_keep(client, is_begun);
    if (keep == NULL) {
        const uint64_t state = pick_bytes(client);
        keep = free_keep(&client->copies);
        if (state == 0 || keep == NULL) {
            return;
        }
        *keep = (Keep){.is_there = true, .state = state};
    }
    uint64_t first = keep->received;
    const uint64_t total = state_get(keep->state)->count;
    for (int i = 0; i < PARTS_MAX && first < total && (i == 0 || keep->id != 0); i++) {
        const uint64_t rest = total - first;
        const uint64_t count =
            dice_chance(&client->dice, 50) ? rest : 1 + dice_roll(&client->dice, rest);
        add_part(client, keep, first, count);
        first += count;
    }
}

// Of `keep`, or, where it is NULL, of one that was dropped, which must be refused.
static void add_restore(Client *client, size_t world, const Keep *keep) {
    Moreau__V1__SnapshotRestore restore = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    restore.has_world = restore.has_snapshot = 1;
    restore.world = client->world[world].id;
    restore.snapshot = keep == NULL ? client->copies.gone : keep->id;
    Call *call = add(client, COPY_RESTORE, &restore);
    call->copy.is_gone = keep == NULL;
    if (keep != NULL) {
        about(call, keep);
        watcher_note_restored(client, world);
    }
    call_on_world(call, world, (ModelChange){.restore = call->copy.state});
}

static void add_clone(Client *client, const Keep *keep, size_t world) {
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_snapshot = keep != NULL;
    clone.snapshot = keep == NULL ? 0 : keep->id;
    clone.has_world = keep == NULL;
    clone.world = keep == NULL ? client->world[world].id : 0;
    clone.has_count = 1;
    clone.count = 1 + dice_roll(&client->dice, CLONES_MAX);
    Call *call = add(client, COPY_CLONE, &clone);
    call->copy.count = clone.count;
    if (keep == NULL) {
        call_on_world(call, world, (ModelChange){0});
    } else {
        about(call, keep);
    }
}

static void add_drop(Client *client, Keep *keep) {
    Moreau__V1__SnapshotDrop drop = MOREAU__V1__SNAPSHOT_DROP__INIT;
    drop.has_snapshot = 1;
    drop.snapshot = keep == NULL ? client->copies.gone : keep->id;
    Call *call = add(client, COPY_DROP, &drop);
    call->copy.id = drop.snapshot;
    call->copy.is_gone = keep == NULL;
    if (keep != NULL) {
        keep->is_going = true;
    }
}

static void add_scene(Client *client, size_t world) {
    Moreau__V1__WorldScene scene = MOREAU__V1__WORLD_SCENE__INIT;
    scene.has_world = 1;
    scene.world = client->world[world].id;
    call_on_world(add(client, COPY_SCENE, &scene), world, (ModelChange){0});
}

static void add_world_of_scene(Client *client, size_t world) {
    Copies *copies = &client->copies;
    if (copies->scene == NULL) {
        if (world < CLIENT_WORLDS_MAX) {
            add_scene(client, world);
        }
        return;
    }
    Moreau__V1__Scene *scene = moreau__v1__scene__unpack(NULL, copies->scene_count, copies->scene);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = scene;
    if (copies->scene_made == 0) {
        copies->scene_made =
            state_of_scene(scene, copies->scene_of, &client->crowd->shared_model.scratch);
    }
    Call *call = add(client, COPY_FROM_SCENE, &create);
    call->copy.state = copies->scene_made;
    call->copy.count = scene->n_bodies;
    moreau__v1__scene__free_unpacked(scene, NULL);
}

static void add_strays(Client *client) {
    Copies *copies = &client->copies;
    uint64_t ids[STRAYS_MAX], states[STRAYS_MAX];
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.worlds = ids;
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        if (copies->stray[i].is_there && !copies->stray[i].is_going) {
            ids[hash.n_worlds] = copies->stray[i].id;
            states[hash.n_worlds++] = copies->stray[i].state;
        }
    }
    if (hash.n_worlds > 0) {
        Call *call = add(client, COPY_STRAYS, &hash);
        call->copy.count = hash.n_worlds;
        memcpy(call->copy.states, states, hash.n_worlds * sizeof(*states));
    }
}

static void add_end(Client *client) {
    Stray *stray = find_stray(&client->copies);
    if (stray != NULL) {
        Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
        destroy.has_world = 1;
        destroy.world = stray->id;
        add(client, COPY_END, &destroy)->copy.id = stray->id;
        stray->is_going = true;
    }
}

static void add_restores(Client *client, size_t world, Keep *keep) {
    if (world < CLIENT_WORLDS_MAX && client->copies.gone != 0 && dice_chance(&client->dice, 5)) {
        add_restore(client, world, NULL);
    } else if (world < CLIENT_WORLDS_MAX && keep != NULL) {
        add_restore(client, world, keep);
    }
}

static void add_of_snapshot(Client *client, size_t world, uint64_t chance) {
    Keep *keep = pick_keep(client, is_whole);
    if (keep == NULL && chance < 55 && world < CLIENT_WORLDS_MAX) {
        add_take(client, world);
    } else if (chance < 30) {
        add_restores(client, world, keep);
    } else if (chance < 42 || (chance < 61 && keep == NULL)) {
        add_upload(client);
    } else if (chance < 54) {
        add_read(client, keep);
    } else if (chance < 61) {
        add_drop(client, keep);
    } else if (chance < 65 && client->copies.gone != 0) {
        add_drop(client, NULL);
    }
}

void copies_add(Client *client, size_t world) {
    const uint64_t chance = dice_roll(&client->dice, 100);
    if (client->call_count > CALLS_MAX / 2) {
        return;
    }
    if (chance < 65) {
        add_of_snapshot(client, world, chance);
    } else if (chance < 74) {
        Keep *keep = pick_keep(client, is_whole);
        if (keep != NULL || world < CLIENT_WORLDS_MAX) {
            add_clone(client,
                      dice_chance(&client->dice, 60) || world == CLIENT_WORLDS_MAX ? keep : NULL,
                      world);
        }
    } else if (chance < 77) {
        if (world < CLIENT_WORLDS_MAX) {
            add_take(client, world);
        }
    } else if (chance < 85) {
        if (world < CLIENT_WORLDS_MAX) {
            add_scene(client, world);
        }
    } else if (chance < 94) {
        add_world_of_scene(client, world);
    } else if (chance < 97) {
        add_strays(client);
    } else {
        add_end(client);
    }
}

// ---- judging

static void judge_take(Client *client, const Call *call,
                       const Moreau__V1__SnapshotTakeReply *take) {
    ClientWorld *world = &client->world[call->world[0]];
    call_check_state(client, world, take->step, take->hash);
    Keep *keep = free_keep(&client->copies);
    if (keep == NULL) {
        return;
    }
    Model *model = world->model;
    const uint64_t state = state_keep(model->world, model_hash(model), &model->scratch);
    const uint64_t count = state_get(state)->count;
    *keep = (Keep){.is_there = true, .id = take->snapshot, .state = state, .received = count};
    if (take->bytes != count) {
        fail("client %zu: a snapshot of %" PRIu64 " bytes has %" PRIu64, client->number, count,
             take->bytes);
    }
}

static void judge_read(Client *client, const CopyCall *asked,
                       const Moreau__V1__SnapshotReadReply *read) {
    const State *state = state_get(asked->state);
    const uint64_t rest = asked->first < state->count ? state->count - asked->first : 0;
    const uint64_t count = asked->count < rest ? asked->count : rest;
    if (read->total != state->count || read->data.len != count ||
        (count > 0 && memcmp(read->data.data, state->bytes + asked->first, count) != 0)) {
        fail("client %zu: bytes %" PRIu64 " … of a snapshot are not the reference's",
             client->number, asked->first);
    }
    if (count == state->count && count <= HISTORY_SNAPSHOT_BYTES_MAX) {
        HistorySnapshot *kept =
            &client->crowd->history->snapshot[dice_roll(&client->dice, HISTORY_SNAPSHOTS_MAX)];
        kept->count = count;
        memcpy(kept->bytes, read->data.data, count);
    }
}

static void judge_upload(Client *client, const CopyCall *asked, const Moreau__V1__Reply *reply) {
    Keep *keep = &client->copies.keep[asked->slot];
    keep->pending--;
    if (reply->status->code != MOREAU__V1__STATUS__CODE__OK) {
        keep->is_there = false;
        return;
    }
    const Moreau__V1__SnapshotUploadReply *upload = reply->snapshot_upload;
    if (asked->is_damaged || upload->received != asked->first + asked->count ||
        upload->complete != asked->is_last || (asked->id != 0 && upload->snapshot != asked->id)) {
        fail("client %zu: %" PRIu64 " bytes of a snapshot were brought, and the server has %" PRIu64
             "%s%s",
             client->number, asked->first + asked->count, upload->received,
             upload->complete ? ", which are all" : "",
             asked->is_damaged ? ", and does not see that one has changed" : "");
    }
    keep->id = upload->snapshot;
    keep->received = upload->received;
}

static void judge_restore(Client *client, const Call *call,
                          const Moreau__V1__SnapshotRestoreReply *restore) {
    ClientWorld *world = &client->world[call->world[0]];
    if (call->copy.is_gone) {
        fail("client %zu: a snapshot that was dropped is restored", client->number);
    }
    model_apply(world->model, call->change);
    call_check_state(client, world, restore->step, restore->hash);
    call_note_recorded(client, world);
}

static void judge_clone(Client *client, const Call *call,
                        const Moreau__V1__SnapshotCloneReply *clone) {
    uint64_t state = call->copy.state;
    if (state == 0) {
        Model *model = client->world[call->world[0]].model;
        state = state_keep(model->world, model_hash(model), &model->scratch);
    }
    if (clone->n_worlds != call->copy.count) {
        fail("client %zu: %" PRIu64 " clones are %zu", client->number, call->copy.count,
             clone->n_worlds);
    }
    for (size_t i = 0; i < clone->n_worlds; i++) {
        add_stray(&client->copies, clone->worlds[i], state);
    }
}

static void judge_drop(Client *client, const CopyCall *asked) {
    if (asked->is_gone) {
        fail("client %zu: a snapshot that was dropped is dropped again", client->number);
    }
    client->copies.gone = asked->id;
    for (size_t i = 0; i < KEEPS_MAX; i++) {
        Keep *keep = &client->copies.keep[i];
        keep->is_there = keep->is_there && keep->id != asked->id;
        keep->is_going = keep->is_going && keep->is_there;
    }
}

static void judge_scene(Client *client, const Call *call, const Moreau__V1__Scene *scene) {
    Model *model = client->world[call->world[0]].model;
    Copies *copies = &client->copies;
    const ArenaMark mark = arena_mark(&model->scratch);
    const ProtobufCBinaryData is = state_scene_renamed(scene, &model->scratch);
    const ProtobufCBinaryData known = state_scene(model->world, &model->scratch);
    if (is.len == 0 || is.len != known.len || memcmp(is.data, known.data, is.len) != 0) {
        fail("client %zu: the scene of world %" PRIu64 " is not the reference's", client->number,
             client->world[call->world[0]].id);
    }
    if (state_can_be_said(model->world)) {
        free(copies->scene);
        copies->scene = malloc(is.len);
        if (copies->scene == NULL) {
            fail("no memory for a scene");
        }
        memcpy(copies->scene, is.data, is.len);
        copies->scene_count = is.len;
        copies->scene_made = 0;
        copies->scene_of = state_keep(model->world, model_hash(model), &model->scratch);
    }
    arena_reset_to(&model->scratch, mark);
}

static void judge_world_of_scene(Client *client, const CopyCall *asked,
                                 const Moreau__V1__WorldCreateReply *made) {
    if (made->bodies != asked->count || made->n_ids != asked->count) {
        fail("client %zu: a scene of %" PRIu64 " bodies makes a world of %" PRIu64, client->number,
             asked->count, made->bodies);
    }
    add_stray(&client->copies, made->world, asked->state);
}

static void judge_strays(const Client *client, const CopyCall *asked,
                         const Moreau__V1__WorldHashReply *is) {
    for (uint64_t i = 0; i < asked->count; i++) {
        const State *state = state_get(asked->states[i]);
        if (is->n_failures != 0 || is->hash[i] != state->hash || is->step[i] != state->step) {
            fail("client %zu: a world is not what it was made of", client->number);
        }
    }
}

static void judge_end(Copies *copies, uint64_t id) {
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        copies->stray[i].is_there = copies->stray[i].is_there && copies->stray[i].id != id;
    }
}

void copies_judge(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    const CopyCall *asked = &call->copy;
    if (asked->kind == COPY_UPLOAD) {
        judge_upload(client, asked, reply);
        return;
    }
    if (reply->status->code != MOREAU__V1__STATUS__CODE__OK) {
        return; // nothing was done
    }
    switch (asked->kind) {
    case COPY_TAKE:
        judge_take(client, call, reply->snapshot_take);
        break;
    case COPY_READ:
        judge_read(client, asked, reply->snapshot_read);
        break;
    case COPY_RESTORE:
        judge_restore(client, call, reply->snapshot_restore);
        break;
    case COPY_CLONE:
        judge_clone(client, call, reply->snapshot_clone);
        break;
    case COPY_DROP:
        judge_drop(client, asked);
        break;
    case COPY_SCENE:
        judge_scene(client, call, reply->world_scene->scene);
        break;
    case COPY_FROM_SCENE:
        judge_world_of_scene(client, asked, reply->world_create);
        break;
    case COPY_STRAYS:
        judge_strays(client, asked, reply->world_hash);
        break;
    default:
        judge_end(&client->copies, asked->id);
    }
}

bool copies_have_order(const Call *call) {
    return call->copy.kind != COPY_CLONE && !call->copy.is_gone;
}

// Whether it may meet a snapshot that another call of the bunch drops: no world has an order for
// these.
static bool may_be_dropped(const Client *client, const CopyCall *asked) {
    bool may_be = asked->is_gone;
    for (size_t i = 0; i < client->call_count; i++) {
        const Call *other = &client->call[i];
        may_be = may_be || (other->kind == CALL_COPIES && other->copy.kind == COPY_DROP &&
                            &other->copy != asked && other->copy.id == asked->id);
    }
    return may_be;
}

// Behind a part that was stopped the next ones fit no more.
static bool may_have_a_gap(const Client *client, const CopyCall *asked) {
    bool may_have = client->crowd->is_stopping;
    for (size_t i = 0; i < client->call_count; i++) {
        const Call *other = &client->call[i];
        may_have = may_have || (other->kind == CALL_COPIES && other->copy.kind == COPY_UPLOAD &&
                                other->copy.slot == asked->slot && other->may_stop);
    }
    return may_have;
}

bool copies_may_refuse(const Client *client, const Call *call, Moreau__V1__Status__Code code) {
    const CopyCall *asked = &call->copy;
    if (asked->kind == COPY_UPLOAD) {
        return (asked->is_damaged && code == MOREAU__V1__STATUS__CODE__DATA_LOSS) ||
               (asked->is_foreign && (code == MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT ||
                                      code == MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION)) ||
               may_have_a_gap(client, asked);
    }
    const bool is_of_snapshot = asked->kind == COPY_READ || asked->kind == COPY_RESTORE ||
                                asked->kind == COPY_CLONE || asked->kind == COPY_DROP;
    return is_of_snapshot && code == MOREAU__V1__STATUS__CODE__NOT_FOUND &&
           may_be_dropped(client, asked);
}
