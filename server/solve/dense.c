// SPDX-License-Identifier: MIT
#include "solve/dense.h"

#include "base/assert.h"

#include <math.h>

bool dense_factor(size_t n, const double *matrix, double pivot_floor, double *factor) {
    ASSERT(n > 0);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = matrix[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= factor[i * n + k] * factor[j * n + k];
            }
            if (j < i) {
                factor[i * n + j] = sum / factor[j * n + j];
            } else if (sum > pivot_floor) {
                factor[i * n + i] = sqrt(sum);
            } else {
                return false;
            }
        }
    }
    return true;
}

void dense_solve(size_t n, const double *factor, double *x) {
    ASSERT(n > 0);
    for (size_t i = 0; i < n; i++) {
        double sum = x[i];
        for (size_t k = 0; k < i; k++) {
            sum -= factor[i * n + k] * x[k];
        }
        x[i] = sum / factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        double sum = x[i];
        for (size_t k = i + 1; k < n; k++) {
            sum -= factor[k * n + i] * x[k];
        }
        x[i] = sum / factor[i * n + i];
    }
}
