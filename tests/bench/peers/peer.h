// SPDX-License-Identifier: MIT
// The peers of the benchmarks: other engines, each in a small program of its own that takes a scene
// from moreau-bench, steps it and hands back what only the engine knows. What can be said of poses
// alone (overlaps, sinking, drifting) is not said here but by moreau-bench, with one code for all.
//
// A program reads from standard input a PeerScene, its bodies and its joints, and answers with a
// PeerGreeting.
// Then, for each uint32_t n it reads, it takes n steps and answers with n doubles (CPU time of each
// step of the whole process [ns]), n doubles (contacts of each step, as the engine counts them) and
// seven doubles for each body (its pose). Started with a number as its argument, it does so much
// work a step (iterations, or substeps), and six doubles for each body (its velocity)
// follow. All are structs of this machine: both programs come from
// one build. It ends when its input ends.
//
// peer_main.c is that program; an engine is one file with the five functions below. One thread, no
// sleeping, contacts without restitution.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_MAGIC UINT64_C(0x32726565706f726d) // "mropeer2", lowest byte first

enum { PEER_NAME_BYTES = 32, PEER_REFUSAL_BYTES = 160 };

typedef enum PeerKind { PEER_SPHERE, PEER_BOX, PEER_PLANE, PEER_CAPSULE } PeerKind;

typedef struct PeerBody {
    uint64_t kind;      // PeerKind
    double size[3];     // as a Primitive's: radius; half extents; a static half-space below z = 0;
                        // radius, half length of the axis, which is local z
    double mass;        // [kg], spread evenly; 0: static, which is what planes and only planes are
    double pose[7];     // centre of mass, orientation w x y z
    double velocity[6]; // linear, angular; world axes
} PeerBody;

// Of two bodies, which do not touch each other: a point of one is a point of the other.
typedef struct PeerJoint {
    uint64_t body[2];    // their places in the list of bodies
    double anchor[2][3]; // of each, from its centre of mass, in its axes
} PeerJoint;

typedef struct PeerScene {
    uint64_t magic;
    uint64_t body_count, joint_count;
    double gravity[3]; // [m/s^2]
    double time_step;  // [s]
    double friction;   // Coulomb's, of every contact
} PeerScene;

typedef struct PeerGreeting {
    char name[PEER_NAME_BYTES];       // engine and version
    char refusal[PEER_REFUSAL_BYTES]; // a sentence: why this scene is not for this engine; or ""
} PeerGreeting;

typedef struct PeerEngine PeerEngine;

// Fills the greeting. NULL when there is a refusal. The engine lives as long as the process; the
// bodies and joints are borrowed during the call, joints NULL where there are none. `work`:
// iterations or substeps of a step; 0: as many as the engine takes unasked, or was fastest with in
// our hands.
PeerEngine *peer_create(const PeerScene *scene, const PeerBody *body, const PeerJoint *joint,
                        uint32_t work, PeerGreeting *greeting);

// For an engine whose joints nobody has written yet: a refusal where there are some.
#define PEER_NO_JOINTS "its program here makes no joints"

void peer_step(PeerEngine *engine);

// Of the last step.
uint32_t peer_contact_count(const PeerEngine *engine);

// Poses of all bodies, in the order they came in.
void peer_poses(const PeerEngine *engine, double *pose);

// Likewise: linear, of the centre of mass, and angular; world axes.
void peer_velocities(const PeerEngine *engine, double *velocity);

// Ends the program with a sentence and exit status 1.
void peer_fail(const char *sentence) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
