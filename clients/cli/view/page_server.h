// SPDX-License-Identifier: MIT
// The page and a file of episodes, served on this machine to a browser: what is too large to be
// part of a page is read from the file as it is needed, by ranges. Only who knows the address gets
// anything: it holds a key.
#pragma once

#include "cli/cli.h"
#include "cli/view/page.h"

enum { PAGE_SERVER_ADDRESS_BYTES = 128 };

typedef struct PageServer {
    int listener;
    int file;
    const Page *page; // borrowed
    char host[64];    // "127.0.0.1:port", which requests must name
    char key[33];
    char address[PAGE_SERVER_ADDRESS_BYTES]; // of the page; "episode.db" behind it is the file
} PageServer;

// `path` is the file. EXIT_DONE, or says why not and returns the status to end with; then there is
// nothing to close.
int page_server_open(Cli *cli, const Page *page, const char *path, PageServer *server);

// Until Ctrl-C.
void page_server_run(const PageServer *server);
void page_server_close(PageServer *server);
