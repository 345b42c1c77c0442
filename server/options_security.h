// SPDX-License-Identifier: MIT
// What options.c asks of the options that say who may come in: which of them need or exclude each
// other, and the token of --token-file.
#pragma once

#include "options.h"

// Whether certificates, tokens, keys and addresses fit together; notes whether --http is exposed.
Status options_check_security(Options *options, Error *error);

// The first line of the token file, which is given, without the spaces around it.
Status options_read_token(Options *options, Error *error);
