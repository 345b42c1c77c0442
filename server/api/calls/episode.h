// SPDX-License-Identifier: MIT
// What the calls on episodes share: finding one by what a client calls it, showing what is known of
// one, and the manners of long work in the background.
#pragma once

#include "api/request.h"
#include "log/reader/reader.h"

// How long work in the background goes on before it looks around.
enum { EPISODE_QUANTUM_NS = 100000 };

// Counts what the namespace of who asks has in the file, where his token has a limit of it. On a
// lane.
Status episode_measure_log(const Request *request, Error *error);
// The same, and whether he may begin another recording.
Status episode_check_room(const Request *request, Error *error);

// By id, an unmistakable beginning of one, or a name; NULL or "" is refused. Blames `episode`. What
// the row points to is the request's arena's. On a lane.
Status episode_find(Request *request, const char *text, EpisodeRow *row, Error *error);

// `field`: of the list, to blame.
Status episode_check_labels(size_t count, char *const *labels, const char *field, Error *error);

// "<stem>-<number>"; a long stem gives way to the number, without cutting a letter in two.
void episode_number_name(const char *stem, uint64_t number, char name[HOST_NAME_BYTES]);

// FAILED_PRECONDITION in a build whose bits are not those of its dynamics version.
Status episode_check_build(const Request *request, Error *error);

// Before an episode is stepped, or anything is sized by its row: DATA_LOSS when the row says
// something else than its sealed definition.
Status episode_check_row(Request *request, const EpisodeRow *row, Error *error);

// A moment [s] since 1970, as it is shown.
double episode_seconds(uint64_t ns);

// Fills `info`, whose memory is the arena's. false: it ended.
bool episode_describe(const EpisodeRow *row, Arena *arena, Moreau__V1__EpisodeInfo *info);

// What stepping an episode again is likely to take, in the memory budget.
size_t episode_player_bytes(const EpisodeRow *row);

// Counts `bytes` in the memory budget, and among the figures, in place of the `*counted` that were
// counted before. Any thread.
void episode_count_memory(const Request *request, size_t *counted, size_t bytes);

// How often a client is told of long work that goes on.
enum { EPISODE_PROGRESS_NS = 100000000 };

// An event of this result, an EpisodeProgress, unless the client was *told of as many steps already
// or does not read. By whoever sends the reply after it: the loop (`lane` NULL), or a lane.
void episode_tell_progress(Request *request, Lane *lane, Moreau__V1__Reply__ResultCase result,
                           uint64_t steps_done, uint64_t steps_total, uint64_t *told);

typedef struct EpisodeTold {
    uint64_t at_ns, steps;
} EpisodeTold;

// The same by a lane, which comes by more often than a client wants to know.
void episode_tell_at_times(Request *request, Lane *lane, Moreau__V1__Reply__ResultCase result,
                           uint64_t steps_done, uint64_t steps_total, uint64_t now_ns,
                           EpisodeTold *told);

// Request.stopped of work that looks for itself: that there is this function makes a drain end it
// at once.
void episode_on_stopped(Request *request);

// Reading the log was given up (ABORTED) as the watch said so: why, or OK where it is to be begun
// again on a long lane; then the request's outcome says that.
Status episode_end_watch(Request *request, const WorkWatch *watch, Error *error);

// Long work in the background ends its turn here: true when its slice is over.
bool episode_should_pause(const Lane *lane);
