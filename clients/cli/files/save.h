// SPDX-License-Identifier: MIT
// A file that is whole or as it was before: what is saved is written beside it, brought to the disk
// and put into its place, so that neither a full disk nor a lost one costs what was there.
#pragma once

#include "cli/cli.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

// Saves all bytes as `path`; EXIT_DONE, or says why not and returns the status to end with. A file
// that is there keeps its mode; of a link, the file that it leads to is replaced and the link
// stays. Devices and pipes, as /dev/stdout, are written to as they are; folders, sockets and disks
// are refused. Nothing but a regular file is ever removed or replaced.
int save_file(Cli *cli, const char *path, const void *data, size_t bytes);

// The same piece by piece. Private but for `error`.
typedef struct SaveStream {
    const char *path;    // borrowed
    char *fresh, *place; // owned; NULL: it is written to as it is
    mode_t mode;
    FILE *file;
    int error; // errno of the first write that failed; 0: none. All that follows does nothing
} SaveStream;

// EXIT_DONE: save_end or save_drop must follow; else it said why not.
int save_begin(Cli *cli, const char *path, SaveStream *save);
bool save_write(SaveStream *save, const void *data, size_t bytes);

// Writes over what was written at `offset`; of a regular file alone.
bool save_patch(SaveStream *save, uint64_t offset, const void *data, size_t bytes);

// A file without a name on the same disk, for what must wait; NULL: save->error says why not.
FILE *save_spool(SaveStream *save);
bool save_spool_write(SaveStream *save, FILE *spool, const void *data, size_t bytes);
void save_spool_rewind(SaveStream *save, FILE *spool);
bool save_spool_read(SaveStream *save, FILE *spool, void *data, size_t bytes); // all of them

// Not a device or a pipe.
bool save_is_file(const SaveStream *save);

// Brings it to the disk, so that nothing is left for save_end but to give it its name: who saves
// several files asks this of all before it ends the first.
bool save_settle(SaveStream *save);

// Puts it into its place, or says why not and returns the status to end with.
int save_end(Cli *cli, SaveStream *save);
void save_drop(SaveStream *save); // as if nothing had been begun
