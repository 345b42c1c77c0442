// SPDX-License-Identifier: MIT
#include "bench/figure.h"

#include "bench/bench.h"
#include "world/world_trees.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- links and shapes

static TreePeerJoint joint_of(const TreeLink *link) {
    const bool floats = link->joint == TREE_NONE;
    if (!floats && link->moves + link->turns == 1) {
        return link->turns == 1 ? TREE_PEER_HINGE : TREE_PEER_SLIDER;
    }
    if (!floats && !(link->moves == 0 && link->turns == 3)) {
        bench_fail("peers of trees know hinges, sliders and balls");
    }
    return floats ? TREE_PEER_FREE : TREE_PEER_BALL;
}

static void set_joint(const World *world, const TreeLink *of, TreePeerLink *link) {
    const Joint *joint = &world->joint[of->joint];
    const JointAxis *axis = &world->joint_axis[joint->axis_first];
    const Pose frame = world_joint_frame(world, joint, 1);
    const Mat3 turn = quat_to_mat3(frame.orientation);
    const Vec3 along = of->axis[0] == 0 ? turn.c0 : of->axis[0] == 1 ? turn.c1 : turn.c2;
    const bool is_driven = axis->drive_stiffness > 0.0;
    vec3_store(link->anchor, frame.position);
    vec3_store(link->axis, along);
    link->position = of->turns == 3 ? 0.0 : world->joint_position[joint->position_first];
    link->low = axis->low;
    link->high = axis->high;
    link->stiffness = axis->stiffness + axis->drive_stiffness;
    link->rest = is_driven ? world->joint_target[joint->axis_first] : axis->rest;
    link->damping = axis->damping + axis->drive_damping;
    link->armature = axis->armature;
}

static void add_link(const World *world, const TreeLink *of, uint32_t first, TreePeerLink *link) {
    const BodyMass *mass = &world->mass[of->body];
    const Sym3 *i = &mass->inertia;
    *link = (TreePeerLink){.parent = of->parent == TREE_NONE ? -1 : (int64_t)(first + of->parent),
                           .joint = joint_of(of),
                           .mass = mass->mass,
                           .inertia = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz},
                           .low = -HUGE_VAL,
                           .high = HUGE_VAL};
    memcpy(link->pose, world->pose + 7 * (size_t)of->body, sizeof(link->pose));
    if (of->joint != TREE_NONE) {
        set_joint(world, of, link);
    }
}

static void add_shapes(const World *world, uint32_t body, int64_t link, Figure *figure) {
    const Shape *shape = world_body_shape(world, body);
    const Pose pose = pose_load(world->pose + 7 * (size_t)body);
    for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        TreePeerShape *to = &figure->shape[figure->scene.shape_count++];
        Pose local = primitive->local;
        local.position = vec3_sub(local.position, world->mass[body].center);
        *to = (TreePeerShape){.link = link,
                              .kind = primitive->kind,
                              .friction = world->material[primitive->material].friction,
                              .touches_own = (primitive->group & primitive->mask) != 0};
        vec3_store(to->size, primitive->size);
        pose_store(to->pose, link < 0 ? pose_compose(pose, local) : local);
    }
}

// ---- MJCF

static void print_numbers(FILE *file, const char *name, const double *number, size_t count) {
    fprintf(file, " %s='", name);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s%.17g", i == 0 ? "" : " ", number[i]);
    }
    fputc('\'', file);
}

static void print_shape(FILE *file, const TreePeerShape *shape) {
    static const char *const kinds[] = {"sphere", "box", "plane", "capsule"};
    const double plane[3] = {0.0, 0.0, 1.0};
    fprintf(file, "<geom type='%s' contype='1' conaffinity='%d' friction='%.17g 0 0'",
            kinds[shape->kind], shape->link < 0 || shape->touches_own, shape->friction);
    print_numbers(file, "size", shape->kind == TREE_PEER_PLANE ? plane : shape->size, 3);
    print_numbers(file, "pos", shape->pose, 3);
    print_numbers(file, "quat", shape->pose + 3, 4);
    fputs("/>\n", file);
}

// In the link's own axes.
static void print_joint(FILE *file, const TreePeerLink *link) {
    static const char *const kinds[] = {"hinge", "slide", "ball"};
    if (link->joint == TREE_PEER_FREE) {
        fputs("<freejoint/>", file);
        return;
    }
    const Mat3 turn = quat_to_mat3(pose_load(link->pose).orientation);
    double at[3], axis[3];
    vec3_store(at, mat3_tmul_vec(turn, vec3_sub(vec3_load(link->anchor), vec3_load(link->pose))));
    vec3_store(axis, mat3_tmul_vec(turn, vec3_load(link->axis)));
    fprintf(file, "<joint type='%s' stiffness='%.17g' damping='%.17g' armature='%.17g'",
            kinds[link->joint], link->stiffness, link->damping, link->armature);
    print_numbers(file, "pos", at, 3);
    if (link->joint != TREE_PEER_BALL) {
        print_numbers(file, "axis", axis, 3);
        print_numbers(file, "ref", &link->position, 1);
        print_numbers(file, "springref", &link->rest, 1);
    }
    if (isfinite(link->high)) {
        const double range[2] = {link->joint == TREE_PEER_BALL ? 0.0 : link->low, link->high};
        fputs(" limited='true'", file);
        print_numbers(file, "range", range, 2);
    }
    fputs("/>\n", file);
}

static void print_link(FILE *file, const Figure *figure, uint64_t i) {
    const TreePeerLink *link = &figure->link[i];
    Pose pose = pose_load(link->pose);
    if (link->parent >= 0) {
        const Pose above = pose_load(figure->link[link->parent].pose);
        const Quat back = {above.orientation.w, -above.orientation.x, -above.orientation.y,
                           -above.orientation.z};
        pose = (Pose){quat_rotate(back, vec3_sub(pose.position, above.position)),
                      quat_mul(back, pose.orientation)};
    }
    double packed[7];
    pose_store(packed, pose);
    fputs("<body", file);
    print_numbers(file, "pos", packed, 3);
    print_numbers(file, "quat", packed + 3, 4);
    fprintf(file, ">\n<inertial pos='0 0 0' mass='%.17g'", link->mass);
    print_numbers(file, "fullinertia", link->inertia, 6);
    fputs("/>\n", file);
    print_joint(file, link);
    for (uint64_t k = 0; k < figure->scene.shape_count; k++) {
        if (figure->shape[k].link == (int64_t)i) {
            print_shape(file, &figure->shape[k]);
        }
    }
}

static void print_figure(FILE *file, const Figure *figure) {
    fprintf(file, "<mujoco><compiler angle='radian'/><option timestep='%.17g'",
            figure->scene.time_step);
    print_numbers(file, "gravity", figure->scene.gravity, 3);
    fputs(figure->is_rk4 ? " integrator='RK4'" : "", file);
    fputs("/><worldbody>\n", file);
    for (uint64_t k = 0; k < figure->scene.shape_count; k++) {
        if (figure->shape[k].link < 0) {
            print_shape(file, &figure->shape[k]);
        }
    }
    int64_t open = -1; // the link that is being written
    for (uint64_t i = 0; i < figure->scene.link_count; i++) {
        for (; open != figure->link[i].parent; open = figure->link[open].parent) {
            fputs("</body>\n", file);
        }
        print_link(file, figure, i);
        open = (int64_t)i;
    }
    for (; open >= 0; open = figure->link[open].parent) {
        fputs("</body>\n", file);
    }
    fputs("</worldbody></mujoco>\n", file);
}

// ---- both

Figure figure_of(const Scene *scene) {
    const World *world = scene->world;
    const WorldTrees *trees = world->trees;
    Figure figure = {.scene = {.magic = TREE_PEER_MAGIC,
                               .link_count = trees->link_count,
                               .time_step = world->settings.time_step},
                     .is_rk4 = world->settings.integrator == INTEGRATOR_RK4};
    vec3_store(figure.scene.gravity, world->settings.gravity);
    figure.link = bench_memory(trees->link_count, sizeof(*figure.link));
    size_t shapes = 0;
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        shapes += shape == NULL ? 0 : shape->primitive_count;
    }
    figure.shape = bench_memory(shapes, sizeof(*figure.shape));
    for (uint32_t tree = 0; tree < trees->tree_count; tree++) {
        const Tree *of = &trees->tree[tree];
        for (uint32_t i = 0; i < of->link_count; i++) {
            const TreeLink *link = &tree_links(trees, of)[i];
            add_link(world, link, of->link_first, &figure.link[of->link_first + i]);
            add_shapes(world, link->body, of->link_first + i, &figure);
        }
    }
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (world->kind[body] == BODY_STATIC) {
            add_shapes(world, body, -1, &figure);
        }
    }
    size_t bytes = 0;
    FILE *file = open_memstream(&figure.text, &bytes);
    if (file == NULL) {
        bench_fail("memory ended");
    }
    print_figure(file, &figure);
    fclose(file);
    figure.scene.text_bytes = bytes;
    return figure;
}

void figure_free(Figure *figure) {
    free(figure->link);
    free(figure->shape);
    free(figure->text);
}
