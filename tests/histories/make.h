// SPDX-License-Identifier: MIT
// The next deed of a history, from a seed and the world as it stands: whatever a world can be told,
// with numbers of every day, or of all that is legal where the history is wild; and now and then
// something that must be refused.
#pragma once

#include "histories/history.h"
#include "hull/qhull.h"
#include "simulate/dice.h"

typedef enum Mood {
    MOOD_CALM, // numbers of every day
    MOOD_WILD, // any legal numbers
    MOOD_COUNT
} Mood;

// How large a history's worlds become, and how much their solvers are given.
typedef struct MakeScale {
    uint32_t bodies_max; // of those that are not added as a crowd
    double budget;       // [operations] of a step of any solver that is chosen …
    double iterations;   // … and at most so many of them. 0: the defaults
    bool is_paved;       // ground lies in pieces side by side (make_pieces.h)
    bool is_brisk;       // told much and asked seldom
    bool is_sunken;      // of things in surfaces alone (make_sunken.h)
    bool is_wide;        // most bodies hang on one tree, by coordinates of many axes
} MakeScale;

typedef struct Make {
    Dice dice;
    const World *world;
    Arena *arena; // what deeds point to
    Mood mood;
    MakeScale scale;
} Make;

// Small worlds have most of what can go wrong, and cost the least; some are large all the same, and
// some are solved to the end. Brisk ones have three bodies at most, and little is solved of them.
MakeScale make_scale(Dice *dice, bool is_brisk);

Deed make_deed(Make *make);

// What a history begins with: settings, materials, geometries, some shapes, and bodies.
enum { MAKE_PROLOGUE = 5 };
Deed make_prologue(Make *make, uint32_t number);

// ---- for the files of this room

double make_uniform(Make *make, double low, double high);
// Each order of magnitude as likely as the next.
double make_magnitude(Make *make, double low, double high);
// A legal number of any size, or one of every day.
double make_number(Make *make, double low, double high, double wild_low, double wild_high);
bool make_chance(Make *make, uint64_t percent);
uint32_t make_roll(Make *make, uint32_t sides);
void *make_column(Make *make, size_t count, size_t bytes);
Quat make_turn(Make *make);
// Of a dynamic body, or JOINT_NO_BODY.
uint32_t make_any_dynamic(Make *make);
// As many different ones out of `count`, rising; how many.
uint32_t make_some(Make *make, uint32_t count, uint32_t wanted, uint32_t *chosen);

Input make_materials(Make *make);
Input make_geometries(Make *make);
Input make_shapes(Make *make);
Input make_bodies(Make *make);
Input make_joints(Make *make);
Input make_set(Make *make);
Input make_settings(Make *make, uint64_t percent);
Input make_remove(Make *make);
Input make_step(Make *make);
// The bytes of one, with room for some behind; or of something that is most likely none.
enum { MAKE_SPARE_BYTES = 8 };
uint8_t *make_hull(Make *make, bool is_spoilt, size_t *count);
uint8_t *make_surface(Make *make, bool is_spoilt, size_t *count);
QhullForm *make_hull_form(Make *make);
double make_bad_coordinate(Make *make);
// Six numbers, perhaps not legal.
void make_inertia(Make *make, double size, double mass, double *inertia);

// Makes something of it wrong that it is most likely refused for.
void make_spoilt(Make *make, Input *input);
