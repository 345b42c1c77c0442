// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // gettid
#include "support/wire_witness.h"

#include "support/machine.h"
#include "support/net_client.h"
#include "support/server_process.h"
#include "support/wire_crowd.h"
#include "support/wire_world.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS_MAX = 1 << 18, REPLY_BYTES_MAX = 1 << 16 };
enum { PAUSE_MS = 1 };

typedef struct Calls {
    size_t count;
    double ms[CALLS_MAX];
} Calls;

struct Witness {
    pthread_t thread;
    int fd;
    uint64_t world; // 0: it pings
    pid_t server;   // 0: times are what the clock says
    uint8_t *frame; // owned; the same call again and again
    size_t frame_bytes;
    atomic_bool is_timed;
    atomic_bool is_over;
    atomic_bool has_ended;  // its thread, for whatever reason
    _Atomic uint64_t round; // counts calls, so that one under way can be waited for
    uint64_t step_count;
    char failure[256]; // Check may not be called from this thread
    Calls calls;
};

// ---- its thread

static bool note(Witness *witness, const char *why, const char *message) {
    snprintf(witness->failure, sizeof(witness->failure), "at step %llu: %s %s",
             (unsigned long long)witness->step_count + 1, why, message);
    return false;
}

static bool judge(Witness *witness, const Moreau__V1__Reply *reply) {
    if (reply == NULL || reply->status == NULL) {
        return note(witness, "this is no reply", "");
    }
    if (reply->status->code != MOREAU__V1__STATUS__CODE__OK) {
        return note(witness, "the call was refused:", reply->status->message);
    }
    if (witness->world == 0) {
        return reply->result_case == MOREAU__V1__REPLY__RESULT_PONG ||
               note(witness, "this is no Pong", "");
    }
    const Moreau__V1__WorldStepReply *step = reply->world_step;
    if (step->n_step != 1 || step->step[0] != witness->step_count + 1) {
        return note(witness, "the world has another step count", "");
    }
    witness->step_count++;
    return true;
}

static bool call_once(Witness *witness) {
    static uint8_t body[REPLY_BYTES_MAX];
    if (!net_client_write(witness->fd, witness->frame, witness->frame_bytes)) {
        return note(witness, "the connection is gone", "");
    }
    long count = net_client_receive_frame(witness->fd, body, sizeof(body));
    if (count < 0) {
        return note(witness, "no answer came", "");
    }
    Moreau__V1__Reply *reply = moreau__v1__reply__unpack(NULL, (size_t)count, body);
    bool is_good = judge(witness, reply);
    moreau__v1__reply__free_unpacked(reply, NULL);
    return is_good;
}

// How long this thread, and the one that answers, have waited for a core so far. They wait in turn,
// or at once: then more is taken off than was lost, so that a wait too much is never counted.
static double held_up_ms(const Witness *witness) {
    return witness->server == 0 ? 0
                                : machine_held_up_ms(witness->server, witness->server) +
                                      machine_held_up_ms(getpid(), gettid());
}

static void *run(void *context) {
    Witness *witness = context;
    bool is_good = true;
    while (is_good && !atomic_load(&witness->is_over)) {
        bool is_timed = atomic_load(&witness->is_timed);
        double begun_ms = server_now_ms() - held_up_ms(witness);
        is_good = call_once(witness);
        if (is_timed && witness->calls.count < CALLS_MAX) {
            double ended_ms = server_now_ms() - held_up_ms(witness);
            witness->calls.ms[witness->calls.count++] = ended_ms - begun_ms;
        }
        atomic_fetch_add(&witness->round, 1);
        server_sleep_ms(PAUSE_MS);
    }
    atomic_store(&witness->has_ended, true);
    return NULL;
}

// ---- from outside

static Witness *make_witness(void) {
    Witness *witness = calloc(1, sizeof(*witness));
    ck_assert_ptr_nonnull(witness);
    return witness;
}

static Witness *begin(Witness *witness, const char *address, const void *call) {
    witness->fd = wire_crowd_member(address);
    witness->frame = wire_crowd_frame(call, 2, &witness->frame_bytes);
    ck_assert_int_eq(pthread_create(&witness->thread, NULL, run, witness), 0);
    return witness;
}

Witness *witness_start(const char *address, WireClient *helper) {
    Witness *witness = make_witness();
    witness->world = wire_world(helper, 3, 1, MOREAU__V1__WORLD__LIFETIME__SERVER).id;
    wire_step(helper, witness->world, 1000); // it rests, and its memory has grown to what it needs
    witness->step_count = 1000;
    Moreau__V1__WorldStep call = wire_step_call(&witness->world, 1);
    return begin(witness, address, &call);
}

Witness *witness_start_pinging(const char *address, pid_t server) {
    Moreau__V1__Ping call = MOREAU__V1__PING__INIT;
    Witness *witness = make_witness();
    witness->server = server;
    return begin(witness, address, &call);
}

void witness_begin(Witness *witness) {
    witness->calls.count = 0;
    atomic_store(&witness->is_timed, true);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static WitnessTimes times_of(Calls *calls) {
    if (calls->count == 0) {
        return (WitnessTimes){0};
    }
    qsort(calls->ms, calls->count, sizeof(calls->ms[0]), compare);
    size_t last = calls->count - 1;
    return (WitnessTimes){.count = calls->count,
                          .p50_ms = calls->ms[last / 2],
                          .p99_ms = calls->ms[last * 99 / 100],
                          .longest_ms = calls->ms[last]};
}

WitnessTimes witness_end(Witness *witness) {
    atomic_store(&witness->is_timed, false);
    // the call that had begun before is done with the next round, the one after is not timed
    uint64_t round = atomic_load(&witness->round);
    while (atomic_load(&witness->round) == round && !atomic_load(&witness->has_ended)) {
        server_sleep_ms(PAUSE_MS);
    }
    return times_of(&witness->calls);
}

void witness_stop(Witness *witness) {
    atomic_store(&witness->is_over, true);
    pthread_join(witness->thread, NULL);
    close(witness->fd);
    char failure[sizeof(witness->failure)];
    snprintf(failure, sizeof(failure), "%s", witness->failure);
    free(witness->frame);
    free(witness);
    ck_assert_msg(failure[0] == '\0', "a well-behaved client noticed: %s", failure);
}
