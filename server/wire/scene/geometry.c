// SPDX-License-Identifier: MIT
#include "wire/scene/geometry.h"

#include "base/assert.h"

#include <stdio.h>

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

Status wire_hulls(const Moreau__V1__WorldAddGeometries *message, Arena *arena, GeometryList *list,
                  Error *error) {
    Room room;
    if (message->n_hulls == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "hulls", "Give at least one hull.");
    }
    if (!take_room(message->n_hulls, arena, &room)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < message->n_hulls; i++) {
        const Moreau__V1__Hull *hull = message->hulls[i];
        char path[48];
        snprintf(path, sizeof(path), "hulls[%zu]", i);
        Status status = wire_hull_bytes(&(WireHull)HULL_OF(hull), path, arena, &room.bytes[i],
                                        &room.byte_count[i], error);
        if (status != STATUS_OK) {
            return status;
        }
        room.count++;
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

static Status read_listed(const Moreau__V1__Scene *scene, Arena *arena, Room *room, Error *error) {
    for (size_t i = 0; i < scene->n_geometries; i++) {
        const Moreau__V1__Hull *hull = scene->geometries[i]->hull;
        char path[64];
        snprintf(path, sizeof(path), "scene.geometries[%zu].hull", i);
        Status status = hull == NULL ? error_set(error, STATUS_INVALID_ARGUMENT, path,
                                                 "A geometry is a hull; this one says nothing.")
                                     : wire_hull_bytes(&(WireHull)HULL_OF(hull), path, arena,
                                                       &room->bytes[room->count],
                                                       &room->byte_count[room->count], error);
        if (status != STATUS_OK) {
            return status;
        }
        room->count++;
    }
    return STATUS_OK;
}

// One that it names, or its own.
static Status read_worn(const Moreau__V1__SceneHull *hull, const char *path, Arena *arena,
                        const NameList *names, Room *room, uint64_t *own, Error *error) {
    const bool has_form = hull->n_points > 0 || hull->n_faces > 0;
    if (hull->geometry == NULL || hull->geometry[0] == '\0') {
        Status status =
            wire_hull_bytes(&(WireHull)HULL_OF(hull), path, arena, &room->bytes[room->count],
                            &room->byte_count[room->count], error);
        *own = ++room->count;
        return status;
    }
    char field[160];
    snprintf(field, sizeof(field), "%.128s.geometry", path);
    const NameEntry *found = name_list_find(names, hull->geometry);
    if (has_form || found == NULL) {
        return error_set(error, has_form ? STATUS_INVALID_ARGUMENT : STATUS_NOT_FOUND, field,
                         has_form ? "A hull names a geometry (%.64s) or has points and faces."
                                  : "The scene has no geometry called %.64s.",
                         hull->geometry);
    }
    *own = found->index + 1;
    return STATUS_OK;
}

bool scene_has_geometries(const Moreau__V1__Scene *scene) {
    for (size_t i = 0; i < scene->n_bodies; i++) {
        for (size_t k = 0; k < scene->bodies[i]->n_shapes; k++) {
            if (scene->bodies[i]->shapes[k]->shape_case ==
                MOREAU__V1__SCENE_PRIMITIVE__SHAPE_HULL) {
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
            const Moreau__V1__ScenePrimitive *shape = body->shapes[k];
            if (shape->shape_case == MOREAU__V1__SCENE_PRIMITIVE__SHAPE_HULL) {
                char path[96];
                snprintf(path, sizeof(path), "scene.bodies[%zu].shapes[%zu].hull", i, k);
                geometries->primitive_of[room.count] = (uint32_t)at;
                status = read_worn(shape->hull, path, arena, &geometries->names, &room,
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
