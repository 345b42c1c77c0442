// SPDX-License-Identifier: MIT
#include "http/page.h"

#include "http/host.h"

#include <string.h>
#include <strings.h>

enum {
    HTTP_OK = 200,
    HTTP_UNAUTHORIZED = 401,
    HTTP_NOT_FOUND = 404,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_MISDIRECTED = 421,
    HTTP_HEAD_TOO_LONG = 431,
    HTTP_UNAVAILABLE = 503
};

typedef struct Page {
    const char *path;
    bool is_guarded; // by the token
    unsigned (*print)(const HttpDef *def, FILE *out);
} Page;

static unsigned print_alive(const HttpDef *def, FILE *out) {
    (void)def;
    fputs("alive\n", out);
    return HTTP_OK;
}

static unsigned print_ready(const HttpDef *def, FILE *out) {
    bool is_ready = def->is_ready(def->context);
    fputs(is_ready ? "ready\n" : "not ready: the server is starting or draining\n", out);
    return is_ready ? HTTP_OK : HTTP_UNAVAILABLE;
}

static unsigned print_metrics(const HttpDef *def, FILE *out) {
    def->print_metrics(def->context, out);
    return HTTP_OK;
}

static unsigned print_viewer(const HttpDef *def, FILE *out) {
    if (def->page == NULL) {
        fputs("This server came without the page that shows worlds: install moreau-viewer.html in "
              "../share/moreau, or start it with --viewer FILE.\n",
              out);
        return HTTP_NOT_FOUND;
    }
    fputs(def->page, out);
    return HTTP_OK;
}

// What probes ask says nothing that a refused connection would not say too, so it needs no token.
static const Page pages[] = {
    {"/livez", false, print_alive},
    {"/readyz", false, print_ready},
    {"/metrics", true, print_metrics},
    {"/", false, print_viewer}, // which shows nothing by itself
};

static bool is_authorised(const HttpDef *def, const char *authorization) {
    static const char scheme[] = "Bearer ";
    enum { SCHEME_BYTES = sizeof(scheme) - 1 };
    return !def->guards_metrics || (strncasecmp(authorization, scheme, SCHEME_BYTES) == 0 &&
                                    def->may_measure(def->context, authorization + SCHEME_BYTES));
}

static const Page *find_page(const char *path) {
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(pages[i].path, path) == 0) {
            return &pages[i];
        }
    }
    return NULL;
}

unsigned page_refuse(const HttpDef *def, const PageRequest *request, FILE *out) {
    if (request->is_too_long) {
        fputs("The head of this request is too long: 8 KiB are taken.\n", out);
        return HTTP_HEAD_TOO_LONG;
    }
    if (!host_is_ours(def, request->host)) {
        fputs("This server is asked by its address, as localhost, or by a name that it was given "
              "(option --http-host NAME): another name may be anybody's.\n",
              out);
        return HTTP_MISDIRECTED;
    }
    return 0;
}

unsigned page_print(const HttpDef *def, const PageRequest *request, FILE *out) {
    const unsigned refusal = page_refuse(def, request, out);
    if (refusal != 0) {
        return refusal;
    }
    const Page *page = find_page(request->path);
    if (page == NULL) {
        fputs("There is no such page; there are /, /livez, /readyz and /metrics.\n", out);
        return HTTP_NOT_FOUND;
    }
    if (!request->reads) {
        fputs("This page is only read: use GET or HEAD.\n", out);
        return HTTP_METHOD_NOT_ALLOWED;
    }
    if (page->is_guarded && !is_authorised(def, request->authorization)) {
        fputs("This page demands the server's token, or one with the right admin: send the header "
              "Authorization: Bearer TOKEN.\n",
              out);
        return HTTP_UNAUTHORIZED;
    }
    return page->print(def, out);
}

const char *page_type(const char *path, unsigned status) {
    return status == HTTP_OK && strcmp(path, "/") == 0 ? "text/html; charset=utf-8"
                                                       : "text/plain; version=0.0.4; charset=utf-8";
}
