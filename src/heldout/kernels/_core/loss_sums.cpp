#include "loss_sums.hpp"

#include <numeric>
#include <vector>

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

constexpr std::size_t kSideBySide = 16;

HELDOUT_CLONES double exact_loss_sum(const double* losses, const std::uint8_t* counts, std::size_t n_rows) {
    double sums[kSideBySide] = {};
    std::size_t i = 0;
    for (; i + kSideBySide <= n_rows; i += kSideBySide) {
        for (std::size_t k = 0; k < kSideBySide; ++k) sums[k] = sums[k] + double(counts[i + k]) * losses[i + k];
    }
    double sum = 0;
    for (; i < n_rows; ++i) sum = sum + double(counts[i]) * losses[i];
    for (std::size_t k = 0; k < kSideBySide; ++k) sum = sum + sums[k];
    return sum;
}

void chosen_loss_sums(const Matrix& losses, const Weightings<std::uint8_t>& counts, const std::int64_t* chosen,
                      double* sums) {
    std::vector<std::size_t> lanes(counts.lanes);
    std::iota(lanes.begin(), lanes.end(), std::size_t(0));
    std::sort(lanes.begin(), lanes.end(), [chosen](std::size_t a, std::size_t b) { return chosen[a] < chosen[b]; });
    std::vector<double> column(losses.rows);
    std::int64_t held = -1;
    for (const std::size_t lane : lanes) {
        if (chosen[lane] != held) {
            held = chosen[lane];
            const double* first = losses.data + held * losses.column_stride;
            for (std::size_t i = 0; i < losses.rows; ++i) column[i] = first[std::ptrdiff_t(i) * losses.row_stride];
        }
        sums[lane] = exact_loss_sum(column.data(), counts.lane(lane), counts.rows);
    }
}

}  // namespace heldout
