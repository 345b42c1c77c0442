// SPDX-License-Identifier: MIT
// Peers on a scene of `moreau bench curve`, each with growing work a step.
#pragma once

#include "bench/curve/curve.h"
#include "bench/scene.h"

// Adds a line for each peer that is there. Everyone steps the scene as it is, `first` steps and
// then `count` that are timed and judged. The scene's state is lost.
void peers_run(Scene *scene, uint32_t first, uint32_t count, CurveScene *curve);
