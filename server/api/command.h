// SPDX-License-Identifier: MIT
// The calls of the protocol, one row each: what everything common is decided from, before a handler
// runs. A new call is a field of Request, a row in command.c, a handler in calls/, a test.
#pragma once

#include "access/rights.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "run/lanes/lane.h"

#include <stddef.h>

typedef struct Request Request;

typedef enum CommandPlace {
    PLACE_LOOP,  // answered at once on the loop thread: `answer`
    PLACE_WORLD, // on the lane of the world named by the call's field `world`: `work`
    PLACE_ALONE, // on some lane, belongs to no world: `work`
    PLACE_OWN    // `prepare` makes and submits its own jobs and answers
} CommandPlace;

enum {
    COMMAND_MUTATES = 1,    // changes a world
    COMMAND_LOG = 2,        // needs the log: refused by a server that keeps no episodes
    COMMAND_BACKGROUND = 4, // is part of no world's queue, and runs on the background lanes
    COMMAND_CHANGES = 8,    // changes something else than a world: like COMMAND_MUTATES, what a
                            // client repeats after a resume must not be done again
    COMMAND_ORDERED = 16,   // changes nothing, but reads what the calls before it have left
    COMMAND_BODIES = 32,    // may bring its world more bodies or joints
    COMMAND_ANY_NUMBER =
        64, // its numbers may be NaN: they are judged row by row, as it carries them out
    COMMAND_GROUP = 128,  // names a group, and keeps its place among the calls on it (group_turn.h)
    COMMAND_ROWS = 256,   // of such: works on worlds, which must not be away
    COMMAND_GROWS = 1024, // makes its world larger
    COMMAND_LIST = 512    // PLACE_OWN: names a list of worlds
};

typedef struct Command {
    Moreau__V1__Request__CallCase field;
    const char *name; // METHOD of `moreau call`
    CommandPlace place;
    uint32_t rights; // of access/rights.h: its caller must have all of these, and some calls look
                     // for more
    uint32_t flags;
    // where the call's message holds the id of PLACE_WORLD, COMMAND_GROUP, or of the world that a
    // call of PLACE_OWN may name; COMMAND_LIST: how many those are, and right behind it which
    size_t world_offset;
    const char *meaning;
    // Nullable; the loop thread or, of a long frame, a lane: judges the message and makes of it
    // what the others need, with the arena and nothing else of the server. A status other than OK
    // is the answer, also of prepare
    Status (*judge)(Request *request, Error *error);
    // Of what changes something: the most that the result of its reply takes. What would not fit
    // into a frame is refused before it is done. NULL: the least frame (8 KiB) holds it
    size_t (*bytes)(const Request *request);
    // Nullable; the loop thread: what needs to know who and what is there
    Status (*prepare)(Request *request, Error *error);
    // fills the reply's result; PLACE_LOOP: on the loop, lane NULL. It may set request->outcome to
    // be called again
    Status (*work)(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
} Command;

// NULL: no such call
const Command *command_find(Moreau__V1__Request__CallCase field);

// In the order of the protocol; NULL past the end.
const Command *command_at(size_t index);

// ---- handlers, by family

Status command_ping(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_stats_prepare(Request *request, Error *error);
Status command_stats(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_describe(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_cancel(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);

Status command_world_create_judge(Request *request, Error *error);
size_t command_world_create_bytes(const Request *request);
Status command_world_create_prepare(Request *request, Error *error);
Status command_world_destroy(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_list_prepare(Request *request, Error *error);
Status command_world_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_add_materials_judge(Request *request, Error *error);
Status command_world_add_geometries_judge(Request *request, Error *error);
Status command_world_add_shapes_judge(Request *request, Error *error);
Status command_world_add_bodies_judge(Request *request, Error *error);
Status command_world_add_joints_judge(Request *request, Error *error);
size_t command_world_add_bytes(const Request *request);
Status command_world_add(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_remove_judge(Request *request, Error *error);
Status command_world_remove(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_set_judge(Request *request, Error *error);
Status command_world_ray_cast_judge(Request *request, Error *error);
size_t command_world_ray_cast_bytes(const Request *request);
Status command_world_ray_cast_prepare(Request *request, Error *error);
Status command_world_scene(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_set(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_get(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_world_contacts(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);

Status command_world_step_judge(Request *request, Error *error);
size_t command_world_step_bytes(const Request *request);
Status command_world_step_prepare(Request *request, Error *error);
size_t command_world_hash_bytes(const Request *request);
Status command_world_hash_prepare(Request *request, Error *error);

Status command_episode_start_judge(Request *request, Error *error);
size_t command_episode_start_bytes(const Request *request);
Status command_episode_start_prepare(Request *request, Error *error);
Status command_episode_start(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_episode_stop_prepare(Request *request, Error *error);
Status command_episode_stop(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_episode_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_episode_describe(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                                Error *error);
Status command_episode_read_prepare(Request *request, Error *error);
Status command_episode_read(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_episode_replay_prepare(Request *request, Error *error);
Status command_episode_verify_prepare(Request *request, Error *error);
Status command_episode_delete(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_episode_touches_prepare(Request *request, Error *error);
Status command_episode_touches(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                               Error *error);
Status command_episode_pin(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_episode_backup_prepare(Request *request, Error *error);
Status command_episode_fork_judge(Request *request, Error *error);
Status command_episode_fork_prepare(Request *request, Error *error);
Status command_episode_compare_judge(Request *request, Error *error);
Status command_episode_compare_prepare(Request *request, Error *error);
Status command_episode_compare(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                               Error *error);

Status command_subscribe_judge(Request *request, Error *error);
Status command_subscribe_prepare(Request *request, Error *error);

Status command_solve_judge(Request *request, Error *error);
Status command_solve(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_problem(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);

Status command_snapshot_take_prepare(Request *request, Error *error);
Status command_snapshot_take(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_snapshot_read_prepare(Request *request, Error *error);
Status command_snapshot_read(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_snapshot_upload_prepare(Request *request, Error *error);
Status command_snapshot_restore_prepare(Request *request, Error *error);
Status command_snapshot_restore(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                                Error *error);
Status command_snapshot_clone_judge(Request *request, Error *error);
size_t command_snapshot_clone_bytes(const Request *request);
Status command_snapshot_clone_prepare(Request *request, Error *error);
Status command_snapshot_drop(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);

Status command_group_create_judge(Request *request, Error *error);
Status command_group_create_prepare(Request *request, Error *error);
Status command_group_reset_prepare(Request *request, Error *error);
Status command_group_step_prepare(Request *request, Error *error);
Status command_group_send_prepare(Request *request, Error *error);
Status command_group_receive_prepare(Request *request, Error *error);
Status command_group_opinions_prepare(Request *request, Error *error);
Status command_group_destroy_prepare(Request *request, Error *error);
Status command_group_destroy(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
Status command_group_read_prepare(Request *request, Error *error);
Status command_group_save_prepare(Request *request, Error *error);
Status command_group_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error);
