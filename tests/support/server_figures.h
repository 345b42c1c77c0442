// SPDX-License-Identifier: MIT
// What the system says of a server process: its descriptors, its memory, its sleep. What cannot
// be read fails the test.
#pragma once

#include <stdint.h>
#include <sys/types.h>

uint32_t server_descriptor_count(pid_t pid);

// [bytes] in memory now, and the most since server_reset_peak.
uint64_t server_resident_bytes(pid_t pid);
uint64_t server_peak_bytes(pid_t pid);
void server_reset_peak(pid_t pid);

// How often its threads have gone to sleep: none of them wakes without a reason.
uint64_t server_wakes(pid_t pid);

// So that this process may open a thousand sockets; returns how many descriptors it may have.
uint64_t server_raise_file_limit(void);
