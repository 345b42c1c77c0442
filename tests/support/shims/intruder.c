// SPDX-License-Identifier: MIT
// Somebody who got into a server, loaded into it by LD_PRELOAD. Told by SIGUSR1, he tries from one
// of its threads what he would try there, and writes to standard error what each came to:
// `tried NAME` and the number of the error, 0 where it was allowed.
//
// MOREAU_OWN names a file of the server's, which he wants to change, MOREAU_SHOWN one that it only
// reads.
//
// MOREAU_INTRUDER names a folder that is none of the server's, which he wants to write into. With
// MOREAU_NO_LANDLOCK=1 the kernel is one that has no Landlock.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[200];

static void say(const char *name, long result) {
    char line[80];
    const int error = result < 0 ? errno : 0;
    const int bytes = snprintf(line, sizeof(line), "tried %s %d\n", name, error);
    const ssize_t ignored = write(STDERR_FILENO, line, (size_t)bytes);
    (void)ignored;
}

static void try_file(const char *name, const char *path, int flags) {
    const int fd = open(path, flags | O_CLOEXEC, 0600);
    say(name, fd);
    if (fd >= 0) {
        close(fd);
    }
}

static const char *within(const char *name) {
    static char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void try_files(void) {
    try_file("read", within("secret"), O_RDONLY);
    try_file("write", within("secret"), O_WRONLY);
    try_file("make", within("made"), O_WRONLY | O_CREAT);
    try_file("list", folder, O_RDONLY | O_DIRECTORY);
    say("truncate", truncate(within("secret"), 0));
    say("remove", unlink(within("secret")));
    say("folder", mkdir(within("folder"), 0700));
    say("link", symlink("/", within("link")));
    try_file("own", getenv("MOREAU_OWN") == NULL ? "/nowhere" : getenv("MOREAU_OWN"), O_RDWR);
    try_file("shown", getenv("MOREAU_SHOWN") == NULL ? "/nowhere" : getenv("MOREAU_SHOWN"),
             O_RDONLY);
    try_file("alter", getenv("MOREAU_SHOWN") == NULL ? "/nowhere" : getenv("MOREAU_SHOWN"),
             O_WRONLY);
    try_file("system", "/etc/passwd", O_RDONLY);
}

static void try_network(void) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed = connect(fd, (const struct sockaddr *)&address, sizeof(address));
    say("connect", failed < 0 && (errno == EINPROGRESS || errno == ECONNREFUSED) ? 0 : failed);
    close(fd);
    say("signal", kill(getppid(), 0));
}

static void try_clone(void) {
    const long child = syscall(SYS_clone, CLONE_NEWUTS | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        _exit(0);
    }
    say("clone", child);
}

static void try_calls(void) {
    static char *const nothing[] = {NULL};
    say("exec", execve("/no/such/program", nothing, nothing));
    say("trace", ptrace(PTRACE_PEEKDATA, getpid(), 0, 0));
    say("mount", mount("none", folder, "no-such-kind", 0, NULL));
    say("unshare", unshare(CLONE_NEWUTS));
    try_clone();
    say("keys", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
    say("bpf", syscall(SYS_bpf, 0, NULL, 0));
    say("ring", syscall(SYS_io_uring_setup, 0, NULL));
    say("dumps", prctl(PR_GET_DUMPABLE) == 1 ? 0 : (errno = EPERM, -1));
}

static void intrude(int number) {
    (void)number;
    try_files();
    try_network();
    try_calls();
    say("all", 0);
}

static void hide_landlock(void) {
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {.len = sizeof(lines) / sizeof(lines[0]), .filter = lines};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

__attribute__((constructor)) static void wait_for_it(void) {
    const char *told = getenv("MOREAU_INTRUDER");
    snprintf(folder, sizeof(folder), "%s", told == NULL ? "/nowhere" : told);
    signal(SIGUSR1, intrude);
    if (getenv("MOREAU_NO_LANDLOCK") != NULL) {
        hide_landlock();
    }
}
