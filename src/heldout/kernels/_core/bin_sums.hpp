// Weight of the rows in each bin of every column, in the bag and out of it: add_bin_sums of reference_blocks.py.
#pragma once

#include "lanes.hpp"

namespace heldout {

// The bin of each value (n, C): how many of its column's `n_cuts` ascending cuts are not above it.
// `cuts` (C, n_cuts), n_cuts one less than a power of two, padded with infinity.
void find_bins(const double* values, std::size_t n_rows, std::size_t n_columns, const double* cuts,
               std::size_t n_cuts, std::uint16_t* bins);

// Adds to `in_bag` and `out_of_bag`, both (C, n_cells, lanes), the counts of the rows in each cell, and the
// number of those that were not drawn. `cells` (n, C), all below n_cells.
void add_bin_sums(const Weightings<std::uint8_t>& counts, const std::uint16_t* cells, std::size_t n_columns,
                  std::size_t n_cells, std::uint32_t* in_bag, std::uint32_t* out_of_bag);

}  // namespace heldout
