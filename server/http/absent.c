// SPDX-License-Identifier: MIT
// Stands in for http.c where a server is built without these pages (MOREAU_HTTP=OFF), by whoever
// has no libwebsockets or wants none. Whoever asks for the pages is told.
#include "http/http.h"

#include "base/assert.h"

#include <unistd.h>

Status http_create(Http **http, const HttpDef *def, Error *error) {
    (void)def;
    *http = NULL;
    return error_set(error, STATUS_UNIMPLEMENTED, "http",
                     "This server was built without its HTTP pages (MOREAU_HTTP=OFF): leave out "
                     "--http, or install one that has them.");
}

void http_accept(Http *http, int fd, const char *peer) {
    ASSERT(http != NULL); // there is none to be had
    (void)peer;
    close(fd);
}

void http_read_certificate(Http *http) {
    ASSERT(http != NULL);
}

uint32_t http_connection_count(const Http *http) {
    ASSERT(http == NULL);
    return 0;
}

uint32_t http_viewer_count(const Http *http) {
    ASSERT(http == NULL);
    return 0;
}

void http_close(Http *http) {
    ASSERT(http == NULL);
}

void http_destroy(Http *http) {
    ASSERT(http == NULL);
}
