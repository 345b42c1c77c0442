// SPDX-License-Identifier: MIT
// Replies whose texts may stand on a terminal as they are.
#pragma once

#include <protobuf-c/protobuf-c.h>

// Escapes every string of a message that was unpacked with the standard allocator, as shown_text
// does.
void shown_message(ProtobufCMessage *message);
