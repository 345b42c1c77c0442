// SPDX-License-Identifier: MIT
// A Chromium without a window, driven through its DevTools protocol: a page is opened, scripts run
// in it, pictures of it are taken. Messages are JSON, each ended by a zero byte, over a pair of
// pipes: no port is opened, and the browser ends when this program does.
//
//   devtools_open ──► devtools_run, devtools_call, … ──► devtools_close
#pragma once

#include "cli/cli.h"

#include <jansson.h>
#include <stdbool.h>

typedef struct Devtools Devtools;

typedef struct DevtoolsWish {
    const char *address;    // of the page
    unsigned width, height; // of what a picture shows [pixels]
    const char *executable; // of the browser
    bool is_dark;           // the theme that the page is told
} DevtoolsWish;

// EXIT_DONE, or says why not and returns the status to end with.
int devtools_open(Cli *cli, const DevtoolsWish *wish, Devtools **devtools);

// The result of one method, to be let go of; `parameters` (Nullable) are taken over. NULL: it
// failed, or the browser is gone; devtools_why says more.
json_t *devtools_call(Devtools *devtools, const char *method, json_t *parameters);

// What a script gives, when it is a promise what that comes to.
json_t *devtools_run(Devtools *devtools, const char *script);

// Runs a script again and again until it gives true. false: `seconds` passed, Ctrl-C, or it failed.
bool devtools_await(Devtools *devtools, const char *script, double seconds);

const char *devtools_why(const Devtools *devtools);

// What devtools_why says from now on. Always false.
bool devtools_fail(Devtools *devtools, const char *why);

// Ends the browser, and removes what it wrote. Nullable.
void devtools_close(Devtools *devtools);
