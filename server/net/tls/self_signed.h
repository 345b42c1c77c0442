// SPDX-License-Identifier: MIT
// A certificate that nobody else has signed, for servers of a laboratory that has no authority of
// its own: clients know it by its fingerprint, or take the file itself as the only root.
#pragma once

#include "base/status.h"

#include <stdio.h>

// Makes the files cert.pem and key.pem in `folder`, which is made where it is not there, and prints
// what was made and how to use it. Files that are there are left as they are.
Status tls_self_signed(const char *folder, FILE *out, Error *error);
