// The rows are added in the order of the table: the lanes of a row and the cells of a column both fit in the second
// cache, and sorting the rows by cell would cost more than it saves.
#include "bin_sums.hpp"

#include <vector>

namespace heldout {

// A binary search of all values at once, without a branch on the data.
HELDOUT_CLONES void find_bins_of_column(const double* HELDOUT_RESTRICT values, std::size_t n,
                                        const double* HELDOUT_RESTRICT cuts, std::size_t n_cuts,
                                        std::uint32_t* HELDOUT_RESTRICT bins) {
    for (std::size_t i = 0; i < n; ++i) bins[i] = 0;
    for (std::size_t half = (n_cuts + 1) / 2; half; half /= 2) {
        const auto step = static_cast<std::uint32_t>(half);
        for (std::size_t i = 0; i < n; ++i) bins[i] += cuts[bins[i] + step - 1] <= values[i] ? step : 0u;
    }
}

void find_bins(const double* values, std::size_t n_rows, std::size_t n_columns, const double* cuts,
               std::size_t n_cuts, std::uint16_t* bins) {
    constexpr std::size_t kPiece = 1024;
    double column[kPiece];
    std::uint32_t found[kPiece];
    for (std::size_t first = 0; first < n_rows; first += kPiece) {
        const std::size_t rows = std::min(kPiece, n_rows - first);
        for (std::size_t j = 0; j < n_columns; ++j) {
            for (std::size_t i = 0; i < rows; ++i) column[i] = values[(first + i) * n_columns + j];
            find_bins_of_column(column, rows, cuts + j * n_cuts, n_cuts, found);
            for (std::size_t i = 0; i < rows; ++i) {
                bins[(first + i) * n_columns + j] = static_cast<std::uint16_t>(found[i]);
            }
        }
    }
}

HELDOUT_CLONES void add_rows_to_bins(const std::uint8_t* HELDOUT_RESTRICT rows,
                                     const std::uint16_t* HELDOUT_RESTRICT cells, std::size_t n_rows,
                                     std::uint16_t* HELDOUT_RESTRICT sums) {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint8_t* row = rows + i * L;
        std::uint16_t* in_bag = sums + cells[i] * 2 * L;
        std::uint16_t* out_of_bag = in_bag + L;
        for (std::size_t l = 0; l < L; ++l) {
            in_bag[l] = static_cast<std::uint16_t>(in_bag[l] + row[l]);
            out_of_bag[l] = static_cast<std::uint16_t>(out_of_bag[l] + (row[l] == 0));
        }
    }
}

namespace {

void add_lanes(const std::uint16_t* from, std::size_t n_lanes, std::uint32_t* to) {
    for (std::size_t l = 0; l < n_lanes; ++l) to[l] += from[l];
}

}  // namespace

void add_bin_sums(const Weightings<std::uint8_t>& counts, const std::uint16_t* cells, std::size_t n_columns,
                  std::size_t n_cells, std::uint32_t* in_bag, std::uint32_t* out_of_bag) {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    const std::size_t n = counts.rows;
    const std::size_t together = 65535 / std::max(1u, extent_of(counts).largest);  // rows that 16 bits can hold
    std::vector<std::uint16_t> by_column(n * n_columns);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n_columns; ++j) by_column[j * n + i] = cells[i * n_columns + j];
    }
    LaneBlock<std::uint8_t> block(n, false);
    Aligned<std::uint16_t> sums(n_cells * 2 * L);
    each_block<std::uint8_t>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(counts, first, n_lanes);
        for (std::size_t j = 0; j < n_columns; ++j) {
            for (std::size_t row = 0; row < n; row += together) {
                std::fill(sums.get(), sums.get() + n_cells * 2 * L, std::uint16_t(0));
                add_rows_to_bins(block.rows() + row * L, by_column.data() + j * n + row,
                                 std::min(together, n - row), sums.get());
                for (std::size_t cell = 0; cell < n_cells; ++cell) {
                    const std::size_t at = (j * n_cells + cell) * counts.lanes + first;
                    add_lanes(sums.get() + cell * 2 * L, n_lanes, in_bag + at);
                    add_lanes(sums.get() + (cell * 2 + 1) * L, n_lanes, out_of_bag + at);
                }
            }
        }
    });
}

}  // namespace heldout
