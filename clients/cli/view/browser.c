// SPDX-License-Identifier: MIT
#include "cli/view/browser.h"

#include "cli/base/memory.h"
#include "cli/view/folder.h"

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

static bool has_graphics_processor(void) {
    // Linux's nodes for who draws, NVIDIA's own driver, WSL
    enum { RENDER_FIRST = 128, RENDER_LAST = 143, NODE_BYTES = 32 };
    char node[NODE_BYTES];
    bool is_there = access("/dev/nvidia0", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
    for (int i = RENDER_FIRST; i <= RENDER_LAST && !is_there; i++) {
        snprintf(node, sizeof(node), "/dev/dri/renderD%d", i);
        is_there = access(node, F_OK) == 0;
    }
    return is_there;
}

enum { WORDS_MAX = 12 };

// A command, word by word.
typedef struct Words {
    char *argv[WORDS_MAX + 1]; // owned
    size_t count;
} Words;

static void add(Words *words, const char *head, const char *text) {
    const size_t bytes = strlen(head) + strlen(text) + 1;
    if (words->count < WORDS_MAX) {
        char *word = memory_take(bytes, 1);
        snprintf(word, bytes, "%s%s", head, text);
        words->argv[words->count++] = word;
    }
}

static void add_software_drawing(Words *words) {
    char folder[FOLDER_PATH_BYTES];
    // looking for a graphics processor that is not there takes it a second
    add(words, "", "--use-angle=swiftshader");
    add(words, "", "--enable-unsafe-swiftshader");
    add(words, "", "--disable-gpu-compositing");
    // a browser that runs is only asked for a window, and draws as it does
    if (folder_profile(folder)) {
        add(words, "--user-data-dir=", folder);
    }
}

static void add_chromium(Words *words, const char *address, BrowserWindow window) {
    add(words, "", "--no-first-run");
    add(words, "", "--no-default-browser-check");
    if (geteuid() == 0) { // it has no sandbox then, and without this does not start
        add(words, "", "--no-sandbox");
    }
    if (!has_graphics_processor()) {
        add_software_drawing(words);
    }
    if (window == BROWSER_BARE) {
        if (!has_graphics_processor()) { // in a profile of our own, which has nothing to remember:
            add(words, "", "--incognito"); // to lay out where it would takes it a tenth of a second
        }
        add(words, "--app=", address);
    } else {
        add(words, "", "--new-window");
        add(words, "", address);
    }
}

bool browser_show(const char *address, BrowserWindow window) {
    char path[BROWSER_PATH_BYTES] = "";
    Words words = {0};
    if (!browser_has_screen()) {
        return false;
    }
    const bool is_found = browser_find(path),
               is_opened = is_found || browser_find_program("xdg-open", path);
    add(&words, "", path);
    if (is_found) {
        add_chromium(&words, address, window);
    } else {
        add(&words, "", address);
    }
    const bool is_shown = is_opened && start_apart(words.argv);
    for (size_t i = 0; i < words.count; i++) {
        free(words.argv[i]);
    }
    return is_shown;
}
