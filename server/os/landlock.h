// SPDX-License-Identifier: MIT
// Which files this process may touch from now on, by Linux's Landlock: what no rule names is
// refused with EACCES, whoever owns it. Descriptors that are open stay as they are. Beside files
// it may connect to no TCP address and signal no process but itself.
//
// Rights are written by their numbers, as the headers of the system that a wheel is built on are
// older than the kernel that it runs on: what the kernel does not know is left out.
#pragma once

#include <stdbool.h>

typedef enum LandlockGrant {
    LANDLOCK_READ = 1,    // of files, and what is in folders
    LANDLOCK_WRITE = 2,   // make, write, rename and remove files
    LANDLOCK_SOCKETS = 4, // make and remove Unix sockets
    LANDLOCK_RMDIR = 8    // remove empty folders
} LandlockGrant;

// What the kernel has, from 1; 0: nothing, or it is not switched on.
int landlock_version(void);

// Rules to be filled; -1: none can be made. Close it.
int landlock_open(void);

// Of a file, or of a folder and all below it. What is not there is no rule.
void landlock_allow(int rules, const char *path, unsigned grants);

// Of the folder in which the file is or will be, and, through links, where it is now, as files are
// replaced by renaming others into their places. Of what is neither a file nor missing (a
// terminal, a pipe) itself alone.
void landlock_allow_beside(int rules, const char *path, unsigned grants);

// From now on, for this thread and what it starts. The process gains no rights by exec any more.
bool landlock_enforce(int rules);
