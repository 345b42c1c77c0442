// SPDX-License-Identifier: MIT
// A key for --seal-key, and its public half, which everybody may have.
#pragma once

#include "base/status.h"

#include <stdio.h>

// Makes the files seal.key and seal.pub in `folder`, which is made where it is not there, and
// prints what was made and how to use it. Files that are there are left as they are.
Status seal_new(const char *folder, FILE *out, Error *error);
