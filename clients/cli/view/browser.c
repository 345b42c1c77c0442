// SPDX-License-Identifier: MIT
#include "cli/view/browser.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool browser_find_program(const char *name, char path[BROWSER_PATH_BYTES]) {
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        const size_t count = strcspn(at, ":");
        const int used =
            snprintf(path, BROWSER_PATH_BYTES, "%.*s/%s", (int)count, count > 0 ? at : ".", name);
        if (used > 0 && used < BROWSER_PATH_BYTES && access(path, X_OK) == 0) {
            return true;
        }
        at += count + (at[count] == ':' ? 1 : 0);
    }
    return false;
}

bool browser_find(char path[BROWSER_PATH_BYTES]) {
    static const char *const names[] = {"chromium",      "chromium-browser",
                                        "google-chrome", "google-chrome-stable",
                                        "chrome",        "microsoft-edge"};
    const char *chosen = getenv("MOREAU_BROWSER");
    if (chosen != NULL && chosen[0] != '\0') {
        const int used = snprintf(path, BROWSER_PATH_BYTES, "%s", chosen);
        return (used < BROWSER_PATH_BYTES && strchr(chosen, '/') != NULL &&
                access(path, X_OK) == 0) ||
               browser_find_program(chosen, path);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (browser_find_program(names[i], path)) {
            return true;
        }
    }
    return false;
}

int browser_fail(Cli *cli, const char *what) {
    return cli_fail(cli, EXIT_REFUSED,
                    "%s Chromium, and there is none in PATH: apt install chromium (Debian, "
                    "Ubuntu), dnf install chromium (Fedora), or name one with "
                    "MOREAU_BROWSER=/path/to/chrome",
                    what);
}

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

bool browser_has_screen(void) {
    return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && !is_set("CI");
}

// Runs it so that neither its words nor its end disturb this program.
static bool start_apart(char *const argv[]) {
    const pid_t child = fork();
    if (child == 0) {
        // a grandchild: nobody has to wait for it
        if (setsid() < 0 || fork() != 0) {
            _exit(0);
        }
        const int nothing = open("/dev/null", O_RDWR);
        if (nothing >= 0) {
            dup2(nothing, STDIN_FILENO), dup2(nothing, STDOUT_FILENO), dup2(nothing, STDERR_FILENO);
        }
        execv(argv[0], argv);
        _exit(127);
    }
    return child > 0 && waitpid(child, NULL, 0) == child;
}

bool browser_show(const char *address) {
    char path[BROWSER_PATH_BYTES], words[3][BROWSER_PATH_BYTES];
    if (!browser_has_screen()) {
        return false;
    }
    snprintf(words[2], sizeof(words[2]), "%s", address);
    if (browser_find(path)) {
        snprintf(words[0], sizeof(words[0]), "--new-window");
        snprintf(words[1], sizeof(words[1]), "--no-first-run");
        // as root it has no sandbox of its own, and without this it does not start
        char unsafe[] = "--no-sandbox";
        char *const argv[] = {path, words[0], words[1], words[2], geteuid() == 0 ? unsafe : NULL,
                              NULL};
        return start_apart(argv);
    }
    char *const argv[] = {path, words[2], NULL};
    return browser_find_program("xdg-open", path) && start_apart(argv);
}
