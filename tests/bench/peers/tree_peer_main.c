// SPDX-License-Identifier: MIT
#include "bench/peers/tree_peer_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// What these engines have nothing for. NULL: nothing.
static const char *find_lack(const TreePeerScene *scene, const TreePeerLink *link) {
    for (uint64_t i = 0; i < scene->link_count; i++) {
        if (link[i].armature > 0.0 || link[i].stiffness > 0.0 || link[i].damping > 0.0) {
            return "its joints have no armature, springs and implicit dampers";
        }
        if (link[i].joint != TREE_PEER_HINGE && link[i].joint != TREE_PEER_SLIDER) {
            return "only hinges and sliders are handed to it";
        }
    }
    return scene->shape_count > 0 ? "no shapes are handed to it" : NULL;
}

int main(void) {
    TreePeerScene scene;
    TreePeerGreeting greeting = {.refusal = ""};
    uint32_t count;
    if (fread(&scene, sizeof(scene), 1, stdin) != 1 || scene.magic != TREE_PEER_MAGIC) {
        return EXIT_FAILURE;
    }
    const size_t bytes = scene.link_count * sizeof(TreePeerLink),
                 rest = scene.shape_count * sizeof(TreePeerShape) + scene.text_bytes;
    TreePeerLink *link = malloc(bytes);
    char *skipped = malloc(rest + 1);
    if (link == NULL || skipped == NULL || fread(link, 1, bytes, stdin) != bytes ||
        fread(skipped, 1, rest, stdin) != rest) {
        return EXIT_FAILURE;
    }
    const char *lack = find_lack(&scene, link);
    TreePeer *peer = lack == NULL ? tree_peer_create(&scene, link, &greeting) : NULL;
    if (lack != NULL) {
        snprintf(greeting.refusal, sizeof(greeting.refusal), "%s", lack);
    }
    fwrite(&greeting, sizeof(greeting), 1, stdout);
    fflush(stdout);
    while (peer != NULL && fread(&count, sizeof(count), 1, stdin) == 1) {
        const double begun = cpu_ns();
        for (uint32_t i = 0; i < count; i++) {
            tree_peer_step(peer);
        }
        TreePeerAnswer answer = {
            .ns = cpu_ns() - begun, .energy = tree_peer_energy(peer), .place = {NAN, NAN, NAN}};
        fwrite(&answer, sizeof(answer), 1, stdout);
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}
