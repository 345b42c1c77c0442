// SPDX-License-Identifier: MIT
#include "net/listener.h"

#include "base/assert.h"
#include "net/address.h"
#include "net/connection_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };         // a farm's clients all come at once
enum { ACCEPTS_PER_EVENT = 64 }; // then others have their turn

struct Listener {
    ListenerDef def;
    int fd;
    int spare_fd; // given up to accept, and refuse, one connection when the process has no
                  // descriptors left; -1: none
    uv_poll_t poll;
    char address[ADDRESS_TEXT_BYTES];
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; // "": TCP
    dev_t device; // of the socket file, so that only our own is removed
    ino_t inode;
};

// ---- sockets of whoever started the process

static const char inherited_prefix[] = "fd:";

static bool is_inherited(const char *text) {
    return strncmp(text, inherited_prefix, sizeof(inherited_prefix) - 1) == 0;
}

static int socket_option(int fd, int name) {
    int value = -1;
    socklen_t bytes = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
}

// The descriptor behind fd:N and the address that it is bound to.
static Status find_inherited(const char *text, int *fd, Address *address, Error *error) {
    const char *digits = text + sizeof(inherited_prefix) - 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 6 || digits[count] != '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, "listen",
                         "'%s' names no descriptor: write fd: and its number, as fd:3.", text);
    }
    int number = (int)strtol(digits, NULL, 10);
    Address bound = {.socket_bytes = sizeof(bound.socket)};
    if (socket_option(number, SO_ACCEPTCONN) != 1 ||
        socket_option(number, SO_TYPE) != SOCK_STREAM ||
        getsockname(number, (struct sockaddr *)&bound.socket, &bound.socket_bytes) != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "listen",
                         "%s is no stream socket that listens: let whoever starts the server open "
                         "it, as a systemd socket unit does.",
                         text);
    }
    *fd = number;
    *address = bound;
    return STATUS_OK;
}

Status listener_check(const char *text, bool *is_loopback, Error *error) {
    Address address = {0};
    int fd;
    Status status = is_inherited(text) ? find_inherited(text, &fd, &address, error)
                                       : address_parse(text, &address, error);
    if (status == STATUS_OK) {
        *is_loopback = address_is_loopback(&address);
    }
    return status;
}

const char *listener_address(const Listener *listener) {
    return listener->address;
}

// ---- accepting

static int open_spare(void) {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void set_option(int fd, int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof(value));
}

static void prepare_socket(int fd, int family) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (family == AF_UNIX) {
        return;
    }
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    // a peer that lost its power or its network says no good-bye
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
}

// Without a free descriptor the connection would stay in the backlog and the loop would spin on it:
// it is taken with the spare one and closed, so that the peer learns of it.
static bool shed_connection(Listener *listener) {
    if (listener->spare_fd < 0) {
        return false;
    }
    close(listener->spare_fd);
    int fd = accept(listener->fd, NULL, NULL);
    if (fd >= 0) {
        listener->def.refused(listener->def.context, fd, listener->address);
    }
    listener->spare_fd = open_spare();
    return fd >= 0;
}

// false: no connection waits
static bool accept_connection(Listener *listener) {
    Address peer = {.socket_bytes = sizeof(peer.socket)};
    int fd = accept(listener->fd, (struct sockaddr *)&peer.socket, &peer.socket_bytes);
    if (fd < 0) {
        bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
        return is_short ? shed_connection(listener) : errno == EINTR || errno == ECONNABORTED;
    }
    char name[ADDRESS_TEXT_BYTES];
    address_print(&peer, name);
    prepare_socket(fd, peer.socket.ss_family);
    listener->def.accepted(listener->def.context, fd, name);
    return true;
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    Listener *listener = poll->data;
    (void)events;
    if (status < 0) {
        report_line(listener->def.report, REPORT_ERROR, "listener_failed", "address=%s why=%s",
                    listener->address, uv_strerror(status));
        return;
    }
    for (int i = 0; i < ACCEPTS_PER_EVENT && listener->fd >= 0 && accept_connection(listener);
         i++) {
    }
}

// ---- opening

static Status fail(const char *text, int error_number, Error *error) {
    return error_set(error, STATUS_UNAVAILABLE, "listen", "Cannot listen on %s: %s.", text,
                     strerror(error_number));
}

// Is somebody accepting on this socket file?
static bool is_live(const struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return true; // not known: then it is left alone
    }
    // a full backlog (EAGAIN) is a live server too
    bool refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
                   errno == ECONNREFUSED;
    close(fd);
    return !refused;
}

// Removes what a server that died left behind.
static Status remove_stale(const struct sockaddr_un *address, Error *error) {
    struct stat status;
    if (lstat(address->sun_path, &status) != 0) {
        return STATUS_OK; // gone meanwhile
    }
    if (!S_ISSOCK(status.st_mode)) {
        return error_set(error, STATUS_ALREADY_EXISTS, "listen",
                         "%s exists and is no socket; it is left as it is.", address->sun_path);
    }
    if (is_live(address)) {
        return error_set(error, STATUS_ALREADY_EXISTS, "listen",
                         "Another server listens on unix:%s.", address->sun_path);
    }
    if (unlink(address->sun_path) != 0 && errno != ENOENT) {
        return fail(address->sun_path, errno, error);
    }
    return STATUS_OK;
}

static Status bind_unix(Listener *listener, const Address *address, const char *text,
                        Error *error) {
    const struct sockaddr *socket = (const struct sockaddr *)&address->socket;
    const struct sockaddr_un *file = (const struct sockaddr_un *)socket;
    // set before bind, so that there is no moment in which others may connect (Linux gives the file
    // the socket's own mode)
    if (fchmod(listener->fd, S_IRUSR | S_IWUSR) != 0) {
        return fail(text, errno, error);
    }
    if (bind(listener->fd, socket, address->socket_bytes) != 0) {
        if (errno != EADDRINUSE) {
            return fail(text, errno, error);
        }
        Status status = remove_stale(file, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (bind(listener->fd, socket, address->socket_bytes) != 0) {
            return fail(text, errno, error);
        }
    }
    memcpy(listener->path, file->sun_path, sizeof(listener->path));
    struct stat status;
    if (stat(listener->path, &status) == 0) {
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
    }
    return STATUS_OK;
}

static Status bind_tcp(Listener *listener, const Address *address, const char *text, Error *error) {
    int on = 1;
    // a server that starts again does not wait for its old connections to time out
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener->fd, (const struct sockaddr *)&address->socket, address->socket_bytes) != 0) {
        return fail(text, errno, error);
    }
    return STATUS_OK;
}

static void remove_file(const Listener *listener) {
    struct stat status;
    bool is_ours = listener->path[0] != '\0' && lstat(listener->path, &status) == 0 &&
                   status.st_dev == listener->device && status.st_ino == listener->inode;
    if (is_ours) {
        unlink(listener->path);
    }
}

// Polls a socket that listens, and finds out its address.
static Status watch(Listener *listener, const char *text, Error *error) {
    Address bound = {.socket_bytes = sizeof(bound.socket)};
    if (getsockname(listener->fd, (struct sockaddr *)&bound.socket, &bound.socket_bytes) != 0) {
        return fail(text, errno, error);
    }
    address_print(&bound, listener->address);
    int result = uv_poll_init(listener->def.loop, &listener->poll, listener->fd);
    if (result != 0) {
        return fail(text, -result, error);
    }
    listener->poll.data = listener;
    uv_poll_start(&listener->poll, UV_READABLE, on_poll);
    return STATUS_OK;
}

static Status open_socket(Listener *listener, const char *text, Error *error) {
    Address address = {0};
    Status status = address_parse(text, &address, error);
    if (status != STATUS_OK) {
        return status;
    }
    int family = address.socket.ss_family;
    listener->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0) {
        return fail(text, errno, error);
    }
    status = family == AF_UNIX ? bind_unix(listener, &address, text, error)
                               : bind_tcp(listener, &address, text, error);
    if (status == STATUS_OK && listen(listener->fd, BACKLOG) != 0) {
        status = fail(text, errno, error);
    }
    return status;
}

static Status take_socket(Listener *listener, const char *text, Error *error) {
    Address address;
    Status status = find_inherited(text, &listener->fd, &address, error);
    if (status == STATUS_OK) {
        fcntl(listener->fd, F_SETFD, FD_CLOEXEC);
    }
    return status;
}

Status listener_open_for(const ListenerDef *def, const char *text, Listener **result,
                         Error *error) {
    Listener *listener = calloc(1, sizeof(*listener));
    if (listener == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "listen", "No memory for a listener.");
    }
    listener->def = *def;
    listener->spare_fd = -1;
    listener->fd = -1;
    Status status = is_inherited(text) ? take_socket(listener, text, error)
                                       : open_socket(listener, text, error);
    status = STATUS_THEN(status, watch(listener, text, error));
    if (status != STATUS_OK) {
        remove_file(listener);
        if (listener->fd >= 0) {
            close(listener->fd);
        }
        free(listener);
        return status;
    }
    listener->spare_fd = open_spare();
    *result = listener;
    return STATUS_OK;
}

static void accepted_by_net(void *context, int fd, const char *peer) {
    net_adopt(context, fd, peer, false);
}

static void refused_by_net(void *context, int fd, const char *peer) {
    net_refuse(context, fd, peer, NET_REFUSAL_DESCRIPTORS);
}

Status listener_open(Net *net, const char *text, Listener **listener, Error *error) {
    ListenerDef def = {.loop = net->loop,
                       .report = net->def.report,
                       .accepted = accepted_by_net,
                       .refused = refused_by_net,
                       .context = net};
    return listener_open_for(&def, text, listener, error);
}

// ---- closing

static void on_closed(uv_handle_t *handle) {
    free(handle->data);
}

void listener_close(Listener *listener) {
    if (listener == NULL || listener->fd < 0) {
        return;
    }
    remove_file(listener);
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    close(listener->fd);
    listener->fd = -1;
    if (listener->spare_fd >= 0) {
        close(listener->spare_fd);
    }
}
