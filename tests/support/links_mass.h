// SPDX-License-Identifier: MIT
// The mass of a tree of links by its definition, number by number, in more digits: what the passes
// of solve/mass_links.c are compared with.
#pragma once

#include "solve/problem.h"

// Number (i, j) of the mass block of a tree of links.
long double links_mass(const ContactProblem *problem, uint32_t tree, uint32_t i, uint32_t j);
