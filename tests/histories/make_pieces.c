// SPDX-License-Identifier: MIT
// Ground in pieces: static and kinematic bodies of any shapes, laid flush side by side by the boxes
// around them, so that what are boxes, tiles and fields are one ground (collide/seam.h), also where
// a third one lies at their seam; shapes of several such pieces; and what is set down on a seam, or
// slides across.
#include "histories/make_pieces.h"

#include "base/assert.h"
#include "histories/variant.h"

#include <math.h>
#include <string.h>

// ---- boxes

static void grow(PieceBox *box, const PieceBox *by) {
    box->low =
        vec3(fmin(box->low.x, by->low.x), fmin(box->low.y, by->low.y), fmin(box->low.z, by->low.z));
    box->high = vec3(fmax(box->high.x, by->high.x), fmax(box->high.y, by->high.y),
                     fmax(box->high.z, by->high.z));
}

bool pieces_box(const World *world, uint64_t id, Quat turn, PieceBox *box) {
    uint32_t index;
    if (id == 0 || !world_find_shape(world, id, &index) || world->shape[index].is_unbounded) {
        return false;
    }
    const Shape *shape = &world->shape[index];
    const Pose turned = {vec3(0.0, 0.0, 0.0), turn};
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        PieceBox own;
        primitive_bounds(primitive, pose_compose(turned, primitive->local), &own.low, &own.high);
        *box = i == 0 ? own : *box;
        grow(box, &own);
    }
    return shape->primitive_count > 0;
}

Quat pieces_about_z(double angle) {
    return (Quat){cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
}

// ---- what lies there

void pieces_add(Pieces *pieces, const World *world, uint64_t shape, Pose pose) {
    ASSERT(pieces->count <= PIECES_MAX);
    Piece piece = {.pose = pose};
    if (pieces->count < PIECES_MAX && pieces_box(world, shape, quat_identity(), &piece.box)) {
        pieces->piece[pieces->count++] = piece;
    }
}

Pieces *pieces_of_world(Make *make) {
    const World *world = make->world;
    Pieces *pieces = make_column(make, 1, sizeof(*pieces));
    for (uint32_t i = 0; i < world->body_count; i++) {
        const Shape *shape = world_body_shape(world, i);
        if (shape != NULL && world->kind[i] != BODY_DYNAMIC) {
            pieces_add(pieces, world, shape->id, variant_frame(world, i));
        }
    }
    return pieces;
}

static const Piece *any_piece(Make *make, const Pieces *pieces) {
    return pieces->count == 0 ? NULL : &pieces->piece[make_roll(make, pieces->count)];
}

// Nothing, but for a lip or a crack now and then.
static double any_slip(Make *make) {
    return make_chance(make, 85)
               ? 0.0
               : make_magnitude(make, 1e-9, 1e-2) * (make_chance(make, 50) ? 1.0 : -1.0);
}

bool pieces_beside(Make *make, const Pieces *pieces, uint64_t shape, Pose *pose) {
    const Piece *there = any_piece(make, pieces);
    const Quat turn =
        make_chance(make, 70) ? quat_identity() : pieces_about_z(0.5 * M_PI * make_roll(make, 4));
    PieceBox own;
    if (there == NULL || !pieces_box(make->world, shape, turn, &own)) {
        return false;
    }
    const PieceBox *box = &there->box;
    double at[2], low[2] = {box->low.x, box->low.y}, high[2] = {box->high.x, box->high.y};
    const double own_low[2] = {own.low.x, own.low.y}, own_high[2] = {own.high.x, own.high.y};
    const uint32_t across = make_roll(make, 2), along = 1 - across;
    at[across] =
        make_chance(make, 50) ? high[across] - own_low[across] : low[across] - own_high[across];
    at[across] += any_slip(make);
    // in line, in bond, or anyhow
    const double share = make_chance(make, 60)   ? 0.0
                         : make_chance(make, 50) ? 0.5
                                                 : make_uniform(make, -1.0, 1.0);
    at[along] = low[along] - own_low[along] + share * (high[along] - low[along]);
    const double up = box->high.z - own.high.z + any_slip(make);
    pose->position = pose_apply(there->pose, vec3(at[0], at[1], up));
    pose->orientation = quat_normalize(quat_mul(there->pose.orientation, turn));
    return true;
}

// Now and then it begins deep in what it stands on: of the bits of where, so that no other dice
// fall otherwise.
static double any_sink(double where, double tall) {
    uint64_t bits;
    memcpy(&bits, &where, sizeof(bits));
    return bits % 4 == 0 ? (double)(bits / 4 % 64) / 128.0 * tall : 0.0;
}

bool pieces_upon(Make *make, const Pieces *pieces, uint64_t shape, Pose *pose) {
    static const double quarter = 0.70710678118654757;
    static const Quat sides[4] = {{1.0, 0.0, 0.0, 0.0},
                                  {quarter, quarter, 0.0, 0.0},
                                  {quarter, 0.0, -quarter, 0.0},
                                  {0.0, 1.0, 0.0, 0.0}};
    const Piece *there = any_piece(make, pieces);
    const double angle = make_chance(make, 30) ? 0.0 : make_uniform(make, -3.0, 3.0);
    const Quat turn = quat_normalize(quat_mul(pieces_about_z(angle), sides[make_roll(make, 4)]));
    PieceBox own;
    if (there == NULL || !pieces_box(make->world, shape, turn, &own)) {
        return false;
    }
    const PieceBox *box = &there->box;
    double x = make_uniform(make, box->low.x, box->high.x),
           y = make_uniform(make, box->low.y, box->high.y);
    const uint32_t edge = make_roll(make, 6); // of the box, or of none
    x = edge == 0 ? box->low.x : edge == 1 ? box->high.x : x;
    y = edge == 2 ? box->low.y : edge == 3 ? box->high.y : y;
    const double near = make_chance(make, 40) ? 0.0 : 0.1;
    x += make_uniform(make, -near, near);
    y += make_uniform(make, -near, near);
    double above = make_chance(make, 15) ? make_uniform(make, 0.0, 0.2) : any_slip(make);
    if (above == 0.0) {
        above = -any_sink(x + 3.0 * y + angle, own.high.z - own.low.z);
    }
    pose->position = pose_apply(there->pose, vec3(x, y, box->high.z - own.low.z + above));
    pose->orientation = quat_normalize(quat_mul(there->pose.orientation, turn));
    return true;
}

// ---- shapes of several

void pieces_join(Make *make, const ShapeColumns *shapes, size_t first, uint32_t count,
                 double *pose) {
    ASSERT(count > 0);
    PieceBox last = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const uint32_t axis = make_roll(make, 2);
    for (size_t i = first; i < first + count; i++) {
        const uint64_t number = shapes->geometry == NULL ? 0 : shapes->geometry[i];
        const Primitive primitive = {
            .kind = (PrimitiveKind)shapes->kind[i],
            .size = vec3_load(shapes->size + 3 * i),
            .geometry = number == 0 ? NULL : make->world->geometry[number - 1].geometry};
        PieceBox own;
        Vec3 at = {0.0, 0.0, 0.0};
        const uint32_t worn = number == 0 ? 0 : (uint32_t)primitive.geometry->kind;
        if (worn != primitive_rows[primitive.kind].geometry) { // to be refused
            continue;
        }
        primitive_bounds(&primitive, (Pose){at, quat_identity()}, &own.low, &own.high);
        at.z = -own.high.z + any_slip(make); // all of one height
        at.x = axis == 0 ? last.high.x - own.low.x + any_slip(make) : -own.low.x;
        at.y = axis == 1 ? last.high.y - own.low.y + any_slip(make) : -own.low.y;
        last = (PieceBox){vec3_add(at, own.low), vec3_add(at, own.high)};
        pose_store(pose + 7 * i, (Pose){at, quat_identity()});
    }
}

Vec3 pieces_half(Make *make) {
    return vec3(0.1 * (1 + make_roll(make, 5)), 0.1 * (1 + make_roll(make, 5)),
                0.05 * (1 + make_roll(make, 4)));
}

// ---- motions

void pieces_slide(Make *make, const Pieces *pieces, BodyColumns *bodies) {
    const Piece *there = any_piece(make, pieces);
    const Quat turn = there == NULL ? quat_identity() : there->pose.orientation;
    double *velocity = make_column(make, bodies->count, 6 * sizeof(*velocity));
    const double size = make_chance(make, 80) ? 3.0 : 60.0;
    const double carried = make_chance(make, 50) ? 0.0 : make_uniform(make, -1.0, 1.0);
    for (uint32_t i = 0; i < bodies->count; i++) {
        const Vec3 way =
            bodies->kind[i] == BODY_DYNAMIC
                ? vec3(make_uniform(make, -size, size), make_uniform(make, -size, size), 0.0)
                : vec3(carried, 0.3 * carried, 0.0);
        if (bodies->kind[i] != BODY_STATIC) {
            vec3_store(velocity + 6 * (size_t)i, quat_rotate(turn, way));
        }
    }
    bodies->velocity = velocity;
}
