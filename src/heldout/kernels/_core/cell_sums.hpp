// Total weight of the rows in each cell of every column: CellSums of reference.py.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

// Rows whose weights are added to (or subtracted from) one cell: a part of a list, padded to a multiple of four.
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

    // Calls `visit(first, n_lanes, column, sums)` for each block of lanes and each column, columns ascending;
    // `sums` holds kLanes of the first cell, then of the next, for the first `n_wanted` cells.
    template <class Visit>
    void each_column(const Weightings<std::uint8_t>& counts, std::size_t n_wanted, Visit&& visit) const;

   private:
    template <class Sum, class Visit, class Add>
    void each_column_of(const Weightings<std::uint8_t>& counts, std::size_t together, std::size_t n_wanted,
                        Visit&& visit, Add add) const;

    std::size_t n_, n_cells_;
    std::vector<std::uint32_t> listed_;  // rows
    std::vector<Listed> usual_lists_;    // the rows of each usual cell
    std::vector<Listed> lists_;          // how each column differs from the usual
    std::vector<std::size_t> starts_;    // of each column in lists_
};

// Adds the rows of lists to the sums of their cells, or subtracts them. As many rows as `together` are first added as
// bytes. Unsigned sums may wrap around in between; the results are exact, because no cell has a negative weight.
void add_lists(const std::uint8_t* rows, const std::uint32_t* listed, const Listed* first, const Listed* last,
               std::size_t together, std::size_t n_wanted, std::uint16_t* sums);
void add_lists_wide(const std::uint8_t* rows, const std::uint32_t* listed, const Listed* first, const Listed* last,
                    std::size_t together, std::size_t n_wanted, std::uint64_t* sums);

template <class Sum, class Visit, class Add>
void CellSums::each_column_of(const Weightings<std::uint8_t>& counts, std::size_t together, std::size_t n_wanted,
                              Visit&& visit, Add add) const {
    const std::size_t size = n_wanted * kLanes<std::uint8_t>;
    LaneBlock<std::uint8_t> block(n_, false);
    Aligned<Sum> usual(size), sums(size);
    const auto add_to = [&](const Listed* first, const Listed* last, Sum* to) {
        add(block.rows(), listed_.data(), first, last, together, n_wanted, to);
    };
    each_block<std::uint8_t>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(counts, first, n_lanes);
        std::fill(usual.get(), usual.get() + size, Sum(0));
        add_to(usual_lists_.data(), usual_lists_.data() + usual_lists_.size(), usual.get());
        for (std::size_t j = 0; j < columns(); ++j) {
            std::copy(usual.get(), usual.get() + size, sums.get());
            add_to(lists_.data() + starts_[j], lists_.data() + starts_[j + 1], sums.get());
            visit(first, n_lanes, j, static_cast<const Sum*>(sums.get()));
        }
    });
}

template <class Visit>
void CellSums::each_column(const Weightings<std::uint8_t>& counts, std::size_t n_wanted, Visit&& visit) const {
    const Extent extent = extent_of(counts);
    const std::size_t together = 255 / std::max(1u, extent.largest);
    if (extent.total <= std::numeric_limits<std::uint16_t>::max()) {
        each_column_of<std::uint16_t>(counts, together, n_wanted, visit, add_lists);
    } else {
        each_column_of<std::uint64_t>(counts, together, n_wanted, visit, add_lists_wide);
    }
}

// With real weights nothing is subtracted, because that would round: every row is added in order.
void weighted_cell_sums(const std::int32_t* cells, std::size_t n_columns, std::size_t n_cells,
                        const Weightings<double>& weights, double* sums);

}  // namespace heldout
