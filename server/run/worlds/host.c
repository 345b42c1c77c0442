// SPDX-License-Identifier: MIT
#include "run/worlds/host.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/cache.h"
#include "os/clock.h"
#include "run/worlds/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Host {
    HostDef def;
    Slots slots;
    WorldEntry **entry; // owned entries that have an id; index is the slot's
    size_t capacity;
    uint32_t count;
    uint32_t claimed_count; // worlds of groups
    HostGuest guest;        // its context NULL: none
    uint64_t named_count;   // worlds ever created: makes default names
    uint32_t row_readers;   // HostRows …
    WorldEntry *gone;       // … and the entries that wait for them to be freed

    Names names;   // of those that have an id
    Spaces spaces; // of those in namespaces

    _Atomic uint64_t bytes;
    _Atomic uint64_t faulted_count;
    uv_timer_t idle_timer;  // runs only while some world has an idle timeout
    uv_timer_t flush_timer; // runs only while some world is recorded
    uv_timer_t trim_timer;  // runs only while memory is spare
    Stock stock;
    uint32_t open_timers;
    bool is_stopped; // host_stop
    void (*closed)(void *context);
    void *closed_context;
};

enum { IDLE_LOOK_MS = 500 };
enum { FLUSH_LOOK_MS = 1000 };
enum { TRIM_LOOK_MS = 1000 };

// Of the memory budget, what is spare takes at most one part in so many; and no more than this: the
// results of a batch of every world that a server may have are 110 MB.
enum { SPARE_MEMORY_SHARE = 16, SPARE_BYTES_MAX = 1 << 27 };
enum { FRESH_IDS = 65536 };

Status host_create(Host **host, const HostDef *def, Error *error) {
    Host *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    made->def = *def;
    slots_init(&made->slots);
    made->slots.reuse_from = FRESH_IDS; // before that, worlds count 1, 2, 3 …
    uv_timer_init(def->loop, &made->idle_timer);
    uv_unref((uv_handle_t *)&made->idle_timer);
    made->idle_timer.data = made;
    uv_timer_init(def->loop, &made->flush_timer);
    uv_unref((uv_handle_t *)&made->flush_timer);
    made->flush_timer.data = made;
    uv_timer_init(def->loop, &made->trim_timer);
    uv_unref((uv_handle_t *)&made->trim_timer);
    made->trim_timer.data = made;
    made->open_timers = 3;
    size_t spare = def->limits.bytes_max / SPARE_MEMORY_SHARE;
    stock_init(&made->stock, spare < SPARE_BYTES_MAX ? spare : SPARE_BYTES_MAX);
    *host = made;
    return STATUS_OK;
}

static void on_timer_closed(uv_handle_t *handle) {
    Host *host = handle->data;
    if (--host->open_timers > 0) {
        return;
    }
    void (*closed)(void *) = host->closed;
    void *context = host->closed_context;
    stock_deinit(&host->stock);
    slots_deinit(&host->slots);
    free(host->entry);
    names_deinit(&host->names);
    spaces_deinit(&host->spaces);
    free(host);
    closed(context);
}

void host_take_in(Host *host, const HostGuest *guest) {
    ASSERT(guest->stop != NULL);
    ASSERT(host->guest.context == NULL && guest->context != NULL);
    host->guest = *guest;
}

void host_stop(Host *host) {
    ASSERT(!host->is_stopped);
    host->is_stopped = true;
    if (host->guest.context != NULL) {
        host->guest.stop(host->guest.context);
    }
    uv_timer_stop(&host->idle_timer);
    uv_timer_stop(&host->flush_timer);
}

void host_close(Host *host, void (*closed)(void *context), void *context) {
    ASSERT(host->is_stopped);
    ASSERT(host->closed == NULL);
    for (uint32_t i = 0; i < host->count; i++) {
        ASSERT(host->entry[i]->references == 1); // the registry's: no call and no flush
        door_deinit(&host->entry[i]->door);
        free(host->entry[i]);
    }
    host->count = 0;
    if (host->guest.context != NULL) {
        host->guest.destroy(host->guest.context);
    }
    host->closed = closed;
    host->closed_context = context;
    uv_close((uv_handle_t *)&host->idle_timer, on_timer_closed);
    uv_close((uv_handle_t *)&host->flush_timer, on_timer_closed);
    uv_close((uv_handle_t *)&host->trim_timer, on_timer_closed);
}

WorldEntry *host_find_name(Host *host, const char *name, uint32_t space) {
    ASSERT(name != NULL);
    return names_find(&host->names, name, space);
}

// ---- idle worlds

void host_tell_idle(const Host *host, const char *what, Id id, const char *name) {
    char event[32];
    snprintf(event, sizeof(event), "%s_idle", what);
    report_line(host->def.report, REPORT_INFO, event, "%s=%" PRIu64 " name=%s", what, id, name);
}

static void look_for_idle(uv_timer_t *timer) {
    Host *host = timer->data;
    ASSERT(!host->is_stopped);
    uint64_t now_ns = clock_now_ns();
    bool some =
        host->guest.context != NULL && host->guest.look_for_idle(host->guest.context, now_ns);
    for (uint32_t i = host->count; i > 0; i--) {
        WorldEntry *entry = host->entry[i - 1];
        if (entry->idle_timeout_s <= 0.0) {
            continue;
        }
        // a reference beside the registry's is a call under way
        if (entry->references == 1 &&
            (double)(now_ns - entry->named_ns) * 1e-9 > entry->idle_timeout_s) {
            host_tell_idle(host, "world", entry->id, entry->name);
            host_destroy(entry);
        } else {
            some = true;
        }
    }
    if (!some) {
        uv_timer_stop(timer);
    }
}

void host_watch_idle(Host *host) {
    if (!uv_is_active((uv_handle_t *)&host->idle_timer)) {
        uv_timer_start(&host->idle_timer, look_for_idle, IDLE_LOOK_MS, IDLE_LOOK_MS);
        uv_unref((uv_handle_t *)&host->idle_timer);
    }
}

// ---- recorded worlds

static JobOutcome flush_on_lane(Job *job, Lane *lane) {
    (void)lane;
    WorldEntry *entry = (WorldEntry *)(void *)((char *)job - offsetof(WorldEntry, flush_job));
    if (entry->door.recorder != NULL) {
        recorder_flush(entry->door.recorder);
    }
    host_publish(entry);
    return JOB_DONE;
}

static void on_flushed(Job *job) {
    WorldEntry *entry = (WorldEntry *)(void *)((char *)job - offsetof(WorldEntry, flush_job));
    ASSERT(entry->flushing);
    entry->flushing = false;
    entry->watched = atomic_load_explicit(&entry->figures.recording, memory_order_relaxed);
    host_release(entry);
}

static void flush_recorders(uv_timer_t *timer) {
    Host *host = timer->data;
    ASSERT(!host->is_stopped);
    bool some = host->guest.context != NULL && host->guest.flush(host->guest.context);
    for (uint32_t i = 0; i < host->count; i++) {
        WorldEntry *entry = host->entry[i];
        if (!entry->watched) {
            continue;
        }
        some = true;
        // a world whose recorder has nothing to hand over, and that goes on being recorded, is
        // left alone
        bool idle = atomic_load_explicit(&entry->figures.recording, memory_order_relaxed) &&
                    !atomic_load_explicit(&entry->figures.unwritten, memory_order_relaxed);
        if (!entry->flushing && !idle) {
            entry->flushing = true;
            entry->flush_job = (Job){.work = flush_on_lane, .done = on_flushed};
            host_retain(entry);
            pool_submit(host->def.pool, &entry->strand, entry->session, &entry->flush_job);
        }
    }
    if (!some) {
        uv_timer_stop(timer);
    }
}

static void start_flushing(Host *host) {
    if (!uv_is_active((uv_handle_t *)&host->flush_timer)) {
        uv_timer_start(&host->flush_timer, flush_recorders, FLUSH_LOOK_MS, FLUSH_LOOK_MS);
        uv_unref((uv_handle_t *)&host->flush_timer);
    }
}

void host_watch(WorldEntry *entry) {
    ASSERT(!entry->host->is_stopped);
    entry->watched = true;
    start_flushing(entry->host);
}

void host_watch_guest(Host *host) {
    if (!host->is_stopped) {
        start_flushing(host);
    }
}

// ---- entries

Status host_check_room(const Host *host, const WorldOwner *owner, uint32_t count, Error *error) {
    ASSERT((owner->session != 0) == (owner->world_count != NULL));
    const uint64_t worlds = (uint64_t)host->count + host->claimed_count;
    if (worlds + count > host->def.worlds_max) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "The server holds at most %u worlds (option --worlds-max).",
                         host->def.worlds_max);
    }
    uint32_t session_max = host->def.session_worlds_max;
    if (owner->world_count != NULL &&
        (*owner->world_count > session_max || count > session_max - *owner->world_count)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "A session holds at most %u worlds (option --session-worlds-max).",
                         session_max);
    }
    const Status status = use_check_worlds(owner->use, count, error);
    return STATUS_THEN(
        status,
        host_check_charge(host, owner->use,
                          count * (sizeof(WorldEntry) + sizeof(World) + sizeof(Stepper)), error));
}

static void count_worlds(const WorldOwner *owner, uint32_t count) {
    if (owner->use != NULL) {
        owner->use->worlds += count;
    }
}

Status host_claim(Host *host, const WorldOwner *owner, uint32_t count, Error *error) {
    ASSERT(!host->is_stopped);
    Status status = host_check_room(host, owner, count, error);
    if (status == STATUS_OK) {
        host->claimed_count += count;
        count_worlds(owner, count);
        if (owner->world_count != NULL) {
            *owner->world_count += count;
        }
    }
    return status;
}

void host_unclaim(Host *host, const WorldOwner *owner, uint32_t count) {
    ASSERT(host->claimed_count >= count);
    host->claimed_count -= count;
    if (owner->use != NULL) {
        owner->use->worlds -= count;
    }
    if (owner->world_count != NULL) {
        *owner->world_count -= count;
    }
}

uint32_t host_claimed(const Host *host) {
    return host->claimed_count;
}

// The name given, or the next world-N that is free.
static Status choose_name(Host *host, const char *name, uint32_t space,
                          char chosen[HOST_NAME_BYTES], Error *error) {
    host->named_count++;
    if (name != NULL && name[0] != '\0') {
        snprintf(chosen, HOST_NAME_BYTES, "%s", name);
        return host_find_name(host, chosen, space) == NULL
                   ? STATUS_OK
                   : error_set(error, STATUS_ALREADY_EXISTS, "name",
                               "A world named %s exists already.", chosen);
    }
    do {
        snprintf(chosen, HOST_NAME_BYTES, "world-%" PRIu64, host->named_count);
    } while (host_find_name(host, chosen, space) != NULL && ++host->named_count);
    return STATUS_OK;
}

// The texts in the entry's own memory, as most are much shorter than they may be.
static WorldEntry *make_entry(const char *name, const char *client) {
    size_t name_bytes = strlen(name) + 1, client_bytes = strnlen(client, HOST_NAME_BYTES - 1);
    size_t bytes = sizeof(WorldEntry) + name_bytes + client_bytes + 1;
    WorldEntry *made = calloc(1, bytes);
    if (made != NULL) {
        made->own_bytes = bytes;
        made->name = memcpy(made->text, name, name_bytes);
        made->client = memcpy(made->text + name_bytes, client, client_bytes);
    }
    return made;
}

Status host_add(Host *host, const char *name, const WorldOwner *owner, double idle_timeout_s,
                WorldEntry **entry, Error *error) {
    ASSERT(!host->is_stopped);
    ASSERT(idle_timeout_s >= 0.0);
    Status status = host_check_room(host, owner, 1, error);
    if (status != STATUS_OK) {
        return status;
    }
    char chosen[HOST_NAME_BYTES];
    status = choose_name(host, name, owner->space, chosen, error);
    if (status != STATUS_OK) {
        return status;
    }
    WorldEntry *made = make_entry(chosen, owner->client);
    if (made == NULL || !names_reserve(&host->names) || !slots_reserve(&host->slots, 1) ||
        !ARRAY_RESERVE(host->entry, host->capacity, (size_t)host->count + 1) ||
        (owner->space != SPACE_ALL && !spaces_reserve(&host->spaces, owner->space))) {
        free(made);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while creating a world.");
    }
    status = door_init(&made->door, &host->def.limits, error);
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    made->host = host;
    made->space = owner->space;
    made->use = owner->use;
    count_worlds(owner, 1);
    made->session = owner->session;
    made->session_count = owner->world_count;
    if (made->session_count != NULL) {
        (*made->session_count)++;
    }
    made->idle_timeout_s = idle_timeout_s;
    made->named_ns = clock_now_ns();
    made->references = 2; // the registry's and the caller's
    made->changes_under_way = 1;
    strand_init(&made->strand);
    made->id = slots_add(&host->slots, host->count);
    names_add(&host->names, made);
    if (made->space != SPACE_ALL) {
        made->space_index = spaces_add(&host->spaces, made->space, made);
    }
    host->entry[host->count++] = made;
    if (idle_timeout_s > 0.0) {
        host_watch_idle(host);
    }
    host_publish(made);
    *entry = made;
    return STATUS_OK;
}

void host_prefetch(const Host *host, Id id) {
    uint32_t index;
    if (slots_find(&host->slots, id, &index)) {
        const char *entry = (const char *)host->entry[index];
        for (size_t at = 0; at < offsetof(WorldEntry, limited_own); at += CACHE_LINE_BYTES) {
            __builtin_prefetch(entry + at, 1);
        }
    }
}

WorldEntry *host_find(Host *host, Id id, uint32_t view) {
    uint32_t index;
    if (!slots_find(&host->slots, id, &index) || !space_is_seen(host->entry[index]->space, view)) {
        return NULL;
    }
    WorldEntry *entry = host->entry[index];
    if (entry->idle_timeout_s > 0.0) {
        entry->named_ns = clock_now_ns();
    }
    return entry;
}

void host_retain(WorldEntry *entry) {
    ASSERT(entry->references > 0);
    entry->references++;
}

void host_release(WorldEntry *entry) {
    ASSERT(entry->references > 0);
    if (--entry->references > 0) {
        return;
    }
    ASSERT(entry->door.world == NULL); // destroyed on a lane, or never made
    Host *host = entry->host;
    if (host->row_readers == 0) {
        free(entry);
    } else {
        entry->next_gone = host->gone;
        host->gone = entry;
    }
}

void host_begin_change(WorldEntry *entry) {
    ASSERT(entry->changes_under_way < UINT32_MAX);
    entry->changes_under_way++;
}

void host_end_change(WorldEntry *entry) {
    ASSERT(entry->changes_under_way > 0);
    entry->changes_under_way--;
}

bool host_is_changing(const WorldEntry *entry) {
    return entry->changes_under_way > 0;
}

// More memory than this is given back on a long lane: the machine takes some 0.1 ms for each MiB.
enum { LONG_BYTES = 16 << 20 };

static JobOutcome destroy_on_lane(Job *job, Lane *lane) {
    WorldEntry *entry = (WorldEntry *)(void *)((char *)job - offsetof(WorldEntry, destroy_job));
    if (!lane->is_long && door_bytes(&entry->door) > LONG_BYTES) {
        return JOB_LONG;
    }
    door_deinit(&entry->door);
    host_publish(entry);
    return JOB_DONE;
}

static void on_destroyed(Job *job) {
    WorldEntry *entry = (WorldEntry *)(void *)((char *)job - offsetof(WorldEntry, destroy_job));
    host_release(entry);
}

static void take_out_of_space(Host *host, const WorldEntry *entry) {
    WorldEntry *moved = entry->space == SPACE_ALL
                            ? NULL
                            : spaces_remove(&host->spaces, entry->space, entry->space_index);
    if (moved != NULL) {
        moved->space_index = entry->space_index;
    }
}

void host_destroy(WorldEntry *entry) {
    Host *host = entry->host;
    ASSERT(!host->is_stopped);
    ASSERT(entry->references > 0);
    uint32_t index;
    if (!slots_find(&host->slots, entry->id, &index)) {
        return; // on its way already
    }
    slots_remove(&host->slots, entry->id);
    names_remove(&host->names, entry);
    take_out_of_space(host, entry);
    // the last one takes its place
    host->count--;
    if (index != host->count) {
        host->entry[index] = host->entry[host->count];
        slots_move(&host->slots, host->entry[index]->id, index);
    }
    if (entry->session_count != NULL) {
        (*entry->session_count)--;
    }
    if (entry->use != NULL) {
        entry->use->worlds--;
    }
    entry->destroy_job = (Job){.work = destroy_on_lane, .done = on_destroyed};
    pool_submit(host->def.pool, &entry->strand, entry->session, &entry->destroy_job);
}

bool host_destroy_session(Host *host, uint64_t session, uint32_t count_max) {
    uint32_t count = 0;
    for (uint32_t i = host->count; i > 0; i--) {
        if (host->entry[i - 1]->session == session) {
            if (count++ == count_max) {
                return false;
            }
            host_destroy(host->entry[i - 1]);
        }
    }
    return true;
}

uint32_t host_count(const Host *host, uint32_t view) {
    return view == SPACE_ALL ? host->count : spaces_count(&host->spaces, view);
}

WorldEntry *host_at(const Host *host, uint32_t index, uint32_t view) {
    if (view != SPACE_ALL) {
        return spaces_at(&host->spaces, view, index);
    }
    return index < host->count ? host->entry[index] : NULL;
}

Status host_rows_begin(Host *host, uint32_t view, uint64_t first, uint64_t count, Arena *arena,
                       HostRows *rows, Error *error) {
    ASSERT(first <= host_count(host, view) && count <= host_count(host, view) - first);
    WorldEntry **entry = arena_take_array(arena, count, sizeof(*entry));
    if (entry == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                         "Memory ended while listing %llu worlds.", (unsigned long long)count);
    }
    for (uint64_t i = 0; i < count; i++) {
        entry[i] = host_at(host, (uint32_t)(first + i), view);
    }
    host->row_readers++;
    *rows = (HostRows){.entry = entry, .count = count};
    return STATUS_OK;
}

void host_rows_end(Host *host, HostRows *rows) {
    ASSERT(host->row_readers > 0);
    *rows = (HostRows){0};
    host->row_readers--;
    while (host->row_readers == 0 && host->gone != NULL) {
        WorldEntry *entry = host->gone;
        host->gone = entry->next_gone;
        free(entry);
    }
}

WorldEntry *host_find_episode(Host *host, const uint8_t episode_uid[UID_BYTES], uint32_t view) {
    uint64_t uid[2];
    memcpy(uid, episode_uid, sizeof(uid));
    for (uint32_t i = 0; i < host->count; i++) {
        const _Atomic uint64_t *recorded = host->entry[i]->figures.episode;
        if (atomic_load_explicit(&recorded[0], memory_order_relaxed) == uid[0] &&
            atomic_load_explicit(&recorded[1], memory_order_relaxed) == uid[1]) {
            return space_is_seen(host->entry[i]->space, view) ? host->entry[i] : NULL;
        }
    }
    return NULL;
}

const WorldLimits *host_limits(const Host *host) {
    return &host->def.limits;
}

HostFigures host_figures(const Host *host, uint32_t view) {
    HostFigures sum = {0};
    const WorldEntry *entry;
    for (uint32_t i = 0; (entry = host_at(host, i, view)) != NULL; i++) {
        const WorldFigures *figures = &entry->figures;
        sum.bodies += atomic_load_explicit(&figures->bodies, memory_order_relaxed);
        sum.contacts += atomic_load_explicit(&figures->contacts, memory_order_relaxed);
        sum.bytes += atomic_load_explicit(&figures->bytes, memory_order_relaxed);
        sum.faulted += atomic_load_explicit(&figures->faulted, memory_order_relaxed);
    }
    return sum;
}

uint64_t host_bytes(const Host *host) {
    return atomic_load_explicit(&host->bytes, memory_order_relaxed);
}

void host_count_bytes(Host *host, size_t before, size_t after) {
    atomic_fetch_add_explicit(&host->bytes, (uint64_t)after - before, memory_order_relaxed);
}

void host_charge_bytes(Host *host, Use *use, size_t before, size_t after) {
    host_count_bytes(host, before, after);
    use_count_bytes(use, before, after);
}

Status host_check_charge(const Host *host, Use *use, size_t more_bytes, Error *error) {
    const Status status = host_check_memory(host, more_bytes, error);
    return STATUS_THEN(status, use_check_bytes(use, more_bytes, error));
}

// ---- memory for large pieces of work

static void trim_stock(uv_timer_t *timer) {
    Host *host = timer->data;
    size_t before = host->stock.bytes;
    if (!stock_trim(&host->stock)) {
        uv_timer_stop(timer);
    }
    host_count_bytes(host, before, host->stock.bytes);
}

void host_lend(Host *host, StockArena *lent) {
    stock_lend(&host->stock, host->def.limits.bytes_max, lent);
}

void host_return(Host *host, StockArena *lent) {
    size_t before = host->stock.bytes;
    stock_return(&host->stock, lent);
    if (host->stock.bytes != before) {
        host_count_bytes(host, before, host->stock.bytes);
    }
    if (host->stock.count > 0 && !uv_is_active((uv_handle_t *)&host->trim_timer)) {
        uv_timer_start(&host->trim_timer, trim_stock, TRIM_LOOK_MS, TRIM_LOOK_MS);
        uv_unref((uv_handle_t *)&host->trim_timer);
    }
}

uint64_t host_faulted_count(const Host *host) {
    return atomic_load_explicit(&host->faulted_count, memory_order_relaxed);
}

// Only the lane that has the world writes its figures, so changes of them need no atomic exchange.
static void publish_bytes(WorldEntry *entry, uint64_t bytes) {
    uint64_t before = atomic_load_explicit(&entry->figures.bytes, memory_order_relaxed);
    if (bytes != before) {
        atomic_store_explicit(&entry->figures.bytes, bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&entry->host->bytes, bytes - before, memory_order_relaxed);
        use_count_bytes(entry->use, before, bytes);
    }
}

static void publish_fault(WorldEntry *entry, bool faulted) {
    if (faulted != atomic_load_explicit(&entry->figures.faulted, memory_order_relaxed)) {
        atomic_store_explicit(&entry->figures.faulted, faulted, memory_order_relaxed);
        atomic_fetch_add_explicit(&entry->host->faulted_count, faulted ? 1 : UINT64_MAX,
                                  memory_order_relaxed);
    }
}

void host_publish(WorldEntry *entry) {
    ASSERT(entry->door.world == NULL || entry->door.stepper != NULL);
    WorldFigures *figures = &entry->figures;
    const World *world = entry->door.world;
    publish_bytes(entry, world == NULL ? 0 : entry->own_bytes + door_bytes(&entry->door));
    publish_fault(entry, world != NULL && world->faulted);
    const Recorder *recorder = entry->door.recorder;
    uint64_t uid[2] = {0};
    if (recorder != NULL) {
        memcpy(uid, recorder_episode_uid(recorder), sizeof(uid));
    }
    atomic_store_explicit(&figures->episode[0], uid[0], memory_order_relaxed);
    atomic_store_explicit(&figures->episode[1], uid[1], memory_order_relaxed);
    atomic_store_explicit(&figures->recording, recorder != NULL, memory_order_relaxed);
    atomic_store_explicit(&figures->unwritten,
                          recorder != NULL && recorder_has_open_chunks(recorder),
                          memory_order_relaxed);
    if (world == NULL) {
        return;
    }
    uint64_t time_bits;
    memcpy(&time_bits, &world->time.value, sizeof(time_bits));
    atomic_store_explicit(&figures->bodies, world->body_count, memory_order_relaxed);
    atomic_store_explicit(&figures->joints, world->joint_count, memory_order_relaxed);
    atomic_store_explicit(&figures->joint_axes, world->joint_axis_count, memory_order_relaxed);
    atomic_store_explicit(&figures->joint_positions, world->joint_position_count,
                          memory_order_relaxed);
    atomic_store_explicit(&figures->contacts, entry->door.stepper->contact_count,
                          memory_order_relaxed);
    atomic_store_explicit(&figures->step, world->step, memory_order_relaxed);
    atomic_store_explicit(&figures->time_bits, time_bits, memory_order_relaxed);
    atomic_store_explicit(&figures->solver, world->settings.solver, memory_order_relaxed);
}

Status host_check_memory(const Host *host, size_t more_bytes, Error *error) {
    uint64_t used = host_bytes(host);
    if (more_bytes > host->def.limits.bytes_max || used > host->def.limits.bytes_max - more_bytes) {
        return error_set(
            error, STATUS_RESOURCE_EXHAUSTED, "",
            "The worlds use %" PRIu64
            " of the memory budget of %zu bytes (option --memory-bytes-max); this needs "
            "%zu more.",
            used, host->def.limits.bytes_max, more_bytes);
    }
    return STATUS_OK;
}

void host_limit_step(WorldEntry *entry) {
    ASSERT(entry->door.stepper != NULL);
    const Host *host = entry->host;
    uint64_t used = host_bytes(host), budget = host->def.limits.bytes_max;
    size_t published = atomic_load_explicit(&entry->figures.bytes, memory_order_relaxed);
    // what grows is published after every call and slice: in a steady state the limit stays
    if (entry->limited_all == used && entry->limited_own == published) {
        return;
    }
    entry->limited_all = used;
    entry->limited_own = published;
    size_t left = used < budget ? (size_t)(budget - used) : 0;
    const uint64_t own = use_bytes_left(entry->use);
    left = own < left ? (size_t)own : left;
    // what it took since it was published is not among the used
    size_t now = entry->own_bytes + door_bytes(&entry->door);
    size_t unpublished = now > published ? now - published : 0;
    stepper_limit(entry->door.stepper, left > unpublished ? left - unpublished : 0);
}
