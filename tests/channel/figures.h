// SPDX-License-Identifier: MIT
// What is measured in the channel: the second table of the paper and more, as means over samples,
// and the profile of the grains' speed, seen from above.
#pragma once

#include "channel/channel.h"

// Cells of 2 mm.
enum { PROFILE_COLUMNS = 75, PROFILE_ROWS = 32, PROFILE_CELLS = PROFILE_COLUMNS * PROFILE_ROWS };

typedef struct Profile {
    double speed[PROFILE_CELLS]; // sums over the grains that were seen there [m/s]
    double count[PROFILE_CELLS];
} Profile;

typedef struct Figures {
    uint64_t samples;
    // sums over the samples
    double grains, contacts, pushing; // contacts within reach; those of them that push
    double flow, spin;                // [m/s] mean velocity along x, [rad/s] mean size
    double power;                     // [W] that the contacts dissipate
    Profile profile;

    // from the first sample on
    double begin_time, end_time; // [s]
    uint64_t begin_removed, end_removed;
    double deepest_leak; // [m] of a grain's centre through a wall or into the obstacle; < 0: none
} Figures;

// One sample of the channel as it is; `result` is of its last step.
MoreauStatus figures_sample(Figures *figures, const Channel *channel,
                            const MoreauStepResult *result);

// [kg/s] that leave at the far end.
double figures_mass_flow(const Figures *figures, const Channel *channel);
double figures_volume_fraction(const Figures *figures, const Channel *channel);
double figures_peak_speed(const Figures *figures); // [m/s] of the cells that were often enough full
