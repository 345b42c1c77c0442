// SPDX-License-Identifier: MIT
#include "channel/channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double paper_grains = 247000.0, paper_radius = 0.47e-3; // [m]
static const double speed = 1.0;                                     // [m/s]
static const double perturbation = 0.5;                              // [m/s] along y and z
static const double density = 2650.0;                                // [kg/m^3]
static const double friction = 0.4;
static const double obstacle_radius = 0.01, obstacle_center[2] = {0.04, 0.04}; // [m]
enum { ROUND_FACES = 24, PART_GRAINS = 40000 };

ChannelDef channel_def_default(void) {
    return (ChannelDef){.grains = 25000,
                        .spacing = 1.0 / 0.94,
                        .layer_steps = 80,
                        .seed = 1,
                        .tolerance = 1e-4,
                        .max_iterations = 200,
                        .budget = 1e9};
}

double channel_time(const Channel *channel) {
    return (double)channel->steps * channel->time_step;
}

double channel_free_volume(void) {
    double obstacle = (0.5 * pi + 2.0) * obstacle_radius * obstacle_radius;
    return (CHANNEL_LENGTH * CHANNEL_WIDTH - obstacle) * CHANNEL_HEIGHT;
}

bool channel_is_in_obstacle(const double position[3], double depth) {
    double x = position[0] - obstacle_center[0], y = position[1] - obstacle_center[1];
    double reach = obstacle_radius - depth;
    bool in_box = x >= 0.0 && x < reach && fabs(y) < reach;
    return in_box || (x < 0.0 && x * x + y * y < reach * reach);
}

static void size_grains(Channel *channel) {
    double radius = paper_radius * cbrt(paper_grains / (double)channel->def.grains);
    channel->volume = 4.0 / 3.0 * pi * radius * radius * radius;
    channel->mass = density * channel->volume;
    channel->ball = channel->def.has_dumbbells ? radius / cbrt(2.0) : radius;
    for (int axis = 0; axis < 3; axis++) {
        channel->half[axis] = channel->ball;
    }
    channel->half[1] *= channel->def.has_dumbbells ? 2.0 : 1.0;
    channel->time_step = 2.0 * channel->ball / speed / channel->def.layer_steps;
}

// ---- what stands still, and the piston

static void put_pose(double pose[7], double x, double y, double z, double turn,
                     const double axis[3]) {
    const double all[7] = {x,
                           y,
                           z,
                           cos(0.5 * turn),
                           sin(0.5 * turn) * axis[0],
                           sin(0.5 * turn) * axis[1],
                           sin(0.5 * turn) * axis[2]};
    memcpy(pose, all, sizeof(all));
}

static const double along_x[3] = {1.0, 0.0, 0.0}, along_z[3] = {0.0, 0.0, 1.0};

enum { WALLS = 4, OBSTACLE_BOXES = ROUND_FACES / 2 + 1 };

// Planes, whose solid is below; turned about x.
static void make_walls(double pose[7 * WALLS]) {
    put_pose(pose, 0.0, 0.0, 0.0, 0.0, along_x);
    put_pose(pose + 7, 0.0, 0.0, CHANNEL_HEIGHT, pi, along_x);
    put_pose(pose + 14, 0.0, 0.0, 0.0, -0.5 * pi, along_x);
    put_pose(pose + 21, 0.0, CHANNEL_WIDTH, 0.0, 0.5 * pi, along_x);
}

// About the cylinder's axis: boxes that reach from each face of the round to the one across, and
// one for the right half.
static void make_obstacle(double size[3 * OBSTACLE_BOXES], double pose[7 * OBSTACLE_BOXES]) {
    double half_angle = pi / ROUND_FACES;
    for (int i = 0; i < OBSTACLE_BOXES - 1; i++) {
        size[3 * i] = obstacle_radius * cos(half_angle);
        size[3 * i + 1] = obstacle_radius * sin(half_angle);
        size[3 * i + 2] = CHANNEL_HEIGHT;
        put_pose(pose + 7 * i, 0.0, 0.0, 0.0, 2.0 * half_angle * i, along_z);
    }
    double *last = size + 3 * (OBSTACLE_BOXES - 1);
    last[0] = 0.5 * obstacle_radius;
    last[1] = obstacle_radius;
    last[2] = CHANNEL_HEIGHT;
    put_pose(pose + 7 * (OBSTACLE_BOXES - 1), 0.5 * obstacle_radius, 0.0, 0.0, 0.0, along_z);
}

static const double piston_half[3] = {0.02, CHANNEL_WIDTH, CHANNEL_HEIGHT};

static void place_piston(double pose[7]) {
    put_pose(pose, -piston_half[0], 0.5 * CHANNEL_WIDTH, 0.0, 0.0, along_z);
}

// Shapes: wall, obstacle, piston, grain, in this order.
static MoreauStatus add_shapes(Channel *channel, uint64_t shapes[4], uint64_t material) {
    enum { ALL = 1 + OBSTACLE_BOXES + 1 + 2 };
    uint32_t kind[ALL] = {MOREAU_PLANE}, balls = channel->def.has_dumbbells ? 2 : 1;
    const uint32_t counts[4] = {1, OBSTACLE_BOXES, 1, balls};
    double size[3 * ALL] = {0.0}, pose[7 * ALL], densities[ALL];
    uint64_t materials[ALL];
    for (size_t i = 0; i < ALL; i++) {
        kind[i] = i == 0 ? MOREAU_PLANE : i < ALL - 2 ? MOREAU_BOX : MOREAU_SPHERE;
        put_pose(pose + 7 * i, 0.0, 0.0, 0.0, 0.0, along_z);
        materials[i] = material;
        densities[i] = density;
    }
    make_obstacle(size + 3, pose + 7);
    memcpy(size + 3 * (ALL - 3), piston_half, sizeof(piston_half));
    for (uint32_t i = 0; i < 2; i++) {
        size[3 * (ALL - 2 + i)] = channel->ball;
        pose[7 * (ALL - 2 + i) + 1] = balls == 2 ? (i == 0 ? -channel->ball : channel->ball) : 0.0;
    }
    MoreauShapes columns = {.count = 4,
                            .primitive_total = ALL - 2 + balls,
                            .primitive_count = counts,
                            .kind = kind,
                            .size = size,
                            .pose = pose,
                            .material = materials,
                            .density = densities};
    return moreau_world_add_shapes(channel->client, channel->world, &columns, shapes);
}

static MoreauStatus add_channel(Channel *channel, const uint64_t shapes[4]) {
    enum { FIXED = WALLS + 2 };
    double pose[7 * FIXED], velocity[6 * FIXED] = {0.0};
    uint32_t kind[FIXED];
    uint64_t shape[FIXED], ids[FIXED];
    for (size_t i = 0; i < FIXED; i++) {
        kind[i] = i == FIXED - 1 ? MOREAU_KINEMATIC : MOREAU_STATIC;
        shape[i] = shapes[i < WALLS ? 0 : i + 1 - WALLS];
    }
    make_walls(pose);
    put_pose(pose + 7 * WALLS, obstacle_center[0], obstacle_center[1], 0.0, 0.0, along_z);
    place_piston(pose + 7 * (FIXED - 1));
    velocity[6 * (FIXED - 1)] = speed;
    MoreauBodies bodies = {
        .count = FIXED, .pose = pose, .velocity = velocity, .kind = kind, .shape = shape};
    MoreauStatus status = moreau_world_add_bodies(channel->client, channel->world, &bodies, ids);
    channel->piston = ids[FIXED - 1];
    return status;
}

// ---- grains

// In [-1, 1): splitmix64.
static double draw(Channel *channel) {
    uint64_t z = channel->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) / 4503599627370496.0 - 1.0;
}

static size_t grid_count(const Channel *channel, double extent, int axis) {
    return (size_t)floor(extent / (2.0 * channel->half[axis] * channel->def.spacing));
}

typedef struct Grains {
    double *pose, *velocity;
    uint64_t *shape;
    size_t count;
} Grains;

static bool hits_obstacle(const Channel *channel, const double position[3]) {
    return fabs(position[0] - obstacle_center[0]) < obstacle_radius + channel->half[0] &&
           fabs(position[1] - obstacle_center[1]) < obstacle_radius + channel->half[1];
}

// A layer of grains across the channel at x.
static void fill_layer(Channel *channel, double x, Grains *grains) {
    size_t rows = grid_count(channel, CHANNEL_WIDTH, 1),
           levels = grid_count(channel, CHANNEL_HEIGHT, 2);
    for (size_t i = 0; i < rows * levels; i++) {
        double position[3] = {x, CHANNEL_WIDTH * ((double)(i % rows) + 0.5) / (double)rows,
                              CHANNEL_HEIGHT * ((double)(i / rows) + 0.5) / (double)levels};
        if (hits_obstacle(channel, position)) {
            continue;
        }
        double *velocity = grains->velocity + 6 * grains->count;
        put_pose(grains->pose + 7 * grains->count, position[0], position[1], position[2], 0.0,
                 along_z);
        memset(velocity, 0, 6 * sizeof(double));
        velocity[0] = speed;
        velocity[1] = perturbation * draw(channel);
        velocity[2] = perturbation * draw(channel);
        grains->shape[grains->count++] = channel->grain_shape;
    }
}

// Layers [begin, end), the first of them the piston's, in one message.
static MoreauStatus add_part(Channel *channel, size_t begin, size_t end) {
    size_t room = (end - begin) * grid_count(channel, CHANNEL_WIDTH, 1) *
                  grid_count(channel, CHANNEL_HEIGHT, 2);
    Grains grains = {.pose = calloc(room, 7 * sizeof(double)),
                     .velocity = calloc(room, 6 * sizeof(double)),
                     .shape = calloc(room, sizeof(uint64_t))};
    MoreauStatus status = MOREAU_RESOURCE_EXHAUSTED;
    if (grains.pose != NULL && grains.velocity != NULL && grains.shape != NULL) {
        for (size_t i = begin; i < end; i++) {
            fill_layer(channel, channel->half[0] * (1.0 + 2.0 * channel->def.spacing * (double)i),
                       &grains);
        }
        MoreauBodies bodies = {.count = grains.count,
                               .pose = grains.pose,
                               .velocity = grains.velocity,
                               .shape = grains.shape};
        status = moreau_world_add_bodies(channel->client, channel->world, &bodies, NULL);
        channel->added += status == MOREAU_OK ? grains.count : 0;
    }
    free(grains.pose);
    free(grains.velocity);
    free(grains.shape);
    return status;
}

// In as many messages as it takes for each to be far less than a frame: a layer of the finest
// grains has some ten thousand.
static MoreauStatus add_layers(Channel *channel, size_t layers) {
    size_t of_layer =
               grid_count(channel, CHANNEL_WIDTH, 1) * grid_count(channel, CHANNEL_HEIGHT, 2),
           step = 1 + PART_GRAINS / (1 + of_layer);
    MoreauStatus status = MOREAU_OK;
    for (size_t begin = 0; begin < layers && status == MOREAU_OK; begin += step) {
        status = add_part(channel, begin, begin + step < layers ? begin + step : layers);
    }
    return status;
}

// ---- life

static MoreauStatus create_world(Channel *channel) {
    const MoreauParameter parameters[] = {
        {"friction", channel->def.maximizes_dissipation ? 0.0 : 1.0},
        {"tolerance", channel->def.tolerance},
        {"max_iterations", channel->def.max_iterations},
        {"budget", channel->def.budget},
    };
    MoreauWorldDef def = moreau_world_def_default();
    def.settings =
        (MoreauSettings){.given = MOREAU_TIME_STEP | MOREAU_MARGIN | MOREAU_BOUNDS,
                         .time_step = channel->time_step,
                         .margin = 0.01 * channel->ball,
                         // only the far end is open: what gets through a wall is to be seen
                         .bounds_lower = {-1.0, -1.0, -1.0},
                         .bounds_upper = {CHANNEL_LENGTH, 1.0, 1.0},
                         .solver = "mdp",
                         .parameters = parameters,
                         .parameter_count = sizeof(parameters) / sizeof(parameters[0])};
    return moreau_world_create(channel->client, &def, &channel->world);
}

MoreauStatus channel_open(Channel *channel, MoreauClient *client, const ChannelDef *def) {
    *channel = (Channel){.def = *def, .client = client, .random = def->seed};
    size_grains(channel);
    MoreauStatus status = create_world(channel);
    if (status != MOREAU_OK) {
        return status;
    }
    uint64_t material, shapes[4];
    MoreauMaterials materials = {.count = 1, .friction = &friction};
    status = moreau_world_add_materials(client, channel->world, &materials, &material);
    if (status == MOREAU_OK) {
        status = add_shapes(channel, shapes, material);
    }
    if (status == MOREAU_OK) {
        channel->grain_shape = shapes[3];
        status = add_channel(channel, shapes);
    }
    return status == MOREAU_OK ? add_layers(channel, grid_count(channel, CHANNEL_LENGTH, 0))
                               : status;
}

MoreauStatus channel_close(Channel *channel) {
    return moreau_world_destroy(channel->client, channel->world);
}

static MoreauStatus take_steps(Channel *channel, uint64_t steps, ChannelSeen *seen, void *context) {
    MoreauStep step = moreau_step_default();
    MoreauReply *reply;
    MoreauStepResult result;
    step.worlds = &channel->world;
    step.world_count = 1;
    step.steps = steps;
    MoreauStatus status = moreau_world_step(channel->client, &step, &reply, &result);
    if (status == MOREAU_OK) {
        channel->steps += steps;
        channel->removed += result.removed == NULL ? 0 : result.removed[0];
        channel->unconverged += result.unconverged_steps[0];
        channel->iterations += steps * result.iterations[0];
        channel->penetration = fmax(channel->penetration, result.worst.penetration[0]);
        if (seen != NULL) {
            seen(channel, &result, context);
        }
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus channel_push_layer(Channel *channel, uint64_t calls, ChannelSeen *seen,
                                void *context) {
    MoreauStatus status = MOREAU_OK;
    for (uint64_t i = 0; status == MOREAU_OK && i < calls; i++) {
        status = take_steps(channel, channel->def.layer_steps / calls, seen, context);
    }
    double pose[7];
    place_piston(pose);
    if (status == MOREAU_OK) {
        status = moreau_world_set(channel->client, channel->world, NULL, 1, &channel->piston, pose,
                                  NULL);
    }
    return status == MOREAU_OK ? add_layers(channel, 1) : status;
}
