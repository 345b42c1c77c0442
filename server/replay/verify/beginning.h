// SPDX-License-Identifier: MIT
// What a recording says of how it begins, against the state that it begins with: the definition's
// numbers, and the scene that stands in the file for those who read no snapshots. Both follow from
// the first key-frame, of a group from its template.
#pragma once

#include "log/format/definition.h"
#include "replay/player/player.h"
#include "run/worlds/recorder.h"

enum { BEGINNING_DIFFERENCES = 2 };

typedef struct Beginning {
    const EpisodeRow *episode;
    const RecordingDef *def;
    const World *world;
    double time_step;       // [s] of a step
    SceneProc *print_scene; // Nullable: scenes are not compared
} Beginning;

Status beginning_check(const Beginning *beginning, LogReader *reader, Arena *arena,
                       PlayerDifference difference[BEGINNING_DIFFERENCES], size_t *count,
                       Error *error);
