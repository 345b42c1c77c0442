// SPDX-License-Identifier: MIT
#include "support/net_client.h"

#include "support/machine.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_socket(int family, const void *address, socklen_t bytes, int receive_bytes) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval timeout = {.tv_sec = PATIENCE_MS / 1000};
    int on = 1;
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    if (receive_bytes > 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    if (connect(fd, address, bytes) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_to(const char *address, int receive_bytes) {
    if (strncmp(address, "unix:", 5) == 0) {
        struct sockaddr_un file = {.sun_family = AF_UNIX};
        strncpy(file.sun_path, address + 5, sizeof(file.sun_path) - 1);
        return connect_socket(AF_UNIX, &file, sizeof(file), receive_bytes);
    }
    uint16_t port = (uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10);
    if (address[0] == '[') {
        struct sockaddr_in6 v6 = {
            .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
        return connect_socket(AF_INET6, &v6, sizeof(v6), receive_bytes);
    }
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_socket(AF_INET, &v4, sizeof(v4), receive_bytes);
}

int net_client_connect(const char *address) {
    return connect_to(address, 0);
}

int net_client_connect_narrow(const char *address) {
    return connect_to(address, 4096);
}

bool net_client_write(int fd, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    while (count > 0) {
        ssize_t sent = send(fd, next, count, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        next += sent;
        count -= (size_t)sent;
    }
    return true;
}

static void store_length(uint8_t header[4], size_t body_bytes) {
    for (int i = 0; i < 4; i++) {
        header[i] = (uint8_t)(body_bytes >> (24 - 8 * i));
    }
}

bool net_client_send_frame(int fd, const void *body, size_t body_bytes) {
    uint8_t header[4];
    store_length(header, body_bytes);
    return net_client_write(fd, header, sizeof(header)) && net_client_write(fd, body, body_bytes);
}

bool net_client_read(int fd, void *bytes, size_t count) {
    uint8_t *next = bytes;
    while (count > 0) {
        ssize_t got = recv(fd, next, count, 0);
        if (got <= 0) {
            return false;
        }
        next += got;
        count -= (size_t)got;
    }
    return true;
}

long net_client_receive_frame(int fd, void *body, size_t capacity) {
    uint8_t header[4];
    if (!net_client_read(fd, header, sizeof(header))) {
        return -1;
    }
    size_t body_bytes =
        (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
    if (body_bytes > capacity || !net_client_read(fd, body, body_bytes)) {
        return -1;
    }
    return (long)body_bytes;
}
