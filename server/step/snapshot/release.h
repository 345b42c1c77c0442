// SPDX-License-Identifier: MIT
// Which release has which version of the dynamics: a recording is proven by a server of its own
// version, and who has one of another is told how to get it. One row for each version that was
// released; tests/releases.py compares it with CHANGELOG.md, and the page with it.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { RELEASE_ADVICE_BYTES = 160 };

// A sentence to stand behind another one, with a space in front: which release has that version,
// and the command that installs it.
const char *release_advice(uint64_t dynamics_version, char text[RELEASE_ADVICE_BYTES]);
