// Matrices of support vector machines, to the last bit as libsvm computes their entries. NumPy has no twin of them.
#pragma once

#include <cstddef>

namespace heldout {

// SciPy's inner product, as Fortran declares it.
using Dot = double (*)(int* n, double* x, int* x_step, double* y, int* y_step);

// out (n_left, n_right). Where both are the same rows, each pair is computed once.
void inner_products(Dot dot, const double* left, std::size_t n_left, const double* right, std::size_t n_right,
                    std::size_t n_columns, double* out);

void squared_distances(Dot dot, const double* left, std::size_t n_left, const double* right, std::size_t n_right,
                       std::size_t n_columns, double* out);

// exp(factor * value). Of a symmetric matrix each pair is computed once.
void exponentials(const double* values, std::size_t n_rows, std::size_t n_columns, double factor, bool symmetric,
                  double* out);

// tanh(factor * value + offset)
void hyperbolic_tangents(const double* values, std::size_t n, double factor, double offset, double* out);

}  // namespace heldout
