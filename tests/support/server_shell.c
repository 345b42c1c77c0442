// SPDX-License-Identifier: MIT
#include "support/server_shell.h"

#include <check.h>
#include <stdio.h>
#include <sys/wait.h>

enum { COMMAND_BYTES = 2048, SAID_BYTES = 1 << 20 };

int server_shell(const char *address, const char *line, char *said, size_t capacity) {
    char command[COMMAND_BYTES];
    int count = snprintf(command, sizeof(command),
                         "export MOREAU_SERVER=%s; moreau() { " MOREAU_BINARY_DIR
                         "/clients/moreau \"$@\"; }; %s",
                         address, line);
    ck_assert_int_lt(count, COMMAND_BYTES);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    said[fread(said, 1, capacity - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

json_t *server_shell_json(const char *address, const char *line, int expected) {
    static char said[SAID_BYTES];
    int status = server_shell(address, line, said, sizeof(said));
    ck_assert_msg(status == expected, "%s: %d: %s", line, status, said);
    json_t *document = json_loads(said, 0, NULL);
    ck_assert_msg(document != NULL, "%s: this is no JSON: %s", line, said);
    return document;
}
