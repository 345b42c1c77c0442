// SPDX-License-Identifier: MIT
#include "access/use.h"

#include "base/assert.h"

#include <inttypes.h>

void use_set_limits(Use *use, const UseLimits *limits) {
    use->limits = *limits;
    atomic_store_explicit(&use->bytes_max, limits->bytes, memory_order_relaxed);
    atomic_store_explicit(&use->log_bytes_max, limits->log_bytes, memory_order_relaxed);
    atomic_store_explicit(&use->episodes_max, limits->episodes, memory_order_relaxed);
}

Status use_check_worlds(Use *use, uint64_t more, Error *error) {
    if (use == NULL ||
        (use->worlds <= use->limits.worlds && more <= use->limits.worlds - use->worlds)) {
        return STATUS_OK;
    }
    atomic_fetch_add_explicit(&use->refused, 1, memory_order_relaxed);
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The token %s has %" PRIu64 " worlds of the %" PRIu64
                     " that it may have (worlds= in the server's file of tokens): destroy some.",
                     use->name, use->worlds, use->limits.worlds);
}

Status use_check_requests(Use *use, Error *error) {
    const uint64_t requests =
        use == NULL ? 0 : atomic_load_explicit(&use->requests, memory_order_relaxed);
    if (use == NULL || requests < use->limits.requests) {
        return STATUS_OK;
    }
    atomic_fetch_add_explicit(&use->refused, 1, memory_order_relaxed);
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The token %s has %" PRIu64
                     " requests under way, as many as it may have (requests= in the server's file "
                     "of tokens): wait for replies.",
                     use->name, requests);
}

static uint64_t bytes_of(const Use *use) {
    return atomic_load_explicit(&use->bytes, memory_order_relaxed);
}

uint64_t use_bytes_left(const Use *use) {
    if (use == NULL) {
        return USE_NO_LIMIT;
    }
    const uint64_t limit = atomic_load_explicit(&use->bytes_max, memory_order_relaxed);
    const uint64_t bytes = bytes_of(use);
    return limit == USE_NO_LIMIT ? USE_NO_LIMIT : bytes < limit ? limit - bytes : 0;
}

Status use_check_bytes(Use *use, uint64_t more, Error *error) {
    const uint64_t left = use_bytes_left(use);
    if (more <= left && left > 0) {
        return STATUS_OK;
    }
    atomic_fetch_add_explicit(&use->refused, 1, memory_order_relaxed);
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The token %s has %" PRIu64 " bytes of worlds, groups and snapshots, of the "
                     "%" PRIu64 " that it may have (bytes= in the server's file of tokens).",
                     use->name, bytes_of(use),
                     atomic_load_explicit(&use->bytes_max, memory_order_relaxed));
}

bool use_limits_log(const Use *use) {
    return use != NULL &&
           (atomic_load_explicit(&use->log_bytes_max, memory_order_relaxed) != USE_NO_LIMIT ||
            atomic_load_explicit(&use->episodes_max, memory_order_relaxed) != USE_NO_LIMIT);
}

static Status refuse_log(Use *use, uint64_t has, uint64_t limit, const char *what, const char *word,
                         Error *error) {
    atomic_fetch_add_explicit(&use->refused, 1, memory_order_relaxed);
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The namespace of the token %s has %" PRIu64 " %s in the file of episodes, of "
                     "the %" PRIu64 " with which the token may begin another recording (%s= in the "
                     "server's file of tokens): delete some.",
                     use->name, has, what, limit, word);
}

void use_set_log(Use *use, uint64_t episodes, uint64_t bytes) {
    atomic_store_explicit(&use->episodes, episodes, memory_order_relaxed);
    atomic_store_explicit(&use->log_bytes, bytes, memory_order_relaxed);
}

Status use_check_log(Use *use, Error *error) {
    if (!use_limits_log(use)) {
        return STATUS_OK;
    }
    const uint64_t bytes_max = atomic_load_explicit(&use->log_bytes_max, memory_order_relaxed),
                   episodes_max = atomic_load_explicit(&use->episodes_max, memory_order_relaxed),
                   bytes = atomic_load_explicit(&use->log_bytes, memory_order_relaxed),
                   episodes = atomic_load_explicit(&use->episodes, memory_order_relaxed);
    if (episodes >= episodes_max) {
        return refuse_log(use, episodes, episodes_max, "episodes", "episodes", error);
    }
    return bytes < bytes_max ? STATUS_OK : refuse_log(use, bytes, bytes_max, "bytes", "log", error);
}

Status use_fail_log(const Use *use, Error *error) {
    const uint64_t episodes = atomic_load_explicit(&use->episodes, memory_order_relaxed),
                   episodes_max = atomic_load_explicit(&use->episodes_max, memory_order_relaxed),
                   bytes_max = atomic_load_explicit(&use->log_bytes_max, memory_order_relaxed);
    const bool is_count = episodes >= episodes_max;
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The recording has ended: with it the namespace of the token %s has the "
                     "%" PRIu64 " %s that the token may have in the file of episodes (%s= in the "
                     "server's file of tokens).",
                     use->name, is_count ? episodes_max : bytes_max,
                     is_count ? "episodes" : "bytes", is_count ? "episodes" : "log");
}

Status use_put_log(Use *use, uint64_t episodes, uint64_t bytes, Error *error) {
    if (!use_limits_log(use)) {
        return STATUS_OK;
    }
    const uint64_t all_bytes =
                       atomic_fetch_add_explicit(&use->log_bytes, bytes, memory_order_relaxed) +
                       bytes,
                   all_episodes =
                       atomic_fetch_add_explicit(&use->episodes, episodes, memory_order_relaxed) +
                       episodes;
    // with the last episode that it may have it may go on
    if (all_bytes < atomic_load_explicit(&use->log_bytes_max, memory_order_relaxed) &&
        (episodes == 0 ||
         all_episodes <= atomic_load_explicit(&use->episodes_max, memory_order_relaxed))) {
        return STATUS_OK;
    }
    atomic_fetch_add_explicit(&use->refused, 1, memory_order_relaxed);
    return use_fail_log(use, error);
}

void use_count_request(Use *use, int change) {
    if (use != NULL) {
        atomic_fetch_add_explicit(&use->requests, (uint64_t)change, memory_order_relaxed);
    }
}

void use_count_bytes(Use *use, uint64_t before, uint64_t after) {
    if (use != NULL) {
        atomic_fetch_add_explicit(&use->bytes, after - before, memory_order_relaxed);
    }
}
