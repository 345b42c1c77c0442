// SPDX-License-Identifier: MIT
// Legal numbers of any size, over real sockets: worlds are made of numbers at the bounds that
// Describe tells, and anywhere between, and stepped, looked at, and their contact problems solved
// again. Whatever comes of it, no reply carries NaN or infinity: every number of every reply is
// found by reflection, so that a new field is tested by being there.
#include "simulate/dice.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 60, STEPS_MAX = 4, BODIES_MAX = 6, SHAPES = 3 };

static ServerProcess *server;
static WireClient *client;
static const Moreau__V1__DescribeReply *ranges;
static Dice dice;

static void start(void) {
    server = server_start("--workers 1");
    client = wire_open(server->address[0]);
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    ranges = wire_accept(client, &describe)->describe;
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

// ---- every number of a message

static void check_message(const ProtobufCMessage *message, const char *where);

static void check_number(double value, const char *where, const ProtobufCFieldDescriptor *field) {
    ck_assert_msg(isfinite(value), "%s: %s is %g", where, field->name, value);
}

static void check_item(const void *item, const char *where, const ProtobufCFieldDescriptor *field) {
    if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
        check_number(*(const double *)item, where, field);
    } else if (field->type == PROTOBUF_C_TYPE_FLOAT) {
        check_number((double)*(const float *)item, where, field);
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE && *(void *const *)item != NULL) {
        check_message(*(const ProtobufCMessage *const *)item, where);
    }
}

static size_t item_bytes(const ProtobufCFieldDescriptor *field) {
    return field->type == PROTOBUF_C_TYPE_DOUBLE  ? sizeof(double)
           : field->type == PROTOBUF_C_TYPE_FLOAT ? sizeof(float)
                                                  : sizeof(void *);
}

static void check_message(const ProtobufCMessage *message, const char *where) {
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        const char *at = (const char *)message + field->offset;
        const void *quantifier = (const char *)message + field->quantifier_offset;
        bool is_number =
            field->type == PROTOBUF_C_TYPE_DOUBLE || field->type == PROTOBUF_C_TYPE_FLOAT;
        if (!is_number && field->type != PROTOBUF_C_TYPE_MESSAGE) {
            continue;
        }
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            if (*(const uint32_t *)quantifier == field->id) {
                check_item(at, where, field);
            }
        } else if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            check_item(at, where, field);
        } else {
            const char *items = *(const char *const *)(const void *)at;
            for (size_t k = 0; k < *(const size_t *)quantifier; k++) {
                check_item(items + k * item_bytes(field), where, field);
            }
        }
    }
}

static const Moreau__V1__Reply *call(const void *message, const char *where) {
    const Moreau__V1__Reply *reply = wire_call(client, message);
    check_message(&reply->base, where);
    return reply;
}

// ---- numbers that are legal

static const Moreau__V1__FieldInfo *find_range(const char *path, const char *unit) {
    for (size_t i = 0; i < ranges->n_fields; i++) {
        const Moreau__V1__FieldInfo *field = ranges->fields[i];
        if (strcmp(field->path, path) == 0 && (unit == NULL || strcmp(field->unit, unit) == 0)) {
            return field;
        }
    }
    ck_abort_msg("Describe knows no %s", path);
    return NULL;
}

// A bound, the smallest number next to none, or any order of magnitude between.
static double roll(const char *path, const char *unit) {
    const Moreau__V1__FieldInfo *field = find_range(path, unit);
    double low = field->minimum, high = field->maximum;
    switch (dice_roll(&dice, 5)) {
    case 0:
        return high;
    case 1:
        return !field->exclusive ? low : low == 0.0 ? 5e-324 : nextafter(low, high);
    case 2:
        return low < 0.0 ? 0.0 : nextafter(low, high);
    default: {
        double exponent = -12.0 + (double)dice_roll(&dice, 43);
        double value = pow(10.0, exponent) * (low < 0.0 && dice_chance(&dice, 50) ? -1.0 : 1.0);
        return value < low || (field->exclusive && value <= low) ? high
               : value > high                                    ? high
                                                                 : value;
    }
    }
}

// Ordinary more often than not: worlds in which all is extreme are all refused alike.
static double roll_or(double ordinary, const char *path, const char *unit) {
    return dice_chance(&dice, 60) ? ordinary : roll(path, unit);
}

static uint64_t make_world(void) {
    double gravity[3];
    for (int i = 0; i < 3; i++) {
        gravity[i] = roll_or(i == 2 ? -9.81 : 0.0, "WorldSettings.gravity", NULL);
    }
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    mdp.has_max_iterations = mdp.has_overlap_correction = mdp.has_friction = 1;
    mdp.has_method = 1;
    mdp.max_iterations = 1 + (uint32_t)dice_roll(&dice, 60);
    mdp.overlap_correction = (double)dice_roll(&dice, 3) / 2.0;
    mdp.friction = (Moreau__V1__MdpParameters__Friction)dice_roll(&dice, 2);
    mdp.method = (Moreau__V1__MdpParameters__Method)dice_roll(&dice, 3);
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    parameters.mdp = &mdp;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.parameters = &parameters;
    settings.n_gravity = 3, settings.gravity = gravity;
    settings.has_time_step = settings.has_margin = settings.has_restitution_threshold = 1;
    settings.time_step = roll_or(0.01, "WorldSettings.time_step", NULL);
    settings.margin = roll_or(0.001, "WorldSettings.margin", NULL);
    settings.restitution_threshold = roll_or(0.05, "WorldSettings.restitution_threshold", NULL);
    settings.has_integrator = settings.has_rotation = settings.has_recovery_speed = 1;
    settings.has_contact_plane = 1;
    settings.integrator = (Moreau__V1__Integrator__Kind)dice_roll(&dice, 4);
    settings.rotation = (Moreau__V1__Rotation__Kind)dice_roll(&dice, 3);
    settings.contact_plane = (Moreau__V1__WorldSettings__ContactPlane)dice_roll(&dice, 2);
    settings.recovery_speed = roll_or(1.0, "WorldSettings.recovery_speed", NULL);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    const Moreau__V1__Reply *reply = call(&create, "WorldCreate");
    wire_expect(reply, CODE(OK), NULL);
    return reply->world_create->world;
}

static void add_materials(uint64_t world) {
    Moreau__V1__Material material = MOREAU__V1__MATERIAL__INIT;
    Moreau__V1__Material *materials[] = {&material};
    material.has_friction = material.has_restitution = material.has_stiffness =
        material.has_dissipation_time = material.has_damping = 1;
    material.friction = roll_or(0.5, "Material.friction", NULL);
    material.restitution = roll_or(0.5, "Material.restitution", NULL);
    material.stiffness = roll_or(1e6, "Material.stiffness", NULL);
    material.dissipation_time = roll_or(0.1, "Material.dissipation_time", NULL);
    material.damping = roll_or(1.0, "Material.damping", NULL);
    Moreau__V1__WorldAddMaterials add = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    add.has_world = 1, add.world = world;
    add.n_materials = 1, add.materials = materials;
    wire_expect(call(&add, "WorldAddMaterials"), CODE(OK), NULL);
}

// A plane, a sphere, a box; false: refused, as too small or too large for a mass.
static bool add_shapes(uint64_t world) {
    Moreau__V1__Primitive__Kind kind[SHAPES] = {MOREAU__V1__PRIMITIVE__KIND__PLANE,
                                                MOREAU__V1__PRIMITIVE__KIND__SPHERE,
                                                MOREAU__V1__PRIMITIVE__KIND__BOX};
    uint64_t material[SHAPES] = {1, 1, 1};
    double size[3 * SHAPES] = {0}, density[SHAPES];
    size[3] = roll_or(0.5, "SceneSphere.radius", NULL);
    for (int i = 0; i < SHAPES; i++) {
        size[6 + i] = roll_or(0.5, "SceneBox.half_extents", NULL);
        density[i] = roll_or(1000.0, "WorldAddShapes.density", NULL);
    }
    Moreau__V1__WorldAddShapes add = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    add.has_world = 1, add.world = world;
    add.n_kind = SHAPES, add.kind = kind;
    add.n_size = 3 * SHAPES, add.size = size;
    add.n_density = SHAPES, add.density = density;
    add.n_material = SHAPES, add.material = material;
    return call(&add, "WorldAddShapes")->status->code == CODE(OK);
}

// The ground, and others near it or anywhere, one by one, as some are refused. How many there are.
static uint64_t add_bodies(uint64_t world) {
    uint64_t added = 0;
    for (int i = 0; i < BODIES_MAX; i++) {
        double pose[7] = {0, 0, 0, 1, 0, 0, 0}, velocity[6], mass, center[3];
        Moreau__V1__Body__Kind kind =
            i == 0 ? MOREAU__V1__BODY__KIND__STATIC
                   : (Moreau__V1__Body__Kind)(dice_chance(&dice, 85) ? 0 : 1);
        uint64_t shape = i == 0 ? 1 : 2 + dice_roll(&dice, SHAPES - 1);
        for (int k = 0; k < 3; k++) {
            pose[k] = i == 0 ? 0.0 : roll_or(0.4 * i, "WorldAddBodies.pose", NULL);
            velocity[k] = roll_or(0.0, "WorldAddBodies.velocity", "m/s");
            velocity[3 + k] = roll_or(1.0, "WorldAddBodies.velocity", "rad/s");
            center[k] = roll_or(0.0, "WorldAddBodies.pose", NULL);
        }
        mass = roll_or(1.0, "WorldAddBodies.mass", NULL);
        Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
        add.has_world = 1, add.world = world;
        add.n_pose = 7, add.pose = pose;
        add.n_velocity = 6, add.velocity = velocity;
        add.n_kind = 1, add.kind = &kind;
        add.n_shape = 1, add.shape = &shape;
        if (i > 0 && dice_chance(&dice, 50)) {
            add.n_mass = 1, add.mass = &mass;
        }
        if (i > 0 && dice_chance(&dice, 20)) {
            add.n_center_of_mass = 3, add.center_of_mass = center;
        }
        added += call(&add, "WorldAddBodies")->status->code == CODE(OK);
    }
    return added;
}

static bool step(uint64_t world, uint64_t bodies) {
    uint64_t body = 1 + dice_roll(&dice, bodies + 1);
    double wrench[6];
    for (int i = 0; i < 6; i++) {
        wrench[i] = roll_or(0.0, "WorldStep.wrench", NULL);
    }
    Moreau__V1__WorldStep ask = wire_step_call(&world, 1 + dice_roll(&dice, STEPS_MAX));
    ask.has_poses = ask.poses = ask.has_velocities = ask.velocities = ask.has_single = 1;
    ask.has_reports = ask.reports = ask.has_hashes = ask.hashes = 1;
    ask.single = dice_chance(&dice, 50);
    if (body <= bodies && dice_chance(&dice, 50)) {
        ask.n_wrench_body = 1, ask.wrench_body = &body;
        ask.n_wrench = 6, ask.wrench = wrench;
    }
    return call(&ask, "WorldStep")->status->code == CODE(OK);
}

// All that can be seen of a world; its last contact problem is solved once more.
static void look(uint64_t world) {
    for (int single = 0; single < 2; single++) {
        Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
        get.has_world = 1, get.world = world;
        get.has_single = 1, get.single = single;
        get.has_definition = get.definition = 1;
        wire_expect(call(&get, "WorldGet"), CODE(OK), NULL);
    }
    Moreau__V1__WorldContacts contacts = MOREAU__V1__WORLD_CONTACTS__INIT;
    contacts.has_world = 1, contacts.world = world;
    call(&contacts, "WorldContacts");
    Moreau__V1__Problem problem = MOREAU__V1__PROBLEM__INIT;
    problem.has_world = 1, problem.world = world;
    const Moreau__V1__Reply *reply = call(&problem, "Problem");
    if (reply->status->code == CODE(OK)) {
        Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
        solve.problem = reply->problem->problem;
        solve.parameters = reply->problem->parameters;
        call(&solve, "Solve");
    }
}

START_TEST(no_reply_about_a_legal_world_carries_nan_or_infinity) {
    dice = dice_make(1, (uint64_t)_i);
    int stepped = 0;
    for (int i = 0; i < WORLDS; i++) {
        uint64_t world = make_world();
        add_materials(world);
        uint64_t bodies = add_shapes(world) ? add_bodies(world) : 0;
        for (int k = 0; k < 3 && bodies > 0; k++) {
            stepped += step(world, bodies);
            look(world);
        }
        wire_destroy(client, world);
    }
    ck_assert_int_gt(stepped, WORLDS / 2); // or nothing was tried
    wire_stats(client, false);
}
END_TEST

static TCase *case_extremes(void) {
    TCase *tcase = tcase_create("extremes");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, no_reply_about_a_legal_world_carries_nan_or_infinity, 0, 4);
    return tcase;
}

SUITE_MAIN("system/extremes", case_extremes)
