// SPDX-License-Identifier: MIT
// Two bodies in free motion: where they are at a time of it, and what their planes say of the time
// before and after.
#pragma once

#include "collide/convex.h"
#include "collide/mover.h"
#include "collide/narrow.h"

// Of a primitive about its body's centre of mass.
typedef struct MotionSide {
    const Mover *mover;
    bool is_still;     // at all times where it is now
    bool is_unbounded; // a plane, which is still
    Pose rest;         // of what is still
    Pose last;         // at the end; where anything turns
    double spin;       // [rad/s]
    double arm;        // of the farthest point that matters for a distance [m]
    double bend;       // of the other's points, seen from here, at most [m/s2]
    Convex begin,
        end; // where anything turns: from the first centre; a plane's axes and place alone
} MotionSide;

typedef struct Motion {
    MotionSide side[2];
    double duration; // [s]
    double reach;    // of the narrow phase [m]
    double speed;    // of anything of the one beside the other, at most [m/s]
    double size;     // of the smaller [m]
    bool turns;      // else closing_speed is exact, and nothing is read of begin and end
} Motion;

// All but what only bodies that turn have, which few pairs are asked for: their ends; and, of
// fewer, their begin, without which an outlook is of the very beginning alone.
void motion_read(const Mover *a, const Mover *b, const Approach *approach, Motion *motion);
void motion_read_ends(Motion *motion);
void motion_read_begin(Motion *motion);

// How fast the gap along n can close at most, now and later, whatever of the two is there.
double motion_closing_speed(const Motion *motion, Vec3 n);

// The two at a time.
typedef struct Moment {
    double time, gap; // the lowest
    Manifold manifold;
} Moment;

// false: numbers are so large that rounding has lost the two.
bool motion_at(const Motion *motion, double time, Moment *moment);

// What the plane of a moment says of the time before and after.
typedef struct Outlook {
    double speed; // at which the gap can close from then on at most, to a plane that is kept [m/s]
    bool was_apart; // since the beginning, by a plane that is kept
} Outlook;

Outlook motion_outlook(const Motion *motion, const Moment *moment);

// Whether a plane that turns from where the one moment has it to where a later one has it parts the
// two all the while.
bool motion_passes(const Motion *motion, const Moment *now, const Moment *later);

double manifold_lowest(const Manifold *manifold);

// Where its lowest point lies on the surface of a side: -1 the first one's, 1 the second one's.
Vec3 manifold_surface_point(const Manifold *manifold, double side);
