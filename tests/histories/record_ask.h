// SPDX-License-Identifier: MIT
// What is asked of a recording that has ended. Each returns false when it has found something.
#pragma once

#include "histories/record.h"
#include "log/format/frames.h"
#include "log/reader/reader.h"

// `end`: what the world's state was behind the last change.
bool record_ask(Record *record, Log *log, uint64_t end, RecordDoubt *doubt);

bool record_doubt(RecordDoubt *doubt, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Hashes of what stands in a moment.
uint64_t record_hash_frame(const EpisodeFrame *frame);
uint64_t record_hash_told(const StepReport *report, const ContactList *contacts);
