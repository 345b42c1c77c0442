// SPDX-License-Identifier: MIT
#include "support/shot_row.h"

#include <check.h>
#include <math.h>

static const Quat turns[SHOT_ROW_TURNS] = {
    {1.0, 0.0, 0.0, 0.0},
    {0.53, 0.21, -0.6, 0.4},
    {0.11, -0.83, 0.2, -0.47},
    {-0.3, 0.35, 0.72, 0.51},
};

static const Vec3 origin = {0.3, -1.2, 0.7};

ShotRow shot_row_default(void) {
    return (ShotRow){.kind = PRIMITIVE_BOX,
                     .count = 5,
                     .half = 0.02,
                     .mass = 0.1,
                     .room = 0.05,
                     .wall_half = 0.002,
                     .shot_kind = BODY_DYNAMIC,
                     .shot_mass = 2.0,
                     .speed = 20.0,
                     .gap = 0.01,
                     .hertz = 240.0};
}

static Quat turn_of(const ShotRowLab *of) {
    return quat_normalize(turns[of->row.turn]);
}

Pose shot_row_placed(const ShotRowLab *of, Vec3 position) {
    return pose_compose((Pose){origin, turn_of(of)}, (Pose){position, quat_identity()});
}

Vec3 shot_row_turned(const ShotRowLab *of, Vec3 vector) {
    return quat_rotate(turn_of(of), vector);
}

static double along(const ShotRowLab *of, Vec3 vector) {
    return vec3_dot(shot_row_turned(of, vec3(1.0, 0.0, 0.0)), vector);
}

double shot_row_place(const ShotRowLab *of, uint32_t body) {
    return along(of, vec3_sub(lab_position(&of->lab, body), origin));
}

double shot_row_speed(const ShotRowLab *of, uint32_t body) {
    return along(of, lab_velocity(&of->lab, body));
}

uint32_t shot_row_add(ShotRowLab *of, Vec3 position) {
    const double half = of->row.half;
    const Id shape = lab_shape(&of->lab, of->row.kind, vec3(half, half, half),
                               lab_material(&of->lab, 0.0, of->row.restitution));
    return lab_body(&of->lab, shape, BODY_DYNAMIC, shot_row_placed(of, position), NULL,
                    of->row.mass, NULL);
}

void shot_row_shoot(ShotRowLab *of) {
    const ShotRow *row = &of->row;
    const Id shape = lab_shape(&of->lab, PRIMITIVE_SPHERE, vec3(SHOT_ROW_SHOT_HALF, 0.0, 0.0),
                               lab_material(&of->lab, 0.0, row->restitution));
    const Vec3 v = shot_row_turned(of, vec3(row->speed, 0.0, 0.0));
    const double velocity[6] = {v.x, v.y, v.z};
    const Pose pose =
        shot_row_placed(of, vec3(-row->half - row->gap - SHOT_ROW_SHOT_HALF, 0.0, 0.0));
    of->shot = lab_body(&of->lab, shape, row->shot_kind, pose, velocity,
                        row->shot_kind == BODY_DYNAMIC ? row->shot_mass : 0.0, NULL);
}

double shot_row_speed_after(const ShotRow *row, double more) {
    const double share = row->shot_kind == BODY_DYNAMIC
                             ? row->shot_mass / (row->shot_mass + row->count * row->mass + more)
                             : 1.0;
    return (1.0 + row->restitution) * share * row->speed;
}

void shot_row_sleep(ShotRowLab *of) {
    WorldSettings settings = of->lab.world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = 0.1;
    world_set_settings(of->lab.world, &settings);
    lab_step(&of->lab, (int)(0.2 * of->row.hertz));
    ck_assert_uint_eq(of->lab.report.asleep_count, of->lab.world->dynamic_count);
}

ShotRowLab shot_row_create(const ShotRow *row) {
    ShotRowLab of = {.lab = lab_create(0.0, 1.0 / row->hertz), .row = *row, .shot = UINT32_MAX};
    of.lab.world->settings.margin = settings_default().margin;
    // for less than it can tell a solver looks where rows fly as one; a hit takes it ten sweeps
    lab_set(&of.lab, "budget", 3e5);
    const double pitch = 2.0 * row->half + row->between, last = pitch * (row->count - 1);
    of.first = of.lab.world->body_count;
    for (uint32_t i = 0; i < row->count; i++) {
        shot_row_add(&of, vec3(pitch * i, 0.0, 0.0));
    }
    if (row->room > 0.0) {
        const Id shape = lab_shape(&of.lab, PRIMITIVE_BOX, vec3(row->wall_half, 0.3, 0.3),
                                   lab_material(&of.lab, 0.0, 0.0));
        const double x = last + row->half + row->room + row->wall_half;
        of.wall = lab_body(&of.lab, shape, BODY_STATIC, shot_row_placed(&of, vec3(x, 0.0, 0.0)),
                           NULL, 0.0, NULL);
    }
    return of;
}

Vec3 shot_row_momentum(const ShotRowLab *of) {
    const World *world = of->lab.world;
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (world->kind[body] == BODY_DYNAMIC) {
            sum = vec3_add_scaled(sum, world->mass[body].mass, lab_velocity(&of->lab, body));
        }
    }
    return sum;
}

void shot_row_check_order(const ShotRowLab *of, double overlap) {
    const ShotRow *row = &of->row;
    double before = of->shot == UINT32_MAX
                        ? -HUGE_VAL
                        : shot_row_place(of, of->shot) + SHOT_ROW_SHOT_HALF - row->half;
    for (uint32_t i = 0; i < row->count; i++) {
        const double place = shot_row_place(of, of->first + i);
        ck_assert_msg(place - before >= 2.0 * row->half - overlap,
                      "%u in turn %d: number %u is in what is before it by %g m", row->count,
                      row->turn, i, 2.0 * row->half - (place - before));
        before = place;
    }
    const double wall = row->room > 0.0 ? shot_row_place(of, of->wall) - row->wall_half : HUGE_VAL;
    ck_assert_msg(wall - before >= row->half - overlap,
                  "%u in turn %d: the last is in the wall by %g m", row->count, row->turn,
                  row->half - (wall - before));
}

void shot_row_check_speed(const ShotRowLab *of, double speed) {
    const Vec3 wanted = shot_row_turned(of, vec3(speed, 0.0, 0.0));
    for (uint32_t i = 0; i < of->row.count; i++) {
        const Vec3 off = vec3_sub(lab_velocity(&of->lab, of->first + i), wanted);
        // solved to 1e-4 of what the step changes, which comes to nothing once all are as fast
        ck_assert_msg(vec3_norm(off) <= 1e-4, "%u in turn %d: number %u is off by %g m/s",
                      of->row.count, of->row.turn, i, vec3_norm(off));
    }
}
