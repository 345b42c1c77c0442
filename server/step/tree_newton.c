// SPDX-License-Identifier: MIT
// The derivative of what a tree's step leaves over, with that of the velocity products at the mean
// w = (v0 + v)/2. These are quadratic in w, so central differences of any width are exact:
//
//     J = A + (h/2) dc/dw,    dc/dw e = (c(w + s e) - c(w - s e)) / 2 s
//
// The derivative of masses and forces by positions, of order h^2, is left out.
#include "step/tree_fly.h"

#include <string.h>

// Column k of dc/dw times h/2, added to the matrix.
static void add_column(TreeFlight *flight, uint32_t k, double size, double *side, double *matrix) {
    const TreeView *view = &flight->view;
    const uint32_t width = view->tree->width;
    const Vec3 none = vec3(0.0, 0.0, 0.0);
    const double kept = flight->mean[k];
    for (int sign = 1; sign >= -1; sign -= 2) {
        flight->mean[k] = kept + sign * size;
        tree_move(view, flight->mean, flight->work.frame);
        tree_accelerate(view, flight->mean, NULL, &flight->work);
        tree_forces(view, none, NULL, &flight->work, side);
        for (uint32_t row = 0; row < width; row++) {
            matrix[row * (size_t)width + k] += sign * flight->h / (4.0 * size) * side[row];
        }
    }
    flight->mean[k] = kept;
}

// x := matrix^-1 x, by Gauss with rows exchanged for the largest of a column.
static void eliminate(size_t n, double *matrix, double *x) {
    for (size_t k = 0; k < n; k++) {
        size_t largest = k;
        for (size_t i = k + 1; i < n; i++) {
            largest = fabs(matrix[i * n + k]) > fabs(matrix[largest * n + k]) ? i : largest;
        }
        for (size_t j = k; largest != k && j < n; j++) {
            const double kept = matrix[k * n + j];
            matrix[k * n + j] = matrix[largest * n + j];
            matrix[largest * n + j] = kept;
        }
        const double kept = x[k];
        x[k] = x[largest];
        x[largest] = kept;
        const double inverse = 1.0 / matrix[k * n + k];
        for (size_t i = k + 1; i < n; i++) {
            const double share = matrix[i * n + k] * inverse;
            for (size_t j = k + 1; share != 0.0 && j < n; j++) {
                matrix[i * n + j] -= share * matrix[k * n + j];
            }
            x[i] -= share * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) {
            x[k] -= matrix[k * n + j] * x[j];
        }
        x[k] /= matrix[k * n + k];
    }
}

void tree_newton(TreeFlight *flight, double *rest) {
    const uint32_t width = flight->view.tree->width;
    double *matrix = flight->newton, *side = matrix + (size_t)width * width;
    double size = 1.0;
    tree_mass_matrix(&flight->view, flight->added, &flight->work, matrix);
    for (uint32_t k = 0; k < width; k++) {
        size = fmax(size, fabs(flight->mean[k]));
    }
    for (uint32_t k = 0; flight->rotation != ROTATION_EXPLICIT && k < width; k++) {
        add_column(flight, k, size, side, matrix);
    }
    eliminate(width, matrix, rest);
}
