// SPDX-License-Identifier: MIT
// A world: settings, materials, shapes, bodies, and the little memory that the next step needs.
// Flat arrays, one entry per thing.
//
// The struct is open because the step, the collision and the snapshot are written over its arrays;
// everyone else goes through the functions. Invariants: all numbers finite, and those of the state
// and the impulses within what a float holds, as replies may say them in floats; orientations unit;
// body i's arrays are [i]; ids name materials, shapes and bodies from outside, indices inside.
// Positions are those of the centre of mass; world_body_pose gives the origin's. A world belongs to
// one thread at a time. Nothing here reads a clock or knows a step.
#pragma once

#include "base/status.h"
#include "base/sum.h"
#include "world/body.h"
#include "world/joint.h"
#include "world/material.h"
#include "world/settings.h"
#include "world/shape.h"
#include "world/tree.h"

// An impulse of the last step, to start the next one from. Sorted by bodies, parts and feature.
typedef struct ContactMemory {
    uint32_t a, b;           // body indices, a < b
    uint32_t part_a, part_b; // which primitives of their shapes
    uint64_t feature;        // where these touch (collide/narrow.h)
    double impulse[3];       // on b, world axes [N s]
} ContactMemory;

static inline bool world_memory_precedes(const ContactMemory *a, const ContactMemory *b) {
    if (a->a != b->a) {
        return a->a < b->a;
    }
    if (a->b != b->b) {
        return a->b < b->b;
    }
    if (a->part_a != b->part_a) {
        return a->part_a < b->part_a;
    }
    return a->part_b != b->part_b ? a->part_b < b->part_b : a->feature < b->feature;
}

// An impulse of a row of a joint in the last step, likewise; sorted by (joint, part).
typedef struct JointMemory {
    uint32_t joint, part; // index; which row of it (step/joints/tree_rows.c)
    double impulse;       // [N s], [N m s]
} JointMemory;

typedef struct WorldSleep WorldSleep; // sleep.h

typedef struct WorldLimits {
    uint32_t body_count_max;
    size_t bytes_max;
    GeometryShelf *shelf; // Nullable: then a world has no geometries. Outlives it
} WorldLimits;

// A geometry that primitives may wear; held. Primitives have its number, 1 more than its index.
typedef struct WorldGeometry {
    uint32_t id;
    uint8_t digest[SHA256_BYTES]; // its own again, for snapshots
    const Geometry *geometry;
} WorldGeometry;

enum { SOLVER_FAILURES_MAX = 10, SOLVER_WAIT_MAX = 64 };

typedef struct World {
    WorldSettings settings;
    WorldLimits limits;
    uint64_t step; // steps since creation
    Sum time;      // [s]

    Material *material; // [0] is the built-in one
    size_t material_count, material_capacity;
    MaterialPair *material_pair; // those whose friction is their own, in order; NULL: none
    size_t material_pair_count, material_pair_capacity;

    WorldGeometry *geometry; // number 1 is [0]
    size_t geometry_count;
    uint32_t geometry_capacity;
    uint32_t geometry_id_next; // of the next geometry; as of shapes, below

    Primitive *primitive;
    size_t primitive_count, primitive_capacity;
    Shape *shape;
    size_t shape_count, shape_capacity;
    uint32_t shape_id_next; // of the next shape; ids rise with the index and are never given again
    uint32_t joint_under_way_capacity;

    // bodies
    uint32_t body_count;
    uint32_t dynamic_count;
    uint32_t body_capacity;
    bool faulted; // the last step ended in numbers that are not finite and was undone
    // steps on end whose solver tried in vain, and steps for which it tries less (step/patience.c)
    uint8_t solver_failures, solver_wait;

    // caches: derived from what else stands here
    bool has_center : 1;   // some centre of mass is not the origin
    bool bodies_moved : 1; // from outside, added or removed: collision caches are stale
    bool definition_is_hashed : 1;

    Id body_id_next;  // of the next body; ids rise with the index and are never given again
    void *body_block; // owned: holds the columns of bodies, from here to body_capacity
    Id *body_id;
    uint8_t *kind;        // BodyKind
    uint32_t *body_shape; // shape index, UINT32_MAX: none
    BodyMass *mass;
    double *pose;     // 7: centre of mass, orientation
    double *velocity; // 6: linear, angular; world axes
    char **body_name; // entries owned, NULL: nameless

    // joints; the columns of their axes and of their positions are flat
    Id joint_id_next; // of the next joint; as of bodies
    Joint *joint;
    size_t joint_count, joint_capacity;
    JointAxis *joint_axis;
    double *joint_velocity, *joint_target_velocity; // [m/s], [rad/s]
    double *joint_target;                           // [m], [rad]; of a drive
    double *joint_effort;                           // fed forward [N], [N m]
    size_t joint_axis_count, joint_axis_capacity;   // of all five columns
    double *joint_under_way;                        // of their commands (world_commands.h)
    double *joint_position;                         // [m], [rad], unit quaternions
    size_t joint_position_count, joint_position_capacity;

    Coupling *coupling; // of all tendons, in their order; NULL: there never was one
    size_t coupling_count, coupling_capacity;

    ContactMemory *memory;
    size_t memory_count, memory_capacity;
    JointMemory *joint_memory;
    size_t joint_memory_count, joint_memory_capacity;
    WorldSleep *sleep; // owned. Nullable

    // caches: derived from the above
    WorldTrees *trees;        // owned; NULL: there never was a joint
    uint64_t definition_hash; // of everything but the state; valid while definition_is_hashed
    double friction_max;      // no two materials have more
    size_t name_bytes;        // of bodies' and joints' names, with their ends
} World;

// NULL when memory ends.
World *world_create(const WorldLimits *limits);
void world_destroy(World *world);

// Memory held [bytes].
size_t world_bytes(const World *world);

// A name of a body or joint, as the world's own; NULL: memory ends. And an end of it (NULL: none).
char *world_keep_name(World *world, const char *name);
void world_drop_name(World *world, char *name);

// Of two worlds that were made alike: whether neither has lost a body or a joint since.
bool world_is_alike(const World *a, const World *b);

// Puts the state of one world, all that its future depends on beside its definition, into another
// that is alike. false: memory ended, and only its sleep may have changed.
bool world_copy_state(World *to, const World *from);
// Its part of which geometries are worn.
void world_copy_worn(World *to, const World *from);
// Its part of centres of mass that lie elsewhere: positions and velocities of the other world's
// become those of the same origins.
void world_keep_origins(World *to, const World *from);

// Replaces the settings, which have passed their checks. What differs wakes all who sleep.
void world_set_settings(World *world, const WorldSettings *settings);

// Adds `count` materials, all or none; their ids are 1 more than their indices less the built-in
// one: the first is 1. Blames materials[i]… .
Status world_add_materials(World *world, const Material *materials, size_t count, Id *ids,
                           Error *error);

enum { GEOMETRY_COUNT_MAX = 65536 };

// Adds geometries, all or none; each is held by the world beside who gives it. Ids follow each
// other, from 1 on.
Status world_add_geometries(World *world, const Geometry *const *geometries, size_t count, Id *ids,
                            Error *error);

// false: the id names no geometry. And its error, which blames `field`.
bool world_find_geometry(const World *world, uint64_t id, uint32_t *geometry);
Status world_blame_geometry(const World *world, uint64_t id, const char *field, Error *error);

// The one primitive of a body's shape that wears a geometry. false: none does, or several do.
bool world_find_worn(const World *world, uint32_t body, uint32_t *primitive);

// Has it wear another geometry of its kind, by its id: the body, and all that have its shape.
// Masses stay as they are. What differs wakes all who sleep and forgets what contacts bore. Blames
// geometry.
Status world_wear(World *world, uint32_t body, uint64_t id, Error *error);
// Only judges.
Status world_check_wear(const World *world, uint32_t body, uint64_t id, Error *error);

// Of all that is worn: differs where a body took another. 0: there are no geometries.
uint64_t world_worn_hash(const World *world);

typedef struct ShapeColumns {
    size_t shape_count, primitive_count;
    const uint32_t *primitives_of_shape; // NULL: one each
    const uint32_t *kind;                // PrimitiveKind
    const double *size;                  // 3
    const double *pose;                  // 7, NULL: identity
    const uint64_t *material;            // id, NULL or 0: built-in
    const double *density;               // NULL: 1000
    // foundations, NULL: none have one, and the others are not read
    const uint32_t *foundation_face;  // Foundation.face
    const uint32_t *foundation_cells; // 2
    const double *foundation_modulus, *foundation_depth;
    const double *foundation_damping; // NULL: 0
    const uint32_t *group, *mask;     // bits, NULL: 1 and all
    const uint64_t *geometry;         // id, NULL or 0: none
    // MESH_PATCHES_MAX - 1: ids, of patches 1, 2 …; NULL or 0: the primitive's
    const uint64_t *patch_material;
} ShapeColumns;

Status world_add_shapes(World *world, const ShapeColumns *columns, Id *ids, Error *error);

Status world_add_bodies(World *world, const BodyColumns *columns, Id *ids, Error *error);

// All or none. Where nothing else is given, joints of coordinates begin as the bodies stand and
// move, but for what they do not leave free; then their bodies are placed by them.
Status world_add_joints(World *world, const JointColumns *columns, Id *ids, Error *error);

// false: the id names no joint.
bool world_find_joint(const World *world, Id id, uint32_t *joint);

// Blames `field` for an id that names no joint, and says whether it ever did.
Status world_blame_joint(const World *world, Id id, const char *field, Error *error);

// The joint of coordinates that a body is the child of, or JOINT_NONE.
uint32_t world_joint_of_child(const World *world, uint32_t body);

// All or none. Positions and velocities are those of joints of coordinates, and place their bodies:
// then it wakes whom it disturbs, forgets what contacts bore, and a fault.
Status world_update_joints(World *world, const JointUpdate *update, Error *error);
// Only judges.
Status world_check_joint_update(const World *world, const JointUpdate *update, Error *error);

// Judges position numbers of a joint that come from outside; blames column[first …]. Makes the
// quaternion of three turns unit, which has passed.
Status world_check_joint_position(uint8_t axes, const double *position, const char *column,
                                  size_t first, Error *error);
void world_normalize_joint_position(uint8_t axes, double *position);

// What a gear or a tendon couples, the former as what must add up to 0; 0 of other joints.
uint32_t world_coupling_count(const Joint *joint);
Coupling world_coupling(const World *world, const Joint *joint, uint32_t index);

// The bodies that a joint joins, or those that are joined by what it couples: JOINT_NO_BODY may be
// among them, and one may be there more than once.
uint32_t world_joint_end_count(const Joint *joint);
uint32_t world_joint_end(const World *world, const Joint *joint, uint32_t index);

// For a snapshot that is being read: gives tendons their couplings. false: they do not fit them.
bool world_place_couplings(World *world);

// Only for world_joints.c: what the columns say of joint i, whose couplings begin at `first` of
// them and are read to behind those that there are; and of joints that are about to go, marked by
// their `place`, the couplings.
Status world_load_couplings(World *world, const JointColumns *columns, uint32_t i, size_t first,
                            Joint *joint, Error *error);
void world_move_couplings(World *world);
void world_measure_tendon(const World *world, const Joint *joint, double *position,
                          double *velocity);
// A joint that there is, or that comes before another in the columns; NULL: none.
Joint *world_find_coupled(World *world, Id id, uint32_t before, uint32_t *index);

// Where the frame of a joint is, of its side a or b, in world axes.
Pose world_joint_frame(const World *world, const Joint *joint, int side);

// Its position as the bodies stand, as one that was at `before` has come to it.
void world_follow_joint(const World *world, const Joint *joint, const double *before,
                        double *position);

// The numbers of a joint, from its bodies; of a tendon from those of what it couples.
void world_measure_joint(const World *world, const Joint *joint, double *position,
                         double *velocity);

// Those of all joints of rows, as their bodies are now; beyond what a float holds, the largest that
// one does. Steps and inputs that would come there are undone or refused, but where joints are gone
// trees are placed anew: some roundings of far away from where they were, as fast as before.
void world_follow_bodies(World *world);

// Whether no body is farther away or faster than it may be set to be. Then nothing that a world may
// be told takes a number of its state beyond what a float holds: a link adds at most 1e10 to where
// the next one is and to how it spins, and of a million links the last has 1e16 of both, 1e32 m/s.
bool world_is_tame(const World *world);

// FAILED_PRECONDITION: a number of the state of a body, or a joint, is beyond what a float holds.
Status world_check_numbers(const World *world, Error *error);

// Joints came or went, or the numbers of some were set.
void world_joints_changed(World *world);

// Takes joints out, whose indices rise, and the gears and tendons that couple one of them; the
// others keep their order.
void world_remove_joints(World *world, const uint32_t *joints, uint32_t count);

// For a snapshot that is being read: room for the columns of as many axes; whether `count` joints
// that stand behind those that there are make trees; whether all that joints are can be so, and all
// that their numbers are.
bool world_reserve_joint_axes(World *world, size_t count);
Status world_check_trees(const World *world, uint32_t count, Error *error);
bool world_joint_is_sound(const World *world, size_t index);
bool world_joints_are_sound(const World *world);
bool world_joint_state_is_sound(const World *world);

// Only for world.c. The joints of bodies that are about to be removed go with them, and those of
// the others name them by their new indices.
void world_remove_joints_of(World *world, const uint32_t *bodies, uint32_t count);
size_t world_joint_bytes(const World *world);
void world_free_joints(World *world);

// Room for the trees of as many; before bodies or joints are added. false: memory ends.
bool world_reserve_trees(World *world, size_t body_count, size_t joint_count);
size_t world_tree_bytes(const World *world);
void world_free_trees(World *world);

// The trees, anew; and their bodies' columns, from the numbers of the joints.
void world_build_trees(World *world);
void world_place_trees(World *world);

// After the numbers of joints or the state of bodies were set: the columns of what hangs by
// coordinates, and then the numbers of what rows join. Whoever sets any must end with it.
void world_settle_joints(World *world);

// Takes geometries out, whose indices rise and which nothing wears.
void world_remove_geometries(World *world, const uint32_t *geometries, uint32_t count);

// For removing: how many of `bodies`, which rise, are below `body`; whether it is one of them.
uint32_t world_count_below(const uint32_t *bodies, uint32_t count, uint32_t body, bool *is_one);
// Impulses between those that stay, by their new indices; how many.
size_t world_renumber_memory(ContactMemory *memory, size_t memory_count, const uint32_t *bodies,
                             uint32_t count);

// Takes bodies out, whose indices rise, and the joints that hold them. Those behind them move down,
// so that all keep their order; impulses between those that stay are remembered.
void world_remove_bodies(World *world, const uint32_t *bodies, uint32_t count);

// What to remove, by id.
typedef struct RemoveOrder {
    size_t body_count;
    const uint64_t *body;
    size_t shape_count;
    const uint64_t *shape;
    size_t joint_count;
    const uint64_t *joint;
    size_t geometry_count;
    const uint64_t *geometry;
} RemoveOrder;

// All or none. Blames bodies[i], joints[i], shapes[i] and geometries[i]: an id that names nothing
// or stands twice, a shape that a body has which stays, a body that a joint holds which stays, a
// geometry that a shape wears which stays. What rested on the
// bodies wakes; where bodies go, a fault is forgotten.
Status world_remove(World *world, const RemoveOrder *order, Error *error);

// How many bodies were ever removed; and joints, or broke.
uint64_t world_removed_count(const World *world);
uint64_t world_removed_joint_count(const World *world);

// false: the id names no body.
bool world_find_body(const World *world, Id id, uint32_t *body);

// The same for a shape.
bool world_find_shape(const World *world, Id id, uint32_t *shape);

// Blames `field` for an id that names no body, and says whether it ever did.
Status world_blame_body(const World *world, Id id, const char *field, Error *error);

// Judges a list of ids from outside, in which none may stand twice: blames column[i], the second.
Status world_check_once(const uint64_t *id, size_t count, const char *column, Error *error);

// Bodies to change, each once; columns are NULL where unchanged. An inertia that is not given goes
// with the mass.
typedef struct BodyUpdate {
    size_t count;
    const uint64_t *id;
    const double *pose;
    const double *velocity;
    const double *mass;    // [kg]
    const double *inertia; // 6: xx yy zz xy xz yz about the centre of mass, body axes
} BodyUpdate;

// All or none. Wakes whom it disturbs, forgets the contact memory of the bodies moved, and a fault.
Status world_update_bodies(World *world, const BodyUpdate *update, Error *error);

// The velocities of bodies that are no links of trees, [count] six each, as world_update_bodies
// sets them, for who does so in every step: nothing is checked, and a fault is not forgotten.
void world_drive_bodies(World *world, const uint32_t *bodies, size_t count, const double *velocity);

// Puts the centre of a dynamic body's mass elsewhere, [3] in body axes: its origin, its shapes, the
// frames of its joints and the velocities of its points stay, and the inertia about the centre.
// Wakes whom it disturbs, and forgets a fault. Blames center_of_mass.
Status world_move_center(World *world, uint32_t body, const double center[3], Error *error);

// The state of a body from a pose of its origin: normalised, and moved to the centre of mass. And
// its velocity, in which a zero has no sign where no force changes it: by the bytes a kinematic
// body that rests is told from one that moves.
void world_place_body(World *world, uint32_t body, const double pose[7]);
void world_move_body(World *world, uint32_t body, const double velocity[6]);

// Numbers of materials to change; columns are NULL where unchanged.
typedef struct MaterialUpdate {
    size_t count;
    const uint64_t *id; // not 0: the built-in one stays what it is
    const double *friction, *restitution;
    const double *stiffness; // HUGE_VAL: infinite
    const double *dissipation_time, *damping, *hertz_exponent;
} MaterialUpdate;

// Shapes that get other materials.
typedef struct ShapeUpdate {
    size_t count;
    const uint64_t *id;
    size_t primitive_count;   // of all of them
    const uint64_t *material; // per primitive of them: id, 0: the built-in one
} ShapeUpdate;

// Pairs of materials, by their ids, 0 the built-in one, and the friction of their contacts; one
// that had some gets another, and of one that is named twice the last counts.
typedef struct PairUpdate {
    size_t count;
    const uint64_t *a, *b;
    const double *friction;
} PairUpdate;

// All or none. Whoever sleeps wakes; impulses stay to start from. Checks only judge.
Status world_update_materials(World *world, const MaterialUpdate *update, Error *error);
Status world_check_material_update(const World *world, const MaterialUpdate *update, Error *error);
Status world_update_shapes(World *world, const ShapeUpdate *update, Error *error);
Status world_check_shape_update(const World *world, const ShapeUpdate *update, Error *error);
// Of pairs: makes room for so many more, so that what is checked cannot fail.
Status world_check_pair_update(const World *world, const PairUpdate *update, Error *error);
Status world_reserve_pairs(World *world, size_t count, Error *error);
void world_update_pairs(World *world, const PairUpdate *update);

// What a contact of two materials is like, by their indices. And what bounds the friction of all
// that may be, once materials, pairs or the rule are others.
Material world_combine_materials(const World *world, uint32_t a, uint32_t b);
void world_settle_friction(World *world);
double world_own_friction(const World *world, size_t material); // of two of the same

// The origin's pose of a body, as on the wire.
void world_body_pose(const World *world, uint32_t body, double pose[7]);

const Shape *world_body_shape(const World *world, uint32_t body); // NULL: none
