// SPDX-License-Identifier: MIT
// The set of connections, and the one way for other threads to wake the loop.
#include "net/connection_parts.h"

#include "base/assert.h"

#include <stdlib.h>
#include <unistd.h>

void net_wake(Net *net, Connection *connection) {
    uv_mutex_lock(&net->wake_mutex);
    bool is_first = net->woken == NULL;
    if (!connection->is_woken) {
        connection->is_woken = true;
        connection->woken_next = net->woken;
        net->woken = connection;
    }
    uv_mutex_unlock(&net->wake_mutex);
    if (is_first) {
        uv_async_send(&net->async);
    }
}

static bool unlink_woken(Connection **link, const Connection *connection) {
    while (*link != NULL && *link != connection) {
        link = &(*link)->woken_next;
    }
    bool found = *link != NULL;
    if (found) {
        *link = connection->woken_next;
    }
    return found;
}

void net_unwake(Net *net, Connection *connection) {
    uv_mutex_lock(&net->wake_mutex);
    if (connection->is_woken && !unlink_woken(&net->woken, connection)) {
        unlink_woken(&net->attended, connection);
    }
    connection->is_woken = false;
    uv_mutex_unlock(&net->wake_mutex);
}

static void take_all_woken(Net *net) {
    uv_mutex_lock(&net->wake_mutex);
    net->attended = net->woken;
    net->woken = NULL;
    uv_mutex_unlock(&net->wake_mutex);
}

static Connection *take_attended(Net *net) {
    uv_mutex_lock(&net->wake_mutex);
    Connection *connection = net->attended;
    if (connection != NULL) {
        net->attended = connection->woken_next;
        connection->is_woken = false;
    }
    uv_mutex_unlock(&net->wake_mutex);
    return connection;
}

static void on_handle_closed(uv_handle_t *handle) {
    Net *net = handle->data;
    if (--net->handle_count > 0) {
        return;
    }
    void (*closed)(void *) = net->closed;
    void *context = net->closed_context;
    uv_mutex_destroy(&net->wake_mutex);
    tls_identity_free(net->def.tls.identity);
    free(net);
    if (closed != NULL) {
        closed(context);
    }
}

// Ends a closing net when nothing hangs on it any more.
static void finish_closing(Net *net) {
    if (net->is_closing && net->memory_count == 0 && !uv_is_closing((uv_handle_t *)&net->async)) {
        uv_close((uv_handle_t *)&net->async, on_handle_closed);
        uv_close((uv_handle_t *)&net->rate_timer, on_handle_closed);
    }
}

void net_forget(Net *net) {
    ASSERT(net->memory_count > net->open_count); // what is open is not free
    net->memory_count--;
    finish_closing(net);
}

// As much as a fresh socket takes at once, which is all of it.
static void tell_refused(const Net *net, int fd, NetRefusal refusal) {
    if (net->def.handlers.refused != NULL) {
        uint8_t frame[NET_REFUSAL_BYTES_MAX];
        size_t bytes = net->def.handlers.refused(net->def.context, refusal, frame);
        ASSERT(bytes <= sizeof(frame));
        ssize_t ignored = send(fd, frame, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)ignored; // a peer that is gone already does not want to know
    }
}

void net_refuse(Net *net, int fd, const char *peer, NetRefusal refusal) {
    static const char *const names[] = {[NET_REFUSAL_FULL] = "connections-max",
                                        [NET_REFUSAL_DESCRIPTORS] = "descriptors",
                                        [NET_REFUSAL_MEMORY] = "memory"};
    uint64_t key;
    if (secure_applies(net, fd, &key)) {
        secure_refuse(fd);
    } else {
        tell_refused(net, fd, refusal);
    }
    close(fd);
    net->refused_count++;
    // 1, 2, 4, 8 … so that a flood of connections is no flood of lines
    if ((net->refused_count & (net->refused_count - 1)) == 0) {
        report_line(net->def.report, REPORT_WARN, "connection_refused",
                    "peer=%s why=%s refused_count=%llu", peer, names[refusal],
                    (unsigned long long)net->refused_count);
    }
}

// ---- what all connections hold

void net_hold(Net *net, size_t before, size_t after) {
    atomic_fetch_add_explicit(&net->held_bytes, after - before, memory_order_relaxed);
}

bool net_holds_too_much(const Net *net) {
    return net->def.held_bytes_max > 0 &&
           atomic_load_explicit(&net->held_bytes, memory_order_relaxed) > net->def.held_bytes_max;
}

static size_t held_bytes(const Connection *connection) {
    return atomic_load(&connection->unsent_bytes) + connection->input_capacity +
           connection->kept_bytes + connection->tls_bytes + atomic_load(&connection->left_bytes);
}

static Connection *find_largest(const Net *net) {
    Connection *largest = NULL;
    for (Connection *connection = net->first; connection != NULL; connection = connection->next) {
        if (largest == NULL || held_bytes(connection) > held_bytes(largest)) {
            largest = connection;
        }
    }
    return largest;
}

static void cut_largest(Net *net) {
    for (Connection *largest; net_holds_too_much(net) && (largest = find_largest(net)) != NULL;) {
        net->slow_count++;
        report_line(net->def.report, REPORT_WARN, "connection_greedy",
                    "connection=%llu peer=%s held_bytes=%zu", (unsigned long long)largest->number,
                    largest->peer, held_bytes(largest));
        connection_cut(largest);
    }
}

static void on_async(uv_async_t *async) {
    Net *net = async->data;
    // who is woken meanwhile has to wait for the next turn, as others have
    take_all_woken(net);
    // one at a time: attending to one may close and free others of the list
    for (Connection *connection = take_attended(net); connection != NULL;
         connection = take_attended(net)) {
        connection_attend(connection);
    }
    cut_largest(net);
}

Status net_create(Net **result, uv_loop_t *loop, const NetDef *def, Error *error) {
    ASSERT(def->frame_bytes_max > 0 && def->connections_max > 0 && def->requests_max > 0);
    Net *net = calloc(1, sizeof(*net));
    if (net == NULL) {
        tls_identity_free(def->tls.identity);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "No memory for the network.");
    }
    net->def = *def;
    net->loop = loop;
    net->is_reading = true;
    net->async.data = net;
    int failed = uv_async_init(loop, &net->async, on_async);
    if (failed != 0) {
        tls_identity_free(def->tls.identity);
        free(net);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The network cannot watch its threads: %s.", uv_strerror(failed));
    }
    uv_unref((uv_handle_t *)&net
                 ->async); // connections and listeners keep the loop, not the way to wake it
    uv_timer_init(loop, &net->rate_timer);
    uv_unref((uv_handle_t *)&net->rate_timer);
    net->rate_timer.data = net;
    net->rate.per_s = def->tls.handshakes_per_s;
    net->handle_count = 2;
    uv_mutex_init(&net->wake_mutex);
    *result = net;
    return STATUS_OK;
}

void net_close(Net *net, void (*closed)(void *context), void *context) {
    ASSERT(!net->is_closing);
    ASSERT(net->open_count <= net->memory_count);
    net->is_closing = true;
    net->closed = closed;
    net->closed_context = context;
    uv_ref((uv_handle_t *)&net->async); // the loop stays until the last reference is released
    while (net->first != NULL) {
        connection_close(net->first);
    }
    finish_closing(net);
}

void net_stop_reading(Net *net) {
    net->is_reading = false;
    Connection *next = NULL;
    for (Connection *connection = net->first; connection != NULL; connection = next) {
        next = connection->next;
        connection_attend(connection);
    }
}

void net_adopt(Net *net, int fd, const char *peer, bool is_viewer) {
    connection_open(net, fd, peer, is_viewer);
}

NetStats net_stats(const Net *net) {
    return (NetStats){.connection_count = net->open_count,
                      .slow_count = net->slow_count,
                      .refused_count = net->refused_count,
                      .handshake_count = net->handshake_count,
                      .handshake_failed_count = net->handshake_failed_count,
                      .bytes_in = net->bytes_in,
                      .bytes_out = atomic_load_explicit(&net->bytes_out, memory_order_relaxed)};
}

void net_set_identity(Net *net, TlsIdentity *identity) {
    ASSERT(net->def.tls.identity != NULL && identity != NULL);
    tls_identity_free(net->def.tls.identity); // streams keep what they have of it
    net->def.tls.identity = identity;
}

size_t net_unsent_bytes(Net *net) {
    size_t sum = 0;
    for (const Connection *connection = net->first; connection != NULL;
         connection = connection->next) {
        sum += atomic_load(&connection->unsent_bytes);
    }
    return sum;
}
