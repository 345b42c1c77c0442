// SPDX-License-Identifier: MIT
#include "bench/contact_peer_process.h"

#include "bench/bench.h"
#include "bench/child.h"

#include <poll.h>

static const struct {
    const char *program, *method, *name;
} peers[] = {
#define X(upper, program, method) {program, method, program " " method},
    CONTACT_PEER_MAP(X)
#undef X
};

static bool is_absent[CONTACT_PEER_COUNT]; // and that has been said

const char *contact_peer_name(ContactPeerIndex index) {
    return peers[index].name;
}

static bool give_up(ContactPeerIndex index, const char *why) {
    fprintf(stderr, "  without %s: %s\n", contact_peer_name(index), why);
    is_absent[index] = true;
    return false;
}

// What a process that has ended no longer reads shows when it does not answer.
static void send(const Child *child, const Delassus *delassus, uint32_t contact_count,
                 const ContactPeerRun *run) {
    ContactPeerProblem head = {.magic = CONTACT_PEER_MAGIC,
                               .contact_count = contact_count,
                               .block_count = delassus->block_count,
                               .tolerance = run->tolerance,
                               .seconds = run->seconds};
    fwrite(&head, sizeof(head), 1, child->to);
    fwrite(delassus->mu, sizeof(double), contact_count, child->to);
    fwrite(delassus->q, sizeof(double), 3 * (size_t)contact_count, child->to);
    fwrite(delassus->block, sizeof(*delassus->block), delassus->block_count, child->to);
    fflush(child->to);
}

static bool receive(const Child *child, double seconds, uint32_t contact_count,
                    ContactPeerAnswer *answer, double *impulse) {
    struct pollfd waiting = {.fd = fileno(child->from), .events = POLLIN};
    if (poll(&waiting, 1, (int)(seconds * 1e3)) <= 0 ||
        fread(answer, sizeof(*answer), 1, child->from) != 1) {
        return false;
    }
    answer->name[sizeof(answer->name) - 1] = answer->refusal[sizeof(answer->refusal) - 1] = '\0';
    size_t count = 3 * (size_t)contact_count;
    return answer->refusal[0] != '\0' ||
           fread(impulse, sizeof(*impulse), count, child->from) == count;
}

bool contact_peer_solve(ContactPeerIndex index, const Delassus *delassus, uint32_t contact_count,
                        const ContactPeerRun *run, ContactPeerAnswer *answer, double *impulse) {
    char path[CHILD_PATH_BYTES];
    if (is_absent[index]) {
        return false;
    }
    if (!child_find(peers[index].program, path)) {
        return give_up(index, "its program was not built");
    }
    Child child;
    child_start(&child, path, peers[index].method);
    send(&child, delassus, contact_count, run);
    bool has_answer = receive(&child, run->seconds, contact_count, answer, impulse);
    child_kill(&child);
    if (has_answer && answer->refusal[0] != '\0') {
        return give_up(index, answer->refusal);
    }
    return has_answer;
}
