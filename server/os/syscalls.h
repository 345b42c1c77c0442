// SPDX-License-Identifier: MIT
// Calls of the system that a server never needs, and whoever got into one would: refused from now
// on, with EPERM, by a filter of the kernel (seccomp). It is a list of what is refused, so that a C
// library that comes to use a new call does not die of it.
//
// The filter is written here, not by libseccomp: it is a comparison for each call, and a library
// would have to come along with every wheel and package.
#pragma once

#include <stdbool.h>

// What the list is for: programs are started, processes looked into or entered, file systems
// mounted, namespaces made, the kernel programmed, keys of others read.
//
// Refuses it for this thread and what it starts, which gain no rights by exec any more. false: the
// kernel has no such filter, or the machine is one that the list does not know.
bool syscalls_refuse(void);
