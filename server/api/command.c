// SPDX-License-Identifier: MIT
#include "api/command.h"

#define FIELD(name) MOREAU__V1__REQUEST__CALL_##name

static const Command commands[] = {
    {FIELD(HELLO), "Hello", PLACE_LOOP, 0, 0, "opens the session; first call of every connection",
     NULL, NULL, NULL, NULL},
    {FIELD(PING), "Ping", PLACE_LOOP, 0, 0, "answers at once", NULL, NULL, NULL, command_ping},
    {FIELD(STATS), "Stats", PLACE_OWN, 0, 0, "counters of the server", NULL, NULL,
     command_stats_prepare, command_stats},
    {FIELD(DESCRIBE), "Describe", PLACE_LOOP, 0, 0,
     "limits, calls, solvers and checked fields of this server", NULL, NULL, NULL,
     command_describe},
    {FIELD(CANCEL), "Cancel", PLACE_LOOP, 0, 0,
     "stops a request of this connection between two steps", NULL, NULL, NULL, command_cancel},
    {FIELD(WORLD_CREATE), "WorldCreate", PLACE_OWN, COMMAND_MUTATES, 0,
     "makes a world, from a scene or empty", command_world_create_judge, command_world_create_bytes,
     command_world_create_prepare, NULL},
    {FIELD(WORLD_DESTROY), "WorldDestroy", PLACE_LOOP, COMMAND_MUTATES, 0,
     "ends a world, after the calls sent before", NULL, NULL, NULL, command_world_destroy},
    {FIELD(WORLD_LIST), "WorldList", PLACE_OWN, 0, 0, "which worlds there are", NULL, NULL,
     command_world_list_prepare, command_world_list},
    {FIELD(WORLD_ADD_MATERIALS), "WorldAddMaterials", PLACE_WORLD, COMMAND_MUTATES,
     offsetof(Moreau__V1__WorldAddMaterials, world), "adds materials",
     command_world_add_materials_judge, command_world_add_bytes, NULL, command_world_add},
    {FIELD(WORLD_ADD_SHAPES), "WorldAddShapes", PLACE_WORLD, COMMAND_MUTATES,
     offsetof(Moreau__V1__WorldAddShapes, world), "adds shapes, as columns",
     command_world_add_shapes_judge, command_world_add_bytes, NULL, command_world_add},
    {FIELD(WORLD_ADD_BODIES), "WorldAddBodies", PLACE_WORLD, COMMAND_MUTATES | COMMAND_BODIES,
     offsetof(Moreau__V1__WorldAddBodies, world), "adds bodies, as columns",
     command_world_add_bodies_judge, command_world_add_bytes, NULL, command_world_add},
    {FIELD(WORLD_ADD_JOINTS), "WorldAddJoints", PLACE_WORLD, COMMAND_MUTATES,
     offsetof(Moreau__V1__WorldAddJoints, world), "adds joints, as columns",
     command_world_add_joints_judge, command_world_add_bytes, NULL, command_world_add},
    {FIELD(WORLD_REMOVE), "WorldRemove", PLACE_WORLD, COMMAND_MUTATES,
     offsetof(Moreau__V1__WorldRemove, world), "removes bodies and shapes",
     command_world_remove_judge, NULL, NULL, command_world_remove},
    {FIELD(WORLD_GET), "WorldGet", PLACE_WORLD, COMMAND_ORDERED,
     offsetof(Moreau__V1__WorldGet, world), "reads settings and a range of bodies", NULL, NULL,
     NULL, command_world_get},
    {FIELD(WORLD_SET), "WorldSet", PLACE_WORLD, COMMAND_MUTATES,
     offsetof(Moreau__V1__WorldSet, world), "changes settings, bodies, joints and materials",
     command_world_set_judge, NULL, NULL, command_world_set},
    {FIELD(WORLD_STEP), "WorldStep", PLACE_OWN, COMMAND_MUTATES, 0, "steps one world or many",
     command_world_step_judge, command_world_step_bytes, command_world_step_prepare, NULL},
    {FIELD(WORLD_CONTACTS), "WorldContacts", PLACE_WORLD, COMMAND_ORDERED,
     offsetof(Moreau__V1__WorldContacts, world), "contacts of the last step", NULL, NULL, NULL,
     command_world_contacts},
    {FIELD(WORLD_HASH), "WorldHash", PLACE_OWN, COMMAND_ORDERED, 0, "state hashes of worlds", NULL,
     command_world_hash_bytes, command_world_hash_prepare, NULL},
    {FIELD(SNAPSHOT_TAKE), "SnapshotTake", PLACE_WORLD, COMMAND_CHANGES,
     offsetof(Moreau__V1__SnapshotTake, world), "takes a snapshot of a world", NULL, NULL,
     command_snapshot_take_prepare, command_snapshot_take},
    {FIELD(SNAPSHOT_READ), "SnapshotRead", PLACE_ALONE, 0, 0, "reads a part of a snapshot's bytes",
     NULL, NULL, command_snapshot_read_prepare, command_snapshot_read},
    {FIELD(SNAPSHOT_UPLOAD), "SnapshotUpload", PLACE_OWN, COMMAND_CHANGES, 0,
     "brings a snapshot's bytes to the server, in parts", NULL, NULL,
     command_snapshot_upload_prepare, NULL},
    {FIELD(SNAPSHOT_RESTORE), "SnapshotRestore", PLACE_WORLD, COMMAND_MUTATES | COMMAND_BODIES,
     offsetof(Moreau__V1__SnapshotRestore, world), "makes a world what a snapshot says", NULL, NULL,
     command_snapshot_restore_prepare, command_snapshot_restore},
    {FIELD(SNAPSHOT_CLONE), "SnapshotClone", PLACE_OWN, COMMAND_MUTATES, 0,
     "makes new worlds from a snapshot or a world", command_snapshot_clone_judge,
     command_snapshot_clone_bytes, command_snapshot_clone_prepare, NULL},
    {FIELD(SNAPSHOT_DROP), "SnapshotDrop", PLACE_LOOP, COMMAND_CHANGES, 0, "forgets a snapshot",
     NULL, NULL, NULL, command_snapshot_drop},
    {FIELD(EPISODE_START), "EpisodeStart", PLACE_WORLD, COMMAND_LOG | COMMAND_CHANGES,
     offsetof(Moreau__V1__EpisodeStart, world), "records a world from now on",
     command_episode_start_judge, command_episode_start_bytes, command_episode_start_prepare,
     command_episode_start},
    {FIELD(EPISODE_STOP), "EpisodeStop", PLACE_OWN, COMMAND_LOG | COMMAND_CHANGES, 0,
     "ends a recording", NULL, NULL, command_episode_stop_prepare, command_episode_stop},
    {FIELD(EPISODE_LIST), "EpisodeList", PLACE_ALONE, COMMAND_LOG | COMMAND_BACKGROUND, 0,
     "which episodes there are", NULL, NULL, NULL, command_episode_list},
    {FIELD(EPISODE_DESCRIBE), "EpisodeDescribe", PLACE_ALONE, COMMAND_LOG | COMMAND_BACKGROUND, 0,
     "what is known of an episode", NULL, NULL, NULL, command_episode_describe},
    {FIELD(EPISODE_READ), "EpisodeRead", PLACE_ALONE, COMMAND_LOG | COMMAND_BACKGROUND, 0,
     "states and contacts of an episode, by range", NULL, NULL, command_episode_read_prepare,
     command_episode_read},
    {FIELD(EPISODE_REPLAY), "EpisodeReplay", PLACE_OWN, COMMAND_LOG | COMMAND_BACKGROUND, 0,
     "streams an episode's states and contacts", NULL, NULL, command_episode_replay_prepare, NULL},
    {FIELD(EPISODE_VERIFY), "EpisodeVerify", PLACE_OWN, COMMAND_LOG | COMMAND_BACKGROUND, 0,
     "steps an episode again and compares", NULL, NULL, command_episode_verify_prepare, NULL},
    {FIELD(EPISODE_DELETE), "EpisodeDelete", PLACE_ALONE,
     COMMAND_LOG | COMMAND_BACKGROUND | COMMAND_CHANGES, 0, "removes an episode", NULL, NULL, NULL,
     command_episode_delete},
    {FIELD(EPISODE_FORK), "EpisodeFork", PLACE_OWN,
     COMMAND_LOG | COMMAND_BACKGROUND | COMMAND_MUTATES, 0,
     "makes a world of what an episode's was behind a step", command_episode_fork_judge, NULL,
     command_episode_fork_prepare, NULL},
    {FIELD(SOLVE), "Solve", PLACE_ALONE, 0, 0, "solves one contact problem, without a world",
     command_solve_judge, NULL, NULL, command_solve},
    {FIELD(PROBLEM), "Problem", PLACE_WORLD, COMMAND_ORDERED, offsetof(Moreau__V1__Problem, world),
     "the contact problem of a world's last step", NULL, NULL, NULL, command_problem},
};

// The fields of the rows rise, so the range in which a row may stand is halved.
const Command *command_find(Moreau__V1__Request__CallCase field) {
    const Command *first = commands;
    for (size_t count = sizeof(commands) / sizeof(commands[0]); count > 1;) {
        size_t half = count / 2;
        first += first[half].field <= field ? half : 0;
        count -= half;
    }
    return first->field == field ? first : NULL;
}

const Command *command_at(size_t index) {
    return index < sizeof(commands) / sizeof(commands[0]) ? &commands[index] : NULL;
}
