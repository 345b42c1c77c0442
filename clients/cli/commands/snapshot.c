// SPDX-License-Identifier: MIT
// moreau snapshot: a world into a file, out of a file, and many from one.
#include "cli/cli.h"

#include "cli/base/memory.h"
#include "cli/text/fold.h"
#include "cli/text/nearest.h"
#include "cli/text/number.h"
#include "cli/files/save.h"
#include "cli/text/terminal.h"
#include "cli/worlds/find.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "moreau snapshot: all that a world's future depends on, as a file\n"
    "\n"
    "  moreau snapshot take WORLD FILE        what the world is now, into a file\n"
    "  moreau snapshot restore WORLD FILE     make the world what the file says\n"
    "  moreau snapshot clone WORLD|FILE       a new world (or --count N) from either\n"
    "\n"
    "WORLD is an id or a name, as moreau worlds shows. To clone, what is no id is a\n"
    "file if there is one, or else a world's name. Any server of the same dynamics\n"
    "version goes on from a file with the same bits. Clones stay on the server until\n"
    "moreau worlds --destroy WORLD.\n"
    "\n"
    "take replaces FILE as a whole, or leaves it as it was; of a link, the file that\n"
    "it leads to. Devices and pipes, as /dev/stdout, are written to.\n"
    "\n"
    "Examples:\n"
    "  moreau snapshot take falling landed.snapshot\n"
    "  moreau snapshot restore falling landed.snapshot\n"
    "  moreau snapshot clone landed.snapshot --count 64 --name try\n";

static const CliField typed[] = {
    {"world", "WORLD"}, {"count", "--count"}, {"name", "--name"}, {NULL, NULL}};

enum { CLONES_MAX = 65536 };

typedef struct SnapshotOptions {
    uint64_t count; // 0: not given
    const char *name;
} SnapshotOptions;

typedef struct File {
    uint8_t *data; // owned
    size_t bytes;
} File;

static int load_file(Cli *cli, const char *path, File *file) {
    *file = (File){0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return cli_fail(cli, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    }
    size_t capacity = (size_t)1 << 16;
    file->data = memory_take(capacity, 1);
    size_t got;
    while ((got = fread(file->data + file->bytes, 1, capacity - file->bytes, stream)) > 0) {
        file->bytes += got;
        if (file->bytes == capacity) {
            capacity *= 2;
            file->data = memory_grow(file->data, capacity, 1);
        }
    }
    bool is_broken = ferror(stream) != 0;
    fclose(stream);
    if (is_broken || file->bytes == 0) {
        free(file->data);
        *file = (File){0};
        return cli_fail(cli, EXIT_USAGE, "cannot read %s: %s", path,
                        is_broken ? "the disk says no" : "it is empty");
    }
    return EXIT_DONE;
}

static int take_world(Cli *cli, uint64_t world, const char *path) {
    MoreauSnapshot snapshot;
    if (moreau_snapshot_take(cli->client, world, &snapshot) != MOREAU_OK) {
        return cli_report_failure(cli);
    }
    File file = {memory_take((size_t)snapshot.bytes, 1), (size_t)snapshot.bytes};
    int status = EXIT_DONE;
    if (moreau_snapshot_download(cli->client, snapshot.id, file.data, file.bytes) != MOREAU_OK) {
        status = cli_report_failure(cli);
    } else {
        status = save_file(cli, path, file.data, file.bytes);
    }
    if (moreau_is_connected(cli->client)) {
        moreau_snapshot_drop(cli->client, snapshot.id);
    }
    free(file.data);
    char text[32];
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, json_pack("{s:o,s:s,s:o,s:o,s:o}", "world", number_json_whole(world), "file",
                                 path, "bytes", number_json_whole(snapshot.bytes), "step",
                                 number_json_whole(snapshot.step), "hash",
                                 number_json_hash(snapshot.hash)));
    } else if (status == EXIT_DONE) {
        fold_printf("world %" PRIu64 " at step %" PRIu64 " is in %s, %s\n", world, snapshot.step,
                    path, format_bytes(snapshot.bytes, text));
    }
    return status;
}

static int restore_world(Cli *cli, uint64_t world, uint64_t snapshot) {
    uint64_t hash;
    uint64_t step;
    if (moreau_snapshot_restore(cli->client, world, snapshot, &hash, &step) != MOREAU_OK) {
        return cli_report_failure(cli);
    }
    if (cli->json) {
        cli_print(cli, json_pack("{s:o,s:o,s:o}", "world", number_json_whole(world), "step",
                                 number_json_whole(step), "hash", number_json_hash(hash)));
    } else {
        fold_printf("world %" PRIu64 " is what it was at step %" PRIu64 "\n", world, step);
    }
    return EXIT_DONE;
}

// One of world and snapshot is 0.
static int clone_world(Cli *cli, uint64_t world, uint64_t snapshot,
                       const SnapshotOptions *options) {
    MoreauClone clone = moreau_clone_default();
    clone.world = world;
    clone.snapshot = snapshot;
    clone.count = options->count > 0 ? (size_t)options->count : 1;
    clone.name = options->name;
    clone.lifetime = MOREAU_LIFETIME_SERVER;
    uint64_t *worlds = memory_take(clone.count, sizeof(*worlds));
    int status = EXIT_DONE;
    if (moreau_snapshot_clone(cli->client, &clone, worlds) != MOREAU_OK) {
        status = cli_report_failure(cli);
    } else if (cli->json) {
        json_t *list = json_array();
        for (size_t i = 0; i < clone.count; i++) {
            json_array_append_new(list, number_json_whole(worlds[i]));
        }
        cli_print(cli, json_pack("{s:o}", "worlds", list));
    } else {
        for (size_t i = 0; i < clone.count; i++) {
            fold_printf("world %" PRIu64 "\n", worlds[i]);
        }
    }
    free(worlds);
    return status;
}

// A file that the server judged and refused is named.
static int refuse_file(Cli *cli, const char *path) {
    const MoreauError *error = moreau_error(cli->client);
    return error->from_server ? cli_fail(cli, EXIT_REFUSED, "%s: %s", path, error->message)
                              : cli_fail(cli, EXIT_NO_CONNECTION, "%s", error->message);
}

// Brings a file to the server and does with it what is wanted: into the world that is called so
// (Nullable), or into new ones.
static int use_file(Cli *cli, const char *path, const char *called,
                    const SnapshotOptions *options) {
    File file;
    uint64_t world = 0;
    int status = load_file(cli, path, &file);
    if (status != EXIT_DONE) {
        return status;
    }
    status = cli_connect(cli);
    if (status == EXIT_DONE && called != NULL) {
        status = world_find_id(cli, called, false, &world);
    }
    if (status != EXIT_DONE) {
        free(file.data);
        return status;
    }
    uint64_t snapshot;
    bool is_there =
        moreau_snapshot_upload(cli->client, file.data, file.bytes, &snapshot) == MOREAU_OK;
    free(file.data);
    if (!is_there) {
        return refuse_file(cli, path);
    }
    status =
        world != 0 ? restore_world(cli, world, snapshot) : clone_world(cli, 0, snapshot, options);
    if (moreau_is_connected(cli->client)) {
        moreau_snapshot_drop(cli->client, snapshot);
    }
    return status;
}

static bool is_number(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int refuse_verb(Cli *cli, const char *verb) {
    static const char *const verbs[] = {"take", "restore", "clone"};
    char hint[NEAREST_HINT_BYTES];
    Nearest nearest = {.typed = verb};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        nearest_offer(&nearest, verbs[i]);
    }
    return cli_fail(cli, EXIT_USAGE, "moreau snapshot %s%s: take, restore or clone", verb,
                    nearest_hint(&nearest, hint));
}

static int dispatch(Cli *cli, const OptionList *words, const SnapshotOptions *options) {
    const char *verb = words->item[0];
    bool is_clone = strcmp(verb, "clone") == 0;
    bool is_take = strcmp(verb, "take") == 0;
    if (!is_clone && !is_take && strcmp(verb, "restore") != 0) {
        return refuse_verb(cli, verb);
    }
    if (words->count != (is_clone ? 2 : 3)) {
        return cli_fail(cli, EXIT_USAGE, "moreau snapshot %s needs %s; see moreau snapshot --help",
                        verb, is_clone ? "one world or file" : "a world and a file");
    }
    if (!is_clone && (options->count > 0 || options->name != NULL)) {
        return cli_fail(cli, EXIT_USAGE, "--count and --name are of moreau snapshot clone");
    }
    const char *source = words->item[1];
    if (is_clone && !is_number(source) && access(source, F_OK) == 0) {
        return use_file(cli, source, NULL, options);
    }
    if (!is_clone && !is_take) {
        return use_file(cli, words->item[2], source, options);
    }
    uint64_t world;
    int status = cli_connect(cli);
    if (status == EXIT_DONE) {
        status = world_find_id(cli, source, is_clone, &world);
    }
    if (status != EXIT_DONE) {
        return status;
    }
    return is_clone ? clone_world(cli, world, 0, options) : take_world(cli, world, words->item[2]);
}

int command_snapshot(Cli *cli, int argc, char **argv) {
    SnapshotOptions options = {0};
    const Option table[] = {
        {"--count", OPTION_COUNT, &options.count, "N", "how many clones; default 1"},
        {"--name", OPTION_TEXT, &options.name, "NAME", "of the clone; of several: NAME-1 ..."},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 3, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (options.count > CLONES_MAX) {
        return cli_fail(cli, EXIT_USAGE, "--count takes at most %d", CLONES_MAX);
    }
    cli->fields = typed;
    return dispatch(cli, &words, &options);
}
