// SPDX-License-Identifier: MIT
// Convex hulls of points, by Qhull's reentrant library, in the form that geometry/hull.h takes and
// that is kept: what steps or replays never comes here. Qhull cannot be stopped, so points are
// few: ten thousand on a sphere take 0.1 s. Each call runs under a trap of its own: what goes wrong
// in Qhull is an error here. Any thread.
//
// Faces are polygons. Those whose planes are the same but for 4e-7 of the size, as coordinates that
// were floats once have them, are made one, and their corners moved, by about as much, until they
// are flat; where that does not succeed, less is taken for the same. Of points in no such planes
// the hull has its corners as they were given, and holds all of them to a rounding.
//
// Corners come in the points' order, faces by their corners: the form does not depend on how Qhull
// went about it. It may, of points nearly in one plane, on the processor and its compiler: so a
// form is kept, never the points.
#pragma once

#include "geometry/hull.h"

enum { QHULL_POINTS_MAX = 10000 };

// What errors call them: "hull.points", "hull.vertices_max".
typedef struct QhullNames {
    const char *points;
    const char *vertices_max;
} QhullNames;

// A form and what it names.
typedef struct QhullForm {
    HullForm form;
    Vec3 point[HULL_VERTICES_MAX];
    uint32_t face_first[HULL_FACES_MAX + 1];
    uint32_t corner[HULL_CORNERS_MAX];
} QhullForm;

// Points may be inside and be there several times. `vertices_max`: the hull grows until it has so
// many corners, 4 to HULL_VERTICES_MAX, always by the point farthest outside, and leaves the rest
// outside; 0: it holds all points, and is refused if it has more corners than a hull may have. The
// form has passed hull_check. About 14 KB.
Status qhull_build(const Vec3 *point, size_t count, uint32_t vertices_max, const QhullNames *names,
                   QhullForm *built, Error *error);
