// SPDX-License-Identifier: MIT
// How the corners of a form's faces hang together: what hull_check.c judges and hull.c keeps.
#pragma once

#include "geometry/hull.h"

#include <stdbool.h>

enum { HULL_NONE = UINT16_MAX };

// A corner stands for the edge from it to the next corner of its face. Some 20 KB, for the stack.
typedef struct HullDraft {
    const HullForm *form; // borrowed
    uint32_t corner_count;
    uint16_t face_of[HULL_CORNERS_MAX];
    uint16_t next[HULL_CORNERS_MAX]; // corner of the same face
    uint16_t twin[HULL_CORNERS_MAX]; // the corner of the other face whose edge goes back, or none
    uint16_t same[HULL_CORNERS_MAX]; // the next corner at the same point, or none
    uint16_t first_of[HULL_VERTICES_MAX]; // the first corner at a point, or none
} HullDraft;

// Counts are in their limits, and corners name points. false: of `corner` another goes the same
// way.
bool hull_draft_link_to(HullDraft *draft, const HullForm *form, uint32_t *corner);

// Of a form that was judged.
void hull_draft_link(HullDraft *draft, const HullForm *form);

// The corner at the same point whose edge comes next, counter-clockwise.
uint32_t hull_draft_turn(const HullDraft *draft, uint32_t corner);

// Edges in the order in which faces come to them.
void hull_draft_edges(const HullDraft *draft, HullEdge *edge, uint16_t *corner_edge);

// Of twice its area.
Vec3 hull_draft_area(const HullForm *form, uint32_t face);
Vec3 hull_draft_normal(const HullForm *form, uint32_t face);
void hull_draft_bounds(const HullForm *form, Vec3 *low, Vec3 *high);
