// SPDX-License-Identifier: MIT
// Bullet in double precision: sequential impulses with 10 iterations.
//
// Where its defaults would cost it time in these scenes and change nothing else, they are set as a
// user who measures would: one island, as nothing sleeps; bounds of what stands still are not
// renewed; and for spheres a half-space is the upper face of a large box, whose bounds are finite,
// and bounds are widened by a margin for bodies of a decimetre, not of a metre. (Boxes fall through
// so large a box, and need the wider margin to stand.)
//
// By instructions executed in a step of 1,000 spheres, the defaults cost 33 % (islands), 5 %
// (bounds), 9 % (planes) and 18 % (margin) more. Larger pools, no continuous detection, no split
// impulses, no gyroscopic terms and absolute margins save at most 2 % each, so they stay.
#include "bench/peers/peer.h"

#include <BulletCollision/CollisionDispatch/btSimulationIslandManager.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

struct PeerEngine {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    double time_step = 0.0;
    double depth = 0.0; // from a half-space's surface to the centre of its box; 0: it is a plane
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
};

namespace {

constexpr int iterations = 10; // unasked
constexpr double large = 100.0;         // [m] half of the edge of a box for a half-space
constexpr double sphere_margin = 0.002; // [m]

bool has_boxes(const PeerScene &scene, const PeerBody *body) {
    return std::any_of(body, body + scene.body_count,
                       [](const PeerBody &one) { return one.kind == PEER_BOX || one.kind == PEER_CAPSULE;
                       });
}

std::unique_ptr<btCollisionShape> make_shape(const PeerBody &body, double depth) {
    const double *size = body.size;
    switch (body.kind) {
    case PEER_SPHERE:
        return std::make_unique<btSphereShape>(size[0]);
    case PEER_BOX:
        return std::make_unique<btBoxShape>(btVector3(size[0], size[1], size[2]));
    case PEER_CAPSULE:
        return std::make_unique<btCapsuleShapeZ>(size[0], 2.0 * size[1]);
    default:
        if (depth > 0.0) {
            return std::make_unique<btBoxShape>(btVector3(depth, depth, depth));
        }
        return std::make_unique<btStaticPlaneShape>(btVector3(0.0, 0.0, 1.0), 0.0);
    }
}

btTransform make_transform(const PeerBody &body, double depth) {
    const double *pose = body.pose;
    btTransform at(btQuaternion(pose[4], pose[5], pose[6], pose[3]),
                   btVector3(pose[0], pose[1], pose[2]));
    if (body.kind == PEER_PLANE) {
        at.setOrigin(at(btVector3(0.0, 0.0, -depth)));
    }
    return at;
}

void add_body(PeerEngine &engine, const PeerBody &from, double friction) {
    engine.shapes.push_back(make_shape(from, engine.depth));
    btCollisionShape *shape = engine.shapes.back().get();
    btVector3 inertia(0.0, 0.0, 0.0);
    if (from.mass > 0.0) {
        shape->calculateLocalInertia(from.mass, inertia);
    }
    btRigidBody::btRigidBodyConstructionInfo info(from.mass, nullptr, shape, inertia);
    info.m_startWorldTransform = make_transform(from, engine.depth);
    info.m_friction = std::sqrt(friction); // Bullet multiplies those of the two bodies
    info.m_restitution = 0.0;
    engine.bodies.push_back(std::make_unique<btRigidBody>(info));
    btRigidBody &body = *engine.bodies.back();
    if (from.mass > 0.0) {
        const double *v = from.velocity;
        body.setLinearVelocity(btVector3(v[0], v[1], v[2]));
        body.setAngularVelocity(btVector3(v[3], v[4], v[5]));
        body.setActivationState(DISABLE_DEACTIVATION);
    }
    engine.world.addRigidBody(&body);
}

} // namespace

PeerEngine *peer_create(const PeerScene *scene, const PeerBody *body, const PeerJoint *joint,
                        uint32_t work, PeerGreeting *greeting) {
    std::snprintf(greeting->name, sizeof(greeting->name), "Bullet %d.%02d", btGetVersion() / 100,
                  btGetVersion() % 100);
    if (joint != nullptr) {
        std::snprintf(greeting->refusal, sizeof(greeting->refusal), "%s", PEER_NO_JOINTS);
        return nullptr;
    }
    auto *engine = new PeerEngine;
    engine->time_step = scene->time_step;
    const double *gravity = scene->gravity;
    engine->world.setGravity(btVector3(gravity[0], gravity[1], gravity[2]));
    if (!has_boxes(*scene, body)) {
        engine->depth = large;
        gContactBreakingThreshold = sphere_margin;
    }
    engine->world.setForceUpdateAllAabbs(false);
    engine->world.getSimulationIslandManager()->setSplitIslands(false);
    engine->world.getSolverInfo().m_numIterations =
        work > 0 ? static_cast<int>(work) : iterations;
    for (uint64_t i = 0; i < scene->body_count; i++) {
        add_body(*engine, body[i], scene->friction);
    }
    return engine;
}

void peer_step(PeerEngine *engine) {
    engine->world.stepSimulation(engine->time_step, 0); // 0: one step of exactly this length
}

uint32_t peer_contact_count(const PeerEngine *engine) {
    const btDispatcher &dispatcher = engine->dispatcher;
    auto &manifolds = const_cast<btDispatcher &>(dispatcher);
    int count = 0;
    for (int i = 0; i < manifolds.getNumManifolds(); i++) {
        count += manifolds.getManifoldByIndexInternal(i)->getNumContacts();
    }
    return static_cast<uint32_t>(count);
}

void peer_poses(const PeerEngine *engine, double *pose) {
    for (const auto &body : engine->bodies) {
        btTransform at = body->getWorldTransform();
        if (body->isStaticObject()) {
            at.setOrigin(at(btVector3(0.0, 0.0, engine->depth)));
        }
        const btQuaternion turn = at.getRotation();
        const double numbers[7] = {at.getOrigin().x(),
                                   at.getOrigin().y(),
                                   at.getOrigin().z(),
                                   turn.w(),
                                   turn.x(),
                                   turn.y(),
                                   turn.z()};
        for (double number : numbers) {
            *pose++ = number;
        }
    }
}

void peer_velocities(const PeerEngine *engine, double *velocity) {
    for (const auto &body : engine->bodies) {
        for (const btVector3 &of : {body->getLinearVelocity(), body->getAngularVelocity()}) {
            *velocity++ = of.x();
            *velocity++ = of.y();
            *velocity++ = of.z();
        }
    }
}
