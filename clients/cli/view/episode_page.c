// SPDX-License-Identifier: MIT
#include "cli/view/episode_page.h"

#include "cli/json/base64.h"
#include "cli/base/memory.h"
#include "cli/view/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AIM_BYTES = 256 };

// Where the page has room for an episode.
static const char place[] = "<!-- episode -->";

static void append(EpisodePage *made, const char *text, size_t count) {
    memcpy(made->text + made->count, text, count);
    made->count += count;
}

// The file of a group's episode holds those of its other worlds, too: the page begins with the one
// that was asked for, unless a link names another.
static void write_aim(const char *uid, char aim[AIM_BYTES]) {
    snprintf(aim, AIM_BYTES,
             "<script>if (!/[#&]episode=/.test(location.hash)) history.replaceState(null, \"\", "
             "\"#episode=%s\" + location.hash.replace(/^#/, \"&\"));</script>",
             uid);
}

static void append_data(EpisodePage *made, const char *id, const char *data) {
    static const char head[] = "<script type=\"application/octet-stream;base64\" id=\"";
    static const char tail[] = "</script>";
    append(made, head, strlen(head));
    append(made, id, strlen(id));
    append(made, "\">", 2);
    append(made, data, strlen(data));
    append(made, tail, strlen(tail));
}

// `key` Nullable.
static void join(const Page *page, size_t before, const EpisodeFile *file, const uint8_t *key,
                 EpisodePage *made) {
    enum { AROUND_BYTES = 512 }; // of both, and of the key
    char aim[AIM_BYTES];
    char *data = memory_must(base64_write(file->bytes, file->count));
    const size_t behind = before + strlen(place);
    write_aim(file->uid, aim);
    made->text = memory_take(page->count + strlen(aim) + strlen(data) + AROUND_BYTES, 1);
    append(made, page->text, before);
    append(made, aim, strlen(aim));
    append_data(made, "episode", data);
    if (key != NULL) {
        char *digits = memory_must(base64_write(key, EPISODE_PAGE_KEY_BYTES));
        append_data(made, "seal-pub", digits);
        free(digits);
    }
    append(made, page->text + behind, page->count - behind);
    memcpy(made->uid, file->uid, sizeof(made->uid));
    memcpy(made->name, file->name, sizeof(made->name));
    free(data);
}

static int find_place(Cli *cli, const char *path, const Page *page, size_t *before) {
    const char *found = strstr(page->text, place);
    if (found == NULL) {
        return cli_fail(cli, EXIT_REFUSED, "%s is not the viewer's page, or has an episode already",
                        path == NULL ? "moreau-viewer.html" : path);
    }
    *before = (size_t)(found - page->text);
    return EXIT_DONE;
}

int episode_page_make(Cli *cli, const char *db, const char *episode, const char *path,
                      const uint8_t *key, EpisodePage *made) {
    Page page;
    EpisodeFile file = {0};
    size_t before = 0;
    *made = (EpisodePage){0};
    int status = page_load(cli, path, &page);
    if (status != EXIT_DONE) {
        return status;
    }
    status = find_place(cli, path, &page, &before);
    if (status == EXIT_DONE) {
        status = episode_file_take(cli, db, episode, EPISODE_PAGE_BYTES_MAX, &file);
    }
    if (status == EXIT_DONE) {
        join(&page, before, &file, key, made);
    }
    free(file.bytes);
    page_free(&page);
    return status;
}

void episode_page_free(EpisodePage *page) {
    free(page->text);
    *page = (EpisodePage){0};
}
