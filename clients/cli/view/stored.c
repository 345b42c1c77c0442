// SPDX-License-Identifier: MIT
#include "cli/view/stored.h"

#include "cli/files/save.h"
#include "cli/view/episode_page.h"
#include "cli/view/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool stored_is_file(const char *path) {
    char head[16] = "";
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    const bool is_read = fread(head, 1, sizeof(head), file) == sizeof(head);
    fclose(file);
    return is_read && memcmp(head, "SQLite format 3", sizeof(head)) == 0;
}

int stored_find(Cli *cli, const char *db, char path[STORED_PATH_BYTES]) {
    const char *known = db;
    if (known == NULL) {
        const int status = cli_connect(cli);
        if (status != EXIT_DONE) {
            return status;
        }
        known = moreau_server_db(cli->client);
    }
    if (known[0] == '\0') {
        return cli_fail(cli, EXIT_REFUSED,
                        "the server at %s does not say where its file of episodes is: name a file "
                        "with --db FILE",
                        cli->server);
    }
    if (access(known, R_OK) != 0) {
        const int why = errno;
        return cli_fail(cli, db != NULL ? EXIT_USAGE : EXIT_REFUSED, "cannot read %s: %s%s", known,
                        strerror(why),
                        db == NULL
                            ? "; where the server runs on another machine, copy its file (or "
                              "one that moreau backup made) and name it with --db FILE"
                            : "");
    }
    snprintf(path, STORED_PATH_BYTES, "%s", known);
    return EXIT_DONE;
}

// ---- pages that a browser opens from the disk

int stored_write_page(Cli *cli, const char *db, const char *episode, const char *page,
                      char path[STORED_PATH_BYTES]) {
    char folder[FOLDER_PATH_BYTES];
    EpisodePage made;
    if (!folder_cache(folder)) {
        return cli_fail(cli, EXIT_REFUSED, "cannot make the folder %s: %s", folder,
                        strerror(errno));
    }
    int status = episode_page_make(cli, db, episode, page, NULL, &made);
    if (status == EXIT_DONE) {
        const int used = snprintf(path, STORED_PATH_BYTES, "%s/%s.html", folder, made.uid);
        status = used < STORED_PATH_BYTES ? save_file(cli, path, made.text, made.count)
                                          : cli_fail(cli, EXIT_REFUSED, "%s is too long", folder);
        episode_page_free(&made);
    }
    return status;
}
