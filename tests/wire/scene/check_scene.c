// SPDX-License-Identifier: MIT
// Scenes become inputs, and what an input is refused with is blamed where it stands in the scene.
// Every case takes the same good scene, spoils one thing, and says which path must be named, be it
// found while the plan is made or when the world takes the input.
#include "wire/scene/scene.h"
#include "run/worlds/door.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { BODIES = 4 };

// Ground; a ball; a block of two boxes with a mass of its own; a body without shape.
typedef struct Sketch {
    double normal[3], radius, half[2][3], position[BODIES][3], orientation[BODIES][4];
    double velocity[3], inertia[6], center[3], local[4], gravity[3];
    Moreau__V1__ScenePlane plane;
    Moreau__V1__SceneSphere sphere;
    Moreau__V1__SceneBox box[2];
    Moreau__V1__ScenePrimitive primitive[4], *ground_shapes[1], *ball_shapes[1], *block_shapes[2];
    Moreau__V1__Material material, *materials[1];
    Moreau__V1__MaterialPair pair, *pairs[1];
    Moreau__V1__MdpParameters mdp;
    Moreau__V1__SolverParameters parameters;
    Moreau__V1__WorldSettings settings, over;
    Moreau__V1__SceneBody body[BODIES], *bodies[BODIES];
    Moreau__V1__Scene scene;
} Sketch;

static void draw_shapes(Sketch *s) {
    moreau__v1__scene_plane__init(&s->plane);
    moreau__v1__scene_sphere__init(&s->sphere);
    s->normal[2] = 1;
    s->plane.n_normal = 3, s->plane.normal = s->normal;
    s->sphere.has_radius = 1, s->sphere.radius = 0.1;
    for (int i = 0; i < 4; i++) {
        moreau__v1__scene_primitive__init(&s->primitive[i]);
    }
    s->primitive[0].shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_PLANE;
    s->primitive[0].plane = &s->plane;
    s->primitive[1].shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_SPHERE;
    s->primitive[1].sphere = &s->sphere;
    for (int i = 0; i < 2; i++) {
        moreau__v1__scene_box__init(&s->box[i]);
        s->half[i][0] = s->half[i][1] = s->half[i][2] = 0.1;
        s->box[i].n_half_extents = 3, s->box[i].half_extents = s->half[i];
        s->primitive[2 + i].shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_BOX;
        s->primitive[2 + i].box = &s->box[i];
        s->block_shapes[i] = &s->primitive[2 + i];
    }
    s->ground_shapes[0] = &s->primitive[0];
    s->ball_shapes[0] = &s->primitive[1];
    s->local[0] = 1;
    s->primitive[3].n_orientation = 4, s->primitive[3].orientation = s->local;
}

static void draw_bodies(Sketch *s) {
    for (int i = 0; i < BODIES; i++) {
        moreau__v1__scene_body__init(&s->body[i]);
        s->bodies[i] = &s->body[i];
        s->position[i][2] = i;
        s->orientation[i][0] = 1;
        s->body[i].n_position = 3, s->body[i].position = s->position[i];
        s->body[i].n_orientation = 4, s->body[i].orientation = s->orientation[i];
    }
    s->body[0].kind = MOREAU__V1__BODY__KIND__STATIC;
    s->body[0].n_shapes = 1, s->body[0].shapes = s->ground_shapes;
    s->body[1].n_shapes = 1, s->body[1].shapes = s->ball_shapes;
    s->body[1].n_angular_velocity = 3, s->body[1].angular_velocity = s->velocity;
    s->body[2].n_shapes = 2, s->body[2].shapes = s->block_shapes;
    s->body[2].has_mass = 1, s->body[2].mass = 2;
    s->inertia[0] = s->inertia[1] = s->inertia[2] = 1;
    s->body[3].has_mass = 1, s->body[3].mass = 2;
    s->body[3].n_inertia = 6, s->body[3].inertia = s->inertia;
    s->body[3].n_center_of_mass = 3, s->body[3].center_of_mass = s->center;
}

static void draw(Sketch *s) {
    *s = (Sketch){.normal = {0}};
    draw_shapes(s);
    draw_bodies(s);
    moreau__v1__material__init(&s->material);
    moreau__v1__mdp_parameters__init(&s->mdp);
    moreau__v1__solver_parameters__init(&s->parameters);
    moreau__v1__world_settings__init(&s->settings);
    moreau__v1__world_settings__init(&s->over);
    moreau__v1__scene__init(&s->scene);
    s->materials[0] = &s->material;
    s->material.name = (char *)"rubber";
    s->scene.n_materials = 1, s->scene.materials = s->materials;
    moreau__v1__material_pair__init(&s->pair);
    s->pairs[0] = &s->pair;
    s->pair.a = (char *)"rubber";
    s->pair.has_friction = 1, s->pair.friction = 0.5;
    s->scene.n_material_pairs = 1, s->scene.material_pairs = s->pairs;
    s->scene.n_bodies = BODIES, s->scene.bodies = s->bodies;
    s->scene.settings = &s->settings;
    s->settings.parameters = s->over.parameters = NULL;
}

// Plans the scene and passes the inputs through a door, as WorldCreate does.
static Status build(const Sketch *s, Error *error) {
    Arena arena;
    Door door;
    ScenePlan plan;
    WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 30};
    arena_init(&arena, 1 << 26);
    ck_assert_int_eq(door_init(&door, &limits, error), STATUS_OK);
    Status status = scene_plan(&s->scene, &s->over, &arena, &plan, error);
    for (size_t i = 0; status == STATUS_OK && i < plan.input_count; i++) {
        const Id *ids;
        size_t count;
        status = door_change(&door, &plan.input[i], &arena, &ids, &count, error);
        if (status != STATUS_OK) {
            scene_translate(&plan, i, error);
        }
    }
    ck_assert(status != STATUS_OK || door.world->body_count == BODIES);
    door_deinit(&door);
    arena_deinit(&arena);
    return status;
}

// ---- mistakes

#define MISTAKE(name, what)                                                                        \
    static void name(Sketch *s) {                                                                  \
        what;                                                                                      \
    }

MISTAKE(spoil_position, s->position[1][1] = 1e10)
MISTAKE(spoil_position_length, s->body[1].n_position = 2)
MISTAKE(spoil_orientation, s->orientation[2][0] = 0)
MISTAKE(spoil_angular_velocity, s->velocity[2] = 1e10)
MISTAKE(spoil_mass, s->body[2].mass = -1)
MISTAKE(spoil_last_mass, s->body[3].mass = 0)
MISTAKE(spoil_inertia, s->inertia[1] = 3)
MISTAKE(spoil_center, s->center[0] = 1e10)
MISTAKE(spoil_radius, s->sphere.radius = 0)
MISTAKE(spoil_second_box, s->half[1][2] = -1)
MISTAKE(spoil_box_length, s->box[0].n_half_extents = 2)
MISTAKE(spoil_local, s->local[0] = 0)
MISTAKE(spoil_density, s->primitive[3].has_density = 1; s->primitive[3].density = -1)
MISTAKE(spoil_normal, s->normal[2] = 0)
MISTAKE(spoil_shape, s->primitive[1].shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE__NOT_SET)
MISTAKE(name_no_material, s->primitive[2].material = (char *)"glass")
MISTAKE(spoil_friction, s->material.has_friction = 1; s->material.friction = -1)
MISTAKE(spoil_pair, s->pair.friction = -1)
MISTAKE(pair_with_nobody, s->pair.b = (char *)"glass")
MISTAKE(spoil_time_step, s->settings.has_time_step = 1; s->settings.time_step = -1)
MISTAKE(spoil_gravity_length, s->settings.n_gravity = 2; s->settings.gravity = s->gravity)
MISTAKE(spoil_gravity, s->settings.n_gravity = 3; s->settings.gravity = s->gravity;
        s->gravity[1] = 1e7)
MISTAKE(spoil_solver, s->settings.solver = (char *)"simplex")
MISTAKE(spoil_over_margin, s->over.has_margin = 1; s->over.margin = -1)
MISTAKE(spoil_over_gravity_length, s->over.n_gravity = 2; s->over.gravity = s->gravity)

static void spoil_tolerance(Sketch *s) {
    s->settings.parameters = &s->parameters;
    s->parameters.mdp = &s->mdp;
    s->mdp.has_tolerance = 1, s->mdp.tolerance = 2;
}

// The scene has settings too, and they are good.
static void spoil_over_tolerance(Sketch *s) {
    spoil_tolerance(s);
    s->over.parameters = &s->parameters;
    s->settings.parameters = NULL;
    s->settings.has_margin = 1, s->settings.margin = 0.01;
}

static void name_two_alike(Sketch *s) {
    s->body[1].name = s->body[3].name = (char *)"twin";
}

static const struct {
    void (*spoil)(Sketch *s);
    Status status;
    const char *field;
} mistakes[] = {
    {spoil_position, STATUS_INVALID_ARGUMENT, "scene.bodies[1].position"},
    {spoil_position_length, STATUS_INVALID_ARGUMENT, "scene.bodies[1].position"},
    {spoil_orientation, STATUS_INVALID_ARGUMENT, "scene.bodies[2].orientation"},
    {spoil_angular_velocity, STATUS_INVALID_ARGUMENT, "scene.bodies[1].angular_velocity"},
    {spoil_mass, STATUS_INVALID_ARGUMENT, "scene.bodies[2].mass"},
    {spoil_last_mass, STATUS_INVALID_ARGUMENT, "scene.bodies[3].mass"},
    {spoil_inertia, STATUS_INVALID_ARGUMENT, "scene.bodies[3].inertia"},
    {spoil_center, STATUS_INVALID_ARGUMENT, "scene.bodies[3].center_of_mass"},
    {spoil_radius, STATUS_INVALID_ARGUMENT, "scene.bodies[1].shapes[0].sphere.radius"},
    {spoil_second_box, STATUS_INVALID_ARGUMENT, "scene.bodies[2].shapes[1].box.half_extents[2]"},
    {spoil_box_length, STATUS_INVALID_ARGUMENT, "scene.bodies[2].shapes[0].box.half_extents"},
    {spoil_local, STATUS_INVALID_ARGUMENT, "scene.bodies[2].shapes[1].orientation"},
    {spoil_density, STATUS_INVALID_ARGUMENT, "scene.bodies[2].shapes[1].density"},
    {spoil_normal, STATUS_INVALID_ARGUMENT, "scene.bodies[0].shapes[0].plane.normal"},
    {spoil_shape, STATUS_INVALID_ARGUMENT, "scene.bodies[1].shapes[0]"},
    {name_no_material, STATUS_NOT_FOUND, "scene.bodies[2].shapes[0].material"},
    {spoil_friction, STATUS_INVALID_ARGUMENT, "scene.materials[0].friction"},
    {spoil_pair, STATUS_INVALID_ARGUMENT, "scene.material_pairs[0].friction"},
    {pair_with_nobody, STATUS_NOT_FOUND, "scene.material_pairs[0].b"},
    {spoil_time_step, STATUS_INVALID_ARGUMENT, "scene.settings.time_step"},
    {spoil_gravity_length, STATUS_INVALID_ARGUMENT, "scene.settings.gravity"},
    {spoil_gravity, STATUS_INVALID_ARGUMENT, "scene.settings.gravity[1]"},
    {spoil_solver, STATUS_INVALID_ARGUMENT, "scene.settings.solver"},
    {spoil_tolerance, STATUS_INVALID_ARGUMENT, "scene.settings.parameters.mdp.tolerance"},
    {spoil_over_margin, STATUS_INVALID_ARGUMENT, "settings.margin"},
    {spoil_over_gravity_length, STATUS_INVALID_ARGUMENT, "settings.gravity"},
    {spoil_over_tolerance, STATUS_INVALID_ARGUMENT, "settings.parameters.mdp.tolerance"},
    {name_two_alike, STATUS_ALREADY_EXISTS, "scene.bodies[3].name"},
};

START_TEST(a_mistake_is_blamed_where_it_stands_in_the_scene) {
    Sketch sketch;
    Error error = {0};
    draw(&sketch);
    mistakes[_i].spoil(&sketch);
    Status status = build(&sketch, &error);
    ck_assert_str_eq(error.field, mistakes[_i].field);
    ck_assert_int_eq(status, mistakes[_i].status);
    ck_assert_uint_gt(strlen(error.message), 10);
}
END_TEST

// ---- masses beyond what may be given

// Shapes may make a body heavier than a mass may be given: the scene of such a world says so, and
// is refused by the body and by how much there may be of it.
static const struct {
    int body;
    double mass, inertia; // 0: as drawn
    const char *field, *limit;
} masses[] = {
    {3, 4e39, 0.0, "scene.bodies[3].mass", "<= 1e+18 (kg)"},
    {2, 1.0000001e18, 0.0, "scene.bodies[2].mass", "<= 1e+18 (kg)"},
    {2, HUGE_VAL, 0.0, "scene.bodies[2].mass", "<= 1e+18 (kg)"},
    {3, -1e-300, 0.0, "scene.bodies[3].mass", "> 0 and"},
    {3, 0.0, 1.1e30, "scene.bodies[3].inertia", "<= 1e+30 (kg m^2)"},
    {3, 0.0, NAN, "scene.bodies[3].inertia", "<= 1e+30 (kg m^2)"},
};

START_TEST(a_mass_that_may_not_be_given_names_its_body_and_the_limit) {
    Sketch sketch;
    Error error = {0};
    draw(&sketch);
    if (masses[_i].mass != 0.0) {
        sketch.body[masses[_i].body].mass = masses[_i].mass;
    }
    if (masses[_i].inertia != 0.0) {
        sketch.inertia[0] = sketch.inertia[1] = sketch.inertia[2] = masses[_i].inertia;
    }
    ck_assert_int_eq(build(&sketch, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, masses[_i].field);
    ck_assert_msg(strstr(error.message, masses[_i].limit) != NULL, "%s", error.message);
}
END_TEST

START_TEST(the_scene_without_a_mistake_becomes_a_world) {
    Sketch sketch;
    Error error = {0};
    draw(&sketch);
    ck_assert_msg(build(&sketch, &error) == STATUS_OK, "%s: %s", error.field, error.message);
}
END_TEST

START_TEST(too_many_shapes_are_blamed_on_their_body) {
    enum { TOO_MANY = 4097 };
    Sketch sketch;
    Error error = {0};
    draw(&sketch);
    static Moreau__V1__ScenePrimitive *many[TOO_MANY];
    for (int i = 0; i < TOO_MANY; i++) {
        many[i] = &sketch.primitive[2];
    }
    sketch.body[2].n_shapes = TOO_MANY;
    sketch.body[2].shapes = many;
    ck_assert_int_eq(build(&sketch, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "scene.bodies[2].shapes");
}
END_TEST

START_TEST(a_plan_that_memory_does_not_hold_is_a_misfortune) {
    Sketch sketch;
    draw(&sketch);
    bool fitted = false;
    for (size_t limit = 64; !fitted; limit += 64) {
        Arena arena;
        ScenePlan plan;
        Error error = {0};
        arena_init(&arena, limit);
        Status status = scene_plan(&sketch.scene, &sketch.over, &arena, &plan, &error);
        fitted = status == STATUS_OK;
        ck_assert(fitted || status == STATUS_RESOURCE_EXHAUSTED);
        arena_deinit(&arena);
    }
}
END_TEST

static TCase *case_scene(void) {
    TCase *tcase = tcase_create("scene");
    tcase_add_test(tcase, the_scene_without_a_mistake_becomes_a_world);
    tcase_add_loop_test(tcase, a_mistake_is_blamed_where_it_stands_in_the_scene, 0,
                        (int)(sizeof(mistakes) / sizeof(mistakes[0])));
    tcase_add_loop_test(tcase, a_mass_that_may_not_be_given_names_its_body_and_the_limit, 0,
                        (int)(sizeof(masses) / sizeof(masses[0])));
    tcase_add_test(tcase, too_many_shapes_are_blamed_on_their_body);
    tcase_add_test(tcase, a_plan_that_memory_does_not_hold_is_a_misfortune);
    return tcase;
}

SUITE_MAIN("api/scene", case_scene)
