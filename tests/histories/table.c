// SPDX-License-Identifier: MIT
#include "histories/table.h"

#include "base/assert.h"

#include <string.h>

#define ROW(kind, name, type, of, width, member)                                                   \
    { kind, name, COLUMN_##type, OF_##of, width, offsetof(Input, member) }

#define SHAPE(member, type, of, width) ROW(INPUT_SHAPES, #member, type, of, width, shapes.member)

#define BODY(member, type, width) ROW(INPUT_BODIES, #member, type, BODIES, width, bodies.member)

#define JOINT(member, type, of, width) ROW(INPUT_JOINTS, #member, type, of, width, joints.member)
#define SET_BODY(member, type, width)                                                              \
    ROW(INPUT_SET, "bodies." #member, type, SET_BODIES, width, set.update.member)
#define SET_JOINT(member, type, of)                                                                \
    ROW(INPUT_SET, "joints." #member, type, of, 1, set.joints.member)
#define SET_NUMBER(upper, lower, range, none)                                                      \
    ROW(INPUT_SET, "joints." #lower, NUMBER, SET_AXES, 1, set.joints.number[JOINT_##upper]),
#define SET_MATERIAL(member, type)                                                                 \
    ROW(INPUT_SET, "materials." #member, type, SET_MATERIALS, 1, set.materials.member)
#define AXIS(upper, lower, range, none) JOINT(lower, NUMBER, AXES, 1),

// The first of what a column is of says how many there are, and is always given.
const Column table_columns[] = {
    SHAPE(kind, U32, PRIMITIVES, 1),
    SHAPE(primitives_of_shape, U32, SHAPES, 1),
    SHAPE(size, NUMBER, PRIMITIVES, 3),
    SHAPE(pose, NUMBER, PRIMITIVES, 7),
    SHAPE(material, ID, PRIMITIVES, 1),
    SHAPE(density, NUMBER, PRIMITIVES, 1),
    SHAPE(foundation_face, U32, PRIMITIVES, 1),
    SHAPE(foundation_cells, U32, PRIMITIVES, 2),
    SHAPE(foundation_modulus, NUMBER, PRIMITIVES, 1),
    SHAPE(foundation_depth, NUMBER, PRIMITIVES, 1),
    SHAPE(foundation_damping, NUMBER, PRIMITIVES, 1),
    SHAPE(group, U32, PRIMITIVES, 1),
    SHAPE(mask, U32, PRIMITIVES, 1),
    SHAPE(geometry, ID, PRIMITIVES, 1),
    SHAPE(patch_material, ID, PRIMITIVES, MESH_PATCHES_MAX - 1),
    BODY(pose, NUMBER, 7),
    BODY(velocity, NUMBER, 6),
    BODY(kind, U32, 1),
    BODY(shape, ID, 1),
    BODY(mass, NUMBER, 1),
    BODY(inertia, NUMBER, 6),
    BODY(center_of_mass, NUMBER, 3),
    BODY(name, TEXT, 1),
    JOINT(kind, U32, JOINTS, 1),
    JOINT(body_a, ID, JOINTS, 1),
    JOINT(body_b, ID, JOINTS, 1),
    JOINT(axes, U32, JOINTS, 1),
    JOINT(frame_a, NUMBER, JOINTS, 7),
    JOINT(frame_b, NUMBER, JOINTS, 7),
    JOINT(as_rows, U32, JOINTS, 1),
    JOINT(collides, U32, JOINTS, 1),
    JOINT(joint_a, ID, JOINTS, 1),
    JOINT(joint_b, ID, JOINTS, 1),
    JOINT(ratio, NUMBER, JOINTS, 1),
    JOINT(length, NUMBER, JOINTS, 1),
    JOINT(break_force, NUMBER, JOINTS, 1),
    JOINT(break_torque, NUMBER, JOINTS, 1),
    JOINT(coupled_count, U32, JOINTS, 1),
    JOINT(coupled, ID, COUPLINGS, 1),
    JOINT(coupled_axes, U32, COUPLINGS, 1),
    JOINT(coefficients, NUMBER, COUPLINGS, 1),
    JOINT(name, TEXT, JOINTS, 1),
    JOINT_NUMBER_MAP(AXIS) JOINT(velocity, NUMBER, AXES, 1),
    JOINT(target, NUMBER, AXES, 1),
    JOINT(target_velocity, NUMBER, AXES, 1),
    JOINT(effort, NUMBER, AXES, 1),
    JOINT(position, NUMBER, POSITIONS, 1),
    SET_BODY(id, ID, 1),
    SET_BODY(pose, NUMBER, 7),
    SET_BODY(velocity, NUMBER, 6),
    SET_BODY(mass, NUMBER, 1),
    SET_BODY(inertia, NUMBER, 6),
    SET_JOINT(id, ID, SET_JOINTS),
    SET_JOINT(position, NUMBER, SET_POSITIONS),
    SET_JOINT(velocity, NUMBER, SET_AXES),
    SET_JOINT(target, NUMBER, SET_AXES),
    SET_JOINT(target_velocity, NUMBER, SET_AXES),
    SET_JOINT(effort, NUMBER, SET_AXES),
    JOINT_NUMBER_MAP(SET_NUMBER) SET_MATERIAL(id, ID),
    SET_MATERIAL(friction, NUMBER),
    SET_MATERIAL(restitution, NUMBER),
    SET_MATERIAL(stiffness, NUMBER),
    SET_MATERIAL(dissipation_time, NUMBER),
    SET_MATERIAL(damping, NUMBER),
    SET_MATERIAL(hertz_exponent, NUMBER),
    ROW(INPUT_SET, "shapes.id", ID, SET_SHAPES, 1, set.shapes.id),
    ROW(INPUT_SET, "shapes.material", ID, SET_PRIMITIVES, 1, set.shapes.material),
    ROW(INPUT_SET, "pairs.a", ID, SET_PAIRS, 1, set.pairs.a),
    ROW(INPUT_SET, "pairs.b", ID, SET_PAIRS, 1, set.pairs.b),
    ROW(INPUT_SET, "pairs.friction", NUMBER, SET_PAIRS, 1, set.pairs.friction),
    ROW(INPUT_STEP, "wrench_body", ID, WRENCHES, 1, step.wrench_body),
    ROW(INPUT_STEP, "wrench", NUMBER, WRENCHES, 6, step.wrench),
    ROW(INPUT_REMOVE, "bodies", ID, REMOVED_BODIES, 1, remove.body),
    ROW(INPUT_REMOVE, "shapes", ID, REMOVED_SHAPES, 1, remove.shape),
    ROW(INPUT_REMOVE, "joints", ID, REMOVED_JOINTS, 1, remove.joint),
    ROW(INPUT_REMOVE, "geometries", ID, REMOVED_GEOMETRIES, 1, remove.geometry),
};

const size_t table_column_count = sizeof(table_columns) / sizeof(table_columns[0]);

typedef struct CountRow {
    size_t offset;
    bool is_u32;
} CountRow;

static const CountRow counts[OF_COUNT] = {
    [OF_MATERIALS] = {offsetof(Input, materials.count), false},
    [OF_SHAPES] = {offsetof(Input, shapes.shape_count), false},
    [OF_PRIMITIVES] = {offsetof(Input, shapes.primitive_count), false},
    [OF_BODIES] = {offsetof(Input, bodies.count), true},
    [OF_JOINTS] = {offsetof(Input, joints.count), true},
    [OF_AXES] = {offsetof(Input, joints.axis_count), false},
    [OF_POSITIONS] = {offsetof(Input, joints.position_count), false},
    [OF_COUPLINGS] = {offsetof(Input, joints.coupling_count), false},
    [OF_SET_BODIES] = {offsetof(Input, set.update.count), false},
    [OF_SET_JOINTS] = {offsetof(Input, set.joints.count), false},
    [OF_SET_AXES] = {offsetof(Input, set.joints.axis_count), false},
    [OF_SET_POSITIONS] = {offsetof(Input, set.joints.position_count), false},
    [OF_SET_MATERIALS] = {offsetof(Input, set.materials.count), false},
    [OF_SET_SHAPES] = {offsetof(Input, set.shapes.count), false},
    [OF_SET_PRIMITIVES] = {offsetof(Input, set.shapes.primitive_count), false},
    [OF_SET_PAIRS] = {offsetof(Input, set.pairs.count), false},
    [OF_WRENCHES] = {offsetof(Input, step.wrench_count), false},
    [OF_REMOVED_BODIES] = {offsetof(Input, remove.body_count), false},
    [OF_REMOVED_SHAPES] = {offsetof(Input, remove.shape_count), false},
    [OF_REMOVED_JOINTS] = {offsetof(Input, remove.joint_count), false},
    [OF_REMOVED_GEOMETRIES] = {offsetof(Input, remove.geometry_count), false},
};

size_t table_count(const Input *input, ColumnOf of) {
    const void *at = (const char *)input + counts[of].offset;
    return counts[of].is_u32 ? *(const uint32_t *)at : *(const size_t *)at;
}

void table_set_count(Input *input, ColumnOf of, size_t count) {
    void *at = (char *)input + counts[of].offset;
    if (counts[of].is_u32) {
        *(uint32_t *)at = (uint32_t)count;
    } else {
        *(size_t *)at = count;
    }
}

size_t column_item_bytes(ColumnType type) {
    static const size_t bytes[] = {[COLUMN_U32] = sizeof(uint32_t),
                                   [COLUMN_ID] = sizeof(uint64_t),
                                   [COLUMN_NUMBER] = sizeof(double),
                                   [COLUMN_TEXT] = sizeof(char *)};
    return bytes[type];
}

const void *column_of(const Input *input, const Column *column) {
    ASSERT(input->kind == column->kind);
    const void *values;
    memcpy(&values, (const char *)input + column->offset, sizeof(values));
    return values;
}

void column_set(Input *input, const Column *column, const void *values) {
    memcpy((char *)input + column->offset, &values, sizeof(values));
}
