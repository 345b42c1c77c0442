// SPDX-License-Identifier: MIT
// Running a command of the tool inside a test, with what it prints caught.
#pragma once

#include "support/suite.h"

#include "cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Outcome {
    int status;
    char out[32768], err[4096];
} Outcome;

static inline void read_back(int fd, char *text, size_t bytes) {
    lseek(fd, 0, SEEK_SET);
    ssize_t count = read(fd, text, bytes - 1);
    text[count > 0 ? count : 0] = '\0';
}

typedef int Command(Cli *cli, int argc, char **argv);

// `arguments`: separated by spaces, "'" around none
static inline Outcome run_command(const char *address, Command *command, bool json,
                                  const char *arguments) {
    static char copy[1024];
    snprintf(copy, sizeof(copy), "%s", arguments);
    char *argv[32];
    int argc = 0;
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    FILE *caught[2] = {tmpfile(), tmpfile()};
    fflush(stdout);
    int kept[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    dup2(fileno(caught[0]), STDOUT_FILENO);
    dup2(fileno(caught[1]), STDERR_FILENO);

    Cli cli = {.server = address, .program = "moreau", .json = json};
    Outcome outcome;
    outcome.status = cli_finish(&cli, command(&cli, argc, argv));

    fflush(stdout);
    dup2(kept[0], STDOUT_FILENO);
    dup2(kept[1], STDERR_FILENO);
    read_back(fileno(caught[0]), outcome.out, sizeof(outcome.out));
    read_back(fileno(caught[1]), outcome.err, sizeof(outcome.err));
    for (int i = 0; i < 2; i++) {
        close(kept[i]);
        fclose(caught[i]);
    }
    return outcome;
}

static inline json_t *parse(const char *text) {
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    ck_assert_msg(document != NULL, "%s: %s", error.text, text);
    return document;
}

static inline const char *text_at(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "(none)";
}

static inline uint64_t whole_at(const json_t *object, const char *key) {
    const json_t *number = json_object_get(object, key);
    ck_assert_msg(json_is_integer(number), "%s is no whole number", key);
    return (uint64_t)json_integer_value(number);
}

// Writes a file that lives as long as the test.
static inline void write_file(const char *text, char path[64]) {
    snprintf(path, 64, "/tmp/moreau-check-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}
