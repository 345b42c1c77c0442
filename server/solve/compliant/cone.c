// SPDX-License-Identifier: MIT
#include "solve/compliant/cone.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// All of it is of the cone |b| <= a: x becomes (mu x_n, x_t), and z becomes (z_n / mu, z_t).

// a^2 - b . b
static double determinant(const double *s) {
    double size = sqrt(s[1] * s[1] + s[2] * s[2]);
    return (s[0] - size) * (s[0] + size);
}

// The direction of the side of the cone that is nearest, of the one of both that is nearer to it.
static void find_side(const double *s, const double *t, double ds, double dt, double d[2]) {
    bool is_s = ds * t[0] * t[0] <= dt * s[0] * s[0];
    const double *of = is_s ? s : t;
    double size = sqrt(of[1] * of[1] + of[2] * of[2]), sign = is_s ? 1.0 : -1.0;
    d[0] = size > 0.0 ? sign * of[1] / size : 1.0;
    d[1] = size > 0.0 ? sign * of[2] / size : 0.0;
}

static void scale_ray(const double *x, const double *z, CompliantScaling *scaling) {
    memset(scaling, 0, sizeof(*scaling));
    scaling->theta[0] = z[0] / x[0];
    scaling->basis[0] = scaling->basis[4] = scaling->basis[8] = 1.0;
    scaling->inverse[0] = 1.0 / x[0];
}

void compliant_cone_scale(double mu, const double *x, const double *z, CompliantScaling *scaling) {
    if (mu == 0.0) {
        scale_ray(x, z, scaling);
        return;
    }
    const double s[3] = {mu * x[0], x[1], x[2]}, t[3] = {z[0] / mu, z[1], z[2]};
    double ds = determinant(s), dt = determinant(t), rs = sqrt(ds), rt = sqrt(dt), d[2];
    double dot = (s[0] * t[0] + s[1] * t[1] + s[2] * t[2]) / (rs * rt);
    double share = 1.0 / sqrt(2.0 * (1.0 + dot)), half = sqrt(0.5);
    find_side(s, t, ds, dt, d);
    double s_along = s[1] * d[0] + s[2] * d[1], t_along = t[1] * d[0] + t[2] * d[1];
    double s_beside = s[2] * d[0] - s[1] * d[1], t_beside = t[2] * d[0] - t[1] * d[1];
    // the flipped scaling point, whose own determinant is 1, along the side, across it, and beside
    const double w[3] = {share * half * ((s[0] - s_along) / rs + (t[0] + t_along) / rt),
                         share * half * ((s[0] + s_along) / rs + (t[0] - t_along) / rt),
                         share * (t_beside / rt - s_beside / rs)};
    const double flip[9] = {0.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            scaling->theta[3 * i + k] = rt / rs * (2.0 * w[i] * w[k] + flip[3 * i + k]);
        }
    }
    const double basis[9] = {half / mu, half / mu,   0.0,          half * d[0], -half * d[0],
                             -d[1],     half * d[1], -half * d[1], d[0]};
    memcpy(scaling->basis, basis, sizeof(basis));
    scaling->inverse[0] = mu * s[0] / ds;
    scaling->inverse[1] = -s[1] / ds;
    scaling->inverse[2] = -s[2] / ds;
}

double compliant_bound_reach(double x, double dx) {
    return dx < -x ? -x / dx : 1.0;
}

// det(s + alpha ds) = a alpha^2 + 2 b alpha + c, whose first positive root ends the way.
static double reach(const double *s, const double *ds) {
    double a = determinant(ds), c = determinant(s);
    double b = s[0] * ds[0] - s[1] * ds[1] - s[2] * ds[2];
    double root = b * b - a * c, most = compliant_bound_reach(s[0], ds[0]);
    if (root < 0.0 || (a >= 0.0 && b >= 0.0)) {
        return most;
    }
    root = sqrt(root);
    double alpha = b <= 0.0 ? c / (root - b) : -(b + root) / a;
    return alpha > 0.0 && alpha < most ? alpha : most;
}

double compliant_cone_reach(double mu, const double *x, const double *dx) {
    VALIDATE(!(mu < 0.0));
    if (mu == 0.0) {
        return compliant_bound_reach(x[0], dx[0]);
    }
    const double s[3] = {mu * x[0], x[1], x[2]}, ds[3] = {mu * dx[0], dx[1], dx[2]};
    return reach(s, ds);
}

double compliant_cone_reach_dual(double mu, const double *z, const double *dz) {
    VALIDATE(!(mu < 0.0));
    if (mu == 0.0) {
        return compliant_bound_reach(z[0], dz[0]);
    }
    const double s[3] = {z[0] / mu, z[1], z[2]}, ds[3] = {dz[0] / mu, dz[1], dz[2]};
    return reach(s, ds);
}
