// SPDX-License-Identifier: MIT
// ODE as a peer of `moreau bench tree`: a body for each link, joints between them, and its direct
// solver.
#include "bench/peers/tree_peer_main.h"

#include <math.h>
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>

struct TreePeer {
    dWorldID world;
    double gravity[3], time_step;
    uint64_t count;
    dBodyID *body;
};

static dBodyID add_body(TreePeer *peer, const TreePeerLink *link) {
    dBodyID body = dBodyCreate(peer->world);
    const double *i = link->inertia, *at = link->pose;
    dMass mass;
    dMassSetParameters(&mass, link->mass, 0, 0, 0, i[0], i[1], i[2], i[3], i[4], i[5]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, at[0], at[1], at[2]);
    dBodySetQuaternion(body, at + 3);
    return body;
}

static void add_joint(TreePeer *peer, const TreePeerLink *link, dBodyID body) {
    const double *at = link->anchor, *axis = link->axis;
    dBodyID parent = link->parent < 0 ? 0 : peer->body[link->parent];
    if (link->joint == TREE_PEER_HINGE) {
        dJointID joint = dJointCreateHinge(peer->world, 0);
        dJointAttach(joint, body, parent);
        dJointSetHingeAnchor(joint, at[0], at[1], at[2]);
        dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
        return;
    }
    dJointID joint = dJointCreateSlider(peer->world, 0);
    dJointAttach(joint, body, parent);
    dJointSetSliderAxis(joint, axis[0], axis[1], axis[2]);
    if (isfinite(link->low)) { // positions are 0 as they are made
        dJointSetSliderParam(joint, dParamLoStop, link->low - link->position);
        dJointSetSliderParam(joint, dParamHiStop, link->high - link->position);
    }
}

TreePeer *tree_peer_create(const TreePeerScene *scene, const TreePeerLink *link,
                           TreePeerGreeting *greeting) {
    snprintf(greeting->name, sizeof(greeting->name), "ODE " dODE_VERSION);
    TreePeer *peer = calloc(1, sizeof(*peer));
    dBodyID *bodies = calloc(scene->link_count + 1, sizeof(dBodyID));
    if (peer == NULL || bodies == NULL) {
        exit(EXIT_FAILURE);
    }
    dInitODE2(0);
    *peer = (TreePeer){.world = dWorldCreate(),
                       .time_step = scene->time_step,
                       .count = scene->link_count,
                       .body = bodies};
    for (int k = 0; k < 3; k++) {
        peer->gravity[k] = scene->gravity[k];
    }
    dWorldSetGravity(peer->world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    dWorldSetAutoDisableFlag(peer->world, 0);
    for (uint64_t i = 0; i < scene->link_count; i++) {
        bodies[i] = add_body(peer, &link[i]);
        add_joint(peer, &link[i], bodies[i]);
    }
    return peer;
}

void tree_peer_step(TreePeer *peer) {
    dWorldStep(peer->world, peer->time_step);
}

double tree_peer_energy(TreePeer *peer) {
    double energy = 0.0;
    for (uint64_t i = 0; i < peer->count; i++) {
        const dReal *v = dBodyGetLinearVel(peer->body[i]), *w = dBodyGetAngularVel(peer->body[i]),
                    *x = dBodyGetPosition(peer->body[i]);
        dMass mass;
        dVector3 own;
        dBodyGetMass(peer->body[i], &mass);
        dBodyVectorFromWorld(peer->body[i], w[0], w[1], w[2], own);
        for (int k = 0; k < 3; k++) {
            energy += mass.mass * (0.5 * v[k] * v[k] - peer->gravity[k] * x[k]);
            for (int j = 0; j < 3; j++) {
                energy += 0.5 * own[k] * mass.I[4 * k + j] * own[j];
            }
        }
    }
    return energy;
}
