// SPDX-License-Identifier: MIT
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

static const char unix_prefix[] = "unix:";

enum { UNIX_PREFIX_BYTES = sizeof(unix_prefix) - 1 };

static Status parse_unix(const char *path, Address *address, Error *error) {
    struct sockaddr_un socket = {.sun_family = AF_UNIX};
    size_t bytes = strlen(path);
    if (bytes == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "listen",
                         "unix: needs the path of a socket file behind it.");
    }
    if (bytes >= sizeof(socket.sun_path)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "listen",
                         "The path of a Unix socket has at most %zu bytes; this one has %zu.",
                         sizeof(socket.sun_path) - 1, bytes);
    }
    memcpy(socket.sun_path, path, bytes + 1);
    memcpy(&address->socket, &socket, sizeof(socket));
    address->socket_bytes = sizeof(socket);
    return STATUS_OK;
}

// Only digits; PORT_NONE otherwise, and PORT_BEYOND above 65535.
enum { PORT_NONE = -1, PORT_BEYOND = UINT16_MAX + 1 };

static int parse_port(const char *text) {
    size_t count = strspn(text, "0123456789");
    if (count == 0 || text[count] != '\0') {
        return PORT_NONE;
    }
    int port = 0;
    for (size_t i = 0; i < count && port < PORT_BEYOND; i++) {
        port = 10 * port + (text[i] - '0');
    }
    return port < PORT_BEYOND ? port : PORT_BEYOND;
}

static bool fill_ipv4(const char *host, uint16_t port, Address *address) {
    struct sockaddr_in socket = {.sin_family = AF_INET, .sin_port = htons(port)};
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    if (inet_pton(AF_INET, number, &socket.sin_addr) != 1) {
        return false;
    }
    memcpy(&address->socket, &socket, sizeof(socket));
    address->socket_bytes = sizeof(socket);
    return true;
}

static bool fill_ipv6(const char *host, uint16_t port, Address *address) {
    struct sockaddr_in6 socket = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET6, host, &socket.sin6_addr) != 1) {
        return false;
    }
    memcpy(&address->socket, &socket, sizeof(socket));
    address->socket_bytes = sizeof(socket);
    return true;
}

Status address_parse(const char *text, Address *address, Error *error) {
    if (strncmp(text, unix_prefix, UNIX_PREFIX_BYTES) == 0) {
        return parse_unix(text + UNIX_PREFIX_BYTES, address, error);
    }
    const char *colon = strrchr(text, ':');
    int port = colon == NULL ? PORT_NONE : parse_port(colon + 1);
    if (port == PORT_BEYOND) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "listen",
                         "'%s' has no such port: ports end at %d.", text, UINT16_MAX);
    }
    if (port == PORT_NONE) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "listen",
                         "'%s' has no port: write host:port, [v6]:port or unix:PATH.", text);
    }
    // the host, without the brackets of IPv6
    bool is_bracketed = text[0] == '[' && colon - text >= 2 && colon[-1] == ']';
    const char *begin = is_bracketed ? text + 1 : text;
    size_t bytes = (size_t)(colon - begin) - (is_bracketed ? 1 : 0);
    char host[INET6_ADDRSTRLEN] = "";
    if (bytes < sizeof(host)) {
        memcpy(host, begin, bytes);
    }
    bool is_known = is_bracketed ? fill_ipv6(host, (uint16_t)port, address)
                                 : fill_ipv4(host, (uint16_t)port, address);
    if (!is_known) {
        return error_set(
            error, STATUS_INVALID_ARGUMENT, "listen",
            "'%s' is no address: write a numeric host, as 127.0.0.1:7667 or [::1]:7667, "
            "localhost:port, or unix:PATH.",
            text);
    }
    return STATUS_OK;
}

bool address_is_loopback(const Address *address) {
    if (address->socket.ss_family == AF_INET) {
        const struct sockaddr_in *socket = (const struct sockaddr_in *)&address->socket;
        return ntohl(socket->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (address->socket.ss_family == AF_INET6) {
        const struct sockaddr_in6 *socket = (const struct sockaddr_in6 *)&address->socket;
        return IN6_IS_ADDR_LOOPBACK(&socket->sin6_addr);
    }
    return true;
}

void address_print(const Address *address, char text[ADDRESS_TEXT_BYTES]) {
    char host[INET6_ADDRSTRLEN];
    if (address->socket.ss_family == AF_INET) {
        const struct sockaddr_in *socket = (const struct sockaddr_in *)&address->socket;
        inet_ntop(AF_INET, &socket->sin_addr, host, sizeof(host));
        snprintf(text, ADDRESS_TEXT_BYTES, "%s:%u", host, (unsigned)ntohs(socket->sin_port));
    } else if (address->socket.ss_family == AF_INET6) {
        const struct sockaddr_in6 *socket = (const struct sockaddr_in6 *)&address->socket;
        inet_ntop(AF_INET6, &socket->sin6_addr, host, sizeof(host));
        snprintf(text, ADDRESS_TEXT_BYTES, "[%s]:%u", host, (unsigned)ntohs(socket->sin6_port));
    } else {
        const struct sockaddr_un *socket = (const struct sockaddr_un *)&address->socket;
        bool has_path = address->socket_bytes > offsetof(struct sockaddr_un, sun_path) &&
                        socket->sun_path[0] != '\0';
        snprintf(text, ADDRESS_TEXT_BYTES, has_path ? "unix:%s" : "unix", socket->sun_path);
    }
}
