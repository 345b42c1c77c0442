// SPDX-License-Identifier: MIT
// Any bytes as what somebody between a client and a server's TLS does to the client's records.
#include "support/net_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    RecordsPlayed played = {0};
    net_records_play(bytes, count, &played);
    return 0;
}
