// SPDX-License-Identifier: MIT
// moreau view: the page, open where the thing is.
#include "cli/cli.h"

#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/files/episode_file.h"
#include "cli/text/terminal.h"
#include "cli/view/browser.h"
#include "cli/view/episode_page.h"
#include "cli/view/folder.h"
#include "cli/view/page.h"
#include "cli/view/page_server.h"
#include "cli/view/stored.h"
#include "cli/worlds/find.h"
#include "cli/worlds/page.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "moreau view: an episode, a world or a group in the page that shows it\n"
    "\n"
    "  moreau view EPISODE [--step N]      what was recorded\n"
    "  moreau view WORLD                   a world as it moves\n"
    "  moreau view GROUP[:INDEX]           a world of a group as it moves\n"
    "  moreau view FILE.db [EPISODE]       an episode of a file; default: the newest\n"
    "  moreau view FILE.html               a page with an episode in it\n"
    "\n"
    "What is a file is opened as one; else the server is asked for a world, a group and\n"
    "an episode of that name or id, in this order. Of a running world the page is the\n"
    "server's own (moreau-server --http); of an episode, a file in the cache that needs no\n"
    "server; of one that is larger than 256 MB, or with --serve, the page and the episode\n"
    "are served on this machine, which lasts until Ctrl-C. Where no window can be opened, the "
    "address is printed.\n"
    "\n"
    "Examples:\n"
    "  moreau view demo --step 120\n"
    "  moreau view episodes.db\n"
    "  moreau view ants:17\n";

#define NOT_GIVEN UINT64_MAX

enum { ADDRESS_BYTES = 3 * STORED_PATH_BYTES };

typedef struct ViewOptions {
    const char *db, *page;
    uint64_t step;
    bool no_window, serves;
} ViewOptions;

// The last line of a command that has found something worth a look.
static int show(Cli *cli, const ViewOptions *options, const char *address) {
    const bool is_shown = !options->no_window && browser_show(address, BROWSER_WINDOW);
    if (cli->json) {
        cli_print(cli, json_pack("{s:s,s:b}", "address", address, "window", is_shown));
    } else if (is_shown) {
        printf("a window opens: %s\n", address);
    } else {
        printf("%s\n", address);
    }
    return EXIT_DONE;
}

// ---- files

// As a browser wants it: what means something in an address is written as %xx.
static void write_file_address(const char *path, const ViewOptions *options,
                               char address[ADDRESS_BYTES]) {
    char *to = address + sprintf(address, "file://");
    for (const char *at = path; *at != '\0' && to - address < ADDRESS_BYTES - 64; at++) {
        const unsigned char byte = (unsigned char)*at;
        const bool is_plain = isalnum(byte) != 0 || strchr("/._-~", byte) != NULL;
        to += sprintf(to, is_plain ? "%c" : "%%%02X", byte);
    }
    if (options->step != NOT_GIVEN) {
        sprintf(to, "#step=%" PRIu64, options->step);
    }
}

static int view_path(Cli *cli, const ViewOptions *options, const char *path) {
    char address[ADDRESS_BYTES];
    char *whole = memory_must(realpath(path, NULL));
    write_file_address(whole, options, address);
    free(whole);
    return show(cli, options, address);
}

// Until Ctrl-C, from a copy of the episode alone: the server may go on writing its file.
static int serve_copy(Cli *cli, const ViewOptions *options, const Page *page, const char *db,
                      const char *episode) {
    char folder[FOLDER_PATH_BYTES], path[FOLDER_PATH_BYTES + 32], address[ADDRESS_BYTES];
    EpisodeFile file;
    PageServer server;
    if (!folder_cache(folder)) {
        return cli_fail(cli, EXIT_REFUSED, "cannot make the folder %s: %s", folder,
                        strerror(errno));
    }
    snprintf(path, sizeof(path), "%s/served-%ld.db", folder, (long)getpid());
    interrupt_removes(path);
    int status = episode_file_copy(cli, db, episode, path, &file);
    if (status == EXIT_DONE) {
        status = page_server_open(cli, page, path, &server);
    }
    // what is open is served without a name, and so gone however this ends
    unlink(path);
    interrupt_keeps();
    if (status == EXIT_DONE) {
        int used = snprintf(address, sizeof(address), "%s#url=%sepisode.db&episode=%s",
                            server.address, server.address, file.uid);
        if (options->step != NOT_GIVEN) {
            snprintf(address + used, sizeof(address) - (size_t)used, "&step=%" PRIu64,
                     options->step);
        }
        show(cli, options, address);
        fputs("moreau: shows the episode until Ctrl-C\n", stderr);
        if (cli_flush(cli)) {
            page_server_run(&server);
        }
        page_server_close(&server);
    }
    return status;
}

static int view_stored(Cli *cli, const ViewOptions *options, const char *db, const char *episode) {
    char path[STORED_PATH_BYTES];
    EpisodeFile file;
    uint64_t bytes;
    int measured = episode_file_measure(cli, db, episode, &bytes, &file);
    if (measured != EXIT_DONE) {
        return measured;
    }
    if (options->serves || bytes > EPISODE_PAGE_BYTES_MAX) {
        Page page;
        char text[32];
        fprintf(stderr, "moreau: takes a copy of the episode, %s\n", format_bytes(bytes, text));
        measured = page_load(cli, options->page, &page);
        if (measured == EXIT_DONE) {
            measured = serve_copy(cli, options, &page, db, file.uid);
            page_free(&page);
        }
        return measured;
    }
    const int status = stored_write_page(cli, db, episode, options->page, path);
    return status == EXIT_DONE ? view_path(cli, options, path) : status;
}

static bool ends_in(const char *text, const char *ending) {
    const size_t bytes = strlen(text), wanted = strlen(ending);
    return bytes >= wanted && strcmp(text + bytes - wanted, ending) == 0;
}

static bool is_page(const char *path) {
    return (ends_in(path, ".html") || ends_in(path, ".htm")) && access(path, R_OK) == 0;
}

// ---- what runs

// The page of the server itself. `what` is its part of the address, as "world=7".
static int view_live(Cli *cli, const ViewOptions *options, const char *what) {
    char address[ADDRESS_BYTES];
    const char *http = moreau_server_http(cli->client);
    if (http[0] == '\0') {
        return cli_fail(cli, EXIT_REFUSED,
                        "the server at %s shows no pages: start it with --http 127.0.0.1:8080 "
                        "(or any free port) to watch what runs on it",
                        cli->server);
    }
    if (cli->token_file != NULL) {
        fprintf(stderr, "the page asks for the token of %s: paste it there\n", cli->token_file);
    }
    static const char https[] = "https://";
    const bool is_secure = strncmp(http, https, strlen(https)) == 0;
    const char *s = is_secure ? "s" : "", *where = http + (is_secure ? strlen(https) : 0);
    snprintf(address, sizeof(address), "http%s://%s/#live=ws%s://%s/v1/live&%s", s, where, s, where,
             what);
    return show(cli, options, address);
}

// 0: there is none of that name or id.
static int find_world(Cli *cli, const char *text, uint64_t *id) {
    const bool is_id = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    const uint64_t wanted = is_id ? strtoull(text, NULL, 10) : 0;
    size_t rows;
    uint64_t first = 0;
    *id = 0;
    do {
        int status;
        Moreau__V1__Reply *reply = world_page_fetch(cli, first, &status);
        if (reply == NULL) {
            return status;
        }
        rows = reply->world_list->n_worlds;
        for (size_t i = 0; i < rows && *id == 0; i++) {
            const Moreau__V1__WorldInfo *world = reply->world_list->worlds[i];
            const char *name = world->name != NULL ? world->name : "";
            *id = (is_id ? world->world == wanted : strcmp(name, text) == 0) ? world->world : 0;
        }
        first += rows;
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (rows == WORLD_PAGE_ROWS && *id == 0);
    return EXIT_DONE;
}

static int find_group(Cli *cli, const char *text, uint64_t *id, uint64_t *count) {
    const bool is_id = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    const uint64_t wanted = is_id ? strtoull(text, NULL, 10) : 0;
    size_t rows;
    uint64_t first = 0;
    *id = 0;
    do {
        int status;
        Moreau__V1__Reply *reply = group_page_fetch(cli, first, &status);
        if (reply == NULL) {
            return status;
        }
        rows = reply->group_list->n_groups;
        for (size_t i = 0; i < rows && *id == 0; i++) {
            const Moreau__V1__GroupInfo *group = reply->group_list->groups[i];
            const char *name = group->name != NULL ? group->name : "";
            if (is_id ? group->group == wanted : strcmp(name, text) == 0) {
                *id = group->group;
                *count = group->count;
            }
        }
        first += rows;
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (rows == GROUP_PAGE_ROWS && *id == 0);
    return EXIT_DONE;
}

// "ants:17" is world 17 of the group ants; *index 0 where none is named.
static char *split_index(const char *text, uint64_t *index) {
    char *name = memory_copy(text);
    char *colon = strrchr(name, ':');
    *index = 0;
    if (colon != NULL && colon[1] != '\0' && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        *index = strtoull(colon + 1, NULL, 10);
        *colon = '\0';
    }
    return name;
}

static int view_group(Cli *cli, const ViewOptions *options, const char *text, bool *is_found) {
    uint64_t id, count = 0, index;
    char *name = split_index(text, &index);
    char what[64];
    int status = find_group(cli, name, &id, &count);
    free(name);
    *is_found = status == EXIT_DONE && id != 0;
    if (!*is_found) {
        return status;
    }
    if (index >= count) {
        return cli_fail(cli, EXIT_USAGE, "the group has the worlds 0 to %" PRIu64, count - 1);
    }
    snprintf(what, sizeof(what), "group=%" PRIu64 "&index=%" PRIu64, id, index);
    return view_live(cli, options, what);
}

// A world, a group or an episode, as the server knows it.
static int view_served(Cli *cli, const ViewOptions *options, const char *text) {
    char db[STORED_PATH_BYTES], what[64];
    uint64_t world = 0;
    bool is_group = false;
    int status = cli_connect(cli);
    if (status == EXIT_DONE) {
        status = find_world(cli, text, &world);
    }
    if (status == EXIT_DONE && world != 0) {
        snprintf(what, sizeof(what), "world=%" PRIu64, world);
        return view_live(cli, options, what);
    }
    if (status == EXIT_DONE) {
        status = view_group(cli, options, text, &is_group);
    }
    if (status != EXIT_DONE || is_group) {
        return status;
    }
    status = stored_find(cli, NULL, db);
    return status == EXIT_DONE ? view_stored(cli, options, db, text) : status;
}

static int view_thing(Cli *cli, const ViewOptions *options, const OptionList *words) {
    const char *text = words->item[0], *episode = words->count > 1 ? words->item[1] : NULL;
    const bool is_file = stored_is_file(text);
    if (episode != NULL && !is_file) {
        return cli_fail(cli, EXIT_USAGE, "%s is no file of episodes, that %s could be in", text,
                        episode);
    }
    if (is_file) {
        return view_stored(cli, options, text, episode);
    }
    if (options->db != NULL) {
        char db[STORED_PATH_BYTES];
        const int status = stored_find(cli, options->db, db);
        return status == EXIT_DONE ? view_stored(cli, options, db, text) : status;
    }
    if (is_page(text)) {
        return view_path(cli, options, text);
    }
    if (ends_in(text, ".html") || ends_in(text, ".db")) {
        return cli_fail(cli, EXIT_USAGE, "there is no file %s that could be read", text);
    }
    return view_served(cli, options, text);
}

int command_view(Cli *cli, int argc, char **argv) {
    ViewOptions options = {.step = NOT_GIVEN};
    const Option table[] = {
        {"--step", OPTION_INDEX, &options.step, "N", "of the episode, at which the page opens"},
        {"--db", OPTION_TEXT, &options.db, "FILE", "that the episode is in; default: the server's"},
        {"--page", OPTION_TEXT, &options.page, "FILE", "the viewer; default: the installed one"},
        {"--serve", OPTION_FLAG, &options.serves, NULL, "apart from the page, until Ctrl-C"},
        {"--no-window", OPTION_FLAG, &options.no_window, NULL, "only print the address"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 2, &words);
    return status != EXIT_DONE || cli->help ? status : view_thing(cli, &options, &words);
}
