// SPDX-License-Identifier: MIT
#include "cli/protocol/effort.h"

#include <strings.h>

int effort_read(Cli *cli, const char *text, Moreau__V1__Effort__Kind *effort) {
    const ProtobufCEnumDescriptor *kinds = &moreau__v1__effort__kind__descriptor;
    for (unsigned i = 0; i < kinds->n_values; i++) {
        if (strcasecmp(text, kinds->values[i].name) == 0) {
            *effort = (Moreau__V1__Effort__Kind)kinds->values[i].value;
            return EXIT_DONE;
        }
    }
    return cli_fail(cli, EXIT_USAGE, "--effort is exact, balanced or fast, not %.64s", text);
}
