// SPDX-License-Identifier: MIT
// A peer (peers/peer.h) as moreau-bench sees it: a process that steps the scene it was given when
// asked to, and sleeps otherwise. It ends with this program.
#pragma once

#include "bench/child.h"
#include "bench/peers/peer.h"
#include "bench/scene.h"

#include <stdbool.h>

#define PEER_MAP(X)                                                                                \
    X(MUJOCO, "mujoco")                                                                            \
    X(BULLET, "bullet")                                                                            \
    X(ODE, "ode")                                                                                  \
    X(DRAKE, "drake")                                                                              \
    X(BOX3D, "box3d")

#define X(upper, name) PEER_##upper,
typedef enum PeerIndex { PEER_MAP(X) PEER_COUNT } PeerIndex;
#undef X

typedef struct PeerProcess {
    PeerIndex index;
    Child child;
    const char *name; // engine and version; static
    uint32_t body_count;
} PeerProcess;

// Hands the world, as it is, to a peer. false: it was not built, or it cannot take this scene; why
// not has been said on standard error.
bool peer_process_start(PeerProcess *process, PeerIndex index, const Scene *scene);

// The same, of one that does so much work a step, and tells velocities; not drake.
bool peer_process_start_work(PeerProcess *process, PeerIndex index, const Scene *scene,
                             uint32_t work);

// Takes `count` steps; fills CPU times [ns] and contacts of each, and the poses after the last.
void peer_process_run(PeerProcess *process, uint32_t count, double *ns, double *contacts,
                      double *pose);

// Velocities after the steps that were run last, 6 of each body.
void peer_process_velocities(PeerProcess *process, double *velocity);

void peer_process_stop(PeerProcess *process);
