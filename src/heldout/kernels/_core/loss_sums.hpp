#pragma once

#include "lanes.hpp"

namespace heldout {

// sums[l, j] = weights[l, 0] * losses[0, j] + weights[l, 1] * losses[1, j] + ..., rounded after every operation, in
// this order, which no BLAS guarantees. Losses (n, C) in C order.
void weighted_loss_sums(const double* losses, std::size_t n_columns, const Weightings<double>& weights,
                        double* sums);

// sums[l]: of the column that is chosen for lane l, for losses of which every sum of counts is exact, so that their
// order does not matter.
void chosen_loss_sums(const Matrix& losses, const Weightings<std::uint8_t>& counts, const std::int64_t* chosen,
                      double* sums);

}  // namespace heldout
