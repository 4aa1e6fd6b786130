#include "loss_sums.hpp"

namespace heldout {

constexpr std::size_t kLossColumns = 64;

// Sums of up to kLossColumns columns for one lane, which stay in the nearest cache during a pass over the rows.
HELDOUT_CLONES void loss_sums_of_lane(const double* losses, std::size_t stride, const double* weights,
                                      std::size_t n_rows, std::size_t n_columns, double* sums) {
    alignas(64) double sum[kLossColumns] = {};
    if (n_columns == kLossColumns) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double weight = weights[i];
            const double* row = losses + i * stride;
            for (std::size_t j = 0; j < kLossColumns; ++j) sum[j] = sum[j] + weight * row[j];
        }
    } else {
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t j = 0; j < n_columns; ++j) sum[j] = sum[j] + weights[i] * losses[i * stride + j];
        }
    }
    std::copy(sum, sum + n_columns, sums);
}

void weighted_loss_sums(const double* losses, std::size_t n_columns, const Weightings<double>& weights,
                        double* sums) {
    for (std::size_t first = 0; first < n_columns; first += kLossColumns) {
        const std::size_t columns = std::min(kLossColumns, n_columns - first);
        for (std::size_t l = 0; l < weights.lanes; ++l) {
            loss_sums_of_lane(losses + first, n_columns, weights.lane(l), weights.rows, columns,
                              sums + l * n_columns + first);
        }
    }
}

}  // namespace heldout
