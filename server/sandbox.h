// SPDX-License-Identifier: MIT
// --sandbox: what the options do not name, the process cannot touch. Whoever should get the server
// to run what he wants can change the files of --db, --backup-dir, --log-file and --audit-file, and
// read those, certificates and tokens: no other file, no other program, no connection to elsewhere.
//
//   files   by Landlock (os/landlock.h): folders of what is written, and of what is read again on
//           SIGHUP; beside them what libraries read: the folders that ours are in, OpenSSL's
//           configuration, what the kernel tells of the machine
//   calls   by seccomp (os/syscalls.h)
//   dumps   with tokens or private keys in it, the process leaves no core, and no other process of
//           its user looks into it
#pragma once

#include "base/status.h"
#include "options.h"

typedef struct Sandbox {
    int files;       // version of Landlock; 0: none
    bool calls;      // are refused
    bool dumps;      // none
    const char *why; // NULL, or why something of it is missing
} Sandbox;

// Before the first thread, and for good. FAILED_PRECONDITION: it is `required`, and something is
// missing.
Status sandbox_enter(Sandbox *sandbox, const Options *options, Error *error);
