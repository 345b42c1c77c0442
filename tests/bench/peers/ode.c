// SPDX-License-Identifier: MIT
// ODE: quickstep with 50 iterations, its own error reduction and softness, sweep and prune.
//
// Friction is a pyramid whose bounds follow the normal force (dContactApprox1), the nearest that
// ODE has to Coulomb's cone.
#include "bench/peers/peer.h"

#include <ode/ode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 50 };
enum { POINTS_MAX = 8 }; // of one pair: two boxes share at most eight corners

struct PeerEngine {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dReal time_step, friction;
    uint32_t contact_count;
    size_t body_count;
    double (*still)[7]; // pose of each body that has no dBody
    dBodyID *body;      // 0: static
};

static void touch(void *context, dGeomID a, dGeomID b) {
    PeerEngine *engine = context;
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (body_a == 0 && body_b == 0) {
        return;
    }
    dContact contact[POINTS_MAX];
    int count = dCollide(a, b, POINTS_MAX, &contact[0].geom, sizeof(contact[0]));
    for (int i = 0; i < count; i++) {
        memset(&contact[i].surface, 0, sizeof(contact[i].surface));
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = engine->friction;
        dJointID joint = dJointCreateContact(engine->world, engine->contacts, &contact[i]);
        dJointAttach(joint, body_a, body_b);
    }
    engine->contact_count += (uint32_t)count;
}

// The third axis of a frame.
static void add_plane(PeerEngine *engine, const PeerBody *body) {
    dMatrix3 axes;
    dQtoR(body->pose + 3, axes); // rows of four
    const double normal[3] = {axes[2], axes[6], axes[10]};
    double offset =
        normal[0] * body->pose[0] + normal[1] * body->pose[1] + normal[2] * body->pose[2];
    dCreatePlane(engine->space, normal[0], normal[1], normal[2], offset);
}

static dBodyID add_body(PeerEngine *engine, const PeerBody *from) {
    dBodyID body = dBodyCreate(engine->world);
    const double *size = from->size, *at = from->pose, *v = from->velocity;
    dMass mass;
    dGeomID geom;
    if (from->kind == PEER_SPHERE) {
        dMassSetSphereTotal(&mass, from->mass, size[0]);
        geom = dCreateSphere(engine->space, size[0]);
    } else if (from->kind == PEER_CAPSULE) {
        dMassSetCapsuleTotal(&mass, from->mass, 3, size[0], 2.0 * size[1]);
        geom = dCreateCapsule(engine->space, size[0], 2.0 * size[1]);
    } else {
        dMassSetBoxTotal(&mass, from->mass, 2.0 * size[0], 2.0 * size[1], 2.0 * size[2]);
        geom = dCreateBox(engine->space, 2.0 * size[0], 2.0 * size[1], 2.0 * size[2]);
    }
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, at[0], at[1], at[2]);
    dBodySetQuaternion(body, at + 3);
    dBodySetLinearVel(body, v[0], v[1], v[2]);
    dBodySetAngularVel(body, v[3], v[4], v[5]);
    return body;
}

PeerEngine *peer_create(const PeerScene *scene, const PeerBody *body, const PeerJoint *joint,
                        uint32_t work, PeerGreeting *greeting) {
    snprintf(greeting->name, sizeof(greeting->name), "ODE " dODE_VERSION);
    if (joint != NULL) {
        snprintf(greeting->refusal, sizeof(greeting->refusal), "%s", PEER_NO_JOINTS);
        return NULL;
    }
    PeerEngine *engine = calloc(1, sizeof(*engine));
    dInitODE2(0);
    if (engine == NULL) {
        peer_fail("memory ended");
    }
    engine->body_count = scene->body_count;
    engine->body = calloc(scene->body_count, sizeof(*engine->body));
    engine->still = calloc(scene->body_count, sizeof(*engine->still));
    if (engine->body == NULL || engine->still == NULL) {
        peer_fail("memory ended");
    }
    engine->world = dWorldCreate();
    engine->space = dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ);
    engine->contacts = dJointGroupCreate(0);
    engine->time_step = scene->time_step;
    engine->friction = scene->friction;
    dWorldSetGravity(engine->world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    dWorldSetQuickStepNumIterations(engine->world, work > 0 ? (int)work : ITERATIONS);
    dWorldSetAutoDisableFlag(engine->world, 0);
    for (size_t i = 0; i < scene->body_count; i++) {
        memcpy(engine->still[i], body[i].pose, sizeof(body[i].pose));
        if (body[i].kind == PEER_PLANE) {
            add_plane(engine, &body[i]);
        } else {
            engine->body[i] = add_body(engine, &body[i]);
        }
    }
    return engine;
}

void peer_step(PeerEngine *engine) {
    engine->contact_count = 0;
    dSpaceCollide(engine->space, engine, touch);
    if (!dWorldQuickStep(engine->world, engine->time_step)) {
        peer_fail("ODE's memory ended");
    }
    dJointGroupEmpty(engine->contacts);
}

uint32_t peer_contact_count(const PeerEngine *engine) {
    return engine->contact_count;
}

void peer_poses(const PeerEngine *engine, double *pose) {
    for (size_t i = 0; i < engine->body_count; i++, pose += 7) {
        if (engine->body[i] == 0) {
            memcpy(pose, engine->still[i], sizeof(engine->still[i]));
        } else {
            memcpy(pose, dBodyGetPosition(engine->body[i]), 3 * sizeof(*pose));
            memcpy(pose + 3, dBodyGetQuaternion(engine->body[i]), 4 * sizeof(*pose));
        }
    }
}

void peer_velocities(const PeerEngine *engine, double *velocity) {
    for (size_t i = 0; i < engine->body_count; i++, velocity += 6) {
        memset(velocity, 0, 6 * sizeof(*velocity));
        if (engine->body[i] != 0) {
            memcpy(velocity, dBodyGetLinearVel(engine->body[i]), 3 * sizeof(*velocity));
            memcpy(velocity + 3, dBodyGetAngularVel(engine->body[i]), 3 * sizeof(*velocity));
        }
    }
}
