// SPDX-License-Identifier: MIT
// Linkages of free bodies that rows hold together, for tests: in a plane that is turned about no
// axis in particular, where z is across it.
#pragma once

#include "support/lab.h"

// From the plane into the world, and back.
Quat plane_turn(double angle);
Vec3 plane_vector(double x, double y, double z);
Vec3 in_plane(Vec3 vector);
Vec3 plane_point(double x, double y, double z);

// Of a body, in the plane.
Vec3 place_of(const Lab *lab, uint32_t body);
double rate_of(const Lab *lab, uint32_t body);

// A bar, its centre of mass half way between its ends, or a wheel or a slider where these are one.
typedef struct Bar {
    double x[2], y[2];
    double vx[2], vy[2]; // of the ends
    double rate;         // of what has one end
    double mass, moment; // about the axis across the plane
} Bar;

uint32_t add_bar(Lab *lab, const Bar *bar);

// A joint at a place in the plane, of which body `a` may be the world (-1).
typedef struct Pin {
    JointKind kind;
    int a;
    uint32_t b;
    double x, y;
    double break_force; // 0: none
    bool is_tree;       // by coordinates, and not by rows …
    double rate;        // … which have this one
} Pin;

// A hinge turns about z, across the plane; a slider moves along z, here the plane's x. Its frame on
// b is off by up to `off` in each number; 0: by nothing.
Id add_pin(Lab *lab, const Pin *pin, double off, uint64_t *seed);

// Without gravity.
Lab linkage_lab(SolverKind kind, double h, double tolerance);

// How far apart two ends of a joint are, at most; but of sliders.
double largest_gap(const Lab *lab);

// ---- a slider-crank

enum { CRANK, ROD, SLIDER };

// A crank that is a wheel, and turns; a rod; what slides along x. At the angle that the crank has.
typedef struct SliderCrank {
    double r, l, angle, rate;
    double off;                // of the joints' frames on their second body
    bool is_reversed, is_tree; // the joints' order; the crank turns by a coordinate
} SliderCrank;

#define WHEEL_MASS   5.0
#define WHEEL_MOMENT 0.3
#define ROD_MASS     1.0
#define ROD_MOMENT   0.06
#define SLIDER_MASS  2.0

// Of the slider by the crank's angle, and its derivative.
double slider_place(const SliderCrank *of, double angle);
double slider_rate(const SliderCrank *of, double angle);

// What the crank turns as: twice the kinetic energy over the square of its rate.
double whole_moment(const SliderCrank *of, double angle);

Lab make_slider_crank(SolverKind solver, double h, const SliderCrank *of);

// How the crank turned, by its own pose, from one step to the next.
double crank_turned(const Lab *lab, double before);
