// SPDX-License-Identifier: MIT
// libmoreau: the C client of the Moreau contact-dynamics server.
//
// A MoreauClient is one connection. Blocking calls send one request and wait for its answer;
// submitted requests are pipelined: they return an id at once, and moreau_receive hands out the
// answers in the order in which they arrive. Both may be mixed on one connection.
//
//     MoreauClient *client;
//     MoreauError error;
//     if (moreau_connect("127.0.0.1:7667", NULL, &client, &error) != MOREAU_OK) { ... error.message
//     } MoreauWorldDef def = moreau_world_def_default(); uint64_t world;
//     moreau_world_create(client, &def, &world);
//     ...
//     moreau_disconnect(client);
//
// Units are SI. A pose is 7 numbers (x y z, then the unit quaternion w x y z), a velocity 6 (linear
// of the centre of mass, angular; world axes). Numbers in bulk are columns: plain arrays with a
// fixed stride per item; a NULL column means "the default for all items". Ranges and defaults:
// moreau.proto.
//
// Every function that can fail returns a MoreauStatus and leaves a sentence in moreau_error().
// Strings are UTF-8. The library prints nothing, never exits, and has no global state: a client
// belongs to one thread at a time, different clients may be used in parallel.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MoreauClient MoreauClient;

// One answer of the server, with the memory of all columns read from it.
typedef struct MoreauReply MoreauReply;

// The canonical gRPC codes, with the same numbers.
typedef enum MoreauStatus {
    MOREAU_OK = 0,
    MOREAU_CANCELLED = 1,
    MOREAU_UNKNOWN = 2,
    MOREAU_INVALID_ARGUMENT = 3,
    MOREAU_DEADLINE_EXCEEDED = 4,
    MOREAU_NOT_FOUND = 5,
    MOREAU_ALREADY_EXISTS = 6,
    MOREAU_PERMISSION_DENIED = 7,
    MOREAU_RESOURCE_EXHAUSTED = 8,
    MOREAU_FAILED_PRECONDITION = 9,
    MOREAU_ABORTED = 10,
    MOREAU_OUT_OF_RANGE = 11,
    MOREAU_UNIMPLEMENTED = 12,
    MOREAU_INTERNAL = 13,
    MOREAU_UNAVAILABLE = 14,
    MOREAU_DATA_LOSS = 15,
    MOREAU_UNAUTHENTICATED = 16
} MoreauStatus;

// What went wrong, and where.
typedef struct MoreauError {
    MoreauStatus status;
    bool from_server;  // false: the library or the connection says so; no answer was received
    bool recoverable;  // the same request may succeed later
    uint64_t world;    // the world concerned; 0: none
    uint64_t step;     // the step concerned; 0: none
    char field[256];   // path of the offending field, "" when none is to blame
    char message[512]; // a sentence a person can act on
} MoreauError;

// The name of a status, as "INVALID_ARGUMENT".
const char *moreau_status_name(MoreauStatus status);

// Version of this library, as "0.1.0".
const char *moreau_version(void);

// ----------------------------------------------------------------------------------------
// connection

typedef struct MoreauOptions {
    const char *client_name; // for logs; default ""
    const char *token;       // where the server demands one; default NULL
    const char *resume;      // session of a lost connection, to take its worlds over; default NULL
    int connect_timeout_ms;  // for connecting and the greeting; default 10,000; 0: no limit
    int reply_timeout_ms;    // for each blocking call to be answered; default 0: no limit
    size_t reply_bytes_max;  // larger answers end the connection; default 256 MiB
    uint32_t protocol_major; // default: what this library speaks; for tests of the greeting
} MoreauOptions;

MoreauOptions moreau_options_default(void);

// Connects and greets. `address` is "host:port", "[v6]:port" or "unix:PATH". `options` and `error`
// are Nullable. On failure *client is NULL and `error` says why: a server that refuses the greeting
// (another protocol version, a wrong token) has from_server set, an unreachable one has status
// UNAVAILABLE or DEADLINE_EXCEEDED.
MoreauStatus moreau_connect(const char *address, const MoreauOptions *options,
                            MoreauClient **client, MoreauError *error);

// Closes the connection and frees the client. Nullable. Replies stay valid until moreau_reply_free.
void moreau_disconnect(MoreauClient *client);

// Why the last call on this client failed; status is MOREAU_OK after a success. Borrowed until the
// next call.
const MoreauError *moreau_error(const MoreauClient *client);

// False once the connection is lost; every further call then fails with UNAVAILABLE.
bool moreau_is_connected(const MoreauClient *client);

// What the server said in its greeting. Borrowed until moreau_disconnect.
const char *moreau_session(const MoreauClient *client); // for MoreauOptions.resume
const char *moreau_server_version(const MoreauClient *client);
uint64_t moreau_dynamics_version(const MoreauClient *client);

// A limit of the server by name; false when it has none of that name.
bool moreau_limit(const MoreauClient *client, const char *name, uint64_t *value);

// For all requests from now on: the server stops work [ms] after receipt, between two steps, and
// answers DEADLINE_EXCEEDED with what was done. 0, the default: no deadline.
void moreau_set_deadline(MoreauClient *client, uint32_t deadline_ms);

// Changes MoreauOptions.reply_timeout_ms. A call that times out returns DEADLINE_EXCEEDED; its late
// answer is dropped and the connection stays usable.
void moreau_set_reply_timeout(MoreauClient *client, int timeout_ms);

// -------------------------------------------------------------------------------------------
// replies

// Frees a reply and every column read from it. Nullable.
void moreau_reply_free(MoreauReply *reply);

// Id of the request that is answered.
uint64_t moreau_reply_id(const MoreauReply *reply);

// How the call went; `error`, Nullable, gets the details.
MoreauStatus moreau_reply_status(const MoreauReply *reply, MoreauError *error);

// Time from receipt of the request to the start of encoding the reply, on the server [ns].
uint64_t moreau_reply_server_ns(const MoreauReply *reply);

// The answer as it came: one packed moreau.v1.Reply. Borrowed from the reply.
const void *moreau_reply_bytes(const MoreauReply *reply, size_t *count);

// --------------------------------------------------------------------------- any call, and
// pipelining

// Sends one packed moreau.v1.Request (its id and deadline are replaced by the client's) and waits
// for the answer. Returns the status of the answer. *reply is set whenever an answer came, also a
// failed one, and is then the caller's to free; otherwise NULL.
MoreauStatus moreau_call(MoreauClient *client, const void *request, size_t count,
                         MoreauReply **reply);

// The same without waiting. *id is the request's.
MoreauStatus moreau_submit(MoreauClient *client, const void *request, size_t count, uint64_t *id);

// The next answer to a submitted request, in order of arrival; waits at most `timeout_ms`, for ever
// when it is negative. MOREAU_OK means that an answer is there, which may be a failed one: see
// moreau_reply_status. FAILED_PRECONDITION: nothing was submitted. DEADLINE_EXCEEDED: nothing came.
MoreauStatus moreau_receive(MoreauClient *client, int timeout_ms, MoreauReply **reply);

// Submitted requests whose answers moreau_receive has not handed out.
size_t moreau_in_flight(const MoreauClient *client);

// Asks the server to end a submitted request between two steps. It is still answered. *found,
// Nullable: false when it had been answered already.
MoreauStatus moreau_cancel(MoreauClient *client, uint64_t id, bool *found);

// The socket, to be polled for reading by an event loop; -1 when the connection is lost. Poll only
// while moreau_has_received is false: answers that were read together wait in the client.
int moreau_poll_fd(const MoreauClient *client);
bool moreau_has_received(const MoreauClient *client);

// --------------------------------------------------------------------------------------------
// worlds

// A solver's parameter by its name in the solver's parameter message, as {"tolerance", 1e-8}. Enums
// and bools by number.
typedef struct MoreauParameter {
    const char *name;
    double value;
} MoreauParameter;

// Which numbers of MoreauSettings are given; the others keep their defaults, or in moreau_world_set
// the values they have. Strings and parameters are given when they are not NULL.
enum {
    MOREAU_GRAVITY = 1,
    MOREAU_TIME_STEP = 2,
    MOREAU_MARGIN = 4,
    MOREAU_RESTITUTION_THRESHOLD = 8
};

typedef struct MoreauSettings {
    unsigned given;
    double gravity[3];                 // [m/s^2]
    double time_step;                  // [s]
    double margin;                     // [m]
    double restitution_threshold;      // [m/s]
    const char *solver;                // Nullable
    const MoreauParameter *parameters; // Nullable; of `solver`, which must be named
    size_t parameter_count;
} MoreauSettings;

typedef enum MoreauLifetime {
    MOREAU_LIFETIME_SESSION = 0,
    MOREAU_LIFETIME_SERVER = 1
} MoreauLifetime;

typedef struct MoreauWorldDef {
    const char *name; // Nullable: the server finds one
    MoreauLifetime lifetime;
    double idle_timeout_s; // 0: never
    MoreauSettings settings;
    const void *scene; // Nullable: one packed moreau.v1.Scene; settings win over its own
    size_t scene_bytes;
} MoreauWorldDef;

MoreauWorldDef moreau_world_def_default(void);

MoreauStatus moreau_ping(MoreauClient *client, uint64_t payload, uint64_t *echo);
MoreauStatus moreau_world_create(MoreauClient *client, const MoreauWorldDef *def, uint64_t *world);
MoreauStatus moreau_world_destroy(MoreauClient *client, uint64_t world);

// `count` materials. Every column is Nullable; an infinite stiffness is a rigid material.
typedef struct MoreauMaterials {
    size_t count;
    const char *const *name;
    const double *friction, *restitution;
    const double *stiffness;        // [N/m]
    const double *dissipation_time; // [s]
    const double *damping;          // [N s/m]
} MoreauMaterials;

enum { MOREAU_SPHERE = 0, MOREAU_BOX = 1, MOREAU_PLANE = 2 };

// Shapes, each of one or several primitives.
typedef struct MoreauShapes {
    size_t count;                    // of shapes
    size_t primitive_total;          // of primitives
    const uint32_t *primitive_count; // per shape; NULL: one each
    const uint32_t *kind;            // per primitive: MOREAU_SPHERE …
    const double *size;              // 3 per primitive: radius 0 0; half extents; 0 0 0 [m]
    const double *pose;              // Nullable; 7 per primitive, in the body
    const uint64_t *material;        // Nullable; per primitive
    const double *density;           // Nullable; per primitive [kg/m^3]
} MoreauShapes;

enum { MOREAU_DYNAMIC = 0, MOREAU_KINEMATIC = 1, MOREAU_STATIC = 2 };

typedef struct MoreauBodies {
    size_t count;
    const double *pose;           // 7 per body
    const double *velocity;       // Nullable; 6 per body
    const uint32_t *kind;         // Nullable; per body: MOREAU_DYNAMIC …
    const uint64_t *shape;        // Nullable; per body: a shape's id
    const double *mass;           // Nullable; per body [kg]
    const double *inertia;        // Nullable; 6 per body: xx yy zz xy xz yz [kg m^2]
    const double *center_of_mass; // Nullable; 3 per body [m]
} MoreauBodies;

// Add all or nothing. `ids` is Nullable, else room for `count` ids.
MoreauStatus moreau_world_add_materials(MoreauClient *client, uint64_t world,
                                        const MoreauMaterials *materials, uint64_t *ids);
MoreauStatus moreau_world_add_shapes(MoreauClient *client, uint64_t world,
                                     const MoreauShapes *shapes, uint64_t *ids);
MoreauStatus moreau_world_add_bodies(MoreauClient *client, uint64_t world,
                                     const MoreauBodies *bodies, uint64_t *ids);

// Changes settings (Nullable) and the state of `count` bodies: pose 7 and velocity 6 per id, each
// Nullable.
MoreauStatus moreau_world_set(MoreauClient *client, uint64_t world, const MoreauSettings *settings,
                              size_t count, const uint64_t *ids, const double *pose,
                              const double *velocity);

// A range of a world's bodies; columns are borrowed from the reply, and NULL when they were not
// asked for.
typedef struct MoreauWorldState {
    uint64_t step;  // since creation
    double time;    // [s]
    uint64_t total; // bodies in the world
    bool faulted;
    size_t count; // bodies in the columns
    const uint64_t *ids;
    const double *pose, *velocity;
    const double *mass, *inertia, *center_of_mass; // with `definition`
    const uint32_t *kind;                          // with `definition`
    const uint64_t *shape;                         // with `definition`
} MoreauWorldState;

#define MOREAU_ALL UINT64_MAX // as `count`: all the rest

// Reads bodies [first, first + count) into columns of the reply, which is the caller's to free.
MoreauStatus moreau_world_get(MoreauClient *client, uint64_t world, uint64_t first, uint64_t count,
                              bool definition, MoreauReply **reply, MoreauWorldState *state);

// Reads exactly `count` bodies from `first` into the caller's arrays: 7 and 6 numbers per body,
// each Nullable. OUT_OF_RANGE when the world has fewer.
MoreauStatus moreau_world_read(MoreauClient *client, uint64_t world, uint64_t first, size_t count,
                               double *pose, double *velocity);

typedef struct MoreauStep {
    const uint64_t *worlds;
    size_t world_count;
    uint64_t steps;               // default 1
    double time_step;             // [s]; 0, the default: each world's own
    const uint32_t *wrench_share; // Nullable; per world: how many of the wrenches are its
    const uint64_t *wrench_body;  // per wrench: a body's id
    const double *wrench;         // 6 per wrench: force [N] at the centre of mass, torque [N m]
    size_t wrench_count;
    bool poses, velocities; // return them; default false
    bool single;            // as floats; default false
    bool reports;           // default true
    bool hashes;            // default false
} MoreauStep;

MoreauStep moreau_step_default(void);

// One number per world and entry of the certificate; NULL where the server sent none.
typedef struct MoreauCertificates {
    const double *e_mom, *e_pen, *e_comp, *e_cone, *e_mdp, *e_ds, *e_own, *e_row;
    const double *penetration; // [m]
} MoreauCertificates;

// Columns with one entry per world, in the order of the request; borrowed from the reply, NULL when
// they were not asked for.
typedef struct MoreauStepResult {
    size_t world_count;
    const uint64_t *steps_done; // of this call
    const uint64_t *step;       // since creation
    const double *time;         // [s]
    const uint64_t *hash;
    const uint64_t *body_count; // how many bodies each world adds to the four columns below
    const double *pose, *velocity;
    const float *pose_single, *velocity_single;
    const uint32_t *contacts, *rows, *iterations;
    const int *converged;
    const uint64_t *unconverged_steps;
    const double *solver_time; // [s] of the last step
    MoreauCertificates last, worst;
    size_t failure_count; // worlds that failed: moreau_reply_failure
} MoreauStepResult;

// Steps one world or many. The status is that of the call; worlds that failed are listed beside it.
// `*reply` is set whenever an answer came (also after a deadline, with the steps that were done),
// and is the caller's to free; `result` is filled when *reply is set and holds a step's result.
MoreauStatus moreau_world_step(MoreauClient *client, const MoreauStep *step, MoreauReply **reply,
                               MoreauStepResult *result);
MoreauStatus moreau_submit_step(MoreauClient *client, const MoreauStep *step, uint64_t *id);

// Reads a received reply; false when it holds no step's result.
bool moreau_reply_step(const MoreauReply *reply, MoreauStepResult *result);

// The index-th failed world of a step's reply; false beyond the last.
bool moreau_reply_failure(const MoreauReply *reply, size_t index, MoreauError *error);

// A range of the contacts of a world's last step; columns are borrowed from the reply.
typedef struct MoreauContacts {
    uint64_t total; // contacts in the world
    size_t count;   // in the columns
    const uint64_t *body_a, *body_b, *feature;
    const double *point;    // 3 [m]
    const double *frame;    // 9: normal from a to b, tangent 1, tangent 2
    const double *gap;      // [m]
    const double *impulse;  // 3 [N s]
    const double *velocity; // 3 [m/s]
    const double *friction;
} MoreauContacts;

MoreauStatus moreau_world_contacts(MoreauClient *client, uint64_t world, uint64_t first,
                                   uint64_t count, MoreauReply **reply, MoreauContacts *contacts);

// State hashes of worlds; `hash` and `step` (Nullable) have room for `count`.
MoreauStatus moreau_world_hash(MoreauClient *client, size_t count, const uint64_t *worlds,
                               uint64_t *hash, uint64_t *step);

#ifdef __cplusplus
}
#endif
