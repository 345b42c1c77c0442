// SPDX-License-Identifier: MIT
// Single blocks by the thousand, by the million under --all, with friction up to 100 and conditions
// up to 1e12. Everything that judges is computed with 113 bits, from the numbers of the block as
// they stand, so that what is left of a residual is the solver's.
//
// The energy is compared with a search that shares no idea with the solver's. For maximum
// dissipation: on the plane of maximum compression, all answers with the same normal reaction n lie
// on a chord of the disc |y| <= mu n, on which the energy is a parabola; its least is convex in n,
// and found by golden sections. For Coulomb: with s = nu / |y|, (Ah + s E) y = bh gives y(s), and
// what is left is one quartic in s, whose roots lie between those of its derivatives.
#include "solve/block.h"

#include "base/vec.h"
#include "support/campaign.h"
#include "support/problem_build.h"
#include "support/suite.h"

// Blocks of a kind and a seed: ten thousand in all, and a million under --all, whose scale is 10.
enum { CASES = 115 };

#define RESIDUAL_MAX 1e-12
#define ENERGY_MAX   1e-9

__extension__ typedef __float128 Quad;

// ---- arithmetic

static Quad quad_abs(Quad a) {
    return a < 0 ? -a : a;
}

static Quad quad_max(Quad a, Quad b) {
    return a > b || a != a ? a : b;
}

static Quad quad_root(Quad a) {
    if (!(a > 0)) {
        return 0;
    }
    Quad root = sqrt((double)a);
    for (int i = 0; i < 2 && root > 0; i++) {
        root = (root + a / root) / 2;
    }
    return root;
}

// How much a difference is more than what the rounding of numbers of this size makes.
static Quad beyond(Quad away, Quad size) {
    Quad known = 4 * 1.1e-16 * size;
    return away > known ? away - known : 0;
}

static Quad quad_norm(Quad a, Quad b) {
    return quad_root(a * a + b * b);
}

// ---- the block with all its digits

typedef struct Exact {
    Quad a[3][3], b[3], mu;
    Quad h11, h12, h22, bh1, bh2, kap; // reduced to a_n.x = b_n, as in solve/block.c
} Exact;

static Exact exact_of(const MdpBlock *block, const double b[3]) {
    Exact e = {.a = {{block->nn, block->nt, block->no},
                     {block->nt, block->tt, block->to},
                     {block->no, block->to, block->oo}},
               .b = {b[0], b[1], b[2]},
               .mu = block->mu};
    Quad nn = e.a[0][0], nt = e.a[0][1], no = e.a[0][2];
    e.h11 = e.a[1][1] - nt * nt / nn;
    e.h12 = e.a[1][2] - nt * no / nn;
    e.h22 = e.a[2][2] - no * no / nn;
    e.bh1 = e.b[1] - nt * e.b[0] / nn;
    e.bh2 = e.b[2] - no * e.b[0] / nn;
    e.kap = e.mu / nn;
    return e;
}

static Quad energy(const Exact *e, const Quad x[3]) {
    Quad sum = 0;
    for (int i = 0; i < 3; i++) {
        Quad product = e->a[i][0] * x[0] + e->a[i][1] * x[1] + e->a[i][2] * x[2];
        sum += x[i] * (product / 2 - e->b[i]);
    }
    return sum;
}

// x0 = A^-1 b, by the plane
static void stick(const Exact *e, Quad x[3]) {
    Quad det = e->h11 * e->h22 - e->h12 * e->h12;
    x[1] = (e->h22 * e->bh1 - e->h12 * e->bh2) / det;
    x[2] = (e->h11 * e->bh2 - e->h12 * e->bh1) / det;
    x[0] = (e->b[0] - e->a[0][1] * x[1] - e->a[0][2] * x[2]) / e->a[0][0];
}

// ---- residuals, scaled as in mdp.md 1.4 g

// dv_i over what it is made of
static Quad velocity_share(const Exact *e, const Quad x[3], int i) {
    Quad sum = -e->b[i], size = quad_abs(e->b[i]);
    for (int k = 0; k < 3; k++) {
        sum += e->a[i][k] * x[k];
        size += quad_abs(e->a[i][k] * x[k]);
    }
    return size > 0 ? quad_abs(sum) / size : 0;
}

static Quad residual_of_stick(const Exact *e, const Quad x[3]) {
    Quad most = 0;
    for (int i = 0; i < 3; i++) {
        most = quad_max(most, velocity_share(e, x, i));
    }
    Quad over = quad_norm(x[1], x[2]) - e->mu * x[0];
    return quad_max(most, over / (quad_norm(x[1], x[2]) + e->mu * quad_abs(x[0])));
}

// The slip of an answer, what it is opposed to, and the multiplier that fits best.
typedef struct Slip {
    Quad v1, v2, d1, d2, nu;
} Slip;

static Slip slip_of(const Exact *e, const Quad x[3], bool coulomb) {
    Quad length = quad_norm(x[1], x[2]), kap = coulomb ? 0 : e->kap;
    Slip slip = {.v1 = e->h11 * x[1] + e->h12 * x[2] - e->bh1,
                 .v2 = e->h12 * x[1] + e->h22 * x[2] - e->bh2,
                 .d1 = x[1] / length + kap * e->a[0][1],
                 .d2 = x[2] / length + kap * e->a[0][2]};
    slip.nu = -(slip.d1 * slip.v1 + slip.d2 * slip.v2) / (slip.d1 * slip.d1 + slip.d2 * slip.d2);
    slip.nu = slip.nu > 0 ? slip.nu : 0;
    return slip;
}

static Quad residual_of_slide(const Exact *e, const Quad x[3], bool coulomb) {
    Quad length = quad_norm(x[1], x[2]), kap = coulomb ? 0 : e->kap;
    Slip s = slip_of(e, x, coulomb);
    Quad v1 = s.v1, v2 = s.v2, d1 = s.d1, d2 = s.d2, nu = s.nu;
    Quad slip = quad_max(quad_abs(v1 + nu * d1), quad_abs(v2 + nu * d2));
    Quad h = quad_max(quad_max(e->h11, e->h22), quad_abs(e->h12));
    Quad slip_size = quad_max(quad_abs(e->bh1), quad_abs(e->bh2)) + h * length;
    Quad reach = quad_abs(length - e->mu * x[0]);
    Quad reach_size = length + e->kap * (quad_abs(e->b[0]) + quad_abs(e->a[0][1] * x[1]) +
                                         quad_abs(e->a[0][2] * x[2]));
    // next to the parabola nu is large, and multiplies the rounding of the answer's direction
    slip = beyond(slip, nu * (1 + kap * quad_norm(e->a[0][1], e->a[0][2])));
    return quad_max(quad_max(slip / slip_size, reach / reach_size), velocity_share(e, x, 0));
}

// ---- maximum dissipation by search

// The least energy with normal reaction n, and where.
static Quad least_on_chord(const Exact *e, Quad n, Quad x[3]) {
    Quad a1 = e->a[0][1], a2 = e->a[0][2], rho = quad_norm(a1, a2);
    Quad u1 = a1 / rho, u2 = a2 / rho; // across; the chord goes along (-u2, u1)
    Quad across = (e->b[0] - e->a[0][0] * n) / rho, radius = e->mu * n;
    Quad square = radius * radius - across * across;
    Quad half = square > 0 ? quad_root(square) : 0;
    Quad y1 = across * u1, y2 = across * u2;
    Quad g1 = e->h11 * y1 + e->h12 * y2 - e->bh1, g2 = e->h12 * y1 + e->h22 * y2 - e->bh2;
    Quad slope = -u2 * g1 + u1 * g2;
    Quad bend = e->h11 * u2 * u2 - 2 * e->h12 * u1 * u2 + e->h22 * u1 * u1;
    Quad along = -slope / bend;
    along = along > half ? half : along < -half ? -half : along;
    x[0] = n;
    x[1] = y1 - along * u2;
    x[2] = y2 + along * u1;
    return energy(e, x);
}

// Without a coupling of normal and tangents n is given, and what is left is a disc: by angles.
static Quad least_on_disc(const Exact *e, Quad x[3]) {
    Quad radius = e->mu * e->b[0] / e->a[0][0];
    // (Ah + s E) y = bh, |y| = radius: |y| falls with s
    Quad low = 0, high = 1;
    for (int i = 0; i < 400; i++) {
        Quad s = i < 200 ? high : (low + high) / 2, m11 = e->h11 + s, m22 = e->h22 + s;
        Quad det = m11 * m22 - e->h12 * e->h12;
        x[1] = (m22 * e->bh1 - e->h12 * e->bh2) / det;
        x[2] = (m11 * e->bh2 - e->h12 * e->bh1) / det;
        bool is_long = quad_norm(x[1], x[2]) > radius;
        if (i < 200 && is_long) {
            low = high;
            high *= 4;
        } else if (i < 200) {
            i = 199;
        } else if (is_long) {
            low = s;
        } else {
            high = s;
        }
    }
    x[0] = e->b[0] / e->a[0][0];
    return energy(e, x);
}

static Quad search_dissipation(const Exact *e, Quad x[3]) {
    Quad rho = quad_norm(e->a[0][1], e->a[0][2]), nn = e->a[0][0];
    if (e->b[0] == 0 && nn > e->mu * rho) { // nothing but the tip of the cone
        x[0] = x[1] = x[2] = 0;
        return 0;
    }
    if (rho <= 1e-20 * nn) {
        return least_on_disc(e, x);
    }
    const Quad golden = 0.6180339887498949;
    Quad low = e->b[0] / (nn + e->mu * rho), high = e->b[0] / (nn - e->mu * rho);
    if (!(high > 0)) { // the conic is open: as far as the energy falls
        high = low > 0 ? 2 * low : 1e-30;
        while (least_on_chord(e, 2 * high, x) < least_on_chord(e, high, x)) {
            high *= 2;
        }
        high *= 2;
    }
    // in the logarithm while the ends are far apart
    while (high > 4 * low && low > 0) {
        Quad ratio = quad_root(high / low), third = quad_root(ratio);
        Quad left = low * third, right = high / third;
        if (least_on_chord(e, left, x) < least_on_chord(e, right, x)) {
            high = right;
        } else {
            low = left;
        }
    }
    Quad left = high - golden * (high - low), right = low + golden * (high - low);
    Quad at_left = least_on_chord(e, left, x), at_right = least_on_chord(e, right, x);
    for (int i = 0; i < 100; i++) {
        if (at_left < at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = least_on_chord(e, left, x);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = least_on_chord(e, right, x);
        }
    }
    return least_on_chord(e, (low + high) / 2, x);
}

// ---- Coulomb by its roots

typedef struct Slide {
    Quad s, x[3];
} Slide;

// y(s), and |y|^2 - (mu x_n)^2 times the square of the determinant
static Quad slide_at(const Exact *e, Quad s, Quad x[3]) {
    Quad m11 = e->h11 + s, m22 = e->h22 + s, det = m11 * m22 - e->h12 * e->h12;
    Quad p1 = m22 * e->bh1 - e->h12 * e->bh2, p2 = m11 * e->bh2 - e->h12 * e->bh1;
    Quad reach = e->kap * (e->b[0] * det - e->a[0][1] * p1 - e->a[0][2] * p2);
    x[1] = p1 / det;
    x[2] = p2 / det;
    x[0] = reach / (det * e->mu);
    return p1 * p1 + p2 * p2 - reach * reach;
}

// sum c[k] s^k
static Quad value_of(const Quad *c, int degree, Quad s) {
    Quad value = c[degree];
    for (int k = degree; k-- > 0;) {
        value = value * s + c[k];
    }
    return value;
}

// Its roots in (0, end), between those of its derivative.
static int positive_roots(const Quad *c, int degree, Quad end, Quad *root) {
    if (degree == 0) {
        return 0;
    }
    Quad slope[4], turn[6];
    for (int k = 0; k < degree; k++) {
        slope[k] = (k + 1) * c[k + 1];
    }
    int turns = positive_roots(slope, degree - 1, end, turn + 1), count = 0;
    turn[0] = 0;
    turn[turns + 1] = end;
    for (int i = 0; i <= turns; i++) {
        Quad low = turn[i], high = turn[i + 1];
        bool rises = value_of(c, degree, low) < 0;
        if (rises == (value_of(c, degree, high) < 0)) {
            continue;
        }
        for (int k = 0; k < 300 && high - low > 1e-33 * high; k++) {
            // roots are of any size
            Quad middle = low > 0 && high > 4 * low ? quad_root(low * high)
                          : low == 0 && k < 100     ? high * 1e-3
                                                    : (low + high) / 2;
            if ((value_of(c, degree, middle) < 0) == rises) {
                low = middle;
            } else {
                high = middle;
            }
        }
        root[count++] = (low + high) / 2;
    }
    return count;
}

// All slides of exact Coulomb.
static int search_coulomb(const Exact *e, Slide slide[4]) {
    // det = s^2 + t s + d; p = bh s + q
    Quad t = e->h11 + e->h22, d = e->h11 * e->h22 - e->h12 * e->h12;
    Quad q1 = e->h22 * e->bh1 - e->h12 * e->bh2, q2 = e->h11 * e->bh2 - e->h12 * e->bh1;
    Quad r0 = e->kap * (e->b[0] * d - e->a[0][1] * q1 - e->a[0][2] * q2),
         r1 = e->kap * (e->b[0] * t - e->a[0][1] * e->bh1 - e->a[0][2] * e->bh2),
         r2 = e->kap * e->b[0];
    const Quad c[5] = {q1 * q1 + q2 * q2 - r0 * r0, 2 * (e->bh1 * q1 + e->bh2 * q2) - 2 * r0 * r1,
                       e->bh1 * e->bh1 + e->bh2 * e->bh2 - r1 * r1 - 2 * r0 * r2, -2 * r1 * r2,
                       -r2 * r2};
    Quad end = 1, root[4];
    for (int k = 0; k < 4; k++) { // Cauchy
        end = quad_max(end, 1 + quad_abs(c[k] / c[4]));
    }
    int found = positive_roots(c, 4, end, root), count = 0;
    for (int i = 0; i < found; i++) {
        slide[count].s = root[i];
        slide_at(e, root[i], slide[count].x);
        count += slide[count].x[0] >= 0;
    }
    return count;
}

// ---- random blocks

typedef struct Case {
    MdpBlock block;
    double b[3];
    double condition;
} Case;

static double pick(uint64_t *state, double low, double high) {
    return low + 0.5 * (high - low) * (1.0 + problem_build_random(state));
}

// a random rotation, from a quaternion
static void random_frame(uint64_t *state, double r[3][3]) {
    double q[4], norm = 0.0;
    do {
        norm = 0.0;
        for (int k = 0; k < 4; k++) {
            q[k] = problem_build_random(state);
            norm += q[k] * q[k];
        }
    } while (!(norm <= 1.0 && norm > 0.01));
    double s = 2.0 / norm, w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[3][3] = {{1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)},
                            {s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)},
                            {s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r[i][k] = m[i][k];
        }
    }
}

static MdpBlock block_from(double frame[3][3], const double value[3], double mu) {
    double a[3][3] = {{0.0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k <= i; k++) {
            for (int m = 0; m < 3; m++) {
                a[i][k] += frame[i][m] * value[m] * frame[k][m];
            }
        }
    }
    return (MdpBlock){a[0][0], a[1][0], a[2][0], a[1][1], a[2][1], a[2][2], mu};
}

// What is asked of a block.
typedef enum Kind {
    KIND_ANY,      // b of any direction
    KIND_REACTION, // what a reaction near the cone asks for
    KIND_EDGE,     // one that lies on it, or next to it
    KIND_FAINT,    // next to no b_n
    KIND_PARABOLA, // the conic is one, or next to it
    KIND_ROUND,    // nearly a sphere's block
    KIND_GRAZING,  // no b_n at all
    KIND_OPEN,     // b_n < 0
    KIND_SMOOTH,   // no friction
    KIND_COUNT
} Kind;

// each decade as often as any other
static double pick_decade(uint64_t *state, double low, double high) {
    return exp(pick(state, log(low), log(high)));
}

static void ask_for(Case *c, double n, double y1, double y2) {
    const MdpBlock *a = &c->block;
    c->b[0] = a->nn * n + a->nt * y1 + a->no * y2;
    c->b[1] = a->nt * n + a->tt * y1 + a->to * y2;
    c->b[2] = a->no * n + a->to * y1 + a->oo * y2;
}

static double sign_of(uint64_t *state) {
    return problem_build_random(state) < 0.0 ? -1.0 : 1.0;
}

static void turn_into(Case *c, Kind kind, uint64_t *state) {
    double n = pick_decade(state, 1e-3, 1.0), angle = pick(state, 0.0, 6.2831853071795862);
    double length = c->block.mu * n * pick(state, 0.0, 3.0);
    if (kind == KIND_EDGE) {
        length = c->block.mu * n * (1.0 + sign_of(state) * pick_decade(state, 1e-16, 1e-3));
    }
    if (kind == KIND_REACTION || kind == KIND_EDGE) {
        ask_for(c, n, length * cos(angle), length * sin(angle));
    }
    double rho = sqrt(c->block.nt * c->block.nt + c->block.no * c->block.no);
    double away = sign_of(state) * pick_decade(state, 1e-16, 1e-1);
    if (kind == KIND_PARABOLA && rho * 100.0 > c->block.nn) {
        c->block.mu = c->block.nn / rho * (1.0 + away);
    }
    c->b[0] = kind == KIND_GRAZING ? 0.0 : kind == KIND_OPEN ? -fabs(c->b[0]) : fabs(c->b[0]);
    c->b[0] *= kind == KIND_FAINT ? pick_decade(state, 1e-16, 1e-2) : 1.0;
    c->block.mu = kind == KIND_SMOOTH ? 0.0 : c->block.mu;
}

// Conditions 1 … 1e12 and friction 1e-2 … 100.
static Case random_case(uint64_t *state, Kind kind) {
    Case c;
    double frame[3][3], value[3];
    random_frame(state, frame);
    c.condition = pick_decade(state, 1.0, 1e12);
    value[0] = 1.0;
    value[1] = pick_decade(state, 1.0 / c.condition, 1.0);
    value[2] = 1.0 / c.condition;
    c.block = block_from(frame, value, pick_decade(state, 1e-2, 1e2));
    if (kind == KIND_ROUND) {
        double tangent = pick_decade(state, 1.0, 100.0), off = pick_decade(state, 1e-17, 1e-3);
        c.block = (MdpBlock){1.0,
                             off * problem_build_random(state),
                             off * problem_build_random(state),
                             tangent,
                             off * problem_build_random(state),
                             tangent * (1.0 + off * problem_build_random(state)),
                             c.block.mu};
    }
    for (int k = 0; k < 3; k++) {
        c.b[k] = problem_build_random(state);
    }
    turn_into(&c, kind, state);
    return c;
}

// ---- judging

typedef enum Law { LAW_DISSIPATION, LAW_COULOMB } Law;

static MdpBranch solve(const Case *c, Law law, double x[3]) {
    return law == LAW_COULOMB ? mdp_block_coulomb(&c->block, c->b, x)
                              : mdp_block_dissipation(&c->block, c->b, x);
}

static Quad residual_of(const Exact *e, MdpBranch branch, const Quad x[3], Law law) {
    if (branch == MDP_OPEN || (branch == MDP_GRAZING && x[0] == 0)) {
        return x[0] == 0 && x[1] == 0 && x[2] == 0 ? 0 : 1;
    }
    if (branch == MDP_FRICTIONLESS) {
        return x[1] == 0 && x[2] == 0 ? velocity_share(e, x, 0) : 1;
    }
    return branch == MDP_STICK ? residual_of_stick(e, x)
                               : residual_of_slide(e, x, law == LAW_COULOMB);
}

// The energies that an answer may have: one, but next to the edge of the cone.
typedef struct Reference {
    Quad sticking, sliding; // the same where only one can be
} Reference;

static Quad least_slide(const Exact *e, Law law) {
    Quad x[3], least = 0;
    if (law == LAW_DISSIPATION) {
        return search_dissipation(e, x);
    }
    Slide slide[4];
    int count = search_coulomb(e, slide);
    for (int i = 0; i < count; i++) {
        Quad value = energy(e, slide[i].x);
        least = i == 0 || value < least ? value : least;
    }
    return least;
}

// Whether x0 is so near the edge of the cone that what lies on it, as the answer may, sticks as
// well as is asked for. Then exact Coulomb may have several answers, with energies of their own, of
// which rounding takes one.
static bool is_on_edge(const Exact *e, const Quad x0[3], const Quad x[3]) {
    if (residual_of_stick(e, x) <= RESIDUAL_MAX) {
        return true;
    }
    if (!(x0[0] > 0)) {
        return false;
    }
    Quad share = e->mu * x0[0] / quad_norm(x0[1], x0[2]);
    const Quad edge[3] = {x0[0], share * x0[1], share * x0[2]};
    return residual_of_stick(e, edge) <= RESIDUAL_MAX;
}

static Reference refer(const Case *c, const Exact *e, Law law, const Quad x[3]) {
    Quad x0[3], value = 0;
    if (c->b[0] < 0.0 || (law == LAW_COULOMB && c->b[0] == 0.0)) {
        return (Reference){0, 0};
    }
    if (c->block.mu == 0.0) {
        value = -e->b[0] * e->b[0] / (2 * e->a[0][0]);
        return (Reference){value, value};
    }
    stick(e, x0);
    bool sticks = x0[0] >= 0 && quad_norm(x0[1], x0[2]) <= e->mu * x0[0];
    if (law == LAW_COULOMB && is_on_edge(e, x0, x)) {
        return (Reference){energy(e, x0), least_slide(e, law)};
    }
    value = sticks ? energy(e, x0) : least_slide(e, law);
    return (Reference){value, value};
}

// The share by which an answer's energy is wrong, but for what its rounding makes of it: a change
// of y costs v, and leaving the cone nu.
static Quad energy_error(const Exact *e, const Quad x[3], Law law, Quad reference) {
    Quad length = quad_norm(x[1], x[2]), cost = 0;
    if (length > 0) {
        Slip slip = slip_of(e, x, law == LAW_COULOMB);
        cost = length * (quad_norm(slip.v1, slip.v2) + 2 * slip.nu);
    }
    Quad away = beyond(quad_abs(energy(e, x) - reference), cost);
    // of what grazes and gains next to nothing, no share can be asked
    return away / quad_max(quad_abs(reference), 1e-30);
}

static bool is_positive(const Exact *e) {
    return e->h11 > 0 && e->h11 * e->h22 - e->h12 * e->h12 > 0;
}

// How much the energy of a slide changes, as a share, with the rounding of mu alone: much next to
// the parabola, where exact Coulomb, whose energy is no least, has its answer far out.
static Quad known_energy(const Case *c, Exact e, Law law) {
    if (law == LAW_DISSIPATION || c->b[0] <= 0.0 || c->block.mu == 0.0) {
        return 0;
    }
    Quad here = least_slide(&e, law);
    e.mu *= 1 + 4 * 1.1e-16;
    e.kap *= 1 + 4 * 1.1e-16;
    return quad_abs(least_slide(&e, law) - here) / quad_max(quad_abs(here), 1e-30);
}

static const char *const kind_names[KIND_COUNT] = {"any",   "reaction", "edge", "faint", "parabola",
                                                   "round", "grazing",  "open", "smooth"};

static void judge(const Case *c, const Exact *e, Kind kind, Law law) {
    double answer[3];
    MdpBranch branch = solve(c, law, answer);
    const Quad x[3] = {answer[0], answer[1], answer[2]};
    double residual = (double)residual_of(e, branch, x, law);
    Reference reference = refer(c, e, law, x);
    double away = (double)energy_error(e, x, law, reference.sliding),
           stuck = (double)energy_error(e, x, law, reference.sticking);
    double most = ENERGY_MAX;
    if (kind == KIND_PARABOLA && away > most && stuck > most) {
        most += (double)known_energy(c, *e, law);
    }
    ck_assert_msg(residual <= RESIDUAL_MAX && (away <= most || stuck <= most),
                  "%s, law %d, branch %d, condition %.1e: residual %g, energy %g off; "
                  "A {%a, %a, %a, %a, %a, %a}, mu %a, b {%a, %a, %a}",
                  kind_names[kind], law, branch, c->condition, residual, fmin(away, stuck),
                  c->block.nn, c->block.nt, c->block.no, c->block.tt, c->block.to, c->block.oo,
                  c->block.mu, c->b[0], c->b[1], c->b[2]);
}

enum { SEEDS = 10 };

START_TEST(random_blocks_have_the_residual_and_the_energy_of_the_law) {
    Kind kind = (Kind)(_i % KIND_COUNT);
    uint64_t state = 9000u + (uint64_t)_i;
    int judged = 0, count = campaign_count(CASES) * campaign_count(1);
    for (int i = 0; i < count; i++) {
        Case c = random_case(&state, kind);
        Exact e = exact_of(&c.block, c.b);
        if (is_positive(&e)) { // rounding may have made it indefinite
            judge(&c, &e, kind, LAW_DISSIPATION);
            judge(&c, &e, kind, LAW_COULOMB);
            judged++;
        }
    }
    ck_assert_int_ge(judged, count - count / 20);
}
END_TEST

static TCase *case_blocks(void) {
    TCase *tcase = tcase_create("blocks");
    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, random_blocks_have_the_residual_and_the_energy_of_the_law, 0,
                        SEEDS * KIND_COUNT);
    return tcase;
}

SUITE_MAIN("solve/mdp_blocks", case_blocks)
