// SPDX-License-Identifier: MIT
// What replies say of a group's worlds, beside what its reference has.
#include "simulate/herd.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "simulate/link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- rows

bool herd_has_bit(ProtobufCBinaryData bits, size_t row) {
    return row / 8 < bits.len && (bits.data[row / 8] & (1u << row % 8)) != 0;
}

HerdTold herd_read(HerdOrder order, const Moreau__V1__GroupStepReply *reply) {
    const size_t count = herd_count(order);
    uint32_t world[HERD_WORLDS];
    herd_list(order, world);
    const size_t seen = reply == NULL ? 0 : reply->n_observation + reply->n_observation_double;
    if (reply == NULL || seen == 0 || seen % count != 0 ||
        (reply->n_worlds != 0 && reply->n_worlds != count)) {
        fail("a group is answered with %zu numbers of %zu worlds", seen, count);
    }
    HerdTold told = {.reply = reply,
                     .sees = seen / count,
                     .sees_beside = (reply->n_extra + reply->n_extra_double) / count};
    for (size_t row = 0; row < count; row++) {
        const uint32_t i = reply->n_worlds == 0 ? world[row] : reply->worlds[row];
        if (i >= HERD_WORLDS || (order.worlds & ~told.worlds & (1u << i)) == 0) {
            fail("world %u of a group is answered, and was not asked for, or twice", i);
        }
        told.worlds |= (uint8_t)(1u << i);
        told.row[i] = row;
    }
    for (size_t i = 0; i < reply->n_failures; i++) {
        const Moreau__V1__Status *failure = reply->failures[i];
        if (failure->code == MOREAU__V1__STATUS__CODE__CANCELLED ||
            failure->code == MOREAU__V1__STATUS__CODE__DEADLINE_EXCEEDED) {
            told.stopped |= (uint8_t)(1u << failure->world);
        }
    }
    return told;
}

// Numbers of either precision.
typedef struct Numbers {
    const float *single;
    const double *doubles;
    size_t wide; // of a row
} Numbers;

static const void *row_of(Numbers numbers, size_t row) {
    return numbers.single != NULL ? (const void *)(numbers.single + row * numbers.wide)
                                  : (const void *)(numbers.doubles + row * numbers.wide);
}

static size_t row_bytes(Numbers numbers) {
    return numbers.wide * (numbers.single != NULL ? sizeof(float) : sizeof(double));
}

static Numbers numbers_of(const float *single, size_t count, const double *doubles, size_t wide) {
    return (Numbers){count > 0 ? single : NULL, doubles, wide};
}

static Numbers seen_in(const HerdTold *told) {
    const Moreau__V1__GroupStepReply *reply = told->reply;
    return numbers_of(reply->observation, reply->n_observation, reply->observation_double,
                      told->sees);
}

static Numbers beside_in(const HerdTold *told) {
    const Moreau__V1__GroupStepReply *reply = told->reply;
    return numbers_of(reply->extra, reply->n_extra, reply->extra_double, told->sees_beside);
}

static Numbers last_seen_in(const HerdTold *told) {
    const Moreau__V1__GroupStepReply *reply = told->reply;
    return numbers_of(reply->final_observation, reply->n_final_observation,
                      reply->final_observation_double, told->sees);
}

// Of which place among those that ended; as many as there are: none.
static size_t find_final(const HerdTold *told, uint32_t world) {
    size_t at = 0;
    while (at < told->reply->n_final_world && told->reply->final_world[at] != world) {
        at++;
    }
    return at;
}

// ---- beside the reference

static bool are_same(const Group *group, Numbers numbers, size_t at, const void *rows, size_t row,
                     size_t wide) {
    const size_t bytes = wide * (group->is_double ? sizeof(double) : sizeof(float));
    return wide == 0 || (numbers.wide == wide && (numbers.single == NULL) == group->is_double &&
                         memcmp(row_of(numbers, at), (const char *)rows + row * bytes, bytes) == 0);
}

static void compare_numbers(const Group *group, Numbers numbers, size_t at, const void *rows,
                            size_t row, size_t wide, uint32_t world, const char *what) {
    if (!are_same(group, numbers, at, rows, row, wide)) {
        fail("%s of world %u of a group is not what the reference has", what, world);
    }
}

bool herd_sees_same(const Herd *herd, const HerdTold *told, size_t row) {
    const GroupCall *call = &herd->call;
    const Group *group = call->group;
    const size_t at = told->row[call->world[row]];
    return are_same(group, seen_in(told), at, call->observation, row,
                    group->observation.column_count) &&
           are_same(group, beside_in(told), at, call->extra, row, group->extra.column_count);
}

static void compare_final(const Herd *herd, const HerdTold *told, size_t row) {
    const GroupCall *call = &herd->call;
    const Moreau__V1__GroupStepReply *reply = told->reply;
    const GroupRow *became = &call->row[row];
    const uint32_t i = call->world[row];
    const size_t at = find_final(told, i);
    if ((at < reply->n_final_world) != (became->ended != 0)) {
        fail("an episode of world %u of a group ends untold, or is told to", i);
    }
    if (became->ended == 0) {
        return;
    }
    if (reply->final_episode[at] != became->episode || reply->final_seed[at] != became->seed ||
        reply->final_length[at] != became->length) {
        fail("another episode of world %u of a group ends than of the reference", i);
    }
    compare_numbers(call->group, last_seen_in(told), at, call->final_observation, row,
                    call->group->observation.column_count, i, "what is seen at last");
}

void herd_compare(const Herd *herd, const HerdTold *told, size_t row) {
    const GroupCall *call = &herd->call;
    const Group *group = call->group;
    const Moreau__V1__GroupStepReply *reply = told->reply;
    const uint32_t i = call->world[row];
    const size_t at = told->row[i];
    const GroupRow *became = &call->row[row];
    compare_numbers(group, seen_in(told), at, call->observation, row,
                    group->observation.column_count, i, "what is seen");
    compare_numbers(group, beside_in(told), at, call->extra, row, group->extra.column_count, i,
                    "what is seen beside");
    if (herd_has_bit(reply->terminated, at) != ((became->ended & GROUP_TERMINATED) != 0) ||
        herd_has_bit(reply->truncated, at) != ((became->ended & GROUP_TRUNCATED) != 0)) {
        fail("world %u of a group ends otherwise than the reference's", i);
    }
    if (herd_has_bit(reply->doubtful, at) != became->is_doubtful ||
        herd_has_bit(reply->gained, at) != became->has_gained ||
        (reply->n_unconverged == 0 ? 0 : reply->unconverged[at]) != became->unconverged) {
        fail("a step of world %u of a group is another certificate's than the reference's", i);
    }
    compare_final(herd, told, row);
}

// ---- hashes

uint64_t herd_rows(HerdOrder order, const Moreau__V1__GroupStepReply *reply) {
    const HerdTold told = herd_read(order, reply);
    uint64_t hash = reply->n_failures;
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((told.worlds & (1u << i)) != 0) {
            const size_t row = told.row[i];
            const uint64_t ended = (uint64_t)herd_has_bit(reply->terminated, row) << 1 |
                                   (uint64_t)herd_has_bit(reply->truncated, row);
            hash = hash_bytes(row_of(seen_in(&told), row), row_bytes(seen_in(&told)),
                              hash * 4 + ended);
        }
    }
    return hash;
}

static uint64_t final_hash(const HerdTold *told, uint32_t world) {
    const Moreau__V1__GroupStepReply *reply = told->reply;
    const size_t at = find_final(told, world);
    if (at == reply->n_final_world) {
        return 0;
    }
    const uint64_t number[] = {reply->final_episode[at], reply->final_seed[at],
                               reply->final_length[at]};
    return hash_bytes(row_of(last_seen_in(told), at), row_bytes(last_seen_in(told)),
                      hash_bytes(number, sizeof(number), 1));
}

uint64_t herd_told(HerdOrder order, const Moreau__V1__GroupStepReply *reply) {
    const HerdTold told = herd_read(order, reply);
    uint64_t hash = herd_rows(order, reply);
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((told.worlds & (1u << i)) != 0) {
            const size_t row = told.row[i];
            const uint64_t number[] = {
                herd_has_bit(reply->doubtful, row), herd_has_bit(reply->gained, row),
                reply->n_unconverged == 0 ? 0 : reply->unconverged[row], final_hash(&told, i)};
            hash = hash_bytes(number, sizeof(number), hash);
            if (told.sees_beside > 0) {
                hash = hash_bytes(row_of(beside_in(&told), row), row_bytes(beside_in(&told)), hash);
            }
        }
    }
    return hash * 31 + herd_opinions_hash(reply->opinions);
}

// ---- second opinions

uint64_t herd_opinions_hash(const Moreau__V1__GroupOpinionColumns *columns) {
    uint64_t hash = 0;
    for (size_t i = 0; columns != NULL && i < columns->n_world; i++) {
        const uint64_t number[] = {columns->world[i], columns->substep[i], columns->episode[i],
                                   columns->seed[i], columns->step[i]};
        const double value[] = {columns->gap[i], columns->e_ds[i], columns->residual[i]};
        hash = hash_bytes(value, sizeof(value), hash_bytes(number, sizeof(number), hash + 1));
    }
    return hash;
}

static bool is_same(const Moreau__V1__GroupOpinionColumns *told, size_t at,
                    const OpinionFound *found) {
    return told->world[at] == found->world && told->episode[at] == found->episode &&
           told->seed[at] == found->seed && told->step[at] == found->step &&
           told->substep[at] == found->substep && bytes_same_double(told->gap[at], found->gap) &&
           bytes_same_double(told->e_ds[at], found->e_ds) &&
           bytes_same_double(told->residual[at], found->residual);
}

// They are told, in their order, and no others.
static void take_told(HerdOpinions *opinions, const Moreau__V1__GroupOpinionColumns *told) {
    const size_t count = told == NULL ? 0 : told->n_world;
    if (count > opinions->count) {
        fail("%zu second opinions are told, and the reference has %zu", count, opinions->count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_same(told, i, &opinions->found[i])) {
            fail("a second opinion on world %u of a group is not the reference's", told->world[i]);
        }
    }
    opinions->count -= count;
    if (count > 0) {
        memmove(opinions->found, opinions->found + count,
                opinions->count * sizeof(*opinions->found));
    }
}

void herd_open_call(Herd *herd, const Moreau__V1__GroupStepReply *reply) {
    HerdOpinions *opinions = &herd->opinions;
    opinions->calls++;
    size_t due = 0;
    while (due < opinions->count &&
           opinions->found[due].call + herd->reference->opinion.lag < opinions->calls) {
        due++;
    }
    const size_t told = reply->opinions == NULL ? 0 : reply->opinions->n_world;
    if (told != due && !opinions->is_unclear) {
        fail("call %" PRIu64 " of a group tells %zu second opinions, and %zu are due",
             opinions->calls, told, due);
    }
    take_told(opinions, reply->opinions);
}

void herd_give_opinion(Herd *herd, GroupCase *kept) {
    if (kept == NULL) {
        return;
    }
    HerdOpinions *opinions = &herd->opinions;
    if (opinions->count == opinions->capacity) {
        opinions->capacity = 2 * opinions->capacity + 16;
        opinions->found = realloc(opinions->found, opinions->capacity * sizeof(*opinions->found));
        if (opinions->found == NULL) {
            fail("no memory");
        }
    }
    Opinion opinion;
    Error error = {0};
    if (opinion_give(&kept->kept, herd->reference->opinion.tolerance, &(Context){0}, &herd->scratch,
                     &opinion, &error) != STATUS_OK) {
        fail("the reference has no second opinion: %s", error.message);
    }
    opinions->found[opinions->count++] = (OpinionFound){.call = opinions->calls - 1,
                                                        .world = kept->world,
                                                        .substep = kept->substep,
                                                        .seed = kept->seed,
                                                        .episode = kept->episode,
                                                        .step = kept->step,
                                                        .gap = opinion.gap,
                                                        .e_ds = kept->kept.e_ds,
                                                        .residual = opinion.residual};
    group_opinion_drop(herd->reference, kept);
}

void herd_check_opinions(Herd *herd, const Moreau__V1__GroupOpinionsReply *reply,
                         uint64_t count_max) {
    HerdOpinions *opinions = &herd->opinions;
    const size_t told = reply->opinions == NULL ? 0 : reply->opinions->n_world;
    const size_t most = count_max < opinions->count ? (size_t)count_max : opinions->count;
    if (told != most || reply->lost != 0 || reply->left != opinions->count - most) {
        fail("%zu second opinions are told, %" PRIu64 " left and %" PRIu64
             " lost, of %zu of the reference",
             told, reply->left, reply->lost, opinions->count);
    }
    take_told(opinions, reply->opinions);
}
