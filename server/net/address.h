// SPDX-License-Identifier: MIT
// The text of an address: 127.0.0.1:7667, [::1]:7667, localhost:7667, unix:PATH. Host names other
// than localhost are not resolved: a server binds to interfaces, and a name would make the start
// depend on a resolver.
#pragma once

#include "base/status.h"

#include <sys/socket.h>

enum { ADDRESS_TEXT_BYTES = 128 }; // "unix:" and the longest path that a socket takes need 113

typedef struct Address {
    struct sockaddr_storage socket;
    socklen_t socket_bytes;
} Address;

// Checks and converts; `address` is untouched on failure.
Status address_parse(const char *text, Address *address, Error *error);

bool address_is_loopback(const Address *address);

// As a client would write it; "unix" for a peer without a path.
void address_print(const Address *address, char text[ADDRESS_TEXT_BYTES]);
