// SPDX-License-Identifier: MIT
#include "os/secret.h"

#include <string.h>

void secret_wipe(char *secret) {
    if (secret != NULL) {
        explicit_bzero(secret, strlen(secret));
    }
}

bool secret_matches(const char *given, const char *wanted) {
    size_t given_length = strlen(given), wanted_length = strlen(wanted);
    unsigned difference = given_length != wanted_length;
    for (size_t i = 0; i < wanted_length; i++) {
        difference |=
            (unsigned)(unsigned char)wanted[i] ^ (unsigned char)(i < given_length ? given[i] : 0);
    }
    return difference == 0;
}
