// SPDX-License-Identifier: MIT
// What --where of `moreau episodes` asks for, as the fields of EpisodeList.
//
//   where     = condition {"and" condition}
//   condition = "contact" [pair] {when | "faster" "than" NUMBER}    [m/s]
//             | "impact" [pair] ">" NUMBER {when}                   [N s]
//             | "unconverged" | "launched" | "broken"
//             | "name" "~" TEXT | ("label" | "solver" | "client" | "state") "=" TEXT
//   pair      = "between" body "and" body | "of" body
//   body      = "#" ID | TEXT
//   when      = ("after" | "before") STEP
//
// TEXT is a word, or anything between double quotes.
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

enum { WHERE_TOUCHES_MAX = 8, WHERE_KINDS_MAX = 8, WHERE_MESSAGE_BYTES = 256 };

typedef struct Where {
    Moreau__V1__EpisodeBody body[2 * WHERE_TOUCHES_MAX];
    Moreau__V1__EpisodeTouch touch[WHERE_TOUCHES_MAX];
    Moreau__V1__EpisodeTouch *touches[WHERE_TOUCHES_MAX];
    Moreau__V1__EpisodeHighlight__Kind kind[WHERE_KINDS_MAX];
    size_t touch_count, kind_count;
    char *texts; // owned: of names, one behind the other
} Where;

// Adds to `list`, whose new texts and arrays are the Where's, to be freed by where_free in any
// case. false: `message` says at which column something else was expected.
bool where_parse(const char *text, Where *where, Moreau__V1__EpisodeList *list,
                 char message[WHERE_MESSAGE_BYTES]);
void where_free(Where *where);
