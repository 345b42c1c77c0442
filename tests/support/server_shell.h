// SPDX-License-Identifier: MIT
// Lines of shell with the tool `moreau` of this build, as a stranger types them, against a server.
#pragma once

#include <jansson.h>
#include <stddef.h>

// What a line said, standard error too where it says so, and its exit status; -1: a signal.
int server_shell(const char *address, const char *line, char *said, size_t capacity);

// The JSON document that a line says when it ends with the exit status `expected`; otherwise the
// test fails with what it said. Owned by the caller.
json_t *server_shell_json(const char *address, const char *line, int expected);
