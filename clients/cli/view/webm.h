// SPDX-License-Identifier: MIT
// A video as a WebM file: frames that are encoded already (VP8 or VP9) one behind the other, with
// their times, so that players show, seek and know its length.
//
// https://www.matroska.org/technical/elements.html; a WebM is a part of it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WebmFrame {
    const uint8_t *bytes;
    size_t count;
    double time; // [s], rising
    bool is_key; // is decoded without those before it; the first one must be
} WebmFrame;

typedef struct WebmDef {
    const char *codec; // "V_VP9"
    unsigned width, height;
    double duration; // [s]
} WebmDef;

// The file, owned by the caller, freed with free.
uint8_t *webm_write(const WebmDef *def, const WebmFrame *frames, size_t frame_count, size_t *count);
