// SPDX-License-Identifier: MIT
#include "world/motor.h"

#include "base/assert.h"

static double able(const MotorAsk *ask, double rate) {
    if (ask->speed == 0.0) {
        return ask->most;
    }
    const double left = rate < ask->speed ? ask->stall * (1.0 - rate / ask->speed) : 0.0;
    return left < ask->most ? left : ask->most;
}

double motor_force(const MotorAsk *ask, double rate) {
    const double asked = ask->force - ask->slope * rate, forth = able(ask, rate),
                 back = -able(ask, -rate);
    return asked > forth ? forth : asked < back ? back : asked;
}

// What the force is as the rate falls from where it is nothing: by the force f, from 0 to `top`,
// the rate is the lesser of those of two lines,
//
//     what is asked for   (force - f)/slope
//     the curve           v0 (1 - f/tau)
//
// which cross at most once. Forces and rates are those of a motor that drives forth.
typedef struct Side {
    double top;          // > 0
    bool is_curve_first; // from 0 on
    double cross;        // the force from which on it is the other one; `top`: none
} Side;

static double rate_asked(const MotorAsk *ask, double force) {
    return ask->slope > 0.0 ? (ask->force - force) / ask->slope : HUGE_VAL;
}

static double rate_able(const MotorAsk *ask, double force) {
    return ask->speed > 0.0 ? ask->speed * (1.0 - force / ask->stall) : HUGE_VAL;
}

static Side side_of(const MotorAsk *ask) {
    const double top = ask->slope > 0.0 ? ask->most : fmin(ask->most, fmax(0.0, ask->force));
    Side side = {.top = top, .is_curve_first = false, .cross = top};
    if (ask->speed == 0.0) {
        return side;
    }
    side.is_curve_first = rate_able(ask, 0.0) < rate_asked(ask, 0.0);
    const bool is_curve_last = rate_able(ask, top) < rate_asked(ask, top);
    if (side.is_curve_first != is_curve_last) {
        const double steep = ask->stall / ask->speed;
        const double cross = (ask->force - ask->speed * ask->slope) / (1.0 - ask->slope / steep);
        side.cross = fmin(fmax(cross, 0.0), top); // NaN: 0, as the two are one line
    }
    return side;
}

static bool is_none(const MotorPart *part) {
    return part->slope == 0.0;
}

// Adds to a part what it is able to forth.
static void add(MotorPart *part, double slope, double zero, double force) {
    if (force > 0.0 && slope > 0.0) {
        part->high = force;
        part->slope = slope;
        part->zero = zero;
    }
}

static void forth(const MotorAsk *ask, MotorPart *drive, MotorPart *curve, MotorPart *shallow) {
    const Side side = side_of(ask);
    const double steep = ask->speed > 0.0 ? ask->stall / ask->speed : 0.0,
                 rest = side.top - side.cross;
    if (side.is_curve_first) {
        add(curve, steep, ask->speed, side.cross);
        add(shallow, ask->slope, rate_able(ask, side.cross), rest);
    } else {
        add(drive, ask->slope, rate_asked(ask, 0.0), side.cross);
        add(curve, steep, rate_able(ask, side.cross), rest);
    }
}

static MotorPart turned(MotorPart part) {
    return (MotorPart){part.slope, -part.zero, -part.high, -part.low};
}

void motor_parts(const MotorAsk *ask, MotorPart parts[MOTOR_PARTS]) {
    ASSERT(ask->slope >= 0.0 && ask->most >= 0.0);
    const MotorAsk other = {-ask->force, ask->slope, ask->most, ask->stall, ask->speed};
    MotorPart drive = {0}, curve = {0}, shallow = {0};
    for (int i = 0; i < MOTOR_PARTS; i++) {
        parts[i] = (MotorPart){0};
    }
    forth(ask, &parts[MOTOR_DRIVE], &parts[MOTOR_FORTH], &parts[MOTOR_SHALLOW]);
    forth(&other, &drive, &curve, &shallow);
    parts[MOTOR_BACK] = turned(curve);
    if (is_none(&parts[MOTOR_SHALLOW])) { // of both there is none: force/slope is beyond one of v0
        parts[MOTOR_SHALLOW] = turned(shallow);
    }
    if (is_none(&parts[MOTOR_DRIVE])) {
        parts[MOTOR_DRIVE] = turned(drive);
    } else {
        parts[MOTOR_DRIVE].low = -drive.high;
    }
}
