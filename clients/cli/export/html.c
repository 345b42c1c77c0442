// SPDX-License-Identifier: MIT
// An episode inside the page that shows it.
#include "cli/export/export.h"

#include "cli/text/number.h"
#include "cli/files/save.h"
#include "cli/view/episode_page.h"

#include <jansson.h>
#include <stdio.h>

int export_html(Cli *cli, const char *db, const char *episode, const char *page_path,
                const uint8_t *key, const char *path) {
    EpisodePage page;
    int status = episode_page_make(cli, db, episode, page_path, key, &page);
    if (status != EXIT_DONE) {
        return status;
    }
    status = save_file(cli, path, page.text, page.count);
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, json_pack("{s:s,s:s,s:s,s:o}", "episode", page.uid, "name", page.name,
                                 "html", path, "bytes", number_json_whole(page.count)));
    } else if (status == EXIT_DONE) {
        printf("%s: episode %.8s %s, %.1f MB\n", path, page.uid, page.name,
               (double)page.count / 1e6);
    }
    episode_page_free(&page);
    return status;
}
