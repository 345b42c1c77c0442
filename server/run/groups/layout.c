// SPDX-License-Identifier: MIT
#include "run/groups/layout.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum ChannelOf { OF_JOINT, OF_BODY, OF_NONE } ChannelOf;

// What there is to say of a kind.
typedef struct KindRow {
    const char *name; // of its columns
    ChannelOf of;
    uint32_t count; // of its numbers; 0: as the joint, or the action, has it
    uint32_t noise_count;
    bool acts, reads, disturbs, is_relative, is_felt;
    const char *numbers; // a letter each
} KindRow;

static const KindRow kinds[CHANNEL_COUNT] = {
    [CHANNEL_JOINT_EFFORT] = {"effort", OF_JOINT, 0, 0, true, true, false, false, false, ""},
    [CHANNEL_JOINT_TARGET] = {"target", OF_JOINT, 0, 0, true, true, false, false, false, ""},
    [CHANNEL_JOINT_TARGET_VELOCITY] = {"target_velocity", OF_JOINT, 0, 0, true, true, false, false,
                                       false, ""},
    [CHANNEL_JOINT_POSITION] = {"position", OF_JOINT, 0, 0, false, true, true, false, false, ""},
    [CHANNEL_JOINT_VELOCITY] = {"velocity", OF_JOINT, 0, 0, false, true, true, false, false, ""},
    [CHANNEL_BODY_FORCE] = {"force", OF_BODY, 3, 0, true, false, false, false, false, "xyz"},
    [CHANNEL_BODY_TORQUE] = {"torque", OF_BODY, 3, 0, true, false, false, false, false, "xyz"},
    [CHANNEL_BODY_POSITION] = {"position", OF_BODY, 3, 3, false, true, true, true, false, "xyz"},
    [CHANNEL_BODY_ROTATION] = {"rotation", OF_BODY, 4, 3, false, true, true, true, false, "wxyz"},
    [CHANNEL_BODY_VELOCITY] = {"velocity", OF_BODY, 3, 3, true, true, true, true, false, "xyz"},
    [CHANNEL_BODY_SPIN] = {"spin", OF_BODY, 3, 3, true, true, true, true, false, "xyz"},
    [CHANNEL_BODY_LOCAL_VELOCITY] = {"local_velocity", OF_BODY, 3, 0, false, true, false, false,
                                     false, "xyz"},
    [CHANNEL_BODY_LOCAL_SPIN] = {"local_spin", OF_BODY, 3, 0, false, true, false, false, false,
                                 "xyz"},
    [CHANNEL_CONTACT_FORCE] = {"contact", OF_BODY, 6, 0, false, true, false, true, true, "xyzuvw"},
    [CHANNEL_ACTION] = {"action", OF_NONE, 0, 0, false, true, false, false, false, ""},
    [CHANNEL_TIME] = {"time", OF_NONE, 1, 0, false, true, false, false, false, ""},
    [CHANNEL_RAYS] = {"ray", OF_BODY, 0, 0, false, true, false, false, false, ""},
    [CHANNEL_ACCELEROMETER] = {"accelerometer", OF_BODY, 3, 0, false, true, false, false, true,
                               "xyz"},
    [CHANNEL_GYROSCOPE] = {"gyroscope", OF_BODY, 3, 0, false, true, false, false, false, "xyz"},
    [CHANNEL_JOINT_TORQUE] = {"torque", OF_JOINT, 0, 0, false, true, false, false, true, ""},
    [CHANNEL_JOINT_WRENCH] = {"wrench", OF_JOINT, 6, 0, false, true, false, false, true, "xyzuvw"},
    [CHANNEL_CONTACT] = {"contact", OF_BODY, 1, 0, false, true, false, true, true, ""},
    [CHANNEL_BODY_GEOMETRY] = {"geometry", OF_BODY, 1, 1, false, true, true, false, false, ""},
};

// ---- names

bool layout_place_named(const char *name, size_t count, uint32_t *index) {
    if (name[0] != '#' || name[1] < '1' || name[1] > '9') {
        return false;
    }
    char *end;
    const unsigned long long place = strtoull(name + 1, &end, 10);
    *index = (uint32_t)(place - 1);
    return *end == '\0' && place <= count;
}

bool layout_body_named(const World *world, const char *name, uint32_t *body) {
    if (layout_place_named(name, world->body_count, body)) {
        return true;
    }
    for (*body = 0; *body < world->body_count; (*body)++) {
        const char *own = world->body_name[*body];
        if (own != NULL && strcmp(own, name) == 0) {
            return true;
        }
    }
    return false;
}

bool layout_joint_named(const World *world, const char *name, uint32_t *joint) {
    if (layout_place_named(name, world->joint_count, joint)) {
        return true;
    }
    for (*joint = 0; *joint < world->joint_count; (*joint)++) {
        const char *own = world->joint[*joint].name;
        if (own != NULL && strcmp(own, name) == 0) {
            return true;
        }
    }
    return false;
}

// ---- compiling

typedef struct Compiler {
    const LayoutDef *def;
    const World *world;
    Layout *layout;
    size_t index; // of the channel
    Error *error;
} Compiler;

static Status blame(const Compiler *compiler, const char *field, const char *format,
                    const char *text) {
    char path[sizeof(compiler->error->field)];
    snprintf(path, sizeof(path), "%s[%zu]%s%s%s", compiler->def->list, compiler->index,
             compiler->def->item, field[0] == '\0' ? "" : ".", field);
    char message[sizeof(compiler->error->message)];
    snprintf(message, sizeof(message), format, text);
    return error_set(compiler->error, STATUS_INVALID_ARGUMENT, path, "%s", message);
}

static Status find_body(const Compiler *compiler, const char *name, uint64_t id, const char *field,
                        uint32_t *body) {
    const World *world = compiler->world;
    if (name == NULL && id == 0) {
        return blame(compiler, field, "Say which body%s.", "");
    }
    if (name == NULL) {
        char text[32];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
        return world_find_body(world, id, body)
                   ? STATUS_OK
                   : blame(compiler, field, "No body of the template has the id %s.", text);
    }
    return layout_body_named(world, name, body)
               ? STATUS_OK
               : blame(compiler, field, "The template has no body named %s.", name);
}

static Status find_joint(const Compiler *compiler, const ChannelDef *def, uint32_t *joint) {
    const World *world = compiler->world;
    if (def->joint == NULL && def->joint_id == 0) {
        return blame(compiler, "joint", "Say which joint%s.", "");
    }
    if (def->joint == NULL) {
        char text[32];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)def->joint_id);
        return world_find_joint(world, def->joint_id, joint)
                   ? STATUS_OK
                   : blame(compiler, "joint_id", "No joint of the template has the id %s.", text);
    }
    return layout_joint_named(world, def->joint, joint)
               ? STATUS_OK
               : blame(compiler, "joint", "The template has no joint named %s.", def->joint);
}

static Status check_kind(const Compiler *compiler, const ChannelDef *def) {
    const KindRow *row = &kinds[def->kind];
    const LayoutUse use = compiler->def->use;
    const bool fits = use == LAYOUT_ACTION ? row->acts
                      : use == LAYOUT_READ ? row->reads
                                           : row->disturbs;
    if (!fits) {
        return blame(compiler, "kind",
                     use == LAYOUT_ACTION ? "This kind (%s) cannot be acted on."
                     : use == LAYOUT_READ
                         ? "This kind (%s) cannot be read: it is what an action does."
                         : "To this kind (%s) no noise can be added.",
                     row->name);
    }
    if (row->of != OF_JOINT && (def->joint != NULL || def->joint_id != 0)) {
        return blame(compiler, "joint", "This kind (%s) has no joint.", row->name);
    }
    if (row->of != OF_BODY && (def->body != NULL || def->body_id != 0)) {
        return blame(compiler, "body", "This kind (%s) has no body.", row->name);
    }
    if ((def->relative != NULL || def->relative_id != 0) &&
        (!row->is_relative || use != LAYOUT_READ)) {
        return blame(compiler, "relative_to", "This kind (%s) is relative to nothing here.",
                     row->name);
    }
    return STATUS_OK;
}

// The rays of a channel, as its own.
static Status take_rays(const Compiler *compiler, const ChannelDef *def, Arena *arena,
                        Channel *channel) {
    if (def->kind != CHANNEL_RAYS) {
        return def->rays.count == 0 ? STATUS_OK
                                    : blame(compiler, "ray_way", "This kind (%s) has no rays.",
                                            kinds[def->kind].name);
    }
    const char *field, *wrong = ray_channel_wrong(&def->rays, &field);
    if (wrong != NULL) {
        return blame(compiler, field, wrong, "");
    }
    channel->rays = ray_channel_copy(&def->rays, arena);
    compiler->layout->ray_count += (uint32_t)def->rays.count;
    return channel->rays != NULL
               ? STATUS_OK
               : error_set(compiler->error, STATUS_RESOURCE_EXHAUSTED, compiler->def->list,
                           "Memory ended while making a layout.");
}

// Where a sensor sits on its body.
static Status take_mount(const Compiler *compiler, const ChannelDef *def, Channel *channel) {
    channel->mount = (Pose){.orientation = quat_identity()};
    if (!def->has_mount) {
        return STATUS_OK;
    }
    if (channel->kind != CHANNEL_ACCELEROMETER && channel->kind != CHANNEL_GYROSCOPE) {
        return blame(compiler, "mount", "This kind (%s) is not mounted: it is read of the body.",
                     kinds[channel->kind].name);
    }
    Error wrong = {0};
    if (body_check_pose(def->mount, 0, &wrong) != STATUS_OK) {
        return blame(compiler, "mount",
                     "It is a pose in the body's axes: a place, -1e9 to 1e9 m, and a quaternion w "
                     "x y z that is not 0%s.",
                     "");
    }
    channel->mount = pose_load(def->mount);
    channel->mount.orientation = quat_normalize(channel->mount.orientation);
    return STATUS_OK;
}

static Status take_sensor(const Compiler *compiler, const ChannelDef *def, Channel *channel) {
    channel->sensor = def->sensor;
    channel->sensor.delay_max =
        def->sensor.delay_max == 0 ? def->sensor.delay : def->sensor.delay_max;
    const char *field, *wrong = sensor_wrong(&channel->sensor, &field);
    if (wrong != NULL) {
        return blame(compiler, field, wrong, "");
    }
    return !sensor_is_any(&channel->sensor) ||
                   (compiler->def->use == LAYOUT_READ && !compiler->def->is_rule)
               ? STATUS_OK
               : blame(compiler, "",
                       "Noise, bias and delay are of what is told, observation and "
                       "extra, not of what acts or judges%s.",
                       "");
}

// How many numbers a channel has.
static uint32_t count_numbers(const Compiler *compiler, const Channel *channel) {
    const KindRow *row = &kinds[channel->kind];
    if (row->of == OF_JOINT && row->count == 0) {
        const uint8_t axes = compiler->world->joint[channel->joint].axes;
        return channel->kind == CHANNEL_JOINT_POSITION && compiler->def->use == LAYOUT_READ
                   ? joint_position_count(axes)
                   : joint_axis_count(axes);
    }
    if (channel->kind == CHANNEL_RAYS) {
        return (uint32_t)channel->rays->count;
    }
    return channel->kind == CHANNEL_ACTION      ? compiler->def->action_count
           : compiler->def->use == LAYOUT_NOISE ? row->noise_count
                                                : row->count;
}

static Status check_joint(const Compiler *compiler, const Channel *channel) {
    const Joint *joint = &compiler->world->joint[channel->joint];
    if (joint_couples(joint) &&
        (channel->kind == CHANNEL_JOINT_WRENCH || channel->kind == CHANNEL_JOINT_TORQUE)) {
        return blame(compiler, "joint",
                     "A gear or a tendon carries nothing itself: ask the joints that it couples%s.",
                     "");
    }
    if (channel->kind == CHANNEL_JOINT_WRENCH) {
        return STATUS_OK;
    }
    if (joint_axis_count(joint->axes) == 0) {
        return blame(compiler, "joint", "This joint leaves nothing free%s.", "");
    }
    if (compiler->def->use == LAYOUT_NOISE && joint->is_rows) {
        return blame(compiler, "joint",
                     "This joint is held by rows: its numbers are those of its bodies%s.", "");
    }
    return STATUS_OK;
}

static Status check_body(const Compiler *compiler, const Channel *channel) {
    const World *world = compiler->world;
    const uint8_t kind = world->kind[channel->body];
    const LayoutUse use = compiler->def->use;
    const bool is_rate =
        channel->kind == CHANNEL_BODY_VELOCITY || channel->kind == CHANNEL_BODY_SPIN;
    if (use == LAYOUT_ACTION && is_rate && kind != BODY_KINEMATIC) {
        return blame(compiler, "body", "Only a kinematic body moves as it is told%s.", "");
    }
    if (use == LAYOUT_ACTION && !is_rate && kind != BODY_DYNAMIC) {
        return blame(compiler, "body", "Only a dynamic body can be pushed%s.", "");
    }
    uint32_t primitive;
    if (channel->kind == CHANNEL_BODY_GEOMETRY) {
        return world_find_worn(world, channel->body, &primitive)
                   ? STATUS_OK
                   : blame(compiler, "body", "%s", LAYOUT_WEARS_NO_ONE);
    }
    if (use == LAYOUT_NOISE && is_rate && kind == BODY_STATIC) {
        return blame(compiler, "body", "A static body has no velocity%s.", "");
    }
    if (use == LAYOUT_NOISE && world_joint_of_child(world, channel->body) != JOINT_NONE) {
        return blame(compiler, "body",
                     "This body is placed by a joint: add noise to the joint's numbers%s.", "");
    }
    return STATUS_OK;
}

static Status find_things(const Compiler *compiler, const ChannelDef *def, Channel *channel) {
    const KindRow *row = &kinds[def->kind];
    Status status = STATUS_OK;
    if (row->of == OF_JOINT) {
        status = find_joint(compiler, def, &channel->joint);
        status = STATUS_THEN(status, check_joint(compiler, channel));
    } else if (row->of == OF_BODY) {
        status = find_body(compiler, def->body, def->body_id,
                           def->body_id != 0 ? "body_id" : "body", &channel->body);
        status = STATUS_THEN(status, check_body(compiler, channel));
    }
    if (status == STATUS_OK && (def->relative != NULL || def->relative_id != 0)) {
        status =
            find_body(compiler, def->relative, def->relative_id,
                      def->relative_id != 0 ? "relative_to_id" : "relative_to", &channel->relative);
    }
    return status;
}

// What a reader may take for granted of a joint's position.
static void take_limits(const Compiler *compiler, const Channel *channel, uint32_t number,
                        Column *column) {
    const Joint *joint = &compiler->world->joint[channel->joint];
    if ((joint->axes & JOINT_TURNS) == JOINT_TURNS) {
        return; // their limits are of a rotation vector
    }
    const JointAxis *axis = &compiler->world->joint_axis[joint->axis_first + number];
    const double a = column->scale * axis->low + column->offset;
    const double b = column->scale * axis->high + column->offset;
    const double low = a < b ? a : b, high = a < b ? b : a;
    column->low = low > -LAYOUT_UNBOUNDED ? low : -LAYOUT_UNBOUNDED;
    column->high = high < LAYOUT_UNBOUNDED ? high : LAYOUT_UNBOUNDED;
}

static Status check_numbers(const Compiler *compiler, const ChannelDef *def) {
    const double scale_max = 1e18;
    if (!(fabs(def->scale) <= scale_max)) {
        return blame(compiler, "scale", "A scale is -1e18 to 1e18%s.", "");
    }
    if (!(fabs(def->offset) <= scale_max)) {
        return blame(compiler, "offset", "An offset is -1e18 to 1e18%s.", "");
    }
    if (def->has_low && !(fabs(def->low) <= LAYOUT_UNBOUNDED)) {
        return blame(compiler, "low", "A bound is a number that a float holds%s.", "");
    }
    if (def->has_high && !(fabs(def->high) <= LAYOUT_UNBOUNDED)) {
        return blame(compiler, "high", "A bound is a number that a float holds%s.", "");
    }
    if (def->has_low && def->has_high && !(def->low <= def->high)) {
        return blame(compiler, "high", "high is less than low%s.", "");
    }
    return STATUS_OK;
}

// The columns of what was found; there is room for all of its numbers.
static Status add_columns(const Compiler *compiler, const ChannelDef *def, Channel *channel) {
    Layout *layout = compiler->layout;
    const uint32_t numbers = count_numbers(compiler, channel);
    channel->column_first = layout->column_count;
    if (def->has_axes && (def->axes == 0 || (numbers < 32 && def->axes >> numbers != 0))) {
        char text[32];
        snprintf(text, sizeof(text), "%u", numbers);
        return blame(compiler, "axes", "There are %s numbers to choose of; choose one at least.",
                     text);
    }
    for (uint32_t i = 0; i < numbers; i++) {
        if (def->has_axes && (i >= 32 || (def->axes >> i & 1) == 0)) {
            continue;
        }
        Column column = {.number = i,
                         .scale = def->scale,
                         .offset = def->offset,
                         .low = -LAYOUT_UNBOUNDED,
                         .high = LAYOUT_UNBOUNDED};
        if (channel->kind == CHANNEL_JOINT_POSITION && compiler->def->use == LAYOUT_READ) {
            take_limits(compiler, channel, i, &column);
        }
        if (channel->kind == CHANNEL_RAYS || channel->kind == CHANNEL_CONTACT) { // 0 to 1
            column.low = fmin(column.offset, column.scale + column.offset);
            column.high = fmax(column.offset, column.scale + column.offset);
        }
        column.low = def->has_low ? def->low : column.low;
        column.high = def->has_high ? def->high : column.high;
        layout->column[layout->column_count++] = column;
    }
    channel->column_count = layout->column_count - channel->column_first;
    channel->felt_first = layout->felt_count;
    channel->felt_count = kinds[channel->kind].is_felt ? numbers : 0;
    layout->felt_count += channel->felt_count;
    layout->sensor_count += sensor_count(&channel->sensor, channel->column_count);
    layout->feels_wrenches = layout->feels_wrenches || channel->kind == CHANNEL_JOINT_TORQUE ||
                             channel->kind == CHANNEL_JOINT_WRENCH;
    layout->feels_motion = layout->feels_motion || channel->kind == CHANNEL_ACCELEROMETER;
    return STATUS_OK;
}

// As many as all of their numbers.
static size_t count_columns_max(const LayoutDef *def) {
    size_t count = 0;
    for (size_t i = 0; i < def->count; i++) {
        const ChannelDef *channel = &def->channel[i];
        count += channel->kind == CHANNEL_ACTION ? def->action_count
                 : channel->kind == CHANNEL_RAYS ? channel->rays.count
                                                 : JOINT_POSITION_MAX;
    }
    return count;
}

Status layout_compile(const LayoutDef *def, const World *template, Arena *arena, Layout *layout,
                      Error *error) {
    ASSERT(def->channel != NULL || def->count == 0);
    Compiler compiler = {.def = def, .world = template, .layout = layout, .error = error};
    const size_t columns_max = count_columns_max(def);
    *layout = (Layout){.use = def->use};
    if (columns_max > LAYOUT_COLUMNS_MAX) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, def->list,
                         "These channels have up to %zu columns; a row has at most %d.",
                         columns_max, LAYOUT_COLUMNS_MAX);
    }
    layout->channel = arena_take_array(arena, def->count, sizeof(Channel));
    layout->column = arena_take_array(arena, columns_max, sizeof(Column));
    if (layout->channel == NULL || layout->column == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, def->list,
                         "Memory ended while making a layout.");
    }
    for (size_t i = 0; i < def->count; i++) {
        const ChannelDef *from = &def->channel[i];
        Channel *channel = &layout->channel[layout->channel_count++];
        *channel = (Channel){.kind = from->kind,
                             .body = JOINT_NO_BODY,
                             .relative = JOINT_NO_BODY,
                             .joint = JOINT_NONE};
        compiler.index = i;
        Status status = check_kind(&compiler, from);
        status = STATUS_THEN(status, check_numbers(&compiler, from));
        status = STATUS_THEN(status, find_things(&compiler, from, channel));
        status = STATUS_THEN(status, take_rays(&compiler, from, arena, channel));
        status = STATUS_THEN(status, take_mount(&compiler, from, channel));
        status = STATUS_THEN(status, take_sensor(&compiler, from, channel));
        status = STATUS_THEN(status, add_columns(&compiler, from, channel));
        if (status != STATUS_OK) {
            return status;
        }
    }
    ASSERT(layout->column_count <= columns_max);
    layout->sensor_count += layout->sensor_count > 0; // and how many rows
    return STATUS_OK;
}

// ---- names

static void write_thing(const char *name, uint32_t index, char *text, size_t capacity) {
    if (name != NULL && name[0] != '\0') {
        snprintf(text, capacity, "%.120s", name);
    } else {
        snprintf(text, capacity, "#%u", index + 1);
    }
}

// Which of several numbers it is.
static void write_number(const KindRow *row, uint32_t number, uint32_t of, char text[16]) {
    text[0] = '\0';
    if (row->numbers[0] != '\0') {
        snprintf(text, 16, ".%c", row->numbers[number]);
    } else if (of > 1) {
        snprintf(text, 16, ".%u", number);
    }
}

void layout_name(const Layout *layout, const World *template, uint32_t column,
                 char name[LAYOUT_NAME_BYTES]) {
    ASSERT(column < layout->column_count);
    const Channel *channel = layout->channel;
    while (column >= channel->column_first + channel->column_count) {
        channel++;
    }
    const KindRow *row = &kinds[channel->kind];
    char thing[128] = "", beside[130] = "", number[16];
    uint32_t of = 2; // of an action there are several
    if (row->of == OF_JOINT) {
        const Joint *joint = &template->joint[channel->joint];
        write_thing(joint->name, channel->joint, thing, sizeof(thing));
        of = joint_axis_count(joint->axes);
    } else if (row->of == OF_BODY) {
        write_thing(template->body_name[channel->body], channel->body, thing, sizeof(thing));
        of = row->count == 1 ? 1 : of;
    } else if (channel->kind == CHANNEL_TIME) {
        of = 1;
    }
    if (channel->relative != JOINT_NO_BODY) {
        beside[0] = '-';
        write_thing(template->body_name[channel->relative], channel->relative, beside + 1,
                    sizeof(beside) - 1);
    }
    const uint32_t which = layout->column[column].number;
    if (channel->kind == CHANNEL_CONTACT_FORCE || channel->kind == CHANNEL_JOINT_WRENCH) {
        snprintf(number, sizeof(number), "_%s.%c", which < 3 ? "force" : "torque",
                 "xyz"[which % 3]);
    } else if (channel->kind == CHANNEL_BODY_ROTATION && layout->use == LAYOUT_NOISE) {
        // what is added to a rotation is a vector
        snprintf(number, sizeof(number), ".%c", "xyz"[which]);
    } else {
        write_number(row, which, of, number);
    }
    snprintf(name, LAYOUT_NAME_BYTES, "%s%s%s%s%s", thing, thing[0] == '\0' ? "" : ".", row->name,
             number, beside);
}

// ---- reading

bool layout_find_body(const World *world, const World *template, uint32_t body, uint32_t *found) {
    ASSERT(body < template->body_count);
    if (world_is_alike(world, template)) {
        *found = body;
        return true;
    }
    return world_find_body(world, template->body_id[body], found);
}

bool layout_find_joint(const World *world, const World *template, uint32_t joint, uint32_t *found) {
    ASSERT(joint < template->joint_count);
    if (world_is_alike(world, template)) {
        *found = joint;
        return true;
    }
    return world_find_joint(world, template->joint[joint].id, found);
}

static const double *joint_column(const World *world, ChannelKind kind) {
    switch (kind) {
    case CHANNEL_JOINT_EFFORT:
        return world->joint_effort;
    case CHANNEL_JOINT_TARGET:
        return world->joint_target;
    case CHANNEL_JOINT_TARGET_VELOCITY:
        return world->joint_target_velocity;
    case CHANNEL_JOINT_VELOCITY:
        return world->joint_velocity;
    default:
        return world->joint_position;
    }
}

static Mat3 axes_of(const World *world, uint32_t body) {
    return quat_to_mat3(pose_load(world->pose + 7 * (size_t)body).orientation);
}

static Vec3 origin_of(const World *world, uint32_t body) {
    double pose[7];
    world_body_pose(world, body, pose);
    return vec3_load(pose);
}

static void store_rotation(Quat q, double *x) {
    const double sign = q.w < 0.0 ? -1.0 : 1.0;
    x[0] = sign * q.w;
    x[1] = sign * q.x;
    x[2] = sign * q.y;
    x[3] = sign * q.z;
}

// A body's numbers against the world.
static void read_body(const World *world, const Channel *channel, uint32_t body, double *x) {
    const double *velocity = world->velocity + 6 * (size_t)body;
    uint32_t primitive;
    switch (channel->kind) {
    case CHANNEL_BODY_GEOMETRY:
        x[0] = world_find_worn(world, body, &primitive)
                   ? (double)world->geometry[world->primitive[primitive].geometry_number - 1].id
                   : 0.0;
        break;
    case CHANNEL_BODY_POSITION:
        vec3_store(x, origin_of(world, body));
        break;
    case CHANNEL_BODY_ROTATION:
        store_rotation(pose_load(world->pose + 7 * (size_t)body).orientation, x);
        break;
    case CHANNEL_BODY_VELOCITY:
        memcpy(x, velocity, 3 * sizeof(double));
        break;
    case CHANNEL_BODY_SPIN:
        memcpy(x, velocity + 3, 3 * sizeof(double));
        break;
    case CHANNEL_BODY_LOCAL_VELOCITY:
        vec3_store(x, mat3_tmul_vec(axes_of(world, body), vec3_load(velocity)));
        break;
    default: // with or without a mount
        vec3_store(x, mat3_tmul_vec(quat_to_mat3(channel->mount.orientation),
                                    mat3_tmul_vec(axes_of(world, body), vec3_load(velocity + 3))));
        break;
    }
}

// Against another body, in its axes: place, turn, and what changes them, as seen from there.
static void read_beside(const World *world, ChannelKind kind, uint32_t body, uint32_t from,
                        double *x) {
    const Pose here = pose_load(world->pose + 7 * (size_t)body);
    const Pose there = pose_load(world->pose + 7 * (size_t)from);
    const double *v = world->velocity + 6 * (size_t)body;
    const double *u = world->velocity + 6 * (size_t)from;
    const Mat3 axes = quat_to_mat3(there.orientation);
    const Vec3 spin = vec3_load(u + 3);
    if (kind == CHANNEL_BODY_POSITION) {
        vec3_store(x,
                   mat3_tmul_vec(axes, vec3_sub(origin_of(world, body), origin_of(world, from))));
    } else if (kind == CHANNEL_BODY_ROTATION) {
        const Quat q = there.orientation;
        store_rotation(quat_mul((Quat){q.w, -q.x, -q.y, -q.z}, here.orientation), x);
    } else if (kind == CHANNEL_BODY_VELOCITY) {
        const Vec3 carried = vec3_cross(spin, vec3_sub(here.position, there.position));
        const Vec3 apart = vec3_sub(vec3_load(v), vec3_load(u));
        vec3_store(x, mat3_tmul_vec(axes, vec3_sub(apart, carried)));
    } else {
        vec3_store(x, mat3_tmul_vec(axes, vec3_sub(vec3_load(v + 3), spin)));
    }
}

// Where a channel's numbers are: in the world itself, or in `x`. NULL: gone. `is_alike`: the world
// has all that the template has.
static const double *find_numbers(const Channel *channel, const LayoutSource *source, bool is_alike,
                                  double x[JOINT_POSITION_MAX]) {
    const World *world = source->world, *template = source->template;
    uint32_t index = channel->joint, from;
    if (channel->kind == CHANNEL_ACTION) {
        return source->action;
    }
    if (channel->felt_count > 0) {
        return source->felt + channel->felt_first;
    }
    if (channel->kind == CHANNEL_TIME) {
        x[0] = world->time.value - source->begun;
        return x;
    }
    if (channel->joint != JOINT_NONE) {
        if (!is_alike && !layout_find_joint(world, template, channel->joint, &index)) {
            return NULL;
        }
        const Joint *joint = &world->joint[index];
        const uint32_t first =
            channel->kind == CHANNEL_JOINT_POSITION ? joint->position_first : joint->axis_first;
        return joint_column(world, channel->kind) + first;
    }
    if (!layout_find_body(world, template, channel->body, &index)) {
        return NULL;
    }
    if (channel->relative == JOINT_NO_BODY) {
        read_body(world, channel, index, x);
    } else if (layout_find_body(world, template, channel->relative, &from)) {
        read_beside(world, channel->kind, index, from, x);
    } else {
        return NULL;
    }
    return x;
}

// Of rays each column is one.
static void read_rays(const Layout *layout, const Channel *channel, const LayoutSource *source,
                      RayCast *cast, double *row) {
    uint32_t body;
    const bool is_there = layout_find_body(source->world, source->template, channel->body, &body);
    const Pose pose = is_there ? ray_channel_pose(channel->rays, source->world, body)
                               : (Pose){.orientation = quat_identity()};
    const uint32_t end = channel->column_first + channel->column_count;
    for (uint32_t k = channel->column_first; k < end; k++) {
        const Column *column = &layout->column[k];
        row[k] = is_there ? column->scale * ray_channel_read(channel->rays, column->number, &pose,
                                                             body, cast) +
                                column->offset
                          : 0.0;
    }
}

void layout_read(const Layout *layout, const LayoutSource *source, double *row) {
    ASSERT(source->world != NULL && source->template != NULL);
    ASSERT(row != NULL || layout->column_count == 0);
    const bool is_alike = world_is_alike(source->world, source->template);
    ASSERT(source->felt != NULL || layout->felt_count == 0);
    RayCast cast;
    if (layout->ray_count > 0) {
        raycast_begin(&cast, source->world, layout->ray_count, NULL, source->scratch);
    }
    for (uint32_t i = 0; i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (channel->rays != NULL) {
            read_rays(layout, channel, source, &cast, row);
            continue;
        }
        double x[JOINT_POSITION_MAX];
        const double *numbers = find_numbers(channel, source, is_alike, x);
        const uint32_t end = channel->column_first + channel->column_count;
        for (uint32_t k = channel->column_first; k < end; k++) {
            const Column *column = &layout->column[k];
            row[k] =
                numbers == NULL ? 0.0 : column->scale * numbers[column->number] + column->offset;
        }
    }
    if (layout->ray_count > 0) {
        raycast_end(&cast);
    }
}

// ---- telling

void layout_tell(const Layout *layout, const LayoutTold *of, double *numbers, double *row) {
    ASSERT(numbers != NULL && layout->sensor_count > 0);
    if (!of->is_new && numbers[0] == 0.0) {
        return; // no episode has begun
    }
    numbers[0] = of->is_new ? (double)of->length + 1.0 : numbers[0];
    const uint64_t t = (uint64_t)numbers[0] - 1;
    SensorRow told = {.t = t,
                      .is_new = of->is_new,
                      .walking = sqrt(of->time_step),
                      .stream = sensor_stream(of->seed, of->world, of->episode, t, of->stream)};
    double *at = numbers + 1;
    for (uint32_t i = 0; i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (sensor_is_any(&channel->sensor)) {
            sensor_tell(&channel->sensor, &told, channel->column_count,
                        &layout->column[channel->column_first].scale, sizeof(Column), at,
                        row + channel->column_first);
            at += sensor_count(&channel->sensor, channel->column_count);
        }
    }
    ASSERT(at == numbers + layout->sensor_count);
}

bool layout_sensors_are_sound(const Layout *layout, const uint8_t *numbers) {
    if (layout->sensor_count == 0) {
        return true;
    }
    ASSERT(numbers != NULL);
    bool is_sound = sensor_count_is_sound(numbers);
    const uint8_t *at = numbers + sizeof(double);
    for (uint32_t i = 0; i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (sensor_is_any(&channel->sensor)) {
            is_sound = is_sound && sensor_is_sound(&channel->sensor, at);
            at += sensor_count(&channel->sensor, channel->column_count) * sizeof(double);
        }
    }
    return is_sound;
}
