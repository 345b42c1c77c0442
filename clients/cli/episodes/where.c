// SPDX-License-Identifier: MIT
#include "cli/episodes/where.h"

#include "cli/json/read.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One word, text, sign, or the end.
typedef struct Token {
    size_t at; // in the text
    size_t bytes;
    bool is_quoted;
    const char *text; // without quotes, ended by a zero
} Token;

typedef struct Parser {
    const char *text;
    size_t next; // where the token behind `token` begins, or blanks in front of it
    Token token;
    char *room; // for the next token's text
    Where *where;
    Moreau__V1__EpisodeList *list;
    char *message;
    bool has_failed;
} Parser;

// ---- words

static bool fail(Parser *parser, size_t at, const char *expected) {
    if (!parser->has_failed) {
        char found[64] = "the end";
        if (parser->text[at] != '\0') {
            snprintf(found, sizeof(found), "\"%.*s\"", 24, parser->text + at);
        }
        snprintf(parser->message, WHERE_MESSAGE_BYTES, "column %zu: expected %s, found %s", at + 1,
                 expected, found);
    }
    parser->has_failed = true;
    return false;
}

static bool is_sign(char letter) {
    return letter == '=' || letter == '~' || letter == '>';
}

static bool ends_word(char letter) {
    return letter == '\0' || letter == '"' || is_sign(letter) || isspace((unsigned char)letter);
}

// Reads the next token.
static bool advance(Parser *parser) {
    const char *text = parser->text;
    size_t at = parser->next;
    while (isspace((unsigned char)text[at])) {
        at++;
    }
    size_t begin = at, end = at;
    const bool is_quoted = text[at] == '"';
    if (is_quoted) {
        begin = end = at + 1;
        while (text[end] != '\0' && text[end] != '"') {
            end++;
        }
        if (text[end] == '\0') {
            return fail(parser, at, "a text that ends with another \"");
        }
    } else if (is_sign(text[at])) {
        end++;
    } else {
        while (!ends_word(text[end])) {
            end++;
        }
    }
    parser->token =
        (Token){.at = at, .bytes = end - begin, .is_quoted = is_quoted, .text = parser->room};
    memcpy(parser->room, text + begin, end - begin);
    parser->room[end - begin] = '\0';
    parser->room += end - begin + 1;
    parser->next = end + is_quoted;
    return true;
}

static bool is_at_end(const Parser *parser) {
    return parser->token.bytes == 0 && !parser->token.is_quoted;
}

static bool is_word(const Parser *parser, const char *word) {
    return !parser->token.is_quoted && strcmp(parser->token.text, word) == 0;
}

// Takes the word, if it is there.
static bool accept(Parser *parser, const char *word) {
    return !parser->has_failed && is_word(parser, word) && advance(parser);
}

static bool expect(Parser *parser, const char *word) {
    if (accept(parser, word)) {
        return true;
    }
    char what[32];
    snprintf(what, sizeof(what), "\"%s\"", word);
    return fail(parser, parser->token.at, what);
}

// A text of its own, which a sign is not.
static bool expect_text(Parser *parser, const char *what, const char **text) {
    const Token token = parser->token;
    if (token.bytes == 0 || (!token.is_quoted && is_sign(token.text[0]))) {
        return fail(parser, token.at, what);
    }
    *text = token.text;
    return advance(parser);
}

static bool expect_whole(Parser *parser, const char *what, uint64_t *number) {
    const Token token = parser->token;
    char *end = NULL;
    errno = 0;
    *number = strtoull(token.text, &end, 10);
    if (!isdigit((unsigned char)token.text[0]) || *end != '\0' || errno != 0 || token.is_quoted) {
        return fail(parser, token.at, what);
    }
    return advance(parser);
}

static bool expect_number(Parser *parser, const char *what, double *number) {
    const Token token = parser->token;
    char *end = NULL;
    *number = strtod(token.text, &end);
    if (end == token.text || *end != '\0' || token.is_quoted || !isfinite(*number) ||
        *number < 0.0) {
        return fail(parser, token.at, what);
    }
    return advance(parser);
}

// ---- conditions

static bool take_body(Parser *parser, Moreau__V1__EpisodeBody *body,
                      Moreau__V1__EpisodeBody **place) {
    moreau__v1__episode_body__init(body);
    *place = body;
    if (!parser->token.is_quoted && parser->token.text[0] == '#') {
        const Token token = parser->token;
        char *end = NULL;
        errno = 0;
        body->id = strtoull(token.text + 1, &end, 10);
        body->has_id = 1;
        if (!isdigit((unsigned char)token.text[1]) || *end != '\0' || errno != 0 || body->id == 0) {
            return fail(parser, token.at, "# and the number of a body, as #3");
        }
        return advance(parser);
    }
    const char *name;
    if (!expect_text(parser, "a body: its name, or # and its number", &name)) {
        return false;
    }
    body->name = (char *)name;
    return true;
}

static bool take_pair(Parser *parser, Moreau__V1__EpisodeTouch *touch) {
    Moreau__V1__EpisodeBody *body = &parser->where->body[2 * (parser->where->touch_count - 1)];
    if (accept(parser, "of")) {
        return take_body(parser, &body[0], &touch->body);
    }
    if (accept(parser, "between")) {
        return take_body(parser, &body[0], &touch->body) && expect(parser, "and") &&
               take_body(parser, &body[1], &touch->other_body);
    }
    return !parser->has_failed;
}

static bool take_limits(Parser *parser, bool is_contact, Moreau__V1__EpisodeTouch *touch) {
    while (!parser->has_failed) {
        if (accept(parser, "after")) {
            touch->has_after = 1;
            expect_whole(parser, "the number of a step", &touch->after);
        } else if (accept(parser, "before")) {
            touch->has_before = 1;
            expect_whole(parser, "the number of a step", &touch->before);
        } else if (is_contact && accept(parser, "faster")) {
            touch->has_speed_above = 1;
            if (expect(parser, "than")) {
                expect_number(parser, "a speed [m/s], 0 or more", &touch->speed_above);
            }
        } else {
            break;
        }
    }
    return !parser->has_failed;
}

static bool take_touch(Parser *parser, bool is_contact) {
    Where *where = parser->where;
    if (where->touch_count == WHERE_TOUCHES_MAX) {
        return fail(parser, parser->token.at, "no more than 8 contacts and impacts");
    }
    Moreau__V1__EpisodeTouch *touch = &where->touch[where->touch_count];
    where->touches[where->touch_count++] = touch;
    moreau__v1__episode_touch__init(touch);
    if (!take_pair(parser, touch)) {
        return false;
    }
    if (!is_contact) {
        touch->has_impulse_above = 1;
        if (!expect(parser, ">") ||
            !expect_number(parser, "an impulse [N s], 0 or more", &touch->impulse_above)) {
            return false;
        }
    }
    return take_limits(parser, is_contact, touch);
}

static bool take_kind(Parser *parser, Moreau__V1__EpisodeHighlight__Kind kind) {
    Where *where = parser->where;
    for (size_t i = 0; i < where->kind_count; i++) {
        if (where->kind[i] == kind) {
            return true;
        }
    }
    where->kind[where->kind_count++] = kind;
    return true;
}

static bool take_state(Parser *parser) {
    const size_t at = parser->token.at;
    const char *name;
    if (!expect_text(parser, "a state", &name)) {
        return false;
    }
    const ProtobufCEnumValue *value = json_find_enum(&moreau__v1__episode__state__descriptor, name);
    if (value == NULL) {
        return fail(parser, at, "recording, complete, world_destroyed or interrupted");
    }
    parser->list->has_state = 1;
    parser->list->state = (Moreau__V1__Episode__State)value->value;
    return true;
}

// A condition on a text of the episode; one that an option, or the text, has given already is
// refused.
static bool take_field(Parser *parser, size_t at, const char *sign, char **field) {
    const char *text;
    if (*field != NULL) {
        return fail(parser, at, "each text of the episode once, here or as an option");
    }
    if (!expect(parser, sign) || !expect_text(parser, "a text", &text)) {
        return false;
    }
    *field = (char *)text;
    return true;
}

static bool take_condition(Parser *parser) {
    Moreau__V1__EpisodeList *list = parser->list;
    const struct {
        const char *word, *sign;
        char **field;
    } fields[] = {{"name", "~", &list->name},
                  {"label", "=", &list->label},
                  {"solver", "=", &list->solver},
                  {"client", "=", &list->client}};
    const struct {
        const char *word;
        Moreau__V1__EpisodeHighlight__Kind kind;
    } kinds[] = {{"unconverged", MOREAU__V1__EPISODE_HIGHLIGHT__KIND__UNCONVERGED},
                 {"launched", MOREAU__V1__EPISODE_HIGHLIGHT__KIND__LAUNCH},
                 {"broken", MOREAU__V1__EPISODE_HIGHLIGHT__KIND__BROKEN}};
    const size_t at = parser->token.at;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (accept(parser, fields[i].word)) {
            return take_field(parser, at, fields[i].sign, fields[i].field);
        }
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (accept(parser, kinds[i].word)) {
            return take_kind(parser, kinds[i].kind);
        }
    }
    if (accept(parser, "state")) {
        return expect(parser, "=") && take_state(parser);
    }
    if (accept(parser, "contact")) {
        return take_touch(parser, true);
    }
    if (accept(parser, "impact")) {
        return take_touch(parser, false);
    }
    return fail(parser, at,
                "contact, impact, unconverged, launched, broken, name, label, solver, client or "
                "state");
}

bool where_parse(const char *text, Where *where, Moreau__V1__EpisodeList *list,
                 char message[WHERE_MESSAGE_BYTES]) {
    *where = (Where){0};
    // a token takes its own bytes and a zero; there are at most as many as bytes, and the end
    where->texts = malloc(2 * strlen(text) + 2);
    if (where->texts == NULL) {
        snprintf(message, WHERE_MESSAGE_BYTES, "memory ended");
        return false;
    }
    Parser parser = {
        .text = text, .room = where->texts, .where = where, .list = list, .message = message};
    if (!advance(&parser) || !take_condition(&parser)) {
        return false;
    }
    while (!parser.has_failed && !is_at_end(&parser)) {
        if (!accept(&parser, "and")) {
            return fail(&parser, parser.token.at, "\"and\", or the end");
        }
        if (!take_condition(&parser)) {
            return false;
        }
    }
    list->n_touches = where->touch_count;
    list->touches = where->touches;
    list->n_highlights = where->kind_count;
    list->highlights = where->kind;
    return !parser.has_failed;
}

void where_free(Where *where) {
    free(where->texts);
    *where = (Where){0};
}
