// SPDX-License-Identifier: MIT
#include "wire/scene/geometry.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The geometries need more memory than one request may take, which is some "
                     "frames (option --frame-bytes-max).");
}

// ---- a hull's bytes

// Numbers that are no points, more of anything than a hull may have.
static Status check_counts(size_t point_numbers, size_t face_count, size_t corner_count,
                           const char *path, Error *error) {
    char field[160];
    if (point_numbers == 0 || point_numbers % 3 != 0 ||
        point_numbers / 3 > (size_t)HULL_VERTICES_MAX) {
        snprintf(field, sizeof(field), "%.128s.points", path);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "A hull has three numbers of each of 4 to %d points; here are %zu.",
                         (int)HULL_VERTICES_MAX, point_numbers);
    }
    if (face_count > HULL_FACES_MAX || corner_count > HULL_CORNERS_MAX) {
        snprintf(field, sizeof(field), "%.128s.faces", path);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "A hull has at most %d faces with %d corners together.",
                         (int)HULL_FACES_MAX, (int)HULL_CORNERS_MAX);
    }
    return STATUS_OK;
}

enum { POINTS_HEAD_BYTES = 16 };

static Status points_bytes(const WireHull *hull, const char *path, Arena *arena,
                           const uint8_t **bytes, size_t *count, Error *error) {
    if (hull->point_numbers == 0 || hull->point_numbers % 3 != 0 ||
        hull->point_numbers / 3 > UINT32_MAX) {
        char field[160];
        snprintf(field, sizeof(field), "%.128s.points", path);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "A hull has three numbers of each of its points; here are %zu.",
                         hull->point_numbers);
    }
    *count = POINTS_HEAD_BYTES + hull->point_numbers * sizeof(double);
    uint8_t *written = arena_take(arena, *count);
    if (written == NULL) {
        return out_of_memory(error);
    }
    Sink sink = {.bytes = written};
    sink_u32(&sink, 0);
    sink_u32(&sink, hull->vertices_max);
    sink_u32(&sink, (uint32_t)(hull->point_numbers / 3));
    sink_u32(&sink, 0);
    sink_doubles(&sink, hull->points, hull->point_numbers);
    *bytes = written;
    return STATUS_OK;
}

bool wire_points_of(const uint8_t *bytes, size_t count, WirePoints *points) {
    Source source = {.bytes = bytes, .count = count};
    const uint32_t kind = source_u32(&source);
    points->vertices_max = source_u32(&source);
    points->count = source_u32(&source);
    source_u32(&source);
    points->point = (const double *)(const void *)(bytes + source.used);
    return !source.failed && kind == 0 &&
           count == POINTS_HEAD_BYTES + 3 * sizeof(double) * (size_t)points->count;
}

Status wire_hull_bytes(const WireHull *hull, const char *path, Arena *arena, const uint8_t **bytes,
                       size_t *count, Error *error) {
    const size_t point_numbers = hull->point_numbers, face_count = hull->face_count;
    const double *points = hull->points;
    Moreau__V1__HullFace *const *faces = hull->faces;
    if (face_count == 0) {
        return points_bytes(hull, path, arena, bytes, count, error);
    }
    size_t corner_count = 0;
    for (size_t i = 0; i < face_count && corner_count <= HULL_CORNERS_MAX; i++) {
        corner_count += faces[i]->n_points;
    }
    Status status = check_counts(point_numbers, face_count, corner_count, path, error);
    if (status != STATUS_OK) {
        return status;
    }
    Vec3 *point = arena_take_array(arena, point_numbers / 3, sizeof(*point));
    uint32_t *first = arena_take_array(arena, face_count + 1, sizeof(*first));
    uint32_t *corner = arena_take_array(arena, corner_count, sizeof(*corner));
    if (point == NULL || first == NULL || corner == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < point_numbers / 3; i++) {
        point[i] = vec3_load(points + 3 * i);
    }
    first[0] = 0;
    for (size_t i = 0; i < face_count; i++) {
        first[i + 1] = first[i] + (uint32_t)faces[i]->n_points;
        for (size_t k = 0; k < faces[i]->n_points; k++) {
            corner[first[i] + k] = faces[i]->points[k];
        }
    }
    const HullForm form = {point, (uint32_t)(point_numbers / 3), first, (uint32_t)face_count,
                           corner};
    *count = geometry_hull_bytes(&form, corner_count);
    uint8_t *written = arena_take(arena, *count);
    if (written == NULL) {
        return out_of_memory(error);
    }
    Sink sink = {.bytes = written};
    geometry_write_hull(&form, corner_count, &sink);
    ASSERT(sink.count == *count);
    *bytes = written;
    return STATUS_OK;
}

// Of either message.
#define HULL_OF(m)                                                                                 \
    {                                                                                              \
        .point_numbers = (m)->n_points, .face_count = (m)->n_faces, .points = (m)->points,         \
        .faces = (m)->faces, .vertices_max = (m)->vertices_max                                     \
    }

// A list with room for as many.
typedef struct Room {
    const uint8_t **bytes;
    size_t *byte_count;
    size_t count;
} Room;

static bool take_room(size_t most, Arena *arena, Room *room) {
    *room = (Room){.bytes = arena_take_array(arena, most, sizeof(*room->bytes)),
                   .byte_count = arena_take_array(arena, most, sizeof(*room->byte_count))};
    return room->bytes != NULL && room->byte_count != NULL;
}

static GeometryList list_of(const Room *room) {
    return (GeometryList){
        .count = room->count, .bytes = room->bytes, .byte_count = room->byte_count};
}

// How one is written as bytes, of whichever message.
typedef enum FormKind { FORM_NONE, FORM_HULL, FORM_MESH, FORM_HEIGHTS } FormKind;
typedef struct Form {
    FormKind kind;
    WireHull hull;
    WireMesh mesh;
    WireHeights heights;
} Form;

static Status add_form(const Form *form, const char *path, Arena *arena, Room *room, Error *error) {
    const uint8_t **bytes = &room->bytes[room->count];
    size_t *count = &room->byte_count[room->count++];
    switch (form->kind) {
    case FORM_HULL:
        return wire_hull_bytes(&form->hull, path, arena, bytes, count, error);
    case FORM_MESH:
        return wire_mesh_bytes(&form->mesh, path, arena, bytes, count, error);
    case FORM_HEIGHTS:
        return wire_heights_bytes(&form->heights, path, arena, bytes, count, error);
    case FORM_NONE:
        break;
    }
    room->count--;
    return error_set(error, STATUS_INVALID_ARGUMENT, path,
                     "A geometry is a hull, a mesh or a height_field; this one says none of them.");
}

// Of those that the message has behind each other, the one at a place.
static Form form_at(const Moreau__V1__WorldAddGeometries *message, size_t i, char *path,
                    size_t room) {
    const size_t hulls = message->n_hulls, meshes = message->n_meshes;
    if (i < hulls) {
        snprintf(path, room, "hulls[%zu]", i);
        return (Form){.kind = FORM_HULL, .hull = HULL_OF(message->hulls[i])};
    }
    if (i < hulls + meshes) {
        snprintf(path, room, "meshes[%zu]", i - hulls);
        return (Form){.kind = FORM_MESH, .mesh = MESH_OF(message->meshes[i - hulls])};
    }
    const size_t at = i - hulls - meshes;
    snprintf(path, room, "height_fields[%zu]", at);
    return (Form){.kind = FORM_HEIGHTS, .heights = HEIGHTS_OF(message->height_fields[at])};
}

Status wire_geometries(const Moreau__V1__WorldAddGeometries *message, Arena *arena,
                       GeometryList *list, Error *error) {
    Room room;
    const size_t count = message->n_hulls + message->n_meshes + message->n_height_fields;
    if (count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "hulls",
                         "Give at least one hull, mesh or height field.");
    }
    if (!take_room(count, arena, &room)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        char path[48];
        const Form form = form_at(message, i, path, sizeof(path));
        Status status = add_form(&form, path, arena, &room, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *list = list_of(&room);
    return STATUS_OK;
}

// ---- of scenes

static Status list_names(const Moreau__V1__Scene *scene, Arena *arena, NameList *names,
                         Error *error) {
    if (!name_list_begin(names, scene->n_geometries, arena)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < scene->n_geometries; i++) {
        const char *name = scene->geometries[i]->name;
        char field[64];
        snprintf(field, sizeof(field), "scene.geometries[%zu].name", i);
        if (name == NULL || name[0] == '\0') {
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "A geometry needs a name: shapes refer to it by that.");
        }
        name_list_add(names, name, i);
    }
    name_list_sort(names);
    const NameEntry *twice = name_list_double(names);
    if (twice != NULL) {
        char field[64];
        snprintf(field, sizeof(field), "scene.geometries[%zu].name", twice->index);
        return error_set(error, STATUS_ALREADY_EXISTS, field,
                         "Another geometry is called %.64s as well.", twice->name);
    }
    return STATUS_OK;
}

const char *scene_geometry_key(const char *kind) {
    return strcmp(kind, "meshes") == 0          ? "mesh"
           : strcmp(kind, "height_fields") == 0 ? "height_field"
                                                : "hull";
}

static Status read_listed(const Moreau__V1__Scene *scene, Arena *arena, Room *room, Error *error) {
    for (size_t i = 0; i < scene->n_geometries; i++) {
        const Moreau__V1__SceneGeometry *m = scene->geometries[i];
        const int given = (m->hull != NULL) + (m->mesh != NULL) + (m->height_field != NULL);
        Form form = {.kind = FORM_NONE};
        const char *key = "hull";
        if (m->hull != NULL) {
            form = (Form){.kind = FORM_HULL, .hull = HULL_OF(m->hull)};
        } else if (m->mesh != NULL) {
            form = (Form){.kind = FORM_MESH, .mesh = MESH_OF(m->mesh)};
            key = "mesh";
        } else if (m->height_field != NULL) {
            form = (Form){.kind = FORM_HEIGHTS, .heights = HEIGHTS_OF(m->height_field)};
            key = "height_field";
        }
        char path[64];
        snprintf(path, sizeof(path), "scene.geometries[%zu].%s", i, key);
        Status status = given > 1 ? error_set(error, STATUS_INVALID_ARGUMENT, path,
                                              "A geometry is one of hull, mesh and height_field, "
                                              "not several.")
                                  : add_form(&form, path, arena, room, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// What a shape wears: one that it names, or its own; kind FORM_NONE: it is of another kind.
typedef struct Worn {
    const char *key, *geometry;
    bool has_form;
    Form form;
} Worn;

static Worn worn_of(const Moreau__V1__ScenePrimitive *shape) {
    switch (shape->shape_case) {
    case MOREAU__V1__SCENE_PRIMITIVE__SHAPE_HULL:
        return (Worn){.key = "hull",
                      .geometry = shape->hull->geometry,
                      .has_form = shape->hull->n_points > 0 || shape->hull->n_faces > 0,
                      .form = {.kind = FORM_HULL, .hull = HULL_OF(shape->hull)}};
    case MOREAU__V1__SCENE_PRIMITIVE__SHAPE_MESH:
        return (Worn){.key = "mesh",
                      .geometry = shape->mesh->geometry,
                      .has_form = shape->mesh->n_points > 0 || shape->mesh->n_triangles > 0,
                      .form = {.kind = FORM_MESH, .mesh = MESH_OF(shape->mesh)}};
    case MOREAU__V1__SCENE_PRIMITIVE__SHAPE_HEIGHT_FIELD:
        return (Worn){.key = "height_field",
                      .geometry = shape->height_field->geometry,
                      .has_form = shape->height_field->n_heights > 0,
                      .form = {.kind = FORM_HEIGHTS, .heights = HEIGHTS_OF(shape->height_field)}};
    default:
        return (Worn){.key = NULL};
    }
}

// `item`: the geometry's number, from 1.
static Status read_worn(const Worn *worn, const char *path, Arena *arena, const NameList *names,
                        Room *room, uint64_t *item, Error *error) {
    if (worn->geometry == NULL || worn->geometry[0] == '\0') {
        Status status = add_form(&worn->form, path, arena, room, error);
        *item = room->count;
        return status;
    }
    char field[160];
    snprintf(field, sizeof(field), "%.128s.geometry", path);
    const NameEntry *found = name_list_find(names, worn->geometry);
    if (worn->has_form || found == NULL) {
        return error_set(error, worn->has_form ? STATUS_INVALID_ARGUMENT : STATUS_NOT_FOUND, field,
                         worn->has_form ? "A shape names a geometry (%.64s) or has its own numbers."
                                        : "The scene has no geometry called %.64s.",
                         worn->geometry);
    }
    *item = found->index + 1;
    return STATUS_OK;
}

bool scene_has_geometries(const Moreau__V1__Scene *scene) {
    for (size_t i = 0; i < scene->n_bodies; i++) {
        for (size_t k = 0; k < scene->bodies[i]->n_shapes; k++) {
            if (worn_of(scene->bodies[i]->shapes[k]).key != NULL) {
                return true;
            }
        }
    }
    return scene->n_geometries > 0;
}

Status scene_geometries(const Moreau__V1__Scene *scene, size_t primitives, Arena *arena,
                        SceneGeometries *geometries, Error *error) {
    Room room;
    *geometries =
        (SceneGeometries){.listed = scene->n_geometries,
                          .own = arena_take_zeroed(arena, primitives, sizeof(*geometries->own)),
                          .primitive_of = arena_take_zeroed(arena, scene->n_geometries + primitives,
                                                            sizeof(*geometries->primitive_of))};
    if (geometries->own == NULL || geometries->primitive_of == NULL ||
        !take_room(scene->n_geometries + primitives, arena, &room)) {
        return out_of_memory(error);
    }
    Status status = list_names(scene, arena, &geometries->names, error);
    status = STATUS_THEN(status, read_listed(scene, arena, &room, error));
    size_t at = 0;
    for (size_t i = 0; i < scene->n_bodies; i++) {
        const Moreau__V1__SceneBody *body = scene->bodies[i];
        for (size_t k = 0; status == STATUS_OK && k < body->n_shapes; k++, at++) {
            const Worn worn = worn_of(body->shapes[k]);
            if (worn.key != NULL) {
                char path[96];
                snprintf(path, sizeof(path), "scene.bodies[%zu].shapes[%zu].%s", i, k, worn.key);
                geometries->primitive_of[room.count] = (uint32_t)at;
                status = read_worn(&worn, path, arena, &geometries->names, &room,
                                   &geometries->own[at], error);
            }
        }
    }
    geometries->list = list_of(&room);
    return status;
}

// ---- and back

static Moreau__V1__HullFace *put_face(const Hull *hull, uint32_t face, Arena *arena) {
    const uint32_t first = hull->face_first[face], count = hull->face_first[face + 1] - first;
    Moreau__V1__HullFace *m = arena_take(arena, sizeof(*m));
    uint32_t *points = arena_take_array(arena, count, sizeof(*points));
    if (m == NULL || points == NULL) {
        return NULL;
    }
    moreau__v1__hull_face__init(m);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = hull->corner[first + i];
    }
    m->n_points = count;
    m->points = points;
    return m;
}

Moreau__V1__Hull *wire_hull_message(const Hull *hull, Arena *arena) {
    Moreau__V1__Hull *m = arena_take(arena, sizeof(*m));
    double *points = arena_take_array(arena, 3 * (size_t)hull->vertex_count, sizeof(*points));
    Moreau__V1__HullFace **faces = arena_take_array(arena, hull->face_count, sizeof(*faces));
    if (m == NULL || points == NULL || faces == NULL) {
        return NULL;
    }
    moreau__v1__hull__init(m);
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        vec3_store(points + 3 * (size_t)i, hull->point[i]);
    }
    for (uint32_t i = 0; i < hull->face_count; i++) {
        faces[i] = put_face(hull, i, arena);
        if (faces[i] == NULL) {
            return NULL;
        }
    }
    m->n_points = 3 * (size_t)hull->vertex_count;
    m->points = points;
    m->n_faces = hull->face_count;
    m->faces = faces;
    return m;
}
