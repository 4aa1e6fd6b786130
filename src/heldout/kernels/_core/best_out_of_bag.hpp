// Select in the bag, score out of it, without a matrix of bootstraps by columns.
#pragma once

#include "cell_sums.hpp"
#include "rank_program.hpp"

namespace heldout {

// Returns, for each lane, the first column with the greatest (or least) sum in the bag, and that column's sums
// over the rows that were not drawn, each counted once.
void best_out_of_bag(const RankPrograms& sums, const Weightings<std::uint8_t>& counts, bool greatest,
                     std::int64_t* columns, std::int64_t* left_out_sums);
void best_out_of_bag(const CellSums& sums, const Weightings<std::uint8_t>& counts, bool greatest,
                     std::int64_t* columns, std::int64_t* left_out_sums);

}  // namespace heldout
