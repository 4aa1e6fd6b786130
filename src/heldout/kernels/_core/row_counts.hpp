#pragma once

#include "lanes.hpp"

namespace heldout {

// cut[l, k] = counts[l, rows[k]].
void cut_rows(const Weightings<std::uint8_t>& counts, const std::int64_t* rows, std::size_t n_cut, std::uint8_t* cut);

// totals[l]: the counts of all rows, or of the flagged ones if `flags` is not null.
void total_counts(const Weightings<std::uint8_t>& counts, const bool* flags, double* totals);

}  // namespace heldout
