// SPDX-License-Identifier: MIT
#include "cli/view/shoot.h"

#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/json/base64.h"
#include "cli/text/terminal.h"
#include "cli/view/browser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_S = 120, SCRIPT_BYTES = 1024, VERDICT_BYTES = 128, ASK_AGAIN_US = 20000 };

struct Shoot {
    Devtools *devtools;
    uint64_t last_step;
    double time_step;
    char verdict[VERDICT_BYTES];
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

// Goes on with the proof, which the page alone begins for a group, and only for a while: [how far,
// of how many steps, what it came to, or null]. One that cannot be made or stands still throws why.
static const char proof[] =
    "(() => { const p = moreau.prover, now = performance.now(), done = Math.max(0, p.provenTo); "
    "if (!p.canProve) throw `it cannot be proven: ${p.obstacle}`; "
    "if (p.proving === 'none' || p.proving === 'paused') "
    "p.prove().catch((error) => { window.unproven = error.message; }); "
    "if (window.unproven !== undefined) throw `its proof failed: ${window.unproven}`; "
    "if (p.took !== window.proofTook) { window.proofTook = p.took; window.proofMoved = now; } "
    "if (p.proving !== 'done' && now - window.proofMoved > 6e4) "
    "throw `its proof has stood still for a minute, behind step ${done}`; "
    "return [done, moreau.episode.lastStep, "
    "p.proving === 'done' ? document.querySelector('#badge').textContent : null]; })()";

Devtools *shoot_page(const Shoot *shoot) {
    return shoot->devtools;
}

uint64_t shoot_last_step(const Shoot *shoot) {
    return shoot->last_step;
}

double shoot_time_step(const Shoot *shoot) {
    return shoot->time_step;
}

const char *shoot_verdict(const Shoot *shoot) {
    return shoot->verdict;
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

// Asks how far the proof is. false: it does not come to an end.
static bool look_at_proof(Shoot *shoot, Progress *progress) {
    json_t *said = devtools_run(shoot->devtools, proof);
    const double done = json_number_value(json_array_get(said, 0));
    const double total = json_number_value(json_array_get(said, 1));
    const char *verdict = json_string_value(json_array_get(said, 2));
    const bool is_good = json_array_size(said) == 3;
    if (verdict != NULL) {
        snprintf(shoot->verdict, sizeof(shoot->verdict), "%s", verdict);
    }
    json_decref(said);
    progress_show(progress, (uint64_t)done, (uint64_t)total, done * shoot->time_step);
    return is_good;
}

static bool prove(Shoot *shoot) {
    Progress progress;
    progress_start(&progress);
    bool is_good = look_at_proof(shoot, &progress);
    while (is_good && shoot->verdict[0] == '\0') {
        usleep(ASK_AGAIN_US);
        is_good = !interrupt_wanted() ? look_at_proof(shoot, &progress)
                                      : devtools_fail(shoot->devtools, "interrupted");
    }
    progress_stop(&progress);
    return is_good;
}

// Waits until it shows what it was given.
static bool load(Shoot *shoot, const ShootWish *wish) {
    Devtools *devtools = shoot->devtools;
    if (!devtools_await(devtools, is_open, OPEN_S) || !learn(shoot) || !arrange(shoot, wish)) {
        return false;
    }
    return !wish->proves || prove(shoot);
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
