// SPDX-License-Identifier: MIT
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int __attribute__((format(printf, 3, 4)))
refuse(MoreauError *error, MoreauStatus status, const char *format, ...) {
    error_clear(error);
    error->status = status;
    error->recoverable = status != MOREAU_INVALID_ARGUMENT;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return -1;
}

// Waits for a connect under way; 0 when connected, an errno otherwise.
static int finish_connect(int fd, int64_t give_up_ms) {
    for (;;) {
        int wait_ms = -1;
        if (give_up_ms >= 0) {
            int64_t left_ms = give_up_ms - client_now_ms();
            if (left_ms <= 0) {
                return ETIMEDOUT;
            }
            wait_ms = (int)left_ms;
        }
        struct pollfd entry = {fd, POLLOUT, 0};
        int ready = poll(&entry, 1, wait_ms);
        if (ready < 0 && errno != EINTR) {
            return errno;
        }
        if (ready > 0) {
            int failure = 0;
            socklen_t bytes = sizeof(failure);
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &bytes);
            return failure;
        }
    }
}

// Connects one socket; -1 with *failure set to an errno.
static int open_socket(const struct sockaddr *peer, socklen_t peer_bytes, int64_t give_up_ms,
                       int *failure) {
    int fd = socket(peer->sa_family, SOCK_STREAM, 0);
    if (fd < 0) {
        *failure = errno;
        return -1;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (peer->sa_family != AF_UNIX) {
        // requests are small and waited for: never hold one back to join it with the next
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }

    *failure = 0;
    if (connect(fd, peer, peer_bytes) != 0) {
        *failure = errno == EINPROGRESS || errno == EINTR ? finish_connect(fd, give_up_ms) : errno;
    }
    if (*failure != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_unix(const char *path, int64_t give_up_ms, MoreauError *error) {
    struct sockaddr_un peer = {.sun_family = AF_UNIX};
    if (path[0] == '\0' || strlen(path) >= sizeof(peer.sun_path)) {
        return refuse(error, MOREAU_INVALID_ARGUMENT,
                      "the path of a Unix socket must have 1 to %zu bytes",
                      sizeof(peer.sun_path) - 1);
    }
    memcpy(peer.sun_path, path, strlen(path) + 1); // its length was checked above
    int failure;
    int fd = open_socket((const struct sockaddr *)&peer, sizeof(peer), give_up_ms, &failure);
    if (fd < 0) {
        return refuse(error, failure == ETIMEDOUT ? MOREAU_DEADLINE_EXCEEDED : MOREAU_UNAVAILABLE,
                      "no connection to unix:%s (%s); is the server running?", path,
                      strerror(failure));
    }
    return fd;
}

// Cuts "host:port" or "[v6]:port" into its parts.
static bool split_address(const char *address, char *host, size_t host_bytes, const char **port) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon[1] == '\0') {
        return false;
    }
    const char *first = address;
    size_t count = (size_t)(colon - address);
    if (count >= 2 && first[0] == '[' && first[count - 1] == ']') {
        first++;
        count -= 2;
    } else if (memchr(first, ':', count) != NULL) {
        return false; // a bare v6 address: where its port starts cannot be told
    }
    if (count == 0 || count >= host_bytes) {
        return false;
    }
    memcpy(host, first, count);
    host[count] = '\0';
    *port = colon + 1;
    return true;
}

// Digits from 1 to 65535; fills `error` otherwise.
static bool check_port(const char *address, const char *port, MoreauError *error) {
    char *end;
    unsigned long number = strtoul(port, &end, 10); // ULONG_MAX when there are too many digits
    if (port[0] < '0' || port[0] > '9' || *end != '\0') {
        refuse(error, MOREAU_INVALID_ARGUMENT,
               "the port of \"%s\" is no number; write host:port, as 127.0.0.1:7667", address);
        return false;
    }
    if (number < 1 || number > UINT16_MAX) {
        refuse(error, MOREAU_INVALID_ARGUMENT,
               "\"%s\" has no such port: ports begin at 1 and end at %d", address, UINT16_MAX);
        return false;
    }
    return true;
}

static int connect_tcp(const char *address, int64_t give_up_ms, MoreauError *error) {
    char host[256];
    const char *port;
    if (!split_address(address, host, sizeof(host), &port)) {
        return refuse(
            error, MOREAU_INVALID_ARGUMENT,
            "\"%s\" is no address; write host:port, [v6]:port, tls://host:port or unix:PATH",
            address);
    }
    if (!check_port(address, port, error)) {
        return -1;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found;
    int lookup = getaddrinfo(host, port, &hints, &found);
    if (lookup != 0) {
        return refuse(error, MOREAU_UNAVAILABLE, "cannot look up %s: %s", address,
                      gai_strerror(lookup));
    }

    int failure = ENOENT;
    int fd = -1;
    for (const struct addrinfo *each = found; each != NULL && fd < 0; each = each->ai_next) {
        fd = open_socket(each->ai_addr, each->ai_addrlen, give_up_ms, &failure);
    }
    freeaddrinfo(found);
    if (fd < 0) {
        return refuse(error, failure == ETIMEDOUT ? MOREAU_DEADLINE_EXCEEDED : MOREAU_UNAVAILABLE,
                      "no connection to %s (%s); is the server running there?", address,
                      strerror(failure));
    }
    return fd;
}

int address_connect(const char *address, int64_t give_up_ms, MoreauError *error) {
    if (address == NULL) {
        return refuse(error, MOREAU_INVALID_ARGUMENT, "no address was given");
    }
    if (strncmp(address, "unix:", 5) == 0) {
        return connect_unix(address + 5, give_up_ms, error);
    }
    return connect_tcp(address, give_up_ms, error);
}
