// SPDX-License-Identifier: MIT
// A request on its way: taken up on the loop thread, worked on by a lane, answered from there, and
// given back on the loop.
//
//   loop: frame ─► unpack, check ─► prepare ─┐                       ┌─► done
//   lane:         (of a long frame)          └─► its world's ─► work ─► reply
//                                                strand
//
// Commands that need no world are answered on the loop at once. Some send *events*, replies before
// the last one. All memory of a request is its arena's, or given back by its `finish`.
#pragma once

#include "api/api.h"
#include "api/command.h"
#include "base/arena.h"
#include "base/cache.h"
#include "base/context.h"
#include "moreau.pb-c.h"
#include "run/worlds/host.h"
#include "run/groups/snapshot_store.h"

typedef struct Kept Kept; // kept.h
typedef struct LongFrame LongFrame;

// In order of receipt while under way, of being done afterwards.
typedef struct KeptList {
    Kept *first, *last;
    uint32_t count;
} KeptList;

typedef struct Session {
    uint64_t number;
    char token[33]; // to be shown in Hello.resume
    char client[HOST_NAME_BYTES];
    Token *held;           // whose it is …
    uint64_t held_version; // … as he was let in
    uint32_t view;         // what he sees (run/worlds/spaces.h)
    Use *use;              // what he has of what he may have; NULL: the server has no such tokens
    Peer peer;             // NULL: away, the grace time runs
    uint32_t world_count;
    Request *first_request; // under way
    size_t request_bytes;   // of messages under way
    uint64_t id_highest;    // of all requests so far: a higher one cannot be under way
    bool is_resumable;      // kept.h
    bool is_over;           // the grace time has passed: only its last requests are awaited, …
    bool is_ending;         // … and then its worlds go, some at a time
    uint64_t repeat_max;    // ids up to this one came on an earlier connection
    KeptList kept_under_way, kept_done, kept_spare;
    size_t kept_bytes;
    uv_timer_t grace;
    Api *api;
    struct Session *next;
} Session;

// A thousand of them may be under way, more than caches hold: what every request needs stands
// together, from a cache line's start, and what lanes need of it in one line.
struct Request {
    // the lane's cache line
    _Alignas(CACHE_LINE_BYTES) Api *api;
    Peer peer;   // retained
    uint64_t id; // of its message; 0 without one
    uint64_t received_ns;
    uint64_t deadline_ns; // UINT64_MAX: none
    Kept *kept;           // Nullable; where its reply is kept
    Status status;        // of its reply
    _Atomic bool cancelled;
    _Atomic bool answered;  // the reply is on its way, so the id is the client's again
    _Atomic bool is_denied; // cancelled, as the right to it was taken
    bool client_gone;
    bool is_checked; // unpacking has judged the numbers too

    // the loop's: in two cache lines, what the end of a request needs
    Session *session;
    // its namespace, by name: what it records is its, and it sees the episodes of its view. NULL:
    // none; all
    const char *home, *seen;
    Use *use;                 // Nullable: it counts among the requests under way of that token
    Request *next, *previous; // of its session
    WorldEntry *world;        // retained; NULL: none
    Kept *repeats;            // Nullable; it waits for the reply kept there
    size_t counted_bytes;     // of its message, unpacked or not, in Api.request_bytes …
    Session *counted_by;      // … and in this session's; NULL: before Hello
    void (*finish)(Request *request); // Nullable; prepare's: on the loop, when the request is over

    Arena arena;
    const Command *command;
    Moreau__V1__Request *message; // in the arena; NULL: none was unpacked
    char *made;                   // in the arena; NULL: nothing, or audit.c need not know
    void *plan;                   // what judge or prepare left for work, in the arena
    const struct ReplyBody *body; // Nullable; work's: a result written by hand, instead of in the
                                  // reply, which then is OK

    void (*stopped)(Request *request); // Nullable; prepare's, of a request that sends events: on
                                       // the loop, when it is cancelled; must not end it at once
    void (*drained)(Request *request); // Nullable; likewise: when all that was sent to its client
                                       // has been written
    uint64_t server_ns;                // the lane's: how long its reply took
    JobOutcome outcome; // JOB_DONE; `work` may set another one instead of filling the reply, and is
                        // then called again, and asks request_should_stop itself from then on
    bool is_resumed;    // such another call
    bool is_long; // it came in a long frame, or prepare says so: long lanes do it from the start

    // not cleared for every request, each is set where it is used
    Job job;
    Strand strand;    // of a request that belongs to no world
    LogWait wait;     // of request_wait
    Error *refusal;   // in the arena: what it is answered with when its turn has come
    LongFrame *frame; // receive.c's: while it is being unpacked
};

struct Api {
    ApiDef def; // lanes read it, and share no cache line with what the loop writes
    _Alignas(CACHE_LINE_BYTES) void *peer_context; // of PeerCalls.figures
    Session *first_session;
    Request *free_request;
    uint64_t session_count;
    uint64_t request_count;
    size_t request_bytes; // of messages under way
    size_t kept_bytes;    // replies of all sessions
    uint64_t batch_count;
    uint64_t requests_total;
    uint64_t answered[STATUS_COUNT]; // requests finished, by status
    uint64_t noted_ns;               // when the present second of log lines began …
    uint32_t noted_count;            // … and how many it has had
    uint64_t unnoted_count;          // failures that got none
    uint64_t started_ns;
    uint64_t instance;                  // random: of this start
    const char *http;                   // Nullable; where it listens
    const char *db;                     // Nullable; path of the file of episodes
    struct LiveWorld *first_live;       // worlds that are or were watched: live.h
    uint32_t subscription_count;        // now
    uint64_t live_frames, live_skipped; // sent to subscribers since the start, and left out
    uv_async_t live_async;              // of live_news
    uint8_t *buffer;                    // for replies of the loop thread, grows
    size_t buffer_capacity;
    bool is_draining;
    bool is_stopped; // api_stop
    uint32_t closing_sessions;
    struct Refusal *first_refusal; // greetings whose refusal waits
    uint32_t refusal_count;
    void (*closed)(void *context);
    void *closed_context;
    // the lanes'
    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t unconverged_steps, faulted_steps;
    _Atomic uint64_t player_bytes;         // of the memory budget: episodes being shown or verified
    _Atomic uint32_t live_gone;            // worlds that went and were watched, not yet told
    _Atomic(struct LiveWorld *) live_news; // Nullable; those with something for the loop
};

// ---- on a lane, or for loop commands on the loop

// Packs and sends the reply, of which only the result is to be set: status from `error` (OK when
// its status is), id and server_ns are filled in. Too long a reply becomes an error that says what
// to ask for instead. `lane` NULL: loop thread.
void request_reply(Request *request, Lane *lane, const Moreau__V1__Reply *reply,
                   const Error *error);

// The result of a reply, written by hand behind the head that all replies share.
typedef struct ReplyBody {
    uint32_t field;                                      // its number in Reply
    size_t bytes_max;                                    // what `write` takes at most
    uint8_t *(*write)(uint8_t *at, const void *context); // returns where it ended
    const void *context;
} ReplyBody;

// As request_reply, for such a result.
void request_reply_written(Request *request, Lane *lane, const ReplyBody *body, const Error *error);

// One of several replies: `event` is set, more follow, the request stays under way. Fails when it
// is too long for a frame, or memory ends; then nothing was sent.
Status request_event(Request *request, Lane *lane, const Moreau__V1__Reply *reply, Error *error);

// As request_event, for a result written by hand.
Status request_event_written(Request *request, Lane *lane, const ReplyBody *body, Error *error);

// True when the work should end between two steps; fills `error`, Nullable, with why.
bool request_should_stop(const Request *request, Error *error);

// Watches one piece of work that cannot be put aside, a step or a solve: what it is asked to stop
// by, and the lanes that help with it.
typedef struct WorkWatch {
    const Request *request;
    const Lane *lane;
    uint64_t begun_ns;
    bool is_put_aside; // stopped, as it took too long for this lane: the job's outcome is JOB_LONG
    Stop stop, limit, last_resort; // ask this watch
    Context context;               // what the work is handed: those, and the lane's tasks
} WorkWatch;

// begun_ns: now, or a moment ago.
void request_watch(const Request *request, const Lane *lane, uint64_t begun_ns, WorkWatch *watch);

// Watches a solve, which ends with what it has, and is answered, where a step would be given up for
// the time that it takes: the deadline is the context's limit, --work-timeout-ms its last resort.
void request_watch_solve(const Request *request, const Lane *lane, uint64_t begun_ns,
                         WorkWatch *watch);

// Why the work was stopped: the request's own reasons, or that it took too long. OK: it was not, or
// is put aside.
Status request_watch_verdict(const WorkWatch *watch, Error *error);

// Who its jobs are done for, as pool_submit wants to know: the session.
uint64_t request_share(const Request *request);

// `work` on a lane, on a strand of its own; then `done` on the loop. NULL: no work but a turn,
// which comes when others have had theirs.
void request_take_turn(Request *request, JobWork *work, JobFinished *done);

// Whose the worlds are that it makes, which live as long as that says.
WorldOwner request_owner(const Request *request, Moreau__V1__World__Lifetime lifetime);

// Whether a lane's `work` is to return JOB_LONG before it begins.
bool request_wants_long(const Request *request, const Lane *lane);

// Whose lanes work on the request.
Pool *request_pool(const Request *request);

// What to hand to the log by work that then parks (JOB_PARKED): when it is done, the request's
// strand goes on. Its `error` says how it went.
LogWait *request_wait(Request *request);

// The next moment (clock_now_ns) at which a lane's slice or the request's deadline ends.
uint64_t request_pause_ns(const Request *request, const Lane *lane);

// The head of a reply that is OK takes at most so much beside its result.
enum { REPLY_HEAD_OK_BYTES_MAX = 64 };

// RESOURCE_EXHAUSTED, of a reply that would take so many bytes; nothing was done.
Status request_refuse_length(const Request *request, size_t bytes, Error *error);

// ---- on the loop thread

// Takes up a frame that came at received_ns; replies by itself when that fails.
void request_receive(Api *api, Peer peer, uint64_t received_ns, const uint8_t *body,
                     size_t body_bytes);

// An empty request of a peer. NULL: memory ended.
Request *request_begin(Api *api, Peer peer, uint64_t received_ns);

// It belongs to a session from now on; or, for a while, to none.
void request_link(Session *session, Request *request);
void request_unlink(Request *request);

// It is not under way any more, for who counts them. Whoever answers it, or the loop.
void request_uncount(Request *request);

// The message of its call.
const void *request_call(const Request *request);

// The ids that a call of COMMAND_LIST names, as it lists them.
const uint64_t *request_worlds(const Request *request);

// Carries out what was admitted and checked: replies or submits. `judged`: what its command's judge
// has said; NULL: it was not asked.
void request_dispatch(Request *request, const Error *judged);

// What was admitted, and is refused for what it says: answered behind the calls before it on its
// world.
void request_refuse(Request *request, const Error *error);

// What was judged, whose turn has come: `prepare` of its command, or submits it.
void request_prepare(Request *request);

// `work` of its command, on the loop, and the reply.
void request_work_here(Request *request);

// Hands the request to its world's strand, or to one of its own: `work` of its command, and the
// reply.
void request_submit(Request *request);

// Replies with an error, or without a result, and finishes.
void request_end(Request *request, const Error *error);

// Makes request_should_stop true.
void request_cancel(Request *request);

// Likewise, and what then ends as cancelled says that the right to it was taken.
void request_deny(Request *request);

// What whoever asks sees, and the namespace of what he makes (run/worlds/spaces.h).
uint32_t request_view(const Request *request);
uint32_t request_space(const Request *request);

// What reads the episodes that he sees; log_give_reader. Any thread.
Status request_take_reader(const Request *request, LogReader **reader, Error *error);

// NULL: no such world, for him.
WorldEntry *request_find_world(const Request *request, uint64_t id);

// What its caller needs: the rights of its command's row, and those to what it asks for beside.
uint32_t request_rights(const Request *request);

// PERMISSION_DENIED says which of them are missing.
Status request_check_rights(const Request *request, Error *error);

// The last of it: references and memory go back.
void request_finish(Request *request);

// Counts a request by how it was answered, and writes the line of one that failed (at level debug:
// of every one). Failures beyond NOTED_PER_SECOND_MAX are only counted, and a line says how many.
enum { NOTED_PER_SECOND_MAX = 100 };
void request_note(const Request *request);

// The line of a world that one of the request's steps left faulted, within the same limit.
void request_note_fault(const Request *request, uint64_t world, const StepFault *fault);

// A request under way that is not answered yet; NULL: none has this id.
Request *request_find(Session *session, uint64_t id);
