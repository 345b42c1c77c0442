// SPDX-License-Identifier: MIT
// Box3D: soft contacts in substeps, four of them unasked, as its samples take.
//
// A half-space is the upper face of a large box, as it has none. One worker, and nothing sleeps;
// all else is as its definitions have it.
#include "bench/peers/peer.h"

#include <box3d/box3d.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 20.0F // [m] half of the edge of a box for a half-space

enum { SUBSTEPS = 4 };

struct PeerEngine {
    b3WorldId world;
    float time_step;
    int substeps;
    size_t body_count;
    b3BodyId *body;
    double (*still)[7]; // poses at the start, of what is static
    bool *is_static;
};

static b3Vec3 vector_of(const double *from) {
    return (b3Vec3){(float)from[0], (float)from[1], (float)from[2]};
}

static b3Quat turn_of(const double *from) {
    return (b3Quat){{(float)from[1], (float)from[2], (float)from[3]}, (float)from[0]};
}

static double volume_of(const PeerBody *body) {
    static const double pi = 3.14159265358979323846;
    const double *size = body->size;
    switch (body->kind) {
    case PEER_SPHERE:
        return 4.0 / 3.0 * pi * size[0] * size[0] * size[0];
    case PEER_CAPSULE:
        return pi * size[0] * size[0] * (4.0 / 3.0 * size[0] + 2.0 * size[1]);
    default:
        return 8.0 * size[0] * size[1] * size[2];
    }
}

static void add_shape(b3BodyId id, const PeerBody *body, double friction) {
    b3ShapeDef shape = b3DefaultShapeDef();
    shape.baseMaterial.friction = (float)friction; // the root of the two bodies' product
    shape.baseMaterial.restitution = 0.0F;
    const float x = (float)body->size[0], y = (float)body->size[1], z = (float)body->size[2];
    if (body->mass > 0.0) {
        shape.density = (float)(body->mass / volume_of(body));
    }
    if (body->kind == PEER_SPHERE) {
        b3CreateSphereShape(id, &shape, &(b3Sphere){.radius = x});
    } else if (body->kind == PEER_CAPSULE) {
        const b3Capsule capsule = {{0.0F, 0.0F, -y}, {0.0F, 0.0F, y}, x};
        b3CreateCapsuleShape(id, &shape, &capsule);
    } else if (body->kind == PEER_BOX) {
        const b3BoxHull hull = b3MakeBoxHull(x, y, z);
        b3CreateHullShape(id, &shape, &hull.base);
    } else {
        const b3BoxHull hull =
            b3MakeOffsetBoxHull(LARGE, LARGE, LARGE, (b3Vec3){0.0F, 0.0F, -LARGE});
        b3CreateHullShape(id, &shape, &hull.base);
    }
}

static b3BodyId add_body(b3WorldId world, const PeerBody *body, double friction) {
    b3BodyDef def = b3DefaultBodyDef();
    def.type = body->mass > 0.0 ? b3_dynamicBody : b3_staticBody;
    def.position = vector_of(body->pose);
    def.rotation = turn_of(body->pose + 3);
    def.linearVelocity = vector_of(body->velocity);
    def.angularVelocity = vector_of(body->velocity + 3);
    def.enableSleep = false;
    b3BodyId id = b3CreateBody(world, &def);
    add_shape(id, body, friction);
    return id;
}

static void add_joint(const PeerEngine *engine, const PeerJoint *joint) {
    b3SphericalJointDef def = b3DefaultSphericalJointDef();
    def.base.bodyIdA = engine->body[joint->body[0]];
    def.base.bodyIdB = engine->body[joint->body[1]];
    def.base.localFrameA.p = vector_of(joint->anchor[0]);
    def.base.localFrameB.p = vector_of(joint->anchor[1]);
    b3CreateSphericalJoint(engine->world, &def);
}

PeerEngine *peer_create(const PeerScene *scene, const PeerBody *body, const PeerJoint *joint,
                        uint32_t work, PeerGreeting *greeting) {
    const b3Version version = b3GetVersion();
    snprintf(greeting->name, sizeof(greeting->name), "Box3D %d.%d", version.major, version.minor);
    PeerEngine *engine = calloc(1, sizeof(*engine));
    if (engine == NULL) {
        peer_fail("memory ended");
    }
    b3WorldDef def = b3DefaultWorldDef();
    def.gravity = vector_of(scene->gravity);
    def.enableSleep = false;
    def.workerCount = 1;
    *engine = (PeerEngine){.world = b3CreateWorld(&def),
                           .time_step = (float)scene->time_step,
                           .substeps = work > 0 ? (int)work : SUBSTEPS,
                           .body_count = scene->body_count,
                           .body = calloc(scene->body_count, sizeof(*engine->body)),
                           .still = calloc(scene->body_count, sizeof(*engine->still)),
                           .is_static = calloc(scene->body_count, sizeof(*engine->is_static))};
    if (engine->body == NULL || engine->still == NULL || engine->is_static == NULL) {
        peer_fail("memory ended");
    }
    for (size_t i = 0; i < scene->body_count; i++) {
        memcpy(engine->still[i], body[i].pose, sizeof(body[i].pose));
        engine->is_static[i] = !(body[i].mass > 0.0);
        engine->body[i] = add_body(engine->world, &body[i], scene->friction);
    }
    for (size_t i = 0; i < scene->joint_count; i++) {
        add_joint(engine, &joint[i]);
    }
    return engine;
}

void peer_step(PeerEngine *engine) {
    b3World_Step(engine->world, engine->time_step, engine->substeps);
}

uint32_t peer_contact_count(const PeerEngine *engine) {
    return (uint32_t)b3World_GetCounters(engine->world).contactCount; // pairs, not points
}

static void store(double *to, b3Vec3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

void peer_poses(const PeerEngine *engine, double *pose) {
    for (size_t i = 0; i < engine->body_count; i++, pose += 7) {
        if (engine->is_static[i]) {
            memcpy(pose, engine->still[i], sizeof(engine->still[i]));
            continue;
        }
        const b3Quat turn = b3Body_GetRotation(engine->body[i]);
        store(pose, b3Body_GetPosition(engine->body[i]));
        pose[3] = turn.s;
        store(pose + 4, turn.v);
    }
}

void peer_velocities(const PeerEngine *engine, double *velocity) {
    for (size_t i = 0; i < engine->body_count; i++, velocity += 6) {
        store(velocity, b3Body_GetLinearVelocity(engine->body[i]));
        store(velocity + 3, b3Body_GetAngularVelocity(engine->body[i]));
    }
}
