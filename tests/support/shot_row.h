// SPDX-License-Identifier: MIT
// A row of bodies, in a world turned and moved as anything, that lies at rest without gravity or
// friction; what flies at its first; and, behind its last, a wall thinner than the flyer's way of a
// step. What is said in the row's axes, x along it and 0 at its first body's centre, is placed, and
// seen, turned.
#pragma once

#include "support/lab.h"

enum { SHOT_ROW_TURNS = 4 };

typedef struct ShotRow {
    PrimitiveKind kind; // balls or cubes
    uint32_t count;
    double half; // of each: its radius, or half of its side [m]
    double mass;
    double between;   // one and the next [m]; 0: they touch
    double room;      // before the wall [m]; 0: there is none
    double wall_half; // half of its thickness [m]
    BodyKind shot_kind;
    double shot_mass, speed;
    double gap; // before the first [m]
    double restitution;
    double hertz;
    int turn; // which of them, SHOT_ROW_TURNS
} ShotRow;

// Cubes of 4 cm and 0.1 kg, five of them, with a wall of 4 mm 5 cm behind them, at which a ball of
// 2 kg flies with 20 m/s, 8.3 cm in a step, from 1 cm away; nothing bounces.
ShotRow shot_row_default(void);

#define SHOT_ROW_SHOT_HALF 0.02 // its radius [m]

typedef struct ShotRowLab {
    Lab lab;
    ShotRow row;
    uint32_t first, wall, shot;
} ShotRowLab;

// Without the shot.
ShotRowLab shot_row_create(const ShotRow *row);

// All sleep.
void shot_row_sleep(ShotRowLab *of);

// From the row's axes into the world, and back.
Pose shot_row_placed(const ShotRowLab *of, Vec3 position);
Vec3 shot_row_turned(const ShotRowLab *of, Vec3 vector);
double shot_row_place(const ShotRowLab *of, uint32_t body);
double shot_row_speed(const ShotRowLab *of, uint32_t body);

// At rest, a cube or a ball as those of the row are; its index.
uint32_t shot_row_add(ShotRowLab *of, Vec3 position);

void shot_row_shoot(ShotRowLab *of);

// What all of the row move with once they have taken the shot up; beside them `more` kilograms.
double shot_row_speed_after(const ShotRow *row, double more);

// What all that moves has [kg m/s].
Vec3 shot_row_momentum(const ShotRowLab *of);

// Fails the test where any two neighbours, or the last and the wall, overlap by more than this: by
// noise of the solver where all are fast; who is pushed by less than it is thick is not looked for
// beyond its own way, and may come as far into another, and out of it again as it came.
#define SHOT_ROW_NOISE 1e-7 // [m]
#define SHOT_ROW_SLOW  0.02
void shot_row_check_order(const ShotRowLab *of, double overlap);

// Likewise where one of the row does not move along it as fast, or moves in another way.
void shot_row_check_speed(const ShotRowLab *of, double speed);
