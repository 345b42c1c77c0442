// SPDX-License-Identifier: MIT
#include "cli/view/page.h"

#include "cli/base/memory.h"
#include "cli/view/shared.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_page(const char *path, Page *page) {
    *page = (Page){0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return false;
    }
    size_t capacity = (size_t)1 << 22, got;
    page->text = memory_take(capacity, 1);
    while ((got = fread(page->text + page->count, 1, capacity - page->count, stream)) > 0) {
        page->count += got;
        if (page->count == capacity) {
            capacity *= 2;
            page->text = memory_grow(page->text, capacity, 1);
        }
    }
    const bool is_whole = ferror(stream) == 0;
    page->text = memory_grow(page->text, page->count + 1, 1);
    page->text[page->count] = '\0';
    fclose(stream);
    if (!is_whole) {
        page_free(page);
    }
    return is_whole;
}

void page_free(Page *page) {
    free(page->text);
    *page = (Page){0};
}

int page_load(Cli *cli, const char *path, Page *page) {
    if (path != NULL && !read_page(path, page)) {
        return cli_fail(cli, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    }
    char found[SHARED_PATH_BYTES];
    if (path == NULL && (!shared_find("moreau-viewer.html", found) || !read_page(found, page))) {
        return cli_fail(cli, EXIT_USAGE,
                        "there is no moreau-viewer.html beside this program or in "
                        "../share/moreau from there: --page names one, as "
                        "clients/web/page/moreau-viewer.html of the sources");
    }
    return EXIT_DONE;
}
