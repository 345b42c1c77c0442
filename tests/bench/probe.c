// SPDX-License-Identifier: MIT
#include "bench/probe.h"

#include "bench/bench.h"

#include "moreau.h"
#include "moreau.pb-c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEADER_BYTES = 4 };

// ---- sockets

static int connect_local(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        bench_fail("cannot connect to %s", path);
    }
    return fd;
}

static int connect_tcp(const char *text) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(text, ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
        bench_fail("cannot connect to %s", text);
    }
    return fd;
}

ProbeFrame probe_frame(const Moreau__V1__Request *request) {
    size_t size = moreau__v1__request__get_packed_size(request);
    ProbeFrame frame = {bench_memory(HEADER_BYTES + size, 1), HEADER_BYTES + size};
    uint32_t header = htonl((uint32_t)size);
    memcpy(frame.bytes, &header, HEADER_BYTES);
    moreau__v1__request__pack(request, frame.bytes + HEADER_BYTES);
    return frame;
}

static void greet(Probe *probe) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = 1;
    request.id = 1;
    request.call_case = MOREAU__V1__REQUEST__CALL_HELLO;
    request.hello = &hello;
    ProbeFrame frame = probe_frame(&request);
    const uint8_t *body;
    probe_exchange(probe, &frame, &body);
    free(frame.bytes);
}

Probe probe_open(const char *address, int greets) {
    int is_local = strncmp(address, "unix:", 5) == 0;
    Probe probe = {.fd = is_local ? connect_local(address + 5) : connect_tcp(address),
                   .input = bench_memory(PROBE_INPUT_BYTES, 1)};
    if (greets) {
        greet(&probe);
    }
    return probe;
}

void probe_close(Probe *probe) {
    close(probe->fd);
    free(probe->input);
}

// ---- frames

void probe_send(const Probe *probe, const uint8_t *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        ssize_t part = send(probe->fd, bytes + sent, count - sent, MSG_NOSIGNAL);
        if (part < 0) {
            bench_fail("the connection is lost");
        }
        sent += (size_t)part;
    }
}

static size_t frame_bytes(const uint8_t *bytes) {
    uint32_t header;
    memcpy(&header, bytes, HEADER_BYTES);
    return HEADER_BYTES + (size_t)ntohl(header);
}

static void read_once(Probe *probe) {
    ssize_t count = recv(probe->fd, probe->input + probe->input_bytes,
                         PROBE_INPUT_BYTES - probe->input_bytes, 0);
    if (count <= 0) {
        bench_fail("the connection is lost");
    }
    probe->input_bytes += (size_t)count;
}

size_t probe_receive(Probe *probe) {
    read_once(probe);
    size_t frames = 0, used = 0;
    while (probe->input_bytes - used >= HEADER_BYTES &&
           probe->input_bytes - used >= frame_bytes(probe->input + used)) {
        used += frame_bytes(probe->input + used);
        frames++;
    }
    probe->input_bytes -= used;
    memmove(probe->input, probe->input + used, probe->input_bytes);
    return frames;
}

size_t probe_exchange(Probe *probe, const ProbeFrame *request, const uint8_t **body) {
    probe_send(probe, request->bytes, request->count);
    do {
        read_once(probe);
    } while (probe->input_bytes < HEADER_BYTES || probe->input_bytes < frame_bytes(probe->input));
    probe->input_bytes = 0; // one answer to one question: nothing follows it
    *body = probe->input + HEADER_BYTES;
    return frame_bytes(probe->input) - HEADER_BYTES;
}

static ProbeFrame step_frame(uint64_t id, size_t count, const uint64_t *worlds, bool reports) {
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    step.n_worlds = count;
    step.worlds = (uint64_t *)worlds;
    step.has_reports = !reports;
    step.reports = reports;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = 1;
    request.id = id;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    request.world_step = &step;
    return probe_frame(&request);
}

ProbeFrame probe_step_frame(uint64_t id, uint64_t world, bool reports) {
    return step_frame(id, 1, &world, reports);
}

ProbeFrame probe_batch_frame(size_t count, const uint64_t *worlds, bool reports) {
    return step_frame(2, count, worlds, reports);
}

ProbeFrame probe_get_frame(uint64_t world) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = 1;
    request.id = 2;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_GET;
    request.world_get = &get;
    return probe_frame(&request);
}

ProbeFrame probe_echo_frame(size_t count, size_t reply_body_bytes) {
    ProbeFrame frame = {bench_memory(count, 1), count};
    uint32_t header = htonl((uint32_t)(count - HEADER_BYTES));
    uint32_t reply = htonl((uint32_t)reply_body_bytes);
    memcpy(frame.bytes, &header, HEADER_BYTES);
    memcpy(frame.bytes + HEADER_BYTES, &reply, sizeof(reply));
    return frame;
}

// ---- worlds

static void add_spheres(MoreauClient *client, uint64_t world, size_t count) {
    const uint32_t kind = MOREAU_SPHERE;
    const double size[3] = {0.05, 0.0, 0.0};
    MoreauShapes shapes = {.count = 1, .primitive_total = 1, .kind = &kind, .size = size};
    uint64_t shape = 0;
    if (moreau_world_add_shapes(client, world, &shapes, &shape) != MOREAU_OK) {
        bench_fail("%s", moreau_error(client)->message);
    }
    double *pose = bench_memory(7 * count, sizeof(double));
    uint64_t *shape_of = bench_memory(count, sizeof(uint64_t));
    for (size_t i = 0; i < count; i++) {
        const double start[7] = {(double)i, 0.1 * (double)i, 1.0, 1.0, 0.0, 0.0, 0.0};
        memcpy(pose + 7 * i, start, sizeof(start));
        shape_of[i] = shape;
    }
    MoreauBodies bodies = {.count = count, .pose = pose, .shape = shape_of};
    if (moreau_world_add_bodies(client, world, &bodies, NULL) != MOREAU_OK) {
        bench_fail("%s", moreau_error(client)->message);
    }
    free(pose);
    free(shape_of);
}

uint64_t probe_world_of(MoreauClient *client, size_t count) {
    MoreauWorldDef def = moreau_world_def_default();
    def.lifetime = MOREAU_LIFETIME_SERVER;
    uint64_t world = 0;
    if (moreau_world_create(client, &def, &world) != MOREAU_OK) {
        bench_fail("%s", moreau_error(client)->message);
    }
    if (count > 0) {
        add_spheres(client, world, count);
    }
    return world;
}

uint64_t probe_world(const char *address, size_t count) {
    MoreauClient *client;
    MoreauError error;
    if (moreau_connect(address, NULL, &client, &error) != MOREAU_OK) {
        bench_fail("%s", error.message);
    }
    const uint64_t world = probe_world_of(client, count);
    moreau_disconnect(client);
    return world;
}
