// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // strcasestr
#include "cli/view/page_server.h"

#include "cli/base/interrupt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REQUEST_BYTES = 8192, PIECE_BYTES = 65536, PATIENCE_S = 10 };

// What a request is answered with.
typedef struct Answer {
    const char *status, *type;
    uint64_t first, count, whole; // bytes of the file or of the page
    bool is_part;
} Answer;

static bool send_all(int peer, const char *bytes, size_t count) {
    while (count > 0) {
        const ssize_t sent = send(peer, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent, count -= (size_t)sent;
    }
    return true;
}

static void send_head(int peer, const Answer *answer) {
    char head[512], range[96] = "";
    if (answer->is_part) {
        snprintf(range, sizeof(range),
                 "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", answer->first,
                 answer->first + answer->count - 1, answer->whole);
    }
    const int bytes =
        snprintf(head, sizeof(head),
                 "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %" PRIu64 "\r\n%s"
                 "Accept-Ranges: bytes\r\nCache-Control: no-store\r\n"
                 "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
                 answer->status, answer->type, answer->count, range);
    send_all(peer, head, (size_t)bytes);
}

static void send_file(int peer, int file, uint64_t first, uint64_t count) {
    static char piece[PIECE_BYTES];
    while (count > 0) {
        const size_t wanted = count < PIECE_BYTES ? (size_t)count : PIECE_BYTES;
        const ssize_t got = pread(file, piece, wanted, (off_t)first);
        if (got <= 0 || !send_all(peer, piece, (size_t)got)) {
            return;
        }
        first += (uint64_t)got, count -= (uint64_t)got;
    }
}

// "bytes=5-9" or "bytes=5-"; other ranges are answered with everything, as they may be.
static bool take_range(const char *request, Answer *answer) {
    const char *field = strcasestr(request, "\r\nrange: bytes=");
    if (field == NULL) {
        return true;
    }
    char *end;
    const char *text = strchr(field, '=') + 1;
    const uint64_t first = strtoull(text, &end, 10);
    if (end == text || *end != '-') {
        return true;
    }
    const char *behind = end + 1;
    uint64_t last = strtoull(behind, &end, 10);
    last = end == behind || last >= answer->whole ? answer->whole - 1 : last;
    if (first >= answer->whole || last < first) {
        return false;
    }
    answer->status = "206 Partial Content";
    answer->is_part = true;
    answer->first = first;
    answer->count = last - first + 1;
    return true;
}

// The name in a page's address is of whoever made it: one of another host is none of ours.
static bool is_for_us(const PageServer *server, const char *request) {
    const char *field = strcasestr(request, "\r\nhost: ");
    const size_t bytes = strlen(server->host);
    return field != NULL && strncmp(field + 8, server->host, bytes) == 0 &&
           field[8 + bytes] == '\r';
}

static void answer_request(const PageServer *server, int peer, const char *request) {
    Answer answer = {.status = "404 Not Found", .type = "text/plain"};
    const bool is_head = strncmp(request, "HEAD ", 5) == 0;
    const char *path = is_head ? request + 5 : strncmp(request, "GET ", 4) == 0 ? request + 4 : "";
    const size_t key = strlen(server->key);
    const bool is_known = is_for_us(server, request) && path[0] == '/' &&
                          strncmp(path + 1, server->key, key) == 0 && path[1 + key] == '/';
    const char *name = is_known ? path + key + 2 : "?";
    const bool is_page = name[0] == ' ', is_file = strncmp(name, "episode.db ", 11) == 0;
    struct stat info = {0};
    if (is_page) {
        answer = (Answer){"200 OK", "text/html; charset=utf-8", 0, server->page->count, 0, false};
    } else if (is_file && fstat(server->file, &info) == 0) {
        answer = (Answer){
            "200 OK", "application/octet-stream", 0, (uint64_t)info.st_size, (uint64_t)info.st_size,
            false};
        if (!take_range(request, &answer)) {
            answer = (Answer){.status = "416 Range Not Satisfiable", .type = "text/plain"};
        }
    }
    send_head(peer, &answer);
    if (is_page && !is_head) {
        send_all(peer, server->page->text, server->page->count);
    } else if (is_file && !is_head) {
        send_file(peer, server->file, answer.first, answer.count);
    }
}

// One request a connection, each in a process of its own: browsers open some that they never use.
static void serve(const PageServer *server, int peer) {
    static char request[REQUEST_BYTES];
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    size_t count = 0;
    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    while (strstr(request, "\r\n\r\n") == NULL) {
        const ssize_t got = recv(peer, request + count, REQUEST_BYTES - 1 - count, 0);
        if (got <= 0) {
            return;
        }
        count += (size_t)got;
        request[count] = '\0';
    }
    answer_request(server, peer, request);
}

static bool make_key(char key[33]) {
    uint8_t bytes[16];
    FILE *random = fopen("/dev/urandom", "rb");
    const bool is_made = random != NULL && fread(bytes, 1, sizeof(bytes), random) == sizeof(bytes);
    if (random != NULL) {
        fclose(random);
    }
    for (size_t i = 0; is_made && i < sizeof(bytes); i++) {
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    }
    return is_made;
}

static bool listen_here(PageServer *server) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(at);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&at, bytes) != 0 ||
        listen(server->listener, SOMAXCONN) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&at, &bytes) != 0) {
        return false;
    }
    snprintf(server->host, sizeof(server->host), "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    return true;
}

int page_server_open(Cli *cli, const Page *page, const char *path, PageServer *server) {
    *server = (PageServer){.listener = -1, .page = page};
    server->file = open(path, O_RDONLY | O_CLOEXEC);
    if (server->file < 0 || !make_key(server->key) || !listen_here(server)) {
        const int why = errno;
        page_server_close(server);
        return cli_fail(cli, EXIT_REFUSED, "cannot serve %s: %s", path, strerror(why));
    }
    snprintf(server->address, sizeof(server->address), "http://%s/%s/", server->host, server->key);
    return EXIT_DONE;
}

void page_server_run(const PageServer *server) {
    interrupt_catch();
    signal(SIGCHLD, SIG_IGN); // none is waited for
    while (!interrupt_wanted()) {
        struct pollfd comes = {.fd = server->listener, .events = POLLIN};
        if (poll(&comes, 1, 200) <= 0) {
            continue;
        }
        const int peer = accept(server->listener, NULL, NULL);
        if (peer >= 0 && fork() == 0) {
            serve(server, peer);
            _exit(0);
        }
        if (peer >= 0) {
            close(peer);
        }
    }
}

void page_server_close(PageServer *server) {
    if (server->listener >= 0) {
        close(server->listener);
    }
    if (server->file >= 0) {
        close(server->file);
    }
}
