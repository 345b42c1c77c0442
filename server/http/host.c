// SPDX-License-Identifier: MIT
#include "http/host.h"

#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 256 };

static bool is_port(const char *text) {
    return text[0] == '\0' ||
           (text[0] == ':' && strspn(text + 1, "0123456789") == strlen(text + 1));
}

// Of "[v6]:port", the address.
static bool is_bracketed(const char *host) {
    char address[NAME_BYTES];
    struct in6_addr v6;
    const char *end = strchr(host, ']');
    const size_t bytes = end == NULL ? 0 : (size_t)(end - host - 1);
    if (end == NULL || bytes >= sizeof(address) || !is_port(end + 1)) {
        return false;
    }
    memcpy(address, host + 1, bytes);
    address[bytes] = '\0';
    return uv_inet_pton(AF_INET6, address, &v6) == 0;
}

// A name may end in the dot that makes it whole.
static bool is_same_name(const char *name, size_t bytes, const char *ours) {
    const size_t length = strlen(ours);
    return (bytes == length || (bytes == length + 1 && name[length] == '.')) &&
           strncasecmp(name, ours, length) == 0;
}

bool host_is_ours(const HttpDef *def, const char *host) {
    if (host[0] == '\0' || def->takes_any_host) {
        return true;
    }
    if (host[0] == '[') {
        return is_bracketed(host);
    }
    char name[NAME_BYTES];
    struct in_addr v4;
    const size_t bytes = strcspn(host, ":");
    if (bytes >= sizeof(name) || !is_port(host + bytes)) {
        return false;
    }
    memcpy(name, host, bytes);
    name[bytes] = '\0';
    bool is_ours = uv_inet_pton(AF_INET, name, &v4) == 0 || is_same_name(name, bytes, "localhost");
    for (size_t i = 0; i < def->name_count && !is_ours; i++) {
        is_ours = is_same_name(name, bytes, def->name[i]);
    }
    return is_ours;
}
