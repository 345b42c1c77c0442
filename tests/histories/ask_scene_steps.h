// SPDX-License-Identifier: MIT
// What a scene says moves on as what it says it of: the world that it makes, the world that this
// one's scene makes, and the world itself, once that has forgotten what no scene says (WorldScene
// in the .proto), take the same steps, to the bit.
#pragma once

#include "histories/play.h"

// false: something was found. Where the last bit of a coordinate was lost on the way, which the
// .proto leaves open, nothing is asked.
bool ask_scene_steps(Play *play, const World *world);
