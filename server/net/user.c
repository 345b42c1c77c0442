// SPDX-License-Identifier: MIT
// Who is at the other end of a Unix socket, as the kernel says.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): struct ucred
#include "net/connection_parts.h"

bool connection_user(const Connection *connection, uint32_t *uid) {
    struct sockaddr_storage address = {0};
    socklen_t address_bytes = sizeof(address);
    struct ucred user;
    socklen_t user_bytes = sizeof(user);
    if (connection->is_viewer || connection->state == CONNECTION_CLOSED ||
        getsockname(connection->fd, (struct sockaddr *)&address, &address_bytes) != 0 ||
        address.ss_family != AF_UNIX ||
        getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &user, &user_bytes) != 0) {
        return false;
    }
    *uid = user.uid;
    return true;
}
