// SPDX-License-Identifier: MIT
// Stands between the server and libuv and libc while a simulation is on: locks, signals, threads,
// wakes and waiting become points of the schedule, clocks show its time, randomness comes from the
// seed, and sockets take and give fewer bytes than they could, or none for now. There is nothing to
// call but this: whatever the server or libuv calls finds its way here by the linker (--wrap for
// libuv, the names themselves for libc; CMakeLists.txt lists the former).
#pragma once

#include <stdint.h>

// How badly sockets behave and what random numbers come is drawn from the seed.
void system_begin(uint64_t seed);
