// SPDX-License-Identifier: MIT
#include "run/groups/farm.h"

#include "base/array.h"
#include "base/assert.h"
#include "os/clock.h"
#include "run/groups/code.h"
#include "step/snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Farm {
    Host *host;
    Pool *pool, *background;
    bool is_stopped; // as the host is
    FarmGoes *goes;  // Nullable
    void *goes_context;
    OpinionFigures gone; // of groups that are gone
    Slots slots;
    GroupEntry **entry; // listed ones; index is the slot's
    Spaces spaces;      // of those in namespaces
    size_t capacity;
    uint32_t count;
};

// A block takes some 0.1 to 0.3 ms: more than it costs to hand it to a lane, and less than others
// should wait. So many steps of one body, at a microsecond or two, or of so many worlds.
enum { BLOCK_BODY_STEPS = 128, BLOCK_WORLDS_MAX = 64 };

// The memory of a block's worlds is counted after its first calls, when it grows, and then after
// one of so many.
enum { CALLS_PER_COUNT = 64 };
enum { FRESH_IDS = 65536 };

void farm_tell(Farm *farm, FarmGoes *goes, void *context) {
    ASSERT(goes != NULL);
    farm->goes = goes;
    farm->goes_context = context;
}

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                     "Memory ended while making a group: ask for fewer worlds.");
}

// ---- life

Status farm_add(Farm *farm, const char *name, const WorldOwner *owner, uint32_t count,
                double idle_timeout_s, GroupEntry **entry, Error *error) {
    ASSERT(count > 0);
    ASSERT(!(idle_timeout_s < 0.0));
    Status status = host_claim(farm->host, owner, count, error);
    if (status != STATUS_OK) {
        return status;
    }
    GroupEntry *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        host_unclaim(farm->host, owner, count);
        return out_of_memory(error);
    }
    made->farm = farm;
    made->references = 1;
    made->count = count;
    made->is_claimed = true;
    made->session = owner->session;
    made->idle_timeout_s = idle_timeout_s;
    made->owner = *owner;
    snprintf(made->name, sizeof(made->name), "%s", name);
    snprintf(made->client, sizeof(made->client), "%s", owner->client);
    made->owner.client = made->client;
    strand_init(&made->strand);
    *entry = made;
    return STATUS_OK;
}

static void on_found(void *context, uint64_t recorded_call, const OpinionFound *found,
                     size_t count) {
    const GroupEntry *entry = context;
    if (entry->recorder != NULL) {
        group_recorder_judge(entry->recorder, recorded_call, found, count);
    }
}

static void retain_entry(void *entry) {
    farm_retain(entry);
}

static void release_entry(void *entry) {
    farm_release(entry);
}

static void count_kept(void *context, size_t before, size_t after) {
    const GroupEntry *entry = context;
    host_charge_bytes(entry->farm->host, entry->owner.use, before, after);
}

static Status open_opinions(GroupEntry *entry, Error *error) {
    const OpinionsDef def = {.group = entry->group,
                             .background = entry->farm->background,
                             .share = entry->session,
                             .found = on_found,
                             .retain = retain_entry,
                             .release = release_entry,
                             .count_bytes = count_kept,
                             .context = entry};
    entry->opinions = opinions_create(&def);
    return entry->opinions != NULL ? STATUS_OK : out_of_memory(error);
}

// As many as suit the template.
static uint32_t suiting_worlds(const Group *group) {
    const uint32_t bodies = group->template->body_count;
    const uint64_t body_steps = (uint64_t)(bodies == 0 ? 1 : bodies) * group->substeps;
    const uint32_t worlds = (uint32_t)(BLOCK_BODY_STEPS / body_steps);
    return worlds < 1 ? 1 : worlds > BLOCK_WORLDS_MAX ? BLOCK_WORLDS_MAX : worlds;
}

Status farm_set_group(GroupEntry *entry, Group *group, uint32_t block_worlds, Error *error) {
    ASSERT(group != NULL && group->count == entry->count);
    ASSERT(entry->group == NULL);
    entry->group = group;
    entry->bodies = group->template->body_count;
    const uint32_t worlds = block_worlds > 0 ? block_worlds : suiting_worlds(group);
    entry->block_count = (group->count + worlds - 1) / worlds;
    entry->block = calloc(entry->block_count, sizeof(GroupBlock));
    if (entry->block == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < entry->block_count; i++) {
        GroupBlock *block = &entry->block[i];
        strand_init(&block->strand);
        block->entry = entry;
        block->first = i * worlds;
        block->count = group->count - block->first < worlds ? group->count - block->first : worlds;
    }
    entry->own_bytes =
        sizeof(*entry) + entry->block_count * sizeof(GroupBlock) + group_own_bytes(group);
    host_charge_bytes(entry->farm->host, entry->owner.use, 0, entry->own_bytes);
    return group->opinion.share > 0.0 ? open_opinions(entry, error) : STATUS_OK;
}

Status farm_keep_code(GroupEntry *entry, const GroupDef *def, Error *error) {
    ASSERT(entry->group != NULL && entry->code == NULL);
    const World *template = entry->group->template;
    Arena arena; // of a save, which leaves the server: with all geometries
    arena_init(&arena, template->limits.bytes_max);
    uint8_t *snapshot;
    InputBytes whole;
    Status status = snapshot_write(template, &arena, &snapshot, &whole.count, error);
    whole.bytes = snapshot;
    const size_t bytes = status != STATUS_OK
                             ? 0
                             : group_code_write(def, entry->group, GROUP_HASH_STEPS, &whole, NULL);
    entry->code = status != STATUS_OK ? NULL : malloc(bytes);
    if (entry->code != NULL) {
        group_code_write(def, entry->group, GROUP_HASH_STEPS, &whole, entry->code);
    }
    arena_deinit(&arena);
    if (entry->code == NULL) {
        return status != STATUS_OK ? status : out_of_memory(error);
    }
    entry->code_bytes = bytes;
    entry->own_bytes += bytes;
    host_charge_bytes(entry->farm->host, entry->owner.use, 0, bytes);
    return STATUS_OK;
}

Status farm_record(GroupEntry *entry, Log *log, GroupRecorderDef *def, Error *error) {
    ASSERT(entry->block_count > 0);
    ASSERT(entry->group != NULL && entry->recorder == NULL);
    def->range = entry->block[0].count;
    Status status = group_recorder_start(log, def, entry->group, NULL, &entry->recorder, error);
    if (status == STATUS_OK) {
        const size_t bytes = group_recorder_bytes(entry->recorder);
        entry->end_state = RECORDING_WORLD_DESTROYED;
        entry->own_bytes += bytes;
        host_charge_bytes(entry->farm->host, entry->owner.use, 0, bytes);
    }
    return status;
}

Status farm_list(GroupEntry *entry, Error *error) {
    Farm *farm = entry->farm;
    ASSERT(entry->id == 0 && entry->group != NULL);
    if (!slots_reserve(&farm->slots, 1) ||
        !ARRAY_RESERVE(farm->entry, farm->capacity, (size_t)farm->count + 1) ||
        (entry->owner.space != SPACE_ALL && !spaces_reserve(&farm->spaces, entry->owner.space))) {
        return out_of_memory(error);
    }
    entry->id = slots_add(&farm->slots, farm->count);
    farm->entry[farm->count++] = entry;
    if (entry->owner.space != SPACE_ALL) {
        entry->space_index = spaces_add(&farm->spaces, entry->owner.space, entry);
    }
    entry->references++;
    entry->named_ns = clock_now_ns();
    if (entry->recorder != NULL) {
        host_watch_guest(farm->host);
    }
    if (entry->idle_timeout_s > 0.0) {
        host_watch_idle(farm->host);
    }
    return STATUS_OK;
}

// ---- recorded groups

static JobOutcome flush_on_lane(Job *job, Lane *lane) {
    (void)lane;
    const GroupBlock *block = (GroupBlock *)(void *)((char *)job - offsetof(GroupBlock, flush_job));
    group_recorder_flush_range(block->entry->recorder, (uint32_t)(block - block->entry->block));
    return JOB_DONE;
}

static void on_flushed(Job *job) {
    GroupBlock *block = (GroupBlock *)(void *)((char *)job - offsetof(GroupBlock, flush_job));
    block->is_flushing = false;
    farm_release(block->entry);
}

static void flush(GroupEntry *entry) {
    group_recorder_flush(entry->recorder);
    for (uint32_t i = 0; i < entry->block_count; i++) {
        GroupBlock *block = &entry->block[i];
        if (!block->is_flushing && group_recorder_has_open_chunk(entry->recorder, i)) {
            block->is_flushing = true;
            block->flush_job = (Job){.work = flush_on_lane, .done = on_flushed};
            farm_retain(entry);
            pool_submit(entry->farm->pool, &block->strand, entry->session, &block->flush_job);
        }
    }
}

static bool flush_all(void *context) {
    Farm *farm = context;
    bool some = false;
    for (uint32_t i = 0; i < farm->count; i++) {
        if (farm->entry[i]->recorder != NULL) {
            flush(farm->entry[i]);
            some = true;
        }
    }
    return some;
}

Status farm_open_mail(GroupEntry *entry, Error *error) {
    ASSERT(entry->group != NULL);
    Host *host = entry->farm->host;
    const uint64_t used = host_bytes(host), budget = host_limits(host)->bytes_max;
    if (entry->mail == NULL) {
        entry->mail = group_mail_create(entry->group, used < budget ? (size_t)(budget - used) : 0);
        if (entry->mail == NULL) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, "group",
                             "The memory budget (option --memory-bytes-max) has no room for what "
                             "%u worlds send back.",
                             entry->count);
        }
        const size_t bytes = entry->mail->memory.total_bytes;
        host_charge_bytes(host, entry->owner.use, 0, bytes);
        entry->own_bytes += bytes;
    }
    return STATUS_OK;
}

static void free_entry(GroupEntry *entry) {
    Host *host = entry->farm->host;
    const uint64_t blocks = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
    host_charge_bytes(host, entry->owner.use, entry->own_bytes + (size_t)blocks, 0);
    free(entry->code);
    free(entry->block);
    free(entry);
}

// As long as its session is there.
static void unclaim(GroupEntry *entry) {
    if (entry->is_claimed) {
        entry->is_claimed = false;
        host_unclaim(entry->farm->host, &entry->owner, entry->count);
    }
}

static void destroy_content(GroupEntry *entry) {
    group_mail_destroy(entry->mail);
    opinions_destroy(entry->opinions);
    if (entry->recorder != NULL) {
        group_recorder_stop(entry->recorder, entry->end_state, entry->end_wait);
    }
    group_destroy(entry->group);
    entry->group = NULL;
}

static JobOutcome destroy_on_lane(Job *job, Lane *lane) {
    (void)lane;
    GroupEntry *entry = (GroupEntry *)(void *)((char *)job - offsetof(GroupEntry, destroy_job));
    destroy_content(entry);
    return JOB_DONE;
}

static void on_destroyed(Job *job) {
    free_entry((GroupEntry *)(void *)((char *)job - offsetof(GroupEntry, destroy_job)));
}

static void add_figures(OpinionFigures *all, const Opinions *opinions) {
    if (opinions != NULL) {
        const OpinionFigures of = opinions_figures(opinions);
        all->given += of.given;
        all->open += of.open;
        all->waiting += of.waiting;
    }
}

// What it has found stays counted.
static void count_gone(const GroupEntry *entry) {
    add_figures(&entry->farm->gone, entry->opinions);
}

Strand *farm_strand(const GroupEntry *entry, uint32_t i) {
    ASSERT(entry->block_count > 0);
    ASSERT(i < entry->count);
    return &entry->block[i / entry->block[0].count].strand;
}

void farm_retain(GroupEntry *entry) {
    ASSERT(entry->references > 0);
    entry->references++;
}

void farm_release(GroupEntry *entry) {
    ASSERT(entry->references > 0);
    if (--entry->references > 0) {
        return;
    }
    ASSERT(entry->id == 0);
    unclaim(entry);
    count_gone(entry);
    if (entry->farm->is_stopped) { // no lane takes anything any more
        destroy_content(entry);
        free_entry(entry);
        return;
    }
    // thousands of worlds are given back on a long lane
    strand_init_long(&entry->strand);
    entry->destroy_job = (Job){.work = destroy_on_lane, .done = on_destroyed};
    pool_submit(entry->farm->pool, &entry->strand, entry->session, &entry->destroy_job);
}

static void take_out_of_space(Farm *farm, const GroupEntry *entry) {
    const uint32_t space = entry->owner.space;
    GroupEntry *moved =
        space == SPACE_ALL ? NULL : spaces_remove(&farm->spaces, space, entry->space_index);
    if (moved != NULL) {
        moved->space_index = entry->space_index;
    }
}

static void unlist(GroupEntry *entry) {
    Farm *farm = entry->farm;
    uint32_t index = 0;
    bool found = slots_find(&farm->slots, entry->id, &index);
    ASSERT(found);
    slots_remove(&farm->slots, entry->id);
    take_out_of_space(farm, entry);
    farm->count--;
    if (index != farm->count) {
        farm->entry[index] = farm->entry[farm->count];
        slots_move(&farm->slots, farm->entry[index]->id, index);
    }
    entry->id = 0;
    unclaim(entry);
    if (entry->opinions != NULL && entry->recorder == NULL) {
        opinions_abandon(entry->opinions);
    }
}

static void destroy_for(GroupEntry *entry, const char *why) {
    const Farm *farm = entry->farm;
    if (farm->goes != NULL) {
        farm->goes(entry, why, farm->goes_context);
    }
    unlist(entry);
    farm_release(entry);
}

void farm_destroy(GroupEntry *entry) {
    ASSERT(entry->references > 0);
    destroy_for(entry, "it was destroyed");
}

void farm_destroy_session(Farm *farm, uint64_t session) {
    for (uint32_t i = farm->count; i > 0; i--) {
        if (farm->entry[i - 1]->session == session) {
            destroy_for(farm->entry[i - 1], "the session of its client is over");
        }
    }
}

static void stop(void *context) {
    Farm *farm = context;
    farm->is_stopped = true;
    for (uint32_t i = 0; i < farm->count; i++) {
        if (farm->entry[i]->opinions != NULL) {
            opinions_abandon(farm->entry[i]->opinions);
        }
    }
}

bool farm_look_for_idle(void *context, uint64_t now_ns) {
    Farm *farm = context;
    bool some = false;
    for (uint32_t i = farm->count; i > 0; i--) {
        GroupEntry *entry = farm->entry[i - 1];
        const double idle_s = (double)(now_ns - entry->named_ns) * 1e-9;
        if (entry->idle_timeout_s <= 0.0) {
            continue;
        }
        // a reference beside the registry's is a call under way
        if (entry->references == 1 && idle_s > entry->idle_timeout_s) {
            host_tell_idle(farm->host, "group", entry->id, entry->name);
            destroy_for(entry, "no call came for as long as its idle_timeout_s says");
        } else {
            some = true;
        }
    }
    return some;
}

static void destroy_all(void *context) {
    Farm *farm = context;
    for (uint32_t i = 0; i < farm->count; i++) {
        GroupEntry *entry = farm->entry[i];
        ASSERT(entry->references == 1); // the registry's: no call is under way
        destroy_content(entry);
        free(entry->code);
        free(entry->block);
        free(entry);
    }
    slots_deinit(&farm->slots);
    spaces_deinit(&farm->spaces);
    free(farm->entry);
    free(farm);
}

Farm *farm_create(Host *host, Pool *pool, Pool *background) {
    Farm *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->host = host;
        made->pool = pool;
        made->background = background;
        slots_init(&made->slots);
        made->slots.reuse_from = FRESH_IDS; // before that, groups count 1, 2, 3 …
        host_take_in(host, &(HostGuest){.context = made,
                                        .look_for_idle = farm_look_for_idle,
                                        .flush = flush_all,
                                        .stop = stop,
                                        .destroy = destroy_all});
    }
    return made;
}

// ---- what there is

GroupEntry *farm_find(Farm *farm, Id id, uint32_t view) {
    uint32_t index;
    if (!slots_find(&farm->slots, id, &index) ||
        !space_is_seen(farm->entry[index]->owner.space, view)) {
        return NULL;
    }
    GroupEntry *entry = farm->entry[index];
    if (entry->idle_timeout_s > 0.0) {
        entry->named_ns = clock_now_ns();
    }
    return entry;
}

uint32_t farm_count(const Farm *farm, uint32_t view) {
    return view == SPACE_ALL ? farm->count : spaces_count(&farm->spaces, view);
}

OpinionFigures farm_opinions(const Farm *farm) {
    OpinionFigures all = farm->gone;
    for (uint32_t i = 0; i < farm->count; i++) {
        add_figures(&all, farm->entry[i]->opinions);
    }
    return all;
}

GroupEntry *farm_at(const Farm *farm, uint32_t index, uint32_t view) {
    if (view != SPACE_ALL) {
        return spaces_at(&farm->spaces, view, index);
    }
    return index < farm->count ? farm->entry[index] : NULL;
}

// What is left of the budget may be taken by the steps of these worlds.
static void limit_steps(const GroupEntry *entry, const GroupBlock *block) {
    const Host *host = entry->farm->host;
    const uint64_t used = host_bytes(host), budget = host_limits(host)->bytes_max;
    const uint64_t own = use_bytes_left(entry->owner.use), all = used < budget ? budget - used : 0;
    const size_t left = (size_t)(own < all ? own : all);
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        if (entry->group->world[i].stepper != NULL) {
            stepper_limit(entry->group->world[i].stepper, left);
        }
    }
}

void farm_count_block(GroupEntry *entry, GroupBlock *block, bool is_due) {
    ASSERT(block->first + block->count <= entry->count);
    const uint32_t calls = ++block->calls;
    const bool is_early = calls < CALLS_PER_COUNT && (calls & (calls - 1)) == 0;
    if (!is_due && !is_early && calls % CALLS_PER_COUNT != 0) {
        return;
    }
    const size_t bytes = group_bytes(entry->group, block->first, block->count);
    if (bytes != block->bytes) {
        host_charge_bytes(entry->farm->host, entry->owner.use, block->bytes, bytes);
        atomic_fetch_add_explicit(&entry->bytes, (uint64_t)bytes - block->bytes,
                                  memory_order_relaxed);
        block->bytes = bytes;
    }
    limit_steps(entry, block);
}
