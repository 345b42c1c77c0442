// SPDX-License-Identifier: MIT
// The part of libmoreau for worlds: settings, materials, shapes, bodies and joints as columns;
// steps and what they report; contacts, state hashes, snapshots. Columns and their lengths:
// moreau.h; ranges and defaults: moreau.proto.
#pragma once

#include "moreau_core.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    MOREAU_INTEGRATOR_MIDPOINT = 3,
    MOREAU_INTEGRATOR_RK4 = 4,   // that of four stages, where nothing pushes
    MOREAU_INTEGRATOR_VERLET = 5 // that of Störmer and Verlet, likewise
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
    // Nullable; any number, choice or flag of WorldSettings in the proto by its name there, also
    // one that this library has no member for
    const MoreauParameter *others;
    size_t other_count;
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
    const double *priority;         // whole; of two the numbers of the one with the higher count
} MoreauMaterials;

enum {
    MOREAU_SPHERE = 0,
    MOREAU_BOX = 1,
    MOREAU_PLANE = 2,
    MOREAU_CAPSULE = 3,
    MOREAU_CYLINDER = 4,
    MOREAU_HULL = 5,        // wears a geometry
    MOREAU_MESH = 6,        // likewise; on static and kinematic bodies
    MOREAU_HEIGHT_FIELD = 7 // likewise
};

// Shapes, each of one or several primitives.
typedef struct MoreauShapes {
    size_t count;                    // of shapes
    size_t primitive_total;          // of primitives
    const uint32_t *primitive_count; // per shape; NULL: one each
    const uint32_t *kind;            // per primitive: MOREAU_SPHERE …
    const double *size;              // 3 per primitive: radius 0 0; half extents; 0 0 0;
                                     // of a capsule or cylinder: radius, half length along z, 0
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
    const uint64_t *geometry;     // Nullable; per primitive: id of what it wears; 0: nothing
    // Nullable; 7 per primitive: ids of the materials of a surface's patches 1 … 7; 0: its own
    const uint64_t *patch_material;
} MoreauShapes;

// A convex polyhedron in a frame of its own, as moreau.proto has it (message Hull).
typedef struct MoreauHull {
    size_t point_count, face_count;
    const double *point;          // 3 each [m]
    const uint32_t *corner_count; // per face
    const uint32_t *corner;       // face after face: points, counter-clockwise seen from outside
} MoreauHull;

// A surface of triangles, and ground over a grid; likewise (messages Mesh and HeightField).
typedef struct MoreauMesh {
    size_t point_count, triangle_count;
    const double *point;    // 3 each [m]
    const uint32_t *corner; // 3 per triangle: points
    bool is_two_sided;
    const uint32_t *patch; // Nullable; per triangle: 0 … 7, see MoreauShapes.patch_material
} MoreauMesh;
typedef struct MoreauHeightField {
    uint32_t columns, rows; // along x, along y
    double spacing[2];      // [m]
    const double *height;   // row after row [m]
    const uint32_t *patch;  // Nullable; per cell, row after row
} MoreauHeightField;

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
    MOREAU_GEAR = 8,
    MOREAU_TENDON = 9
};

// Joints, as moreau.proto has them (message Joint). All but the kinds Nullable. Columns "per axis"
// have a number for each axis that the joints leave free, joint after joint; positions likewise,
// with four numbers for three turns. 1e18, or -1e18 of `low`: none.
typedef struct MoreauJoints {
    size_t count;
    size_t axis_count, position_count; // free axes and positions of all of them
    size_t coupling_count;             // what all tendons couple
    const uint32_t *kind;              // per joint: MOREAU_HINGE …
    const uint64_t *body_a, *body_b;   // per joint: ids; 0: the world
    const uint32_t *axes;            // per joint, of MOREAU_GENERIC: bits, moves along x y z, turns
    const double *frame_a, *frame_b; // 7 per joint, from the bodies' origins
    const uint32_t *as_rows, *collides;       // per joint: 0, 1
    const uint64_t *joint_a, *joint_b;        // per joint, of MOREAU_GEAR
    const uint32_t *coupled_count;            // per joint, of MOREAU_TENDON: how many axes
    const double *ratio, *length;             // per joint
    const double *break_force, *break_torque; // per joint [N], [N m]
    const char *const *names;                 // per joint
    // per axis that a tendon couples: a joint's id, which of its axes, its coefficient
    const uint64_t *coupled;
    const uint32_t *coupled_axes;
    const double *coefficients;
    // per axis
    const double *low, *high, *stiffness, *rest, *damping, *friction, *armature;
    const double *drive_stiffness, *drive_damping, *effort_max;
    const double *stall_effort, *no_load_speed, *lag_time, *delay_steps;
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
MoreauStatus moreau_world_add_hulls(MoreauClient *client, uint64_t world, const MoreauHull *hulls,
                                    size_t count, uint64_t *ids);
MoreauStatus moreau_world_add_meshes(MoreauClient *client, uint64_t world, const MoreauMesh *meshes,
                                     size_t count, uint64_t *ids);
MoreauStatus moreau_world_add_height_fields(MoreauClient *client, uint64_t world,
                                            const MoreauHeightField *fields, size_t count,
                                            uint64_t *ids);
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

// Of geometries that no shape wears.
MoreauStatus moreau_world_remove_geometries(MoreauClient *client, uint64_t world, size_t count,
                                            const uint64_t *geometries);

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
    const uint64_t *borrowed_steps;    // of this call, that took more than their share …
    const uint32_t *owed_steps;        // … and how many will not now; NULL: none of any world
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
    const uint32_t *part_a, *part_b; // Nullable: of servers before 0.2.0; which primitives touch
    const double *point;             // 3 [m]
    const double *frame;             // 9: normal from a to b, tangent 1, tangent 2
    const double *gap;               // [m]
    const double *impulse;           // 3 [N s]
    const double *velocity;          // 3 [m/s]
    const double *friction;
    const double *residual;        // Nullable: NULL in episodes; from the solver's model, over V
    const double *target_velocity; // Nullable: likewise; [m/s] asked of the normal velocity
} MoreauContacts;

MoreauStatus moreau_world_contacts(MoreauClient *client, uint64_t world, uint64_t first,
                                   uint64_t count, MoreauReply **reply, MoreauContacts *contacts);

// Rays of one world: each goes from its origin by its way, and ends there.
typedef struct MoreauRays {
    size_t count;
    const double *origin, *way; // 3 per ray [m]
    // Nullable; one per ray: 32 bits, as collision groups and masks of shapes
    const uint32_t *group, *mask;
} MoreauRays;

// What they meet first, a row per ray; columns are borrowed from the reply.
typedef struct MoreauRayHits {
    size_t count;
    const uint64_t *body;      // 0: nothing
    const uint32_t *primitive; // its place in the body's shape
    const double *fraction;    // of the way; 1 of a ray that meets nothing
    const double *point;       // 3 [m]
    const double *normal;      // 3, unit, out of the surface; 0 0 0: nothing
} MoreauRayHits;

MoreauStatus moreau_world_ray_cast(MoreauClient *client, uint64_t world, const MoreauRays *rays,
                                   MoreauReply **reply, MoreauRayHits *hits);

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

#ifdef __cplusplus
}
#endif
