// SPDX-License-Identifier: MIT
#include "solve/mass_links.h"

#include "base/assert.h"
#include "solve/dense/dense.h"

#include <string.h>

// a subtree that is not its parent's last has at most half of its links
enum { SLOTS = 32 };
enum { SIX = 6, VELOCITIES = PROBLEM_LINK_VELOCITIES };

// linear and angular
typedef struct Six {
    Vec3 l, a;
} Six;

static inline Six load(const double *at) {
    return (Six){vec3_load(at), vec3_load(at + 3)};
}

static inline void store(double *at, Six x) {
    vec3_store(at, x.l);
    vec3_store(at + 3, x.a);
}

static inline double dot(Six x, Six y) {
    return vec3_dot(x.l, y.l) + vec3_dot(x.a, y.a);
}

static inline Six add(Six x, Six y) {
    return (Six){vec3_add(x.l, y.l), vec3_add(x.a, y.a)};
}

static inline Six add_scaled(Six x, double s, Six y) {
    return (Six){vec3_add_scaled(x.l, s, y.l), vec3_add_scaled(x.a, s, y.a)};
}

// X: the velocity of a parent's point that is `arm` away
static inline Six carry(Six v, Vec3 arm) {
    return (Six){vec3_add(v.l, vec3_cross(v.a, arm)), v.a};
}

// X^T: a wrench from there, about the parent's centre of mass
static inline Six carry_back(Six f, Vec3 arm) {
    return (Six){f.l, vec3_add(f.a, vec3_cross(arm, f.l))};
}

static const Six no_six;

// ---- inertias

// [l b; b^T a]: b in columns
typedef struct Inertia {
    Sym3 l;
    Mat3 b;
    Sym3 a;
} Inertia;

static Sym3 add_sym(Sym3 x, Sym3 y) {
    return (Sym3){x.xx + y.xx, x.yy + y.yy, x.zz + y.zz, x.xy + y.xy, x.xz + y.xz, x.yz + y.yz};
}

static void add_inertia(Inertia *to, const Inertia *from) {
    to->l = add_sym(to->l, from->l);
    to->a = add_sym(to->a, from->a);
    to->b.c0 = vec3_add(to->b.c0, from->b.c0);
    to->b.c1 = vec3_add(to->b.c1, from->b.c1);
    to->b.c2 = vec3_add(to->b.c2, from->b.c2);
}

static Six multiply_inertia(const Inertia *i, Six v) {
    return (Six){vec3_add(sym3_mul_vec(i->l, v.l), mat3_mul_vec(i->b, v.a)),
                 vec3_add(mat3_tmul_vec(i->b, v.l), sym3_mul_vec(i->a, v.a))};
}

// m - s x y^T, of which the upper triangle is kept
static Sym3 subtract_outer(Sym3 m, Vec3 x, Vec3 y) {
    return (Sym3){m.xx - x.x * y.x, m.yy - x.y * y.y, m.zz - x.z * y.z,
                  m.xy - x.x * y.y, m.xz - x.x * y.z, m.yz - x.y * y.z};
}

// -= w u^T, which is a part of a symmetric sum
static void subtract_dyad(Inertia *i, Six w, Six u) {
    i->l = subtract_outer(i->l, w.l, u.l);
    i->a = subtract_outer(i->a, w.a, u.a);
    i->b.c0 = vec3_add_scaled(i->b.c0, -u.a.x, w.l);
    i->b.c1 = vec3_add_scaled(i->b.c1, -u.a.y, w.l);
    i->b.c2 = vec3_add_scaled(i->b.c2, -u.a.z, w.l);
}

// X^T I X: with K = skew(arm), b := b - l K and a := a + K b + (K b)^T, where the b in the last is
// the old one for one and the new one for the other
static Inertia carry_inertia(const Inertia *i, Vec3 arm) {
    Inertia to = *i;
    const Vec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    Vec3 *column[3] = {&to.b.c0, &to.b.c1, &to.b.c2};
    for (int k = 0; k < 3; k++) {
        *column[k] = vec3_sub(*column[k], sym3_mul_vec(i->l, vec3_cross(arm, axis[k])));
    }
    const Mat3 old = {vec3_cross(arm, i->b.c0), vec3_cross(arm, i->b.c1), vec3_cross(arm, i->b.c2)};
    const Mat3 new = {vec3_cross(arm, to.b.c0), vec3_cross(arm, to.b.c1), vec3_cross(arm, to.b.c2)};
    to.a.xx += new.c0.x + old.c0.x;
    to.a.yy += new.c1.y + old.c1.y;
    to.a.zz += new.c2.z + old.c2.z;
    to.a.xy += new.c1.x + old.c0.y;
    to.a.xz += new.c2.x + old.c0.z;
    to.a.yz += new.c2.y + old.c1.z;
    return to;
}

// ---- the order

static const ProblemLink *links_of(const ContactProblem *problem, uint32_t tree) {
    return problem->link + problem->tree[tree].mass;
}

// Subtrees, and of each link the child with the largest.
static void measure(const ProblemLink *from, uint32_t count, MassLink *link) {
    for (uint32_t i = 0; i < count; i++) {
        link[i].links = 1;
        link[i].last = PROBLEM_NO_LINK;
    }
    for (uint32_t i = count; i-- > 0;) {
        uint32_t parent = from[i].parent;
        if (parent == PROBLEM_NO_LINK) {
            continue;
        }
        MassLink *of = &link[parent];
        of->links += link[i].links;
        if (of->last == PROBLEM_NO_LINK || link[i].links >= link[of->last].links) {
            of->last = i;
        }
    }
}

// Where each link stands: children behind their parent in their order, but for the last.
static void place_links(const ProblemLink *from, uint32_t count, MassLink *link) {
    uint32_t roots = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = from[i].parent;
        if (parent == PROBLEM_NO_LINK) {
            link[i].place = roots;
            roots += link[i].links;
        } else if (link[parent].last == i) {
            link[i].place = link[parent].place + link[parent].links - link[i].links;
        } else {
            link[i].place = link[parent].next;
            link[parent].next += link[i].links;
        }
        link[i].next = link[i].place + 1;
    }
}

static void fill_links(const ProblemLink *from, uint32_t count, MassLink *link) {
    size_t number = 0;
    for (uint32_t i = 0; i < count; i++) {
        MassLink *to = &link[link[i].place];
        uint32_t parent = from[i].parent;
        bool is_root = parent == PROBLEM_NO_LINK;
        to->link = i;
        to->parent = is_root ? PROBLEM_NO_LINK : link[parent].place;
        to->first = from[i].first;
        to->count = (uint8_t)from[i].count;
        to->is_leaf = link[i].last == PROBLEM_NO_LINK;
        to->is_last = !is_root && link[parent].last == i;
        to->slot = is_root ? 0 : (uint8_t)(link[to->parent].slot + !to->is_last);
        ASSERT(to->slot < SLOTS);
        to->arm = is_root ? vec3(0.0, 0.0, 0.0) : vec3_sub(from[i].center, from[parent].center);
        to->number = number;
        number += (size_t)to->count * (2 * SIX + to->count);
    }
}

size_t mass_links_numbers(const ContactProblem *problem, uint32_t tree) {
    ASSERT(tree < problem->tree_count);
    ASSERT(problem->tree[tree].link_count > 0);
    const ProblemLink *from = links_of(problem, tree);
    size_t numbers = 0;
    for (uint32_t i = 0; i < problem->tree[tree].link_count; i++) {
        numbers += (size_t)from[i].count * (2 * SIX + from[i].count);
    }
    return numbers;
}

// ---- the factor

static Inertia inertia_of(const ProblemLink *from) {
    double m = from->mass;
    return (Inertia){.l = {m, m, m, 0.0, 0.0, 0.0}, .a = from->inertia};
}

// D, and from it D^-1 in place; false as mass_links_factor has it.
static bool invert(uint32_t n, double share, const double *diagonal, double *d) {
    double factor[VELOCITIES * VELOCITIES], column[VELOCITIES];
    if (!dense_factor(n, d, 0.0, factor)) {
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        double inverse = factor[(size_t)k * (n + 1)];
        if (!(1.0 > share * diagonal[k] * inverse)) {
            return false;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        memset(column, 0, sizeof(column));
        column[k] = 1.0;
        dense_solve(n, factor, column);
        for (uint32_t j = k; j < n; j++) {
            d[j * n + k] = d[k * n + j] = column[j];
        }
    }
    return true;
}

// U, F, D, then W and D^-1, of a link whose inertias are at hand; what is left of the articulated
// one is what its parent feels.
static bool factor_link(const ContactProblem *problem, const ProblemLink *from, double share,
                        Inertia *articulated, const Inertia *composite, double *number) {
    uint32_t n = from->count;
    const double *motion = problem->number + from->motion, *added = problem->number + from->added;
    double *w = number, *f = number + SIX * (size_t)n, *d = f + SIX * (size_t)n;
    Six u[VELOCITIES];
    double diagonal[VELOCITIES];
    for (uint32_t k = 0; k < n; k++) {
        Six column = load(motion + SIX * (size_t)k);
        u[k] = multiply_inertia(articulated, column);
        store(f + SIX * (size_t)k, multiply_inertia(composite, column));
        for (uint32_t j = 0; j <= k; j++) {
            double sum = dot(load(motion + SIX * (size_t)j), u[k]) + added[k * n + j];
            d[k * n + j] = d[j * n + k] = sum;
        }
        diagonal[k] = dot(column, load(f + SIX * (size_t)k)) + added[(size_t)k * (n + 1)];
    }
    if (n > 0 && !invert(n, share, diagonal, d)) {
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        Six sum = no_six;
        for (uint32_t j = 0; j < n; j++) {
            sum = add_scaled(sum, d[k * n + j], u[j]);
        }
        store(w + SIX * (size_t)k, sum);
        subtract_dyad(articulated, sum, u[k]);
    }
    return true;
}

bool mass_links_factor(const ContactProblem *problem, uint32_t tree, double share, MassLink *link,
                       double *number) {
    ASSERT(problem->tree[tree].link_count > 0);
    ASSERT(!(share < 0.0));
    const ProblemLink *from = links_of(problem, tree);
    uint32_t count = problem->tree[tree].link_count;
    measure(from, count, link);
    place_links(from, count, link);
    fill_links(from, count, link);
    Inertia articulated[SLOTS], composite[SLOTS];
    for (uint32_t i = count; i-- > 0;) {
        const MassLink *of = &link[i];
        Inertia *felt = &articulated[of->slot], *all = &composite[of->slot];
        Inertia own = inertia_of(&from[of->link]);
        if (of->is_leaf) {
            *felt = *all = (Inertia){0};
        }
        add_inertia(felt, &own);
        add_inertia(all, &own);
        if (!factor_link(problem, &from[of->link], share, felt, all, number + of->number)) {
            return false;
        }
        if (of->parent == PROBLEM_NO_LINK) {
            continue;
        }
        Inertia to_parent = carry_inertia(felt, of->arm), sum = carry_inertia(all, of->arm);
        uint8_t slot = link[of->parent].slot;
        if (of->is_last) {
            articulated[slot] = to_parent;
            composite[slot] = sum;
        } else {
            add_inertia(&articulated[slot], &to_parent);
            add_inertia(&composite[slot], &sum);
        }
    }
    return true;
}

// ---- the passes

// What a link has gathered goes to its parent.
static inline void hand_on(const MassLink *link, const MassLink *of, Six f, Six *slot) {
    if (of->parent != PROBLEM_NO_LINK) {
        Six *to = &slot[link[of->parent].slot];
        f = carry_back(f, of->arm);
        *to = of->is_last ? f : add(*to, f);
    }
}

// The velocity that a link has of its parent.
static inline Six carried(const MassLink *link, const MassLink *of, const Six *slot) {
    return of->parent == PROBLEM_NO_LINK ? no_six : carry(slot[link[of->parent].slot], of->arm);
}

static inline const double *motion_of(const ContactProblem *problem, const ProblemLink *from,
                                      const MassLink *of) {
    return problem->number + from[of->link].motion;
}

// Nothing pushes the link, nor anything that hangs on it: most links, where one limb is pushed.
static inline bool is_unmoved(const MassLink *of, const double *at, Six f) {
    bool is = f.l.x == 0.0 && f.l.y == 0.0 && f.l.z == 0.0 && f.a.x == 0.0 && f.a.y == 0.0 &&
              f.a.z == 0.0;
    for (uint32_t k = 0; k < of->count; k++) {
        is = is && at[k] == 0.0;
    }
    return is;
}

// u = p - S^T f, and D^-1 u in place; the parent feels f + W u
static void solve_up(const ContactProblem *problem, const ProblemLink *from, const MassLink *link,
                     uint32_t i, const double *number, double *p, Six *slot) {
    const MassLink *of = &link[i];
    uint32_t n = of->count;
    const double *motion = motion_of(problem, from, of), *w = number + of->number;
    const double *inverse = w + (size_t)2 * SIX * n;
    Six f = of->is_leaf ? no_six : slot[of->slot], felt = f;
    double u[VELOCITIES], *at = p + of->first;
    if (is_unmoved(of, at, f)) {
        if (of->parent != PROBLEM_NO_LINK && of->is_last) {
            slot[link[of->parent].slot] = no_six;
        }
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        u[k] = at[k] - dot(load(motion + SIX * (size_t)k), f);
        felt = add_scaled(felt, u[k], load(w + SIX * (size_t)k));
    }
    for (uint32_t k = 0; k < n; k++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < n; j++) {
            sum += inverse[k * n + j] * u[j];
        }
        at[k] = sum;
    }
    hand_on(link, of, felt, slot);
}

void mass_links_solve(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                      const double *number, double *p) {
    VALIDATE(problem->tree[tree].link_count > 0);
    const ProblemLink *from = links_of(problem, tree);
    uint32_t count = problem->tree[tree].link_count;
    Six slot[SLOTS];
    for (uint32_t i = count; i-- > 0;) {
        solve_up(problem, from, link, i, number, p, slot);
    }
    // v = D^-1 u - W^T a, where a is the parent's
    for (uint32_t i = 0; i < count; i++) {
        const MassLink *of = &link[i];
        const double *motion = motion_of(problem, from, of), *w = number + of->number;
        Six a = carried(link, of, slot), own = a;
        double *at = p + of->first;
        for (uint32_t k = 0; k < of->count; k++) {
            at[k] -= dot(load(w + SIX * (size_t)k), a);
            own = add_scaled(own, at[k], load(motion + SIX * (size_t)k));
        }
        slot[of->slot] = own;
    }
}

// The momentum of a link's subtree is C times the link's velocity, and what its children's own
// joints add, which comes from the leaves; p is what of it the joint lets through.
void mass_links_multiply(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                         const double *number, const double *v, double *p) {
    VALIDATE(problem->tree[tree].link_count > 0);
    const ProblemLink *from = links_of(problem, tree);
    uint32_t count = problem->tree[tree].link_count;
    Six slot[SLOTS];
    for (uint32_t i = count; i-- > 0;) {
        const MassLink *of = &link[i];
        uint32_t n = of->count;
        const double *motion = motion_of(problem, from, of);
        const double *f = number + of->number + SIX * (size_t)n, *at = v + of->first;
        const double *added = problem->number + from[of->link].added;
        Six of_children = of->is_leaf ? no_six : slot[of->slot], all = of_children;
        for (uint32_t k = 0; k < n; k++) {
            double sum = dot(load(motion + SIX * (size_t)k), of_children);
            for (uint32_t j = 0; j < n; j++) {
                sum += added[k * n + j] * at[j];
            }
            p[of->first + k] = sum;
            all = add_scaled(all, at[k], load(f + SIX * (size_t)k));
        }
        hand_on(link, of, all, slot);
    }
    for (uint32_t i = 0; i < count; i++) {
        const MassLink *of = &link[i];
        const double *motion = motion_of(problem, from, of);
        const double *f = number + of->number + SIX * (size_t)of->count;
        Six own = carried(link, of, slot);
        for (uint32_t k = 0; k < of->count; k++) {
            own = add_scaled(own, v[of->first + k], load(motion + SIX * (size_t)k));
        }
        for (uint32_t k = 0; k < of->count; k++) {
            p[of->first + k] += dot(load(f + SIX * (size_t)k), own);
        }
        slot[of->slot] = own;
    }
}

// A column: what its joint's velocity asks of its own link's joint and of all above it.
static void fill_column(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                        uint32_t place, uint32_t k, Six f, double *matrix) {
    const ProblemLink *from = links_of(problem, tree);
    size_t width = problem->tree[tree].width, row = link[place].first + k;
    for (uint32_t i = place; i != PROBLEM_NO_LINK; i = link[i].parent) {
        const double *motion = motion_of(problem, from, &link[i]);
        for (uint32_t j = 0; j < link[i].count; j++) {
            size_t column = link[i].first + j;
            double sum = dot(load(motion + SIX * (size_t)j), f);
            matrix[row * width + column] = matrix[column * width + row] = sum;
        }
        f = carry_back(f, link[i].arm);
    }
}

void mass_links_matrix(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                       const double *number, double *matrix) {
    ASSERT(problem->tree[tree].link_count > 0);
    const ProblemLink *from = links_of(problem, tree);
    size_t width = problem->tree[tree].width;
    memset(matrix, 0, width * width * sizeof(double));
    for (uint32_t i = 0; i < problem->tree[tree].link_count; i++) {
        const MassLink *of = &link[i];
        uint32_t n = of->count;
        const double *f = number + of->number + SIX * (size_t)n;
        const double *added = problem->number + from[of->link].added;
        for (uint32_t k = 0; k < n; k++) {
            fill_column(problem, tree, link, i, k, load(f + SIX * (size_t)k), matrix);
        }
        for (uint32_t k = 0; k < n; k++) {
            for (uint32_t j = 0; j < n; j++) {
                matrix[(of->first + k) * width + of->first + j] += added[k * n + j];
            }
        }
    }
}
