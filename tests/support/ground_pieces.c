// SPDX-License-Identifier: MIT
#include "support/ground_pieces.h"

#include "support/hull_build.h"
#include "support/suite.h"

const char *const piece_names[PIECES] = {"box", "hull", "mesh of a box", "sheet", "height field"};

const Vec3 piece_half = {2.0, 2.0, 0.25};

static Id block_mesh(Lab *lab, Id material) {
    static const uint32_t corner[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    Vec3 point[8];
    for (uint32_t i = 0; i < 8; i++) {
        point[i] = vec3((i & 1) != 0 ? piece_half.x : -piece_half.x,
                        (i & 2) != 0 ? piece_half.y : -piece_half.y,
                        (i & 4) != 0 ? piece_half.z : -piece_half.z);
    }
    const MeshForm form = {point, 8, corner, 12, false, NULL};
    return lab_mesh(lab, &form, material);
}

static Id sheet(Lab *lab, Id material) {
    static const uint32_t corner[6] = {0, 1, 2, 0, 2, 3};
    const Vec3 point[4] = {vec3(-piece_half.x, -piece_half.y, piece_half.z),
                           vec3(piece_half.x, -piece_half.y, piece_half.z),
                           vec3(piece_half.x, piece_half.y, piece_half.z),
                           vec3(-piece_half.x, piece_half.y, piece_half.z)};
    const MeshForm form = {point, 4, corner, 2, false, NULL};
    return lab_mesh(lab, &form, material);
}

static Id field(Lab *lab, Id material) {
    enum { SIDE = 9 };
    double height[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        height[i] = piece_half.z;
    }
    const HeightForm form = {SIDE,
                             SIDE,
                             {2.0 * piece_half.x / (SIDE - 1), 2.0 * piece_half.y / (SIDE - 1)},
                             height,
                             NULL};
    return lab_heights(lab, &form, material);
}

Id piece_shape(Lab *lab, Piece piece, Id material) {
    switch (piece) {
    case PIECE_BOX:
        return lab_shape(lab, PRIMITIVE_BOX, piece_half, material);
    case PIECE_HULL: {
        const Hull *hull = hull_of_box(piece_half);
        const HullForm form = hull_form(hull);
        const Id shape = lab_hull(lab, &form, material);
        hull_free(hull);
        return shape;
    }
    case PIECE_BLOCK:
        return block_mesh(lab, material);
    case PIECE_SHEET:
        return sheet(lab, material);
    default:
        return field(lab, material);
    }
}

#define HALF_ROOT 0.70710678118654752
const Mobile mobiles[MOBILES] = {
    {"ball", PRIMITIVE_SPHERE, {0.2, 0, 0}, 0.2, {1, 0, 0, 0}, {2.0, 1.3, 0}, {-6.5, 10.0, 0.0}},
    {"box", PRIMITIVE_BOX, {0.2, 0.15, 0.1}, 0.1, {0.96, 0, 0, 0.28}, {2.0, 1.3, 0}, {0, 0, 0}},
    {"cylinder", PRIMITIVE_CYLINDER, {0.2, 0.1, 0}, 0.1, {1, 0, 0, 0}, {2.0, 1.3, 0}, {0, 0, 0}},
    {"capsule",
     PRIMITIVE_CAPSULE,
     {0.1, 0.2, 0},
     0.1,
     {HALF_ROOT, HALF_ROOT, 0, 0},
     {2.0, 0, 0},
     {0, 20.0, 0}},
    {"hull", PRIMITIVE_HULL, {0, 0, 0}, 0.1, {1, 0, 0, 0}, {2.0, 1.3, 0}, {0, 0, 0}},
};

Id mobile_shape(Lab *lab, const Mobile *mobile, Id material) {
    if (mobile->kind != PRIMITIVE_HULL) {
        return lab_shape(lab, mobile->kind, mobile->size, material);
    }
    const Hull *hull = hull_of_prism(6, 0.2, 0.1);
    const HullForm form = hull_form(hull);
    const Id shape = lab_hull(lab, &form, material);
    hull_free(hull);
    return shape;
}
