// SPDX-License-Identifier: MIT
// What one solve of mdp carries from part to part, and who does what:
//
//   group.c        the islands of a group: sweeps, and the verdicts that follow them
//   rounds.c       groups to their end, large ones one by one, small ones many at once
//   auto.c         what sweeps have left to Newton's method, and what that leaves to them
//   anytime.c      sweeps that are counted, and what is left over of them
#pragma once

#include "solve/mdp/pack.h"
#include "solve/mdp/plain.h"

typedef struct MdpWork {
    Judge judge;
    MdpPack pack;
    double tolerance;
    uint32_t sweep_max;
    uint32_t sweep_share; // of an island, where sweeps are counted; else 0
    bool coulomb, is_auto;
    bool is_plain; // without acceleration
    MdpBlend blend;
    double operations_max; // of sweeps
} MdpWork;

// ---- islands of a group

// Of a small group at once, of a large one as tasks. Only large ones are ever given up.
Status mdp_for_shares(MdpWork *work, const MdpGroup *group, TaskBlock *block);

// A block of mdp_for_shares: velocities made anew, at rest as far as momentum goes.
void mdp_reload_share(void *data, uint32_t share);

// The impulses of islands [begin, end) of a group become the answer's; and are judged.
Status mdp_group_store(MdpWork *work, const MdpGroup *group, uint32_t begin, uint32_t end);
Status mdp_group_judge(MdpWork *work, const MdpGroup *group, uint32_t begin, uint32_t end);

Status mdp_group_begin(MdpWork *work, MdpGroup *group);

// Carries and sweeps what is open, and judges what comes to an end.
Status mdp_group_sweep(MdpWork *work, MdpGroup *group);

// ---- groups, to the end

// All of them, from the beginning; at its limit what is under way is judged as it stands.
Status mdp_sweep_all(MdpWork *work);

// One that was opened again, from where it stands.
Status mdp_sweep_on(MdpWork *work, uint32_t index);

// For whoever asked for a history: one sweep of all groups, or their first.
Status mdp_sweep_watched(MdpWork *work, uint32_t sweep, bool *is_open);

// The solve has met its limit: what is under way is judged as it stands.
Status mdp_judge_open(MdpWork *work);

// that an island has taken
uint32_t mdp_most_sweeps(const MdpWork *work);

// ---- auto

// of an island, before it is handed over
uint32_t mdp_auto_sweeps(const MdpWork *work, uint32_t island);

// Sweeps, then Newton's method for what they have left, within a budget of multiplications.
Status mdp_auto(MdpWork *work, double budget);

// What Newton's method has left goes on: islands with so many sweeps more, those with 0 stay as
// they are.
Status mdp_sweep_more(MdpWork *work, const uint32_t *more);

// ---- anytime

// Nothing in it moves faster than by a few steps of falling.
bool mdp_anytime_rests(const Judge *judge, uint32_t island);

// Its sweeps are counted, or all that there is: what moves is aimed at when they have come far.
bool mdp_anytime_counts(const MdpWork *work);

bool mdp_anytime_is_small(const MdpWork *work, uint32_t island);

MdpCount mdp_anytime_count(const MdpWork *work);

// where an island is judged however it stands: its answer is no worse than what few sweeps leave
uint32_t mdp_anytime_look(const MdpWork *work);
uint32_t mdp_anytime_share(EffortKind effort);

// As many sweeps as the effort allows, and what may be borrowed within a budget of multiplications.
Status mdp_anytime(MdpWork *work, const Effort *effort, double budget);
