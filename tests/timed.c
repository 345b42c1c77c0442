// SPDX-License-Identifier: MIT
// Runs a test and writes how much of the processor it took, with all processes that it started and
// waited for:
//
//   moreau-timed FILE COMMAND [ARGUMENT ...]
//
// FILE gets one number [s]. The exit code is the command's; 128 and the signal where one ended it.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: moreau-timed FILE COMMAND [ARGUMENT ...]\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("moreau-timed");
        return 1;
    }
    FILE *file = fopen(argv[1], "w");
    if (file == NULL ||
        fprintf(file, "%.2f\n", seconds(used.ru_utime) + seconds(used.ru_stime)) < 0 ||
        fclose(file) != 0) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
