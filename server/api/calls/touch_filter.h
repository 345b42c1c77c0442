// SPDX-License-Identifier: MIT
// Which touches a message asks for.
#pragma once

#include "log/reader/reader.h"
#include "moreau.pb-c.h"

// What the message says, with texts borrowed from it; NULL: any. `path`: the message's own, to
// blame.
Status touch_filter_read(const Moreau__V1__EpisodeTouch *message, const char *path,
                         TouchFilter *filter, Error *error);
