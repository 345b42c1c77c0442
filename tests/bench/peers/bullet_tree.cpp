// SPDX-License-Identifier: MIT
// Bullet as a peer of `moreau bench tree`: its btMultiBody, in coordinates of joints, by Featherstone's
// algorithm, in double precision.
#include "bench/peers/tree_peer_main.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyJointLimitConstraint.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct TreePeer {
    btMultiBodyDynamicsWorld *world;
    btMultiBody *body;
    btVector3 gravity;
    double time_step;
    std::vector<TreePeerLink> link;
};

static btQuaternion orientation(const TreePeerLink &link) {
    return btQuaternion(link.pose[4], link.pose[5], link.pose[6], link.pose[3]);
}

static btVector3 load(const double *packed) {
    return btVector3(packed[0], packed[1], packed[2]);
}

static void add_link(TreePeer *peer, int i) {
    const TreePeerLink &link = peer->link[static_cast<size_t>(i)];
    const int parent = static_cast<int>(link.parent);
    btQuaternion above(0, 0, 0, 1);
    btVector3 above_center(0, 0, 0);
    if (parent >= 0) {
        above = orientation(peer->link[static_cast<size_t>(parent)]);
        above_center = load(peer->link[static_cast<size_t>(parent)].pose);
    }
    const btQuaternion own = orientation(link).inverse();
    const btVector3 axis = quatRotate(own, load(link.axis));
    const btVector3 from = quatRotate(above.inverse(), load(link.anchor) - above_center);
    const btVector3 arm = quatRotate(own, load(link.pose) - load(link.anchor));
    const btVector3 inertia = load(link.inertia);
    if (link.joint == TREE_PEER_HINGE) {
        peer->body->setupRevolute(i, link.mass, inertia, parent, own * above, axis, from, arm,
                                  true);
    } else {
        peer->body->setupPrismatic(i, link.mass, inertia, parent, own * above, axis, from, arm,
                                   true);
    }
}

TreePeer *tree_peer_create(const TreePeerScene *scene, const TreePeerLink *link,
                           TreePeerGreeting *greeting) {
    const int version = btGetVersion();
    std::snprintf(greeting->name, sizeof(greeting->name), "Bullet %d.%d", version / 100,
                  version % 100);
    const int count = static_cast<int>(scene->link_count);
    TreePeer *peer = new TreePeer;
    btDefaultCollisionConfiguration *configuration = new btDefaultCollisionConfiguration;
    peer->world =
        new btMultiBodyDynamicsWorld(new btCollisionDispatcher(configuration), new btDbvtBroadphase,
                                     new btMultiBodyConstraintSolver, configuration);
    peer->gravity = load(scene->gravity);
    peer->time_step = scene->time_step;
    peer->link.assign(link, link + scene->link_count);
    peer->world->setGravity(peer->gravity);
    peer->body = new btMultiBody(count, 0, btVector3(0, 0, 0), true, false);
    for (int i = 0; i < count; i++) {
        add_link(peer, i);
    }
    peer->body->finalizeMultiDof();
    peer->body->setLinearDamping(0);
    peer->body->setAngularDamping(0);
    peer->body->setUseGyroTerm(true);
    peer->world->addMultiBody(peer->body);
    for (int i = 0; i < count; i++) { // positions are 0 as they are made
        if (std::isfinite(link[i].low)) {
            peer->world->addMultiBodyConstraint(new btMultiBodyJointLimitConstraint(
                peer->body, i, link[i].low - link[i].position, link[i].high - link[i].position));
        }
    }
    return peer;
}

void tree_peer_step(TreePeer *peer) {
    peer->world->stepSimulation(peer->time_step, 0);
}

double tree_peer_energy(TreePeer *peer) {
    const size_t count = peer->link.size();
    std::vector<btVector3> omega(count + 1), velocity(count + 1);
    peer->body->compTreeLinkVelocities(omega.data(), velocity.data());
    double energy = 0.0;
    for (size_t i = 0; i < count; i++) {
        const TreePeerLink &link = peer->link[i];
        const btVector3 w = omega[i + 1], v = velocity[i + 1],
                        x = peer->body->localPosToWorld(static_cast<int>(i), btVector3(0, 0, 0));
        energy += link.mass * (0.5 * v.dot(v) - peer->gravity.dot(x));
        for (int k = 0; k < 3; k++) {
            energy += 0.5 * link.inertia[k] * w[k] * w[k];
        }
    }
    return energy;
}
