// SPDX-License-Identifier: MIT
// A file that is whole or as it was before: what is saved is written beside it, brought to the disk
// and put into its place, so that neither a full disk nor a lost one costs what was there.
#pragma once

#include "cli/cli.h"

#include <stddef.h>

// Saves all bytes as `path`; EXIT_DONE, or says why not and returns the status to end with. A file
// that is there keeps its mode; of a link, the file that it leads to is replaced and the link
// stays. Devices and pipes, as /dev/stdout, are written to as they are; folders, sockets and disks
// are refused. Nothing but a regular file is ever removed or replaced.
int save_file(Cli *cli, const char *path, const void *data, size_t bytes);
