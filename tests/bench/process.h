// SPDX-License-Identifier: MIT
// Processes under test: a real moreau-server, found beside or above this program, and a bare echo
// server (echo.h). Each listens on TCP and on a Unix socket, and ends with this program.
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { ADDRESS_BYTES = 128 };

typedef struct Process {
    pid_t pid;
    char tcp[ADDRESS_BYTES];   // host:port
    char local[ADDRESS_BYTES]; // unix:PATH
} Process;

// Starts a server with two workers and waits until it listens. `db`: its file of episodes, or NULL.
Process process_start_server(const char *db);
Process process_start_workers(unsigned workers, const char *db); // with so many

// With two workers and these options, NULL behind the last; at most eight.
Process process_start_with(char *const *options);

// The same with two workers and TLS, by a certificate that it makes in a new folder, which goes in
// the end.
Process process_start_secure(char *folder, size_t capacity);
void process_remove_folder(const char *folder);

// Stops it and waits for its end.
void process_stop(Process *process);

// CPU time used by all of its threads, user and system [ns].
double process_cpu_ns(const Process *process);
