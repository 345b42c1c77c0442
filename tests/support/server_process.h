// SPDX-License-Identifier: MIT
// A real server process for tests: moreau-server of this build, started in a folder of its own and
// reaped at the end. Every failure to start, to answer or to end ends the test with a sentence.
//
// Options are one text, split at spaces; "@" stands for the folder. Without a --listen among them
// the server listens on 127.0.0.1, at a port that the system chooses. Log lines go to `@/log`,
// standard error to `@/stderr`.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SERVER_ADDRESS_MAX = 16, SERVER_ADDRESS_BYTES = 160, SERVER_FOLDER_BYTES = 64 };

typedef struct ServerProcess {
    pid_t pid; // 0: reaped
    char folder[SERVER_FOLDER_BYTES];
    char address[SERVER_ADDRESS_MAX][SERVER_ADDRESS_BYTES]; // as --ready-fd told them
    size_t address_count;
} ServerProcess;

// Returns when the server has said that it listens.
ServerProcess *server_start(const char *options);

// Sends SIGTERM and demands exit status 0 (under the sanitizers: nothing leaked), then removes the
// folder and frees the process.
void server_stop(ServerProcess *server);

// Between one of the first two and the last, servers start with support/shims/bad_disk.c or
// intruder.c before the system's library, and with this variable, which tells it what to do.
void server_begin_shim(const char *variable, const char *value);
void server_begin_intruder(const char *variable, const char *value);
void server_end_shim(void);

// For a server that was told to end: waits, and returns its exit status; -1 when a signal ended it.
int server_wait(ServerProcess *server, int timeout_ms);

// Frees what server_wait has reaped, and removes its folder.
void server_free(ServerProcess *server);

// Runs a server that ought to refuse to start, and returns its exit status. What it said on
// standard error is left in `said`.
int server_refusal(const char *options, char *said, size_t capacity);

// Reads a file of the server's folder as text; "" when there is none. The caller frees it.
char *server_read(const ServerProcess *server, const char *name);

// Writes a file into the folder `folder`.
void server_write(const char *folder, const char *name, const char *text);

// A new empty folder for tests that need a file before the server starts: use it as --token-file
// and the like. The caller removes it with server_remove_folder.
void server_make_folder(char folder[SERVER_FOLDER_BYTES]);
void server_remove_folder(const char *folder);

// [ms] of a clock that never goes back.
double server_now_ms(void);
void server_sleep_ms(unsigned ms);
