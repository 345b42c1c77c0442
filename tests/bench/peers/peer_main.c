// SPDX-License-Identifier: MIT
#include "bench/peers/peer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void peer_fail(const char *sentence) {
    fprintf(stderr, "moreau-bench's peer: %s\n", sentence);
    exit(EXIT_FAILURE);
}

static bool receive(void *data, size_t size, size_t count) {
    return fread(data, size, count, stdin) == count;
}

static void send(const void *data, size_t size, size_t count) {
    if (fwrite(data, size, count, stdout) != count) {
        peer_fail("nobody reads what it writes");
    }
}

static void *take_memory(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        peer_fail("memory ended");
    }
    return memory;
}

// Of all threads: an engine that started one would be found out.
static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_steps(PeerEngine *engine, uint32_t count, double *pose, size_t body_count,
                      bool wants_velocities) {
    double *figures = take_memory(2 * (size_t)count + 1, sizeof(*figures));
    for (uint32_t i = 0; i < count; i++) {
        double begun = cpu_ns();
        peer_step(engine);
        figures[i] = cpu_ns() - begun;
        figures[count + i] = peer_contact_count(engine);
    }
    peer_poses(engine, pose);
    send(figures, sizeof(*figures), 2 * (size_t)count);
    send(pose, 7 * sizeof(*pose), body_count);
    if (wants_velocities) {
        peer_velocities(engine, pose);
        send(pose, 6 * sizeof(*pose), body_count);
    }
    fflush(stdout);
    free(figures);
}

int main(int argc, char **argv) {
    const uint32_t work = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    PeerScene scene;
    if (!receive(&scene, sizeof(scene), 1) || scene.magic != PEER_MAGIC) {
        peer_fail("this program is started by moreau-bench, which hands it a scene");
    }
    size_t body_count = scene.body_count;
    PeerBody *body = take_memory(body_count, sizeof(*body));
    if (!receive(body, sizeof(*body), body_count)) {
        peer_fail("the scene ends in its middle");
    }
    PeerJoint *joint = NULL;
    if (scene.joint_count > 0) {
        joint = take_memory(scene.joint_count, sizeof(*joint));
        if (!receive(joint, sizeof(*joint), scene.joint_count)) {
            peer_fail("the scene ends before its last joint");
        }
    }
    PeerGreeting greeting = {.name = ""};
    PeerEngine *engine = peer_create(&scene, body, joint, work, &greeting);
    send(&greeting, sizeof(greeting), 1);
    fflush(stdout);
    free(body);
    free(joint);

    double *pose = take_memory(body_count, 7 * sizeof(*pose));
    uint32_t count;
    while (engine != NULL && receive(&count, sizeof(count), 1)) {
        run_steps(engine, count, pose, body_count, work > 0);
    }
    free(pose);
    return EXIT_SUCCESS;
}
