// SPDX-License-Identifier: MIT
// Which browser there is, and what to say where there is none.
#pragma once

#include "cli/cli.h"

#include <stdbool.h>

enum { BROWSER_PATH_BYTES = 4096 };

// A Chromium, which pictures are taken with: MOREAU_BROWSER, or the first of its usual names that
// PATH has. false: there is none.
bool browser_find(char path[BROWSER_PATH_BYTES]);

// The program of that name that PATH has.
bool browser_find_program(const char *name, char path[BROWSER_PATH_BYTES]);

// The sentence of a command that cannot do without. Returns EXIT_REFUSED.
int browser_fail(Cli *cli, const char *what);

// Whether a window would be seen by somebody: there is a screen, and this is no job of a build.
bool browser_has_screen(void);

typedef enum BrowserWindow {
    BROWSER_WINDOW, // with the address, which is a link to the moment that is shown
    BROWSER_BARE,   // the page alone, which is there sooner
} BrowserWindow;

// Shows an address (http://…, file://…) in a window, of Chromium or of what the desktop opens
// addresses with. true: a window opens, and the browser goes on without this program. Where there
// is no graphics processor, Chromium is one of our own, with a profile of its own, that draws in
// software: the user's would show no picture.
bool browser_show(const char *address, BrowserWindow window);
