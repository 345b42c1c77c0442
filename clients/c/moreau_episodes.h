// SPDX-License-Identifier: MIT
// The part of libmoreau for episodes: what happened in a world, recorded (the server needs its
// option --db), listed, replayed, verified, forked and compared; and watching a world that runs.
#pragma once

#include "moreau_core.h"
#include "moreau_worlds.h"

#ifdef __cplusplus
extern "C" {
#endif

// Steps of an episode are counted from its start: step 0 is the state it began with. Wherever an
// `episode` is taken it is an id of 32 hexadecimal digits, an unmistakable beginning of one (at
// least 4 digits), or a name that only one episode has.
enum { MOREAU_EPISODE_ID_BYTES = 33 };

typedef enum MoreauContent {
    MOREAU_CONTENT_INPUTS = 0,  // all that is needed to step it again
    MOREAU_CONTENT_FRAMES = 1,  // and poses and velocities at every stride-th step
    MOREAU_CONTENT_CONTACTS = 2 // and contacts at every stride-th step
} MoreauContent;

typedef enum MoreauEpisodeState {
    MOREAU_EPISODE_RECORDING = 0,
    MOREAU_EPISODE_COMPLETE = 1,
    MOREAU_EPISODE_WORLD_DESTROYED = 2, // complete up to then
    MOREAU_EPISODE_INTERRUPTED = 3,     // server killed or disk full: whole up to its last step
    MOREAU_EPISODE_ANY = -1             // in MoreauEpisodeFilter
} MoreauEpisodeState;

typedef struct MoreauRecord {
    uint64_t world;
    const char *name;          // Nullable: the world's, with a number
    const char *const *labels; // Nullable
    size_t label_count;        // at most 64
    MoreauContent content;
    uint64_t stride;         // steps between frames; default 1
    uint64_t keyframe_steps; // seeking costs at most so many steps; 0, the default: the server's
    bool lossy;              // rather lose steps (and count them) than wait for the disk
    bool has_seed;
    uint64_t seed; // kept with the episode
    bool events;   // also which bodies touch (moreau_episode_touches); not with lossy
} MoreauRecord;

MoreauRecord moreau_record_default(void);

// Records a world from now on; returns once the episode is on the disk. `episode`, Nullable, gets
// its id.
MoreauStatus moreau_record_start(MoreauClient *client, const MoreauRecord *record,
                                 char episode[MOREAU_EPISODE_ID_BYTES]);

// Texts are borrowed from the reply, and never NULL.
typedef struct MoreauEpisode {
    const char *episode; // its id
    const char *name;
    size_t label_count;
    const char *const *labels;
    MoreauEpisodeState state;
    MoreauContent content;
    uint64_t stride;
    bool lossy, has_seed;
    uint64_t seed;
    const char *client, *world_name;
    const char *solver;         // at its start
    uint64_t steps;             // while it is being recorded: committed so far
    uint64_t world_step;        // the world's own count at step 0
    double time_step;           // [s] at its start
    uint64_t bodies;            // at its start
    double begun, ended;        // [s] since 1970; ended 0: not yet
    uint64_t unconverged_steps; // whose solver did not reach its tolerance
    uint64_t dropped_steps;     // of a lossy recording
    double worst_own;           // largest e_own of its steps
    double worst_penetration;   // [m]
    uint64_t dynamics_version;
    const char *server_version;
    uint64_t bytes, chunks, keyframes; // on the disk
    const char *why;                   // of an interruption, or ""
    const char *damage; // in a list: why it cannot be read, or ""; else nothing more is known
    bool has_gained;    // false: not known, as of what an older server recorded
    double gained;      // [J] energy that nothing gave, as MoreauStepResult's; 0: none
} MoreauEpisode;

// Ends the recording of a world, or of an episode: one is given, the other 0 or NULL. Returns once
// all of it is on the disk, synced. `reply` and `info`, both or neither NULL: what was recorded;
// *reply is the caller's to free.
MoreauStatus moreau_record_stop(MoreauClient *client, uint64_t world, const char *episode,
                                MoreauReply **reply, MoreauEpisode *info);

// Which episodes. Texts are Nullable: any.
typedef struct MoreauEpisodeFilter {
    const char *name;  // part of it, in any case of letters
    const char *label; // one of its labels
    const char *solver, *client;
    MoreauEpisodeState state; // default MOREAU_EPISODE_ANY
    double since, until;      // [s] since 1970: begun at `since` or later, before `until`; 0: open
    uint64_t first, count;    // skip so many, at most so many; default 0 and 1000
} MoreauEpisodeFilter;

MoreauEpisodeFilter moreau_episode_filter_default(void);

// The newest first. *count (Nullable) is how many moreau_reply_episode has, *total (Nullable) how
// many there are. *reply is the caller's to free.
MoreauStatus moreau_episode_list(MoreauClient *client, const MoreauEpisodeFilter *filter,
                                 MoreauReply **reply, size_t *count, uint64_t *total);
bool moreau_reply_episode(const MoreauReply *reply, size_t index, MoreauEpisode *info);

MoreauStatus moreau_episode_describe(MoreauClient *client, const char *episode, MoreauReply **reply,
                                     MoreauEpisode *info);

// The bodies that have a name at the episode's start: *count (Nullable) is how many
// moreau_reply_body_name has. *reply is the caller's to free.
MoreauStatus moreau_episode_names(MoreauClient *client, const char *episode, MoreauReply **reply,
                                  size_t *count);

// The name, borrowed from the reply, and the body's id (Nullable). NULL past the end.
const char *moreau_reply_body_name(const MoreauReply *reply, size_t index, uint64_t *body);

// Of the same reply: whether a body is static at the episode's start, and so never moves. false: it
// is not, or the server is older than this.
bool moreau_reply_body_is_static(const MoreauReply *reply, uint64_t body);

// How far what steps an episode again (in steps) or a backup (in bytes) is. Must not call the
// client. false: stop.
typedef bool MoreauProgressProc(void *context, uint64_t done, uint64_t total);

// Two bodies that touched, in an episode recorded with `events`.
typedef struct MoreauTouch {
    uint64_t body, other_body;          // ids, the smaller first
    const char *body_name, *other_name; // borrowed from the reply; NULL: nameless
    uint64_t first_step, last_step;     // of one that never ended, the episode's last
    bool ended;
    double approach_speed;  // [m/s] before the first step
    double first_impulse;   // [N s] along the normals, of the first step
    double hardest_impulse; // [N s] of a step
    uint64_t hardest_step;
} MoreauTouch;

// By where they began: `count` of them behind the first `first`. *got (Nullable) is how many
// moreau_reply_touch has, *total (Nullable) how many there are. *reply is the caller's to free.
// FAILED_PRECONDITION: it was recorded without `events`.
MoreauStatus moreau_episode_touches(MoreauClient *client, const char *episode, uint64_t first,
                                    uint64_t count, MoreauReply **reply, size_t *got,
                                    uint64_t *total);

// The same, but of one without `events`, or of a group's, all steps are taken again, each time it
// is asked for; `proc` is Nullable.
MoreauStatus moreau_episode_touches_again(MoreauClient *client, const char *episode, uint64_t first,
                                          uint64_t count, MoreauProgressProc *proc, void *context,
                                          MoreauReply **reply, size_t *got, uint64_t *total);
bool moreau_reply_touch(const MoreauReply *reply, size_t index, MoreauTouch *touch);

// FAILED_PRECONDITION while it is being recorded, or pinned.
MoreauStatus moreau_episode_delete(MoreauClient *client, const char *episode);

// Pins an episode, or not any more: a pinned one is deleted neither by the server's rules of
// retention nor by moreau_episode_delete.
MoreauStatus moreau_episode_pin(MoreauClient *client, const char *episode, bool pinned);

// A live world made of what an episode's was behind a step, which goes on otherwise.
typedef struct MoreauFork {
    const char *episode;
    bool has_step;
    uint64_t step;    // of the episode; default: its last
    const char *name; // of the world, Nullable: world-N
    MoreauLifetime lifetime;
    double idle_timeout; // [s]; 0, the default: never
} MoreauFork;

MoreauFork moreau_fork_default(void);

// `step` and `hash`, of the state, are Nullable.
MoreauStatus moreau_episode_fork(MoreauClient *client, const MoreauFork *fork, uint64_t *world,
                                 uint64_t *step, uint64_t *hash);

// Which frames of an episode, and what of them.
typedef struct MoreauFrameQuery {
    const char *episode;
    uint64_t first;         // step; default 0
    uint64_t stride;        // steps from frame to frame; default 1
    bool poses, velocities; // default true
    bool contacts;          // default false
    bool single;            // poses and velocities as floats; default false
    bool again;             // step again even where states are stored; default false
    bool joints;            // numbers of joints; default false
    bool backward;          // of moreau_episode_replay: from its last step down; default false
    bool reports;           // of the frames' steps, which are stepped again; default false
} MoreauFrameQuery;

MoreauFrameQuery moreau_frame_query_default(void);

// What one step came to, as in MoreauStepResult.
typedef struct MoreauFrameReport {
    uint32_t contacts, rows, iterations, recovery_contacts, asleep;
    bool converged;
    double tolerance;
    uint64_t worst_body_a, worst_body_b; // of the contact with the largest own residual; 0: none
    double e_mom, e_pen, e_comp, e_cone, e_mdp, e_ds, e_own, e_row;
    double penetration; // [m]
    double energy_before, energy_after, energy_contact, energy_row, energy_applied, energy_scheme;
    double energy_unexplained, energy_drive, energy_swing; // [J]; servers before 0.2.0: the last 0
} MoreauFrameReport;

// The state of all bodies after one step. Columns are borrowed from the reply, and NULL when they
// were not asked for.
typedef struct MoreauFrame {
    uint64_t step;       // of the episode
    uint64_t world_step; // the world's own count
    double time;         // [s] the world's own
    bool stored;         // read from the disk; else stepped again
    size_t body_count;
    const uint64_t *ids;
    const double *pose, *velocity; // 7 and 6 per body
    const float *pose_single, *velocity_single;
    MoreauContacts contacts; // their `total` is `count`
    size_t joint_count, joint_axis_count, joint_position_count;
    const uint64_t *joints;     // ids
    const uint32_t *joint_axes; // of each: those that it leaves free, a sum of 2^axis
    const double *joint_position, *joint_velocity;
    const float *joint_position_single, *joint_velocity_single;
    const double *joint_target, *joint_target_velocity, *joint_effort;
    bool has_report; // false: not asked for, or no step led to it, as to the first
    MoreauFrameReport report;
} MoreauFrame;

// Frames one behind the other, to be walked with moreau_next_frame. Private but for `count`.
typedef struct MoreauFrames {
    size_t count;
    const MoreauReply *reply;
    size_t index, first_body, first_id, next_id, first_contact;
    size_t first_joint, next_joint, first_axis, first_position;
} MoreauFrames;

// The frames of an event of a replay, or of a read's reply; false when it holds none, or columns
// that do not fit each other.
bool moreau_reply_frames(const MoreauReply *reply, MoreauFrames *frames);
bool moreau_next_frame(MoreauFrames *frames, MoreauFrame *frame);

// Reads up to `count` frames; MOREAU_ALL: all the rest. What does not fit a frame of the wire is
// RESOURCE_EXHAUSTED: ask for less, or replay. *reply is the caller's to free.
MoreauStatus moreau_episode_read(MoreauClient *client, const MoreauFrameQuery *query,
                                 uint64_t count, MoreauReply **reply, MoreauFrames *frames);

// Takes a frame of a replay, borrowed until it returns. Must not call the client. false: stop.
typedef bool MoreauFrameProc(void *context, const MoreauFrame *frame);

// Streams frames up to step `last` (MOREAU_ALL: to the end) at `speed` times real time, 0: as fast
// as they are taken. *frames, Nullable: how many the server sent.
MoreauStatus moreau_episode_replay(MoreauClient *client, const MoreauFrameQuery *query,
                                   uint64_t last, double speed, MoreauFrameProc *proc,
                                   void *context, uint64_t *frames);

// The same without waiting: moreau_receive hands out the events, for moreau_reply_frames, and then
// the answer.
MoreauStatus moreau_submit_replay(MoreauClient *client, const MoreauFrameQuery *query,
                                  uint64_t last, double speed, uint64_t *id);

// What to show of a world while it runs.
typedef struct MoreauWatch {
    uint64_t world;
    uint64_t every;           // steps: at least so many from frame to frame; default 1
    double frames_per_second; // at most; default 60; 0: as many as both sides manage
    bool poses;               // default true
    bool velocities, contacts, joints, single; // default false
} MoreauWatch;

MoreauWatch moreau_watch_default(uint64_t world);

// Shows the world at once, and from then on whenever it has stepped or was changed; what comes
// while `proc` is busy may be left out, but for the latest. Frames are without reports; `stored` is
// false. Ends with CANCELLED, when `proc` says so, or NOT_FOUND, when the world is gone.
MoreauStatus moreau_world_watch(MoreauClient *client, const MoreauWatch *watch,
                                MoreauFrameProc *proc, void *context);

typedef struct MoreauVerification {
    bool verified;              // every step and every stored byte is what it should be
    uint64_t steps;             // compared
    uint64_t dropped_steps;     // that a lossy recording does not have
    uint64_t unconverged_steps; // as found by stepping again
    double seconds;
    size_t difference_count; // moreau_reply_difference; at most 100
} MoreauVerification;

typedef struct MoreauVerify {
    const char *episode;
    uint64_t first; // step; default 0
    uint64_t last;  // default MOREAU_ALL: to the end
    uint32_t lanes; // at most so many workers; 0, the default: all
} MoreauVerify;

MoreauVerify moreau_verify_default(void);

// Steps an episode again and compares. A difference is no failure of the call: result->verified is
// false then. `proc` is Nullable; *reply is the caller's to free. FAILED_PRECONDITION: the episode
// is of another dynamics version.
MoreauStatus moreau_episode_verify(MoreauClient *client, const MoreauVerify *verify,
                                   MoreauProgressProc *proc, void *context, MoreauReply **reply,
                                   MoreauVerification *result);

typedef struct MoreauDifference {
    uint64_t step, chunk;   // `chunk`: row id in the file
    const char *chunk_kind; // "inputs", "key-frame", "frames", "contacts"
    bool damaged; // the stored bytes are broken; else they differ from what the steps give
    uint64_t expected_hash, found_hash; // 0: the difference is in a frame or key-frame
    uint64_t body;                      // the first that differs; 0: unknown
    const char *quantity;               // as "position.x"; "": unknown
    double expected, found;
    const char *message;
} MoreauDifference;

// The index-th difference, by step; texts are borrowed from the reply. false beyond the last.
bool moreau_reply_difference(const MoreauReply *reply, size_t index, MoreauDifference *difference);

// An episode's inputs again, as they were recorded and under other settings beside that.
typedef struct MoreauCompare {
    const char *episode;
    uint64_t first, last;           // steps; default 0, MOREAU_ALL: to the end
    uint64_t stride;                // steps from sample to sample; default 1
    double threshold;               // [m] what is farther than this is apart; default 0.001
    size_t variant_count;           // 1 … 16
    const MoreauSettings *variants; // what is given in each rules over what was recorded
    bool record;                    // each becomes an episode; default false
    const char *const *names;       // of these, one per variant or NULL; Nullable
    size_t label_count;
    const char *const *labels; // of these
    MoreauContent content;     // of these; default frames, at the stride
} MoreauCompare;

MoreauCompare moreau_compare_default(void);

// `proc` and `run_count` (how many moreau_reply_run has: the recording's own and the variants') are
// Nullable; *reply is the caller's to free. FAILED_PRECONDITION: the episode is of another dynamics
// version.
MoreauStatus moreau_episode_compare(MoreauClient *client, const MoreauCompare *compare,
                                    MoreauProgressProc *proc, void *context, MoreauReply **reply,
                                    size_t *run_count);

// One run. Steps are the recording's, from `distance_step` on, but for sample_own_step: of an
// episode of a group one may be several of its world.
typedef struct MoreauRun {
    const char *solver;                // when it began, as the next
    double time_step;                  // [s]
    uint64_t steps, unconverged_steps; // its own
    const char *ended;                 // why it did not get to its end; "": it did
    uint64_t ended_step;
    double worst_own, worst_coulomb; // largest e_own and e_ds of its steps
    double worst_penetration;        // [m]
    double launch_speed;             // [m/s] fastest; 0: nothing was launched
    double energy;                   // [J] after its last step
    double solver_time;              // [s] of all steps
    // of a variant: how far it was from the recording
    double distance; // [m] the largest of a body's centre of mass …
    uint64_t distance_body, distance_step;
    double angle;                      // [rad] the largest of an orientation
    bool is_apart, differs;            // beyond the threshold; in any bit
    uint64_t apart_step, differs_step; // first so
    const char *episode;               // it was recorded as; "": it was not
    // [sample_count]: borrowed from the reply, NULL where it has none
    size_t sample_count;
    const uint64_t *sample_step, *sample_own_step;
    const double *sample_time, *sample_energy;    // [s] since the first step, [J]
    const double *sample_distance, *sample_angle; // [m], [rad]; of a variant
    // of a group's episode: where its rules would end it, though all of its actions were taken
    bool is_terminated;
    uint64_t terminated_step;
} MoreauRun;

// The recording's own run, then the variants in their order; texts are borrowed from the reply.
// false beyond the last.
bool moreau_reply_run(const MoreauReply *reply, size_t index, MoreauRun *run);

// Makes a sound copy of the server's file, under a plain name in the folder of its --backup-dir.
// `proc` and `bytes` are Nullable. ALREADY_EXISTS unless it `overwrites`.
MoreauStatus moreau_episode_backup(MoreauClient *client, const char *name, bool overwrites,
                                   MoreauProgressProc *proc, void *context, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
