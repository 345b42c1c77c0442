// SPDX-License-Identifier: MIT
// moreau shot: an episode as a picture or a video.
#include "cli/cli.h"

#include "cli/json/base64.h"
#include "cli/base/interrupt.h"
#include "cli/files/save.h"
#include "cli/text/terminal.h"
#include "cli/view/browser.h"
#include "cli/view/convert.h"
#include "cli/view/film.h"
#include "cli/view/shoot.h"
#include "cli/view/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau shot: a picture or a video of an episode\n"
    "\n"
    "  moreau shot EPISODE --step N -o OUT.png [options]\n"
    "  moreau shot EPISODE --video OUT.webm [options]\n"
    "\n"
    "EPISODE is an id, its first digits or a name; it is read from the server's file,\n"
    "or from the one that --db names. Chromium takes the picture, without a window and\n"
    "without a screen. OUT.mp4 and OUT.gif are made by ffmpeg, where that is installed.\n"
    "\n"
    "Examples:\n"
    "  moreau shot demo --step 120 -o demo.png\n"
    "  moreau shot demo --step 120 -o proven.png --prove --tab plots --dark\n"
    "  moreau shot demo --video demo.webm --speed 0.5\n"
    "  moreau shot demo --db episodes.db --bare --size 1920x1080 -o wall.png\n";

enum { FRAMES_PER_S = 30, WIDTH = 1280, HEIGHT = 800, SIDE_MIN = 64, SIDE_MAX = 8192 };

#define NOT_GIVEN UINT64_MAX

typedef struct ShotOptions {
    const char *out, *video, *db, *page, *size, *tab, *camera;
    uint64_t step, from, to, frames_per_s;
    double speed, zoom;
    bool dark, bare, prove;
} ShotOptions;

static int read_size(Cli *cli, const char *size, ShootWish *wish) {
    char rest;
    if (size == NULL) {
        return EXIT_DONE;
    }
    if (sscanf(size, "%ux%u%c", &wish->width, &wish->height, &rest) != 2 ||
        wish->width < SIDE_MIN || wish->width > SIDE_MAX || wish->height < SIDE_MIN ||
        wish->height > SIDE_MAX) {
        return cli_fail(cli, EXIT_USAGE,
                        "--size takes WIDTHxHEIGHT, each from %d to %d, as 1920x1080, not \"%s\"",
                        SIDE_MIN, SIDE_MAX, size);
    }
    return EXIT_DONE;
}

static int take_picture(Cli *cli, const ShotOptions *options, Shoot *shoot) {
    const uint64_t step = options->step != NOT_GIVEN ? options->step : shoot_last_step(shoot);
    uint8_t *bytes = NULL;
    size_t count = 0;
    int status = shoot_take(cli, shoot, step, &bytes, &count);
    if (status == EXIT_DONE) {
        status = save_file(cli, options->out, bytes, count);
    }
    free(bytes);
    if (status == EXIT_DONE && !cli->json) {
        char text[32];
        printf("%s: step %" PRIu64 ", %s%s%s\n", options->out, step, format_bytes(count, text),
               options->prove ? ", " : "", shoot_verdict(shoot));
    }
    return status;
}

static int take_video(Cli *cli, const ShotOptions *options, Shoot *shoot) {
    const uint64_t last = shoot_last_step(shoot);
    const FilmWish wish = {.from = options->from != NOT_GIVEN ? options->from : 0,
                           .to = options->to < last ? options->to : last,
                           .speed = options->speed,
                           .frames_per_s = (unsigned)options->frames_per_s};
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (wish.from > wish.to) {
        return cli_fail(cli, EXIT_USAGE, "the episode ends with step %" PRIu64, last);
    }
    int status = film_make(cli, shoot, &wish, &bytes, &count);
    if (status == EXIT_DONE) {
        status = convert_save(cli, options->video, bytes, &count);
    }
    free(bytes);
    if (status == EXIT_DONE && !cli->json) {
        char text[32];
        printf("%s: steps %" PRIu64 " to %" PRIu64 ", %s\n", options->video, wish.from, wish.to,
               format_bytes(count, text));
    }
    return status;
}

static int shoot_page_of(Cli *cli, const ShotOptions *options, ShootWish wish) {
    char hash[512];
    snprintf(hash, sizeof(hash), "%s%s%s%s", options->tab != NULL ? "tab=" : "",
             options->tab != NULL ? options->tab : "", options->camera != NULL ? "&camera=" : "",
             options->camera != NULL ? options->camera : "");
    wish.hash = hash;
    Shoot *shoot = NULL;
    interrupt_catch();
    int status = shoot_open(cli, &wish, &shoot);
    if (status == EXIT_DONE && options->out != NULL) {
        status = take_picture(cli, options, shoot);
    }
    if (status == EXIT_DONE && options->video != NULL) {
        status = take_video(cli, options, shoot);
    }
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli,
                  json_pack("{s:s?,s:s?,s:s?}", "picture", options->out, "video", options->video,
                            "proof", options->prove ? shoot_verdict(shoot) : NULL));
    }
    shoot_close(shoot);
    return status;
}

static int shoot_episode(Cli *cli, const ShotOptions *options, const char *episode) {
    char db[STORED_PATH_BYTES], page[STORED_PATH_BYTES], browser[BROWSER_PATH_BYTES];
    ShootWish wish = {.page = page,
                      .width = WIDTH,
                      .height = HEIGHT,
                      .is_dark = options->dark,
                      .is_bare = options->bare || options->video != NULL,
                      .proves = options->prove,
                      .nearer = 1.0 / options->zoom};
    int status = read_size(cli, options->size, &wish);
    if (status != EXIT_DONE) {
        return status;
    }
    if (!browser_find(browser)) {
        return browser_fail(cli, "pictures are taken with");
    }
    status = stored_find(cli, options->db, db);
    if (status == EXIT_DONE) {
        status = stored_write_page(cli, db, episode, options->page, page);
    }
    return status == EXIT_DONE ? shoot_page_of(cli, options, wish) : status;
}

int command_shot(Cli *cli, int argc, char **argv) {
    ShotOptions options = {.step = NOT_GIVEN,
                           .from = NOT_GIVEN,
                           .to = NOT_GIVEN,
                           .speed = 1.0,
                           .zoom = 1.0,
                           .frames_per_s = FRAMES_PER_S};
    const Option table[] = {
        {"--step", OPTION_INDEX, &options.step, "N", "of the episode; default: the last"},
        {"-o", OPTION_TEXT, &options.out, "OUT.png", "the picture"},
        {"--video", OPTION_TEXT, &options.video, "OUT.webm", "a video; .mp4, .gif with ffmpeg"},
        {"--from", OPTION_INDEX, &options.from, "STEP", "of the video; default 0"},
        {"--to", OPTION_INDEX, &options.to, "STEP", "of the video; default: the last"},
        {"--speed", OPTION_NUMBER, &options.speed, "FACTOR", "of the video; default 1, real time"},
        {"--fps", OPTION_COUNT, &options.frames_per_s, "N", "frames of a second; default 30"},
        {"--size", OPTION_TEXT, &options.size, "WxH", "pixels; default 1280x800"},
        {"--zoom", OPTION_NUMBER, &options.zoom, "FACTOR", "nearer; default 1: all is seen"},
        {"--camera", OPTION_TEXT, &options.camera, "X,Y,Z,X,Y,Z",
         "where it is, and what it looks at"},
        {"--tab", OPTION_TEXT, &options.tab, "TAB", "episode, body, contacts, plots or again"},
        {"--bare", OPTION_FLAG, &options.bare, NULL, "the bodies, without what stands beside"},
        {"--dark", OPTION_FLAG, &options.dark, NULL, "on a dark ground"},
        {"--prove", OPTION_FLAG, &options.prove, NULL, "step the episode again first, and say so"},
        {"--db", OPTION_TEXT, &options.db, "FILE", "that the episode is in; default: the server's"},
        {"--page", OPTION_TEXT, &options.page, "FILE", "the viewer; default: the installed one"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (options.out == NULL && options.video == NULL) {
        return cli_fail(cli, EXIT_USAGE, "say what to write: -o OUT.png or --video OUT.webm");
    }
    if (options.video != NULL) {
        status = convert_check(cli, options.video);
    }
    return status != EXIT_DONE ? status : shoot_episode(cli, &options, words.item[0]);
}
