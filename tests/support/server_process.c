// SPDX-License-Identifier: MIT
#include "support/server_process.h"

#include "support/machine.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGUMENT_MAX = 64, ARGUMENT_BYTES = 4096, READY_FD = 9 };

double server_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

void server_sleep_ms(unsigned ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

// ---- folders

void server_make_folder(char folder[SERVER_FOLDER_BYTES]) {
    snprintf(folder, SERVER_FOLDER_BYTES, "/tmp/moreau-test-XXXXXX");
    ck_assert_msg(mkdtemp(folder) != NULL, "no folder for the test: %s", strerror(errno));
}

void server_remove_folder(const char *folder) {
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[SERVER_FOLDER_BYTES + 300];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        unlink(path); // "." and ".." refuse by themselves
    }
    if (directory != NULL) {
        closedir(directory);
    }
    rmdir(folder);
}

void server_write(const char *folder, const char *name, const char *text) {
    char path[SERVER_FOLDER_BYTES + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0600);
}

static char *read_file(const char *folder, const char *name) {
    enum { TEXT_BYTES = 1 << 16 };
    char path[SERVER_FOLDER_BYTES + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    char *text = calloc(1, TEXT_BYTES);
    ck_assert_ptr_nonnull(text);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        size_t count = fread(text, 1, TEXT_BYTES - 1, file);
        text[count] = '\0';
        fclose(file);
    }
    return text;
}

char *server_read(const ServerProcess *server, const char *name) {
    return read_file(server->folder, name);
}

// ---- the command line

typedef struct CommandLine {
    char text[ARGUMENT_BYTES];
    char *argument[ARGUMENT_MAX];
} CommandLine;

static void append(CommandLine *line, size_t *used, const char *text, size_t bytes) {
    ck_assert_uint_lt(*used + bytes + 1, sizeof(line->text));
    memcpy(line->text + *used, text, bytes);
    *used += bytes;
    line->text[*used] = '\0';
}

static void make_line(CommandLine *line, const char *options, const char *folder) {
    static const char defaults[] = " --listen 127.0.0.1:0";
    char ready[32], log[SERVER_FOLDER_BYTES + 32];
    snprintf(ready, sizeof(ready), " --ready-fd %d", READY_FD);
    snprintf(log, sizeof(log), " --log-file %s/log", folder);
    size_t used = 0;
    append(line, &used, "moreau-server ", 14);
    for (const char *c = options; *c != '\0'; c++) {
        append(line, &used, *c == '@' ? folder : c, *c == '@' ? strlen(folder) : 1);
    }
    append(line, &used, ready, strlen(ready));
    append(line, &used, log, strlen(log));
    if (strstr(options, "--listen") == NULL) {
        append(line, &used, defaults, strlen(defaults));
    }
    size_t count = 0;
    for (char *word = strtok(line->text, " "); word != NULL; word = strtok(NULL, " ")) {
        ck_assert_uint_lt(count + 1, ARGUMENT_MAX);
        line->argument[count++] = word;
    }
    line->argument[count] = NULL;
}

// ---- start

static void become_server(CommandLine *line, const char *folder, int ready_fd) {
    char path[SERVER_FOLDER_BYTES + 16];
    snprintf(path, sizeof(path), "%s/stderr", folder);
    int said = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (said >= 0 && dup2(said, STDERR_FILENO) >= 0 && dup2(ready_fd, READY_FD) >= 0) {
        if (said != STDERR_FILENO && said != READY_FD) {
            close(said);
        }
        if (ready_fd != READY_FD) { // where many descriptors are open it may be that one already
            close(ready_fd);
        }
        const char *program = getenv("MOREAU_SERVER_PROGRAM"); // another build of it
        execv(program != NULL ? program : MOREAU_BINARY_DIR "/moreau-server", line->argument);
    }
    _exit(127);
}

static pid_t spawn(const char *options, const char *folder, int *ready) {
    CommandLine line;
    make_line(&line, options, folder);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        become_server(&line, folder, ends[1]);
    }
    close(ends[1]);
    *ready = ends[0];
    return pid;
}

// The addresses, one per line, until the server closes its end.
static void read_addresses(ServerProcess *server, int ready) {
    enum { TEXT_BYTES = SERVER_ADDRESS_MAX * SERVER_ADDRESS_BYTES };
    char text[TEXT_BYTES] = "";
    size_t used = 0;
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    for (;;) {
        struct pollfd wait = {.fd = ready, .events = POLLIN};
        int left_ms = (int)(give_up_ms - server_now_ms());
        ck_assert_msg(left_ms > 0 && poll(&wait, 1, left_ms) == 1, "the server does not start");
        ssize_t count = read(ready, text + used, sizeof(text) - 1 - used);
        if (count <= 0) {
            break;
        }
        used += (size_t)count;
    }
    close(ready);
    text[used] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_uint_lt(server->address_count, SERVER_ADDRESS_MAX);
        snprintf(server->address[server->address_count++], SERVER_ADDRESS_BYTES, "%s", line);
    }
}

ServerProcess *server_start(const char *options) {
    ServerProcess *server = calloc(1, sizeof(*server));
    ck_assert_ptr_nonnull(server);
    server_make_folder(server->folder);
    int ready;
    server->pid = spawn(options, server->folder, &ready);
    read_addresses(server, ready);
    if (server->address_count == 0) {
        char *said = server_read(server, "stderr");
        ck_abort_msg("the server did not start: %s", said);
    }
    return server;
}

// ---- end

static int wait_for(pid_t pid, int timeout_ms) {
    double give_up_ms = server_now_ms() + timeout_ms;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (server_now_ms() > give_up_ms) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            ck_abort_msg("the server does not end within %d ms", timeout_ms);
        }
        server_sleep_ms(2);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What the sanitizer was told before, as it refuses to come second.
static char asan_options[512];

static void begin_shim(const char *library, const char *variable, const char *value) {
    const char *before = getenv("ASAN_OPTIONS");
    char options[600];
    snprintf(asan_options, sizeof(asan_options), "%s", before == NULL ? "" : before);
    snprintf(options, sizeof(options), "%s:verify_asan_link_order=0", asan_options);
    setenv("ASAN_OPTIONS", options, 1);
    setenv(variable, value, 1);
    setenv("LD_PRELOAD", library, 1);
}

void server_begin_shim(const char *variable, const char *value) {
    begin_shim(MOREAU_BINARY_DIR "/tests/libmoreau-bad-disk.so", variable, value);
}

void server_begin_intruder(const char *variable, const char *value) {
    begin_shim(MOREAU_BINARY_DIR "/tests/libmoreau-intruder.so", variable, value);
}

void server_end_shim(void) {
    unsetenv("LD_PRELOAD");
    setenv("ASAN_OPTIONS", asan_options, 1);
}

int server_wait(ServerProcess *server, int timeout_ms) {
    ck_assert_int_gt(server->pid, 0);
    int status = wait_for(server->pid, timeout_ms);
    server->pid = 0;
    return status;
}

void server_free(ServerProcess *server) {
    ck_assert_int_eq(server->pid, 0);
    server_remove_folder(server->folder);
    free(server);
}

void server_stop(ServerProcess *server) {
    ck_assert_int_eq(kill(server->pid, SIGTERM), 0);
    int status = server_wait(server, PATIENCE_MS);
    if (status != 0) {
        char *said = server_read(server, "stderr");
        ck_abort_msg("the server ended with status %d: %s", status, said);
    }
    server_free(server);
}

int server_refusal(const char *options, char *said, size_t capacity) {
    char folder[SERVER_FOLDER_BYTES];
    server_make_folder(folder);
    int ready;
    pid_t pid = spawn(options, folder, &ready);
    int status = wait_for(pid, PATIENCE_MS);
    close(ready);
    char *text = read_file(folder, "stderr");
    snprintf(said, capacity, "%s", text);
    free(text);
    server_remove_folder(folder);
    return status;
}
