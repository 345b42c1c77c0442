// SPDX-License-Identifier: MIT
// A client's end of a connection inside the simulation: a Unix socket on which bytes leave and
// arrive in pieces of seeded sizes, with points of the schedule between them.
#pragma once

#include "moreau.pb-c.h"
#include "simulate/dice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Link {
    int fd; // -1: closed
    Dice *dice;
    uint8_t *input; // owned
    size_t input_count, input_capacity;
} Link;

typedef enum LinkResult { LINK_REPLY, LINK_GONE, LINK_LATE } LinkResult;

// False: nobody listens there (any more).
bool link_open(Link *link, const char *path, Dice *dice);
void link_close(Link *link); // idempotent

// False: the server has closed the connection.
bool link_send(Link *link, const uint8_t *bytes, size_t count);

// The next reply, to be freed by moreau__v1__reply__free_unpacked. LINK_LATE after a minute and a
// half of the simulated time.
LinkResult link_receive(Link *link, Moreau__V1__Reply **reply);

// Whether a whole one is there already, or may be by then.
bool link_wait(Link *link, uint64_t until_ns);

// Sends one call, given by its message, and takes replies until the one that ends it; whatever else
// comes fails. NULL: the connection is gone.
Moreau__V1__Reply *link_ask(Link *link, const void *message, uint64_t id);

// A request with its header, appended to `bytes`, which grows.
typedef struct LinkBytes {
    uint8_t *bytes; // owned by whoever began with {0}
    size_t count, capacity;
} LinkBytes;
Moreau__V1__Request link_request(const void *call); // the request around a call, which is borrowed
void link_pack(LinkBytes *bytes, const Moreau__V1__Request *request);

// Says what is wrong and ends the process: the seed has found something.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
