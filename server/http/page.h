// SPDX-License-Identifier: MIT
// The pages: which there are, what each says, and what is said to a request that none can answer.
// Pure of sockets: what goes in is what a request asked for, what comes out is a status and a text.
#pragma once

#include "http/def.h"

#include <stdbool.h>

typedef struct PageRequest {
    const char *path;
    bool reads;                       // GET or HEAD
    const char *authorization, *host; // the headers' values; "": none was sent
    bool is_too_long;                 // the head
} PageRequest;

// Prints the body, and returns the status of HTTP.
unsigned page_print(const HttpDef *def, const PageRequest *request, FILE *out);

// What refuses a request whatever it asks for; 0: nothing.
unsigned page_refuse(const HttpDef *def, const PageRequest *request, FILE *out);

// What its body is, as a Content-Type.
const char *page_type(const char *path, unsigned status);
