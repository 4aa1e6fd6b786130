// Total weight of the rows in each cell of every column, as reference.py's CellSums.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

// Rows whose weights are to be added to (or taken from) one cell: a slice of a list padded to fours.
struct Listed {
    std::uint32_t cell;
    bool added;
    std::size_t begin, end;
};

class CellSums {
   public:
    // `cells` (n, C) in C order: 0 .. n_cells - 1, or -1 for a row that is not counted.
    CellSums(const std::int32_t* cells, std::size_t n_rows, std::size_t n_columns, std::size_t n_cells);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return starts_.size() - 1; }
    std::size_t cells() const { return n_cells_; }

    void all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const;
    void selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns, std::int64_t* sums) const;

    // Calls `visit(first, n_lanes, column, sums)`, sums of the first `n_wanted` cells one after another.
    template <class Visit>
    void each_column(const Weightings<std::uint8_t>& counts, std::size_t n_wanted, Visit&& visit) const;

   private:
    std::size_t n_, n_cells_;
    std::vector<std::int32_t> usual_;    // of each row, the cell it has in most columns
    std::vector<std::uint32_t> listed_;  // rows
    std::vector<Listed> usual_lists_;    // the rows of each usual cell
    std::vector<Listed> lists_;          // how each column differs from the usual
    std::vector<std::size_t> starts_;    // of each column in lists_
};

// Adds to (or takes from) `sums` the rows named; at most `together` rows (a multiple of four, or less than
// four to widen each) are added as bytes first.
void add_listed(const std::uint8_t* rows, const std::uint32_t* begin, const std::uint32_t* end,
                std::size_t together, bool added, std::int64_t* sums);

template <class Visit>
void CellSums::each_column(const Weightings<std::uint8_t>& counts, std::size_t n_wanted, Visit&& visit) const {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    const std::size_t together = 255 / std::max(1u, extent_of(counts).largest);
    LaneBlock<std::uint8_t> block(n_, false);
    Aligned<std::int64_t> usual(n_wanted * L), sums(n_wanted * L);
    const auto add = [&](const Listed& list, std::int64_t* to) {
        if (list.cell >= n_wanted) return;
        add_listed(block.rows(), listed_.data() + list.begin, listed_.data() + list.end, together, list.added,
                   to + list.cell * L);
    };
    each_block<std::uint8_t>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(counts, first, n_lanes);
        std::fill(usual.get(), usual.get() + n_wanted * L, 0);
        for (const Listed& list : usual_lists_) add(list, usual.get());
        for (std::size_t j = 0; j < columns(); ++j) {
            std::copy(usual.get(), usual.get() + n_wanted * L, sums.get());
            for (std::size_t k = starts_[j]; k < starts_[j + 1]; ++k) add(lists_[k], sums.get());
            visit(first, n_lanes, j, static_cast<const std::int64_t*>(sums.get()));
        }
    });
}

// With real weights nothing is taken away again, for that would round: every row is added in its turn.
void weighted_cell_sums(const std::int32_t* cells, std::size_t n_columns, std::size_t n_cells,
                        const Weightings<double>& weights, double* sums);

}  // namespace heldout
