// SPDX-License-Identifier: MIT
// Peers of `moreau bench tree`: engines that step a figure of links and joints.
//
// A program reads from standard input a TreePeerScene, its links, its shapes, and the same figure
// as MJCF, and answers with a TreePeerGreeting. Then, for each uint32_t n it reads, it takes n
// steps and answers with a TreePeerAnswer. All are structs of this machine. It ends when its input
// ends. One thread; everything is at rest at the start.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TREE_PEER_MAGIC UINT64_C(0x3165657274726f6d) // "mortree1", lowest byte first

enum { TREE_PEER_TEXT_BYTES = 160 };

typedef enum TreePeerJoint {
    TREE_PEER_HINGE,
    TREE_PEER_SLIDER,
    TREE_PEER_BALL,
    TREE_PEER_FREE
} TreePeerJoint;

typedef enum TreePeerKind {
    TREE_PEER_SPHERE,
    TREE_PEER_BOX,
    TREE_PEER_PLANE,
    TREE_PEER_CAPSULE
} TreePeerKind;

typedef struct TreePeerScene {
    uint64_t magic;
    uint64_t link_count, shape_count, text_bytes;
    double gravity[3]; // [m/s^2]
    double time_step;  // [s]
} TreePeerScene;

// Parents before children.
typedef struct TreePeerLink {
    int64_t parent;    // -1: the world
    uint64_t joint;    // TreePeerJoint, to the parent
    double mass;       // [kg]
    double inertia[6]; // xx yy zz xy xz yz about the centre of mass, body axes [kg m^2]
    double pose[7];    // centre of mass, orientation w x y z
    double anchor[3];  // of the joint, in the world
    double axis[3];    // likewise; of a hinge or slider
    double position;   // of that axis, at the start [rad], [m]
    double low, high;  // infinite: no limit
    double stiffness;  // of a spring towards `rest` [N m/rad], [N/m]
    double rest;       // [rad], [m]
    double damping;    // [N m s/rad], [N s/m]
    double armature;   // [kg m^2], [kg]
} TreePeerLink;

typedef struct TreePeerShape {
    int64_t link;   // -1: static
    uint64_t kind;  // TreePeerKind
    double size[3]; // as a Primitive's
    double pose[7]; // from the link's centre of mass, in its axes; of a static one in the world
    double friction;
    uint64_t touches_own; // others of its figure, but what its joint holds
} TreePeerShape;

typedef struct TreePeerGreeting {
    char name[32];                      // engine and version
    char refusal[TREE_PEER_TEXT_BYTES]; // a sentence: why this scene is not for it; or ""
} TreePeerGreeting;

typedef struct TreePeerAnswer {
    double ns;       // CPU time of all steps
    double energy;   // kinetic and potential [J]; NaN: it does not say
    double contacts; // of the last step, as the engine counts them
    double place[3]; // centre of mass of the last link [m]; NaN: it does not say
    double faults;   // steps since the start in which it gave up and began anew
} TreePeerAnswer;

#ifdef __cplusplus
}
#endif
