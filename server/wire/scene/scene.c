// SPDX-License-Identifier: MIT
#include "wire/scene/scene.h"

#include "wire/convert.h"
#include "wire/scene/geometry.h"
#include "wire/scene/name_list.h"
#include "wire/scene/parts.h"
#include "wire/scene/primitive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "scene",
                     "The scene needs more memory than one request may take, which is some frames "
                     "(option --frame-bytes-max).");
}

// What a room below blames as settings.gravity stands in the scene as scene.settings.gravity.
static void blame_scene(Error *error) {
    char field[sizeof(error->field)];
    snprintf(field, sizeof(field), "scene.%.100s", error->field);
    memcpy(error->field, field, sizeof(field));
}

static void add(const Input *input, ScenePlan *plan) {
    plan->input[plan->input_count++] = *input;
}

// ---- shapes

// `values` has `wanted` numbers, or none.
static Status check_length(size_t count, size_t wanted, bool required, const char *path,
                           const char *name, Error *error) {
    if (count == wanted || (count == 0 && !required)) {
        return STATUS_OK;
    }
    char field[128];
    snprintf(field, sizeof(field), "%s.%s", path, name);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "This %s %zu numbers, got %zu.",
                     count == 0 ? "is required and needs" : "needs", wanted, count);
}

static Pose read_pose(size_t n_position, const double *position, size_t n_orientation,
                      const double *orientation) {
    Pose pose = {.orientation = quat_identity()};
    if (n_position == 3) {
        pose.position = vec3_load(position);
    }
    if (n_orientation == 4) {
        pose.orientation = (Quat){orientation[0], orientation[1], orientation[2], orientation[3]};
    }
    return pose;
}

static Status read_plane(const Moreau__V1__ScenePlane *plane, const char *path, Pose *local,
                         Error *error) {
    Status status = check_length(plane->n_normal, 3, false, path, "plane.normal", error);
    if (status != STATUS_OK) {
        return status;
    }
    Vec3 normal = plane->n_normal == 3 ? vec3_load(plane->normal) : vec3(0.0, 0.0, 1.0);
    double length = vec3_norm(normal);
    if (!(length > 1e-9 && length < 1e9)) {
        char field[128];
        snprintf(field, sizeof(field), "%s.plane.normal", path);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "A normal must point somewhere: its length is %g.", length);
    }
    normal = vec3_scale(1.0 / length, normal);
    Pose plane_pose = {.position = vec3_scale(plane->offset, normal),
                       .orientation = scene_turn_from_z(normal)};
    *local = pose_compose(*local, plane_pose);
    return STATUS_OK;
}

Status scene_list_materials(const Moreau__V1__Scene *scene, Arena *arena, NameList *list,
                            Error *error) {
    if (!name_list_begin(list, scene->n_materials, arena)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < scene->n_materials; i++) {
        name_list_add(list, scene->materials[i]->name, i);
    }
    name_list_sort(list);
    return STATUS_OK;
}

static Status find_material(const NameList *materials, const char *name, const char *path,
                            const char *column, uint64_t *id, Error *error) {
    *id = 0;
    if (name == NULL || name[0] == '\0') {
        return STATUS_OK;
    }
    const NameEntry *found = name_list_find(materials, name);
    if (found != NULL) {
        *id = found->index + 1; // a fresh world counts its materials from 1
        return STATUS_OK;
    }
    char field[160];
    snprintf(field, sizeof(field), "%s.%s", path, column);
    return error_set(error, STATUS_NOT_FOUND, field, "The scene has no material called %.64s.",
                     name);
}

typedef struct ShapeArrays {
    uint32_t *primitives_of_shape;
    uint32_t *kind;
    double *size, *pose, *density;
    uint64_t *material, *patch_material;          // the latter NULL: none has patches
    uint32_t *foundation_face, *foundation_cells; // NULL: none has one
    double *foundation_modulus, *foundation_depth, *foundation_damping;
    uint32_t *group, *mask; // NULL: every shape has the defaults
    uint32_t *body_of_primitive, *shape_of_primitive;
    NameList materials;
} ShapeArrays;

static Status read_foundation(const Moreau__V1__Foundation *foundation, const char *path, size_t at,
                              ShapeArrays *arrays, Error *error) {
    if (foundation == NULL || foundation->face == MOREAU__V1__FOUNDATION__FACE__NONE) {
        return STATUS_OK;
    }
    Status status = check_length(foundation->n_cells, 2, true, path, "foundation.cells", error);
    if (status != STATUS_OK) {
        return status;
    }
    arrays->foundation_face[at] = (uint32_t)foundation->face;
    memcpy(arrays->foundation_cells + 2 * at, foundation->cells, 2 * sizeof(uint32_t));
    arrays->foundation_modulus[at] = foundation->modulus;
    arrays->foundation_depth[at] = foundation->depth;
    arrays->foundation_damping[at] = foundation->damping;
    return STATUS_OK;
}

static Status blame_kind(const char *path, Error *error) {
    char known[256] = "";
    for (int i = 0; i < PRIMITIVE_COUNT; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
                 primitive_rows[i].key);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, path,
                     "A shape is one of %s; this one says none.", known);
}

enum { PATCHES = MESH_PATCHES_MAX - 1 }; // that have materials of their own

static Status read_patches(const Moreau__V1__ScenePrimitive *shape, const char *path, size_t at,
                           ShapeArrays *arrays, Error *error) {
    char column[48] = "patch_materials";
    Status status = STATUS_OK;
    if (shape->n_patch_materials > PATCHES) {
        char field[160];
        snprintf(field, sizeof(field), "%s.%s", path, column);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "Patches 1 to %d have materials of their own; here are %zu names.",
                         PATCHES, shape->n_patch_materials);
    }
    for (size_t k = 0; status == STATUS_OK && k < shape->n_patch_materials; k++) {
        snprintf(column, sizeof(column), "patch_materials[%zu]", k);
        status = find_material(&arrays->materials, shape->patch_materials[k], path, column,
                               &arrays->patch_material[PATCHES * at + k], error);
    }
    return status;
}

static Status read_primitive(const Moreau__V1__ScenePrimitive *shape, const char *path, size_t at,
                             ShapeArrays *arrays, Error *error) {
    double *size = arrays->size + 3 * at;
    size[0] = size[1] = size[2] = 0.0;
    Status status = check_length(shape->n_position, 3, false, path, "position", error);
    status = STATUS_THEN(status,
                         check_length(shape->n_orientation, 4, false, path, "orientation", error));
    if (status != STATUS_OK) {
        return status;
    }
    Pose local =
        read_pose(shape->n_position, shape->position, shape->n_orientation, shape->orientation);
    PrimitiveKind kind;
    const ProtobufCMessage *of = scene_primitive_of(shape, &kind);
    if (of == NULL) {
        return blame_kind(path, error);
    }
    arrays->kind[at] = kind;
    status = kind == PRIMITIVE_PLANE ? read_plane(shape->plane, path, &local, error)
                                     : scene_primitive_read(of, kind, path, size, error);
    if (status != STATUS_OK) {
        return status;
    }
    pose_store(arrays->pose + 7 * at, local);
    arrays->density[at] = shape->has_density ? shape->density : 1000.0;
    if (arrays->group != NULL) {
        arrays->group[at] = shape->group;
        arrays->mask[at] = shape->mask;
    }
    status = read_foundation(shape->foundation, path, at, arrays, error);
    status = STATUS_THEN(status, read_patches(shape, path, at, arrays, error));
    return STATUS_THEN(status, find_material(&arrays->materials, shape->material, path, "material",
                                             &arrays->material[at], error));
}

static bool has_foundations(const Moreau__V1__Scene *scene) {
    for (size_t i = 0; i < scene->n_bodies; i++) {
        for (size_t k = 0; k < scene->bodies[i]->n_shapes; k++) {
            if (scene->bodies[i]->shapes[k]->foundation != NULL) {
                return true;
            }
        }
    }
    return false;
}

static bool take_foundations(size_t primitives, Arena *arena, ShapeArrays *arrays) {
    arrays->foundation_face = arena_take_zeroed(arena, primitives, sizeof(uint32_t));
    arrays->foundation_cells = arena_take_zeroed(arena, primitives, 2 * sizeof(uint32_t));
    arrays->foundation_modulus = arena_take_zeroed(arena, primitives, sizeof(double));
    arrays->foundation_depth = arena_take_zeroed(arena, primitives, sizeof(double));
    arrays->foundation_damping = arena_take_zeroed(arena, primitives, sizeof(double));
    return arrays->foundation_face != NULL && arrays->foundation_cells != NULL &&
           arrays->foundation_modulus != NULL && arrays->foundation_depth != NULL &&
           arrays->foundation_damping != NULL;
}

static size_t count_primitives(const Moreau__V1__Scene *scene, size_t *shapes) {
    size_t total = 0;
    *shapes = 0;
    for (size_t i = 0; i < scene->n_bodies; i++) {
        total += scene->bodies[i]->n_shapes;
        *shapes += scene->bodies[i]->n_shapes > 0;
    }
    return total;
}

static bool has_groups(const Moreau__V1__Scene *scene) {
    for (size_t i = 0; i < scene->n_bodies; i++) {
        for (size_t k = 0; k < scene->bodies[i]->n_shapes; k++) {
            const Moreau__V1__ScenePrimitive *shape = scene->bodies[i]->shapes[k];
            if (shape->has_group || shape->has_mask) {
                return true;
            }
        }
    }
    return false;
}

static bool has_patches(const Moreau__V1__Scene *scene) {
    for (size_t i = 0; i < scene->n_bodies; i++) {
        for (size_t k = 0; k < scene->bodies[i]->n_shapes; k++) {
            if (scene->bodies[i]->shapes[k]->n_patch_materials > 0) {
                return true;
            }
        }
    }
    return false;
}

// false: memory ended.
static bool take_patches(const Moreau__V1__Scene *scene, Arena *arena, size_t primitives,
                         ShapeArrays *arrays) {
    if (has_patches(scene)) {
        arrays->patch_material = arena_take_zeroed(arena, PATCHES * primitives, sizeof(uint64_t));
        return arrays->patch_material != NULL;
    }
    return true;
}

// false: memory ended.
static bool take_groups(const Moreau__V1__Scene *scene, Arena *arena, size_t primitives,
                        ShapeArrays *arrays) {
    if (!has_groups(scene)) {
        return true;
    }
    arrays->group = arena_take_array(arena, primitives, sizeof(uint32_t));
    arrays->mask = arena_take_array(arena, primitives, sizeof(uint32_t));
    return arrays->group != NULL && arrays->mask != NULL;
}

// false: memory ended.
static bool take_arrays(const Moreau__V1__Scene *scene, Arena *arena, size_t shapes,
                        size_t primitives, ShapeArrays *arrays) {
    *arrays = (ShapeArrays){
        .primitives_of_shape = arena_take_array(arena, shapes, sizeof(uint32_t)),
        .kind = arena_take_array(arena, primitives, sizeof(uint32_t)),
        .size = arena_take_array(arena, primitives, 3 * sizeof(double)),
        .pose = arena_take_array(arena, primitives, 7 * sizeof(double)),
        .density = arena_take_array(arena, primitives, sizeof(double)),
        .material = arena_take_array(arena, primitives, sizeof(uint64_t)),
        .body_of_primitive = arena_take_array(arena, primitives, sizeof(uint32_t)),
        .shape_of_primitive = arena_take_array(arena, primitives, sizeof(uint32_t)),
    };
    return arrays->primitives_of_shape != NULL && arrays->kind != NULL && arrays->size != NULL &&
           arrays->pose != NULL && arrays->density != NULL && arrays->material != NULL &&
           arrays->body_of_primitive != NULL && arrays->shape_of_primitive != NULL &&
           take_groups(scene, arena, primitives, arrays) &&
           take_patches(scene, arena, primitives, arrays) &&
           (!has_foundations(scene) || take_foundations(primitives, arena, arrays));
}

// Nothing where the scene has none.
static Status plan_geometries(const Moreau__V1__Scene *scene, size_t primitives, Arena *arena,
                              SceneGeometries *geometries, ScenePlan *plan, Error *error) {
    if (!scene_has_geometries(scene)) {
        return STATUS_OK;
    }
    Status status = scene_geometries(scene, primitives, arena, geometries, error);
    if (status != STATUS_OK || geometries->list.count == 0) {
        return status;
    }
    plan->geometries_listed = geometries->listed;
    plan->primitive_of_geometry = geometries->primitive_of;
    const Input input = {.kind = INPUT_GEOMETRIES, .geometries = geometries->list};
    add(&input, plan);
    return STATUS_OK;
}

static Status plan_shapes(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                          Error *error) {
    size_t shapes, primitives = count_primitives(scene, &shapes);
    SceneGeometries geometries = {0};
    Status read = plan_geometries(scene, primitives, arena, &geometries, plan, error);
    if (read != STATUS_OK || primitives == 0) {
        return read;
    }
    ShapeArrays arrays;
    if (!take_arrays(scene, arena, shapes, primitives, &arrays)) {
        return out_of_memory(error);
    }
    Status indexed = scene_list_materials(scene, arena, &arrays.materials, error);
    if (indexed != STATUS_OK) {
        return indexed;
    }
    size_t at = 0, shape = 0;
    for (size_t i = 0; i < scene->n_bodies; i++) {
        const Moreau__V1__SceneBody *body = scene->bodies[i];
        for (size_t k = 0; k < body->n_shapes; k++, at++) {
            char path[96];
            snprintf(path, sizeof(path), "scene.bodies[%zu].shapes[%zu]", i, k);
            arrays.body_of_primitive[at] = (uint32_t)i;
            arrays.shape_of_primitive[at] = (uint32_t)k;
            Status status = read_primitive(body->shapes[k], path, at, &arrays, error);
            if (status != STATUS_OK) {
                return status;
            }
        }
        if (body->n_shapes > 0) {
            arrays.primitives_of_shape[shape++] = (uint32_t)body->n_shapes;
        }
    }
    plan->body_of_primitive = arrays.body_of_primitive;
    plan->shape_of_primitive = arrays.shape_of_primitive;
    Input input = {.kind = INPUT_SHAPES,
                   .shapes = {.shape_count = shapes,
                              .primitive_count = primitives,
                              .primitives_of_shape = arrays.primitives_of_shape,
                              .kind = arrays.kind,
                              .size = arrays.size,
                              .pose = arrays.pose,
                              .material = arrays.material,
                              .density = arrays.density,
                              .foundation_face = arrays.foundation_face,
                              .foundation_cells = arrays.foundation_cells,
                              .foundation_modulus = arrays.foundation_modulus,
                              .foundation_depth = arrays.foundation_depth,
                              .foundation_damping = arrays.foundation_damping,
                              .group = arrays.group,
                              .mask = arrays.mask,
                              .geometry = geometries.own,
                              .patch_material = arrays.patch_material}};
    add(&input, plan);
    return STATUS_OK;
}

// ---- bodies

// Which of the mass properties a body gives: bodies that give the same go into one input, as a
// column is given for all or for none.
static unsigned given_by(const Moreau__V1__SceneBody *body) {
    return (body->has_mass ? 1u : 0u) | (body->n_inertia > 0 ? 2u : 0u) |
           (body->n_center_of_mass > 0 ? 4u : 0u);
}

typedef struct BodyArrays {
    double *pose, *velocity, *mass, *inertia, *center;
    uint32_t *kind;
    uint64_t *shape;
    const char **name;
} BodyArrays;

static Status read_body(const Moreau__V1__SceneBody *body, size_t index, const BodyArrays *arrays,
                        Error *error) {
    char path[64];
    snprintf(path, sizeof(path), "scene.bodies[%zu]", index);
    const struct {
        size_t count, wanted;
        const char *name;
    } lists[] = {
        {body->n_position, 3, "position"},
        {body->n_orientation, 4, "orientation"},
        {body->n_linear_velocity, 3, "linear_velocity"},
        {body->n_angular_velocity, 3, "angular_velocity"},
        {body->n_inertia, 6, "inertia"},
        {body->n_center_of_mass, 3, "center_of_mass"},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        Status status =
            check_length(lists[i].count, lists[i].wanted, false, path, lists[i].name, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    pose_store(arrays->pose + 7 * index,
               read_pose(body->n_position, body->position, body->n_orientation, body->orientation));
    double *velocity = arrays->velocity + 6 * index;
    memset(velocity, 0, 6 * sizeof(double));
    if (body->n_linear_velocity == 3) {
        memcpy(velocity, body->linear_velocity, 3 * sizeof(double));
    }
    if (body->n_angular_velocity == 3) {
        memcpy(velocity + 3, body->angular_velocity, 3 * sizeof(double));
    }
    arrays->kind[index] = (uint32_t)body->kind;
    arrays->mass[index] = body->mass;
    if (body->n_inertia == 6) {
        memcpy(arrays->inertia + 6 * index, body->inertia, 6 * sizeof(double));
    }
    if (body->n_center_of_mass == 3) {
        memcpy(arrays->center + 3 * index, body->center_of_mass, 3 * sizeof(double));
    }
    arrays->name[index] = body->name;
    return STATUS_OK;
}

static Status check_names(const Moreau__V1__Scene *scene, Arena *arena, Error *error) {
    NameList bodies;
    if (!name_list_begin(&bodies, scene->n_bodies, arena)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < scene->n_bodies; i++) {
        name_list_add(&bodies, scene->bodies[i]->name, i);
    }
    name_list_sort(&bodies);
    const NameEntry *second = name_list_double(&bodies);
    if (second == NULL) {
        return STATUS_OK;
    }
    char field[64];
    snprintf(field, sizeof(field), "scene.bodies[%zu].name", second->index);
    return error_set(error, STATUS_ALREADY_EXISTS, field, "Two bodies are called %.64s.",
                     second->name);
}

static void plan_run(const Moreau__V1__Scene *scene, const BodyArrays *arrays, size_t first,
                     size_t count, ScenePlan *plan) {
    unsigned given = given_by(scene->bodies[first]);
    Input input = {.kind = INPUT_BODIES,
                   .bodies = {.count = (uint32_t)count,
                              .pose = arrays->pose + 7 * first,
                              .velocity = arrays->velocity + 6 * first,
                              .kind = arrays->kind + first,
                              .shape = arrays->shape + first,
                              .mass = given & 1u ? arrays->mass + first : NULL,
                              .inertia = given & 2u ? arrays->inertia + 6 * first : NULL,
                              .center_of_mass = given & 4u ? arrays->center + 3 * first : NULL,
                              .name = arrays->name + first}};
    plan->first_item[plan->input_count] = (uint32_t)first;
    add(&input, plan);
}

static Status plan_bodies(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                          Error *error) {
    size_t count = scene->n_bodies;
    BodyArrays arrays = {
        .pose = arena_take_array(arena, count, 7 * sizeof(double)),
        .velocity = arena_take_array(arena, count, 6 * sizeof(double)),
        .mass = arena_take_array(arena, count, sizeof(double)),
        .inertia = arena_take_array(arena, count, 6 * sizeof(double)),
        .center = arena_take_array(arena, count, 3 * sizeof(double)),
        .kind = arena_take_array(arena, count, sizeof(uint32_t)),
        .shape = arena_take_array(arena, count, sizeof(uint64_t)),
        .name = arena_take_array(arena, count, sizeof(char *)),
    };
    if (arrays.pose == NULL || arrays.velocity == NULL || arrays.mass == NULL ||
        arrays.inertia == NULL || arrays.center == NULL || arrays.kind == NULL ||
        arrays.shape == NULL || arrays.name == NULL) {
        return out_of_memory(error);
    }
    uint64_t shape = 0;
    for (size_t i = 0; i < count; i++) {
        arrays.shape[i] = scene->bodies[i]->n_shapes > 0 ? ++shape : 0;
        Status status = read_body(scene->bodies[i], i, &arrays, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    Status status = check_names(scene, arena, error);
    for (size_t first = 0, end; status == STATUS_OK && first < count; first = end) {
        end = first + 1;
        while (end < count && given_by(scene->bodies[end]) == given_by(scene->bodies[first])) {
            end++;
        }
        plan_run(scene, &arrays, first, end - first, plan);
    }
    return status;
}

// ---- the whole

#define EFFORT_OF_CREATED WORLD_BALANCED

static Status plan_settings(const Moreau__V1__WorldSettings *message, ScenePlan *plan,
                            Error *error) {
    Input input = {.kind = INPUT_SET};
    Status status = convert_settings(message, &input.set.settings, error);
    if (status == STATUS_OK && input.set.settings.given != 0) {
        add(&input, plan);
    }
    return status;
}

static Status plan_materials(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                             Error *error) {
    if (scene->n_materials == 0) {
        return STATUS_OK;
    }
    Material *materials = arena_take_array(arena, scene->n_materials, sizeof(Material));
    if (materials == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < scene->n_materials; i++) {
        Status status = convert_material(scene->materials[i], i, &materials[i], error);
        if (status != STATUS_OK) {
            blame_scene(error);
            return status;
        }
    }
    Input input = {.kind = INPUT_MATERIALS,
                   .materials = {.count = scene->n_materials, .material = materials}};
    add(&input, plan);
    return STATUS_OK;
}

static Status plan_pairs(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                         Error *error) {
    if (scene->n_material_pairs == 0) {
        return STATUS_OK;
    }
    NameList materials;
    Input input = {.kind = INPUT_SET};
    Status status = scene_list_materials(scene, arena, &materials, error);
    status =
        STATUS_THEN(status, scene_plan_pairs(scene, &materials, arena, &input.set.pairs, error));
    if (status == STATUS_OK) {
        add(&input, plan);
    }
    return status;
}

// What a world that is created has, unless its settings say otherwise; a world as such is exact, as
// those were that recordings hold from before there was a choice.
static void plan_effort(ScenePlan *plan) {
    Input input = {
        .kind = INPUT_SET,
        .set.settings = {.given = CHANGE_EFFORT, .value = {.effort = EFFORT_OF_CREATED}}};
    add(&input, plan);
}

Status scene_plan(const Moreau__V1__Scene *scene, const Moreau__V1__WorldSettings *over,
                  Arena *arena, ScenePlan *plan, Error *error) {
    size_t bodies = scene == NULL ? 0 : scene->n_bodies;
    size_t joints = scene == NULL ? 0 : scene->n_joints;
    size_t inputs_max = 7 + bodies + joints;
    *plan = (ScenePlan){.input = arena_take_array(arena, inputs_max, sizeof(Input)),
                        .first_item = arena_take_zeroed(arena, inputs_max, sizeof(uint32_t)),
                        .scene = scene,
                        .body_count = bodies,
                        .joint_count = joints,
                        .over_input = SIZE_MAX};
    if (plan->input == NULL || plan->first_item == NULL) {
        return out_of_memory(error);
    }
    plan_effort(plan);
    Status status = STATUS_OK;
    if (scene != NULL) {
        status = plan_settings(scene->settings, plan, error);
        if (status == STATUS_INVALID_ARGUMENT) {
            blame_scene(error);
        }
    }
    if (status == STATUS_OK) {
        size_t index = plan->input_count;
        status = plan_settings(over, plan, error);
        plan->over_input = plan->input_count > index ? index : SIZE_MAX;
    }
    status = STATUS_THEN_IF(status, scene != NULL, plan_materials(scene, arena, plan, error));
    status = STATUS_THEN_IF(status, scene != NULL, plan_pairs(scene, arena, plan, error));
    status = STATUS_THEN_IF(status, scene != NULL, plan_shapes(scene, arena, plan, error));
    status = STATUS_THEN_IF(status, bodies > 0, plan_bodies(scene, arena, plan, error));
    return STATUS_THEN_IF(status, joints > 0, scene_plan_joints(scene, arena, plan, error));
}

// ---- blame

// Splits `size[7]` into size and 7. false: no index.
static bool split_field(const char *field, char name[32], size_t *index) {
    const char *bracket = strchr(field, '[');
    if (bracket == NULL || (size_t)(bracket - field) >= 32) {
        return false;
    }
    memcpy(name, field, (size_t)(bracket - field));
    name[bracket - field] = '\0';
    *index = strtoul(bracket + 1, NULL, 10);
    return true;
}

static void translate_shape(const ScenePlan *plan, const char *name, size_t index, Error *error) {
    const struct {
        const char *column;
        size_t stride;
    } columns[] = {{"size", 3},
                   {"pose", 7},
                   {"density", 1},
                   {"material", 1},
                   {"patch_material", PATCHES},
                   {"kind", 1},
                   {"foundation_face", 1},
                   {"foundation_cells", 2},
                   {"foundation_modulus", 1},
                   {"foundation_depth", 1},
                   {"foundation_damping", 1}};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        if (strcmp(name, columns[i].column) != 0) {
            continue;
        }
        size_t primitive = index / columns[i].stride, part = index % columns[i].stride;
        uint32_t body = plan->body_of_primitive[primitive],
                 shape = plan->shape_of_primitive[primitive];
        char what[48];
        PrimitiveKind kind = PRIMITIVE_SPHERE;
        if (i == 0) {
            scene_primitive_of(plan->scene->bodies[body]->shapes[shape], &kind);
            scene_primitive_name(kind, part, what, sizeof(what));
        } else if (i == 1) {
            snprintf(what, sizeof(what), part < 3 ? "position[%zu]" : "orientation", part);
        } else if (strcmp(name, "patch_material") == 0) {
            snprintf(what, sizeof(what), "patch_materials[%zu]", part);
        } else if (strncmp(name, "foundation_", strlen("foundation_")) == 0) {
            snprintf(what, sizeof(what), "foundation.%s", name + strlen("foundation_"));
        } else {
            snprintf(what, sizeof(what), "%s", name);
        }
        snprintf(error->field, sizeof(error->field), "scene.bodies[%u].shapes[%u].%s", body, shape,
                 what);
        return;
    }
}

static void translate_body(const ScenePlan *plan, size_t input, const char *name, size_t index,
                           Error *error) {
    const struct {
        const char *column, *first, *second; // second: what the numbers from `split` on are called
        size_t stride, split;
    } columns[] = {
        {"pose", "position", "orientation", 7, 3},
        {"velocity", "linear_velocity", "angular_velocity", 6, 3},
        {"mass", "mass", NULL, 1, 1},
        {"inertia", "inertia", NULL, 6, 6},
        {"center_of_mass", "center_of_mass", NULL, 3, 3},
        {"kind", "kind", NULL, 1, 1},
        {"shape", "shapes", NULL, 1, 1},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        if (strcmp(name, columns[i].column) == 0) {
            size_t body = plan->first_item[input] + index / columns[i].stride,
                   part = index % columns[i].stride;
            const char *what = part < columns[i].split ? columns[i].first : columns[i].second;
            snprintf(error->field, sizeof(error->field), "scene.bodies[%zu].%s", body, what);
            return;
        }
    }
}

// Shapes are made of bodies that have any, in their order.
static void translate_primitive_count(const ScenePlan *plan, size_t shape, Error *error) {
    for (size_t i = 0; i < plan->scene->n_bodies; i++) {
        if (plan->scene->bodies[i]->n_shapes > 0 && shape-- == 0) {
            snprintf(error->field, sizeof(error->field), "scene.bodies[%zu].shapes", i);
            return;
        }
    }
}

// hulls[3].faces, as of the scene's list, or of the shape that has it.
static void translate_geometry(const ScenePlan *plan, const GeometryList *list, const char *kind,
                               size_t index, Error *error) {
    const size_t item = geometry_list_item(list, kind, index);
    if (item == list->count) {
        return;
    }
    const char *part = strchr(error->field, ']');
    char rest[48];
    snprintf(rest, sizeof(rest), "%s%s", scene_geometry_key(kind), part == NULL ? "" : part + 1);
    if (item < plan->geometries_listed) {
        snprintf(error->field, sizeof(error->field), "scene.geometries[%zu].%s", item, rest);
        return;
    }
    const uint32_t primitive = plan->primitive_of_geometry[item];
    snprintf(error->field, sizeof(error->field), "scene.bodies[%u].shapes[%u].%s",
             plan->body_of_primitive[primitive], plan->shape_of_primitive[primitive], rest);
}

void scene_translate(const ScenePlan *plan, size_t index, Error *error) {
    if (plan->scene == NULL || index == plan->over_input) {
        return;
    }
    char name[32];
    size_t at = 0;
    InputKind kind = plan->input[index].kind;
    bool has_index = split_field(error->field, name, &at);
    if (kind == INPUT_SHAPES && has_index && strcmp(name, "primitive_count") == 0) {
        translate_primitive_count(plan, at, error);
    } else if (kind == INPUT_SHAPES && has_index) {
        translate_shape(plan, name, at, error);
    } else if (kind == INPUT_GEOMETRIES && has_index) {
        translate_geometry(plan, &plan->input[index].geometries, name, at, error);
    } else if (kind == INPUT_BODIES && has_index) {
        translate_body(plan, index, name, at, error);
    } else if (kind == INPUT_SET && has_index && strncmp(name, "pair_", strlen("pair_")) == 0) {
        scene_translate_pair(name, at, error);
    } else if (kind == INPUT_JOINTS) {
        scene_translate_joint(plan, index, error);
    } else if (error->field[0] != '\0') {
        blame_scene(error);
    }
}
