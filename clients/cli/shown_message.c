// SPDX-License-Identifier: MIT
#include "cli/shown_message.h"

#include "cli/base/memory.h"
#include "cli/text/shown.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void show_string(char **text) {
    const size_t count = strlen(*text);
    bool is_plain = true;
    for (size_t i = 0; i < count && is_plain; i++) {
        is_plain = (*text)[i] >= ' ' && (*text)[i] < 0x7F;
    }
    if (!is_plain) {
        // \xNN takes the place of one byte, \uNNNN that of two or three
        const size_t room = 4 * count + 1;
        char *shown = memory_take(room, 1);
        shown_text(*text, shown, room);
        free(*text);
        *text = shown;
    }
}

static void show_value(const ProtobufCFieldDescriptor *field, void *value) {
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        ProtobufCMessage **message = value;
        if (*message != NULL) {
            shown_message(*message);
        }
    } else if (field->type == PROTOBUF_C_TYPE_STRING) {
        char **text = value;
        // what is a default of the protocol's is no one's choice, and nobody's to free
        if (*text != NULL && *text != (const char *)field->default_value) {
            show_string(text);
        }
    }
}

void shown_message(ProtobufCMessage *message) {
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        uint8_t *value = (uint8_t *)message + field->offset;
        if (field->type != PROTOBUF_C_TYPE_MESSAGE && field->type != PROTOBUF_C_TYPE_STRING) {
            continue;
        }
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t count;
            void **items;
            memcpy(&count, (uint8_t *)message + field->quantifier_offset, sizeof(count));
            memcpy(&items, value, sizeof(items));
            for (size_t k = 0; k < count; k++) {
                show_value(field, &items[k]);
            }
            continue;
        }
        uint32_t chosen = field->id;
        if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
            memcpy(&chosen, (uint8_t *)message + field->quantifier_offset, sizeof(chosen));
        }
        if (chosen == field->id) {
            show_value(field, value);
        }
    }
}
