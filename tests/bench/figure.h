// SPDX-License-Identifier: MIT
// A world's trees of joints as peers take them (peers/tree_peer.h): the same numbers as a list of
// links and shapes, and as MJCF. Joints are hinges, sliders, balls and roots that float; drives are
// springs and dampers to it, whatever they are able to.
#pragma once

#include "bench/peers/tree_peer.h"
#include "bench/scene.h"

typedef struct Figure {
    TreePeerScene scene;
    TreePeerLink *link;   // owned
    TreePeerShape *shape; // owned
    char *text;           // owned: scene.text_bytes of MJCF
    bool is_rk4;          // by that integrator, where MJCF has it; else Euler's
} Figure;

Figure figure_of(const Scene *scene);
void figure_free(Figure *figure);
