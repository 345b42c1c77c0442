// SPDX-License-Identifier: MIT
#include "channel/figures.h"

#include <math.h>

// What is read at once: far less than a frame.
enum { RANGE = 40000 };

static double norm(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void add_to_profile(Profile *profile, const double *position, double speed) {
    int column = (int)floor(position[0] / CHANNEL_LENGTH * PROFILE_COLUMNS),
        row = (int)floor(position[1] / CHANNEL_WIDTH * PROFILE_ROWS);
    if (column >= 0 && column < PROFILE_COLUMNS && row >= 0 && row < PROFILE_ROWS) {
        profile->speed[row * PROFILE_COLUMNS + column] += speed;
        profile->count[row * PROFILE_COLUMNS + column] += 1.0;
    }
}

// How far a centre is beyond what no part of a grain should come to.
static double leak(const Channel *channel, const double *position) {
    double ball = channel->ball;
    double deepest = fmax(-position[1], position[1] - CHANNEL_WIDTH);
    deepest = fmax(deepest, fmax(-position[2], position[2] - CHANNEL_HEIGHT));
    for (double depth = 0.0; channel_is_in_obstacle(position, depth) && depth < 0.01;
         depth += 0.1 * ball) {
        deepest = fmax(deepest, depth);
    }
    return deepest;
}

static void add_grain(Figures *figures, const Channel *channel, const double *pose,
                      const double *velocity, double sum[2]) {
    sum[0] += velocity[0];
    sum[1] += norm(velocity + 3);
    add_to_profile(&figures->profile, pose, norm(velocity));
    figures->deepest_leak = fmax(figures->deepest_leak, leak(channel, pose));
}

static MoreauStatus add_grains(Figures *figures, const Channel *channel) {
    uint64_t total = 1, grains = 0;
    double sum[2] = {0.0, 0.0};
    for (uint64_t first = 0; first < total; first += RANGE) {
        MoreauReply *reply;
        MoreauWorldState state;
        MoreauStatus status =
            moreau_world_get(channel->client, channel->world, first, RANGE, false, &reply, &state);
        if (status != MOREAU_OK) {
            return status;
        }
        total = state.total;
        for (size_t i = 0; i < state.count; i++) {
            if (state.ids[i] > channel->piston) { // the first that was made is a grain
                add_grain(figures, channel, state.pose + 7 * i, state.velocity + 6 * i, sum);
                grains++;
            }
        }
        moreau_reply_free(reply);
    }
    figures->grains += (double)grains;
    figures->flow += grains > 0 ? sum[0] / (double)grains : 0.0;
    figures->spin += grains > 0 ? sum[1] / (double)grains : 0.0;
    return MOREAU_OK;
}

// What the piston, which goes along x, gives the grains [N s].
static double piston_push(const MoreauContacts *contacts, size_t i, uint64_t piston) {
    double push = 0.0;
    for (size_t axis = 0; axis < 3; axis++) {
        push += contacts->impulse[3 * i + axis] * contacts->frame[9 * i + 3 * axis];
    }
    return contacts->body_a[i] == piston ? push : contacts->body_b[i] == piston ? -push : 0.0;
}

static MoreauStatus add_contacts(Figures *figures, const Channel *channel, double *push) {
    uint64_t total = 1;
    *push = 0.0;
    for (uint64_t first = 0; first < total; first += RANGE) {
        MoreauReply *reply;
        MoreauContacts contacts;
        MoreauStatus status =
            moreau_world_contacts(channel->client, channel->world, first, RANGE, &reply, &contacts);
        if (status != MOREAU_OK) {
            return status;
        }
        total = contacts.total;
        for (size_t i = 0; i < contacts.count; i++) {
            figures->pushing += contacts.impulse[3 * i] > 0.0;
            *push += piston_push(&contacts, i, channel->piston);
        }
        moreau_reply_free(reply);
    }
    figures->contacts += (double)total;
    return MOREAU_OK;
}

MoreauStatus figures_sample(Figures *figures, const Channel *channel,
                            const MoreauStepResult *result) {
    double push, contact_work = result->energy.contact[0] + result->energy.drive[0];
    MoreauStatus status = add_contacts(figures, channel, &push);
    if (status == MOREAU_OK) {
        status = add_grains(figures, channel);
    }
    if (status != MOREAU_OK) {
        return status;
    }
    // the piston's speed is 1 m/s: what it gives as impulse it gives as energy
    figures->power += (push - contact_work) / channel->time_step;
    if (figures->samples++ == 0) {
        figures->begin_time = channel_time(channel);
        figures->begin_removed = channel->removed;
    }
    figures->end_time = channel_time(channel);
    figures->end_removed = channel->removed;
    return MOREAU_OK;
}

double figures_mass_flow(const Figures *figures, const Channel *channel) {
    double time = figures->end_time - figures->begin_time;
    uint64_t removed = figures->end_removed - figures->begin_removed;
    return time > 0.0 ? (double)removed * channel->mass / time : 0.0;
}

double figures_volume_fraction(const Figures *figures, const Channel *channel) {
    return figures->grains / (double)figures->samples * channel->volume / channel_free_volume();
}

double figures_peak_speed(const Figures *figures) {
    double peak = 0.0, least = 0.0;
    for (int i = 0; i < PROFILE_CELLS; i++) {
        least += 0.25 * figures->profile.count[i] / PROFILE_CELLS;
    }
    for (int i = 0; i < PROFILE_CELLS; i++) {
        if (figures->profile.count[i] > least) {
            peak = fmax(peak, figures->profile.speed[i] / figures->profile.count[i]);
        }
    }
    return peak;
}
