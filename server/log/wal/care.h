// SPDX-License-Identifier: MIT
// What is done about a write-ahead log that a flipped bit, a failing disk or a power cut has left
// damaged, and about a file that has several names, before SQLite opens the file. Bits that can be
// told are turned back. What a power cut can have torn, behind what was synced (mark.h), is cut
// off: what is in front of it is the log as it was a moment before. What else cannot be told is
// refused by a start and resealed by --recover. Whatever is changed or written over lies in a copy
// beside the file first, `FILE-wal-damaged-1` to `-4`; of what a power cut tore, which nobody was
// promised, as far as there is room.
//
// Before any connection of this process has the file open, by whoever holds its lock.
#pragma once

#include "base/status.h"
#include "os/report.h"

#include "log/wal/mark.h"

#include <stdio.h>

// DATA_LOSS when SQLite would drop transactions that --recover can bring back, FAILED_PRECONDITION
// when the write-ahead log may lie beside another of the file's names; nothing is changed then.
// *synced is how much SQLite will take of it, all of which is on the disk.
Status wal_care_for_start(const char *database, const Report *report, WalPlace *synced,
                          Error *error);

// A sentence per find goes to `out`.
Status wal_care_for_recovery(const char *database, FILE *out, Error *error);
