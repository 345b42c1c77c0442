// SPDX-License-Identifier: MIT
// Servers with --tokens: people of a name, whose token is that name with "-secret" behind it.
#pragma once

#include "support/server_process.h"
#include "support/wire_client.h"

// One line of such a file, without what `moreau token` would make of it.
typedef struct WirePerson {
    const char *name;
    const char *rights; // and what follows them
} WirePerson;

enum { WIRE_TOKENS_BYTES = 8192 };

// The text of a file with these people.
void wire_tokens_text(const WirePerson *people, size_t count, char text[WIRE_TOKENS_BYTES]);

// A server with them; its file is `tokens` in `folder`, which the caller removes.
ServerProcess *wire_tokens_start(const WirePerson *people, size_t count, const char *options,
                                 char folder[SERVER_FOLDER_BYTES]);

// Writes the file anew and has the server read it, until it says so in its log for the n-th time.
void wire_tokens_change(ServerProcess *server, const char *folder, const char *text, int n);

// Says Hello as one of them (NULL: as nobody) and returns the answer.
Moreau__V1__Reply *wire_greet_as(WireClient *client, const char *name, const char *resume);

// Connects as one of them, who must be let in.
WireClient *wire_open_as(const ServerProcess *server, const char *name);
