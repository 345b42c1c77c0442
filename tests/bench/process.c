// SPDX-License-Identifier: MIT
#include "bench/process.h"

#include "bench/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SERVER_PROGRAM "moreau-server"

enum { PATH_BYTES = 4096 };

// Where the server lies when it was built or installed together with this program.
static void find_server(char *path) {
    char own[PATH_BYTES];
    ssize_t count = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[count > 0 ? count : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    static const char *const places[] = {"/", "/../"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, 2 * PATH_BYTES, "%s%s" SERVER_PROGRAM, own, places[i]);
        if (access(path, X_OK) == 0) {
            return;
        }
    }
    snprintf(path, 2 * PATH_BYTES, SERVER_PROGRAM); // on the PATH
}

// The addresses, one per line, that the server writes when it listens.
static void read_addresses(FILE *ready, Process *process) {
    char line[ADDRESS_BYTES];
    while (fgets(line, sizeof(line), ready) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *target = strncmp(line, "unix:", 5) == 0 ? process->local : process->tcp;
        snprintf(target, ADDRESS_BYTES, "%s", line);
    }
    if (process->tcp[0] == '\0' || process->local[0] == '\0') {
        bench_fail("the server did not start");
    }
}

// What a server is started with beside its addresses; NULL: not.
typedef struct More {
    const char *db, *folder; // folder: of its certificate
    char *const *options;
} More;

static _Noreturn void become_server(int ready_fd, const char *local, unsigned workers,
                                    const More *more) {
    char certificate[ADDRESS_BYTES], key[ADDRESS_BYTES];
    char path[2 * PATH_BYTES], ready[16], count[16], address[ADDRESS_BYTES];
    find_server(path);
    snprintf(ready, sizeof(ready), "%d", ready_fd);
    snprintf(count, sizeof(count), "%u", workers);
    snprintf(address, sizeof(address), "%s", local);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char *words[20] = {SERVER_PROGRAM, "--workers", count,   "--ready-fd",  ready,  "--listen",
                       "127.0.0.1:0",  "--listen",  address, "--log-level", "error"};
    size_t used = 11;
    if (more->db != NULL) {
        words[used++] = "--db";
        words[used++] = (char *)more->db;
    }
    if (more->folder != NULL) {
        snprintf(certificate, sizeof(certificate), "--tls-cert=%s/cert.pem", more->folder);
        snprintf(key, sizeof(key), "--tls-key=%s/key.pem", more->folder);
        words[used++] = certificate;
        words[used++] = key;
    }
    for (size_t i = 0; more->options != NULL && more->options[i] != NULL; i++) {
        words[used++] = more->options[i];
    }
    execvp(path, words);
    fprintf(stderr, "moreau-bench: cannot start %s\n", path);
    _exit(EXIT_FAILURE);
}

Process process_start_server(const char *db) {
    return process_start_workers(2, db);
}

static Process start(unsigned workers, const More *more) {
    static unsigned number;
    Process process = {0};
    char local[ADDRESS_BYTES];
    snprintf(local, sizeof(local), "unix:/tmp/moreau-bench-%ld-%u.sock", (long)getpid(), number++);
    int ends[2];
    if (pipe(ends) != 0) {
        bench_fail("no pipe");
    }
    process.pid = fork();
    if (process.pid < 0) {
        bench_fail("cannot start a process");
    }
    if (process.pid == 0) {
        close(ends[0]);
        become_server(ends[1], local, workers, more);
    }
    close(ends[1]);
    FILE *ready = fdopen(ends[0], "r");
    if (ready == NULL) {
        bench_fail("memory ended");
    }
    read_addresses(ready, &process);
    fclose(ready);
    return process;
}

Process process_start_workers(unsigned workers, const char *db) {
    return start(workers, &(More){.db = db});
}

Process process_start_with(char *const *options) {
    return start(2, &(More){.options = options});
}

Process process_start_secure(char *folder, size_t capacity) {
    char path[2 * PATH_BYTES], option[ADDRESS_BYTES];
    int status = 0;
    snprintf(folder, capacity, "/tmp/moreau-bench-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        bench_fail("no folder for a certificate");
    }
    find_server(path);
    snprintf(option, sizeof(option), "--tls-self-signed=%s", folder);
    const pid_t pid = fork();
    if (pid == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execlp(path, SERVER_PROGRAM, option, (char *)NULL);
        _exit(EXIT_FAILURE);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        bench_fail("the server makes no certificate");
    }
    return start(2, &(More){.folder = folder});
}

void process_remove_folder(const char *folder) {
    static const char *const names[] = {"cert.pem", "key.pem"};
    char path[PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

void process_stop(Process *process) {
    kill(process->pid, SIGTERM);
    waitpid(process->pid, NULL, 0);
    process->pid = 0;
}

double process_cpu_ns(const Process *process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process->pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        bench_fail("the server has ended");
    }
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
