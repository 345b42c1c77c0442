// SPDX-License-Identifier: MIT
// Scenes of tests/scenes as messages, read as the command line reads them. Fails the test where one
// cannot be read; the message is the caller's, to free with moreau__v1__scene__free_unpacked.
#pragma once

#include "cli/json/read.h"
#include "moreau.pb-c.h"

#include <check.h>
#include <stdio.h>

// Frees the text.
static inline Moreau__V1__Scene *scene_file_read(JsonText *json) {
    JsonError error = {0};
    Moreau__V1__Scene *scene = (Moreau__V1__Scene *)(void *)json_read_message(
        json, json->root, "", &moreau__v1__scene__descriptor, &error);
    ck_assert_msg(scene != NULL, "%s", error.message);
    json_text_free(json);
    return scene;
}

// As "joints/ant".
static inline Moreau__V1__Scene *scene_file_load(const char *name) {
    char path[512];
    JsonText json;
    JsonError error = {0};
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/%s.json", name);
    ck_assert_msg(json_text_load(&json, path, &error), "%s", error.message);
    return scene_file_read(&json);
}
