// SPDX-License-Identifier: MIT
// What GroupCreate says, as run/groups/group.h takes it, and what its reply says of the columns.
#pragma once

#include "base/arena.h"
#include "moreau.pb-c.h"
#include "run/groups/group.h"

// In the arena, but for texts, which stay the message's; group_def_check judges it.
Status group_def_read(const Moreau__V1__GroupCreate *message, Arena *arena, GroupDef *def,
                      Error *error);

// Names and ranges of a layout's columns, in the arena. NULL: memory ended. `drawn` (Nullable): the
// ranges are those of a noise.
Moreau__V1__GroupColumns *group_def_columns(const Group *group, const Layout *layout,
                                            const NoiseDef *drawn, Arena *arena);
