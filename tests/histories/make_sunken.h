// SPDX-License-Identifier: MIT
// Things that lie on surfaces, just over them or deep in them; for histories of little else.
#pragma once

#include "histories/make.h"

// The next deed: such a thing comes or goes, a surface, or all is seen from elsewhere.
Deed make_sunken_deed(Make *make);

// Where a body of a shape lies on a triangle of what is there, on an edge or a corner of it, or
// somewhere over it. false: there is no surface, or the shape has no end.
bool make_sunken_pose(Make *make, uint64_t shape, Pose *pose);
