// SPDX-License-Identifier: MIT
// Numbers that no world can bear, over real sockets. NaN and the infinities are put into every
// field of every call, found by reflection, so that a new field is tested by being there; what is
// finite but out of range is a table. Every refusal names its field and changes nothing: the state
// hash of the world is the same before and after.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { DEPTH_MAX = 8, FIELD_BYTES = 256 };

static ServerProcess *server;
static WireClient *client;
static uint64_t world;

static void start(void) {
    server = server_start("--workers 1");
    client = wire_open(server->address[0]);
    world = wire_small_world(client);
    wire_step(client, world, 5);
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

// ---- messages by reflection

// The way from a call to one of its numbers: the fields passed, the last one being a number.
typedef struct Path {
    const ProtobufCFieldDescriptor *field[DEPTH_MAX];
    size_t depth;
} Path;

static void *member_of(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    return (char *)message + field->offset;
}

static void mark_present(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    char *quantifier = (char *)message + field->quantifier_offset;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        *(uint32_t *)(void *)quantifier = field->id;
    } else if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
        *(protobuf_c_boolean *)(void *)quantifier = 1;
    }
}

static ProtobufCMessage *make_message(const ProtobufCMessageDescriptor *descriptor) {
    ProtobufCMessage *message = malloc(descriptor->sizeof_message);
    ck_assert_ptr_nonnull(message);
    descriptor->message_init(message);
    return message;
}

// One child in a field of messages.
static ProtobufCMessage *make_child(ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field) {
    ProtobufCMessage *child = make_message(field->descriptor);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        ProtobufCMessage **list = malloc(sizeof(*list));
        ck_assert_ptr_nonnull(list);
        list[0] = child;
        *(ProtobufCMessage ***)member_of(message, field) = list;
        *(size_t *)(void *)((char *)message + field->quantifier_offset) = 1;
    } else {
        *(ProtobufCMessage **)member_of(message, field) = child;
        mark_present(message, field);
    }
    return child;
}

enum { COLUMN_LENGTH = 7, COLUMN_INDEX = 5 };

static void put_number(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                       double value) {
    void *at = member_of(message, field);
    size_t size = field->type == PROTOBUF_C_TYPE_DOUBLE ? sizeof(double) : sizeof(float);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        void *column = calloc(COLUMN_LENGTH, size);
        ck_assert_ptr_nonnull(column);
        *(void **)at = column;
        *(size_t *)(void *)((char *)message + field->quantifier_offset) = COLUMN_LENGTH;
        at = (char *)column + COLUMN_INDEX * size;
    } else {
        mark_present(message, field);
    }
    if (size == sizeof(double)) {
        *(double *)at = value;
    } else {
        *(float *)at = (float)value;
    }
}

// The call must name our world wherever it names one, so that only the number is wrong.
static void name_world(ProtobufCMessage *message) {
    const ProtobufCFieldDescriptor *one =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "world");
    const ProtobufCFieldDescriptor *many =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "worlds");
    if (one != NULL) {
        *(uint64_t *)member_of(message, one) = world;
        mark_present(message, one);
    }
    if (many != NULL && many->label == PROTOBUF_C_LABEL_REPEATED) {
        uint64_t *list = malloc(sizeof(*list));
        ck_assert_ptr_nonnull(list);
        list[0] = world;
        *(uint64_t **)member_of(message, many) = list;
        *(size_t *)(void *)((char *)message + many->quantifier_offset) = 1;
    }
}

static ProtobufCMessage *make_call(const ProtobufCMessageDescriptor *call, const Path *path,
                                   double value) {
    ProtobufCMessage *message = make_message(call), *at = message;
    name_world(message);
    for (size_t i = 0; i + 1 < path->depth; i++) {
        at = make_child(at, path->field[i]);
    }
    put_number(at, path->field[path->depth - 1], value);
    return message;
}

static void write_path(const Path *path, char text[FIELD_BYTES]) {
    size_t used = 0;
    for (size_t i = 0; i < path->depth; i++) {
        const ProtobufCFieldDescriptor *field = path->field[i];
        used += (size_t)snprintf(text + used, FIELD_BYTES - used, "%s%s", i == 0 ? "" : ".",
                                 field->name);
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            int index = i + 1 < path->depth ? 0 : COLUMN_INDEX;
            used += (size_t)snprintf(text + used, FIELD_BYTES - used, "[%d]", index);
        }
    }
}

// A number of a contact problem goes by the key of the problem's file, where it is one of a list;
// check_bad_problems.c has the keys.
static bool is_of_problem(const Path *path) {
    const ProtobufCFieldDescriptor *last = path->field[path->depth - 1];
    return path->depth > 1 && last->label == PROTOBUF_C_LABEL_REPEATED &&
           path->field[path->depth - 2]->descriptor == &moreau__v1__contact_problem__descriptor;
}

// ---- no NaN, no infinity, anywhere

// Rows of actions alone may have them, and are refused one by one: the calls that have such rows
// judge their own numbers, once they know the group (check_groups.c, check_group_records.c).
static bool judges_itself(const ProtobufCMessageDescriptor *call) {
    return call == &moreau__v1__group_step__descriptor ||
           call == &moreau__v1__group_send__descriptor;
}

static const double poisons[] = {NAN, INFINITY, -INFINITY};

static void poison(const ProtobufCMessageDescriptor *call, const Path *path) {
    char field[FIELD_BYTES];
    write_path(path, field);
    uint64_t before = wire_hash(client, world);
    for (size_t i = 0; i < sizeof(poisons) / sizeof(poisons[0]); i++) {
        ProtobufCMessage *message = make_call(call, path, poisons[i]);
        const Moreau__V1__Reply *reply = wire_refuse(client, message, CODE(INVALID_ARGUMENT),
                                                     is_of_problem(path) ? NULL : field);
        ck_assert_msg(strncmp(reply->status->field, field, strcspn(field, ".[")) == 0, "%s, not %s",
                      reply->status->field, field);
        ck_assert_ptr_nonnull(strstr(reply->status->message, "finite"));
        ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT__NOT_SET);
        protobuf_c_message_free_unpacked(message, NULL);
    }
    ck_assert_uint_eq(wire_hash(client, world), before);
    // the refusals were about the value: with a finite one, this reason is not given
    ProtobufCMessage *message = make_call(call, path, 0.5);
    wire_submit(client, message); // the first answer will do: a subscription has no last one
    const Moreau__V1__Reply *reply = wire_receive(client);
    const char *why = reply->status->message == NULL ? "" : reply->status->message;
    ck_assert_msg(strstr(why, "must be finite") == NULL, "%s %s: %s", call->name, field, why);
    protobuf_c_message_free_unpacked(message, NULL);
}

// Walks over every number below a message; returns how many there are.
static size_t walk(const ProtobufCMessageDescriptor *call,
                   const ProtobufCMessageDescriptor *descriptor, Path *path) {
    size_t count = 0;
    ck_assert_uint_lt(path->depth, DEPTH_MAX);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        path->field[path->depth++] = field;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            count += walk(call, field->descriptor, path);
        } else if ((field->type == PROTOBUF_C_TYPE_DOUBLE ||
                    field->type == PROTOBUF_C_TYPE_FLOAT) &&
                   !judges_itself(call)) {
            poison(call, path);
            count++;
        }
        path->depth--;
    }
    return count;
}

START_TEST(no_field_of_any_call_takes_nan_or_infinity) {
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    size_t count = 0;
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &request->fields[i];
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            Path path = {.depth = 0};
            count += walk(field->descriptor, field->descriptor, &path);
        }
    }
    // settings, scenes, columns, wrenches and contact problems: if the walk found few, it is broken
    ck_assert_uint_ge(count, 70);
    ck_assert_uint_eq(wire_stats(client, false)->faulted_worlds, 0);
}
END_TEST

// ---- finite, and still impossible

typedef struct Case {
    const char *name;
    double value;      // put where the call's maker puts it
    const char *field; // to be blamed
} Case;

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static const Case settings_cases[] = {
    {"time_step", 0.0, "settings.time_step"},
    {"time_step", -0.01, "settings.time_step"},
    {"time_step", 10.5, "settings.time_step"},
    {"time_step", 1e-30, "settings.time_step"},
    {"margin", -1e-9, "settings.margin"},
    {"margin", 10.5, "settings.margin"},
    {"restitution_threshold", -1.0, "settings.restitution_threshold"},
    {"recovery_speed", -1.0, "settings.recovery_speed"},
    {"recovery_speed", 1.1e9, "settings.recovery_speed"},
    {"sleep_speed", -1e-9, "settings.sleep_speed"},
    {"sleep_speed", 1.1e6, "settings.sleep_speed"},
    {"sleep_time", -0.5, "settings.sleep_time"},
    {"sleep_time", 1.1e6, "settings.sleep_time"},
    {"integrator", 99.0, "settings.integrator"},
    {"rotation", 2.0, "settings.rotation"},
    {"rotation", -1.0, "settings.rotation"},
    {"tolerance", 2.0, "settings.parameters.mdp.tolerance"},
    {"tolerance", 0.0, "settings.parameters.mdp.tolerance"},
    {"overlap_correction", 1.5, "settings.parameters.mdp.overlap_correction"},
    {"overlap_correction", -0.1, "settings.parameters.mdp.overlap_correction"},
};

static void put_named(ProtobufCMessage *message, const char *name, double value) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    if (field != NULL) {
        put_number(message, field, value);
    }
}

START_TEST(settings_out_of_range_are_refused_by_name) {
    const Case *one = &settings_cases[_i];
    uint64_t before = wire_hash(client, world);
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    put_named(&settings.base, one->name, one->value);
    put_named(&mdp.base, one->name, one->value);
    parameters.mdp = &mdp;
    settings.parameters = &parameters;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.settings = &settings;
    wire_refuse(client, &set, CODE(INVALID_ARGUMENT), one->field);
    ck_assert_uint_eq(wire_hash(client, world), before);

    // beside a scene the call's own settings are blamed, in the scene the scene's
    uint64_t worlds = wire_stats(client, false)->world_count;
    char field[FIELD_BYTES];
    snprintf(field, sizeof(field), "scene.%s", one->field);
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &scene;
    create.settings = &settings;
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), one->field);
    create.settings = NULL;
    scene.settings = &settings;
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), field);
    ck_assert_uint_eq(wire_stats(client, false)->world_count, worlds);
}
END_TEST

static const Case material_cases[] = {
    {"friction", -0.1, "materials[0].friction"},
    {"restitution", 2.0, "materials[0].restitution"},
    {"restitution", -0.5, "materials[0].restitution"},
    {"stiffness", 0.0, "materials[0].stiffness"},
    {"stiffness", -1.0, "materials[0].stiffness"},
    {"dissipation_time", -1.0, "materials[0].dissipation_time"},
    {"damping", -1.0, "materials[0].damping"},
    {"hertz_exponent", 0.5, "materials[0].hertz_exponent"},
    {"hertz_exponent", 1.3, "materials[0].hertz_exponent"},
    {"hertz_exponent", 3.5, "materials[0].hertz_exponent"},
    {"priority", 2e6, "materials[0].priority"},
    {"priority", 0.5, "materials[0].priority"},
};

START_TEST(materials_out_of_range_are_refused_by_name) {
    const Case *one = &material_cases[_i];
    uint64_t before = wire_hash(client, world);
    Moreau__V1__Material material = MOREAU__V1__MATERIAL__INIT;
    Moreau__V1__Material *materials[] = {&material};
    put_named(&material.base, one->name, one->value);
    Moreau__V1__WorldAddMaterials add = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_materials = 1;
    add.materials = materials;
    wire_refuse(client, &add, CODE(INVALID_ARGUMENT), one->field);
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

// One body given whole; a case spoils one number of one column.
typedef struct BodyCase {
    size_t column; // 0 pose, 1 velocity, 2 mass, 3 inertia, 4 centre of mass
    size_t index;
    double value;
    const char *field; // NULL: legal
} BodyCase;

static const BodyCase body_cases[] = {
    {2, 0, 1.0, NULL},
    {2, 0, -1.0, "mass[0]"},
    {2, 0, 0.0, "mass[0]"},
    {2, 0, 1e19, "mass[0]"},
    {0, 3, 0.0, "pose[3]"}, // the only entry of the quaternion that is not zero
    {0, 0, 1e10, "pose[0]"},
    {1, 2, 1e10, "velocity[2]"},
    {3, 0, -1.0, "inertia[0]"},
    {3, 0, 0.0, "inertia[0]"},
    {3, 0, 2.0, NULL},         // 2 = 1 + 1: a flat body, the triangle's equality
    {3, 0, 2.1, "inertia[0]"}, // beyond it
    {3, 3, 1.5, "inertia[0]"}, // xy so large that the tensor is not positive definite
    {4, 1, 1e10, "center_of_mass[1]"},
};

START_TEST(bodies_that_cannot_be_are_refused_by_name) {
    const BodyCase *one = &body_cases[_i];
    uint64_t before = wire_hash(client, world);
    double pose[] = {0, 0, 5, 1, 0, 0, 0}, velocity[6] = {0}, mass[] = {1};
    double inertia[] = {1, 1, 1, 0, 0, 0}, center[3] = {0};
    double *const columns[] = {pose, velocity, mass, inertia, center};
    columns[one->column][one->index] = one->value;
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_pose = 7, add.pose = pose;
    add.n_velocity = 6, add.velocity = velocity;
    add.n_mass = 1, add.mass = mass;
    add.n_inertia = 6, add.inertia = inertia;
    add.n_center_of_mass = 3, add.center_of_mass = center;
    if (one->field == NULL) {
        wire_accept(client, &add);
        ck_assert_uint_ne(wire_hash(client, world), before);
    } else {
        wire_refuse(client, &add, CODE(INVALID_ARGUMENT), one->field);
        ck_assert_uint_eq(wire_hash(client, world), before);
    }
}
END_TEST

typedef struct ShapeCase {
    Moreau__V1__Primitive__Kind kind;
    double size[3];
    double density;
    const char *field; // NULL: legal
} ShapeCase;

static const ShapeCase shape_cases[] = {
    {MOREAU__V1__PRIMITIVE__KIND__SPHERE, {0.1, 0, 0}, 1000, NULL},
    {MOREAU__V1__PRIMITIVE__KIND__SPHERE, {0, 0, 0}, 1000, "size[0]"},
    {MOREAU__V1__PRIMITIVE__KIND__SPHERE, {-1, 0, 0}, 1000, "size[0]"},
    {MOREAU__V1__PRIMITIVE__KIND__BOX, {1, 1, 0}, 1000, "size[2]"},
    {MOREAU__V1__PRIMITIVE__KIND__BOX, {1, -1, 1}, 1000, "size[1]"},
    {MOREAU__V1__PRIMITIVE__KIND__SPHERE, {0.1, 0, 0}, 0, "density[0]"},
    {MOREAU__V1__PRIMITIVE__KIND__SPHERE, {0.1, 0, 0}, -5, "density[0]"},
};

START_TEST(shapes_that_cannot_be_are_refused_by_name) {
    ShapeCase one = shape_cases[_i];
    uint64_t before = wire_hash(client, world);
    Moreau__V1__WorldAddShapes add = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_kind = 1, add.kind = &one.kind;
    add.n_size = 3, add.size = one.size;
    add.n_density = 1, add.density = &one.density;
    wire_refuse(client, &add, one.field == NULL ? CODE(OK) : CODE(INVALID_ARGUMENT), one.field);
    ck_assert(one.field == NULL || wire_hash(client, world) == before);
}
END_TEST

// A box with a foundation given whole; a case spoils one number of it.
typedef struct FoundationCase {
    Moreau__V1__Primitive__Kind kind;
    Moreau__V1__Foundation__Face face;
    uint32_t cells[2];
    double modulus, depth, damping;
    const char *field, *in_scene; // NULL: legal
} FoundationCase;

#define FACE(name) MOREAU__V1__FOUNDATION__FACE__##name
#define KIND(name) MOREAU__V1__PRIMITIVE__KIND__##name

static const FoundationCase foundation_cases[] = {
    {KIND(BOX), FACE(NEGATIVE_Z), {128, 128}, 1e7, 1.0, 1.0, NULL, NULL},
    // a thousand million cells
    {KIND(BOX),
     FACE(NEGATIVE_Z),
     {31623, 31623},
     1e7,
     1.0,
     1.0,
     "foundation_cells[0]",
     "foundation.cells"},
    {KIND(BOX),
     FACE(NEGATIVE_Z),
     {129, 128},
     1e7,
     1.0,
     1.0,
     "foundation_cells[0]",
     "foundation.cells"},
    {KIND(BOX), FACE(NEGATIVE_Z), {0, 4}, 1e7, 1.0, 1.0, "foundation_cells[0]", "foundation.cells"},
    {KIND(BOX),
     FACE(NEGATIVE_Z),
     {4, 4},
     0.0,
     1.0,
     1.0,
     "foundation_modulus[0]",
     "foundation.modulus"},
    {KIND(BOX), FACE(NEGATIVE_Z), {4, 4}, 1e7, 0.0, 1.0, "foundation_depth[0]", "foundation.depth"},
    {KIND(BOX),
     FACE(NEGATIVE_Z),
     {4, 4},
     1e7,
     1.0,
     -1.0,
     "foundation_damping[0]",
     "foundation.damping"},
    {KIND(SPHERE),
     FACE(NEGATIVE_Z),
     {4, 4},
     1e7,
     1.0,
     1.0,
     "foundation_face[0]",
     "foundation.face"},
};

START_TEST(foundations_that_cannot_be_are_refused_by_name) {
    FoundationCase one = foundation_cases[_i];
    uint64_t before = wire_hash(client, world);
    double size[3] = {1.0, 1.0, 1.0}, sphere[3] = {1.0, 0.0, 0.0};
    Moreau__V1__WorldAddShapes add = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_kind = 1, add.kind = &one.kind;
    add.n_size = 3, add.size = one.kind == KIND(BOX) ? size : sphere;
    add.n_foundation_face = 1, add.foundation_face = &one.face;
    add.n_foundation_cells = 2, add.foundation_cells = one.cells;
    add.n_foundation_modulus = 1, add.foundation_modulus = &one.modulus;
    add.n_foundation_depth = 1, add.foundation_depth = &one.depth;
    add.n_foundation_damping = 1, add.foundation_damping = &one.damping;
    wire_refuse(client, &add, one.field == NULL ? CODE(OK) : CODE(INVALID_ARGUMENT), one.field);
    if (one.field == NULL) {
        return;
    }
    ck_assert_uint_eq(wire_hash(client, world), before);
    // columns that come alone
    add.n_foundation_depth = 0;
    wire_refuse(client, &add, CODE(INVALID_ARGUMENT), "foundation_depth");
    ck_assert_uint_eq(wire_hash(client, world), before);
    // as people write it
    uint64_t worlds = wire_stats(client, false)->world_count;
    Moreau__V1__Foundation foundation = MOREAU__V1__FOUNDATION__INIT;
    foundation.has_face = foundation.has_modulus = foundation.has_depth = 1;
    foundation.has_damping = 1;
    foundation.face = one.face;
    foundation.n_cells = 2, foundation.cells = one.cells;
    foundation.modulus = one.modulus;
    foundation.depth = one.depth;
    foundation.damping = one.damping;
    Moreau__V1__SceneBox box = MOREAU__V1__SCENE_BOX__INIT;
    Moreau__V1__SceneSphere ball = MOREAU__V1__SCENE_SPHERE__INIT;
    box.n_half_extents = 3, box.half_extents = size;
    ball.has_radius = 1, ball.radius = 1.0;
    Moreau__V1__ScenePrimitive shape = MOREAU__V1__SCENE_PRIMITIVE__INIT;
    Moreau__V1__ScenePrimitive *shapes[] = {&shape};
    shape.shape_case = one.kind == KIND(BOX) ? MOREAU__V1__SCENE_PRIMITIVE__SHAPE_BOX
                                             : MOREAU__V1__SCENE_PRIMITIVE__SHAPE_SPHERE;
    if (one.kind == KIND(BOX)) {
        shape.box = &box;
    } else {
        shape.sphere = &ball;
    }
    shape.foundation = &foundation;
    Moreau__V1__SceneBody body = MOREAU__V1__SCENE_BODY__INIT;
    Moreau__V1__SceneBody *bodies[] = {&body};
    body.n_shapes = 1, body.shapes = shapes;
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    scene.n_bodies = 1, scene.bodies = bodies;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &scene;
    char field[FIELD_BYTES];
    snprintf(field, sizeof(field), "scene.bodies[0].shapes[0].%s", one.in_scene);
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), field);
    ck_assert_uint_eq(wire_stats(client, false)->world_count, worlds);
}
END_TEST

static const double time_steps[] = {0.0, -0.001, 10.1, 1e-300, 1e-30, 9e-10};

START_TEST(a_step_of_next_to_no_time_or_too_much_is_refused) {
    uint64_t before = wire_hash(client, world);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.has_time_step = 1;
    step.time_step = time_steps[_i];
    const Moreau__V1__Reply *reply =
        wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "time_step");
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT__NOT_SET);
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

// In a short frame, and in one that is unpacked elsewhere.
static const size_t pose_counts[] = {1, 5000};

START_TEST(a_refusal_waits_for_the_calls_before_it) {
    const size_t numbers = 7 * pose_counts[_i];
    double *pose = calloc(numbers, sizeof(*pose));
    ck_assert_ptr_nonnull(pose);
    pose[0] = NAN;
    Moreau__V1__WorldStep step = wire_step_call(&world, 3000);
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = numbers, add.pose = pose;
    const uint64_t first = wire_submit(client, &step), second = wire_submit(client, &add);
    Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_uint_eq(reply->id, first);
    wire_expect(reply, CODE(OK), NULL);
    reply = wire_receive(client);
    ck_assert_uint_eq(reply->id, second);
    wire_expect(reply, CODE(INVALID_ARGUMENT), "pose[0]");
    free(pose);
}
END_TEST

static TCase *case_poison(void) {
    TCase *tcase = tcase_create("poison");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, no_field_of_any_call_takes_nan_or_infinity);
    tcase_add_loop_test(tcase, a_refusal_waits_for_the_calls_before_it, 0, COUNT(pose_counts));
    return tcase;
}

static TCase *case_ranges(void) {
    TCase *tcase = tcase_create("ranges");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, settings_out_of_range_are_refused_by_name, 0, COUNT(settings_cases));
    tcase_add_loop_test(tcase, materials_out_of_range_are_refused_by_name, 0,
                        COUNT(material_cases));
    tcase_add_loop_test(tcase, bodies_that_cannot_be_are_refused_by_name, 0, COUNT(body_cases));
    tcase_add_loop_test(tcase, shapes_that_cannot_be_are_refused_by_name, 0, COUNT(shape_cases));
    tcase_add_loop_test(tcase, foundations_that_cannot_be_are_refused_by_name, 0,
                        COUNT(foundation_cases));
    tcase_add_loop_test(tcase, a_step_of_next_to_no_time_or_too_much_is_refused, 0,
                        COUNT(time_steps));
    return tcase;
}

SUITE_MAIN("system/bad_numbers", case_poison, case_ranges)
