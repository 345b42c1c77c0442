// SPDX-License-Identifier: MIT
// A whole server: the one place where the rooms meet. Several fit into one process; each has its
// own loop and threads.
//
//   SIGTERM, SIGINT  drain: no new connections or requests, what is under way is finished (or
//                    stopped between two steps after --drain-timeout-ms), replies are written,
//                    exit 0
//   SIGHUP           the log file is opened again, and certificates are read again
#pragma once

#include "access/seal_key.h"
#include "base/status.h"
#include "options.h"
#include "sandbox.h"

// Runs until a signal ends it. On success 0; when it could not start, the error says why. `sandbox`
// is what the process is in, for the log; NULL: that is somebody else's matter. `seal_key`,
// Nullable, signs what is recorded.
// The token among the options is overwritten once a digest of it is known.
Status server_run(Options *options, const Sandbox *sandbox, const SealKey *seal_key, Error *error);
