#include "best_out_of_bag.hpp"

namespace heldout {

namespace {

// For integers: only a strictly better column replaces the best, so the first of equal columns stays.
template <class Sum>
HELDOUT_INLINE void keep_better_of(const Sum* HELDOUT_RESTRICT sums, std::size_t n_lanes, std::int64_t sign,
                                   std::int64_t column, std::int64_t* HELDOUT_RESTRICT best,
                                   std::int64_t* HELDOUT_RESTRICT columns) {
    for (std::size_t l = 0; l < n_lanes; ++l) {
        const std::int64_t value = sign * static_cast<std::int64_t>(sums[l]);
        const bool better = value > best[l];
        best[l] = better ? value : best[l];
        columns[l] = better ? column : columns[l];
    }
}

}  // namespace

HELDOUT_CLONES void keep_better(const std::uint16_t* sums, std::size_t n_lanes, std::int64_t sign,
                                std::int64_t column, std::int64_t* best, std::int64_t* columns) {
    keep_better_of(sums, n_lanes, sign, column, best, columns);
}

HELDOUT_CLONES void keep_better(const std::uint64_t* sums, std::size_t n_lanes, std::int64_t sign,
                                std::int64_t column, std::int64_t* best, std::int64_t* columns) {
    keep_better_of(sums, n_lanes, sign, column, best, columns);
}

HELDOUT_CLONES void keep_better(const std::int64_t* sums, std::size_t n_lanes, std::int64_t sign,
                                std::int64_t column, std::int64_t* best, std::int64_t* columns) {
    keep_better_of(sums, n_lanes, sign, column, best, columns);
}

namespace {

// The best column of each lane so far, updated column by column, for one block of lanes after another.
class Selection {
   public:
    Selection(std::size_t lanes, bool greatest, std::int64_t* columns)
        : sign_(greatest ? 1 : -1), best_(lanes), columns_(columns) {
        std::fill(best_.get(), best_.get() + lanes, std::numeric_limits<std::int64_t>::min());
        std::fill(columns, columns + lanes, 0);
    }
    template <class Sum>
    void operator()(std::size_t first, std::size_t n_lanes, std::size_t column, const Sum* sums) {
        keep_better(sums, n_lanes, sign_, static_cast<std::int64_t>(column), best_.get() + first, columns_ + first);
    }

   private:
    std::int64_t sign_;
    Aligned<std::int64_t> best_;
    std::int64_t* columns_;
};

template <class Sums>
void score_left_out(const Sums& sums, const Weightings<std::uint8_t>& counts, const std::int64_t* columns,
                    std::size_t values_each, std::int64_t* left_out_sums) {
    Aligned<std::uint8_t> left_out(counts.rows);
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        for (std::size_t i = 0; i < counts.rows; ++i) left_out[i] = counts.lane(l)[i] == 0;
        sums.selected({left_out.get(), 1, counts.rows}, columns + l, left_out_sums + l * values_each);
    }
}

}  // namespace

void best_out_of_bag(const RankPrograms& sums, const Weightings<std::uint8_t>& counts, bool greatest,
                     std::int64_t* columns, std::int64_t* left_out_sums) {
    sums.each_column(counts, Selection(counts.lanes, greatest, columns));
    score_left_out(sums, counts, columns, 1, left_out_sums);
}

void best_out_of_bag(const CellSums& sums, const Weightings<std::uint8_t>& counts, bool greatest,
                     std::int64_t* columns, std::int64_t* left_out_sums) {
    sums.each_column(counts, 1, Selection(counts.lanes, greatest, columns));
    score_left_out(sums, counts, columns, sums.cells(), left_out_sums);
}

}  // namespace heldout
