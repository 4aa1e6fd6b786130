#include "kernel_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heldout {

namespace {

double product(Dot dot, const double* x, const double* y, std::size_t n_columns) {
    int n = static_cast<int>(n_columns), step = 1;
    // Fortran has no const; the function only reads.
    return dot(&n, const_cast<double*>(x), &step, const_cast<double*>(y), &step);
}

// The lower triangle is copied to the upper one, tile by tile.
void mirror(double* values, std::size_t n) {
    constexpr std::size_t tile = 32;
    for (std::size_t i = 0; i < n; i += tile) {
        for (std::size_t j = 0; j <= i; j += tile) {
            for (std::size_t k = i; k < std::min(i + tile, n); ++k) {
                for (std::size_t l = j; l < std::min(j + tile, k); ++l) values[l * n + k] = values[k * n + l];
            }
        }
    }
}

}  // namespace

void inner_products(Dot dot, const double* left, std::size_t n_left, const double* right, std::size_t n_right,
                    std::size_t n_columns, double* out) {
    const bool same = left == right && n_left == n_right;
    for (std::size_t i = 0; i < n_left; ++i) {
        const double* x = left + i * n_columns;
        const std::size_t end = same ? i + 1 : n_right;
        for (std::size_t j = 0; j < end; ++j) out[i * n_right + j] = product(dot, x, right + j * n_columns, n_columns);
    }
    if (same) mirror(out, n_left);
}

void squared_distances(Dot dot, const double* left, std::size_t n_left, const double* right, std::size_t n_right,
                       std::size_t n_columns, double* out) {
    std::vector<double> difference(n_columns);
    for (std::size_t i = 0; i < n_left; ++i) {
        const double* x = left + i * n_columns;
        for (std::size_t j = 0; j < n_right; ++j) {
            const double* y = right + j * n_columns;
            for (std::size_t k = 0; k < n_columns; ++k) difference[k] = x[k] - y[k];
            out[i * n_right + j] = product(dot, difference.data(), difference.data(), n_columns);
        }
    }
}

void exponentials(const double* values, std::size_t n_rows, std::size_t n_columns, double factor, bool symmetric,
                  double* out) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::size_t end = symmetric ? i + 1 : n_columns;
        const double* row = values + i * n_columns;
        for (std::size_t j = 0; j < end; ++j) out[i * n_columns + j] = std::exp(factor * row[j]);
    }
    if (symmetric) mirror(out, n_rows);
}

void hyperbolic_tangents(const double* values, std::size_t n, double factor, double offset, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = std::tanh(factor * values[i] + offset);
}

}  // namespace heldout
