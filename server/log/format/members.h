// SPDX-License-Identifier: MIT
// Which rows of the table `episode` are a recording's, as SQL: their ids say so, and no index has
// to, which would cost more than the row of a short episode itself.
#pragma once

// Behind the id of an episode; `recording`: the id of one.
#define MEMBERS_OF(recording) " BETWEEN " recording " << 32 AND (" recording " << 32) + 4294967295"
