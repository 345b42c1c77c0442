// SPDX-License-Identifier: MIT
#include "support/links_mass.h"

typedef long double Real;

// Which link has a velocity of the tree.
static uint32_t owner_of(const ProblemLink *link, uint32_t velocity) {
    uint32_t i = 0;
    while (velocity >= link[i].first + link[i].count) {
        i++;
    }
    return i;
}

static bool is_below(const ProblemLink *link, uint32_t i, uint32_t above) {
    while (i != above && i != PROBLEM_NO_LINK) {
        i = link[i].parent;
    }
    return i == above;
}

// The velocity of link `at`, six numbers, that velocity `i` of the tree at 1 makes.
static void column(const ContactProblem *problem, const ProblemLink *link, uint32_t at, uint32_t i,
                   Real six[6]) {
    uint32_t owner = owner_of(link, i);
    const double *m = problem->number + link[owner].motion + 6 * (size_t)(i - link[owner].first);
    const Vec3 *to = &link[at].center, *from = &link[owner].center;
    Real x = (Real)to->x - from->x, y = (Real)to->y - from->y, z = (Real)to->z - from->z;
    for (int k = 0; k < 6; k++) {
        six[k] = is_below(link, at, owner) ? m[k] : 0.0L;
    }
    const Real turn[3] = {six[3], six[4], six[5]};
    six[0] += turn[1] * z - turn[2] * y;
    six[1] += turn[2] * x - turn[0] * z;
    six[2] += turn[0] * y - turn[1] * x;
}

long double links_mass(const ContactProblem *problem, uint32_t tree, uint32_t i, uint32_t j) {
    const ProblemLink *link = problem->link + problem->tree[tree].mass;
    Real sum = 0.0L;
    for (uint32_t l = 0; l < problem->tree[tree].link_count; l++) {
        const Sym3 *s = &link[l].inertia;
        const double tensor[3][3] = {
            {s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
        Real a[6], b[6];
        column(problem, link, l, i, a);
        column(problem, link, l, j, b);
        for (int k = 0; k < 3; k++) {
            sum += link[l].mass * a[k] * b[k];
            for (int q = 0; q < 3; q++) {
                sum += a[3 + k] * tensor[k][q] * b[3 + q];
            }
        }
    }
    uint32_t owner = owner_of(link, i);
    if (owner == owner_of(link, j)) {
        const ProblemLink *of = &link[owner];
        sum += problem->number[of->added + (size_t)(i - of->first) * of->count + j - of->first];
    }
    return sum;
}
