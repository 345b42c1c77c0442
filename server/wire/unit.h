// SPDX-License-Identifier: MIT
// Unit quaternions that come back as the same bits when they are read, which normalises them.
#pragma once

#include "base/vec.h"

// A quaternion that is `unit` once it is normalised.
Quat unit_inverse(Quat unit);
