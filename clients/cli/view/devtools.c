// SPDX-License-Identifier: MIT
#include "cli/view/devtools.h"

#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/text/terminal.h"
#include "cli/view/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROWSER_READS = 3, BROWSER_WRITES = 4 }; // descriptors, as Chromium has them
// an answer may take long where the machine has much else to do: Ctrl-C ends it sooner
enum {
    ANSWER_MS = 300000,
    LOOK_UP_MS = 200,
    CHUNK_BYTES = 1 << 16,
    WHY_BYTES = 512,
    SESSION_BYTES = 128
};
enum { ASK_AGAIN_US = 20000 };

struct Devtools {
    pid_t browser;
    int to, from; // pipes
    int id;       // of the last message
    char *buffer; // owned: what came and is no whole message yet
    size_t used, capacity;
    char session[SESSION_BYTES];    // with the page; "": with the browser
    char folder[FOLDER_PATH_BYTES]; // of its profile
    char why[WHY_BYTES];
};

const char *devtools_why(const Devtools *devtools) {
    return devtools->why;
}

bool devtools_fail(Devtools *devtools, const char *why) {
    snprintf(devtools->why, sizeof(devtools->why), "%s", why);
    return false;
}

static void *fail(Devtools *devtools, const char *why) {
    devtools_fail(devtools, why);
    return NULL;
}

// ---- messages

static bool write_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        const ssize_t done = write(fd, bytes, count);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        count -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static bool send_message(Devtools *devtools, const char *method, json_t *parameters) {
    json_t *message = json_pack("{s:i,s:s}", "id", ++devtools->id, "method", method);
    if (parameters != NULL) {
        json_object_set_new(message, "params", parameters);
    }
    if (devtools->session[0] != '\0') {
        json_object_set_new(message, "sessionId", json_string(devtools->session));
    }
    char *text = memory_must(json_dumps(message, JSON_COMPACT));
    const bool is_sent = write_all(devtools->to, text, strlen(text) + 1);
    free(text);
    json_decref(message);
    return is_sent;
}

// Takes in what there is. false: nothing came in time, or the browser is gone.
static bool read_more(Devtools *devtools, double until_s) {
    struct pollfd poller = {devtools->from, POLLIN, 0};
    const double left_ms = 1e3 * (until_s - terminal_now_s());
    const int ready = poll(&poller, 1, left_ms < LOOK_UP_MS ? (int)fmax(left_ms, 0.0) : LOOK_UP_MS);
    if (interrupt_wanted()) {
        return devtools_fail(devtools, "interrupted");
    }
    if (ready == 0) {
        return left_ms > 0.0 || devtools_fail(devtools, "the browser does not answer");
    }
    if (ready < 0) { // a signal: to read now could wait for ever
        return errno == EINTR || devtools_fail(devtools, strerror(errno));
    }
    if (devtools->capacity - devtools->used < CHUNK_BYTES) {
        devtools->capacity = 2 * devtools->capacity + CHUNK_BYTES;
        devtools->buffer = memory_grow(devtools->buffer, devtools->capacity, 1);
    }
    const ssize_t got = read(devtools->from, devtools->buffer + devtools->used, CHUNK_BYTES);
    if (got > 0) {
        devtools->used += (size_t)got;
    }
    if (got == 0 || (got < 0 && errno != EINTR)) {
        return devtools_fail(devtools, "the browser ended");
    }
    return true;
}

// The next message; NULL: there is none.
static json_t *receive(Devtools *devtools, double until_s) {
    size_t looked = 0;
    char *end;
    while ((end = devtools->used == looked
                      ? NULL
                      : memchr(devtools->buffer + looked, '\0', devtools->used - looked)) == NULL) {
        looked = devtools->used;
        if (!read_more(devtools, until_s)) {
            return NULL;
        }
    }
    const size_t count = (size_t)(end - devtools->buffer);
    json_t *message = json_loadb(devtools->buffer, count, 0, NULL);
    devtools->used -= count + 1;
    memmove(devtools->buffer, end + 1, devtools->used);
    return message != NULL ? message : fail(devtools, "the browser's answer is no JSON");
}

static json_t *result_of(Devtools *devtools, const json_t *answer) {
    const json_t *error = json_object_get(answer, "error");
    if (error != NULL) {
        const char *message = json_string_value(json_object_get(error, "message"));
        return fail(devtools, message != NULL ? message : "the browser refuses");
    }
    return json_incref(json_object_get(answer, "result"));
}

json_t *devtools_call(Devtools *devtools, const char *method, json_t *parameters) {
    if (!send_message(devtools, method, parameters)) {
        return fail(devtools, "the browser ended");
    }
    const double until_s = terminal_now_s() + ANSWER_MS / 1e3;
    json_t *message, *result = NULL;
    bool is_answer = false;
    while (!is_answer && (message = receive(devtools, until_s)) != NULL) {
        // what else comes are events
        is_answer = json_integer_value(json_object_get(message, "id")) == devtools->id;
        result = is_answer ? result_of(devtools, message) : NULL;
        json_decref(message);
    }
    return result;
}

json_t *devtools_run(Devtools *devtools, const char *script) {
    json_t *answer = devtools_call(
        devtools, "Runtime.evaluate",
        json_pack("{s:s,s:b,s:b}", "expression", script, "awaitPromise", 1, "returnByValue", 1));
    const json_t *wrong = json_object_get(answer, "exceptionDetails");
    json_t *value = NULL;
    if (wrong != NULL) {
        const json_t *exception = json_object_get(wrong, "exception");
        const char *said = json_string_value(json_object_get(exception, "description"));
        said = said != NULL ? said : json_string_value(json_object_get(exception, "value"));
        fail(devtools, said != NULL ? said : "a script of the page failed");
    } else if (answer != NULL) {
        value = json_incref(json_object_get(json_object_get(answer, "result"), "value"));
        value = value != NULL ? value : json_null();
    }
    json_decref(answer);
    return value;
}

bool devtools_await(Devtools *devtools, const char *script, double seconds) {
    const double until_s = terminal_now_s() + seconds;
    while (terminal_now_s() < until_s && !interrupt_wanted()) {
        json_t *value = devtools_run(devtools, script);
        const bool is_so = json_is_true(value);
        json_decref(value);
        if (is_so || value == NULL) {
            return is_so;
        }
        usleep(ASK_AGAIN_US);
    }
    return devtools_fail(devtools, interrupt_wanted() ? "interrupted" : "the page takes too long");
}

// ---- the browser

static void start_browser(const DevtoolsWish *wish, const char *folder, int reads, int writes) {
    char profile[FOLDER_PATH_BYTES + 32], size[64];
    snprintf(profile, sizeof(profile), "--user-data-dir=%s", folder);
    snprintf(size, sizeof(size), "--window-size=%u,%u", wish->width, wish->height);
    const char *argv[] = {wish->executable, "--headless", "--remote-debugging-pipe", profile, size,
                          "--no-first-run", "--no-default-browser-check", "--disable-extensions",
                          "--mute-audio", "--hide-scrollbars", "--disable-background-networking",
                          "--disable-component-update",
                          // nobody sees it, and it is waited for
                          "--disable-renderer-backgrounding",
                          "--disable-dev-shm-usage", // which containers have little of
                          // a picture needs no graphics processor
                          "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                          "--ignore-gpu-blocklist", "--disable-gpu-compositing", "about:blank",
                          // what it shows is ours; and root has no sandbox
                          geteuid() == 0 ? "--no-sandbox" : NULL, NULL};
    setsid(); // Ctrl-C is this program's
    const int nothing = open("/dev/null", O_RDWR);
    // out of the way of the places that they are to have
    reads = fcntl(reads, F_DUPFD, 10), writes = fcntl(writes, F_DUPFD, 10);
    dup2(nothing, STDIN_FILENO), dup2(nothing, STDOUT_FILENO), dup2(nothing, STDERR_FILENO);
    if (dup2(reads, BROWSER_READS) >= 0 && dup2(writes, BROWSER_WRITES) >= 0) {
        close(reads), close(writes);
        execv(wish->executable, (char *const *)argv);
    }
    _exit(127);
}

static bool spawn(Devtools *devtools, const DevtoolsWish *wish) {
    int down[2], up[2];
    if (pipe(down) != 0) {
        return false;
    }
    if (pipe(up) != 0) {
        close(down[0]), close(down[1]);
        return false;
    }
    fcntl(down[1], F_SETFD, FD_CLOEXEC), fcntl(up[0], F_SETFD, FD_CLOEXEC);
    devtools->to = down[1], devtools->from = up[0];
    devtools->browser = fork();
    if (devtools->browser == 0) {
        start_browser(wish, devtools->folder, down[0], up[1]);
    }
    close(down[0]), close(up[1]);
    return devtools->browser > 0;
}

// Attaches to a new page of the wished size, and lets it load.
static bool open_page(Devtools *devtools, const DevtoolsWish *wish) {
    json_t *made =
        devtools_call(devtools, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    json_t *page = json_object_get(made, "targetId");
    json_t *attached = made == NULL
                           ? NULL
                           : devtools_call(devtools, "Target.attachToTarget",
                                           json_pack("{s:O,s:b}", "targetId", page, "flatten", 1));
    const char *session = json_string_value(json_object_get(attached, "sessionId"));
    if (session != NULL) {
        snprintf(devtools->session, sizeof(devtools->session), "%s", session);
    }
    json_decref(attached);
    json_decref(made);
    if (session == NULL) {
        return false;
    }
    json_decref(devtools_call(devtools, "Emulation.setDeviceMetricsOverride",
                              json_pack("{s:i,s:i,s:i,s:b}", "width", (int)wish->width, "height",
                                        (int)wish->height, "deviceScaleFactor", 1, "mobile", 0)));
    json_decref(
        devtools_call(devtools, "Emulation.setEmulatedMedia",
                      json_pack("{s:[{s:s,s:s}]}", "features", "name", "prefers-color-scheme",
                                "value", wish->is_dark ? "dark" : "light")));
    json_t *gone =
        devtools_call(devtools, "Page.navigate", json_pack("{s:s}", "url", wish->address));
    const char *wrong = json_string_value(json_object_get(gone, "errorText"));
    if (wrong != NULL) {
        fail(devtools, wrong);
    }
    json_decref(gone);
    return gone != NULL && wrong == NULL;
}

int devtools_open(Cli *cli, const DevtoolsWish *wish, Devtools **opened) {
    Devtools *devtools = memory_take(1, sizeof(*devtools));
    *devtools = (Devtools){.to = -1, .from = -1};
    signal(SIGPIPE, SIG_IGN); // a browser that ended is said
    if (!folder_make("browser", devtools->folder) || !spawn(devtools, wish)) {
        fail(devtools, strerror(errno));
    } else if (open_page(devtools, wish)) {
        *opened = devtools;
        return EXIT_DONE;
    }
    const int status =
        cli_fail(cli, EXIT_REFUSED, "%s cannot show the page: %s", wish->executable, devtools->why);
    devtools_close(devtools);
    return status;
}

static void end_browser(Devtools *devtools) {
    enum { TRIES = 100, WAIT_US = 20000 };
    devtools->session[0] = '\0';
    send_message(devtools, "Browser.close", NULL);
    for (int i = 0; i < TRIES; i++) {
        if (waitpid(devtools->browser, NULL, WNOHANG) != 0) {
            return;
        }
        usleep(WAIT_US);
    }
    kill(-devtools->browser, SIGKILL);
    waitpid(devtools->browser, NULL, 0);
}

void devtools_close(Devtools *devtools) {
    if (devtools == NULL) {
        return;
    }
    if (devtools->browser > 0) {
        end_browser(devtools);
    }
    if (devtools->to >= 0) {
        close(devtools->to), close(devtools->from);
    }
    if (devtools->folder[0] != '\0') {
        folder_remove(devtools->folder);
    }
    free(devtools->buffer);
    free(devtools);
}
