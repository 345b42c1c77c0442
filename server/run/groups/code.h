// SPDX-License-Identifier: MIT
// What a group is, as the definition of its recording has it: enough to make each of its worlds
// again, without the client that asked for it and without the other worlds. Numbers are u64 or f64,
// texts and columns a length (u64) and their content.
//
//   code      = version (3; with pushes 5; 1 more with an opinion), hash steps, worlds, seed,
//               first world, substeps, time step [s; 0: the template's], step limit, autoreset, is
//               double, layout of: action, observation, extra, bounds, noise; number of noises,
//               noise …; number of parameters, parameter …; snapshot of the template
//               (step/snapshot/; a length and bytes); of a group with pushes: their number, push
//               …; of a group with an opinion: share, tolerance, doubt, lag
//   layout    = number of channels, channel …: kind, joint, body, beside which body (texts; "": not
//               given), their ids (0: not given), has axes, axes, has low, low, has high, high,
//               scale, offset; of rays: number, origins, ways (columns), mask, heading; whether it
//               is mounted, and then the pose; noise, bias, walk, delay, delay_max (before version
//               3: neither)
//   noise     = kind, low, high, mean, deviation
//   parameter = kind, name, id, numbers (a column: world after world)
//   push      = body (its name), its id, probability, steps, axes, is an impulse, lowest and
//               highest force, lowest and highest torque
#pragma once

#include "run/groups/group.h"
#include "run/worlds/input.h"

// Writes it; with `bytes` NULL it only counts. Returns the number of bytes. `whole` Nullable: the
// template's snapshot with the bytes of its geometries, for what leaves the server; else they are
// named.
size_t group_code_write(const GroupDef *def, const Group *group, uint32_t hash_steps,
                        const InputBytes *whole, uint8_t *bytes);

typedef struct GroupCode {
    GroupDef def;            // of one world alone it draws what that world draws in the group
    uint32_t hash_steps;     // its state is hashed behind so many steps of an episode
    const uint8_t *snapshot; // of the template, borrowed
    size_t snapshot_bytes;
} GroupCode;

#define GROUP_CODE_ALL UINT64_MAX

// Of the world-th world, or of all of them. What it points to is the arena's, or the bytes'.
// DATA_LOSS goes on from "it …".
Status group_code_read(const uint8_t *bytes, size_t count, uint64_t world, Arena *arena,
                       GroupCode *code, Error *error);
