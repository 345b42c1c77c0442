// SPDX-License-Identifier: MIT
#include "bench/peer_process.h"

#include "bench/bench.h"

#include <string.h>

#define X(upper, name) name,
static const char *const peer_names[] = {PEER_MAP(X)};
#undef X

static char engine_names[PEER_COUNT][PEER_NAME_BYTES]; // as they greeted last

static void send(PeerProcess *process, const void *data, size_t size, size_t count) {
    if (fwrite(data, size, count, process->child.to) != count) {
        bench_fail("the peer %s has ended", peer_names[process->index]);
    }
}

static void receive(PeerProcess *process, void *data, size_t size, size_t count) {
    if (fread(data, size, count, process->child.from) != count) {
        bench_fail("the peer %s has ended", peer_names[process->index]);
    }
}

static void flush(PeerProcess *process) {
    if (fflush(process->child.to) != 0) {
        bench_fail("the peer %s has ended", peer_names[process->index]);
    }
}

static PeerBody describe(const World *world, uint32_t index) {
    static const PeerKind kinds[] = {PEER_SPHERE, PEER_BOX, PEER_PLANE, PEER_CAPSULE};
    const Primitive *primitive = &world->primitive[world_body_shape(world, index)->primitive_first];
    PeerBody body = {.kind = kinds[primitive->kind], .mass = world->mass[index].mass};
    vec3_store(body.size, primitive->size);
    memcpy(body.pose, world->pose + 7 * (size_t)index, sizeof(body.pose));
    memcpy(body.velocity, world->velocity + 6 * (size_t)index, sizeof(body.velocity));
    return body;
}

static PeerJoint describe_joint(const Joint *joint) {
    if (joint->kind != JOINT_BALL || joint->body[0] == JOINT_NO_BODY || joint->collides) {
        bench_fail("peers know balls between two bodies that do not touch each other");
    }
    PeerJoint told = {.body = {joint->body[0], joint->body[1]}};
    vec3_store(told.anchor[0], joint->frame[0].position);
    vec3_store(told.anchor[1], joint->frame[1].position);
    return told;
}

static void send_scene(PeerProcess *process, const Scene *scene) {
    const World *world = scene->world;
    PeerScene head = {.magic = PEER_MAGIC,
                      .body_count = world->body_count,
                      .joint_count = world->joint_count,
                      .time_step = world->settings.time_step,
                      .friction = world->material[1].friction};
    vec3_store(head.gravity, world->settings.gravity);
    send(process, &head, sizeof(head), 1);
    for (uint32_t i = 0; i < world->body_count; i++) {
        PeerBody body = describe(world, i);
        send(process, &body, sizeof(body), 1);
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        PeerJoint joint = describe_joint(&world->joint[i]);
        send(process, &joint, sizeof(joint), 1);
    }
    flush(process);
}

static bool start(PeerProcess *process, PeerIndex index, const Scene *scene, const char *argument) {
    char path[CHILD_PATH_BYTES];
    if (!child_find(peer_names[index], path)) {
        fprintf(stderr, "  without %s: its program was not built\n", peer_names[index]);
        return false;
    }
    *process = (PeerProcess){.index = index, .body_count = scene->world->body_count};
    child_start(&process->child, path, argument);
    send_scene(process, scene);
    PeerGreeting greeting;
    receive(process, &greeting, sizeof(greeting), 1);
    greeting.name[PEER_NAME_BYTES - 1] = greeting.refusal[PEER_REFUSAL_BYTES - 1] = '\0';
    if (greeting.refusal[0] != '\0') {
        fprintf(stderr, "  without %s: %s\n", greeting.name, greeting.refusal);
        peer_process_stop(process);
        return false;
    }
    snprintf(engine_names[index], sizeof(engine_names[index]), "%s", greeting.name);
    process->name = engine_names[index];
    return true;
}

bool peer_process_start(PeerProcess *process, PeerIndex index, const Scene *scene) {
    return start(process, index, scene, NULL);
}

bool peer_process_start_work(PeerProcess *process, PeerIndex index, const Scene *scene,
                             uint32_t work) {
    char argument[16];
    snprintf(argument, sizeof(argument), "%u", work);
    return start(process, index, scene, argument);
}

void peer_process_run(PeerProcess *process, uint32_t count, double *ns, double *contacts,
                      double *pose) {
    send(process, &count, sizeof(count), 1);
    flush(process);
    receive(process, ns, sizeof(*ns), count);
    receive(process, contacts, sizeof(*contacts), count);
    receive(process, pose, 7 * sizeof(*pose), process->body_count);
}

void peer_process_velocities(PeerProcess *process, double *velocity) {
    receive(process, velocity, 6 * sizeof(*velocity), process->body_count);
}

void peer_process_stop(PeerProcess *process) {
    child_stop(&process->child);
}
