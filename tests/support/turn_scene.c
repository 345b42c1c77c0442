// SPDX-License-Identifier: MIT
#include "support/turn_scene.h"

#include "wire/scene/parts.h"

#include <stdlib.h>
#include <string.h>

Quat turn_generic(void) {
    return quat_normalize((Quat){0.51, -0.32, 0.67, 0.43});
}

Quat turn_back(Quat turn) {
    return (Quat){turn.w, -turn.x, -turn.y, -turn.z};
}

static void turn_vec(double *packed, Quat turn) {
    vec3_store(packed, quat_rotate(turn, vec3_load(packed)));
}

void turn_pairs(double *packed, size_t count, Quat turn) {
    for (size_t i = 0; i < 2 * count; i++) {
        turn_vec(packed + 3 * i, turn);
    }
}

void turn_poses(double *packed, size_t count, Quat turn) {
    for (size_t i = 0; i < count; i++) {
        Pose pose = pose_load(packed + 7 * i);
        pose_store(packed + 7 * i, pose_compose((Pose){{0.0, 0.0, 0.0}, turn}, pose));
    }
}

// ---- fields of a message

// A list that is not given becomes what it stands for.
static void give_list(size_t *count, double **list, const double *meant, size_t meant_count) {
    if (*count == 0) {
        free(*list);
        *list = malloc(meant_count * sizeof(double));
        memcpy(*list, meant, meant_count * sizeof(double));
        *count = meant_count;
    }
}

static void turn_list(size_t count, double *list, Quat turn) {
    if (count == 3) {
        turn_vec(list, turn);
    }
}

static void turn_body(Moreau__V1__SceneBody *body, Quat turn) {
    static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
    turn_list(body->n_position, body->position, turn);
    turn_list(body->n_linear_velocity, body->linear_velocity, turn);
    turn_list(body->n_angular_velocity, body->angular_velocity, turn);
    give_list(&body->n_orientation, &body->orientation, upright, 4);
    const double *q = body->orientation;
    const Quat turned = quat_mul(turn, quat_normalize((Quat){q[0], q[1], q[2], q[3]}));
    memcpy(body->orientation, (double[4]){turned.w, turned.x, turned.y, turned.z},
           4 * sizeof(double));
}

static void turn_settings(Moreau__V1__Scene *scene, Quat turn) {
    static const double fall[3] = {0.0, 0.0, -9.81};
    if (scene->settings == NULL) {
        scene->settings = malloc(sizeof(*scene->settings));
        moreau__v1__world_settings__init(scene->settings);
    }
    Moreau__V1__WorldSettings *settings = scene->settings;
    give_list(&settings->n_gravity, &settings->gravity, fall, 3);
    turn_list(settings->n_gravity, settings->gravity, turn);
}

void turn_unbound(Moreau__V1__Scene *scene) {
    if (scene->settings != NULL && scene->settings->bounds != NULL) {
        moreau__v1__bounds__free_unpacked(scene->settings->bounds, NULL);
        scene->settings->bounds = NULL;
    }
}

static bool is_world(const char *body) {
    return body == NULL || body[0] == '\0';
}

// Frames from bodies turn with these, those from the world as poses do. Where anchors and axes are
// given, the frames' z and x are; what is not given of them is chosen by the world's axes, so it is
// said.
static void turn_joint(Moreau__V1__SceneJoint *joint, Quat turn) {
    static const double up[3] = {0.0, 0.0, 1.0};
    if (joint->n_frame_a == 7 || joint->n_frame_b == 7) {
        if (is_world(joint->body_a)) {
            turn_poses(joint->frame_a, 1, turn);
        }
        if (is_world(joint->body_b)) {
            turn_poses(joint->frame_b, 1, turn);
        }
        return;
    }
    give_list(&joint->n_axis, &joint->axis, up, 3);
    const Vec3 axis = vec3_load(joint->axis);
    const Quat frame = scene_turn_from_z(vec3_scale(1.0 / vec3_norm(axis), axis));
    double x[3];
    vec3_store(x, quat_to_mat3(frame).c0);
    give_list(&joint->n_axis_x, &joint->axis_x, x, 3);
    turn_list(joint->n_axis, joint->axis, turn);
    turn_list(joint->n_axis_x, joint->axis_x, turn);
    turn_list(joint->n_anchor, joint->anchor, turn);
    turn_list(joint->n_anchor_b, joint->anchor_b, turn);
}

void turn_scene(Moreau__V1__Scene *scene, Quat turn) {
    turn_settings(scene, turn);
    turn_unbound(scene);
    for (size_t i = 0; i < scene->n_bodies; i++) {
        turn_body(scene->bodies[i], turn);
    }
    for (size_t i = 0; i < scene->n_joints; i++) {
        if (scene->joints[i]->kind != MOREAU__V1__JOINT__KIND__GEAR &&
            scene->joints[i]->kind != MOREAU__V1__JOINT__KIND__TENDON) {
            turn_joint(scene->joints[i], turn);
        }
    }
}
