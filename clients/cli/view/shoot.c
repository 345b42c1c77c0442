// SPDX-License-Identifier: MIT
#include "cli/view/shoot.h"

#include "cli/json/base64.h"
#include "cli/base/memory.h"
#include "cli/view/browser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_S = 120, PROVE_S = 3600, SCRIPT_BYTES = 1024 };

struct Shoot {
    Devtools *devtools;
    uint64_t last_step;
    double time_step;
};

// The picture fills the window.
static const char bare[] =
    "(() => { const s = document.createElement('style'); s.textContent = 'header, aside, footer, "
    "#notes { display: none !important } main { grid-template: 1fr / 1fr !important }'; "
    "document.head.append(s); })()";

// true; or false while it takes; a page that cannot show it throws what it says.
static const char is_open[] =
    "(() => { const bad = document.querySelector('#notes .error, #overlay:not(:empty)'); "
    "if (window.moreau === undefined) { if (bad !== null) throw bad.textContent; return false; } "
    "const f = window.moreau.facts(); if (f.isReadWhole && f.isShown) return true; "
    "const said = document.querySelector('#notes .error'); "
    "if (said !== null) throw said.textContent; return false; })()";

static const char prove[] = "document.querySelector('#prove')?.click()";
static const char is_proven[] =
    "!/^(proving|not proven$)/.test(document.querySelector('#badge').textContent)";

Devtools *shoot_page(const Shoot *shoot) {
    return shoot->devtools;
}

uint64_t shoot_last_step(const Shoot *shoot) {
    return shoot->last_step;
}

double shoot_time_step(const Shoot *shoot) {
    return shoot->time_step;
}

int shoot_fail(Cli *cli, const Shoot *shoot) {
    return cli_fail(cli, EXIT_REFUSED, "the page shows no picture: %s",
                    devtools_why(shoot->devtools));
}

static bool run(Shoot *shoot, const char *script) {
    json_t *value = devtools_run(shoot->devtools, script);
    json_decref(value);
    return value != NULL;
}

static bool learn(Shoot *shoot) {
    json_t *value = devtools_run(shoot->devtools, "[moreau.episode.snap(moreau.episode.lastStep), "
                                                  "moreau.episode.timeStep]");
    const bool is_known = json_array_size(value) == 2;
    if (is_known) {
        shoot->last_step = (uint64_t)json_number_value(json_array_get(value, 0));
        shoot->time_step = json_number_value(json_array_get(value, 1));
    }
    json_decref(value);
    return is_known;
}

static bool arrange(Shoot *shoot, const ShootWish *wish) {
    char script[SCRIPT_BYTES];
    snprintf(script, sizeof(script),
             "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { if "
             "(%s) { moreau.home(); const at = moreau.moment().camera; moreau.stage?.place(at.map("
             "(v, k) => k < 3 ? at[3 + k] + (v - at[3 + k]) * %g : v)); } done(true); })))",
             wish->hash != NULL && strstr(wish->hash, "camera=") != NULL ? "false" : "true",
             wish->nearer);
    return (!wish->is_bare || run(shoot, bare)) && run(shoot, script);
}

// Waits until it shows what it was given.
static bool load(Shoot *shoot, const ShootWish *wish) {
    Devtools *devtools = shoot->devtools;
    if (!devtools_await(devtools, is_open, OPEN_S) || !learn(shoot) || !arrange(shoot, wish)) {
        return false;
    }
    return !wish->proves || (run(shoot, prove) && devtools_await(devtools, is_proven, PROVE_S));
}

static char *address_of(const ShootWish *wish) {
    // what means something in an address, in a path
    char *text = memory_take(3 * strlen(wish->page) + strlen("file://#") + 1 +
                                 (wish->hash != NULL ? strlen(wish->hash) : 0),
                             1);
    char *to = text + sprintf(text, "file://");
    for (const char *at = wish->page; *at != '\0'; at++) {
        to += sprintf(to, strchr(" %?#", *at) == NULL ? "%c" : "%%%02x", (unsigned char)*at);
    }
    sprintf(to, "#%s", wish->hash != NULL ? wish->hash : "");
    return text;
}

int shoot_open(Cli *cli, const ShootWish *wish, Shoot **opened) {
    char path[BROWSER_PATH_BYTES];
    if (!browser_find(path)) {
        return browser_fail(cli, "pictures are taken with");
    }
    char *address = address_of(wish);
    const DevtoolsWish page = {.address = address,
                               .width = wish->width,
                               .height = wish->height,
                               .executable = path,
                               .is_dark = wish->is_dark};
    Shoot *shoot = memory_take(1, sizeof(*shoot));
    int status = devtools_open(cli, &page, &shoot->devtools);
    free(address);
    if (status == EXIT_DONE && !load(shoot, wish)) {
        status = shoot_fail(cli, shoot);
    }
    if (status != EXIT_DONE) {
        shoot_close(shoot);
        return status;
    }
    *opened = shoot;
    return EXIT_DONE;
}

static bool seek(Shoot *shoot, uint64_t step) {
    char script[SCRIPT_BYTES];
    snprintf(script, sizeof(script),
             "moreau.seek(%" PRIu64
             ").then(() => new Promise((done) => requestAnimationFrame(() => "
             "requestAnimationFrame(() => done(moreau.facts().isShown)))))",
             step);
    json_t *value = devtools_run(shoot->devtools, script);
    const bool is_there = json_is_true(value);
    json_decref(value);
    return is_there;
}

int shoot_take(Cli *cli, Shoot *shoot, uint64_t step, uint8_t **bytes, size_t *count) {
    if (!seek(shoot, step)) {
        return cli_fail(cli, EXIT_REFUSED, "the page has no frame of step %" PRIu64, step);
    }
    json_t *taken = devtools_call(shoot->devtools, "Page.captureScreenshot",
                                  json_pack("{s:s}", "format", "png"));
    const char *data = json_string_value(json_object_get(taken, "data"));
    const bool is_taken = data != NULL && base64_read(data, bytes, count);
    json_decref(taken);
    return is_taken ? EXIT_DONE : shoot_fail(cli, shoot);
}

void shoot_close(Shoot *shoot) {
    if (shoot != NULL) {
        devtools_close(shoot->devtools);
        free(shoot);
    }
}
