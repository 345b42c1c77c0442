// SPDX-License-Identifier: MIT
// Any bytes as the JSON of `moreau run` and `moreau call`: refused with a sentence, or a message
// that survives being written and read again; and a scene goes on as on a server, through the plan
// and the door into a world that is stepped.
#include "wire/codec.h"
#include "wire/scene/scene.h"
#include "base/assert.h"
#include "cli/json/read.h"
#include "cli/json/write.h"
#include "run/worlds/door.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const size_t arena_bytes = (size_t)1 << 26;

// NULL: refused, with its place and what is wrong.
static ProtobufCMessage *read_root(const JsonText *json,
                                   const ProtobufCMessageDescriptor *descriptor) {
    JsonError error = {0};
    ProtobufCMessage *message = json_read_message(json, json->root, "", descriptor, &error);
    ASSERT(message != NULL || strncmp(error.message, "text:", 5) == 0);
    return message;
}

static uint8_t *pack(const ProtobufCMessage *message, size_t *count) {
    *count = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = malloc(*count + 1);
    ASSERT(packed != NULL);
    protobuf_c_message_pack(message, packed);
    return packed;
}

// What is printed is what was meant.
static void write_and_read(const ProtobufCMessage *message, const uint8_t *packed, size_t count) {
    json_t *written = json_write_message(message);
    char *text = json_dumps(written, 0);
    ASSERT(text != NULL);
    JsonText json;
    JsonError error = {0};
    ASSERT(json_text_parse(&json, "text", text, strlen(text), &error));
    ProtobufCMessage *again = read_root(&json, message->descriptor);
    ASSERT(again != NULL);
    size_t again_count;
    uint8_t *repacked = pack(again, &again_count);
    ASSERT(again_count == count && memcmp(repacked, packed, count) == 0);
    free(repacked);
    protobuf_c_message_free_unpacked(again, NULL);
    json_text_free(&json);
    free(text);
    json_decref(written);
}

static void step_once(Door *door, Arena *arena) {
    Error error;
    Input input = {.kind = INPUT_STEP, .step = {.steps = 1}};
    StepRun run;
    // a sweep limit of millions is legal, and too long for a fuzzer
    if (door->world->settings.parameter[SOLVER_MAX_ITERATIONS] < 1000.0 &&
        door_step_begin(door, &input, arena, &run, &error) == STATUS_OK) {
        door_step(door, &run, arena, UINT64_MAX, NULL, &error); // may fault; must not crash
    }
}

static void build_world(const ScenePlan *plan, Arena *arena) {
    const WorldLimits limits = {.body_count_max = 100, .bytes_max = arena_bytes};
    Door door;
    Error error;
    ASSERT(door_init(&door, &limits, &error) == STATUS_OK);
    size_t done = 0;
    while (done < plan->input_count &&
           door_change(&door, &plan->input[done], arena, NULL, NULL, &error) == STATUS_OK) {
        done++;
    }
    if (done < plan->input_count) {
        scene_translate(plan, done, &error);
        ASSERT(error.message[0] != '\0');
    } else {
        step_once(&door, arena);
    }
    door_deinit(&door);
}

// The way of a scene on the server, from its bytes on.
static void make_scene(const uint8_t *packed, size_t count) {
    Arena arena;
    arena_init(&arena, arena_bytes);
    bool exhausted;
    Moreau__V1__Scene *scene = (Moreau__V1__Scene *)(void *)codec_unpack(
        &moreau__v1__scene__descriptor, &arena, packed, count, &exhausted);
    ASSERT(scene != NULL);
    Error error;
    ScenePlan plan;
    if (codec_check((const ProtobufCMessage *)(const void *)scene, &error) == STATUS_OK &&
        scene_plan(scene, NULL, &arena, &plan, &error) == STATUS_OK) {
        build_world(&plan, &arena);
    }
    arena_deinit(&arena);
}

static void judge(const JsonText *json, const ProtobufCMessageDescriptor *descriptor) {
    ProtobufCMessage *message = read_root(json, descriptor);
    if (message == NULL) {
        return;
    }
    size_t count;
    uint8_t *packed = pack(message, &count);
    write_and_read(message, packed, count);
    if (descriptor == &moreau__v1__scene__descriptor) {
        make_scene(packed, count);
    }
    free(packed);
    protobuf_c_message_free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    JsonText json;
    JsonError error = {0};
    if (!json_text_parse(&json, "text", (const char *)bytes, count, &error)) {
        ASSERT(strncmp(error.message, "text:", 5) == 0);
        return 0;
    }
    judge(&json, &moreau__v1__scene__descriptor);
    judge(&json, &moreau__v1__request__descriptor);
    json_text_free(&json);
    return 0;
}
