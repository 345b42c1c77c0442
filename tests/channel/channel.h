// SPDX-License-Identifier: MIT
// The granular channel of Preclik, Eibl and Rüde ("The maximum dissipation principle in rigid-body
// dynamics with purely inelastic impacts", section 4.3), on a server: a fast flow of grains past an
// obstacle. A piston pushes a layer of new grains in after the other, and at the far end they leave
// the world's bounds, which removes them.
//
//        y ^
//          |  .  . .  .  . .____.  .  .  .  .  .  .  .  |
//   piston ║→ . . . . . . ( ▓▓▓▓| . . . . . . . . . . . |  bounds
//          ║→  .  .  .  .  . ‾‾‾‾ .  .  .  .  .  .  .  .|
//          +---------------------------------------------> x     15 x 6.5 x 2 cm
//
// Channel, speed (1 m/s), friction and density are the paper's. Its grains are 247,000 spheres of
// 0.47 mm: the paper calls that the diameter; its volume fraction, inflow and penetrations say that
// it is the radius. Fewer grains are larger ones, of as much volume together; dumbbells are two
// spheres that touch, with a sphere's volume. The obstacle, half a cylinder before half a box, is
// made of boxes: its round is that of a polygon of 24 sides.
//
// A dense flow of large grains jams: the piston does not give way, so forces grow beyond all
// bounds. A wider grid for those that come in (`spacing`) keeps them flowing.
#pragma once

#include "moreau.h"

#define CHANNEL_LENGTH 0.15  // [m]
#define CHANNEL_WIDTH  0.065 // [m]
#define CHANNEL_HEIGHT 0.02  // [m]

typedef struct ChannelDef {
    uint32_t grains; // as many of them, about, are in the channel once it flows
    bool has_dumbbells;
    bool maximizes_dissipation; // else Coulomb's friction
    double spacing;             // of the grid on which they come in [diameters]
    uint32_t layer_steps;       // in which the piston pushes a layer in
    uint64_t seed;
    double tolerance; // of the solver
    uint32_t max_iterations;
    double budget; // of a step, for Newton's method; 0: sweeps alone, as in the paper
} ChannelDef;

ChannelDef channel_def_default(void);

typedef struct Channel {
    ChannelDef def;
    MoreauClient *client; // borrowed
    uint64_t world, piston, grain_shape;

    double ball;      // [m] radius of a grain's spheres
    double volume;    // [m^3] of a grain
    double mass;      // [kg] of a grain
    double half[3];   // [m] half extents of a grain as it comes in
    double time_step; // [s]
    uint64_t random;

    uint64_t steps, added, removed; // so far
    uint64_t unconverged, iterations;
    double penetration; // [m] deepest overlap so far
} Channel;

// Makes the world, with the channel full of grains on a grid. On failure the client says why.
MoreauStatus channel_open(Channel *channel, MoreauClient *client, const ChannelDef *def);
MoreauStatus channel_close(Channel *channel);

// Shown after each call.
typedef void ChannelSeen(const Channel *channel, const MoreauStepResult *result, void *context);

// One layer more: takes its steps in so many calls, which divide their number, puts the piston back
// and new grains before it. `seen` is Nullable.
MoreauStatus channel_push_layer(Channel *channel, uint64_t calls, ChannelSeen *seen, void *context);

double channel_time(const Channel *channel); // [s]

// Whether a point lies in the obstacle, deeper than so much [m]; its round counts as such.
bool channel_is_in_obstacle(const double position[3], double depth);
double channel_free_volume(void); // [m^3] without the obstacle
