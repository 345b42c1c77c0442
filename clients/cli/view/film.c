// SPDX-License-Identifier: MIT
#include "cli/view/film.h"

#include "cli/json/base64.h"
#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/text/terminal.h"
#include "cli/view/webm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_BYTES = 512 };

// What a frame shows: the picture, its caption, and below, where there is room for it, the strip of
// certificates. Frames are encoded one by one with their own times, however long each one takes.
static const char setup[] =
    "(async () => { const view = document.getElementById('view'), line = "
    "document.getElementById('stage-text'); const canvas = new OffscreenCanvas(view.width & ~1, "
    "view.height & ~1), ink = canvas.getContext('2d'); const chunks = []; let failed = null; "
    "const config = { codec: 'vp09.00.41.08', width: canvas.width, height: canvas.height, bitrate: "
    "6e6, bitrateMode: 'variable', latencyMode: 'quality' }; "
    "const encoder = new VideoEncoder({ error: (e) => { failed = e; }, output: (c) => { const b = "
    "new Uint8Array(c.byteLength); c.copyTo(b); let s = ''; for (let i = 0; i < b.length; i += "
    "8192) s += String.fromCharCode(...b.subarray(i, i + 8192)); chunks.push([c.timestamp / 1e6, "
    "c.type === 'key', btoa(s)]); } }); encoder.configure(config); "
    "const settle = () => new Promise((done) => requestAnimationFrame(() => "
    "requestAnimationFrame(done))); "
    "window.film = { width: canvas.width, height: canvas.height, "
    "async add(step, index, rate) { await moreau.seek(step); await settle(); ink.drawImage(view, "
    "0, "
    "0); const style = getComputedStyle(line); ink.fillStyle = style.color; ink.font = '15px "
    "sans-serif'; ink.fillText(line.textContent.replace(/\\n/g, '   '), 14, 26); const frame = new "
    "VideoFrame(canvas, { timestamp: Math.round(index * 1e6 / rate), duration: Math.round(1e6 / "
    "rate) }); encoder.encode(frame, { keyFrame: index % 60 === 0 }); frame.close(); if (failed) "
    "throw failed; return chunks.splice(0); }, "
    "async end() { await encoder.flush(); if (failed) throw failed; return chunks.splice(0); } }; "
    "return [canvas.width, canvas.height]; })()";

typedef struct Film {
    WebmFrame *frame; // owned, and their bytes
    size_t count, capacity;
} Film;

// Takes what the encoder has given: [[time, is_key, base64] …].
static bool take_chunks(Film *film, const json_t *chunks) {
    for (size_t i = 0; i < json_array_size(chunks); i++) {
        const json_t *chunk = json_array_get(chunks, i);
        const char *data = json_string_value(json_array_get(chunk, 2));
        if (film->count == film->capacity) {
            film->capacity = 2 * film->capacity + 64;
            film->frame = memory_grow(film->frame, film->capacity, sizeof(*film->frame));
        }
        WebmFrame *frame = &film->frame[film->count];
        uint8_t *bytes = NULL;
        *frame = (WebmFrame){.time = json_number_value(json_array_get(chunk, 0)),
                             .is_key = json_is_true(json_array_get(chunk, 1))};
        if (data == NULL || !base64_read(data, &bytes, &frame->count)) {
            return false;
        }
        frame->bytes = bytes;
        film->count++;
    }
    return chunks != NULL;
}

static bool run(Shoot *shoot, Film *film, const char *script) {
    json_t *chunks = devtools_run(shoot_page(shoot), script);
    const bool is_taken = take_chunks(film, chunks);
    json_decref(chunks);
    return is_taken;
}

static bool record(Shoot *shoot, const FilmWish *wish, Film *film) {
    const double step_s = shoot_time_step(shoot) / wish->speed;
    const double steps = (double)(wish->to - wish->from);
    const uint64_t frames = (uint64_t)(steps * step_s * wish->frames_per_s) + 1;
    Progress progress;
    bool is_good = true;
    progress_start(&progress);
    for (uint64_t i = 0; i < frames && is_good && !interrupt_wanted(); i++) {
        char script[SCRIPT_BYTES];
        const double at = (double)i / wish->frames_per_s / step_s;
        const uint64_t step = wish->from + (uint64_t)(at < steps ? at + 0.5 : steps);
        snprintf(script, sizeof(script), "film.add(%" PRIu64 ", %" PRIu64 ", %u)", step, i,
                 wish->frames_per_s);
        is_good = run(shoot, film, script);
        progress_show(&progress, i + 1, frames, (double)step * shoot_time_step(shoot));
    }
    progress_stop(&progress);
    if (interrupt_wanted()) {
        return devtools_fail(shoot_page(shoot), "interrupted");
    }
    return is_good && run(shoot, film, "film.end()");
}

int film_make(Cli *cli, Shoot *shoot, const FilmWish *wish, uint8_t **bytes, size_t *count) {
    Film film = {0};
    json_t *size = devtools_run(shoot_page(shoot), setup);
    WebmDef def = {.codec = "V_VP9",
                   .width = (unsigned)json_integer_value(json_array_get(size, 0)),
                   .height = (unsigned)json_integer_value(json_array_get(size, 1))};
    json_decref(size);
    const bool is_made = def.width > 0 && record(shoot, wish, &film) && film.count > 0;
    if (is_made) {
        def.duration = film.frame[film.count - 1].time + 1.0 / wish->frames_per_s;
        *bytes = webm_write(&def, film.frame, film.count, count);
    }
    for (size_t i = 0; i < film.count; i++) {
        free((void *)(uintptr_t)film.frame[i].bytes);
    }
    free(film.frame);
    return is_made ? EXIT_DONE : shoot_fail(cli, shoot);
}
