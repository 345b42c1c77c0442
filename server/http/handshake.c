// SPDX-License-Identifier: MIT
#include "http/handshake.h"

#include "http/host.h"

#include <string.h>
#include <strings.h>

enum {
    HTTP_BAD_REQUEST = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_UNAVAILABLE = 503
};

static int letter_value(char c) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    return found == NULL ? -1 : (int)(found - letters);
}

// Without padding; what is left of the last letter is zero. false: it is no such text, or holds a
// zero byte, or nothing.
static bool decode_token(const char *text, size_t count, char *token) {
    uint32_t bits = 0, used = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const int value = letter_value(text[i]);
        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        used += 6;
        if (used >= 8) {
            used -= 8;
            token[bytes++] = (char)(bits >> used & 255);
        }
    }
    token[bytes] = '\0';
    return bytes > 0 && used < 6 && (bits & ((1u << used) - 1)) == 0 && strlen(token) == bytes;
}

// The next of a list that commas part, without the spaces around it; its end. NULL: none is left.
static const char *next_item(const char **list, size_t *bytes) {
    const char *begin = *list + strspn(*list, " \t,");
    size_t length = strcspn(begin, ",");
    *list = begin + length;
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) {
        length--;
    }
    *bytes = length;
    return length > 0 ? begin : NULL;
}

static bool is_ours(const char *protocols) {
    size_t bytes;
    const char *first = next_item(&protocols, &bytes);
    return first != NULL && bytes == strlen(HANDSHAKE_PROTOCOL) &&
           memcmp(first, HANDSHAKE_PROTOCOL, bytes) == 0;
}

static bool shows_token(const HttpDef *def, const char *protocols) {
    static const char prefix[] = "token.";
    enum { PREFIX_BYTES = sizeof(prefix) - 1 };
    char token[HANDSHAKE_FIELD_BYTES];
    size_t bytes;
    for (const char *item; (item = next_item(&protocols, &bytes)) != NULL;) {
        if (bytes > PREFIX_BYTES && bytes < sizeof(token) &&
            memcmp(item, prefix, PREFIX_BYTES) == 0) {
            return decode_token(item + PREFIX_BYTES, bytes - PREFIX_BYTES, token) &&
                   def->may_watch(def->context, token);
        }
    }
    return false;
}

static bool is_own_page(const HttpDef *def, const Handshake *handshake) {
    const char *scheme = def->tls.certificate != NULL ? "https://" : "http://";
    const size_t scheme_bytes = strlen(scheme);
    return handshake->host[0] != '\0' && strncmp(handshake->origin, scheme, scheme_bytes) == 0 &&
           strcasecmp(handshake->origin + scheme_bytes, handshake->host) == 0 &&
           host_is_ours(def, handshake->host);
}

unsigned handshake_judge(const HttpDef *def, const Handshake *handshake, FILE *out) {
    if (strcmp(handshake->path, HANDSHAKE_PATH) != 0) {
        fputs("Worlds are watched at " HANDSHAKE_PATH "; no other path takes a WebSocket.\n", out);
        return HTTP_NOT_FOUND;
    }
    if (!is_ours(handshake->protocols)) {
        fputs("The first Sec-WebSocket-Protocol must be " HANDSHAKE_PROTOCOL ".\n", out);
        return HTTP_BAD_REQUEST;
    }
    if (def->demands_token && !shows_token(def, handshake->protocols)) {
        fputs("This server demands its token: offer the Sec-WebSocket-Protocol token.TOKEN as "
              "well, TOKEN in base64url without padding.\n",
              out);
        return HTTP_UNAUTHORIZED;
    }
    if (!def->demands_token && handshake->origin[0] != '\0' && !is_own_page(def, handshake)) {
        fputs("This page may not watch worlds without a token: open the page that the server "
              "itself shows (option --viewer), or give the server a --token-file.\n",
              out);
        return HTTP_FORBIDDEN;
    }
    if (!def->is_ready(def->context)) {
        fputs("The server is starting or being stopped.\n", out);
        return HTTP_UNAVAILABLE;
    }
    return 0;
}
