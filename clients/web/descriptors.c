// SPDX-License-Identifier: MIT
// The two look-ups of protobuf-c that printing a scene needs (wire/scene/print.c), so that the
// module takes nothing else of that library along, which there is no WebAssembly build of. The
// tables are the generated ones; what packs and unpacks is left out by the linker.
#include <protobuf-c/protobuf-c.h>
#include <string.h>

const ProtobufCFieldDescriptor *
protobuf_c_message_descriptor_get_field_by_name(const ProtobufCMessageDescriptor *message,
                                                const char *name) {
    for (unsigned i = 0; i < message->n_fields; i++) {
        if (strcmp(message->fields[i].name, name) == 0) {
            return &message->fields[i];
        }
    }
    return NULL;
}

const ProtobufCEnumValue *
protobuf_c_enum_descriptor_get_value(const ProtobufCEnumDescriptor *descriptor, int value) {
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        if (descriptor->values[i].value == value) {
            return &descriptor->values[i];
        }
    }
    return NULL;
}
