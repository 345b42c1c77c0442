// SPDX-License-Identifier: MIT
#include "solve/ccp/cone.h"

#include "base/assert.h"

#include <math.h>
#include <stddef.h>

static double size2(double x, double y) {
    return sqrt(x * x + y * y);
}

double ccp_cone_depth(const double a[3]) {
    return a[0] - size2(a[1], a[2]);
}

double ccp_cone_square(const double a[3]) {
    double t = size2(a[1], a[2]);
    return a[0] > t ? (a[0] - t) * (a[0] + t) : 0.0;
}

void ccp_cone_project(double mu, double gamma[3]) {
    double n = gamma[0], t = size2(gamma[1], gamma[2]);
    if (!(mu * t > -n)) { // first, as at mu = 0 the next holds of what pulls too
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return;
    }
    if (t <= mu * n) {
        return;
    }
    double nearest = (n + mu * t) / (1.0 + mu * mu), share = mu * nearest / t;
    gamma[0] = nearest;
    gamma[1] *= share;
    gamma[2] *= share;
    ASSERT(!(gamma[0] < 0.0));
}

void ccp_cone_product(const double a[3], const double b[3], double product[3]) {
    double first = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    double second = a[0] * b[1] + b[0] * a[1], third = a[0] * b[2] + b[0] * a[2];
    product[0] = first;
    product[1] = second;
    product[2] = third;
}

void ccp_cone_divide(const double lambda[3], const double d[3], double x[3]) {
    double first =
        (lambda[0] * d[0] - lambda[1] * d[1] - lambda[2] * d[2]) / ccp_cone_square(lambda);
    double second = (d[1] - first * lambda[1]) / lambda[0];
    x[2] = (d[2] - first * lambda[2]) / lambda[0];
    x[1] = second;
    x[0] = first;
}

CcpScaling ccp_cone_scaling(const double z[3], const double s[3]) {
    CcpScaling w;
    double zz = sqrt(ccp_cone_square(z)), ss = sqrt(ccp_cone_square(s));
    double dot = 0.0;
    for (int k = 0; k < 3; k++) {
        dot += z[k] / zz * (s[k] / ss);
    }
    double gamma = sqrt(0.5 * (1.0 + dot));
    w.beta = sqrt(ss / zz);
    for (int k = 1; k < 3; k++) {
        w.q[k] = (s[k] / ss - z[k] / zz) / (2.0 * gamma);
    }
    w.q[0] = sqrt(1.0 + w.q[1] * w.q[1] + w.q[2] * w.q[2]);
    double scale = 1.0 / sqrt(2.0 * (w.q[0] + 1.0));
    w.v[0] = (w.q[0] + 1.0) * scale;
    w.v[1] = w.q[1] * scale;
    w.v[2] = w.q[2] * scale;
    ccp_cone_multiply(&w, z, w.lambda);
    return w;
}

void ccp_cone_multiply(const CcpScaling *w, const double x[3], double product[3]) {
    const double *v = w->v;
    double twice = 2.0 * (v[0] * x[0] + v[1] * x[1] + v[2] * x[2]);
    double first = w->beta * (twice * v[0] - x[0]);
    double second = w->beta * (twice * v[1] + x[1]);
    product[2] = w->beta * (twice * v[2] + x[2]);
    product[1] = second;
    product[0] = first;
}

void ccp_cone_multiply_inverse(const CcpScaling *w, const double x[3], double product[3]) {
    const double *v = w->v;
    double twice = 2.0 * (v[0] * x[0] - v[1] * x[1] - v[2] * x[2]);
    double first = (twice * v[0] - x[0]) / w->beta;
    double second = (x[1] - twice * v[1]) / w->beta;
    product[2] = (x[2] - twice * v[2]) / w->beta;
    product[1] = second;
    product[0] = first;
}

// The inverse of a symmetric positive matrix by L D L^T, largest first, in place.
static void invert3(double m[3][3]) {
    double d0 = m[0][0], l10 = m[1][0] / d0, l20 = m[2][0] / d0;
    double d1 = m[1][1] - l10 * m[1][0], c21 = m[2][1] - l20 * m[1][0], l21 = c21 / d1;
    double d2 = m[2][2] - l20 * m[2][0] - l21 * c21;
    double k20 = l10 * l21 - l20; // of L^-1
    double i22 = 1.0 / d2, i21 = -l21 * i22, i20 = k20 * i22;
    double i11 = 1.0 / d1 - l21 * i21, i10 = -l10 / d1 - l21 * i20;
    m[0][0] = 1.0 / d0 + l10 * l10 / d1 + k20 * i20;
    m[1][0] = m[0][1] = i10;
    m[2][0] = m[0][2] = i20;
    m[1][1] = i11;
    m[2][1] = m[1][2] = i21;
    m[2][2] = i22;
}

CcpInverse ccp_cone_invert(const CcpScaling *w, const double extra[3], double h[9]) {
    double t = size2(w->q[1], w->q[2]), c = 1.0, s = 0.0;
    if (t > 0.0) {
        c = w->q[1] / t;
        s = w->q[2] / t;
    }
    double square = w->beta * w->beta, wide = (w->q[0] + t) * (w->q[0] + t);
    // rows: along the axes of W^2, the longest first
    const double root = 0x1.6a09e667f3bcdp-1; // of 1/2
    CcpInverse inverse = {
        .axis = {{root, root * c, root * s}, {0.0, -s, c}, {root, -root * c, -root * s}}};
    double(*axis)[3] = inverse.axis, (*m)[3] = inverse.inner;
    const double value[3] = {square * wide, square, square / wide};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? value[i] : 0.0;
            for (size_t k = 0; k < 3; k++) {
                sum += axis[i][k] * extra[k] * axis[j][k];
            }
            m[i][j] = m[j][i] = sum;
        }
    }
    invert3(m);
    double half[3][3];
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            half[i][k] = m[i][0] * axis[0][k] + m[i][1] * axis[1][k] + m[i][2] * axis[2][k];
        }
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j <= i; j++) {
            h[3 * i + j] = h[3 * j + i] =
                axis[0][i] * half[0][j] + axis[1][i] * half[1][j] + axis[2][i] * half[2][j];
        }
    }
    return inverse;
}

void ccp_cone_multiply_inverted(const CcpInverse *inverse, const double x[3], double product[3]) {
    const double(*axis)[3] = inverse->axis;
    double part[3], of[3];
    for (int i = 0; i < 3; i++) {
        part[i] = axis[i][0] * x[0] + axis[i][1] * x[1] + axis[i][2] * x[2];
    }
    for (int i = 0; i < 3; i++) {
        const double *row = inverse->inner[i];
        of[i] = row[0] * part[0] + row[1] * part[1] + row[2] * part[2];
    }
    for (int k = 0; k < 3; k++) {
        product[k] = axis[0][k] * of[0] + axis[1][k] * of[1] + axis[2][k] * of[2];
    }
}

double ccp_cone_step(const double a[3], const double d[3]) {
    // (a + alpha d)^T J (a + alpha d) = c + 2 b alpha + e alpha^2
    double c = ccp_cone_square(a);
    double b = a[0] * d[0] - a[1] * d[1] - a[2] * d[2];
    double t = size2(d[1], d[2]), e = (d[0] - t) * (d[0] + t);
    double rest = b * b - e * c;
    double alpha = 1.0;
    if (rest >= 0.0) {
        // the smaller positive root, without a difference
        double root = sqrt(rest);
        if (b < 0.0) {
            alpha = c / (root - b);
        } else if (e < 0.0) {
            alpha = -(b + root) / e;
        }
    }
    if (d[0] < 0.0) {
        double most = -a[0] / d[0];
        alpha = most < alpha ? most : alpha;
    }
    return alpha < 1.0 ? alpha : 1.0;
}
