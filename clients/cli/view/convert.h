// SPDX-License-Identifier: MIT
// A video as what its name says: .webm as it is, .mp4 and .gif by ffmpeg.
#pragma once

#include "cli/cli.h"

#include <stddef.h>
#include <stdint.h>

// EXIT_DONE where a video of this name can be made here; or says why not.
int convert_check(Cli *cli, const char *path);

// Saves a WebM file of `count` bytes as `path`, where there are then `count`; what was there stays
// until the new one is whole. EXIT_DONE, or says why not and returns the status to end with.
int convert_save(Cli *cli, const char *path, const uint8_t *bytes, size_t *count);
