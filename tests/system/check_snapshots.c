// SPDX-License-Identifier: MIT
// Snapshots over the wire: they travel in parts, from server to server, and what is restored or
// cloned from them has the future of the world they were taken of, to the bit. What is no whole
// snapshot of this version is refused, and changes nothing.
#include "base/hash.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_snapshot.h"
#include "support/wire_world.h"

#include <stdlib.h>
#include <string.h>

static uint64_t take(WireClient *client, uint64_t world) {
    Moreau__V1__SnapshotTake call = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    call.has_world = 1;
    call.world = world;
    const Moreau__V1__Reply *reply = wire_accept(client, &call);
    ck_assert_uint_eq(reply->snapshot_take->hash, wire_hash(client, world));
    ck_assert_uint_eq(reply->snapshot_take->step, wire_step_count(client, world));
    return reply->snapshot_take->snapshot;
}

// The last part is refused, and with it the upload.
static void refuse_upload(WireClient *client, WireBytes bytes, size_t part) {
    uint64_t snapshot = 0;
    size_t first = 0;
    for (; first + part < bytes.count; first += part) {
        Moreau__V1__SnapshotUpload call = wire_snapshot_part_call(bytes, first, part, snapshot);
        snapshot = wire_accept(client, &call)->snapshot_upload->snapshot;
    }
    Moreau__V1__SnapshotUpload call = wire_snapshot_part_call(bytes, first, part, snapshot);
    wire_refuse(client, &call,
                bytes.count < 24 ? MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT
                                 : MOREAU__V1__STATUS__CODE__DATA_LOSS,
                NULL);
}

// As if these bytes had been written so.
static void seal(WireBytes bytes) {
    uint64_t checksum = hash_bytes(bytes.data, bytes.count - sizeof(checksum), 0);
    memcpy(bytes.data + bytes.count - sizeof(checksum), &checksum, sizeof(checksum));
}

static Moreau__V1__SnapshotRestore restore_call(uint64_t world, uint64_t snapshot) {
    Moreau__V1__SnapshotRestore call = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    call.has_world = call.has_snapshot = 1;
    call.world = world;
    call.snapshot = snapshot;
    return call;
}

static uint64_t restore(WireClient *client, uint64_t world, uint64_t snapshot) {
    Moreau__V1__SnapshotRestore call = restore_call(world, snapshot);
    return wire_accept(client, &call)->snapshot_restore->hash;
}

static uint64_t heap_world(WireClient *client, uint64_t seed) {
    return wire_world(client, 30, seed, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
}

// ----

START_TEST(a_world_goes_on_on_another_server_as_if_it_had_stayed) {
    ServerProcess *here = server_start("--workers 2"), *there = server_start("--workers 1");
    WireClient *a = wire_open(here->address[0]), *b = wire_open(there->address[0]);
    uint64_t world = heap_world(a, 11);
    wire_step(a, world, 200);
    uint64_t hash = wire_hash(a, world);
    WireBytes bytes = wire_snapshot_read(a, take(a, world), 1000);

    uint64_t other = heap_world(b, 99); // becomes the first one, whatever it was
    ck_assert_uint_eq(restore(b, other, wire_snapshot_upload(b, bytes, 777)), hash);
    ck_assert_uint_eq(wire_step_count(b, other), 200);
    for (int i = 0; i < 20; i++) {
        wire_step(a, world, 10);
        wire_step(b, other, 10);
        ck_assert_uint_eq(wire_hash(a, world), wire_hash(b, other));
    }
    free(bytes.data);
    wire_close(a);
    wire_close(b);
    server_stop(here);
    server_stop(there);
}
END_TEST

START_TEST(going_back_and_forth_gives_the_same_future_every_time) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = heap_world(client, 5);
    wire_step(client, world, 100);
    uint64_t snapshot = take(client, world), future = 0;
    for (int i = 0; i < 5; i++) {
        wire_step(client, world, 150);
        uint64_t hash = wire_hash(client, world);
        ck_assert(i == 0 || hash == future);
        future = hash;
        restore(client, world, snapshot);
        ck_assert_uint_eq(wire_step_count(client, world), 100);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static Moreau__V1__SnapshotClone clone_call(uint64_t count) {
    Moreau__V1__SnapshotClone call = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    call.has_count = 1;
    call.count = count;
    return call;
}

START_TEST(clones_are_the_world_they_were_made_of) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = heap_world(client, 3);
    wire_step(client, world, 120);
    uint64_t hash = wire_hash(client, world);

    Moreau__V1__SnapshotClone call = clone_call(8);
    call.has_world = 1;
    call.world = world;
    call.name = "twin";
    const Moreau__V1__SnapshotCloneReply *reply = wire_accept(client, &call)->snapshot_clone;
    ck_assert_uint_eq(reply->n_worlds, 8);
    wire_step(client, world, 60);
    uint64_t later = wire_hash(client, world);
    for (size_t i = 0; i < reply->n_worlds; i++) {
        ck_assert_uint_eq(wire_hash(client, reply->worlds[i]), hash);
        wire_step(client, reply->worlds[i], 60);
        ck_assert_uint_eq(wire_hash(client, reply->worlds[i]), later);
    }
    // the names are taken now; all or none are made
    uint64_t worlds = wire_stats(client, false)->world_count;
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__ALREADY_EXISTS, "name");
    ck_assert_uint_eq(wire_stats(client, false)->world_count, worlds);

    call = clone_call(1);
    call.has_snapshot = 1;
    call.snapshot = take(client, world);
    uint64_t clone = wire_accept(client, &call)->snapshot_clone->worlds[0];
    ck_assert_uint_eq(wire_hash(client, clone), later);
    wire_close(client);
    server_stop(server);
}
END_TEST

// Nothing that is refused may leave a trace.
static void expect_unchanged(WireClient *client, uint64_t world, uint64_t hash) {
    ck_assert_uint_eq(wire_hash(client, world), hash);
}

START_TEST(what_is_no_snapshot_is_refused_and_changes_nothing) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = heap_world(client, 21);
    wire_step(client, world, 50);
    uint64_t hash = wire_hash(client, world);
    WireBytes bytes = wire_snapshot_read(client, take(client, world), 1 << 20);

    // another dynamics version: bytes 8 to 11
    bytes.data[8] ^= 0x40;
    seal(bytes);
    Moreau__V1__SnapshotUpload part = wire_snapshot_part_call(bytes, 0, bytes.count, 0);
    const Moreau__V1__Reply *reply =
        wire_refuse(client, &part, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION, NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "version"));
    bytes.data[8] ^= 0x40;
    seal(bytes);
    bytes.data[0] ^= 1;
    wire_refuse(client, &part, MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT, NULL);
    bytes.data[0] ^= 1;

    // a bit flipped anywhere is noticed when the last part is there, however it came
    for (size_t i = 16; i < bytes.count; i++) {
        bytes.data[i] ^= (uint8_t)(1u << i % 8);
        refuse_upload(client, bytes, i % 3 == 0 ? bytes.count : 1000 + i % 7);
        bytes.data[i] ^= (uint8_t)(1u << i % 8);
    }
    expect_unchanged(client, world, hash);
    ck_assert_uint_eq(restore(client, world, wire_snapshot_upload(client, bytes, 1000)), hash);

    // cut short, yet announced as whole
    for (size_t left = 1; left < bytes.count; left += 97) {
        refuse_upload(client, (WireBytes){.data = bytes.data, .count = bytes.count - left}, 1000);
    }
    // bytes that were written so, and still make no world
    bytes.data[16] ^= 1; // the kind of its first section
    seal(bytes);
    Moreau__V1__SnapshotRestore call =
        restore_call(world, wire_snapshot_upload(client, bytes, bytes.count));
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION, NULL);
    expect_unchanged(client, world, hash);
    free(bytes.data);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(parts_come_in_order_and_fit) {
    ServerProcess *server = server_start("--workers 1 --memory-bytes-max 256M");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    WireBytes bytes = wire_snapshot_read(client, take(client, world), 1 << 20);
    const Moreau__V1__Status__Code invalid = MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT;

    Moreau__V1__SnapshotUpload part = wire_snapshot_part_call(bytes, 0, 100, 0);
    part.has_total = 0;
    wire_refuse(client, &part, invalid, "total");
    part.has_total = 1;
    part.total = (uint64_t)1 << 62;
    wire_refuse(client, &part, invalid, "total");
    part.total = bytes.count;
    part.data.len = 0;
    wire_refuse(client, &part, invalid, "data");
    part = wire_snapshot_part_call(bytes, 0, 100, 0);
    part.first = 1;
    wire_refuse(client, &part, invalid, "first");

    part = wire_snapshot_part_call(bytes, 0, 100, 0);
    uint64_t snapshot = wire_accept(client, &part)->snapshot_upload->snapshot;
    Moreau__V1__SnapshotRestore call = restore_call(world, snapshot);
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION, "snapshot");
    part = wire_snapshot_part_call(bytes, 99, 100, snapshot);
    wire_refuse(client, &part, invalid, "first");
    part = wire_snapshot_part_call(bytes, 100, bytes.count, snapshot);
    uint8_t *longer = calloc(1, bytes.count);
    part.data.data = longer;
    part.data.len = bytes.count;
    wire_refuse(client, &part, invalid, "data");
    free(longer);
    part = wire_snapshot_part_call(bytes, 100, bytes.count, snapshot);
    ck_assert(wire_accept(client, &part)->snapshot_upload->complete);
    wire_refuse(client, &part, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION, "snapshot");
    restore(client, world, snapshot);

    Moreau__V1__SnapshotClone clone = clone_call(0);
    clone.has_snapshot = 1;
    clone.snapshot = snapshot;
    wire_refuse(client, &clone, invalid, "count");
    clone.count = 1;
    clone.has_world = 1;
    clone.world = world;
    wire_refuse(client, &clone, invalid, "snapshot");

    Moreau__V1__SnapshotDrop drop = MOREAU__V1__SNAPSHOT_DROP__INIT;
    drop.has_snapshot = 1;
    drop.snapshot = snapshot;
    wire_accept(client, &drop);
    wire_refuse(client, &drop, MOREAU__V1__STATUS__CODE__NOT_FOUND, "snapshot");
    Moreau__V1__SnapshotRead read = wire_snapshot_read_call(snapshot, 0, 1);
    wire_refuse(client, &read, MOREAU__V1__STATUS__CODE__NOT_FOUND, "snapshot");
    call = restore_call(world, snapshot);
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__NOT_FOUND, "snapshot");
    free(bytes.data);
    wire_close(client);
    server_stop(server);
}
END_TEST

static void wait_for_worlds(WireClient *client, uint64_t count) {
    for (int i = 0; wire_stats(client, false)->world_count != count; i++) {
        ck_assert_int_lt(i, 12000);
        server_sleep_ms(10);
    }
}

// Also where the last of many cannot be made, or its client thinks better of it.
START_TEST(clones_are_all_there_or_none) {
    enum { TAKEN = 300, MANY = 30000 };
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client);
    Moreau__V1__SnapshotClone call = clone_call(1);
    call.has_world = 1, call.world = world;
    call.name = "twin-300";
    const uint64_t taken = wire_accept(client, &call)->snapshot_clone->worlds[0];
    const uint64_t bytes = wire_stats(client, false)->world_bytes;
    call.name = "twin", call.count = MANY;
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__ALREADY_EXISTS, "name");
    wait_for_worlds(client, 2);
    for (int i = 0; wire_stats(client, false)->world_bytes > bytes; i++) { // lanes give it back
        ck_assert_int_lt(i, 12000);
        server_sleep_ms(10);
    }
    wire_destroy(client, taken);

    for (int round = 0; round < 5; round++) {
        const uint64_t id = wire_submit(client, &call);
        server_sleep_ms((unsigned)(20 * round));
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        cancel.has_request = 1, cancel.request = id;
        wire_submit(client, &cancel);
        for (int i = 0; i < 2; i++) {
            const Moreau__V1__Reply *reply = wire_receive(client);
            ck_assert(reply->id != id ||
                      reply->status->code == MOREAU__V1__STATUS__CODE__CANCELLED);
        }
        wait_for_worlds(client, 1);
    }
    call.count = TAKEN;
    const Moreau__V1__SnapshotCloneReply *clones = wire_accept(client, &call)->snapshot_clone;
    ck_assert_uint_eq(clones->n_worlds, TAKEN);
    for (size_t i = 0; i < TAKEN; i++) {
        wire_step(client, clones->worlds[i], 1);
    }
    wait_for_worlds(client, 1 + TAKEN);
    wire_close(client);
    server_stop(server);
}
END_TEST

// Worlds of a session that is over go some at a time, so that others are answered in between, and
// see fewer and fewer.
START_TEST(many_worlds_go_with_their_session_and_hold_up_nobody) {
    enum { MANY = 20000 };
    ServerProcess *server = server_start("--workers 2 --session-grace-ms 1");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__SnapshotClone call = clone_call(MANY);
    call.has_world = 1, call.world = wire_small_world(client);
    ck_assert_uint_eq(wire_accept(client, &call)->snapshot_clone->n_worlds, MANY);
    WireClient *other = wire_open(server->address[0]);
    wire_close(client);
    uint64_t left = MANY + 1;
    int looks = 0;
    for (int i = 0; left > 0; i++) {
        const uint64_t count = wire_stats(other, false)->world_count;
        ck_assert_uint_le(count, left);
        looks += count > 0 && count < left;
        left = count;
        ck_assert_int_lt(i, 1000000);
    }
    ck_assert_int_gt(looks, 3);
    wire_close(other);
    server_stop(server);
}
END_TEST

START_TEST(snapshots_count_against_the_memory_budget_and_go_with_their_session) {
    ServerProcess *server = server_start("--workers 1 --memory-bytes-max 64M --session-grace-ms 0");
    WireClient *client = wire_open(server->address[0]), *other = wire_open(server->address[0]);
    uint64_t before = wire_stats(other, false)->world_bytes;
    uint8_t *zeros = calloc(1, 8 << 20);
    WireBytes bytes = {.data = zeros, .count = 40 << 20};
    Moreau__V1__SnapshotUpload part = wire_snapshot_part_call(bytes, 0, 8 << 20, 0);
    uint64_t snapshot = 0;
    const Moreau__V1__Reply *reply = NULL;
    for (int i = 0; i < 20; i++) { // until the budget ends
        reply = wire_call(client, &part);
        if (reply->status->code != MOREAU__V1__STATUS__CODE__OK) {
            break;
        }
        snapshot = reply->snapshot_upload->snapshot;
        ck_assert_uint_gt(wire_stats(other, false)->world_bytes, before + (8 << 20));
    }
    wire_expect(reply, MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED, NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--memory-bytes-max"));
    ck_assert_uint_ne(snapshot, 0);
    wire_close(client);
    for (int i = 0; wire_stats(other, false)->world_bytes != before; i++) {
        ck_assert_int_lt(i, 1000);
        server_sleep_ms(10);
    }
    free(zeros);
    wire_close(other);
    server_stop(server);
}
END_TEST

static TCase *case_snapshots(void) {
    TCase *tcase = tcase_create("snapshots");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_world_goes_on_on_another_server_as_if_it_had_stayed);
    tcase_add_test(tcase, going_back_and_forth_gives_the_same_future_every_time);
    tcase_add_test(tcase, clones_are_the_world_they_were_made_of);
    tcase_add_test(tcase, clones_are_all_there_or_none);
    tcase_add_test(tcase, many_worlds_go_with_their_session_and_hold_up_nobody);
    tcase_add_test(tcase, what_is_no_snapshot_is_refused_and_changes_nothing);
    tcase_add_test(tcase, parts_come_in_order_and_fit);
    tcase_add_test(tcase, snapshots_count_against_the_memory_budget_and_go_with_their_session);
    return tcase;
}

SUITE_MAIN("system/snapshots", case_snapshots)
