// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>

// A look is taken so long after the last one at the earliest, or so much later that looking takes
// one part in LOOK_SHARE of the thread's time at most, however long the file.
static const uint64_t pause_ns = 200000000;
enum { LOOK_SHARE = 20 };

static const uint64_t retry_ns = UINT64_C(60000000000);   // after a failure
static const uint64_t sleep_ns = UINT64_C(3600000000000); // at most, while something grows older
static const uint64_t turn_ns = 5000000;                  // then batches have their turn
static const uint64_t day_ns = UINT64_C(86400000000000);

static bool has_rules(const LogKeep *rules) {
    return rules->age_ns > 0 || rules->bytes > 0 || rules->episodes > 0;
}

uint64_t log_keep_due_ns(const Log *log) {
    const Keep *keep = &log->keep;
    return !has_rules(&keep->rules) ? UINT64_MAX : keep->is_looking ? 0 : keep->look_at_ns;
}

void log_keep_note(Log *log, bool grows_only) {
    Keep *keep = &log->keep;
    if (grows_only && keep->rules.bytes == 0) {
        return;
    }
    uint64_t pause =
        LOOK_SHARE * keep->spent_ns > pause_ns ? LOOK_SHARE * keep->spent_ns : pause_ns;
    keep->look_at_ns = log_earlier(keep->look_at_ns, keep->looked_ns + pause);
}

void log_keep_note_released(Log *log) {
    if (log->was_released && log->keep.has_skipped) {
        log->keep.has_skipped = false;
        log_keep_note(log, false);
    }
}

void log_keep_fail(Log *log, const Error *error) {
    Keep *keep = &log->keep;
    report_line(log->report, REPORT_WARN, "retention_failed", "why=\"%s\"", error->message);
    keep->is_looking = keep->is_retiring = false;
    keep->look_at_ns = clock_now_ns() + retry_ns;
}

// ---- a look

static Status begin_look(Log *log, Error *error) {
    Keep *keep = &log->keep;
    keep->now_ns = clock_wall_ns();
    keep->due_ns = UINT64_MAX;
    keep->has_skipped = false;
    keep->spent_ns = 0;
    keep->look_at_ns = UINT64_MAX; // what is noted from now on needs another look
    keep->list_count = keep->list_next = 0;
    keep->ended = keep->newest = (EndedRecording){0};
    keep->is_looking = true;
    uv_mutex_lock(&log->mutex);
    log->was_released = false;
    uv_mutex_unlock(&log->mutex);
    return keep->rules.episodes == 0 ? STATUS_OK
                                     : writer_find_newest(&log->writer, keep->rules.episodes,
                                                          keep->now_ns, &keep->newest, error);
}

static void end_look(Log *log) {
    Keep *keep = &log->keep;
    uint64_t wall_ns = clock_wall_ns(), left_ns = UINT64_MAX;
    bool is_noted = keep->look_at_ns != UINT64_MAX;
    keep->is_looking = false;
    keep->looked_ns = clock_now_ns();
    keep->look_at_ns = UINT64_MAX;
    if (is_noted) {
        log_keep_note(log, false);
    }
    if (keep->due_ns != UINT64_MAX) { // the wall clock may be set: now and then it is looked at
        left_ns = keep->due_ns > wall_ns ? keep->due_ns - wall_ns : 0;
        left_ns = left_ns < pause_ns ? pause_ns : log_earlier(left_ns, sleep_ns);
        keep->look_at_ns = log_earlier(keep->look_at_ns, keep->looked_ns + left_ns);
    }
    uv_mutex_lock(&log->mutex);
    log->figures.looks++;
    uv_mutex_unlock(&log->mutex);
}

static bool is_held(Log *log, int64_t recording) {
    uv_mutex_lock(&log->mutex);
    const LogHold *hold = log->holds;
    while (hold != NULL && hold->recording != recording) {
        hold = hold->next;
    }
    uv_mutex_unlock(&log->mutex);
    return hold != NULL;
}

static Status judge_size(Log *log, Error *error) {
    Keep *keep = &log->keep;
    uint64_t used = 0;
    bool is_newest = false;
    Status status = writer_used_bytes(&log->writer, &used, error);
    if (status == STATUS_OK && used > keep->rules.bytes) {
        status = writer_is_newest(&log->writer, &keep->ended, keep->now_ns, &is_newest, error);
        if (status == STATUS_OK && !is_newest) {
            snprintf(keep->why, sizeof(keep->why), "the file holds %" PRIu64 " bytes of %" PRIu64,
                     used, keep->rules.bytes);
        }
    }
    return status;
}

// Which rule the recording is beyond; "" none.
static Status judge(Log *log, Error *error) {
    Keep *keep = &log->keep;
    const LogKeep *rules = &keep->rules;
    uint64_t ended_ns = keep->ended.ended_ns;
    keep->why[0] = '\0';
    if (rules->age_ns > 0 && ended_ns < keep->now_ns && keep->now_ns - ended_ns >= rules->age_ns) {
        snprintf(keep->why, sizeof(keep->why), "it ended more than %.6g days ago",
                 (double)rules->age_ns / (double)day_ns);
    } else if (ended_is_before(&keep->ended, &keep->newest)) {
        snprintf(keep->why, sizeof(keep->why), "there are %" PRIu64 " newer episodes",
                 rules->episodes);
    } else if (rules->bytes > 0) {
        return judge_size(log, error);
    }
    return STATUS_OK;
}

// Its row says what it should not: it stays, and that is said once.
static void tell_unsound(Log *log) {
    Keep *keep = &log->keep;
    char text[UID_TEXT_BYTES];
    if (ended_is_before(&keep->told, &keep->ended)) {
        keep->told = keep->ended;
        uid_text(keep->ended.recording.uid, text);
        report_line(log->report, REPORT_WARN, "retention_kept",
                    "recording=%s why=\"its row is not what its sealed chunks say\" "
                    "hint=\"moreau-server --recover FILE makes it so\"",
                    text);
    }
}

// Reads the next recording; none is left: the look is over.
static Status read_next(Log *log, Error *error) {
    Keep *keep = &log->keep;
    Status status = STATUS_OK;
    if (keep->list_next == keep->list_count) {
        keep->list_next = 0;
        keep->list_count = KEEP_LIST;
        status =
            writer_list_ended(&log->writer, &keep->ended, keep->list, &keep->list_count, error);
    }
    keep->is_looking = status == STATUS_OK && keep->list_next < keep->list_count;
    if (keep->is_looking) {
        keep->ended = keep->list[keep->list_next++];
    }
    return status;
}

// The next recording: beyond a rule, and neither pinned nor held, it is to be retired. One that is
// not beyond any ends the look: those that ended later are not either.
static Status consider(Log *log, Error *error) {
    Keep *keep = &log->keep;
    bool is_sound = false, is_pinned = true;
    Status status = read_next(log, error);
    if (status != STATUS_OK || !keep->is_looking) {
        return status;
    }
    status = judge(log, error);
    if (status == STATUS_OK && keep->why[0] == '\0') {
        keep->is_looking = false;
        keep->due_ns = keep->rules.age_ns > 0 && keep->ended.ended_ns <= INT64_MAX
                           ? keep->ended.ended_ns + keep->rules.age_ns
                           : UINT64_MAX;
        return STATUS_OK;
    }
    status = STATUS_THEN(
        status, writer_is_pinned(&log->writer, keep->ended.recording.recording, &is_pinned, error));
    if (status != STATUS_OK || is_pinned) {
        return status;
    }
    if (is_held(log, keep->ended.recording.recording)) {
        keep->has_skipped = true;
        return STATUS_OK;
    }
    status = writer_check_ended(&log->writer, &keep->ended, &is_sound, error);
    if (status == STATUS_OK && !is_sound) {
        tell_unsound(log);
    }
    keep->is_retiring = status == STATUS_OK && is_sound;
    keep->episodes = 0;
    return status;
}

void log_keep_look(Log *log) {
    Keep *keep = &log->keep;
    Error error;
    Status status = STATUS_OK;
    uint64_t begun_ns = clock_now_ns(), now_ns = begun_ns;
    if (log_keep_due_ns(log) > now_ns) {
        return;
    }
    if (!keep->is_looking) {
        status = begin_look(log, &error);
    }
    while (status == STATUS_OK && keep->is_looking && !keep->is_retiring &&
           now_ns - begun_ns < turn_ns) {
        status = consider(log, &error);
        now_ns = clock_now_ns();
    }
    keep->spent_ns += clock_now_ns() - begun_ns;
    if (status != STATUS_OK) {
        log_keep_fail(log, &error);
    } else if (!keep->is_looking) {
        end_look(log);
    }
}

// ---- one that is beyond a rule

Status log_keep_retire(Log *log, RetireOutcome *outcome, Error *error) {
    uint64_t episodes = 0;
    Status status = writer_retire_piece(&log->writer, &log->keep.ended.recording, clock_wall_ns(),
                                        &episodes, outcome, error);
    log->keep.episodes += episodes;
    return status;
}

void log_keep_retired(Log *log, RetireOutcome outcome) {
    Keep *keep = &log->keep;
    keep->is_retiring = outcome == RETIRE_MORE;
    if (outcome != RETIRE_INTENT) {
        return;
    }
    char text[UID_TEXT_BYTES];
    uid_text(keep->ended.recording.uid, text);
    report_line(log->report, REPORT_INFO, "retention_deleted",
                "recording=%s episodes=%" PRIu64 " why=\"%s\"", text, keep->episodes, keep->why);
    uv_mutex_lock(&log->mutex);
    log->figures.retired_recordings++;
    log->figures.retired_episodes += keep->episodes;
    uv_mutex_unlock(&log->mutex);
}
