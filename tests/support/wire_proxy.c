// SPDX-License-Identifier: MIT
#include "support/wire_proxy.h"

#include "support/net_client.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS_MAX = 64, PIECE_BYTES = 4096, LOOK_MS = 20 };

// The two ways of a connection.
enum { UP, DOWN, WAYS };

typedef enum CutKind { CUT_CLOSE, CUT_RESET, CUT_CLIENT, CUT_UP, CUT_COUNT } CutKind;

typedef struct Link {
    int client, server; // -1: closed
    size_t left[WAYS];  // bytes until the cut
    bool is_up_over;
} Link;

struct WireProxy {
    WireProxyDef def;
    int listener;
    char address[64];
    uint64_t drawn;
    Link link[LINKS_MAX];
    size_t link_count;
    atomic_uint cuts;
    atomic_bool is_stopping;
    pthread_t thread;
};

// splitmix64
static uint64_t draw(WireProxy *proxy) {
    uint64_t z = proxy->def.seed + ++proxy->drawn * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void close_socket(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static void reset_socket(int *fd) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    if (*fd >= 0) {
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    close_socket(fd);
}

static void cut(WireProxy *proxy, Link *link) {
    atomic_fetch_add(&proxy->cuts, 1);
    switch ((CutKind)(draw(proxy) % CUT_COUNT)) {
    case CUT_RESET:
        reset_socket(&link->client);
        reset_socket(&link->server);
        break;
    case CUT_CLIENT: // the server's side is closed when the links are needed again
        close_socket(&link->client);
        break;
    case CUT_UP:
        link->is_up_over = true;
        link->left[DOWN] += PIECE_BYTES;
        shutdown(link->server, SHUT_WR);
        break;
    default:
        close_socket(&link->client);
        close_socket(&link->server);
        break;
    }
}

static size_t draw_bytes(WireProxy *proxy, size_t bytes_max) {
    size_t most = draw(proxy) % 4 == 0 ? bytes_max / 4 : bytes_max;
    return 1 + (size_t)(draw(proxy) % most);
}

static void take_client(WireProxy *proxy) {
    if (proxy->link_count == LINKS_MAX) {
        for (size_t i = 0; i < LINKS_MAX; i++) {
            close_socket(&proxy->link[i].client);
            close_socket(&proxy->link[i].server);
        }
        proxy->link_count = 0;
    }
    Link *link = &proxy->link[proxy->link_count];
    *link = (Link){.client = accept(proxy->listener, NULL, NULL),
                   .server = net_client_connect(proxy->def.address)};
    link->left[UP] = draw_bytes(proxy, proxy->def.up_bytes_max);
    link->left[DOWN] = draw_bytes(proxy, proxy->def.down_bytes_max);
    proxy->link_count++;
}

// Passes on what has come on one way; the end of a stream ends both.
static void pass_on(WireProxy *proxy, Link *link, int way) {
    uint8_t piece[PIECE_BYTES];
    int from = way == UP ? link->client : link->server;
    int to = way == UP ? link->server : link->client;
    size_t most = link->left[way] < sizeof(piece) ? link->left[way] : sizeof(piece);
    ssize_t count = recv(from, piece, most, 0);
    if (count <= 0 || !net_client_write(to, piece, (size_t)count)) {
        close_socket(&link->client);
        close_socket(&link->server);
        return;
    }
    link->left[way] -= (size_t)count;
    if (link->left[way] == 0) {
        cut(proxy, link);
    }
}

static void look(WireProxy *proxy) {
    struct pollfd wait[1 + WAYS * LINKS_MAX];
    wait[0] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    size_t count = proxy->link_count;
    for (size_t i = 0; i < count; i++) {
        const Link *link = &proxy->link[i];
        bool is_whole = link->client >= 0 && link->server >= 0;
        wait[1 + WAYS * i + UP] = (struct pollfd){
            .fd = is_whole && !link->is_up_over ? link->client : -1, .events = POLLIN};
        wait[1 + WAYS * i + DOWN] =
            (struct pollfd){.fd = is_whole ? link->server : -1, .events = POLLIN};
    }
    if (poll(wait, 1 + WAYS * count, LOOK_MS) <= 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        Link *link = &proxy->link[i];
        for (int way = 0; way < WAYS; way++) {
            if (wait[1 + WAYS * i + (size_t)way].revents != 0 && link->client >= 0 &&
                link->server >= 0) {
                pass_on(proxy, link, way);
            }
        }
    }
    if (wait[0].revents != 0) {
        take_client(proxy);
    }
}

static void *run(void *context) {
    WireProxy *proxy = context;
    while (!atomic_load(&proxy->is_stopping)) {
        look(proxy);
    }
    return NULL;
}

WireProxy *wire_proxy_start(const WireProxyDef *def) {
    WireProxy *proxy = calloc(1, sizeof(*proxy));
    ck_assert_ptr_nonnull(proxy);
    proxy->def = *def;
    proxy->listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    ck_assert_int_eq(bind(proxy->listener, (struct sockaddr *)&address, bytes), 0);
    ck_assert_int_eq(listen(proxy->listener, LINKS_MAX), 0);
    ck_assert_int_eq(getsockname(proxy->listener, (struct sockaddr *)&address, &bytes), 0);
    snprintf(proxy->address, sizeof(proxy->address), "127.0.0.1:%u", ntohs(address.sin_port));
    ck_assert_int_eq(pthread_create(&proxy->thread, NULL, run, proxy), 0);
    return proxy;
}

const char *wire_proxy_address(const WireProxy *proxy) {
    return proxy->address;
}

unsigned wire_proxy_cuts(const WireProxy *proxy) {
    return atomic_load(&proxy->cuts);
}

void wire_proxy_stop(WireProxy *proxy) {
    atomic_store(&proxy->is_stopping, true);
    pthread_join(proxy->thread, NULL);
    for (size_t i = 0; i < proxy->link_count; i++) {
        close_socket(&proxy->link[i].client);
        close_socket(&proxy->link[i].server);
    }
    close(proxy->listener);
    free(proxy);
}
