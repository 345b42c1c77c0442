// SPDX-License-Identifier: MIT
// An episode inside the page that shows it.
#include "cli/export.h"

#include "cli/base64.h"
#include "cli/episode_file.h"
#include "cli/memory.h"
#include "cli/number.h"
#include "cli/save.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What browsers still open quickly: as text in the page it is a third more.
enum { EPISODE_BYTES_MAX = 256 * 1000 * 1000 };
enum { PATH_BYTES = 4096 };

// Where the page has room for an episode.
static const char place[] = "<!-- episode -->";

typedef struct Page {
    char *text; // owned
    size_t count;
    size_t place; // of the episode in it
} Page;

static bool read_page(const char *path, Page *page) {
    *page = (Page){0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return false;
    }
    size_t capacity = (size_t)1 << 22;
    page->text = memory_take(capacity, 1);
    size_t got;
    while ((got = fread(page->text + page->count, 1, capacity - page->count, stream)) > 0) {
        page->count += got;
        if (page->count == capacity) {
            capacity *= 2;
            page->text = memory_grow(page->text, capacity, 1);
        }
    }
    bool is_whole = ferror(stream) == 0;
    page->text = memory_grow(page->text, page->count + 1, 1);
    page->text[page->count] = '\0';
    fclose(stream);
    return is_whole;
}

// Beside this program, or where a build and an installation put it.
static bool find_page(Page *page) {
    static const char *const places[] = {"moreau-viewer.html",
                                         "../share/moreau/moreau-viewer.html"};
    char path[PATH_BYTES];
    ssize_t count = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[count > 0 ? count : 0] = '\0';
    char *slash = strrchr(path, '/');
    for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
        size_t room = sizeof(path) - (size_t)(slash + 1 - path);
        int wanted = snprintf(slash + 1, room, "%s", places[i]);
        if (wanted > 0 && (size_t)wanted < room && read_page(path, page)) {
            return true;
        }
    }
    return false;
}

static int load_page(Cli *cli, const char *path, Page *page) {
    if (path != NULL && !read_page(path, page)) {
        return cli_fail(cli, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    }
    if (path == NULL && !find_page(page)) {
        return cli_fail(cli, EXIT_USAGE,
                        "there is no moreau-viewer.html beside this program or in "
                        "../share/moreau from there: --page names one, as "
                        "clients/web/page/moreau-viewer.html of the sources");
    }
    const char *found = page->text == NULL ? NULL : strstr(page->text, place);
    page->place = found == NULL ? 0 : (size_t)(found - page->text);
    if (found == NULL) {
        return cli_fail(cli, EXIT_REFUSED, "%s is not the viewer's page, or has an episode already",
                        path == NULL ? "moreau-viewer.html" : path);
    }
    return EXIT_DONE;
}

static int write_html(Cli *cli, const char *path, const Page *page, const EpisodeFile *file) {
    static const char before[] = "<script type=\"application/octet-stream;base64\" id=\"episode\">";
    static const char after[] = "</script>";
    char *data = memory_must(base64_write(file->bytes, file->count));
    const char *rest = page->text + page->place + strlen(place);
    size_t room = page->count + strlen(before) + strlen(data) + strlen(after) + 1;
    char *text = memory_take(room, 1);
    int count = snprintf(text, room, "%.*s%s%s%s%s", (int)page->place, page->text, before, data,
                         after, rest);
    int status = save_file(cli, path, text, (size_t)count);
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, json_pack("{s:s,s:s,s:s,s:o}", "episode", file->uid, "name", file->name,
                                 "html", path, "bytes", number_json_whole((uint64_t)count)));
    } else if (status == EXIT_DONE) {
        printf("%s: episode %.8s %s, %.1f MB\n", path, file->uid, file->name, (double)count / 1e6);
    }
    free(text);
    free(data);
    return status;
}

int export_html(Cli *cli, const char *db, const char *episode, const char *page_path,
                const char *path) {
    Page page = {0};
    EpisodeFile file = {0};
    int status = load_page(cli, page_path, &page);
    if (status == EXIT_DONE) {
        status = episode_file_take(cli, db, episode, EPISODE_BYTES_MAX, &file);
    }
    if (status == EXIT_DONE) {
        status = write_html(cli, path, &page, &file);
    }
    free(file.bytes);
    free(page.text);
    return status;
}
