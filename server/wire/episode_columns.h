// SPDX-License-Identifier: MIT
// Frames of an episode as the columns of message EpisodeFrames, gathered one by one. The columns
// are owned and keep their memory from one message to the next.
#pragma once

#include "moreau.pb-c.h"
#include "log/format/frames.h"

// What a call wants of each frame.
typedef struct EpisodeWish {
    bool poses, velocities, contacts, single, joints, reports;
} EpisodeWish;

enum { EPISODE_COLUMN_COUNT = 64 };

typedef struct EpisodeColumns {
    EpisodeWish wish;
    Moreau__V1__EpisodeFrames message; // its arrays are owned
    Moreau__V1__WorldContactsReply contacts;
    Moreau__V1__StepReports reports;
    Moreau__V1__CertificateColumns certificate;
    Moreau__V1__EnergyColumns energy;
    size_t capacity[EPISODE_COLUMN_COUNT];
    size_t bytes;                 // about what the message takes when packed, not more
    size_t ids_from, joints_from; // in message.ids and message.joints: those of the last frame
} EpisodeColumns;

void episode_columns_init(EpisodeColumns *columns, EpisodeWish wish);
void episode_columns_deinit(EpisodeColumns *columns);

// The memory that its arrays have.
size_t episode_columns_bytes(const EpisodeColumns *columns);

// Empties the message.
void episode_columns_clear(EpisodeColumns *columns);

// Whether the bodies of this frame are those of the last one added, and the joints, if they are
// wished for.
bool episode_columns_same_things(const EpisodeColumns *columns, const EpisodeFrame *frame);

// DATA_LOSS: a number of the frame is not finite; FAILED_PRECONDITION: no float holds it, though
// floats are wished for. RESOURCE_EXHAUSTED: memory ended, and the message is of no use.
Status episode_columns_add(EpisodeColumns *columns, const EpisodeFrame *frame, Error *error);
