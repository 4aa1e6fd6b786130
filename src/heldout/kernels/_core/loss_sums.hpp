#pragma once

#include "lanes.hpp"

namespace heldout {

// sums[l, j] = weights[l, 0] * losses[0, j] + weights[l, 1] * losses[1, j] + ..., rounded after every operation, in
// this order, which no BLAS guarantees. Losses (n, C) in C order.
void weighted_loss_sums(const double* losses, std::size_t n_columns, const Weightings<double>& weights,
                        double* sums);

}  // namespace heldout
