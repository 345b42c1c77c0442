// SPDX-License-Identifier: MIT
// The frames of an episode, one by one, as the server sends them.
#pragma once

#include "cli/cli.h"

// EXIT_DONE when all came, `proc` wanted no more or Ctrl-C was pressed (interrupt_wanted); else
// says why not and returns the status to end with. cli_connect comes before.
int play_frames(Cli *cli, Moreau__V1__EpisodeReplay *message, MoreauFrameProc *proc, void *context);
