// SPDX-License-Identifier: MIT
// MuJoCo as a peer of `moreau bench tree`, by Debian's package: everything as the MJCF says.
#include "bench/peers/tree_peer.h"

#include <mujoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void ignore(const char *warning) {
    (void)warning;
}

// NULL, with a refusal, where it does not read it.
static mjModel *load(const char *text, size_t bytes, TreePeerGreeting *greeting) {
    static const char name[] = "figure.xml";
    static mjVFS files;
    mj_defaultVFS(&files);
    if (mj_makeEmptyFileVFS(&files, name, (int)bytes) != 0) {
        return NULL;
    }
    memcpy(files.filedata[0], text, bytes);
    mjModel *model = mj_loadXML(name, &files, greeting->refusal, sizeof(greeting->refusal));
    mj_deleteVFS(&files);
    return model;
}

static TreePeerAnswer take_steps(mjModel *model, mjData *data, uint32_t count) {
    const double begun = cpu_ns();
    for (uint32_t i = 0; i < count; i++) {
        mj_step(model, data);
    }
    TreePeerAnswer answer = {.ns = cpu_ns() - begun, .contacts = data->ncon};
    model->opt.enableflags |= mjENBL_ENERGY; // not while its steps are timed
    mj_forward(model, data);
    model->opt.enableflags &= ~mjENBL_ENERGY;
    answer.energy = data->energy[0] + data->energy[1];
    memcpy(answer.place, data->xipos + 3 * (model->nbody - 1), sizeof(answer.place));
    for (int i = mjWARN_BADQPOS; i <= mjWARN_BADQACC; i++) {
        answer.faults += data->warning[i].number;
    }
    return answer;
}

int main(void) {
    TreePeerScene scene;
    TreePeerGreeting greeting = {.refusal = ""};
    uint32_t count;
    mju_user_warning = ignore;
    if (fread(&scene, sizeof(scene), 1, stdin) != 1 || scene.magic != TREE_PEER_MAGIC) {
        return EXIT_FAILURE;
    }
    const size_t skipped =
        scene.link_count * sizeof(TreePeerLink) + scene.shape_count * sizeof(TreePeerShape);
    char *text = malloc(skipped + scene.text_bytes);
    if (text == NULL ||
        fread(text, 1, skipped + scene.text_bytes, stdin) != skipped + scene.text_bytes) {
        return EXIT_FAILURE;
    }
    snprintf(greeting.name, sizeof(greeting.name), "MuJoCo %s", mj_versionString());
    mjModel *model = load(text + skipped, scene.text_bytes, &greeting);
    fwrite(&greeting, sizeof(greeting), 1, stdout);
    fflush(stdout);
    free(text);
    if (model == NULL) {
        return EXIT_SUCCESS;
    }
    mjData *data = mj_makeData(model);
    while (data != NULL && fread(&count, sizeof(count), 1, stdin) == 1) {
        const TreePeerAnswer answer = take_steps(model, data, count);
        fwrite(&answer, sizeof(answer), 1, stdout);
        fflush(stdout);
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    return EXIT_SUCCESS;
}
