// SPDX-License-Identifier: MIT
// A box over a half-space: its four lowest vertices, those within reach. The feature is the vertex.
//
// Going from the lowest vertex to its neighbour along an axis costs a height c_i = 2 half_i |axis_i
// . up|. With c_0 <= c_1 <= c_2 the four lowest vertices cost 0, c_0, c_1 and the smaller of c_0 +
// c_1 (together a face) and c_2 (a corner and its three neighbours): the face of a box that lies,
// and always four points that do not lie on one line.
#include "base/assert.h"
#include "collide/narrow_parts.h"

// Bit i of a vertex: its coordinate on axis i is positive.
static Vec3 vertex_offset(const Mat3 *axes, Vec3 half, uint32_t vertex) {
    Vec3 offset = vec3_scale((vertex & 1u) != 0 ? half.x : -half.x, axes->c0);
    offset = vec3_add_scaled(offset, (vertex & 2u) != 0 ? half.y : -half.y, axes->c1);
    return vec3_add_scaled(offset, (vertex & 4u) != 0 ? half.z : -half.z, axes->c2);
}

static void order_by_cost(const double cost[3], int order[3]) {
    for (int i = 0; i < 3; i++) {
        int place = i;
        for (; place > 0 && cost[order[place - 1]] > cost[i]; place--) {
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
}

// A set of vertices, one bit each, so that the points come in the order of their features whatever
// the costs.
static uint32_t pick_vertices(const double climb[3]) {
    uint32_t lowest = 0;
    double cost[3];
    for (int i = 0; i < 3; i++) {
        lowest |= climb[i] < 0.0 ? 1u << i : 0u; // the axis points down
        cost[i] = fabs(climb[i]);
    }
    int order[3];
    order_by_cost(cost, order);
    uint32_t first = 1u << order[0], second = 1u << order[1], third = 1u << order[2];
    uint32_t fourth = cost[order[0]] + cost[order[1]] <= cost[order[2]] ? first | second : third;
    return 1u << lowest | 1u << (lowest ^ first) | 1u << (lowest ^ second) |
           1u << (lowest ^ fourth);
}

void box_plane(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
               double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_BOX && b->kind == PRIMITIVE_PLANE);
    Vec3 up = quat_to_mat3(pose_b->orientation).c2;
    Mat3 axes = quat_to_mat3(pose_a->orientation);
    Vec3 half = a->size;
    const double climb[3] = {half.x * vec3_dot(axes.c0, up), half.y * vec3_dot(axes.c1, up),
                             half.z * vec3_dot(axes.c2, up)};
    double height = vec3_dot(up, vec3_sub(pose_a->position, pose_b->position));
    if (height - (fabs(climb[0]) + fabs(climb[1]) + fabs(climb[2])) > reach) {
        return;
    }
    uint32_t picked = pick_vertices(climb);
    manifold->normal = vec3_neg(up);
    for (uint32_t vertex = 0; vertex < 8; vertex++) {
        if ((picked >> vertex & 1u) == 0) {
            continue;
        }
        Vec3 offset = vertex_offset(&axes, half, vertex);
        double gap = height + vec3_dot(up, offset);
        if (gap <= reach) {
            Vec3 position = vec3_add_scaled(vec3_add(pose_a->position, offset), -0.5 * gap, up);
            manifold->point[manifold->count++] =
                (ManifoldPoint){.position = position, .gap = gap, .feature = vertex};
        }
    }
}
