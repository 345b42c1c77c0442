// SPDX-License-Identifier: MIT
// A group of worlds as its client knows it, with its reference: the same group, made of the same
// message and the same template, whose rows are run by the dynamics alone. What its worlds do is
// drawn from numbers.
#pragma once

#include "moreau.pb-c.h"
#include "run/groups/group.h"
#include "run/groups/opinions.h"
#include "simulate/dice.h"
#include "simulate/model.h"

enum { HERD_WORLDS = 5, HERD_ACTS = 3, HERD_RAYS = 4 };
enum { HERD_CHANNELS_MAX = 12, HERD_NAMES_MAX = 20, HERD_NOISES_MAX = 2, HERD_PARAMETERS_MAX = 2 };

// What a group with second opinions has found, and not told yet.
typedef struct HerdOpinions {
    OpinionFound *found; // owned
    size_t count, capacity;
    uint64_t calls;  // that were opened
    bool is_unclear; // how many that are: one was stopped
} HerdOpinions;

typedef struct Herd {
    bool is_there;
    uint64_t id;
    uint64_t subject;      // of what is seen of its worlds (watch.h)
    Group *reference;      // owned, as are the next two
    Arena memory, scratch; // of a call's rows; of a step
    GroupCall call;        // the last one of the reference
    HerdOpinions opinions;
    uint64_t saved;      // a snapshot of it that is not kept yet; 0: none
    HistoryKept *kept;   // borrowed, Nullable: it goes on from there
    HistoryHerd *record; // borrowed; NULL: it is not recorded, or what is recorded is not known
} Herd;

// A reset, a step or a look at some of its worlds: bit i is world i.
typedef struct HerdOrder {
    GroupVerb verb;
    uint8_t worlds;
    uint64_t number; // its actions
} HerdOrder;

// A message with the lists and texts that it points to: not to be copied.
typedef struct HerdMaking {
    Moreau__V1__GroupCreate create;
    Moreau__V1__GroupRecord record;
    Moreau__V1__GroupChannel channel[HERD_CHANNELS_MAX], *list[HERD_CHANNELS_MAX];
    Moreau__V1__GroupNoise noise[HERD_NOISES_MAX], *noises[HERD_NOISES_MAX];
    Moreau__V1__GroupParameter parameter[HERD_PARAMETERS_MAX], *parameters[HERD_PARAMETERS_MAX];
    Moreau__V1__GroupPush push, *pushes[1];
    Moreau__V1__GroupOpinion opinion;
    char name[HERD_NAMES_MAX][8];
    double values[HERD_PARAMETERS_MAX][7 * HERD_WORLDS];
    double ray_way[3 * HERD_RAYS], ray_origin[3 * HERD_RAYS];
    size_t channel_count, name_count;
} HerdMaking;

void herd_draw(HerdMaking *making, Dice *dice, uint64_t template, const World *world);

// The reference of a group that is made like this of the model's world as it stands. false: it
// refuses it.
bool herd_init(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template);
uint64_t herd_state(const Herd *herd, uint32_t i); // of world i: watch_state
void herd_deinit(Herd *herd);                      // of one that is not there, too

HerdOrder herd_draw_order(Dice *dice, GroupVerb verb);
size_t herd_count(HerdOrder order);                // of its worlds
void herd_actions(HerdOrder order, float *action); // HERD_ACTS for each of them

// Does what the server says that it has done of an order, and compares all rows; says what is
// otherwise and fails. Worlds of which it was stopped before it began are what they were. false:
// one was stopped in the middle of its step, so that nobody knows where it stands.
bool herd_follow(Herd *herd, HerdOrder order, const Moreau__V1__GroupStepReply *reply);

// Hash of what a reply says of the worlds of an order, in whatever order of rows: what is seen and
// what ended; or all there is, second opinions too.
uint64_t herd_told(HerdOrder order, const Moreau__V1__GroupStepReply *reply);
uint64_t herd_rows(HerdOrder order, const Moreau__V1__GroupStepReply *reply);

// ---- what a reply says of its worlds

typedef struct HerdTold {
    const Moreau__V1__GroupStepReply *reply;
    size_t sees, sees_beside; // numbers of a row
    size_t row[HERD_WORLDS];  // of each world
    uint8_t worlds;           // that have rows …
    uint8_t stopped;          // … and that the call was stopped before or in
} HerdTold;

size_t herd_list(HerdOrder order, uint32_t *world); // of its worlds
bool herd_has_bit(ProtobufCBinaryData bits, size_t row);
HerdTold herd_read(HerdOrder order, const Moreau__V1__GroupStepReply *reply);
// Whether what is seen of it, and beside, is what the reference has of this row of its call.
bool herd_sees_same(const Herd *herd, const HerdTold *told, size_t row);
// What the reference has of this row of its call.
void herd_compare(const Herd *herd, const HerdTold *told, size_t row);

// ---- second opinions

// A call is opened, and its reply tells what is due.
void herd_open_call(Herd *herd, const Moreau__V1__GroupStepReply *reply);
void herd_give_opinion(Herd *herd, GroupCase *kept); // Nullable; it is the opinions' from now on
void herd_check_opinions(Herd *herd, const Moreau__V1__GroupOpinionsReply *reply,
                         uint64_t count_max);
uint64_t herd_opinions_hash(const Moreau__V1__GroupOpinionColumns *columns); // Nullable
