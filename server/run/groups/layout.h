// SPDX-License-Identifier: MIT
// Layouts: which numbers of a world make the rows that go into a group's worlds and come out of
// them. A list of channels, by the names of a template, is compiled once into tables of indices;
// writing or reading a row is a walk over them. Alike for actions, observations, what is read
// beside them, bounds and noise.
//
//   channel   one thing of the world (a joint's rates, a body's place): up to seven numbers, or as
//             many as it has rays
//   column    one of these numbers, scaled
//
// What a channel reads is state of the world, or *felt* (felt.h): what happened in its last step.
//
// Indices are those of the template. A world that has lost bodies or joints has others: then they
// are looked up, and what is gone reads as zero.
#pragma once

#include "base/arena.h"
#include "run/groups/ray_channel.h"
#include "run/groups/sensor.h"
#include "step/step.h"

// The numbers are those of the wire.
typedef enum ChannelKind {
    CHANNEL_JOINT_EFFORT,
    CHANNEL_JOINT_TARGET,
    CHANNEL_JOINT_TARGET_VELOCITY,
    CHANNEL_JOINT_POSITION,
    CHANNEL_JOINT_VELOCITY,
    CHANNEL_BODY_FORCE,
    CHANNEL_BODY_TORQUE,
    CHANNEL_BODY_POSITION,
    CHANNEL_BODY_ROTATION,
    CHANNEL_BODY_VELOCITY,
    CHANNEL_BODY_SPIN,
    CHANNEL_BODY_LOCAL_VELOCITY,
    CHANNEL_BODY_LOCAL_SPIN,
    CHANNEL_CONTACT_FORCE,
    CHANNEL_ACTION,
    CHANNEL_TIME,
    CHANNEL_RAYS,
    CHANNEL_ACCELEROMETER,
    CHANNEL_GYROSCOPE,
    CHANNEL_JOINT_TORQUE,
    CHANNEL_JOINT_WRENCH,
    CHANNEL_CONTACT,
    CHANNEL_BODY_GEOMETRY,
    CHANNEL_COUNT
} ChannelKind;

// What a channel is for; which kinds there may be.
typedef enum LayoutUse { LAYOUT_ACTION, LAYOUT_READ, LAYOUT_NOISE } LayoutUse;

enum { LAYOUT_COLUMNS_MAX = 65536 };

#define LAYOUT_WEARS_NO_ONE                                                                        \
    "A body changes its geometry whose shape has one primitive that wears one: a hull, a mesh or " \
    "a height field."

#define LAYOUT_UNBOUNDED 0x1.fffffep+127 // the largest float: stands for no bound

typedef struct ChannelDef {
    ChannelKind kind;
    const char *joint, *body, *relative;     // names, or #n; NULL: not given
    uint64_t joint_id, body_id, relative_id; // 0: not given
    bool has_axes, has_low, has_high;
    uint32_t axes;
    double scale, offset, low, high;
    ChannelRays rays; // of CHANNEL_RAYS
    bool has_mount;   // of CHANNEL_ACCELEROMETER and _GYROSCOPE: where it sits in the body's axes,
    double mount[7];  // from its origin; default: there
    SensorDef sensor; // of what is read, but by rules
} ChannelDef;

typedef struct LayoutDef {
    LayoutUse use;
    const char *list; // its field, to blame: "observation"
    const char *item; // of a noise's channel ".channel", else ""
    size_t count;
    const ChannelDef *channel;
    uint32_t action_count; // columns of the action's layout, for CHANNEL_ACTION
    bool is_rule;          // what is read is judged: as it is
} LayoutDef;

typedef struct Channel {
    ChannelKind kind;
    uint32_t body, relative; // JOINT_NO_BODY: none
    uint32_t joint;          // JOINT_NONE: none
    uint32_t column_first, column_count;
    uint32_t felt_first, felt_count; // of what is felt
    const ChannelRays *rays;         // of CHANNEL_RAYS; else NULL
    Pose mount;
    SensorDef sensor;
} Channel;

typedef struct Column {
    uint32_t number; // which of the channel's
    double scale, offset, low, high;
} Column;

typedef struct Layout {
    Channel *channel;
    Column *column;
    uint32_t channel_count, column_count;
    uint32_t felt_count; // numbers that are felt
    uint32_t ray_count;  // of all channels of CHANNEL_RAYS
    size_t sensor_count; // numbers of sensor.h, of a world; 0: nothing stands in between
    bool feels_wrenches; // of joints
    bool feels_motion;   // how bodies moved as the step began
    LayoutUse use;
} Layout;

// A body or joint of that name, or, as #n, the n-th. false: there is none.
bool layout_body_named(const World *world, const char *name, uint32_t *body);
bool layout_joint_named(const World *world, const char *name, uint32_t *joint);
// Of `count` things, as #n.
bool layout_place_named(const char *name, size_t count, uint32_t *index);

// In the arena, which must outlive it. Blames observation[3].joint and the like.
Status layout_compile(const LayoutDef *def, const World *template, Arena *arena, Layout *layout,
                      Error *error);

enum { LAYOUT_NAME_BYTES = 320 };

// Of a column, as torso.position.x.
void layout_name(const Layout *layout, const World *template, uint32_t column,
                 char name[LAYOUT_NAME_BYTES]);

// What a row is read of.
typedef struct LayoutSource {
    const World *world, *template;
    const double *action; // as applied last
    const double *felt;   // [felt_count] of the layout
    Arena *scratch;       // for rays; as it was afterwards
    double begun;         // [s] when the episode began
} LayoutSource;

// Every number is finite.
void layout_read(const Layout *layout, const LayoutSource *source, double *row);

// Whose rows are told (sensor.h).
typedef struct LayoutTold {
    uint64_t seed, world, episode, length; // steps of it so far
    uint64_t stream;
    double time_step; // [s] between two rows
    bool is_new;      // of a step that was not told of yet, or of an episode's begin
} LayoutTold;

// `row` is what is so: it becomes what is told, and is kept where it is new. Before an episode's
// first row nothing changes. `numbers` are the layout's sensor_count, rows told so far before all.
void layout_tell(const Layout *layout, const LayoutTold *of, double *numbers, double *row);

// Whether stored ones, as bytes, may be a layout's.
bool layout_sensors_are_sound(const Layout *layout, const uint8_t *numbers);

// Where a thing of the template is in a world by now. false: gone.
bool layout_find_body(const World *world, const World *template, uint32_t body, uint32_t *found);
bool layout_find_joint(const World *world, const World *template, uint32_t joint, uint32_t *found);
