// SPDX-License-Identifier: MIT
// A is eliminated to the plane a_n.x = b_n, y = (x_t, x_o), a = (A_nt, A_no), kap = mu / A_nn, u =
// y / |y|:
//
//     Ah y - bh = dv_to
//     |y| <= kap (b_n - a.y)   is feasible: a conic with its focus at the origin
//
// Sliding means  dv_to + nu D = 0, nu >= 0, |y| = kap (b_n - a.y)  with D = u + kap a, the outward
// normal (maximum dissipation), or D = u (Coulomb). Directions come from a quartic; Newton in (y,
// nu) ends the search, because an angle carries no digits where the conic runs off to infinity.
// Letters as in mdp.md.
//
// A block of a bad condition, which is one of light against heavy, loses its digits where it is
// reduced: Ah = A_to - a a'/A_nn and bh = b_to - a b_n/A_nn are small differences of what is large,
// and A^-1 is worse. There they are made with twice the digits (base/twofold.h), and x0 is refined.
#include "solve/block.h"

#include "base/assert.h"
#include "base/twofold.h"
#include "base/vec.h"
#include "solve/block_roots.h"
#include "solve/block_slide.h"

#define ISOTROPY_TOLERANCE 1e-13 // off-diagonal share that is the rounding of a sphere's inertia
// How far below nothing a multiplier may be by rounding, where sticking just fails: that of x0, or
// its own.
#define ROUNDING         1e-13
#define CAREFUL_ROUNDING 1e-15
#define RAY_ECCENTRICITY 0.99 // from here on the conic's rays are starts too

enum { REFINE_MAX = 4 };
enum { STEP_MAX = 60, START_MAX = MDP_ROOT_MAX + 3 };

static void invert(const MdpBlock *a, double inverse[6]) {
    Sym3 inverted = sym3_inverse((Sym3){a->nn, a->tt, a->oo, a->nt, a->no, a->to});
    inverse[0] = inverted.xx;
    inverse[1] = inverted.xy;
    inverse[2] = inverted.xz;
    inverse[3] = inverted.yy;
    inverse[4] = inverted.yz;
    inverse[5] = inverted.zz;
}

// written so that what is not a number is careful
static bool is_careful(const MdpBlock *a) {
    double mean = (a->nn + a->tt + a->oo) / 3.0;
    double determinant = a->nn * (a->tt * a->oo - a->to * a->to) -
                         a->nt * (a->nt * a->oo - a->to * a->no) +
                         a->no * (a->nt * a->to - a->tt * a->no);
    return !(determinant > MDP_CAREFUL_SHARE * mean * mean * mean);
}

static void reduce_block(const MdpBlock *a, MdpPlan *plan) {
    if (plan->is_careful) {
        plan->h11 = twofold_determinant(a->nn, a->nt, a->nt, a->tt) / a->nn;
        plan->h12 = twofold_determinant(a->nn, a->nt, a->no, a->to) / a->nn;
        plan->h22 = twofold_determinant(a->nn, a->no, a->no, a->oo) / a->nn;
        return;
    }
    plan->h11 = a->tt - a->nt * a->nt / a->nn;
    plan->h12 = a->to - a->nt * a->no / a->nn;
    plan->h22 = a->oo - a->no * a->no / a->nn;
}

void mdp_block_plan(const MdpBlock *block, MdpPlan *plan) {
    *plan = (MdpPlan){.block = *block, .is_careful = is_careful(block)};
    invert(block, plan->inverse);
    reduce_block(block, plan);
    plan->h_determinant = plan->is_careful
                              ? twofold_determinant(plan->h11, plan->h12, plan->h12, plan->h22)
                              : plan->h11 * plan->h22 - plan->h12 * plan->h12;
    plan->kap = block->mu / block->nn;
    double rho = sqrt(block->nt * block->nt + block->no * block->no);
    plan->eccentricity = plan->kap * rho;

    double rounding = ISOTROPY_TOLERANCE * block->tt;
    // what normal and tangents still have in common counts beside A_nn, as often as mu says
    plan->is_isotropic = rho <= ISOTROPY_TOLERANCE * block->nn &&
                         plan->eccentricity <= ISOTROPY_TOLERANCE && fabs(block->to) <= rounding &&
                         fabs(block->tt - block->oo) <= rounding;

    // As the bound c of friction grows, the reaction y(c) moves by at most (k + 1) / (2 sqrt k) =
    // tr / (2 sqrt det), k the condition of Ah; while kap rho times that is below 1, c + kap a.y(c)
    // rises with c and meets kap b_n once.
    double stretch = 0.5 * (plan->h11 + plan->h22) / sqrt(plan->h_determinant);
    plan->has_one_slide = plan->eccentricity * stretch < 0.99;
}

// bh
static void reduce_right(const MdpPlan *plan, const double b[3], double bh[2]) {
    const MdpBlock *a = &plan->block;
    if (plan->is_careful) {
        bh[0] = twofold_determinant(a->nn, a->nt, b[0], b[1]) / a->nn;
        bh[1] = twofold_determinant(a->nn, a->no, b[0], b[2]) / a->nn;
        return;
    }
    double rate = b[0] / a->nn;
    bh[0] = b[1] - a->nt * rate;
    bh[1] = b[2] - a->no * rate;
}

// x += A^-1 r, by the plane
static void correct(const MdpPlan *plan, const double r[3], double x[3]) {
    const MdpBlock *a = &plan->block;
    double bh[2], scale = 1.0 / plan->h_determinant;
    reduce_right(plan, r, bh);
    double y1 = scale * twofold_determinant(plan->h22, plan->h12, bh[1], bh[0]),
           y2 = scale * twofold_determinant(plan->h11, plan->h12, bh[0], bh[1]);
    x[0] += (r[0] - a->nt * y1 - a->no * y2) / a->nn;
    x[1] += y1;
    x[2] += y2;
}

// b_i - A_i x
static double remainder_of(double b, double n, double t, double o, const double x[3]) {
    Twofold sum = twofold_add_product((Twofold){b, 0.0}, -n, x[0]);
    sum = twofold_add_product(sum, -t, x[1]);
    return twofold_round(twofold_add_product(sum, -o, x[2]));
}

static void stick_carefully(const MdpPlan *plan, const double b[3], double x[3]) {
    const MdpBlock *a = &plan->block;
    x[0] = x[1] = x[2] = 0.0;
    correct(plan, b, x);
    for (int i = 0; i < REFINE_MAX; i++) {
        const double r[3] = {remainder_of(b[0], a->nn, a->nt, a->no, x),
                             remainder_of(b[1], a->nt, a->tt, a->to, x),
                             remainder_of(b[2], a->no, a->to, a->oo, x)};
        correct(plan, r, x);
    }
}

// x0 = A^-1 b
static void stick(const MdpPlan *plan, const double b[3], double x[3]) {
    if (plan->is_careful) {
        stick_carefully(plan, b, x);
        return;
    }
    const double *inverse = plan->inverse;
    x[0] = inverse[0] * b[0] + inverse[1] * b[1] + inverse[2] * b[2];
    x[1] = inverse[1] * b[0] + inverse[3] * b[1] + inverse[4] * b[2];
    x[2] = inverse[2] * b[0] + inverse[4] * b[1] + inverse[5] * b[2];
}

static bool is_in_cone(const double x[3], double mu) {
    double bound = mu * x[0];
    return x[0] >= 0.0 && x[1] * x[1] + x[2] * x[2] <= bound * bound;
}

static void set(double x[3], double n, double t, double o) {
    x[0] = n;
    x[1] = t;
    x[2] = o;
}

static MdpPlane reduce(const MdpPlan *plan, bool is_coulomb, const double b[3]) {
    double bh[2];
    reduce_right(plan, b, bh);
    return (MdpPlane){plan, is_coulomb, b[0], bh[0], bh[1]};
}

// from the plane back to a reaction; the cone is kept to rounding by giving the normal part way
static void lift(const MdpPlane *plane, double y1, double y2, double x[3]) {
    const MdpBlock *a = &plane->plan->block;
    double n = (plane->b_n - a->nt * y1 - a->no * y2) / a->nn;
    double needed = sqrt(y1 * y1 + y2 * y2) / a->mu;
    set(x, n < needed ? needed : n, y1, y2);
}

// ---- slides

// the direction D that the relative velocity opposes
static void opposed(const MdpPlane *plane, double u1, double u2, double d[2]) {
    double kap = plane->is_coulomb ? 0.0 : plane->plan->kap;
    d[0] = u1 + kap * plane->plan->block.nt;
    d[1] = u2 + kap * plane->plan->block.no;
}

static bool is_certified(const MdpSlide *s) {
    const MdpPlan *plan = s->plane.plan;
    double rounding = plan->is_careful ? CAREFUL_ROUNDING : ROUNDING;
    return s->residual < MDP_SLIDE_TOLERANCE && s->push >= -rounding &&
           s->plane.b_n - plan->block.nt * s->y1 - plan->block.no * s->y2 >= 0.0;
}

// the multiplier that fits a point best
static double fit_multiplier(const MdpPlane *plane, double y1, double y2) {
    const MdpPlan *p = plane->plan;
    double length = sqrt(y1 * y1 + y2 * y2), d[2];
    opposed(plane, y1 / length, y2 / length, d);
    double v1 = p->h11 * y1 + p->h12 * y2 - plane->bh1;
    double v2 = p->h12 * y1 + p->h22 * y2 - plane->bh2;
    return -(d[0] * v1 + d[1] * v2) / (d[0] * d[0] + d[1] * d[1]);
}

static MdpSlide slide_from(const MdpPlane *plane, double y1, double y2) {
    double nu = fit_multiplier(plane, y1, y2);
    return (MdpSlide){.plane = *plane, .y1 = y1, .y2 = y2, .nu = nu > 0.0 ? nu : 0.0};
}

// ---- starts

static MdpTrigonometric stationarity(const MdpPlane *plane) {
    const MdpPlan *p = plane->plan;
    const MdpBlock *a = &p->block;
    double mu = a->mu, nn = a->nn, b_n = plane->b_n, b1 = plane->bh1, b2 = plane->bh2;
    double w = a->nt * b2 - a->no * b1;
    if (plane->is_coulomb) {
        return (MdpTrigonometric){.k0 = -0.5 * mu * w,
                                  .c1 = -nn * b2,
                                  .s1 = nn * b1,
                                  .c2 = mu * b_n * p->h12 - 0.5 * mu * (a->nt * b2 + a->no * b1),
                                  .s2 = 0.5 * mu *
                                        (b_n * (p->h22 - p->h11) - (a->no * b2 - a->nt * b1))};
    }
    double mu2 = mu * mu;
    return (MdpTrigonometric){
        .k0 = -1.5 * mu * nn * w,
        .c1 = mu2 * b_n * (a->nt * p->h12 - a->no * p->h11) - nn * nn * b2 - mu2 * a->nt * w,
        .s1 = mu2 * b_n * (a->nt * p->h22 - a->no * p->h12) + nn * nn * b1 - mu2 * a->no * w,
        .c2 = mu * nn * (b_n * p->h12 - 0.5 * (a->nt * b2 + a->no * b1)),
        .s2 = 0.5 * mu * nn * (b_n * (p->h22 - p->h11) - (a->no * b2 - a->nt * b1))};
}

// the two directions in which the conic runs off to infinity: a turned by -+da, cos da = -A_nn /
// (mu rho)
static void ray_directions(const MdpPlan *plan, MdpDirection ray[2]) {
    const MdpBlock *a = &plan->block;
    double rho = sqrt(a->nt * a->nt + a->no * a->no);
    double c = -1.0 / plan->eccentricity;
    c = c < -1.0 ? -1.0 : c;
    double s = sqrt(1.0 - c * c), a1 = a->nt / rho, a2 = a->no / rho;
    ray[0] = (MdpDirection){a1 * c + a2 * s, a2 * c - a1 * s};
    ray[1] = (MdpDirection){a1 * c - a2 * s, a2 * c + a1 * s};
}

// the length at which a ray meets the law while b_n is next to nothing
static double ray_length(const MdpPlane *plane, MdpDirection u) {
    const MdpPlan *p = plane->plan;
    double h1 = p->h11 * u.c + p->h12 * u.s, h2 = p->h12 * u.c + p->h22 * u.s;
    if (!plane->is_coulomb) {
        return (u.c * plane->bh1 + u.s * plane->bh2) / (u.c * h1 + u.s * h2);
    }
    return (u.c * plane->bh2 - u.s * plane->bh1) / (u.c * h2 - u.s * h1);
}

// the point on the boundary in a direction; false where there is none
static bool on_boundary(const MdpPlane *plane, double to1, double to2, double y[2]) {
    const MdpBlock *a = &plane->plan->block;
    double size = sqrt(to1 * to1 + to2 * to2);
    double u1 = to1 / size, u2 = to2 / size;
    double f = a->nn + a->mu * (a->nt * u1 + a->no * u2);
    double length = a->mu * plane->b_n / f;
    y[0] = length * u1;
    y[1] = length * u2;
    return length > 0.0 && isfinite(y[0] + y[1]);
}

// points on the boundary to start from: in the direction of what would stick, the roots, and the
// rays where they are near
static int find_starts(const MdpPlane *plane, const double x0[3], double start[START_MAX][2]) {
    const MdpPlan *p = plane->plan;
    MdpDirection direction[MDP_ROOT_MAX], ray[2];
    MdpTrigonometric g = stationarity(plane);
    int count = on_boundary(plane, x0[1], x0[2], start[0]) ? 1 : 0;
    int root_count = mdp_roots_find(&g, direction);
    for (int i = 0; i < root_count; i++) {
        MdpDirection u = direction[i];
        double f = p->block.nn + p->block.mu * (p->block.nt * u.c + p->block.no * u.s);
        double length = p->block.mu * plane->b_n / f;
        if (f > 0.0 && fit_multiplier(plane, length * u.c, length * u.s) >= 0.0) {
            start[count][0] = length * u.c;
            start[count++][1] = length * u.s;
        }
    }
    if (p->eccentricity > RAY_ECCENTRICITY) {
        ray_directions(p, ray);
        for (int i = 0; i < 2; i++) {
            double length = ray_length(plane, ray[i]);
            if (length > 0.0 && isfinite(length)) {
                start[count][0] = length * ray[i].c;
                start[count++][1] = length * ray[i].s;
            }
        }
    }
    return count;
}

// ---- the laws

static double energy(const MdpBlock *a, const double b[3], const double x[3]) {
    double n = a->nn * x[0] + a->nt * x[1] + a->no * x[2];
    double t = a->nt * x[0] + a->tt * x[1] + a->to * x[2];
    double o = a->no * x[0] + a->to * x[1] + a->oo * x[2];
    return x[0] * (0.5 * n - b[0]) + x[1] * (0.5 * t - b[1]) + x[2] * (0.5 * o - b[2]);
}

// The best of what the starts lead to when nothing was certified, which sampling has never met: the
// least residual, or no friction.
static void slide_somehow(const MdpPlane *plane, const MdpSlide *best, double x[3]) {
    if (best->residual < 1.0) {
        lift(plane, best->y1, best->y2, x);
    } else {
        set(x, plane->b_n / plane->plan->block.nn, 0.0, 0.0);
    }
}

// What all starts lead to.
static int find_slides(const MdpPlane *plane, const double b[3], MdpSlide slide[START_MAX]) {
    double x0[3], start[START_MAX][2];
    stick(plane->plan, b, x0);
    int count = find_starts(plane, x0, start);
    for (int i = 0; i < count; i++) {
        slide[i] = slide_from(plane, start[i][0], start[i][1]);
    }
    mdp_slide_converge(slide, (uint32_t)count, STEP_MAX);
    return count;
}

static void slide_dissipation(const MdpPlane *plane, const double b[3], double x[3]) {
    MdpSlide slide[START_MAX], best = {.residual = HUGE_VAL};
    int count = find_slides(plane, b, slide);
    for (int i = 0; i < count; i++) {
        const MdpSlide *s = &slide[i];
        if (is_certified(s)) {
            lift(plane, s->y1, s->y2, x);
            return;
        }
        best = s->push >= -ROUNDING && s->residual < best.residual ? *s : best;
    }
    slide_somehow(plane, &best, x);
}

static bool is_listed(double x[4][3], int count, const double candidate[3]) {
    for (int i = 0; i < count; i++) {
        double away = 0.0, size = 0.0;
        for (int k = 0; k < 3; k++) {
            away += fabs(x[i][k] - candidate[k]);
            size += fabs(x[i][k]);
        }
        if (away <= 1e-9 * size) {
            return true;
        }
    }
    return false;
}

// all certified Coulomb slides; `best` is the least wrong of the others
static int slides_coulomb(const MdpPlane *plane, const double b[3], double x[4][3],
                          MdpSlide *best) {
    MdpSlide slide[START_MAX];
    int count = 0, start_count = find_slides(plane, b, slide);
    for (int i = 0; i < start_count && count < 4; i++) {
        const MdpSlide *s = &slide[i];
        if (is_certified(s)) {
            lift(plane, s->y1, s->y2, x[count]);
            count += is_listed(x, count, x[count]) ? 0 : 1;
        } else if (s->push >= -ROUNDING && s->residual < best->residual) {
            *best = *s;
        }
    }
    return count;
}

static void slide_coulomb(const MdpPlane *plane, const double b[3], double x[3]) {
    double all[4][3];
    MdpSlide best = {.residual = HUGE_VAL};
    int count = slides_coulomb(plane, b, all, &best);
    if (count == 0) {
        slide_somehow(plane, &best, x);
        return;
    }
    int least = 0;
    double least_energy = energy(&plane->plan->block, b, all[0]);
    for (int i = 1; i < count; i++) {
        double value = energy(&plane->plan->block, b, all[i]);
        if (value < least_energy) {
            least_energy = value;
            least = i;
        }
    }
    set(x, all[least][0], all[least][1], all[least][2]);
}

// A diagonal and the same along both tangents
static void slide_isotropic(const MdpPlan *plan, const double b[3], double x[3]) {
    double n = b[0] / plan->block.nn;
    double scale = plan->block.mu * n / sqrt(b[1] * b[1] + b[2] * b[2]);
    set(x, n, scale * b[1], scale * b[2]);
}

// b_n = 0 and the cone reaches below the plane of maximum compression: the better of the two rays
static MdpBranch graze(const MdpPlane *plane, double x[3]) {
    const MdpPlan *p = plane->plan;
    if (!(p->eccentricity >= 1.0)) {
        set(x, 0.0, 0.0, 0.0);
        return MDP_GRAZING;
    }
    MdpDirection ray[2];
    ray_directions(p, ray);
    double least = HUGE_VAL;
    for (int i = 0; i < 2; i++) {
        double length = ray_length(plane, ray[i]);
        length = length > 0.0 ? length : 0.0;
        double along = ray[i].c * plane->bh1 + ray[i].s * plane->bh2;
        double value = -0.5 * length * along; // r^2/2 u'Ah u - r u.bh at its least
        if (value < least) {
            least = value;
            lift(plane, length * ray[i].c, length * ray[i].s, x);
        }
    }
    return MDP_GRAZING;
}

// What both laws share of a contact that does not open: no friction, or sticking. MDP_SLIDE:
// neither.
static inline MdpBranch push_or_stick(const MdpPlan *plan, const double b[3], double x[3]) {
    if (plan->block.mu == 0.0) {
        set(x, b[0] / plan->block.nn, 0.0, 0.0);
        return MDP_FRICTIONLESS;
    }
    double x0[3];
    stick(plan, b, x0);
    if (is_in_cone(x0, plan->block.mu) || !isfinite(x0[0] + x0[1] + x0[2])) {
        set(x, x0[0], x0[1], x0[2]);
        return MDP_STICK;
    }
    return MDP_SLIDE;
}

// Every slide of a plane is asked for.
static void slide(const MdpPlane *plane, const double b[3], double x[3]) {
    if (plane->is_coulomb) {
        slide_coulomb(plane, b, x);
    } else {
        slide_dissipation(plane, b, x);
    }
}

// Where a slide goes on from: the one before, or the direction that would stop the slip. False:
// there is no such place, or what is found there need not be the answer. A certified point is the
// only one under maximum dissipation (a convex problem), and under Coulomb where the plan says so.
static bool goes_on(const MdpPlane *plane, const double x[3], MdpSlide *from) {
    double y[2] = {x[1], x[2]};
    if (plane->is_coulomb && !plane->plan->has_one_slide) {
        return false;
    }
    if (y[0] == 0.0 && y[1] == 0.0 && !on_boundary(plane, plane->bh1, plane->bh2, y)) {
        return false;
    }
    *from = slide_from(plane, y[0], y[1]);
    return true;
}

bool mdp_plan_begin(const MdpPlan *plan, bool is_coulomb, const double b[3], double x[3],
                    MdpBranch *branch, MdpSlide *from) {
    VALIDATE(b != x);
    if (b[0] < 0.0 || (is_coulomb && b[0] == 0.0)) {
        set(x, 0.0, 0.0, 0.0);
        *branch = MDP_OPEN;
        return true;
    }
    *branch = push_or_stick(plan, b, x);
    if (*branch != MDP_SLIDE) {
        return true;
    }
    MdpPlane plane = reduce(plan, is_coulomb, b);
    if (b[0] == 0.0) {
        *branch = graze(&plane, x);
        return true;
    }
    if (plan->is_isotropic) {
        slide_isotropic(plan, b, x);
        return true;
    }
    if (goes_on(&plane, x, from)) {
        return false;
    }
    slide(&plane, b, x);
    return true;
}

void mdp_plan_end(const MdpSlide *found, const double b[3], double x[3]) {
    VALIDATE(found->plane.plan != NULL);
    if (is_certified(found)) {
        lift(&found->plane, found->y1, found->y2, x);
    } else {
        slide(&found->plane, b, x);
    }
}

MdpBranch mdp_plan_solve(const MdpPlan *plan, bool is_coulomb, const double b[3], double x[3]) {
    MdpBranch branch;
    MdpSlide found;
    if (!mdp_plan_begin(plan, is_coulomb, b, x, &branch, &found)) {
        mdp_slide_converge(&found, 1, MDP_SLIDE_STEPS);
        mdp_plan_end(&found, b, x);
    }
    return branch;
}

MdpBranch mdp_block_dissipation(const MdpBlock *block, const double b[3], double x[3]) {
    MdpPlan plan;
    mdp_block_plan(block, &plan);
    set(x, 0.0, 0.0, 0.0);
    return mdp_plan_solve(&plan, false, b, x);
}

MdpBranch mdp_block_coulomb(const MdpBlock *block, const double b[3], double x[3]) {
    MdpPlan plan;
    mdp_block_plan(block, &plan);
    set(x, 0.0, 0.0, 0.0);
    return mdp_plan_solve(&plan, true, b, x);
}

int mdp_block_coulomb_all(const MdpBlock *block, const double b[3], double x[4][3]) {
    ASSERT(!(block->mu < 0.0));
    if (!(b[0] > 0.0) || !(block->mu > 0.0)) {
        return 0;
    }
    MdpPlan plan;
    mdp_block_plan(block, &plan);
    MdpPlane plane = reduce(&plan, true, b);
    if (plan.is_isotropic) {
        double x0[3];
        stick(&plan, b, x0);
        if (is_in_cone(x0, block->mu)) {
            return 0;
        }
        slide_isotropic(&plan, b, x[0]);
        return 1;
    }
    MdpSlide best = {.residual = HUGE_VAL};
    return slides_coulomb(&plane, b, x, &best);
}
