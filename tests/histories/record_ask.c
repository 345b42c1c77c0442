// SPDX-License-Identifier: MIT
#include "histories/record_ask.h"

#include "base/assert.h"
#include "replay/show/backward.h"
#include "replay/verify/verify.h"
#include "step/snapshot/snapshot.h"
#include "wire/scene/print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

// Marks that are left on the way forward, and steps that a fork takes of its own; they are given up
// when a solver asked too often whether to go on.
enum { MARKS = 5, FREE_STEPS = 20, QUESTIONS_MAX = 20 };

typedef struct Asking {
    Record *record;
    Log *log;
    LogReader *reader;
    EpisodeRow row;
    Player *player;
    Arena arena;
    RecordDoubt *doubt;
} Asking;

bool record_doubt(RecordDoubt *doubt, const char *place, const char *format, ...) {
    va_list arguments;
    snprintf(doubt->place, sizeof(doubt->place), "%s", place);
    va_start(arguments, format);
    vsnprintf(doubt->words, sizeof(doubt->words), format, arguments);
    va_end(arguments);
    return false;
}

// ---- hashes

static uint64_t hash_doubles(const double *values, size_t count, uint64_t hash) {
    return hash_bytes(values, count * sizeof(*values), hash);
}

uint64_t record_hash_frame(const EpisodeFrame *frame) {
    const StateFrame *f = &frame->frame;
    const FrameJoints *j = &frame->joints;
    uint64_t hash = hash_bytes(&f->world_step, sizeof(f->world_step), f->step);
    hash = hash_doubles(&f->time, 1, hash);
    hash = hash_bytes(frame->ids, frame->body_count * sizeof(*frame->ids), hash);
    hash = hash_doubles(f->pose, 7 * frame->body_count, hash);
    hash = hash_doubles(f->velocity, 6 * frame->body_count, hash);
    hash = hash_bytes(j->ids, j->count * sizeof(*j->ids), hash);
    hash = hash_bytes(j->axes, j->count * sizeof(*j->axes), hash);
    hash = hash_doubles(f->joint_position, j->position_count, hash);
    const double *const columns[] = {f->joint_velocity, f->joint_target, f->joint_target_velocity,
                                     f->joint_effort};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        hash = hash_doubles(columns[i], j->axis_count, hash);
    }
    return hash;
}

// Not 0. The time that a step took is the machine's.
uint64_t record_hash_told(const StepReport *report, const ContactList *contacts) {
    const StepEnergy *e = &report->energy;
    const uint64_t counts[] = {
        report->contact_count,  report->row_count,      report->iterations, report->asleep_count,
        report->recovery_count, report->softened_count, report->idle_count, report->removed_count,
        report->broken_count,   contacts->count};
    const double energies[] = {e->before, e->after,  e->contact,     e->row,   e->applied,
                               e->drive,  e->scheme, e->unexplained, e->swing, e->scale};
    uint64_t hash = hash_bytes(counts, sizeof(counts), 1);
    hash = hash_doubles(energies, sizeof(energies) / sizeof(energies[0]), hash);
    hash = hash_doubles(report->certificate.entry, CERTIFICATE_ENTRY_COUNT, hash);
    hash = hash_bytes(contacts->body_a, contacts->count * sizeof(uint64_t), hash);
    hash = hash_bytes(contacts->body_b, contacts->count * sizeof(uint64_t), hash);
    hash = hash_doubles(contacts->point, 3 * contacts->count, hash);
    hash = hash_doubles(contacts->frame, 9 * contacts->count, hash);
    hash = hash_doubles(contacts->gap, contacts->count, hash);
    hash = hash_doubles(contacts->impulse, 3 * contacts->count, hash);
    hash = hash_doubles(contacts->velocity, 3 * contacts->count, hash);
    return hash | 1;
}

// ---- rows and verification

// Of an episode of so many steps, of which so many are open.
static bool find_row(Asking *asking, const uint8_t episode[UID_BYTES], uint64_t steps,
                     uint64_t unconverged, EpisodeRow *row) {
    char uid[UID_TEXT_BYTES];
    Error error = {0};
    uid_text(episode, uid);
    if (log_reader_find(asking->reader, uid, &asking->arena, row, &error) != STATUS_OK) {
        return record_doubt(asking->doubt, "row", "it is not there: %.300s", error.message);
    }
    return (row->last_step == steps && row->state == RECORDING_COMPLETE && row->odd[0] == '\0' &&
            row->dropped_steps == 0 && row->has_figures &&
            row->figures.unconverged_steps == unconverged) ||
           record_doubt(asking->doubt, "row",
                        "%" PRIu64 " steps, %" PRIu64 " not converged, and its row says %" PRIu64
                        ", %" PRIu64 " of state %d, odd %s",
                        steps, unconverged, row->last_step, row->figures.unconverged_steps,
                        (int)row->state, row->odd);
}

// Workers take turns, of one thing each or of all that there is.
static Status work_through(Asking *asking, Verification *verification, Error *error) {
    const uint32_t workers = verify_worker_count(verification);
    const uint64_t until = dice_chance(&asking->record->dice, 50) ? 0 : UINT64_MAX;
    Status status = STATUS_OK;
    for (uint32_t over = 0; status == STATUS_OK && over < workers;) {
        over = 0;
        for (uint32_t i = 0; status == STATUS_OK && i < workers; i++) {
            bool is_over = false, progressed;
            status = verify_work(verification, i, &asking->arena, until, NULL, &is_over,
                                 &progressed, error);
            over += is_over;
        }
    }
    return status;
}

static bool ask_verified(Asking *asking, const EpisodeRow *row) {
    Error error = {0};
    Verification *verification;
    const uint64_t last = row->last_step;
    const VerifyDef def = {.log = asking->log,
                           .episode = row,
                           .limits = asking->record->limits,
                           .last = last,
                           .worker_count_max = 1 + (uint32_t)dice_roll(&asking->record->dice, 3),
                           .print_scene = scene_print,
                           .plan_bytes_max = (size_t)1 << 28};
    if (verify_open(&verification, &def, &error) != STATUS_OK ||
        work_through(asking, verification, &error) != STATUS_OK) {
        return record_doubt(asking->doubt, "verify", "%.300s", error.message);
    }
    const VerifyResult result = verify_result(verification);
    bool is_fine = true;
    if (result.difference_count > 0) {
        is_fine = record_doubt(asking->doubt, "verified", "%.350s", result.difference[0].message);
    } else if (result.steps != last || !result.is_sealed || result.proven_step != last ||
               result.unconverged_steps != row->figures.unconverged_steps) {
        is_fine = record_doubt(asking->doubt, "verified steps",
                               "%" PRIu64 " of %" PRIu64 ", proven %" PRIu64 ", sealed %d",
                               result.steps, last, result.proven_step, result.is_sealed);
    }
    verify_close(verification);
    return is_fine;
}

// ---- replay

static bool expect(Asking *asking, const char *place, uint64_t step, uint64_t found) {
    const uint64_t wanted = asking->record->moment[step].state;
    return found == wanted ||
           record_doubt(asking->doubt, place,
                        "at step %" PRIu64 " of %" PRIu64 " the state is another", step,
                        asking->row.last_step);
}

static bool seek(Asking *asking, uint64_t step) {
    Error error = {0};
    PlayerDifference difference = {0};
    return (player_seek(asking->player, asking->reader, step, &difference, &error) == STATUS_OK &&
            !difference.found) ||
           record_doubt(asking->doubt, "seek", "to step %" PRIu64 ": %.150s%.150s", step,
                        error.message, difference.message);
}

static bool run_to(Asking *asking, const char *place, uint64_t step, bool checks) {
    Error error = {0};
    PlayerDifference difference = {0};
    if (player_run(asking->player, asking->reader, step, checks, &asking->arena, UINT64_MAX, NULL,
                   &difference, &error) != STATUS_OK ||
        difference.found || player_step(asking->player) != step) {
        return record_doubt(asking->doubt, place, "to step %" PRIu64 ": %.150s%.150s", step,
                            error.message, difference.message);
    }
    return true;
}

// The first time past every step, with marks at some of them. What is checked goes on behind the
// last step, through all that was done there.
static bool ask_forward(Asking *asking, PlayerMark *mark[MARKS], uint64_t end) {
    const uint64_t last = asking->row.last_step;
    const bool checks = dice_chance(&asking->record->dice, 50);
    uint64_t marked[MARKS];
    for (int i = 0; i < MARKS; i++) {
        marked[i] = dice_roll(&asking->record->dice, last + 1);
    }
    bool is_fine = seek(asking, 0);
    for (uint64_t step = 0; is_fine && step + checks <= last; step++) {
        is_fine = run_to(asking, "forward", step, checks) &&
                  expect(asking, "forward state", step, player_hash(asking->player));
        for (int i = 0; is_fine && i < MARKS; i++) {
            mark[i] = marked[i] == step ? player_mark(asking->player) : mark[i];
        }
    }
    if (!is_fine || !checks) {
        return is_fine;
    }
    return run_to(asking, "forward", last, true) &&
           (snapshot_hash(player_world(asking->player)) == end ||
            record_doubt(asking->doubt, "end", "behind the last step the state is another"));
}

static bool ask_marks(Asking *asking, PlayerMark *mark[MARKS]) {
    const uint64_t last = asking->row.last_step;
    bool is_fine = true;
    for (int i = 0; is_fine && i < MARKS; i++) {
        Error error = {0};
        if (mark[i] == NULL) { // of the last step
            continue;
        }
        const uint64_t step = player_mark_step(mark[i]);
        const uint64_t to = step + dice_roll(&asking->record->dice, last - step + 1);
        if (player_return(asking->player, asking->reader, mark[i], &error) != STATUS_OK) {
            return record_doubt(asking->doubt, "return", "to step %" PRIu64 ": %.300s", step,
                                error.message);
        }
        is_fine =
            expect(asking, "returned state", step, snapshot_hash(player_world(asking->player))) &&
            run_to(asking, "on from a mark", to, false) &&
            expect(asking, "state on from a mark", to, player_hash(asking->player));
    }
    return is_fine;
}

static bool expect_frame(Asking *asking, const EpisodeFrame *frame, uint64_t step) {
    const RecordMoment *moment = &asking->record->moment[step];
    const uint64_t told =
        frame->report == NULL ? 0 : record_hash_told(frame->report, &frame->contacts);
    return (frame->frame.step == step && record_hash_frame(frame) == moment->shown &&
            (frame->report == NULL || moment->told == 0 || told == moment->told)) ||
           record_doubt(asking->doubt, "backward frame", "of step %" PRIu64 " the %s others", step,
                        record_hash_frame(frame) == moment->shown ? "contacts are" : "bodies are");
}

static bool ask_backward(Asking *asking) {
    Dice *dice = &asking->record->dice;
    const uint64_t last = asking->row.last_step;
    const bool wants_step = dice_chance(dice, 50);
    const BackwardDef def = {.first = dice_roll(dice, last + 1),
                             .stride = dice_magnitude(dice, 4),
                             .wants = {.contacts = wants_step, .reports = wants_step},
                             .bytes = dice_magnitude(dice, 20),
                             .bytes_max = asking->record->limits.bytes_max};
    Backward *backward = backward_create(&def);
    bool is_fine = backward != NULL;
    for (uint64_t step = last; is_fine && step >= def.first && step <= last; step -= def.stride) {
        Error error = {0};
        const EpisodeFrame *frame = NULL;
        while (is_fine && frame == NULL) {
            is_fine = backward_get(backward, asking->player, asking->reader, step, 0,
                                   &asking->arena, UINT64_MAX, NULL, &frame, &error) == STATUS_OK ||
                      record_doubt(asking->doubt, "backward", "to step %" PRIu64 ": %.300s", step,
                                   error.message);
        }
        is_fine = is_fine && expect_frame(asking, frame, step);
    }
    backward_destroy(backward);
    return is_fine;
}

// ---- forks

static bool open_fork(Asking *asking, Door *fork, const uint8_t *snapshot, size_t bytes) {
    Error error = {0};
    ASSERT(door_init(fork, &asking->record->limits, NULL) == STATUS_OK);
    const Input input = {.kind = INPUT_RESTORE,
                         .restore = {.snapshot = snapshot, .snapshot_bytes = bytes}};
    return door_change(fork, &input, &asking->arena, NULL, NULL, &error) == STATUS_OK ||
           record_doubt(asking->doubt, "fork", "refused: %.300s", error.message);
}

static bool open_fork_of_player(Asking *asking, Door *fork) {
    uint8_t *bytes;
    size_t count;
    ASSERT(snapshot_write(player_world(asking->player), &asking->arena, &bytes, &count, NULL) ==
           STATUS_OK);
    return open_fork(asking, fork, bytes, count);
}

// What was open counts.
static Status step_fork(Asking *asking, Door *fork, const Played *played, uint64_t *unconverged,
                        Error *error) {
    StepRun run;
    Input input = {.kind = INPUT_STEP, .step = *played->step};
    input.step.steps = 1;
    input.step.time_step = played->time_step;
    record_await(fork);
    Status status = door_step_begin(fork, &input, &asking->arena, &run, error);
    if (status == STATUS_OK) {
        status = door_step(fork, &run, &asking->arena, UINT64_MAX, NULL, error);
    }
    *unconverged += status == STATUS_OK && !run.tally.last.certificate.converged;
    return status;
}

// What a player did, done to the fork, too.
static bool follow(Asking *asking, Door *fork, const Played *played, uint64_t *unconverged) {
    Error error = {0};
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < played->change_count; i++) {
        record_await(fork);
        status = door_change(fork, &played->change[i], &asking->arena, NULL, NULL, &error);
    }
    if (status == STATUS_OK && played->step != NULL) {
        status = step_fork(asking, fork, played, unconverged, &error);
    }
    return status == STATUS_OK ||
           record_doubt(asking->doubt, "fork", "behind step %" PRIu64 ": %.300s",
                        player_step(asking->player), error.message);
}

// From where the player stands to the end of what it plays. Where a step failed, it ends.
static bool follow_all(Asking *asking, Door *fork, uint64_t *unconverged) {
    bool is_fine = true, goes_on = true;
    while (is_fine && goes_on && player_step(asking->player) < asking->row.last_step) {
        Played played = {0};
        Error error = {0};
        bool is_stopped;
        PlayerDifference difference = {0};
        if (player_next(asking->player, asking->reader, &asking->arena, NULL, &is_stopped, &played,
                        &difference, &error) != STATUS_OK ||
            difference.found) {
            return record_doubt(asking->doubt, "next", "%.150s%.150s", error.message,
                                difference.message);
        }
        is_fine =
            follow(asking, fork, &played, unconverged) &&
            (played.step == NULL || expect(asking, "fork's next state", player_step(asking->player),
                                           snapshot_hash(fork->world)));
        goes_on = played.step != NULL || played.change_count > 0;
    }
    return is_fine;
}

// From some step on another world is told what the recording tells, to its end; and is recorded in
// turn, as whoever resumes an episode does: that verifies as well.
static bool ask_fork(Asking *asking) {
    const uint64_t from = dice_roll(&asking->record->dice, asking->row.last_step + 1);
    const bool is_recorded = dice_chance(&asking->record->pick, 50);
    uint8_t episode[UID_BYTES];
    uint64_t unconverged = 0;
    EpisodeRow row;
    Door fork = {0};
    bool is_fine = seek(asking, from) && run_to(asking, "to the fork", from, false) &&
                   open_fork_of_player(asking, &fork) &&
                   expect(asking, "fork's state", from, snapshot_hash(fork.world));
    if (is_fine && is_recorded) {
        record_begin(&(Record){.dice = asking->record->pick}, &fork, episode);
    }
    is_fine = is_fine && follow_all(asking, &fork, &unconverged);
    if (fork.recorder != NULL) {
        const uint64_t steps = player_step(asking->player) - from;
        record_stop(&fork);
        is_fine = is_fine && find_row(asking, episode, steps, unconverged, &row) &&
                  ask_verified(asking, &row);
        record_forget(episode);
    }
    if (fork.world != NULL) {
        door_deinit(&fork);
    }
    return is_fine;
}

static bool ask_to_stop(void *context) {
    return ++*(int *)context > QUESTIONS_MAX;
}

// A step that nobody recorded. false: it took too long.
static bool step_free(Asking *asking, Door *door, int *questions, Status *status) {
    const Stop stop = {.asked = ask_to_stop, .context = questions};
    const Context context = {.stop = &stop};
    const uint64_t before = door->world->step;
    StepRun run;
    Input input = {.kind = INPUT_STEP, .step = {.steps = 1}};
    *status = door_step_begin(door, &input, &asking->arena, &run, NULL);
    if (*status == STATUS_OK) {
        *status = door_step(door, &run, &asking->arena, UINT64_MAX, &context, NULL);
    }
    return *status != STATUS_OK || door->world->step > before;
}

// Both take the same steps.
static bool run_free(Asking *asking, Door *fork, Door *live) {
    Status status = STATUS_OK, other;
    int questions = 0;
    for (int i = 0; status == STATUS_OK && i < FREE_STEPS; i++) {
        if (!step_free(asking, fork, &questions, &status) ||
            !step_free(asking, live, &questions, &other)) {
            return true;
        }
        if (status != other || snapshot_hash(fork->world) != snapshot_hash(live->world)) {
            return record_doubt(asking->doubt, "free steps",
                                "%d steps behind step %" PRIu64 " a fork is another than what was "
                                "kept of the world itself",
                                i + 1, asking->record->live_step);
        }
    }
    return true;
}

// A fork beside a snapshot that was taken of the world while it was recorded.
static bool ask_live(Asking *asking) {
    const Record *record = asking->record;
    Door fork = {0}, live = {0};
    const bool is_fine =
        seek(asking, record->live_step) &&
        run_to(asking, "to what was kept", record->live_step, false) &&
        open_fork_of_player(asking, &fork) &&
        open_fork(asking, &live, record->live, record->live_bytes) &&
        expect(asking, "kept state", record->live_step, snapshot_hash(live.world)) &&
        run_free(asking, &fork, &live);
    if (fork.world != NULL) {
        door_deinit(&fork);
    }
    if (live.world != NULL) {
        door_deinit(&live);
    }
    return is_fine;
}

// ----

static bool ask_player(Asking *asking, uint64_t end) {
    Error error = {0};
    PlayerMark *mark[MARKS] = {NULL};
    if (player_open(&asking->player, &asking->row, &asking->record->limits, &error) != STATUS_OK) {
        return record_doubt(asking->doubt, "open", "%.300s", error.message);
    }
    const bool is_fine = ask_forward(asking, mark, end) && ask_marks(asking, mark) &&
                         ask_backward(asking) && ask_fork(asking) && ask_live(asking);
    for (int i = 0; i < MARKS; i++) {
        player_mark_free(mark[i]);
    }
    player_close(asking->player);
    return is_fine;
}

bool record_ask(Record *record, Log *log, uint64_t end, RecordDoubt *doubt) {
    Asking asking = {.record = record, .log = log, .doubt = doubt};
    arena_init(&asking.arena, (size_t)1 << 30);
    ASSERT(log_take_reader(log, &asking.reader, NULL) == STATUS_OK);
    const bool is_fine =
        find_row(&asking, record->episode, record->count - 1, record->unconverged, &asking.row) &&
        ask_verified(&asking, &asking.row) && ask_player(&asking, end);
    log_give_reader(log, asking.reader);
    arena_deinit(&asking.arena);
    return is_fine;
}
