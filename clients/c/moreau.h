// SPDX-License-Identifier: MIT
// libmoreau: the C client of the Moreau contact-dynamics server.
//
// A MoreauClient is one connection. Blocking calls send one request and wait for its answer;
// submitted requests are pipelined: they return an id at once, and moreau_receive hands out the
// answers in the order in which they arrive. Both may be mixed on one connection. A few calls are
// answered by events first, and then by one last answer.
//
//     MoreauClient *client;
//     MoreauError why;
//     if (moreau_connect("127.0.0.1:7667", NULL, &client, &why) != MOREAU_OK) puts(why.message);
//     MoreauWorldDef def = moreau_world_def_default();
//     uint64_t world;
//     moreau_world_create(client, &def, &world); // and so on
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

// Whether and how a lost connection is taken up again. It is then opened anew, the session resumed,
// and what has no answer repeated: the server does nothing twice, a call that was waiting goes on
// waiting, and pipelined answers come as if nothing had happened. Calls with events are the
// exception: one that was cut in the middle ends with UNAVAILABLE, and may be made again.
//
// The server goes on with what it has received, until its --session-grace-ms are over; so a client
// that only wants to leave cancels first. When the session is gone (the grace time is over, or the
// server was started anew) the call fails, and every further one, with UNAVAILABLE.
typedef struct MoreauReconnect {
    unsigned attempts; // in a row, the first of them at once; default 0: never reconnect
    int wait_ms;       // before the second, then twice as long each time; default 50
    int wait_ms_max;   // default 2,000
    int total_ms; // from the loss on; default 25,000, less than a server's grace time; 0: no limit
} MoreauReconnect;

typedef struct MoreauOptions {
    const char *client_name; // for logs; default ""
    const char *token;       // where the server demands one; default NULL
    const char *resume;      // session of a lost connection, to take its worlds over; default NULL
    int connect_timeout_ms;  // for connecting and the greeting; default 10,000; 0: no limit
    int reply_timeout_ms;    // for a blocking call's next event or answer; default 0: no limit
    size_t reply_bytes_max;  // larger answers end the connection; default 256 MiB
    uint32_t protocol_major; // default: what this library speaks; for tests of the greeting
    MoreauReconnect reconnect; // default: none; moreau_connect itself tries once all the same
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

// False once the connection is lost, and will not be taken up again; every further call then fails
// with UNAVAILABLE.
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

// True: an event, after which more answers to the same request will come.
bool moreau_reply_is_event(const MoreauReply *reply);

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

// What takes the events of a call as they come; `event` is borrowed until it returns. Must not call
// the client, but may call everything that reads a reply. false: no more, please; the request is
// cancelled and still answered, with status CANCELLED when that was in time.
typedef bool MoreauEventProc(void *context, const MoreauReply *event);

// moreau_call for calls with events; `proc` is Nullable: they are dropped.
MoreauStatus moreau_call_events(MoreauClient *client, const void *request, size_t count,
                                MoreauEventProc *proc, void *context, MoreauReply **reply);

// The same without waiting; but a client that reconnects has no more requests under way than the
// server's limit requests-max, and takes in answers until it may send. *id is the request's.
MoreauStatus moreau_submit(MoreauClient *client, const void *request, size_t count, uint64_t *id);

// The next answer to a submitted request, in order of arrival; waits at most `timeout_ms`, for ever
// when it is negative. MOREAU_OK means that an answer is there, which may be a failed one: see
// moreau_reply_status, or an event, which leaves its request under way: see moreau_reply_is_event.
// FAILED_PRECONDITION: nothing was submitted. DEADLINE_EXCEEDED: nothing came.
MoreauStatus moreau_receive(MoreauClient *client, int timeout_ms, MoreauReply **reply);

// Submitted requests whose (last) answers moreau_receive has not handed out.
size_t moreau_in_flight(const MoreauClient *client);

// Asks the server to end a submitted request between two steps. It is still answered, and events
// that were on their way still come. *found,
// Nullable: false when it had been answered already.
MoreauStatus moreau_cancel(MoreauClient *client, uint64_t id, bool *found);

// The socket, to be polled for reading by an event loop; -1 when the connection is lost. Poll only
// while moreau_has_received is false: answers that were read together wait in the client. A client
// that reconnects does so in moreau_receive, which then may wait longer than it was told to, by
// connect_timeout_ms; the socket is another one afterwards.
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
    MOREAU_RESTITUTION_THRESHOLD = 8,
    MOREAU_INTEGRATOR = 16,
    MOREAU_ROTATION = 32,
    MOREAU_RECOVERY_SPEED = 64,
    MOREAU_CONTACT_PLANE = 128,
    MOREAU_BOUNDS = 256,
    MOREAU_SLEEP_SPEED = 512,
    MOREAU_SLEEP_TIME = 1024,
    MOREAU_JOINT_PROJECTION = 2048
};

// Which velocity moves positions and orientations: that after a step, that before, or their mean.
typedef enum MoreauIntegrator {
    MOREAU_INTEGRATOR_SYMPLECTIC = 0,
    MOREAU_INTEGRATOR_EXPLICIT = 1,
    MOREAU_INTEGRATOR_IMPLICIT = 2,
    MOREAU_INTEGRATOR_MIDPOINT = 3
} MoreauIntegrator;

// Where the gyroscopic torque is taken: at the mean spin of a step, that before it or after it.
typedef enum MoreauRotation {
    MOREAU_ROTATION_MIDPOINT = 0,
    MOREAU_ROTATION_EXPLICIT = 1,
    MOREAU_ROTATION_IMPLICIT = 2
} MoreauRotation;

// Where the plane of a contact is taken from (WorldSettings.ContactPlane in the proto).
typedef enum MoreauContactPlane {
    MOREAU_CONTACT_PLANE_APPROACH = 0, // the free motion of the step: what misses is not touched
    MOREAU_CONTACT_PLANE_START = 1     // where bodies are when it begins
} MoreauContactPlane;

typedef struct MoreauSettings {
    unsigned given;
    double gravity[3];            // [m/s^2]
    double time_step;             // [s]
    double margin;                // [m]
    double restitution_threshold; // [m/s]
    double recovery_speed;        // [m/s]
    MoreauIntegrator integrator;
    MoreauRotation rotation;
    MoreauContactPlane contact_plane;
    // [m] x y z: a dynamic body whose centre of mass is outside after a step is removed. Both zero:
    // there are none.
    double bounds_lower[3], bounds_upper[3];
    double sleep_speed,
        sleep_time; // [m/s], [s]: what is slower for so long falls asleep; 0: nothing
    bool joint_projection;
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
    const double *hertz_exponent;   // 1, 1.5 … 3
} MoreauMaterials;

enum { MOREAU_SPHERE = 0, MOREAU_BOX = 1, MOREAU_PLANE = 2, MOREAU_CAPSULE = 3 };

// Shapes, each of one or several primitives.
typedef struct MoreauShapes {
    size_t count;                    // of shapes
    size_t primitive_total;          // of primitives
    const uint32_t *primitive_count; // per shape; NULL: one each
    const uint32_t *kind;            // per primitive: MOREAU_SPHERE …
    const double *size;              // 3 per primitive: radius 0 0; half extents; 0 0 0;
                                     // of a capsule: radius, half length along z, 0 [m]
    const double *pose;              // Nullable; 7 per primitive, in the body
    const uint64_t *material;        // Nullable; per primitive
    const double *density;           // Nullable; per primitive [kg/m^3]
    // elastic foundations of boxes; all Nullable, and all but the damping given together
    const uint32_t *foundation_face;  // per primitive; 0: none; 1 … 6: +x -x +y -y +z -z
    const uint32_t *foundation_cells; // 2 per primitive
    const double *foundation_modulus; // per primitive [Pa]
    const double *foundation_depth;   // per primitive [m]
    const double *foundation_damping; // per primitive [N s/m]
    const uint32_t *group, *mask; // Nullable; per primitive: collision groups that it is in, and
                                  // that it collides with, as bits (default 1, and all)
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

enum {
    MOREAU_HINGE = 0,
    MOREAU_SLIDER = 1,
    MOREAU_BALL = 2,
    MOREAU_UNIVERSAL = 3,
    MOREAU_FIXED = 4,
    MOREAU_FREE = 5,
    MOREAU_GENERIC = 6,
    MOREAU_DISTANCE = 7,
    MOREAU_GEAR = 8
};

// Joints, as moreau.proto has them (message Joint). All but the kinds Nullable. Columns "per axis"
// have a number for each axis that the joints leave free, joint after joint; positions likewise,
// with four numbers for three turns. 1e18, or -1e18 of `low`: none.
typedef struct MoreauJoints {
    size_t count;
    size_t axis_count, position_count; // free axes and positions of all of them
    const uint32_t *kind;              // per joint: MOREAU_HINGE …
    const uint64_t *body_a, *body_b;   // per joint: ids; 0: the world
    const uint32_t *axes;            // per joint, of MOREAU_GENERIC: bits, moves along x y z, turns
    const double *frame_a, *frame_b; // 7 per joint, from the bodies' origins
    const uint32_t *as_rows, *collides;       // per joint: 0, 1
    const uint64_t *joint_a, *joint_b;        // per joint, of MOREAU_GEAR
    const double *ratio, *length;             // per joint
    const double *break_force, *break_torque; // per joint [N], [N m]
    const char *const *names;                 // per joint
    // per axis
    const double *low, *high, *stiffness, *rest, *damping, *friction, *armature;
    const double *drive_stiffness, *drive_damping, *effort_max;
    const double *velocity, *target, *target_velocity, *effort;
    const double *position; // per position
} MoreauJoints;

// Numbers of joints to change, all but the ids Nullable.
typedef struct MoreauJointState {
    size_t count;
    size_t axis_count, position_count;                          // of all of them
    const uint64_t *joints;                                     // ids
    const double *position;                                     // per position
    const double *velocity, *target, *target_velocity, *effort; // per axis
} MoreauJointState;

// Add all or nothing. `ids` is Nullable, else room for `count` ids.
MoreauStatus moreau_world_add_materials(MoreauClient *client, uint64_t world,
                                        const MoreauMaterials *materials, uint64_t *ids);
MoreauStatus moreau_world_add_shapes(MoreauClient *client, uint64_t world,
                                     const MoreauShapes *shapes, uint64_t *ids);
MoreauStatus moreau_world_add_bodies(MoreauClient *client, uint64_t world,
                                     const MoreauBodies *bodies, uint64_t *ids);

MoreauStatus moreau_world_add_joints(MoreauClient *client, uint64_t world,
                                     const MoreauJoints *joints, uint64_t *ids);

// Changes the numbers of joints, all or none.
MoreauStatus moreau_world_set_joints(MoreauClient *client, uint64_t world,
                                     const MoreauJointState *state);

// Removes bodies and shapes, by id, all or none.
MoreauStatus moreau_world_remove(MoreauClient *client, uint64_t world, size_t body_count,
                                 const uint64_t *bodies, size_t shape_count,
                                 const uint64_t *shapes);

MoreauStatus moreau_world_remove_joints(MoreauClient *client, uint64_t world, size_t count,
                                        const uint64_t *joints);

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
    uint64_t removed; // bodies that have left the bounds since creation
    size_t count;     // bodies in the columns
    const uint64_t *ids;
    const double *pose, *velocity;
    const double *mass, *inertia, *center_of_mass; // with `definition`
    const uint32_t *kind;                          // with `definition`
    const uint64_t *shape;                         // with `definition`
    const int *asleep;                             // where sleep_speed is above 0
} MoreauWorldState;

#define MOREAU_ALL UINT64_MAX // as `count`: all the rest

// Reads bodies [first, first + count) into columns of the reply, which is the caller's to free.
MoreauStatus moreau_world_get(MoreauClient *client, uint64_t world, uint64_t first, uint64_t count,
                              bool definition, MoreauReply **reply, MoreauWorldState *state);

// The numbers of all joints; columns are borrowed from the reply.
typedef struct MoreauJointNumbers {
    size_t count, axis_count, position_count;
    uint64_t removed;       // joints that broke, or were removed, since creation
    const uint64_t *joints; // ids
    const uint32_t *axes;   // of each: those that it leaves free, a sum of 2^axis
    const double *position; // per position
    const double *velocity, *target, *target_velocity, *effort; // per axis
    const double *wrench; // 6 per joint [N], [N m], on b at b's frame; NULL: not asked for
} MoreauJointNumbers;

// `wrenches`: also what joints carried in the step that was the last thing to happen to the world.
// *reply is the caller's to free.
MoreauStatus moreau_world_get_joints(MoreauClient *client, uint64_t world, bool wrenches,
                                     MoreauReply **reply, MoreauJointNumbers *numbers);

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

    // Targets and efforts of joints, set before the first step; they hold until they are changed.
    const uint32_t *joint_share;      // Nullable; per world: how many of the joints are its
    const uint32_t *joint_axis_share; // Nullable; per world: how many axes those have; one each
    const uint64_t *joints;           // [joint_count] ids
    size_t joint_count, joint_axis_count;
    const double *joint_target, *joint_target_velocity, *joint_effort; // per axis, Nullable
    bool joint_positions, joint_velocities;                            // return them; default false
    bool joint_wrenches; // what joints carried in the last step; default false
    bool broken_joints;  // ids of those that broke; default false
} MoreauStep;

MoreauStep moreau_step_default(void);

// One number per world and entry of the certificate; NULL where the server sent none.
typedef struct MoreauCertificates {
    const double *e_mom, *e_pen, *e_comp, *e_cone, *e_mdp, *e_ds, *e_own, *e_row;
    const double *penetration; // [m]
} MoreauCertificates;

// Islands that the solver left open, one number per world; of the one with the largest residual,
// what it is. Zeros where all were solved.
typedef struct MoreauOpen {
    const uint32_t *islands, *islands_open;
    const uint64_t *body; // of that island, at its worst contact
    const uint32_t *contacts;
    const double *residual;
    const int *reason; // Certificate.Reason
} MoreauOpen;

// What convex friction does beside friction, one number per world: zeros where nothing slides, or
// friction is Coulomb's.
typedef struct MoreauLaunches {
    const double *speed;             // [m/s] largest normal velocity that it gave a contact
    const double *gliding;           // [m] how far above touching the highest such contact is
    const uint64_t *body_a, *body_b; // of the contact with the largest speed; 0: none
} MoreauLaunches;

// The energy book of the last step [J], as EnergyColumns; what came later is NULL where it is not.
typedef struct MoreauEnergies {
    const double *before, *after; // after with the bodies that left
    const double *contact, *row, *applied, *scheme, *unexplained, *drive, *swing;
} MoreauEnergies;

// Columns with one entry per world, in the order of the request; borrowed from the reply, NULL when
// they were not asked for.
typedef struct MoreauStepResult {
    size_t world_count;
    const uint64_t *steps_done, *step; // of this call; since creation
    const double *time;                // [s]
    const uint64_t *hash;
    const uint64_t *body_count; // how many bodies each world adds to the four columns below
    const double *pose, *velocity;
    const float *pose_single, *velocity_single;
    const uint32_t *contacts, *rows, *iterations;
    const int *converged;
    const uint64_t *unconverged_steps;
    const double *solver_time;         // [s] of the last step
    const uint32_t *recovery_contacts; // of the last step, whose overlap recovery_speed holds back
    const uint64_t *recovery_steps;    // that had such contacts
    const uint32_t *softened;          // of the last step, whose targets ccp softened …
    const uint64_t *softened_steps;    // … and steps that had such; NULL: none of any world
    const uint32_t *idle, *asleep;     // left out as they move nothing; bodies asleep; NULL: none
    const uint64_t *idle_steps;        // of this call, that left some out; NULL: none of any world
    MoreauCertificates last, worst;
    MoreauOpen open, worst_open;     // of the last step, and of the worst; NULL: all were solved
    const uint64_t *worst_open_step; // since creation; 0: all were solved
    MoreauLaunches launch, worst_launch; // of the last step, and of the worst; NULL: none launched
    const uint64_t *worst_launch_step;   // since creation; 0: none launched
    MoreauEnergies energy;
    const double *gained;    // [J] of this call; NULL: none of any world
    const uint64_t *removed; // bodies that left the bounds in this call; NULL: none of any world
    size_t failure_count;    // worlds that failed: moreau_reply_failure

    // how many joints, axes and positions each world adds to the columns below
    const uint32_t *joint_count, *joint_axis_count, *joint_position_count;
    const double *joint_position, *joint_velocity;
    const float *joint_position_single, *joint_velocity_single;
    const double *joint_wrench;    // 6 per joint: force [N], torque [N m] on b, at b's frame
    const uint64_t *broken_joints; // of this call, with `reports`; NULL: none of any world
    const uint32_t *broken_count;  // how many each world adds to the next; NULL: none of any
    const uint64_t *broken;        // ids
} MoreauStepResult;

// Steps one world or many. The status is that of the call; worlds that failed are listed beside it,
// and of a call that steps one world only, its failure is the status.
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
    const double *residual;        // Nullable: NULL in episodes; from the solver's model, over V
    const double *target_velocity; // Nullable: likewise; [m/s] asked of the normal velocity
} MoreauContacts;

MoreauStatus moreau_world_contacts(MoreauClient *client, uint64_t world, uint64_t first,
                                   uint64_t count, MoreauReply **reply, MoreauContacts *contacts);

// State hashes of worlds; `hash` and `step` (Nullable) have room for `count`. When some failed, as
// unknown ones, the status is that of the first, and the others' hashes are there: its own is 0.
MoreauStatus moreau_world_hash(MoreauClient *client, size_t count, const uint64_t *worlds,
                               uint64_t *hash, uint64_t *step);

// --------------------------------------------------------------------------------------------
// snapshots

// A snapshot is all that a world's future depends on. On the server it is an id, which belongs to
// the session; downloaded it is bytes that any server of the same dynamics version takes.
typedef struct MoreauSnapshot {
    uint64_t id;
    uint64_t bytes;
    uint64_t hash; // state hash of the world
    uint64_t step; // since the world's creation
} MoreauSnapshot;

MoreauStatus moreau_snapshot_take(MoreauClient *client, uint64_t world, MoreauSnapshot *snapshot);

// All of a snapshot's bytes into `data`, part by part. `bytes` is MoreauSnapshot.bytes;
// OUT_OF_RANGE when the snapshot has another size.
MoreauStatus moreau_snapshot_download(MoreauClient *client, uint64_t snapshot, void *data,
                                      size_t bytes);

// The way back. *snapshot is the id; nothing is left on the server when it fails.
MoreauStatus moreau_snapshot_upload(MoreauClient *client, const void *data, size_t bytes,
                                    uint64_t *snapshot);

// Makes a world what a snapshot says. `hash` and `step`, of the world as it is then, are Nullable.
MoreauStatus moreau_snapshot_restore(MoreauClient *client, uint64_t world, uint64_t snapshot,
                                     uint64_t *hash, uint64_t *step);

typedef struct MoreauClone {
    uint64_t snapshot; // one of the two; the other is 0
    uint64_t world;
    size_t count;     // default 1
    const char *name; // Nullable; of several clones: with -1, -2 … behind it
    MoreauLifetime lifetime;
    double idle_timeout_s; // 0: never
} MoreauClone;

MoreauClone moreau_clone_default(void);

// Makes new worlds from a snapshot, or from a world as it is now. `worlds`: room for `count` ids.
MoreauStatus moreau_snapshot_clone(MoreauClient *client, const MoreauClone *clone,
                                   uint64_t *worlds);

MoreauStatus moreau_snapshot_drop(MoreauClient *client, uint64_t snapshot);

// --------------------------------------------------------------------------------------------
// episodes: what happened in a world, recorded (the server needs its option --db)

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
