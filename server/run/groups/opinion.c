// SPDX-License-Identifier: MIT
#include "run/groups/opinion.h"

#include "base/assert.h"
#include "base/philox.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE_MIN 1e-14
#define TOLERANCE_MAX 1e-2
#define DOUBT_MAX     1e6

// The last word of the counters of these streams; of noise it is 0.
enum { STREAM = 1 };

static Status refuse(const char *field, const char *range, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s lies in %s.", field, range);
}

Status group_opinion_check(const GroupOpinionDef *def, Error *error) {
    if (!(def->share >= 0.0 && def->share <= 1.0)) {
        return refuse("opinion.share", "0 to 1", error);
    }
    if (!(def->tolerance >= TOLERANCE_MIN && def->tolerance <= TOLERANCE_MAX)) {
        return refuse("opinion.tolerance", "1e-14 to 1e-2", error);
    }
    if (!(def->doubt >= 0.0 && def->doubt <= DOUBT_MAX)) {
        return refuse("opinion.doubt", "0 to 1e6", error);
    }
    if (def->lag < 1 || def->lag > GROUP_OPINION_LAG_MAX) {
        return refuse("opinion.lag", "1 to 1,024", error);
    }
    return STATUS_OK;
}

bool group_opinion_choose(const Group *group, uint32_t i, uint32_t *substep) {
    ASSERT(i < group->count);
    const GroupWorld *world = &group->world[i];
    const double share = group->opinion.share;
    if (share == 0.0) {
        return false;
    }
    const uint64_t key[2] = {world->seed, group->first_world + i};
    const uint64_t counter[PHILOX_WORDS] = {1 + world->length / PHILOX_WORDS, 0, world->episode,
                                            STREAM};
    uint64_t block[PHILOX_WORDS];
    philox_block(counter, key, block);
    const double u = (double)(block[world->length % PHILOX_WORDS] >> 11) * 0x1p-53;
    if (!(u < share)) {
        return false;
    }
    const double at = floor(u / share * (double)group->substeps);
    *substep = at < (double)group->substeps ? (uint32_t)at : group->substeps - 1;
    return true;
}

GroupCase *group_opinion_keep(Group *group, uint32_t i, const ContactProblem *problem,
                              const SolveResult *result) {
    ASSERT(i < group->count);
    const GroupWorld *world = &group->world[i];
    const size_t head = (sizeof(GroupCase) + 15) & ~(size_t)15,
                 bytes = head + opinion_bytes(problem);
    GroupCase *made = NULL;
    if (budget_take(&group->opinion_memory, bytes)) {
        made = malloc(bytes);
        if (made == NULL) {
            budget_give(&group->opinion_memory, bytes);
        }
    }
    if (made == NULL) {
        atomic_fetch_add_explicit(&group->opinions_lost, 1, memory_order_relaxed);
        return NULL;
    }
    *made = (GroupCase){.world = i,
                        .substep = world->substep,
                        .seed = world->seed,
                        .episode = world->episode,
                        .step = world->length + 1,
                        .bytes = bytes};
    opinion_keep(&made->kept, problem, result, (char *)made + head);
    return made;
}

void group_opinion_drop(Group *group, GroupCase *kept) {
    if (kept != NULL) {
        budget_give(&group->opinion_memory, kept->bytes);
        free(kept);
    }
}
