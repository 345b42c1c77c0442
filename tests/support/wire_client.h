// SPDX-License-Identifier: MIT
// A thin client of the protocol for tests: raw bytes, frames, requests, replies, and nothing that
// would hide what goes over the wire. It judges nothing, so that it can send what no client should.
//
// A call is given as its message, say a Moreau__V1__WorldStep: which member of Request it is
// follows from its descriptor. Replies belong to the client and live until wire_close.
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WireClient WireClient;

// Connects, without a Hello. `address` is what --ready-fd told.
WireClient *wire_connect(const char *address);

// Connects and greets; a refusal fails the test.
WireClient *wire_open(const char *address);

void wire_close(WireClient *client);

// Ends the sending half: the server sees the end of the stream, replies still come.
void wire_shut(WireClient *client);

// False: the server has closed the connection.
bool wire_send_bytes(WireClient *client, const void *bytes, size_t count);
bool wire_send_frame(WireClient *client, const void *body, size_t count);

// The request around a call's message. `call` is borrowed.
Moreau__V1__Request wire_request(const void *call);

// Sends a request as it is, but with a fresh id where it has none; returns the id.
uint64_t wire_submit_request(WireClient *client, Moreau__V1__Request *request);
uint64_t wire_submit(WireClient *client, const void *call);

// The next reply; NULL at the end of the stream. Nothing within PATIENCE_MS fails the test.
Moreau__V1__Reply *wire_receive(WireClient *client);

// Whether a reply, or the end of the stream, comes within so long.
bool wire_waits(WireClient *client, int timeout_ms);

// Demands that the server has closed the connection, or does now, without another reply.
void wire_expect_end(WireClient *client);

// One request and its reply; an end of the stream fails the test.
// What a call says on its way is passed over.
Moreau__V1__Reply *wire_call(WireClient *client, const void *call);
Moreau__V1__Reply *wire_call_within(WireClient *client, const void *call, uint32_t deadline_ms);

// The same, and the status must be this. `field` is NULL where it does not matter.
Moreau__V1__Reply *wire_refuse(WireClient *client, const void *call, Moreau__V1__Status__Code code,
                               const char *field);
Moreau__V1__Reply *wire_accept(WireClient *client, const void *call); // OK

// A WorldStep or WorldHash of one world, which must be OK and tell of the world's failure.
Moreau__V1__Reply *wire_fail(WireClient *client, const void *call, Moreau__V1__Status__Code code,
                             const char *field);

// Fails the test unless the reply has this status; `field` is Nullable.
void wire_expect(const Moreau__V1__Reply *reply, Moreau__V1__Status__Code code, const char *field);

// A Ping that must come back: the connection and the server live.
void wire_ping(WireClient *client);
