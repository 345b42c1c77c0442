// SPDX-License-Identifier: MIT
// Threads that give way: the system takes their core as soon as another thread wants one.
#pragma once

// Makes the calling thread nicer by so much than it is, as nice(1) counts. It can never be undone
// without rights; not being allowed does no harm.
void nice_thread(int more);

// What nice_thread(more) would make of a thread that has `niceness`.
int nice_sum(int niceness, int more);
