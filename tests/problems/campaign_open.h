// SPDX-License-Identifier: MIT
// Steps that a world leaves open as its file says, with all defaults: what was open, why, what it
// means in metres per second, and what it would have taken.
#pragma once

// Steps one of tests/scenes/large, prints a line for every step that did not converge, and at last
// how many did.
void campaign_open(const char *scene);
