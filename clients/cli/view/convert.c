// SPDX-License-Identifier: MIT
#include "cli/view/convert.h"

#include "cli/files/save.h"
#include "cli/view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 24, PLACE_BYTES = 32 };

// What ffmpeg works on: files without a name, so that none is left behind however this ends.
typedef struct Files {
    FILE *webm, *palette, *made;
} Files;

static bool ends_in(const char *path, const char *ending) {
    const size_t bytes = strlen(path), wanted = strlen(ending);
    return bytes >= wanted && strcasecmp(path + bytes - wanted, ending) == 0;
}

int convert_check(Cli *cli, const char *path) {
    char ffmpeg[BROWSER_PATH_BYTES];
    if (ends_in(path, ".webm")) {
        return EXIT_DONE;
    }
    if (!ends_in(path, ".mp4") && !ends_in(path, ".gif")) {
        return cli_fail(cli, EXIT_USAGE,
                        "%s: a video is a .webm, or, where ffmpeg is installed, a .mp4 or a .gif",
                        path);
    }
    return browser_find_program("ffmpeg", ffmpeg)
               ? EXIT_DONE
               : cli_fail(cli, EXIT_REFUSED,
                          "%s is made by ffmpeg, which is not in PATH: apt install ffmpeg (Debian, "
                          "Ubuntu), dnf install ffmpeg-free (Fedora); a .webm is made without it",
                          path);
}

// A name that ffmpeg may open again and again.
static void name_place(const FILE *file, char place[PLACE_BYTES]) {
    snprintf(place, PLACE_BYTES, "file:/dev/fd/%d", fileno((FILE *)(uintptr_t)file));
}

// ffmpeg on the WebM; `more` are the words behind that, and NULL. false: it said why not.
static bool run_ffmpeg(const Files *files, const char *const more[]) {
    char ffmpeg[BROWSER_PATH_BYTES], webm[PLACE_BYTES];
    const char *words[WORDS_MAX] = {"ffmpeg", "-nostdin", "-loglevel", "error", "-y",
                                    "-f",     "webm",     "-i",        webm};
    size_t count = 9;
    for (size_t i = 0; more[i] != NULL && count < WORDS_MAX - 1; i++) {
        words[count++] = more[i];
    }
    name_place(files->webm, webm);
    if (!browser_find_program("ffmpeg", ffmpeg)) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        execv(ffmpeg, (char *const *)words);
        _exit(127);
    }
    int state = 0;
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && state == 0;
}

// The page's colours have all of a byte; players expect those of television. What a browser fetches
// begins before it has all of it.
static bool make_mp4(const Files *files) {
    char made[PLACE_BYTES];
    name_place(files->made, made);
    const char *const words[] = {"-vf",          "scale=out_range=tv,format=yuv420p",
                                 "-color_range", "tv",
                                 "-movflags",    "+faststart",
                                 "-f",           "mp4",
                                 made,           NULL};
    return run_ffmpeg(files, words);
}

// 256 colours of its own, found in a first look at all of it. Spread errors would shimmer, and make
// it larger.
static bool make_gif(const Files *files) {
    char palette[PLACE_BYTES], made[PLACE_BYTES];
    name_place(files->palette, palette), name_place(files->made, made);
    const char *const look[] = {
        "-vf", "palettegen=stats_mode=diff", "-frames:v", "1", "-f", "apng", palette, NULL};
    const char *const draw[] = {
        "-f", "png_pipe", "-i", palette, "-lavfi", "paletteuse=dither=none:diff_mode=rectangle",
        "-f", "gif",      made, NULL};
    return run_ffmpeg(files, look) && run_ffmpeg(files, draw);
}

static bool copy(FILE *from, SaveStream *save, size_t *count) {
    enum { PIECE_BYTES = 1 << 16 };
    uint8_t piece[PIECE_BYTES];
    size_t got;
    *count = 0;
    rewind(from);
    while ((got = fread(piece, 1, sizeof(piece), from)) > 0 && save_write(save, piece, got)) {
        *count += got;
    }
    return *count > 0 && ferror(from) == 0;
}

static bool convert(const char *path, const Files *files, SaveStream *save, const uint8_t *bytes,
                    size_t *count) {
    return files->webm != NULL && files->palette != NULL && files->made != NULL &&
           fwrite(bytes, 1, *count, files->webm) == *count && fflush(files->webm) == 0 &&
           (ends_in(path, ".mp4") ? make_mp4(files) : make_gif(files)) &&
           copy(files->made, save, count);
}

int convert_save(Cli *cli, const char *path, const uint8_t *bytes, size_t *count) {
    if (ends_in(path, ".webm")) {
        return save_file(cli, path, bytes, *count);
    }
    SaveStream save;
    int status = save_begin(cli, path, &save);
    if (status != EXIT_DONE) {
        return status;
    }
    const Files files = {tmpfile(), tmpfile(), tmpfile()};
    if (convert(path, &files, &save, bytes, count)) {
        status = save_end(cli, &save);
    } else {
        save_drop(&save);
        status = cli_fail(cli, EXIT_REFUSED, "ffmpeg could not make %s", path);
    }
    FILE *const all[] = {files.webm, files.palette, files.made};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i] != NULL) {
            fclose(all[i]);
        }
    }
    return status;
}
